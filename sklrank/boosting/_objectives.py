r"""Objectives of pairs of documents that are weighted by their gains.

`_boosters/rounds.py` defines labels, weights, steps and the bound that they satisfy. The objectives
of pairs of documents satisfy a bound for each document, too, in which a hypothesis may be any
number, as the votes of confidence-rated classifiers (Schapire & Singer, 1999). A pair (i, j) of
weight :math:`\gamma_{ij}`, in which i should be ranked first, adds at most

.. math:: \gamma_{ij} (e^{f_j - f_i} - 1)
          \leq \frac{\gamma_{ij}}{2} (e^{2 f_j} - 1) + \frac{\gamma_{ij}}{2} (e^{-2 f_i} - 1)

to the objective at the scores :math:`F + f`. Let :math:`A_i` be the total weight of the pairs in
which document i should be the first one, and :math:`B_i` that of the pairs in which it should be
the second one. The negative gradient is :math:`g_i = A_i - B_i`, and the *hessian*, the second
derivative of the exponential loss, is :math:`m_i = A_i + B_i`. If f has the same value for a set S
of documents (a leaf of a tree), the bound of this set is minimized by

.. math:: \frac{1}{4} \log \frac{\sum_S A_i}{\sum_S B_i} = \frac{1}{2} \tanh^{-1}(x), \quad
          x = \frac{\sum_S g_i}{\sum_S m_i}.

The value x / 2 has the same sign and is nearer to 0, so that the bound, which is convex, decreases
too. Regression trees whose hessians are :math:`m_i` predict x in a leaf. The factor 1/2 is their
`leaf_step`, and no learning rate from 0 to 2 increases the objective.

A loss of :class:`HistGradientBoostingRanker` is a class with an entry in `LOSSES`: it is made from
the gains, the target and k (from the target and k if `uses_gains` is False), and `set_scores` sets
`value`, `negative_gradient` and `hessians`. One of pairs that are weighted by their gains is
derived from `GainObjective`, whose docstring states what is left to do. The others have their
second derivatives as hessians, and `leaf_step` is 1/4: at equal scores, the hessians of the
logistic loss are twice its second derivatives, so that all steps are a quarter of Newton's.

The parameter check and the tests of gradients, weights and long queries
(`tests/boosting/test_losses.py`) follow from the entry. The name stands in the signature and the
docstring of the ranker, too (`_hist_gradient_boosting/ranker.py`), and in the table of
`docs/guide/documents.md`. A slow statement of a sum over pairs is an entry of `PAIR_WEIGHTS` in
`tests/boosting/test_hist_gradient_boosting.py`, that of another loss one in `test_values`.

Of a long query, with more than `N_EXACT` relevant documents, the pairs are not computed one by one:
a document at a score between two points of a grid of distance h is replaced by two documents at
these points, with weights that have the same mean score. For a function of two scores, this is
bilinear interpolation. That of log(1 + e^x), and that of its derivative, whose second derivatives
are smaller than the functions themselves, are within the factors 1 - h^2 / 4 and 1 + h^2 / 4 of the
true values. The loss then needs sums over the B points of the grid only: a query of n documents
takes n B operations, or fewer if there are few distinct gains.
"""

from abc import abstractmethod

import numpy as np
from scipy.special import expi, expit

from sklrank._boosters import MAX_SCORE_GAP, ROUNDING, Objective, exp_scores
from sklrank._checks import as_numbers, counted_from_least, gains_of, group_starts, places
from sklrank.boosting import _ndcg_pairs

# Discounts of higher ranks are integrated; there, this changes their sum by less than 1e-12 of it.
N_SUMMED = 2**16
# A query with more relevant documents is long: from there on, the grid takes less time.
N_EXACT = 300
# Distance of the points of their grid: errors of 1.6 % at most, and much smaller ones of sums.
GRID_STEP = 0.25
# Discounts change by less than 0.002 from one rank to the next ones.
N_ALONE = 100


class GainObjective(Objective):
    """Base class of objectives of pairs of documents that are weighted by their gains.

    Gains are divided by the ideal DCG of their query, of the `k` best documents or of all, and by
    the number of queries. Those with an ideal DCG of 0 are ignored. Weights of documents and of
    queries stand for repetitions: the weight of a pair is the product of those of its documents,
    and the documents of the ideal DCG, the queries and the sums over the documents are repeated. If
    weights of documents are below 1, the smallest one is a document, so that their scale has no
    effect on ranks. (Pairs of copies of a document, whose scores are equal, are left out.)

    A subclass defines `_evaluate` and `value`, a number that `_evaluate` sets or a property. The
    arrays that it reads are in `_order`, so that the documents of query q are the slice from
    ``_queries.starts[q]`` to ``_queries.starts[q + 1]``, by gain, the largest first. It need not
    leave out a query: those that are ignored have gains of 0 only. It computes all queries, unless
    it calls the loops of `_ndcg_pairs.pyx`: these leave out the long ones, which are in `_long`,
    as slices, for :class:`GridScores`. The base class does all else.

    Attributes
    ----------
    hessians : ndarray of shape (n_samples,)
        Sum of the weights of the pairs of each document; see above.
    leaf_step : float
        Number by which the values of the leaves of trees are multiplied.
    _exp_scores : ndarray of shape (n_samples,)
        :math:`e^F` of the scores, shifted for each query and clipped: see `exp_scores`.
    _gains : ndarray of shape (n_samples,)
        Gains, divided as above, and multiplied by the weight of the query.
    _weights : ndarray of shape (n_samples,)
        Weights of the documents. A pair has the product of two of them as a factor.
    _copies : ndarray of shape (n_samples,)
        Number of documents for which each of them stands.
    """

    leaf_step = 0.5
    uses_gains = True

    def __init__(self, gains, target, k=None):
        self._queries, self._k = target.queries, k
        queries = target.queries
        # The loops expect the documents of each query by gain, the largest first.
        self._order = np.lexsort((-gains, queries.codes))
        self._weights = target.weights[self._order]
        # Copies of less than a document would have parts of a rank, whose discounts are the same.
        self._copies = self._weights / target.unit
        ideal = ideal_dcg_of_copies(gains[self._order], self._copies, queries, k)
        total = self._total_weight(target, ideal > 0)
        factors = target.query_weights / (np.where(ideal > 0, ideal, 1.0) * total)
        self._gains = gains[self._order] * np.repeat(factors, queries.sizes)
        n_relevant = np.add.reduceat(self._gains > 0, queries.starts[:-1], dtype=np.intp)
        is_long = n_relevant > N_EXACT
        self._long = [
            slice(*queries.starts[[query, query + 1]]) for query in np.flatnonzero(is_long)
        ]
        # The loops over pairs leave out the long queries.
        self._n_relevant = np.where(is_long, 0, n_relevant)

    def set_scores(self, scores):
        self._set_exp_scores(scores)
        gradient, hessians = self._evaluate()
        negative_gradient, self.hessians = np.empty((2, len(scores)))
        negative_gradient[self._order], self.hessians[self._order] = gradient, hessians
        self._set_gradient(negative_gradient)

    def _set_exp_scores(self, scores):
        self._exp_scores = exp_scores(scores, self._queries, MAX_SCORE_GAP)[self._order]

    @abstractmethod
    def _evaluate(self):
        """Return the negative gradient and the hessians at the current scores, in `_order`."""


class NDCGObjective(GainObjective):
    r"""Bound on the expected loss of NDCG, Equation 3.11 of Valizadegan (2010).

    .. math:: \frac{1}{n} \sum_q \frac{1}{Z_q} \sum_i (2^{r_i} - 1) A_i, \quad
              A_i = \sum_{j \ne i} \frac{1}{1 + \exp(F_i - F_j)}

    Here i and j are documents of query q, :math:`Z_q` is its ideal DCG, :math:`r_i` the relevance
    of document i, :math:`F_i` its score, and :math:`1 + A_i` its expected rank. The NDCG that it
    loses is at most a multiple of :math:`A_i` (Proposition 1). In the dissertation F is twice the
    score.
    """

    def _evaluate(self):
        negative_gradient, hessians = np.empty((2, len(self._gains)))
        self.value = _ndcg_pairs.loss_and_negative_gradient(
            *self._layout(), negative_gradient, hessians
        )
        for query in self._long:
            grid = GridScores(self._exp_scores[query])
            gains, weights = self._gains[query], self._weights[query]
            gamma, sums, of_gains = grid.gamma(), grid.sum(weights), grid.sum(gains * weights)
            # A document has no pair with itself, of probability 1/2 and derivative 1/4.
            self.value += of_gains @ grid.first() @ sums - gains @ weights**2 / 2
            own, of_others = gains * grid.read(gamma @ sums), grid.read(gamma @ of_gains)
            negative_gradient[query] = weights * (own - of_others)
            hessians[query] = weights * np.maximum(own + of_others - gains * weights / 2, 0.0)
        return negative_gradient, hessians

    def _layout(self):
        documents = self._exp_scores, self._gains * self._weights, self._weights
        return *documents, self._queries.starts, self._n_relevant

    def step_weights(self, hypothesis):
        raised = hypothesis[self._order]
        correct, incorrect = _ndcg_pairs.step_weights(
            *self._layout(), raised, *np.empty((2, 3, self._queries.sizes.max()))
        )
        for query in self._long:
            grid, weights = GridScores(self._exp_scores[query]), self._weights[query]
            gamma, gains = grid.gamma(), self._gains[query]
            is_raised = weights * (raised[query] > 0)
            is_kept = weights - is_raised
            correct += grid.sum(gains * is_raised) @ gamma @ grid.sum(is_kept)
            incorrect += grid.sum(gains * is_kept) @ gamma @ grid.sum(is_raised)
        return correct, incorrect


class LogisticObjective(GainObjective):
    r"""Logistic loss of pairs of documents, weighted by the differences of their gains.

    .. math:: \frac{1}{n} \sum_q \frac{1}{Z_q} \sum_{G_i > G_j} (G_i - G_j)
              \log(1 + \exp(F_j - F_i))

    :math:`Z_q` is the ideal DCG of the query. This is the loss of RankNet (Burges et al. 2005),
    weighted as ARP-Loss2 of the LambdaLoss framework (Wang et al. 2018).
    """

    def __init__(self, gains, target, k=None):
        super().__init__(gains, target, k)
        starts = group_starts(target.queries, self._gains)
        sizes = np.diff(starts, append=len(self._gains))
        # For each document, the index of the first one with a smaller gain.
        self._ends = np.repeat(starts + sizes, sizes)

    def _layout(self):
        documents = self._exp_scores, self._gains, self._weights, self._ends
        return *documents, self._queries.starts, self._n_relevant

    def _evaluate(self):
        first, second = np.empty((2, len(self._gains)))
        self._pair_weights(first, second)
        for query in self._long:
            grid = self._grid(query)
            table = grid.first() * self._factors(grid, query)
            first[query] = self._sums(grid, query, table, of_lower=True)
            second[query] = self._sums(grid, query, table.T, of_lower=False)
        return first - second, first + second

    @property
    def value(self):
        """The objective at the current scores."""
        value = self._loss()
        for query in self._long:
            grid = self._grid(query)
            table = grid.losses() * self._factors(grid, query)
            value += self._sums(grid, query, table, of_lower=True).sum()
        return value

    def _sums(self, grid, query, table, of_lower):
        """Return for each document of a long query the sum over its pairs of terms in a table.

        The others are those of smaller gains if `of_lower` is True, otherwise those of larger ones.
        """
        weights, sums = self._weights[query], np.empty(len(grid.left))
        at_points = np.ascontiguousarray(table), grid.left, grid.right, grid.share
        documents = self._gains[query], weights, self._ends[query] - query.start
        _ndcg_pairs.sums_over_grid(*at_points, *documents, of_lower, sums)
        return weights * sums

    def _pair_weights(self, first, second):
        _ndcg_pairs.logistic_pair_weights(*self._layout(), first, second)

    def _loss(self):
        return _ndcg_pairs.logistic_loss(*self._layout())

    def _grid(self, query):
        return GridScores(self._exp_scores[query])

    def _factors(self, grid, query):
        """Return the factor of the pairs of documents of two points."""
        return 1.0

    def value_at(self, scores):
        # Without the gradient.
        self._set_exp_scores(scores)
        return self.value


class LambdaObjective(LogisticObjective):
    r"""Logistic loss of pairs of documents, weighted by the NDCG that they lose in wrong order.

    .. math:: \frac{1}{n} \sum_q \frac{1}{Z_q} \sum_{G_i > G_j} (G_i - G_j) |D_i - D_j|
              \log(1 + \exp(F_j - F_i)), \quad D_i = \frac{1}{\log_2(1 + \pi_i)}

    Here :math:`\pi_i` is the rank of document i by the current scores, and :math:`D_i` is 0 if it
    is above `k`. The derivatives are those for constant ranks: this is LambdaMART (Burges 2010).
    In long queries, the documents after the first `N_ALONE` ranks have the mean discount of the
    points of the grid.
    """

    def __init__(self, gains, target, k=None):
        super().__init__(gains, target, k)
        self._arguments = gains, target, k

    def compared(self):
        # This loss increases when documents move apart, since the weights of their pairs do.
        return LogisticObjective(*self._arguments)

    def _set_exp_scores(self, scores):
        super()._set_exp_scores(scores)
        queries = self._queries
        listed = np.lexsort((-scores, queries.codes))
        ranks = np.empty(len(scores))
        copies = np.empty(len(scores))
        copies[self._order] = self._copies
        last = _ndcg_pairs.cumulative_sums(copies[listed], queries.starts)
        first = last - copies[listed]
        # The mean discount of the copies of a document.
        sums = sum_of_discounts(last, self._k) - sum_of_discounts(first, self._k)
        ranks[listed] = places(queries)
        discounts = np.empty(len(scores))
        discounts[listed] = sums / copies[listed]
        self._discounts, self._ranks = discounts[self._order], ranks[self._order]

    def _pair_weights(self, first, second):
        _ndcg_pairs.lambda_pairs(*self._layout(), self._discounts, first, second)

    def _loss(self):
        nothing = np.empty(0)
        return _ndcg_pairs.lambda_pairs(*self._layout(), self._discounts, nothing, nothing)

    def _grid(self, query):
        return GridScores(self._exp_scores[query], self._ranks[query])

    def _factors(self, grid, query):
        counts = grid.sum(np.ones(len(grid.left)))
        discounts = grid.sum(self._discounts[query]) / np.where(counts > 0, counts, 1.0)
        return np.abs(discounts[:, np.newaxis] - discounts)


class GridScores:
    """The scores of a long query on a grid, as described above.

    If the ranks are given, the documents of the first `N_ALONE` ranks have points of their own. The
    `points` are scores; each document is at two of them, `left` and `right`, with the `share` of
    its weight at the latter.
    """

    def __init__(self, exp_scores, ranks=None):
        scores = np.log(exp_scores)
        least = scores.min()
        place = (scores - least) / GRID_STEP
        left = place.astype(np.intp)
        right, self.share = left + 1, place - left
        points = least + GRID_STEP * np.arange(left.max() + 2)
        if ranks is not None:
            alone = ranks <= N_ALONE
            left[alone] = right[alone] = len(points) + np.arange(np.count_nonzero(alone))
            points = np.append(points, scores[alone])
        is_used = np.zeros(len(points), dtype=bool)
        is_used[left] = is_used[right] = True
        numbers = (np.cumsum(is_used) - 1).astype(np.intc)
        self.left, self.right, self.points = numbers[left], numbers[right], points[is_used]

    def sum(self, values):
        """Return the sum of the values of the documents at each point."""
        of_right = values * self.share
        n_points = len(self.points)
        sums = np.bincount(self.right, of_right, n_points)
        return sums + np.bincount(self.left, values - of_right, n_points)

    def read(self, values):
        """Return the values of the points at each document."""
        return values[self.left] * (1 - self.share) + values[self.right] * self.share

    def first(self):
        """Return the probability that a document of a point (column) is before one of another."""
        return expit(self._gaps())

    def gamma(self):
        """Return the derivative of this probability."""
        first = self.first()
        return first * (1 - first)

    def losses(self):
        """Return the logistic losses if the documents of a point (row) should be first."""
        return np.logaddexp(0, self._gaps())

    def _gaps(self):
        return self.points - self.points[:, np.newaxis]


def loss_gains(gain, target):
    """Return the gains of the documents; linear ones from the least of the query, if negative."""
    y = target.y
    if isinstance(gain, str) and gain == "linear":
        y = counted_from_least(y, target.queries)
    elif y.min() < 0:
        raise ValueError(
            f"y has negative relevance, {y.min():g}, for which gain={gain!r} has no meaning; for "
            "real-valued targets use loss='spearman' or gain='linear'"
        )
    return gains_of(gain, y)


def ideal_dcg_of_copies(gains, weights, queries, k=None):
    """Return the ideal DCG of each query, in which each document is repeated by its weight.

    The gains are in descending order. A part of a document takes a part of the discount.
    """
    last = _ndcg_pairs.cumulative_sums(weights, queries.starts)
    discounts = sum_of_discounts(last, k) - sum_of_discounts(last - weights, k)
    return np.add.reduceat(gains * discounts, queries.starts[:-1])


def sum_of_discounts(n_ranks, k=None):
    """Return the sum of 1 / log2(1 + rank) over the first ranks, up to `k`.

    The numbers of ranks `(n,)` need not be integers.
    """
    n_ranks = np.minimum(n_ranks, np.inf if k is None else k)
    size = 1 + int(min(np.ceil(n_ranks.max()), N_SUMMED))
    sums = np.concatenate([[0.0], np.cumsum(1 / np.log2(1 + np.arange(1.0, size)))])
    total = np.interp(n_ranks, np.arange(size), sums)
    far = n_ranks > N_SUMMED
    if far.any():
        # The midpoint rule: the integral is a logarithmic integral.
        bounds = expi(np.log(np.array([N_SUMMED + 1.5, *(n_ranks[far] + 1.5)])))
        total[far] += np.log(2) * (bounds[1:] - bounds[0])
    return total


class CrossEntropyObjective(Objective):
    r"""Cross entropy of the shares of documents in the gains and of a softmax of their scores.

    .. math:: -\frac{1}{n} \sum_q \sum_i \phi_i \log \rho_i, \quad
              \phi_i = \frac{G_i}{\sum_j G_j}, \quad
              \rho_i = \frac{\exp(F_i)}{\sum_j \exp(F_j)}

    It is a bound on the negative logarithm of the mean NDCG (XE-NDCG of Bruch 2021, whose random
    numbers gamma are 1 here, so that the loss does not vary). Queries whose gains are all 0 are
    ignored. The hessians are those of the loss with respect to a single score.
    """

    leaf_step = 0.25
    uses_gains = True

    def __init__(self, gains, target, k=None):
        self._queries, self._weights = target.queries, target.weights
        queries, weights = target.queries, target.weights
        totals = np.bincount(queries.codes, gains * weights)
        shares = target.query_weights * (totals > 0)
        shares /= self._total_weight(target, totals > 0)
        self._query_shares, self._shares = shares, shares[queries.codes]
        self._gains = gains * weights / np.where(totals > 0, totals, 1.0)[queries.codes]
        # Documents are copies of this size. Larger ones could have shares above 1, and so negative
        # hessians and losses.
        self._unit = target.unit

    def set_scores(self, scores):
        queries = self._queries
        largest = np.maximum.reduceat(scores[queries.order], queries.starts[:-1])
        exponentials = np.exp(scores - largest[queries.codes])
        sums = np.bincount(queries.codes, self._weights * exponentials)
        self.value = self._query_shares @ (
            np.log(sums)
            - np.log(self._unit)
            + largest
            - np.bincount(queries.codes, self._gains * scores)
        )
        rho = exponentials / sums[queries.codes]
        self.hessians = self._shares * self._weights * rho * (1 - self._unit * rho)
        self._set_gradient(self._shares * (self._gains - self._weights * rho))


class RankObjective(Objective):
    r"""Squared error of the scores as predictions of normalized ranks within the query.

    .. math:: \frac{1}{n} \sum_q \frac{\sum_i (F_i - \bar F_q - t_i + \bar t_q)^2}
              {\sum_i (t_i - \bar t_q)^2}

    Here :math:`t_i` is the share of the documents of the query that are less relevant than i, plus
    half of the share of those that are as relevant, including itself, and a bar is the mean over
    the query. The loss of a query is the sum of the squared errors of the differences of all pairs,
    up to a factor; if the scores are linear functions of the ranks, the best one leaves
    :math:`1 - \rho^2`, where :math:`\rho` is the rank correlation of Spearman. Queries of equal
    relevance are ignored.
    """

    leaf_step = 0.25
    uses_gains = False

    def __init__(self, target, k=None):
        self._target = target
        self._ranks = centered_ranks(target)
        squares = self._sums(self._ranks**2)
        is_counted = squares > ROUNDING
        shares = target.query_weights * is_counted
        shares /= self._total_weight(target, is_counted)
        self._factors = (
            target.weights * (shares / np.where(is_counted, squares, 1.0))[target.queries.codes]
        )

    def _sums(self, values):
        return np.bincount(self._target.queries.codes, values * self._target.weights)

    def set_scores(self, scores):
        errors = self._ranks - scores
        means = self._sums(scores) / self._sums(np.ones(len(scores)))
        errors += means[self._target.queries.codes]
        self.value = self._factors @ errors**2
        self.hessians = 2 * self._factors
        self._set_gradient(2 * self._factors * errors)

    def held_out_value(self, scores):
        # The squared error of scores may be large though they rank well: on 20,000 documents of
        # `make_friedman1`, it chose trees of which the rank correlation was .004 smaller.
        weights = self._target.query_weights[self._target.queries.codes]
        return 1 - mean_rank_correlation(self._target, scores, weights, self._ranks)


def centered_ranks(target):
    """Return the normalized ranks of `RankObjective` minus 1/2, which is their mean."""
    queries, weights = target.queries, target.weights
    order = np.lexsort((target.y, queries.codes))
    starts = group_starts(queries, target.y[order])
    sizes = np.diff(starts, append=len(order))
    groups = np.repeat(np.arange(len(starts)), sizes)
    sums = np.bincount(groups, weights[order])
    totals = np.bincount(queries.codes, weights)
    last = _ndcg_pairs.cumulative_sums(weights[order], queries.starts)
    middle = last[starts + sizes - 1] - sums / 2
    ranks = np.empty(len(order))
    ranks[order] = middle[groups] / totals[queries.codes[order]] - 0.5
    return ranks


def mean_rank_correlation(target, scores, weights, ranks=None):
    """Return the mean of Spearman's correlation over the queries of different relevance.

    The weight of a query is the mean of those of its documents; `ranks` are the centered ones.
    """
    queries = target.queries
    ranks = centered_ranks(target) if ranks is None else ranks
    of_scores = centered_ranks(target._replace(y=scores))
    products, *squares = (
        np.bincount(queries.codes, product)
        for product in (ranks * of_scores, ranks**2, of_scores**2)
    )
    is_counted = squares[0] > ROUNDING
    if not is_counted.any():
        raise ValueError(
            "y has no query with documents of different relevance, so that no rank correlation is "
            "defined; check y and qid"
        )
    # The correlation with equal scores is 0.
    norms = np.sqrt(squares[0] * np.maximum(squares[1], ROUNDING))
    of_queries = is_counted * np.bincount(queries.codes, weights) / queries.sizes
    correlations = np.divide(products, norms, out=np.zeros(len(norms)), where=is_counted)
    return float(np.average(correlations, weights=of_queries))


class FunctionObjective(Objective):
    """Loss whose derivatives, and not its value, a function ``loss(y, scores, query)`` returns."""

    leaf_step = 0.25
    value = np.nan

    def __init__(self, loss, target):
        if (target.weights != 1).any():
            raise ValueError(
                "sample_weight has no meaning for a function as loss, whose pairs of documents are "
                "not known: pass query_weight, or leave out documents"
            )
        self._loss, self._target = loss, target

    def set_scores(self, scores):
        target = self._target
        derivatives = self._loss(target.y.copy(), scores.copy(), target.queries.codes.copy())
        if not isinstance(derivatives, (tuple, list, np.ndarray)) or len(derivatives) != 2:
            raise ValueError(
                f"loss must return the gradient and the hessian, two arrays, got {derivatives!r}"
            )
        shares = target.query_weights / target.query_weights.sum()
        gradient, hessians = (
            self._check(name, values, len(scores)) * shares[target.queries.codes]
            for name, values in zip(("gradient", "hessian"), derivatives)
        )
        if not (hessians > 0).all():
            raise ValueError(
                f"loss must return a hessian that is positive, got {hessians.min():g}; add a small "
                "number, such as 1e-6"
            )
        self.hessians = hessians
        self._set_gradient(-gradient)

    def _check(self, name, values, n_samples):
        values = as_numbers(values, f"the {name} of loss", "numbers").astype(np.float64)
        if values.shape != (n_samples,):
            raise ValueError(
                f"loss must return a {name} of shape ({n_samples},), one number for each document, "
                f"got the shape {values.shape}"
            )
        if not np.isfinite(values).all():
            raise ValueError(f"loss must return a finite {name}, got NaN or infinity")
        return values


LOSSES = {
    "logistic": LogisticObjective,
    "lambda": LambdaObjective,
    "expected-ndcg": NDCGObjective,
    "xe-ndcg": CrossEntropyObjective,
    "spearman": RankObjective,
}
