"""Base classes of the label rankers: checks of rankings, `fit`, `predict` and `score`."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from copy import deepcopy
from functools import wraps

import numpy as np
from joblib import parallel_config
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.parallel import delayed
from sklearn.utils.validation import check_is_fitted

from sklrank._checks import (
    check_columns,
    check_given,
    check_positions,
    check_rows,
    check_scored,
    check_weights,
    close_ranks,
    column_names,
    input_tags_of,
    is_frame,
    labels_of_columns,
)
from sklrank._compiled import shared_call
from sklrank._estimators import (
    N_JOBS,
    BaseEstimator,
    HasMethods,
    StrOptions,
    _fit_context,
    _num_samples,
    _safe_indexing,
    available_if,
    draw_seed,
    fit_weighted,
    one_blas_thread,
    runs_on_dask,
    shares_text,
    unchanged_on_error,
)
from sklrank._rankers import LabelRankerMixin, with_names
from sklrank._typing import Self
from sklrank.label_ranking._plackett_luce.likelihood import pair_probabilities
from sklrank.metrics import kendall_tau_score

# Texts that the docstrings of the label rankers share.
of_rankers = shares_text(
    samples="""
Parameters
----------
X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
    Samples.
""",
    attributes="""
classes_ : ndarray of shape (n_labels,)
    The labels: the column names of `y` if `y` is a data frame with column names; otherwise the
    column indices.
{n_features_in}
""",
    multi_output="""
multi_output : bool or {"auto"}, default=False
    Whether to fit a single joint model, which needs complete rankings (of pairs, without ties)
    and an estimator of several outputs. If "auto", it is fitted if both are given; the notes of
    :class:`LabelwiseRanker` compare it with a model for each target.
""",
    decomposition="""
random_state : int, RandomState instance or None, default=None
    Controls random ties, and the default estimator. It is not passed to a given `estimator`.
n_jobs : int or None, default=None
    Number of models that fit or predict in parallel, each with one BLAS thread. With a joint
    model, it is passed to the default estimator instead.

Attributes
----------
n_rounds_ : int
    Number of samples learned, without those of weight zero.
""",
    pair_proba="""
{samples_and_returns}
ndarray of shape (n_samples, n_labels, n_labels)
    Entry ``[i, a, b]`` is the probability that label a is ranked before label b. The
    entries of the diagonal are 1/2.
""",
    frozen="""
Parameters
----------
ranker : label ranker
    Ranker, which learns positions. To calibrate a fitted ranker, pass
    ``sklearn.frozen.FrozenEstimator(ranker)`` and ``calibration_size=1.0``. A frozen estimator
    may have learned other targets, such as classes, if its `decision_function` returns a score
    for each label.
""",
    available="""
available : array-like, default=None
    Labels that a sample ranks: a boolean mask of shape (n_samples, n_labels), or of shape
    (n_labels,) for all samples, or a list of names in `classes_`. None stands for all.
""",
    calibration="""
calibration_size : float, default=0.3
    Share of the samples that are held out for calibration. If it is 1, all samples are used to
    fit and to calibrate; this is valid only for a ranker that was fitted to other samples.
random_state : int, RandomState instance or None, default=None
    Controls the choice of the held-out samples.

Attributes
----------
ranker_ : label ranker
    The fitted ranker.
""",
)


@of_rankers
class LabelRanker(LabelRankerMixin, BaseEstimator):
    """Base class of the label rankers.

    A subclass defines `fit`, `_check_rows`, `_fit_rankings` and `_label_scores`.
    """

    _takes_sparse_rankings = False

    @abstractmethod
    def _check_rows(self, X, *, reset):
        """Check the samples and return them."""

    @abstractmethod
    def _fit_rankings(self, X, positions, sample_weight):
        """Fit the ranker to checked samples and to positions of shape `(n_samples, n_labels)`."""

    def _bounded_scores(self, X):
        """Return scores of a bounded range, which a stack can weight; their order is the same."""
        return np.asarray(self.decision_function(X))

    def _fit(self, X, y, sample_weight=None, **options):
        """Check the data, fit the ranker and return it."""
        self._fit_rankings(*self._check_data(X, y, sample_weight, reset=True), **options)
        return self

    def _check_data(self, X, y, sample_weight, *, reset, positive=True):
        """Check the data, set `classes_` if `reset`, and return X, positions and weights."""
        X = self._check_rows(X, reset=reset)
        if not reset:
            check_columns(column_names(y), self.classes_)
        y_checked = self._check_rankings(y, _num_samples(X), None if reset else len(self.classes_))
        positions = whole_positions(y_checked)
        if sample_weight is not None:
            sample_weight = check_weights(sample_weight, positions.shape[0], positive=positive)
        if reset:
            self.classes_ = labels_of_columns(column_names(y), positions.shape[1])
        return X, positions, sample_weight

    @with_names
    def predict(self, X: ArrayLike) -> np.ndarray:
        """Predict the position of each label.

        {samples_and_returns}
        ndarray of int of shape (n_samples, n_labels)
            Predicted positions; 1 is the best position. Every row is a permutation of 1, ...,
            n_labels.
        """
        return self.predict_ranks(X)

    @with_names
    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Return the score of each label.

        {samples_and_returns}
        ndarray of shape (n_samples, n_labels)
            Scores. Labels with higher scores are ranked earlier.

        Notes
        -----
        scikit-learn's `cross_val_predict` with ``method="decision_function"`` changes the rankings
        without a warning: it takes the columns of `y` as classes, and renumbers them. Its other
        methods, a loop over folds, `cross_val_score` and searches are safe.
        """
        return self._label_scores(X)

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the mean Kendall tau between the given and the predicted rankings.

        {samples}
        y : array-like of shape (n_samples, n_labels)
            Positions of the labels. NaN marks a label that is not ranked.
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights. If None, all samples have the same weight.

        Returns
        -------
        float
            Mean Kendall tau, from -1 to 1; see :func:`~sklrank.metrics.kendall_tau_score`.
        """
        ranks = self.predict(X)
        check_scored(self, X, y, sample_weight=sample_weight)
        y = self._check_rankings(y, *ranks.shape)
        return kendall_tau_score(y, ranks, sample_weight=sample_weight)

    def _check_rankings(self, y, n_samples, n_labels=None):
        """Check `y`; return float64 positions, NaN or not stored where a label is not ranked.

        If `n_labels` is None, there may be any number of labels.
        """
        check_given(y)
        y = check_positions(y, "y", accept_sparse=self._takes_sparse_rankings)
        if y.shape[0] != n_samples:
            raise ValueError(
                f"y has {y.shape[0]} rows and X has {n_samples}: pass one ranking for each sample"
            )
        if y.nnz == 0 if sparse.issparse(y) else np.isnan(y).all():
            raise ValueError("y ranks no label of any sample: all entries are NaN")
        if n_labels is not None and y.shape[1] != n_labels:
            raise ValueError(
                f"y must hold a position for each fitted label, with shape "
                f"{(n_samples, n_labels)}; got {y.shape}: use NaN where a label is not ranked"
            )
        return y

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        return tags


@of_rankers
class PairProbaMixin:
    """Mixin of rankers of whose scores the differences, times `pair_scale_`, are log-odds."""

    @shared_call
    def predict_pair_proba(self, X: ArrayLike) -> np.ndarray:
        """Return the probability of each label to be ranked before each other label.

        It is the logistic function of the difference of the scores, times `pair_scale_`, if any.

        {pair_proba}
        """
        return pair_probabilities(getattr(self, "pair_scale_", 1.0) * self._label_scores(X))


def whole_positions(positions):
    """Return positions; renumber them, with a warning, if they are neither ranks nor mean ranks."""
    is_sparse = sparse.issparse(positions)
    known = positions.data if is_sparse else positions[~np.isnan(positions)]
    odd = known[known * 2.0 != np.rint(known * 2.0)]
    if not len(odd):
        return positions
    warnings.warn(
        f"y has the position {odd[0]:g}; positions are usually whole numbers, and a smaller "
        "position is better. If larger numbers are better, as in scores or yields, convert "
        "them by sklrank.label_ranking.positions_from_scores; for other numbers, "
        "positions_from_scores(-y) returns whole positions",
        stacklevel=2,
    )
    # Inner rankers do not warn again; there are none of sparse positions.
    return positions if is_sparse else close_ranks(positions)


@of_rankers
class MetaLabelRanker(MetaEstimatorMixin, LabelRanker):
    """Base class of the label rankers that fit other estimators.

    A data frame is passed to the inner estimators unchanged; other samples are passed as an array
    or a sparse matrix. Subclasses therefore select samples with `_safe_indexing` and count them
    with `_num_samples`. A subclass defines `_templates`, `_fit_rankings` and `_label_scores`.
    """

    _parameter_constraints: dict = {"n_jobs": N_JOBS, "random_state": ["random_state"]}

    @abstractmethod
    def _templates(self):
        """Return the list of inner estimators, which are cloned before they are fitted."""

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the ranker from scratch.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Samples, sparse if all inner estimators accept sparse matrices. A data frame is passed
            to them unchanged, so that they can select columns by name.
        y : array-like of shape (n_samples, n_labels)
            Positions of the labels. A smaller position is better, and only their order matters.
            Equal positions mark tied labels, and NaN marks a label that is not ranked.
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights, passed to the inner estimators. If None, all are equal.

        {returns_self}
        """
        with unchanged_on_error(self):
            return self._fit(X, y, sample_weight)

    def _check_rows(self, X, *, reset):
        if is_frame(X):
            # The values are checked by the inner estimators, which may select columns by name and
            # may accept strings.
            return check_rows(self, X, reset=reset, skip_check_array=True)
        return check_rows(self, X, reset=reset, dtype=None if sparse.issparse(X) else "numeric")

    @one_blas_thread
    def _fit_in_parallel(self, calls, name, n_items=None):
        """Run the delayed fits in parallel, each with one BLAS thread; return their results.

        `name` is that of a fit for callbacks, `n_items` the maximum number of fits of all calls.
        """
        return self._track_parallel(
            calls, name, n_items=n_items, may_stop=False, n_jobs=self.n_jobs
        )

    def _check_fitted_rows(self, X):
        check_is_fitted(self)
        return self._check_rows(X, reset=False)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = [input_tags_of(template) for template in self._templates()]
        tags.input_tags.sparse = all(each.sparse for each in inner)
        tags.input_tags.allow_nan = all(each.allow_nan for each in inner)
        return tags


@of_rankers
class DecompositionRanker(MetaLabelRanker):
    """Base class of label rankers that fit clones of `estimator`.

    A subclass defines `_default_estimator`, `_fit_rankings`, `_update_rankings` with the same
    arguments, and `_label_scores`.
    """

    _parameter_constraints: dict = {
        **MetaLabelRanker._parameter_constraints,
        "estimator": [HasMethods(["fit", "predict"]), None],
        "multi_output": [StrOptions({"auto"}), "boolean"],
    }

    @property
    def _needs_small_means(self):
        # As scikit-learn's trees do, which are the defaults.
        return self.estimator is None

    def _check_data(self, X, y, sample_weight, *, reset, positive=True):
        X, positions, weights = super()._check_data(
            X, y, sample_weight, reset=reset, positive=positive
        )
        n_rounds = positions.shape[0] if weights is None else np.count_nonzero(weights)
        self.n_rounds_ = n_rounds + (0 if reset else self.n_rounds_)
        return X, positions, weights

    @available_if(lambda self: hasattr(self._template(), "partial_fit"))
    @_fit_context(prefer_skip_nested_validation=False)
    def partial_fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Continue training with `partial_fit` of each model; a joint one is not fitted.

        It exists if `estimator` has this method. Each model learns the samples that concern it in
        their order. So several calls give the model of one call, if those of `estimator` do. The
        first call sets the labels.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Samples, as in `fit`.
        y : array-like of shape (n_samples, n_labels)
            Positions of the labels, as in `fit`.
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights, passed to the models. If None, all are equal.

        {returns_self}

        {value_error}
            If the data are malformed, or if `multi_output` is True or `fit` has fitted a joint
            model. The model does not change.
        """
        with unchanged_on_error(self):
            reset = not hasattr(self, "classes_")
            self._update_rankings(
                *self._check_data(X, y, sample_weight, reset=reset, positive=False)
            )
        return self

    def _update(self, models, X, targets, masks, sample_weight, **options):
        """Return the models, each updated by its column of the targets in its mask of samples.

        A model that has not learned yet is None, or an estimator without `partial_fit`.
        """
        if self.multi_output is True or len(models) != targets.shape[1]:
            raise ValueError(
                "partial_fit updates a model for each target, and no joint one: use "
                "multi_output=False"
            )
        if sample_weight is not None:
            masks = masks & (sample_weight > 0)[:, np.newaxis]
        learning = np.flatnonzero(masks.any(axis=0))
        calls = [
            delayed(update_selected)(
                # After an error, the old model is the same.
                deepcopy(models[i]) if hasattr(models[i], "partial_fit") else clone(self.estimator),
                X,
                targets[:, i],
                masks[:, i],
                sample_weight,
                **options,
            )
            for i in learning
        ]
        updated = dict(zip(learning, self._fit_in_parallel(calls, "update")))
        return [updated.get(i, model) for i, model in enumerate(models)]

    @abstractmethod
    def _update_rankings(self, X, positions, sample_weight):
        """Continue training with checked samples and positions."""

    @abstractmethod
    def _default_estimator(self, random_state, n_jobs):
        """Return the estimator used if `estimator` is None, with the given parameters."""

    def _template(self):
        if self.estimator is None:
            return self._default_estimator(self.random_state, self.n_jobs)
        return self.estimator

    def _template_of_fit(self, jointly):
        """Return the estimator that `fit` clones: `estimator`, or the default if that is None.

        `n_jobs` applies to several fits or, if one model is fitted `jointly`, to its trees.
        """
        if self.estimator is not None:
            return self.estimator
        random_state = self.random_state
        if isinstance(random_state, np.random.RandomState):
            # `clone` copies a generator: it would not advance, and all fits would draw the same.
            random_state = draw_seed(random_state)
        return self._default_estimator(random_state, self.n_jobs if jointly else None)

    def _fit_jointly(self, template, X, targets, sample_weight):
        """Return a list with a single clone of the template, fitted to all target columns."""
        fits = self._track([template], "joint fit", state=lambda: None)
        return [fit_weighted(clone(each), X, targets, sample_weight) for each in fits]

    def _templates(self):
        return [self._template()]

    def _fits_jointly(self, n_targets, missing):
        """Return whether one model learns all targets; `missing` says what in `y` prevents it."""
        if self.multi_output == "auto":
            takes_many = get_tags(self._template()).target_tags.multi_output
            return n_targets > 1 and not missing and takes_many
        if self.multi_output and n_targets > 1 and missing:
            raise ValueError(
                "multi_output=True learns all targets from every sample, but y has labels that are "
                f"{missing}: use multi_output=False"
            )
        return self.multi_output and n_targets > 1


def fit_selected(estimator, X, y, mask, sample_weight):
    """Fit an estimator to the samples in a mask, which may have weights, and return it."""
    return fit_weighted(estimator, *selected(X, y, mask, sample_weight))


def selected(X, y, mask, sample_weight):
    """Return the samples in a mask, their targets and their weights, which may be None."""
    if mask.all():
        return X, y, sample_weight
    rows = np.flatnonzero(mask)
    weights = None if sample_weight is None else sample_weight[rows]
    return _safe_indexing(X, rows), y[rows], weights


def in_one_process(fit):
    """Decorate a fit that joblib may run in another process: it uses one BLAS thread there.

    In a process of a dask cluster, joblib would distribute nested parallel calls, such as those of
    a forest, among all processes, and send the samples for each. They run in the same process.
    """

    @one_blas_thread
    @wraps(fit)
    def run(*args, **options):
        if not runs_on_dask():
            return fit(*args, **options)
        with parallel_config(backend="threading"):
            return fit(*args, **options)

    return run


@in_one_process
def update_selected(estimator, X, y, mask, sample_weight, **options):
    """Let an estimator learn the samples in a mask by `partial_fit`, and return it."""
    X, y, sample_weight = selected(X, y, mask, sample_weight)
    if sample_weight is not None:
        options["sample_weight"] = sample_weight
    return estimator.partial_fit(X, y, **options)
