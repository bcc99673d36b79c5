import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

KINDS: dict[str, int]

class FeatureMap:
    kind: int
    n_features: int
    n_columns: int
    n_outputs: int
    clip: float
    count: float
    def __init__(
        self,
        kind: str,
        n_features: int,
        columns: NDArray[np.intp],
        frequencies: NDArray[np.float64],
        phases: NDArray[np.float64],
        clip: float,
    ) -> None: ...
    def transform_rows(self, X: NDArray[np.float64]) -> NDArray[np.float64]: ...
    @property
    def standardisation(
        self,
    ) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64]]: ...

def random_map(
    kind: str,
    n_features: int,
    n_columns: int,
    n_components: int,
    bandwidth: float,
    clip: float,
    random_state: RandomState,
) -> FeatureMap: ...
