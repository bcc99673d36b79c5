# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Probabilistic label tree whose nodes and node models are learned online.

The leaves are labels. Let z_v = 1 if the label of leaf v, or a label below node v, is relevant. The
model of v, whose parent is u, estimates eta_v = Pr[z_v = 1 | z_u = 1, x]. Since z_v = 1 implies
z_u = 1, the probability of a label is a product along its path (Jasinska et al. 2016, Eq. 2),

    Pr[j is relevant | x] = product of eta_v over the nodes v below the root on the path to j.

A node with z_u = 1, and always the root, learns a sample: the models of its children v have the
targets z_v. The error of a product is at most the sum of Pr[z_u = 1 | x] |error of eta_v| over the
path, and the regret of precision@k at most twice the largest error of the k labels (Wydmuch et al.
2018, Theorems 2 and 3).

Node models are logistic regressions. Samples x are scaled to the norm one, and the constant 1 is
appended. The posterior of weight i is approximated by a normal distribution of mean w_i and
precision s_i, at first 0 and alpha (extended Kalman filter with a diagonal covariance matrix). With
p = sigma(w'x), the weight c of the sample and h = c p (1 - p), a sample takes the step

    w_i -= (x_i / s_i) c (p - z) / (1 + h sum_j x_j^2 / s_j),    s_i += h x_i^2.

The models of the children of a node are columns of one table, since they learn the same samples.
A hash table finds the block of a feature that occurred in these samples: the means of all columns,
then the precisions. Memory is proportional to the pairs of a node and a feature of its samples.

A new label must join the tree as if it had been in it from the start, but never relevant
(Jasinska-Kobus et al. 2021). Columns without a child therefore learn with the target 0, and a new
label takes over such a column. Before the last one is taken, copies of it are added. If a node has
`max_children` children, the new label descends to the child v with the largest
log eta_v - log(number of labels of v). If v is a leaf, it becomes a node with a leaf of its label,
which would always have had the target 1. So each leaf keeps one column that learns the target 0;
negated, it is the model of this new leaf.
"""

cimport cython
from cpython.mem cimport PyMem_RawFree
from libc.math cimport INFINITY, exp, fabs, log, sqrt
from libc.string cimport memcpy, memset

import numpy as np

from sklrank._online import check_lists
from sklrank._compiled.rows cimport Row, Rows
from sklrank._compiled.state cimport Archive, Persistent
from sklrank.tree._hoeffding.tree cimport array_of, resized

INT = np.dtype(np.intc)
SINGLE = np.dtype(np.float32)
CANDIDATE = np.dtype([("chance", "f8"), ("node", "i4"), ("label", "i4")])

cdef enum:
    NONE = -1

# Smallest eta_v in the choice of a child for a new label. One child has at most about a hundred
# times as many labels as another, so that the depth is logarithmic in the number of labels.
cdef double MIN_FIT = 0.01

cdef struct Node:
    int parent              # NONE for the root
    int label               # NONE for nodes that are no leaves
    int n_labels            # number of labels below the node, 1 for a leaf
    int n_children
    int* children           # (width,) nodes of the columns that are in use
    Py_ssize_t n_learned    # z_v = 1 if this is the number of the sample
    int next                # next node that learns the sample, or NONE
    int width               # number of columns
    int n_blocks
    int n_allocated         # number of blocks for which there is memory
    int n_slots             # size of the hash table, a power of two
    int* slots              # (n_slots,) blocks, or NONE
    int* features           # (n_allocated,) features of the blocks
    float* values           # (n_allocated, 2, width) means and precisions

cdef struct Candidate:
    double chance
    int node, label


@cython.final
cdef class Sample:
    """A row of `X`, which `read` changes, and memory for the models of one node."""

    cdef Rows rows
    cdef Py_ssize_t n
    cdef int[::1] features      # (n,) the last one is the constant
    cdef float[::1] values      # (n,) values of these features
    cdef int[::1] blocks        # (n,) blocks of these features, or NONE
    cdef float[::1] margins, curvatures
    cdef double[::1] chances

    def __init__(self, X, LabelTree tree not None):
        tree.require_ready()
        self.rows = Rows(X)
        if self.rows.n_features != tree.n_features:
            raise ValueError(f"X has {self.rows.n_features} columns, expected {tree.n_features}")
        n = max(min(tree.n_features, self.rows.values.shape[0]) + 1, tree.max_children)
        self.features, self.blocks = np.empty((2, n), dtype=INT)
        self.values, self.margins, self.curvatures = np.empty((3, n), dtype=SINGLE)
        self.chances = np.empty(n)

    cdef void read(self, Py_ssize_t i) noexcept nogil:
        cdef Row row
        cdef double largest = 0.0, squares = 0.0
        cdef double* entries = &self.chances[0]
        cdef int* features = &self.features[0]
        cdef Py_ssize_t j, n = 0
        self.rows.read(i, &row)
        for j in range(row.n):
            if row.values[j] != 0.0:
                features[n] = <int>j if row.columns == NULL else row.columns[j]
                entries[n] = row.values[j]
                largest = max(largest, fabs(entries[n]))
                n += 1
        for j in range(n):
            entries[j] /= largest  # so that squares do not overflow
            squares += entries[j] ** 2
        for j in range(n):
            self.values[j] = <float>(entries[j] / sqrt(squares))
        features[n], self.values[n], self.n = <int>row.n_features, 1.0, n + 1


@cython.final
cdef class LabelTree(Persistent):
    """The compiled tree of ProbabilisticLabelTree, which documents and checks the parameters.

    A row of `nodes` (n_nodes, 3) is the parent of a node, its label or -1, and its number of
    blocks. Row 0 is the root, and nodes follow their parents. If `exclusive` is True, a sample has
    one label, and the chances of siblings are normalized.
    """

    cdef readonly Py_ssize_t n_features, max_children, n_nodes, n_learned
    cdef Py_ssize_t n_allocated
    cdef double alpha
    cdef bint exclusive
    cdef int[::1] leaves        # (n_labels,) nodes of the labels, or NONE
    cdef Node* nodes            # (n_allocated,)

    def __init__(
        self, Py_ssize_t n_features, Py_ssize_t n_labels, Py_ssize_t max_children, double alpha,
        bint exclusive, nodes=((NONE, NONE, 0),),
    ):
        self.n_features, self.max_children, self.alpha = n_features, max_children, alpha
        self.exclusive, self.leaves = exclusive, np.empty(n_labels, dtype=INT)
        self.start({**self.save(False), "nodes": np.array(nodes, dtype=INT)})

    def __dealloc__(self):
        self.clear()
        PyMem_RawFree(self.nodes)

    @property
    def n_leaves(self):
        """Number of labels in the tree."""
        self.require_ready()
        return self.nodes[0].n_labels

    # -- Learning.

    def grow(self, Py_ssize_t n_labels):
        """Increase the number of labels to `n_labels`."""
        self.require_ready()
        if n_labels == self.leaves.shape[0]:
            return
        self.begin_exclusive()
        try:
            new = np.full(n_labels - self.leaves.shape[0], NONE, dtype=INT)
            self.leaves = np.append(self.leaves, new)
        finally:
            self.end_exclusive()

    def play_rows(
        self, X, const Py_ssize_t[::1] starts not None, const Py_ssize_t[::1] labels not None,
        const double[::1] weights not None, scores=None,
    ):
        """Learn the rows of a matrix, one after the other.

        Row i has the labels `labels[starts[i]:starts[i + 1]]`, each of them once, and the weight
        `weights[i]`. If `scores` `(n_rows, n_labels)` is given, the chances before a row is learned
        are written to this array.
        """
        cdef Sample x = Sample(X, self)
        cdef Py_ssize_t i
        check_lists(starts, labels, x.rows.n_rows, self.leaves.shape[0])
        if weights.shape[0] != x.rows.n_rows:
            raise ValueError(f"weights has {weights.shape[0]} entries for {x.rows.n_rows} rows")
        self.begin_exclusive()
        try:
            for i in range(x.rows.n_rows):
                if scores is not None:
                    scores[i] = self.score_rows(X[i : i + 1], slice(None))[0]
                if weights[i] != 0.0:
                    with nogil:
                        x.read(i)
                        self.learn(x, labels[starts[i] : starts[i + 1]], weights[i])
        finally:
            self.end_exclusive()

    cdef int learn(self, Sample x, const Py_ssize_t[::1] labels, double weight) except -1 nogil:
        cdef Py_ssize_t i
        cdef int v, first = 0
        for i in range(labels.shape[0]):
            if self.leaves[labels[i]] == NONE:
                self.insert(x, <int>labels[i])
        self.n_learned += 1
        self.nodes[0].n_learned, self.nodes[0].next = self.n_learned, NONE
        for i in range(labels.shape[0]):
            v = self.leaves[labels[i]]
            while self.nodes[v].n_learned != self.n_learned:
                self.nodes[v].n_learned, self.nodes[v].next, first = self.n_learned, first, v
                v = self.nodes[v].parent
        while first != NONE:
            self.train(&self.nodes[first], x, weight)
            first = self.nodes[first].next
        return 0

    cdef int train(self, Node* node, Sample x, double weight) except -1 nogil:
        # Make a step of all columns.
        cdef Py_ssize_t i, c, width = node.width
        cdef double error, curvature
        cdef float value
        cdef float* block
        cdef float* steps = &x.margins[0]
        cdef float* curvatures = &x.curvatures[0]
        cdef double* variances = &x.chances[0]
        cdef bint target
        add_blocks(node, x, <float>self.alpha)
        compute_margins(node, x)
        memset(variances, 0, width * sizeof(double))
        for i in range(x.n):
            block, value = node.values + 2 * x.blocks[i] * width, x.values[i]
            for c in range(width):
                variances[c] += value * value / block[width + c]
        for c in range(width):
            # If the target is 1, the error is that of the target 0 and of opposite means.
            target = c < node.n_children and (
                self.nodes[node.children[c]].n_learned == self.n_learned
            )
            error = sigmoid(-steps[c] if target else steps[c])
            curvature = weight * error * (1.0 - error)
            error *= weight / (1.0 + curvature * variances[c])
            steps[c], curvatures[c] = <float>(-error if target else error), <float>curvature
        for i in range(x.n):
            block, value = node.values + 2 * x.blocks[i] * width, x.values[i]
            for c in range(width):
                block[c] -= value * steps[c] / block[width + c]
                block[width + c] += value * value * curvatures[c]
        return 0

    # -- The tree.

    cdef int insert(self, Sample x, int label) except -1 nogil:
        # Add a label of this sample to the tree.
        cdef double score, best_score
        cdef int v = 0, best = 0, child
        cdef Py_ssize_t c
        while self.nodes[v].n_children == self.max_children:
            find_blocks(&self.nodes[v], x)
            compute_margins(&self.nodes[v], x)
            best = self.nodes[v].children[0]
            best_score = -INFINITY
            for c in range(self.max_children):
                child = self.nodes[v].children[c]
                if self.nodes[child].n_labels == 0:
                    continue  # Its model is that of labels that were dropped.
                score = log(max(sigmoid(x.margins[c]), MIN_FIT)) - log(self.nodes[child].n_labels)
                if score > best_score:
                    best, best_score = child, score
            v = best
        if self.nodes[v].label != NONE:
            self.add_node(v, self.nodes[v].label)
        return self.add_node(v, label)

    cdef int add_node(self, int parent, int label) except -1 nogil:
        # Add a node after the other children of its parent. If that is a leaf, the new node is the
        # leaf of its label, with a copy of its table. Nothing changes if memory runs out.
        cdef Py_ssize_t n = self.n_nodes + self.n_nodes // 4 + 1, b
        cdef Node* node
        cdef Node* above = NULL
        cdef bint splits = parent != NONE and self.nodes[parent].label != NONE
        if self.n_nodes == self.n_allocated:
            self.nodes = <Node*>resized(self.nodes, n * sizeof(Node))
            memset(&self.nodes[self.n_nodes], 0, (n - self.n_nodes) * sizeof(Node))
            self.n_allocated = n
        node = &self.nodes[self.n_nodes]
        clear_node(node)
        node.parent, node.label, node.width = parent, label, 2 if label == NONE else 1
        node.children = <int*>resized(NULL, node.width * sizeof(int))
        reserve_blocks(node, 1)
        if parent != NONE:
            above = &self.nodes[parent]
            if splits:
                fill(node, above.n_blocks, above.features, above.values)
            if above.n_children + 1 == above.width < self.max_children:
                widen(above, min(2 * above.width, <int>self.max_children))
            above.children[above.n_children] = <int>self.n_nodes
            above.n_children += 1
        if splits:
            above.label = NONE
            for b in range(above.n_blocks):
                above.values[2 * b * above.width] *= -1.0
        if label != NONE:
            self.leaves[label], node.n_labels = <int>self.n_nodes, 1
        while label != NONE and not splits and parent != NONE:
            self.nodes[parent].n_labels += 1
            parent = self.nodes[parent].parent
        self.n_nodes += 1
        return 0

    # -- Prediction.

    def score_rows(self, X, labels):
        """Return the chances `(n_rows, n)` of n labels. They are 0 for labels outside the tree."""
        cdef Sample x = Sample(X, self)
        cdef Node* node
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
            result = np.empty((x.rows.n_rows, len(leaves)))
            for i in range(x.rows.n_rows):
                with nogil:
                    x.read(i)
                    for v in range(self.n_nodes):
                        node = &self.nodes[v]
                        if needed[v] and node.n_children:
                            self.predict(node, x)
                            for c in range(node.n_children):
                                chances[node.children[c]] = chances[v] * x.chances[c]
                result[i] = of_nodes[leaves]
        finally:
            self.end_shared()
        return result

    cdef void predict(self, const Node* node, Sample x) noexcept nogil:
        # Write eta of the children into `x.chances`.
        cdef int c
        cdef double total = 0.0
        find_blocks(node, x)
        compute_margins(node, x)
        for c in range(node.n_children):
            x.chances[c] = sigmoid(x.margins[c])
            if self.nodes[node.children[c]].n_labels == 0:
                x.chances[c] = 0.0
            total += x.chances[c]
        if self.exclusive and total > 0.0:
            for c in range(node.n_children):
                x.chances[c] /= total

    def search_rows(self, X, Py_ssize_t k, double floor):
        """Return the k labels of each row with the largest chances, best first.

        If `floor` is positive, only labels with chances of `floor` or more. Of labels with the same
        chance, the smaller one comes first. Returns a list of arrays.
        """
        cdef Sample x = Sample(X, self)
        cdef Py_ssize_t i, n
        cdef Candidate[::1] heap
        cdef int[::1] best
        cdef list found = []
        self.begin_shared()
        try:
            labels = np.arange(self.leaves.shape[0], dtype=INT)
            best = np.empty(max(0, min(k, len(labels))), dtype=INT)
            heap = np.empty(self.n_nodes, dtype=CANDIDATE)
            for i in range(x.rows.n_rows):
                with nogil:
                    x.read(i)
                    n = self.search(x, &heap[0], best, floor)
                of_row = np.array(best[:n])
                if floor <= 0.0 and n < best.shape[0]:
                    others = np.setdiff1d(labels, of_row)  # Their chances are 0.
                    of_row = np.append(of_row, others[: best.shape[0] - n])
                found.append(of_row)
        finally:
            self.end_shared()
        return found

    cdef int search(self, Sample x, Candidate* heap, int[::1] best, double floor) noexcept nogil:
        # Uniform-cost search: no node has a larger chance than its parent. Nodes that are no leaves
        # are taken first among equal chances, since labels below them may precede the others.
        cdef int n_heap = 1, n_found = 0, i
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
            self.predict(node, x)
            chance = next.chance
            for i in range(node.n_children):
                next.node = node.children[i]
                next.chance, next.label = chance * x.chances[i], self.nodes[next.node].label
                if next.chance > 0.0 and next.chance >= floor:
                    push(heap, n_heap, n_heap, next)
                    n_heap += 1
        return n_found

    # -- State.

    cdef int exchange(self, Archive archive) except -1:
        cdef LabelTree saved = archive.source
        cdef Py_ssize_t n_labels = 0 if saved.leaves is None else saved.leaves.shape[0]
        self.n_features = archive.count("n_features", saved.n_features, 1, 2**31 - 1)
        self.max_children = archive.count("max_children", saved.max_children, 2, 2**15)
        self.alpha = archive.number("alpha", saved.alpha, 0.0)
        self.exclusive = archive.flag("exclusive", saved.exclusive)
        self.n_learned = archive.count("n_learned", saved.n_learned, 0)
        n_labels = archive.label_count("n_labels", n_labels, 0, 2**31 - 1)
        nodes, features, values = (None, None, None) if archive.loads else saved.arrays()
        nodes = archive.array("nodes", nodes, (-1, 3), INT, NONE, 2**31 - 1)
        features = archive.array("features", features, (-1,), INT, 0, self.n_features)
        values = archive.array("values", values, (-1,), SINGLE)
        if archive.labels is not None:
            widths = [saved.nodes[v].width for v in range(saved.n_nodes)]
            relabel(archive, n_labels, np.array(widths))
        if archive.loads:
            self.clear()
            self.leaves = np.full(n_labels, NONE, dtype=INT)
            self.build(archive, nodes, features, values)
        return 0

    cdef void clear(self) noexcept:
        cdef Py_ssize_t v
        for v in range(self.n_allocated):
            clear_node(&self.nodes[v])
        self.n_nodes = 0

    cdef tuple arrays(self):
        cdef Node* node
        cdef Py_ssize_t v
        nodes, features, values = [], [np.empty(0, dtype=INT)], [np.empty(0, dtype=SINGLE)]
        for v in range(self.n_nodes):
            node = &self.nodes[v]
            nodes.append((node.parent, node.label, node.n_blocks))
            features.append(array_of(node.features, (node.n_blocks,), INT))
            values.append(array_of(node.values, (node.n_blocks, 2 * node.width), SINGLE).ravel())
        nodes = np.array(nodes, dtype=INT).reshape(-1, 3)
        return nodes, np.concatenate(features), np.concatenate(values)

    cdef int build(
        self, Archive archive, const int[:, ::1] nodes, const int[::1] features,
        const float[::1] values,
    ) except -1:
        cdef Py_ssize_t v, block = 0, value = 0
        cdef int parent, label
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
        widths = [self.nodes[v].width for v in range(nodes.shape[0])]
        n_blocks = np.array(nodes[:, 2], dtype=np.intp)
        archive.require(
            n_blocks.min() >= 0 and n_blocks.sum() == len(features)
            and 2 * n_blocks @ widths == len(values),
            "nodes, features and values have different sizes",
        )
        for v in range(nodes.shape[0]):
            if nodes[v, 2]:
                value += fill(&self.nodes[v], nodes[v, 2], &features[block], &values[value])
                block += nodes[v, 2]
        return 0


cdef int relabel(Archive archive, Py_ssize_t n_labels, widths) except -1:
    # The leaf of a label that is dropped becomes a node without children and without a table.
    cdef dict entries = archive.entries
    old = archive.labels
    parents, labels, n_blocks = entries["nodes"].T
    new_labels = np.full(n_labels + 1, NONE, dtype=INT)  # The last one is that of NONE.
    new_labels[old[old >= 0]] = np.flatnonzero(old >= 0)
    kept = (labels == NONE) | (new_labels[labels] != NONE)
    for name, sizes in (("features", n_blocks), ("values", 2 * n_blocks * widths)):
        entries[name] = entries[name][np.repeat(kept, sizes)]
    nodes = np.column_stack([parents, new_labels[labels], n_blocks * kept])
    entries["nodes"] = np.ascontiguousarray(nodes, dtype=INT)
    return 0


# -- The table of a node.

cdef inline int* find(const Node* node, int feature) noexcept nogil:
    # Return the slot of a feature. It holds NONE if there is no block. Fibonacci hashing: the
    # factor is 2^32 divided by the golden ratio.
    cdef unsigned int product = <unsigned int>feature * 2654435769u
    cdef unsigned int last = <unsigned int>node.n_slots - 1, i = (product ^ product >> 16) & last
    while node.slots[i] != NONE and node.features[node.slots[i]] != feature:
        i = (i + 1) & last
    return node.slots + i


cdef Py_ssize_t find_blocks(const Node* node, Sample x) noexcept nogil:
    # Find the blocks of the features of a sample. Return the number of those that are missing.
    cdef Py_ssize_t i, n_missing = 0
    for i in range(x.n):
        x.blocks[i] = find(node, x.features[i])[0]
        n_missing += x.blocks[i] == NONE
    return n_missing


cdef int add_blocks(Node* node, Sample x, float alpha) except -1 nogil:
    # Find the blocks of the features of a sample, and add those that are missing.
    cdef Py_ssize_t i, c, width = node.width
    cdef float* values
    reserve_blocks(node, node.n_blocks + find_blocks(node, x))
    for i in range(x.n):
        if x.blocks[i] == NONE:
            x.blocks[i], node.features[node.n_blocks] = node.n_blocks, x.features[i]
            find(node, x.features[i])[0] = node.n_blocks
            values = node.values + 2 * width * node.n_blocks
            for c in range(width):
                values[c], values[width + c] = 0.0, alpha
            node.n_blocks += 1
    return 0


cdef Py_ssize_t fill(Node* node, int n, const int* features, const float* values) except -1 nogil:
    # Fill an empty table with n blocks. Return the number of values.
    cdef Py_ssize_t size = 2 * <Py_ssize_t>n * node.width
    cdef int b
    reserve_blocks(node, n)
    for b in range(n):
        node.features[b] = features[b]
        find(node, features[b])[0] = b
    node.n_blocks = n
    memcpy(node.values, values, size * sizeof(float))
    return size


cdef int reserve_blocks(Node* node, Py_ssize_t n) except -1 nogil:
    # Allocate memory for n blocks. At most three of four slots are in use.
    cdef Py_ssize_t n_slots = max(node.n_slots, 8)
    cdef int b
    if n <= node.n_allocated:
        return 0
    n = max(n, node.n_allocated + node.n_allocated // 4)
    while 3 * n_slots < 4 * n:
        n_slots *= 2
    node.values = <float*>resized(node.values, 2 * n * node.width * sizeof(float))
    node.features = <int*>resized(node.features, n * sizeof(int))
    if n_slots > node.n_slots:
        node.slots = <int*>resized(node.slots, n_slots * sizeof(int))
        node.n_slots = <int>n_slots
        memset(node.slots, NONE, n_slots * sizeof(int))
        for b in range(node.n_blocks):
            find(node, node.features[b])[0] = b
    node.n_allocated = <int>n
    return 0


cdef int widen(Node* node, int width) except -1 nogil:
    # Append copies of the last column.
    cdef Py_ssize_t i, c, old = node.width
    node.children = <int*>resized(node.children, width * sizeof(int))
    node.values = <float*>resized(
        node.values, 2 * <Py_ssize_t>node.n_allocated * width * sizeof(float)
    )
    for i in range(2 * <Py_ssize_t>node.n_blocks - 1, -1, -1):
        for c in range(width - 1, -1, -1):
            node.values[i * width + c] = node.values[i * old + min(c, old - 1)]
    node.width = width
    return 0


cdef void clear_node(Node* node) noexcept nogil:
    PyMem_RawFree(node.children)
    PyMem_RawFree(node.slots)
    PyMem_RawFree(node.features)
    PyMem_RawFree(node.values)
    memset(node, 0, sizeof(Node))


cdef void compute_margins(const Node* node, Sample x) noexcept nogil:
    # Write the margins of all columns into `x.margins`.
    cdef Py_ssize_t i, c, width = node.width
    cdef const float* means
    cdef float* margins = &x.margins[0]
    cdef float value
    memset(margins, 0, width * sizeof(float))
    for i in range(x.n):
        if x.blocks[i] != NONE:
            means, value = node.values + 2 * x.blocks[i] * width, x.values[i]
            for c in range(width):
                margins[c] += value * means[c]


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
