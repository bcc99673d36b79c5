"""Decorator of the fits that joblib runs in parallel."""

from __future__ import annotations

from functools import wraps

from joblib import parallel_config
from joblib.parallel import get_active_backend

from sklrank._sklearn import one_blas_thread

__all__ = ["fit_task"]


def fit_task(fit):
    """Decorate a fit that joblib may run in another process: it uses that process only.

    It uses one BLAS thread. In a process of a dask cluster, joblib would distribute nested parallel
    calls among all processes, such as those of a forest for its trees, and send the samples again
    for each call. They run in the same process instead.
    """

    @one_blas_thread
    @wraps(fit)
    def run(*args):
        backend, _ = get_active_backend()
        if type(backend).__name__ != "DaskDistributedBackend":
            return fit(*args)
        with parallel_config(backend="threading"):
            return fit(*args)

    return run
