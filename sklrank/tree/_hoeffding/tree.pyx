# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""A decision tree that grows with a stream: VFDT (Domingos & Hulten 2000).

Each leaf keeps the weight of each class (in `leaves`) and, for each class that has occurred in it,
Gaussian observers of the features (in `stats`, see `observers.pyx`). Whenever its weight has
increased by `grace_period`, the leaf searches for its best split. It is split if the gain exceeds
the gain of the best split on any other feature by more than the Hoeffding bound

    epsilon = sqrt(R^2 ln(1 / delta) / (2 n)).

Here n is the weight of the leaf, and R is the range of the gain: log2 of the number of classes that
have occurred in the leaf. To break ties, the leaf is also split if epsilon < tau. Not splitting is
treated as a split with gain 0. Each child inherits the class weights that the observers expect on
its side; the heavier child also inherits the weights of the samples whose value is missing. The
observers of the children start empty.

A leaf predicts by its class weights ("mc", majority class), by naive Bayes ("nb"), or by the one of
the two that has predicted the larger weight of samples correctly in this leaf ("nba", adaptive; in
case of a tie by naive Bayes); see `leaf_votes`. The densities for naive Bayes are computed in
`observers.pyx`. To add a mode, add it to the enum, to `LEAF_PREDICTIONS` and to `classifier.py`; a
mode without densities also clears `keeps_densities` in `exchange`.

Nodes, leaves and observer rows are stored in blocks of memory that are enlarged when they are full.
A split releases the observer rows of its leaf for reuse. Memory is therefore proportional to the
number of pairs of a leaf and a class, not to the number of samples.
"""

cimport cython
from cpython.mem cimport PyMem_RawFree, PyMem_RawRealloc
from libc.limits cimport INT_MAX
from libc.math cimport INFINITY, exp, floor, log, log2, sqrt
from libc.string cimport memcpy

from math import prod

import numpy as np

from sklrank._compiled.rows cimport Row, first_largest
from sklrank._compiled.state cimport Archive
from sklrank._online.drift cimport DriftTest
from sklrank._online.learner cimport LabelFeedback, OnlineLearner
from sklrank.tree._hoeffding.observers cimport (
    N_STATS,
    N_STATS_AND_DENSITIES,
    WEIGHT,
    Split,
    best_split,
    clear,
    left_share,
    log_density,
    observe,
    refresh_density,
)

from sklrank._compiled import LabelAxis

cdef extern from "<assert.h>" nogil:
    # Python's compiler flags define NDEBUG, which removes the checks; .ci/checked undefines it.
    void check "assert" (bint holds)

cdef enum:
    LEAF = -1       # `feature` of a leaf
    NONE = -1       # index of an observer row that does not exist

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

LEAF_PREDICTIONS = {
    "mc": LeafPrediction.MAJORITY_CLASS,
    "nb": LeafPrediction.NAIVE_BAYES,
    "nba": LeafPrediction.NAIVE_BAYES_ADAPTIVE,
}

FLOAT = np.dtype("f8")
INT = np.dtype("i4")

NODE_DTYPE = np.dtype(
    [
        ("threshold", "f8"), ("weight", "f8"), ("gain", "f8"),
        ("feature", "i4"), ("child", "i4"), ("depth", "i4"), ("padding", "i4"),
    ],
    align=True,
)


@cython.final
cdef class HoeffdingTree(OnlineLearner):
    """The compiled tree; HoeffdingTreeClassifier documents and checks the parameters."""

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

    def __init__(self, Py_ssize_t n_features, Py_ssize_t n_classes, **params):
        cdef Py_ssize_t row_length = row_length_of(
            n_features, LEAF_PREDICTIONS[params["leaf_prediction"]]
        )
        self.start(
            {
                **params,
                "n_features": n_features,
                "leaves": np.zeros((1, COUNTS + n_classes)),
                "nodes": np.array([(0.0, 0.0, 0.0, LEAF, 0, 0, 0)], dtype=NODE_DTYPE),
                "stats": np.empty((0, row_length)),
                "observers": np.full((1, n_classes + 1), NONE, dtype=INT),
                "free_row": NONE,
                "n_learned": 0,
            }
        )

    def __dealloc__(self):
        self.free_blocks()

    # -- Access to nodes, leaves and observer rows.

    cdef inline Node* node_at(self, Py_ssize_t index) noexcept nogil:
        check(0 <= index < self.n_nodes)
        return self.nodes + index

    cdef inline double* leaf_at(self, Py_ssize_t leaf) noexcept nogil:
        check(0 <= leaf < self.n_leaves)
        return self.leaves + leaf * (COUNTS + self.n_classes)

    cdef inline int* observers_at(self, Py_ssize_t leaf) noexcept nogil:
        check(0 <= leaf < self.n_leaves)
        return self.observers + leaf * (self.n_classes + 1)

    cdef inline double* row_at(self, Py_ssize_t row) noexcept nogil:
        check(0 <= row < self.n_rows)
        return self.stats + row * self.row_length

    cdef inline double* total_weight_at(self, Py_ssize_t row) noexcept nogil:
        # The weight of all samples of an observer row, including those with missing values.
        return self.row_at(row) + self.row_length - 1

    cdef Py_ssize_t child_of(self, Py_ssize_t index, const double* x) noexcept nogil:
        # Return the child of an inner node to which the sample goes; the heavier one for NaN.
        cdef const Node* node = self.node_at(index)
        cdef double value = x[node.feature]
        if value <= node.threshold:
            return node.child
        if value == value or self.node_at(node.child + 1).weight > self.node_at(node.child).weight:
            return node.child + 1
        return node.child

    # -- The interface of OnlineLearner.

    cdef int predict(self, const Row* x, double* votes) except -1 nogil:
        cdef Py_ssize_t index = 0
        while self.node_at(index).feature != LEAF:
            index = self.child_of(index, x.values)
        self.leaf_votes(self.node_at(index).child, x.values, votes)
        return 0

    cdef int learn(self, const Row* row, const LabelFeedback* feedback) except -1 nogil:
        # All labels of a sample are learned together: their order does not matter.
        cdef const double* x = row.values
        cdef Py_ssize_t index = 0, leaf, i
        cdef double weight = 0.0
        for i in range(feedback.n_relevant):
            check(0 <= feedback.relevant[i] < self.n_classes)
            weight += feedback.weights[i]
        if not weight > 0.0:
            return 0
        self.n_learned += 1
        self.node_at(0).weight += weight
        while self.node_at(index).feature != LEAF:
            index = self.child_of(index, x)
            self.node_at(index).weight += weight
        leaf = self.node_at(index).child
        if self.leaf_prediction == NAIVE_BAYES_ADAPTIVE:
            self.compare_predictions(leaf, x, feedback)
        for i in range(feedback.n_relevant):
            weight = feedback.weights[i]
            if weight > 0.0:
                self.leaf_at(leaf)[COUNTS + feedback.relevant[i]] += weight
                if self.keeps_densities or self.may_split(index):
                    self.update_observers(leaf, feedback.relevant[i], x, weight)
        if (
            self.may_split(index)
            and self.node_at(index).weight - self.leaf_at(leaf)[LAST_WEIGHT] >= self.grace_period
        ):
            self.attempt_split(index)
        return 0

    # -- Leaf predictions.

    cdef void leaf_votes(self, Py_ssize_t leaf, const double* x, double* votes) noexcept nogil:
        # Write the prediction of a leaf, a probability distribution over the classes, into `votes`.
        cdef Py_ssize_t c
        cdef bint bayes = self.leaf_prediction == NAIVE_BAYES or (
            self.leaf_prediction == NAIVE_BAYES_ADAPTIVE
            and self.leaf_at(leaf)[BAYES_CORRECT] >= self.leaf_at(leaf)[MAJORITY_CORRECT]
        )
        if bayes and self.bayes_votes(leaf, x, votes):
            return
        if not self.majority_votes(leaf, votes):
            for c in range(self.n_classes):
                votes[c] = 1.0 / self.n_classes

    cdef bint majority_votes(self, Py_ssize_t leaf, double* votes) noexcept nogil:
        # Write the proportions of the classes into `votes`. Return False if all weights are 0.
        cdef const double* counts = self.leaf_at(leaf) + COUNTS
        cdef double total = 0.0
        cdef Py_ssize_t c
        for c in range(self.n_classes):
            total += counts[c]
        if total <= 0.0:
            return False
        for c in range(self.n_classes):
            votes[c] = counts[c] / total
        return True

    cdef bint bayes_votes(self, Py_ssize_t leaf, const double* x, double* votes) noexcept nogil:
        # Write the class probabilities of naive Bayes into `votes`: the normalized products of
        # prior and Gaussian likelihood, with the pooled mean and variance for a class that the leaf
        # has not observed. Return False if it has not observed any sample yet.
        cdef const double* counts = self.leaf_at(leaf) + COUNTS
        cdef Py_ssize_t pooled = self.observers_at(leaf)[self.n_classes]
        cdef double best = -INFINITY, total = 0.0
        cdef Py_ssize_t c, row
        if pooled == NONE:
            return False
        for c in range(self.n_classes):
            votes[c] = -INFINITY
            if counts[c] > 0.0:
                row = self.observers_at(leaf)[c]
                votes[c] = log(counts[c]) + log_density(
                    self.row_at(pooled if row == NONE else row), self.row_at(pooled),
                    x, self.n_features,
                )
                best = max(best, votes[c])
        if not best > -INFINITY:
            return False
        for c in range(self.n_classes):
            votes[c] = exp(votes[c] - best)
            total += votes[c]
        for c in range(self.n_classes):
            votes[c] /= total
        return True

    cdef void compare_predictions(
        self, Py_ssize_t leaf, const double* x, const LabelFeedback* feedback
    ) noexcept nogil:
        # Evaluate the predictions of both for the sample before it is learned.
        cdef double* votes = self.votes
        if self.majority_votes(leaf, votes):
            self.leaf_at(leaf)[MAJORITY_CORRECT] += self.correct_weight(votes, feedback)
        if self.bayes_votes(leaf, x, votes):
            self.leaf_at(leaf)[BAYES_CORRECT] += self.correct_weight(votes, feedback)

    cdef double correct_weight(
        self, const double* votes, const LabelFeedback* feedback
    ) noexcept nogil:
        # Return the weight of the (first) class with the largest vote in the feedback.
        cdef Py_ssize_t best = first_largest(votes, self.n_classes), i
        for i in range(feedback.n_relevant):
            if feedback.relevant[i] == best:
                return feedback.weights[i]
        return 0.0

    # -- Learning.

    cdef int update_observers(
        self, Py_ssize_t leaf, Py_ssize_t label, const double* x, double weight
    ) except -1 nogil:
        cdef Py_ssize_t row, pooled
        if self.observers_at(leaf)[label] == NONE:
            self.observers_at(leaf)[label] = <int>self.new_row()
        row = self.observers_at(leaf)[label]
        self.total_weight_at(row)[0] += weight
        if not self.keeps_densities:
            observe(self.row_at(row), x, self.n_features, weight)
            return 0
        if self.observers_at(leaf)[self.n_classes] == NONE:
            self.observers_at(leaf)[self.n_classes] = <int>self.new_row()
        pooled = self.observers_at(leaf)[self.n_classes]
        observe(self.row_at(pooled), x, self.n_features, weight)
        observe(self.row_at(row), x, self.n_features, weight)
        refresh_density(self.row_at(pooled), self.n_features)
        refresh_density(self.row_at(row), self.n_features)
        return 0

    # -- Growing.

    cdef bint may_split(self, Py_ssize_t index) noexcept nogil:
        return (
            (self.max_depth < 0 or self.node_at(index).depth < self.max_depth)
            and (self.max_leaves < 0 or self.n_leaves < self.max_leaves)
        )

    cdef int attempt_split(self, Py_ssize_t index) except -1 nogil:
        cdef Py_ssize_t leaf = self.node_at(index).child
        cdef const double* counts = self.leaf_at(leaf) + COUNTS
        cdef double n = self.node_at(index).weight
        cdef double epsilon
        cdef Py_ssize_t c, n_seen = 0
        cdef Split best
        self.leaf_at(leaf)[LAST_WEIGHT] = n
        for c in range(self.n_classes):
            if counts[c] > 0.0:
                n_seen += 1
        if n_seen < 2:
            return 0
        epsilon = log2(n_seen) * sqrt(-log(self.delta) / (2.0 * n))
        if epsilon >= max(self.tau, 1.0):
            # The information gain of a split into two branches is at most 1 bit, so the leaf cannot
            # be split.
            return 0
        best = best_split(
            self.stats, self.row_length, self.observers_at(leaf), self.n_classes, self.n_features
        )
        if best.feature >= 0 and (best.gain - best.runner_up > epsilon or epsilon < self.tau):
            self.split(index, best.feature, best.threshold, best.gain)
        return 0

    cdef int split(
        self, Py_ssize_t index, Py_ssize_t j, double threshold, double gain
    ) except -1 nogil:
        # The left child keeps the index of the leaf, the right one gets a new index.
        cdef Py_ssize_t left = self.node_at(index).child, right = self.n_leaves
        cdef Py_ssize_t child = self.n_nodes
        cdef Node* node
        if self.n_leaves == self.leaf_capacity:
            self.resize_leaves(2 * self.leaf_capacity)
        self.n_nodes += 2
        self.n_leaves += 1
        self.distribute_counts(left, right, j, threshold)
        node = self.node_at(index)
        self.init_leaf(child, left, node.depth + 1)
        self.init_leaf(child + 1, right, node.depth + 1)
        node.feature = <int>j
        node.threshold = threshold
        node.gain = gain
        node.child = <int>child
        if self.n_leaves == self.max_leaves and not self.keeps_densities:
            self.drop_observers()
        return 0

    cdef void distribute_counts(
        self, Py_ssize_t left, Py_ssize_t right, Py_ssize_t j, double threshold
    ) noexcept nogil:
        # Distribute the class weights of a leaf between two, and release its observer rows.
        cdef double* missing = self.votes
        cdef double known, share, difference = 0.0
        cdef Py_ssize_t heavier, c, row
        for c in range(self.n_classes + 1):
            row = self.observers_at(left)[c]
            self.observers_at(left)[c] = self.observers_at(right)[c] = NONE
            if c < self.n_classes:
                known = share = missing[c] = 0.0
                if row != NONE:
                    known = self.row_at(row)[WEIGHT * self.n_features + j]
                    share = left_share(self.row_at(row), j, self.n_features, threshold)
                    missing[c] = self.total_weight_at(row)[0] - known
                self.leaf_at(left)[COUNTS + c] = known * share
                self.leaf_at(right)[COUNTS + c] = known * (1.0 - share)
                difference += self.leaf_at(left)[COUNTS + c] - self.leaf_at(right)[COUNTS + c]
            if row != NONE:
                self.release_row(row)
        # Those of samples with a missing value are added to the heavier leaf, as in `child_of`.
        heavier = left if difference >= 0.0 else right
        for c in range(self.n_classes):
            self.leaf_at(heavier)[COUNTS + c] += missing[c]

    cdef void init_leaf(self, Py_ssize_t index, Py_ssize_t leaf, int depth) noexcept nogil:
        # Turn the node into this leaf, whose class weights have already been set.
        cdef Node* node = self.node_at(index)
        cdef Py_ssize_t c
        node.feature = LEAF
        node.child = <int>leaf
        node.depth = depth
        node.weight = node.threshold = node.gain = 0.0
        node.padding = 0
        for c in range(self.n_classes):
            node.weight += self.leaf_at(leaf)[COUNTS + c]
        self.leaf_at(leaf)[MAJORITY_CORRECT] = 0.0
        self.leaf_at(leaf)[BAYES_CORRECT] = 0.0
        self.leaf_at(leaf)[LAST_WEIGHT] = node.weight

    # -- Memory.

    cdef Py_ssize_t new_row(self) except -1 nogil:
        # Return the index of an empty observer row.
        cdef Py_ssize_t row, capacity
        if self.free_row != NONE:
            row = self.free_row
            self.free_row = <int>self.row_at(row)[0]
        else:
            if self.n_rows == self.row_capacity:
                capacity = self.row_capacity + max(1, self.row_capacity // 4)
                self.stats = <double*>resized(
                    self.stats, capacity * self.row_length * sizeof(double)
                )
                self.row_capacity = capacity
            row = self.n_rows
            self.n_rows += 1
        clear(self.row_at(row), self.n_features)
        self.total_weight_at(row)[0] = 0.0
        return row

    cdef void release_row(self, Py_ssize_t row) noexcept nogil:
        # Add an observer row to the list of rows that `new_row` reuses.
        self.row_at(row)[0] = self.free_row
        self.free_row = <int>row

    cdef int resize_leaves(self, Py_ssize_t capacity) except -1 nogil:
        self.nodes = <Node*>resized(self.nodes, (2 * capacity - 1) * sizeof(Node))
        self.leaves = <double*>resized(
            self.leaves, capacity * (COUNTS + self.n_classes) * sizeof(double)
        )
        self.observers = <int*>resized(
            self.observers, capacity * (self.n_classes + 1) * sizeof(int)
        )
        self.leaf_capacity = capacity
        return 0

    cdef void drop_observers(self) noexcept nogil:
        # Free all observer rows. A tree that can no longer be split does not need them.
        cdef Py_ssize_t leaf, c
        for leaf in range(self.n_leaves):
            for c in range(self.n_classes + 1):
                self.observers_at(leaf)[c] = NONE
        PyMem_RawFree(self.stats)
        self.stats = NULL
        self.n_rows = self.row_capacity = 0
        self.free_row = NONE

    cdef int forget(self) except -1 nogil:
        # Become an untrained tree.
        cdef Py_ssize_t c
        self.drop_observers()
        self.n_nodes = self.n_leaves = 1
        self.n_learned = 0
        for c in range(self.n_classes):
            self.leaf_at(0)[COUNTS + c] = 0.0
        self.init_leaf(0, 0, 0)
        if self.leaf_capacity > 1:
            self.resize_leaves(1)
        return 0

    # -- Access from Python.

    @property
    def node_table(self):
        """Copy of the nodes as a structured array, in which `feature` is -1 for leaves."""
        self.require_ready()
        self.begin_shared()
        try:
            return array_of(self.nodes, (self.n_nodes,), NODE_DTYPE)
        finally:
            self.end_shared()

    @property
    def nbytes(self):
        """Size of the blocks of memory in bytes."""
        self.require_ready()
        cdef Py_ssize_t leaf_size = 2 * sizeof(Node) + (COUNTS + self.n_classes) * sizeof(double)
        leaf_size += (self.n_classes + 1) * sizeof(int)
        return (
            self.leaf_capacity * leaf_size - sizeof(Node)
            + (self.row_capacity * self.row_length + self.n_classes) * sizeof(double)
        )

    # -- State.

    cdef int exchange(self, Archive archive) except -1:
        cdef HoeffdingTree saved = archive.source
        cdef Py_ssize_t n_features = archive.count("n_features", saved.n_features, 1, INT_MAX)
        cdef Py_ssize_t n_leaves, n_classes, n_rows, row_length
        self.grace_period = archive.number("grace_period", saved.grace_period, 0.0)
        self.delta = archive.number("delta", saved.delta, 0.0)
        self.tau = archive.number("tau", saved.tau, 0.0)
        self.max_depth = archive.count("max_depth", saved.max_depth, -1)
        self.max_leaves = archive.count("max_leaves", saved.max_leaves, -1)
        names = {value: name for name, value in LEAF_PREDICTIONS.items()}
        name = archive.choice("leaf_prediction", names[saved.leaf_prediction], LEAF_PREDICTIONS)
        self.leaf_prediction = LEAF_PREDICTIONS[name]
        self.keeps_densities = self.leaf_prediction != LeafPrediction.MAJORITY_CLASS

        row_length = row_length_of(n_features, self.leaf_prediction)
        leaves = array_of(saved.leaves, (saved.n_leaves, COUNTS + saved.n_classes), FLOAT)
        leaves = archive.array("leaves", leaves, (-1, LabelAxis(COUNTS)), FLOAT)
        n_leaves, n_classes = leaves.shape[0], leaves.shape[1] - COUNTS
        archive.require(n_leaves > 0 and n_classes > 0, "leaves has no rows or no class weights")
        nodes = array_of(saved.nodes, (saved.n_nodes,), NODE_DTYPE)
        nodes = archive.array("nodes", nodes, (2 * n_leaves - 1,), NODE_DTYPE)
        # The rows of an object that is loaded may have another length.
        n_rows = 0 if archive.loads else saved.n_rows
        stats = array_of(saved.stats, (n_rows, row_length), FLOAT)
        stats = archive.array("stats", stats, (-1, row_length), FLOAT)
        n_rows = len(stats)
        observers = array_of(saved.observers, (saved.n_leaves, saved.n_classes + 1), INT)
        observers = archive.array(
            "observers", observers, (n_leaves, LabelAxis(0, 1)), INT, NONE, n_rows - 1, NONE
        )
        self.free_row = <int>archive.count("free_row", saved.free_row, NONE, n_rows - 1)
        self.n_learned = archive.count("n_learned", saved.n_learned)
        if archive.labels is not None:
            remove_unused_rows(archive.entries)
        if archive.loads:
            check_nodes(archive, nodes, n_leaves, n_features)
            check_rows(archive, observers, stats, self.free_row)
            self.row_length = row_length
            self.set_blocks(n_features, n_classes, nodes, leaves, observers, stats)
        return 0

    cdef int set_blocks(
        self, Py_ssize_t n_features, Py_ssize_t n_classes, nodes, leaves, observers, stats
    ) except -1:
        # Replace all blocks of memory, which are freed after the new ones have been allocated.
        cdef void* blocks[5]
        cdef Py_ssize_t i
        for i in range(5):
            blocks[i] = NULL
        try:
            for i, array in enumerate((nodes, leaves, observers, stats, np.empty(n_classes))):
                blocks[i] = copied(array)
        except BaseException:
            for i in range(5):
                PyMem_RawFree(blocks[i])
            raise
        self.free_blocks()
        self.nodes, self.leaves = <Node*>blocks[0], <double*>blocks[1]
        self.observers, self.stats = <int*>blocks[2], <double*>blocks[3]
        self.votes = <double*>blocks[4]
        self.n_features, self.n_classes = n_features, n_classes
        self.n_nodes = len(nodes)
        self.n_leaves = self.leaf_capacity = len(leaves)
        self.n_rows = self.row_capacity = len(stats)
        return 0

    cdef void free_blocks(self) noexcept:
        PyMem_RawFree(self.nodes)
        PyMem_RawFree(self.leaves)
        PyMem_RawFree(self.observers)
        PyMem_RawFree(self.stats)
        PyMem_RawFree(self.votes)


cdef Py_ssize_t row_length_of(Py_ssize_t n_features, int leaf_prediction) noexcept:
    if leaf_prediction == LeafPrediction.MAJORITY_CLASS:
        return n_features * N_STATS + 1
    return n_features * N_STATS_AND_DENSITIES + 1


cdef int remove_unused_rows(dict entries) except -1:
    # Labels that were dropped leave rows that no leaf refers to.
    used, places = np.unique(entries["observers"], return_inverse=True)
    has_none = int(used[0] == NONE)
    entries["observers"] = (places.reshape(entries["observers"].shape) - has_none).astype(INT)
    entries["stats"], entries["free_row"] = entries["stats"][used[has_none:]], NONE
    return 0


# -- Checks of a state.

cdef int check_nodes(
    Archive archive, const Node[::1] nodes, Py_ssize_t n_leaves, Py_ssize_t n_features
) except -1:
    # Raise unless the nodes are a tree whose leaves are 0, 1, ..., n_leaves - 1. A node precedes
    # its children, so that there are no cycles.
    cdef Py_ssize_t n_nodes = nodes.shape[0], i
    cdef char[::1] has_parent = np.zeros(n_nodes, dtype=np.int8)
    cdef char[::1] has_node = np.zeros(n_leaves, dtype=np.int8)
    cdef const Node* node
    cdef bint holds = nodes[0].depth == 0
    for i in range(n_nodes):
        node = &nodes[i]
        holds = holds and has_parent[i] == (i > 0)
        if node.feature == LEAF:
            holds = holds and 0 <= node.child < n_leaves and not has_node[node.child]
            if holds:
                has_node[node.child] = True
        else:
            holds = (
                holds
                and 0 <= node.feature < n_features
                and i < node.child < n_nodes - 1
                and not has_parent[node.child]
                and not has_parent[node.child + 1]
                and nodes[node.child].depth == nodes[node.child + 1].depth == node.depth + 1
            )
            if holds:
                has_parent[node.child] = has_parent[node.child + 1] = True
        archive.require(holds, "nodes are not a tree")
    return 0


cdef int check_rows(
    Archive archive, const int[:, ::1] observers, const double[:, ::1] stats, Py_ssize_t free_row
) except -1:
    # Raise unless each row of `stats` either belongs to one entry of `observers`, or is in the
    # list of rows that a split released. The range of `observers` has been checked.
    cdef Py_ssize_t n_rows = stats.shape[0], n_found = 0, i, j, row
    cdef char[::1] is_found = np.zeros(n_rows, dtype=np.int8)
    cdef double following
    for i in range(observers.shape[0]):
        for j in range(observers.shape[1]):
            row = observers[i, j]
            if row != NONE:
                archive.require(not is_found[row], "observers have a row in common")
                is_found[row] = True
                n_found += 1
    while free_row != NONE:
        archive.require(not is_found[free_row], "a free row is in use")
        is_found[free_row] = True
        n_found += 1
        following = stats[free_row, 0]
        archive.require(
            NONE <= following < n_rows and following == floor(following),
            "the list of free rows is broken",
        )
        free_row = <Py_ssize_t>following
    archive.require(n_found == n_rows, "a row of stats is neither in use nor free")
    return 0


# -- Blocks of memory.

cdef void* resized(void* block, size_t n_bytes) except NULL nogil:
    block = PyMem_RawRealloc(block, n_bytes)
    if block == NULL:
        with gil:
            raise MemoryError
    return block


cdef void* copied(array) except NULL:
    # Return a new block with the values of the array.
    cdef Py_ssize_t n_bytes = array.nbytes
    cdef void* block = resized(NULL, n_bytes)
    cdef const char[::1] values
    if n_bytes:
        values = array.reshape(-1).view(np.int8)
        memcpy(block, &values[0], n_bytes)
    return block


cdef array_of(const void* block, tuple shape, dtype):
    cdef Py_ssize_t n_bytes = prod(shape) * dtype.itemsize
    return np.ndarray(shape, dtype, buffer=(<const char*>block)[:n_bytes]).copy()


# -- Drift.

# Losses of 0 or 1 have large deviations, of which many drifts are less than a half. Chosen on seven
# streams of benchmarks/class_streams.py. On nine streams without drift, 1/4 replaced two trees, and
# 1/2 one tree.
cdef double SLACK = 0.25


cdef class AdaptiveTree(OnlineLearner):
    """A Hoeffding tree that a second tree replaces when the concept drifts.

    A `DriftTest` records the loss of each sample before it is learned: the share of the weight of
    its labels that the tree does not predict, which is 0 or 1 for a single label. Its statistic was
    last 0 at the most likely time of a drift. A second tree, the candidate, learns the samples
    since then, and forgets them when the statistic is 0 again. A drift is detected when the
    statistic exceeds the threshold and the candidate has had the smaller sum of losses. Then the
    candidate replaces the tree.

    So a false alarm has no effect, unless a young tree predicts better. Without drift, most
    candidates learn a few samples. All of them together take from no time to more than that of the
    tree itself.
    """

    cdef readonly HoeffdingTree tree        # which predicts
    cdef readonly HoeffdingTree candidate
    cdef readonly DriftTest drift_test
    cdef readonly Py_ssize_t n_learned      # number of samples
    cdef readonly double advantage          # sum of the losses of the tree minus the candidate's
    cdef double[::1] votes                  # (n_classes,) scratch memory of `learn`

    def __init__(self, Py_ssize_t n_features, Py_ssize_t n_classes, **params):
        self.tree = HoeffdingTree(n_features, n_classes, **params)
        self.candidate = HoeffdingTree(n_features, n_classes, **params)
        self.drift_test = DriftTest(params["drift_threshold"])
        self.start()

    cdef int exchange(self, Archive archive) except -1:
        cdef AdaptiveTree saved = archive.source
        self.tree = archive.part("tree", saved.tree, HoeffdingTree)
        self.candidate = archive.part("candidate", saved.candidate, HoeffdingTree)
        self.n_features, self.n_classes = self.tree.n_features, self.tree.n_classes
        archive.require(
            self.tree is not self.candidate
            and self.candidate.n_features == self.n_features
            and self.candidate.n_classes == self.n_classes,
            "its trees differ in size, or are one tree",
        )
        self.drift_test = archive.part("drift_test", saved.drift_test, DriftTest)
        self.n_learned = archive.count("n_learned", saved.n_learned)
        self.advantage = archive.any_number("advantage", saved.advantage)
        if archive.loads:
            self.votes = np.empty(self.n_classes)
        return 0

    cdef list locked_parts(self):
        return [self.tree, self.candidate, self.drift_test] if self.is_ready else None

    @property
    def node_table(self):
        """Copy of the nodes of the tree that predicts, see `HoeffdingTree`."""
        self.require_ready()
        self.begin_shared()
        try:
            return self.tree.node_table
        finally:
            self.end_shared()

    cdef int predict(self, const Row* x, double* votes) except -1 nogil:
        return self.tree.predict(x, votes)

    cdef int predict_cached(self, const Row* x, double* votes) except -1 nogil:
        self.tree.predict(x, votes)
        memcpy(&self.votes[0], votes, self.n_classes * sizeof(double))
        return 0

    cdef int learn(self, const Row* x, const LabelFeedback* feedback) except -1 nogil:
        self.tree.predict(x, &self.votes[0])
        return self.learn_cached(x, feedback)

    cdef int learn_cached(self, const Row* x, const LabelFeedback* feedback) except -1 nogil:
        cdef double weight = 0.0
        cdef Py_ssize_t i
        for i in range(feedback.n_relevant):
            weight += feedback.weights[i]
        if not weight > 0.0:
            return 0
        self.n_learned += 1
        # The costs of a booster, and so the weights, depend on its other learners, so that the loss
        # may increase without a drift.
        if feedback.costs == NULL:
            self.test_drift(x, feedback, weight)
        return self.tree.learn(x, feedback)

    cdef int test_drift(
        self, const Row* x, const LabelFeedback* feedback, double weight
    ) except -1 nogil:
        # `votes` must contain the votes of the tree, and `weight` is that of all labels.
        cdef double loss = 1.0 - self.tree.correct_weight(&self.votes[0], feedback) / weight
        if self.candidate.n_learned > 0:
            self.candidate.predict(x, &self.votes[0])
            self.advantage -= 1.0 - self.tree.correct_weight(&self.votes[0], feedback) / weight
            self.advantage += loss
        if self.drift_test.record(loss, SLACK, self.advantage <= 0.0):
            with gil:
                self.tree, self.candidate = self.candidate, self.tree
        if self.drift_test.excess > 0.0:
            self.candidate.learn(x, feedback)
        elif self.candidate.n_learned > 0:
            self.candidate.forget()
            self.advantage = 0.0
        return 0
