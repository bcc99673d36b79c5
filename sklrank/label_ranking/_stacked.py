"""Stacking of label rankers, weighted by least squares on held-out samples."""

from __future__ import annotations

from collections.abc import Sequence
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
from sklearn.utils.validation import check_is_fitted

from sklrank._sklearn import (
    StrOptions,
    _BaseComposition,
    _num_samples,
    _safe_indexing,
    one_blas_thread,
)
from sklrank.label_ranking._label_ranker import MetaLabelRanker
from sklrank.label_ranking._labelwise import LabelwiseRanker
from sklrank.label_ranking._pairwise import PairwiseRanker
from sklrank.label_ranking._radial_features import RadialFeatures

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["StackedRanker"]

_N_FOLDS = 5
# With more samples only one fold is held out.
_MANY_SAMPLES = 5000


class StackedRanker(MetaLabelRanker, _BaseComposition):
    r"""Label ranker that combines the scores of several rankers by a weighted sum.

    No single ranker is the most accurate on all data. Forests are accurate if the positions change
    abruptly with the features, linear comparisons if the positions depend on few features, and
    kernel methods in intermediate cases. This class uses stacking [1]_: it fits each of several
    rankers to a part of the training data and computes scores of the held-out samples. The scores
    and the positions are centered within each sample. The weights of the rankers are the solution
    of a non-negative least-squares regression of the negative positions on the scores. The rankers
    with positive weights are then fitted to all samples.

    The default parameters are the configuration that the package recommends for label ranking. They
    need no tuning, but `fit` then fits many models. The default rankers were chosen on the
    benchmark data sets of [2]_; ``examples/paper_label_ranking.py`` evaluates them on these data
    sets.

    Parameters
    ----------
    estimators : list of (str, label ranker) or None, default=None
        The rankers with their names. A ranker is removed if it is replaced by "drop", for example
        by ``set_params(name="drop")``. If None, the rankers are:

        - "trees" and "small_trees": :class:`LabelwiseRanker` with an `ExtraTreesRegressor` of 100
          trees. The minimum number of samples in a leaf is 1 for "trees" and 5 for "small_trees".
        - "wide", "medium", "narrow" and "quantiles": :class:`LabelwiseRanker` with ridge regression
          on at most 500 Nyström features of a Gaussian kernel. The squared widths of the kernels
          are 1/0.3, 1, 1/3 and 1, respectively. For "quantiles", the features are transformed to
          normal distributions; for the others, they are standardized.
        - "logistic": :class:`PairwiseRanker` with logistic regression and soft votes.

        The default rankers that learn positions use ``multi_output="auto"``: if the rankings are
        complete, each of them fits a joint model of all labels. Joint models are faster, and they
        do not reduce the accuracy of the stack.
    cv : {"auto"}, int, cross-validation generator or iterable, default="auto"
        Determines the held-out samples. If "auto", five shuffled folds are used, or a single split
        that holds out one fifth of the samples if there are more than 5000. Other values have the
        same meaning as in scikit-learn.
    random_state : int, RandomState instance or None, default=None
        Controls the randomness of the default rankers and of the folds if ``cv="auto"``. It is not
        passed to user-supplied rankers.
    verbose : int, default=0
        Verbosity level of joblib.
    n_jobs : int or None, default=None
        Number of rankers that fit or predict in parallel. Each fit uses one BLAS thread.

    Attributes
    ----------
    estimators_ : list of label rankers
        The rankers with positive weights, fitted to all samples.
    named_estimators_ : Bunch
        The rankers of `estimators_`, accessible by name.
    weights_ : dict of str to float
        Weight of every ranker that was not dropped. The weights of different rankers are not
        comparable, because their scores have different scales; compare `shares_` instead.
    shares_ : dict of str to float
        Weight of every ranker, multiplied by the root mean square of its centered held-out scores.
        The values are normalized to sum to 1.
    classes_ : ndarray of shape (n_labels,)
        The labels: the column names of `y` if `y` is a data frame with column names; otherwise the
        column indices.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features. Defined only if `X` has feature names that are all strings.

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
        **MetaLabelRanker._parameter_constraints,
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
        """Return the fitted rankers with positive weights as a Bunch, by name."""
        check_is_fitted(self)
        kept = [name for name, weight in self.weights_.items() if weight > 0]
        return Bunch(**dict(zip(kept, self.estimators_)))

    def get_params(self, deep: bool = True) -> dict:
        """Get the parameters of this ranker and, as ``name__parameter``, of the inner rankers.

        Parameters
        ----------
        deep : bool, default=True
            Whether to include the inner rankers and their parameters.

        Returns
        -------
        dict
            Parameter names mapped to their values.
        """
        return self._get_params("estimators", deep=deep)

    def set_params(self, **params: Any) -> Self:
        """Set parameters of this ranker.

        ``name__parameter`` sets a parameter of an inner ranker, and ``name`` replaces that ranker.

        Parameters
        ----------
        **params : dict
            Parameter names mapped to their new values.

        Returns
        -------
        self : object
            This ranker.
        """
        return self._set_params("estimators", **params)

    def _fit_rankings(self, X, positions, sample_weight=None):
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        names, rankers = zip(*self._named_templates(seed))
        folds = self._folds(X, positions, seed)
        n_fits = len(rankers) * (len(folds) + 1)
        held_out = self._held_out(rankers, X, positions, folds, n_fits)
        weights, shares = non_negative_weights(*held_out)
        self.estimators_ = self._fit_in_parallel(
            [
                delayed(fit_ranker)(clone(ranker), X, positions)
                for ranker, weight in zip(rankers, weights)
                if weight > 0
            ],
            "ranker",
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
        if not isinstance(templates, Sequence):
            return []  # `fit` raises the error.
        return [entry[1] for entry in templates if is_named(entry) and is_ranker(entry[1])]

    def _held_out(self, rankers, X, positions, folds, n_fits):
        """Return the scores and the positions of the held-out samples of all folds.

        The scores have shape `(n_rankers, n_held_out, n_labels)`, and the positions have shape
        `(n_held_out, n_labels)`. If no training sample of a fold ranks a label, the positions of
        this label in the held-out samples of the fold are NaN, since the rankers could not learn
        them.
        """
        ranked = ~np.isnan(positions)
        unseen = [ranked.any(axis=0) & ~ranked[train].any(axis=0) for train, _ in folds]
        scores = self._fit_in_parallel(
            [
                delayed(fit_and_score)(clone(ranker), X, positions, *fold, unseen_labels)
                for ranker in rankers
                for fold, unseen_labels in zip(folds, unseen)
            ],
            "ranker on a fold",
            n_fits,
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
        """Return a list with the indices of the training and the held-out samples of each fold."""
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
    """Return the default rankers, as a list of (name, label ranker)."""

    def labelwise(regressor):
        # A joint model is faster than separate models, and the tau of the stack is the same.
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
        # Classifiers also have a decision_function, but their targets are not rankings.
        and not is_classifier(estimator)
    )


def is_dropped(estimator):
    return isinstance(estimator, str) and estimator == "drop"


def non_negative_weights(scores, positions):
    """Compute the weights of the rankers by non-negative least squares.

    The negative relative positions are regressed on the scores; both are centered within each
    sample.

    Parameters
    ----------
    scores : ndarray of shape (n_rankers, n_samples, n_labels)
        Scores of held-out samples; higher is better.
    positions : ndarray of shape (n_samples, n_labels)
        Positions of the labels for these samples. NaN marks a label that is not ranked.

    Returns
    -------
    weights, shares : ndarray of shape (n_rankers,)
        The weights, and the weights multiplied by the root mean square of the centered scores. The
        shares are normalized to sum to 1. If the least squares solution is 0, the shares are equal.
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


@one_blas_thread
def fit_ranker(ranker, X, y):
    """Fit a ranker to all samples and return it."""
    return ranker.fit(X, y)


@one_blas_thread
def fit_and_score(ranker, X, y, train, test, unseen):
    """Fit a ranker to the samples `train`; return the scores `(n_test, n_labels)` of `test`.

    The mask `unseen` marks labels that no sample in `train` ranks; their scores are 0.
    """
    X_test, y_train = _safe_indexing(X, test), y[train]
    scores = np.zeros((_num_samples(X_test), y.shape[1]))
    if not np.isnan(y_train).all():
        ranker.fit(_safe_indexing(X, train), y_train[:, ~unseen])
        scores[:, ~unseen] = ranker.decision_function(X_test)
    return scores
