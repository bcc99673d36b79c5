# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Sums over the pairs of documents of a query, for NDCG_Boost (Valizadegan 2010, chapter 3).

With scores F, the document j is ahead of i with probability p = 1 / (1 + e^(F_i - F_j)) (Eq. 3.8),
and gamma = p (1 - p) (Eq. 3.14) tells how near to each other they are. Both come of the reciprocal
of e^F_i + e^F_j. A pair of documents without gain counts nowhere, which leaves (relevant) x (all):
in each query the documents with a gain, `n_relevant` of them, come first.

Divisions are what a pair costs: two documents take one between them for what they have to do with
a third, 1 / a = b / (a b) and 1 / b = a / (a b).
"""


def demand(
    const double[::1] powers,
    const double[::1] gains,
    const Py_ssize_t[::1] starts,
    const Py_ssize_t[::1] n_relevant,
    double[::1] weights,
):
    """Write the weight of each document (Eq. 3.17), and return the objective (Eq. 3.11).

    `powers` are e^F up to a factor of the query; `gains` are those of Eq. 3.11 with all factors.
    """
    cdef Py_ssize_t q, i, other, stop
    cdef double objective = 0.0
    with nogil:
        weights[:] = 0.0
        for q in range(starts.shape[0] - 1):
            stop = starts[q] + n_relevant[q]
            for i in range(starts[q], stop):
                objective += among_relevant(powers, gains, i, stop, weights)
            for i in range(starts[q], stop, 2):
                other = i + 1 if i + 1 < stop else i
                objective += before_irrelevant(
                    powers, gains, i, other, stop, starts[q + 1], weights
                )
    return objective


cdef inline double among_relevant(
    const double[::1] powers,
    const double[::1] gains,
    Py_ssize_t i,
    Py_ssize_t stop,
    double[::1] weights,
) noexcept nogil:
    """The pairs of the relevant document `i` with the relevant ones after it, to `stop`."""
    cdef Py_ssize_t j
    cdef double power = powers[i], gain = gains[i], own_pull = 0.0, cost = 0.0
    cdef double share, ahead, behind, pull
    for j in range(i + 1, stop):
        share = 1.0 / (power + powers[j])
        ahead, behind = share * powers[j], share * power
        pull = (gain - gains[j]) * ahead * behind
        weights[j] -= pull
        own_pull += pull
        cost += gain * ahead + gains[j] * behind
    weights[i] += own_pull
    return cost


cdef inline double before_irrelevant(
    const double[::1] powers,
    const double[::1] gains,
    Py_ssize_t a,
    Py_ssize_t b,
    Py_ssize_t start,
    Py_ssize_t stop,
    double[::1] weights,
) noexcept nogil:
    """The pairs of the relevant documents `a` and `b`, or `a` alone, with the irrelevant ones."""
    cdef Py_ssize_t j
    cdef double power_a = powers[a], power_b = powers[b]
    cdef double gain_a = gains[a], gain_b = gains[b] if b != a else 0.0
    cdef double sum_a, sum_b, share, ahead_a, ahead_b, near_a, near_b
    cdef double all_ahead_a = 0.0, all_ahead_b = 0.0, all_near_a = 0.0, all_near_b = 0.0
    for j in range(start, stop):
        sum_a, sum_b = power_a + powers[j], power_b + powers[j]
        share = 1.0 / (sum_a * sum_b)
        ahead_a, ahead_b = share * sum_b * powers[j], share * sum_a * powers[j]
        near_a, near_b = ahead_a * (share * sum_b * power_a), ahead_b * (share * sum_a * power_b)
        all_ahead_a += ahead_a
        all_ahead_b += ahead_b
        all_near_a += near_a
        all_near_b += near_b
        weights[j] -= gain_a * near_a + gain_b * near_b
    weights[a] += gain_a * all_near_a
    weights[b] += gain_b * all_near_b
    return gain_a * all_ahead_a + gain_b * all_ahead_b


def masses(
    const double[::1] powers,
    const double[::1] gains,
    const Py_ssize_t[::1] starts,
    const Py_ssize_t[::1] n_relevant,
    const double[::1] hypothesis,
    double[:, ::1] risen,
    double[:, ::1] left,
):
    """Theorem 7's alpha_1 and alpha_2: what is won and what is lost if some documents rise.

    `risen` and `left` are room for the powers and gains of a query's documents, apart by the
    hypothesis (1: the document rises).
    """
    cdef Py_ssize_t q, a, i, n_risen, n_left, n_risen_relevant, n_left_relevant
    cdef double won = 0.0, lost = 0.0
    with nogil:
        for q in range(starts.shape[0] - 1):
            n_risen = n_left = n_risen_relevant = n_left_relevant = 0
            for i in range(starts[q], starts[q + 1]):
                if hypothesis[i] > 0.0:
                    risen[0, n_risen], risen[1, n_risen] = powers[i], gains[i]
                    n_risen += 1
                    n_risen_relevant += i < starts[q] + n_relevant[q]
                else:
                    left[0, n_left], left[1, n_left] = powers[i], gains[i]
                    n_left += 1
                    n_left_relevant += i < starts[q] + n_relevant[q]
            for a in range(0, n_risen_relevant, 2):
                won += nearness(risen, a, n_risen_relevant, left, n_left)
            for a in range(0, n_left_relevant, 2):
                lost += nearness(left, a, n_left_relevant, risen, n_risen)
    return won, lost


cdef inline double nearness(
    const double[:, ::1] these,
    Py_ssize_t a,
    Py_ssize_t n_relevant,
    const double[:, ::1] those,
    Py_ssize_t n_those,
) noexcept nogil:
    """What `a`, and the relevant document after it if there is one, gain before `those`."""
    cdef Py_ssize_t j, b = a + 1 if a + 1 < n_relevant else a
    cdef double power_a = these[0, a], power_b = these[0, b], sum_a, sum_b, share, share_a, share_b
    cdef double all_near_a = 0.0, all_near_b = 0.0
    for j in range(n_those):
        sum_a, sum_b = power_a + those[0, j], power_b + those[0, j]
        share = 1.0 / (sum_a * sum_b)
        share_a, share_b = share * sum_b, share * sum_a
        all_near_a += share_a * share_a * those[0, j]
        all_near_b += share_b * share_b * those[0, j]
    if b == a:
        power_b = 0.0
    return these[1, a] * power_a * all_near_a + these[1, b] * power_b * all_near_b
