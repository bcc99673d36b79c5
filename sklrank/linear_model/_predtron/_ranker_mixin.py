"""What the Predtrons that rank share: their losses, representations and lessons."""

from functools import partial
from numbers import Integral, Real

from sklrank._sklearn import HasMethods, Interval, StrOptions
from sklrank.linear_model._predtron._base import PredtronMixin
from sklrank.linear_model._predtron._lessons import RankingLessons
from sklrank.linear_model._predtron._ranking_losses import RANKING_LOSSES, make_ranking_loss
from sklrank.linear_model._predtron._representations import REPRESENTATIONS, position_values

__all__ = ["PredtronRankerMixin"]


class PredtronRankerMixin(PredtronMixin):
    """A Predtron whose predictions are rankings."""

    _parameter_constraints: dict = {
        "loss": [StrOptions(set(RANKING_LOSSES)), HasMethods(["gains", "discounts"])],
        "k": [Interval(Integral, 1, None, closed="left"), None],
        "representation": [StrOptions(set(REPRESENTATIONS)), callable],
        "power": [Interval(Real, 0, None, closed="neither")],
        **PredtronMixin._parameter_constraints,
    }

    def _start_model(self, n_scores, constant):
        self._loss = make_ranking_loss(self.loss, self.k)
        self._heights = partial(position_values, self.representation, power=self.power)
        self._machine = self._make_machine(n_scores, constant)

    def _ranking_lessons(self, relevance, starts, documents=None):
        return RankingLessons(
            relevance, starts, self._loss, self._heights, self._loss_driven, documents
        )
