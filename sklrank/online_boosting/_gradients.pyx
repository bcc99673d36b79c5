# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Gradients of convex losses of pairs, which are costs and update the weights of the learners.

`LogisticCosts` implements Eq. 8 of Jung & Tewari (2018) (Ada.OLMR). The costs are the gradient of
the logistic rank loss, sum_ab w_ab log(1 + exp(s[b] - s[a])). The weights of the learners are
updated by gradient steps on the same loss (Algorithm 3, line 9). With another step size and clipped
gradients, this is line 13 of Algorithm 3 of Raman et al. (2020). `ExponentialCosts` are the
gradient of the exponential rank loss, sum_ab w_ab exp(s[b] - s[a]).
"""

from libc.float cimport DBL_MIN
from libc.math cimport INFINITY, exp, sqrt

from sklrank._state cimport State
from sklrank.online_boosting._costs cimport CostRule, LabelPairs

cdef double MAX_LEARNER_WEIGHT = 2.0
# The exponential loss counts larger differences of scores as this one, so that costs are finite.
cdef double MAX_EXPONENT = 30.0


cdef class LogisticCosts(CostRule):
    """Gradient of the logistic rank loss (Eq. 8), which also updates the weights of the learners.

    Parameters
    ----------
    n_labels, n_learners : int
        Number of labels and of weak learners.
    learning_rate : float, default=1.0
        Learning rate of the weights. The step size is this value divided by the square root of the
        number of the round.
    gradient_clip : float, default=inf
        Bound to which the absolute values of the gradients of these steps are clipped.
    tie_loss : float, default=0.5
        Loss of a pair of labels with equal scores in the rank loss of an expert.
    initial_weight : float, default=0.0
        Weight of an untrained learner.
    """

    cdef readonly double learning_rate
    cdef readonly double gradient_clip

    def __init__(
        self, Py_ssize_t n_labels, Py_ssize_t n_learners, double learning_rate=1.0,
        double gradient_clip=INFINITY, double tie_loss=0.5, double initial_weight=0.0,
    ):
        self.start(
            {
                "n_labels": n_labels,
                "n_learners": n_learners,
                "tie_loss": tie_loss,
                "learning_rate": learning_rate,
                "gradient_clip": gradient_clip,
                "initial_weight": initial_weight,
            }
        )

    cdef dict get_state(self):
        return CostRule.get_state(self) | {
            "learning_rate": self.learning_rate,
            "gradient_clip": self.gradient_clip,
            "initial_weight": self.initial_weight,
        }

    cdef int set_state(self, State state) except -1:
        cdef double learning_rate = state.number("learning_rate", 0.0)
        cdef double gradient_clip = state.number("gradient_clip", 0.0)
        cdef double initial_weight = state.number(
            "initial_weight", -MAX_LEARNER_WEIGHT, MAX_LEARNER_WEIGHT
        )
        CostRule.set_state(self, state)
        self.learns_weights = True
        self.initial_weight = initial_weight
        self.learning_rate, self.gradient_clip = learning_rate, gradient_clip
        return 0

    cdef double next_weight(
        self, double weight, double gradient, Py_ssize_t n_rounds
    ) noexcept nogil:
        cdef double step = self.learning_rate / sqrt(<double>n_rounds)
        weight -= step * min(max(gradient, -self.gradient_clip), self.gradient_clip)
        return min(max(weight, -MAX_LEARNER_WEIGHT), MAX_LEARNER_WEIGHT)

    cdef void costs(
        self, Py_ssize_t i, const double* scores, const LabelPairs* pairs, double* costs,
        double* scratch,
    ) noexcept nogil:
        # Since sigma(s[b] - s[a]) = e_b / (e_a + e_b), one exponential per label suffices, instead
        # of one per pair. If an exponential underflows, the exponentials of the pairs are computed.
        cdef double* exponentials = scratch
        cdef double* irrelevant = scratch + self.n_labels
        cdef double* irrelevant_costs = scratch + 2 * self.n_labels
        cdef double* slopes = scratch + 3 * self.n_labels
        cdef double max_score = scores[0], e, slope_sum
        cdef Py_ssize_t j, k
        cdef bint underflow = False
        for j in range(self.n_labels):
            max_score = max(max_score, scores[j])
            costs[j] = 0.0
        for j in range(self.n_labels):
            exponentials[j] = exp(scores[j] - max_score)
            underflow = underflow or exponentials[j] < DBL_MIN
        for k in range(pairs.n_irrelevant):
            irrelevant[k] = exponentials[pairs.irrelevant[k]]
            irrelevant_costs[k] = 0.0
        for j in range(pairs.n_relevant):
            e = exponentials[pairs.relevant[j]]
            for k in range(pairs.n_irrelevant):
                slopes[k] = irrelevant[k] / (e + irrelevant[k])
            if underflow:
                for k in range(pairs.n_irrelevant):
                    slopes[k] = 1.0 / (
                        1.0 + exp(scores[pairs.relevant[j]] - scores[pairs.irrelevant[k]])
                    )
            if pairs.weights == NULL:
                for k in range(pairs.n_irrelevant):
                    irrelevant_costs[k] += slopes[k]
                slope_sum = pairs.weight * total(slopes, pairs.n_irrelevant)
            else:
                for k in range(pairs.n_irrelevant):
                    slopes[k] *= pairs.weights[j * pairs.n_irrelevant + k]
                    irrelevant_costs[k] += slopes[k]
                slope_sum = total(slopes, pairs.n_irrelevant)
            costs[pairs.relevant[j]] -= slope_sum
        for k in range(pairs.n_irrelevant):
            costs[pairs.irrelevant[k]] += (
                irrelevant_costs[k] if pairs.weights != NULL else pairs.weight * irrelevant_costs[k]
            )


cdef class ExponentialCosts(LogisticCosts):
    """Gradient of the exponential rank loss, which also updates the weights of the learners.

    The parameters are those of `LogisticCosts`. A difference s[b] - s[a] above 30 counts as 30.
    """

    cdef void costs(
        self, Py_ssize_t i, const double* scores, const LabelPairs* pairs, double* costs,
        double* scratch,
    ) noexcept nogil:
        cdef double* irrelevant_scores = scratch
        cdef double* irrelevant_costs = scratch + self.n_labels
        cdef double weight = pairs.weight, score, slope, slope_sum
        cdef Py_ssize_t j, k
        for j in range(self.n_labels):
            costs[j] = 0.0
        for k in range(pairs.n_irrelevant):
            irrelevant_scores[k] = scores[pairs.irrelevant[k]]
            irrelevant_costs[k] = 0.0
        for j in range(pairs.n_relevant):
            score = scores[pairs.relevant[j]]
            slope_sum = 0.0
            for k in range(pairs.n_irrelevant):
                if pairs.weights != NULL:
                    weight = pairs.weights[j * pairs.n_irrelevant + k]
                slope = weight * exp(min(irrelevant_scores[k] - score, MAX_EXPONENT))
                irrelevant_costs[k] += slope
                slope_sum += slope
            costs[pairs.relevant[j]] -= slope_sum
        for k in range(pairs.n_irrelevant):
            costs[pairs.irrelevant[k]] += irrelevant_costs[k]


cdef inline double total(const double* values, Py_ssize_t n) noexcept nogil:
    # Return the sum of the values. With four partial sums, an addition does not wait for the
    # result of the previous one.
    cdef double a = 0.0, b = 0.0, c = 0.0, d = 0.0
    cdef Py_ssize_t i = 0
    while i + 4 <= n:
        a += values[i]
        b += values[i + 1]
        c += values[i + 2]
        d += values[i + 3]
        i += 4
    while i < n:
        a += values[i]
        i += 1
    return (a + b) + (c + d)


# The rules by the name of the loss.
GRADIENTS = {"logistic": LogisticCosts, "exponential": ExponentialCosts}
