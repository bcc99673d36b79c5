"""Rules by which a linear classifier rejects a sample.

In the rule of Jain et al. (2015), REJECT is a prediction like the classes. Its representation is
the sum of the m basis vectors divided by sqrt(m), and it is predicted if it has the greatest
similarity to the scores. But each step adds as much to the scores of one class as it subtracts from
those of another, so the scores of a sample always sum to zero. The similarity of REJECT is then
zero, and that of some class is at least zero. Nor does Algorithm 1 ever step away from REJECT: on a
mistake, a wrong class has a similarity of at least zero and a loss of 1, so its loss-augmented
value is greater than that of REJECT, whose cost is less than 1. With this rule, Predtron would
reject a sample only if there are ties. So the rule is not offered.

The rule of this file rejects a sample if its margin, the difference between its two greatest
scores, is below a threshold. The threshold minimizes the total cost of the rounds so far.
"""

import numpy as np

__all__ = ["REJECT_RULES", "MarginRule", "margins"]

# The candidate thresholds are powers of two with exponents from -128 to 128, in steps of 1/8. They
# are multiplied by a unit that is close to the first margin above zero, so that the rule does not
# depend on the scale of the samples and steps.
STEPS_PER_UNIT, MAX_EXPONENT = 8, 128


class MarginRule:
    """Margin rule: rejects the samples whose margin is below the best threshold so far.

    Parameters
    ----------
    costs : ndarray of shape (n_classes, n_classes + 1)
        Costs by true class (row) and prediction (column). The last column holds the costs of
        REJECT.
    """

    def __init__(self, costs):
        self._costs = costs
        # For each pair of adjacent thresholds, the arrays hold the total costs of the rounds with a
        # margin between the two: the costs of the predictions, and the costs of rejecting them.
        self._predicted, self._rejected = np.zeros((2, 2 * STEPS_PER_UNIT * MAX_EXPONENT))
        self._unit = None  # the exponent of the unit

    def update(self, scores, labels):
        """Add rounds with held-out scores `(n_rounds, n_scores)` and true classes `(n_rounds,)`."""
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
        """Smallest margin for which a sample is not rejected.

        Among equally good thresholds, the smallest one is used. It is 0 before the first round.
        """
        predicted_above = np.append(np.cumsum(self._predicted[::-1])[::-1], 0.0)
        rejected_below = np.append(0.0, np.cumsum(self._rejected))
        best = np.argmin(predicted_above + rejected_below)
        if best == 0:
            return 0.0
        if best == len(self._predicted):
            return np.inf
        return 2.0 ** (best / STEPS_PER_UNIT - MAX_EXPONENT + (self._unit or 0.0))

    def rejects(self, scores):
        """Return whether each sample is rejected, `(n_samples,)`, given `(n_samples, n_scores)`."""
        return margins(scores)[0] < self.threshold


REJECT_RULES = {"margin": MarginRule}


def margins(scores):
    """Return the margin and the index of the best class of each sample, both `(n_samples,)`.

    If there is one score, it is the difference between two classes.
    """
    if scores.shape[1] == 1:
        return np.abs(scores[:, 0]), (scores[:, 0] > 0).astype(np.intp)
    two_best = np.partition(scores, -2, axis=1)[:, -2:]
    return two_best[:, 1] - two_best[:, 0], np.argmax(scores, axis=1)
