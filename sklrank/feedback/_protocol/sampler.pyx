# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Samplers, which draw the labels to show.

The random numbers are passed as an array with one row per sample, so the draw for a sample does not
depend on how the samples are divided among calls. `schemes.py` has the names of the schemes,
documents them in `explore`, and checks the arguments.

To add a scheme, derive its sampler from `TopKSampler` or `GreedyMixtureSampler`, name it in
`RANDOMIZATIONS` and in the table of `explore` (`schemes.py`), and write its outcomes as an entry of
`OUTCOMES` in `tests/conftest.py`, from which all tests of schemes follow. (A bound on propensities
in the table is an entry of `BOUNDS` in `tests/feedback/test_randomization.py`.) All estimators
accept the name then; the `.pxd` file and the estimators need no change.

If only some of the labels of a sample are available, their scores are gathered, and the n available
labels are numbered 0, ..., n - 1 in the draw. So a label that is not available has the same effect
as one that does not exist.
"""

import numpy as np


cdef class TopKSampler:
    """Base class of the samplers, which show the greedy top k or explore.

    A subclass overrides some of the following methods. They all are `noexcept nogil`, and a label
    is its number among the n labels that are available for the sample.

    `cdef void set_exploration(self, double exploration)`
        Change the amount of exploration, and set `drawn`, the probability that a sample explores.
    `cdef void set_size(self, Py_ssize_t n)`
        Change the number `n` of available labels.
    `cdef void read_scores(self, const double* scores)`
        Compute what depends on the scores `(n,)` of a sample, and call the method of this class. It
        writes the greedy top k, best first, to `greedy` `(k,)`, and its indicator to `is_greedy`
        `(n,)`. The standard errors of the scores are `errors` `(n,)`, or NULL.
    `cdef void explore(self, double first, const double* uniforms, Py_ssize_t* actions)`
        Replace the greedy top k in `actions` `(k,)` by the labels that are shown if the sample
        explores. `uniforms` are the random numbers in [0, 1), and `first` is one more, which
        determined that the sample explores.
    `cdef double propensity(self, Py_ssize_t a, Py_ssize_t b)`
        Return the probability that both labels are shown, or that label a is shown if a = b.

    A sampler whose scores must be expected rewards, without a bonus, sets `needs_means`. One that
    draws a single label only has ``shows_lists = False``. Labels are sorted by `sort_items` of
    `sklrank._compiled.sorting`, if needed.

    Propensities must be accurate to 1e-12, those of two labels positive (boosters clip them from
    below), and exactly 1 if k is the number of labels. As the exploration approaches 0, which may
    be reached, the greedy top k should be shown. State in `explore` if propensities of two labels
    may be below O(exploration / n_labels^2): ``learning_rate="theory"`` of `TopKAdaptive` assumes
    that they are not (Raman et al. 2020, Lemmas 6 and 10).

    The argument `n_uniforms` is the number of random numbers that `explore` uses, beside the first.
    """

    shows_lists = True

    def __init__(
        self, Py_ssize_t n_labels, Py_ssize_t k, Py_ssize_t n_uniforms, double exploration
    ):
        self.n_labels, self.k, self.n_uniforms = n_labels, k, 1 + n_uniforms
        self.gathered, self.gathered_errors = np.empty((2, n_labels))
        self.positions = np.empty(n_labels, dtype=np.intp)
        self.is_greedy = np.zeros(n_labels, dtype=np.int8)
        self.greedy = np.zeros(k, dtype=np.intp)
        self.set_size(n_labels)
        self.set_exploration(exploration)

    cdef int require_ready(self) except -1:
        if not self.k:
            raise ValueError(f"this {type(self).__name__} was not created by its constructor")
        return 0

    def raise_error(self):
        """Raise the error that a function of the user raised in a draw, if any."""
        error, self.error = self.error, None
        if error is not None:
            raise error

    def change_exploration(self, double exploration):
        """Change the amount of exploration."""
        self.require_ready()
        self.set_exploration(exploration)

    cdef void set_exploration(self, double exploration) noexcept nogil:
        self.drawn = exploration

    cdef void set_size(self, Py_ssize_t n) noexcept nogil:
        self.n = n

    cdef void read_sample(
        self, const double* scores, const double* errors, const char* available
    ) noexcept nogil:
        cdef Py_ssize_t l, n = 0
        if available != NULL:
            for l in range(self.n_labels):
                if available[l]:
                    self.positions[n], self.gathered[n] = l, scores[l]
                    if errors != NULL:
                        self.gathered_errors[n] = errors[l]
                    n += 1
            scores = &self.gathered[0]
            errors = NULL if errors == NULL else &self.gathered_errors[0]
        else:
            n = self.n_labels
        self.errors = errors
        if n != self.n:
            self.set_size(n)
        self.read_scores(scores)

    cdef void read_scores(self, const double* scores) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.k):
            self.is_greedy[self.greedy[i]] = False
        best_labels(scores, self.n, self.k, &self.greedy[0])
        for i in range(self.k):
            self.is_greedy[self.greedy[i]] = True

    cdef void explore(
        self, double first, const double* uniforms, Py_ssize_t* actions
    ) noexcept nogil:
        pass

    cdef double propensity(self, Py_ssize_t a, Py_ssize_t b) noexcept nogil:
        return 0.0

    cdef void draw_labels(
        self, const double* scores, const double* errors, const char* available,
        const double* uniforms, Py_ssize_t* actions, double* propensities,
    ) noexcept nogil:
        cdef Py_ssize_t i, j, k = self.k
        self.read_sample(scores, errors, available)
        for i in range(k):
            actions[i] = self.greedy[i]
        if uniforms[0] < self.drawn:
            self.explore(uniforms[0] / self.drawn, uniforms + 1, actions)
        for i in range(k):
            for j in range(i + 1):
                propensities[i * k + j] = self.propensity(actions[i], actions[j])
                propensities[j * k + i] = propensities[i * k + j]
        if available != NULL:
            for i in range(k):
                actions[i] = self.positions[actions[i]]

    def draw_rows(
        self, const double[:, ::1] scores not None, const double[:, ::1] uniforms not None,
        const char[:, :] available=None,
    ):
        """Return the actions `(n_samples, k)` and propensities `(n_samples, k, k)` of samples."""
        self.require_ready()
        check_mask(available, scores.shape[0], self.n_labels)
        cdef Py_ssize_t[:, ::1] actions = np.empty((scores.shape[0], self.k), dtype=np.intp)
        cdef double[:, :, ::1] propensities = np.empty((scores.shape[0], self.k, self.k))
        cdef Py_ssize_t i
        with nogil:
            for i in range(scores.shape[0]):
                self.draw_labels(
                    &scores[i, 0], NULL, mask_of(available, i),
                    &uniforms[i, 0], &actions[i, 0], &propensities[i, 0, 0],
                )
        self.raise_error()
        return np.asarray(actions), np.asarray(propensities)

    def propensities(
        self, const double[:, ::1] scores not None, const char[:, :] available=None,
        const double[:, ::1] errors=None, bint pairs=True,
    ):
        """Return the propensities `(n_samples, n_labels, n_labels)` of all pairs of labels.

        If `pairs` is false, return those of single labels, `(n_samples, n_labels, 1)`. The scores
        may have these standard errors.
        """
        self.require_ready()
        check_mask(available, scores.shape[0], self.n_labels)
        cdef Py_ssize_t t, a, b, i, j, m = self.n_labels
        cdef double[:, :, ::1] out = np.zeros((scores.shape[0], m, m if pairs else 1))
        with nogil:
            for t in range(scores.shape[0]):
                self.read_sample(
                    &scores[t, 0], NULL if errors is None else &errors[t, 0], mask_of(available, t)
                )
                for a in range(self.n):
                    i = a if available is None else self.positions[a]
                    out[t, i, i if pairs else 0] = self.propensity(a, a)
                    for b in range(a if pairs and self.k > 1 else 0):
                        j = b if available is None else self.positions[b]
                        out[t, i, j] = out[t, j, i] = self.propensity(a, b)
        self.raise_error()
        return np.asarray(out)


cdef class GreedyMixtureSampler(TopKSampler):
    """Sampler whose propensities depend only on the numbers of labels outside of the greedy top k.

    `set_size` of a subclass sets the probabilities `single` that a label is shown, and `pair` that
    two labels are both shown, if 0, 1 or 2 of them are outside of the greedy top k, given that a
    sample explores; they are multiples of `1 / divisor`. `explore` may use the set of the greedy
    top k, but not the scores.
    """

    cdef double[2] single
    cdef double[3] pair
    cdef double divisor

    cdef double propensity(self, Py_ssize_t a, Py_ssize_t b) noexcept nogil:
        cdef Py_ssize_t n_outside = 2 - self.is_greedy[a] - self.is_greedy[b]
        cdef double explored
        if self.k == self.n:
            return 1.0
        explored = self.single[n_outside // 2] if a == b else self.pair[n_outside]
        explored *= self.drawn / self.divisor
        return 1.0 - self.drawn + explored if n_outside == 0 else explored


cdef class UniformSampler(GreedyMixtureSampler):
    """Sampler whose exploration shows the first k labels of a random order of all labels.

    For a single label, one random number determines whether a sample explores, and the label.
    """

    cdef Py_ssize_t[::1] labels             # 0, 1, ..., n_labels - 1 between two draws
    cdef Py_ssize_t[::1] drawn_labels       # working memory: (k,)

    def __init__(self, n_labels, k, double exploration):
        self.labels = np.arange(n_labels, dtype=np.intp)
        self.drawn_labels = np.empty(k, dtype=np.intp)
        super().__init__(n_labels, k, 0 if k == 1 else k, exploration)

    cdef void set_size(self, Py_ssize_t n) noexcept nogil:
        cdef double k = self.k
        self.n = n
        # The usual formula for a single label, exploration / n, differs from that of more labels in
        # the last bit.
        self.divisor = n if self.k == 1 else 1.0
        self.single[0] = self.single[1] = 1.0 if self.k == 1 else k / n
        self.pair[0] = self.pair[1] = self.pair[2] = k * (k - 1.0) / (n * (n - 1.0))

    cdef void explore(
        self, double first, const double* uniforms, Py_ssize_t* actions
    ) noexcept nogil:
        # Make the first k steps of a Fisher-Yates shuffle, and undo them afterwards.
        cdef Py_ssize_t i, n = self.n
        if self.k == 1:
            actions[0] = below(n, first)
            return
        for i in range(self.k):
            self.drawn_labels[i] = i + below(n - i, uniforms[i])
            swap(&self.labels[i], &self.labels[self.drawn_labels[i]])
            actions[i] = self.labels[i]
        for i in range(self.k - 1, -1, -1):
            swap(&self.labels[i], &self.labels[self.drawn_labels[i]])


cdef class SingleSwapSampler(GreedyMixtureSampler):
    """Sampler whose exploration swaps a random label shown with a random other label, twice."""

    cdef char[::1] is_shown                 # working memory: (n_labels,)

    def __init__(self, n_labels, k, double exploration):
        self.is_shown = np.zeros(n_labels, dtype=np.int8)
        super().__init__(n_labels, k, 4, exploration)

    cdef void set_size(self, Py_ssize_t n) noexcept nogil:
        cdef double k = self.k, u = n - self.k, stays = (k - 1.0) / k
        self.n, self.divisor = n, 1.0
        if u == 0.0:
            return
        self.single[0] = stays * stays + 1.0 / (k * u)
        self.single[1] = stays / u + (u - 1.0) / (u * u)
        self.pair[0] = (k - 2.0) / k * ((k - 2.0) / k) + 2.0 * stays / (k * u)
        self.pair[1] = stays / u * ((k - 2.0) / k + 1.0 / (k * u) + (u - 1.0) / u * stays)
        self.pair[2] = 2.0 * stays / (u * u)

    cdef void explore(
        self, double first, const double* uniforms, Py_ssize_t* actions
    ) noexcept nogil:
        cdef Py_ssize_t i, position, incoming, to_skip, n_outside = self.n - self.k
        if n_outside == 0:
            return
        for i in range(self.k):
            self.is_shown[actions[i]] = True
        for i in range(2):
            position = below(self.k, uniforms[2 * i])
            to_skip = below(n_outside, uniforms[2 * i + 1])
            incoming = 0
            while self.is_shown[incoming] or to_skip > 0:
                to_skip -= not self.is_shown[incoming]
                incoming += 1
            self.is_shown[actions[position]] = False
            self.is_shown[incoming] = True
            actions[position] = incoming
        for i in range(self.k):
            self.is_shown[actions[i]] = False


def find_fault(
    const Py_ssize_t[:, ::1] actions not None, const double[:, :, ::1] propensities not None,
    Py_ssize_t n_labels, double smallest, double tolerance, double sum_tolerance,
):
    """Return the row, and the positions of the two labels, of the first impossible entry, or None.

    The arrays `(n_samples, k)` and `(n_samples, k, k)` are those of a record. If both positions
    are the same, a label alone, or its propensity, is impossible.
    """
    cdef Py_ssize_t t, i, j, k = actions.shape[1]
    cdef double p, q, both
    for t in range(actions.shape[0]):
        for i in range(k):
            p = propensities[t, i, i]
            if not (0 <= actions[t, i] < n_labels and smallest <= p <= 1.0):
                return t, i, i
            for j in range(i):
                q, both = propensities[t, j, j], propensities[t, i, j]
                if actions[t, i] == actions[t, j] or not (
                    max(smallest, p + q - 1.0 - sum_tolerance) <= both
                    and both <= min(min(p, q) + tolerance, 1.0)
                    and smallest <= propensities[t, j, i] <= min(min(p, q) + tolerance, 1.0)
                    and -tolerance <= both - propensities[t, j, i] <= tolerance
                ):
                    return t, j, i
    return None


cdef int check_mask(
    const char[:, :] available, Py_ssize_t n_samples, Py_ssize_t n_labels
) except -1:
    if available is not None and (
        (available.shape[0], available.shape[1]) != (n_samples, n_labels)
        or available.strides[1] != 1
    ):
        raise ValueError("available does not match the samples and labels")
    return 0


cdef const char* mask_of(const char[:, :] available, Py_ssize_t sample) noexcept nogil:
    if available is None:
        return NULL
    return &available[sample, 0]


cdef void best_labels(
    const double* scores, Py_ssize_t n_labels, Py_ssize_t k, Py_ssize_t* best
) noexcept nogil:
    # Write the k labels of largest score, best first. Labels of equal score are sorted by index.
    cdef Py_ssize_t label, position, n = 0
    for label in range(n_labels):
        if n == k and not scores[label] > scores[best[k - 1]]:
            continue
        position = n if n < k else k - 1
        while position > 0 and scores[label] > scores[best[position - 1]]:
            best[position] = best[position - 1]
            position -= 1
        best[position] = label
        n = min(n + 1, k)


cdef inline Py_ssize_t below(Py_ssize_t n, double uniform) noexcept nogil:
    # Convert a random number in [0, 1) to a uniformly distributed integer among 0, ..., n - 1.
    return min(<Py_ssize_t>(uniform * n), n - 1)


cdef inline void swap(Py_ssize_t* a, Py_ssize_t* b) noexcept nogil:
    cdef Py_ssize_t first = a[0]
    a[0] = b[0]
    b[0] = first
