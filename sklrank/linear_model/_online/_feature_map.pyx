# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Feature maps of online linear learners: running standardization, sketches, random features.

A sample x is mapped to features in four steps:

1. If `standardize` is True, the columns in use are standardized by the statistics of the previous
   samples, (x - mean) / standard deviation, and clipped at +-clip, because standard deviations
   estimated from the first few samples are inaccurate. They are multiplied by `scale`. If few of
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

After `warm_up` samples, the statistics and the slots no longer change. From then on, the features
of a sample do not depend on other samples.

With sparse values, all steps take time only for the nonzero ones. Which values are sparse depends
on their number, and not on the matrix that contains them, so that an array and a CSR matrix of the
same samples give the same features to the bit.
"""

from libc.math cimport INFINITY, fabs, sqrt

import numpy as np

from sklrank._rows cimport find_column, select_entries
from sklrank._state cimport Archive

cdef enum:
    # Values are sparse if at most the inverse of this share is nonzero. A dense loop computes
    # several entries at a time, so that it takes no longer if more of them are nonzero.
    SPARSITY = 8

cdef double ROUNDING = np.finfo(np.float64).eps


cdef class FeatureMap:
    """Running standardization, sketch and feature map.

    Without random features, `frequencies` has no columns and `phases` is empty. If `signs` is
    given, the columns are reduced to a sketch. `slots` then contains the slot that each column may
    share, and `n_slots` is the number of slots.
    """

    def __init__(
        self,
        Py_ssize_t n_features,
        columns,
        frequencies,
        phases,
        double clip,
        double scale=1.0,
        *,
        bint standardize=True,
        bint normalize=False,
        double intercept=1.0,
        shared_slots=None,
        signs=None,
        Py_ssize_t n_slots=0,
        warm_up=None,
    ):
        no_columns = np.empty(0, dtype=np.intc)
        self.n_features, self.n_columns = n_features, len(columns)
        self.columns = columns if len(columns) < n_features else np.empty(0, dtype=np.intp)
        self.frequencies, self.phases = frequencies, phases
        self.clip, self.scale, self.intercept = clip, scale, intercept
        self.warm_up = INFINITY if warm_up is None else warm_up
        self.standardize, self.normalize = standardize, normalize
        self.mean, self.m2, self.inverse_scale = np.zeros((3, len(columns) * standardize))
        self.centered = no_columns
        self.n_nonzero_of = np.zeros(len(columns) * standardize)
        self.n_slots = len(columns) if signs is None else n_slots
        self.shared_slots = no_columns if signs is None else shared_slots
        self.signs = no_columns if signs is None else signs
        self.slots = no_columns if signs is None else np.full(len(columns), -1, dtype=np.intc)
        self.start()

    cdef int exchange(self, Archive archive) except -1:
        cdef FeatureMap saved = archive.source
        self.n_features = archive.count("n_features", saved.n_features, 1)
        cdef Py_ssize_t n = archive.count("n_columns", saved.n_columns, 1, self.n_features)
        self.n_columns = n
        self.columns = archive.integers(
            "columns", saved.columns, (n if n < self.n_features else 0,), 0, self.n_features - 1
        )
        archive.require(np.all(np.diff(self.columns) > 0), "its columns do not increase")
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
        self.warm_up = archive.number("warm_up", saved.warm_up, 1.0)
        self.standardize = archive.flag("standardize", saved.standardize)
        self.normalize = archive.flag("normalize", saved.normalize)
        self.centers = archive.flag("centers", saved.centers)
        archive.require(self.standardize or not self.centers, "columns are centered, not scaled")
        self.n_nonzero = archive.count("n_nonzero", saved.n_nonzero)
        n *= self.standardize
        cdef int[::1] centered = saved.centered[:saved.n_centered]
        self.centered = archive.integers("centered", centered, (-1,), 0, self.n_columns - 1)
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

    cdef tuple sizes(self):
        return self.n_features, self.n_columns, self.n_slots, self.n_outputs

    cdef Py_ssize_t memory_size(self, const Row* x, Py_ssize_t* n_indices) noexcept nogil:
        n_indices[0] = 1 + (
            self.n_columns if x == NULL else min(self.n_columns, x.n + self.n_centered)
        )
        if x == NULL or self.is_dense(x):
            return self.n_outputs + self.n_columns + self.n_slots + 1
        return n_indices[0] + (self.n_outputs if self.is_rbf else 0) + (
            self.n_slots if self.n_slots < self.n_columns else 0
        )

    cdef bint is_dense(self, const Row* x) noexcept nogil:
        return self.centers if self.standardize else (
            SPARSITY * self.count_nonzero(x) > self.n_columns
        )

    cdef const Py_ssize_t* selected(self) noexcept nogil:
        return NULL if self.n_columns == self.n_features else &self.columns[0]

    cdef Py_ssize_t count_nonzero(self, const Row* x) noexcept nogil:
        cdef Py_ssize_t j, total = 0
        if x.columns != NULL or self.n_columns < self.n_features:
            return select_entries(x, self.selected(), self.n_columns, NULL, NULL)
        for j in range(self.n_columns):
            total += x.values[j] != 0.0
        return total

    cdef void read_values(self, const Row* x, double* values) noexcept nogil:
        cdef const Py_ssize_t* columns = self.selected()
        cdef Py_ssize_t i, j
        if x.columns == NULL:
            for j in range(self.n_columns):
                values[j] = bounded(x.values[j if columns == NULL else columns[j]])
            return
        for j in range(self.n_columns):
            values[j] = 0.0
        for i in range(x.n):
            j = find_column(columns, self.n_columns, x.columns[i])
            if j >= 0:
                values[j] = bounded(x.values[i])

    cdef void transform(
        self, const Row* x, Row* features, double* memory, int* indices
    ) noexcept nogil:
        cdef Row z
        features.n = features.n_features = self.n_outputs
        features.constant, features.columns, features.values = 0.0, NULL, memory
        if self.is_dense(x):
            self.transform_dense(x, memory, memory + self.n_outputs)
            return
        z.constant, z.columns, z.n_features = 0.0, indices, self.n_slots
        z.values = memory + (self.n_outputs if self.is_rbf else 0)
        z.n = self.transform_sparse(
            x, <double*>z.values, indices,
            <double*>z.values + min(self.n_columns, x.n + self.n_centered),
        )
        if self.is_rbf:
            random_features_of_row(
                &z, &self.frequencies[0, 0], &self.phases[0], self.phases.shape[0], memory
            )
            memory[self.n_outputs - 1] = self.intercept
            return
        memory[z.n], indices[z.n] = self.intercept, <int>(self.n_outputs - 1)
        features.n, features.columns = z.n + 1, indices

    cdef void transform_dense(self, const Row* x, double* features, double* memory) noexcept nogil:
        cdef bint has_sketch = self.n_slots < self.n_columns
        cdef double* z = features if not self.is_rbf else memory + self.n_columns
        cdef double* values = memory if has_sketch else z
        cdef const double* mean = &self.mean[0] if self.standardize else NULL
        cdef const double* inverse_scale = &self.inverse_scale[0] if self.standardize else NULL
        cdef double value, clip = self.clip, scale = self.scale
        cdef Py_ssize_t j
        self.read_values(x, values)
        if self.standardize:
            for j in range(self.n_columns):
                value = (values[j] - mean[j]) * inverse_scale[j]
                values[j] = scale * min(max(value, -clip), clip)
        if has_sketch:
            for j in range(self.n_slots):
                z[j] = 0.0
            for j in range(self.n_columns):
                if self.slots[j] >= 0:
                    z[self.slots[j]] += self.signs[j] * values[j]
        if self.normalize:
            scale_to_unit_norm(z, self.n_slots)
        if self.is_rbf:
            random_features(
                z, &self.frequencies[0, 0], &self.phases[0], self.n_slots, self.phases.shape[0],
                features,
            )
        features[self.n_outputs - 1] = self.intercept

    cdef Py_ssize_t transform_sparse(
        self, const Row* x, double* values, int* indices, double* memory
    ) noexcept nogil:
        cdef Py_ssize_t i, slot, n_slots = 0
        cdef Py_ssize_t n = select_entries(x, self.selected(), self.n_columns, values, indices)
        n = self.insert_zeros(values, indices, n)
        for i in range(n):
            values[i] = bounded(values[i])
            if self.standardize:
                values[i] = self.standardized(indices[i], values[i])
        if self.n_slots < self.n_columns:
            for i in range(self.n_slots):
                memory[i] = 0.0
            for i in range(n):
                slot = self.slots[indices[i]]
                if slot >= 0:
                    memory[slot] += self.signs[indices[i]] * values[i]
            for i in range(n):
                slot = self.slots[indices[i]]
                if slot >= 0 and memory[slot] != 0.0:
                    values[n_slots], indices[n_slots], memory[slot] = memory[slot], <int>slot, 0.0
                    n_slots += 1
            n = n_slots
        if self.normalize:
            scale_to_unit_norm(values, n)
        return n

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
            square = self.m2[column] / max(min(self.count, self.warm_up), 1.0)
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
        cdef bint has_sketch = self.n_slots < self.n_columns
        cdef double* mean = &self.mean[0] if self.standardize else NULL
        cdef double* m2 = &self.m2[0] if self.standardize else NULL
        cdef double* inverse_scale = &self.inverse_scale[0] if self.standardize else NULL
        cdef double deviation, variance, share
        cdef Py_ssize_t j, n
        self.count += 1.0
        if self.count > self.warm_up:
            return
        share = 1.0 / self.count
        if self.standardize:
            self.n_nonzero += self.count_nonzero(x)
            self.choose_centering(self.count - 1.0)
        if not self.centers:
            if self.standardize or has_sketch:
                n = select_entries(x, self.selected(), self.n_columns, memory, indices)
                self.update_sparse(memory, indices, self.insert_zeros(memory, indices, n))
            if self.count == self.warm_up:
                self.freeze()
            return
        self.read_values(x, memory)
        if has_sketch:
            for j in range(self.n_columns):
                if memory[j] != 0.0:
                    self.assign_slot(j)
        for j in range(self.n_columns):
            deviation = memory[j] - mean[j]
            mean[j] += deviation * share
            m2[j] += deviation * (memory[j] - mean[j])
            variance = m2[j] * share
            inverse_scale[j] = 1.0 / sqrt(variance) if variance > 1e-300 else 0.0
        if self.count == self.warm_up:
            self.freeze()

    cdef void freeze(self) noexcept nogil:
        cdef Py_ssize_t j
        if self.n_slots < self.n_columns:
            for j in range(self.n_columns):
                self.assign_slot(j)

    cdef void update_sparse(
        self, const double* values, const int* indices, Py_ssize_t n
    ) noexcept nogil:
        cdef bint has_sketch = self.n_slots < self.n_columns, revised = False
        cdef double value, deviation
        cdef Py_ssize_t i, j
        for i in range(n):
            j, value = indices[i], bounded(values[i])
            if has_sketch and value != 0.0:
                self.assign_slot(j)
            if not self.standardize:
                continue
            self.n_nonzero_of[j] += 1.0 if value != 0.0 else 0.0
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
        cdef double size = self.count * self.n_columns
        cdef Py_ssize_t j
        if self.centers and 2 * SPARSITY * <double>self.n_nonzero < size:
            self.centers = False
            # The entries of single columns were not counted. Columns that are rare from now on are
            # soon centered no more.
            self.n_centered = self.n_columns
            for j in range(self.n_columns):
                self.centered[j], self.is_centered[j] = <int>j, True
                self.n_nonzero_of[j] = n / SPARSITY
        elif not self.centers and SPARSITY * <double>self.n_nonzero > size:
            self.centers = True
            for j in range(self.n_columns):
                if not self.is_centered[j]:
                    self.center(j, n)
            self.n_centered = 0

    @property
    def is_frozen(self):
        """Return True if later samples do not change the features of samples."""
        self.require_ready()
        fixed = not self.standardize and self.n_slots == self.n_columns
        return fixed or self.count >= self.warm_up

    _merge_rules = {"count": "total"}

    @staticmethod
    def _merge_entries(merging):
        """Return the statistics of all samples, unless they are fixed, and the slots."""
        states, first = merging.states, merging.states[0]
        changed = {name: merging.total(name) for name in ("n_nonzero", "n_nonzero_of")}
        changed["slots"], changed["n_taken"], _ = merge_slots(states)
        if merging.are_fixed(lambda state: state["count"] >= state["warm_up"], "m2"):
            names = ("mean", "m2", "inverse_scale", "centered", "centers")
            return changed | {name: first[name] for name in names}
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

    def transform_rows(self, const double[:, ::1] X not None):
        """Return the features `(n_samples, n_outputs)` of the samples `X`. For tests."""
        self.require_ready()
        if X.shape[1] != self.n_features:
            raise ValueError(f"X has {X.shape[1]} features, the map has {self.n_features}")
        cdef double[:, ::1] features = np.zeros((X.shape[0], self.n_outputs))
        cdef Row x, row
        cdef Py_ssize_t i, j, n_indices
        cdef double[::1] memory = np.empty(self.memory_size(NULL, &n_indices))
        cdef int[::1] indices = np.empty(n_indices, dtype=np.intc)
        x.n, x.columns = self.n_features, NULL
        for i in range(X.shape[0]):
            x.values = &X[i, 0]
            self.transform(&x, &row, &memory[0], &indices[0])
            for j in range(row.n):
                features[i, j if row.columns == NULL else row.columns[j]] = row.values[j]
        return np.asarray(features)

    def column_weights(self, weights):
        """Return the weights `(n_columns, n_classes)` of standardized columns, given those of z.

        If samples are scaled to the norm one, these are the weights of the scaled columns.
        """
        self.require_ready()
        factor = self.scale if self.standardize and not self.normalize else 1.0
        if self.n_slots == self.n_columns:
            return factor * weights
        slots = np.asarray(self.slots)
        signs = np.where(slots >= 0, self.signs, 0.0)
        return factor * signs[:, np.newaxis] * weights[slots]

    @property
    def standardization(self):
        """Column indices, means and standard deviations (0 if constant), as copied arrays.

        The means of columns that are not centered are 0, and their deviations are those from 0.
        """
        self.require_ready()
        columns = np.array(self.columns)
        if self.n_columns == self.n_features:
            columns = np.arange(self.n_features)
        if not self.standardize:
            return columns, np.zeros(len(columns)), np.zeros(len(columns))
        centered = np.asarray(self.is_centered) > 0 if not self.centers else True
        deviations = np.sqrt(np.asarray(self.m2) / max(min(self.count, self.warm_up), 1.0))
        constant = centered & (np.asarray(self.inverse_scale) == 0.0)
        return columns, np.where(centered, self.mean, 0.0), np.where(constant, 0.0, deviations)


def statistics(state):
    """Return the number of samples, the means and the sums of squared deviations of columns."""
    n, mean = min(state["count"], state["warm_up"]), state["mean"]
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
