"""Objectives of classifiers that are fitted to labeled and unlabeled samples.

The module docstring of `_boosters/rounds.py` defines labels, weights, steps and their bound.
"""

import numpy as np
from scipy.special import softmax

from sklrank._boosters import MAX_SCORE_GAP, Objective
from sklrank.semi_supervised._similarity import negative_gradient


class AssembleObjective(Objective):
    r"""Loss of ASSEMBLE (Bennett et al. 2002), for several classes as in SAMME.

    .. math:: \sum_i d_i \exp\Bigl(\frac{1}{K} \sum_k F_i^k - F_i^{y_i}\Bigr)

    Here :math:`F_i^k` is the score of sample i for class k of K, :math:`y_i` is its label, and
    :math:`d_i` its initial weight. The label of an unlabeled sample is its pseudo-label, the class
    with the largest score. Since no other label has a smaller loss, a new pseudo-label never
    increases the loss. The weight of a sample is its loss.

    The default step (see `AssembleClassifier`) minimizes the loss for fixed labels along the
    hypothesis, and no step between 0 and twice this step increases the loss. With two classes, the
    bound of `_boosters/rounds.py` is equal to this loss. With more classes, the bound does not hold
    in general, and is not needed.

    The label of an unlabeled sample is -1, and `pseudo_labels` are the labels as long as all scores
    are 0. The initial weights of the labeled samples are in proportion to the `weights`, and so are
    those of the unlabeled ones.
    """

    def __init__(self, labels, weights, pseudo_labels, n_classes, labeled_share, step_rule="samme"):
        # The step is log(correct / incorrect) / (2 * scale).
        self.scale, self._gain = (1.0, 1.0) if step_rule == "printed" else (0.5, n_classes - 1)
        self._is_labeled = labels >= 0
        self._true_labels = labels
        self._initial_pseudo_labels = pseudo_labels
        labeled, unlabeled = (weights[mask].sum() for mask in (labels >= 0, labels < 0))
        self._initial_weights = weights * np.where(
            self._is_labeled, labeled_share / labeled, (1 - labeled_share) / (unlabeled or 1.0)
        )

    def set_scores(self, scores):
        pseudo_labels = scores.argmax(axis=1) if scores.any() else self._initial_pseudo_labels
        self.labels = np.where(self._is_labeled, self._true_labels, pseudo_labels)
        margins = scores[np.arange(len(scores)), self.labels] - scores.mean(axis=1)
        self.weights = self._initial_weights * np.exp(np.minimum(-margins, MAX_SCORE_GAP))
        self.value = self.weights.sum()

    def step_weights(self, hypothesis):
        is_correct = hypothesis[np.arange(len(hypothesis)), self.labels]
        return self._gain * (self.weights @ is_correct), self.weights @ (1 - is_correct)


class MCSSBObjective(Objective):
    r"""Equation 2.7 of Valizadegan (2010), for class probabilities b, the softmax of the scores.

    .. math:: \sum_{ij} \frac{S_{ij}}{b_i^\top b_j} + C \sum_{jk} \frac{q_j^k}{b_j^k}

    The second sum is that of Eq. 2.6 with the class affinities :math:`q_j^k`, the similarity of
    sample j to the labeled samples of class k; see `_similarity.py` for other affinities. If the
    samples have weights, :math:`S_{ij}` is multiplied by those of i and j, and :math:`q_j^k` by
    that of j.

    For a hypothesis that assigns sample i to class k, the sample adds

    .. math:: B_i^k = b_i^k \sum_j \frac{S_{ij} b_j^k}{(b_i^\top b_j)^2}
              + \frac{C}{2} \frac{q_i^k}{b_i^k}

    to the correct step weight (Eqs. 2.17 and 2.18) and :math:`A_i^k = b_i^k \sum_l B_i^l` to the
    incorrect one (Eqs. 2.15 and 2.16, with their sums over j taken together). The difference
    :math:`A_i^k - B_i^k` is :math:`\alpha_i^k + C \beta_i^k` of Eq. 2.12, the cost of assigning
    sample i to class k.

    The similarity S is a matrix, dense or a CSR array, `class_affinities` are q, and
    `labeled_weight` is C. Labeled samples keep their classes as labels; the label of unlabeled ones
    is -1. If `trains_labeled` is False, the weights of labeled samples are 0, unless all samples
    are labeled.

    `costs` `(n_samples, n_classes)` are those of assigning each sample to each class; their sum
    over the classes is 0.
    """

    # The bound of Lemma 2 contains e^(2 alpha).
    scale = 2.0

    def __init__(
        self, similarity, class_affinities, labels, weights, labeled_weight, *, trains_labeled=True
    ):
        self._similarity = similarity
        self._sample_weights = weights[:, np.newaxis]
        self._half_affinities = labeled_weight / 2 * self._sample_weights * class_affinities
        self._true_labels = labels
        self._has_weight = np.full(len(labels), trains_labeled or (labels >= 0).all())
        self._has_weight |= labels < 0

    def set_scores(self, scores):
        scores = scores - scores.max(axis=1, keepdims=True)
        # The reciprocals of probabilities and their squares must be finite.
        probabilities = softmax(np.maximum(scores, -MAX_SCORE_GAP), axis=1)
        by_similarity = self._sample_weights * probabilities
        by_similarity *= negative_gradient(self._similarity, probabilities, by_similarity)
        by_labels = self._half_affinities / probabilities
        self.value = by_similarity.sum() + 2 * by_labels.sum()
        self._correct = by_similarity + by_labels
        self._incorrect = probabilities * self._correct.sum(axis=1, keepdims=True)
        self.costs = self._incorrect - self._correct
        self.labels = np.where(self._true_labels < 0, self.costs.argmin(axis=1), self._true_labels)
        # The decrease of the bound if the sample is assigned to its label.
        decreases = -np.take_along_axis(self.costs, self.labels[:, np.newaxis], axis=1)[:, 0]
        self.weights = np.where(self._has_weight, np.maximum(decreases, 0.0), 0.0)

    def step_weights(self, hypothesis):
        return np.vdot(hypothesis, self._correct), np.vdot(hypothesis, self._incorrect)
