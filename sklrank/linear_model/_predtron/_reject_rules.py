"""When a linear classifier declines to decide.

The rule of Jain et al. (2015) gives REJECT a representation among those of the classes, the sum of
the basis over sqrt(m), and predicts it where it is the most like the scores. But a step moves the
scores from one class to another, so that they sum to zero, and the similarity to REJECT is zero,
too, while that to some class is not below. And Algorithm 1 never steps away from REJECT either: on
a mistake a wrong class has a similarity of zero or more, and with its loss 1 it is ahead of REJECT,
whose cost is less. So by their rule Predtron rejects nothing but ties.

The other rule rejects where the lead of the best class over the next is small, below a threshold
that would have cost least in the rounds so far.
"""

import numpy as np

__all__ = ["REJECT_RULES", "LeadRule", "RepresentationRule"]

# Thresholds that are tried are powers of two with exponents from -128 to 128, by eighths, in a unit
# near the first lead: how long rows or steps are does not matter.
PARTS, LARGEST = 8, 128


class LeadRule:
    """Rejects rows whose lead is below the threshold that was best so far.

    Parameters
    ----------
    costs : ndarray of shape (n_classes, n_classes + 1)
        Costs by true class and prediction, the last one that of REJECT.
    """

    def __init__(self, costs):
        self._costs = costs
        self.class_costs = np.ascontiguousarray(costs[:, :-1])
        # What the rounds with a lead between two thresholds cost, decided and rejected.
        self._decided, self._rejected = np.zeros((2, 2 * PARTS * LARGEST))
        self._unit = None  # its exponent

    def record(self, scores, labels):
        """Count rounds: scores as `rejects` gets them, of before they were learnt; and classes."""
        leads, predictions = leads_of(scores)
        with np.errstate(divide="ignore"):
            exponents = np.log2(leads)
        if self._unit is None and (leads > 0).any():
            self._unit = np.floor(exponents[leads > 0][0])
        places = np.floor(PARTS * (exponents - (self._unit or 0.0) + LARGEST))
        places = np.clip(places, 0, len(self._decided) - 1).astype(np.intp)
        np.add.at(self._decided, places, self._costs[labels, predictions])
        np.add.at(self._rejected, places, self._costs[labels, -1])

    @property
    def threshold(self):
        """The least lead that is decided; the smallest of equally good ones, 0 at the start."""
        decided_above = np.append(np.cumsum(self._decided[::-1])[::-1], 0.0)
        rejected_below = np.append(0.0, np.cumsum(self._rejected))
        best = np.argmin(decided_above + rejected_below)
        if best == 0:
            return 0.0
        if best == len(self._decided):
            return np.inf
        return 2.0 ** (best / PARTS - LARGEST + (self._unit or 0.0))

    def rejects(self, scores):
        """Whether each row is rejected, by its scores."""
        return leads_of(scores)[0] < self.threshold


class RepresentationRule:
    """Rejects rows whose scores are most like the representation of REJECT.

    Parameters
    ----------
    costs : ndarray of shape (n_classes, n_classes + 1)
        Costs by true class and prediction, the last one that of REJECT.
    """

    def __init__(self, costs):
        self.class_costs = costs

    def record(self, scores, labels):
        """Nothing is counted."""

    def rejects(self, scores):
        """Whether each row is rejected, by its scores."""
        return scores.sum(axis=1) / np.sqrt(scores.shape[1]) > scores.max(axis=1)


REJECT_RULES = {"lead": LeadRule, "representation": RepresentationRule}


def leads_of(scores):
    """By how much the best class leads, and which one it is; one score is that of two classes."""
    if scores.shape[1] == 1:
        return np.abs(scores[:, 0]), (scores[:, 0] > 0).astype(np.intp)
    two_best = np.partition(scores, -2, axis=1)[:, -2:]
    return two_best[:, 1] - two_best[:, 0], np.argmax(scores, axis=1)
