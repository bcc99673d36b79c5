"""Boosting on documents in parts, which are on disk or on the workers of a cluster.

A :class:`Part` has the documents of some queries: the codes of their features, their objective and
their scores. It computes derivatives, and histograms of the nodes of a tree. The process that
boosts adds up the histograms, and chooses the splits (see `tree/_histogram/grower.pyx`). Its sums
are exact, and bins, race and linear start use samples drawn by row number, as in `fit`: the trees
are those of one process with all documents in memory.

A *source* has the documents, in rows that are numbered: :class:`Blocks` on disk, or the partitions
of `dask/_trees.py`. Its methods are

- ``read_targets()``: return `y`, `qid`, `sample_weight` or None, and the first rows of `X`;
- ``read(rows, is_seen, reader)``: return these rows of `X` (sorted numbers), and the
  :class:`Summary` of those in a mask; see :class:`Reader`;
- ``parts_of_queries(queries)``: return the number of the part of each query;
- ``place(parts, groups, reader, *arguments)``: call the method `set_codes` of each :class:`Part`
  with the codes and initial scores of its rows, and these arguments, where the part shall be. The
  groups are the rows of each part, and those that are held out. Return the function
  ``ask(method, *arguments)``, which returns the results of a method of all parts as a list, and the
  codes and initial scores of the rows that are held out.
"""

from __future__ import annotations

import os
import pickle
from collections import Counter
from collections.abc import Callable, Iterable
from copy import copy
from functools import reduce
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from joblib import hash as hash_of
from sklearn.base import clone

from sklrank._checks import (
    Queries,
    check_numeric,
    check_relevance,
    check_row_labels,
    is_qid_given,
    plain,
)
from sklrank._estimators import _fit_context, print_progress, unchanged_on_error
from sklrank.boosting._base import DocumentTarget
from sklrank.boosting._hist_gradient_boosting.race import (
    Race,
    check_varying,
    hold_out,
    make_judge,
    round_reporter,
    scores_of,
)
from sklrank.boosting._hist_gradient_boosting.ranker import HistGradientBoostingRanker
from sklrank.boosting._objectives import LOSSES
from sklrank.tree._histogram import BLOCK_WIDTH, FeatureBlocks, distinct_values, draw_samples

# Number of documents of a part, whose scores and derivatives are in memory at the same time: about
# 200 MB. With larger parts, a round takes as long.
PART_SIZE = 1_000_000
# Number of rows of `X` of a block that are compared with those of the next reading: a block whose
# rows are in another order differs in one of them, and their hash takes no time.
N_COMPARED = 64


class SampledRows(NamedTuple):
    """Some rows of `X`, which are indexed by their numbers among all rows."""

    numbers: np.ndarray
    """Sorted numbers of the rows."""
    X: np.ndarray

    def __getitem__(self, numbers):
        return self.X[np.searchsorted(self.numbers, numbers)]


class Summary:
    """Facts about all documents that determine the bins, besides drawn values.

    They are which features have missing values, and the numbers of documents of each category.
    """

    def __init__(self, X, is_categorical):
        self.has_missing = np.isnan(X).any(axis=0)
        self.counts = {
            feature: Counter(dict(zip(*map(np.ndarray.tolist, distinct_values(X[:, feature])))))
            for feature in np.flatnonzero(is_categorical).tolist()
        }

    def add(self, other):
        """Add the documents of another summary; return this one."""
        self.has_missing |= other.has_missing
        for feature, counts in self.counts.items():
            counts.update(other.counts[feature])
        return self

    def columns(self, X):
        """Return the columns of drawn rows, and the distinct values of categorical features."""
        columns = list(X.T)
        for feature, counts in self.counts.items():
            values = np.array(sorted(counts), dtype=np.float64)
            columns[feature] = values, np.array([counts[value] for value in values.tolist()])
        return columns


class Reader:
    """Checks and encodes blocks of rows, also in other processes, for a ranker with features."""

    def __init__(self, ranker):
        self._ranker = clone(ranker)  # without the trees of an earlier fit
        for name in ("n_features_in_", "feature_names_in_", "_encoder", "_row_checks"):
            if name in vars(ranker):
                setattr(self._ranker, name, getattr(ranker, name))
        mask = ranker.is_categorical_
        self.is_categorical = np.zeros(ranker.n_features_in_, bool) if mask is None else mask
        self.bins = self.start = None

    def check(self, X):
        """Return rows as an array."""
        return self._ranker._check_documents(X, reset=False)

    def summarize(self, X, is_seen):
        """Return the summary of the checked rows in a mask."""
        return Summary(X if is_seen.all() else X[is_seen], self.is_categorical)

    def encode(self, X):
        """Return the codes and the initial scores of rows."""
        return self.encode_checked(self.check(X))

    def encode_checked(self, X):
        """Return the codes and the initial scores of checked rows."""
        return self.bins.encode(X).codes, scores_of(self.start, X)


class Part:
    """Documents of some queries in training, with the parameters of a ranker.

    `kept`, a dict or similar, holds all arrays between the calls.
    """

    def __init__(self, ranker, target):
        self._ranker, self.kept = ranker, {"target": target}

    def set_codes(self, codes, scores, tree, bins, n_samples, buffers=None):
        """Set the codes of the documents, and the scores from which they start.

        `n_samples` is the number of documents of all parts. Growers that take turns may share
        buffers, which are returned.
        """
        bins = bins.with_codes(codes)
        self._grower = tree._make_grower(bins, n_samples=n_samples, buffers=buffers).compiled
        self.kept["scores"] = scores
        return self._grower.buffers

    def counted_weight(self):
        """Return the total weight of the queries that the objective counts."""
        return self._ranker._make_objective(self.kept["target"]).counted_weight

    def set_total_weight(self, total):
        """Make the objective, given the total weight of the queries of all parts."""
        target = self.kept["target"]._replace(total_weight=total)
        self.kept["objective"] = self._ranker._make_objective(target)
        self.kept["target"] = None

    def values(self):
        """Return the objective at the initial scores and at scores of 0."""
        objective, scores = self.kept["objective"].compared(), self.kept["scores"]
        return np.array([objective.value_at(each) for each in (scores, np.zeros(len(scores)))])

    def begin(self, has_start):
        """Start from the initial scores, or from 0; return the same as `add_tree`."""
        scores = self.kept["scores"]
        return self._set_scores(scores if has_start else np.zeros(len(scores)))

    def add_tree(self, values):
        """Add the values of the leaves; return the objective and the largest derivatives."""
        scores = self.kept["scores"]
        added = np.empty(len(scores))
        self._grower.write_leaves(values, added)
        scores += added
        return self._set_scores(scores)

    def _set_scores(self, scores):
        objective = self.kept["objective"]
        objective.set_scores(scores)
        gradients = -objective.negative_gradient.reshape(-1, 1)
        self.kept["scores"] = scores
        self.kept["derivatives"] = gradients, objective.hessians
        return objective.value, self._grower.largest(gradients, objective.hessians)

    def totals(self, largest, n_samples):
        """Return the exact sums of the absolute derivatives; see :class:`Grower`."""
        return self._grower.totals(*self.kept["derivatives"], largest, n_samples)

    def start(self, *scales_and_features):
        """Start a tree, and return the histogram of its root."""
        return self._grower.start(*self.kept["derivatives"], *scales_and_features)

    def divide(self, splits, child):
        """Divide leaves, and return the histogram of a child of the last one."""
        return self._grower.divide(splits, child)

    def leaf_sums(self, splits, bound):
        """Divide leaves, and return the exact sums of the derivatives over all leaves."""
        self._grower.divide(splits)
        return self._grower.leaf_sums(*self.kept["derivatives"], bound)


class PartsLearner:
    """Learner of trees on the parts, which have the scores; also their objective."""

    def __init__(self, ranker, bins, ask, n_samples):
        self.leaf_step = LOSSES[ranker.loss].leaf_step
        self._tree = ranker._winner.tree
        self._ask, self._n_samples = ask, n_samples
        self._grower = self._tree._make_grower(bins, n_samples=n_samples, parts=self._sum)
        self._request = "begin", ranker.init_ is not None

    def set_scores(self, scores):
        """Add the last tree to the scores of the parts, and set the objective."""
        values, largest = zip(*self._ask(*self._request))
        self._largest = np.max(largest, axis=0)
        self.value, self.weights = float(sum(values)), self._largest[:1]

    def fit(self, objective, random_state):
        """Return a fitted model and its hypothesis, or None if the tree has no split."""
        totals = self._sum("totals", self._largest, self._n_samples)
        tree, self._values = self._grower.grow_on_parts(totals, random_state)
        if tree.n_nodes == 1:
            return None
        return self._grower.set_fitted(copy(self._tree), tree), np.empty(0)

    def step(self, objective, hypothesis, learning_rate):
        """Return the learning rate times the factor of the leaves."""
        step = learning_rate * self.leaf_step
        self._request = "add_tree", step * self._values
        return step

    def _sum(self, *request):
        return reduce(np.add, self._ask(*request))


@_fit_context(prefer_skip_nested_validation=False)
def fit_parts(ranker, source):
    """Fit a HistGradientBoostingRanker to the documents of a source; return it."""
    with unchanged_on_error(ranker):
        check_supported(ranker)
        target, rows, n_rows = read_target(ranker, source)
        ranker._start_rounds()
        held_out, target_held_out, ranker._held_out_fraction = rows[:0], None, 0.0
        if ranker._stops_early:
            train, test = hold_out(ranker, target)
            held_out, target_held_out = rows[test], target.take(test)
            rows, target = rows[train], target.take(train)
            ranker._held_out_fraction = ranker.validation_fraction
        reader = choose(ranker, source, target, rows, n_rows)
        place = np.asarray(source.parts_of_queries(target.queries))[target.queries.codes]
        members = [np.flatnonzero(place == number) for number in np.unique(place)]
        empty = clone(ranker)
        parts = [
            Part(empty, target.take(samples)._replace(least_weight=target.unit))
            for samples in members
        ]
        groups, n_samples = [*(rows[samples] for samples in members), held_out], len(rows)
        # Codes are large: what is known of all documents is no longer needed.
        del target, rows, place, members
        tree, bins = ranker._winner.tree, reader.bins
        ask, codes, scores = source.place(parts, groups, reader, tree, bins, n_samples)
        ask("set_total_weight", sum(ask("counted_weight")))
        if ranker.linear_ is not None:
            ranker._set_winner(ranker._winner.checked(*sum(ask("values"))))
        evaluated = ()
        if target_held_out is not None:
            scores = scores if ranker.init_ is not None else np.zeros(len(scores))
            objective = ranker._make_objective(target_held_out)
            judge, codes = make_judge(ranker, objective, None, target_held_out), np.asarray(codes)
            check_varying(ranker, [(judge, target_held_out.y)])
            ranker.validation_loss_curve_ = np.array([judge(scores)])
            evaluated = judge, scores, lambda model: model.tree_.predict_codes(codes, bins.n_bins)
        learner = PartsLearner(ranker, bins, ask, n_samples)
        # The parts have the scores: those that boosting knows are of no documents.
        ranker._boost(learner, learner, np.empty(0), round_reporter(ranker, *evaluated))
        if ranker.verbose:
            done = f"{len(ranker.estimators_)} rounds"
            print_progress(type(ranker).__name__, done, ranker.stop_reason_)
    return ranker


def check_tree_ranker(ranker):
    """Raise a TypeError if an estimator cannot be fitted to parts of the documents."""
    if not isinstance(ranker, HistGradientBoostingRanker):
        raise TypeError(
            f"ranker must be a HistGradientBoostingRanker, got {type(ranker).__name__}: only its "
            "trees can be grown from parts of the documents"
        )


def read_target(ranker, source):
    """Return the target, the rows of its documents, and the number of all rows."""
    y, qid, sample_weight, head = source.read_targets()
    # The categories of other documents are not known yet.
    check_numeric(head, "replace its categories by their codes")
    ranker._check_training_X(head, may_encode=False)
    y = check_relevance(y, len(y), signed=True)
    ranker._fitted_with_qid = is_qid_given(qid, len(y))
    target, rows = DocumentTarget.check(y, Queries.from_qid(qid, len(y)), sample_weight)
    target.check_something_to_learn()
    return target, np.arange(len(y)) if rows is None else rows, len(y)


def check_supported(ranker):
    """Raise a ValueError if a parameter needs all documents in memory."""
    needs = {
        "loss": (callable(ranker.loss), "the name of a loss"),
        "init": (hasattr(ranker.init, "fit"), "'auto', 'linear' or None"),
        "scoring": (callable(ranker.scoring), "'loss' or the name of a metric"),
        "warm_start": (ranker.warm_start, "False"),
    }
    for name, (needs_all, remedy) in needs.items():
        if needs_all:
            raise ValueError(
                f"{name}={getattr(ranker, name)!r} needs all documents in one array: call fit, or "
                f"let {name} be {remedy}"
            )


def choose(ranker, source, target, rows, n_rows):
    """Choose bins, and what the race chooses, as `fit` does; return the reader for all rows."""
    n_samples, race, reader = len(rows), Race(ranker), Reader(ranker)
    drawn = np.arange(n_samples)[draw_samples(n_samples, ranker._random_state)]
    splits = race.splits(target)
    raced = [samples for split in splits for samples in split]
    needed = np.unique(np.concatenate([drawn, race.start_samples(target), *raced]))
    is_seen = np.zeros(n_rows, dtype=bool)
    is_seen[rows] = True
    X, summary = source.read(rows[needed], is_seen, reader)
    sampled = SampledRows(needed, X)
    columns, is_categorical = summary.columns(sampled[drawn]), reader.is_categorical
    reader.bins = FeatureBlocks.of_columns(
        columns, ranker.max_bins, is_categorical, summary.has_missing
    )
    ranker._set_winner(race.run(sampled, target, splits=splits))
    reader.start = ranker.init_
    return reader


def place_rows(groups, n_rows):
    """Return the number of the group of each row, -1 without one, and its position in the group."""
    place, positions = np.full((2, n_rows), -1, dtype=np.intc)
    for number, rows in enumerate(groups):
        place[rows], positions[rows] = number, np.arange(len(rows))
    return place, positions


def divide_rows(codes, scores, place, positions, n_groups):
    """Return for each group the positions of some rows, their codes and their initial scores."""
    chosen = [np.flatnonzero(place == number) for number in range(n_groups)]
    return [(positions[rows], codes[:, rows], scores[rows]) for rows in chosen]


# -- Blocks on disk.


def fit_blocks(
    ranker: HistGradientBoostingRanker,
    blocks: Iterable[tuple[Any, ...]] | Callable[[], Iterable[tuple[Any, ...]]],
    *,
    folder: str | PathLike[str] | None = None,
) -> HistGradientBoostingRanker:
    """Fit a document ranker to blocks of documents that do not fit into memory.

    The ranker has the trees that ``ranker.fit`` would grow from all blocks at once, bit for bit.
    The blocks are read three times: for `y` and `qid`; for the bounds of the bins, the start and
    the size of the trees, from the same documents as in `fit`; and to write each value as the
    number of its bin, a byte, to disk. Boosting reads these bytes. Documents of one query may be in
    several blocks.

    n documents of d features take n d bytes on disk, which the operating system keeps in memory as
    far as it can, and about 100 n for the objective; in memory, 30 n and the samples of the race,
    at most 260,000 documents.

    Parameters
    ----------
    ranker : HistGradientBoostingRanker
        Ranker, which is fitted in place. With ``loss`` or ``scoring`` as functions, an estimator as
        `init`, or ``warm_start=True``, all documents must be in memory.
    blocks : iterable of tuple, or function
        Blocks ``(X, y, qid)`` or ``(X, y, qid, sample_weight)``, as the arguments of `fit`. In data
        frames, categories must be numbers. A list can be read several times; of an iterator, pass
        the function without arguments that returns it.
    folder : path, default=None
        Folder in which one for the bytes is made, and deleted at the end; that of temporary files
        if None.

    Returns
    -------
    HistGradientBoostingRanker
        The ranker.

    Raises
    ------
    ValueError
        If a block, which the message names, is malformed, or another one the next time; or for the
        reasons of `fit`. The ranker is unchanged.
    TypeError
        If `ranker` is of another type.
    OSError
        If the disk is full. The ranker is unchanged, and the folder that was made is deleted.

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
    check_tree_ranker(ranker)
    if folder is not None and not Path(folder).is_dir():
        raise ValueError(f"folder must exist, got {str(folder)!r}: make it")
    with TemporaryDirectory(prefix="sklrank-", dir=folder) as path:
        return fit_parts(ranker, Blocks(blocks, Path(path)))


class Blocks:
    """Source of documents in blocks."""

    def __init__(self, blocks, folder):
        self._blocks, self._folder, self._sizes, self._hashes = blocks, folder, None, {}

    def _read(self, check=None):
        """Yield the first row of each block, its `X`, checked if there is `check`, and the rest."""
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
                X = X if check is None else check(X)
                some = [] if check is None else [X[:: 1 + len(X) // N_COMPARED]]
                self._compare(number, *target, *some)
                yield start, X, *target
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

    def _compare(self, number, *arrays):
        """Raise if a block has other arrays than in the readings before."""
        hashes = list(map(content_of, arrays))
        before = self._hashes.setdefault(number, hashes)
        if any(one != other for one, other in zip(before, hashes)):
            raise ValueError("it is another one than before: do not change or shuffle blocks")
        self._hashes[number] = max(before, hashes, key=len)

    def read_targets(self):
        """Return `y`, `qid`, the weights and the first block."""
        head, targets, sizes = None, [], []
        for _, X, *target in self._read():
            if targets and len(target) != len(targets[0]):
                raise ValueError("blocks: all must have sample_weight, or none")
            check_row_labels(dict(zip(("X", "y", "qid", "sample_weight"), (X, *target))))
            head = X if head is None else head
            targets.append([np.asarray(plain(each)) for each in target])
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

    def place(self, parts, groups, reader, *arguments):
        """Write the codes to disk; return a function that asks the parts one after the other."""
        for number, part in enumerate(parts):
            part.kept = Pickles(self._folder / f"part{number}", part.kept)
        place, positions = place_rows(groups, sum(self._sizes))
        files = self._open_codes(groups, reader, "w+")
        scores = [np.empty(len(rows)) for rows in groups]
        for start, X, *_ in self._read(reader.check):
            codes, of_rows = reader.encode_checked(X)
            here = slice(start, start + len(of_rows))
            pieces = divide_rows(codes, of_rows, place[here], positions[here], len(groups))
            for file, of_group, (rows, *values) in zip(files, scores, pieces):
                file[:, rows], of_group[rows] = values
        # Pages that were written are in memory until the files are closed.
        files.clear()
        files, buffers = self._open_codes(groups, reader, "r"), None
        for part in parts:
            buffers = part.set_codes(files.pop(0), scores.pop(0), *arguments, buffers)

        def ask(method, *arguments):
            return [getattr(part, method)(*arguments) for part in parts]

        return ask, *files, *scores

    def _open_codes(self, groups, reader, mode):
        """Return arrays on disk for the codes of the groups; files must not be empty."""
        files = []
        for number, rows in enumerate(groups):
            shape = len(reader.bins.codes), len(rows), BLOCK_WIDTH
            if not len(rows):
                files.append(np.empty(shape, dtype=np.uint8))
                continue
            path = self._folder / f"codes{number}"
            if mode == "w+":
                reserve(path, int(np.prod(shape)))
            files.append(np.memmap(path, np.uint8, mode.replace("w", "r"), shape=shape))
        return files


def content_of(values):
    """Return a number or text that differs if the contents of two arrays differ."""
    array = np.asarray(plain(values))
    return hash_of(array) if array.dtype == object else crc32(array.tobytes())


def reserve(path, n_bytes):
    """Make a file of this size. On a full disk, a write to a map of a sparse file is a signal."""
    with open(path, "wb") as file:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, n_bytes)
            return
        for start in range(0, n_bytes, 2**20):
            file.write(bytes(min(2**20, n_bytes - start)))


class Pickles:
    """Objects by name, in files instead of memory."""

    def __init__(self, path, content):
        self._path = path
        path.mkdir()
        for name, value in content.items():
            self[name] = value

    def __setitem__(self, name, value):
        with open(self._path / name, "wb") as file:
            pickle.dump(value, file, protocol=5)

    def __getitem__(self, name):
        with open(self._path / name, "rb") as file:
            return pickle.load(file)
