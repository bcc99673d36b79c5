import numpy as np
from numpy.typing import NDArray

def best_threshold(
    codes: NDArray[np.uint8],
    first_bin: NDArray[np.intp],
    balances: NDArray[np.float64],
    sums: NDArray[np.float64],
    gini: bool,
) -> tuple[int, int]: ...
