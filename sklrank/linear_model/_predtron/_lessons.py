"""What there is to learn: the labels of rounds, made ready for the compiled loop.

Lessons have `n_rounds`, and for some rounds, a slice or an array of their numbers,

- ``rows(rounds)``: their rows of X, and where those of each query start (None: a row a round);
- ``task(rounds)``: what judges their scores;
- ``extremes(rounds)``: the least nonzero and the greatest loss of each, `(n, 2)`;
- where `watch` is not None, ``record(rounds, scores)``: takes note of the scores that would have
  predicted them before they were learnt from.
"""

from functools import partial

import numpy as np

from sklrank._relevance_lists import lists_of
from sklrank.linear_model._predtron._class_task import ClassTask
from sklrank.linear_model._predtron._losses import extremes
from sklrank.linear_model._predtron._ranking_losses import discounts_of, gains_of, ranking_extremes
from sklrank.linear_model._predtron._ranking_task import RankingTask
from sklrank.linear_model._predtron._subset_task import SubsetTask

__all__ = ["ClassLessons", "RankingLessons", "SubsetLessons"]


class ClassLessons:
    """Rows of one class each.

    Parameters
    ----------
    costs : ndarray of shape (n_classes, n_predictions)
        What predictions cost, see `class_costs`.
    labels : ndarray of intp, shape (n_samples,)
        Classes of the rows, as indices.
    loss_driven : bool
        Whether to be loss-driven.
    watch : object, default=None
        With a method ``record(scores, labels)``, for the rounds of the first pass.
    """

    def __init__(self, costs, labels, loss_driven, watch=None):
        self.n_rounds, self.watch = len(labels), watch
        self._costs, self._labels, self._loss_driven = costs, labels, loss_driven

    def rows(self, rounds):
        """The rows themselves."""
        return rounds, None

    def task(self, rounds):
        """Judges classes."""
        return ClassTask(self._costs, self._labels[rounds], self._loss_driven)

    def record(self, rounds, scores):
        """Tell who watches."""
        self.watch.record(scores, self._labels[rounds])

    def extremes(self, rounds):
        """Those of the whole table, for each round."""
        return np.tile(extremes(self._costs), (len(self._labels[rounds]), 1))


class SubsetLessons:
    """Rows of a set of labels each.

    Parameters
    ----------
    indptr, labels : ndarrays of intp
        Relevance lists of the rows.
    losses : SubsetLosses
        What sets cost.
    loss_driven : bool
        Whether to be loss-driven.
    """

    watch = None

    def __init__(self, indptr, labels, losses, loss_driven):
        losses.cover(np.diff(indptr))
        self.n_rounds = len(indptr) - 1
        self._indptr, self._labels, self._losses, self._loss_driven = (
            indptr,
            labels,
            losses,
            loss_driven,
        )

    def rows(self, rounds):
        """The rows themselves."""
        return rounds, None

    def task(self, rounds):
        """Judges sets of labels."""
        starts, items = lists_of(self._indptr, rounds)
        losses = self._losses
        return SubsetTask(
            starts,
            self._labels[items],
            losses.n_labels,
            losses.offsets,
            losses.values,
            self._loss_driven,
        )

    def extremes(self, rounds):
        """Those of the sets for as many relevant labels."""
        sizes = np.diff(self._indptr)[rounds]
        of_size = {size: extremes(self._losses.table(size)) for size in np.unique(sizes)}
        return np.array([of_size[size] for size in sizes])


class RankingLessons:
    """Lists of items to rank: the labels of a row, or the documents of a query.

    Parameters
    ----------
    relevance : ndarray of shape (n_items,)
        Grades of the items, those of round i at `starts[i]:starts[i + 1]`.
    starts : ndarray of intp, shape (n_rounds + 1,)
        Where the items of each round start.
    loss : object
        What `make_ranking_loss` returns.
    representation : callable
        Makes the table of f for a number of positions.
    loss_driven : bool
        Whether to be loss-driven.
    documents : ndarray of intp, shape (n_items,), default=None
        The row that an item is. None: the items of a round are the labels of its row.
    """

    watch = None

    def __init__(self, relevance, starts, loss, representation, loss_driven, documents=None):
        self.n_rounds = len(starts) - 1
        self._starts, self._documents = starts, documents
        self._gains = gains_of(loss, relevance, starts)
        sizes = np.unique(np.diff(starts))
        self._discounts = _of_all_sizes("loss", partial(discounts_of, loss), sizes)
        position_values = _of_all_sizes("representation", representation, sizes)
        self._task = RankingTask(self._gains, starts, self._discounts, position_values, loss_driven)

    def rows(self, rounds):
        """Rows; of queries those of their documents."""
        if self._documents is None:
            return rounds, None
        starts, items = lists_of(self._starts, rounds)
        return self._documents[items], starts

    def task(self, rounds):
        """Judges rankings, until that of other rounds is asked for."""
        self._task.choose(np.arange(self.n_rounds)[rounds])
        return self._task

    def extremes(self, rounds):
        """Those of all rankings of the round's items."""
        firsts, lasts = self._starts[:-1][rounds], self._starts[1:][rounds]
        return np.array(
            [
                ranking_extremes(self._gains[first:last], self._discounts)
                for first, last in zip(firsts, lasts)
            ]
        )


def _of_all_sizes(name, values_of, sizes):
    """Values at the positions of the longest list, which serve the shorter ones."""
    most = max(sizes, default=1)
    values = values_of(most)
    # One more, since longer lists may come in another call.
    for size in (*sizes, most + 1):
        if not np.array_equal(values_of(size)[:most], values[:size]):
            raise ValueError(
                f"{name} must have the same value at a position however many there are, got others "
                f"for {size} positions than for {most}"
            )
    return values
