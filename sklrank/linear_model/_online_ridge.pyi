import numpy as np
from numpy.typing import NDArray

from sklrank._online_learner import OnlineLearner
from sklrank.linear_model._feature_map import FeatureMap

class RidgeLearner(OnlineLearner):
    features: FeatureMap
    alpha: float
    drift: float
    sharpness: float
    def __init__(
        self,
        features: FeatureMap,
        n_classes: int,
        alpha: float,
        drift: float,
        sharpness: float,
    ) -> None: ...
    @property
    def weight_table(self) -> NDArray[np.float64]: ...
