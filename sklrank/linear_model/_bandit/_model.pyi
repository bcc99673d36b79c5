import numpy as np
from numpy.typing import NDArray

from sklrank.linear_model._mirror_maps import MirrorMap

class BanditModel:
    n_features: int
    n_classes: int
    def __init__(self, n_features: int, n_classes: int) -> None: ...
    @property
    def weights(self) -> NDArray[np.float64]: ...

class MirrorDescent(BanditModel):
    mirror_map: MirrorMap
    learning_rate: float
    def __init__(
        self, n_features: int, mirror_map: MirrorMap, learning_rate: float = ...
    ) -> None: ...
