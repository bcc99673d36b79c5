import numpy as np
from numpy.typing import NDArray

from sklrank.feedback._sampler import TopKSampler

class PairSource:
    n_samples: int
    n_labels: int

class AllPairs(PairSource):
    def __init__(
        self, indptr: NDArray[np.intp], labels: NDArray[np.intp], n_labels: int
    ) -> None: ...

class ShownPairs(PairSource):
    k: int
    def __init__(
        self,
        actions: NDArray[np.intp],
        propensities: NDArray[np.float64],
        rewards: NDArray[np.int8],
        n_labels: int,
        lowest: float,
        highest: float,
    ) -> None: ...

class SimulatedPairs(ShownPairs):
    def __init__(
        self,
        sampler: TopKSampler,
        draws: NDArray[np.float64],
        indptr: NDArray[np.intp],
        labels: NDArray[np.intp],
        lowest: float,
        highest: float,
    ) -> None: ...
