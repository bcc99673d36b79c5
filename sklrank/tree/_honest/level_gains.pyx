# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Gains of candidate splits of a level of a tree.

A *level* of a tree splits all cells by the same threshold (:func:`split_gains`). If the threshold
of a feature increases from one candidate to the next, some samples pass from the right side of the
split to the left side. Let n be the weight of the samples in a cell c, and let T be the weighted
sum of their targets. Let n_l and n_r be the weights of the left and of the right side, and let L be
the weighted sum of the left side. Then the split of this cell reduces the squared error by

    gain_c = |n L - n_l T|^2 / (n n_l n_r).

The gain of a candidate is the sum of gain_c over the cells that have enough samples on both sides.
From one candidate to the next, the gain changes only in the cells of the samples that pass to the
other side. Each sample is therefore visited at most once for each feature, for any numbers of
thresholds and cells. For a feature with two values, the caller lists only the samples that have the
less frequent value; this suffices because the gain is symmetric in left and right.

Each sample has a row in `payload`: its weight (column 0 of the first `n_header`), one or two
counts from column `first_count` on, and its targets times its weight. Each side of a split must
have at least `min_count` of each count. The first count is 1 for the samples that choose the
splits; without weights, it is the weight. The samples of the other half of an honest tree have
targets and weights of 0, and their own count is 1.

The sums of these rows over the samples of each cell are the first entries of `totals`. Targets that
indicate classes are not in `payload`, because the terms of |n L - n_l T|^2 are 0 for all classes
that a cell does not have. Instead, the weights of the classes of cell c are the entries from
`begins[c]` to `begins[c + 1]` of `totals`, and `slots` has the index of the entry to which each
sample belongs. The time does not depend on the number of classes.
"""

from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset


cdef inline double cell_gain(
    const double* left, const double* total,
    Py_ssize_t n_header, Py_ssize_t first_count, double min_count,
    const double* left_targets, const double* total_targets, Py_ssize_t n_targets,
) noexcept nogil:
    cdef double n, n_left, deviation, squares = 0.0
    cdef Py_ssize_t k
    for k in range(first_count, n_header):
        if left[k] < min_count or total[k] - left[k] < min_count:
            return 0.0
    n = total[0]
    n_left = left[0]
    # The weight of a side is 0 by rounding if that of the other side is much larger.
    if not (n_left > 0.0 and n - n_left > 0.0):
        return 0.0
    for k in range(n_targets):
        deviation = n * left_targets[k] - n_left * total_targets[k]
        squares += deviation * deviation
    return squares / (n * n_left * (n - n_left))


def split_gains(
    const Py_ssize_t[::1] features, const Py_ssize_t[::1] first,
    const Py_ssize_t[::1] starts, Py_ssize_t[::1] stops, int[::1] samples,
    const int[::1] cells, const double[:, ::1] payload, Py_ssize_t n_cells,
    const double[::1] totals, const Py_ssize_t[::1] begins, const Py_ssize_t[::1] slots,
    Py_ssize_t n_header, Py_ssize_t first_count, double min_count, double[::1] gains,
):
    """Write the gains of all candidate splits of the features `features` into `gains`.

    If there are no classes, `begins` and `slots` are None.

    Samples in closed cells, which have the index -1, are removed from `samples`, and the entries of
    `stops` are decreased accordingly.
    """
    cdef Py_ssize_t n_sums = totals.shape[0], width = payload.shape[1]
    cdef Py_ssize_t i, k, p, s, n_kept, n_changed, begin, n_targets = width - n_header
    cdef bint has_classes = slots is not None
    cdef int sample, cell
    cdef double gain, total
    cdef double* left
    cdef const double* values
    if n_cells == 0 or cells.shape[0] == 0:
        return
    cdef double* lefts = <double*>malloc(n_sums * sizeof(double))
    cdef double* cell_gains = <double*>malloc(n_cells * sizeof(double))
    cdef Py_ssize_t* seen = <Py_ssize_t*>calloc(n_cells, sizeof(Py_ssize_t))
    # The array has one more entry than there are cells, because a cell is written to it before the
    # code checks whether the cell is already in it.
    cdef int* changed = <int*>malloc((n_cells + 1) * sizeof(int))
    try:
        if lefts == NULL or cell_gains == NULL or seen == NULL or changed == NULL:
            raise MemoryError
        with nogil:
            for i in range(features.shape[0]):
                memset(lefts, 0, n_sums * sizeof(double))
                memset(cell_gains, 0, n_cells * sizeof(double))
                total = 0.0
                for s in range(first[features[i]], first[features[i] + 1]):
                    n_kept = starts[s]
                    n_changed = 0
                    for p in range(starts[s], stops[s]):
                        sample = samples[p]
                        cell = cells[sample]
                        if cell < 0:
                            continue
                        samples[n_kept] = sample
                        n_kept += 1
                        left = lefts + cell * width
                        values = &payload[sample, 0]
                        for k in range(width):
                            left[k] += values[k]
                        if has_classes:
                            lefts[slots[sample]] += values[0]
                        changed[n_changed] = cell
                        n_changed += seen[cell] != s + 1
                        seen[cell] = s + 1
                    stops[s] = n_kept
                    for p in range(n_changed):
                        cell = changed[p]
                        begin = cell * width + n_header
                        if has_classes:
                            begin = begins[cell]
                            n_targets = begins[cell + 1] - begin
                        gain = cell_gain(
                            lefts + cell * width, &totals[cell * width],
                            n_header, first_count, min_count,
                            lefts + begin, &totals[begin], n_targets,
                        )
                        total += gain - cell_gains[cell]
                        cell_gains[cell] = gain
                    gains[s] = total
    finally:
        free(lefts)
        free(cell_gains)
        free(seen)
        free(changed)
