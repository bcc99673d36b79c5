# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Sums over the pairs of documents of a query, for NDCG_Boost (Valizadegan 2010, chapter 3).

With scores F, document j is ranked before document i with probability
p_ij = 1 / (1 + e^(F_i - F_j)) (Equation 3.8). Its derivative with respect to F_j is
gamma_ij = p_ij (1 - p_ij) (Equation 3.14). Both follow from the reciprocal of e^F_i + e^F_j. Only
pairs with a relevant document, which has a gain, contribute. The documents of a query are sorted by
their gains, the largest first; the first `n_relevant` of them are relevant.

The division dominates the cost of a pair. Two relevant documents a and b share one division for
their pairs with the same third document j: 1 / s_a = s_b / (s_a s_b) and 1 / s_b = s_a / (s_a s_b),
where s_a = e^F_a + e^F_j and s_b = e^F_b + e^F_j.

Documents have weights, and the weight of a pair is the product of those of its documents. In the
functions for NDCG_Boost, `gains` are those of the documents times their weights.

The *hessian* of a document is the sum of the same terms as its negative gradient, all of them with
a positive sign.

The functions whose names start with `logistic` belong to another objective, the sum of
(g_i - g_j) log(1 + e^(F_j - F_i)) over the pairs in which document i has the larger gain. Its
derivative with respect to F_j is (g_i - g_j) p_ij.
"""

from libc.math cimport fabs, log1p

import numpy as np

# A product of this number and e^600 is finite.
cdef double LARGE = 1e40


def cumulative_sums(const double[::1] values, const Py_ssize_t[::1] starts):
    """Return for each value the sum of those of its query up to it; see `starts` below."""
    cdef Py_ssize_t q, i
    cdef double total
    result = np.empty(values.shape[0])
    cdef double[::1] sums = result
    with nogil:
        for q in range(starts.shape[0] - 1):
            total = 0.0
            for i in range(starts[q], starts[q + 1]):
                total += values[i]
                sums[i] = total
    return result


def loss_and_negative_gradient(
    const double[::1] exp_scores, const double[::1] gains, const double[::1] weights,
    const Py_ssize_t[::1] starts, const Py_ssize_t[::1] n_relevant,
    double[::1] negative_gradient, double[::1] hessians,
):
    """Write the negative gradient (Equation 3.17) and the hessians; return the objective (3.11).

    `exp_scores` are e^F, up to a constant factor for each query. `gains` are the gains of Equation
    3.11, including all constant factors. Query q has the documents from `starts[q]` to
    `starts[q + 1]`.
    """
    cdef Py_ssize_t q, i, other, stop
    cdef double loss = 0.0
    with nogil:
        negative_gradient[:] = 0.0
        hessians[:] = 0.0
        for q in range(starts.shape[0] - 1):
            stop = starts[q] + n_relevant[q]
            for i in range(starts[q], stop):
                loss += add_relevant_pairs(
                    exp_scores, gains, weights, i, stop, negative_gradient, hessians
                )
            for i in range(starts[q], stop, 2):
                other = i + 1 if i + 1 < stop else i
                loss += add_irrelevant_pairs(
                    exp_scores, gains, weights, i, other, stop, starts[q + 1],
                    negative_gradient, hessians,
                )
    return loss


cdef inline double add_relevant_pairs(
    const double[::1] exp_scores, const double[::1] gains, const double[::1] weights,
    Py_ssize_t i, Py_ssize_t stop, double[::1] negative_gradient, double[::1] hessians,
) noexcept nogil:
    """Add the pairs of the relevant document `i` and the relevant ones after it, up to `stop`."""
    cdef Py_ssize_t j
    cdef double exp_i = exp_scores[i], gain = gains[i], gradient_i = 0.0, loss = 0.0
    cdef double reciprocal, j_first, i_first, gamma, slope, weight, hessian = 0.0
    cdef double gain_of_i, gain_of_j
    for j in range(i + 1, stop):
        reciprocal = 1.0 / (exp_i + exp_scores[j])
        j_first, i_first = reciprocal * exp_scores[j], reciprocal * exp_i
        gamma = j_first * i_first
        gain_of_i, gain_of_j = gain * weights[j], gains[j] * weights[i]
        slope = (gain_of_i - gain_of_j) * gamma
        weight = (gain_of_i + gain_of_j) * gamma
        negative_gradient[j] -= slope
        gradient_i += slope
        hessians[j] += weight
        hessian += weight
        loss += gain_of_i * j_first + gain_of_j * i_first
    negative_gradient[i] += gradient_i
    hessians[i] += hessian
    return loss


cdef inline double add_irrelevant_pairs(
    const double[::1] exp_scores, const double[::1] gains, const double[::1] weights,
    Py_ssize_t a, Py_ssize_t b, Py_ssize_t start, Py_ssize_t stop,
    double[::1] negative_gradient, double[::1] hessians,
) noexcept nogil:
    """Add the pairs of the relevant documents `a` and `b`, once if `b` equals `a`, with the others.

    The irrelevant documents are those from `start` to `stop`.
    """
    cdef Py_ssize_t j
    cdef double exp_a = exp_scores[a], exp_b = exp_scores[b]
    cdef double gain_a = gains[a], gain_b = gains[b] if b != a else 0.0
    cdef double sum_a, sum_b, reciprocal, before_a, before_b, gamma_a, gamma_b, slope
    cdef double total_before_a = 0.0, total_before_b = 0.0
    cdef double total_gamma_a = 0.0, total_gamma_b = 0.0
    for j in range(start, stop):
        sum_a, sum_b = exp_a + exp_scores[j], exp_b + exp_scores[j]
        reciprocal = 1.0 / (sum_a * sum_b)
        before_a = weights[j] * (reciprocal * sum_b * exp_scores[j])
        before_b = weights[j] * (reciprocal * sum_a * exp_scores[j])
        gamma_a = before_a * (reciprocal * sum_b * exp_a)
        gamma_b = before_b * (reciprocal * sum_a * exp_b)
        total_before_a += before_a
        total_before_b += before_b
        total_gamma_a += gamma_a
        total_gamma_b += gamma_b
        slope = gain_a * gamma_a + gain_b * gamma_b
        negative_gradient[j] -= slope
        hessians[j] += slope
    negative_gradient[a] += gain_a * total_gamma_a
    negative_gradient[b] += gain_b * total_gamma_b
    hessians[a] += gain_a * total_gamma_a
    hessians[b] += gain_b * total_gamma_b
    return gain_a * total_before_a + gain_b * total_before_b


def step_weights(
    const double[::1] exp_scores, const double[::1] gains, const double[::1] weights,
    const Py_ssize_t[::1] starts, const Py_ssize_t[::1] n_relevant,
    const double[::1] hypothesis, double[:, ::1] raised, double[:, ::1] kept,
):
    """Return alpha_1 and alpha_2 of Theorem 7, for a hypothesis of zeros and ones.

    alpha_1 is the sum of the gain of i times gamma_ij over the pairs (i, j) for which i is raised
    (hypothesis 1) and j is kept (0). alpha_2 is the sum over the pairs for which i is kept and j is
    raised. `raised` and `kept` are buffers for the `exp_scores`, `gains` and `weights` of the
    documents of a query, separated by the hypothesis.
    """
    cdef Py_ssize_t q, a, i, n_raised, n_kept, n_raised_relevant, n_kept_relevant
    cdef double correct = 0.0, incorrect = 0.0
    with nogil:
        for q in range(starts.shape[0] - 1):
            n_raised = n_kept = n_raised_relevant = n_kept_relevant = 0
            for i in range(starts[q], starts[q + 1]):
                if hypothesis[i] > 0.0:
                    raised[0, n_raised], raised[1, n_raised] = exp_scores[i], gains[i]
                    raised[2, n_raised] = weights[i]
                    n_raised += 1
                    n_raised_relevant += i < starts[q] + n_relevant[q]
                else:
                    kept[0, n_kept], kept[1, n_kept] = exp_scores[i], gains[i]
                    kept[2, n_kept] = weights[i]
                    n_kept += 1
                    n_kept_relevant += i < starts[q] + n_relevant[q]
            for a in range(0, n_raised_relevant, 2):
                correct += weighted_gammas(raised, a, n_raised_relevant, kept, n_kept)
            for a in range(0, n_kept_relevant, 2):
                incorrect += weighted_gammas(kept, a, n_kept_relevant, raised, n_raised)
    return correct, incorrect


cdef inline double weighted_gammas(
    const double[:, ::1] documents, Py_ssize_t a, Py_ssize_t n_relevant,
    const double[:, ::1] others, Py_ssize_t n_others,
) noexcept nogil:
    """Return the sum of gain times gamma over the pairs of `a` and `a + 1`, if it is relevant."""
    cdef Py_ssize_t j, b = a + 1 if a + 1 < n_relevant else a
    cdef double exp_a = documents[0, a], exp_b = documents[0, b]
    cdef double sum_a, sum_b, reciprocal, reciprocal_a, reciprocal_b
    cdef double total_a = 0.0, total_b = 0.0
    for j in range(n_others):
        sum_a, sum_b = exp_a + others[0, j], exp_b + others[0, j]
        reciprocal = 1.0 / (sum_a * sum_b)
        reciprocal_a, reciprocal_b = reciprocal * sum_b, reciprocal * sum_a
        total_a += reciprocal_a * reciprocal_a * others[0, j] * others[2, j]
        total_b += reciprocal_b * reciprocal_b * others[0, j] * others[2, j]
    if b == a:
        exp_b = 0.0
    return documents[1, a] * exp_a * total_a + documents[1, b] * exp_b * total_b


def logistic_pair_weights(
    const double[::1] exp_scores, const double[::1] gains, const double[::1] weights,
    const Py_ssize_t[::1] ends, const Py_ssize_t[::1] starts, const Py_ssize_t[::1] n_relevant,
    double[::1] first, double[::1] second,
):
    """Write the derivative of the logistic objective for each document, in two parts.

    The part `first` is the sum over the pairs in which the document should be the first one, and
    `second` that over the other pairs. `ends` contains for each document the index of the first
    document of its query with a smaller gain.
    """
    cdef Py_ssize_t q, i, j, start
    cdef double exp_i, weight, slope, total
    with nogil:
        second[:] = 0.0
        for q in range(starts.shape[0] - 1):
            for i in range(starts[q], starts[q + 1]):
                exp_i, total = exp_scores[i], 0.0
                start = ends[i] if i < starts[q] + n_relevant[q] else starts[q + 1]
                while start < starts[q + 1]:
                    weight = (gains[i] - gains[start]) * weights[i]
                    for j in range(start, ends[start]):
                        slope = weight * weights[j] * exp_scores[j] / (exp_i + exp_scores[j])
                        second[j] += slope
                        total += slope
                    start = ends[start]
                first[i] = total


def logistic_loss(
    const double[::1] exp_scores, const double[::1] gains, const double[::1] weights,
    const Py_ssize_t[::1] ends, const Py_ssize_t[::1] starts, const Py_ssize_t[::1] n_relevant,
):
    """Return the logistic objective, for ratios of two `exp_scores` of at most e^600."""
    cdef Py_ssize_t q, i, start
    cdef double loss = 0.0, weight
    cdef bint is_weighted = False
    with nogil:
        for i in range(weights.shape[0]):
            is_weighted = is_weighted or weights[i] != 1.0
        for q in range(starts.shape[0] - 1):
            for i in range(starts[q], starts[q] + n_relevant[q]):
                start = ends[i]
                while start < starts[q + 1]:
                    weight = (gains[i] - gains[start]) * weights[i]
                    if is_weighted:
                        loss += weight * weighted_sum_of_logistic(
                            1.0 / exp_scores[i], exp_scores, weights, start, ends[start]
                        )
                    else:
                        loss += weight * sum_of_logistic(
                            1.0 / exp_scores[i], exp_scores, start, ends[start]
                        )
                    start = ends[start]
    return loss


cdef inline double sum_of_logistic(
    double factor, const double[::1] exp_scores, Py_ssize_t start, Py_ssize_t stop
) noexcept nogil:
    """Return the sum of log(1 + factor * exp_scores) over the documents from `start` to `stop`.

    The logarithm is computed for products, as long as they cannot overflow. One is subtracted from
    a product, so that small losses are not rounded to 0. The processor computes four products at a
    time.
    """
    cdef double a = 0.0, b = 0.0, c = 0.0, d = 0.0, ratio, loss = 0.0
    cdef Py_ssize_t j
    for j in range(start, stop - 3, 4):
        ratio = factor * exp_scores[j]
        a += ratio + a * ratio
        ratio = factor * exp_scores[j + 1]
        b += ratio + b * ratio
        ratio = factor * exp_scores[j + 2]
        c += ratio + c * ratio
        ratio = factor * exp_scores[j + 3]
        d += ratio + d * ratio
        if a + b + c + d > LARGE:
            loss += log1p(a) + log1p(b) + log1p(c) + log1p(d)
            a = b = c = d = 0.0
    for j in range(stop - (stop - start) % 4, stop):
        ratio = factor * exp_scores[j]
        a += ratio + a * ratio
        if a > LARGE:
            loss += log1p(a)
            a = 0.0
    a += b + a * b
    c += d + c * d
    return loss + log1p(a + c + a * c)


cdef inline double weighted_sum_of_logistic(
    double factor, const double[::1] exp_scores, const double[::1] weights,
    Py_ssize_t start, Py_ssize_t stop,
) noexcept nogil:
    """Return the same sum, in which each document has a weight."""
    cdef double loss = 0.0
    cdef Py_ssize_t j
    for j in range(start, stop):
        loss += weights[j] * log1p(factor * exp_scores[j])
    return loss


def lambda_pairs(
    const double[::1] exp_scores, const double[::1] gains, const double[::1] weights,
    const Py_ssize_t[::1] ends, const Py_ssize_t[::1] starts, const Py_ssize_t[::1] n_relevant,
    const double[::1] discounts, double[::1] first, double[::1] second,
):
    """Return the logistic loss of pairs, or write its derivatives, if `first` is not empty.

    The factor of a pair is the absolute difference of the discounts of both documents, otherwise
    this is the loss of `logistic_loss` and the derivatives of `logistic_pair_weights`.
    """
    cdef Py_ssize_t q, i, j
    cdef double exp_i, weight, slope, total, loss = 0.0
    cdef bint has_loss = first.shape[0] == 0
    with nogil:
        if not has_loss:
            first[:] = 0.0
            second[:] = 0.0
        for q in range(starts.shape[0] - 1):
            for i in range(starts[q], starts[q] + n_relevant[q]):
                exp_i, total = exp_scores[i], 0.0
                if has_loss:
                    for j in range(ends[i], starts[q + 1]):
                        weight = weights[j] * (gains[i] - gains[j])
                        weight *= fabs(discounts[i] - discounts[j])
                        total += weight * log1p(exp_scores[j] / exp_i)
                    loss += weights[i] * total
                    continue
                for j in range(ends[i], starts[q + 1]):
                    weight = weights[i] * weights[j] * (gains[i] - gains[j])
                    weight *= fabs(discounts[i] - discounts[j])
                    slope = weight * exp_scores[j] / (exp_i + exp_scores[j])
                    second[j] += slope
                    total += slope
                first[i] = total
    return loss


def sums_over_grid(
    const double[:, ::1] table, const int[::1] left, const int[::1] right, const double[::1] share,
    const double[::1] gains, const double[::1] weights, const Py_ssize_t[::1] ends,
    bint of_lower, double[::1] sums,
):
    """Write for each document i the sum of |g_i - g_j| w_j table[i, j] over documents j.

    These are those of smaller gains if `of_lower` is True, else those of larger ones. The table has
    the values at the points of a grid. A document has the `share` of its weight at the point
    `right`, the rest at `left`. `ends` are those of `logistic_pair_weights`.
    """
    cdef Py_ssize_t n_points = table.shape[0], n_samples = left.shape[0]
    cdef Py_ssize_t start = n_samples if of_lower else 0, stop, i, point
    cdef double gain, low, sign = 1.0 if of_lower else -1.0
    # The sums of w_j and of w_j g_j at each point, and the sum for a document at each point.
    cdef double[:, ::1] buffers = np.zeros((3, n_points))
    cdef double[::1] total = buffers[0], total_gain = buffers[1], at_points = buffers[2]
    with nogil:
        while start > 0 if of_lower else start < n_samples:
            if of_lower:
                stop = start
                start = stop - 1
                while start > 0 and ends[start - 1] == stop:
                    start -= 1
            else:
                stop = ends[start]
            gain = gains[start]
            if stop - start > n_points:
                for point in range(n_points):
                    at_points[point] = sum_over_grid(
                        table[point], table[point], 0.0, total, total_gain, gain
                    )
                for i in range(start, stop):
                    low = at_points[left[i]]
                    sums[i] = sign * (low + share[i] * (at_points[right[i]] - low))
            else:
                for i in range(start, stop):
                    sums[i] = sign * sum_over_grid(
                        table[left[i]], table[right[i]], share[i], total, total_gain, gain
                    )
            for i in range(start, stop):
                total[left[i]] += weights[i] * (1.0 - share[i])
                total_gain[left[i]] += weights[i] * (1.0 - share[i]) * gain
                total[right[i]] += weights[i] * share[i]
                total_gain[right[i]] += weights[i] * share[i] * gain
            if not of_lower:
                start = stop


cdef inline double sum_over_grid(
    const double[::1] left, const double[::1] right, double share,
    const double[::1] total, const double[::1] total_gain, double gain,
) noexcept nogil:
    cdef double result = 0.0
    cdef Py_ssize_t point
    for point in range(left.shape[0]):
        result += (left[point] + share * (right[point] - left[point])) * (
            gain * total[point] - total_gain[point]
        )
    return result
