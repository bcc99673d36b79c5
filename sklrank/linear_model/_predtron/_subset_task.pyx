# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Sets of labels, for losses that count (Jain et al. 2015, Section 3 and Appendix C.2).

A set sigma of m labels is represented by +-1 / sqrt(m): plus where it has the label. Its loss may
be anything that depends on how many of the relevant labels Y, a, and of the others, b, it has. Of
all sets with the same (a, b) the scores like that best which takes the labels of greatest scores on
both sides. So a search over the cells (a, b), (|Y| + 1) (m - |Y| + 1) of them, is one over all 2^m
sets.

pred(t) has the labels of positive scores. A label of the score zero is a tie, broken against Y:
that, too, is a search, over how many labels of the score zero are taken on either side.
"""

from libc.math cimport INFINITY, sqrt

import numpy as np

from sklrank._online_learner import check_lists
from sklrank.linear_model._predtron._sorting import make_items

from sklrank.linear_model._predtron._task cimport leads
from sklrank.linear_model._predtron._sorting cimport sort_items


cdef class SubsetTask(Task):
    """Rows of a set of labels each.

    Parameters
    ----------
    indptr, labels : ndarrays of shape (n_rounds + 1,) and (n_relevant,)
        The relevant labels of each row, in order, as in a CSR matrix.
    n_labels : int
        How many labels there are.
    offsets, losses : ndarrays of shape (n_labels + 1,) and (n_losses,)
        Rows with r relevant labels have their losses at `losses[offsets[r]:]`, as a table of shape
        (r + 1, n_labels - r + 1) by (a, b), zero at (r, 0). The offset is -1 where no row has r.
    loss_driven : bool
        Whether to be loss-driven.
    """

    def __init__(
        self, const Py_ssize_t[::1] indptr, const Py_ssize_t[::1] labels, Py_ssize_t n_labels,
        const Py_ssize_t[::1] offsets, const double[::1] losses, bint loss_driven=False,
    ):
        cdef Py_ssize_t i, j, r
        self.n_rounds, self.loss_driven = indptr.shape[0] - 1, loss_driven
        check_lists(indptr, labels, self.n_rounds, n_labels)
        for i in range(self.n_rounds):
            for j in range(indptr[i] + 1, indptr[i + 1]):
                if labels[j] <= labels[j - 1]:
                    raise ValueError(f"labels of row {i} are not in order")
        if n_labels < 1 or offsets.shape[0] != n_labels + 1:
            raise ValueError("offsets do not fit the number of labels")
        for r in np.unique(np.diff(indptr)):
            if not 0 <= offsets[r] <= losses.shape[0] - (r + 1) * (n_labels - r + 1):
                raise ValueError(f"losses lack the table of {r} relevant labels")
        self.indptr, self.labels, self.n_labels = indptr, labels, n_labels
        self.offsets, self.losses = offsets, losses
        self.unit = 1.0 / sqrt(<double>n_labels)
        self.items, self.room = make_items(n_labels), make_items(n_labels)
        self.similarities = np.empty(n_labels + 2)

    cdef Py_ssize_t n_scores(self, Py_ssize_t i) noexcept nogil:
        return self.n_labels

    cdef double loss_and_direction(
        self, Py_ssize_t i, const double* scores, double* direction
    ) except -1.0 nogil:
        cdef Side relevant, irrelevant
        cdef Cell predicted, wrong, right
        cdef const double* losses
        cdef double loss, similarity
        cdef Py_ssize_t a, b
        self.split(i, scores, &relevant, &irrelevant)
        losses = &self.losses[self.offsets[relevant.n]]
        predicted = worst_prediction(losses, &relevant, &irrelevant)
        if predicted.loss == 0.0:
            return 0.0
        self.sort(&relevant)
        self.sort(&irrelevant)
        wrong = predicted
        # The set Y itself is always right.
        right.n_relevant, right.n_irrelevant = relevant.n, 0
        wrong.value = right.value = -INFINITY
        for a in range(relevant.n + 1):
            for b in range(irrelevant.n + 1):
                loss = losses[a * (irrelevant.n + 1) + b]
                similarity = relevant.similarities[a] + irrelevant.similarities[b]
                if loss == 0.0 and similarity > right.value:
                    right = Cell(a, b, similarity, loss)
                if not self.loss_driven and leads(loss + similarity, loss, wrong.value, wrong.loss):
                    wrong = Cell(a, b, loss + similarity, loss)
        self.write_step(&relevant, wrong.n_relevant, right.n_relevant, direction)
        self.write_step(&irrelevant, wrong.n_irrelevant, right.n_irrelevant, direction)
        return predicted.loss

    cdef void split(
        self, Py_ssize_t i, const double* scores, Side* relevant, Side* irrelevant
    ) noexcept nogil:
        cdef Py_ssize_t label, j = self.indptr[i], stop = self.indptr[i + 1]
        cdef Side* side
        relevant.items = &self.items[0]
        relevant.similarities = &self.similarities[0]
        irrelevant.items = relevant.items + (stop - j)
        irrelevant.similarities = relevant.similarities + (stop - j + 1)
        relevant.n = relevant.n_positive = relevant.n_zero = 0
        irrelevant.n = irrelevant.n_positive = irrelevant.n_zero = 0
        for label in range(self.n_labels):
            if j < stop and self.labels[j] == label:
                side = relevant
                j += 1
            else:
                side = irrelevant
            side.items[side.n] = Item(scores[label], 0.0, label)
            side.n += 1
            side.n_positive += scores[label] > 0.0
            side.n_zero += scores[label] == 0.0

    cdef void sort(self, Side* side) noexcept nogil:
        cdef double similarity = 0.0
        cdef Py_ssize_t j
        sort_items(side.items, side.n, &self.room[0])
        for j in range(side.n):
            similarity -= self.unit * side.items[j].first
        side.similarities[0] = similarity
        for j in range(side.n):
            similarity += 2.0 * self.unit * side.items[j].first
            side.similarities[j + 1] = similarity

    cdef void write_step(
        self, const Side* side, Py_ssize_t n_wrong, Py_ssize_t n_right, double* direction
    ) noexcept nogil:
        # The wrong and the right prediction differ in the labels that one of them takes further.
        cdef double change = 2.0 * self.unit * (1.0 if n_wrong > n_right else -1.0)
        cdef Py_ssize_t j
        for j in range(side.n):
            direction[side.items[j].index] = 0.0
        for j in range(min(n_wrong, n_right), max(n_wrong, n_right)):
            direction[side.items[j].index] = change


cdef Cell worst_prediction(
    const double* losses, const Side* relevant, const Side* irrelevant
) noexcept nogil:
    cdef Cell worst = Cell(relevant.n_positive, irrelevant.n_positive, 0.0, -1.0)
    cdef Py_ssize_t a, b
    cdef double loss
    for a in range(relevant.n_positive, relevant.n_positive + relevant.n_zero + 1):
        for b in range(irrelevant.n_positive, irrelevant.n_positive + irrelevant.n_zero + 1):
            loss = losses[a * (irrelevant.n + 1) + b]
            if loss > worst.loss:
                worst = Cell(a, b, 0.0, loss)
    return worst
