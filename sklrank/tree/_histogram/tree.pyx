# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Trees that were grown from histograms (`grower.pyx`): their predictions and their state."""

cimport cython

from sklrank._compiled.state cimport Archive
from sklrank.tree._histogram.bin_codes cimport MAX_BINS, WIDTH, WORDS, check_codes, contains

import numpy as np

FLOAT = np.dtype(np.float64)
INTC = np.dtype(np.intc)
UINT32 = np.dtype(np.uint32)


@cython.final
cdef class Tree(Persistent):
    """A tree that predicts a value for each sample.

    Parameters
    ----------
    n_features : int
        Number of features.
    nodes : dict of ndarray
        Arrays that describe the nodes, `(n_nodes,)` each. Node 0 is the root.

        - `feature`: index of the feature on which a node splits; intc.
        - `threshold`: values of the feature up to this number belong to the left child; float64. It
          is not used for categorical features.
        - `threshold_code`: the same in terms of the codes of the training samples; intc.
        - `categorical`: 1 if the feature is categorical, else 0; intc.
        - `left_categories`: the categories that belong to the left child, `(n_nodes, 8)` of uint32.
          Bit b of word w is that of the category 32 w + b.
        - `missing_left`: 1 if missing values belong to the left child, else 0; intc.
        - `left`: index of the left child, which is larger than that of the node itself, or 0 for a
          leaf; intc. The right child is the next node.
        - `value`: prediction of a leaf; float64. Those of the other nodes are not used.
          Trees of several outputs predict 0 here; the values are returned by `Grower.grow`.
        - `gain`: the decrease of the loss by a split, times 2; 0 for a leaf; float64.
        - `count`: number of training samples; intc.
    """

    def __init__(self, Py_ssize_t n_features, dict nodes):
        self.start({**nodes, "n_features": n_features})

    cdef int exchange(self, Archive archive) except -1:
        cdef Tree saved = archive.source
        cdef Py_ssize_t n_features = archive.count("n_features", saved.n_features, 1), n_nodes
        cdef dict nodes = {} if archive.loads else saved.arrays
        left = archive.array("left", nodes.get("left"), (-1,), INTC)
        n_nodes = len(left)
        archive.require(n_nodes > 0, "there is no node")
        archive.require(
            bool(np.all((left == 0) | ((left > np.arange(n_nodes)) & (left < n_nodes - 1)))),
            "left are not the children of a tree",
        )
        entries = {"left": left}
        for name, high in [
            ("feature", n_features - 1),
            ("threshold_code", MAX_BINS),
            ("categorical", 1),
            ("missing_left", 1),
            ("count", np.iinfo(np.intc).max),
        ]:
            entries[name] = archive.array(name, nodes.get(name), (n_nodes,), INTC, 0, high)
        for name in ("threshold", "value", "gain"):
            entries[name] = archive.array(name, nodes.get(name), (n_nodes,), FLOAT)
        name = "left_categories"
        entries[name] = archive.array(name, nodes.get(name), (n_nodes, WORDS), UINT32)
        if archive.loads:
            self.assign(n_features, entries)
        return 0

    cdef int assign(self, Py_ssize_t n_features, dict nodes) except -1:
        self.n_features, self.n_nodes, self.arrays = n_features, len(nodes["left"]), nodes
        self.feature, self.threshold_code = nodes["feature"], nodes["threshold_code"]
        self.categorical, self.left_categories = nodes["categorical"], nodes["left_categories"]
        self.missing_left, self.left = nodes["missing_left"], nodes["left"]
        self.value = nodes["value"]
        return 0

    def nodes(self):
        """Return the arrays that describe the nodes."""
        self.require_ready()
        return {name: array.copy() for name, array in self.arrays.items()}

    def predict_codes(self, const unsigned char[:, :, ::1] codes, const int[::1] n_bins):
        """Return the value of each sample, given codes and `n_bins` as in :class:`Grower`."""
        cdef Py_ssize_t i
        cdef int node, code, feature
        cdef bint is_left
        self.require_ready()
        check_codes(codes, n_bins)
        if n_bins.shape[0] != self.n_features:
            raise ValueError(f"n_bins has {n_bins.shape[0]} entries, not {self.n_features}")
        predicted = np.empty(codes.shape[1])
        cdef double[::1] out = predicted
        self.begin_shared()
        try:
            with nogil:
                for i in range(codes.shape[1]):
                    node = 0
                    while self.left[node]:
                        feature = self.feature[node]
                        code = codes[feature // WIDTH, i, feature % WIDTH]
                        if code == n_bins[feature]:
                            is_left = self.missing_left[node]
                        elif self.categorical[node]:
                            is_left = contains(&self.left_categories[node, 0], code)
                        else:
                            is_left = code <= self.threshold_code[node]
                        node = self.left[node] + (not is_left)
                    out[i] = self.value[node]
        finally:
            self.end_shared()
        return predicted
