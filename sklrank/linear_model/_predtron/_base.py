"""Common base of the Predtrons: parameters, passes over the rounds, models, fitted attributes.

A model holds what is learned: a `LinearModel` holds the weights of the features, and a
`KernelModel` holds dual coefficients. Both play rounds, which means that they predict and learn,
and both score samples. A round uses one row of X. If `starts` are given, round i uses the rows of a
query instead, which are the rows `starts[i]:starts[i + 1]` of `rows`: ::

    with model.transaction(X) as play:
        play(rows, starts, task, radii, scores, prediction_scores)  # rows: a slice or indices of X
"""

from contextlib import contextmanager
from copy import copy, deepcopy
from functools import partial
from numbers import Integral, Real

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS, pairwise_kernels
from sklearn.utils import check_random_state, gen_batches

from sklrank._base_online import BATCH, slices
from sklrank._call_guard import shared_call
from sklrank._progress import print_progress
from sklrank._sklearn import Interval, StrOptions
from sklrank._validation import MAX_FACTOR, as_numbers, unchanged_on_error
from sklrank.linear_model._mirror._maps import CustomMap, EuclideanMap
from sklrank.linear_model._mirror._parameter import CONSTRAINTS, make_mirror_map
from sklrank.linear_model._predtron._kernel_rows import KernelRows
from sklrank.linear_model._predtron._rounds import (
    EuclideanSums,
    PredtronRounds,
    linear_scores,
    make_sums,
)
from sklrank.linear_model._rows import Rows

__all__ = ["PredtronMixin", "can_partial_fit", "rows_are_rounds"]


def can_partial_fit(model):
    """Return True, or raise AttributeError if the kernel is precomputed and cannot be extended."""
    if model._is_precomputed:
        raise AttributeError(
            "kernel='precomputed' cannot continue training, since the kernel values of new samples "
            "with the earlier ones are not known: call fit with the kernel matrix of all samples"
        )
    return True


def rows_are_rounds(rounds):
    """Return the rows of X in the given rounds, which have one row each, and None for `starts`."""
    return rounds, None


class PredtronMixin:
    """Parameters, passes over the rounds and fitted attributes of a Predtron.

    A subclass defines `_make_task(*data, restart)`. This method checks the data and returns X, the
    task of the rounds, and a function. For given rounds, the function returns their rows of X, and
    the index of the first row of each query, or None if a round uses one row. If `restart` is True,
    `_make_task` creates a new model by setting `_model` to the result of `_make_model`.
    """

    # A classifier with a reject option sets the rule. The rule is updated with the held-out scores
    # of the first pass.
    _reject_rule = None

    _accepts_sparse = True
    _parameter_constraints: dict = {
        "update": [StrOptions({"loss-augmented", "loss-driven"})],
        "mirror_map": CONSTRAINTS,
        "learning_rate": [Interval(Real, 0, MAX_FACTOR, closed="right"), StrOptions({"theory"})],
        "average": ["boolean"],
        "kernel": [StrOptions({*PAIRWISE_KERNEL_FUNCTIONS, "precomputed"}), callable, None],
        "gamma": [Interval(Real, 0, None, closed="neither"), None],
        "degree": [Interval(Real, 0, None, closed="neither")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "budget": [Interval(Integral, 1, None, closed="left"), None],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "shuffle": ["boolean"],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def _multiplies_entries(self):
        return True

    def _make_model(self, n_scores, constant):
        """Return an untrained model, made from the current parameters."""
        self._loss_driven = self.update == "loss-driven"
        by_theory = self.learning_rate == "theory"
        rate = np.nan if by_theory else float(self.learning_rate)
        if self.kernel is None:
            mirror_map = make_mirror_map(
                self.mirror_map, n_scores, self.n_features_in_ + (constant != 0)
            )
            if by_theory and mirror_map.convexity is None:
                raise ValueError(
                    f"learning_rate='theory' is not known for mirror_map={self.mirror_map!r}: give "
                    "a number"
                )
            return LinearModel(mirror_map, constant, rate, self.average)
        if self.mirror_map != "euclidean":
            raise ValueError(
                f"mirror_map={self.mirror_map!r} does not go with kernel={self.kernel!r}, whose "
                "weights are never formed: leave one of them out"
            )
        if self.average and self.budget is not None:
            raise ValueError(
                "average=True does not go with a budget: the mean of the weights keeps the support "
                "vectors that the budget removes; set budget=None, or average=False"
            )
        budget = self.budget or 0
        return KernelModel(n_scores, self._kernel(), constant, rate, self.average, budget)

    def _kernel(self):
        if self.kernel == "precomputed":
            return None
        # The default value is set here, since not every kernel accepts None.
        gamma = 1.0 / self.n_features_in_ if self.gamma is None else self.gamma
        return Kernel(self.kernel, gamma=gamma, degree=self.degree, coef0=self.coef0)

    @property
    def _is_precomputed(self):
        if hasattr(self, "_model"):
            return self._model.is_precomputed
        return self.kernel == "precomputed"

    def _check_pairwise(self, X):
        if self._is_precomputed and X.shape[0] != X.shape[1]:
            raise ValueError(
                "X must be the kernel matrix of the samples under kernel='precomputed', which is "
                f"square; got the shape {X.shape}"
            )

    def _fit_from_scratch(self, *data):
        with unchanged_on_error(self):
            X, task, rows_of = self._make_task(*data, restart=True)
            random_state = check_random_state(self.random_state) if self.shuffle else None
            n_batches = len(self._batches(X, task))
            with self._model.transaction(X) as play:
                for i in self._track(range(self.max_iter), "pass", n_subtasks=n_batches):
                    self.n_iter_ = i + 1
                    self._play_pass(
                        X,
                        task,
                        rows_of,
                        play,
                        order=random_state.permutation(task.n_all) if self.shuffle else None,
                        # In later passes, the model has already learned from the samples.
                        reject_rule=self._reject_rule if i == 0 else None,
                        number=f"{i + 1} of {self.max_iter}",
                    )
        return self

    def _partial_fit(self, *data, return_scores=False):
        """Continue training. Return the scores before each round if `return_scores`, else None."""
        scores = None
        with unchanged_on_error(self, draws=False):
            X, task, rows_of = self._make_task(*data, restart=not hasattr(self, "_model"))
            # A reject rule or a callback may fail after a compiled call.
            exact = self._reject_rule is not None or self._task_tree is not None
            self._model = self._model.branch(X.shape[0], exact=exact)
            if return_scores:
                scores = np.empty((task.n_all, self._model.n_scores))
            with self._model.transaction(X) as play:
                rule = self._reject_rule
                self._play_pass(X, task, rows_of, play, scores=scores, reject_rule=rule)
        return scores

    def _batches(self, X, task):
        """Return slices that divide the rounds of a task into batches."""
        # Queries have several rows; all rounds have about the same number.
        return slices(task.n_all, max(1, self._model.max_rows * task.n_all // X.shape[0]))

    def _play_pass(
        self,
        X,
        task,
        rows_of,
        play,
        *,
        order=None,
        scores=None,
        reject_rule=None,
        number="1 of 1",
    ):
        model = self._model
        prediction_scores = radii = None
        before = self._totals() if self.verbose else None
        for batch in self._track(self._batches(X, task), "batch", may_stop=scores is None):
            rounds = batch if order is None else order[batch]
            task.choose(rounds)
            rows, starts = rows_of(rounds)
            if np.isnan(model.rounds.learning_rate):
                radii = model.radii(X, rows, starts)
            if reject_rule is not None:
                prediction_scores = np.empty((task.n_rounds, model.n_scores))
            batch_scores = None if scores is None else scores[batch]
            play(rows, starts, task, radii, batch_scores, prediction_scores)
            if reject_rule is not None:
                reject_rule.update(prediction_scores, task.chosen_labels)
        if before is not None:
            n_rounds, n_mistakes, loss = np.subtract(self._totals(), before)
            figures = {
                "mean loss": loss / n_rounds,
                "mistakes": int(n_mistakes),
                "rounds": int(n_rounds),
            }
            print_progress(type(self).__name__, f"pass {number}", figures)

    def _attributes_so_far(self):
        attributes = super()._attributes_so_far()
        attributes["_model"].remove_unused_points()
        return attributes

    def _totals(self):
        rounds = self._model.rounds
        return rounds.n_rounds, rounds.n_mistakes, rounds.total_loss

    @shared_call
    def _scores(self, X):
        """Return the scores of the samples, `(n_samples, n_scores)`."""
        return self._fitted_model().score(self._check_rows(X, reset=False))

    def _fitted_model(self):
        self._check_fitted("_model")
        return self._model

    def _model_of_kind(self, kind, name):
        model = self._fitted_model()
        if not isinstance(model, kind):
            with_kernel = "no kernel" if kind is LinearModel else "a kernel"
            raise AttributeError(f"{name} is an attribute of models with {with_kernel}")
        return model

    @property
    @shared_call
    def coef_(self) -> np.ndarray:
        """Weights of the features."""
        return self._model_of_kind(LinearModel, "coef_").weights[:, : self.n_features_in_]

    @property
    @shared_call
    def intercept_(self) -> np.ndarray:
        """Weights of the constant feature, which are 0 if there is no such feature."""
        weights = self._model_of_kind(LinearModel, "intercept_").weights
        return weights[:, self.n_features_in_ :].sum(axis=1)

    @property
    @shared_call
    def dual_coef_(self) -> np.ndarray:
        """Dual coefficients of the support vectors."""
        return self._model_of_kind(KernelModel, "dual_coef_").weights.copy()

    @property
    @shared_call
    def support_vectors_(self) -> np.ndarray:
        """Support vectors, or their indices if the kernel is precomputed."""
        return self._model_of_kind(KernelModel, "support_vectors_").points.copy()

    @property
    def n_rounds_(self) -> int:
        """Number of rounds that the model has been trained on."""
        return self._fitted_model().rounds.n_rounds

    @property
    def n_mistakes_(self) -> int:
        """Number of training rounds in which the loss of the prediction was not zero."""
        return self._fitted_model().rounds.n_mistakes

    @property
    def mean_loss_(self) -> float:
        """Mean loss of the predictions in the training rounds, or NaN before the first round."""
        rounds = self._fitted_model().rounds
        return rounds.total_loss / rounds.n_rounds if rounds.n_rounds else np.nan

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


class Kernel:
    """Kernel function with its parameters, whose values are checked.

    Parameters
    ----------
    function : str or callable
        Name of a kernel of scikit-learn, or a function that returns the kernel values.
    **parameters : dict
        Parameters of the kernels of scikit-learn. Each kernel uses only its own parameters.
    """

    def __init__(self, function, **parameters):
        self.function = function
        self.parameters = parameters

    def __call__(self, A, B):
        """Return the kernel values of the rows of `A` and `B`, `(n_rows_a, n_rows_b)`."""
        # Values that overflow are rejected below, with an error message that names the kernel.
        with np.errstate(over="ignore", invalid="ignore"):
            if isinstance(self.function, str):
                values = pairwise_kernels(
                    A, B, metric=self.function, filter_params=True, **self.parameters
                )
            else:
                values = self.function(A, B)
        values = as_numbers(values.toarray() if sparse.issparse(values) else values, "kernel")
        if values.shape != (A.shape[0], B.shape[0]):
            raise ValueError(
                f"kernel must return values of the shape {(A.shape[0], B.shape[0])}, for each row "
                f"of its first argument and each of its second; got the shape {values.shape}"
            )
        if not np.isfinite(values).all():
            raise ValueError(
                "kernel has values that are NaN or infinity: scale the features, or choose another "
                "one"
            )
        return values


class LinearModel:
    """Linear model: weights of the features, which a mirror map computes.

    Parameters
    ----------
    mirror_map : MirrorMap
        Map from dual weights to weights.
    constant : float
        Value of the constant feature, whose weight is the intercept. If 0, there is no intercept.
    learning_rate : float
        Learning rate that multiplies each step. If NaN, the rate of the theorems is used.
    average : bool
        Whether samples are scored with the mean of the weights over the rounds.
    """

    max_rows = BATCH  # maximum number of rows of a compiled call
    is_precomputed = False

    def __init__(self, mirror_map, constant, learning_rate, average):
        convexity = getattr(mirror_map, "convexity", None) or np.nan
        sums = make_sums(mirror_map) if average else None
        self.constant = constant
        self.n_scores = mirror_map.n_classes
        self.rounds = PredtronRounds(mirror_map, learning_rate, convexity, sums)

    def branch(self, n_rows, *, exact):
        """Return a model to continue from this one, which stays as it is.

        Copying takes longer than a round. If all rows are learned by one compiled call, and `exact`
        is False, the model itself is returned: the call either fails or learns all of them.
        """
        is_custom = isinstance(self.rounds.mirror_map, CustomMap)  # see `transaction`
        return deepcopy(self) if (exact or n_rows > self.max_rows) and not is_custom else self

    def remove_unused_points(self):
        """Do nothing: only kernel models have points."""

    @contextmanager
    def transaction(self, X):
        """Yield a function that plays rounds on rows of X.

        After an error, restore a model with a user-defined mirror map, which may fail in any round.
        """
        rounds, before = self.rounds, []
        if isinstance(rounds.mirror_map, CustomMap):
            parts = [rounds, rounds.mirror_map, rounds.sums]
            # The states are saved instead of copies, since copying a CustomMap calls the user's
            # function.
            before = [(part, part.__getstate__()) for part in parts if part is not None]
        try:
            yield partial(self._play, X)
        except BaseException:
            for part, state in before:
                part.__setstate__(state)
            raise

    def _play(self, X, rows, *arguments):
        _play_rounds(self.rounds, Rows(X[rows], self.constant), *arguments)

    def radii(self, X, rows, starts=None):
        """Return the radius of each round, `(n_rounds,)`. R of the theorems is the largest one."""
        X, mirror_map = X[rows], self.rounds.mirror_map
        if starts is None:
            return mirror_map.radii(X, self.constant)
        queries = [X[first:last] for first, last in zip(starts[:-1], starts[1:])]
        if type(mirror_map) is EuclideanMap:
            return np.sqrt([_largest_eigenvalue(_smaller_gram(query)) for query in queries])
        norm = sparse.linalg.norm if sparse.issparse(X) else np.linalg.norm
        columns = np.array([norm(query, axis=0) for query in queries])
        return mirror_map.radii(columns, self.constant)

    @property
    def weights(self):
        """Weights `(n_scores, width)` of the features and of the constant feature, if any."""
        rounds = self.rounds
        if rounds.sums is None:
            return rounds.mirror_map.weights
        return rounds.sums.mean(rounds.mirror_map, rounds.n_rounds)

    def score(self, X):
        """Return the scores `(n_samples, n_scores)`."""
        rows = Rows(X, self.constant)
        if self.rounds.sums is None:
            return self.rounds.score(rows)
        return linear_scores(self.weights, rows)


class KernelModel:
    """Kernel model: dual coefficients of the support vectors.

    Parameters
    ----------
    n_scores : int
        Number of scores of a sample.
    kernel : callable or None
        Function that returns the kernel values `(n, m)` of two sets of points. If None, the rows of
        X are the kernel values with the points of `fit`.
    constant : float
        Number whose square is added to the kernel values, which has the effect of an intercept.
    learning_rate : float
        Learning rate that multiplies each step. If NaN, the rate of the theorems is used.
    average : bool
        Whether samples are scored with the mean of the coefficients over the rounds.
    budget : int
        Maximum number of support vectors. If 0, the number is not limited.
    """

    # Maximum number of rows of a compiled call. Their kernel values with all support vectors are
    # held in memory.
    max_rows = 200

    def __init__(self, n_scores, kernel, constant, learning_rate, average, budget):
        self.n_scores = n_scores
        self.kernel = kernel
        self.constant = constant
        self.average = average
        self.budget = budget
        self.rounds = PredtronRounds(EuclideanMap(n_scores, 0), learning_rate, 1.0)
        self.points = None  # rows, or their indices if the kernel is precomputed
        self.coefs = np.zeros((n_scores, 0))
        self.sums = np.zeros((n_scores, 0))
        self.insertion_order = np.zeros(0, dtype=np.intp)  # of the points, see KernelRows
        self.n_inserted = 0

    def branch(self, n_rows, *, exact):
        """Return a model to continue from this one, which stays as it is."""
        # A shallow copy is sufficient, since the arrays are replaced in `transaction` and not
        # changed in place.
        model = copy(self)
        model.rounds = copy(self.rounds)
        return model

    @contextmanager
    def transaction(self, X):
        """Yield a function that plays rounds on rows of X.

        After the rounds, the model keeps only the points that are support vectors.
        """
        known = np.arange(len(self.insertion_order))
        self._set_points(known, X)
        yield partial(self._play, X, len(known))
        self.remove_unused_points()

    def remove_unused_points(self):
        """Keep only the points that are support vectors."""
        self._set_points(np.flatnonzero(self.insertion_order))

    @property
    def is_precomputed(self):
        """True if the rows of X are kernel values."""
        return self.kernel is None

    def _set_points(self, kept, X=None):
        """Keep the points with the indices `kept`, and add the rows of X with coefficients of 0."""
        n_new = 0 if X is None else X.shape[0]
        if self.is_precomputed:
            X = np.arange(n_new)
        if self.points is None:
            self.points = X
        else:
            self.points = self.points[kept] if X is None else _stack(self.points[kept], X)
        padding = ((0, 0), (0, n_new))
        self.coefs = np.pad(self.coefs[:, kept], padding)
        self.sums = np.pad(self.sums[:, kept], padding)
        self.insertion_order = np.pad(self.insertion_order[kept], padding[1])

    def _play(self, X, offset, rows, *arguments):
        own = offset + np.arange(X.shape[0])[rows]
        # These are the points that have a coefficient or may receive one in these rounds.
        active = np.union1d(np.flatnonzero(self.insertion_order), own)
        values = self._kernel_values(X[rows], active)
        own_column = np.searchsorted(active, own).astype(np.intc)
        insertion_order = self.insertion_order[active]
        kernel_rows = KernelRows(values, own_column, insertion_order, self.n_inserted, self.budget)
        sums = EuclideanSums.of(self.sums[:, active]) if self.average else None
        self.rounds.set_weights(EuclideanMap.of(self.coefs[:, active]), sums)
        _play_rounds(self.rounds, kernel_rows, *arguments)
        self.coefs[:, active] = self.rounds.mirror_map.dual_weights
        if self.average:
            self.sums[:, active] = self.rounds.sums.values
        self.insertion_order[active] = insertion_order
        self.n_inserted = kernel_rows.n_inserted

    def _kernel_values(self, X, points):
        points = self.points[points]
        return self._with_constant(X[:, points] if self.is_precomputed else self.kernel(X, points))

    def radii(self, X, rows, starts=None):
        """Return the radius of each round in the feature space of the kernel, `(n_rounds,)`."""
        gram = self._gram(X, np.arange(X.shape[0])[rows])
        if starts is None:
            return np.sqrt(np.maximum(np.diagonal(gram), 0.0))
        queries = [slice(first, last) for first, last in zip(starts[:-1], starts[1:])]
        return np.sqrt([_largest_eigenvalue(gram[query, query]) for query in queries])

    def _gram(self, X, rows):
        X = X[rows]
        return self._with_constant(X[:, rows] if self.is_precomputed else self.kernel(X, X))

    def _with_constant(self, values):
        values = values.toarray() if sparse.issparse(values) else values
        return np.ascontiguousarray(values, dtype=np.float64) + self.constant**2

    @property
    def weights(self):
        """Dual coefficients `(n_scores, n_supports)`."""
        if not self.average:
            return self.coefs
        return EuclideanSums.of(self.sums).mean(EuclideanMap.of(self.coefs), self.rounds.n_rounds)

    def score(self, X):
        """Return the scores `(n_samples, n_scores)`."""
        if not len(self.insertion_order):
            return np.zeros((X.shape[0], len(self.coefs)))
        weights = np.ascontiguousarray(self.weights)  # `coefs[:, kept]` is Fortran-contiguous
        supports = np.arange(len(self.insertion_order))
        scores = [
            linear_scores(weights, Rows(self._kernel_values(X[batch], supports), 0.0))
            for batch in gen_batches(X.shape[0], self.max_rows)
        ]
        return np.concatenate(scores)


def _play_rounds(rounds, rows, starts, task, radii, scores, prediction_scores):
    if starts is None:
        rounds.play_rows(rows, task, radii, scores, prediction_scores)
    else:
        rounds.play_queries(rows, starts, task, radii)


def _stack(points, X):
    if sparse.issparse(points) or sparse.issparse(X):
        return sparse.vstack([points, X], "csr")
    return np.concatenate([points, X])


def _smaller_gram(X):
    # X X' and X' X have the same eigenvalues, apart from zeros.
    return X @ X.T if X.shape[0] <= X.shape[1] else X.T @ X


def _largest_eigenvalue(gram):
    gram = gram.toarray() if sparse.issparse(gram) else gram
    return max(np.linalg.eigvalsh(gram)[-1], 0.0)
