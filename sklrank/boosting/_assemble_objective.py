"""What ASSEMBLE minimises: the exponential loss of labels, and of guesses where there are none."""

import numpy as np

from sklrank.boosting._objective import Objective
from sklrank.boosting._powers import MAX_SCORE_GAP

__all__ = ["AssembleObjective"]


class AssembleObjective(Objective):
    r"""The loss of Bennett et al. (2002), for several classes as in SAMME.

    .. math:: \sum_i d_i \exp\Bigl(\frac{1}{K} \sum_k F_i^k - F_i^{y_i}\Bigr)

    Rows without a label have the one that the scores give them; before there are any scores, a
    guess. A new guess never raises the loss, as no label has a smaller one than that of the largest
    score. The weights of the rows are their losses, and the step of `Objective.step`,
    :math:`\log \frac{1 - \epsilon}{\epsilon} + \log(K - 1)` for the weighted error
    :math:`\epsilon`, is where the loss is least along the hypothesis: with two classes the bound on
    the loss is exact up to a factor, with more it is not used.

    Parameters
    ----------
    labels : ndarray of int of shape (n_samples,)
        Classes; -1: unknown.
    guesses : ndarray of int of shape (n_samples,)
        Classes that unlabeled rows start with.
    n_classes : int
        K.
    labeled_share : float
        The share of the labeled rows together in the sum of the d. Rows of one kind have equal d.
    """

    scale = 0.5

    def __init__(self, labels, guesses, n_classes, labeled_share):
        self._labeled = labels >= 0
        self._known = labels
        self._guesses = guesses
        self._others = n_classes - 1
        n_labeled = np.count_nonzero(self._labeled)
        n_unlabeled = max(1, len(labels) - n_labeled)
        self._base = np.where(
            self._labeled, labeled_share / n_labeled, (1 - labeled_share) / n_unlabeled
        )

    def move_to(self, scores):
        guesses = scores.argmax(axis=1) if scores.any() else self._guesses
        self.labels = np.where(self._labeled, self._known, guesses)
        margins = scores[np.arange(len(scores)), self.labels] - scores.mean(axis=1)
        # Rows whose scores speak more against their label than this weigh as if they did not.
        self.weights = self._base * np.exp(np.minimum(-margins, MAX_SCORE_GAP))
        self.value = self.weights.sum()

    def masses(self, hypothesis):
        right = hypothesis[np.arange(len(hypothesis)), self.labels]
        return self._others * (self.weights @ right), self.weights @ (1 - right)
