"""All that the package takes from private modules of scikit-learn, and the lines of `verbose`.

Other packages use these names too. If an import breaks in a new release, it is fixed here. The
public `available_if` is here for its type.
"""

from __future__ import annotations

from functools import wraps
from numbers import Integral
from typing import TYPE_CHECKING

from sklearn.utils import _safe_indexing
from sklearn.utils._param_validation import HasMethods, StrOptions, validate_parameter_constraints
from sklearn.utils._param_validation import Interval as _Interval
from sklearn.utils.metaestimators import _BaseComposition
from sklearn.utils.parallel import _threadpool_controller_decorator
from sklearn.utils.validation import _num_samples

from sklrank._model_lock import exclusive_call

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    Method = TypeVar("Method", bound=Callable[..., Any])

    # scikit-learn does not annotate these decorators: decorated methods would lose their types.
    def _fit_context(*, prefer_skip_nested_validation: bool) -> Callable[[Method], Method]: ...

    def available_if(check: Callable[[Any], bool]) -> Callable[[Method], Method]: ...

else:
    from sklearn.base import _fit_context as _scikit_learn_fit_context
    from sklearn.utils.metaestimators import available_if

    def _fit_context(*, prefer_skip_nested_validation):
        """Decorate a training method as scikit-learn does; it excludes calls of other threads."""
        decorate = _scikit_learn_fit_context(
            prefer_skip_nested_validation=prefer_skip_nested_validation
        )

        def excluding(method):
            locked = exclusive_call(decorate(method))

            # The routing of metadata looks for Python functions, and `locked` is compiled.
            @wraps(method)
            def call(estimator, *args, **kwargs):
                return locked(estimator, *args, **kwargs)

            return call

        return excluding


__all__ = [
    "N_JOBS",
    "HasMethods",
    "Interval",
    "StrOptions",
    "_BaseComposition",
    "_fit_context",
    "_num_samples",
    "_safe_indexing",
    "available_if",
    "check_parameters",
    "one_blas_thread",
    "print_progress",
]


class Interval(_Interval):
    """Constraint of a number in an interval, which booleans do not satisfy."""

    def is_satisfied_by(self, val):
        return not isinstance(val, bool) and super().is_satisfied_by(val)


# Constraints of all parameters `n_jobs`.
N_JOBS = [
    Interval(Integral, None, -1, closed="right"),
    Interval(Integral, 1, None, closed="left"),
    None,
]


def check_parameters(estimator, *names):
    """Check only these parameters of an estimator; raise as `fit` does if one is invalid."""
    validate_parameter_constraints(
        {name: estimator._parameter_constraints[name] for name in names},
        {name: getattr(estimator, name) for name in names},
        caller_name=type(estimator).__name__,
    )


# Decorator that limits BLAS to one thread while a function makes many small fits: where matrices
# have a few hundred rows, the threads of BLAS wait for each other longer than they compute. The
# limit mostly holds for the whole process. Where fits run in threads, decorate the function that
# starts all of them, so that no thread lifts the limit while others still fit; where they run in
# worker processes, decorate the fit.
one_blas_thread = _threadpool_controller_decorator(limits=1, user_api="blas")


def print_progress(name, done, figures):
    """Print a line of `verbose`.

    Parameters
    ----------
    name : str
        Name of the estimator or function.
    done : str
        What has been done so far, such as "round 3 of 100".
    figures : dict of str to number, or str
        Named values, such as the loss so far, or another text.
    """
    if not isinstance(figures, str):
        figures = ", ".join(
            f"{key} {value:.6g}" if isinstance(value, float) else f"{key} {value}"
            for key, value in figures.items()
        )
    print(f"[{name}] {done}: {figures}")
