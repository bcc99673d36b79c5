import numpy as np
from numpy.typing import NDArray

from sklrank.linear_model._bandit._model import BanditModel

class ConfidenceRidge(BanditModel):
    width: int
    alpha: float
    bonus: float
    clip: float
    def __init__(
        self,
        n_features: int,
        n_classes: int,
        width: int,
        alpha: float,
        bonus: float,
        clip: float = 0.0,
    ) -> None: ...
    @property
    def weights(self) -> NDArray[np.float64]: ...

class FullRidge(ConfidenceRidge): ...
class DiagonalRidge(ConfidenceRidge): ...
