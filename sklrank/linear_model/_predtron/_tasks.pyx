# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Prediction problems of Predtron, one round at a time (Jain et al. 2015, Section 2).

A round has scores t and a label y. A prediction sigma has a loss L(sigma, y) >= 0 and a
representation rep(sigma), which is a unit vector with as many entries as t. Every task computes

    pred(t) = argmax <rep(sigma), t>                    the prediction (Eq. 1)
    sigma_y = argmax <rep(sigma), t>, L(sigma, y) = 0   the correct prediction
    sigma~  = argmax L(sigma, y) + <rep(sigma), t>      loss-augmented inference (Algorithm 1), or
    sigma~  = pred(t)                                   for the loss-driven Algorithm 2

and, after a mistake (L(pred(t), y) > 0), the direction rep(sigma~) - rep(sigma_y). For Algorithm 1,
the direction is a subgradient in t of the surrogate phi (Eq. 2). For Algorithm 2, it is a
subgradient of phi_1, and the step is multiplied by L(pred(t), y).

The paper leaves two choices open. Ties of pred(t) are broken against the label: among the
predictions with the greatest similarity <rep(sigma), t>, the one with the greatest loss is chosen.
Thus zero weights make a mistake, and the classic perceptron is the binary case. Among the
predictions without loss, sigma_y is the one with the greatest similarity. This choice gives the
smallest surrogate that Eq. 2 allows.

This file has the tasks of classes and of label sets. `_ranking_task.pyx` has the task of rankings.

Classes (Section 3). The predictions are represented by the standard basis e_1, ..., e_d, followed
by other unit vectors, the codes; the basis may be left out. Two classes have the codes -1 and +1,
as in the classic perceptron. More classes have the basis, and the option REJECT adds the code
(e_1 + ... + e_d) / sqrt(d). The loss is a table, costs[y, sigma].

Label sets (Section 3 and Appendix C.2). A set sigma, chosen from m labels, is represented by a
vector with the entry 1 / sqrt(m) for each label in sigma and -1 / sqrt(m) for each other label. Its
loss may be any function of the number a of relevant labels and the number b of irrelevant labels in
sigma. Among all sets with the same (a, b), the greatest similarity is reached by the set of the a
relevant and the b irrelevant labels with the greatest scores. So a search over the pairs (a, b) is
equivalent to a search over all 2^m sets. If Y are the relevant labels, there are
(|Y| + 1) (m - |Y| + 1) pairs. pred(t) is the set of the labels with positive scores. Labels with
score zero are ties, so ties are broken by a search over the number of relevant and the number of
irrelevant labels with score zero.
"""

from libc.math cimport INFINITY, sqrt

import numpy as np

from sklrank._compiled import make_items
from sklrank._online import check_lists

from sklrank._compiled.sorting cimport Item, sort_items


cdef inline bint is_preferred(
    double value, double loss, double other_value, double other_loss
) noexcept nogil:
    # Return whether a prediction has a greater value than another one, or an equal value and a
    # greater loss.
    return value > other_value or (value == other_value and loss > other_loss)


cdef class Task:
    """Base of the tasks. A subclass calls `set_size` in its constructor."""

    cdef int set_size(self, Py_ssize_t n_all) except -1:
        self.n_all = n_all
        self.choose(slice(None))
        return 0

    def choose(self, rounds):
        """Choose the rounds to play, given as a slice or as an array of indices in any order."""
        if isinstance(rounds, slice):
            rounds = np.arange(*rounds.indices(self.n_all))
        rounds = np.ascontiguousarray(rounds, dtype=np.intp)
        if rounds.ndim != 1 or len(rounds) and not 0 <= rounds.min() <= rounds.max() < self.n_all:
            raise ValueError(f"rounds must be numbers from 0 to {self.n_all - 1}")
        self.chosen, self.n_rounds = rounds, len(rounds)

    def evaluate(self, Py_ssize_t i, scores):
        """Return the loss of round `i` and its direction `(n_scores,)`, 0 if it is 0. For tests."""
        cdef double loss
        if not 0 <= i < self.n_rounds:
            raise ValueError(f"i must be from 0 to {self.n_rounds - 1}, got {i}")
        scores = np.ascontiguousarray(scores, dtype=np.float64)
        if scores.shape != (self.n_scores(i),):
            raise ValueError(
                f"scores must have the shape ({self.n_scores(i)},) in round {i}, got {scores.shape}"
            )
        # The arrays have an additional entry, so that their addresses are valid even if a round has
        # no scores.
        cdef double[::1] values = np.append(scores, 0.0), direction = np.zeros(len(scores) + 1)
        with nogil:
            loss = self.loss_and_direction(i, &values[0], &direction[0])
        return loss, np.array(direction[: len(scores)])

    cdef Py_ssize_t n_scores(self, Py_ssize_t i) noexcept nogil:
        return 0

    cdef double loss_and_direction(
        self, Py_ssize_t i, const double* scores, double* direction
    ) except -1.0 nogil:
        return 0.0


cdef class ClassTask(Task):
    """Task whose rounds have one class each: binary, multiclass or ordinal classification.

    Costs are not negative, with a zero in each row. The last `n_codes` predictions have `codes`,
    which are unit vectors; the others, none or `n_scores`, have the standard basis.
    """

    cdef const double[:, ::1] costs         # (n_classes, n_predictions)
    cdef const double[:, ::1] codes         # (n_codes, n_scores)
    cdef Py_ssize_t n_basis                 # number of predictions represented by the basis
    cdef const Py_ssize_t[::1] labels       # (n_all,)
    cdef double[::1] similarities           # scratch: (n_predictions,)

    def __init__(
        self, const double[:, ::1] costs not None, const double[:, ::1] codes not None,
        const Py_ssize_t[::1] labels not None, bint loss_driven=False,
    ):
        cdef Py_ssize_t n_classes = costs.shape[0], n_predictions = costs.shape[1]
        if not n_classes or not np.equal(costs, 0.0).any(axis=1).all():
            raise ValueError("costs must have a zero for each class")
        if codes.shape[1] < 1 or n_predictions - codes.shape[0] not in (0, codes.shape[1]):
            raise ValueError("codes do not fit the predictions")
        if labels.shape[0] and not (0 <= np.min(labels) and np.max(labels) < n_classes):
            raise ValueError(f"labels are outside the {n_classes} classes")
        self.loss_driven, self.costs, self.labels = loss_driven, costs, labels
        self.set_size(labels.shape[0])
        self.codes, self.n_basis = codes, n_predictions - codes.shape[0]
        self.similarities = np.empty(n_predictions)

    cdef Py_ssize_t n_scores(self, Py_ssize_t i) noexcept nogil:
        return self.codes.shape[1]

    cdef double loss_and_direction(
        self, Py_ssize_t i, const double* scores, double* direction
    ) except -1.0 nogil:
        cdef const double* costs = &self.costs[self.labels[self.chosen[i]], 0]
        cdef const double* similarities = &self.similarities[0]
        cdef Py_ssize_t k, predicted = 0, augmented, correct = -1
        self.write_similarities(scores)
        for k in range(1, self.costs.shape[1]):
            if is_preferred(similarities[k], costs[k], similarities[predicted], costs[predicted]):
                predicted = k
        if costs[predicted] == 0.0:
            return 0.0
        augmented = predicted
        for k in range(self.costs.shape[1]):
            if costs[k] == 0.0 and (correct < 0 or similarities[k] > similarities[correct]):
                correct = k
            if not self.loss_driven and is_preferred(
                costs[k] + similarities[k], costs[k],
                costs[augmented] + similarities[augmented], costs[augmented],
            ):
                augmented = k
        for k in range(self.codes.shape[1]):
            direction[k] = 0.0
        self.add(augmented, 1.0, direction)
        self.add(correct, -1.0, direction)
        return costs[predicted]

    cdef void write_similarities(self, const double* scores) noexcept nogil:
        cdef double* similarities = &self.similarities[0]
        cdef Py_ssize_t j, k
        for k in range(self.n_basis):
            similarities[k] = scores[k]
        for k in range(self.codes.shape[0]):
            similarities[self.n_basis + k] = 0.0
            for j in range(self.codes.shape[1]):
                similarities[self.n_basis + k] += self.codes[k, j] * scores[j]

    cdef void add(self, Py_ssize_t prediction, double sign, double* direction) noexcept nogil:
        # Compute direction += sign rep(prediction).
        cdef Py_ssize_t j
        if prediction < self.n_basis:
            direction[prediction] += sign
            return
        for j in range(self.codes.shape[1]):
            direction[j] += sign * self.codes[prediction - self.n_basis, j]


# The best one of the sets that have `n_relevant` relevant and `n_irrelevant` irrelevant labels.
cdef struct Candidate:
    Py_ssize_t n_relevant
    Py_ssize_t n_irrelevant
    double value
    double loss


# The relevant labels or the irrelevant labels of a round.
cdef struct LabelGroup:
    Item* items                 # `first` is the score, and `index` is the label
    double* similarities        # (n + 1,) similarities of the sets of the first 0, 1, ..., n labels
    Py_ssize_t n                # number of labels
    Py_ssize_t n_positive       # number of labels with a positive score
    Py_ssize_t n_zero           # number of labels with score zero


cdef class SubsetTask(Task):
    """Task whose rounds have one set of labels each, for losses that are functions of counts.

    The table for rounds with r relevant labels starts at `losses[offsets[r]]`. It has the shape
    (r + 1, n_labels - r + 1) and holds the losses by a (row) and b (column), with a zero at (r, 0).
    The offset may be -1 if no round has r relevant labels.
    """

    cdef const Py_ssize_t[::1] indptr       # relevant labels of each round, as in a CSR matrix,
    cdef const Py_ssize_t[::1] labels       # in increasing order
    cdef Py_ssize_t n_labels
    cdef const Py_ssize_t[::1] offsets      # (n_labels + 1,) start of the table for each |Y|
    cdef const double[::1] losses           # concatenated tables
    cdef double unit                        # 1 / sqrt(n_labels)
    cdef Item[::1] items                    # scratch: relevant labels, then irrelevant ones
    cdef Item[::1] buffer                   # scratch of the sort
    cdef double[::1] similarities           # scratch

    def __init__(
        self, const Py_ssize_t[::1] indptr not None, const Py_ssize_t[::1] labels not None,
        Py_ssize_t n_labels, const Py_ssize_t[::1] offsets not None,
        const double[::1] losses not None, bint loss_driven=False,
    ):
        cdef Py_ssize_t i, j, r, n_rounds = indptr.shape[0] - 1
        check_lists(indptr, labels, n_rounds, n_labels)
        for i in range(n_rounds):
            for j in range(indptr[i] + 1, indptr[i + 1]):
                if labels[j] <= labels[j - 1]:
                    raise ValueError(f"labels of round {i} are not in order")
        if n_labels < 1 or offsets.shape[0] != n_labels + 1:
            raise ValueError("offsets do not fit the number of labels")
        for r in np.unique(np.diff(indptr)):
            if not 0 <= offsets[r] <= losses.shape[0] - (r + 1) * (n_labels - r + 1):
                raise ValueError(f"losses lack the table of {r} relevant labels")
        self.loss_driven = loss_driven
        self.indptr, self.labels, self.n_labels = indptr, labels, n_labels
        self.set_size(n_rounds)
        self.offsets, self.losses = offsets, losses
        self.unit = 1.0 / sqrt(<double>n_labels)
        self.items, self.buffer = make_items(n_labels), make_items(n_labels)
        self.similarities = np.empty(n_labels + 2)

    cdef Py_ssize_t n_scores(self, Py_ssize_t i) noexcept nogil:
        return self.n_labels

    cdef double loss_and_direction(
        self, Py_ssize_t i, const double* scores, double* direction
    ) except -1.0 nogil:
        cdef LabelGroup relevant, irrelevant
        cdef Candidate predicted, augmented, correct
        cdef const double* losses
        cdef double loss, similarity
        cdef Py_ssize_t a, b
        self.split_labels(self.chosen[i], scores, &relevant, &irrelevant)
        losses = &self.losses[self.offsets[relevant.n]]
        predicted = predict(losses, &relevant, &irrelevant)
        if predicted.loss == 0.0:
            return 0.0
        self.sort(&relevant)
        self.sort(&irrelevant)
        augmented = predicted
        # The set of the relevant labels has no loss.
        correct.n_relevant, correct.n_irrelevant = relevant.n, 0
        augmented.value = correct.value = -INFINITY
        for a in range(relevant.n + 1):
            for b in range(irrelevant.n + 1):
                loss = losses[a * (irrelevant.n + 1) + b]
                similarity = relevant.similarities[a] + irrelevant.similarities[b]
                if loss == 0.0 and similarity > correct.value:
                    correct = Candidate(a, b, similarity, loss)
                if not self.loss_driven and is_preferred(
                    loss + similarity, loss, augmented.value, augmented.loss
                ):
                    augmented = Candidate(a, b, loss + similarity, loss)
        self.write_direction(&relevant, augmented.n_relevant, correct.n_relevant, direction)
        self.write_direction(&irrelevant, augmented.n_irrelevant, correct.n_irrelevant, direction)
        return predicted.loss

    cdef void split_labels(
        self, Py_ssize_t i, const double* scores, LabelGroup* relevant, LabelGroup* irrelevant
    ) noexcept nogil:
        cdef Py_ssize_t label, j = self.indptr[i], stop = self.indptr[i + 1]
        cdef LabelGroup* group
        relevant.items = &self.items[0]
        relevant.similarities = &self.similarities[0]
        irrelevant.items = relevant.items + (stop - j)
        irrelevant.similarities = relevant.similarities + (stop - j + 1)
        relevant.n = relevant.n_positive = relevant.n_zero = 0
        irrelevant.n = irrelevant.n_positive = irrelevant.n_zero = 0
        for label in range(self.n_labels):
            if j < stop and self.labels[j] == label:
                group = relevant
                j += 1
            else:
                group = irrelevant
            group.items[group.n] = Item(scores[label], 0.0, label)
            group.n += 1
            group.n_positive += scores[label] > 0.0
            group.n_zero += scores[label] == 0.0

    cdef void sort(self, LabelGroup* group) noexcept nogil:
        # Sort the labels by score, and write the similarities.
        cdef double similarity = 0.0
        cdef Py_ssize_t j
        sort_items(group.items, group.n, &self.buffer[0])
        for j in range(group.n):
            similarity -= self.unit * group.items[j].first
        group.similarities[0] = similarity
        for j in range(group.n):
            similarity += 2.0 * self.unit * group.items[j].first
            group.similarities[j + 1] = similarity

    cdef void write_direction(
        self, const LabelGroup* group, Py_ssize_t n_augmented, Py_ssize_t n_correct,
        double* direction,
    ) noexcept nogil:
        # Both predictions contain the labels with the greatest scores in the group, so they differ
        # in the labels that only the larger one contains.
        cdef double change = 2.0 * self.unit * (1.0 if n_augmented > n_correct else -1.0)
        cdef Py_ssize_t j
        for j in range(group.n):
            direction[group.items[j].index] = 0.0
        for j in range(min(n_augmented, n_correct), max(n_augmented, n_correct)):
            direction[group.items[j].index] = change


cdef Candidate predict(
    const double* losses, const LabelGroup* relevant, const LabelGroup* irrelevant
) noexcept nogil:
    # Return pred(t). Ties are broken against the label.
    cdef Candidate worst = Candidate(relevant.n_positive, irrelevant.n_positive, 0.0, -1.0)
    cdef Py_ssize_t a, b
    cdef double loss
    for a in range(relevant.n_positive, relevant.n_positive + relevant.n_zero + 1):
        for b in range(irrelevant.n_positive, irrelevant.n_positive + irrelevant.n_zero + 1):
            loss = losses[a * (irrelevant.n + 1) + b]
            if loss > worst.loss:
                worst = Candidate(a, b, 0.0, loss)
    return worst
