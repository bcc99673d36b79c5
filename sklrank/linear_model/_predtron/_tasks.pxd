"""Compiled tasks of Predtron: predictions, their losses and the directions of the steps."""

from sklrank._compiled.sorting cimport Item


cdef class Task:
    cdef readonly bint loss_driven              # whether to use the steps of Predtron.LD
    cdef readonly Py_ssize_t n_rounds           # number of chosen rounds
    cdef const Py_ssize_t[::1] chosen           # (n_rounds,) their indices among all rounds
    cdef readonly Py_ssize_t n_all              # number of all rounds

    # Set the number of all rounds, and choose all rounds.
    cdef int set_size(self, Py_ssize_t n_all) except -1

    # In the methods below, `i` is the index of a round among the chosen rounds.

    # Return the number of scores.
    cdef Py_ssize_t n_scores(self, Py_ssize_t i) noexcept nogil

    # Return the loss of the prediction for the scores `(n_scores(i),)`. If the loss is not 0, write
    # rep(sigma~) - rep(sigma_y) into `direction`, `(n_scores(i),)`.
    cdef double loss_and_direction(
        self, Py_ssize_t i, const double* scores, double* direction
    ) except -1.0 nogil


cdef class ClassTask(Task):
    cdef const double[:, ::1] costs         # (n_classes, n_predictions)
    cdef const double[:, ::1] codes         # (n_codes, n_scores)
    cdef Py_ssize_t n_basis                 # number of predictions represented by the basis
    cdef const Py_ssize_t[::1] labels       # (n_all,)
    cdef double[::1] similarities           # scratch: (n_predictions,)

    cdef void write_similarities(self, const double* scores) noexcept nogil
    cdef void add(self, Py_ssize_t prediction, double sign, double* direction) noexcept nogil


# The best one of the sets that have `n_relevant` relevant and `n_irrelevant` irrelevant labels.
cdef struct Candidate:
    Py_ssize_t n_relevant
    Py_ssize_t n_irrelevant
    double value
    double loss


# The relevant labels or the irrelevant labels of a round.
cdef struct LabelGroup:
    Item* items                 # `first` is the score, and `index` is the label
    double* similarities        # (n + 1,) similarities of the sets of the first 0, 1, ..., n labels
    Py_ssize_t n                # number of labels
    Py_ssize_t n_positive       # number of labels with a positive score
    Py_ssize_t n_zero           # number of labels with score zero


cdef class SubsetTask(Task):
    cdef const Py_ssize_t[::1] indptr       # relevant labels of each round, as in a CSR matrix
    cdef const Py_ssize_t[::1] labels
    cdef Py_ssize_t n_labels
    cdef const Py_ssize_t[::1] offsets      # (n_labels + 1,) start of the table for each |Y|
    cdef const double[::1] losses           # concatenated tables
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
