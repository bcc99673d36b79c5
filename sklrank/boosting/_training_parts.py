"""Boosting on documents in parts, which are on disk or on the workers of a cluster.

A :class:`Part` has the documents of some queries: the codes of their features, their objective and
their scores. It computes derivatives, and histograms of the nodes of a tree. The process that
boosts adds up the histograms, and chooses the splits (see `tree/_grower.pyx`). All sums on which a
tree depends are exact, so that the trees are those of one process with all documents in memory.

What is chosen before the first round depends on few documents: those whose quantiles are the
thresholds of the bins, those that race, and those to which linear scores are fitted. They are the
same as in memory, as they are drawn by their numbers.

A *source* has the documents, in rows that are numbered. Its methods are

- ``read_targets()``: return `y`, `qid`, `sample_weight` or None, and the first rows of `X`;
- ``read(rows, is_seen, reader)``: return these rows of `X` (sorted numbers), and the
  :class:`Summary` of those in a mask; see :class:`Reader`;
- ``parts_of_queries(queries)``: return the number of the part of each query;
- ``place(parts, members, held_out, reader, *arguments)``: call the method `set_codes` of each
  :class:`Part` with the codes and initial scores of its rows, and these arguments, where the part
  shall be. Return the function ``ask(method, *arguments)``, which returns the results of a method
  of all parts as a list, and the codes and initial scores of the rows `held_out`.
"""

from collections import Counter
from copy import copy
from functools import reduce
from typing import NamedTuple

import numpy as np
from sklearn.base import clone

from sklrank._binning import FeatureBlocks, distinct_values, draw_samples
from sklrank._queries import Queries, check_relevance, is_qid_given
from sklrank._sklearn import print_progress
from sklrank._validation import check_numeric
from sklrank._weak_learners import Learner
from sklrank.boosting._document_ranker import DocumentTarget
from sklrank.boosting._objectives import LOSSES
from sklrank.boosting._tree_race import scores_of


class CodedRows(NamedTuple):
    """Documents of which only codes and initial scores are known."""

    bins: FeatureBlocks
    scores: np.ndarray


class KnownRows(NamedTuple):
    """Some documents in memory, which are indexed by their number among all."""

    samples: np.ndarray
    """Sorted numbers of the documents."""
    X: np.ndarray

    def __getitem__(self, samples):
        return self.X[np.searchsorted(self.samples, samples)]


class Summary:
    """Facts about all documents that determine the bins, besides drawn values.

    Attributes
    ----------
    has_missing : ndarray of bool of shape (n_features,)
        Whether a value is missing.
    counts : dict of (int to Counter)
        Number of documents of each category of the categorical features.
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
    """Checks and encodes blocks of rows, also in other processes.

    Parameters
    ----------
    ranker : HistGradientBoostingRanker
        Ranker that knows the features of its documents.
    is_categorical : ndarray of bool of shape (n_features,)
        Whether a feature is categorical.
    """

    def __init__(self, ranker, is_categorical):
        self._ranker = clone(ranker)  # without the trees of an earlier fit
        for name in ("n_features_in_", "feature_names_in_", "_encoder", "_row_checks"):
            if name in vars(ranker):
                setattr(self._ranker, name, getattr(ranker, name))
        self._is_categorical = is_categorical
        self.bins = self.start = None

    def check(self, X):
        """Return rows as an array."""
        return self._ranker._check_documents(X, reset=False)

    def summarize(self, X, is_seen):
        """Return the summary of the checked rows in a mask."""
        return Summary(X if is_seen.all() else X[is_seen], self._is_categorical)

    def encode(self, X):
        """Return the codes and the initial scores of rows."""
        X = self.check(X)
        return self.bins.encode(X).codes, scores_of(self.start, X)


class Part:
    """Documents of some queries in training.

    Parameters
    ----------
    ranker : HistGradientBoostingRanker
        Ranker with the parameters of the objective.
    target : DocumentTarget
        Target of the documents.

    Attributes
    ----------
    kept : dict or similar
        Holds the target, the objective, the scores and the derivatives between the calls.
    """

    def __init__(self, ranker, target):
        self._ranker, self.kept = ranker, {"target": target}

    def keep_in(self, kept):
        """Hold all arrays in another object than a dict."""
        kept["target"] = self.kept["target"]
        self.kept = kept

    def set_codes(self, codes, scores, tree, bins, n_samples, buffers=None):
        """Set the codes of the documents, and the scores from which they start.

        `tree` has the parameters of the trees; `n_samples` is the number of documents of all parts.
        Growers that take turns may share buffers, which are returned.
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
        objective, scores = self.kept["objective"], self.kept["scores"]
        return np.array([objective.value_at(each) for each in (scores, np.zeros(len(scores)))])

    def begin(self, has_start):
        """Start from the initial scores, or from 0; return the same as `add_tree`."""
        scores = self.kept["scores"]
        return self._set_scores(scores if has_start else np.zeros(len(scores)))

    def add_tree(self, values):
        """Add the values of the leaves to the scores.

        Return the objective, and the largest gradient and hessian.
        """
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


class PartsLearner(Learner):
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


def fit_parts(ranker, source):
    """Fit a HistGradientBoostingRanker to the documents of a source."""
    check_supported(ranker)
    y, qid, sample_weight, head = source.read_targets()
    # The categories of other documents are not known yet.
    check_numeric(head, "replace its categories by their codes")
    head = ranker._check_training_X(head, may_encode=False)
    y = check_relevance(y, len(y), signed=True)
    queries = Queries.from_qid(qid, len(y))
    ranker._fitted_with_qid = is_qid_given(qid, len(y))
    target, rows = DocumentTarget.check(y, queries, sample_weight)
    rows = np.arange(len(y)) if rows is None else rows
    target.check_something_to_learn()
    ranker._start_rounds()
    held_out, target_held_out, ranker._held_out_fraction = rows[:0], None, 0.0
    if ranker._stops_early:
        train, test = ranker._split(target)
        held_out, target_held_out = rows[test], target.take(test)
        rows, target = rows[train], target.take(train)
        ranker._held_out_fraction = ranker.validation_fraction
    reader, bins = choose(ranker, source, target, rows, len(y), head)
    codes = target.queries.codes
    place = np.asarray(source.parts_of_queries(target.queries))[codes]
    members = [np.flatnonzero(place == number) for number in np.unique(place)]
    empty = clone(ranker)
    targets = [target.take(samples)._replace(least_weight=target.unit) for samples in members]
    parts = [Part(empty, each) for each in targets]
    members, n_samples = [rows[samples] for samples in members], len(rows)
    # Codes are large: what is known of all documents is no longer needed.
    del y, qid, sample_weight, queries, target, targets, rows, codes, place
    arguments = ranker._winner.tree, bins, n_samples
    ask, codes, scores = source.place(parts, members, held_out, reader, *arguments)
    ask("set_total_weight", sum(ask("counted_weight")))
    if ranker.linear_ is not None:
        ranker._keep_start(*sum(ask("values")))
    evaluated = None
    if target_held_out is not None:
        scores = scores if ranker.init_ is not None else np.zeros(len(scores))
        evaluated = CodedRows(bins.with_codes(codes), scores), target_held_out
    learner = PartsLearner(ranker, bins, ask, n_samples)
    # The parts have the scores: those that boosting knows are of no documents.
    ranker._boost(learner, learner, np.empty(0), ranker._after_round(evaluated))
    if ranker.verbose:
        done = f"{len(ranker.estimators_)} rounds"
        print_progress(type(ranker).__name__, done, ranker.stop_reason_)


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


def choose(ranker, source, target, rows, n_rows, head):
    """Choose bins, and what the race chooses, as `fit` does; return a reader and the bins."""
    n_samples = len(rows)
    trees = ranker._make_trees(n_samples)
    is_categorical = trees[0]._categorical_mask(head.shape[1])
    drawn = np.arange(n_samples)[draw_samples(n_samples, ranker._random_state)]
    data = ranker._race_data(head, target, trees[0])
    splits = data.splits()
    raced = [samples for split in splits for samples in split]
    needed = np.unique(np.concatenate([drawn, data.start_samples(), *raced]))
    is_seen = np.zeros(n_rows, dtype=bool)
    is_seen[rows] = True
    reader = Reader(ranker, is_categorical)
    X, summary = source.read(rows[needed], is_seen, reader)
    known = KnownRows(needed, X)
    columns = summary.columns(known[drawn])
    bins = FeatureBlocks.of_columns(columns, ranker.max_bins, is_categorical, summary.has_missing)
    ranker._run_race(trees, data._replace(X=known), splits=splits)
    reader.bins, reader.start = bins, ranker.init_
    return reader, bins
