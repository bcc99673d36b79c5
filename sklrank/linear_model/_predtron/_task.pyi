import numpy as np
from numpy.typing import ArrayLike, NDArray

class Task:
    n_rounds: int
    driven: bool
    def judge_round(self, i: int, scores: ArrayLike) -> tuple[float, NDArray[np.float64]]: ...
