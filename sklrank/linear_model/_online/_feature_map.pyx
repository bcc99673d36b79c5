# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Feature maps of online linear learners: running standardization and random Fourier features.

The columns in use are standardized by the statistics of the previous samples, (x - mean) / standard
deviation. The results are clipped at +-clip, because standard deviations estimated from the first
few samples are inaccurate. Let z be the clipped values times `scale`. The features of the kernels
are

- CONSTANT: no features;
- LINEAR: z;
- RBF: cos(z . omega + phase) with random omega and phase. The inner products of these features
  approximate a Gaussian kernel (Rahimi & Recht 2007).

Each kernel has one more feature, the last one, which is 1 for the intercept.
"""

from libc.math cimport fabs, sqrt

import numpy as np

from sklrank._state cimport State

KERNELS = {"constant": Kernel.CONSTANT, "linear": Kernel.LINEAR, "rbf": Kernel.RBF}


cdef class FeatureMap:
    """Running standardization and feature map.

    Unless the kernel is "rbf", `frequencies` has no columns and `phases` is empty.
    """

    def __init__(
        self,
        kernel,
        Py_ssize_t n_features,
        columns,
        frequencies,
        phases,
        double clip,
        double scale=1.0,
    ):
        mean, m2, inverse_scale = np.zeros((3, len(columns)))
        self.start(
            {
                "kernel": kernel,
                "n_features": n_features,
                "columns": columns,
                "frequencies": frequencies,
                "phases": phases,
                "clip": clip,
                "scale": scale,
                "count": 0,
                "mean": mean,
                "m2": m2,
                "inverse_scale": inverse_scale,
            }
        )

    cdef dict get_state(self):
        names = {value: name for name, value in KERNELS.items()}
        return {
            "kernel": names[self.kernel],
            "n_features": self.n_features,
            "columns": np.array(self.columns),
            "frequencies": np.asarray(self.frequencies),
            "phases": np.asarray(self.phases),
            "clip": self.clip,
            "scale": self.scale,
            "count": self.count,
            "mean": np.array(self.mean),
            "m2": np.array(self.m2),
            "inverse_scale": np.array(self.inverse_scale),
        }

    cdef int set_state(self, State state) except -1:
        cdef Kernel kernel = KERNELS[state.choice("kernel", KERNELS)]
        cdef Py_ssize_t n_features = state.count("n_features", 1)
        columns = state.integers("columns", (-1,), 0, n_features - 1)
        cdef Py_ssize_t n_columns = len(columns)
        phases = state.constants("phases", (-1,))
        frequencies = state.constants("frequencies", (n_columns, len(phases)))
        cdef double clip = state.number("clip", 0.0), scale = state.number("scale", 0.0)
        cdef double count = state.number("count", 0.0)
        mean, m2, inverse_scale = [
            state.floats(name, (n_columns,)) for name in ("mean", "m2", "inverse_scale")
        ]
        cdef Py_ssize_t n_outputs = 1 + (n_columns if kernel == LINEAR else len(phases))
        state.require(
            not self.is_ready
            or (kernel, n_features, n_columns, n_outputs)
            == (self.kernel, self.n_features, self.n_columns, self.n_outputs),
            "its sizes or its kernel are not those of the object",
        )
        self.kernel, self.n_features, self.n_columns = kernel, n_features, n_columns
        self.n_outputs = n_outputs
        self.columns, self.frequencies, self.phases = columns, frequencies, phases
        self.clip, self.scale, self.count = clip, scale, count
        self.mean, self.m2, self.inverse_scale = mean, m2, inverse_scale
        return 0

    cdef void transform(self, const double* x, double* features, double* scratch) noexcept nogil:
        cdef double* z = features if self.kernel == LINEAR else scratch
        cdef const double* mean = &self.mean[0] if self.n_columns else NULL
        cdef const double* inverse_scale = &self.inverse_scale[0] if self.n_columns else NULL
        cdef double value, clip = self.clip, scale = self.scale
        cdef Py_ssize_t j, n_components = self.phases.shape[0]
        for j in range(self.n_columns):
            z[j] = bounded(x[self.columns[j]])
        for j in range(self.n_columns):
            value = (z[j] - mean[j]) * inverse_scale[j]
            z[j] = scale * min(max(value, -clip), clip)
        if self.kernel == RBF:
            random_features(
                z, &self.frequencies[0, 0] if self.n_columns else NULL, &self.phases[0],
                self.n_columns, n_components, features,
            )
        features[self.n_outputs - 1] = 1.0

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
        cdef double[::1] scratch = np.empty(self.n_columns + 1)
        cdef Py_ssize_t i
        if X.shape[1] != self.n_features:
            raise ValueError(f"X has {X.shape[1]} features, the map has {self.n_features}")
        for i in range(X.shape[0]):
            self.transform(&X[i, 0], &features[i, 0], &scratch[0])
        return np.asarray(features)

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
