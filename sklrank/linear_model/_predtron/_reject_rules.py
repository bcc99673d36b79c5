"""Rules by which a linear classifier rejects a sample.

The rule of Jain et al. (2015) gives REJECT a representation among those of the classes, the sum of
the basis over sqrt(m), and predicts it if it has the greatest similarity to the scores. But a step
moves the scores from one class to another, so that they sum to zero. The similarity of REJECT is
then zero too, and that of some class is not smaller. Algorithm 1 never steps away from REJECT
either: on a mistake a wrong class has a similarity of zero or more and a loss of 1, so its
loss-augmented value is greater than that of REJECT, whose cost is smaller. By their rule Predtron
rejects ties only, so it is not offered.

The rule of this file rejects a sample if its margin, the difference between the two greatest
scores, is below a threshold. The threshold is the one that would have cost least in the rounds so
far.
"""

import numpy as np

__all__ = ["REJECT_RULES", "MarginRule", "margins"]

# Candidate thresholds are powers of two with exponents from -128 to 128, in steps of 1/8. They are
# relative to a unit near the first margin, so that the scale of the samples and steps cancels.
STEPS_PER_UNIT, MAX_EXPONENT = 8, 128


class MarginRule:
    """Reject the samples whose margin is below the best threshold so far.

    Parameters
    ----------
    costs : ndarray of shape (n_classes, n_classes + 1)
        Costs by true class and prediction. The last column is that of REJECT.
    """

    def __init__(self, costs):
        self._costs = costs
        # Total costs of the rounds with a margin between two thresholds, if predicted or rejected.
        self._predicted, self._rejected = np.zeros((2, 2 * STEPS_PER_UNIT * MAX_EXPONENT))
        self._unit = None  # its exponent

    def update(self, scores, labels):
        """Add rounds with these held-out scores and classes."""
        differences, predictions = margins(scores)
        with np.errstate(divide="ignore"):
            exponents = np.log2(differences)
        if self._unit is None and (differences > 0).any():
            self._unit = np.floor(exponents[differences > 0][0])
        bins = np.floor(STEPS_PER_UNIT * (exponents - (self._unit or 0.0) + MAX_EXPONENT))
        bins = np.clip(bins, 0, len(self._predicted) - 1).astype(np.intp)
        np.add.at(self._predicted, bins, self._costs[labels, predictions])
        np.add.at(self._rejected, bins, self._costs[labels, -1])

    @property
    def threshold(self):
        """The least margin that is not rejected: the smallest of equally good ones, 0 at first."""
        predicted_above = np.append(np.cumsum(self._predicted[::-1])[::-1], 0.0)
        rejected_below = np.append(0.0, np.cumsum(self._rejected))
        best = np.argmin(predicted_above + rejected_below)
        if best == 0:
            return 0.0
        if best == len(self._predicted):
            return np.inf
        return 2.0 ** (best / STEPS_PER_UNIT - MAX_EXPONENT + (self._unit or 0.0))

    def rejects(self, scores):
        """Return whether each sample is rejected, by its scores."""
        return margins(scores)[0] < self.threshold


REJECT_RULES = {"margin": MarginRule}


def margins(scores):
    """Return the margin and the best class of each sample; one score is that of two classes."""
    if scores.shape[1] == 1:
        return np.abs(scores[:, 0]), (scores[:, 0] > 0).astype(np.intp)
    two_best = np.partition(scores, -2, axis=1)[:, -2:]
    return two_best[:, 1] - two_best[:, 0], np.argmax(scores, axis=1)
