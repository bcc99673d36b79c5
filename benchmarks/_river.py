"""Adapters of river's models for several labels, and of its tree for one label."""

import math

import numpy as np
import pyximport
from river import linear_model, multioutput, preprocessing, tree
from river.tree.nodes import htc_nodes

pyximport.install()
from _river_leaf import Observers, Row  # noqa: E402


class River:
    """A river model that predicts a distribution over {False, True} for each label."""

    def __init__(self, base, chained, n_labels):
        self.labels = [f"y{i}" for i in range(n_labels)]
        if base == "trees":
            binary = tree.HoeffdingTreeClassifier()
        else:
            binary = linear_model.LogisticRegression()
        if chained:
            model = multioutput.ClassifierChain(binary, order=list(self.labels))
        else:
            model = multioutput.PerOutputClassifier(binary)
        self.model = model if base == "trees" else preprocessing.StandardScaler() | model

    def prepare(self, X, Y):
        names = [f"x{i}" for i in range(X.shape[1])]
        rows = [dict(zip(names, row)) for row in X.tolist()]
        # `Y` may have more columns than `labels`; these are ignored.
        return rows, [dict(zip(self.labels, row)) for row in Y.astype(bool).tolist()]

    def play(self, rows, relevance):
        scores = np.empty((len(rows), len(self.labels)))
        for x, y, score in zip(rows, relevance, scores):
            votes = self.model.predict_proba_one(x)
            score[:] = [self._score(votes.get(label)) for label in self.labels]
            self.model.learn_one(x, y)
        return scores

    @staticmethod
    def _score(vote):
        # An untrained model has no votes, and a tree has none for True before the first relevant
        # sample.
        return vote.get(True, 0.0) if vote else 0.5


class RiverTree:
    """A river tree for one label; entries that are NaN are missing features."""

    def __init__(self):
        self.tree = tree.HoeffdingTreeClassifier()

    def prepare(self, X, relevance):
        rows = [
            {column: value for column, value in enumerate(row) if not math.isnan(value)}
            for row in X.tolist()
        ]
        return rows, relevance.astype(bool).tolist()

    def play(self, rows, relevance):
        """Return the votes for False and True; NaN for a value that the tree has not seen."""
        votes = np.full((len(rows), 2), np.nan)
        for x, relevant, vote in zip(rows, relevance, votes):
            for value, share in self.tree.predict_proba_one(x).items():
                vote[int(value)] = share
            self.tree.learn_one(x, relevant)
        return votes

    @staticmethod
    def scores(votes):
        """Return scores as those of `River`."""
        unseen = np.isnan(votes)
        return np.where(unseen.all(axis=1), 0.5, np.where(unseen[:, 1], 0.0, votes[:, 1]))


class CompiledRiverTree(RiverTree):
    """The same tree with compiled leaves; its votes are identical."""

    def __init__(self, n_columns):
        self.tree = _Tree(n_columns)

    def prepare(self, X, relevance):
        return [Row(row) for row in np.ascontiguousarray(X)], relevance.astype(bool).tolist()


class _Tree(tree.HoeffdingTreeClassifier):
    def __init__(self, n_columns):
        super().__init__()
        self.n_columns = n_columns

    def _new_leaf(self, initial_stats=None, parent=None):
        depth = 0 if parent is None else parent.depth + 1
        return _Leaf(initial_stats or {}, depth, self.splitter, n_columns=self.n_columns)


class _Leaf(htc_nodes.LeafNaiveBayesAdaptive):
    def __init__(self, stats, depth, splitter, n_columns):
        super().__init__(stats, depth, splitter)
        self.n_columns = n_columns
        self.splitters = Observers(n_columns)

    def activate(self):
        if not self.is_active():
            self.splitters = Observers(self.n_columns)

    def update_splitters(self, x, y, w, nominal_attributes):
        self.splitters.update(x, y)


def _naive_bayes(x, counts, observers):
    """Predict as river's leaves do, by compiled sums for those of `_Leaf`."""
    if not isinstance(observers, Observers):
        return _naive_bayes_of_river(x, counts, observers)
    total = sum(counts.values())
    if total == 0:
        return {}
    logs = {
        label: observers.log_likelihood(x, label, math.log(count / total)) if count > 0 else 0.0
        for label, count in counts.items()
    }
    most = max(logs.values())
    log_sum = most + math.log(sum(math.exp(value - most) for value in logs.values()))
    return {label: math.exp(value - log_sum) for label, value in logs.items()}


# river's leaves call the function of this name in their module.
_naive_bayes_of_river = htc_nodes.do_naive_bayes_prediction
htc_nodes.do_naive_bayes_prediction = _naive_bayes
