"""The compiled tree of HoeffdingTreeClassifier."""

cimport cython

from sklrank._online_learner cimport LabelFeedback, OnlineLearner
from sklrank.tree._gaussian_observers cimport Criterion


cdef enum LeafPrediction:
    MAJORITY_CLASS = 0
    NAIVE_BAYES = 1
    NAIVE_BAYES_ADAPTIVE = 2


cdef struct Node:
    double threshold    # values up to the threshold go to the left child
    double weight       # inherited from the parent, plus that of the samples that passed
    double gain         # of the split
    int feature         # index of the feature, or LEAF
    int child           # index of the left child, the right one follows; leaves: index of the leaf
    int depth
    int padding         # always 0, so that equal trees have equal pickles


cdef enum:
    # The entries of a row of `leaves`.
    SUM_OF_SQUARES = 0      # sum of squared weights
    LAST_SAMPLE_SIZE = 1    # sample size at the last attempt to split
    MAJORITY_CORRECT = 2    # weight that the majority class predicted correctly
    BAYES_CORRECT = 3       # weight that naive Bayes predicted correctly
    COUNTS = 4              # weight of each class


@cython.final
cdef class HoeffdingTree(OnlineLearner):
    cdef tuple parameter_values
    cdef Criterion criterion
    cdef LeafPrediction leaf_prediction
    cdef double grace_period, delta, tau, min_branch_fraction, weight_scale
    cdef Py_ssize_t n_points, max_depth, max_leaves
    cdef bint effective_sample_size
    cdef bint keeps_densities   # whether observer rows hold densities, for naive Bayes

    # Plain blocks of memory: an array takes half a kilobyte more, and many trees stay small. They
    # are accessed by the methods `..._at`, which check the index in a checked build.
    cdef Node* nodes
    cdef double* leaves     # (leaf, COUNTS + n_classes)
    cdef int* observers     # (leaf, class) row of `stats`, or NONE; last: all classes pooled
    cdef double* stats      # (row, row_length) observer rows, see _gaussian_observers
    cdef readonly Py_ssize_t n_nodes, n_leaves, n_rows
    cdef Py_ssize_t leaf_capacity, row_capacity     # leaves (with their nodes) and rows that fit
    cdef Py_ssize_t row_length  # the vectors of statistics, and the total weight
    cdef int free_row       # first of the rows that splits released; it holds the index of the next

    cdef Py_ssize_t* used   # indices of the features that this tree uses; NULL: all
    cdef Py_ssize_t n_used
    cdef double* values     # scratch of `learn`: the values of a sample in the features used
    cdef double* votes      # scratch of `learn`, one entry for each class

    cdef Node* node_at(self, Py_ssize_t index) noexcept nogil
    cdef double* leaf_at(self, Py_ssize_t leaf) noexcept nogil
    cdef int* observers_at(self, Py_ssize_t leaf) noexcept nogil
    cdef double* row_at(self, Py_ssize_t row) noexcept nogil
    cdef double* total_weight_at(self, Py_ssize_t row) noexcept nogil
    cdef Py_ssize_t feature_of(self, Py_ssize_t j) noexcept nogil
    cdef Py_ssize_t child_of(self, Py_ssize_t index, const double* x) noexcept nogil
    cdef void leaf_votes(self, Py_ssize_t leaf, const double* x, double* votes) noexcept nogil
    cdef bint majority_votes(self, Py_ssize_t leaf, double* votes) noexcept nogil
    cdef bint bayes_votes(self, Py_ssize_t leaf, const double* x, double* votes) noexcept nogil
    cdef void compare_predictions(
        self, Py_ssize_t leaf, const double* x, const LabelFeedback* feedback
    ) noexcept nogil
    cdef double correct_weight(
        self, const double* votes, const LabelFeedback* feedback
    ) noexcept nogil
    cdef int update_observers(
        self, Py_ssize_t leaf, Py_ssize_t label, const double* x, double weight
    ) except -1 nogil
    cdef double sample_size(self, Py_ssize_t index) noexcept nogil
    cdef bint may_split(self, Py_ssize_t index) noexcept nogil
    cdef int attempt_split(self, Py_ssize_t index) except -1 nogil
    cdef int split(
        self, Py_ssize_t index, Py_ssize_t j, double threshold, double gain
    ) except -1 nogil
    cdef void distribute_counts(
        self, Py_ssize_t left, Py_ssize_t right, Py_ssize_t j, double threshold
    ) noexcept nogil
    cdef void init_leaf(
        self, Py_ssize_t index, Py_ssize_t leaf, const Node* parent, double squares
    ) noexcept nogil
    cdef Py_ssize_t new_row(self) except -1 nogil
    cdef void release_row(self, Py_ssize_t row) noexcept nogil
    cdef int reserve_leaf(self) except -1 nogil
    cdef int reserve_row(self) except -1 nogil
    cdef void drop_observers(self) noexcept nogil
