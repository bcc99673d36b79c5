"""Ada.OLMR."""

from sklrank.online_boosting._costs import LogisticCosts
from sklrank.online_boosting._online_booster import OnlineBooster

__all__ = ["AdaOLMR"]


class AdaOLMR(OnlineBooster):
    """Ada.OLMR."""

    _hedge = True

    def __init__(
        self,
        estimator=None,
        n_estimators=100,
        *,
        max_features=20,
        max_iter=1,
        shuffle=False,
        random_state=None,
        verbose=0,
        n_jobs=None,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _make_cost_rule(self, n_labels):
        return LogisticCosts(n_labels, self.n_estimators)
