"""Label ranker for rankings whose last labels stand in one order for all samples.

Rankings are often made from scores, such as predicted probabilities of classes. The smallest scores
of a sample are then equal, because they were rounded or are 0, and a sort leaves the labels that
have them in the order of the columns. The end of such a ranking, its *tail*, tells nothing about
the sample. A model that is fitted to it learns the wrong scores.
"""

from __future__ import annotations

from numbers import Real

import numpy as np
from scipy.special import log_softmax
from sklearn.utils.validation import check_is_fitted

from sklrank._rankings import close_ranks, relative_positions, strict_positions
from sklrank._sklearn import Interval, _fit_context
from sklrank._validation import unchanged_on_error
from sklrank.label_ranking._label_ranker import DenseLabelRanker
from sklrank.label_ranking._pairwise import compare_pairs, pairs_of_labels
from sklrank.label_ranking._plackett_luce import PlackettLuceRanker
from sklrank.label_ranking._plackett_luce_likelihood import expected_positions

__all__ = ["TiedTailRanker"]

# Shorter tails are not tied: two labels are in the common order in half of all rankings.
_MIN_TAIL = 3
# Number of candidates for the floor.
_N_FLOORS = 40
# Number of samples from which the common order and the floor are chosen.
_MANY_SAMPLES = 500


class TiedTailRanker(DenseLabelRanker):
    r"""Plackett-Luce model of rankings that end in an order common to all samples.

    The tail of a ranking is its longest end in the common order of the labels, the one that makes
    the tails long. The first label of the ranking is no part of it. The labels of tails of three
    and more are tied, and a :class:`PlackettLuceRanker` is fitted to these rankings. Let
    :math:`p_l(x)` be the probability that label l is ranked first. Labels whose :math:`\log p_l(x)`
    is at most a *floor* are ranked last, in the common order. The floor maximizes the number of
    pairs of labels in the right order in the training data; it may be :math:`-\infty`.

    Parameters
    ----------
    alpha : float, default=0.001
        Penalty of the Plackett-Luce model. It is weak, because rankings that were made from scores
        have no noise.

    Attributes
    ----------
    tail_ranks_ : ndarray of int of shape (n_labels,)
        Rank of each label in the common order, from 0.
    model_ : PlackettLuceRanker
        The model.
    floor_ : float
        Natural logarithm of the probability up to which labels are in the common order.
    classes_ : ndarray of shape (n_labels,)
        The labels.
    n_features_in_ : int
        Number of features.
    """

    _doc_link_module = ""  # private, without a page in the documentation
    _parameter_constraints: dict = {"alpha": [Interval(Real, 0, None, closed="neither")]}

    def __init__(self, alpha=0.001):
        self.alpha = alpha

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y):
        """Learn the common order, the model and the floor.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples, n_labels)
            Positions of the labels. NaN marks a label that is not ranked.

        Returns
        -------
        self : object
            The fitted ranker.
        """
        with unchanged_on_error(self):
            return self._fit(X, y)

    def _fit_rankings(self, X, positions, sample_weight):
        some = np.linspace(0, len(X) - 1, min(len(X), _MANY_SAMPLES)).astype(np.intp)
        self.tail_ranks_ = common_tail_ranks(positions[some])
        ranker = PlackettLuceRanker(alpha=self.alpha, random_state=0)
        for task in self._track([ranker], "ranker", state=lambda: None, may_stop=False):
            self.model_ = task.fit(X, tie_tails(positions, self.tail_ranks_))
        log_probabilities = self._log_probabilities(X[some])
        shares = np.linspace(0.02, 0.98, _N_FLOORS)
        floors = [-np.inf, *np.quantile(log_probabilities, shares).tolist()]
        pairs = pairs_of_labels(positions.shape[1])
        wins, compared, _ = compare_pairs(positions[some], pairs)
        orders = compared * (2.0 * wins - 1.0)

        def n_agreements(floor):
            first, second = self._scores(log_probabilities, floor)[:, pairs].transpose(2, 0, 1)
            return np.sum(np.sign(first - second) * orders)

        self.floor_ = max(floors, key=n_agreements)

    def _log_probabilities(self, X):
        return log_softmax(self.model_.decision_function(X), axis=1)

    def _scores(self, log_probabilities, floor):
        """Return the negative expected positions of the labels."""
        below = log_probabilities <= floor
        scores = -expected_positions(np.maximum(log_probabilities, floor))
        # Labels at the floor have equal expected positions. Their order is the common one.
        places = np.cumsum(below[:, np.argsort(self.tail_ranks_)], axis=1)[:, self.tail_ranks_]
        mean_place = (below.sum(axis=1, keepdims=True) + 1) / 2
        return scores - np.where(below, places - mean_place, 0.0)

    def _label_scores(self, X):
        check_is_fitted(self)
        X = self._check_rows(X, reset=False)
        return self._scores(self._log_probabilities(X), self.floor_)


def tail_lengths(orders, n_ranked, ranks):
    """Return the number of last labels that are in the order of the ranks.

    `orders`, of shape `(n_samples, n_labels)`, lists the ranked labels of each sample, of which
    there are `n_ranked`, from last to first.
    """
    found = ranks[orders]
    in_order = found[:, 1:] < found[:, :-1]
    in_order &= np.arange(1, orders.shape[1]) < n_ranked[:, np.newaxis]
    return np.minimum(1 + np.cumprod(in_order, axis=1).sum(axis=1), n_ranked)


def common_tail_ranks(positions):
    """Return the rank of each label, from 0, in the order that makes the tails long.

    The search has two starts: the labels in the order of their mean positions, and in the order in
    which most pairs of labels are in the worse halves of the rankings. It swaps labels that are
    adjacent in the common order as long as the sum of the lengths of the tails increases.
    """
    relative = relative_positions(positions)
    ranked = ~np.isnan(positions)
    means = np.where(ranked, relative, 0.0).sum(axis=0) / np.maximum(ranked.sum(axis=0), 1)
    worse = np.where(relative > 0.5, relative, np.nan)
    before = (worse[:, :, np.newaxis] < worse[:, np.newaxis]).sum(axis=0)
    shares = (before - before.T) / (before + before.T + 1)
    starts = [np.argsort(key, kind="stable") for key in (means, -shares.sum(axis=1))]
    found = [swap_neighbors(positions, by_rank) for by_rank in starts]
    return max(
        found, key=lambda ranks: tail_lengths(*last_to_first(positions, ranks)[:2], ranks).sum()
    )


def swap_neighbors(positions, by_rank):
    """Return the ranks of the labels after swaps; `by_rank` lists the labels before."""
    ranks = np.argsort(by_rank)
    orders, n_ranked, places = last_to_first(positions, ranks)
    improved = True
    while improved:
        improved = False
        for i in range(len(ranks) - 1):
            first, second = by_rank[i : i + 2]
            # Only samples in which the two labels are neighbors have another tail after a swap.
            rows = np.flatnonzero(np.abs(places[:, first] - places[:, second]) == 1)
            length = tail_lengths(orders[rows], n_ranked[rows], ranks).sum()
            ranks[[first, second]] = i + 1, i
            if tail_lengths(orders[rows], n_ranked[rows], ranks).sum() > length:
                by_rank[i : i + 2] = second, first
                improved = True
            else:
                ranks[[first, second]] = i, i + 1
    return ranks


def last_to_first(positions, ranks):
    """Return the labels of each sample from last to first, their number, and their places.

    The first two are those of `tail_lengths`. The places are the indices of the labels. They are
    not defined for labels that are not ranked. Tied labels are in the order of the ranks.
    """
    by_rank = np.argsort(ranks)
    values = np.where(np.isnan(positions), -np.inf, positions)
    places = strict_positions(values[:, by_rank[::-1]])[:, ::-1][:, ranks].astype(np.intp) - 1
    return np.argsort(places, axis=1), (~np.isnan(positions)).sum(axis=1), places


def tie_tails(positions, ranks):
    """Return positions in which the labels of each tail are tied, except for the first label."""
    orders, n_ranked, _ = last_to_first(positions, ranks)
    lengths = np.minimum(tail_lengths(orders, n_ranked, ranks), n_ranked - 1)
    lengths[lengths < _MIN_TAIL] = 0
    starts = (n_ranked - lengths)[:, np.newaxis]
    places = np.arange(1, positions.shape[1])
    return close_ranks(positions, (places > starts) & (places < n_ranked[:, np.newaxis]))
