"""The growing tree behind HoeffdingTreeClassifier."""

cimport cython

from sklrank._online_learner cimport LabelFeedback, OnlineLearner
from sklrank.tree._split_search cimport Criterion


cdef enum LeafPrediction:
    MAJORITY_CLASS = 0
    NAIVE_BAYES = 1
    NAIVE_BAYES_ADAPTIVE = 2


cdef struct Node:
    double threshold    # a value up to it goes to the left child
    double weight       # of the rows that passed, and what the node inherited
    double gain         # of its split
    int feature         # a column of X, or LEAF
    int child           # the left child, the right one follows it; of a leaf: its index among them
    int depth
    int padding         # named so that it is always 0, and equal trees have equal pickles


cdef enum:
    # What `leaves` hold.
    SQUARES = 0             # sum of squared weights
    ATTEMPTED = 1           # sample size at the last predict_cached to split
    MAJORITY_CORRECT = 2    # weight that the majority class got right
    BAYES_CORRECT = 3       # weight that naive Bayes got right
    COUNTS = 4              # weight of each class


@cython.final
cdef class HoeffdingTree(OnlineLearner):
    cdef tuple parameter_values
    cdef Criterion criterion
    cdef LeafPrediction leaf_prediction
    cdef double grace_period, delta, tau, min_branch_fraction, weight_scale
    cdef Py_ssize_t n_points, max_depth, max_leaves
    cdef bint effective_weight
    cdef bint keeps_densities   # whether leaves vote by naive Bayes, which observer rows serve too

    # Plain blocks of memory: an array takes half a kilobyte more, and many trees stay small. Reach
    # them by the `..._at` below, whose index a checked build checks.
    cdef Node* nodes
    cdef double* leaves     # (leaf, COUNTS + n_classes)
    cdef int* observers     # (leaf, class) row of `stats`, or NONE; last: all classes
    cdef double* stats      # (row, row_length), see _split_search
    cdef readonly Py_ssize_t n_nodes, n_leaves, n_rows
    cdef Py_ssize_t leaf_room, row_room     # leaves (with their nodes) and rows that fit
    cdef Py_ssize_t row_length  # a vector over the columns for each statistic, and `learnt_at`
    cdef int free_row       # one that a split gave back; it holds the number of the next

    cdef Py_ssize_t* columns    # the features that this tree looks at; NULL: all
    cdef Py_ssize_t n_columns
    cdef double* values         # scratch of `learn`: a row's values in `columns`
    cdef double* votes          # scratch of `learn`, one entry a class

    cdef Node* node_at(self, Py_ssize_t index) noexcept nogil
    cdef double* leaf_at(self, Py_ssize_t leaf) noexcept nogil
    cdef int* observers_at(self, Py_ssize_t leaf) noexcept nogil
    cdef double* row_at(self, Py_ssize_t row) noexcept nogil
    cdef double* learnt_at(self, Py_ssize_t row) noexcept nogil
    cdef Py_ssize_t feature_of(self, Py_ssize_t column) noexcept nogil
    cdef Py_ssize_t step(self, Py_ssize_t index, const double* x) noexcept nogil
    cdef bint majority_votes(self, Py_ssize_t leaf, double* votes) noexcept nogil
    cdef bint bayes_votes(self, Py_ssize_t leaf, const double* x, double* votes) noexcept nogil
    cdef double log_density(
        self, Py_ssize_t row, Py_ssize_t pooled, const double* x
    ) noexcept nogil
    cdef void refresh_density(self, Py_ssize_t row) noexcept nogil
    cdef void compare_votes(
        self, Py_ssize_t leaf, const double* x, const LabelFeedback* feedback
    ) noexcept nogil
    cdef double weight_of_favourite(self, const double* votes, const LabelFeedback* feedback) noexcept nogil
    cdef int observe_row(
        self, Py_ssize_t leaf, Py_ssize_t label, const double* x, double weight
    ) except -1 nogil
    cdef double sample_size(self, Py_ssize_t index) noexcept nogil
    cdef bint may_split(self, Py_ssize_t index) noexcept nogil
    cdef int attempt_split(self, Py_ssize_t index) except -1 nogil
    cdef int split(
        self, Py_ssize_t index, Py_ssize_t column, double threshold, double gain
    ) except -1 nogil
    cdef void share_out(
        self, Py_ssize_t left, Py_ssize_t right, Py_ssize_t column, double threshold
    ) noexcept nogil
    cdef void make_leaf(
        self, Py_ssize_t index, Py_ssize_t leaf, const Node* parent, double squares
    ) noexcept nogil
    cdef Py_ssize_t new_row(self) except -1 nogil
    cdef void release_row(self, Py_ssize_t row) noexcept nogil
    cdef int reserve_leaf(self) except -1 nogil
    cdef int reserve_row(self) except -1 nogil
    cdef void drop_observers(self) noexcept nogil
