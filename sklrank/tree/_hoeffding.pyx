# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""A decision tree that grows with a stream: VFDT (Domingos & Hulten 2000).

Every leaf keeps the class weights it has seen (in `leaves`) and, for each class, Gaussian observers
of the features (`stats`, see _split_search). After each `grace_period` it looks for its best split
and makes it when the gain's lead over the second best feature exceeds the Hoeffding bound

    epsilon = sqrt(R^2 ln(1 / delta) / (2 n)),      R = log2(number of classes seen in the leaf),

n being the leaf's weight, or when epsilon < tau, so that a tie does not hold the tree up. "No
split" competes with a gain of 0. The children inherit the class weights that the observers expect
on either side, the heavier one also those of the rows whose value is missing; their own observers
start empty.

Nodes, leaves and observer rows lie in blocks that grow when full; a split gives its leaf's rows
back. So memory follows the number of leaves and of the classes seen in them, not of the rows.
"""

cimport cython
from cpython.mem cimport PyMem_RawFree, PyMem_RawRealloc
from libc.math cimport INFINITY, exp, log, log2, sqrt
from libc.string cimport memcpy

from math import prod

import numpy as np

from sklrank.tree._split_search cimport (
    HIGH, LOG_PRECISION, LOW, M2, MAX_POINTS, MEAN, N_STATS, N_STATS_AND_DENSITIES, PRECISION,
    WEIGHT, Criterion, Split, best_split, left_share, observe,
)

cdef extern from "<assert.h>" nogil:
    # Python's own flags define NDEBUG, which compiles the checks away; .ci/checked undefines it.
    void check "assert" (bint holds)

cdef enum:
    LEAF = -1       # what a leaf has for its feature
    NONE = -1       # the number of an observer row that does not exist

CRITERIA = {"entropy": Criterion.ENTROPY, "gini": Criterion.GINI}
LEAF_PREDICTIONS = {
    "mc": LeafPrediction.MAJORITY_CLASS,
    "nb": LeafPrediction.NAIVE_BAYES,
    "nba": LeafPrediction.NAIVE_BAYES_ADAPTIVE,
}
WEIGHT_COUNTS = {"sum": False, "effective": True}
# The parameters of a tree, as HoeffdingTreeClassifier names them. Their values are kept in this
# order as a tuple: a dictionary for each tree would take three times the memory.
PARAMETERS = (
    "grace_period",
    "delta",
    "tau",
    "leaf_prediction",
    "criterion",
    "max_depth",
    "max_leaves",
    "n_split_points",
    "min_branch_fraction",
    "weight_scale",
    "weight_count",
)
MAX_SPLIT_POINTS = MAX_POINTS

FLOAT = np.dtype("f8")
INT = np.dtype("i4")

NODE_DTYPE = np.dtype(
    [
        ("threshold", "f8"), ("weight", "f8"), ("gain", "f8"),
        ("feature", "i4"), ("child", "i4"), ("depth", "i4"), ("padding", "i4"),
    ],
    align=True,
)

# A class whose variance is below this share of the leaf's is taken to have the leaf's: a single
# value says where a class lies, not how far it spreads.
cdef double MIN_VARIANCE_SHARE = 1e-9
# Beyond these bounds a variance or its inverse overflows.
cdef double MIN_VARIANCE = 1e-290
cdef double MAX_VARIANCE = 1e290


@cython.final
cdef class HoeffdingTree(OnlineLearner):
    """The compiled tree; HoeffdingTreeClassifier documents and checks the parameters."""

    def __cinit__(
        self,
        Py_ssize_t n_features,
        Py_ssize_t n_classes,
        const Py_ssize_t[::1] columns,
        dict params,
    ):
        self.n_features = n_features
        self.n_classes = n_classes
        if np.min(columns) < 0 or np.max(columns) >= n_features:
            raise ValueError("columns lie outside the features")
        self.n_columns = columns.shape[0]
        self.parameter_values = tuple([params[name] for name in PARAMETERS])
        self.criterion = CRITERIA[params["criterion"]]
        self.leaf_prediction = LEAF_PREDICTIONS[params["leaf_prediction"]]
        self.grace_period = params["grace_period"]
        self.delta = params["delta"]
        self.tau = params["tau"]
        self.n_points = min(params["n_split_points"], MAX_POINTS)
        self.min_branch_fraction = params["min_branch_fraction"]
        self.max_depth = -1 if params["max_depth"] is None else params["max_depth"]
        self.max_leaves = -1 if params["max_leaves"] is None else params["max_leaves"]
        self.weight_scale = params["weight_scale"]
        self.effective_weight = WEIGHT_COUNTS[params["weight_count"]]
        self.keeps_densities = self.leaf_prediction != LeafPrediction.MAJORITY_CLASS
        self.row_length = self.n_columns * (
            N_STATS_AND_DENSITIES if self.keeps_densities else N_STATS
        ) + 1
        if not np.array_equal(columns, np.arange(n_features)):
            self.columns = <Py_ssize_t*>filled(NULL, np.asarray(columns))
            self.values = <double*>resized(NULL, self.n_columns * sizeof(double))
        self.votes = <double*>resized(NULL, n_classes * sizeof(double))
        self.__setstate__(
            {
                "nodes": np.array([(0.0, 0.0, 0.0, LEAF, 0, 0, 0)], dtype=NODE_DTYPE),
                "leaves": np.zeros((1, COUNTS + n_classes)),
                "observers": np.full((1, n_classes + 1), NONE),
                "stats": np.empty((0, self.row_length)),
                "free_row": NONE,
            }
        )

    def __dealloc__(self):
        PyMem_RawFree(self.nodes)
        PyMem_RawFree(self.leaves)
        PyMem_RawFree(self.observers)
        PyMem_RawFree(self.stats)
        PyMem_RawFree(self.columns)
        PyMem_RawFree(self.values)
        PyMem_RawFree(self.votes)

    # -- Where things lie.

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

    cdef inline double* learnt_at(self, Py_ssize_t row) noexcept nogil:
        # The weight of all rows that an observer row has learnt, those with missing values too.
        return self.row_at(row) + self.row_length - 1

    cdef inline Py_ssize_t feature_of(self, Py_ssize_t column) noexcept nogil:
        check(0 <= column < self.n_columns)
        return column if self.columns == NULL else self.columns[column]

    # -- What the loops over rows call.

    cdef int predict(self, const double* x, double* votes) except -1 nogil:
        cdef Py_ssize_t index = 0, leaf, c
        cdef bint bayes
        while self.node_at(index).feature != LEAF:
            index = self.step(index, x)
        leaf = self.node_at(index).child
        bayes = self.leaf_prediction == NAIVE_BAYES or (
            self.leaf_prediction == NAIVE_BAYES_ADAPTIVE
            and self.leaf_at(leaf)[BAYES_CORRECT] >= self.leaf_at(leaf)[MAJORITY_CORRECT]
        )
        if bayes and self.bayes_votes(leaf, x, votes):
            return 0
        if not self.majority_votes(leaf, votes):
            for c in range(self.n_classes):
                votes[c] = 1.0 / self.n_classes
        return 0

    cdef int learn(self, const double* x, const LabelFeedback* feedback) except -1 nogil:
        # The labels of a row are learnt together, so that their order does not matter.
        cdef Py_ssize_t index = 0, leaf, i
        cdef double weight = 0.0, squares = 0.0
        for i in range(feedback.n_labels):
            check(0 <= feedback.labels[i] < self.n_classes)
            weight += feedback.weights[i] * self.weight_scale
            squares += (feedback.weights[i] * self.weight_scale) ** 2
        if not weight > 0.0:
            return 0
        self.node_at(0).weight += weight
        while self.node_at(index).feature != LEAF:
            index = self.step(index, x)
            self.node_at(index).weight += weight
        leaf = self.node_at(index).child
        if self.leaf_prediction == NAIVE_BAYES_ADAPTIVE:
            self.compare_votes(leaf, x, feedback)
        self.leaf_at(leaf)[SQUARES] += squares
        for i in range(feedback.n_labels):
            weight = feedback.weights[i] * self.weight_scale
            if weight > 0.0:
                self.leaf_at(leaf)[COUNTS + feedback.labels[i]] += weight
                if self.keeps_densities or self.may_split(index):
                    self.observe_row(leaf, feedback.labels[i], x, weight)
        if (
            self.may_split(index)
            and self.sample_size(index) - self.leaf_at(leaf)[ATTEMPTED] >= self.grace_period
        ):
            self.attempt_split(index)
        return 0

    # -- Votes.

    cdef Py_ssize_t step(self, Py_ssize_t index, const double* x) noexcept nogil:
        # From an inner node to the child that takes the row. A missing value follows the weight.
        cdef const Node* node = self.node_at(index)
        cdef double value = x[node.feature]
        if value <= node.threshold:
            return node.child
        if value == value or self.node_at(node.child + 1).weight > self.node_at(node.child).weight:
            return node.child + 1
        return node.child

    cdef bint majority_votes(self, Py_ssize_t leaf, double* votes) noexcept nogil:
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
        # Prior times Gaussian likelihood; a class that the leaf has only inherited is taken to be
        # spread as all classes together. False where the leaf has observed nothing yet.
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
                votes[c] = log(counts[c]) + self.log_density(row, pooled, x)
                best = max(best, votes[c])
        if not best > -INFINITY:
            return False
        for c in range(self.n_classes):
            votes[c] = exp(votes[c] - best)
            total += votes[c]
        for c in range(self.n_classes):
            votes[c] /= total
        return True

    cdef double log_density(
        self, Py_ssize_t row, Py_ssize_t pooled, const double* x
    ) noexcept nogil:
        # The log density of a class, given its observer row (NONE: the class is taken to be spread
        # as all classes together), less the term that is the same for every class.
        cdef Py_ssize_t n = self.n_columns, f
        cdef const double* pool = self.row_at(pooled)
        cdef const double* stats = pool if row == NONE else self.row_at(row)
        cdef double value, centre, precision, log_precision, total = 0.0
        for f in range(n):
            value = x[self.feature_of(f)]
            if value != value or pool[PRECISION * n + f] == INFINITY:
                continue
            centre = stats[MEAN * n + f]
            precision = stats[PRECISION * n + f]
            log_precision = stats[LOG_PRECISION * n + f]
            if precision * MIN_VARIANCE_SHARE > pool[PRECISION * n + f]:
                precision = pool[PRECISION * n + f]
                log_precision = pool[LOG_PRECISION * n + f]
                if stats[WEIGHT * n + f] == 0.0:
                    centre = pool[MEAN * n + f]
            total += 0.5 * (log_precision - (value - centre) * (value - centre) * precision)
        return total

    cdef void refresh_density(self, Py_ssize_t row) noexcept nogil:
        # Bring the densities of a row up to what WEIGHT and M2 say of the variances.
        cdef Py_ssize_t n = self.n_columns, f
        cdef double* stats = self.row_at(row)
        cdef double variance
        for f in range(n):
            stats[PRECISION * n + f] = stats[LOG_PRECISION * n + f] = INFINITY
            if stats[WEIGHT * n + f] > 0.0:
                variance = stats[M2 * n + f] / stats[WEIGHT * n + f]
                if MIN_VARIANCE < variance < MAX_VARIANCE:
                    stats[PRECISION * n + f] = 1.0 / variance
                    stats[LOG_PRECISION * n + f] = -log(variance)

    # -- Learning.

    cdef void compare_votes(
        self, Py_ssize_t leaf, const double* x, const LabelFeedback* feedback
    ) noexcept nogil:
        # What the majority class and naive Bayes would have said of the row before it is learnt.
        cdef double* votes = self.votes
        if self.majority_votes(leaf, votes):
            self.leaf_at(leaf)[MAJORITY_CORRECT] += self.weight_of_favourite(votes, feedback)
        if self.bayes_votes(leaf, x, votes):
            self.leaf_at(leaf)[BAYES_CORRECT] += self.weight_of_favourite(votes, feedback)

    cdef double weight_of_favourite(self, const double* votes, const LabelFeedback* feedback) noexcept nogil:
        # The row's weight for the first label of greatest vote.
        cdef Py_ssize_t best = 0, i
        for i in range(1, self.n_classes):
            if votes[i] > votes[best]:
                best = i
        for i in range(feedback.n_labels):
            if feedback.labels[i] == best:
                return feedback.weights[i] * self.weight_scale
        return 0.0

    cdef int observe_row(
        self, Py_ssize_t leaf, Py_ssize_t label, const double* x, double weight
    ) except -1 nogil:
        cdef const double* values = x
        cdef Py_ssize_t f, row, pooled
        if self.columns != NULL:
            for f in range(self.n_columns):
                self.values[f] = x[self.columns[f]]
            values = self.values
        if self.observers_at(leaf)[label] == NONE:
            self.observers_at(leaf)[label] = <int>self.new_row()
        row = self.observers_at(leaf)[label]
        self.learnt_at(row)[0] += weight
        if not self.keeps_densities:
            observe(self.row_at(row), values, self.n_columns, weight)
            return 0
        if self.observers_at(leaf)[self.n_classes] == NONE:
            self.observers_at(leaf)[self.n_classes] = <int>self.new_row()
        pooled = self.observers_at(leaf)[self.n_classes]
        observe(self.row_at(pooled), values, self.n_columns, weight)
        observe(self.row_at(row), values, self.n_columns, weight)
        self.refresh_density(pooled)
        self.refresh_density(row)
        return 0

    cdef double sample_size(self, Py_ssize_t index) noexcept nogil:
        # n of the Hoeffding bound: the weight, or what it is worth in rows of equal weight.
        cdef double weight = self.node_at(index).weight
        cdef double squares = self.leaf_at(self.node_at(index).child)[SQUARES]
        if self.effective_weight:
            return weight * (weight / squares) if squares > 0.0 else 0.0
        return weight

    # -- Growing.

    cdef bint may_split(self, Py_ssize_t index) noexcept nogil:
        return (
            (self.max_depth < 0 or self.node_at(index).depth < self.max_depth)
            and (self.max_leaves < 0 or self.n_leaves < self.max_leaves)
        )

    cdef int attempt_split(self, Py_ssize_t index) except -1 nogil:
        cdef Py_ssize_t leaf = self.node_at(index).child
        cdef const double* counts = self.leaf_at(leaf) + COUNTS
        cdef double n = self.sample_size(index)
        cdef double gain_range = 1.0, epsilon
        cdef Py_ssize_t c, n_seen = 0
        cdef Split best
        self.leaf_at(leaf)[ATTEMPTED] = n
        for c in range(self.n_classes):
            if counts[c] > 0.0:
                n_seen += 1
        if n_seen < 2:
            return 0
        if self.criterion == Criterion.ENTROPY:
            gain_range = log2(n_seen)
        epsilon = gain_range * sqrt(-log(self.delta) / (2.0 * n))
        if epsilon >= max(self.tau, 1.0):
            # No split of two branches gains more than one bit, or one in Gini impurity.
            return 0
        best = best_split(
            self.stats, self.row_length, self.observers_at(leaf), self.n_classes,
            self.n_columns, self.n_points, self.criterion, self.min_branch_fraction,
        )
        if best.feature >= 0 and (best.gain - best.runner_up > epsilon or epsilon < self.tau):
            self.split(index, best.feature, best.threshold, best.gain)
        return 0

    cdef int split(
        self, Py_ssize_t index, Py_ssize_t column, double threshold, double gain
    ) except -1 nogil:
        # The left child takes the place of the leaf, the right one is a new leaf.
        cdef Py_ssize_t left = self.node_at(index).child, right = self.n_leaves
        cdef Py_ssize_t child = self.n_nodes
        cdef double squares = self.leaf_at(left)[SQUARES]
        cdef Node* node
        if self.n_leaves == self.leaf_room:
            self.reserve_leaf()
        self.n_nodes += 2
        self.n_leaves += 1
        self.share_out(left, right, column, threshold)
        node = self.node_at(index)
        self.make_leaf(child, left, node, squares)
        self.make_leaf(child + 1, right, node, squares)
        node.feature = <int>self.feature_of(column)
        node.threshold = threshold
        node.gain = gain
        node.child = <int>child
        if self.n_leaves == self.max_leaves and not self.keeps_densities:
            self.drop_observers()
        return 0

    cdef void share_out(
        self, Py_ssize_t left, Py_ssize_t right, Py_ssize_t column, double threshold
    ) noexcept nogil:
        # What the leaf `left` has observed, to itself and to `right`; its observer rows are freed.
        cdef double* missing = self.votes
        cdef double known, share, lead = 0.0
        cdef Py_ssize_t heavier, c, row
        for c in range(self.n_classes + 1):
            row = self.observers_at(left)[c]
            self.observers_at(left)[c] = self.observers_at(right)[c] = NONE
            if c < self.n_classes:
                known = share = missing[c] = 0.0
                if row != NONE:
                    known = self.row_at(row)[WEIGHT * self.n_columns + column]
                    share = left_share(self.row_at(row), column, self.n_columns, threshold)
                    missing[c] = self.learnt_at(row)[0] - known
                self.leaf_at(left)[COUNTS + c] = known * share
                self.leaf_at(right)[COUNTS + c] = known * (1.0 - share)
                lead += self.leaf_at(left)[COUNTS + c] - self.leaf_at(right)[COUNTS + c]
            if row != NONE:
                self.release_row(row)
        # Rows whose value is missing are taken to be where `step` sends the next of them.
        heavier = left if lead >= 0.0 else right
        for c in range(self.n_classes):
            self.leaf_at(heavier)[COUNTS + c] += missing[c]

    cdef void make_leaf(
        self, Py_ssize_t index, Py_ssize_t leaf, const Node* parent, double squares
    ) noexcept nogil:
        # Let the node be this leaf, whose counts are written already. It inherits its share of
        # `squares`, those of the leaf that `parent` was.
        cdef Node* node = self.node_at(index)
        cdef Py_ssize_t c
        node.feature = LEAF
        node.child = <int>leaf
        node.depth = parent.depth + 1
        node.weight = node.threshold = node.gain = 0.0
        node.padding = 0
        for c in range(self.n_classes):
            node.weight += self.leaf_at(leaf)[COUNTS + c]
        self.leaf_at(leaf)[SQUARES] = squares * (node.weight / parent.weight)
        self.leaf_at(leaf)[MAJORITY_CORRECT] = 0.0
        self.leaf_at(leaf)[BAYES_CORRECT] = 0.0
        self.leaf_at(leaf)[ATTEMPTED] = self.sample_size(index)

    # -- Room for more.

    cdef Py_ssize_t new_row(self) except -1 nogil:
        # An empty observer row.
        cdef Py_ssize_t row, f, n = self.n_columns
        cdef double* stats
        if self.free_row != NONE:
            row = self.free_row
            self.free_row = <int>self.row_at(row)[0]
        else:
            if self.n_rows == self.row_room:
                self.reserve_row()
            row = self.n_rows
            self.n_rows += 1
        stats = self.row_at(row)
        self.learnt_at(row)[0] = 0.0
        for f in range(n):
            stats[WEIGHT * n + f] = 0.0
            stats[MEAN * n + f] = 0.0
            stats[M2 * n + f] = 0.0
            stats[LOW * n + f] = INFINITY
            stats[HIGH * n + f] = -INFINITY
        return row

    cdef void release_row(self, Py_ssize_t row) noexcept nogil:
        # Give an observer row back, for new_row to hand out again.
        self.row_at(row)[0] = self.free_row
        self.free_row = <int>row

    cdef int reserve_leaf(self) except -1 nogil:
        cdef Py_ssize_t room = 2 * self.leaf_room
        self.nodes = <Node*>resized(self.nodes, (2 * room - 1) * sizeof(Node))
        self.leaves = <double*>resized(
            self.leaves, room * (COUNTS + self.n_classes) * sizeof(double)
        )
        self.observers = <int*>resized(
            self.observers, room * (self.n_classes + 1) * sizeof(int)
        )
        self.leaf_room = room
        return 0

    cdef int reserve_row(self) except -1 nogil:
        cdef Py_ssize_t room = self.row_room + max(1, self.row_room // 4)
        self.stats = <double*>resized(self.stats, room * self.row_length * sizeof(double))
        self.row_room = room
        return 0

    cdef void drop_observers(self) noexcept nogil:
        # A tree that will not grow any more has no use for them.
        cdef Py_ssize_t leaf, c
        for leaf in range(self.n_leaves):
            for c in range(self.n_classes + 1):
                self.observers_at(leaf)[c] = NONE
        PyMem_RawFree(self.stats)
        self.stats = NULL
        self.n_rows = self.row_room = 0
        self.free_row = NONE

    # -- What Python sees.

    @property
    def node_table(self):
        """Copy of the nodes, a structured array; `feature` is -1 for a leaf."""
        return array_of(self.nodes, (self.n_nodes,), NODE_DTYPE)

    def leaf_counts(self, Py_ssize_t leaf):
        """Copy of the class weights `(n_classes,)` of the leaf with this index."""
        if not 0 <= leaf < self.n_leaves:
            raise IndexError(f"leaf {leaf} of {self.n_leaves}")
        return array_of(self.leaf_at(leaf) + COUNTS, (self.n_classes,), FLOAT)

    @property
    def nbytes(self):
        """Bytes that the tree's blocks hold."""
        cdef Py_ssize_t of_leaf = 2 * sizeof(Node) + (COUNTS + self.n_classes) * sizeof(double)
        cdef Py_ssize_t scratch = self.n_classes * sizeof(double)
        of_leaf += (self.n_classes + 1) * sizeof(int)
        if self.columns != NULL:
            scratch += self.n_columns * (sizeof(Py_ssize_t) + sizeof(double))
        return (
            self.leaf_room * of_leaf - sizeof(Node)
            + self.row_room * self.row_length * sizeof(double) + scratch
        )

    def __reduce__(self):
        columns = np.array([self.feature_of(f) for f in range(self.n_columns)], dtype=np.intp)
        params = dict(zip(PARAMETERS, self.parameter_values))
        arguments = self.n_features, self.n_classes, columns, params
        return HoeffdingTree, arguments, self.__getstate__()

    def __getstate__(self):
        return {
            "nodes": self.node_table,
            "leaves": array_of(self.leaves, (self.n_leaves, COUNTS + self.n_classes), FLOAT),
            "observers": array_of(self.observers, (self.n_leaves, self.n_classes + 1), INT),
            "stats": array_of(self.stats, (self.n_rows, self.row_length), FLOAT),
            "free_row": self.free_row,
        }

    def __setstate__(self, state):
        nodes, leaves, observers, stats = [
            np.asarray(state[name], dtype)
            for name, dtype in [
                ("nodes", NODE_DTYPE), ("leaves", FLOAT), ("observers", INT), ("stats", FLOAT)
            ]
        ]
        n_leaves = len(leaves)
        if (
            nodes.shape != (2 * n_leaves - 1,)
            or leaves.shape != (n_leaves, COUNTS + self.n_classes)
            or observers.shape != (n_leaves, self.n_classes + 1)
            or stats.shape != (len(stats), self.row_length)
        ):
            raise ValueError("the state is that of another tree")
        self.nodes = <Node*>filled(self.nodes, nodes)
        self.leaves = <double*>filled(self.leaves, leaves)
        self.observers = <int*>filled(self.observers, observers)
        self.stats = <double*>filled(self.stats, stats)
        self.n_nodes = len(nodes)
        self.n_leaves = self.leaf_room = n_leaves
        self.n_rows = self.row_room = len(stats)
        self.free_row = state["free_row"]


# -- Blocks of memory. PyMem_Raw needs no GIL, and tracemalloc counts what it allocates.

cdef void* resized(void* block, size_t n_bytes) except NULL nogil:
    block = PyMem_RawRealloc(block, n_bytes)
    if block == NULL:
        with gil:
            raise MemoryError
    return block


cdef void* filled(void* block, array) except NULL:
    # The block, resized to hold what the array does.
    cdef bytes values = array.tobytes()
    block = resized(block, len(values))
    memcpy(block, <const char*>values, len(values))
    return block


cdef array_of(const void* block, tuple shape, dtype):
    cdef Py_ssize_t n_bytes = prod(shape) * dtype.itemsize
    return np.ndarray(shape, dtype, buffer=(<const char*>block)[:n_bytes]).copy()
