"""OnlineBMR."""

from numbers import Real

from sklrank._sklearn import Interval, StrOptions
from sklrank.online_boosting._costs import LOSSES, PotentialCosts
from sklrank.online_boosting._online_booster import OnlineBooster

__all__ = ["OnlineBMR"]


class OnlineBMR(OnlineBooster):
    """OnlineBMR."""

    _parameter_constraints: dict = {
        **OnlineBooster._parameter_constraints,
        "edge": [Interval(Real, 0, 1, closed="neither")],
        "loss": [StrOptions(set(LOSSES))],
    }

    def __init__(
        self,
        estimator=None,
        n_estimators=100,
        *,
        edge=0.1,
        loss="hinge",
        max_features=20,
        max_iter=1,
        shuffle=False,
        random_state=None,
        verbose=0,
        n_jobs=None,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.edge = edge
        self.loss = loss
        self.max_features = max_features
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    @property
    def _single_label(self):
        return self.loss == "rank"

    def _make_cost_rule(self, n_labels):
        return PotentialCosts(n_labels, self.n_estimators, self.edge, self.loss)
