import numpy as np
from numpy.typing import ArrayLike, NDArray

LOSSES: dict[str, int]

class CostRule:
    n_labels: int
    n_learners: int
    learns_weights: bool
    single_label: bool
    def __init__(self, n_labels: int, n_learners: int) -> None: ...
    def cost_vector(
        self,
        i: int,
        scores: ArrayLike,
        relevant: ArrayLike,
        irrelevant: ArrayLike,
        weights: ArrayLike,
        n_favoured: int | None = None,
    ) -> NDArray[np.float64]: ...

class PotentialCosts(CostRule):
    edge: float
    loss: str
    def __init__(self, n_labels: int, n_learners: int, edge: float, loss: str) -> None: ...

class LogisticCosts(CostRule):
    learning_rate: float
    gradient_clip: float
    def __init__(
        self,
        n_labels: int,
        n_learners: int,
        learning_rate: float = 1.0,
        gradient_clip: float = ...,
    ) -> None: ...
