import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from typing_extensions import Self

from sklrank.linear_model._rows import Rows

class MirrorMap:
    n_classes: int
    width: int
    convexity: float | None
    error: BaseException | None
    def __init__(self, n_classes: int, width: int) -> None: ...
    @property
    def dual_weights(self) -> NDArray[np.float64]: ...
    @property
    def weights(self) -> NDArray[np.float64]: ...
    def take_steps(self, rows: Rows, directions: NDArray[np.float64]) -> None: ...
    def raise_error(self) -> None: ...

class EuclideanMap(MirrorMap):
    convexity: float
    @classmethod
    def of(cls, weights: ArrayLike) -> Self: ...
    def radii(
        self, X: NDArray[np.float64] | sparse.csr_array, constant: float
    ) -> NDArray[np.float64]: ...

class PositiveMap(MirrorMap): ...
class EntropicMap(MirrorMap): ...

def row_norms(
    X: NDArray[np.float64] | sparse.csr_array, constant: float, q: float
) -> NDArray[np.float64]: ...
