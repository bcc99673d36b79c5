"""The names that the package takes from scikit-learn's private modules, all of them.

Other packages build on these too; an import that breaks in a new release is mended here. The public
`available_if` is here for its type.
"""

from __future__ import annotations

from contextlib import contextmanager
from numbers import Integral
from typing import TYPE_CHECKING

from sklearn.utils import _safe_indexing
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.metaestimators import _BaseComposition
from sklearn.utils.parallel import _get_threadpool_controller
from sklearn.utils.validation import _check_feature_names_in, _num_samples

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, TypeVar

    Method = TypeVar("Method", bound=Callable[..., Any])

    # Those of scikit-learn are not typed: what they decorate would lose its types.
    def _fit_context(*, prefer_skip_nested_validation: bool) -> Callable[[Method], Method]: ...

    def available_if(check: Callable[[Any], bool]) -> Callable[[Method], Method]: ...

else:
    from sklearn.base import _fit_context
    from sklearn.utils.metaestimators import available_if

__all__ = [
    "N_JOBS",
    "HasMethods",
    "Interval",
    "StrOptions",
    "_BaseComposition",
    "_check_feature_names_in",
    "_fit_context",
    "_num_samples",
    "_safe_indexing",
    "available_if",
    "one_blas_thread",
]

# Constraints of all parameters `n_jobs`.
N_JOBS = [
    Interval(Integral, None, -1, closed="right"),
    Interval(Integral, 1, None, closed="left"),
    None,
]


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread: a context manager, and a decorator, for many small fits.

    Where matrices have a few hundred rows, the threads of BLAS wait for each other longer than they
    compute, and many times longer where other work keeps the processors busy.

    Notes
    -----
    The limit mostly holds for the whole process. Where fits run in threads, put one limit around
    all of them, so that no thread lifts it while others still fit; a worker process needs a limit
    of its own, as the decorator of the function that it runs.
    """
    with _get_threadpool_controller().limit(limits=1, user_api="blas"):
        yield
