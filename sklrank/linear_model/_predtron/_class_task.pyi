import numpy as np
from numpy.typing import NDArray

from sklrank.linear_model._predtron._task import Task

class ClassTask(Task):
    def __init__(
        self, costs: NDArray[np.float64], labels: NDArray[np.intp], driven: bool = False
    ) -> None: ...
