import numpy as np
from numpy.typing import NDArray

def base_demand(
    lifts: NDArray[np.float64],
    drops: NDArray[np.float64],
    ratios: NDArray[np.float64],
    starts: NDArray[np.intp],
    demand: NDArray[np.float64],
) -> float: ...
def base_masses(
    lifts: NDArray[np.float64],
    drops: NDArray[np.float64],
    ratios: NDArray[np.float64],
    starts: NDArray[np.intp],
    hypothesis: NDArray[np.float64],
) -> tuple[float, float]: ...
def grade_demand(
    lifts: NDArray[np.float64],
    drops: NDArray[np.float64],
    grades: NDArray[np.intp],
    queries: NDArray[np.intp],
    demand: NDArray[np.float64],
) -> float: ...
def grade_masses(
    lifts: NDArray[np.float64],
    drops: NDArray[np.float64],
    grades: NDArray[np.intp],
    queries: NDArray[np.intp],
    hypothesis: NDArray[np.float64],
) -> tuple[float, float]: ...
