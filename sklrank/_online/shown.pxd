"""Labels shown for samples, with their propensities and rewards."""


cdef class ShownLabels:
    cdef readonly Py_ssize_t n_samples, k, n_labels
    cdef const Py_ssize_t[:, ::1] actions       # (n_samples, k)
    cdef const double[:, :, ::1] propensities   # (n_samples, k, k)
    cdef const double[:, ::1] rewards           # (n_samples, k) from 0 to 1, NaN if not known
    cdef const char[:, :] available             # (n_samples, n_labels) mask, or None for all labels
    # The actions, the rewards and the propensities (n_samples, k) of labels, for `LabelSets.play`.
    cdef readonly tuple record

    # Show the labels of sample `t`, given its scores. A record has shown them before.
    cdef void show(self, Py_ssize_t t, const double* scores) noexcept nogil
