import numpy as np
from numpy.typing import NDArray

from sklrank.linear_model._rows import Rows

class KernelRows(Rows):
    n_supports: int
    n_born: int
    def __init__(
        self,
        values: NDArray[np.float64],
        own: NDArray[np.intc],
        born: NDArray[np.intp],
        n_born: int,
        budget: int,
    ) -> None: ...
