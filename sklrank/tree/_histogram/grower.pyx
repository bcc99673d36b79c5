# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Growth of trees from histograms.

Each sample has a gradient g and a hessian h, of a loss that the tree shall decrease. A leaf with
the sums G and H predicts -G / (H + l2), which decreases the quadratic approximation of the loss by
half of its *score*, G^2 / (H + l2). The gain of a split is the sum of the scores of both children
minus the score of the node. The node with the largest gain is split first, until the tree has the
maximum number of leaves. In a *symmetric* tree, all leaves of a level have the same split, that
with the largest sum of gains; leaves where it is not allowed, or decreases nothing, wait for the
next level.

A sample may have several gradients, one for each *output* of the tree. Then a leaf predicts a value
for each output, and its score is the sum of those of the outputs. With the indicator matrix of the
classes times the negative weights as gradients, and the weights as hessians, the leaves predict
proportions of classes, and the gain is the decrease of the Gini impurity. For two classes, one
output suffices: the gradient is the weight of a sample of the first class, and minus the weight of
a sample of the second class.

Feature values are given as bin codes. The histogram of a node contains for each bin of each feature
a *cell* with the sums of the gradients and hessians, and the number, of the samples of the node
with this code. Only the histogram of the smaller child is computed from its samples; that of the
larger child is the difference to the histogram of their parent.

Gradients and hessians are rounded to integers (fixed-point numbers), such that the sum of their
absolute values is below 2^30. So sums and differences of integers are exact, and do not depend on
the order of the samples. The factors are powers of two, so that small integers remain proportional:
a sample of weight 2 has the effect of two samples. A cell consists of one group of four integers,
which are added by one instruction, or of more groups if there are more than two outputs.

The value of a leaf is computed from the original gradients and hessians. Each number is split in
three: a multiple of a unit coarse enough that sums are exact; a multiple of a fine unit; a rest,
dropped. So the values do not depend on the order of the samples either.

The samples may be in several *parts*, in other processes or on disk. Each part has a Grower that
divides its samples among the leaves and computes their histograms. One more Grower, without
samples, adds up these histograms and chooses the splits. As all sums are exact, the tree is the
same.

The threads divide the blocks of features (`bin_codes.pyx`) among them, and each finds the best
split of its blocks. The best one of all does not depend on the number of threads.

A split on a numerical feature sends the samples with codes up to `threshold` to the left child. The
last code of a feature with missing values stands for them, and `missing_left` says where they go.
The categories of a categorical feature are sorted by G / H, and a split sends the first of them,
the set `left_categories`, to the left child. In a monotonic feature, no value of the left child and
its descendants is above (constraint 1) or below (-1) those of the right child: the middle of the
values of both children is a bound of their descendants.
"""

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport fabs, frexp, ldexp, rint
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from sklrank._compiled.thread_team cimport ThreadTeam
from sklrank.tree._histogram.bin_codes cimport MAX_BINS, WIDTH, WORDS, check_codes, contains
from sklrank.tree._histogram.tree cimport Tree

import numpy as np

cdef extern from *:
    """
    #if defined(__GNUC__)
    #define prefetch(address) __builtin_prefetch(address)
    #else
    #define prefetch(address)
    #endif
    """
    void prefetch(const void* address) noexcept nogil

cdef enum:
    # Number of integers in a group of a cell, and between the gradients of the first two outputs.
    GROUP = 4
    SKIPPED = 2
    # The phases of the threads: search for the splits of two leaves, compute histograms only, or
    # search for the common split of a level.
    SEARCH = 0
    FILL = 1
    SEARCH_LEVEL = 2
    # Samples between the one that is added to a histogram and the one whose codes are loaded: from
    # 8 to 64, the time is the same.
    AHEAD = 32

# Binary logarithm of a bound on the sums of integers, and of the largest finite power of two.
cdef int LOG_SUM = 30, LARGEST_LOG = 1023
# Gains that are smaller than this fraction of the score of a node are rounding errors.
cdef double ROUNDING = 1e-12
# This number times a score is less than the score, whatever the rounding errors.
cdef double ALMOST_ONE = 1 - 1e-14
# Binary logarithm of the limit of bounds of exact sums: their units must be finite.
cdef int LOG_BOUND = 1000

# The first group of a cell. The other groups contain further gradients, four each.
cdef struct Cell:
    int gradient, hessian, count
    # Gradient of the second output, if there is one; the four numbers fill a register.
    int second

cdef struct Split:
    # Gain, or 0 if the node cannot be split.
    double gain
    int feature, threshold
    bint missing_left, categorical
    unsigned int left_categories[WORDS]
    Cell left

cdef struct Leaf:
    int node
    Py_ssize_t depth
    # The samples are those from `start` to `stop` in `Grower.samples`.
    Py_ssize_t start, stop
    # The sum of the cells of the samples, and its first group.
    Cell* sums
    Cell total
    double score
    # NULL if the leaf cannot be split.
    Cell* histogram
    Split split
    # Bounds of the value of the leaf, due to monotonic features above it.
    double lower, upper


cdef inline void add(Cell* to, Cell cell) noexcept nogil:
    to.gradient += cell.gradient
    to.hessian += cell.hessian
    to.count += cell.count
    to.second += cell.second


cdef struct Units:
    # Numbers that are added and subtracted again to round to multiples of the two units.
    double high, low


cdef Units units_for(double bound) noexcept:
    """Return the units of exact sums of numbers, the sum of whose absolute values is given."""
    cdef Units units
    cdef int exponent
    frexp(bound, &exponent)
    units.high = ldexp(1.5, exponent + 1)
    # The rests are 2^(exponent - 52) at most, and there are fewer than 2^31 of them.
    units.low = ldexp(1.5, exponent + 1 - 52 + 31)
    return units


cdef void add_exactly(
    double* sums, const double* terms, Py_ssize_t stride,
    const int* samples, Py_ssize_t n_samples, Units units,
) noexcept nogil:
    """Add the terms of some samples to a sum in two parts; if `samples` is NULL, their sizes."""
    cdef double high = 0.0, low = 0.0, term, rounded
    cdef Py_ssize_t i
    for i in range(n_samples):
        term = terms[samples[i] * stride] if samples else fabs(terms[i * stride])
        rounded = (term + units.high) - units.high
        high += rounded
        low += ((term - rounded) + units.low) - units.low
    sums[0] += high
    sums[1] += low


cdef double scale_for(double sum_) noexcept:
    """Return the factor of fixed-point numbers, the sum of whose absolute values is given."""
    cdef int exponent
    frexp(sum_, &exponent)
    return ldexp(1.0, min(LOG_SUM - exponent, LARGEST_LOG)) if sum_ > 0.0 else 1.0


cdef inline double sum_of_squares(const int* cell, int n_outputs) noexcept nogil:
    """Return the sum of the squared gradients of a cell."""
    cdef double squares = <double>cell[0] * cell[0]
    cdef int k
    for k in range(1, n_outputs):
        squares += <double>cell[SKIPPED + k] * cell[SKIPPED + k]
    return squares


cdef inline void subtract(Cell* from_, Cell cell) noexcept nogil:
    from_.gradient -= cell.gradient
    from_.hessian -= cell.hessian
    from_.count -= cell.count
    from_.second -= cell.second


cdef class Buffers:
    """Memory for the samples of a leaf, which growers that take turns share."""

    cdef int[::1] passing
    cdef Cell* ordered
    cdef Py_ssize_t size

    cdef int reserve(self, Py_ssize_t n_samples, int n_groups) except -1:
        """Provide for a number of samples; the largest one so far is kept."""
        cdef Cell* ordered
        if self.ordered and n_samples * n_groups <= self.size:
            return 0
        ordered = <Cell*>malloc(max(1, n_samples) * n_groups * sizeof(Cell))
        if not ordered:
            raise MemoryError
        self.passing = np.empty(max(1, n_samples) * n_groups, dtype=np.intc)
        free(self.ordered)
        self.ordered, self.size = ordered, n_samples * n_groups
        return 0

    def __dealloc__(self):
        free(self.ordered)


cdef class Grower(ThreadTeam):
    """Grows trees on samples whose features were binned once.

    Parameters
    ----------
    codes : ndarray of uint8 of shape (n_blocks, n_samples, WIDTH)
        Codes of the features.
    thresholds : ndarray of shape (n_codes,)
        For each code of each feature, including that of missing values, the largest value of the
        feature with a code up to it. Those of categorical features are not used.
    n_bins, has_missing, is_categorical, monotonic : ndarray of shape (n_features,)
        Number of codes without that of missing values, which is `n_bins`; whether there are any;
        whether the feature is categorical; and its constraint: 1, -1 or 0.
    max_leaf_nodes, min_samples_leaf, max_depth, symmetric : int or bool
        Parameters of the trees. A symmetric one has 2^`max_depth` leaves at most.
    l2_regularization, min_hessian, category_smoothing : float
        Multiples of the mean hessian: l2, the least sum H in a leaf, and a number that is added to
        H when categories are sorted by G / H.
    n_outputs : int
        Number of gradients of each sample. Trees with several outputs are not symmetric, and have
        neither categorical nor monotonic features.
    parts : callable or None
        The samples in parts, if `codes` has none: ``parts(method, *arguments)`` returns the sum of
        what `start`, `divide` or `leaf_sums` return for all parts.
    buffers : Buffers or None
        Memory that growers share.
    """

    cdef const unsigned char[:, :, ::1] codes
    cdef const double[::1] thresholds
    cdef const int[::1] n_bins
    cdef const unsigned char[::1] has_missing, is_categorical
    cdef const signed char[::1] monotonic
    cdef bint is_constrained, is_symmetric
    cdef int n_outputs
    # The samples of a tree, and the parts, or None, with the splits that they do not know yet.
    cdef const double[:, ::1] gradients
    cdef const double[::1] hessians
    cdef object parts
    cdef list untold
    cdef bint has_parts
    # Number of groups of a cell.
    cdef int n_groups
    cdef Py_ssize_t max_leaf_nodes, max_depth
    cdef int min_samples_leaf
    # Relative to the mean hessian, and in units of the fixed-point hessians.
    cdef double relative_l2, relative_min_hessian, relative_smoothing
    cdef double l2, min_hessian, category_smoothing
    # Index of the first cell of each feature in a histogram, and the number of its cells.
    cdef Py_ssize_t[::1] first
    cdef Py_ssize_t n_cells
    # The features of this tree: of each block, their positions in it.
    cdef int[:, ::1] active
    cdef int[::1] n_active
    # Samples in the order of the leaves, a buffer, and cells of samples.
    cdef int[::1] samples
    cdef Cell* cells
    cdef readonly Buffers buffers
    cdef Leaf* leaves
    cdef Py_ssize_t n_leaves
    # Histograms that are free to be used again.
    cdef Cell** pool
    cdef Py_ssize_t n_pooled
    # Sums of the cells of each leaf, and of those on the left side of a split in each block.
    cdef Cell* leaf_sums_of
    cdef Cell* left_sums
    # The leaves for which splits are searched: the histogram of the first one is computed from its
    # samples, and that of the second one, if it is not NULL, by subtraction. The best splits that
    # each thread has found.
    cdef Leaf* filled
    cdef Leaf* subtracted
    cdef Split* splits_of_filled
    cdef Split* splits_of_subtracted

    def __init__(
        self, const unsigned char[:, :, ::1] codes, const double[::1] thresholds,
        const int[::1] n_bins, const unsigned char[::1] has_missing,
        const unsigned char[::1] is_categorical, const signed char[::1] monotonic,
        *, Py_ssize_t max_leaf_nodes, int min_samples_leaf, double l2_regularization,
        double min_hessian, double category_smoothing, Py_ssize_t max_depth=2 ** 30,
        bint symmetric=False, int n_outputs=1, Py_ssize_t n_threads=1, parts=None,
        Buffers buffers=None,
    ):
        cdef Py_ssize_t n_blocks = codes.shape[0]
        cdef Py_ssize_t n_samples = codes.shape[1], n_features = n_bins.shape[0]
        cdef Py_ssize_t i
        if self.cells:
            raise ValueError("a Grower cannot be initialized again")
        check_codes(codes, n_bins)
        sizes = np.add(n_bins, has_missing, dtype=np.intp)
        largest = np.max(codes, axis=1, initial=0).ravel()[:n_features]
        if not (
            has_missing.shape[0] == is_categorical.shape[0] == monotonic.shape[0] == n_features
            and np.min(n_bins) >= 1
            and np.max(sizes) <= MAX_BINS
            and thresholds.shape[0] == np.sum(sizes)
            and np.all(largest < sizes)
            and (0 < n_samples < 2 ** 31 - 1 or parts is not None and n_outputs == 1)
            and 2 <= max_leaf_nodes < 2 ** 30
            and min_samples_leaf >= 1
            and max_depth >= 1
            and 1 <= n_outputs < 2 ** 20
            and (
                n_outputs == 1 or not (np.any(is_categorical) or np.any(monotonic) or symmetric)
            )
        ):
            raise ValueError("the arguments do not fit each other")
        self.codes, self.n_bins, self.has_missing = codes, n_bins, has_missing
        self.parts, self.untold, self.has_parts = parts, [], parts is not None
        self.thresholds, self.n_outputs = thresholds, n_outputs
        self.n_groups = (n_outputs + SKIPPED + GROUP - 1) // GROUP
        self.is_categorical, self.monotonic = is_categorical, monotonic
        self.is_constrained = np.any(monotonic)
        self.max_leaf_nodes, self.min_samples_leaf = max_leaf_nodes, min_samples_leaf
        self.max_depth, self.is_symmetric = max_depth, symmetric
        self.relative_l2 = l2_regularization
        self.relative_min_hessian, self.relative_smoothing = min_hessian, category_smoothing
        self.first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
        self.n_cells = self.first[n_features]
        self.allocate(max(1, min(n_threads, n_blocks)))
        self.active = np.zeros((n_blocks, WIDTH), dtype=np.intc)
        self.n_active = np.zeros(n_blocks, dtype=np.intc)
        self.samples = np.empty(n_samples, dtype=np.intc)
        for i in range(n_features):
            self.activate(i)
        self.buffers = buffers or Buffers()
        self.buffers.reserve(n_samples, self.n_groups)
        self.leaves = <Leaf*>calloc(max_leaf_nodes, sizeof(Leaf))
        self.pool = <Cell**>calloc(max_leaf_nodes + 1, sizeof(Cell*))
        self.leaf_sums_of = <Cell*>calloc(max_leaf_nodes * self.n_groups, sizeof(Cell))
        self.left_sums = <Cell*>calloc(n_blocks * self.n_groups, sizeof(Cell))
        self.splits_of_filled = <Split*>calloc(self.n_members, sizeof(Split))
        self.splits_of_subtracted = <Split*>calloc(self.n_members, sizeof(Split))
        # This one is allocated last, as it shows that the object is initialized.
        if (
            self.leaves and self.pool and self.leaf_sums_of and self.left_sums
            and self.splits_of_filled and self.splits_of_subtracted
        ):
            self.cells = <Cell*>calloc(max(1, n_samples) * self.n_groups, sizeof(Cell))
        if not self.cells:
            raise MemoryError

    def __dealloc__(self):
        if self.pool:
            self.release_histograms()
        for i in range(self.n_pooled):
            free(self.pool[i])
        free(self.pool)
        free(self.leaves)
        free(self.cells)
        free(self.leaf_sums_of)
        free(self.left_sums)
        free(self.splits_of_filled)
        free(self.splits_of_subtracted)

    def grow(
        self, const double[:, ::1] gradients, const double[::1] hessians, features,
        int[::1] leaf_of, double unit=1.0,
    ):
        """Grow a tree; return it, and the value `(n_nodes, n_outputs)` of each leaf, 0 for others.

        The gradients have the shape `(n_samples, n_outputs)`; the hessians are 0 or more. The tree
        may split on the `features`, distinct indices, or on all if that is None. The node of the
        leaf of each sample is written into `leaf_of`. The values are multiplied by `unit`, and the
        gains twice.
        """
        cdef Py_ssize_t i, k
        cdef const Leaf* leaf
        self.check(gradients, hessians)
        if leaf_of.shape[0] != hessians.shape[0]:
            raise ValueError("there must be a leaf for each sample")
        largest, n_samples = self.largest(gradients, hessians), hessians.shape[0]
        totals = self.totals(gradients, hessians, largest, n_samples)
        self.gradients, self.hessians = gradients, hessians
        try:
            tree, values = self.grow_tree(totals, n_samples, features, unit)
        finally:
            self.gradients = self.hessians = None
        with nogil:
            for i in range(self.n_leaves):
                leaf = self.leaves + i
                for k in range(leaf.start, leaf.stop):
                    leaf_of[self.samples[k]] = leaf.node
        return tree, values

    def grow_on_parts(self, totals, Py_ssize_t n_samples, features):
        """Grow a tree on the samples of the parts, which know their gradients and hessians.

        `totals` is the sum of what `totals` returns for all parts, which have `n_samples`. Return
        what `grow` does, and the node of each leaf, in the order in which the parts know them.
        """
        if self.cells == NULL or not (self.has_parts and n_samples < 2 ** 31 - 1):
            raise ValueError("this Grower has no parts, or there are more than 2^31 - 2 samples")
        tree, values = self.grow_tree(totals, n_samples, features, 1.0)
        return tree, values, [self.leaves[i].node for i in range(self.n_leaves)]

    cdef int check(self, const double[:, ::1] gradients, const double[::1] hessians) except -1:
        if not self.cells or self.has_parts:
            raise ValueError("this Grower is not initialized, or has no samples of its own")
        if not (
            gradients.shape[0] == hessians.shape[0] == self.codes.shape[1]
            and gradients.shape[1] == self.n_outputs
        ):
            raise ValueError("there must be gradients and a hessian for each sample")
        return 0

    cdef tuple grow_tree(self, totals, Py_ssize_t n_samples, features, double unit):
        cdef Py_ssize_t size = 2 * self.max_leaf_nodes - 1
        integers = np.zeros((6, size), dtype=np.intc)
        floats = np.zeros((3, size))
        values = np.zeros((size, self.n_outputs))
        categories = np.zeros((size, WORDS), dtype=np.uint32)
        cdef int[:, ::1] node_integers = integers
        cdef int[::1] feature = node_integers[0], threshold_code = node_integers[1]
        cdef int[::1] categorical = node_integers[2], missing_left = node_integers[3]
        cdef int[::1] left_child = node_integers[4], count = node_integers[5]
        cdef double[:, ::1] node_floats = floats, leaf_values = values
        cdef double[::1] threshold = node_floats[0], value = node_floats[1], gain = node_floats[2]
        cdef unsigned int[:, ::1] left_categories = categories
        cdef double gradient_scale, hessian_scale, scale, mean_hessian, l2, bound, hessian, exact
        cdef Py_ssize_t i, k, best
        cdef int n_nodes = 1
        cdef Leaf* leaf
        cdef Tree tree
        cdef double[:, :, ::1] sums
        if features is not None:
            self.set_features(features)
        *gradient_sums, hessian_sum = np.sum(totals, axis=1)
        bound = max(*gradient_sums, hessian_sum)
        if not np.all(np.isfinite(totals)):
            raise ValueError("the sums of gradients and hessians must be finite")
        gradient_scale, hessian_scale = scale_for(max(gradient_sums)), scale_for(hessian_sum)
        scale = hessian_scale / gradient_scale
        mean_hessian = hessian_sum / n_samples if hessian_sum > 0.0 else 1.0
        l2 = self.relative_l2 * mean_hessian
        self.l2 = l2 * hessian_scale
        self.min_hessian = max(1.0, self.relative_min_hessian * mean_hessian * hessian_scale)
        self.category_smoothing = self.relative_smoothing * mean_hessian * hessian_scale
        with self:
            self.start_root(gradient_scale, hessian_scale, features)
            count[0] = self.leaves.total.count
            while self.n_leaves < self.max_leaf_nodes:
                PyErr_CheckSignals()
                best = 0
                for i in range(1, self.n_leaves):
                    if self.leaves[i].split.gain > self.leaves[best].split.gain:
                        best = i
                leaf = self.leaves + best
                if not leaf.split.gain > 0.0:
                    if self.is_symmetric and self.search_level():
                        continue
                    break
                i = leaf.node
                feature[i], threshold_code[i] = leaf.split.feature, leaf.split.threshold
                missing_left[i], categorical[i] = leaf.split.missing_left, leaf.split.categorical
                if not categorical[i]:
                    threshold[i] = self.thresholds[self.first[feature[i]] + threshold_code[i]]
                for k in range(WORDS):
                    left_categories[i, k] = leaf.split.left_categories[k]
                left_child[i] = n_nodes
                # In units of the loss.
                gain[i] = leaf.split.gain / gradient_scale * scale * unit * unit
                self.split(best, n_nodes)
                count[n_nodes] = self.leaves[best].total.count
                count[n_nodes + 1] = self.leaves[self.n_leaves - 1].total.count
                n_nodes += 2
        if self.has_parts:
            sums = self.parts("leaf_sums", self.untold, bound)
        else:
            sums = self.leaf_sums(self.gradients, self.hessians, bound)
        for i in range(self.n_leaves):
            leaf = self.leaves + i
            hessian = sums[i, self.n_outputs, 0] + sums[i, self.n_outputs, 1] + l2
            for k in range(self.n_outputs):
                exact = 0.0 - (sums[i, k, 0] + sums[i, k, 1])
                exact = exact / hessian if hessian > 0.0 else 0.0
                exact = min(max(exact, leaf.lower * scale), leaf.upper * scale)
                leaf_values[leaf.node, k] = exact * unit
            if self.n_outputs == 1:
                value[leaf.node] = leaf_values[leaf.node, 0]
        names = "feature", "threshold_code", "categorical", "missing_left", "left", "count"
        nodes = dict(zip(names, integers[:, :n_nodes]))
        nodes["threshold"], nodes["value"], nodes["gain"] = floats[:, :n_nodes]
        nodes["left_categories"] = categories[:n_nodes]
        tree = Tree.__new__(Tree)
        tree.assign(self.n_bins.shape[0], nodes)
        tree.is_ready = True
        return tree, values[:n_nodes]

    # -- The samples of this Grower, which may be a part of all.

    def largest(self, const double[:, ::1] gradients, const double[::1] hessians):
        """Return the largest absolute gradient of each output, and the largest hessian."""
        self.check(gradients, hessians)
        high, low = np.max(gradients, axis=0, initial=0.0), np.min(gradients, axis=0, initial=0.0)
        return np.append(np.maximum(high, -low), np.max(hessians, initial=0.0))

    def totals(
        self, const double[:, ::1] gradients, const double[::1] hessians,
        const double[::1] largest, double n_samples,
    ):
        """Return the sums of absolute values, `(n_outputs + 1, 2)`, whose two parts are added.

        The largest values and the number of samples are those of all parts.
        """
        cdef Py_ssize_t k, n_here = hessians.shape[0]
        cdef int n_outputs = self.n_outputs
        cdef Units units
        self.check(gradients, hessians)
        result = np.zeros((n_outputs + 1, 2))
        cdef double[:, ::1] sums = result
        for k in range(n_outputs + 1 if n_here else 0):
            if not largest[k] * n_samples < ldexp(1.0, LOG_BOUND):
                raise ValueError("the sums of gradients and hessians must be finite")
            units = units_for(largest[k] * n_samples)
            with nogil:
                if k < n_outputs:
                    add_exactly(&sums[k, 0], &gradients[0, k], n_outputs, NULL, n_here, units)
                else:
                    add_exactly(&sums[k, 0], &hessians[0], 1, NULL, n_here, units)
        return result

    def start(
        self, const double[:, ::1] gradients, const double[::1] hessians,
        double gradient_scale, double hessian_scale, features,
    ):
        """Start a tree, and return the histogram of its root, `(n_cells, GROUP)` of intc."""
        self.check(gradients, hessians)
        if features is not None:
            self.set_features(features)
        self.set_cells(gradients, hessians, gradient_scale, hessian_scale)
        self.set_root()
        return self.histogram_of(0)

    def divide(self, splits, int child=0):
        """Divide leaves: the left child takes the place of its parent, the right one is appended.

        A split is a tuple of the index of the leaf, and of fields of `Split`: `feature`,
        `threshold`, `missing_left`, `categorical` and `left_categories`. Return the histogram of
        the left child of the last leaf if `child` is 1, of the right one if it is 2, else None.
        """
        cdef Leaf* left
        cdef Leaf* right
        cdef Split* split
        cdef int k
        cdef Py_ssize_t index = 0
        for index, feature, threshold, missing_left, categorical, words in splits:
            if not (0 <= index < self.n_leaves < self.max_leaf_nodes) or not (
                0 <= feature < self.n_bins.shape[0]
            ):
                raise ValueError("a split must be of a leaf and a feature")
            left, right = self.leaves + index, self.leaves + self.n_leaves
            split = &left.split
            split.feature, split.threshold = feature, threshold
            split.missing_left, split.categorical = missing_left, categorical
            for k in range(WORDS):
                split.left_categories[k] = words[k]
            right[0] = left[0]
            left.stop = right.start = self.partition(left)
            self.n_leaves += 1
        if child:
            return self.histogram_of(index if child == 1 else self.n_leaves - 1)
        return None

    cdef histogram_of(self, Py_ssize_t index):
        """Return the histogram of a leaf, computed from its samples."""
        cdef Leaf* leaf = self.leaves + index
        result = np.zeros((self.n_cells, GROUP), dtype=np.intc)
        cdef int[:, ::1] cells = result
        self.filled, self.subtracted = leaf, NULL
        leaf.sums = self.leaf_sums_of + index * self.n_groups
        leaf.histogram = <Cell*>&cells[0, 0]
        with self:
            self.gather(leaf)
            self.run_phase(FILL)
        leaf.histogram = NULL
        return result

    def leaf_sums(
        self, const double[:, ::1] gradients, const double[::1] hessians, double bound
    ):
        """Return the sums over the samples of each leaf: `(n_leaves, n_outputs + 1, 2)`."""
        cdef Units units = units_for(bound)
        cdef const Leaf* leaf
        cdef Py_ssize_t i, k, n_here
        cdef int n_outputs = self.n_outputs
        cdef const int* samples
        self.check(gradients, hessians)
        result = np.zeros((self.n_leaves, n_outputs + 1, 2))
        cdef double[:, :, ::1] sums = result
        with nogil:
            for i in range(self.n_leaves):
                leaf = self.leaves + i
                n_here = leaf.stop - leaf.start
                if not n_here:
                    continue
                samples = &self.samples[leaf.start]
                for k in range(n_outputs):
                    add_exactly(&sums[i, k, 0], &gradients[0, k], n_outputs, samples, n_here, units)
                add_exactly(&sums[i, n_outputs, 0], &hessians[0], 1, samples, n_here, units)
        return result

    def write_leaves(self, const double[::1] values, double[::1] of_samples):
        """Write for each sample the value of its leaf, in the order of the leaves."""
        cdef Py_ssize_t i, k
        cdef const Leaf* leaf
        if values.shape[0] != self.n_leaves or of_samples.shape[0] != self.codes.shape[1]:
            raise ValueError("there must be a value for each leaf, and a number for each sample")
        with nogil:
            for i in range(self.n_leaves):
                leaf = self.leaves + i
                for k in range(leaf.start, leaf.stop):
                    of_samples[self.samples[k]] = values[i]

    cdef int set_features(self, const Py_ssize_t[::1] features) except -1:
        cdef Py_ssize_t i
        chosen = np.asarray(features)
        if len(np.unique(chosen)) < len(chosen) or not np.all(
            (chosen >= 0) & (chosen < self.n_bins.shape[0])
        ):
            raise ValueError("features must be distinct indices of features")
        self.n_active[:] = 0
        for i in range(features.shape[0]):
            self.activate(features[i])
        return 0

    cdef void activate(self, Py_ssize_t feature) noexcept:
        cdef Py_ssize_t block = feature // WIDTH
        self.active[block, self.n_active[block]] = feature % WIDTH
        self.n_active[block] += 1

    cdef void set_cells(
        self, const double[:, ::1] gradients, const double[::1] hessians,
        double gradient_scale, double hessian_scale,
    ) noexcept:
        """Set the cells of the samples."""
        cdef Py_ssize_t i
        cdef int k
        cdef int* cell
        with nogil:
            for i in range(hessians.shape[0]):
                self.samples[i] = i
                cell = <int*>(self.cells + i * self.n_groups)
                cell[0] = <int>rint(gradients[i, 0] * gradient_scale)
                cell[1] = <int>rint(hessians[i] * hessian_scale)
                cell[2] = 1
                for k in range(1, self.n_outputs):
                    cell[SKIPPED + k] = <int>rint(gradients[i, k] * gradient_scale)

    cdef void set_root(self) noexcept:
        cdef Leaf* root = self.leaves
        self.release_histograms()       # of the previous tree
        memset(root, 0, sizeof(Leaf))
        root.stop = self.codes.shape[1]
        root.lower, root.upper = -np.inf, np.inf
        self.n_leaves = 1
        root.sums = self.leaf_sums_of

    cdef int start_root(self, double gradient_scale, double hessian_scale, features) except -1:
        cdef Leaf* root = self.leaves
        if self.has_parts:
            self.set_root()
            root.histogram = self.new_histogram()
            self.untold = []
            self.read(root, self.parts("start", gradient_scale, hessian_scale, features))
        else:
            self.set_cells(self.gradients, self.hessians, gradient_scale, hessian_scale)
            self.set_root()
            self.gather(root)
        if not self.is_splittable(root):
            self.release(root)
            return 0
        if not root.histogram:
            root.histogram = self.new_histogram()
        self.search(root, NULL)
        return 0

    cdef int read(self, Leaf* leaf, const int[:, ::1] cells) except -1:
        """Set the histogram and the sums of a leaf to those of the parts."""
        cdef Py_ssize_t i, block = 0, feature
        if cells.shape[0] != self.n_cells or cells.shape[1] != GROUP:
            raise ValueError("the histograms of the parts must have the cells of this Grower")
        memcpy(leaf.histogram, &cells[0, 0], self.n_cells * sizeof(Cell))
        while not self.n_active[block]:
            block += 1
        feature = block * WIDTH + self.active[block, 0]
        memset(leaf.sums, 0, sizeof(Cell))
        for i in range(self.first[feature], self.first[feature + 1]):
            add(leaf.sums, leaf.histogram[i])
        leaf.total = leaf.sums[0]
        return 0

    cdef bint is_splittable(self, const Leaf* leaf) noexcept nogil:
        """Return False if no split of the leaf is allowed, whatever its histogram is."""
        return (
            leaf.total.count >= 2 * self.min_samples_leaf
            and self.n_leaves < self.max_leaf_nodes
            and leaf.depth < self.max_depth
        )

    cdef Cell* new_histogram(self) except NULL:
        cdef Cell* histogram
        if self.n_pooled:
            self.n_pooled -= 1
            return self.pool[self.n_pooled]
        histogram = <Cell*>malloc(self.n_cells * self.n_groups * sizeof(Cell))
        if not histogram:
            raise MemoryError
        return histogram

    cdef void release(self, Leaf* leaf) noexcept nogil:
        if leaf.histogram:
            self.pool[self.n_pooled] = leaf.histogram
            self.n_pooled += 1
            leaf.histogram = NULL

    cdef void release_histograms(self) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.n_leaves):
            self.release(self.leaves + i)

    cdef void gather(self, Leaf* leaf) noexcept nogil:
        """Copy the cells of the samples of a leaf into `ordered`, and add them up."""
        cdef const int* samples = &self.samples[0] + leaf.start
        cdef Cell* ordered = self.buffers.ordered
        cdef Py_ssize_t i
        cdef int group, n_groups = self.n_groups
        memset(leaf.sums, 0, n_groups * sizeof(Cell))
        for i in range(leaf.stop - leaf.start):
            for group in range(n_groups):
                ordered[i * n_groups + group] = self.cells[samples[i] * n_groups + group]
                add(leaf.sums + group, ordered[i * n_groups + group])
        leaf.total = leaf.sums[0]

    cdef int search(self, Leaf* filled, Leaf* subtracted) except -1:
        """Compute the histograms of two leaves, `filled` and `subtracted`, and find their splits.

        The splits of symmetric trees are found by `search_level`.
        """
        self.filled, self.subtracted = filled, subtracted
        filled.score = self.score_of_leaf(filled)
        if subtracted:
            subtracted.score = self.score_of_leaf(subtracted)
        with nogil:
            self.run_phase(FILL if self.is_symmetric else SEARCH)
            if not self.is_symmetric:
                self.choose_split(filled, self.splits_of_filled)
                if subtracted:
                    self.choose_split(subtracted, self.splits_of_subtracted)
            elif not self.is_splittable(filled):
                self.release(filled)
        return 0

    cdef bint search_level(self) except -1:
        """Set the splits of the leaves that have a histogram to the best common one.

        Return False if no leaf can be split.
        """
        cdef Py_ssize_t i
        cdef Leaf* leaf
        cdef const Split* best
        cdef bint is_found = False
        with nogil:
            self.run_phase(SEARCH_LEVEL)
            best = self.best_of_threads(self.splits_of_filled)
            for i in range(self.n_leaves):
                leaf = self.leaves + i
                if not leaf.histogram:
                    continue
                leaf.split = best[0]
                if best.feature >= 0:
                    self.add_left_cells(leaf)
                    leaf.split.gain = self.gain_of(leaf, best.feature, leaf.split.left)
                if leaf.split.gain > 0.0:
                    is_found = True
                    continue
                # It may be split by the next level.
                leaf.depth += 1
                if best.feature < 0 or not self.is_splittable(leaf):
                    self.release(leaf)
        return is_found

    cdef void add_left_cells(self, Leaf* leaf) noexcept nogil:
        """Set `split.left` to the sum of the cells of the left child."""
        cdef Split* split = &leaf.split
        cdef const Cell* cells = leaf.histogram + self.first[split.feature]
        cdef int code, missing = self.n_bins[split.feature]
        cdef bint is_left
        memset(&split.left, 0, sizeof(Cell))
        for code in range(missing + self.has_missing[split.feature]):
            if split.categorical:
                is_left = contains(split.left_categories, code)
            else:
                is_left = split.missing_left if code == missing else code <= split.threshold
            if is_left:
                add(&split.left, cells[code])

    cdef int run_share(self, int phase, Py_ssize_t member) except -1 nogil:
        cdef Split* of_filled = self.splits_of_filled + member
        cdef Split* of_subtracted = self.splits_of_subtracted + member
        cdef bint searches = phase == SEARCH, is_splittable
        cdef Py_ssize_t block = member
        if phase == SEARCH_LEVEL:
            # Of all leaves. If the root cannot be split, none has been filled.
            of_filled.gain, of_filled.feature = 0.0, -1
            while block < self.codes.shape[0]:
                self.find_level_split(block, of_filled)
                block += self.n_members
            return 0
        is_splittable = self.is_splittable(self.filled)
        self.reset_split(of_filled, self.filled)
        if self.subtracted:
            self.reset_split(of_subtracted, self.subtracted)
        while block < self.codes.shape[0]:
            if not self.has_parts:
                self.fill(self.filled, block)
            if self.subtracted:
                self.subtract_histogram(self.subtracted.histogram, self.filled.histogram, block)
                if searches:
                    self.find_split(self.subtracted, block, of_subtracted)
            if searches and is_splittable:
                self.find_split(self.filled, block, of_filled)
            block += self.n_members
        return 0

    cdef void reset_split(self, Split* best, const Leaf* leaf) noexcept nogil:
        # Splits are compared by the sum of the scores of the children.
        best.gain = leaf.score + ROUNDING * fabs(leaf.score)
        best.feature = -1

    cdef void fill(self, Leaf* leaf, Py_ssize_t block) noexcept nogil:
        """Compute the histogram of a leaf from its cells in `ordered`."""
        cdef Cell* histogram = leaf.histogram
        cdef const Cell* ordered = self.buffers.ordered
        cdef const int* samples = &self.samples[0] + leaf.start
        cdef const unsigned char* codes = &self.codes[block, 0, 0]
        cdef Py_ssize_t n = leaf.stop - leaf.start, i
        cdef unsigned char row[WIDTH]
        cdef Cell* of_features[WIDTH]
        cdef Cell* to
        cdef Cell cell
        cdef int k, group, n_active = self.n_active[block], position, n_groups = self.n_groups
        for k in range(n_active):
            i = block * WIDTH + self.active[block, k]
            of_features[k] = histogram + self.first[i] * n_groups
            memset(
                of_features[k], 0, (self.first[i + 1] - self.first[i]) * n_groups * sizeof(Cell)
            )
        if n_groups > 1:
            for k in range(n_active):
                position = self.active[block, k]
                for i in range(n):
                    to = of_features[k]
                    to += n_groups * codes[<Py_ssize_t>samples[i] * WIDTH + position]
                    for group in range(n_groups):
                        add(to + group, ordered[i * n_groups + group])
        elif n_active == WIDTH:
            for i in range(n):
                # Half of the time would be spent waiting for the codes of samples in other places.
                prefetch(codes + <Py_ssize_t>samples[min(i + AHEAD, n - 1)] * WIDTH)
                memcpy(row, codes + <Py_ssize_t>samples[i] * WIDTH, WIDTH)
                cell = ordered[i]
                add(of_features[0] + row[0], cell)
                add(of_features[1] + row[1], cell)
                add(of_features[2] + row[2], cell)
                add(of_features[3] + row[3], cell)
                add(of_features[4] + row[4], cell)
                add(of_features[5] + row[5], cell)
                add(of_features[6] + row[6], cell)
                add(of_features[7] + row[7], cell)
        else:
            for k in range(n_active):
                position = self.active[block, k]
                for i in range(n):
                    add(
                        of_features[k] + codes[<Py_ssize_t>samples[i] * WIDTH + position],
                        ordered[i],
                    )

    cdef int split(self, Py_ssize_t index, int n_nodes) except -1:
        """Split a leaf: its left child takes its place, and its right child is appended."""
        cdef Leaf* left = self.leaves + index
        cdef Leaf* right = self.leaves + self.n_leaves
        cdef Leaf* smaller
        cdef Leaf* larger
        cdef Cell* histogram = left.histogram
        cdef Py_ssize_t middle
        cdef double left_value, right_value, bound
        cdef int constraint, group
        middle = left.start
        if self.has_parts:
            self.untold.append(
                (index, left.split.feature, left.split.threshold, left.split.missing_left,
                 left.split.categorical, [left.split.left_categories[k] for k in range(WORDS)])
            )
        else:
            middle = self.partition(left)
        left.depth += 1
        right[0] = left[0]
        right.sums = self.leaf_sums_of + self.n_leaves * self.n_groups
        left.node, right.node = n_nodes, n_nodes + 1
        left.stop = right.start = middle
        left.total = right.split.left
        subtract(&right.total, left.total)
        constraint = self.monotonic[left.split.feature]
        if constraint:
            left_value = self.value_of(left.total, left)
            right_value = self.value_of(right.total, right)
            bound = (left_value + right_value) / 2
            if constraint > 0:
                left.upper, right.lower = bound, bound
            else:
                left.lower, right.upper = bound, bound
        left.histogram = right.histogram = NULL
        left.split.gain = right.split.gain = 0.0
        self.n_leaves += 1
        smaller, larger = left, right
        if left.total.count > right.total.count:
            smaller, larger = right, left
        larger.histogram = histogram
        if not self.is_splittable(larger):
            # Then the smaller child cannot be split either.
            self.release(larger)
            return 0
        smaller.histogram = self.new_histogram()
        # The sums of both are those of their parent minus those of the other.
        memcpy(right.sums, left.sums, self.n_groups * sizeof(Cell))
        if self.has_parts:
            self.read(smaller, self.parts("divide", self.untold, 1 if smaller == left else 2))
            self.untold = []
        else:
            self.gather(smaller)
        for group in range(self.n_groups):
            subtract(larger.sums + group, smaller.sums[group])
        self.search(smaller, larger)
        return 0

    cdef void subtract_histogram(
        self, Cell* from_, const Cell* cells, Py_ssize_t block
    ) noexcept nogil:
        cdef Py_ssize_t i
        cdef int k
        for k in range(self.n_active[block]):
            i = block * WIDTH + self.active[block, k]
            for i in range(self.first[i] * self.n_groups, self.first[i + 1] * self.n_groups):
                subtract(from_ + i, cells[i])

    cdef Py_ssize_t partition(self, const Leaf* leaf) noexcept nogil:
        """Order the samples of a leaf by its split, and return the index of the first right one."""
        cdef const Split* split = &leaf.split
        cdef const unsigned char* codes = &self.codes[split.feature // WIDTH, 0, 0]
        cdef int position = split.feature % WIDTH, sample, code
        cdef int missing = self.n_bins[split.feature]
        cdef int* samples = &self.samples[0]
        cdef int* passing = &self.buffers.passing[0]
        cdef Py_ssize_t i, n_left = leaf.start, n_right = 0
        cdef bint is_left
        for i in range(leaf.start, leaf.stop):
            sample = samples[i]
            code = codes[<Py_ssize_t>sample * WIDTH + position]
            if split.categorical:
                is_left = contains(split.left_categories, code)
            else:
                is_left = split.missing_left if code == missing else code <= split.threshold
            # Both are written, without a branch that the processor would have to predict.
            samples[n_left] = sample
            passing[n_right] = sample
            n_left += is_left
            n_right += not is_left
        memcpy(samples + n_left, passing, n_right * sizeof(int))
        return n_left

    cdef double value_of(self, Cell total, const Leaf* bounds) noexcept nogil:
        """Return the value of a leaf, in units of the fixed-point numbers."""
        cdef double hessian = total.hessian + self.l2
        cdef double value = -total.gradient / hessian if hessian > 0.0 else 0.0
        return min(max(value, bounds.lower), bounds.upper)

    cdef double score_of(self, Cell total, const Leaf* bounds) noexcept nogil:
        """Return the score of a leaf whose value may be bounded."""
        cdef double value = self.value_of(total, bounds)
        return -value * (2.0 * total.gradient + (total.hessian + self.l2) * value)

    cdef void find_split(self, const Leaf* leaf, Py_ssize_t block, Split* best) noexcept nogil:
        """Compare the splits on the features of a block with the best split so far.

        Ties: the first feature, the first threshold.
        """
        cdef int k
        for k in range(self.n_active[block]):
            self.find_split_of(leaf, block, self.active[block, k], best)

    cdef const Split* best_of_threads(self, const Split* splits) noexcept nogil:
        """Return the split of the threads with the largest gain."""
        cdef Py_ssize_t k
        cdef const Split* best = splits
        for k in range(1, self.n_members):
            if splits[k].gain > best.gain or (
                splits[k].gain == best.gain and splits[k].feature < best.feature
            ):
                best = splits + k
        return best

    cdef void choose_split(self, Leaf* leaf, const Split* splits) noexcept nogil:
        leaf.split = self.best_of_threads(splits)[0]
        leaf.split.gain = leaf.split.gain - leaf.score if leaf.split.feature >= 0 else 0.0
        if not leaf.split.gain > 0.0:
            self.release(leaf)

    cdef double score_of_leaf(self, const Leaf* leaf) noexcept nogil:
        cdef double hessian = leaf.total.hessian + self.l2
        if self.n_outputs == 1:
            return self.score_of(leaf.total, leaf)
        return sum_of_squares(<int*>leaf.sums, self.n_outputs) / hessian if hessian > 0.0 else 0.0

    cdef void find_split_of(
        self, const Leaf* leaf, Py_ssize_t block, int position, Split* best
    ) noexcept nogil:
        """Compare the splits on a feature with the best split so far."""
        cdef int feature = block * WIDTH + position
        cdef const Cell* cells = leaf.histogram + self.first[feature] * self.n_groups
        cdef Cell* sums = self.left_sums + block * self.n_groups
        cdef const Cell* of_missing
        cdef int n_bins = self.n_bins[feature], n_sorted
        cdef Cell left, missing
        cdef unsigned char order[MAX_BINS]
        memset(&left, 0, sizeof(Cell))
        memset(&missing, 0, sizeof(Cell))
        if self.is_categorical[feature]:
            n_sorted = self.sort_categories(feature, cells, order)
            self.scan(leaf, feature, cells, order, n_sorted, left, False, best)
            return
        if self.n_outputs > 1:
            self.scan_outputs(leaf, feature, cells, n_bins, NULL, sums, best)
            of_missing = cells + n_bins * self.n_groups
            if self.has_missing[feature] and of_missing.count:
                self.scan_outputs(leaf, feature, cells, n_bins, of_missing, sums, best)
            return
        if self.has_missing[feature]:
            missing = cells[n_bins]
        self.scan(leaf, feature, cells, NULL, n_bins, left, False, best)
        if missing.count:
            self.scan(leaf, feature, cells, NULL, n_bins, missing, True, best)

    cdef int sort_categories(
        self, int feature, const Cell* cells, unsigned char* order
    ) noexcept nogil:
        """Sort the categories that occur by G / H, and return their number."""
        cdef double ratios[MAX_BINS]
        cdef int code, n_sorted = 0
        # The missing values are a category.
        for code in range(self.n_bins[feature] + self.has_missing[feature]):
            if cells[code].count:
                order[n_sorted] = code
                ratios[n_sorted] = cells[code].gradient / (
                    cells[code].hessian + self.category_smoothing
                )
                n_sorted += 1
        sort_by(ratios, order, n_sorted)
        return n_sorted

    cdef double gain_of(self, const Leaf* leaf, int feature, Cell left) noexcept nogil:
        """Return the gain of a split, or 0 if it is not allowed, or decreases nothing."""
        cdef Cell right = leaf.total
        cdef double gain
        subtract(&right, left)
        if (
            min(left.count, right.count) < self.min_samples_leaf
            or min(left.hessian, right.hessian) < self.min_hessian
            or self.is_constrained
            and self.monotonic[feature] * (self.value_of(left, leaf) - self.value_of(right, leaf))
            > 0.0
        ):
            return 0.0
        gain = self.score_of(left, leaf) + self.score_of(right, leaf) - leaf.score
        return gain if gain > ROUNDING * leaf.score else 0.0

    cdef void find_level_split(self, Py_ssize_t block, Split* best) noexcept nogil:
        """Compare the common splits of a level on the features of a block with the best one so far.

        Ties: the first feature, the first threshold.
        """
        cdef int k, feature, missing, side, n_sides
        cdef Cell totals[MAX_BINS]
        for k in range(self.n_active[block]):
            feature = block * WIDTH + self.active[block, k]
            missing = self.n_bins[feature]
            n_sides = 1
            # Splits of numbers that are all known do not need the sums.
            if self.has_missing[feature] or self.is_categorical[feature]:
                self.add_histograms(feature, totals)
            if self.has_missing[feature] and not self.is_categorical[feature]:
                n_sides += totals[missing].count > 0
            for side in range(n_sides):
                self.scan_level(feature, totals, side, best)

    cdef void add_histograms(self, int feature, Cell* totals) noexcept nogil:
        """Add up the cells of the leaves of a level."""
        cdef Py_ssize_t i
        cdef int code, n_codes = self.n_bins[feature] + self.has_missing[feature]
        cdef const Cell* cells
        memset(totals, 0, n_codes * sizeof(Cell))
        for i in range(self.n_leaves):
            if self.leaves[i].histogram:
                cells = self.leaves[i].histogram + self.first[feature]
                for code in range(n_codes):
                    add(totals + code, cells[code])

    cdef void scan_level(
        self, int feature, Cell* totals, bint missing_left, Split* best
    ) noexcept nogil:
        """Do the same as `scan` for all leaves of a level.

        Their cells add up to `totals`, which those of a categorical feature must have.
        """
        cdef double gains[MAX_BINS]
        cdef double gain
        cdef unsigned char order[MAX_BINS]
        cdef int n_bins = self.n_bins[feature], code, k, count, best_position = -1
        cdef bint is_categorical = self.is_categorical[feature]
        cdef Py_ssize_t i
        cdef const Leaf* leaf
        cdef const Cell* cells
        cdef Cell left
        if is_categorical:
            n_bins = self.sort_categories(feature, totals, order)
        memset(gains, 0, sizeof(gains))
        for i in range(self.n_leaves):
            leaf = self.leaves + i
            if not leaf.histogram:
                continue
            cells = leaf.histogram + self.first[feature]
            memset(&left, 0, sizeof(Cell))
            if missing_left:
                left = cells[n_bins]
            gain = self.gain_of(leaf, feature, left)
            for k in range(n_bins):
                code = order[k] if is_categorical else k
                if cells[code].count:
                    add(&left, cells[code])
                    gain = self.gain_of(leaf, feature, left)
                gains[k] += gain
        for k in range(n_bins):
            if gains[k] > best.gain:
                best.gain, best_position = gains[k], k
        if best_position < 0:
            return
        self.add_histograms(feature, totals)
        memset(&best.left, 0, sizeof(Cell))
        count = 0
        for k in range(n_bins):
            code = order[k] if is_categorical else k
            count += totals[code].count
            if k <= best_position:
                add(&best.left, totals[code])
        self.set_split(count, feature, best_position, missing_left, totals, best)
        if is_categorical:
            self.set_categories(feature, best_position, order, best)

    cdef void scan(
        self, const Leaf* leaf, int feature, const Cell* cells, const unsigned char* order,
        int n_bins, Cell left, bint missing_left, Split* best_split,
    ) noexcept nogil:
        """Compare the splits between successive bins with the best split so far.

        The sums `left` are those of the missing values if they belong to the left child, else 0.
        """
        cdef Cell total = leaf.total, right
        cdef int i, code, least_count = self.min_samples_leaf
        cdef int largest_count = total.count - least_count
        cdef bint is_constrained = self.is_constrained
        cdef double l2 = self.l2, min_hessian = self.min_hessian
        cdef double hessian_left, hessian_right, numerator, denominator
        cdef double gradient_left, gradient_right, sum_of_scores
        cdef double best = best_split.gain, almost = ALMOST_ONE * best
        cdef int best_position = -1
        cdef Cell best_left = left
        cdef int constraint = self.monotonic[feature]
        for i in range(n_bins):
            code = order[i] if order else i
            if not cells[code].count:
                continue
            add(&left, cells[code])
            if left.count < least_count:
                continue
            if left.count > largest_count:
                break
            if left.hessian < min_hessian or total.hessian - left.hessian < min_hessian:
                continue
            if is_constrained:
                right = total
                subtract(&right, left)
                if constraint * (self.value_of(left, leaf) - self.value_of(right, leaf)) > 0.0:
                    continue
                sum_of_scores = self.score_of(left, leaf) + self.score_of(right, leaf)
                if sum_of_scores > best:
                    best, best_position, best_left = sum_of_scores, i, left
                continue
            gradient_left = left.gradient
            gradient_right = total.gradient - left.gradient
            hessian_left = left.hessian + l2
            hessian_right = total.hessian - left.hessian + l2
            numerator = (
                gradient_left * gradient_left * hessian_right
                + gradient_right * gradient_right * hessian_left
            )
            denominator = hessian_left * hessian_right
            # Most splits are clearly worse than the best one: no division for them.
            if numerator > almost * denominator and numerator / denominator > best:
                best, best_position, best_left = numerator / denominator, i, left
                almost = ALMOST_ONE * best
        if best_position < 0:
            return
        best_split.gain, best_split.left = best, best_left
        self.set_split(total.count, feature, best_position, missing_left, cells, best_split)
        if order:
            self.set_categories(feature, best_position, order, best_split)

    cdef void scan_outputs(
        self, const Leaf* leaf, int feature, const Cell* cells, int n_bins, const Cell* missing,
        Cell* left, Split* best_split,
    ) noexcept nogil:
        """Do the same as `scan` for several outputs.

        The cell `missing` is that of the missing values if they belong to the left child, or NULL.
        The sums over the left child are written into the cell `left`.
        """
        cdef Cell total = leaf.total, best_left = total
        cdef int* gradients_left = <int*>left
        cdef const int* gradients = <int*>leaf.sums
        cdef int i, k, group, n_groups = self.n_groups, n_outputs = self.n_outputs
        cdef int least_count = self.min_samples_leaf, best_position = -1
        cdef double hessian_left, hessian_right, squares_left, squares_right, difference
        cdef double numerator, denominator, best = best_split.gain, almost = ALMOST_ONE * best
        for group in range(n_groups):
            if missing:
                left[group] = missing[group]
            else:
                memset(left + group, 0, sizeof(Cell))
        for i in range(n_bins):
            if not cells[i * n_groups].count:
                continue
            for group in range(n_groups):
                add(left + group, cells[i * n_groups + group])
            if left.count < least_count:
                continue
            if left.count > total.count - least_count:
                break
            if (
                left.hessian < self.min_hessian
                or total.hessian - left.hessian < self.min_hessian
            ):
                continue
            difference = <double>gradients[0] - gradients_left[0]
            squares_left = <double>gradients_left[0] * gradients_left[0]
            squares_right = difference * difference
            for k in range(SKIPPED + 1, SKIPPED + n_outputs):
                difference = <double>gradients[k] - gradients_left[k]
                squares_left += <double>gradients_left[k] * gradients_left[k]
                squares_right += difference * difference
            hessian_left = left.hessian + self.l2
            hessian_right = total.hessian - left.hessian + self.l2
            numerator = squares_left * hessian_right + squares_right * hessian_left
            denominator = hessian_left * hessian_right
            if numerator > almost * denominator and numerator / denominator > best:
                best, best_position, best_left = numerator / denominator, i, left[0]
                almost = ALMOST_ONE * best
        if best_position >= 0:
            best_split.gain, best_split.left = best, best_left
            self.set_split(
                total.count, feature, best_position, missing != NULL, cells, best_split
            )

    cdef void set_split(
        self, int count, int feature, int threshold, bint missing_left, const Cell* cells,
        Split* split,
    ) noexcept nogil:
        """Set a split whose `gain` and `left` are set, on a feature whose cells are `cells`.

        `count` is the number of samples of the cells.
        """
        split.feature, split.threshold, split.missing_left = feature, threshold, missing_left
        split.categorical = False
        memset(split.left_categories, 0, sizeof(split.left_categories))
        if not (
            self.has_missing[feature] and cells[self.n_bins[feature] * self.n_groups].count
        ):
            # Values that were never missing here are sent to the larger child.
            split.missing_left = 2 * split.left.count > count

    cdef void set_categories(
        self, int feature, int last, const unsigned char* order, Split* split
    ) noexcept nogil:
        """Send the sorted categories up to the last one to the left child."""
        cdef int i
        split.categorical = True
        split.threshold = 0
        for i in range(last + 1):
            split.left_categories[order[i] >> 5] |= <unsigned int>1 << (order[i] & 31)
        if self.has_missing[feature]:
            split.missing_left = contains(split.left_categories, self.n_bins[feature])


cdef void sort_by(double* keys, unsigned char* values, int n) noexcept nogil:
    """Sort a few values by their keys. Equal keys keep their order."""
    cdef int i, k
    cdef double key
    cdef unsigned char value
    for i in range(1, n):
        key, value = keys[i], values[i]
        k = i
        while k > 0 and keys[k - 1] > key:
            keys[k], values[k] = keys[k - 1], values[k - 1]
            k -= 1
        keys[k], values[k] = key, value
