"""Common base of the Predtrons: parameters, passes over the rounds, fitted attributes.

A model plays rounds, which means that it predicts and learns, and scores samples. It consists of
weights of the features (`LinearModel`) or of support vectors (`KernelModel`).
"""

from __future__ import annotations

from copy import copy, deepcopy
from functools import partial
from numbers import Integral, Real
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS, pairwise_kernels
from sklearn.utils import gen_batches

from sklrank._checks import MAX_FACTOR, as_numbers, check_weights
from sklrank._compiled import Rows, shared_call
from sklrank._estimators import Interval, StrOptions, _fit_context, unchanged_on_error
from sklrank._online import (
    BATCH,
    BaseOnline,
    in_order,
    lists_of,
    of_online,
    slices,
    timed_slices,
    to_dense,
)
from sklrank._typing import Self
from sklrank.linear_model._mirror import CONSTRAINTS, FunctionMap, make_map
from sklrank.linear_model._predtron._rounds import (
    KernelRows,
    PredtronRounds,
    linear_scores,
    make_sums,
)

# Largest number of rounds of a pass with weights, the order of which takes 8 GB.
MAX_ROUNDS = 10**9

# Texts that the docstrings of the Predtrons share.
TEXTS = {
    "update": r"""
update : {"loss-augmented", "loss-driven"}, default="loss-augmented"
    Step of the weights: that above, or that of Predtron.LD ([1]_, Algorithm 2), in which the
    prediction itself takes the place of :math:`\tilde\sigma`, times its loss :math:`L`.
""",
    "average_and_kernel": """
average : bool, default=False
    Whether to predict with the mean of the weights over the rounds (averaged perceptron). Each
    mistake then requires a pass over all weights, unless the map is "euclidean".
kernel : str, callable or None, default=None
    Kernel of a model of support vectors; if None, it is linear. The name of a kernel of
    :func:`sklearn.metrics.pairwise.pairwise_kernels` with its default parameters, such as "rbf", or
    a function of two arrays that returns the kernel values of their rows, such as
    ``functools.partial(sklearn.metrics.pairwise.rbf_kernel, gamma=0.1)``.
""",
    "intercept_and_passes": """
fit_intercept : bool, default=True
    Whether to add a constant feature of value one, or, with a kernel, one to the kernel values.
{passes}
""",
    "passes": """
max_iter : int, default=1
    Number of passes over the rounds in `fit`.
{shuffle_and_seed}
""",
    "weights": """
coef_ : ndarray of shape (n_scores, n_features)
    Weights of the features. By default, each class or label has a score, and two classes share one.
    Defined only if the model has no kernel.
intercept_ : ndarray of shape (n_scores,)
    Weights of the constant feature; zero if `fit_intercept` is False. Not defined with a kernel.
""",
    "fitted": """
dual_coef_ : ndarray of shape (n_scores, n_supports)
    Dual coefficients of the support vectors. Defined only if the model has a kernel.
support_vectors_ : {ndarray, sparse matrix} of shape (n_supports, n_features)
    Rows of `X` that have dual coefficients, in the order of their first steps.
n_rounds_ : int
    Number of rounds that the model has been trained on.
n_mistakes_ : int
    Number of these rounds in which the loss of the prediction was not zero. Among tied predictions,
    the one with the greatest loss counts.
mean_loss_ : float
    Mean loss of these predictions, each before the step of its round; NaN before the first round.
n_iter_ : int
    Number of passes made by `fit`.
{n_features_in}
""",
    "as_published": """
The defaults follow the published algorithm, which makes one pass over the rounds and predicts with
unaveraged weights, to which the mistake bounds of [1]_ refer.
""",
    "references": """
References
----------
.. [1] P. Jain, N. Natarajan and A. Tewari, "Predtron: A family of online algorithms for general
   prediction problems", NIPS 2015.
""",
}


class LinearModel:
    """Linear model: weights of the features, which a mirror map computes.

    The weight of a constant feature is the intercept; if the `constant` is 0, there is none. With
    `average`, samples are scored with the mean of the weights over the rounds.
    """

    max_rows = BATCH  # maximum number of rows of a batch
    calls = staticmethod(timed_slices)  # divides batches into compiled calls
    _merge_rules: ClassVar[dict] = {}

    def __init__(self, mirror_map, constant, learning_rate, average):
        sums = make_sums(mirror_map) if average else None
        self.constant = constant
        self.rounds = PredtronRounds(mirror_map, learning_rate, sums)

    copy = deepcopy

    @property
    def may_fail(self):
        """Whether a compiled call may fail after its first round: in a function of the user."""
        return isinstance(self.rounds.mirror_map, FunctionMap)

    def play(self, X, rows, starts, task, scores=None):
        """Play rounds, and write the scores of each sample before its round into `scores`.

        Round i uses row i of `X[rows]`, or, if `starts` are given, its rows
        `starts[i]:starts[i + 1]`, which are a query. `rows` is a slice or an array.
        """
        self.rounds.play(Rows(X[rows], self.constant), starts, task, scores)

    def finish(self):
        """End a call of a training method."""

    def score(self, X):
        """Return the scores `(n_samples, n_scores)`."""
        rows = Rows(X, self.constant)
        if self.rounds.sums is None:
            return self.rounds.score(rows)
        return linear_scores(self.rounds.weights, rows)


class KernelModel:
    """Dual coefficients of the support vectors, in the order of their first steps.

    It has the methods of `LinearModel`, which states what they do. The square of the `constant` is
    added to the kernel values, which has the effect of an intercept.
    """

    # Maximum number of rows of a batch. Their kernel values with all support vectors are held in
    # memory. Batches are not divided by time: kernel values of fewer rows may be rounded otherwise.
    max_rows = 200
    calls = staticmethod(iter)
    may_fail = True  # The kernel may be a user's function.
    _merge_rules = None

    def __init__(self, n_scores, kernel, constant, learning_rate, average):
        self.kernel, self.constant = kernel, constant
        coefs = make_map("euclidean", n_scores, 0)
        sums = make_sums(coefs) if average else None
        self.rounds = PredtronRounds(coefs, learning_rate, sums)
        self.points = None
        # Rows of X of the current call that are the points, or -1 for points of earlier calls.
        self.rows_of_points = np.zeros(0, dtype=np.intp)

    def copy(self):
        # The copy shares the arrays, which are replaced and not changed in place.
        model = copy(self)
        model.rounds = copy(self.rounds)
        return model

    def play(self, X, rows, starts, task, scores=None):
        chosen, X = np.arange(X.shape[0])[rows], X[rows]
        points = _stack(self.points, X)
        rows_of_points = np.append(self.rows_of_points, chosen)
        # A row may be a support vector since an earlier pass, and then it is two points.
        known, first = np.unique(rows_of_points, return_index=True)
        own_point = first[np.searchsorted(known, chosen)]
        values = self._kernel_values(X, points)
        kernel_rows = KernelRows(values, own_point, len(self.rows_of_points))
        self.rounds.set_width(len(rows_of_points))
        self.rounds.play(kernel_rows, starts, task, scores)
        supports = kernel_rows.supports
        self.rounds.set_width(len(supports))
        self.points, self.rows_of_points = points[supports], rows_of_points[supports]

    def finish(self):
        # Later calls have other rows.
        self.rows_of_points = np.full_like(self.rows_of_points, -1)

    def _kernel_values(self, X, points):
        """Return the kernel values of the rows and the points, plus that of their constants."""
        # Values that overflow are rejected below, with an error message that names the kernel.
        with np.errstate(over="ignore", invalid="ignore"):
            if isinstance(self.kernel, str):
                values = pairwise_kernels(X, points, metric=self.kernel)
            else:
                values = self.kernel(X, points)
        values, shape = as_numbers(to_dense(values), "kernel"), (X.shape[0], points.shape[0])
        if values.shape != shape:
            raise ValueError(
                f"kernel must return values of the shape {shape}, for each row of its first "
                f"argument and each of its second; got the shape {values.shape}"
            )
        if not np.isfinite(values).all():
            raise ValueError(
                "kernel has values that are NaN or infinity: scale the features, or choose another "
                "one"
            )
        return np.ascontiguousarray(values, dtype=np.float64) + self.constant**2

    def score(self, X):
        weights = self.rounds.weights
        if not weights.shape[1]:
            return np.zeros((X.shape[0], len(weights)))
        scores = [
            linear_scores(weights, Rows(self._kernel_values(X[batch], self.points), 0.0))
            for batch in gen_batches(X.shape[0], self.max_rows)
        ]
        return np.concatenate(scores)


def _stack(points, X):
    if points is None:
        return X
    if sparse.issparse(points) or sparse.issparse(X):
        return sparse.vstack([points, X], "csr")
    return np.concatenate([points, X])


class BasePredtron(BaseOnline):
    """Base of the Predtrons.

    A subclass defines `_make_task(*data, restart)`. This method checks the data and returns X, the
    task of the rounds, and None if round i uses row i, or otherwise an array `starts`: round i uses
    the rows `starts[i]:starts[i + 1]`. If `restart` is True, it reads the parameters of the task,
    on which the property `_n_scores` may depend, the number of scores of a sample.
    """

    _accepts_sparse = _steps_like_rows = True
    _pickles_copies = True
    _parameter_constraints: dict = {
        **BaseOnline._parameter_constraints,
        "update": [StrOptions({"loss-augmented", "loss-driven"})],
        "mirror_map": CONSTRAINTS,
        "learning_rate": [Interval(Real, 0, MAX_FACTOR, closed="right")],
        "average": ["boolean"],
        "kernel": [StrOptions(set(PAIRWISE_KERNEL_FUNCTIONS)), callable, None],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    def _multiplies_entries(self):
        return True

    def _begin(self, *data, restart):
        """Return what `_make_task` returns, and create a model if `restart` is True."""
        if restart:
            self._loss_driven = self.update == "loss-driven"
        of_rounds = self._make_task(*data, restart=restart)
        if restart:
            self._model = self._make_model()
        return of_rounds

    def _make_model(self):
        rate, constant = float(self.learning_rate), float(getattr(self, "fit_intercept", False))
        if self.kernel is None:
            width = self.n_features_in_ + (constant != 0)
            mirror_map = make_map(self.mirror_map, self._n_scores, width)
            return LinearModel(mirror_map, constant, rate, self.average)
        if self.mirror_map != "euclidean":
            raise ValueError(
                f"mirror_map={self.mirror_map!r} does not go with kernel={self.kernel!r}, whose "
                "weights are never formed: leave one of them out"
            )
        return KernelModel(self._n_scores, self.kernel, constant, rate, self.average)

    def _fit_from_scratch(self, *data, weights=None):
        with unchanged_on_error(self):
            X, task, starts = self._begin(*data, restart=True)
            rounds_of = None
            if weights is not None:
                weights = repetitions(*self._weights_of_rounds(weights, task.n_all, *data))
                rounds_of = partial(repeat_rounds, weights)
            for order in self._passes(task.n_all, rounds_of):
                self._play_pass(X, task, starts, order)
            self._model.finish()
        return self

    def _weights_of_rounds(self, weights, n_rounds, *data):
        """Return the checked weight of each round, and the name of the argument."""
        return check_weights(weights, n_rounds, positive=True), "sample_weight"

    def _partial_fit(self, *data, return_scores=False):
        """Continue training. Return the scores before each round if `return_scores`, else None."""
        scores = None
        with unchanged_on_error(self, draws=False):
            X, task, starts = self._begin(*data, restart=not hasattr(self, "_model"))
            # After an error, the model is as before. Copying takes longer than a round, which
            # cannot be interrupted.
            if task.n_all > 1 or self._model.may_fail or self._task_tree is not None:
                self._model = self._model.copy()
            if return_scores:
                scores = np.empty((task.n_all, self._n_scores))
            self._play_pass(X, task, starts, None, scores)
            self._model.finish()
        return scores

    def _play_pass(self, X, task, starts, order, scores=None):
        model = self._model
        # Queries have several rows; all rounds have about the same number.
        n_rounds = task.n_all if order is None else len(order)
        batches = slices(n_rounds, max(1, model.max_rows * task.n_all // X.shape[0]))
        for batch in model.calls(self._track(batches, "batch", may_stop=scores is None)):
            rounds = in_order(batch, order)
            task.choose(rounds)
            of_queries, rows = (None, rounds) if starts is None else lists_of(starts, rounds)
            model.play(X, rows, of_queries, task, None if scores is None else scores[batch])

    @shared_call
    def _scores(self, X):
        """Return the scores of the samples, `(n_samples, n_scores)`."""
        return self._fitted("_model").score(self._check_rows(X, reset=False))

    def _weights_of(self, kind, name):
        """Return the weights of a model of a kind, which has the attribute `name`."""
        model = self._fitted("_model")
        if not isinstance(model, kind):
            with_kernel = "no kernel" if kind is LinearModel else "a kernel"
            raise AttributeError(f"{name} is an attribute of models with {with_kernel}")
        return model.rounds.weights

    @property
    @shared_call
    def coef_(self) -> np.ndarray:
        """Weights of the features."""
        return self._weights_of(LinearModel, "coef_")[:, : self.n_features_in_]

    @property
    @shared_call
    def intercept_(self) -> np.ndarray:
        """Weights of the constant feature, which are 0 if there is no such feature."""
        return self._weights_of(LinearModel, "intercept_")[:, self.n_features_in_ :].sum(axis=1)

    @property
    @shared_call
    def dual_coef_(self) -> np.ndarray:
        """Dual coefficients of the support vectors."""
        return self._weights_of(KernelModel, "dual_coef_")

    @property
    @shared_call
    def support_vectors_(self) -> np.ndarray:
        """Support vectors."""
        self._weights_of(KernelModel, "support_vectors_")
        return self._model.points.copy()

    @property
    def n_rounds_(self) -> int:
        """Number of rounds that the model has been trained on."""
        return self._fitted("_model").rounds.n_rounds

    @property
    def n_mistakes_(self) -> int:
        """Number of training rounds in which the loss of the prediction was not zero."""
        return self._fitted("_model").rounds.n_mistakes

    @property
    def mean_loss_(self) -> float:
        """Mean loss of the predictions in the training rounds, or NaN before the first round."""
        rounds = self._fitted("_model").rounds
        return rounds.total_loss / rounds.n_rounds if rounds.n_rounds else np.nan


def repetitions(weights, name):
    """Return the mean number of repetitions of each round, which is its weight.

    If the mean of the positive weights is below 1, they are scaled to the mean 1.
    """
    weights = weights / min(1.0, weights[weights > 0].mean())
    if weights.sum() > MAX_ROUNDS:
        raise ValueError(
            f"{name} must have a sum of at most {MAX_ROUNDS:g}, the number of rounds of a pass; "
            f"got {weights.max():g} as the largest one"
        )
    return weights


def repeat_rounds(weights, random):
    """Return the rounds to play: each of them, in order, as often as its weight.

    A fraction is the probability of one more repetition. The numbers of repetitions of any
    consecutive rounds differ from the sum of their weights by less than 2.
    """
    # Weights that differ from a whole number by rounding errors are whole.
    whole = np.floor(weights + 1e-9)
    fractions = np.maximum(weights - whole, 0.0)
    if fractions.any():
        whole += np.diff(np.floor(fractions.cumsum() + random.uniform()), prepend=0.0)
    return np.repeat(np.arange(len(weights)), whole.astype(np.intp))


@of_online
class BaseSamplePredtron(BasePredtron):
    """Base of the Predtrons whose rounds have one sample each."""

    _needs_small_means = True

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model from scratch with `max_iter` passes over the samples.

        {samples}
        y : {array-like, sparse matrix} of shape (n_samples,) or (n_samples, n_labels)
            Targets. For a classifier, class labels or an indicator matrix. For a label ranker, the
            relevance of the labels, at least 0: grades, or an indicator matrix. Lists of labels
            must be converted by :class:`sklearn.preprocessing.MultiLabelBinarizer`.
        sample_weight : array-like of shape (n_samples,), default=None
            Number of rounds of each sample in a pass: the model is that of the repeated samples. A
            fraction is the probability of one more round. If the mean of the positive weights is
            below 1, they are scaled to the mean 1. If None, each sample has one round.

        {returns_fitted}
        """
        return self._fit_from_scratch(X, y, None, weights=sample_weight)

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Continue training with each sample in order.

        {chunks}
        With a kernel, models of several calls differ at most by rounding errors of kernel values.

        A call that is interrupted by Ctrl-C (KeyboardInterrupt) or by a lack of memory
        (MemoryError) has learned all samples or none.

        {samples}
        y : {array-like, sparse matrix} of shape (n_samples,) or (n_samples, n_labels)
            Targets, see `fit`.
        {classes}

        {returns_self}
        """
        self._partial_fit(X, y, classes)
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def progressive_fit(
        self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None
    ) -> np.ndarray:
        """Score each sample, then learn from it (progressive, or prequential, validation).

        {progressive}
        The scores are those of the current weights, even if `average` is True. If two classes share
        one score, that of the first class is 0, and that of the second is as `decision_function`
        returns.

        {samples}
        y : {array-like, sparse matrix} of shape (n_samples,) or (n_samples, n_labels)
            Targets, see `fit`.
        {classes}

        {scores_before}
        """
        return self._label_scores_of(self._partial_fit(X, y, classes, return_scores=True))

    def _label_scores_of(self, scores):
        """Return the scores of the classes or labels, given the scores of the model."""
        return scores
