import numpy as np
from numpy.typing import NDArray

from sklrank.linear_model._predtron._task import Task

class SubsetTask(Task):
    def __init__(
        self,
        indptr: NDArray[np.intp],
        labels: NDArray[np.intp],
        n_labels: int,
        offsets: NDArray[np.intp],
        losses: NDArray[np.float64],
        driven: bool = False,
    ) -> None: ...
