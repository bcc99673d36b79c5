import numpy as np
from numpy.typing import NDArray

from sklrank.linear_model._predtron._task import Task

class RankingTask(Task):
    def __init__(
        self,
        gains: NDArray[np.float64],
        starts: NDArray[np.intp],
        discounts: NDArray[np.float64],
        representation: NDArray[np.float64],
        driven: bool = False,
        most_states: float = ...,
    ) -> None: ...
    def choose(self, lists: NDArray[np.intp]) -> None: ...
