"""Top-k Adaptive: Ada.OLMR from top-k feedback."""

from numbers import Real

from sklrank._sklearn import Interval, StrOptions
from sklrank.online_boosting._costs import LogisticCosts
from sklrank.online_boosting._top_k_booster import TopKBooster

__all__ = ["TopKAdaptive"]


class TopKAdaptive(TopKBooster):
    """Adaptive online boosting from top-k feedback (Top-k Adaptive)."""

    _hedge = True
    _parameter_constraints: dict = {
        **TopKBooster._parameter_constraints,
        "learning_rate": [Interval(Real, 0, None, closed="neither"), StrOptions({"theory"})],
        "gradient_clip": [Interval(Real, 0, None, closed="neither"), None],
    }

    def __init__(
        self,
        estimator=None,
        n_estimators=100,
        *,
        k=3,
        exploration=0.05,
        randomization="uniform",
        learning_rate="theory",
        gradient_clip=1.0,
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
        self.exploration = exploration
        self.randomization = randomization
        self.learning_rate = learning_rate
        self.gradient_clip = gradient_clip
        self.propensity_clip = propensity_clip
        self.max_features = max_features
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _make_cost_rule(self, n_labels):
        rate = self.learning_rate
        if rate == "theory":
            rate = 8 * 2**0.5 * self.exploration / n_labels**2
        clip = float("inf") if self.gradient_clip is None else self.gradient_clip
        return LogisticCosts(n_labels, self.n_estimators, rate, clip)
