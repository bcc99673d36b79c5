# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Sums over ordered pairs of documents, for ranking refinement (Valizadegan 2010, chapter 4).

A pair (i, j) costs V_ij e^(F_j - F_i), where V_ij is the confidence that i ranks before j. The
second factor is the product of `exp_neg[i]` = e^-F_i and `exp_pos[j]` = e^F_j. The loss is the sum
of the costs. Its negative gradient at document i is the cost of the pairs in which i is the first
document, minus the cost of those in which it is the second.

The step weights of a hypothesis are the cost of the pairs that it ranks correctly (the first
document is raised, the second is not), and the cost of those that it ranks incorrectly. Values of a
hypothesis between 0 and 1 are the probabilities that documents are raised, independently of each
other. The step weights are then expected values.
"""


def base_loss_and_negative_gradient(
    const double[::1] exp_pos, const double[::1] exp_neg, const double[::1] ratios,
    const Py_ssize_t[::1] starts, double[::1] negative_gradient,
):
    """Write the negative gradient and return the loss for a base ranker, V = W of Equation 4.1.

    The documents of a query are in descending order of their base scores g, and `ratios[j]` is
    e^(lambda (g_j - g_(j-1))), at most 1. Let r be the product of ratios[i + 1], ..., ratios[j].
    Then W_ij = 1 / (1 + r) and W_ji = r / (1 + r), which cannot overflow.
    """
    cdef Py_ssize_t q, i, j
    cdef double total = 0.0, ratio, weight, forward, backward, gradient_i, loss_i
    with nogil:
        negative_gradient[:] = 0.0
        for q in range(starts.shape[0] - 1):
            for i in range(starts[q], starts[q + 1]):
                # The pair (i, i) costs W_ii e^0 = 1/2, if the weight of the document is 1.
                ratio, gradient_i, loss_i = 1.0, 0.0, 0.5 * exp_pos[i] * exp_neg[i]
                for j in range(i + 1, starts[q + 1]):
                    ratio *= ratios[j]
                    weight = 1.0 / (1.0 + ratio)
                    forward = weight * exp_neg[i] * exp_pos[j]
                    backward = ratio * weight * exp_pos[i] * exp_neg[j]
                    gradient_i += forward - backward
                    negative_gradient[j] -= forward - backward
                    loss_i += forward + backward
                negative_gradient[i] += gradient_i
                total += loss_i
    return total


def base_step_weights(
    const double[::1] exp_pos, const double[::1] exp_neg, const double[::1] ratios,
    const Py_ssize_t[::1] starts, const double[::1] hypothesis,
):
    """Return the step weights for a base ranker, V = W of Equation 4.1."""
    cdef Py_ssize_t q, i, j
    cdef double correct = 0.0, incorrect = 0.0, ratio, weight, forward, backward, raised, kept
    cdef double forward_raised, forward_kept, backward_raised, backward_kept
    with nogil:
        for q in range(starts.shape[0] - 1):
            for i in range(starts[q], starts[q + 1]):
                ratio = 1.0
                forward_raised = forward_kept = backward_raised = backward_kept = 0.0
                for j in range(i + 1, starts[q + 1]):
                    ratio *= ratios[j]
                    weight = 1.0 / (1.0 + ratio)
                    forward = weight * exp_pos[j]
                    backward = ratio * weight * exp_neg[j]
                    forward_raised += forward * hypothesis[j]
                    forward_kept += forward * (1.0 - hypothesis[j])
                    backward_raised += backward * hypothesis[j]
                    backward_kept += backward * (1.0 - hypothesis[j])
                raised, kept = hypothesis[i], 1.0 - hypothesis[i]
                correct += exp_neg[i] * raised * forward_kept + exp_pos[i] * kept * backward_raised
                incorrect += (
                    exp_neg[i] * kept * forward_raised + exp_pos[i] * raised * backward_kept
                )
    return correct, incorrect


def graded_loss_and_negative_gradient(
    const double[::1] exp_pos, const double[::1] exp_neg,
    const Py_ssize_t[::1] grades, const Py_ssize_t[::1] queries, double[::1] negative_gradient,
):
    """Write the negative gradient and return the loss for grades.

    V_ij is 1 if i has a higher grade than j, otherwise 0. The documents of a query are in ascending
    order of their grades. Grade `k` has the documents from `grades[k]` to `grades[k + 1]`, and
    query `q` the grades from `queries[q]` to `queries[q + 1]`.
    """
    cdef Py_ssize_t q, k, i
    cdef double total = 0.0, lower, higher, loss
    with nogil:
        for q in range(queries.shape[0] - 1):
            lower = 0.0
            for k in range(queries[q], queries[q + 1]):
                for i in range(grades[k], grades[k + 1]):
                    loss = exp_neg[i] * lower
                    negative_gradient[i] = loss
                    total += loss
                for i in range(grades[k], grades[k + 1]):
                    lower += exp_pos[i]
            higher = 0.0
            for k in range(queries[q + 1] - 1, queries[q] - 1, -1):
                for i in range(grades[k], grades[k + 1]):
                    negative_gradient[i] -= exp_pos[i] * higher
                for i in range(grades[k], grades[k + 1]):
                    higher += exp_neg[i]
    return total


def graded_step_weights(
    const double[::1] exp_pos, const double[::1] exp_neg,
    const Py_ssize_t[::1] grades, const Py_ssize_t[::1] queries, const double[::1] hypothesis,
):
    """Return the step weights for grades; see `graded_loss_and_negative_gradient`."""
    cdef Py_ssize_t q, k, i
    cdef double correct = 0.0, incorrect = 0.0, lower_raised, lower_kept
    with nogil:
        for q in range(queries.shape[0] - 1):
            lower_raised = lower_kept = 0.0
            for k in range(queries[q], queries[q + 1]):
                for i in range(grades[k], grades[k + 1]):
                    correct += exp_neg[i] * hypothesis[i] * lower_kept
                    incorrect += exp_neg[i] * (1.0 - hypothesis[i]) * lower_raised
                for i in range(grades[k], grades[k + 1]):
                    lower_raised += exp_pos[i] * hypothesis[i]
                    lower_kept += exp_pos[i] * (1.0 - hypothesis[i])
    return correct, incorrect
