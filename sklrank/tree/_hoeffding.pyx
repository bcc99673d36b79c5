# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""A decision tree that grows with a stream: VFDT (Domingos & Hulten 2000).

Every leaf keeps the class weights it has seen (in `leaves`) and, for each class, Gaussian observers
of the features (`stats`, see _split_search). After each `grace_period` it looks for its best split
and makes it when the gain's lead over the second best feature exceeds the Hoeffding bound

    epsilon = sqrt(R^2 ln(1 / delta) / (2 n)),      R = log2(number of classes seen in the leaf),

n being the leaf's weight, or when epsilon < tau, so that a tie does not hold the tree up. "No
split" competes with a gain of 0. The children inherit the class weights that the observers expect
on either side; their own observers start empty.

Nodes, leaves and observer rows lie in arrays that double when full; a split gives its leaf's rows
back. So memory follows the number of leaves and of the classes seen in them, not of the rows.
"""

from libc.math cimport INFINITY, exp, log, log2, sqrt

import numpy as np

from sklrank.tree._split_search cimport (
    HIGH, LOW, M2, MAX_POINTS, MEAN, N_STATS, N_STATS_AND_DENSITIES, PRECISION, WEIGHT, Criterion,
    Split, best_split, left_share, observe,
)

cdef enum:
    LEAF = -1       # as a node's feature
    NONE = -1       # as an observer row

CRITERIA = {"entropy": Criterion.ENTROPY, "gini": Criterion.GINI}
LEAF_PREDICTIONS = {
    "mc": LeafPrediction.MAJORITY_CLASS,
    "nb": LeafPrediction.NAIVE_BAYES,
    "nba": LeafPrediction.NAIVE_BAYES_ADAPTIVE,
}
WEIGHT_COUNTS = {"sum": False, "effective": True}
MAX_SPLIT_POINTS = MAX_POINTS

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
# Beyond these a variance or its inverse is lost in overflow.
cdef double MIN_VARIANCE = 1e-290
cdef double MAX_VARIANCE = 1e290


cdef class HoeffdingTree(OnlineLearner):
    """The compiled tree; HoeffdingTreeClassifier documents and checks the parameters."""

    def __init__(
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
        self.columns = columns
        self.n_columns = columns.shape[0]
        self.params = params
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
        self.scratch = np.empty(self.n_columns + n_classes)

        self.nodes = np.zeros(1, dtype=NODE_DTYPE)
        self.leaves = np.zeros((1, COUNTS + n_classes))
        self.observers = np.full((1, n_classes + 1), NONE, dtype=np.int32)
        self.row_length = self.n_columns * (
            N_STATS if self.leaf_prediction == MAJORITY_CLASS else N_STATS_AND_DENSITIES
        )
        self.stats = np.empty((0, self.row_length))
        self.free_row = NONE
        self.n_nodes = self.n_leaves = 1
        self.nodes[0].feature = LEAF

    # -- What the loops over rows call.

    cdef int predict(self, const double* x, double* votes) except -1 nogil:
        cdef Py_ssize_t index = 0, leaf, c
        cdef bint bayes
        while self.nodes[index].feature != LEAF:
            index = self.step(index, x)
        leaf = self.nodes[index].child
        bayes = self.leaf_prediction == NAIVE_BAYES or (
            self.leaf_prediction == NAIVE_BAYES_ADAPTIVE
            and self.leaves[leaf, BAYES_CORRECT] >= self.leaves[leaf, MAJORITY_CORRECT]
        )
        if bayes and self.bayes_votes(leaf, x, votes):
            return 0
        if not self.majority_votes(leaf, votes):
            for c in range(self.n_classes):
                votes[c] = 1.0 / self.n_classes
        return 0

    cdef int learn(self, const double* x, const Lesson* lesson) except -1 nogil:
        # The labels of a row are learnt together, so that their order does not matter.
        cdef Py_ssize_t index = 0, leaf, i
        cdef double weight = 0.0, squares = 0.0
        for i in range(lesson.n_labels):
            weight += lesson.weights[i] * self.weight_scale
            squares += (lesson.weights[i] * self.weight_scale) ** 2
        if not weight > 0.0:
            return 0
        self.nodes[0].weight += weight
        while self.nodes[index].feature != LEAF:
            index = self.step(index, x)
            self.nodes[index].weight += weight
        leaf = self.nodes[index].child
        if self.leaf_prediction == NAIVE_BAYES_ADAPTIVE:
            self.compare_votes(leaf, x, lesson)
        self.leaves[leaf, SQUARES] += squares
        for i in range(lesson.n_labels):
            weight = lesson.weights[i] * self.weight_scale
            if weight > 0.0:
                self.leaves[leaf, COUNTS + lesson.labels[i]] += weight
                if self.leaf_prediction != MAJORITY_CLASS or self.may_split(index):
                    self.observe_row(leaf, lesson.labels[i], x, weight)
        if (
            self.may_split(index)
            and self.sample_size(index) - self.leaves[leaf, ATTEMPTED] >= self.grace_period
        ):
            self.attempt_split(index)
        return 0

    # -- Votes.

    cdef Py_ssize_t step(self, Py_ssize_t index, const double* x) noexcept nogil:
        # From an inner node to the child that takes the row. A missing value follows the weight.
        cdef const Node* node = &self.nodes[index]
        cdef double value = x[node.feature]
        if value <= node.threshold:
            return node.child
        if value == value or self.nodes[node.child + 1].weight > self.nodes[node.child].weight:
            return node.child + 1
        return node.child

    cdef bint majority_votes(self, Py_ssize_t leaf, double* votes) noexcept nogil:
        cdef const double* counts = &self.leaves[leaf, COUNTS]
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
        cdef const double* counts = &self.leaves[leaf, COUNTS]
        cdef Py_ssize_t pooled = self.observers[leaf, self.n_classes]
        cdef double best = -INFINITY, total = 0.0
        cdef Py_ssize_t c, row
        if pooled == NONE:
            return False
        for c in range(self.n_classes):
            votes[c] = -INFINITY
            if counts[c] > 0.0:
                row = self.observers[leaf, c]
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
        # Of a class, by its observer row (NONE: taken to be all classes together), less the factor
        # that is the same for every class.
        cdef Py_ssize_t n = self.n_columns, f
        cdef const double* all_mean = &self.stats[pooled, MEAN * n]
        cdef const double* all_precision = &self.stats[pooled, PRECISION * n]
        cdef const double* mean
        cdef const double* seen
        cdef const double* precision
        cdef double value, centre, sharp, logarithm, total = 0.0
        if row == NONE:
            row = pooled
        mean = &self.stats[row, MEAN * n]
        seen = &self.stats[row, WEIGHT * n]
        precision = &self.stats[row, PRECISION * n]
        for f in range(n):
            value = x[self.columns[f]]
            if value != value or all_precision[f] == INFINITY:
                continue
            centre = mean[f]
            sharp = precision[f]
            logarithm = precision[n + f]
            if sharp * MIN_VARIANCE_SHARE > all_precision[f]:
                sharp = all_precision[f]
                logarithm = all_precision[n + f]
                if seen[f] == 0.0:
                    centre = all_mean[f]
            total += 0.5 * (logarithm - (value - centre) * (value - centre) * sharp)
        return total

    cdef void refresh_density(self, Py_ssize_t row) noexcept nogil:
        # What WEIGHT and M2 say of the variance.
        cdef Py_ssize_t n = self.n_columns, f
        cdef const double* stats = &self.stats[row, 0]
        cdef double* precision = &self.stats[row, PRECISION * n]
        cdef double variance
        for f in range(n):
            precision[f] = precision[n + f] = INFINITY
            if stats[WEIGHT * n + f] > 0.0:
                variance = stats[M2 * n + f] / stats[WEIGHT * n + f]
                if MIN_VARIANCE < variance < MAX_VARIANCE:
                    precision[f] = 1.0 / variance
                    precision[n + f] = -log(variance)

    # -- Learning.

    cdef void compare_votes(
        self, Py_ssize_t leaf, const double* x, const Lesson* lesson
    ) noexcept nogil:
        # What the majority class and naive Bayes would have said of the row before it is learnt.
        cdef double* votes = &self.scratch[self.n_columns]
        if self.majority_votes(leaf, votes):
            self.leaves[leaf, MAJORITY_CORRECT] += self.weight_of_favourite(votes, lesson)
        if self.bayes_votes(leaf, x, votes):
            self.leaves[leaf, BAYES_CORRECT] += self.weight_of_favourite(votes, lesson)

    cdef double weight_of_favourite(self, const double* votes, const Lesson* lesson) noexcept nogil:
        # The row's weight for the first label of greatest vote.
        cdef Py_ssize_t best = 0, i
        for i in range(1, self.n_classes):
            if votes[i] > votes[best]:
                best = i
        for i in range(lesson.n_labels):
            if lesson.labels[i] == best:
                return lesson.weights[i] * self.weight_scale
        return 0.0

    cdef int observe_row(
        self, Py_ssize_t leaf, Py_ssize_t label, const double* x, double weight
    ) except -1 nogil:
        cdef const double* values = x
        cdef Py_ssize_t f, row, pooled
        if self.n_columns < self.n_features:
            for f in range(self.n_columns):
                self.scratch[f] = x[self.columns[f]]
            values = &self.scratch[0]
        if self.observers[leaf, label] == NONE:
            self.observers[leaf, label] = <int>self.new_row()
        row = self.observers[leaf, label]
        if self.leaf_prediction == MAJORITY_CLASS:
            observe(&self.stats[row, 0], values, self.n_columns, weight)
            return 0
        if self.observers[leaf, self.n_classes] == NONE:
            self.observers[leaf, self.n_classes] = <int>self.new_row()
        pooled = self.observers[leaf, self.n_classes]
        observe(&self.stats[pooled, 0], values, self.n_columns, weight)
        observe(&self.stats[row, 0], values, self.n_columns, weight)
        self.refresh_density(pooled)
        self.refresh_density(row)
        return 0

    cdef double sample_size(self, Py_ssize_t index) noexcept nogil:
        # n of the Hoeffding bound: the weight, or what it is worth in rows of equal weight.
        cdef double weight = self.nodes[index].weight
        cdef double squares = self.leaves[self.nodes[index].child, SQUARES]
        if self.effective_weight:
            return weight * weight / squares if squares > 0.0 else 0.0
        return weight

    # -- Growing.

    cdef bint may_split(self, Py_ssize_t index) noexcept nogil:
        return (
            (self.max_depth < 0 or self.nodes[index].depth < self.max_depth)
            and (self.max_leaves < 0 or self.n_leaves < self.max_leaves)
        )

    cdef int attempt_split(self, Py_ssize_t index) except -1 nogil:
        cdef Py_ssize_t leaf = self.nodes[index].child
        cdef const double* counts = &self.leaves[leaf, COUNTS]
        cdef double n = self.sample_size(index)
        cdef double gain_range = 1.0, epsilon
        cdef Py_ssize_t c, n_seen = 0
        cdef Split best
        self.leaves[leaf, ATTEMPTED] = n
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
            &self.stats[0, 0], self.row_length, &self.observers[leaf, 0], self.n_classes,
            self.n_columns, self.n_points, self.criterion, self.min_branch_fraction,
        )
        if best.feature >= 0 and (best.gain - best.runner_up > epsilon or epsilon < self.tau):
            self.split(index, best.feature, best.threshold, best.gain)
        return 0

    cdef int split(
        self, Py_ssize_t index, Py_ssize_t column, double threshold, double gain
    ) except -1 nogil:
        cdef Py_ssize_t left = self.nodes[index].child, right = self.n_leaves
        cdef Py_ssize_t child = self.n_nodes, c, row, side
        cdef double total, share, weight, parent_weight = self.nodes[index].weight
        cdef double parent_squares = self.leaves[left, SQUARES]
        cdef Node* node
        if self.n_nodes + 2 > self.nodes.shape[0] or self.n_leaves == self.leaves.shape[0]:
            with gil:
                self.reserve_leaf()
        self.n_nodes += 2
        self.n_leaves += 1
        for c in range(self.n_classes + 1):
            row = self.observers[left, c]
            self.observers[left, c] = self.observers[right, c] = NONE
            if c < self.n_classes:
                self.leaves[left, COUNTS + c] = self.leaves[right, COUNTS + c] = 0.0
            if row == NONE:
                continue
            if c < self.n_classes:
                total = self.stats[row, WEIGHT * self.n_columns + column]
                share = left_share(&self.stats[row, 0], column, self.n_columns, threshold)
                self.leaves[left, COUNTS + c] = total * share
                self.leaves[right, COUNTS + c] = total * (1.0 - share)
            self.stats[row, 0] = self.free_row
            self.free_row = <int>row
        for side in range(2):
            weight = 0.0
            for c in range(self.n_classes):
                weight += self.leaves[right if side else left, COUNTS + c]
            node = &self.nodes[child + side]
            node.feature = LEAF
            node.child = <int>(right if side else left)
            node.depth = self.nodes[index].depth + 1
            node.weight = weight
            node.threshold = node.gain = 0.0
            self.leaves[node.child, SQUARES] = parent_squares * weight / parent_weight
            self.leaves[node.child, MAJORITY_CORRECT] = 0.0
            self.leaves[node.child, BAYES_CORRECT] = 0.0
            self.leaves[node.child, ATTEMPTED] = self.sample_size(child + side)
        node = &self.nodes[index]
        node.feature = <int>self.columns[column]
        node.threshold = threshold
        node.gain = gain
        node.child = <int>child
        if self.leaf_prediction == MAJORITY_CLASS and self.n_leaves == self.max_leaves:
            with gil:
                self.drop_observers()
        return 0

    # -- Room for more.

    cdef Py_ssize_t new_row(self) except -1 nogil:
        # An empty observer row.
        cdef Py_ssize_t row, f, n = self.n_columns
        if self.free_row != NONE:
            row = self.free_row
            self.free_row = <int>self.stats[row, 0]
        else:
            if self.n_rows == self.stats.shape[0]:
                with gil:
                    self.reserve_row()
            row = self.n_rows
            self.n_rows += 1
        for f in range(n):
            self.stats[row, WEIGHT * n + f] = 0.0
            self.stats[row, MEAN * n + f] = 0.0
            self.stats[row, M2 * n + f] = 0.0
            self.stats[row, LOW * n + f] = INFINITY
            self.stats[row, HIGH * n + f] = -INFINITY
        return row

    cdef int reserve_leaf(self) except -1:
        cdef Py_ssize_t n_leaves = 2 * self.n_leaves
        self.nodes = enlarged(self.nodes, 2 * n_leaves - 1)
        self.leaves = enlarged(self.leaves, n_leaves)
        self.observers = enlarged(self.observers, n_leaves, NONE)
        return 0

    cdef int drop_observers(self) except -1:
        # A tree that will not grow any more has no use for them.
        self.observers[:] = NONE
        self.n_rows = 0
        self.free_row = NONE
        self.stats = np.empty((0, self.row_length))
        return 0

    cdef int reserve_row(self) except -1:
        cdef Py_ssize_t n_rows = self.n_rows + max(1, self.n_rows // 4)
        self.stats = enlarged(self.stats, n_rows)
        return 0

    # -- What Python sees.

    @property
    def node_table(self):
        """Copy of the nodes, a structured array; `feature` is -1 for a leaf."""
        return np.array(self.nodes[: self.n_nodes])

    def leaf_counts(self, Py_ssize_t leaf):
        """Copy of the class weights `(n_classes,)` of the leaf with this index."""
        if not 0 <= leaf < self.n_leaves:
            raise IndexError(f"leaf {leaf} of {self.n_leaves}")
        return np.array(self.leaves[leaf, COUNTS:])

    @property
    def nbytes(self):
        """Bytes that the tree's arrays hold."""
        arrays = [np.asarray(self.nodes), np.asarray(self.leaves), np.asarray(self.observers)]
        arrays += [np.asarray(self.stats), np.asarray(self.columns), np.asarray(self.scratch)]
        return sum(array.nbytes for array in arrays)

    def __reduce__(self):
        return (
            HoeffdingTree,
            (self.n_features, self.n_classes, np.asarray(self.columns), self.params),
            self.__getstate__(),
        )

    def __getstate__(self):
        return {
            "nodes": np.array(self.nodes[: self.n_nodes]),
            "leaves": np.array(self.leaves[: self.n_leaves]),
            "observers": np.array(self.observers[: self.n_leaves]),
            "stats": np.array(self.stats[: self.n_rows]),
            "free_row": self.free_row,
        }

    def __setstate__(self, state):
        self.nodes = np.array(state["nodes"])
        self.leaves = np.array(state["leaves"])
        self.observers = np.array(state["observers"])
        self.stats = np.array(state["stats"])
        self.free_row = state["free_row"]
        self.n_nodes = self.nodes.shape[0]
        self.n_leaves = self.leaves.shape[0]
        self.n_rows = self.stats.shape[0]


def enlarged(array, Py_ssize_t length, fill=0):
    """Copy of an array with room for `length` entries along the first axis."""
    array = np.asarray(array)
    larger = np.full((length, *array.shape[1:]), fill, dtype=array.dtype)
    larger[: len(array)] = array
    return larger
