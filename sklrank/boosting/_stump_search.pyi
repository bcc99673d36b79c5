import numpy as np
from numpy.typing import NDArray

def best_stump(
    codes: NDArray[np.uint8],
    first_bin: NDArray[np.intp],
    weights: NDArray[np.float64],
    sums: NDArray[np.float64],
) -> tuple[float, int, int, bool]: ...
