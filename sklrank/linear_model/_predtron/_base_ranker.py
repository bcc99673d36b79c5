"""Common base of the Predtron rankers: their losses, representations and tasks."""

from functools import partial
from numbers import Integral, Real

import numpy as np

from sklrank._sklearn import HasMethods, Interval, StrOptions
from sklrank.linear_model._predtron._base import PredtronMixin
from sklrank.linear_model._predtron._ranking_losses import (
    RANKING_LOSSES,
    REPRESENTATIONS,
    discounts_of,
    gains_of,
    make_ranking_loss,
    position_values,
)
from sklrank.linear_model._predtron._ranking_task import RankingTask

__all__ = ["PredtronRankerMixin"]


class PredtronRankerMixin(PredtronMixin):
    """Base of a Predtron whose predictions are rankings."""

    _parameter_constraints: dict = {
        "loss": [StrOptions(set(RANKING_LOSSES)), HasMethods(["gains", "discounts"])],
        "k": [Interval(Integral, 1, None, closed="left"), None],
        "representation": [StrOptions(set(REPRESENTATIONS)), callable],
        "power": [Interval(Real, 0, None, closed="neither")],
        **PredtronMixin._parameter_constraints,
    }

    def _start_ranking_model(self, n_scores, constant):
        self._loss = make_ranking_loss(self.loss, self.k)
        self._representation = self.representation, self.power
        self._model = self._make_model(n_scores, constant)

    def _make_ranking_task(self, relevance, starts):
        """Return the task in which the items `starts[i]:starts[i + 1]` belong to round i."""
        gains = gains_of(self._loss, relevance, starts)
        sizes = np.unique(np.diff(starts))
        discounts = _evaluate_positions("loss", partial(discounts_of, self._loss), sizes)
        representation, power = self._representation
        values_of = partial(position_values, representation, power=power)
        values = _evaluate_positions("representation", values_of, sizes)
        return RankingTask(gains, starts, discounts, values, self._loss_driven)


def _evaluate_positions(name, values_of, sizes):
    """Return the values at the positions of the longest list, `(max(sizes),)`.

    Raise ValueError if the value at a position depends on the number of positions.
    """
    longest = max(sizes, default=1)
    values = values_of(longest)
    # An additional size is checked, since another call may have longer lists.
    for size in (*sizes, longest + 1):
        if not np.array_equal(values_of(size)[:longest], values[:size]):
            raise ValueError(
                f"{name} must have the same value at a position for any number of positions, got "
                f"different values for {size} and {longest} positions"
            )
    return values
