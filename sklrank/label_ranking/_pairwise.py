"""One-versus-one decomposition: classify which of two labels comes first, then count votes."""

from __future__ import annotations

from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit
from sklearn.base import clone, is_regressor
from sklearn.ensemble import RandomForestClassifier
from sklearn.utils.parallel import delayed

from sklrank._checks import check_outputs
from sklrank._compiled import shared_call
from sklrank._estimators import StrOptions, _num_samples, draw_seed, parallel
from sklrank.label_ranking._label_ranker import (
    DecompositionRanker,
    fit_selected,
    in_one_process,
    of_rankers,
)


@of_rankers
class PairwiseRanker(DecompositionRanker):
    """Label ranker that predicts which of two labels comes first, for each pair of labels.

    This class implements Algorithms 6 to 8 of [1]_. For each pair of labels, a classifier is fitted
    to the samples that rank one of the two before the other. The predictions for all pairs are
    counted as votes. By Copeland's rule, the score of a label is the number of labels that it
    beats. Such scores are often equal; see the notes. If no sample compares the labels of a pair,
    each of the two receives half a vote.

    Parameters
    ----------
    estimator : classifier or None, default=None
        Classifier that compares two labels. If None, a `RandomForestClassifier` with 100 trees.
    voting : {"copeland", "copeland-random", "soft"}, default="copeland"
        Rule that determines the score of a label; see the notes.
    {multi_output}
    {decomposition}
    estimators_ : list of estimators, or of None
        The fitted classifiers: one for each pair, or a single joint one. The entry of a pair is
        None if no sample compares its labels or if `fit` found them in the same order in all
        samples; `partial_fit` continues without a model of such a pair then. Class 1 means that
        the first label of the pair comes before the second, class 0 that it comes after.
    pairs_ : ndarray of shape (n_pairs, 2)
        The two labels of each pair, as column indices of `y`.
    frequencies_ : ndarray of shape (n_pairs,)
        Proportion of the samples that rank the first label of a pair before the second, among those
        that rank one of the two before the other; 1/2 if there are none.
    {attributes}

    See Also
    --------
    LabelwiseRanker : Learns positions, with one model for each label; it is faster.

    Notes
    -----
    =================  ============================================================================
    voting             Score of a label
    =================  ============================================================================
    "copeland"         The number of labels that it beats. The soft votes break ties.
    "copeland-random"  The same. Ties are broken at random, as printed in [1]_, by draws from
                       `random_state` and the votes of the sample alone.
    "soft"             The sum of the probabilities that it beats each other label.
    =================  ============================================================================

    Probabilities are those of `predict_proba`; without this method, the logistic function of
    `decision_function`; without both, the predictions of `predict`.

    References
    ----------
    .. [1] Fotakis et al., "Label ranking through nonparametric regression", ICML 2022.

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
        "voting": [StrOptions({"copeland", "copeland-random", "soft"})],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        voting: Literal["copeland", "copeland-random", "soft"] = "copeland",
        multi_output: bool | Literal["auto"] = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.voting = voting
        self.multi_output = multi_output
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _default_estimator(self, random_state, n_jobs):
        return RandomForestClassifier(random_state=random_state, n_jobs=n_jobs)

    def _fit_rankings(self, X, positions, sample_weight):
        wins, compared = self._compare(positions, sample_weight, restart=True)
        learned = self._learned_pairs
        missing = "" if compared[:, learned].all() else "not ranked (NaN) or tied"
        self._jointly = self._fits_jointly(learned.sum(), missing)
        template = self._template_of_fit(self._jointly)
        if self._jointly:
            self.estimators_ = self._fit_jointly(template, X, wins[:, learned], sample_weight)
        else:
            calls = [
                delayed(fit_pair)(clone(template), X, compared[:, i], wins[:, i], sample_weight)
                for i in np.flatnonzero(learned)
            ]
            models = iter(self._fit_in_parallel(calls, "pair"))
            self.estimators_ = [next(models) if has_model else None for has_model in learned]

    def _update_rankings(self, X, positions, sample_weight):
        restart = not hasattr(self, "estimators_")
        before = 0.0 if restart else self._counts[1]
        wins, compared = self._compare(positions, sample_weight, restart=restart)
        models = [None] * len(self.pairs_) if restart else self.estimators_
        # If `fit` saw a pair in one order only, it has no model, which cannot be made up for.
        has_none = np.array([model is None for model in models])
        compared &= ~(has_none & (before > 0)) if len(models) == len(self.pairs_) else True
        options = {"classes": np.arange(2)}
        self.estimators_ = self._update(models, X, wins, compared, sample_weight, **options)
        self._jointly = False
        self._learned_pairs &= [model is not None for model in self.estimators_]

    def _compare(self, positions, sample_weight, *, restart):
        """Count comparisons, and return what `compare_pairs` does."""
        if is_regressor(self._template()):
            raise ValueError(
                "estimator must be a classifier, which learns comparisons; got the regressor "
                f"{self.estimator!r}: use LabelwiseRanker for regressors"
            )
        self.pairs_ = pairs_of_labels(positions.shape[1])
        wins, compared = compare_pairs(positions, self.pairs_)
        weights = weights_or_ones(sample_weight, len(positions))
        counts = np.array([weights @ wins, weights @ compared])
        self._counts = counts if restart else self._counts + counts
        self.frequencies_, self._learned_pairs = win_frequencies(*self._counts)
        if restart:
            # Other rules do not advance a generator; the rule may be set after `fit`.
            is_random = self.voting == "copeland-random"
            self._tie_seed = draw_seed(self.random_state) if is_random else 0
        # Wins are integers because some classifiers misread boolean indicator matrices.
        return wins.astype(np.intp), compared

    def _pair_probabilities(self, X):
        """Return the probabilities `(n_samples, n_pairs)` that the first label comes first."""
        probabilities = np.tile(self.frequencies_, (_num_samples(X), 1))
        if self._jointly:
            probabilities[:, self._learned_pairs] = positive_probability(
                self.estimators_[0], X, jointly=True
            )
        elif self._learned_pairs.any():
            probabilities[:, self._learned_pairs] = np.column_stack(
                parallel(n_jobs=self.n_jobs)(
                    delayed(positive_probability)(model, X)
                    for model, is_learned in zip(self.estimators_, self._learned_pairs)
                    if is_learned
                )
            )
        return check_outputs(probabilities, self._template())

    def _label_scores(self, X):
        X = self._check_fitted_rows(X)
        n_labels = len(self.classes_)
        probabilities = self._pair_probabilities(X)
        soft = sum_votes(probabilities, self.pairs_, n_labels)
        if self.voting == "soft":
            return soft
        wins = 0.5 * (np.sign(probabilities - 0.5) + 1.0)
        copeland = sum_votes(wins, self.pairs_, n_labels)
        if self.voting == "copeland-random":
            # Different Copeland scores differ by at least 1/2: a term below 1/4 only breaks ties.
            return copeland + 0.25 * self._random_terms(wins)
        # Soft scores differ by less than n_labels.
        return copeland + soft / (4 * n_labels)

    def _random_terms(self, wins):
        """Return a number from 0 to 1 for each label, drawn anew for each way to vote."""
        votes, rows = np.unique(wins, axis=0, return_inverse=True)
        terms = [
            np.random.default_rng([self._tie_seed, *(2 * vote).astype(np.uint32)]).random(
                len(self.classes_)
            )
            for vote in votes
        ]
        return np.array(terms)[rows.ravel()]

    @shared_call
    def predict_pair_proba(self, X: ArrayLike) -> np.ndarray:
        """Return the probability of each label to be ranked before each other label.

        The probabilities are those of the classifiers of the pairs. They are 1/2 if no sample
        compares two labels, and 0 and 1 if all that do agree. :class:`CalibratedLabelRanker`
        calibrates probabilities on held-out samples.

        {pair_proba}
        """
        X = self._check_fitted_rows(X)
        probabilities = self._pair_probabilities(X)
        n_labels = len(self.classes_)
        before = np.full((len(probabilities), n_labels, n_labels), 0.5)
        first, second = self.pairs_.T
        before[:, first, second] = probabilities
        before[:, second, first] = 1.0 - probabilities
        return before


def pairs_of_labels(n_labels):
    """Return the pairs of labels, of shape `(n_pairs, 2)`, each with the smaller label first."""
    return np.array(list(combinations(range(n_labels), 2)), dtype=np.intp).reshape(-1, 2)


def compare_pairs(positions, pairs):
    """Return whether the first label of each pair comes first, and whether one of the two does.

    Both masks have the shape `(n_samples, n_pairs)`.
    """
    first, second = positions[:, pairs[:, 0]], positions[:, pairs[:, 1]]
    wins = first < second
    return wins, wins | (first > second)


def win_frequencies(n_wins, n_compared):
    """Return the frequencies of wins among comparisons, `(n_pairs,)`; 1/2 if there are none.

    Return also for which pairs there is something to learn: that of others is always the same.
    """
    frequencies = np.divide(n_wins, n_compared, np.full(len(n_wins), 0.5), where=n_compared > 0)
    return frequencies, (n_compared > 0) & (frequencies > 0) & (frequencies < 1)


def weights_or_ones(sample_weight, n_samples):
    """Return the weights of the samples, which are 1 if they are None."""
    return np.ones(n_samples) if sample_weight is None else sample_weight


def sum_votes(votes, pairs, n_labels):
    """Return the sum of the votes for each label, of shape `(n_samples, n_labels)`.

    The first label of a pair receives an entry of `votes`, `(n_samples, n_pairs)`, and the second
    one minus it.
    """
    scores = np.zeros((len(votes), n_labels))
    for pair, (first, second) in enumerate(pairs):
        scores[:, first] += votes[:, pair]
        scores[:, second] += 1.0 - votes[:, pair]
    # Sums of the same votes in different orders differ by rounding errors; make them equal.
    return scores.round(12)


@in_one_process
def fit_pair(estimator, X, compared, wins, sample_weight):
    """Fit an estimator to the samples that rank one label of a pair before the other; return it."""
    if sample_weight is not None:
        compared = compared & (sample_weight > 0)
    return fit_selected(estimator, X, wins, compared, sample_weight)


def positive_probability(model, X, jointly=False):
    """Return the probabilities of class 1, `(n_samples,)`, or `(n_samples, n_pairs)` jointly."""
    if not hasattr(model, "predict_proba"):
        if hasattr(model, "decision_function"):
            return expit(model.decision_function(X))
        return model.predict(X).astype(np.float64)
    probabilities = model.predict_proba(X)
    # Joint forests return a list with an array for each pair; joint neural networks return the
    # probabilities of class 1.
    if isinstance(probabilities, list):
        return np.column_stack([of_pair[:, 1] for of_pair in probabilities])
    return probabilities if jointly else probabilities[:, 1]
