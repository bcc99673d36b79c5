import numpy as np
from numpy.typing import NDArray

def sweep_steps(
    features: NDArray[np.intp],
    first_step: NDArray[np.intp],
    starts: NDArray[np.intp],
    stops: NDArray[np.intp],
    rows: NDArray[np.intc],
    cells: NDArray[np.intc],
    payload: NDArray[np.float64],
    totals: NDArray[np.float64],
    n_outputs: int,
    least: float,
    gains: NDArray[np.float64],
) -> None: ...
def find_leaves(
    X: NDArray[np.float64],
    features: NDArray[np.intp],
    thresholds: NDArray[np.float64],
    levels: NDArray[np.intc],
    children: NDArray[np.intc],
    root: int,
    leaves: NDArray[np.intp],
) -> None: ...
