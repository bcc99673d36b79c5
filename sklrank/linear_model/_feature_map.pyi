import numpy as np
from numpy.typing import NDArray

KINDS: dict[str, int]

class FeatureMap:
    kind: int
    n_features: int
    n_columns: int
    n_outputs: int
    clip: float
    scale: float
    count: float
    def __init__(
        self,
        kind: str,
        n_features: int,
        columns: NDArray[np.intp],
        frequencies: NDArray[np.float64],
        phases: NDArray[np.float64],
        clip: float,
        scale: float = 1.0,
    ) -> None: ...
    def transform_rows(self, X: NDArray[np.float64]) -> NDArray[np.float64]: ...
    @property
    def standardisation(
        self,
    ) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64]]: ...
