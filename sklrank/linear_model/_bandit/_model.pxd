"""Compiled linear models that learn from bandit feedback."""

from sklrank._compiled.rows cimport Row
from sklrank._compiled.state cimport Archive, Persistent
from sklrank.linear_model._mirror._maps cimport MirrorMap


cdef struct BanditFeedback:
    Py_ssize_t greedy       # greedy class: the class shown without exploration
    Py_ssize_t action       # class shown
    double propensity       # probability with which `action` was shown
    double reward           # 1 if `action` is the correct class, else 0; or a number from 0 to 1
    double rate             # exploration rate of the round


cdef class BanditModel(Persistent):
    cdef readonly Py_ssize_t n_features, n_classes
    cdef readonly Py_ssize_t n_components   # number of random features beside these features
    # Number of all features, plus 1 if there is a constant; 0 for a kernel.
    cdef readonly Py_ssize_t width
    cdef readonly Py_ssize_t n_scratch  # number of doubles of the scratch memory of `score`
    cdef readonly bint needs_dense      # whether samples must be dense arrays
    cdef readonly bint needs_greedy     # whether `learn` depends on the greedy class
    cdef readonly bint has_errors       # whether `choose` computes `errors`
    # From `choose`, (n_classes,): the values of the classes; their scores and the standard errors
    # of these, which are equal to `values` and unused if not `has_errors`.
    cdef double[::1] values, estimates, errors

    # Allocate `values`. Raise ValueError if the sizes do not fit each other.
    cdef int check_sizes(self, Archive archive) except -1

    # Make `score` safe to be called by several threads, until the model learns (see MirrorMap).
    cdef int prepare(self) except -1

    # Write the scores of the classes into `scores`. The model is not changed, so that threads can
    # score with the same model. `scratch` (n_scratch,) may be overwritten.
    cdef void score(self, const Row* row, double* scores, double* scratch) noexcept nogil

    # Write the value of showing each class into `values`, its score into `estimates`, and the
    # standard error of the score into `errors`. Return the class with the largest value. Classes
    # outside of the mask `available` are left out, unless it is NULL. The model does not learn.
    cdef Py_ssize_t choose(self, const Row* row, const char* available) noexcept nogil

    # Prepare to learn from a sample without a choice of a class, which takes most of the time.
    cdef void prepare_to_learn(self, const Row* row) noexcept nogil

    # Learn from the feedback for a sample. The last call of `choose` or `prepare_to_learn` must be
    # for this sample. After `prepare_to_learn`, the greedy class in the feedback is -1.
    cdef void learn(self, const Row* row, const BanditFeedback* feedback) noexcept nogil

# Return the index of the largest value of the available classes, the first one if there are ties.
cdef Py_ssize_t first_largest_available(
    const double* values, Py_ssize_t n, const char* available
) noexcept nogil
