"""What every compiled learner that sees one row at a time offers to the loops that drive it."""


cdef struct LabelFeedback:
    # What one row teaches.
    Py_ssize_t n_labels         # how many relevant labels are known
    const Py_ssize_t* labels    # (n_labels,) which ones
    const double* weights       # (n_labels,) the importance weight of each
    double row_weight           # the weight of the row itself, whatever is known of it
    Py_ssize_t n_irrelevant     # how many labels are known to be irrelevant
    const Py_ssize_t* irrelevant    # (n_irrelevant,) which ones; NULL: all the others
    const double* costs         # (n_classes,) the cost of voting for each label, or NULL


cdef class OnlineLearner:
    cdef readonly Py_ssize_t n_features
    cdef readonly Py_ssize_t n_classes

    # Write the votes for the row `x`, a distribution over the classes, into `votes`. Reads only.
    cdef int predict(self, const double* x, double* votes) except -1 nogil

    # Learn from the row `x`.
    cdef int learn(self, const double* x, const LabelFeedback* feedback) except -1 nogil

    # As `predict` and `learn` of one row, in this order and on one thread: what was computed for
    # the votes may be kept for the feedback. Nothing else may come between the two.
    cdef int predict_cached(self, const double* x, double* votes) except -1 nogil
    cdef int learn_cached(self, const double* x, const LabelFeedback* feedback) except -1 nogil
