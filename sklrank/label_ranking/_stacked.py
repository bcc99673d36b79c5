"""Stacking of label rankers, weighted by least squares on held-out samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import nnls
from scipy.stats import rankdata
from sklearn.base import clone, is_classifier
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.model_selection import KFold, ShuffleSplit, check_cv
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import Bunch, check_random_state
from sklearn.utils.parallel import delayed

from sklrank._sklearn import (
    StrOptions,
    _BaseComposition,
    _num_samples,
    _safe_indexing,
    one_blas_thread,
)
from sklrank.label_ranking._label_ranker import LabelRanker
from sklrank.label_ranking._labelwise import LabelwiseRanker
from sklrank.label_ranking._pairwise import PairwiseRanker
from sklrank.label_ranking._radial_features import RadialFeatures

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["StackedRanker"]

_N_FOLDS = 5
# With more samples only one fold is held out.
_MANY_SAMPLES = 5000


class StackedRanker(LabelRanker, _BaseComposition):
    r"""Rank labels by a weighted sum of the scores of several rankers.

    No ranker is best on all data: forests are good where positions jump, linear comparisons where
    they depend on a few features, kernels in between. This ranker fits each of several rankers to
    a part of the training data and scores the held-out samples (stacking, [1]_). Non-negative least
    squares find the weights with which the scores explain the positions best, both centered within
    each sample. The rankers of positive weight are then fitted to all samples.

    The defaults are the configuration that the package recommends for label ranking. They need no
    tuning, but many fits. The default rankers were chosen on the benchmark sets of [2]_, on which
    ``examples/paper_label_ranking.py`` evaluates them.

    Parameters
    ----------
    estimators : list of (str, label ranker) or None, default=None
        The rankers, with names; "drop" in place of a ranker leaves it out, as
        ``set_params(name="drop")`` does. None for these:

        - "trees", "small_trees": :class:`LabelwiseRanker` over an `ExtraTreesRegressor` of 100
          trees, with at least one or five samples in a leaf;
        - "wide", "medium", "narrow", "quantiles": :class:`LabelwiseRanker` over ridge regression on
          at most 500 Nyström features of a Gaussian kernel, of squared widths 1/0.3, 1, 1/3, and 1;
          features are standardized, for "quantiles" transformed to normal distributions;
        - "logistic": :class:`PairwiseRanker` over logistic regression, with soft votes.

        Each default ranker that learns positions fits one model of all labels if the rankings are
        complete (``multi_output="auto"``): it takes a fraction of the time, and the stack ranks
        equally well.
    cv : {"auto"}, int, cross-validation generator or iterable, default="auto"
        Samples to hold out. "auto": five shuffled folds, or a single random fifth of more than 5000
        samples. Other values as in scikit-learn.
    random_state : int, RandomState instance or None, default=None
        Seed of the default rankers and of the folds of "auto"; given rankers have their own.
    verbose : int, default=0
        Verbosity of joblib.
    n_jobs : int or None, default=None
        Number of rankers that are fitted at a time, each with one BLAS thread.

    Attributes
    ----------
    estimators_ : list of label rankers
        The rankers of positive weight, fitted to all samples.
    named_estimators_ : Bunch
        The same, by name.
    weights_ : dict of str to float
        Weight of every ranker that was not dropped. Scores of different rankers have different
        units, see `shares_`.
    shares_ : dict of str to float
        Weight times the root mean square of the held-out scores, scaled to sum to 1.
    classes_ : ndarray of shape (n_labels,)
        The labels: the columns of `y`, by name if `y` is a data frame with column names.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if `X` has string feature names.

    See Also
    --------
    LabelwiseRanker : Learns positions with one regressor.
    PairwiseRanker : Learns comparisons with one classifier.

    References
    ----------
    .. [1] L. Breiman, "Stacked regressions",
       Machine Learning 24, 1996.
    .. [2] D. Fotakis, A. Kalavasis and E. Psaroudaki, "Label ranking through nonparametric
       regression", ICML 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklrank.label_ranking import LabelwiseRanker, PairwiseRanker, StackedRanker
    >>> X = np.random.RandomState(0).normal(size=(100, 3))
    >>> Y = np.argsort(np.argsort(X, axis=1), axis=1)  # positions are those of the features
    >>> ranker = StackedRanker(
    ...     [
    ...         ("trees", LabelwiseRanker(random_state=0)),
    ...         ("logistic", PairwiseRanker(LogisticRegression(), voting="soft")),
    ...     ],
    ...     random_state=0,
    ... ).fit(X, Y)
    >>> ranker.predict([[0.1, 0.9, -0.3]])
    array([[2, 3, 1]])
    >>> max(ranker.shares_, key=ranker.shares_.get)
    'logistic'
    """

    _parameter_constraints: dict = {
        **LabelRanker._parameter_constraints,
        "estimators": [list, None],
        "cv": [StrOptions({"auto"}), "cv_object"],
    }

    def __init__(
        self,
        estimators: list[tuple[str, Any]] | None = None,
        *,
        cv: Any = "auto",
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.estimators = estimators
        self.cv = cv
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    @property
    def named_estimators_(self) -> Bunch:
        """Fitted rankers by name."""
        kept = [name for name, weight in self.weights_.items() if weight > 0]
        return Bunch(**dict(zip(kept, self.estimators_)))

    def get_params(self, deep: bool = True) -> dict:
        """Get the parameters; a parameter of a ranker is ``name__parameter``.

        Parameters
        ----------
        deep : bool, default=True
            Whether to include the rankers and their parameters.

        Returns
        -------
        dict
            Values by name.
        """
        return self._get_params("estimators", deep=deep)

    def set_params(self, **params: Any) -> Self:
        """Set parameters: ``name__parameter`` of a ranker, or a whole ranker by its name.

        Parameters
        ----------
        **params : dict
            Values by name.

        Returns
        -------
        self : object
            This ranker.
        """
        return self._set_params("estimators", **params)

    def _fit_rankings(self, X, positions):
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        names, rankers = zip(*self._named_templates(seed))
        weights, shares = non_negative_weights(*self._held_out(rankers, X, positions, seed))
        self.estimators_ = self._fit_in_parallel(
            delayed(fit_ranker)(clone(ranker), X, positions)
            for ranker, weight in zip(rankers, weights)
            if weight > 0
        )
        self.weights_ = dict(zip(names, weights.tolist()))
        self.shares_ = dict(zip(names, shares.tolist()))

    def _named_templates(self, seed):
        if self.estimators is None:
            return default_rankers(seed)
        if not self.estimators:
            raise ValueError("estimators is empty; pass at least one named ranker, or None")
        for entry in self.estimators:
            if not is_named(entry) or not (is_ranker(entry[1]) or is_dropped(entry[1])):
                raise ValueError(
                    "estimators must be a list of (name, label ranker), such as "
                    f"('trees', LabelwiseRanker()); got {entry!r}"
                )
        self._validate_names([name for name, _ in self.estimators])
        kept = [entry for entry in self.estimators if is_ranker(entry[1])]
        if not kept:
            raise ValueError("estimators has no ranker that is not dropped; keep at least one")
        return kept

    def _templates(self):
        templates = default_rankers() if self.estimators is None else self.estimators
        return [entry[1] for entry in templates if is_named(entry) and is_ranker(entry[1])]

    def _held_out(self, rankers, X, positions, seed):
        """Return scores `(n_rankers, n_held_out, n_labels)` and positions of held-out samples.

        If no sample of a training fold ranks a label, its held-out positions are NaN, since the
        rankers could not learn them.
        """
        folds = self._folds(X, positions, seed)
        ranked = ~np.isnan(positions)
        unseen = [ranked.any(axis=0) & ~ranked[train].any(axis=0) for train, _ in folds]
        scores = self._fit_in_parallel(
            delayed(fit_and_score)(clone(ranker), X, positions, *fold, unseen_labels)
            for ranker in rankers
            for fold, unseen_labels in zip(folds, unseen)
        )
        n_folds = len(folds)
        ranker_scores = [
            np.concatenate(scores[start : start + n_folds])
            for start in range(0, len(scores), n_folds)
        ]
        held_out = [
            np.where(unseen_labels, np.nan, positions[test])
            for (_, test), unseen_labels in zip(folds, unseen)
        ]
        return np.array(ranker_scores), np.concatenate(held_out)

    def _folds(self, X, positions, seed):
        """Return the training and the held-out samples of each fold."""
        if not isinstance(self.cv, str):
            cv = check_cv(self.cv)
        elif len(positions) > _MANY_SAMPLES:
            cv = ShuffleSplit(1, test_size=1 / _N_FOLDS, random_state=seed)
        elif len(positions) < _N_FOLDS:
            raise ValueError(
                f"cv='auto' makes {_N_FOLDS} folds, but n_samples={len(positions)}: use a single "
                "ranker instead of a stack, or another cv"
            )
        else:
            cv = KFold(_N_FOLDS, shuffle=True, random_state=seed)
        try:
            folds = list(cv.split(X, positions))
        except ValueError as error:
            raise ValueError(
                f"cv={self.cv!r} cannot split {len(positions)} rankings: {error} Use fewer folds, "
                "KFold or ShuffleSplit"
            ) from error
        if not folds or min(np.size(rows) for fold in folds for rows in fold) == 0:
            raise ValueError(
                f"cv={self.cv!r} must make at least one fold, each with training samples and "
                "held-out samples"
            )
        return folds

    def _label_scores(self, X):
        X = self._check_fitted_rows(X)
        scores = self._in_parallel(
            delayed(ranker.decision_function)(X) for ranker in self.estimators_
        )
        weights = [weight for weight in self.weights_.values() if weight > 0]
        return np.tensordot(weights, scores, axes=1)


def default_rankers(random_state=None):
    """Return the recommended rankers, with their names."""

    def labelwise(regressor):
        # A joint model where possible: faster, and the stack's tau is the same.
        return LabelwiseRanker(regressor, multi_output="auto", incomplete="relative")

    def radial(scale, marginals="standard"):
        features = RadialFeatures(scale, marginals=marginals, random_state=random_state)
        return labelwise(make_pipeline(features, RidgeCV(np.logspace(-3, 1, 5))))

    def trees(min_samples_leaf):
        return labelwise(
            ExtraTreesRegressor(min_samples_leaf=min_samples_leaf, random_state=random_state)
        )

    logistic = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    return [
        ("trees", trees(1)),
        ("small_trees", trees(5)),
        ("wide", radial(0.3)),
        ("medium", radial(1.0)),
        ("narrow", radial(3.0)),
        ("quantiles", radial(1.0, marginals="quantile")),
        ("logistic", PairwiseRanker(logistic, voting="soft")),
    ]


def is_named(entry):
    return isinstance(entry, tuple | list) and len(entry) == 2 and isinstance(entry[0], str)


def is_ranker(estimator):
    return (
        not isinstance(estimator, type)
        and all(hasattr(estimator, name) for name in ("fit", "decision_function"))
        # Classifiers have a decision_function too, of other targets.
        and not is_classifier(estimator)
    )


def is_dropped(estimator):
    return isinstance(estimator, str) and estimator == "drop"


def non_negative_weights(scores, positions):
    """Compute the weights with which scores explain positions best, by least squares.

    Parameters
    ----------
    scores : ndarray of shape (n_rankers, n_samples, n_labels)
        Scores of held-out samples; higher is better.
    positions : ndarray of shape (n_samples, n_labels)
        Rankings of these samples.

    Returns
    -------
    weights, shares : ndarray of shape (n_rankers,)
        The shares sum to 1; they are equal if no score explains the positions.
    """
    ranked = ~np.isnan(positions)
    n_ranked = np.maximum(ranked.sum(axis=1, keepdims=True), 1)
    relative = rankdata(positions, axis=1, nan_policy="omit") / (n_ranked + 1)

    def centered(values):
        means = np.where(ranked, values, 0.0).sum(axis=1, keepdims=True) / n_ranked
        return (values - means)[ranked]

    columns = np.column_stack([centered(ranker_scores) for ranker_scores in scores])
    sizes, shares = np.ones(len(scores)), np.zeros(len(scores))
    if columns.any():
        sizes = np.sqrt(np.mean(columns**2, axis=0))
        sizes[sizes == 0] = 1.0
        shares, _ = nnls(columns / sizes, -centered(relative))
    if not shares.any():
        shares = np.ones(len(scores))
    return shares / sizes, shares / shares.sum()


@one_blas_thread()
def fit_ranker(ranker, X, y):
    """Fit to all samples."""
    return ranker.fit(X, y)


@one_blas_thread()
def fit_and_score(ranker, X, y, train, test, unseen):
    """Fit to the samples `train` and score `test`; labels `unseen` in `train` have score 0."""
    X_test, y_train = _safe_indexing(X, test), y[train]
    scores = np.zeros((_num_samples(X_test), y.shape[1]))
    if not np.isnan(y_train).all():
        ranker.fit(_safe_indexing(X, train), y_train[:, ~unseen])
        scores[:, ~unseen] = ranker.decision_function(X_test)
    return scores
