"""A program that `.ci/run` type-checks: correct calls, and two mistakes to be found."""

import numpy as np
from typing_extensions import assert_type

from sklrank.feedback import Exploration
from sklrank.linear_model import PredtronClassifier
from sklrank.metrics import ndcg_score, rank_loss_scorer
from sklrank.online_boosting import AdaOLMR, TopKBBM, recommended_learners
from sklrank.tree import HoeffdingTreeClassifier

rng = np.random.default_rng(0)
X, Y = rng.normal(size=(100, 5)), rng.integers(2, size=(100, 4))

model = AdaOLMR(random_state=0)
assert_type(model.fit(X, Y), AdaOLMR)
assert_type(model.partial_fit(X, Y, classes=range(4)), AdaOLMR)
assert_type(model.expert_weights_, np.ndarray)
scores = model.progressive_fit(X, Y)
assert_type(scores, np.ndarray)
assert_type(model.predict_topk(X, 2), np.ndarray)
assert_type(ndcg_score(Y, scores), float | np.ndarray)
assert_type(rank_loss_scorer(model, X, Y), float)

assert_type(AdaOLMR("trees", n_estimators=10).fit(X, Y), AdaOLMR)
assert_type(AdaOLMR(recommended_learners(30), n_estimators="auto").fit(X, Y), AdaOLMR)

bandit = TopKBBM(k=2, exploration=0.2, max_features="sqrt")
assert_type(bandit.explore(X, classes=range(4)), Exploration)
shown = Exploration([[0, 3]], [[[0.4, 0.1], [0.1, 0.4]]])
assert_type(bandit.partial_fit_feedback(X[:1], shown[0], [[1, 0]]), TopKBBM)

assert_type(HoeffdingTreeClassifier(leaf_prediction="mc").fit(X, Y[:, 0]), HoeffdingTreeClassifier)
assert_type(PredtronClassifier().partial_fit(X, Y[:, 0]), PredtronClassifier)

AdaOLMR(n_estimator=22)  # type: ignore[call-arg]
AdaOLMR(n_estimators="all")  # type: ignore[arg-type]
HoeffdingTreeClassifier(leaf_prediction="root")  # type: ignore[arg-type]
