"""Cost rules: the costs of votes, the weights of learners and the losses of experts.

The contract of a rule, which the loop over the rounds (`_rounds.pyx`) relies on:

- Before the first round of a batch, one thread calls `prepare` for each size that may occur in it.
- In each round, one thread calls `start_round`. Then several threads call `costs` and `expert_loss`
  at the same time. At the end, one thread calls `next_weight` for each learner. Only `prepare` and
  `start_round` may change the rule; `costs` and `expert_loss` may write only to their output and to
  `scratch`.
- If `learns_weights` is True, the loop also calls `costs(i, scores after learner i)`. It uses this
  vector both as the gradient for the weight of learner i and as the costs of learner i + 1. Thus
  the costs must be the gradient of the loss at the scores and must not depend on `i`.
- A rule extends `exchange` by its parameters, see `sklrank/_state.pyx`.

A subclass of `CostRule` is declared here only if another module cimports it.
"""

from sklrank._state cimport Persistent


cdef enum:
    COST_SCRATCH = 4    # number of vectors (n_labels,) that a rule may use as working memory


cdef struct LabelPairs:
    # The pairs of a relevant and an irrelevant label of a sample, and their weights. With top-k
    # feedback there may be no pair: `n_relevant` or `n_irrelevant` may be 0. If the pairs are
    # estimated, a label may be in both lists, and weights may be negative; the pairs of a label
    # with itself have weight 0.
    Py_ssize_t n_relevant
    Py_ssize_t n_irrelevant
    const Py_ssize_t* relevant
    const Py_ssize_t* irrelevant
    const double* weights       # (n_relevant, n_irrelevant), or NULL if all pairs have `weight`
    double weight               # weight of each pair if `weights` is NULL
    Py_ssize_t baseline_size    # |Y| of the random learner u_gamma^Y that potentials assume
    # The labels whose relevance is known. They are the labels of the pairs unless these are
    # estimated.
    Py_ssize_t n_known_relevant
    Py_ssize_t n_known_irrelevant
    const Py_ssize_t* known_relevant
    const Py_ssize_t* known_irrelevant


cdef class CostRule(Persistent):
    cdef readonly Py_ssize_t n_labels
    cdef readonly Py_ssize_t n_learners
    # `exchange` sets these attributes. If `learns_weights` is True, `next_weight` updates the
    # weight of each learner, which starts at `initial_weight`; otherwise the weights are constant.
    cdef readonly double initial_weight      # weight alpha of an untrained learner
    cdef readonly bint learns_weights
    cdef readonly bint single_label          # True if a learner's whole vote is given to one label
    # Loss of a pair of equal scores, which the default `expert_loss` uses.
    cdef readonly double tie_loss

    # Compute what rounds with this `baseline_size` need. The loop calls this method before the
    # first round of a batch, so that Ctrl-C or a lack of memory in it does not interrupt a round.
    cdef int prepare(self, Py_ssize_t baseline_size) except -1

    # Prepare the rule for a round. The loop calls this method once per round, before `costs`.
    cdef int start_round(self, const LabelPairs* pairs) except -1 nogil

    # Write to `costs` (n_labels,) the cost of a vote of learner `i` = 0, 1, ... for each label,
    # given the `scores` (n_labels,) by the learners before it. The method must write a number for
    # every label, since the buffer is not zeroed. For a label in no pair this is 0 if the costs are
    # a gradient, and the potential without a vote if they are potentials. `scratch` has room for
    # COST_SCRATCH vectors (n_labels,).
    cdef void costs(
        self, Py_ssize_t i, const double* scores, const LabelPairs* pairs, double* costs,
        double* scratch,
    ) noexcept nogil

    # Return the weight of a learner after round number `n_rounds` = 1, 2, ..., given its `weight`
    # before. It is a function of these three arguments only. `gradient` is c(s_i) . h_i, the
    # derivative of the loss at s_i along the vote h_i. Here s_i are the scores by the learners up
    # to this one. The loop calls this method only if `learns_weights` is True.
    cdef double next_weight(
        self, double weight, double gradient, Py_ssize_t n_rounds
    ) noexcept nogil

    # Return the loss of an expert that gives these scores. The loop calls this method only if the
    # estimator sets `_hedge = True`. Hedge adds up the losses with the learning rate 1. It expects
    # losses in [0, 1] for a sample of weight 1, such as the rank loss. Estimates from top-k
    # feedback may be larger.
    cdef double expert_loss(
        self, const double* scores, const LabelPairs* pairs, double* scratch
    ) noexcept nogil


# Set the known labels to those of the pairs.
cdef void know_labels_of_pairs(LabelPairs* pairs) noexcept nogil
