"""What the boosters of this folder minimise, one class each; none of them knows an estimator.

An objective is a function of the scores ``F`` of the training rows. At the scores to which it was
last moved it tells a *label* and a *weight* for each row: whoever learns these labels under these
weights lowers a bound on the objective most. Of the hypothesis ``f`` that a weak learner returns it
tells two masses, ``won`` and ``lost``, such that for any step ``alpha``

    objective(F + alpha f) <= objective(F) - (1 - e^-s alpha) won + (e^s alpha - 1) lost,

whose right side is least at ``alpha = log(won / lost) / 2s``, where the objective falls by
``(sqrt(won) - sqrt(lost))^2`` or more, and back where it was at twice that step: any step up to
there does not let the objective rise. (A product of errors falls so in its logarithm.)
"""

from abc import ABC, abstractmethod
from math import log

__all__ = ["Objective"]

# A hypothesis that never errs has an infinite step. Beyond this ratio of the masses nothing is left
# to win from the rows that it gets right, and the scores stay far from overflow.
MAX_RATIO = 1e6
# Masses as near as this to each other, by share, differ by their rounding only.
ROUNDING = 1e-12


class Objective(ABC):
    """An objective of the scores of the training rows.

    Attributes
    ----------
    value : float
        The objective at the scores of the last `move_to`.
    labels : ndarray of int of shape (n_samples,)
        The class that each row should be given next.
    weights : ndarray of shape (n_samples,)
        How much that matters, 0 or more.
    scale : float
        The `s` of the bound: what a step of one does to the logarithm of a mass.
    """

    scale = 1.0

    @abstractmethod
    def move_to(self, scores):
        """Take new scores, and tell `value`, `labels` and `weights` there."""

    @abstractmethod
    def masses(self, hypothesis):
        """What a step along the hypothesis wins, and what it loses: two numbers, 0 or more."""

    def step(self, hypothesis):
        """The step that lowers the bound most; 0 if the hypothesis is no better than chance."""
        return self.step_of(*self.masses(hypothesis))

    def step_of(self, won, lost):
        """The step for these masses."""
        if not won > lost * (1 + ROUNDING):
            return 0.0
        return log(min(won / lost, MAX_RATIO) if lost > 0 else MAX_RATIO) / (2 * self.scale)
