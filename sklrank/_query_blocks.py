"""Training of document rankers on blocks of rows that do not fit into memory."""

from __future__ import annotations

import pickle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

from sklrank._bin_codes import BLOCK_WIDTH
from sklrank.boosting import HistGradientBoostingRanker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from os import PathLike
    from typing import Any

# Number of documents of a part, whose scores and derivatives are in memory at the same time: about
# 200 MB. With larger parts, a round takes as long.
PART_SIZE = 1_000_000


def fit_blocks(
    ranker: HistGradientBoostingRanker,
    blocks: Iterable[tuple[Any, ...]] | Callable[[], Iterable[tuple[Any, ...]]],
    *,
    folder: str | PathLike[str] | None = None,
) -> HistGradientBoostingRanker:
    """Fit a document ranker to blocks of documents that do not fit into memory.

    The ranker has the trees that ``ranker.fit`` would grow from all blocks at once, bit for bit.
    The blocks are read three times. At first only `y` and `qid` are read. Then the bounds of the
    bins, the start and the size of the trees are chosen, from the same documents as in `fit`. At
    last, each value is replaced by the number of its bin, a byte, on disk. Boosting reads these
    bytes; documents of one query may be in several blocks.

    n documents of d features take n d bytes on disk, which the operating system keeps in memory as
    far as it can, and about 100 n bytes for the objective; in memory, they take 30 n bytes and the
    samples of the race, at most 260,000 documents.

    Parameters
    ----------
    ranker : HistGradientBoostingRanker
        Ranker, which is fitted in place. With ``loss`` or ``scoring`` as functions, an estimator as
        `init`, or ``warm_start=True``, all documents must be in memory.
    blocks : iterable of tuple, or function
        Blocks ``(X, y, qid)`` or ``(X, y, qid, sample_weight)``, as the arguments of `fit`: arrays,
        memory maps, sparse matrices, or data frames of numbers, which may be codes of categories
        (by their data type, or by `categorical_features`). A list can be read several times; an
        iterator cannot: pass the function without arguments that returns it.
    folder : path, default=None
        Folder for the bytes, in which a folder is made, and deleted at the end. If None, it is that
        of temporary files.

    Returns
    -------
    HistGradientBoostingRanker
        The ranker.

    Raises
    ------
    ValueError
        If a block is not such a tuple, has no rows or other columns than the first one, cannot be
        read, or is another one the next time; the message names its number. Or for the reasons of
        `fit`. The ranker is unchanged.
    TypeError
        If `ranker` is of another type.

    See Also
    --------
    fit_batches : Train online models on batches, which are read once.

    Examples
    --------
    >>> import numpy as np
    >>> from sklrank.boosting import HistGradientBoostingRanker
    >>> from sklrank.streaming import fit_blocks
    >>> rng = np.random.RandomState(0)
    >>> X, qid = rng.standard_normal((2000, 5)), np.repeat(np.arange(100), 20)
    >>> y = np.digitize(X[:, 0] * X[:, 1], [0, 1])
    >>> blocks = [(X[rows], y[rows], qid[rows]) for rows in np.split(np.arange(2000), 4)]
    >>> ranker = fit_blocks(HistGradientBoostingRanker(max_iter=20, random_state=0), blocks)
    >>> same = HistGradientBoostingRanker(max_iter=20, random_state=0).fit(X, y, qid=qid)
    >>> bool((ranker.predict(X) == same.predict(X)).all())
    True
    """
    if not isinstance(ranker, HistGradientBoostingRanker):
        raise TypeError(
            f"ranker must be a HistGradientBoostingRanker, got {type(ranker).__name__}: only its "
            "trees can be grown from blocks"
        )
    if folder is not None and not Path(folder).is_dir():
        raise ValueError(f"folder must exist, got {str(folder)!r}: make it")
    with TemporaryDirectory(prefix="sklrank-", dir=folder) as path:
        return ranker._fit_parts(Blocks(blocks, Path(path)))


class Blocks:
    """Source of documents in blocks; see `boosting/_training_parts.py`."""

    def __init__(self, blocks, folder):
        self._blocks = blocks
        self._folder = folder
        self._sizes = None

    def _read(self, of_rows=None):
        """Yield the first row of each block, a function of its `X`, and the other arrays."""
        number, start = -1, 0
        try:
            blocks = self._blocks() if callable(self._blocks) else self._blocks
            for number, block in enumerate(blocks):
                if not isinstance(block, tuple) or len(block) not in (3, 4):
                    raise ValueError("it must be a tuple (X, y, qid) or (X, y, qid, sample_weight)")
                sizes = [each.shape[0] if hasattr(each, "shape") else len(each) for each in block]
                if 0 in sizes or len(set(sizes)) > 1:
                    raise ValueError(f"its arrays must have as many rows, at least 1, got {sizes}")
                if self._sizes is not None and sizes[0] != sum(self._sizes[number : number + 1]):
                    raise ValueError("it has more or fewer rows than before: do not change blocks")
                X, *target = block
                yield start, X if of_rows is None else of_rows(X), *target
                start += sizes[0]
            if number < 0 and self._sizes is None:
                raise ValueError("there must be at least one block")
            if number + 1 < len(self._sizes or []):
                raise ValueError(
                    "there are fewer than before; pass a list, or a function that returns an "
                    "iterator, as blocks are read several times"
                )
        except (ValueError, TypeError, OSError) as error:
            place = f"block {number}: " if number >= 0 else ""
            raise ValueError(f"blocks: {place}{error}") from error

    def read_targets(self):
        """Return `y`, `qid`, the weights and the first block."""
        head, targets, sizes = None, [], []
        for _, X, *target in self._read():
            if targets and len(target) != len(targets[0]):
                raise ValueError("blocks: all must have sample_weight, or none")
            head = X if head is None else head
            targets.append([np.asarray(each) for each in target])
            sizes.append(len(targets[-1][0]))
        self._sizes = sizes
        y, qid, *weights = map(np.concatenate, zip(*targets))
        are_integers = all(each[1].dtype.kind in "iu" for each in targets)
        if are_integers and qid.dtype.kind == "f":
            raise ValueError(
                "blocks: qid must have the same data type in all blocks, or the numbers of int64 "
                "and uint64 would be rounded: convert it by astype"
            )
        return y, qid, weights[0] if weights else None, head

    def read(self, rows, is_seen, reader):
        """Return some rows of `X`, and the summary of those that are seen."""
        found, summary = [], None
        for start, X, *_ in self._read(reader.check):
            stop = start + len(X)
            here = rows[slice(*np.searchsorted(rows, [start, stop]))]
            found.append(X[here - start])
            of_block = reader.summarize(X, is_seen[start:stop])
            summary = of_block if summary is None else summary.add(of_block)
        return np.concatenate(found), summary

    def parts_of_queries(self, queries):
        """Return the part of each query: successive queries of as many rows."""
        order = np.argsort(queries.order[queries.starts[:-1]])
        parts = np.empty(queries.n_queries, dtype=np.intp)
        parts[order] = np.cumsum(queries.sizes[order]) // PART_SIZE
        return parts

    def place(self, parts, members, held_out, reader, *arguments):
        """Write the codes to disk; return a function that asks the parts one after the other."""
        for number, part in enumerate(parts):
            part.keep_in(Pickles(self._folder / f"part{number}"))
        groups = [rows for rows in (*members, held_out) if len(rows)]
        place, positions = np.full((2, sum(self._sizes)), -1, dtype=np.intc)
        for number, rows in enumerate(groups):
            place[rows], positions[rows] = number, np.arange(len(rows))
        shapes = [(len(reader.bins.codes), len(rows), BLOCK_WIDTH) for rows in groups]
        paths = [self._folder / f"codes{number}" for number in range(len(groups))]
        files = [np.memmap(path, np.uint8, "w+", shape=each) for path, each in zip(paths, shapes)]
        scores = [np.empty(len(rows)) for rows in groups]
        for start, (codes, of_rows), *_ in self._read(reader.encode):
            numbers = place[start : start + len(of_rows)]
            for number in np.unique(numbers[numbers >= 0]):
                here = np.flatnonzero(numbers == number)
                files[number][:, positions[start + here]] = codes[:, here]
                scores[number][positions[start + here]] = of_rows[here]
        # Pages that were written are in memory until the files are closed.
        files.clear()
        files = [np.memmap(path, np.uint8, "r", shape=each) for path, each in zip(paths, shapes)]
        buffers = None
        for part in parts:
            buffers = part.set_codes(files.pop(0), scores.pop(0), *arguments, buffers)

        def ask(method, *arguments):
            return [getattr(part, method)(*arguments) for part in parts]

        return ask, *(files or [None]), *(scores or [None])


class Pickles:
    """Objects by name, in files instead of memory."""

    def __init__(self, path):
        self._path = path
        path.mkdir()

    def __setitem__(self, name, value):
        with open(self._path / name, "wb") as file:
            pickle.dump(value, file, protocol=5)

    def __getitem__(self, name):
        with open(self._path / name, "rb") as file:
            return pickle.load(file)
