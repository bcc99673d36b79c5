"""One-versus-one decomposition: learn which of two labels comes first, then let the pairs vote."""

from __future__ import annotations

from itertools import combinations
from typing import Any, Literal

import numpy as np
from scipy.special import expit
from sklearn.base import clone, is_regressor
from sklearn.ensemble import RandomForestClassifier
from sklearn.utils import get_tags
from sklearn.utils.parallel import delayed

from sklrank._sklearn import StrOptions, _num_samples, _safe_indexing
from sklrank.label_ranking._decomposition import DecompositionRanker

__all__ = ["PairwiseRanker"]


class PairwiseRanker(DecompositionRanker):
    """Rank labels by classifiers that compare two of them.

    Algorithms 6 to 8 of [1]_: for each pair of labels a classifier learns from the rows that rank
    one before the other; rows in which one of them is not ranked, or the two are tied, are left
    out. Then the pairs vote. By Copeland's rule a label's score is the number of labels that it
    beats; where scores are equal, which is common, the soft votes decide: sums of the
    probabilities to come first. A pair that no row compares is worth half a vote to each.

    Parameters
    ----------
    estimator : classifier or None, default=None
        What learns comparisons. None: a `RandomForestClassifier` of 100 trees.
    voting : {"copeland", "soft"}, default="copeland"
        Whether a label's score is the number of labels that it beats, or the sum of the
        probabilities that it does. These are from `predict_proba`, else by a logistic function
        from `decision_function`, else 0 or 1 from `predict`.
    multi_output : {"auto"} or bool, default="auto"
        Whether one model learns all pairs, or one model each of them. "auto": one for all, where
        the estimator takes many outputs and every row compares all pairs.
    random_state : int, RandomState instance or None, default=None
        Seeds the default estimator; others have their own.
    verbose : int, default=0
        Passed to joblib.
    n_jobs : int or None, default=None
        Models that are fitted at a time, and processors of the default estimator.

    Attributes
    ----------
    estimators_ : list of estimators, or of None
        The fitted classifiers: one for all pairs, or one for each. For a pair of which the rows
        know one outcome, or none, there is None. Class 1: the first label of the pair comes
        before the second; class 0: after it.
    pairs_ : ndarray of shape (n_pairs, 2)
        The pairs of labels, columns of `y`.
    frequencies_ : ndarray of shape (n_pairs,)
        How often the first label comes before the second, in the rows that compare them; 1/2 where
        none does.
    classes_ : ndarray of shape (n_labels,)
        The labels: the columns of `y`, by name where it is a data frame that has names.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where `X` had string ones.

    See Also
    --------
    LabelwiseRanker : Learns positions; faster.

    References
    ----------
    .. [1] D. Fotakis, A. Kalavasis and E. Psaroudaki, "Label ranking through nonparametric
       regression", ICML 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklrank.label_ranking import PairwiseRanker
    >>> X = np.linspace(0, 1, 50).reshape(-1, 1)
    >>> Y = np.where(X < 0.5, [[1, 2, 3]], [[2, 3, 1]]).astype(float)  # positions of three labels
    >>> Y[::4, 0] = np.nan  # not ranked
    >>> ranker = PairwiseRanker(LogisticRegression()).fit(X, Y)
    >>> ranker.predict([[0.1], [0.9]])
    array([[1, 2, 3],
           [2, 3, 1]])
    """

    _parameter_constraints: dict = {
        **DecompositionRanker._parameter_constraints,
        "voting": [StrOptions({"copeland", "soft"})],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        voting: Literal["copeland", "soft"] = "copeland",
        multi_output: Literal["auto"] | bool = "auto",
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.voting = voting
        self.multi_output = multi_output
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _default_estimator(self, random_state):
        return RandomForestClassifier(random_state=random_state, n_jobs=self.n_jobs)

    def _fit_rankings(self, X, positions):
        if is_regressor(self._template()):
            raise ValueError(
                "estimator must be a classifier, which learns comparisons; got the regressor "
                f"{self.estimator!r}: LabelwiseRanker takes such"
            )
        n_labels = positions.shape[1]
        pairs = np.array(list(combinations(range(n_labels), 2)), dtype=np.intp).reshape(-1, 2)
        first, second = positions[:, pairs[:, 0]], positions[:, pairs[:, 1]]
        # As numbers: some classifiers misread indicators of booleans.
        wins = (first < second).astype(np.intp)
        compared = (wins > 0) | (first > second)
        n_compared = compared.sum(axis=0)
        frequencies = np.where(n_compared, wins.sum(axis=0) / np.maximum(n_compared, 1), 0.5)
        open_pairs = (frequencies > 0) & (frequencies < 1) & (n_compared > 0)
        self._jointly = self._fits_jointly(compared[:, open_pairs])
        template = self._template_of_fit()
        if self._jointly:
            self.estimators_ = [clone(template).fit(X, wins[:, open_pairs])]
        else:
            self._check_takes_one_target("pair of labels")
            models = iter(
                self._in_parallel(
                    delayed(fit_pair)(clone(template), X, compared[:, pair], wins[:, pair])
                    for pair in np.flatnonzero(open_pairs)
                )
            )
            self.estimators_ = [next(models) if is_open else None for is_open in open_pairs]
        self.pairs_ = pairs
        self.frequencies_ = frequencies
        self._open_pairs = open_pairs

    def _fits_jointly(self, compared):
        everywhere = compared.shape[1] > 1 and bool(compared.all())
        if self.multi_output == "auto":
            return everywhere and get_tags(self._template()).target_tags.multi_output
        if self.multi_output and compared.shape[1] > 1 and not everywhere:
            raise ValueError(
                "multi_output=True learns all pairs from every row, but y has labels that are not "
                "ranked (NaN) or tied: use multi_output='auto'"
            )
        return self.multi_output and everywhere

    def _chances(self, X):
        """The probability `(n_samples, n_pairs)` that the first label of a pair comes first."""
        chances = np.tile(self.frequencies_, (_num_samples(X), 1))
        if self._jointly:
            chances[:, self._open_pairs] = joint_chances(self.estimators_[0], X)
        elif self._open_pairs.any():
            chances[:, self._open_pairs] = np.column_stack(
                self._in_parallel(
                    delayed(pair_chances)(model, X)
                    for model in self.estimators_
                    if model is not None
                )
            )
        return chances

    def _label_scores(self, X):
        X = self._fitted_rows(X)
        n_labels = len(self.classes_)
        chances = self._chances(X)
        soft = votes(chances, self.pairs_, n_labels)
        if self.voting == "soft":
            return soft
        copeland = votes(0.5 * (np.sign(chances - 0.5) + 1.0), self.pairs_, n_labels)
        # Copeland scores differ by 1/2 at the least; soft ones, below n_labels, decide between.
        return copeland + soft / (4 * n_labels)


def votes(chances, pairs, n_labels):
    """Sums `(n_samples, n_labels)` of what the pairs give their first and their second label."""
    scores = np.zeros((len(chances), n_labels))
    for pair, (first, second) in enumerate(pairs):
        scores[:, first] += chances[:, pair]
        scores[:, second] += 1.0 - chances[:, pair]
    # Equal sums, added up in different orders, are to be equal.
    return scores.round(12)


def fit_pair(estimator, X, compared, wins):
    """Fit to the rows that rank one label of the pair before the other."""
    rows = np.flatnonzero(compared)
    if len(rows) < len(compared):
        X, wins = _safe_indexing(X, rows), wins[rows]
    return estimator.fit(X, wins)


def pair_chances(model, X):
    """The probability `(n_samples,)` of class 1."""
    if hasattr(model, "predict_proba"):
        return model.predict_proba(X)[:, 1]
    if hasattr(model, "decision_function"):
        return expit(model.decision_function(X))
    return model.predict(X).astype(np.float64)


def joint_chances(model, X):
    """The probability `(n_samples, n_pairs)` of class 1, from one model of all pairs."""
    if not hasattr(model, "predict_proba"):
        if hasattr(model, "decision_function"):
            return expit(model.decision_function(X))
        return model.predict(X).astype(np.float64)
    probabilities = model.predict_proba(X)
    # One array for each pair from forests and trees, one for all from neural networks.
    if isinstance(probabilities, list):
        return np.column_stack([of_pair[:, 1] for of_pair in probabilities])
    return probabilities
