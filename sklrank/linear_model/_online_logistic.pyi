from sklrank.linear_model._feature_map import FeatureMap
from sklrank.linear_model._linear_learner import LinearLearner

class LogisticLearner(LinearLearner):
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
