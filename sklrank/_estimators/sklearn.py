"""All that the package takes from scikit-learn's private and experimental modules.

Other packages use these names too. If an import breaks in a new release, it is fixed here. The
public `available_if` is here for its type.
"""

# ruff: noqa: F401

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from numbers import Integral
from typing import TYPE_CHECKING, Any

from joblib.parallel import get_active_backend
from sklearn.utils import _safe_indexing
from sklearn.utils._param_validation import HasMethods as _HasMethods
from sklearn.utils._param_validation import Interval as _Interval
from sklearn.utils._param_validation import StrOptions
from sklearn.utils._set_output import ADAPTERS_MANAGER
from sklearn.utils.metaestimators import _BaseComposition
from sklearn.utils.parallel import Parallel, _threadpool_controller_decorator
from sklearn.utils.validation import _check_monotonic_cst, _num_samples

from sklrank._typing import Method

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn < 1.9

    class CallbackSupportMixin:
        """Empty base class."""

    def with_callbacks(method):
        """Return the method."""
        return method


if TYPE_CHECKING:
    # scikit-learn does not annotate this decorator: decorated methods would lose their types.
    def available_if(check: Callable[[Any], bool]) -> Callable[[Method], Method]: ...

else:
    from sklearn.utils.metaestimators import available_if


class Interval(_Interval):
    """Constraint of a number in an interval, which booleans do not satisfy."""

    def is_satisfied_by(self, val):
        return not isinstance(val, bool) and super().is_satisfied_by(val)


class HasMethods(_HasMethods):
    """Constraint of an object with methods, which a stack may have once it is fitted."""

    def is_satisfied_by(self, val):
        return all(has_method(val, name) for name in self.methods)


def has_method(estimator, name):
    """Return whether an estimator has a method, now or, if it is a stack, once it is fitted."""
    return callable(getattr(estimator, name, None)) or (
        hasattr(estimator, "final_estimator") and hasattr(type(estimator), name)
    )


# Constraints of all parameters `n_jobs`.
N_JOBS = [
    Interval(Integral, None, -1, closed="right"),
    Interval(Integral, 1, None, closed="left"),
    None,
]


# Decorator that limits BLAS to one thread: where matrices have a few hundred rows, its threads wait
# for each other longer than they compute. The limit mostly holds for the whole process. Where fits
# run in threads, decorate the function that starts them all, so that none lifts the limit while
# others still fit; where they run in worker processes, decorate the fit.
one_blas_thread = _threadpool_controller_decorator(limits=1, user_api="blas")


def runs_on_dask():
    """Return whether joblib runs calls on the workers of a dask cluster."""
    return type(get_active_backend()[0]).__name__ == "DaskDistributedBackend"


def parallel(**options):
    """Return a `Parallel` with these options, whose calls run on the workers of a dask cluster.

    On a worker, as in a fit of a search, they run in its process: joblib would send the samples of
    each fit to other workers.
    """
    if runs_on_dask():
        from distributed import get_worker

        with suppress(ValueError):  # this process is no worker
            get_worker()
            options["backend"] = "threading"
    return Parallel(**options)


def parallel_results(calls, **options):
    """Return an iterator over the results of delayed calls, in their order, as they arrive.

    Some backends, such as multiprocessing or that of Ray, return all results at the end.
    """
    backend, _ = get_active_backend(**{key: options[key] for key in ("prefer",) if key in options})
    if backend.supports_return_generator:
        return parallel(**options, return_as="generator")(calls)
    return iter(parallel(**options)(calls))
