# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Sums of the values of trees.

The nodes of all trees are in one array. A sample moves from a node to its left child, or to the
right one, which follows it, without a branch: the result of the comparison is added to the index. A
leaf has an infinite threshold and is its own left child, so that samples stay there.

Eight samples move through a tree at a time, since the steps of one sample wait for each other. If
fewer are left, one sample moves through eight trees at a time. The samples are copied in blocks of
64, only the features on which trees split, which also shows whether a value is missing. The values
of the leaves are added in the order of the trees.
"""

cimport cython
from libc.math cimport INFINITY, isfinite, isnan

from sklrank.tree._histogram.bin_codes cimport MAX_BINS, WORDS, contains

import numpy as np

cdef enum:
    BLOCK = 64          # samples of a block
    LANES = 8           # steps that do not wait for each other
    LEVELS = 4          # steps until samples are asked whether all are in leaves
    MISSING_LEFT = 1    # flag: missing values belong to the left child
    CATEGORICAL = 2     # flag: the categories of a set belong to the left child

NODE = np.dtype([("threshold", np.float64), ("column", np.intc), ("left", np.intc)])


cdef struct Node:
    double threshold
    int column          # place of the feature in a block, times BLOCK
    int left            # index of the left child


@cython.final
cdef class TreeSum:
    """The sum of the values of trees.

    A tree is a dict of arrays of its nodes, of which the first one is the root: `children_left` and
    `children_right`, the indices of the children, 0 or less for a leaf; `features`; `thresholds`,
    values up to which belong to the left child; and `values`, `(n_nodes, n_outputs)`, which are not
    copied. If there are missing values or categories: `missing_left`, `categorical` and
    `left_categories`, as in :class:`~sklrank.tree._histogram.tree.Tree`.
    """

    cdef readonly Py_ssize_t n_trees, n_features, n_outputs
    cdef object table                       # of the nodes
    cdef Node[::1] nodes
    cdef unsigned char[::1] flags           # of the nodes
    cdef int[::1] rows                      # of the values of the nodes
    cdef unsigned int[:, ::1] sets          # of categories of the nodes; empty if there are none
    cdef int[::1] roots                     # of the trees, and the number of nodes
    cdef int[::1] depths                    # of the trees
    cdef Py_ssize_t[::1] features           # of the columns
    cdef list values                        # of the trees
    cdef size_t[::1] addresses              # of these

    # A second call, as of `__init__`, would replace arrays that are being read.
    def __cinit__(self, list trees=None, Py_ssize_t n_features=0):
        if trees is None:
            return
        cdef Py_ssize_t n_nodes = sum([len(tree["children_left"]) for tree in trees]), t
        self.n_trees, self.n_features = len(trees), n_features
        if not trees or max(n_nodes, BLOCK * n_features) > np.iinfo(np.intc).max:
            raise ValueError(f"cannot add up {len(trees)} trees of {n_nodes} nodes")
        self.values = [np.require(tree["values"], np.float64, ["C", "A"]) for tree in trees]
        *_, self.n_outputs = self.values[0].shape
        self.addresses = np.array([values.ctypes.data for values in self.values], np.uintp)
        self.nodes = self.table = np.zeros(n_nodes, NODE)
        self.flags, self.rows = np.zeros(n_nodes, np.uint8), np.zeros(n_nodes, np.intc)
        self.roots, self.depths = np.zeros((2, self.n_trees + 1), np.intc)
        any_set = any([np.any(tree.get("categorical", 0)) for tree in trees])
        self.sets = np.zeros((n_nodes if any_set else 0, WORDS), np.uint32)
        names = "children_left", "children_right", "features", "missing_left", "categorical"
        for t, tree in enumerate(trees):
            zeros = np.zeros(len(tree["children_left"]))
            integers = np.array([tree.get(name, zeros) for name in names]).astype(np.intc)
            thresholds = np.require(tree["thresholds"], np.float64, ["C", "A"])
            sets = tree.get("left_categories", self.sets)
            self.add_tree(t, integers, thresholds, self.values[t], sets)
        # Leaves read the first feature.
        is_read = np.zeros(n_features, np.intc)
        is_read[self.table["column"]] = 1
        self.features = np.flatnonzero(is_read)
        self.table["column"] = BLOCK * (np.cumsum(is_read) - 1)[self.table["column"]]

    cdef int add_tree(
        self, Py_ssize_t t, const int[:, ::1] integers, const double[::1] threshold,
        const double[:, ::1] values, const unsigned int[:, ::1] sets,
    ) except -1:
        """Add the nodes of a tree level by level, so that children follow each other."""
        cdef int start = self.roots[t], end = start + 1, end_of_level = end, p = start, node
        cdef Py_ssize_t size = integers.shape[1], k
        cdef const int[::1] left = integers[0], right = integers[1], feature = integers[2]
        cdef const int[::1] missing_left = integers[3], categorical = integers[4]
        cdef bint is_sound = (
            0 < size == threshold.shape[0] == values.shape[0] and values.shape[1] == self.n_outputs
        )
        # The rows of the nodes that have not been visited are a queue.
        while is_sound and p < end:
            if p == end_of_level:
                self.depths[t] += 1
                end_of_level = end
            node = self.rows[p]
            if left[node] <= 0:
                self.nodes[p] = Node(INFINITY, 0, p)
                self.flags[p] = MISSING_LEFT
                for k in range(self.n_outputs):
                    is_sound = is_sound and isfinite(values[node, k])
                p += 1
                continue
            # Each node is the child of one node at most.
            is_sound = (
                end + 2 <= start + size and left[node] < size and 0 <= right[node] < size
                and 0 <= feature[node] < self.n_features
                and (not categorical[node] or (node < sets.shape[0] and sets.shape[1] == WORDS))
            )
            if is_sound:
                self.nodes[p] = Node(threshold[node], feature[node], end)
                self.flags[p] = MISSING_LEFT * (missing_left[node] != 0)
                if categorical[node]:
                    self.flags[p] |= CATEGORICAL
                    self.sets[p] = sets[node]
                self.rows[end], self.rows[end + 1] = left[node], right[node]
                end += 2
            p += 1
        if not is_sound:
            raise ValueError("a tree is damaged: it was changed after `fit`, or in its file")
        self.roots[t + 1] = end
        return 0

    def add(
        self, const cython.floating[:, :] X, double[:, ::1] out, Py_ssize_t start=0, stop=None
    ):
        """Add the values of the trees from `start` to `stop` - 1 for each sample to its outputs."""
        cdef Py_ssize_t first = 0, end = self.n_trees if stop is None else stop
        cdef bint any_set = self.sets.shape[0] > 0
        if X.shape[1] != self.n_features:
            raise ValueError(f"X has {X.shape[1]} features, the trees have {self.n_features}")
        if not 0 <= start <= end <= self.n_trees:
            raise ValueError(f"there are {self.n_trees} trees, not those from {start} to {end}")
        if out.shape[0] != X.shape[0] or out.shape[1] != self.n_outputs:
            raise ValueError(f"there are {X.shape[0]} samples of {self.n_outputs} outputs")
        read = np.arange(self.features.shape[0])
        if end - start < self.n_trees:
            read = np.unique(self.table["column"][self.roots[start] : self.roots[end]] // BLOCK)
        cdef Py_ssize_t[::1] columns = read.astype(np.intp)
        cdef double[::1] block = np.zeros(BLOCK * self.features.shape[0])
        cdef int n_rows
        with nogil:
            while first < X.shape[0]:
                n_rows = min(BLOCK, X.shape[0] - first)
                if copy_block(X, first, n_rows, self.features, columns, block) or any_set:
                    self.add_block(&block[0], n_rows, &out[first, 0], start, end, False)
                else:
                    self.add_block(&block[0], n_rows, &out[first, 0], start, end, True)
                first += BLOCK

    cdef inline void add_block(
        self, const double* block, int n_rows, double* out, Py_ssize_t start, Py_ssize_t end,
        bint plain,
    ) noexcept nogil:
        """Add values for the samples of a block; `plain` without missing values and categories."""
        cdef int[LANES] at
        cdef int depth
        cdef Py_ssize_t t, row, lane, group
        for t in range(start, end):
            for group in range(n_rows // LANES):
                row = group * LANES
                for lane in range(LANES):
                    at[lane] = self.roots[t]
                self.walk(at, block + row, 1, self.depths[t], plain)
                for lane in range(LANES):
                    self.add_leaf(t, at[lane], out + (row + lane) * self.n_outputs)
        for row in range(n_rows - n_rows % LANES, n_rows):
            t = start
            while t < end:
                depth = 0
                for lane in range(LANES):
                    at[lane] = self.roots[min(t + lane, end - 1)]
                    depth = max(depth, self.depths[min(t + lane, end - 1)])
                self.walk(at, block + row, 0, depth, plain)
                for lane in range(min(LANES, end - t)):
                    self.add_leaf(t + lane, at[lane], out + row * self.n_outputs)
                t += LANES

    cdef inline void walk(
        self, int* at, const double* x, int stride, int depth, bint plain
    ) noexcept nogil:
        """Move from nodes to leaves. The samples of the lanes are `stride` apart in a block."""
        cdef const Node* nodes = &self.nodes[0]
        cdef Node node
        cdef int lane, _, n_moving = LANES
        cdef double value
        while n_moving > 0:
            for _ in range(min(LEVELS, depth)):
                for lane in range(LANES):
                    node = nodes[at[lane]]
                    value = x[node.column + stride * lane]
                    if plain:
                        at[lane] = node.left + (value > node.threshold)
                    else:
                        at[lane] = node.left + self.is_right(at[lane], value, node.threshold)
            depth -= LEVELS
            n_moving = 0
            for lane in range(LANES if depth > 0 else 0):
                n_moving += nodes[at[lane]].left != at[lane]

    cdef inline bint is_right(self, int node, double value, double threshold) noexcept nogil:
        """Return whether a value belongs to the right child."""
        if isnan(value):
            return not self.flags[node] & MISSING_LEFT
        if self.flags[node] & CATEGORICAL:
            return not (0.0 <= value < MAX_BINS and contains(&self.sets[node, 0], <int>value))
        return value > threshold

    cdef inline void add_leaf(self, Py_ssize_t t, int leaf, double* out) noexcept nogil:
        cdef const double* values = <const double*>self.addresses[t]
        cdef Py_ssize_t k
        values += self.rows[leaf] * self.n_outputs
        for k in range(self.n_outputs):
            out[k] += values[k]


cdef bint copy_block(
    const cython.floating[:, :] X, Py_ssize_t first, int n_rows, Py_ssize_t[::1] features,
    Py_ssize_t[::1] columns, double[::1] block,
) noexcept nogil:
    """Copy columns of samples, and return whether a value is missing."""
    cdef Py_ssize_t i, j
    cdef double value
    cdef double* column
    cdef bint any_missing = False
    for j in range(columns.shape[0]):
        column = &block[BLOCK * columns[j]]
        for i in range(n_rows):
            value = X[first + i, features[columns[j]]]
            column[i] = value
            any_missing |= isnan(value)
    return any_missing
