import numpy as np
from numpy.typing import NDArray

def demand(
    powers: NDArray[np.float64],
    gains: NDArray[np.float64],
    starts: NDArray[np.intp],
    n_relevant: NDArray[np.intp],
    weights: NDArray[np.float64],
) -> float: ...
def masses(
    powers: NDArray[np.float64],
    gains: NDArray[np.float64],
    starts: NDArray[np.intp],
    n_relevant: NDArray[np.intp],
    hypothesis: NDArray[np.float64],
    risen: NDArray[np.float64],
    left: NDArray[np.float64],
) -> tuple[float, float]: ...
