"""Boosted trees on dask collections: the workers compute histograms, the client chooses splits.

The rows of a query go to the worker that a hash of the query names, as codes of bins. Each worker
has a :class:`Part` of the documents in an actor, which is called directly. See
`boosting/_hist_gradient_boosting/parts.py`.
"""

from __future__ import annotations

import warnings
from asyncio import run_coroutine_threadsafe
from concurrent.futures import TimeoutError as NotDone
from functools import partial, reduce
from itertools import compress, count
from typing import Any

import numpy as np
from dask import delayed, is_dask_collection
from distributed import TimeoutError as NotYet
from distributed import get_client, wait
from distributed.comm import CommClosedError

from sklrank.boosting import HistGradientBoostingRanker
from sklrank.boosting._hist_gradient_boosting import (
    check_tree_ranker,
    divide_rows,
    fit_parts,
    place_rows,
)
from sklrank.dask._partitions import row_blocks


def fit_ranker(
    ranker: HistGradientBoostingRanker, X: Any, y: Any, qid: Any, sample_weight: Any = None
) -> HistGradientBoostingRanker:
    r"""Fit a document ranker on the workers of a dask cluster, which grow its trees together.

    The ranker has the trees that ``ranker.fit`` would grow from all documents, bit for bit, for any
    number of workers. Each query belongs to one worker, to which its documents go once, as one byte
    for each feature. In each round, it computes the derivatives of its queries and, for each split
    of a tree, the histogram of the smaller child. The sum of histograms, of integers, chooses the
    next split in the process that has called this function.

    The traffic of a round is, for each worker,

    .. math:: L \cdot d \cdot B \cdot 16 \text{ bytes},

    where L is the number of leaves, d the number of features, and B that of bins: 0.56 MB a
    histogram of 136 features with 256 bins, and 17 MB a round of 31 leaves, for any number of
    documents. All of it goes to one process, through the scheduler unless the client was made with
    ``Client(direct_to_workers=True)``, so that some dozen workers are too many.

    `y` and `qid` of all documents, and at most 260,000 documents for the bins, the start and the
    size of the trees, are in the memory of this process; with ``early_stopping=True``, also the
    codes of the queries that are held out.

    Parameters
    ----------
    ranker : HistGradientBoostingRanker
        Ranker, which is fitted in place. With ``loss`` or ``scoring`` as functions, an estimator as
        `init`, or ``warm_start=True``, all documents must be in one process. The steps of other
        boosters are ratios of sums over all queries, which depend on their order.
    X : dask array or data frame of shape (n_samples, n_features)
        Documents, of numbers. They are read three times: persist them if this takes long.
    y : dask array or series, or array-like, of shape (n_samples,)
        Relevance.
    qid : dask array or series, or array-like, of shape (n_samples,)
        Query id of each document, in any order; a query may be in several partitions.
    sample_weight : dask array or series, or array-like, of shape (n_samples,), default=None
        Weights of the documents, as in :meth:`sklrank.boosting.HistGradientBoostingRanker.fit`.

    Returns
    -------
    HistGradientBoostingRanker
        The ranker.

    Raises
    ------
    TypeError
        If `ranker` or `X` is of another type.
    ValueError
        If there is no client, a partition has other columns than the first one, or for the
        reasons of :meth:`sklrank.boosting.HistGradientBoostingRanker.fit`.
    RuntimeError
        If a worker is lost. The ranker is unchanged, as with all errors.

    Warns
    -----
    RuntimeWarning
        If workers are silent while others wait for them, each minute until dask removes them, after
        ``distributed.scheduler.worker-ttl``.

    See Also
    --------
    sklrank.streaming.fit_blocks : The same trees from blocks of documents on disk.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from sklrank.boosting import HistGradientBoostingRanker
    >>> from sklrank.dask import fit_ranker
    >>> client = Client(processes=False, dashboard_address=":0")
    >>> X = da.random.RandomState(0).normal(size=(2000, 5), chunks=(500, 5))
    >>> y, qid = (X[:, 0] > 0).astype(int), da.arange(2000, chunks=500) // 20
    >>> ranker = fit_ranker(HistGradientBoostingRanker(max_iter=5), X, y, qid)
    >>> X.map_blocks(ranker.predict, drop_axis=1, dtype=float).compute().shape
    (2000,)
    >>> client.close()
    """
    check_tree_ranker(ranker)
    # Other collections of dask have no rows and columns.
    if not (is_dask_collection(X) and hasattr(type(X), "ndim")):
        raise TypeError(
            f"X must be a dask array or data frame, got {type(X).__name__}: for others use "
            "ranker.fit"
        )
    partitions = Partitions(get_client(), X, y, qid, sample_weight)
    try:
        return fit_parts(ranker, partitions)
    except Exception as error:
        if isinstance(error, RuntimeError) or not partitions.is_loss(error):
            raise
        raise RuntimeError(LOST.format(error)) from error
    finally:
        # The codes are freed now, not when Python collects what refers to the actors.
        partitions.client.cancel(partitions.futures)


LOST = "a worker was lost in fit: call fit again, which starts anew ({})"
PATIENCE = 60.0  # Seconds after which silent workers are named; their heartbeats are seconds apart.


class WorkerPart:
    """An actor with a part of the documents.

    The calls are numbered: none is executed twice, or by a new actor that has missed the others.
    """

    def __init__(self, part, pieces, n_rows, *arguments):
        self._part, self._n_calls = part, 0
        part.set_codes(*join(pieces, n_rows), *arguments)

    def call(self, number, method, arguments):
        """Return the result of a method of the part."""
        if number != self._n_calls:
            raise RuntimeError(f"the actor got call {number} instead of call {self._n_calls}")
        self._n_calls += 1
        return getattr(self._part, method)(*arguments)


class Partitions:
    """Source of documents in dask collections; see `boosting/_hist_gradient_boosting/parts.py`."""

    def __init__(self, client, X, *targets):
        self.client, self._targets = client, targets
        self.futures = []
        self._workers = sorted(client.nthreads())
        # With their numbers.
        self._partitions = list(enumerate(row_blocks(X)))

    def is_loss(self, error):
        """Return whether an error broke a connection, or a worker has gone since the first call."""
        # A connection may break before the scheduler knows that the worker has gone.
        workers = () if isinstance(error, CommClosedError) else self.client.nthreads()
        return not set(self._workers).issubset(workers)

    def _release(self):
        """Free what the workers have, also if the frames of an error refer to the futures."""
        for future in self.futures:
            future.release()
        self.futures = []

    def _compute(self, tasks):
        futures = self.client.compute(tasks)
        self.futures += futures
        return futures

    def _patiently(self, wait_for):
        """Return the result of `wait_for(timeout=...)`; warn if workers are silent meanwhile."""
        while True:
            try:
                return wait_for(timeout=PATIENCE)
            except (NotYet, NotDone):  # One class from Python 3.11 on.
                workers = self.client.scheduler_info()["workers"]
                seen = {name: worker["last_seen"] for name, worker in workers.items()}
                latest = max(seen.values(), default=0.0)
                if silent := [name for name in seen if latest - seen[name] > PATIENCE / 2]:
                    warnings.warn(
                        f"fit waits for workers that are silent: {', '.join(silent)}",
                        RuntimeWarning,
                        stacklevel=2,
                    )

    def _gather(self, futures):
        self._patiently(partial(wait, futures))
        return self.client.gather(futures)

    def _scatter(self, *things, **options):
        """Send things to workers; return a future of each."""
        scattering = run_coroutine_threadsafe(
            self.client.scatter(list(things), hash=False, asynchronous=True, **options),
            self.client.loop.asyncio_loop,
        )
        futures = self._patiently(scattering.result)
        self.futures += futures
        return futures

    def _map(self, function, *lists):
        """Return tasks of a function of the number of each partition, itself, and other things."""
        task = delayed(named, pure=False)
        return [task(function, *part, *each) for part, *each in zip(self._partitions, *lists)]

    def _share(self, thing):
        """Return a list of the same future on all workers for each partition."""
        return self._scatter(thing, broadcast=True) * len(self._partitions)

    def _cut(self, values):
        """Return futures of the parts of an array with an entry for each row.

        The arrays go to the workers: dask warns of tasks that contain them.
        """
        return self._scatter(*np.split(values, np.cumsum(self._sizes)[:-1]))

    def read_targets(self):
        """Return `y`, `qid`, the weights or None, and a row of `X`."""
        y, qid, sample_weight = (
            each.compute() if is_dask_collection(each) else each for each in self._targets
        )
        y, qid = np.asarray(y), np.asarray(qid)
        heads = self._gather(self._compute(self._map(head_of)))
        self._release()
        has_rows = [size > 0 for size, _ in heads]
        self._partitions = list(compress(self._partitions, has_rows))
        self._sizes, heads = zip(*(compress(heads, has_rows) if any(has_rows) else heads))
        n_rows = sum(self._sizes)
        if not y.shape[:1] == qid.shape[:1] == (n_rows,):
            raise ValueError(
                f"y and qid must have as many entries as X has rows, {n_rows}, got the shapes "
                f"{y.shape} and {qid.shape}"
            )
        return y, qid, sample_weight, heads[0]

    def read(self, rows, is_seen, reader):
        """Return some rows of `X`, and the summary of those that are seen."""
        is_read = np.zeros(len(is_seen), dtype=bool)
        is_read[rows] = True
        lists = self._share(reader), self._cut(is_read), self._cut(is_seen)
        results = self._gather(self._compute(self._map(read_partition, *lists)))
        self._release()
        found, summaries = zip(*results)
        return np.concatenate(found), reduce(lambda first, second: first.add(second), summaries)

    def parts_of_queries(self, queries):
        """Return the part of each query, by a multiplicative hash."""
        hashes = np.arange(queries.n_queries, dtype=np.uint64) * 2654435761 % 2**32
        return (hashes * len(self._workers) >> 32).astype(np.intp)

    def place(self, parts, groups, reader, *arguments):
        """Send the codes to the workers of their queries; return a function that asks them."""
        client = self.client
        lists = [self._cut(each) for each in place_rows(groups, sum(self._sizes))]
        lists = self._share(reader), *lists, [len(groups)] * len(self._partitions)
        tasks = self._map(encode_partition, *lists)
        pieces = [self._compute([task[k] for task in tasks]) for k in range(len(groups))]
        on_worker = [{"workers": [worker]} for worker in self._workers]
        actors = [
            client.submit(
                WorkerPart,
                *self._scatter(part, **where),
                of_part,
                len(rows),
                *arguments,
                actor=True,
                pure=False,
                **where,
            )
            for part, of_part, rows, where in zip(parts, pieces, groups, on_worker)
        ]
        self.futures += actors
        held_out = join(self._gather(pieces[-1]), len(groups[-1]))
        calls, numbers = [self._patiently(each.result) for each in actors], count()
        del pieces
        self.futures = self.futures[: -len(actors)]
        self._release()
        self.futures = actors

        def ask(method, *arguments):
            number = next(numbers)
            try:
                results = [each.call(number, method, arguments) for each in calls]
                return [self._patiently(result.result) for result in results]
            except (OSError, RuntimeError) as error:
                raise RuntimeError(LOST.format(error)) from error

        return ask, *held_out


def named(function, number, *arguments):
    """Call a function, and name the partition in its errors."""
    try:
        return function(*arguments)
    except ValueError as error:
        raise ValueError(f"X: partition {number}: {error}") from error


def head_of(X):
    """Return the number of rows, and at most one of them."""
    return len(X), X[:1]


def read_partition(X, reader, is_read, is_seen):
    """Return some rows, and the summary of those that are seen."""
    X = reader.check(X)
    return X[is_read], reader.summarize(X, is_seen)


def encode_partition(X, reader, place, positions, n_groups):
    """Return for each group the positions of its rows, their codes and their initial scores."""
    return divide_rows(*reader.encode(X), place, positions, n_groups)


def join(pieces, n_rows):
    """Return the codes and the scores of all pieces."""
    n_blocks, _, width = pieces[0][1].shape
    codes, scores = np.empty((n_blocks, n_rows, width), dtype=np.uint8), np.empty(n_rows)
    for positions, of_codes, of_scores in pieces:
        codes[:, positions], scores[positions] = of_codes, of_scores
    return codes, scores
