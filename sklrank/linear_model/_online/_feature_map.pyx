# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Feature maps of online linear learners: running standardization, sketches, random features.

A sample x is mapped to features in four steps:

1. If `standardize` is True, the columns in use are standardized by the statistics of the previous
   samples, (x - mean) / standard deviation, and clipped at +-clip, because standard deviations
   estimated from the first few samples are inaccurate. They are multiplied by `scale`.
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
"""

from libc.math cimport fabs, sqrt

import numpy as np

from sklrank._state cimport Archive


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
    ):
        no_columns = np.empty(0, dtype=np.intp)
        self.n_features, self.columns = n_features, columns
        self.frequencies, self.phases = frequencies, phases
        self.clip, self.scale, self.intercept = clip, scale, intercept
        self.standardize, self.normalize = standardize, normalize
        self.mean, self.m2, self.inverse_scale = np.zeros((3, len(columns)))
        self.n_slots = len(columns) if signs is None else n_slots
        self.shared_slots = no_columns if signs is None else shared_slots
        self.signs = np.empty(0) if signs is None else signs
        self.slots = no_columns if signs is None else np.full(len(columns), -1, dtype=np.intp)
        self.start()

    cdef int exchange(self, Archive archive) except -1:
        cdef FeatureMap saved = archive.source
        self.n_features = archive.count("n_features", saved.n_features, 1)
        self.columns = archive.integers("columns", saved.columns, (-1,), 0, self.n_features - 1)
        cdef Py_ssize_t n = self.columns.shape[0]
        self.n_columns = n
        self.n_slots = archive.count("n_slots", saved.n_slots, 0, n)
        self.n_taken = archive.count("n_taken", saved.n_taken, 0, self.n_slots)
        cdef Py_ssize_t n_signs = n if self.n_slots < n else 0
        self.signs = archive.constants("signs", saved.signs, (n_signs,))
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
        self.mean = archive.floats("mean", saved.mean, (n,))
        self.m2 = archive.floats("m2", saved.m2, (n,))
        self.inverse_scale = archive.floats("inverse_scale", saved.inverse_scale, (n,))
        self.n_outputs = 1 + (self.phases.shape[0] if self.is_rbf else self.n_slots)
        return 0

    cdef tuple sizes(self):
        return self.n_features, self.n_columns, self.n_slots, self.n_outputs

    cdef void transform(self, const double* x, double* features, double* scratch) noexcept nogil:
        cdef bint has_sketch = self.n_slots < self.n_columns
        cdef double* z = features if not self.is_rbf else scratch + self.n_columns
        cdef double* values = scratch if has_sketch else z
        cdef const double* mean = &self.mean[0] if self.n_columns else NULL
        cdef const double* inverse_scale = &self.inverse_scale[0] if self.n_columns else NULL
        cdef double value, clip = self.clip, scale = self.scale
        cdef Py_ssize_t j, n_components = self.phases.shape[0]
        for j in range(self.n_columns):
            values[j] = bounded(x[self.columns[j]])
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
            self.scale_to_unit_norm(z)
        if self.is_rbf:
            random_features(
                z, &self.frequencies[0, 0] if self.n_slots else NULL, &self.phases[0],
                self.n_slots, n_components, features,
            )
        features[self.n_outputs - 1] = self.intercept

    cdef void scale_to_unit_norm(self, double* z) noexcept nogil:
        # Divide by the largest absolute value first, so that the squares do not overflow.
        cdef double largest = 0.0, squares = 0.0, factor
        cdef Py_ssize_t j
        for j in range(self.n_slots):
            largest = max(largest, fabs(z[j]))
        if largest == 0.0:
            return
        for j in range(self.n_slots):
            z[j] /= largest
            squares += z[j] * z[j]
        factor = 1.0 / sqrt(squares)
        for j in range(self.n_slots):
            z[j] *= factor

    cdef void assign_slots(self, const double* values) noexcept nogil:
        cdef Py_ssize_t j
        for j in range(self.n_columns):
            if self.slots[j] >= 0 or values[j] == 0.0:
                continue
            if self.n_taken < self.n_slots:
                self.slots[j] = self.n_taken
                self.n_taken += 1
            else:
                self.slots[j] = self.shared_slots[j]

    cdef void update(self, const double* x, double* scratch) noexcept nogil:
        cdef double* mean = &self.mean[0] if self.n_columns else NULL
        cdef double* m2 = &self.m2[0] if self.n_columns else NULL
        cdef double* inverse_scale = &self.inverse_scale[0] if self.n_columns else NULL
        cdef double deviation, variance, share
        cdef Py_ssize_t j
        self.count += 1.0
        share = 1.0 / self.count
        for j in range(self.n_columns):
            scratch[j] = bounded(x[self.columns[j]])
        if self.n_slots < self.n_columns:
            self.assign_slots(scratch)
        if not self.standardize:
            return
        for j in range(self.n_columns):
            deviation = scratch[j] - mean[j]
            mean[j] += deviation * share
            m2[j] += deviation * (scratch[j] - mean[j])
            variance = m2[j] * share
            inverse_scale[j] = 1.0 / sqrt(variance) if variance > 1e-300 else 0.0

    def transform_rows(self, const double[:, ::1] X not None):
        """Return the features `(n_samples, n_outputs)` of the samples `X`."""
        self.require_ready()
        cdef double[:, ::1] features = np.empty((X.shape[0], self.n_outputs))
        cdef double[::1] scratch = np.empty(self.n_columns + self.n_slots + 1)
        cdef Py_ssize_t i
        if X.shape[1] != self.n_features:
            raise ValueError(f"X has {X.shape[1]} features, the map has {self.n_features}")
        with nogil:
            for i in range(X.shape[0]):
                self.transform(&X[i, 0], &features[i, 0], &scratch[0])
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
        """Column indices, means and standard deviations (0 if constant), as copied arrays."""
        self.require_ready()
        deviations = np.sqrt(np.asarray(self.m2) / max(self.count, 1.0))
        deviations[np.asarray(self.inverse_scale) == 0.0] = 0.0
        return np.array(self.columns), np.array(self.mean), deviations


cdef inline double bounded(double value) noexcept nogil:
    # Return the value, limited so that differences of values cannot overflow. The squares of the
    # differences can overflow; the column is then treated as constant.
    return min(max(value, -1e300), 1e300)


cdef void random_features(
    const double* z, const double* frequencies, const double* phases, Py_ssize_t n_columns,
    Py_ssize_t n_components, double* features,
) noexcept nogil:
    cdef Py_ssize_t q
    for q in range(n_components):
        features[q] = phases[q]
    add_product(z, frequencies, n_columns, n_components, features)
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
