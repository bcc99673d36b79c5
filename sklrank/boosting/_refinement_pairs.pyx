# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Sums over ordered pairs of documents, for ranking refinement (Valizadegan 2010, chapter 4).

That i is wanted before j costs V_ij e^(F_j - F_i), a product of `lifts[j]` = e^F_j and
`drops[i]` = e^-F_i. A `demand` adds up the costs and tells each document the cost of the pairs in
which it should be first, less that of the pairs in which it should be second. `masses` tells what
these pairs cost that a hypothesis sets right (the first document rises, the second does not), and
what those that it sets wrong. Where a hypothesis is between 0 and 1, it is the chance that a
document rises, each by itself, and the masses are expected ones.
"""


def base_demand(
    const double[::1] lifts,
    const double[::1] drops,
    const double[::1] ratios,
    const Py_ssize_t[::1] starts,
    double[::1] demand,
):
    """The base ranker's pairs, V = W of Equation 4.1: write the demand, return the cost.

    The documents of a query come best first, and `ratios[j]` is e^(lambda (g_j - g_(j-1))), at most
    1. The product of those between i and j makes W_ij, without overflow whatever the scores.
    """
    cdef Py_ssize_t q, i, j
    cdef double total = 0.0, ratio, share, right, wrong, own_demand, own_cost
    with nogil:
        demand[:] = 0.0
        for q in range(starts.shape[0] - 1):
            for i in range(starts[q], starts[q + 1]):
                # W_ii = 1/2, and e^0 = 1.
                ratio, own_demand, own_cost = 1.0, 0.0, 0.5
                for j in range(i + 1, starts[q + 1]):
                    ratio *= ratios[j]
                    share = 1.0 / (1.0 + ratio)
                    right = share * drops[i] * lifts[j]
                    wrong = ratio * share * lifts[i] * drops[j]
                    own_demand += right - wrong
                    demand[j] -= right - wrong
                    own_cost += right + wrong
                demand[i] += own_demand
                total += own_cost
    return total


def base_masses(
    const double[::1] lifts,
    const double[::1] drops,
    const double[::1] ratios,
    const Py_ssize_t[::1] starts,
    const double[::1] hypothesis,
):
    """The base ranker's pairs: cost of those set right, and of those set wrong."""
    cdef Py_ssize_t q, i, j
    cdef double won = 0.0, lost = 0.0, ratio, share, right, wrong, rises, stays
    cdef double right_risen, right_left, wrong_risen, wrong_left
    with nogil:
        for q in range(starts.shape[0] - 1):
            for i in range(starts[q], starts[q + 1]):
                ratio = 1.0
                right_risen = right_left = wrong_risen = wrong_left = 0.0
                for j in range(i + 1, starts[q + 1]):
                    ratio *= ratios[j]
                    share = 1.0 / (1.0 + ratio)
                    right = share * lifts[j]
                    wrong = ratio * share * drops[j]
                    right_risen += right * hypothesis[j]
                    right_left += right * (1.0 - hypothesis[j])
                    wrong_risen += wrong * hypothesis[j]
                    wrong_left += wrong * (1.0 - hypothesis[j])
                rises, stays = hypothesis[i], 1.0 - hypothesis[i]
                won += drops[i] * rises * right_left + lifts[i] * stays * wrong_risen
                lost += drops[i] * stays * right_risen + lifts[i] * rises * wrong_left
    return won, lost


def grade_demand(
    const double[::1] lifts,
    const double[::1] drops,
    const Py_ssize_t[::1] grades,
    const Py_ssize_t[::1] queries,
    double[::1] demand,
):
    """Pairs of different grades, V = 1 for the higher before the lower: the demand and the cost.

    The documents of a query come by grade, the lowest first: the grade `k` has those from
    `grades[k]` to `grades[k + 1]`, the query `q` the grades from `queries[q]` to `queries[q + 1]`.
    """
    cdef Py_ssize_t q, k, i
    cdef double total = 0.0, lower, higher, cost
    with nogil:
        for q in range(queries.shape[0] - 1):
            lower = 0.0
            for k in range(queries[q], queries[q + 1]):
                for i in range(grades[k], grades[k + 1]):
                    cost = drops[i] * lower
                    demand[i] = cost
                    total += cost
                for i in range(grades[k], grades[k + 1]):
                    lower += lifts[i]
            higher = 0.0
            for k in range(queries[q + 1] - 1, queries[q] - 1, -1):
                for i in range(grades[k], grades[k + 1]):
                    demand[i] -= lifts[i] * higher
                for i in range(grades[k], grades[k + 1]):
                    higher += drops[i]
    return total


def grade_masses(
    const double[::1] lifts,
    const double[::1] drops,
    const Py_ssize_t[::1] grades,
    const Py_ssize_t[::1] queries,
    const double[::1] hypothesis,
):
    """Pairs of different grades: cost of those set right, and of those set wrong."""
    cdef Py_ssize_t q, k, i
    cdef double won = 0.0, lost = 0.0, lower_risen, lower_left
    with nogil:
        for q in range(queries.shape[0] - 1):
            lower_risen = lower_left = 0.0
            for k in range(queries[q], queries[q + 1]):
                for i in range(grades[k], grades[k + 1]):
                    won += drops[i] * hypothesis[i] * lower_left
                    lost += drops[i] * (1.0 - hypothesis[i]) * lower_risen
                for i in range(grades[k], grades[k + 1]):
                    lower_risen += lifts[i] * hypothesis[i]
                    lower_left += lifts[i] * (1.0 - hypothesis[i])
    return won, lost
