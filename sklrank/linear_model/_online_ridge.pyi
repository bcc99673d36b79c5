from sklrank.linear_model._feature_map import FeatureMap
from sklrank.linear_model._linear_learner import LinearLearner

class RidgeLearner(LinearLearner):
    alpha: float
    drift: float
    sharpness: float
    learns_relevance: bool
    def __init__(
        self,
        features: FeatureMap,
        n_classes: int,
        alpha: float,
        drift: float,
        sharpness: float,
        learns_relevance: bool = False,
    ) -> None: ...
