# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Probabilistic label tree whose nodes and node models are learned online.

The leaves are labels. Let z_v = 1 if the label of leaf v, or a label below node v, is relevant. The
model of v, whose parent is u, estimates eta_v = Pr[z_v = 1 | z_u = 1, x]. Since z_v = 1 implies
z_u = 1, the probability of a label is a product along its path (Jasinska et al. 2016, Eq. 2),

    Pr[j is relevant | x] = product of eta_v over the nodes v below the root on the path to j.

A node with z_u = 1, and always the root, learns a sample: the models of its children v have the
targets z_v. The error of a product is at most the sum of Pr[z_u = 1 | x] |error of eta_v| over the
path, and the expectation of an error at most sqrt(r / 2), where r is the regret of the log loss of
the model (Wydmuch et al. 2018, Theorem 2; the log loss is 4-strongly proper). The regret of
precision@k is at most twice the largest error of the k labels (ibid., Theorem 3).

Node models are logistic regressions. Samples x are scaled to the norm one, and the constant 1 is
appended. The posterior of weight i is approximated by a normal distribution of mean w_i and
precision s_i, at first 0 and alpha (extended Kalman filter with a diagonal covariance matrix). With
p = sigma(w'x), the weight c of the sample and h = c p (1 - p), a sample takes the step

    w_i -= (x_i / s_i) c (p - z) / (1 + h sum_j x_j^2 / s_j),    s_i += h x_i^2.

The models of the children of a node are the columns of a `Table`, since they learn the same
samples. For each feature that occurred in these samples it has a block, the means of all columns
and then the precisions, which a hash table finds. Loops over columns are vectorized. So memory is
proportional to the pairs of a node and a feature of its samples.

A new label must join the tree as if it had been in it from the start, but never relevant
(Jasinska-Kobus et al. 2021). Columns without a child therefore learn with the target 0, and a new
label takes over such a column. Before the last one is taken, copies of it are added. If a node has
`max_children` children, the new label descends to the child v with the largest
log eta_v - log(number of labels of v). If v is a leaf, it becomes a node with a leaf of its label.
This leaf would always have had the target 1, and unused columns the target 0. The table of a leaf
has one unused column, which has learned this. The column of the new leaf has the opposite means.
"""

cimport cython
from cpython.mem cimport PyMem_RawFree, PyMem_RawRealloc
from libc.math cimport exp, fabs, log, sqrt
from libc.string cimport memcpy, memset

import numpy as np

from sklrank._online_learner import check_lists
from sklrank._state cimport Archive, Persistent

INT = np.dtype(np.intc)
SINGLE = np.dtype(np.float32)
CANDIDATE = np.dtype([("chance", "f8"), ("node", "i4"), ("label", "i4")])

cdef enum:
    NONE = -1

# Smallest eta_v in the choice of a child for a new label. One child has at most about a hundred
# times as many labels as another, so that the depth is logarithmic in the number of labels.
cdef double MIN_FIT = 0.01

cdef struct Table:
    int width           # number of columns
    int n_blocks
    int n_allocated     # number of blocks for which there is memory
    int n_slots         # size of the hash table: 0, or a power of two
    int* slots          # (n_slots,) blocks, or NONE
    int* features       # (n_allocated,) features of the blocks
    float* values       # (n_allocated, 2, width) means and precisions
    int* children       # (width,) nodes of the columns that are in use

cdef struct Node:
    int parent          # NONE for the root
    int label           # NONE for nodes that are no leaves
    int n_children
    int n_labels        # number of labels below the node, 1 for a leaf
    bint is_positive    # z_v while a sample is learned
    Table table

cdef struct Row:
    # A sample, and memory for one table.
    int n, n_known
    int* features       # (n,) features, the last one is the constant
    float* values       # (n,)
    int* blocks         # (n_known,) blocks of the features that the table has
    float* known        # (n_known,) values of these features
    float* steps        # (max_children,)
    float* curvatures   # (max_children,)
    double* chances     # (max_children,)

cdef struct Candidate:
    double chance
    int node, label


@cython.final
cdef class Rows:
    """The rows of a CSR matrix `X`, one of which at a time is read into `row`."""

    cdef Py_ssize_t n_rows, n_features
    cdef const double[::1] data
    cdef const int[::1] indices, indptr
    cdef int[:, ::1] integers
    cdef float[:, ::1] floats
    cdef double[::1] chances
    cdef Row row

    def __init__(self, X, LabelTree tree not None):
        tree.require_ready()
        self.data, self.indices, self.indptr = X.data, X.indices, X.indptr
        self.n_rows, self.n_features = X.shape
        sizes = np.diff(X.indptr)
        # Loops rely on this.
        if (
            self.n_features != tree.n_features
            or not len(sizes) == self.n_rows
            or np.any(sizes < 0)
            or X.indptr[0] != 0
            or not X.indptr[len(sizes)] == len(X.data) == len(X.indices)
            or len(X.indices) and not 0 <= X.indices.min() <= X.indices.max() < self.n_features
        ):
            raise ValueError(f"X is no CSR matrix with {tree.n_features} columns")
        n = max(sizes.max(initial=0) + 1, tree.max_children)
        self.integers, self.chances = np.empty((2, n), dtype=INT), np.empty(n)
        self.floats = np.empty((4, n), dtype=SINGLE)
        self.row.features, self.row.blocks = &self.integers[0, 0], &self.integers[1, 0]
        self.row.values, self.row.known = &self.floats[0, 0], &self.floats[1, 0]
        self.row.steps, self.row.curvatures = &self.floats[2, 0], &self.floats[3, 0]
        self.row.chances = &self.chances[0]

    cdef Row* read(self, Py_ssize_t i) noexcept nogil:
        cdef const double[::1] data = self.data
        cdef Row* row = &self.row
        cdef double largest = 0.0, squares = 0.0
        cdef Py_ssize_t j, first = self.indptr[i], last = self.indptr[i + 1]
        row.n = 0
        for j in range(first, last):
            largest = max(largest, fabs(data[j]))
        for j in range(first, last):
            squares += (data[j] / largest) ** 2 if largest > 0.0 else 0.0  # without an overflow
        for j in range(first, last):
            if data[j] != 0.0:
                row.features[row.n] = self.indices[j]
                row.values[row.n] = <float>(data[j] / largest / sqrt(squares))
                row.n += 1
        row.features[row.n], row.values[row.n] = <int>self.n_features, 1.0
        row.n += 1
        return row


@cython.final
cdef class LabelTree(Persistent):
    """The compiled tree of ProbabilisticLabelTree, which documents and checks the parameters.

    A row of `nodes` (n_nodes, 3) is the parent of a node, its label or -1, and its number of
    blocks. Row 0 is the root, and nodes follow their parents. If `exclusive` is True, a sample has
    one label, and the chances of siblings are normalized.
    """

    cdef readonly Py_ssize_t n_features, max_children, n_nodes
    cdef double alpha
    cdef bint exclusive
    cdef int[::1] leaves        # (n_labels,) nodes of the labels, or NONE
    cdef Py_ssize_t capacity    # number of nodes for which there is memory
    cdef Node* nodes
    cdef int* positive          # nodes that learn a sample

    def __init__(
        self, Py_ssize_t n_features, Py_ssize_t n_labels, Py_ssize_t max_children, double alpha,
        bint exclusive, nodes=((NONE, NONE, 0),),
    ):
        self.n_features, self.max_children, self.alpha = n_features, max_children, alpha
        self.exclusive, self.leaves = exclusive, np.empty(n_labels, dtype=INT)
        arrays = np.array(nodes, dtype=INT), np.empty(0, dtype=INT), np.empty(0, dtype=SINGLE)
        entries = dict(zip(("nodes", "features", "values"), arrays))
        self.start({**self.save(False), **entries})

    def __dealloc__(self):
        self.clear()
        PyMem_RawFree(self.nodes)
        PyMem_RawFree(self.positive)

    # -- Learning.

    def grow(self, Py_ssize_t n_labels):
        """Increase the number of labels to `n_labels`."""
        self.require_ready()
        if n_labels == self.leaves.shape[0]:
            return
        cdef int[::1] leaves = np.full(n_labels, NONE, dtype=INT)
        self.begin_exclusive()
        try:
            leaves[: self.leaves.shape[0]] = self.leaves
            self.leaves = leaves
        finally:
            self.end_exclusive()

    def play_rows(
        self, X, const Py_ssize_t[::1] starts not None, const Py_ssize_t[::1] labels not None,
        const double[::1] weights not None,
    ):
        """Learn the rows of a CSR matrix, one after the other.

        Row i has the labels `labels[starts[i]:starts[i + 1]]`, each of them once, and the weight
        `weights[i]`.
        """
        cdef Rows rows = Rows(X, self)
        cdef Py_ssize_t i, j
        cdef bint failed
        check_lists(starts, labels, rows.n_rows, self.leaves.shape[0])
        if weights.shape[0] != rows.n_rows:
            raise ValueError(f"weights has {weights.shape[0]} entries for {rows.n_rows} rows")
        self.begin_exclusive()
        try:
            for i in range(rows.n_rows):
                if weights[i] == 0.0:
                    continue
                rows.read(i)
                for j in range(starts[i], starts[i + 1]):
                    if self.leaves[labels[j]] == NONE:
                        self.insert(&rows.row, <int>labels[j])
                with nogil:
                    failed = self.learn(&rows.row, labels, starts[i], starts[i + 1], weights[i])
                if failed:
                    raise MemoryError
        finally:
            self.end_exclusive()

    cdef bint learn(
        self, Row* row, const Py_ssize_t[::1] labels, Py_ssize_t start, Py_ssize_t stop,
        double weight,
    ) noexcept nogil:
        # Return True if memory runs out.
        cdef Py_ssize_t i, n_positive = 1
        cdef int v
        cdef bint failed = False
        self.positive[0], self.nodes[0].is_positive = 0, True
        for i in range(start, stop):
            v = self.leaves[labels[i]]
            while not self.nodes[v].is_positive:
                self.nodes[v].is_positive, self.positive[n_positive] = True, v
                n_positive += 1
                v = self.nodes[v].parent
        for i in range(n_positive):
            failed = failed or self.train(&self.nodes[self.positive[i]], row, weight)
        for i in range(n_positive):
            self.nodes[self.positive[i]].is_positive = False
        return failed

    cdef bint train(self, Node* node, Row* row, double weight) noexcept nogil:
        # Make a step of all columns. Return True if memory runs out.
        cdef Table* table = &node.table
        cdef Py_ssize_t i, c, width = table.width
        cdef double error, curvature
        cdef float x
        cdef float* means
        cdef float* precisions
        cdef float* steps = row.steps
        cdef float* curvatures = row.curvatures
        cdef double* variances = row.chances
        cdef bint target
        if add_blocks(table, row, <float>self.alpha):
            return True
        compute_margins(table, row)
        memset(variances, 0, width * sizeof(double))
        for i in range(row.n_known):
            precisions = table.values + (2 * row.blocks[i] + 1) * width
            x = row.known[i]
            for c in range(width):
                variances[c] += x * x / precisions[c]
        for c in range(width):
            # If the target is 1, the error is that of the target 0 and of opposite means.
            target = c < node.n_children and self.nodes[table.children[c]].is_positive
            error = sigmoid(-steps[c] if target else steps[c])
            curvature = weight * error * (1.0 - error)
            error *= weight / (1.0 + curvature * variances[c])
            steps[c], curvatures[c] = <float>(-error if target else error), <float>curvature
        for i in range(row.n_known):
            means = table.values + 2 * row.blocks[i] * width
            precisions = means + width
            x = row.known[i]
            for c in range(width):
                means[c] -= x * steps[c] / precisions[c]
                precisions[c] += x * x * curvatures[c]
        return False

    # -- The tree.

    cdef int insert(self, Row* row, int label) except -1:
        # Add a label of this sample to the tree.
        cdef double score, best_score = 0.0
        cdef int v = 0, best = 0, child
        cdef Py_ssize_t c
        while self.nodes[v].n_children == self.max_children:
            find_blocks(&self.nodes[v].table, row)
            compute_margins(&self.nodes[v].table, row)
            for c in range(self.max_children):
                child = self.nodes[v].table.children[c]
                score = log(max(sigmoid(row.steps[c]), MIN_FIT)) - log(self.nodes[child].n_labels)
                if c == 0 or score > best_score:
                    best, best_score = child, score
            v = best
            if self.nodes[v].label != NONE:
                self.split(v)
        self.add_node(v, label)
        return 0

    cdef int split(self, int v) except -1:
        # Change a leaf into a node with a leaf of its label.
        cdef Table of_leaf = self.nodes[v].table, of_node
        cdef int label = self.nodes[v].label
        self.reserve_nodes()
        if copy_table(&of_leaf, &of_node, self.width_for(1), True):
            raise MemoryError
        self.nodes[v].table, self.nodes[v].label = of_node, NONE
        self.count(v, -1)
        return self.add_node(v, label, &of_leaf)

    cdef int add_node(self, int parent, int label, const Table* table=NULL) except -1:
        # Add a node after the other children of its parent, with an empty table if `table` is NULL.
        cdef Table empty, new
        cdef Node* above = NULL if parent == NONE else &self.nodes[parent]
        cdef Node* node
        if above != NULL and above.n_children + 1 == above.table.width < self.max_children:
            if copy_table(&above.table, &new, self.width_for(above.n_children + 1), False):
                raise MemoryError
            free_table(&above.table)
            above.table = new
        self.reserve_nodes()
        if table == NULL:
            memset(&empty, 0, sizeof(Table))
            if copy_table(&empty, &new, self.width_for(0) if label == NONE else 1, False):
                raise MemoryError
        node = &self.nodes[self.n_nodes]
        memset(node, 0, sizeof(Node))
        node.parent, node.label, node.table = parent, label, new if table == NULL else table[0]
        if parent != NONE:
            above = &self.nodes[parent]
            above.table.children[above.n_children] = <int>self.n_nodes
            above.n_children += 1
        self.n_nodes += 1
        if label != NONE:
            self.leaves[label] = <int>self.n_nodes - 1
            self.count(<int>self.n_nodes - 1, 1)
        return 0

    cdef void count(self, int v, int n_labels) noexcept:
        # Add a number of labels to a node and to those above it.
        while v != NONE:
            self.nodes[v].n_labels += n_labels
            v = self.nodes[v].parent

    cdef int width_for(self, int n_children) noexcept:
        # Return the number of columns. One of them is unused, if there may be more children.
        cdef int width = 2
        while width <= n_children:
            width *= 2
        return <int>min(width, self.max_children)

    cdef int reserve_nodes(self) except -1:
        # Allocate memory for another node. (tracemalloc counts PyMem_RawRealloc.)
        cdef Py_ssize_t n = self.n_nodes + self.n_nodes // 4 + 1
        cdef void* memory
        if self.n_nodes < self.capacity:
            return 0
        memory = PyMem_RawRealloc(self.nodes, n * sizeof(Node))
        if memory == NULL:
            raise MemoryError
        self.nodes = <Node*>memory
        memory = PyMem_RawRealloc(self.positive, n * sizeof(int))
        if memory == NULL:
            raise MemoryError
        self.positive, self.capacity = <int*>memory, n
        return 0

    # -- Prediction.

    def score_rows(self, X, labels):
        """Return the chances `(n_rows, n)` of n labels. They are 0 for labels outside the tree."""
        cdef Rows rows = Rows(X, self)
        cdef Row* row = &rows.row
        cdef Py_ssize_t i, v
        cdef char[::1] needed
        cdef double[::1] chances
        cdef int c
        self.begin_shared()
        try:
            leaves = np.asarray(self.leaves)[labels]
            needed = np.zeros(self.n_nodes, dtype=np.int8)
            for leaf in leaves:
                v = leaf
                while v != NONE and not needed[v]:
                    needed[v] = True
                    v = self.nodes[v].parent
            of_nodes = np.zeros(self.n_nodes + 1)  # The last one is that of NONE.
            chances, chances[0] = of_nodes, 1.0
            result = np.empty((rows.n_rows, len(leaves)))
            for i in range(rows.n_rows):
                with nogil:
                    rows.read(i)
                    for v in range(self.n_nodes):
                        if needed[v] and self.nodes[v].n_children:
                            self.predict(&self.nodes[v], row)
                            for c in range(self.nodes[v].n_children):
                                chances[self.nodes[v].table.children[c]] = (
                                    chances[v] * row.chances[c]
                                )
                result[i] = of_nodes[leaves]
        finally:
            self.end_shared()
        return result

    cdef void predict(self, const Node* node, Row* row) noexcept nogil:
        # Write eta of the children into `row.chances`.
        cdef int c
        cdef double total = 0.0
        find_blocks(&node.table, row)
        compute_margins(&node.table, row)
        for c in range(node.n_children):
            row.chances[c] = sigmoid(row.steps[c])
            total += row.chances[c]
        if self.exclusive and total > 0.0:
            for c in range(node.n_children):
                row.chances[c] /= total

    def search_rows(self, X, Py_ssize_t k, double floor):
        """Return the k labels of each row with the largest chances, best first.

        If `floor` is positive, only labels with chances of `floor` or more. Of labels with the same
        chance, the smaller one comes first. Returns row pointers `(n_rows + 1,)` and the labels.
        """
        cdef Rows rows = Rows(X, self)
        cdef Py_ssize_t i, n
        cdef Candidate[::1] heap
        cdef int[::1] best
        found, sizes = [np.empty(0, dtype=INT)], np.zeros(rows.n_rows + 1, dtype=np.intp)
        self.begin_shared()
        try:
            labels = np.arange(self.leaves.shape[0], dtype=INT)
            best = np.empty(max(0, min(k, len(labels))), dtype=INT)
            heap = np.empty(self.n_nodes, dtype=CANDIDATE)
            for i in range(rows.n_rows):
                with nogil:
                    n = self.search(rows.read(i), &heap[0], best, floor)
                of_row = np.array(best[:n])
                if floor <= 0.0 and n < best.shape[0]:
                    others = np.setdiff1d(labels, of_row)  # Their chances are 0.
                    of_row = np.append(of_row, others[: best.shape[0] - n])
                found.append(of_row)
                sizes[i + 1] = len(of_row)
        finally:
            self.end_shared()
        return np.cumsum(sizes), np.concatenate(found)

    cdef Py_ssize_t search(
        self, Row* row, Candidate* heap, int[::1] best, double floor
    ) noexcept nogil:
        # Uniform-cost search: no node has a larger chance than its parent. Nodes that are no leaves
        # are taken first among equal chances, since labels below them may precede the others.
        cdef Py_ssize_t n_heap = 1, n_found = 0, i
        cdef Candidate next
        cdef Node* node
        cdef double chance
        heap[0].chance, heap[0].node, heap[0].label = 1.0, 0, NONE
        while n_heap > 0 and n_found < best.shape[0]:
            next = heap[0]
            n_heap -= 1
            push(heap, n_heap, 0, heap[n_heap])
            if next.label != NONE:
                best[n_found] = next.label
                n_found += 1
                continue
            node = &self.nodes[next.node]
            self.predict(node, row)
            chance = next.chance
            for i in range(node.n_children):
                next.node = node.table.children[i]
                next.chance, next.label = chance * row.chances[i], self.nodes[next.node].label
                if next.chance > 0.0 and next.chance >= floor:
                    push(heap, n_heap, n_heap, next)
                    n_heap += 1
        return n_found

    # -- State.

    cdef tuple sizes(self):
        return self.n_features, self.max_children

    cdef int exchange(self, Archive archive) except -1:
        cdef LabelTree saved = archive.source
        cdef Py_ssize_t n_labels = 0 if saved.leaves is None else saved.leaves.shape[0]
        self.n_features = archive.count("n_features", saved.n_features, 1, 2**31 - 1)
        self.max_children = archive.count("max_children", saved.max_children, 2, 2**15)
        self.alpha = archive.number("alpha", saved.alpha, 0.0)
        self.exclusive = archive.flag("exclusive", saved.exclusive)
        n_labels = archive.count("n_labels", n_labels, 0, 2**31 - 1)
        nodes, features, values = (None, None, None) if archive.loads else saved.arrays()
        nodes = archive.array("nodes", nodes, (-1, 3), INT, NONE, 2**31 - 1)
        features = archive.array("features", features, (-1,), INT, 0, self.n_features)
        values = archive.array("values", values, (-1,), SINGLE)
        if archive.loads:
            self.clear()
            self.leaves = np.full(n_labels, NONE, dtype=INT)
            self.build(archive, nodes, features, values)
        return 0

    cdef void clear(self) noexcept:
        while self.n_nodes > 0:
            self.n_nodes -= 1
            free_table(&self.nodes[self.n_nodes].table)

    cdef tuple arrays(self):
        cdef Py_ssize_t v, block = 0, value = 0, size
        cdef Table* table
        nodes = np.empty((self.n_nodes, 3), dtype=INT)
        for v in range(self.n_nodes):
            table = &self.nodes[v].table
            nodes[v] = self.nodes[v].parent, self.nodes[v].label, table.n_blocks
            block += table.n_blocks
            value += 2 * <Py_ssize_t>table.n_blocks * table.width
        cdef int[::1] features = np.empty(block, dtype=INT)
        cdef float[::1] values = np.empty(value, dtype=SINGLE)
        block = value = 0
        for v in range(self.n_nodes):
            table = &self.nodes[v].table
            size = 2 * <Py_ssize_t>table.n_blocks * table.width
            if size:
                memcpy(&features[block], table.features, table.n_blocks * sizeof(int))
                memcpy(&values[value], table.values, size * sizeof(float))
            block += table.n_blocks
            value += size
        return nodes, np.asarray(features), np.asarray(values)

    cdef int build(
        self, Archive archive, const int[:, ::1] nodes, const int[::1] features,
        const float[::1] values,
    ) except -1:
        cdef Py_ssize_t v, block = 0, value = 0, size
        cdef int parent, label, i
        cdef Table* table
        archive.require(nodes.shape[0] and nodes[0, 0] == nodes[0, 1] == NONE, "there is no root")
        for v in range(nodes.shape[0]):
            parent, label = nodes[v, 0], nodes[v, 1]
            archive.require(
                v == 0 or 0 <= parent < v and self.nodes[parent].label == NONE
                and self.nodes[parent].n_children < self.max_children
                and (label == NONE or label < self.leaves.shape[0] and self.leaves[label] == NONE),
                "nodes are not a tree",
            )
            self.add_node(parent, label)
        widths = [self.nodes[v].table.width for v in range(nodes.shape[0])]
        n_blocks = np.array(nodes[:, 2], dtype=np.intp)
        archive.require(
            n_blocks.min() >= 0 and n_blocks.sum() == len(features)
            and 2 * n_blocks @ widths == len(values),
            "nodes, features and values have different sizes",
        )
        for v in range(nodes.shape[0]):
            table = &self.nodes[v].table
            if reserve(table, nodes[v, 2]):
                raise MemoryError
            for i in range(nodes[v, 2]):
                table.features[i] = features[block + i]
                put(table, i)
            table.n_blocks = nodes[v, 2]
            size = 2 * <Py_ssize_t>table.n_blocks * table.width
            if size:
                memcpy(table.values, &values[value], size * sizeof(float))
            block += table.n_blocks
            value += size
        return 0


# -- Tables and rows.

cdef void find_blocks(const Table* table, Row* row) noexcept nogil:
    cdef int i, block
    row.n_known = 0
    for i in range(row.n):
        block = find(table, row.features[i])
        if block != NONE:
            row.blocks[row.n_known], row.known[row.n_known] = block, row.values[i]
            row.n_known += 1


cdef void compute_margins(const Table* table, Row* row) noexcept nogil:
    # Write the margins of all columns into `row.steps`.
    cdef Py_ssize_t i, c, width = table.width
    cdef const float* means
    cdef float* margins = row.steps
    cdef float x
    memset(margins, 0, width * sizeof(float))
    for i in range(row.n_known):
        means, x = table.values + 2 * row.blocks[i] * width, row.known[i]
        for c in range(width):
            margins[c] += x * means[c]


cdef inline double sigmoid(double z) noexcept nogil:
    return 1.0 / (1.0 + exp(-z))


cdef void push(Candidate* heap, Py_ssize_t n, Py_ssize_t i, Candidate new) noexcept nogil:
    # Put an entry in place i of a heap of n entries, which i may follow, and restore its order.
    cdef Py_ssize_t child
    while i > 0 and precedes(&new, &heap[(i - 1) // 2]):
        heap[i] = heap[(i - 1) // 2]
        i = (i - 1) // 2
    while 2 * i + 1 < n:
        child = 2 * i + 1
        if child + 1 < n and precedes(&heap[child + 1], &heap[child]):
            child += 1
        if not precedes(&heap[child], &new):
            break
        heap[i] = heap[child]
        i = child
    heap[i] = new


cdef inline bint precedes(const Candidate* a, const Candidate* b) noexcept nogil:
    return a.chance > b.chance or a.chance == b.chance and a.label < b.label


# Functions that return True have failed, since memory ran out.

cdef inline Py_ssize_t slot_of(const Table* table, int feature) noexcept nogil:
    # Fibonacci hashing: the factor is 2^32 divided by the golden ratio.
    cdef unsigned int product = <unsigned int>feature * 2654435769u
    return (product ^ product >> 16) & <unsigned int>(table.n_slots - 1)


cdef inline int find(const Table* table, int feature) noexcept nogil:
    # Return the block of a feature, or NONE.
    cdef Py_ssize_t i
    if table.n_slots == 0:
        return NONE
    i = slot_of(table, feature)
    while table.slots[i] != NONE and table.features[table.slots[i]] != feature:
        i = (i + 1) & (table.n_slots - 1)
    return table.slots[i]


cdef void put(Table* table, int block) noexcept nogil:
    # Enter a block in the hash table.
    cdef Py_ssize_t i = slot_of(table, table.features[block])
    while table.slots[i] != NONE:
        i = (i + 1) & (table.n_slots - 1)
    table.slots[i] = block


cdef bint add_blocks(Table* table, Row* row, float alpha) noexcept nogil:
    # Find the blocks of a row, and add those that are missing.
    cdef Py_ssize_t i, c, width = table.width
    cdef float* values
    find_blocks(table, row)
    if row.n_known == row.n:
        return False
    if reserve(table, table.n_blocks + row.n - row.n_known):
        return True
    for i in range(row.n):
        if find(table, row.features[i]) == NONE:
            values = table.values + 2 * width * table.n_blocks
            for c in range(width):
                values[c], values[width + c] = 0.0, alpha
            table.features[table.n_blocks] = row.features[i]
            put(table, table.n_blocks)
            table.n_blocks += 1
    find_blocks(table, row)
    return False


cdef bint reserve(Table* table, Py_ssize_t n) noexcept nogil:
    # Allocate memory for n blocks. At most three of four slots are in use.
    cdef Py_ssize_t n_slots = max(table.n_slots, 8)
    cdef int block
    cdef void* memory
    if n <= table.n_allocated:
        return False
    n = max(n, table.n_allocated + table.n_allocated // 4)
    memory = PyMem_RawRealloc(table.values, 2 * n * table.width * sizeof(float))
    if memory == NULL:
        return True
    table.values = <float*>memory
    memory = PyMem_RawRealloc(table.features, n * sizeof(int))
    if memory == NULL:
        return True
    table.features = <int*>memory
    while 3 * n_slots < 4 * n:
        n_slots *= 2
    if n_slots > table.n_slots:
        memory = PyMem_RawRealloc(table.slots, n_slots * sizeof(int))
        if memory == NULL:
            return True
        table.slots, table.n_slots = <int*>memory, <int>n_slots
        memset(memory, NONE, n_slots * sizeof(int))
        for block in range(table.n_blocks):
            put(table, block)
    table.n_allocated = <int>n
    return False


cdef bint copy_table(const Table* source, Table* target, int width, bint opposes) noexcept nogil:
    # Write a table with the columns of `source` and copies of its last one. If `opposes` is True,
    # the means of the first column have opposite signs.
    cdef Table new
    cdef Py_ssize_t b, c, m = source.width
    cdef const float* values
    cdef float* copies
    memset(&new, 0, sizeof(Table))
    new.width = width
    new.children = <int*>PyMem_RawRealloc(NULL, width * sizeof(int))
    if new.children == NULL or reserve(&new, source.n_blocks):
        free_table(&new)
        return True
    if source.children != NULL:
        memcpy(new.children, source.children, m * sizeof(int))
    for b in range(source.n_blocks):
        new.features[b] = source.features[b]
        put(&new, <int>b)
        values, copies = source.values + 2 * b * m, new.values + 2 * b * width
        for c in range(width):
            copies[c], copies[width + c] = values[min(c, m - 1)], values[m + min(c, m - 1)]
        if opposes:
            copies[0] = -copies[0]
    new.n_blocks = source.n_blocks
    target[0] = new
    return False


cdef void free_table(Table* table) noexcept nogil:
    PyMem_RawFree(table.slots)
    PyMem_RawFree(table.features)
    PyMem_RawFree(table.values)
    PyMem_RawFree(table.children)
