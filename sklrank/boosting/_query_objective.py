"""What AdaRank weighs: whole queries, by how badly they are ranked so far."""

import numpy as np

from sklrank.boosting._objective import Objective
from sklrank.metrics._conventions import choose
from sklrank.metrics._document_ranking import average_precision_of_queries, ndcg_of_queries

__all__ = ["METRICS", "STEPS", "QueryObjective"]

METRICS = {"ndcg": ndcg_of_queries, "map": average_precision_of_queries}


def _masses_of_xu_li(weights, performance):
    return weights @ (1 + performance), weights @ (1 - performance)


def _masses_as_printed(weights, performance):
    return weights @ performance, weights @ (1 - performance)


# From weights and performances of the queries to what a step wins and loses.
STEPS = {"xu-li": _masses_of_xu_li, "printed": _masses_as_printed}


class QueryObjective(Objective):
    r"""The mean of :math:`\exp(-E(q, F))` over queries, with E the metric of a query's ranking.

    The weight of a query is its share of that (Algorithm 4 of Valizadegan 2010, line 7). A document
    has an equal share of its query's weight, and its relevance for a label. Steps are those of the
    papers: that they lower the objective is likely, but no bound says so.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Relevance.
    queries : Queries
        Which documents are ranked against each other. Those without a relevant document count
        nowhere.
    metric : {"ndcg", "map"}
        What is measured.
    k : int or None
        How many documents of a query count, from the top.
    step_rule : {"xu-li", "printed"}
        See `STEPS`.
    beats_chance : bool, default=False
        Whether the step is 0 of what ranks no better under the weights than if all were tied: the
        papers' masses are in favour of any hypothesis, also of one that predicts a constant. A
        feature may rank worse by itself, and yet lower the objective beside others.
    """

    def __init__(self, y, queries, metric, k, step_rule, *, beats_chance=False):
        self._queries = queries
        self._metric = METRICS[metric](queries, y, choose("standard", gain="exponential"), k)
        self._masses = STEPS[step_rule]
        self._beats_chance = beats_chance
        chance = self._metric(np.zeros(len(y)))
        self._counts = ~np.isnan(chance)
        if not self._counts.any():
            raise ValueError(
                f"y has no document whose gain differs from 0 under metric={metric!r}, its largest "
                f"grade is {y.max():g}: let the grades be 1 or more where relevant"
            )
        self._chance = chance[self._counts]
        self.labels = np.unique(y, return_inverse=True)[1]

    def performance(self, scores):
        """The metric of each query that counts, from 0 to 1."""
        return self._metric(scores)[self._counts]

    def move_to(self, scores):
        self.scores = scores
        losses = np.exp(-self.performance(scores))
        self.value = losses.mean()
        self.query_weights = losses / losses.sum()
        weights = np.zeros(self._queries.n_queries)
        weights[self._counts] = self.query_weights / self._queries.sizes[self._counts]
        self.weights = weights[self._queries.codes]

    def step(self, hypothesis):
        performance = self.performance(hypothesis)
        if self._beats_chance and not self.query_weights @ (performance - self._chance) > 0:
            return 0.0
        return self.step_of(*self.masses_of(performance))

    def masses(self, hypothesis):
        return self.masses_of(self.performance(hypothesis))

    def masses_of(self, performance):
        """The masses of a hypothesis of known performance."""
        return self._masses(self.query_weights, performance)

    def value_at(self, scores):
        """The objective at other scores."""
        return np.exp(-self.performance(scores)).mean()
