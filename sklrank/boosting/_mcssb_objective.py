"""What MCSSB minimises: disagreement of similar rows, and of rows with labels like theirs."""

import numpy as np
from scipy.special import softmax

from sklrank.boosting._objective import Objective
from sklrank.boosting._powers import MAX_SCORE_GAP

__all__ = ["MCSSBObjective"]


class MCSSBObjective(Objective):
    r"""Equation 2.7 of Valizadegan (2010), with class shares b, the softmax of the scores.

    .. math:: \sum_{ij} \frac{S_{ij}}{b_i^\top b_j} + C \sum_{jk} \frac{q_j^k}{b_j^k}

    The second sum is that of Eq. 2.6 for the class masses :math:`q_j^k`, the similarity of row j to
    the labeled rows of class k; see `_class_masses.py` for others.

    A step along a hypothesis that gives row i the class k wins at most (Eqs. 2.17 and 2.18)

    .. math:: B_i^k = b_i^k \sum_j \frac{S_{ij} b_j^k}{(b_i^\top b_j)^2}
              + \frac{C}{2} \frac{q_i^k}{b_i^k}

    and loses :math:`A_i^k = b_i^k \sum_l B_i^l` (Eqs. 2.15 and 2.16, with their sums over j taken
    together). The masses of a hypothesis are sums of these, and :math:`A_i^k - B_i^k` is the
    :math:`\alpha_i^k + C \beta_i^k` of Eq. 2.12: what it costs to give row i the class k.

    Parameters
    ----------
    similarity : DenseSimilarity or SparseSimilarity
        S, with a row for each training row.
    class_masses : ndarray of shape (n_samples, n_classes)
        q.
    labels : ndarray of int of shape (n_samples,)
        The known classes, which the rows keep; -1: unknown.
    labeled_weight : float
        C.

    Attributes
    ----------
    costs : ndarray of shape (n_samples, n_classes)
        What giving a row a class costs; the sum over the classes is 0.
    """

    # The bound of Lemma 2 has e^(2 alpha).
    scale = 2.0

    def __init__(self, similarity, class_masses, labels, labeled_weight):
        self._similarity = similarity
        self._half_masses = labeled_weight / 2 * class_masses
        self._known = labels

    def move_to(self, scores):
        scores = scores - scores.max(axis=1, keepdims=True)
        # Reciprocals of class shares, and their squares, stay finite.
        shares = softmax(np.maximum(scores, -MAX_SCORE_GAP), axis=1)
        by_similarity = shares * self._similarity.pull(shares)
        by_labels = self._half_masses / shares
        self.value = by_similarity.sum() + 2 * by_labels.sum()
        self._won = by_similarity + by_labels
        self._lost = shares * self._won.sum(axis=1, keepdims=True)
        self.costs = self._lost - self._won
        self.labels = np.where(self._known < 0, self.costs.argmin(axis=1), self._known)
        # The sum over the classes is 0, so that only rounding makes the least cost positive.
        self.weights = np.maximum(-self.costs.min(axis=1), 0.0)

    def masses(self, hypothesis):
        return np.vdot(hypothesis, self._won), np.vdot(hypothesis, self._lost)
