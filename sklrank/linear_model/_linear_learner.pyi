import numpy as np
from numpy.typing import NDArray

from sklrank._online_learner import OnlineLearner
from sklrank.linear_model._feature_map import FeatureMap

class LinearLearner(OnlineLearner):
    features: FeatureMap
    def __init__(self, features: FeatureMap, n_classes: int) -> None: ...
    @property
    def weight_table(self) -> NDArray[np.float64]: ...
