import numpy as np
from numpy.typing import NDArray

from sklrank._online_learner import OnlineLearner
from sklrank.feedback._sampler import TopKSampler
from sklrank.online_boosting._costs import CostRule
from sklrank.online_boosting._pair_sources import PairSource
from sklrank.online_boosting._team import Team

class Rounds(Team):
    n_rounds: int
    def __init__(
        self,
        learners: list[OnlineLearner],
        columns: list[NDArray[np.intp]],
        rule: CostRule,
        n_threads: int = 1,
        n_rounds: int = 0,
        tie_loss: float = 0.5,
    ) -> None: ...
    def decide(
        self, X: NDArray[np.float64], weights: NDArray[np.float64], n_used: int
    ) -> NDArray[np.float64]: ...
    def play(
        self,
        X: NDArray[np.float64],
        source: PairSource,
        sample_weight: NDArray[np.float64],
        weights: NDArray[np.float64],
        log_expert_weights: NDArray[np.float64] | None,
        draws: NDArray[np.float64] | None = None,
        out: NDArray[np.float64] | None = None,
    ) -> None: ...
    def explore(
        self,
        X: NDArray[np.float64],
        sampler: TopKSampler,
        sampler_draws: NDArray[np.float64],
        weights: NDArray[np.float64],
        log_expert_weights: NDArray[np.float64] | None,
        draws: NDArray[np.float64] | None = None,
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]: ...
    def check(
        self,
        X: NDArray[np.float64],
        weights: NDArray[np.float64],
        log_expert_weights: NDArray[np.float64] | None = None,
        draws: NDArray[np.float64] | None = None,
    ) -> None: ...
