from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklrank.linear_model._mirror_maps import MirrorMap

class CustomMap(MirrorMap):
    mirror_map: Any
    def __init__(self, n_classes: int, width: int, mirror_map: Any) -> None: ...
    def find_weights(self, duals: NDArray[np.float64]) -> NDArray[np.float64]: ...
