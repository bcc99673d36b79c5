"""Online models on dask collections: copies learn partitions side by side, and are merged.

A partition is learned by a task whose input is a copy of the model and the partition. Tasks do not
change their inputs, so that dask repeats those that a lost worker had computed.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import dask
import numpy as np
from dask.delayed import Delayed
from dask.system import CPU_COUNT
from distributed import get_client
from numpy.typing import ArrayLike

from sklrank._checks import is_integer
from sklrank._estimators import print_progress
from sklrank._online import BaseOnline, copy_of
from sklrank.streaming import iter_batches, learn_batches


def fit_partitions(
    estimator: BaseOnline,
    data: Any,
    *,
    target: str | list[str] | None = None,
    classes: ArrayLike | None = None,
    n_models: int | None = None,
    merge_every: int | None = None,
    verbose: int = 0,
) -> BaseOnline:
    """Train copies of an online model on the partitions of dask collections, and merge them.

    Each copy learns a run of partitions in their order, by `partial_fit`; then the copies are
    merged by `merge`. If this is exact for the model, the result is that of one pass over all
    samples, apart from rounding errors. It depends on `n_models` and `merge_every`, but not on
    which worker learns what, and a lost worker does not change it.

    Copies move to the partitions, unless another worker is idle, and at most two partitions a copy
    are in memory, unless they were there before. Call `persist` on data whose partitions share
    computations, such as a shuffle. Without a client, the tasks run as dask is configured.

    Parameters
    ----------
    estimator : estimator
        Online model with `partial_fit` and `merge`. It is updated in place; if it is fitted
        already, it continues to learn.
    data : data frame, tuple (X, y) or sequence
        A data frame of dask with the columns of the samples and of the target; a pair of arrays or
        data frames of dask; a bag of dask whose items are batches (X, y), or (X, exploration,
        rewards) of a log; or a list of delayed objects, each of which is a pair (X, y) of arrays, a
        list of batches, or, with `target`, a table, as :func:`~sklrank.streaming.iter_batches`
        takes it.
    target : str or list of str, default=None
        Column of the class labels, or columns of an indicator matrix. Required for tables.
    classes : array-like of shape (n_classes,), default=None
        All class labels, or the names of the columns of an indicator matrix; passed to
        `partial_fit` if not None. Class labels that are missing from the first partition of a copy
        require them.
    n_models : int, default=None
        Number of copies, at most that of partitions. If None, the number of threads of the cluster
        or, without a client, of processors.
    merge_every : int, default=None
        Number of partitions that each copy learns before the copies are merged, and start again
        from the result. If None, they are merged once, at the end.
    verbose : int, default=0
        If positive, print the number of partitions so far after every so many seconds.

    Returns
    -------
    estimator
        The estimator.

    Raises
    ------
    TypeError
        If the estimator has no `merge`, or `data` is of another type.
    ValueError
        If a partition is invalid, which the message names, the copies cannot be merged, which is
        known after the first partitions, or an option is invalid. After these and other errors,
        such as one of a worker that dies again and again, the model has not changed.

    See Also
    --------
    sklrank.streaming.fit_batches : Train one model on batches, one after the other.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import load_digits
    >>> from sklrank.dask import fit_partitions
    >>> from sklrank.linear_model import OnlineRidgeClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> data = da.from_array(X, chunks=(450, -1)), da.from_array(y, chunks=450)
    >>> model = OnlineRidgeClassifier(alpha=1.0, standardize=False)
    >>> model = fit_partitions(model, data, classes=range(10), n_models=4)
    >>> one_pass = OnlineRidgeClassifier(alpha=1.0, standardize=False).partial_fit(X, y)
    >>> difference = model.decision_function(X) - one_pass.decision_function(X)
    >>> print(abs(difference).max() < 1e-10)
    True
    """
    if not hasattr(estimator, "merge"):
        raise TypeError(f"estimator must have merge, got {estimator!r}")
    for name, value in (("n_models", n_models), ("merge_every", merge_every)):
        if value is not None and (not is_integer(value) or value < 1):
            raise ValueError(f"{name} must be a positive integer or None, got {value!r}")
    start, parts = copy_of(estimator), _partitions(data)
    # Neighbors form a run, since dask loads them on the same worker.
    runs = np.array_split(np.arange(len(parts)), min(n_models or _n_threads(), len(parts)))
    n_steps = len(runs[0])
    begin = printed = perf_counter()
    [merged] = dask.persist(dask.delayed(start))
    base, copies = merged, [merged] * len(runs)
    for step in range(n_steps):
        before = copies
        learned = [
            _learn(copy, parts[run[step]], run[step], target, classes) if step < len(run) else copy
            for copy, run in zip(copies, runs)
        ]
        copies = list(dask.persist(*learned))
        if step + 1 == n_steps or (step + 1) % (merge_every or n_steps) == 0:
            [merged] = dask.persist(_merge(copies, base))
            base, copies = merged, [merged] * len(runs)
        # Wait, so that few partitions are in memory, and for what the first merge raises.
        dask.compute(*map(_wait, before if step else [_merge(copies, base)]))
        if verbose > 0 and perf_counter() - printed >= verbose:
            printed = perf_counter()
            n_learned = sum(min(step, len(run)) for run in runs)
            figures = {"seconds": printed - begin}
            print_progress("fit_partitions", f"{n_learned} of {len(parts)} partitions", figures)
    return estimator.merge(merged.compute(), base=start)


def _n_threads():
    try:
        return max(1, sum(get_client().ncores().values()))
    except ValueError:  # there is no client
        return CPU_COUNT


def _partitions(data):
    """Return a delayed object, or a pair of them, for each partition."""
    if isinstance(data, tuple) and len(data) == 2 and all(map(_is_collection, data)):
        X, y = data
        if hasattr(X, "chunks") and hasattr(y, "chunks") and not np.isnan(X.shape[0] + y.shape[0]):
            y = y.rechunk({0: X.chunks[0]}) if X.shape[0] == y.shape[0] else y
        blocks = [row_blocks(part) for part in (X, y)]
        if len(blocks[0]) != len(blocks[1]):
            raise ValueError(
                "data must be a pair (X, y) with equal partitions: X has "
                f"{len(blocks[0])}, and y {len(blocks[1])}"
            )
        return list(zip(*blocks))
    if _is_collection(data):
        return row_blocks(data)
    if isinstance(data, list) and data and all(isinstance(part, Delayed) for part in data):
        return data
    raise TypeError(
        "data must be a data frame or bag of dask, a pair (X, y) of dask collections, or a list of "
        f"delayed objects, got {type(data).__name__}: other data are learned by "
        "sklrank.streaming.fit_batches"
    )


def _is_collection(data):
    return hasattr(data, "to_delayed")


def row_blocks(data):
    """Return a delayed object for each partition of a collection, with all of its columns."""
    if hasattr(data, "rechunk") and data.ndim > 1:
        data = data.rechunk({1: -1})
    return np.ravel(data.to_delayed()).tolist()


@dask.delayed
def _learn(model, part, number, target, classes):
    """Return a copy of a model that has learned a partition."""
    model = copy_of(model)
    try:
        are_batches = isinstance(part, list) or hasattr(part, "__next__")
        batches = part if are_batches else iter_batches(part, target=target)
        learn_batches(model, batches, classes)
        return model
    except ValueError as error:
        raise ValueError(f"partition {number}: {error}") from error


@dask.delayed
def _merge(models, base):
    return copy_of(models[0]).merge(models[1:], base=base)


@dask.delayed
def _wait(model):
    """Return nothing, without the transfer of a model."""
