"""The compiled tree of HoeffdingTreeClassifier."""

cimport cython

from sklrank._online.learner cimport LabelFeedback, OnlineLearner


cdef enum LeafPrediction:
    MAJORITY_CLASS = 0
    NAIVE_BAYES = 1
    NAIVE_BAYES_ADAPTIVE = 2


cdef struct Node:
    double threshold    # samples with values up to the threshold go to the left child
    double weight       # weight inherited from the parent, plus the weight of later samples
    double gain         # gain of the split
    int feature         # index of the feature of the split, or LEAF
    # For an inner node, the index of the left child, which the right child follows. For a leaf, the
    # index of the leaf in `leaves` and `observers`.
    int child
    int depth
    int padding         # always 0, so that equal trees have equal pickles


cdef enum:
    # Indices of the entries of a row of `leaves`.
    LAST_WEIGHT = 0         # weight of the node at the last attempt to split
    MAJORITY_CORRECT = 1    # weight of the samples that the majority class predicted correctly
    BAYES_CORRECT = 2       # weight of the samples that naive Bayes predicted correctly
    COUNTS = 3              # first of the n_classes class weights


@cython.final
cdef class HoeffdingTree(OnlineLearner):
    cdef LeafPrediction leaf_prediction
    cdef double grace_period, delta, tau
    cdef Py_ssize_t max_depth, max_leaves   # -1 if there is no limit
    cdef bint keeps_densities   # whether observer rows contain densities, as naive Bayes needs

    # These are plain blocks of memory, because a NumPy array would take half a kilobyte more and
    # many trees are small. They are accessed through the methods `..._at`, which check the index in
    # a checked build.
    cdef Node* nodes
    cdef double* leaves     # (leaf, COUNTS + n_classes)
    # (leaf, n_classes + 1) index of the row in `stats` of each class, then of the pooled row of all
    # classes; NONE if there is no row
    cdef int* observers
    cdef double* stats      # (row, row_length) observer rows, see tree/_hoeffding/observers.pxd
    cdef readonly Py_ssize_t n_learned      # number of samples
    cdef readonly Py_ssize_t n_nodes, n_leaves, n_rows
    cdef Py_ssize_t leaf_capacity, row_capacity     # numbers of leaves and rows that fit
    cdef Py_ssize_t row_length  # length of the vectors of statistics, plus 1 for the total weight
    cdef int free_row       # first row released by a split; it contains the index of the next one

    cdef double* votes      # scratch memory of `learn`: one entry for each class

    cdef int set_blocks(
        self, Py_ssize_t n_features, Py_ssize_t n_classes, nodes, leaves, observers, stats
    ) except -1
    cdef void free_blocks(self) noexcept
    cdef Node* node_at(self, Py_ssize_t index) noexcept nogil
    cdef double* leaf_at(self, Py_ssize_t leaf) noexcept nogil
    cdef int* observers_at(self, Py_ssize_t leaf) noexcept nogil
    cdef double* row_at(self, Py_ssize_t row) noexcept nogil
    cdef double* total_weight_at(self, Py_ssize_t row) noexcept nogil
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
    cdef bint may_split(self, Py_ssize_t index) noexcept nogil
    cdef int attempt_split(self, Py_ssize_t index) except -1 nogil
    cdef int split(
        self, Py_ssize_t index, Py_ssize_t j, double threshold, double gain
    ) except -1 nogil
    cdef void distribute_counts(
        self, Py_ssize_t left, Py_ssize_t right, Py_ssize_t j, double threshold
    ) noexcept nogil
    cdef void init_leaf(self, Py_ssize_t index, Py_ssize_t leaf, int depth) noexcept nogil
    cdef Py_ssize_t new_row(self) except -1 nogil
    cdef void release_row(self, Py_ssize_t row) noexcept nogil
    cdef int resize_leaves(self, Py_ssize_t capacity) except -1 nogil
    cdef int reserve_row(self) except -1 nogil
    cdef void drop_observers(self) noexcept nogil
    cdef int forget(self) except -1 nogil


# Return a block of memory with a new size. The functions PyMem_Raw... can be called without the
# GIL, and tracemalloc counts their allocations.
cdef void* resized(void* block, size_t n_bytes) except NULL nogil

# Return a copy of a block of memory as a new array.
cdef array_of(const void* block, tuple shape, dtype)
