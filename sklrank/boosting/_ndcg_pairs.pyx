# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Sums over the pairs of documents of a query, for NDCG_Boost (Valizadegan 2010, chapter 3).

With scores F, the document j is ahead of i with probability p = 1 / (1 + e^(F_i - F_j)) (Eq. 3.8),
and gamma = p (1 - p) (Eq. 3.14) tells how near to each other they are. One division gives both when
e^F is at hand. A pair of documents without gain counts nowhere, which leaves (relevant) x (all): in
each query the documents with a gain, `n_relevant` of them, come first.
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
    cdef Py_ssize_t q, i, j
    cdef double objective = 0.0, power, gain, share, ahead, behind, pull, own_pull, own_cost
    with nogil:
        weights[:] = 0.0
        for q in range(starts.shape[0] - 1):
            for i in range(starts[q], starts[q] + n_relevant[q]):
                power, gain, own_pull, own_cost = powers[i], gains[i], 0.0, 0.0
                for j in range(i + 1, starts[q + 1]):
                    share = 1.0 / (power + powers[j])
                    ahead, behind = share * powers[j], share * power
                    pull = (gain - gains[j]) * ahead * behind
                    weights[j] -= pull
                    own_pull += pull
                    own_cost += gain * ahead + gains[j] * behind
                weights[i] += own_pull
                objective += own_cost
    return objective


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
    cdef Py_ssize_t q, a, b, i, n_risen, n_left, n_relevant_left, stop
    cdef double won = 0.0, lost = 0.0, power, share, near, own_near, own_lost
    with nogil:
        for q in range(starts.shape[0] - 1):
            n_risen = n_left = n_relevant_left = 0
            for i in range(starts[q], starts[q + 1]):
                if hypothesis[i] > 0.0:
                    risen[0, n_risen], risen[1, n_risen] = powers[i], gains[i]
                    n_risen += 1
                else:
                    left[0, n_left], left[1, n_left] = powers[i], gains[i]
                    n_left += 1
                    n_relevant_left += i < starts[q] + n_relevant[q]
            for a in range(n_risen):
                power, own_near, own_lost = risen[0, a], 0.0, 0.0
                stop = n_left if risen[1, a] > 0.0 else n_relevant_left
                for b in range(stop):
                    share = 1.0 / (power + left[0, b])
                    near = share * share * power * left[0, b]
                    own_near += near
                    own_lost += left[1, b] * near
                won += risen[1, a] * own_near
                lost += own_lost
    return won, lost
