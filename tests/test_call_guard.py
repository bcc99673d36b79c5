"""Threads that share a model: calls that learn are exclusive, other calls are shared."""

import pickle
import sys
import threading
from copy import copy, deepcopy
from time import monotonic, sleep

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, clone
from sklearn.naive_bayes import GaussianNB

from sklrank._call_guard import CallGuard, ExclusiveCalls, exclusive_call, shared_call
from sklrank.linear_model import (
    BanditronClassifier,
    LinUCBClassifier,
    OnlineLogisticRegression,
    OnlineRidgeClassifier,
    PredtronClassifier,
    PredtronLabelRanker,
    PredtronQueryRanker,
)
from sklrank.online_boosting import (
    AdaOLMR,
    OnlineBMR,
    OnlineVotingClassifier,
    TopKAdaptive,
    TopKBBM,
)
from sklrank.tree import HoeffdingTreeClassifier

N_CLASSES = 3
BUSY = "another thread uses this .*threading.Lock.*copy.deepcopy"

MODELS = {
    "logistic": OnlineLogisticRegression(),
    "ridge": OnlineRidgeClassifier(kernel="rbf", n_components=30),
    "tree": HoeffdingTreeClassifier(grace_period=5, tau=0.9),
    "banditron": BanditronClassifier(exploration=0.3),
    "banditron-p-norm": BanditronClassifier(mirror_map="p-norm"),
    "linucb": LinUCBClassifier(exploration=0.3),
    "predtron": PredtronClassifier(average=True, mirror_map="schatten"),
    "predtron-reject": PredtronClassifier(reject_cost=0.3),
    "predtron-kernel": PredtronClassifier(kernel="rbf", budget=40),
    "predtron-labels": PredtronLabelRanker(),
    "predtron-queries": PredtronQueryRanker(),
    "bmr": OnlineBMR("trees", n_estimators=5),
    "olmr": AdaOLMR(),
    "olmr-trees": AdaOLMR("trees", n_estimators=5, n_jobs=2),
    "olmr-sklearn": AdaOLMR(GaussianNB(), n_estimators=1),
    "topk-bbm": TopKBBM(k=2, exploration=0.3),
    "topk-adaptive": TopKAdaptive("trees", n_estimators=5, k=2, exploration=0.3),
}


@pytest.fixture(autouse=True)
def frequent_switches():
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)


def chunk(model, seed, n_samples=15):
    """Return `X, y` of a call of `partial_fit`, or `X, y, qid`."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, 4))
    y = np.arange(n_samples) % N_CLASSES
    X[:, 0] += y
    if isinstance(model, PredtronQueryRanker):
        return X, (X[:, 0] > 1).astype(float), np.arange(n_samples) // 5
    if isinstance(model, PredtronLabelRanker):
        return X, (X[:, :3] > 0).astype(int)
    return X, y


def in_threads(functions):
    """Run the functions in one thread each; return their results, and raise their errors."""
    results, errors = [None] * len(functions), []
    barrier = threading.Barrier(len(functions))

    def run(index):
        try:
            barrier.wait()
            results[index] = functions[index]()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(index,)) for index in range(len(functions))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return results


# Time for which a call may be refused again and again on a busy machine.
MAX_SECONDS = 20.0


def repeated(call, seconds):
    """Repeat a call, until one is accepted at least; return the numbers of accepted and refused."""
    accepted = refused = 0
    end = monotonic() + seconds
    while monotonic() < end or (accepted == 0 and monotonic() < end + MAX_SECONDS):
        sleep(1e-4)  # Otherwise there may be no moment at which no other call runs.
        try:
            call()
            accepted += 1
        except RuntimeError as error:
            assert "another thread uses this" in str(error)
            refused += 1
    return accepted, refused


@pytest.mark.parametrize("name", MODELS)
def test_threads_learn_and_predict(name, fingerprint):
    """The model is the one that learned the accepted calls of `partial_fit` one by one."""
    model = clone(MODELS[name])
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    X, *_ = first = chunk(model, 0)
    model.partial_fit(*first)
    expected = deepcopy(model)
    learned = []

    def learn():
        seed = len(learned) + 1
        model.partial_fit(*chunk(model, seed))
        learned.append(seed)

    calls = [
        learn,
        lambda: model.predict(X),
        lambda: getattr(model, "explore", model.predict)(X),
        lambda: pickle.loads(pickle.dumps(model)).predict(X),
    ]
    counts = in_threads([lambda call=call: repeated(call, 1.0) for call in calls])
    assert all(accepted for accepted, _ in counts)
    assert learned
    if not hasattr(model, "explore"):  # The order of its random numbers is unknown.
        for seed in learned:
            expected.partial_fit(*chunk(model, seed))
        assert fingerprint(model) == fingerprint(expected)


@pytest.mark.parametrize("name", MODELS)
def test_threads_learn(name):
    """All threads learn the same samples, so that the order of the calls does not matter."""
    model = clone(MODELS[name])
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    data = chunk(model, 0)
    model.partial_fit(*data)
    expected = deepcopy(model)
    counts = in_threads([lambda: repeated(lambda: model.partial_fit(*data), 0.5)] * 3)
    for _ in range(sum(accepted for accepted, _ in counts)):
        expected.partial_fit(*data)
    assert_array_equal(model.predict(data[0]), expected.predict(data[0]))
    assert pickle.dumps(pickle.loads(pickle.dumps(model))) == pickle.dumps(
        pickle.loads(pickle.dumps(expected))
    )


# -- The guard.


class Guarded(CallGuard, BaseEstimator):
    @exclusive_call
    def learn(self, call=None):
        return call and call()

    @shared_call
    def predict(self, X=None):
        return X and X()

    @shared_call
    def explore(self, X=None, *, call=None):
        return call and call()


def elsewhere(call):
    """Run a call in another thread."""
    return in_threads([call])[0]


@pytest.mark.parametrize("other", ["learn", "predict", "explore"])
@pytest.mark.parametrize("one", ["learn", "predict", "explore"])
def test_calls_at_the_same_time(one, other):
    model = Guarded()
    keyword = {"predict": "X"}.get(one, "call")

    def nested():
        return elsewhere(getattr(model, other))

    if "learn" in (one, other):
        with pytest.raises(RuntimeError, match=BUSY):
            getattr(model, one)(**{keyword: nested})
    else:
        getattr(model, one)(**{keyword: nested})
    # The guard is released after an error, too.
    model.learn()
    elsewhere(model.learn)
    elsewhere(model.predict)


def test_a_thread_may_use_the_model_that_it_changes():
    model = Guarded()
    assert model.learn(lambda: model.learn(lambda: model.predict(lambda: 3))) == 3
    with pytest.raises(KeyError):
        model.learn(lambda: {}["missing"])
    elsewhere(model.learn)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_copies_are_not_busy(protocol):
    """Also copies that a thread makes while it changes the model."""
    model = Guarded()

    def copies():
        return copy(model), deepcopy(model), pickle.loads(pickle.dumps(model, protocol))

    for other in model.learn(copies):
        elsewhere(other.learn)
        assert vars(other) == vars(model)


def test_pickling_a_model_that_learns_is_refused():
    model = OnlineLogisticRegression()

    class Pickles(BaseEstimator):
        def partial_fit(self, X, y, classes=None, sample_weight=None):
            with pytest.raises(RuntimeError, match=BUSY):
                elsewhere(lambda: pickle.dumps(model))
            with pytest.raises(RuntimeError, match=BUSY):
                elsewhere(lambda: deepcopy(model))
            return self

        def predict(self, X):
            return np.zeros(len(X), dtype=int)

    model = AdaOLMR(Pickles(), n_estimators=1)
    model.fit(*chunk(model, 0))


WEAK_LEARNERS = {
    "tree": HoeffdingTreeClassifier(),
    "logistic": OnlineLogisticRegression(),
    "ridge": OnlineRidgeClassifier(alpha=(1, 10)),
    "vote": OnlineVotingClassifier([HoeffdingTreeClassifier(), OnlineLogisticRegression()]),
    "vote of votes": OnlineVotingClassifier([OnlineVotingClassifier([HoeffdingTreeClassifier()])]),
}
READS = {
    HoeffdingTreeClassifier: [lambda tree, X: tree.get_depth()],
    OnlineVotingClassifier: [lambda vote, X: vote.estimator_weights_],
    OnlineLogisticRegression: [
        lambda linear, X: linear.decision_function(X),
        lambda linear, X: linear.coef_,
        lambda linear, X: linear.intercept_,
        lambda linear, X: linear.mean_,
        lambda linear, X: linear.scale_,
        lambda linear, X: linear.model_shares_,
    ],
}
READS[OnlineRidgeClassifier] = READS[OnlineLogisticRegression]


def with_parts(model):
    """Return the model and, if it is a vote, its parts."""
    parts = model.estimators_ if isinstance(model, OnlineVotingClassifier) else []
    return [model, *(each for part in parts for each in with_parts(part))]


@pytest.mark.parametrize("name", WEAK_LEARNERS)
def test_weak_learners_are_guarded_with_their_booster(name):
    """They are accessible as `estimators_`, and so are the parts of a vote."""

    def calls(learner, X, y):
        return [
            lambda: learner.predict(X),
            lambda: learner.predict_proba(X),
            lambda: learner.partial_fit(X, y),
            lambda: pickle.dumps(learner),
            *(lambda read=read: read(learner, X) for read in READS[type(learner)]),
        ]

    class Predicts(BaseEstimator):
        def partial_fit(self, X, y, classes=None, sample_weight=None):
            for learner in with_parts(model.estimators_[0]):
                for call in calls(learner, *data):
                    with pytest.raises(RuntimeError, match="another thread uses this"):
                        elsewhere(call)
            return self

        def predict(self, X):
            return np.zeros(len(X), dtype=int)

    model = AdaOLMR([WEAK_LEARNERS[name], Predicts()])
    data = chunk(model, 0)
    model.fit(*data)
    for learner in with_parts(model.estimators_[0]):
        for call in calls(learner, *data):
            elsewhere(call)


@pytest.mark.parametrize("call", ["predict", "partial_fit"])
def test_a_vote_whose_second_part_is_busy(call):
    """After the error, the first part is free."""
    data = chunk(None, 0)
    vote = OnlineVotingClassifier([HoeffdingTreeClassifier(), OnlineLogisticRegression()])
    vote.fit(*data)
    arguments = data[: 1 if call == "predict" else 2]
    with ExclusiveCalls([vote.estimators_[1]._learner]):
        with pytest.raises(RuntimeError, match="another thread uses this LogisticLearner"):
            elsewhere(lambda: getattr(vote, call)(*arguments))
        elsewhere(lambda: vote.estimators_[0].partial_fit(*data))
    elsewhere(lambda: vote.partial_fit(*data))
