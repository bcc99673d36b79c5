import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sklrank.linear_model._mirror_maps import MirrorMap

class GroupedMap(MirrorMap):
    n_groups: int
    exponent: float
    def __init__(self, n_classes: int, width: int, n_groups: int) -> None: ...
    @property
    def convexity(self) -> float: ...
    def radii(
        self, X: NDArray[np.float64] | sparse.csr_array, constant: float
    ) -> NDArray[np.float64]: ...

class PNormMap(GroupedMap):
    def __init__(self, n_classes: int, width: int) -> None: ...

class GroupNormMap(GroupedMap):
    def __init__(self, n_classes: int, width: int) -> None: ...
