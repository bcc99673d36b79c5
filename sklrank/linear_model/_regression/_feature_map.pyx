# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Feature maps of online linear learners: running standardization, sketches, random features.

A sample x is mapped to features in four steps:

1. If `standardize` is True, the columns are standardized by the statistics of the previous
   samples, (x - mean) / standard deviation, and clipped at +-clip, because standard deviations
   estimated from the first few samples are inaccurate. Gross errors enter the statistics as values
   at a bounded distance (`outliers.pxd`). They are multiplied by `scale`. If few of
   the entries so far are nonzero, so that centering would be slow, columns with few nonzero entries
   are only scaled: they are divided by the root mean square.
2. If there are more columns than slots, they are reduced to a sketch z: the sum of the values of
   the columns of each slot, times their signs. A column gets a slot when it is nonzero in a sample
   for the first time. The first columns get a slot of their own. When all slots are taken, a column
   shares the slot that was drawn for it (count sketch, Charikar, Chen & Farach-Colton 2002). Thus a
   stream of samples with few nonzero columns loses nothing. Without a sketch, z are the values.
3. If `normalize` is True, z is scaled to the norm one.
4. The features are z or, if there are D > 0 random Fourier features, sqrt(2 / D) cos(z'R + b). The
   entries of R are normal and those of b uniform from 0 to 2 pi, so that inner products of the
   random features approximate a Gaussian kernel (Rahimi & Recht 2007).

There is one more feature, the last one, whose value is `intercept`.

With sparse values, all steps take time only for the nonzero ones. Which values are sparse depends
on their number, and not on the matrix that contains them, so that an array and a CSR matrix of the
same samples give the same features to the bit.
"""

from libc.math cimport INFINITY, fabs, sqrt

import numpy as np

from sklrank._compiled.rows cimport select_entries
from sklrank._compiled.state cimport Archive
from sklrank._online.outliers cimport bounded_deviation, is_outlier

from sklrank._compiled import shared_call

cdef enum:
    # Values are sparse if at most the inverse of this share is nonzero. A dense loop computes
    # several entries at a time, so that it takes no longer if more of them are nonzero.
    SPARSITY = 8

cdef double ROUNDING = np.finfo(np.float64).eps


cdef class FeatureMap:
    """Running standardization, sketch and feature map.

    Without random features, `frequencies` is None and `phases` is empty. If `signs` is given, the
    columns are reduced to a sketch. `shared_slots` then contains the slot that each column may
    share, and `n_slots` is the number of slots.
    """

    def __init__(
        self, Py_ssize_t n_features, double clip, double scale=1.0, *, frequencies=None, phases=(),
        bint standardize=True, bint normalize=False, double intercept=1.0, shared_slots=None,
        signs=None, Py_ssize_t n_slots=0,
    ):
        no_columns = np.empty(0, dtype=np.intc)
        cdef Py_ssize_t n = n_features * standardize
        self.n_features = n_features
        self.n_slots = n_features if signs is None else n_slots
        self.phases = np.array(phases, dtype=np.float64)
        self.frequencies = np.empty((self.n_slots, 0)) if frequencies is None else frequencies
        self.clip, self.scale, self.intercept = clip, scale, intercept
        self.standardize, self.normalize = standardize, normalize
        self.mean, self.m2, self.inverse_scale = np.zeros((3, n))
        self.centered = no_columns
        self.n_nonzero_of = np.zeros(n)
        self.shared_slots = no_columns if signs is None else shared_slots
        self.signs = no_columns if signs is None else signs
        self.slots = no_columns if signs is None else np.full(n_features, -1, dtype=np.intc)
        self.start()

    cdef int exchange(self, Archive archive) except -1:
        cdef FeatureMap saved = archive.source
        cdef Py_ssize_t n = archive.count("n_features", saved.n_features, 1)
        self.n_features = n
        self.n_slots = archive.count("n_slots", saved.n_slots, 0, n)
        self.n_taken = archive.count("n_taken", saved.n_taken, 0, self.n_slots)
        cdef Py_ssize_t n_signs = n if self.n_slots < n else 0
        self.signs = archive.integers("signs", saved.signs, (n_signs,), -1, 1)
        self.slots = archive.integers("slots", saved.slots, (n_signs,), -1, self.n_slots - 1)
        self.shared_slots = archive.integers(
            "shared_slots", saved.shared_slots, (n_signs,), 0, self.n_slots - 1
        )
        self.phases = archive.constants("phases", saved.phases, (-1,))
        shape = self.n_slots, self.phases.shape[0]
        self.frequencies = archive.constants("frequencies", saved.frequencies, shape)
        self.is_rbf = self.phases.shape[0] > 0
        self.clip = archive.number("clip", saved.clip, 0.0)
        self.scale = archive.number("scale", saved.scale, 0.0)
        self.intercept = archive.number("intercept", saved.intercept, 0.0)
        self.count = archive.number("count", saved.count, 0.0)
        self.standardize = archive.flag("standardize", saved.standardize)
        self.normalize = archive.flag("normalize", saved.normalize)
        self.centers = archive.flag("centers", saved.centers)
        archive.require(self.standardize or not self.centers, "columns are centered, not scaled")
        self.n_nonzero = archive.count("n_nonzero", saved.n_nonzero)
        n *= self.standardize
        cdef int[::1] centered = saved.centered[:saved.n_centered]
        self.centered = archive.integers("centered", centered, (-1,), 0, self.n_features - 1)
        self.n_nonzero_of = archive.floats("n_nonzero_of", saved.n_nonzero_of, (n,))
        self.n_centered = self.centered.shape[0]
        if archive.loads:
            archive.require(np.all(np.diff(self.centered) > 0), "centered columns do not increase")
            archive.require(n > 0 or self.n_centered == 0, "columns are centered, not scaled")
            self.is_centered = np.zeros(n, dtype=np.int8)
            np.asarray(self.is_centered)[self.centered] = True
            centered, self.centered = self.centered, np.empty(n, dtype=np.intc)
            self.centered[:self.n_centered] = centered
        self.mean = archive.floats("mean", saved.mean, (n,))
        self.m2 = archive.floats("m2", saved.m2, (n,))
        self.inverse_scale = archive.floats("inverse_scale", saved.inverse_scale, (n,))
        self.n_outputs = 1 + (self.phases.shape[0] if self.is_rbf else self.n_slots)
        return 0

    cdef Py_ssize_t memory_size(self, const Row* x, Py_ssize_t* n_indices) noexcept nogil:
        cdef Py_ssize_t n_slots = self.n_slots if self.n_slots < self.n_features else 0
        n_indices[0] = self.n_features + 1
        if x != NULL and not self.is_dense(x):
            n_indices[0] = min(self.n_features, x.n + self.n_centered) + 1
        return (self.n_outputs if self.is_rbf else 0) + n_indices[0] + n_slots + 1

    cdef bint is_dense(self, const Row* x) noexcept nogil:
        return self.centers if self.standardize else SPARSITY * count_nonzero(x) > self.n_features

    cdef void read_values(self, const Row* x, double* values) noexcept nogil:
        cdef Py_ssize_t i, j
        if x.columns == NULL:
            for j in range(self.n_features):
                values[j] = bounded(x.values[j])
            return
        for j in range(self.n_features):
            values[j] = 0.0
        for i in range(x.n):
            values[x.columns[i]] = bounded(x.values[i])

    cdef void transform(
        self, const Row* x, Row* features, double* memory, int* indices
    ) noexcept nogil:
        cdef double* z = memory + (self.n_outputs if self.is_rbf else 0)
        cdef bint is_dense = self.is_dense(x)
        cdef double* slots = z + 1 + (
            self.n_features if is_dense else min(self.n_features, x.n + self.n_centered)
        )
        features.constant, features.n_features = 0.0, self.n_slots
        features.columns, features.n = NULL if is_dense else indices, self.n_slots
        if is_dense:
            self.transform_dense(x, z, slots)
            z = slots if self.n_slots < self.n_features else z
        else:
            features.n = self.transform_sparse(x, z, indices, slots)
        features.values = z
        if self.normalize:
            scale_to_unit_norm(z, features.n)
        if self.is_rbf:
            random_features_of_row(
                features, &self.frequencies[0, 0], &self.phases[0], self.phases.shape[0], memory
            )
            features.values, features.columns, features.n = memory, NULL, self.phases.shape[0]
        if features.columns != NULL:
            indices[features.n] = <int>(self.n_outputs - 1)
        (<double*>features.values)[features.n] = self.intercept
        features.n, features.n_features = features.n + 1, self.n_outputs

    cdef void transform_dense(self, const Row* x, double* values, double* slots) noexcept nogil:
        cdef const double* mean = &self.mean[0] if self.standardize else NULL
        cdef const double* inverse_scale = &self.inverse_scale[0] if self.standardize else NULL
        cdef double value, clip = self.clip, scale = self.scale
        cdef Py_ssize_t j
        self.read_values(x, values)
        if self.standardize:
            for j in range(self.n_features):
                value = (values[j] - mean[j]) * inverse_scale[j]
                values[j] = scale * min(max(value, -clip), clip)
        if self.n_slots < self.n_features:
            for j in range(self.n_slots):
                slots[j] = 0.0
            for j in range(self.n_features):
                if self.slots[j] >= 0:
                    slots[self.slots[j]] += self.signs[j] * values[j]

    cdef Py_ssize_t transform_sparse(
        self, const Row* x, double* values, int* indices, double* slots
    ) noexcept nogil:
        cdef Py_ssize_t i, slot, n_slots = 0
        cdef Py_ssize_t n = select_entries(x, NULL, self.n_features, values, indices)
        n = self.insert_zeros(values, indices, n)
        for i in range(n):
            values[i] = bounded(values[i])
            if self.standardize:
                values[i] = self.standardized(indices[i], values[i])
        if self.n_slots == self.n_features:
            return n
        for i in range(self.n_slots):
            slots[i] = 0.0
        for i in range(n):
            slot = self.slots[indices[i]]
            if slot >= 0:
                slots[slot] += self.signs[indices[i]] * values[i]
        for i in range(n):
            slot = self.slots[indices[i]]
            if slot >= 0 and slots[slot] != 0.0:
                values[n_slots], indices[n_slots], slots[slot] = slots[slot], <int>slot, 0.0
                n_slots += 1
        return n_slots

    cdef Py_ssize_t insert_zeros(self, double* values, int* indices, Py_ssize_t n) noexcept nogil:
        cdef Py_ssize_t i = 0, c, last
        last = n + self.n_centered
        for c in range(self.n_centered):
            while i < n and indices[i] < self.centered[c]:
                i += 1
            last -= i < n and indices[i] == self.centered[c]
        i, c, n = n - 1, self.n_centered - 1, last
        while c >= 0:
            last -= 1
            if i >= 0 and indices[i] >= self.centered[c]:
                c -= indices[i] == self.centered[c]
                values[last], indices[last] = values[i], indices[i]
                i -= 1
            else:
                values[last], indices[last] = 0.0, self.centered[c]
                c -= 1
        return n

    cdef double standardized(self, Py_ssize_t column, double value) noexcept nogil:
        cdef double square
        if self.is_centered[column]:
            value = (value - self.mean[column]) * self.inverse_scale[column]
        else:
            square = self.m2[column] / max(self.count, 1.0)
            value = value / sqrt(square) if 1e-300 < square < INFINITY else 0.0
        return self.scale * min(max(value, -self.clip), self.clip)

    cdef void assign_slot(self, Py_ssize_t column) noexcept nogil:
        if self.slots[column] >= 0:
            return
        if self.n_taken < self.n_slots:
            self.slots[column] = <int>self.n_taken
            self.n_taken += 1
        else:
            self.slots[column] = self.shared_slots[column]

    cdef void update(self, const Row* x, double* memory, int* indices) noexcept nogil:
        cdef Py_ssize_t n
        self.count += 1.0
        if self.standardize:
            self.n_nonzero += count_nonzero(x)
            self.choose_centering(self.count - 1.0)
        if self.centers:
            self.read_values(x, memory)
            self.update_dense(memory)
        elif self.standardize or self.n_slots < self.n_features:
            n = select_entries(x, NULL, self.n_features, memory, indices)
            self.update_sparse(memory, indices, self.insert_zeros(memory, indices, n))

    cdef void update_dense(self, double* values) noexcept nogil:
        cdef bint has_outliers = False
        cdef double* mean = &self.mean[0]
        cdef double* m2 = &self.m2[0]
        cdef double* inverse_scale = &self.inverse_scale[0]
        cdef double deviation, variance, share = 1.0 / self.count
        cdef Py_ssize_t j
        if self.n_slots < self.n_features:
            for j in range(self.n_features):
                if values[j] != 0.0:
                    self.assign_slot(j)
        # A loop of its own, which the compiler vectorizes, since there are nearly never outliers.
        for j in range(self.n_features):
            has_outliers |= is_outlier(values[j] - mean[j], m2[j], self.count - 1.0)
        for j in range(self.n_features if has_outliers else 0):
            values[j] = mean[j] + bounded_deviation(values[j] - mean[j], m2[j], self.count - 1.0)
        for j in range(self.n_features):
            deviation = values[j] - mean[j]
            mean[j] += deviation * share
            m2[j] += deviation * (values[j] - mean[j])
            variance = m2[j] * share
            inverse_scale[j] = 1.0 / sqrt(variance) if variance > 1e-300 else 0.0

    cdef void update_sparse(
        self, const double* values, const int* indices, Py_ssize_t n
    ) noexcept nogil:
        cdef bint has_sketch = self.n_slots < self.n_features, revised = False
        cdef double value, deviation
        cdef Py_ssize_t i, j
        for i in range(n):
            j, value = indices[i], bounded(values[i])
            if has_sketch and value != 0.0:
                self.assign_slot(j)
            if not self.standardize:
                continue
            if not self.is_centered[j]:
                value = bounded_deviation(value, self.m2[j], self.n_nonzero_of[j])
            elif is_outlier(value - self.mean[j], self.m2[j], self.count - 1.0):
                deviation = value - self.mean[j]
                value = self.mean[j] + bounded_deviation(
                    deviation, self.m2[j], self.count - 1.0
                )
            self.n_nonzero_of[j] += 1.0 if values[i] != 0.0 else 0.0
            if not self.is_centered[j]:
                self.mean[j] += value
                self.m2[j] += value * value
                if SPARSITY * self.n_nonzero_of[j] > self.count:
                    self.center(j, self.count)
                    revised = True
                continue
            deviation = value - self.mean[j]
            self.mean[j] += deviation / self.count
            self.m2[j] += deviation * (value - self.mean[j])
            self.set_scale(j)
            # With half the share, so that few decisions are revised.
            if 2 * SPARSITY * self.n_nonzero_of[j] < self.count:
                self.uncenter(j, self.count)
                revised = True
        if revised:
            self.n_centered = 0
            for i in range(n):
                if self.is_centered[indices[i]]:
                    self.centered[self.n_centered] = indices[i]
                    self.n_centered += 1

    cdef void set_scale(self, Py_ssize_t column) noexcept nogil:
        cdef double variance = self.m2[column] / self.count
        self.inverse_scale[column] = 1.0 / sqrt(variance) if variance > 1e-300 else 0.0

    cdef void center(self, Py_ssize_t column, double n) noexcept nogil:
        cdef double total = self.m2[column]
        self.is_centered[column] = True
        self.mean[column] /= max(n, 1.0)
        self.m2[column] -= n * self.mean[column] * self.mean[column]
        if not self.m2[column] > n * ROUNDING * total:  # constant, apart from rounding errors
            self.m2[column] = 0.0
        self.set_scale(column)

    cdef void uncenter(self, Py_ssize_t column, double n) noexcept nogil:
        self.is_centered[column] = False
        self.m2[column] += n * self.mean[column] * self.mean[column]
        self.mean[column] *= n

    cdef void choose_centering(self, double n) noexcept nogil:
        cdef double size = self.count * self.n_features
        cdef Py_ssize_t j
        if self.centers and 2 * SPARSITY * <double>self.n_nonzero < size:
            self.centers = False
            # The entries of single columns were not counted. Columns that are rare from now on are
            # soon centered no more.
            self.n_centered = self.n_features
            for j in range(self.n_features):
                self.centered[j], self.is_centered[j] = <int>j, True
                self.n_nonzero_of[j] = n / SPARSITY
        elif not self.centers and SPARSITY * <double>self.n_nonzero > size:
            self.centers = True
            for j in range(self.n_features):
                if not self.is_centered[j]:
                    self.center(j, n)
            self.n_centered = 0

    _merge_rules = {"count": "total"}

    @staticmethod
    def _merge_entries(merging):
        """Return the statistics of all samples, and the slots."""
        states, first = merging.states, merging.states[0]
        changed = {name: merging.total(name) for name in ("n_nonzero", "n_nonzero_of")}
        changed["slots"], changed["n_taken"], _ = merge_slots(states)
        n = merging.total("count")
        mean, m2 = merging.pooled(statistics)
        # A column whose share of nonzero entries is between the bounds remains as it is.
        n_nonzero, centers = SPARSITY * changed["n_nonzero_of"], first["centers"]
        is_centered = np.isin(np.arange(len(mean)), first["centered"]) & (2 * n_nonzero >= n)
        is_centered |= n_nonzero > n
        changed["centered"] = np.flatnonzero(is_centered & ~centers).astype(np.intc)
        is_centered |= centers
        variance = m2 / max(n, 1.0)
        return changed | {
            "centers": centers,
            "mean": np.where(is_centered, mean, n * mean),
            "m2": np.where(is_centered, m2, m2 + n * mean**2),
            "inverse_scale": np.where(variance > 1e-300, variance, np.inf) ** -0.5,
        }

    def _maps_to_merged(self, states):
        """Return, for the learner of each state, its features in the merged learner, as indices."""
        maps = merge_slots([state["feature_map"].__getstate__() for state in states])[2]
        if not self.is_rbf:
            return maps
        if any(np.any(index != maps[0]) for index in maps):
            raise ValueError(
                "the sketches of the models, on which their random features depend, have other "
                "slots: start the models as copies of one that has learned all features"
            )
        return [np.arange(self.n_outputs)] * len(maps)

    @shared_call
    def column_weights(self, weights):
        """Return the weights `(n_features, n_classes)` of standardized columns, given those of z.

        If samples are scaled to the norm one, these are the weights of the scaled columns.
        """
        self.require_ready()
        factor = self.scale if self.standardize and not self.normalize else 1.0
        if self.n_slots == self.n_features:
            return factor * weights
        slots = np.asarray(self.slots)
        signs = np.where(slots >= 0, self.signs, 0.0)
        return factor * signs[:, np.newaxis] * weights[slots]

    @shared_call
    def standardization(self):
        """Return the means and standard deviations (0 if constant) of the columns, as copies.

        The means of columns that are not centered are 0, and their deviations are those from 0.
        """
        self.require_ready()
        if not self.standardize:
            return np.zeros((2, self.n_features))
        centered = np.asarray(self.is_centered) > 0 if not self.centers else True
        deviations = np.sqrt(np.asarray(self.m2) / max(self.count, 1.0))
        constant = centered & (np.asarray(self.inverse_scale) == 0.0)
        return np.where(centered, self.mean, 0.0), np.where(constant, 0.0, deviations)


def statistics(state):
    """Return the number of samples, the means and the sums of squared deviations of columns."""
    n, mean = state["count"], state["mean"]
    is_sum = ~np.isin(np.arange(len(mean)), state["centered"]) & ~state["centers"]
    mean = np.where(is_sum, mean / max(n, 1.0), mean)
    return n, mean, state["m2"] - np.where(is_sum, n * mean**2, 0.0)


def merge_slots(states):
    """Return the slots of columns, the number of those taken, and an index array for each model.

    It has the slot of the result for each slot of the model, and for the intercept.
    """
    first = states[0]
    n_slots, slots, n_taken = first["n_slots"], np.array(first["slots"]), first["n_taken"]
    shared, maps = first["shared_slots"], []
    for state in states:
        index = np.arange(n_slots + 1)
        # A column that has the slot for itself comes last, and so decides.
        is_own = state["slots"] != shared
        for column in sorted(np.flatnonzero(state["slots"] >= 0), key=is_own.__getitem__):
            if slots[column] < 0:
                slots[column] = n_taken if n_taken < n_slots else shared[column]
                n_taken = min(n_taken + 1, n_slots)
            index[state["slots"][column]] = slots[column]
        maps.append(index)
    return slots, n_taken, maps


cdef Py_ssize_t count_nonzero(const Row* x) noexcept nogil:
    cdef Py_ssize_t i, total = 0
    for i in range(x.n):
        total += x.values[i] != 0.0
    return total


cdef void scale_to_unit_norm(double* z, Py_ssize_t n) noexcept nogil:
    # If z (n,) is 0, it remains 0. Divide by the largest absolute value first, so that the squares
    # do not overflow.
    cdef double largest = 0.0, squares = 0.0, factor
    cdef Py_ssize_t j
    for j in range(n):
        largest = max(largest, fabs(z[j]))
    if largest == 0.0:
        return
    for j in range(n):
        z[j] /= largest
        squares += z[j] * z[j]
    factor = 1.0 / sqrt(squares)
    for j in range(n):
        z[j] *= factor


cdef inline double bounded(double value) noexcept nogil:
    # Return the value, limited so that differences of values cannot overflow. The squares of the
    # differences can overflow; the column is then treated as constant.
    return min(max(value, -1e300), 1e300)


cdef void random_features(
    const double* z, const double* frequencies, const double* phases, Py_ssize_t n_columns,
    Py_ssize_t n_components, double* features,
) noexcept nogil:
    cdef Row row
    row.n, row.columns, row.values = n_columns, NULL, z
    random_features_of_row(&row, frequencies, phases, n_components, features)


cdef void random_features_of_row(
    const Row* z, const double* frequencies, const double* phases, Py_ssize_t n_components,
    double* features,
) noexcept nogil:
    cdef Py_ssize_t q
    for q in range(n_components):
        features[q] = phases[q]
    add_rows(z, frequencies, n_components, features)
    cosines(features, n_components)


# Maximal angle of a cosine, in turns. For larger angles, the cosine would consist only of rounding
# errors, and the number of turns would not fit into an int.
cdef double MAX_TURNS = 1e9


cdef void cosines(double* angles, Py_ssize_t n) noexcept nogil:
    # Replace angles by their cosines. The error is 1e-15 plus the effect of rounding the angles.
    # The compiler vectorizes this loop. It cannot vectorize calls of libm's cos, which took five
    # times as long.
    cdef double turns, u, square, series
    cdef Py_ssize_t q
    for q in range(n):
        turns = min(MAX_TURNS, max(-MAX_TURNS, angles[q] * 0.15915494309189535))
        # The cosine of t turns depends only on the fractional part of t. For this part, it is
        # sin(2 pi u) with u = | |t| - 1/2 | - 1/4. Because u is in [-1/4, 1/4], a short series is
        # sufficient.
        u = fabs(fabs(turns - <int>turns) - 0.5) - 0.25
        square = u * u
        series = 3.817365633469135 - 0.6925067010720717 * square
        series = -15.09450614073429 + series * square
        series = 42.05868995395094 + series * square
        series = -76.70585968962867 + series * square
        series = 81.60524927557977 + series * square
        series = -41.341702240398284 + series * square
        angles[q] = u * (6.283185307179585 + series * square)
