"""Top-k BBM: OnlineBMR from top-k feedback."""

from numbers import Real

from sklrank._sklearn import Interval
from sklrank.online_boosting._costs import PotentialCosts
from sklrank.online_boosting._top_k_booster import TopKBooster

__all__ = ["TopKBBM"]


class TopKBBM(TopKBooster):
    """Boost-by-majority from top-k feedback (Top-k BBM)."""

    _parameter_constraints: dict = {
        **TopKBooster._parameter_constraints,
        "edge": [Interval(Real, 0, 1, closed="neither")],
    }

    def __init__(
        self,
        estimator=None,
        n_estimators=100,
        *,
        k=3,
        edge=0.1,
        exploration=0.05,
        randomization="uniform",
        propensity_clip=(0.005, 0.995),
        max_features=20,
        max_iter=1,
        shuffle=False,
        random_state=None,
        verbose=0,
        n_jobs=None,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.k = k
        self.edge = edge
        self.exploration = exploration
        self.randomization = randomization
        self.propensity_clip = propensity_clip
        self.max_features = max_features
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _make_cost_rule(self, n_labels):
        return PotentialCosts(n_labels, self.n_estimators, self.edge, "hinge")
