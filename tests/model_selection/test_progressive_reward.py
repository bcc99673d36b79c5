"""progressive_reward_score: what an online model shows while it learns, and searches over it."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from sklrank.boosting import AdaRank, HistGradientBoostingRanker, NDCGBoost
from sklrank.datasets import make_multilabel_ranking_stream
from sklrank.linear_model import (
    BanditronClassifier,
    LinUCBClassifier,
    PredtronLabelRanker,
    SemiBanditRanker,
)
from sklrank.metrics import ndcg_score, ndcg_scorer
from sklrank.model_selection import QueryKFold, progressive_reward_score
from sklrank.online_boosting import TopKBBM

X, Y = make_multilabel_ranking_stream(300, n_labels=6, random_state=0)
FIRST, OTHERS = np.arange(100), np.arange(100, 300)


class Shifting(BaseEstimator):
    """Shows the two labels after the number of samples that it has learned, and keeps rewards."""

    def explore(self, X, classes=None):
        if classes is not None:
            self.classes_, self.seen_ = np.asarray(classes), []
        first = len(self.seen_) % len(self.classes_)
        second = (first + 1) % len(self.classes_)
        return SimpleNamespace(actions=np.tile([first, second], (len(X), 1)))

    def partial_fit_feedback(self, X, exploration, rewards):
        assert rewards.shape == exploration.actions.shape
        self.seen_ += rewards.tolist()
        return self


@pytest.mark.parametrize("chunk_size", [1, 7])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array, pd.DataFrame])
def test_rewards_of_the_labels_shown(chunk_size, container):
    total = 0.0
    for t in range(300):
        learned = t // chunk_size * chunk_size
        total += Y[t, learned % 6] + Y[t, (learned + 1) % 6]
    found = progressive_reward_score(Shifting(), X, container(Y), chunk_size=chunk_size)
    assert found == pytest.approx(total / 300)


@pytest.mark.parametrize("model", [BanditronClassifier(), LinUCBClassifier()])
def test_one_class_is_shown(model, fingerprint):
    """1 - error_rate_, the share of wrong rounds, of a model that has played the same rounds."""
    y = np.array(list("abcdef"))[Y.argmax(axis=1)]
    model = clone(model).set_params(random_state=0)
    played = clone(model).partial_fit(X, y)
    assert progressive_reward_score(model, X, y) == pytest.approx(1 - played.error_rate_)
    start = clone(model).partial_fit(X[FIRST], y[FIRST], classes=np.unique(y))
    before = fingerprint(start)
    wrong = 300 * played.error_rate_ - 100 * start.error_rate_
    found = progressive_reward_score(start, X[OTHERS], y[OTHERS])
    assert found == pytest.approx(1 - wrong / 200)
    assert fingerprint(start) == before


@pytest.mark.parametrize("model", [SemiBanditRanker(), TopKBBM("trees", 3)])
def test_exploring_has_its_price(model):
    """With exploration=1, each label is shown with probability k / m."""
    model = clone(model).set_params(k=2, exploration=1.0, random_state=0)
    reward = Y[OTHERS].sum(axis=1) / 3
    found = progressive_reward_score(model.fit(X[FIRST], Y[FIRST]), X[OTHERS], Y[OTHERS])
    assert abs(found - reward.mean()) < 5 / 200**0.5
    values = {"exploration": [0.05, 1.0]}
    search = GridSearchCV(model, values, scoring=progressive_reward_score, cv=[(FIRST, OTHERS)])
    search.fit(X, Y)
    assert search.best_params_ == {"exploration": 0.05}
    assert search.cv_results_["mean_test_score"][1] == pytest.approx(found)


def test_errors():
    with pytest.raises(TypeError, match="must have explore"):
        progressive_reward_score(LogisticRegression(), X, Y)
    with pytest.raises(ValueError, match="positive number of samples"):
        progressive_reward_score(SemiBanditRanker(), X, Y, chunk_size=0)
    model = SemiBanditRanker().partial_fit(X, Y)
    with pytest.raises(ValueError, match="column for each of the 6 labels"):
        progressive_reward_score(model, X, Y[:, :4])


# -- A search over k needs a metric that does not change with k.

QID = np.repeat(np.arange(30), 10)
GRADES = np.digitize(X[:, 0] + np.random.RandomState(0).normal(size=300), [0, 1])
RANKERS = [
    AdaRank(n_estimators=3),
    NDCGBoost(n_estimators=3),
    HistGradientBoostingRanker(max_iter=3, random_state=0),
    PredtronLabelRanker(random_state=0),
]


@pytest.mark.parametrize("ranker", RANKERS, ids=lambda ranker: type(ranker).__name__)
def test_a_scorer_has_its_own_k_and_score_has_that_of_the_ranker(ranker):
    labels = isinstance(ranker, PredtronLabelRanker)
    queries = {} if labels else {"qid": QID}
    grades = 2 * Y if labels else GRADES
    for k in (1, 3, None):
        model = clone(ranker).set_params(k=k).fit(X, grades, **queries)
        scores = model.decision_function(X) if labels else model.predict(X)

        def ndcg(k, scores=scores):
            return ndcg_score(grades, scores, k=k, **queries)

        assert model.score(X, grades, **queries) == pytest.approx(ndcg(k))
        fixed = clone(ndcg_scorer).set_params(k=3)
        assert fixed(model, X, grades, **queries) == pytest.approx(ndcg(3))


def test_searches_over_k_compare_one_metric():
    """Scores of a search over k are those of the candidates in a cross-validation of their own."""
    with config_context(enable_metadata_routing=True):
        options = {"scoring": clone(ndcg_scorer).set_params(k=5), "cv": QueryKFold(2)}
        search = GridSearchCV(NDCGBoost(n_estimators=2), {"k": [1, None]}, **options)
        search.fit(X, GRADES, qid=QID)
        for k, found in zip([1, None], search.cv_results_["mean_test_score"], strict=True):
            ranker = NDCGBoost(n_estimators=2, k=k)
            folds = [
                ndcg_score(
                    GRADES[test],
                    clone(ranker).fit(X[train], GRADES[train], qid=QID[train]).predict(X[test]),
                    qid=QID[test],
                    k=5,
                )
                for train, test in QueryKFold(2).split(X, GRADES, qid=QID)
            ]
            assert found == pytest.approx(np.mean(folds))
