# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""What each threshold would gain, if all cells of a level were split by it; and the way to a leaf.

The candidates of one feature are *steps*: with each of them, in the order of its thresholds, some
rows pass from the right of the threshold to its left. A cell c that holds n rows of target sum T,
n_l rows of sum L on the left and n_r on the right, lowers the squared error by

    gain_c = |n L - n_l T|^2 / (n n_l n_r),

and a step gains the sum over the cells that it may split: those with rows enough on either side.
Only cells that a step's rows belong to change their gain, so that a feature costs one visit a row
at most, however many its thresholds and the cells. Of a feature with two values the caller lists
the rarer one's rows alone: which side is called left does not matter.

Each row brings its *payload*: its targets, then the counts of rows that a side must have enough of.
Rows that only fill leaves have targets of zero, and a count of their own.
"""

from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset


cdef inline double gain_of(
    const double* left,
    const double* total,
    Py_ssize_t n_outputs,
    Py_ssize_t width,
    double least,
) noexcept nogil:
    cdef double n, n_left, deviation, squares = 0.0
    cdef Py_ssize_t k
    for k in range(n_outputs, width):
        if left[k] < least or total[k] - left[k] < least:
            return 0.0
    n = total[n_outputs]
    n_left = left[n_outputs]
    for k in range(n_outputs):
        deviation = n * left[k] - n_left * total[k]
        squares += deviation * deviation
    return squares / (n * n_left * (n - n_left))


def sweep_steps(
    const Py_ssize_t[::1] features,
    const Py_ssize_t[::1] first_step,
    const Py_ssize_t[::1] starts,
    Py_ssize_t[::1] stops,
    int[::1] rows,
    const int[::1] cells,
    const double[:, ::1] payload,
    const double[:, ::1] totals,
    Py_ssize_t n_outputs,
    double least,
    double[::1] gains,
):
    """Write the gains of all steps of `features`; forget the rows without a cell (-1)."""
    cdef Py_ssize_t n_cells = totals.shape[0], width = totals.shape[1]
    cdef Py_ssize_t i, k, p, step, kept, touched
    cdef int row, cell
    cdef double gain, total
    cdef double* left
    cdef const double* brought
    if n_cells == 0 or cells.shape[0] == 0:
        return
    cdef double* lefts = <double*>malloc(n_cells * width * sizeof(double))
    cdef double* parts = <double*>malloc(n_cells * sizeof(double))
    cdef Py_ssize_t* seen = <Py_ssize_t*>calloc(n_cells, sizeof(Py_ssize_t))
    # There is room for one more, since the cell of a row is noted before it is known to be new.
    cdef int* changed = <int*>malloc((n_cells + 1) * sizeof(int))
    try:
        if lefts == NULL or parts == NULL or seen == NULL or changed == NULL:
            raise MemoryError
        with nogil:
            for i in range(features.shape[0]):
                memset(lefts, 0, n_cells * width * sizeof(double))
                memset(parts, 0, n_cells * sizeof(double))
                total = 0.0
                for step in range(first_step[features[i]], first_step[features[i] + 1]):
                    kept = starts[step]
                    touched = 0
                    for p in range(starts[step], stops[step]):
                        row = rows[p]
                        cell = cells[row]
                        if cell < 0:
                            continue
                        rows[kept] = row
                        kept += 1
                        left = lefts + cell * width
                        brought = &payload[row, 0]
                        for k in range(width):
                            left[k] += brought[k]
                        changed[touched] = cell
                        touched += seen[cell] != step + 1
                        seen[cell] = step + 1
                    stops[step] = kept
                    for p in range(touched):
                        cell = changed[p]
                        gain = gain_of(
                            lefts + cell * width, &totals[cell, 0], n_outputs, width, least
                        )
                        total += gain - parts[cell]
                        parts[cell] = gain
                    gains[step] = total
    finally:
        free(lefts)
        free(parts)
        free(seen)
        free(changed)


def find_leaves(
    const double[:, :] X,
    const Py_ssize_t[::1] features,
    const double[::1] thresholds,
    const int[::1] levels,
    const int[:, ::1] children,
    int root,
    Py_ssize_t[::1] leaves,
):
    """Write the leaf of each row; a node is a number >= 0, the leaf l is the number -1 - l."""
    cdef Py_ssize_t i
    cdef int node
    with nogil:
        for i in range(X.shape[0]):
            node = root
            while node >= 0:
                node = children[
                    node, X[i, features[levels[node]]] > thresholds[levels[node]]
                ]
            leaves[i] = -1 - node
