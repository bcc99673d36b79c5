"""Several threads read one model at the same time, and every module runs without the GIL."""

import pickle
import sys
from threading import Barrier, Thread

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB

import sklrank
from sklrank.boosting import (
    HistGradientBoostingRanker,
    NDCGBoost,
)
from sklrank.label_ranking import PairwiseRanker
from sklrank.linear_model import (
    BanditronClassifier,
    LinUCBClassifier,
    OnlineLogisticRegression,
    OnlineRidgeClassifier,
    PredtronClassifier,
    PredtronLabelRanker,
)
from sklrank.online_boosting import AdaOLMR, OnlineBMR, TopKBBM
from sklrank.semi_supervised import AssembleClassifier, MCSSBClassifier
from sklrank.tree import (
    HistogramTreeClassifier,
    HoeffdingTreeClassifier,
    HonestForestRegressor,
    LevelSplitsRegressor,
)

N_THREADS = 4
N_CLASSES = 10  # so many that each mirror map of a norm differs from the Euclidean one
MAPS = ["euclidean", "positive", "p-norm", "group-norm", "schatten", "entropy"]

MODELS = [
    HoeffdingTreeClassifier(grace_period=20, delta=0.1),
    HistogramTreeClassifier(),
    LevelSplitsRegressor(),
    HonestForestRegressor(n_estimators=3),
    OnlineLogisticRegression(),
    OnlineRidgeClassifier(kernel="rbf", n_components=8),
    LinUCBClassifier(),
    LinUCBClassifier(covariance="diagonal"),
    *(BanditronClassifier(mirror_map=name) for name in MAPS),
    *(PredtronClassifier(mirror_map=name, average=True) for name in MAPS),
    PredtronClassifier(mirror_map="schatten"),
    PredtronClassifier(kernel="rbf"),
    PredtronLabelRanker(mirror_map="schatten"),
    OnlineBMR("trees", n_estimators=3, loss="rank"),
    AdaOLMR(n_estimators=3),
    AdaOLMR(GaussianNB(), n_estimators=2),
    TopKBBM("trees", n_estimators=3),
    PairwiseRanker(GaussianNB()),
    HistGradientBoostingRanker(max_iter=3),
    NDCGBoost(n_estimators=3),
    MCSSBClassifier(n_estimators=3),
    AssembleClassifier(n_estimators=3),
]
METHODS = ["predict", "predict_proba", "decision_function", "predict_ranks", "explore"]


def in_threads(functions):
    """Call all functions at the same time, and return their results."""
    results = [None] * len(functions)
    start = Barrier(len(functions))

    def call(i):
        start.wait()
        results[i] = functions[i]()

    threads = [Thread(target=call, args=(i,)) for i in range(len(functions))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


# Before Python 3.14, all threads have the same warning filters, and a task of scikit-learn in
# another thread may have reset them for a moment.
@pytest.mark.filterwarnings("ignore:`sklearn.utils.parallel.delayed`")
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_threads_may_read_one_model(model):
    """The model comes from a pickle, so that nothing that it computes on demand is known yet."""
    rng = np.random.RandomState(0)
    # Learners in Python need a millisecond for each sample.
    n_samples, n_copies = (20, 1) if "GaussianNB" in repr(model) else (100, 5)
    X = rng.normal(size=(n_samples, 5))
    scores = X @ rng.normal(size=(5, N_CLASSES))
    by_rankings = isinstance(model, PairwiseRanker | PredtronLabelRanker)
    y = np.argsort(np.argsort(-scores, axis=1)) if by_rankings else scores.argmax(axis=1)
    if isinstance(model, MCSSBClassifier | AssembleClassifier):
        y[::2] = -1
    # Threads draw in an unknown order: no draw explores.
    parameters = {"random_state": 0, "exploration": 1e-300}
    known = model.get_params()
    model = clone(model).set_params(**{k: v for k, v in parameters.items() if k in known})
    model.fit(X, y)
    many = np.tile(X, (n_copies, 1))
    methods = [name for name in METHODS if hasattr(model, name)]
    copy = pickle.loads(pickle.dumps(model))
    calls = [getattr(copy, name) for name in methods for _ in range(N_THREADS)]
    found = in_threads([lambda call=call: call(many) for call in calls])
    for call, result in zip(calls, found):
        expected = getattr(model, call.__name__)(many)
        if call.__name__ == "explore":
            expected, result = expected.actions, result.actions
        assert_array_equal(result, expected)


@pytest.mark.skipif(
    getattr(sys, "_is_gil_enabled", lambda: True)(), reason="the interpreter has the GIL"
)
def test_no_module_enables_the_gil():
    assert sklrank.__all__
    assert not sys._is_gil_enabled()
