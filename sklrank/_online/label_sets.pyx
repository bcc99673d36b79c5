# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Sets of relevant labels, and probabilities of relevance, from scores: both are learned online.

Let s be the scores of the m labels of a sample before it is learned. The probability that label l
is relevant is

    p_l = sigmoid(w . f_l + b_l),    f_l = (z_l, log(m q_l + FLOOR), s_l, max(s), 1),

where z is s standardized within the sample, and q = max(s, 0) / sum(max(s, 0)) are the shares of
the vote. Both make samples comparable. This is Platt scaling (Platt 1999) with several features and
an intercept b_l of each label. After a sample, w and b are updated by one Newton step on its log
loss, where the Hessian H is the sum over all samples so far (an online Newton step, Hazan et al.
2007), and that of b is diagonal:

    H += sum_l h_l f_l f_l',  w -= inverse(H) sum_l (p_l - y_l) f_l,    h_l = p_l (1 - p_l),
    c_l += h_l,               b_l -= (p_l - y_l) / c_l.

There are four rules for the set:

- HALF: the labels with p_l > 1/2, which minimize the expected Hamming loss.
- HALF_OR_TOP: the same, but the most probable label instead of an empty set.
- F1: the labels with p_l > F / 2, where F is the micro-F1 of the sets of this rule so far. The best
  threshold is half of the best F1 (Busa-Fekete et al. 2015, "Online F-measure optimization").
- CARDINALITY: the most probable labels. Their number is the expected size, sum_l p_l, rounded.

None is the best for all data and measures, so the rule with the best past value of a measure is
used. PER_LABEL has a threshold for each label, half of the F1 of its past sets, which is shrunk to
that of F1 as if the label had occurred in PRIOR past sets.

If the relevance of only some labels is known, each of them has an importance weight, the inverse of
the probability with which it was shown. The estimated numbers of relevant labels, and of those in a
set, are then unbiased. The calibration has no such weights: a label is shown because of its scores,
which are features of the calibration. The Jaccard index and the subset accuracy need all labels.

For class labels, the probabilities are softmax(t s), where t is learned in the same way
(temperature scaling, Guo et al. 2017). If it is only known which labels are possible, the
likelihood is the sum of their probabilities.
"""

from libc.math cimport exp, isnan, log, rint, sqrt

import numpy as np

from sklrank._compiled.sorting cimport Item, sort_items
from sklrank._compiled.state cimport Archive, Persistent
from sklrank._online.learner cimport softmax

from sklrank._compiled import LABELS, make_items, precision_of
from sklrank._online.learner import check_lists

cdef enum:
    N_FEATURES = 5
    # Rules.
    HALF = 0
    HALF_OR_TOP = 1
    F1 = 2
    CARDINALITY = 3
    N_RULES = 4
    PER_LABEL = 4
    FIXED = 5
    BEST = 6            # the rule with the best past value of a measure
    # Sums over samples that measures are computed from.
    HITS = 0            # relevant labels in the set
    SIZES = 1           # labels in the set, plus relevant labels
    JACCARD = 2
    SUBSET = 3
    N_SUMS = 4

# Rule and measure of each `threshold` that is not a number. "auto" maximizes the micro-F1.
THRESHOLDS = {
    "auto": (BEST, HITS),
    "f1": (F1, HITS),
    "f1_macro": (PER_LABEL, HITS),
    "cardinality": (CARDINALITY, HITS),
    "hamming": (HALF, HITS),
    "jaccard": (BEST, JACCARD),
    "subset": (BEST, SUBSET),
}
# Those that the relevance of some labels of each sample is not sufficient for.
FULL_INFORMATION = {"jaccard", "subset"}

# Smallest share of the vote, relative to equal shares, that the logarithm tells from zero.
cdef double FLOOR = 1e-3
# Scores of this size are rounding errors of votes that cancel, as those of an untrained model.
cdef double TINY = 1e-9
# The first F1 is one, that of PRIOR / 2 labels predicted correctly, so that the first thresholds
# are 1/2: otherwise all labels would be predicted until one of them is right. The F1 of a label
# starts at that of all labels, with the same weight.
cdef double PRIOR = 10.0
# Prior precision of w, and of b: about the information of 16 samples of even chances. Smaller
# values overfit rare labels (chosen on emotions, scene, genbase, foodtruck, cal500, delicious).
cdef double PRECISION = 1.0
cdef double LABEL_PRECISION = 4.0
# Bounds of logits and of the temperature: exponentials do not overflow, and the order is kept.
cdef double MAX_LOGIT = 30.0
# Larger sample weights count as this one, so that products of a few Hessians are finite.
cdef double MAX_WEIGHT = 1e30
cdef double MIN_TEMPERATURE = 1e-3


cdef class Sample:
    """Working memory: the features, the probabilities and a set of one sample."""

    cdef double[:, ::1] features        # (3, n_labels)
    cdef double[::1] chances            # (n_labels,)
    cdef signed char[::1] in_set        # (n_labels,)
    cdef double[::1] relevant           # (n_labels,) relevance, 0 if it is not known
    cdef double[::1] known              # (n_labels,) importance weights, 0 for unknown relevance
    cdef Item[::1] items, buffer
    cdef double greatest                # the largest score
    cdef double expected_size           # the sum of the probabilities
    cdef double f1_threshold            # that of the rule F1, before the sample is learned
    cdef Py_ssize_t top                 # the most probable label

    def __init__(self, Py_ssize_t n_labels):
        self.features, self.chances = np.empty((3, n_labels)), np.empty(n_labels)
        self.in_set = np.empty(n_labels, dtype=np.int8)
        self.known, self.relevant = np.empty((2, n_labels))
        self.items, self.buffer = make_items(n_labels), make_items(n_labels // 2)


cdef class LabelSets(Persistent):
    """Calibration of scores and rules for label sets. See the module docstring for notation."""

    cdef readonly Py_ssize_t n_labels
    cdef readonly bint multilabel               # whether any number of labels may be relevant
    cdef double[::1] weights                    # (N_FEATURES,) w
    cdef double[:, ::1] hessian                 # (N_FEATURES, N_FEATURES) H
    cdef double[:, ::1] intercepts              # (2, n_labels) b and c
    cdef double[:, ::1] label_sums              # (2, n_labels) HITS and SIZES of PER_LABEL
    cdef double[:, ::1] rule_sums               # (N_RULES, N_SUMS)
    cdef double[::1] temperature                # (2,) t and its Hessian
    cdef readonly Py_ssize_t n_learned          # number of samples learned
    cdef Sample memory

    def __init__(self, Py_ssize_t n_labels, bint multilabel):
        size = n_labels if multilabel else 0
        self.n_labels, self.multilabel = n_labels, multilabel
        self.weights, self.hessian = np.zeros(N_FEATURES), PRECISION * np.eye(N_FEATURES)
        self.intercepts = np.repeat([[0.0], [LABEL_PRECISION]], size, axis=1)
        self.label_sums, self.rule_sums = np.zeros((2, size)), np.zeros((N_RULES, N_SUMS))
        self.temperature = np.ones(2)
        self.start()

    cdef int exchange(self, Archive archive) except -1:
        cdef LabelSets saved = archive.source
        self.n_labels = archive.label_count("n_labels", saved.n_labels)
        self.multilabel = archive.flag("multilabel", saved.multilabel)
        size = LABELS if self.multilabel else 0
        self.weights = archive.floats("weights", saved.weights, (N_FEATURES,))
        self.hessian = archive.floats("hessian", saved.hessian, (N_FEATURES, N_FEATURES))
        new = [[0.0], [LABEL_PRECISION]]
        self.intercepts = archive.floats("intercepts", saved.intercepts, (2, size), new)
        self.label_sums = archive.floats("label_sums", saved.label_sums, (2, size))
        self.rule_sums = archive.floats("rule_sums", saved.rule_sums, (N_RULES, N_SUMS))
        self.temperature = archive.floats("temperature", saved.temperature, (2,))
        self.n_learned = archive.count("n_learned", saved.n_learned)
        return 0

    _merge_rules = {"label_sums": "total", "rule_sums": "total", "n_learned": "total"}

    @staticmethod
    def _merge_entries(merging):
        """Return the calibration by the sums of the Hessians."""
        intercepts = merging.map(lambda state: state["intercepts"], (0.0, LABEL_PRECISION))
        temperature = merging.map(lambda state: state["temperature"], (1.0, 1.0))

        def equations(state):
            hessian = np.tril(state["hessian"]) + np.tril(state["hessian"], -1).T
            return hessian, hessian @ state["weights"]

        untrained = PRECISION * np.eye(N_FEATURES), np.zeros(N_FEATURES)
        covariance, weights = merging.regression(*merging.map(equations, untrained))
        return {
            "intercepts": np.array(merging.newton(*intercepts)),
            "temperature": np.array(merging.newton(*temperature)),
            "hessian": precision_of(covariance),
            "weights": weights,
        }

    def play(
        self, const double[:, ::1] scores not None, const double[::1] sample_weight=None,
        const Py_ssize_t[::1] indptr=None, const Py_ssize_t[::1] labels=None, shown=None,
        double[:, ::1] chances=None, Py_ssize_t[:, ::1] sets=None, threshold="auto",
        n_samples=None,
    ):
        """Predict each sample, then learn from it.

        `scores` `(n_samples, n_labels)` are those before the sample is learned, and the outputs
        `chances` and `sets` of the same shape are the predictions. Samples of weight zero, or all
        without `sample_weight`, are not learned. The relevance is that of all labels, relevance
        lists `indptr, labels`, or of the labels `shown`: (actions, rewards, propensities) of shape
        `(n_samples, k)`, with rewards from 0 to 1, or NaN if not known. `threshold` is a key of
        `THRESHOLDS`, or the probability above which labels are in a set. Only the first `n_samples`
        are predicted and learned, unless it is None.
        """
        cdef Py_ssize_t n = scores.shape[0], m = self.n_labels, t, i, k = 0
        cdef Py_ssize_t n_played = n if n_samples is None else min(n, n_samples)
        cdef bint by_name = isinstance(threshold, str)
        cdef int rule = THRESHOLDS[threshold][0] if by_name else FIXED
        cdef int measure = THRESHOLDS[threshold][1] if by_name else HITS
        cdef double fixed = 0.5 if by_name else threshold
        cdef const Py_ssize_t[:, :] actions = None
        cdef const double[:, :] rewards = None
        cdef const double[:, :] propensities = None
        cdef double weight
        cdef Sample sample
        self.require_ready()
        if scores.shape[1] != m or (sample_weight is not None and sample_weight.shape[0] != n) or (
            (chances is not None and (chances.shape[0], chances.shape[1]) != (n, m))
            or (sets is not None and (sets.shape[0], sets.shape[1]) != (n, m))
        ):
            raise ValueError("arrays do not match the labels, or differ in length")
        if shown is not None:
            # Without functions in Python, in which an interrupt could raise.
            actions, rewards, propensities = shown
            k = actions.shape[1]
            if not actions.shape[0] == rewards.shape[0] == propensities.shape[0] == n or (
                not rewards.shape[1] == propensities.shape[1] == k
            ):
                raise ValueError("actions, rewards or propensities do not match the scores")
            for t in range(n):
                for i in range(k):
                    if not 0 <= actions[t, i] < m:
                        raise ValueError(f"actions are outside the {m} labels")
        elif sample_weight is not None:
            check_lists(indptr, labels, n, m)
        # Other threads may predict at the same time, but not while the model learns.
        if sample_weight is None:
            sample = Sample(m)
        else:
            self.memory = sample = Sample(m) if self.memory is None else self.memory
        with nogil:
            for t in range(n_played):
                self.calibrate(&scores[t, 0], sample)
                if chances is not None:
                    for i in range(m):
                        chances[t, i] = sample.chances[i]
                if sets is not None:
                    self.write_set(rule, measure, fixed, sample)
                    for i in range(m):
                        sets[t, i] = sample.in_set[i]
                if sample_weight is None or sample_weight[t] == 0.0:
                    continue
                for i in range(m):
                    sample.relevant[i] = 0.0
                    sample.known[i] = 1.0 if actions is None else 0.0
                if actions is None:
                    for i in range(indptr[t], indptr[t + 1]):
                        sample.relevant[labels[i]] = 1.0
                else:
                    for i in range(k):
                        if not isnan(rewards[t, i]):
                            sample.relevant[actions[t, i]] = rewards[t, i]
                            sample.known[actions[t, i]] = 1.0 / propensities[t, i]
                weight = min(sample_weight[t], MAX_WEIGHT)
                if self.multilabel:
                    self.learn_sets(sample, actions is None, weight)
                    self.learn_calibration(sample, weight)
                else:
                    self.learn_temperature(&scores[t, 0], sample, weight)
                self.n_learned += 1

    cdef void calibrate(self, const double* scores, Sample sample) noexcept nogil:
        # Compute the features and the probabilities.
        cdef Py_ssize_t m = self.n_labels, l
        cdef double mean = 0.0, deviation = 0.0, total = m * TINY, logit, p
        cdef double* w = &self.weights[0]
        sample.expected_size, sample.top = 0.0, 0
        sample.f1_threshold = (self.rule_sums[F1, HITS] + 0.5 * PRIOR) / (
            self.rule_sums[F1, SIZES] + PRIOR
        )
        if not self.multilabel:
            for l in range(m):
                sample.chances[l] = self.temperature[0] * scores[l]
                if scores[l] > scores[sample.top]:
                    sample.top = l
            softmax(&sample.chances[0], m, &sample.chances[0])
            return
        sample.greatest = scores[0]
        for l in range(m):
            mean += scores[l] / m
            total += max(scores[l], 0.0)
            sample.greatest = max(sample.greatest, scores[l])
        for l in range(m):
            deviation += (scores[l] - mean) * (scores[l] - mean)
        deviation = sqrt(deviation / m)
        for l in range(m):
            sample.features[0, l] = (scores[l] - mean) / (deviation + TINY)
            sample.features[1, l] = log(m * (max(scores[l], 0.0) + TINY) / total + FLOOR)
            sample.features[2, l] = scores[l]
            logit = self.intercepts[0, l] + w[3] * sample.greatest + w[4] + (
                w[0] * sample.features[0, l] + w[1] * sample.features[1, l] + w[2] * scores[l]
            )
            p = 1.0 / (1.0 + exp(-min(max(logit, -MAX_LOGIT), MAX_LOGIT)))
            sample.chances[l] = p
            sample.expected_size += p
            if p > sample.chances[sample.top]:
                sample.top = l

    cdef int best_rule(self, int measure) noexcept nogil:
        # Rules that are equally good are used in their order.
        cdef int rule, best = 0
        cdef double value, best_value = 0.0
        for rule in range(N_RULES):
            value = self.rule_sums[rule, measure]
            if measure == HITS:
                value = (2.0 * value + PRIOR) / (self.rule_sums[rule, SIZES] + PRIOR)
            if rule == 0 or value > best_value:
                best, best_value = rule, value
        return best

    cdef void write_set(self, int rule, int measure, double fixed, Sample sample) noexcept nogil:
        cdef Py_ssize_t m = self.n_labels, l, size = 0
        cdef double bound = fixed
        if not self.multilabel:
            for l in range(m):
                sample.in_set[l] = l == sample.top
            return
        if rule == BEST:
            rule = self.best_rule(measure)
        if rule == CARDINALITY:
            self.write_most_probable(sample, <Py_ssize_t>rint(sample.expected_size))
            return
        if rule == HALF or rule == HALF_OR_TOP:
            bound = 0.5
        elif rule == F1:
            bound = sample.f1_threshold
        for l in range(m):
            if rule == PER_LABEL:
                bound = (self.label_sums[HITS, l] + PRIOR * sample.f1_threshold) / (
                    self.label_sums[SIZES, l] + PRIOR
                )
            sample.in_set[l] = sample.chances[l] > bound
            size += sample.in_set[l]
        if rule == HALF_OR_TOP and size == 0:
            sample.in_set[sample.top] = True

    cdef void write_most_probable(self, Sample sample, Py_ssize_t size) noexcept nogil:
        cdef Py_ssize_t m = self.n_labels, i
        for i in range(m):
            sample.items[i].first, sample.items[i].second = sample.chances[i], 0.0
            sample.items[i].index = i
        sort_items(&sample.items[0], m, &sample.buffer[0])
        for i in range(m):
            sample.in_set[sample.items[i].index] = i < size

    cdef void learn_sets(self, Sample sample, bint all_known, double weight) noexcept nogil:
        cdef Py_ssize_t l
        cdef int rule
        cdef double* sums
        cdef double hits, size
        cdef bint equal
        for rule in range(N_RULES + 1):
            self.write_set(rule, HITS, 0.5, sample)
            hits, size, equal = 0.0, 0.0, True
            for l in range(self.n_labels):
                if rule == PER_LABEL:
                    self.label_sums[HITS, l] += weight * hits_of(sample, l)
                    self.label_sums[SIZES, l] += weight * size_of(sample, l)
                hits += hits_of(sample, l)
                size += size_of(sample, l)
                equal = equal and sample.relevant[l] == sample.in_set[l]
            if rule == PER_LABEL:
                continue
            sums = &self.rule_sums[rule, 0]
            sums[HITS] += weight * hits
            sums[SIZES] += weight * size
            if all_known:
                # The index of two empty sets is one.
                sums[JACCARD] += weight * (hits / (size - hits) if size > 0.0 else 1.0)
                sums[SUBSET] += weight * equal

    cdef void learn_calibration(self, Sample sample, double weight) noexcept nogil:
        cdef double[N_FEATURES] gradient, f
        cdef double error, h
        cdef Py_ssize_t l, i, j
        for i in range(N_FEATURES):
            gradient[i] = 0.0
        f[3], f[4] = sample.greatest, 1.0
        for l in range(self.n_labels):
            if sample.known[l] == 0.0:
                continue
            error = weight * (sample.chances[l] - sample.relevant[l])
            h = weight * sample.chances[l] * (1.0 - sample.chances[l])
            for i in range(3):
                f[i] = sample.features[i, l]
            for i in range(N_FEATURES):
                gradient[i] += error * f[i]
                for j in range(i + 1):
                    self.hessian[i, j] += h * f[i] * f[j]
            self.intercepts[1, l] += h
            self.intercepts[0, l] -= error / self.intercepts[1, l]
        newton_step(&self.hessian[0, 0], gradient, &self.weights[0])

    cdef void learn_temperature(
        self, const double* scores, Sample sample, double weight
    ) noexcept nogil:
        # The labels that are possible: the relevant label, or those whose relevance is unknown.
        # The mean of the scores and their variance are computed over all labels, and over these.
        cdef double p, total = 0.0, mean = 0.0, square = 0.0, of_mean = 0.0, of_square = 0.0
        cdef bint found = False
        cdef Py_ssize_t l
        for l in range(self.n_labels):
            found = found or sample.relevant[l] > 0.5
        for l in range(self.n_labels):
            p = sample.chances[l]
            mean += p * scores[l]
            square += p * scores[l] * scores[l]
            if sample.relevant[l] > 0.5 or (not found and sample.known[l] == 0.0):
                total += p
                of_mean += p * scores[l]
                of_square += p * scores[l] * scores[l]
        if total <= 0.0:
            return
        of_mean, of_square = of_mean / total, of_square / total
        self.temperature[1] += weight * max(
            0.0, square - mean * mean - max(0.0, of_square - of_mean * of_mean)
        )
        self.temperature[0] += weight * (of_mean - mean) / self.temperature[1]
        self.temperature[0] = max(self.temperature[0], MIN_TEMPERATURE)


cdef inline double hits_of(Sample sample, Py_ssize_t l) noexcept nogil:
    return sample.known[l] * sample.relevant[l] * sample.in_set[l]


cdef inline double size_of(Sample sample, Py_ssize_t l) noexcept nogil:
    return sample.in_set[l] + sample.known[l] * sample.relevant[l]


cdef void newton_step(const double* hessian, double* gradient, double* weights) noexcept nogil:
    # Subtract inverse(hessian) * gradient from the weights, by a Cholesky decomposition of the
    # lower triangle. Its pivots are at least the smallest eigenvalue, which is at least PRECISION.
    cdef double[N_FEATURES][N_FEATURES] root
    cdef Py_ssize_t i, j, k
    cdef double value
    for i in range(N_FEATURES):
        for j in range(i + 1):
            value = hessian[i * N_FEATURES + j]
            for k in range(j):
                value -= root[i][k] * root[j][k]
            root[i][j] = sqrt(max(value, PRECISION)) if i == j else value / root[j][j]
    for i in range(N_FEATURES):
        for k in range(i):
            gradient[i] -= root[i][k] * gradient[k]
        gradient[i] /= root[i][i]
    for i in range(N_FEATURES - 1, -1, -1):
        for k in range(i + 1, N_FEATURES):
            gradient[i] -= root[k][i] * gradient[k]
        gradient[i] /= root[i][i]
        weights[i] -= gradient[i]
