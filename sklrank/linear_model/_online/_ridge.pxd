"""The recursive least squares behind OnlineRidgeClassifier."""

from sklrank._online_learner cimport LabelFeedback
from sklrank.linear_model._online._feature_map cimport FeatureMap
from sklrank.linear_model._online._learner cimport LinearLearner


cdef class RidgeLearner(LinearLearner):
    cdef readonly double alpha, process_noise, vote_scale
    cdef readonly bint learns_relevance     # or else the costs of a booster's lessons
    # P, what is not known of the weights, is covariance - gain spread spread'.
    cdef double[:, ::1] covariance      # (n_outputs, n_outputs) valid on and below the diagonal
    cdef double[::1] spread             # (n_outputs,) P f for the row that was learnt last
    cdef double gain
    cdef double[::1] spread_before      # scratch
    cdef double[::1] known              # (n_classes,) weight of the rows in which a label was known
    cdef double mean_known              # its mean over the labels

    cdef double spread_row(self, double process_noise) noexcept nogil
    cdef void step_for_all(self, double weight) noexcept nogil
    cdef void step_for_known(self, const LabelFeedback* feedback) noexcept nogil
    cdef void step_for_label(
        self, Py_ssize_t label, double relevance, double weight, double variance
    ) noexcept nogil
