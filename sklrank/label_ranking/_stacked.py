"""Stacking of label rankers, weighted by the rankings of held-out samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.optimize import nnls
from scipy.stats import rankdata
from sklearn.base import clone, is_classifier
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import KFold, ShuffleSplit, check_cv
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, SplineTransformer, StandardScaler
from sklearn.utils import Bunch, check_random_state
from sklearn.utils.parallel import delayed
from sklearn.utils.validation import check_is_fitted

from sklrank._call_guard import shared_call
from sklrank._sklearn import (
    StrOptions,
    _BaseComposition,
    _num_samples,
    _safe_indexing,
    one_blas_thread,
)
from sklrank.label_ranking._label_ranker import MetaLabelRanker
from sklrank.label_ranking._labelwise import LabelwiseRanker
from sklrank.label_ranking._leaf_size_forest import LeafSizeForest
from sklrank.label_ranking._pair_calibration import fit_logistic_weights, ordered_pairs
from sklrank.label_ranking._plackett_luce import PlackettLuceRanker
from sklrank.label_ranking._plackett_luce_likelihood import pair_probabilities
from sklrank.label_ranking._radial_features import RadialFeatures
from sklrank.metrics import kendall_tau_score

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import Self

__all__ = ["StackedRanker"]

_N_FOLDS = 5
# With more samples only one fold is held out.
_MANY_SAMPLES = 5000


class StackedRanker(MetaLabelRanker, _BaseComposition):
    r"""Label ranker that combines the scores of several rankers by a weighted sum.

    No single ranker is the most accurate on all data. Forests are accurate if the positions change
    abruptly with the features, linear models if few samples determine many weights, and kernel
    methods in intermediate cases. This class uses stacking [1]_: it fits each of several rankers to
    a part of the training data and computes scores of the held-out samples. The weights of the
    rankers are chosen such that the sum of the scores agrees with the positions of the held-out
    samples, by one of two rules; see the parameter `weighting`. The rankers with positive weights
    are then fitted to all samples. The score of a :class:`PlackettLuceRanker`, also as the last
    step of a pipeline, is the negative expected position of the label, because the scores of that
    model are not bounded.

    Two kinds of rankers need fewer fits. A :class:`LabelwiseRanker` with ``oob_score=True`` is
    fitted once, to all samples, and its held-out scores are the out-of-bag scores. A
    :class:`PlackettLuceRanker` with ``alpha="auto"`` chooses its penalty once, from all samples.

    The default parameters are the configuration that the package recommends for label ranking. They
    need no tuning, but `fit` then fits many models. ``examples/paper_label_ranking.py`` evaluates
    them on the benchmark data sets of [2]_.

    Parameters
    ----------
    estimators : list of (str, label ranker) or None, default=None
        The rankers with their names. A ranker is removed if it is replaced by "drop", for example
        by ``set_params(name="drop")``. If None, the rankers are:

        - "constant": the mean positions of the labels, for data whose features tell nothing.
        - "forest": the default :class:`LabelwiseRanker`, a random forest for each label that adapts
          its leaves to the noise, with out-of-bag scores.
        - "random_trees": :class:`LabelwiseRanker` with an `ExtraTreesRegressor` of 100 trees on
          bootstrap samples, with out-of-bag scores.
        - "wide" and "narrow": :class:`LabelwiseRanker` with ridge regression on at most 500 Nyström
          features of a Gaussian kernel with the squared widths 1/0.3 and 1/3 on standardized
          features. If the rankings are complete, one model is fitted for all labels.
        - "linear", "quadratic", "splines" and "radial": :class:`PlackettLuceRanker` on standardized
          features; on these and their squares; on cubic splines of each feature; and with a
          Gaussian kernel.

        All of them learn from incomplete rankings.
    cv : {"auto"}, int, cross-validation generator or iterable, default="auto"
        Determines the held-out samples. If "auto", five shuffled folds are used, or a single split
        that holds out one fifth of the samples if there are more than 5000. Other values have the
        same meaning as in scikit-learn.
    weighting : {"auto", "least_squares", "logistic"}, default="auto"
        Rule that determines the weights from the held-out samples.

        - "least_squares": the scores and the positions are centered within each sample. The weights
          are the solution of a non-negative least-squares regression of the negative relative
          positions on the scores.
        - "logistic": the weights are those of a logistic regression with non-negative weights. It
          predicts, for two labels of a sample, which of them comes first, from the differences of
          their scores.
        - "auto": "logistic" if its mean Kendall tau of held-out samples, whose rankings were not
          used for the weights, is larger by more than the standard error of the difference;
          otherwise "least_squares".
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
    weighting_ : {"least_squares", "logistic"}
        Rule that determined the weights.
    pair_scale_ : float
        Factor of the scores in the logistic model of `predict_pair_proba`.
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
        "weighting": [StrOptions({"auto", "least_squares", "logistic"})],
    }

    def __init__(
        self,
        estimators: list[tuple[str, Any]] | None = None,
        *,
        cv: Any = "auto",
        weighting: Literal["auto", "least_squares", "logistic"] = "auto",
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.estimators = estimators
        self.cv = cv
        self.weighting = weighting
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
        # Out-of-bag scores and the choice of a penalty need the fit to all samples.
        first = [has_oob_scores(ranker) or chooses_alpha(ranker) for ranker in rankers]
        n_by_folds = sum(not has_oob_scores(ranker) for ranker in rankers)
        n_fits = n_by_folds * len(folds) + len(rankers)
        first_models = iter(
            self._fit_in_parallel(
                [
                    delayed(fit_ranker)(clone(ranker), X, positions)
                    for ranker, is_first in zip(rankers, first)
                    if is_first
                ],
                "ranker",
                n_fits,
            )
        )
        models = [next(first_models) if is_first else None for is_first in first]
        scores, held_out = self._held_out(rankers, models, X, positions, folds, n_fits)
        groups = np.concatenate([np.full(len(test), fold) for fold, (_, test) in enumerate(folds)])
        if len(folds) == 1:
            groups = np.arange(len(groups)) % _N_FOLDS
        self.weighting_ = self.weighting
        if self.weighting == "auto":
            self.weighting_ = best_weighting(scores, held_out, groups)
        weights, shares = WEIGHTINGS[self.weighting_](scores, held_out)
        self.pair_scale_ = pair_scale(np.tensordot(weights, scores, axes=1), held_out)
        self.estimators_ = self._fit_kept(rankers, models, weights, X, positions)
        self.weights_ = dict(zip(names, weights.tolist()))
        self.shares_ = dict(zip(names, shares.tolist()))

    def _fit_kept(self, rankers, models, weights, X, positions):
        """Return the rankers with positive weights, fitted to all samples."""
        kept = np.flatnonzero(weights > 0)
        fits = iter(
            self._fit_in_parallel(
                [
                    delayed(fit_ranker)(clone(rankers[i]), X, positions)
                    for i in kept
                    if models[i] is None
                ],
                "ranker",
            )
        )
        return [next(fits) if models[i] is None else models[i] for i in kept]

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

    def _held_out(self, rankers, models, X, positions, folds, n_fits):
        """Return the scores and the positions of the held-out samples of all folds.

        The scores have shape `(n_rankers, n_held_out, n_labels)`, and the positions have shape
        `(n_held_out, n_labels)`. If no training sample of a fold ranks a label, the positions of
        this label in the held-out samples of the fold are NaN, since the rankers could not learn
        them. `models` are rankers that were fitted to all samples, or None. Those with out-of-bag
        scores are not fitted to the folds, and the penalties of others are not chosen again.
        """
        ranked = ~np.isnan(positions)
        unseen = [ranked.any(axis=0) & ~ranked[train].any(axis=0) for train, _ in folds]
        fold_scores = iter(
            self._fit_in_parallel(
                [
                    delayed(fit_and_score)(
                        with_alpha_of(model, ranker), X, positions, *fold, unseen_labels
                    )
                    for ranker, model in zip(rankers, models)
                    if not has_oob_scores(ranker)
                    for fold, unseen_labels in zip(folds, unseen)
                ],
                "ranker on a fold",
                n_fits,
            )
        )
        scores = [
            np.concatenate(
                [
                    model.oob_decision_function_[test]
                    if has_oob_scores(ranker)
                    else next(fold_scores)
                    for _, test in folds
                ]
            )
            for ranker, model in zip(rankers, models)
        ]
        held_out = [
            np.where(unseen_labels, np.nan, positions[test])
            for (_, test), unseen_labels in zip(folds, unseen)
        ]
        return np.array(scores), np.concatenate(held_out)

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
            folds = [tuple(map(as_indices, fold)) for fold in cv.split(X, positions)]
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
        scores = self._in_parallel(delayed(scores_of)(ranker, X) for ranker in self.estimators_)
        weights = [weight for weight in self.weights_.values() if weight > 0]
        return np.tensordot(weights, scores, axes=1)

    @shared_call
    def predict_pair_proba(self, X: ArrayLike) -> np.ndarray:
        """Return the probability of each label to be ranked before each other label.

        The probabilities are a logistic function of the difference of the scores of two labels. The
        factor of the difference was fitted to the held-out samples.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_labels, n_labels)
            Entry ``[i, a, b]`` is the probability that label a is ranked before label b. The
            entries of the diagonal are 1/2.
        """
        scores = self._label_scores(X)
        return pair_probabilities(self.pair_scale_ * scores)


def default_rankers(random_state=None):
    """Return the default rankers, as a list of (name, label ranker)."""

    def trees(forest):
        return LabelwiseRanker(forest, incomplete="relative", oob_score=True)

    def additive(transformer):
        return make_pipeline(
            StandardScaler(), transformer, PlackettLuceRanker(random_state=random_state)
        )

    def kernel(scale):
        # The features are computed once for all labels.
        return make_pipeline(
            RadialFeatures(scale, random_state=random_state),
            LabelwiseRanker(
                RidgeCV(np.logspace(-3, 1, 5)), multi_output="auto", incomplete="relative"
            ),
        )

    random_trees = ExtraTreesRegressor(bootstrap=True, random_state=random_state)
    splines = SplineTransformer(5, knots="quantile", extrapolation="linear", include_bias=False)
    return [
        ("constant", LabelwiseRanker(DummyRegressor(), incomplete="relative")),
        ("forest", trees(LeafSizeForest(random_state=random_state))),
        ("random_trees", trees(random_trees)),
        ("wide", kernel(0.3)),
        ("narrow", kernel(3.0)),
        ("linear", PlackettLuceRanker(random_state=random_state)),
        ("quadratic", additive(FunctionTransformer(with_squares))),
        ("splines", additive(splines)),
        ("radial", PlackettLuceRanker(kernel="rbf", random_state=random_state)),
    ]


def with_squares(X):
    """Return the features and their squares."""
    return np.hstack([X, X**2])


def as_indices(rows):
    rows = np.asarray(rows)
    return np.flatnonzero(rows) if rows.dtype == bool else rows


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


def logistic_weights(scores, positions):
    """Compute the weights of the rankers by a logistic model of the order of two labels.

    The parameters and the results are those of `non_negative_weights`.
    """
    rows, first, second = ordered_pairs(positions)
    differences = scores[:, rows, first] - scores[:, rows, second]
    sizes = root_mean_squares(scores)
    shares = fit_logistic_weights(differences / sizes[:, np.newaxis])
    if not shares.any():
        shares = np.ones(len(scores))
    return shares / sizes, shares / shares.sum()


def root_mean_squares(scores):
    """Return the root mean square of the centered scores of each ranker, or 1 if it is 0."""
    sizes = np.std(scores - scores.mean(axis=2, keepdims=True), axis=(1, 2))
    return np.where(sizes > 0, sizes, 1.0)


# Functions that compute the weights and shares of the rankers, by the value of `weighting`.
WEIGHTINGS = {"least_squares": non_negative_weights, "logistic": logistic_weights}


def best_weighting(scores, positions, groups):
    """Return the name of the weighting that agrees best with held-out samples.

    The weights for the samples of a group are computed from the samples of all other groups. It is
    "least_squares" unless the mean tau of "logistic" is larger by more than its standard error.
    """
    taus = {name: np.zeros(len(positions)) for name in WEIGHTINGS}
    for group in np.unique(groups):
        test = groups == group
        if test.all() or np.isnan(positions[~test]).all():
            continue
        for name, compute in WEIGHTINGS.items():
            weights, _ = compute(scores[:, ~test], positions[~test])
            combined = np.tensordot(weights, scores[:, test], axes=1)
            taus[name][test] = kendall_tau_score(positions[test], -combined, average=False)
    gain = taus["logistic"] - taus["least_squares"]
    is_better = gain.mean() > gain.std() / np.sqrt(len(gain))
    return "logistic" if is_better else "least_squares"


def pair_scale(scores, positions):
    """Return the factor of the scores in the logistic model of the order of two labels."""
    [weight], _ = logistic_weights(scores[np.newaxis], positions)
    return float(weight)


def scores_of(ranker, X):
    """Return the scores of a ranker that are stacked.

    They are the negative expected positions for a Plackett-Luce model, whose scores are not
    bounded, and otherwise the result of `decision_function`.
    """
    if not isinstance(last_step(ranker), PlackettLuceRanker):
        return ranker.decision_function(X)
    if isinstance(ranker, Pipeline):
        X, ranker = ranker[:-1].transform(X), ranker[-1]
    return -ranker.expected_positions(X)


def has_oob_scores(ranker):
    return isinstance(ranker, LabelwiseRanker) and ranker.oob_score


def last_step(ranker):
    return ranker[-1] if isinstance(ranker, Pipeline) else ranker


def chooses_alpha(ranker):
    ranker = last_step(ranker)
    return isinstance(ranker, PlackettLuceRanker) and ranker.alpha == "auto"


def with_alpha_of(model, ranker):
    """Return a clone of a ranker; the penalty is that of the model, if it has chosen one."""
    ranker = clone(ranker)
    if model is not None:
        last_step(ranker).set_params(alpha=last_step(model).alpha_)
    return ranker


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
        scores[:, ~unseen] = scores_of(ranker, X_test)
    return scores
