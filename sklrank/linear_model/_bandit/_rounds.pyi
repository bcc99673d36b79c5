import numpy as np
from numpy.typing import NDArray

from sklrank.feedback._schedules import Schedule
from sklrank.linear_model._bandit._model import BanditModel
from sklrank.linear_model._rows import Rows

class BanditRounds:
    model: BanditModel
    schedule: Schedule
    n_rounds: int
    n_mistakes: int
    def __init__(self, model: BanditModel, schedule: Schedule) -> None: ...
    def play(
        self,
        rows: Rows,
        labels: NDArray[np.intp],
        draws: NDArray[np.float64],
        scores: NDArray[np.float64] | None = None,
    ) -> None: ...
    def explore(
        self, rows: Rows, draws: NDArray[np.float64]
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]: ...
    def learn_shown(
        self,
        rows: Rows,
        actions: NDArray[np.intp],
        propensities: NDArray[np.float64],
        rewards: NDArray[np.int8],
    ) -> None: ...
    def score(self, rows: Rows) -> NDArray[np.float64]: ...
