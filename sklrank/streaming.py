"""Training on data that do not fit into memory: batches of arrays, files and data frames."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from itertools import groupby
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from sklrank._checks import is_integer
from sklrank._estimators import print_progress
from sklrank.boosting._hist_gradient_boosting import fit_blocks

__all__ = ["fit_batches", "fit_blocks", "iter_batches"]

# Samples of a class, on average, of which few are drawn one after another by chance.
MIN_RUN = 30


def iter_batches(
    data: Any, *, target: str | list[str] | None = None, batch_size: int = 10_000
) -> Iterator[tuple[Any, Any]]:
    """Yield batches (X, y) of a table or of a pair of arrays, one in memory at a time.

    Parameters
    ----------
    data : table, or tuple (X, y)
        Samples. A table with the columns of the samples and of the target: a data frame of pandas,
        polars (also lazy) or dask, or a table, dataset or reader of record batches of pyarrow. Or a
        pair of arrays with equal numbers of rows: NumPy arrays, memory maps, CSR matrices or dask
        arrays.
    target : str or list of str, default=None
        Column of the class labels, or columns of an indicator matrix. Required for tables.
    batch_size : int, default=10000
        Maximum number of samples in a batch. A table is read in its own parts (the partitions of
        dask, the batches of Arrow), so that batches may be smaller.

    Yields
    ------
    X : array or table of shape (n_batch_samples, n_features)
        Samples, of the type of `data`; those of dask are computed.
    y : array or table of shape (n_batch_samples,) or (n_batch_samples, n_labels)
        Their target.

    Raises
    ------
    ValueError
        If `batch_size` is not a positive integer, `target` is missing or given without need, or the
        arrays differ in length, or have an unknown one.
    TypeError
        If `data` is of another type.

    See Also
    --------
    fit_batches : Train a model on batches.

    Examples
    --------
    >>> import numpy as np
    >>> from sklrank.streaming import iter_batches
    >>> X, y = np.zeros((25, 3)), np.arange(25) % 2
    >>> [len(part) for part, _ in iter_batches((X, y), batch_size=10)]
    [10, 10, 5]
    """
    if not is_integer(batch_size) or batch_size < 1:
        raise ValueError(f"batch_size must be a positive integer, got {batch_size!r}")
    is_pair = isinstance(data, tuple)
    shapes = [getattr(part, "shape", ()) for part in data] if is_pair else []
    if not all(shapes):
        raise TypeError("data must be a pair (X, y) of arrays: convert lists by np.asarray")
    # The length of a dask array may be NaN, and that of a data frame of dask is an expression.
    if not all(is_integer(shape[0]) for shape in shapes):
        raise ValueError(
            "data must be a pair (X, y) of arrays of known lengths: call compute_chunk_sizes of a "
            "dask array, and to_dask_array(lengths=True) of a data frame"
        )
    if is_pair and (len(data) != 2 or shapes[0][0] != shapes[1][0]):
        raise ValueError("data must be a pair (X, y) with equal numbers of rows")
    if is_pair != (target is None):
        what = "leave target out for a pair of arrays" if is_pair else "name it for a table"
        raise ValueError(f"target must be the columns of the target of a table: {what}")
    return _pairs(*data, batch_size) if is_pair else _split_tables(data, target, batch_size)


def _pairs(X, y, size):
    for pair in _computed(X, y):
        # Other sparse formats have no rows.
        X, y = (each.tocsr() if sparse.issparse(each) else each for each in pair)
        # Partitions of dask may be data frames, of which pandas 2 slices a float index by label.
        rows_of = [getattr(each, "iloc", each) for each in (X, y)]
        for start in range(0, X.shape[0], size):
            yield tuple(rows[start : start + size] for rows in rows_of)


def _computed(X, y):
    """Yield the pair of arrays or, if one of them is of dask, that of each of its chunks."""
    chunks = next((each.chunks[0] for each in (X, y) if hasattr(each, "numblocks")), None)
    if chunks is None:
        yield X, y
        return
    stop = 0
    for length in chunks:
        start, stop = stop, stop + length
        parts = X[start:stop], y[start:stop]
        yield tuple(part.compute() if hasattr(part, "compute") else part for part in parts)


def _split_tables(data, target, size):
    is_name = np.isscalar(target)
    columns = [target] if is_name else list(target)
    for table in _tables(data, size):
        if not len(table):
            continue
        known = list(getattr(table, "column_names", table.columns))  # of pyarrow, of others
        if missing := [name for name in columns if name not in known]:
            raise ValueError(f"target must be columns of data, which has no {missing[0]!r}")
        if hasattr(table, "drop_columns"):  # pyarrow
            X, y = table.drop_columns(columns), table.select(columns)
        else:
            X = table.drop(columns=columns) if hasattr(table, "iloc") else table.drop(columns)
            y = table[columns]
        yield X, y[target].to_numpy() if is_name else y


def _tables(data, size):
    """Yield the rows of a table of any library in parts of at most `size` rows."""
    if hasattr(data, "to_delayed"):  # dask
        for part in data.partitions:
            yield from _slices(part.compute(), size)
    elif hasattr(data, "collect_batches"):  # lazy frame of polars
        yield from data.collect_batches(chunk_size=size, maintain_order=True)
    elif hasattr(data, "to_batches") or hasattr(data, "read_next_batch"):  # pyarrow
        import pyarrow

        is_dataset = hasattr(data, "scanner")
        batches = data.to_batches(batch_size=size) if is_dataset else data
        if isinstance(data, pyarrow.Table):
            batches = data.to_batches()
        for batch in batches:
            yield from _slices(pyarrow.Table.from_batches([batch]), size)
    elif hasattr(data, "columns") and hasattr(data, "shape"):
        yield from _slices(data, size)
    else:
        raise TypeError(
            "data must be a pair (X, y) of arrays, a data frame of pandas, polars or dask, or a "
            f"table, dataset or reader of pyarrow, got {type(data).__name__}"
        )


def _slices(table, size):
    rows = getattr(table, "iloc", table)
    for start in range(0, len(table), size):
        part = slice(start, start + size)
        yield table.slice(start, size) if hasattr(table, "drop_columns") else rows[part]


def fit_batches(
    estimator: Any, batches: Iterable[tuple], *, classes: ArrayLike | None = None, verbose: int = 0
) -> Any:
    """Train a model on batches, in the order in which they come.

    One batch is in memory at a time. If an error or Ctrl-C ends the call, the model keeps the
    batches that it has learned.

    Parameters
    ----------
    estimator : object
        Model with `partial_fit`. It is updated in place; if it is fitted already, it continues to
        learn.
    batches : iterable of tuple (X, y) or (X, exploration, rewards)
        Batches, such as those of :func:`iter_batches`, for `partial_fit`, or of a log of feedback,
        for `partial_fit_feedback`. Those without samples are skipped.
    classes : array-like of shape (n_classes,), default=None
        All class labels, or the names of the columns of an indicator matrix; passed to these
        methods if not None. Class labels that are missing from the first batch require them.
    verbose : int, default=0
        If positive, print the number of samples so far after every so many seconds.

    Returns
    -------
    object
        The estimator.

    Raises
    ------
    TypeError
        If the estimator has no `partial_fit`, or no `partial_fit_feedback` for a log of feedback.
    ValueError
        If a batch is no such tuple, or is invalid; the message names its number. If there are no
        samples, and the estimator is not fitted.

    Warns
    -----
    UserWarning
        If the samples come sorted by class, since batches are learned as they come.

    See Also
    --------
    iter_batches : Batches of tables and arrays.
    sklrank.model_selection.progressive_val_score : Score batches before they are learned.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklrank.online_boosting import AdaOLMR
    >>> from sklrank.streaming import fit_batches, iter_batches
    >>> data = make_multilabel_classification(500, random_state=0)
    >>> model = fit_batches(AdaOLMR(random_state=0), iter_batches(data, batch_size=100))
    >>> model.n_rounds_
    500
    """
    if not learn_batches(estimator, batches, classes, verbose):
        try:
            check_is_fitted(estimator)
        except NotFittedError as error:
            raise ValueError("batches has no samples, from which a model could start") from error
    return estimator


def learn_batches(estimator, batches, classes, verbose=0):
    """Train a model on batches, which may have no samples; return the number of samples."""
    if not hasattr(estimator, "partial_fit"):
        raise TypeError(f"estimator must have partial_fit, got {estimator!r}")
    params = {} if classes is None else {"classes": classes}
    n_samples, start = 0, perf_counter()
    printed = start
    for number, batch in enumerate(_warn_if_sorted(batches)):
        if not isinstance(batch, tuple) or len(batch) not in (2, 3):
            raise ValueError(
                f"batch {number} must be a tuple (X, y), or (X, exploration, rewards), got "
                f"{type(batch).__name__}"
            )
        X = batch[0]
        n_batch = X.shape[0] if hasattr(X, "shape") else len(X)
        if not n_batch:
            continue
        if len(batch) == 3 and not hasattr(estimator, "partial_fit_feedback"):
            raise TypeError(
                f"estimator must have partial_fit_feedback for batches (X, exploration, rewards), "
                f"got {estimator!r}: pass it tuples (X, y)"
            )
        try:
            if len(batch) == 2:
                estimator.partial_fit(*batch, **params)
            else:
                estimator.partial_fit_feedback(*batch, **params)
        except ValueError as error:
            raise ValueError(f"batch {number}, after {n_samples} samples: {error}") from error
        n_samples += n_batch
        if verbose > 0 and perf_counter() - printed >= verbose:
            printed = perf_counter()
            figures = {
                "seconds": printed - start,
                "samples a second": n_samples / (printed - start),
            }
            print_progress("fit_batches", f"{n_samples} samples", figures)
    return n_samples


def _warn_if_sorted(batches):
    """Yield the batches. At the end, warn if all samples of a class came before the next class."""
    n_samples, runs, is_sorted = 0, [], True
    for batch in batches:
        yield batch
        labels = np.asarray(batch[1] if len(batch) == 2 else ())
        if not is_sorted or labels.ndim != 1 or not len(labels):
            continue
        n_samples += len(labels)
        runs += labels[np.append(True, labels[1:] != labels[:-1])].tolist()
        runs = [label for label, _ in groupby(runs)]
        is_sorted = len(set(runs)) == len(runs)
    if is_sorted and len(runs) > 1 and n_samples >= MIN_RUN * len(runs):
        warnings.warn(
            f"the samples come sorted by class, from {runs[0]!r} to {runs[-1]!r}, and are learned "
            "in this order, so that the model forgets the first classes: shuffle them, or call "
            "fit, which does",
            stacklevel=4,
        )
