from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklrank._online_learner import OnlineLearner

class EstimatorLearner(OnlineLearner):
    estimator: Any
    is_taught: bool
    def __init__(
        self, estimator: Any, n_features: int, n_classes: int, is_taught: bool = False
    ) -> None: ...
    def answer(self, row: NDArray[np.float64]) -> NDArray[np.float64]: ...
