# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Probability that a user who examines a list from the top reaches each place.

At document i the user stops with probability x_i, independently of the other documents. The user is
beyond the first t places with the probability that is the product of 1 - x_i over these documents.
For tied documents, whose orders are equally likely, the expected product over the first t of n
documents is the mean A_n(t) over all subsets of size t. If a document is added to the n - 1 others,
it is in the subset with probability t / n:

    A_n(t) = (1 - t / n) A_(n-1)(t) + t / n (1 - x_n) A_(n-1)(t - 1).

All terms are from 0 to 1, so that nothing overflows or cancels.
"""

import numpy as np


def survivals(
    const double[::1] stops,
    const Py_ssize_t[::1] groups,
    const Py_ssize_t[::1] starts,
    Py_ssize_t last,
):
    """Return the expected probability that the user is beyond each place.

    Parameters
    ----------
    stops : ndarray of shape (n_samples,)
        Probability to stop at each document; the documents are in the order of the lists.
    groups : ndarray of intp of shape (n_groups + 1,)
        Place at which each group of tied documents starts, and the number of documents.
    starts : ndarray of intp of shape (n_queries + 1,)
        Place at which each list starts, and the number of documents.
    last : int
        Number of documents of a query that matter. The values of later places are not defined.

    Returns
    -------
    ndarray of shape (n_samples,)
        Probabilities.
    """
    cdef Py_ssize_t q, g = 0, first, size, n, t, n_needed, longest = 1
    cdef double reached
    beyond_array = np.ones(len(stops))
    cdef double[::1] beyond = beyond_array
    for g in range(groups.shape[0] - 1):
        longest = max(longest, groups[g + 1] - groups[g])
    cdef double[::1] means = np.empty(min(longest, last) + 1)
    g = 0
    with nogil:
        for q in range(starts.shape[0] - 1):
            reached = 1.0
            while g < groups.shape[0] - 1 and groups[g] < starts[q + 1]:
                first, size = groups[g], groups[g + 1] - groups[g]
                g += 1
                n_needed = min(size, last - (first - starts[q]))
                if n_needed <= 0:
                    continue
                if size == 1:
                    reached *= 1.0 - stops[first]
                    beyond[first] = reached
                    continue
                means[0] = 1.0
                for n in range(1, size + 1):
                    if n <= n_needed:
                        means[n] = 0.0
                    for t in range(min(n, n_needed), 0, -1):
                        means[t] += t * (
                            (1.0 - stops[first + n - 1]) * means[t - 1] - means[t]
                        ) / n
                for t in range(1, n_needed + 1):
                    beyond[first + t - 1] = reached * means[t]
                reached *= means[n_needed]
    return beyond_array
