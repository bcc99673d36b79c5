r"""Log-likelihood of rankings in the Plackett-Luce model, its gradient, and probabilities.

A label with score :math:`s_l` is chosen next, among the labels that are left, with a probability
proportional to :math:`\exp(s_l)`. The log-likelihood of a ranking is a sum over its labels,

.. math:: \sum_l s_l - \log \sum_{m \in R_l} e^{s_m}.

Without ties, the risk set :math:`R_l` contains the label l and all ranked labels after it. Labels
that are not ranked are in no risk set: the ranking of the other labels then has its marginal
probability. With ties,

- "exclude": the risk set contains the label l and the labels after the tie. A label is not compared
  with the labels that it is tied with;
- "breslow": the risk set contains all tied labels and the labels after them, as in Breslow's
  approximation of Cox's partial likelihood;
- "davidson": a set C of the labels that are left is chosen next. The probability of k labels is
  proportional to :math:`\delta_k \exp(\sum_{l \in C} s_l / k)`. Here :math:`\delta_1` is 1, and
  :math:`\delta_k`, the prevalence of ties of k labels, a parameter. The sum over all such sets is
  the elementary symmetric polynomial of degree k of :math:`\exp(s_l / k)`, by a recursion.

Sums are computed from logarithms where the differences between scores are large, so that none
overflows. `PenalizedLikelihood` is the likelihood of linear scores as a function of their weights.
It computes the scores of the ranked labels only, in tables of `RankedLabels`.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.linalg import block_diag
from scipy.special import expit, log_softmax
from sklearn.utils import gen_batches

from sklrank._checks import stored_positions
from sklrank._estimators import minimize_smooth

TIES = ("exclude", "breslow", "davidson")
# The scaled problem takes some ten to a hundred iterations of L-BFGS.
_MAX_ITER = 1000
# Number of samples whose pairs of labels, or places, are computed at once.
_BLOCK = 1000
# Number of entries of a table, whose temporary arrays then fit into a cache.
_TABLE = 2**15
# Largest difference from the score of the first label whose exponential is not near an overflow,
# nor the quotient of two of them: exp(709) is the largest number in double precision.
_SPAN = 300.0


class RankingLikelihood:
    """Log-likelihood of given rankings, as a function of the scores of the labels.

    Positions that are NaN mark labels that are not ranked. With ``ties="davidson"``, `orders` are
    the numbers of tied labels, 2 or more, that have a parameter; if None, those of the rankings.
    The likelihoods of the `choices` are multiplied: of "all", of the "first" of each ranking, or of
    the "later" ones.

    The following have the shape `(n_samples, n_labels)`: `order`, the entries of the labels in the
    flattened array, from best to worst, those that are not ranked last; the masks of the places in
    it whose labels are `ranked`, and `counted` in the `choices`. Tied labels are at the places
    ``starts <= place < ends``, which are None if there are no ties.
    """

    def __init__(self, positions, ties, orders=None, choices="all"):
        self.ties = ties
        order = np.argsort(positions, axis=1, kind="stable")
        self.order = order + np.arange(0, order.size, order.shape[1])[:, np.newaxis]
        ordered = self._ordered(positions)
        self.ranked = self.counted = ~np.isnan(ordered)
        tied = ordered[:, 1:] == ordered[:, :-1]
        self.starts = self.ends = None
        if tied.any() or ties == "davidson":
            places = np.arange(positions.shape[1])
            starts_here, ends_here = np.ones((2, *positions.shape), dtype=bool)
            starts_here[:, 1:] = ends_here[:, :-1] = ~tied
            self.starts = np.maximum.accumulate(np.where(starts_here, places, 0), axis=1)
            ends = np.where(ends_here, places + 1, len(places))
            self.ends = np.minimum.accumulate(ends[:, ::-1], axis=1)[:, ::-1]
        if choices != "all":
            first = ordered == ordered[:, :1]
            self.counted = self.ranked & (first if choices == "first" else ~first)
        self.orders, self.impossible = (), 0.0
        if ties == "davidson":
            sizes = np.where(self.ranked, self.ends - self.starts, 1)
            self.orders = tuple(np.unique(sizes[sizes > 1]).tolist()) if orders is None else orders
            possible = np.isin(sizes, (1, *self.orders)).all(axis=1)
            self.impossible = np.where(possible, 0.0, -np.inf)

    def log_likelihoods(self, scores, log_prevalences=()):
        """Return the log-likelihood of each ranking, of shape `(n_samples,)`."""
        return self.with_gradient(scores, log_prevalences)[0] + self.impossible

    def with_gradient(self, scores, log_prevalences=()):
        """Return the log-likelihoods `(n_samples,)` and their gradients.

        These are by the scores, `(n_samples, n_labels)`, and by the logarithms of the prevalences
        of ties, `(n_samples, n_orders)`.
        """
        if self.ties == "davidson":
            return self._davidson(scores, log_prevalences)
        scores = self._ordered(scores)
        # Differences from the first label, which are all that matters.
        shifted = np.where(self.ranked, scores - scores[:, :1], 0.0)
        is_wide = np.abs(shifted).max(initial=0.0) > _SPAN
        terms = np.exp(shifted.clip(-_SPAN, _SPAN) if is_wide else shifted) * self.ranked
        sums = np.where(self.counted, self._risk_sums(terms), 1.0)
        values = np.sum(shifted * self.counted - np.log(sums), axis=1)
        # Label m is in the risk sets of the labels before it, which are those of the first places.
        inverse = self.counted / sums
        before = np.cumsum(inverse, axis=1)
        if self.ties == "breslow" and self.ends is not None:
            before = np.take_along_axis(before, self.ends - 1, axis=1)
        elif self.ends is not None:
            before = np.pad(before, ((0, 0), (1, 0)))  # No label is before the first place.
            before = np.take_along_axis(before, self.starts, axis=1) + inverse
        expected = terms * before
        if is_wide:
            rows = np.flatnonzero((np.abs(shifted) > _SPAN).any(axis=1))
            for part, values[part], chances in self._choices(scores, rows):
                expected[part] = chances.sum(axis=1)
        return values, self._by_label(self.counted - expected), np.empty((len(values), 0))

    def curvatures(self, scores, log_prevalences=()):
        """Yield parts of the rows with the negative second derivatives of the log-likelihoods.

        They are those by the scores and the logarithms of the prevalences, of shape
        `(n_rows, n_labels + n_orders, n_labels + n_orders)`.
        """
        n_samples, n_labels = scores.shape
        if self.ties != "davidson":
            for part, _, chances in self._choices(self._ordered(scores), np.arange(n_samples)):
                places = np.argsort(self.order[part], axis=1)
                chances = np.take_along_axis(chances, places[:, np.newaxis], axis=2)
                # The sum of the covariances of the choices.
                found = -np.swapaxes(chances, 1, 2) @ chances
                np.einsum("ijj->ij", found)[...] += chances.sum(axis=1)
                yield part, found
            return

        def gradients(move):
            moved = scores + move[:n_labels], log_prevalences + move[n_labels:]
            return np.hstack(self._davidson(*moved)[1:])

        # The relative error of the differences is about the square of the step; rounding errors are
        # about 1e-11.
        moves = 1e-4 * np.eye(n_labels + len(self.orders))
        found = np.stack([gradients(-move) - gradients(move) for move in moves], axis=1) / 2e-4
        yield np.arange(n_samples), 0.5 * (found + np.swapaxes(found, 1, 2))

    def _risk_sums(self, terms):
        """Return the sums over the risk sets of terms of the labels in their order."""
        remaining = np.cumsum(terms[:, ::-1], axis=1)[:, ::-1]
        if self.starts is None:
            return remaining
        if self.ties == "breslow":
            return np.take_along_axis(remaining, self.starts, axis=1)
        remaining = np.pad(remaining, ((0, 0), (0, 1)))
        return terms + np.take_along_axis(remaining, self.ends, axis=1)

    def _choices(self, scores, rows):
        """Yield parts of the rows, with the log-likelihoods of their rankings and probabilities.

        Entry ``[i, t, m]`` of the probabilities is that of the label at place m in the choice of
        the label at place t; it is 0 if that choice is not counted. The scores are in the order of
        the places.
        """
        places = np.arange(scores.shape[1])
        own = np.eye(len(places), dtype=bool)
        for batch in gen_batches(len(rows), max(1, 8 * _TABLE // len(places) ** 2)):
            part = rows[batch]
            if self.starts is None:
                starts = places[np.newaxis]
            else:
                starts = (self.starts if self.ties == "breslow" else self.ends)[part]
            at_risk = (places >= starts[:, :, np.newaxis]) & self.ranked[part, np.newaxis] | own
            logs = log_softmax(np.where(at_risk, scores[part, np.newaxis], -np.inf), axis=2)
            values = np.sum(np.diagonal(logs, axis1=1, axis2=2), axis=1, where=self.counted[part])
            yield part, values, np.exp(logs) * self.counted[part][:, :, np.newaxis]

    def _by_label(self, ordered):
        gradient = np.empty(ordered.shape)
        np.put(gradient, self.order, ordered)
        return gradient

    def _ordered(self, scores):
        return np.take(scores, self.order)

    def _davidson(self, scores, log_prevalences):
        scores = np.where(self.ranked, self._ordered(scores), -np.inf)
        chosen = self.counted & (self.starts == np.arange(scores.shape[1]))
        sizes = self.ends - self.starts
        terms = [(1, 0.0), *zip(self.orders, log_prevalences)]
        polynomials = [_log_symmetric_sums(scores / k, k) for k, _ in terms]
        log_sums = np.full(scores.shape, -np.inf)
        for (k, log_prevalence), sums in zip(terms, polynomials):
            log_sums = np.logaddexp(log_sums, sums[k, :, :-1] + log_prevalence)
        log_sums = np.where(chosen, log_sums, 0.0)

        shares = np.where(self.counted, 1.0 / sizes, 0.0)
        values = (np.where(self.counted, scores, 0.0) * shares - log_sums).sum(axis=1)
        by_order = np.empty((len(scores), len(self.orders)))
        for (k, log_prevalence), sums in zip(terms, polynomials):
            adjoint = np.where(chosen, log_prevalence - log_sums, -np.inf)
            shares = shares - _symmetric_sums_gradient(scores / k, sums, adjoint, k)
            if k > 1:
                ties = (chosen & (sizes == k)).sum(axis=1)
                values += log_prevalence * ties
                expected = np.exp(adjoint + sums[k, :, :-1]).sum(axis=1)
                by_order[:, self.orders.index(k)] = ties - expected
        return values, self._by_label(shares), by_order


def _log_symmetric_sums(logs, degree):
    """Return the logarithms of the elementary symmetric polynomials of the ends of the rows.

    Entry ``[j, i, t]`` of the result, of shape ``(degree + 1, n_rows, n_columns + 1)``, is that of
    degree j of the exponentials of ``logs[i, t:]``.
    """
    sums = np.full((degree + 1, len(logs), logs.shape[1] + 1), -np.inf)
    sums[0] = 0.0
    for t in range(logs.shape[1] - 1, -1, -1):
        sums[1:, :, t] = np.logaddexp(sums[1:, :, t + 1], logs[:, t] + sums[:-1, :, t + 1])
    return sums


def _symmetric_sums_gradient(logs, sums, log_weights, degree):
    """Return the gradient of the weighted sum of the polynomials of the highest degree.

    It is by `logs` times the degree, by reverse differentiation of `_log_symmetric_sums`.
    """
    adjoint = np.full((degree + 1, len(logs)), -np.inf)
    gradient = np.empty(logs.shape)
    for t in range(logs.shape[1]):
        adjoint[degree] = np.logaddexp(adjoint[degree], log_weights[:, t])
        moved = adjoint[1:] + logs[:, t]
        gradient[:, t] = np.exp(moved + sums[:-1, :, t + 1]).sum(axis=0) / degree
        adjoint[:-1] = np.logaddexp(adjoint[:-1], moved)
    return gradient


class RankedLabels:
    """A table of the labels of rankings, `rows` of a CSR array, that are about equally long.

    Its `width` is the number of columns; if it is `n_labels`, there is one for each label.

    Attributes
    ----------
    labels : ndarray of int, shape (n_rows, width), or None
        The ranked labels in increasing order, and zeros. None if there is a column for each label.
    positions : ndarray of shape (n_rows, width)
        Positions of the labels, NaN in columns without one.
    """

    def __init__(self, positions, rows, width):
        self.rows, self.n_labels = rows, positions.shape[1]
        listed = positions[rows]
        lengths = np.diff(listed.indptr)
        at = np.repeat(np.arange(len(rows)), lengths), listed.indices
        self.labels = None
        if width < self.n_labels:
            at = at[0], np.arange(listed.nnz) - np.repeat(listed.indptr[:-1], lengths)
            self.labels = np.zeros((len(rows), width), dtype=np.intp)
            self.labels[at] = listed.indices
        self.positions = np.full((len(rows), width), np.nan)
        self.positions[at] = listed.data

    def scores(self, features, weights):
        """Return the products of features, `(n_samples, n)`, and weights, `(n, n_labels)`."""
        if self.labels is None:
            return features[self.rows] @ weights
        return np.einsum("ip,ijp->ij", features[self.rows], weights.T[self.labels])

    def by_label(self, values):
        """Return values of the entries of the table as a matrix of shape `(n_rows, n_labels)`."""
        if self.labels is None:
            return values
        ends = np.arange(0, values.size + 1, values.shape[1])
        parts = values.ravel(), self.labels.ravel(), ends
        return sparse.csr_array(parts, shape=(len(values), self.n_labels))

    def by_pair(self, part, values, design):
        """Return matrices of some of the rows as a matrix, with a column for each pair of columns.

        The matrices have shape `(n_rows, width + n, width + n)`. The design, or None, has a row for
        each label and n more.
        """
        n_more = values.shape[1] - self.positions.shape[1]
        n_columns = self.n_labels + n_more
        if self.labels is not None:
            more = np.broadcast_to(np.arange(self.n_labels, n_columns), (len(values), n_more))
            labels = np.hstack([self.labels[part], more])
        if design is not None:
            of_rows = design if self.labels is None else design[labels]
            values = np.swapaxes(of_rows, -1, -2) @ values @ of_rows
        elif self.labels is not None:
            columns = labels[:, :, np.newaxis] * n_columns + labels[:, np.newaxis]
            ends = np.arange(0, values.size + 1, values[0].size)
            parts = values.ravel(), columns.ravel(), ends
            return sparse.csr_array(parts, shape=(len(values), n_columns**2))
        return values.reshape(len(values), -1)

    def by_weight(self, features, values):
        """Return sums over the rows of features times values, of shape `(n, n_labels)`."""
        return (self.by_label(values).T @ features[self.rows]).T


def ranked_labels(positions):
    """Return tables of the rankings of two labels or more, with at most twice their entries.

    The stored entries of `positions`, a CSR array, are the labels that are ranked.
    """
    lengths, n_labels = np.diff(positions.indptr), positions.shape[1]
    widths = 2 ** np.ceil(np.log2(lengths.clip(2))).astype(int)
    widths = np.where(lengths < 2, 0, np.where(2 * lengths >= n_labels, n_labels, widths))
    return [
        RankedLabels(positions, rows[block], width)
        for width in np.unique(widths[widths > 0]).tolist()
        for rows in [np.flatnonzero(widths == width)]
        for block in gen_batches(len(rows), max(1, _TABLE // width))
    ]


class PenalizedLikelihood:
    """The penalized log-likelihood as a function of its parameters, and its maximum.

    The features are centered and rotated to their principal axes. The weights are then scaled by
    the square roots of the approximate second derivatives, so that L-BFGS needs few iterations.

    Positions are an array, in which NaN marks labels that are not ranked, or a CSR array of the
    others. The scores are linear combinations of the columns of `design`, `(n_labels, n_columns)`,
    which are orthonormal. If it is None, there is one for each label.

    The parameters are a vector: the weights of shape `(n_axes + 1, n_columns)`, with the intercepts
    in the last row, and the logarithms of the prevalences of ties. The first part is also called
    the solution.
    """

    def __init__(self, features, positions, weights, ties, design=None):
        self.mean = np.average(features, axis=0, weights=weights)
        centered = features - self.mean
        self.axes = principal_axes(centered * np.sqrt(weights)[:, np.newaxis])
        # The last one is that of the intercepts.
        self.features = np.hstack([centered @ self.axes, np.ones((len(features), 1))])
        self.positions, self.weights, self.ties = stored_positions(positions), weights, ties
        self.design = design
        n_columns = positions.shape[1] if design is None else design.shape[1]
        self.shape = self.features.shape[1], n_columns
        self._tabulate()

    def _tabulate(self, orders=None, choices="all"):
        """Set `tables`, pairs of ranked labels and their likelihood, and `orders`, of all ties."""
        self.tables = [
            (table, RankingLikelihood(table.positions, self.ties, orders, choices))
            for table in ranked_labels(self.positions)
        ]
        found = set().union(*(likelihood.orders for _, likelihood in self.tables))
        self.orders = tuple(sorted(found)) if orders is None else orders
        for _, likelihood in self.tables:
            likelihood.orders = self.orders

    @property
    def n_parameters(self):
        return self.shape[0] * self.shape[1] + len(self.orders)

    def part(self, rows=slice(None), weights=None, choices="all"):
        """Return the likelihood of some of the samples or choices, with the same axes."""
        part = object.__new__(PenalizedLikelihood)
        vars(part).update(vars(self))
        part.features, part.positions = self.features[rows], self.positions[rows]
        part.weights = self.weights[rows] if weights is None else weights
        part._tabulate(self.orders, choices)
        return part

    def unpack(self, parameters):
        """Return the weights with the intercepts, and the logarithms of the prevalences of ties."""
        size = self.shape[0] * self.shape[1]
        return parameters[:size].reshape(self.shape), parameters[size:]

    def by_label(self, solution):
        """Return weights and intercepts of the labels, of shape `(n_axes + 1, n_labels)`."""
        return solution if self.design is None else solution @ self.design.T

    def log_likelihood(self, parameters):
        """Return the weighted sum of the log-likelihoods, without the penalty."""
        solution, log_prevalences = self.unpack(parameters)
        by_label, total = self.by_label(solution), 0.0
        for table, likelihood in self.tables:
            scores, weights = table.scores(self.features, by_label), self.weights[table.rows]
            values = likelihood.log_likelihoods(scores, log_prevalences)
            # A sample of weight 0 may have ties of an order that no other has.
            total += weights @ np.where(weights > 0.0, values, 0.0)
        return total

    def gradients(self, parameters):
        """Yield each table, and what `with_gradient` returns for it, times the weights."""
        solution, log_prevalences = self.unpack(parameters)
        by_label = self.by_label(solution)
        for table, likelihood in self.tables:
            scores, weights = table.scores(self.features, by_label), self.weights[table.rows]
            values, gradient, by_order = likelihood.with_gradient(scores, log_prevalences)
            column = weights[:, np.newaxis]
            yield table, weights * values, column * gradient, column * by_order

    def loss_and_gradient(self, parameters, alpha):
        """Return the penalized negative log-likelihood and its gradient."""
        solution, log_prevalences = self.unpack(parameters)
        loss = 0.5 * alpha * np.sum(solution[:-1] ** 2)
        by_weight, by_prevalence = np.zeros(self.by_label(solution).shape), 0.0 * log_prevalences
        for table, values, gradient, by_order in self.gradients(parameters):
            loss -= values.sum()
            by_weight -= table.by_weight(self.features, gradient)
            by_prevalence -= by_order.sum(axis=0)
        by_solution = by_weight if self.design is None else by_weight @ self.design
        by_solution[:-1] += alpha * solution[:-1]
        return loss, np.append(by_solution.ravel(), by_prevalence)

    def information(self, parameters):
        """Return the second derivatives of the loss without the penalty."""
        solution, log_prevalences = self.unpack(parameters)
        by_label, n_orders = self.by_label(solution), len(self.orders)
        design = None if self.design is None else block_diag(self.design, np.eye(n_orders))
        n_axes, n_columns = self.shape[0], self.shape[1] + n_orders
        # The prevalences are columns that have a weight of the constant feature only.
        sums = np.zeros((n_axes, n_columns**2, n_axes))
        for table, likelihood in self.tables:
            scores = table.scores(self.features, by_label)
            for part, found in likelihood.curvatures(scores, log_prevalences):
                features, weights = self.features[table.rows[part]], self.weights[table.rows[part]]
                pairs = table.by_pair(part, found, design).T
                for axis, values in enumerate(features.T * weights):
                    sums[axis] += pairs @ (features * values[:, np.newaxis])
        sums = sums.reshape(n_axes, n_columns, n_columns, n_axes).swapaxes(2, 3)
        places = np.arange(n_axes * n_columns).reshape(n_axes, n_columns)
        used = np.append(places[:, : self.shape[1]], places[-1, self.shape[1] :])
        return sums.reshape(places.size, places.size)[np.ix_(used, used)]

    def solve(self, alpha, start=None, *, tol):
        """Minimize the loss from `start`.

        Return the parameters, the number of iterations, and whether `_MAX_ITER` were too few.
        """
        scales = self.scales(alpha)
        start = np.zeros(len(scales)) if start is None else start / scales

        def objective(scaled):
            loss, gradient = self.loss_and_gradient(scaled * scales, alpha)
            return loss, gradient * scales

        # An iteration evaluates the loss at most 21 times.
        limits = {"maxiter": _MAX_ITER, "maxfun": 25 * _MAX_ITER}
        found = minimize_smooth(objective, start, gtol=tol, ftol=1e-14, maxcor=20, **limits)
        # The last iteration may have converged.
        stopped = found.status == 1 and np.abs(found.jac).max() > tol
        return found.x * scales, found.nit, stopped

    def scales(self, alpha):
        """Return the approximate standard errors of the parameters."""
        squares, weighted = 0.0, self.features**2 * self.weights[:, np.newaxis]
        for table, _ in self.tables:
            ranked = np.where(np.isnan(table.positions), 0.0, 1.0)
            squares = squares + table.by_weight(weighted, ranked)
        if self.design is not None:
            squares = squares @ self.design**2
        total = max(self.weights.sum(), np.finfo(float).tiny)
        penalties = np.append(np.full(self.shape[0] - 1, alpha), 0.0)[:, np.newaxis]
        # The negative log-likelihood of a ranking has a second derivative of about 0.2 by a score.
        curvatures = np.broadcast_to(0.2 * squares + penalties, self.shape)
        # Without rankings of a label, its parameters do not matter.
        scales = 1.0 / np.sqrt(np.maximum(curvatures, np.finfo(float).eps * total))
        return np.append(scales, np.full(len(self.orders), 1.0 / np.sqrt(0.2 * total)))

    def coefficients(self, weights):
        """Return weights of the features, `(n, n_features)`, and intercepts from n of the axes."""
        of_features = self.axes @ weights[:-1]
        return of_features.T, weights[-1] - self.mean @ of_features


def principal_axes(X):
    """Return the eigenvectors of ``X.T @ X`` with positive eigenvalues, one in each column.

    If X has more columns than rows, they are computed from the smaller matrix ``X @ X.T``.
    """
    is_wide = X.shape[1] > X.shape[0]
    squares, vectors = np.linalg.eigh(X @ X.T if is_wide else X.T @ X)
    # Smaller eigenvalues are rounding.
    kept = squares > 1e-12 * max(squares[-1], np.finfo(float).tiny)
    vectors = vectors[:, kept]
    return X.T @ (vectors / np.sqrt(squares[kept])) if is_wide else vectors


# -- Probabilities.


def pair_probabilities(scores):
    """Return the probabilities `[i, a, b]` that label a comes before label b, from their scores."""
    return expit(scores[:, :, np.newaxis] - scores[:, np.newaxis, :])


def expected_positions(scores):
    """Return one plus the expected number of labels before each label, from their scores."""
    result = np.empty(scores.shape)
    for block in gen_batches(len(scores), _BLOCK):
        result[block] = 0.5 + pair_probabilities(scores[block]).sum(axis=1)
    return result


def topk_probabilities(scores, k):
    r"""Return the probability of each label to be one of the k best.

    If independent standard Gumbel noise is added to the scores, their order has the distribution of
    the model. Let the noisy score of a label be t. The number of other labels above t is then a sum
    of independent indicators with the probabilities :math:`1 - \exp(-e^{s_m - t})`, and the label
    is one of the k best if it is below k. Dynamic programming computes the distributions of the
    numbers of earlier and of later labels, whose convolution is that of all other labels. The
    integral over t is a trapezoidal sum, whose error decreases exponentially with the step. The
    step is smaller for large k: the number of labels above then decreases from more than k to less
    within about 1 / sqrt(k). The relative error is :math:`|\Gamma(k + 2 \pi i / step)| / \Gamma(k)`
    for many equal labels, below 1e-14.

    The scores and the result have shape `(n_samples, n_labels)`. Each row has the sum k.
    """
    n_labels = scores.shape[1]
    n_steps = int(np.ceil(150 * np.sqrt(1.0 + k / 7)))
    # Differences from the (k + 1)-th largest score. More than k labels are above the smallest
    # level, and none but the k best are above the largest one, with errors below 1e-16.
    levels, step = np.linspace(-4.5, 38.0, n_steps + 1, retstep=True)
    place = min(k, n_labels - 1)
    scores = scores + np.partition(-scores, place, axis=1)[:, place, np.newaxis]
    # The integral over other levels is 0 for the probability to be below k, or of its complement.
    is_top = scores > 0.0
    result = is_top.astype(np.float64)
    n_points = max(1, 8 * _TABLE // (n_labels * k))
    for block in gen_batches(len(scores), max(1, n_points // len(levels))):
        for part in gen_batches(len(levels), n_points):
            differences = scores[block].T[:, :, np.newaxis] - levels[part]
            rates = np.exp(np.minimum(differences, 700.0))
            above = -np.expm1(-rates)
            density = step * rates * np.exp(-rates)
            # The axes are numbers of labels above, samples and levels.
            counts = np.zeros((k, *rates[0].shape))
            counts[0] = 1.0
            earlier = []
            for of_label in above:
                earlier.append(counts.copy())
                _add_label(counts, of_label)
            at_most = np.ones(counts.shape)  # so many of the later labels are above
            for label in range(n_labels)[::-1]:
                below = np.einsum("jit,jit->it", earlier[label], at_most[::-1])
                below -= is_top[block, label, np.newaxis]
                result[block, label] += np.sum(below * density[label], axis=1)
                _add_label(at_most, above[label])
    return result


def _add_label(counts, above):
    """Update distributions of the number of labels by one that counts with given probabilities."""
    moved = counts[:-1] * above
    counts *= 1.0 - above
    counts[1:] += moved
