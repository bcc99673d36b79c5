import numpy as np
from numpy.typing import ArrayLike, NDArray
from typing_extensions import Self

from sklrank.linear_model._mirror_maps import MirrorMap
from sklrank.linear_model._predtron._task import Task
from sklrank.linear_model._rows import Rows

class WeightSums:
    def __init__(self, n_classes: int, width: int) -> None: ...
    @classmethod
    def of(cls, values: ArrayLike) -> Self: ...
    @property
    def values(self) -> NDArray[np.float64]: ...
    def mean(self, mirror_map: MirrorMap, n_rounds: int) -> NDArray[np.float64]: ...

class EuclideanSums(WeightSums): ...

def make_sums(mirror_map: MirrorMap) -> WeightSums: ...

class PredtronRounds:
    mirror_map: MirrorMap
    sums: WeightSums | None
    learning_rate: float
    convexity: float
    n_rounds: int
    n_mistakes: int
    total_loss: float
    def __init__(
        self,
        mirror_map: MirrorMap,
        learning_rate: float = ...,
        convexity: float = 1.0,
        sums: WeightSums | None = None,
    ) -> None: ...
    def play_rows(
        self,
        rows: Rows,
        task: Task,
        bounds: NDArray[np.float64] | None = None,
        scores: NDArray[np.float64] | None = None,
        forecasts: NDArray[np.float64] | None = None,
    ) -> None: ...
    def play_queries(
        self,
        rows: Rows,
        starts: NDArray[np.intp],
        task: Task,
        bounds: NDArray[np.float64] | None = None,
    ) -> None: ...
    def score(self, rows: Rows) -> NDArray[np.float64]: ...
