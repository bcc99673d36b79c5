"""What the Predtrons share: parameters, machines, passes over the rounds, fitted attributes."""

from functools import partial
from numbers import Integral, Real

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS, pairwise_kernels
from sklearn.utils import check_random_state, gen_batches
from sklearn.utils.validation import check_is_fitted

from sklrank._sklearn import Interval, StrOptions
from sklrank._validation import MAX_FACTOR, as_numbers, unchanged_on_error
from sklrank.linear_model._mirror._parameter import CONSTRAINTS, make_mirror_map
from sklrank.linear_model._predtron._models import KernelModel, LinearModel

__all__ = ["PredtronMixin", "can_partial_fit"]


def can_partial_fit(model):
    """Whether a model can learn from more rows: of a precomputed kernel it lacks their values."""
    if model._is_precomputed:
        raise AttributeError(
            "kernel='precomputed' cannot go on with more rows, whose kernel values with those "
            "before are not known: call fit with the kernel matrix of all rows"
        )
    return True


class PredtronMixin:
    """Rounds of Predtron for an estimator that learns from rows as they come.

    The estimator makes lessons (:mod:`._lessons`) of data, `_lessons(*data, restart)`,
    and where a model is to be started, sets `_machine` by `_make_machine`.
    """

    _accepts_sparse = True
    _multiplies_entries = True
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

    def _make_machine(self, n_scores, constant):
        """What learns, and by which steps, as the parameters are now."""
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
                "vectors that the budget forgets; set budget=None, or average=False"
            )
        budget = self.budget or 0
        return KernelModel(n_scores, self._kernel(), constant, rate, self.average, budget)

    def _kernel(self):
        if self.kernel == "precomputed":
            return None
        kernel = self.kernel
        if isinstance(kernel, str):
            # The default is filled in here, since not every kernel understands None.
            gamma = 1.0 / self.n_features_in_ if self.gamma is None else self.gamma
            parameters = {"gamma": gamma, "degree": self.degree, "coef0": self.coef0}
            kernel = partial(pairwise_kernels, metric=kernel, filter_params=True, **parameters)
        return partial(_call_kernel, kernel)

    @property
    def _is_precomputed(self):
        if hasattr(self, "_machine"):
            return self._machine.is_precomputed
        return self.kernel == "precomputed"

    def _check_pairwise(self, X):
        if self._is_precomputed and X.shape[0] != X.shape[1]:
            raise ValueError(
                "X must be the kernel matrix of the rows under kernel='precomputed', which is "
                f"square; got the shape {X.shape}"
            )

    def _fit_from_scratch(self, *data):
        with unchanged_on_error(self):
            X, lessons = self._lessons(*data, restart=True)
            self._learn(X, lessons, n_passes=self.max_iter, shuffle=self.shuffle)
            self.n_iter_ = self.max_iter
        return self

    def _partial_fit(self, *data, scored=False):
        """Learn on; where `scored`, return what the rounds were scored before they were learnt."""
        scores = None
        with unchanged_on_error(self):
            X, lessons = self._lessons(*data, restart=not hasattr(self, "_machine"))
            if scored:
                n_scores = self._machine.rounds.mirror_map.n_classes
                scores = np.empty((lessons.n_rounds, n_scores))
            self._learn(X, lessons, scores=scores)
        return scores

    def _learn(self, X, lessons, *, n_passes=1, shuffle=False, scores=None):
        """Play the rounds of the lessons, in order or shuffled; write their scores."""
        n_rounds = lessons.n_rounds
        random_state = check_random_state(self.random_state) if shuffle else None
        with self._machine.transaction(X) as play:
            for i in range(n_passes):
                order = random_state.permutation(n_rounds) if shuffle else None
                before = self._tally()
                # Only the first pass is watched: a row that was learnt before seems easier than a
                # new one.
                watched = lessons.watch is not None and i == 0
                self._play_pass(X, lessons, play, order, scores, watched)
                if self.verbose:
                    mistakes, loss = self._tally() - before
                    print(
                        f"[{type(self).__name__}] pass {i + 1} of {n_passes}: {mistakes:.0f} "
                        f"mistakes in {n_rounds} rounds, mean loss {loss / n_rounds:.4f}"
                    )

    def _play_pass(self, X, lessons, play, order, scores, watched):
        machine, n_rounds = self._machine, lessons.n_rounds
        n_scores = machine.rounds.mirror_map.n_classes
        for batch in gen_batches(n_rounds, max(1, machine.most_rows * n_rounds // X.shape[0])):
            rounds = batch if order is None else order[batch]
            rows, starts = lessons.rows(rounds)
            bounds = forecasts = None
            if np.isnan(machine.rounds.learning_rate):
                radii = machine.radii(X, rows, starts)
                bounds = np.column_stack([radii, lessons.extremes(rounds)])
            if watched:
                forecasts = np.empty((batch.stop - batch.start, n_scores))
            of_batch = None if scores is None else scores[batch]
            play(rows, lessons.task(rounds), starts, bounds, of_batch, forecasts)
            if watched:
                lessons.record(rounds, forecasts)

    def _tally(self):
        rounds = self._machine.rounds
        return np.array([rounds.n_mistakes, rounds.total_loss])

    def _scores(self, X):
        """Scores of rows, `(n_samples, n_scores)`."""
        return self._fitted_machine().score(self._check_rows(X, reset=False))

    def _fitted_machine(self):
        check_is_fitted(self, "_machine")
        return self._machine

    def _of_kind(self, kind, name):
        machine = self._fitted_machine()
        if not isinstance(machine, kind):
            with_kernel = "no kernel" if kind is LinearModel else "a kernel"
            raise AttributeError(f"{name} is an attribute of models with {with_kernel}")
        return machine

    @property
    def coef_(self) -> np.ndarray:
        """Weights of the features."""
        return self._of_kind(LinearModel, "coef_").weights[:, : self.n_features_in_]

    @property
    def intercept_(self) -> np.ndarray:
        """Weights of the constant; 0 where there is none."""
        weights = self._of_kind(LinearModel, "intercept_").weights
        return weights[:, self.n_features_in_ :].sum(axis=1)

    @property
    def dual_coef_(self) -> np.ndarray:
        """Coefficients of the support vectors."""
        return self._of_kind(KernelModel, "dual_coef_").weights.copy()

    @property
    def support_vectors_(self) -> np.ndarray:
        """Support vectors; under a precomputed kernel their row numbers."""
        return self._of_kind(KernelModel, "support_vectors_").points.copy()

    @property
    def n_rounds_(self) -> int:
        """Rounds so far."""
        return self._fitted_machine().rounds.n_rounds

    @property
    def n_mistakes_(self) -> int:
        """Rounds so far with a loss."""
        return self._fitted_machine().rounds.n_mistakes

    @property
    def mean_loss_(self) -> float:
        """Mean loss of the rounds so far."""
        rounds = self._fitted_machine().rounds
        return rounds.total_loss / rounds.n_rounds if rounds.n_rounds else np.nan

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


def _call_kernel(kernel, A, B):
    # Values that overflow are refused below, by name.
    with np.errstate(over="ignore", invalid="ignore"):
        values = kernel(A, B)
    values = as_numbers(values.toarray() if sparse.issparse(values) else values, "kernel")
    if values.shape != (A.shape[0], B.shape[0]):
        raise ValueError(
            f"kernel must return values of the shape {(A.shape[0], B.shape[0])}, for each row of "
            f"its first argument and each of its second; got the shape {values.shape}"
        )
    if not np.isfinite(values).all():
        raise ValueError(
            "kernel has values that are NaN or infinity: scale the features, or choose another one"
        )
    return values
