# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Base class of the cost rules: the costs of votes, the weights of learners, the losses of experts.

A rule sums over the known pairs of a relevant label a and an irrelevant label b. Each pair has a
weight w_ab, which is 1 / (|Y| |Y^c|) with full information. The rules are in `_potentials.pyx`
(OnlineBMR, Top-k BBM) and in `_gradients.pyx` (Ada.OLMR, Top-k Adaptive).

To add a rule, derive a class from `CostRule` that defines `costs`, extends `get_state` and
`set_state` by its parameters and, if needed, overrides the other methods that `_costs.pxd`
declares. `_costs.pxd` states the contract of a rule:

- `costs` must write a number for every label; the buffer is not zeroed.
- If `learns_weights` is True, the costs must be the gradient of the loss and must not depend on the
  index of the learner.
- Several threads call `costs` and `expert_loss` at the same time. These methods may write only to
  their output and to `scratch`; only `prepare` and `start_round` may change the rule.
- `next_weight` is called only if `set_state` sets `learns_weights` (then it also sets
  `initial_weight`), and `expert_loss` only if the estimator sets `_hedge = True`.
- The default `expert_loss` uses `tie_loss`. Hedge adds up the losses with the learning rate 1 and
  expects losses in [0, 1].

An estimator returns the rule from `_make_cost_rule`, see `_ada_olmr.py`.
"""

import numpy as np

from sklrank._state cimport State


cdef class CostRule:
    """Base class of the cost rules. `_costs.pxd` states what each method must do.

    By default, all learners have the weight 1, and the loss of an expert is the rank loss.

    Parameters
    ----------
    n_labels, n_learners : int
        Number of labels and of weak learners.
    tie_loss : float, default=0.5
        Loss of a pair of labels with equal scores in the rank loss of an expert.
    """

    def __init__(self, Py_ssize_t n_labels, Py_ssize_t n_learners, double tie_loss=0.5):
        self.start({"n_labels": n_labels, "n_learners": n_learners, "tie_loss": tie_loss})

    cdef dict get_state(self):
        return {
            "n_labels": self.n_labels, "n_learners": self.n_learners, "tie_loss": self.tie_loss
        }

    cdef int set_state(self, State state) except -1:
        cdef Py_ssize_t n_labels = state.count("n_labels", 1)
        cdef Py_ssize_t n_learners = state.count("n_learners", 1)
        cdef double tie_loss = state.number("tie_loss")
        state.require(
            not self.is_ready or (n_labels, n_learners) == (self.n_labels, self.n_learners),
            "its sizes are not those of the object",
        )
        self.n_labels, self.n_learners, self.tie_loss = n_labels, n_learners, tie_loss
        self.initial_weight = 1.0
        return 0

    cdef int prepare(self, Py_ssize_t baseline_size) except -1:
        return 0

    cdef int start_round(self, const LabelPairs* pairs) except -1 nogil:
        return 0

    cdef void costs(
        self, Py_ssize_t i, const double* scores, const LabelPairs* pairs, double* costs,
        double* scratch,
    ) noexcept nogil:
        pass

    cdef double next_weight(
        self, double weight, double gradient, Py_ssize_t n_rounds
    ) noexcept nogil:
        return weight

    cdef double expert_loss(
        self, const double* scores, const LabelPairs* pairs, double* scratch
    ) noexcept nogil:
        # The rank loss is the sum of the weights of the pairs in the wrong order, plus `tie_loss`
        # times the sum of the weights of the pairs with equal scores.
        cdef double score, loss = 0.0
        cdef Py_ssize_t j, k, n_above, n_not_below
        cdef const double* weights
        cdef double* irrelevant_scores = scratch
        for k in range(pairs.n_irrelevant):
            irrelevant_scores[k] = scores[pairs.irrelevant[k]]
        for j in range(pairs.n_relevant):
            score = scores[pairs.relevant[j]]
            if pairs.weights == NULL:
                n_above = n_not_below = 0
                for k in range(pairs.n_irrelevant):
                    n_above += irrelevant_scores[k] > score
                    n_not_below += irrelevant_scores[k] >= score
                loss += pairs.weight * (n_above + self.tie_loss * (n_not_below - n_above))
            else:
                weights = pairs.weights + j * pairs.n_irrelevant
                for k in range(pairs.n_irrelevant):
                    if irrelevant_scores[k] >= score:
                        loss += weights[k] * (
                            1.0 if irrelevant_scores[k] > score else self.tie_loss
                        )
        return loss

    def cost_vector(self, Py_ssize_t i, scores, relevant, irrelevant, weights, baseline_size=None):
        """Return the costs `(n_labels,)` of the votes of learner `i` = 0, 1, ... For tests.

        `weights` has the shape `(len(relevant), len(irrelevant))`. If `baseline_size` is None, it
        is the number of relevant labels.
        """
        self.require_ready()
        if not 0 <= i < self.n_learners:
            raise IndexError(f"learner {i} of {self.n_learners}")
        return self._of_pairs(i, scores, relevant, irrelevant, weights, baseline_size)

    def loss_of_expert(self, scores, relevant, irrelevant, weights):
        """Return the loss of an expert that gives these scores. For tests."""
        self.require_ready()
        return self._of_pairs(None, scores, relevant, irrelevant, weights, None)

    def _of_pairs(self, i, scores, relevant, irrelevant, weights, baseline_size):
        # Return the costs of learner `i`, or the loss of an expert if `i` is None.
        cdef const double[::1] s = np.ascontiguousarray(scores, dtype=np.float64)
        cdef const Py_ssize_t[::1] a = np.ascontiguousarray(relevant, dtype=np.intp)
        cdef const Py_ssize_t[::1] b = np.ascontiguousarray(irrelevant, dtype=np.intp)
        cdef const double[:, ::1] w = np.ascontiguousarray(weights, dtype=np.float64)
        cdef double[::1] costs = np.zeros(self.n_labels)
        cdef double[::1] scratch = np.empty(COST_SCRATCH * self.n_labels)
        cdef LabelPairs pairs
        labels = np.concatenate((relevant, irrelevant))
        if len(s) != self.n_labels or (w.shape[0], w.shape[1]) != (len(a), len(b)):
            raise ValueError("scores or weights do not match the labels")
        if w.size == 0 or labels.min() < 0 or labels.max() >= self.n_labels:
            raise ValueError("a relevant and an irrelevant label within n_labels are needed")
        if len(np.unique(labels)) < len(labels):
            raise ValueError("each label must be given once, as relevant or as irrelevant")
        if baseline_size is not None and baseline_size < 1:
            raise ValueError("baseline_size must be at least 1")
        pairs.n_relevant, pairs.n_irrelevant = len(a), len(b)
        pairs.relevant, pairs.irrelevant, pairs.weights = &a[0], &b[0], &w[0, 0]
        pairs.weight = 0.0
        know_labels_of_pairs(&pairs)
        pairs.baseline_size = len(a) if baseline_size is None else baseline_size
        self.prepare(pairs.baseline_size)
        self.start_round(&pairs)
        if i is None:
            return self.expert_loss(&s[0], &pairs, &scratch[0])
        self.costs(i, &s[0], &pairs, &costs[0], &scratch[0])
        return np.asarray(costs)


cdef void know_labels_of_pairs(LabelPairs* pairs) noexcept nogil:
    # The known labels are those of the pairs.
    pairs.n_known_relevant, pairs.known_relevant = pairs.n_relevant, pairs.relevant
    pairs.n_known_irrelevant, pairs.known_irrelevant = pairs.n_irrelevant, pairs.irrelevant
