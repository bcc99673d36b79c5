import numpy as np
from numpy.typing import NDArray

from sklrank._online_learner import OnlineLearner
from sklrank.linear_model._feature_map import FeatureMap

class LogisticLearner(OnlineLearner):
    features: FeatureMap
    multinomial: bool
    learning_rate: float
    alpha: float
    def __init__(
        self,
        features: FeatureMap,
        n_classes: int,
        multinomial: bool,
        learning_rate: float,
        alpha: float,
    ) -> None: ...
    @property
    def weight_table(self) -> NDArray[np.float64]: ...
