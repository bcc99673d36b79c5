"""Compiled tasks of Predtron: predictions, their losses and the directions of the steps."""

from sklrank.linear_model._predtron._sorting cimport Item


# Of the losses of all predictions.
cdef struct LossRange:
    double min                  # the least one that is not zero; infinite if all are zero
    double max


cdef class Task:
    cdef readonly bint loss_driven              # Predtron.LD
    cdef readonly Py_ssize_t n_rounds           # rounds chosen
    cdef const Py_ssize_t[::1] chosen           # (n_rounds,) their indices among all rounds
    cdef readonly Py_ssize_t n_all              # all rounds

    # The methods below get the index `i` of a round among those chosen.

    # Return the number of scores.
    cdef Py_ssize_t n_scores(self, Py_ssize_t i) noexcept nogil

    # Return the loss of the prediction by the scores `(n_scores(i),)`. If it is not 0, write
    # rep(sigma~) - rep(sigma_y) into `direction`, `(n_scores(i),)`.
    cdef double loss_and_direction(
        self, Py_ssize_t i, const double* scores, double* direction
    ) except -1.0 nogil

    # Return the range of the losses.
    cdef LossRange loss_range(self, Py_ssize_t i) noexcept nogil


cdef class ClassTask(Task):
    cdef const double[:, ::1] costs         # (n_classes, n_classes)
    cdef const Py_ssize_t[::1] labels       # (n_all,)
    cdef Py_ssize_t width                   # scores of a round
    cdef LossRange costs_range
    cdef double[::1] similarities           # scratch: (n_classes,)

    cdef void write_similarities(self, const double* scores) noexcept nogil
    cdef void add(self, Py_ssize_t prediction, double sign, double* direction) noexcept nogil


# The best of the sets that have so many relevant and irrelevant labels.
cdef struct Candidate:
    Py_ssize_t n_relevant
    Py_ssize_t n_irrelevant
    double value
    double loss


# The relevant labels of a round, or the irrelevant ones.
cdef struct LabelGroup:
    Item* items                 # first: the score; index: the label
    double* similarities        # (n + 1,) if the set has the first 0, 1, ..., n of them
    Py_ssize_t n
    Py_ssize_t n_positive       # labels of positive scores
    Py_ssize_t n_zero


cdef class SubsetTask(Task):
    cdef const Py_ssize_t[::1] indptr       # relevant labels of each round, as in a CSR matrix
    cdef const Py_ssize_t[::1] labels
    cdef Py_ssize_t n_labels
    cdef const Py_ssize_t[::1] offsets      # (n_labels + 1,) start of the table for each |Y|
    cdef const double[::1] losses           # tables, one after the other
    cdef double unit                        # 1 / sqrt(n_labels)
    cdef Item[::1] items                    # scratch: relevant labels, then irrelevant ones
    cdef Item[::1] buffer                   # scratch of the sort
    cdef double[::1] similarities           # scratch

    cdef void split_labels(
        self, Py_ssize_t i, const double* scores, LabelGroup* relevant, LabelGroup* irrelevant
    ) noexcept nogil
    cdef void sort(self, LabelGroup* group) noexcept nogil
    cdef void write_direction(
        self, const LabelGroup* group, Py_ssize_t n_augmented, Py_ssize_t n_correct,
        double* direction,
    ) noexcept nogil
