import numpy as np
from numpy.typing import ArrayLike, NDArray

class TopKSampler:
    n_labels: int
    k: int
    n_draws: int
    exploration: float
    def __init__(
        self, n_labels: int, k: int, exploration: float, alone: ArrayLike, together: ArrayLike
    ) -> None: ...
    def n_draws_to_explore(self) -> int: ...
    def show_rows(
        self, scores: NDArray[np.float64], draws: NDArray[np.float64]
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]: ...

class UniformSampler(TopKSampler): ...
class SingleSwapSampler(TopKSampler): ...
