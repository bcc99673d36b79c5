"""Cost rules: costs of votes, weights of learners and losses of experts."""


cdef enum:
    COST_SCRATCH = 4    # number of vectors (n_labels,) that a rule may use as working memory


cdef struct LabelPairs:
    # The known pairs of a relevant and an irrelevant label of a sample, and their weights.
    Py_ssize_t n_relevant
    Py_ssize_t n_irrelevant
    const Py_ssize_t* relevant
    const Py_ssize_t* irrelevant
    const double* weights       # (n_relevant, n_irrelevant), or NULL: all pairs have `weight`
    double weight
    Py_ssize_t baseline_size    # |Y| of the random learner u_gamma^Y that potentials assume


cdef class CostRule:
    cdef readonly Py_ssize_t n_labels
    cdef readonly Py_ssize_t n_learners
    cdef readonly double initial_weight      # weight alpha of an untrained learner
    cdef readonly bint learns_weights        # True if the weights change: `next_weight` is called
    cdef readonly bint single_label          # True if a learner's whole vote is given to one label
    cdef readonly double tie_loss            # loss of an expert for a pair of equal scores

    # Prepare for the costs of a round. Called once in each round, before `costs`.
    cdef int start_round(self, const LabelPairs* pairs) except -1 nogil

    # Write the costs (n_labels,) of a vote of learner `i` = 0, 1, ... for each label, given the
    # `scores` by the learners before it. `scratch` has room for COST_SCRATCH vectors.
    cdef void costs(
        self, Py_ssize_t i, const double* scores, const LabelPairs* pairs, double* costs,
        double* scratch,
    ) noexcept nogil

    # Return the weight of a learner after round number `n_rounds`. `gradient` is c(s_i) . h_i, the
    # derivative of the loss at the scores of the expert that ends with this learner.
    cdef double next_weight(
        self, double weight, double gradient, Py_ssize_t n_rounds
    ) noexcept nogil

    # Return the loss of an expert that gives these scores; Hedge sums it up.
    cdef double expert_loss(
        self, const double* scores, const LabelPairs* pairs, double* scratch
    ) noexcept nogil
