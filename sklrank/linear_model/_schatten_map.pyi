import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sklrank.linear_model._mirror_maps import MirrorMap

class SchattenMap(MirrorMap):
    exponent: float
    @property
    def convexity(self) -> float: ...
    def radii(
        self, X: NDArray[np.float64] | sparse.csr_array, constant: float
    ) -> NDArray[np.float64]: ...

def mixing_matrix(gram: NDArray[np.float64], exponent: float) -> NDArray[np.float64]: ...
