"""Cost rules: what a weak learner should pay for a vote, given the votes before it."""


cdef enum:
    COST_SCRATCH = 4    # vectors (n_labels,) that a rule writes into while it finds its costs


cdef struct Pairs:
    # What is known of a row: relevant labels, irrelevant ones, and the weight of each pair.
    Py_ssize_t n_relevant
    Py_ssize_t n_irrelevant
    const Py_ssize_t* relevant
    const Py_ssize_t* irrelevant
    const double* weights       # (n_relevant, n_irrelevant), or NULL: all pairs weigh `weight`
    double weight
    Py_ssize_t n_favoured       # |Y| of the baseline learner u_gamma^Y that potentials assume


cdef class CostRule:
    cdef readonly Py_ssize_t n_labels
    cdef readonly Py_ssize_t n_learners
    cdef readonly bint learns_weights   # whether the learners' weights follow the costs,
    cdef readonly double learning_rate  # by steps of this over the root of the round,
    cdef readonly double gradient_clip  # down slopes cut off at plus and minus this
    cdef readonly bint single_label     # whether a learner's whole vote goes to one label

    # To be called once before the costs of a round are asked for.
    cdef int start_round(self, const Pairs* pairs) except -1 nogil

    # Costs (n_labels,) of the votes of learner `i`, from 0, when those before have cast `scores`.
    # `scratch` has room for COST_SCRATCH vectors.
    cdef void costs(
        self, Py_ssize_t i, const double* scores, const Pairs* pairs, double* costs,
        double* scratch,
    ) noexcept nogil


cdef double rank_loss(
    const double* scores, const Pairs* pairs, double tie_loss, double* scratch
) noexcept nogil
