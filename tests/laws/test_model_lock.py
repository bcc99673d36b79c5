"""Threads that share a model: a call that learns waits for the others, and they for it."""

import os
import pickle
import subprocess
import sys
import threading
from copy import copy, deepcopy
from pathlib import Path
from time import monotonic, sleep

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, clone
from sklearn.naive_bayes import GaussianNB

import sklrank
from sklrank._compiled.model_lock import LockedModel, exclusive_call, part_of_call, shared_call
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
    TopKAdaptive,
    TopKBBM,
)
from sklrank.tree import HoeffdingTreeClassifier

N_CLASSES = 3
MODELS = {
    "logistic": OnlineLogisticRegression(),
    "ridge": OnlineRidgeClassifier(kernel="rbf", n_components=30),
    "tree": HoeffdingTreeClassifier(grace_period=5, tau=0.9),
    "banditron": BanditronClassifier(exploration=0.3),
    "banditron-p-norm": BanditronClassifier(mirror_map="p-norm"),
    "linucb": LinUCBClassifier(exploration=0.3),
    "predtron": PredtronClassifier(average=True, mirror_map="schatten"),
    "predtron-reject": PredtronClassifier(reject_cost=0.3),
    "predtron-kernel": PredtronClassifier(kernel="rbf"),
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


def repeated(call, seconds):
    """Repeat a call, and return the number of calls."""
    n_calls, end = 0, monotonic() + seconds
    while monotonic() < end or n_calls == 0:
        call()
        n_calls += 1
    return n_calls


@pytest.mark.parametrize("name", MODELS)
def test_threads_learn_and_predict(name, fingerprint):
    """All calls succeed, and the model is the one that learned the samples one by one."""
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
    in_threads([lambda call=call: repeated(call, 0.02) for call in calls])
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
    counts = in_threads([lambda: repeated(lambda: model.partial_fit(*data), 0.02)] * 3)
    for _ in range(sum(counts)):
        expected.partial_fit(*data)
    assert_array_equal(model.predict(data[0]), expected.predict(data[0]))
    assert pickle.dumps(pickle.loads(pickle.dumps(model))) == pickle.dumps(
        pickle.loads(pickle.dumps(expected))
    )


# -- The lock.


class Locked(LockedModel, BaseEstimator):
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


class Background:
    """A call in another thread, which has begun."""

    def __init__(self, call):
        self.thread = threading.Thread(target=call, daemon=True)
        self.thread.start()

    def waits(self):
        self.thread.join(0.05)
        return self.thread.is_alive()

    def ends(self):
        self.thread.join(30.0)
        return not self.thread.is_alive()


@pytest.mark.parametrize("other", ["learn", "predict", "explore"])
@pytest.mark.parametrize("one", ["learn", "predict", "explore"])
def test_calls_at_the_same_time(one, other):
    """The second one waits unless both are shared."""
    model = Locked()
    keyword = {"predict": "X"}.get(one, "call")
    calls = []

    def nested():
        calls.append(Background(getattr(model, other)))
        assert calls[0].waits() == ("learn" in (one, other))

    getattr(model, one)(**{keyword: nested})
    assert calls[0].ends()
    # The lock is free again, also after an error.
    with pytest.raises(KeyError):
        model.learn(lambda: {}["missing"])
    elsewhere(model.learn)
    elsewhere(model.predict)


def test_a_thread_may_use_the_model_that_it_changes():
    model = Locked()
    assert model.learn(lambda: model.learn(lambda: model.predict(lambda: 3))) == 3
    assert model.predict(lambda: model.predict(lambda: 4)) == 4
    elsewhere(model.learn)


def test_learning_in_a_prediction_raises():
    """It would wait for itself."""
    model = Locked()
    with pytest.raises(RuntimeError, match="this Locked cannot learn inside of its own call"):
        model.predict(lambda: model.learn())
    elsewhere(model.learn)


def in_a_worker_thread(call):
    """Run a call in another thread as part of the running call, and return its error or None."""
    errors = []

    def run():
        try:
            call()
        except RuntimeError as error:
            errors.append(error)

    worker = Background(part_of_call(run))
    assert worker.ends()
    return errors[0] if errors else None


@pytest.mark.parametrize(
    "outer, inner, waits",
    [
        ("learn", "learn", True),
        ("learn", "predict", True),
        ("predict", "learn", True),
        ("predict", "predict", False),
    ],
)
@pytest.mark.parametrize("depth", [1, 2])
def test_worker_threads_do_not_wait_for_their_own_call(outer, inner, waits, depth):
    """Nor do workers of workers; calls of other models, and later ones of this, succeed."""
    model, other = Locked(), Locked()
    call = getattr(model, inner)

    def nested():
        if depth == 2:
            return in_a_worker_thread(lambda: errors.append(in_a_worker_thread(call)))
        errors.append(in_a_worker_thread(call))
        return in_a_worker_thread(other.learn)

    errors = []
    assert getattr(model, outer)(nested) is None
    assert (errors[0] is not None) == waits
    if waits:
        assert "this Locked was made in a worker thread of its own call" in str(errors[0])
    elsewhere(model.learn)
    elsewhere(model.predict)


def test_worker_threads_predict_while_another_thread_waits_to_learn():
    """As calls of the thread that waits for them would do."""
    model = Locked()

    def running():
        learner = Background(model.learn)
        assert learner.waits()
        assert in_a_worker_thread(model.predict) is None
        return learner

    assert model.predict(running).ends()


def test_a_thread_that_waits_to_learn_goes_first():
    """New shared calls wait for it, but not those nested in a running one."""
    model, order = Locked(), []

    def running():
        learner = Background(lambda: model.learn(lambda: order.append("learn")))
        assert learner.waits()
        reader = Background(lambda: model.predict(lambda: order.append("predict")))
        assert reader.waits()
        model.predict(lambda: order.append("nested"))
        return learner, reader

    assert all(call.ends() for call in model.predict(running))
    assert order == ["nested", "learn", "predict"]


def test_threads_that_wait_to_predict_go_before_the_next_one_that_learns():
    """Also if the same thread learns again at once, as in a loop over a queue."""
    model, order = Locked(), []

    def running():
        readers = [Background(lambda: model.predict(lambda: order.append("predict"))) for _ in "ab"]
        assert all(reader.waits() for reader in readers)
        return readers

    readers = model.learn(running)
    model.learn(lambda: order.append("learn"))
    assert all(reader.ends() for reader in readers)
    assert order == ["predict", "predict", "learn"]


@pytest.mark.skipif(sys.platform == "win32", reason="signals of threads are those of POSIX")
def test_ctrl_c_ends_a_wait(tmp_path):
    """Other calls do not wait for the one that gave up."""
    code = """
import signal, threading
from sklrank._compiled.model_lock import LockedModel, exclusive_call, shared_call
class Locked(LockedModel):
    @exclusive_call
    def learn(self, call=None): return call and call()
    @shared_call
    def predict(self, X=None): return X and X()
# Shells start programs in the background with SIGINT ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
main = threading.main_thread().ident
for held, waiting in ("predict", "learn"), ("learn", "predict"):
    model, free = Locked(), threading.Event()
    other = threading.Thread(target=lambda: getattr(model, held)(free.wait))
    other.start()
    threading.Timer(0.3, signal.pthread_kill, [main, signal.SIGINT]).start()
    try:
        getattr(model, waiting)()
    except KeyboardInterrupt:
        if held == "predict":
            model.predict()
        print("interrupted")
    free.set()
    other.join()
    model.learn()
    print("free")
"""
    result = subprocess.run(
        [sys.executable, "-c", code],
        # In a checkout, Python would import the sources, which need not be compiled.
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(sklrank.__file__).parents[1])},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert result.stdout.split() == ["interrupted", "free"] * 2


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_copies_are_not_locked(protocol):
    """Also copies that a thread makes while it changes the model."""
    model = Locked()

    def copies():
        return copy(model), deepcopy(model), pickle.loads(pickle.dumps(model, protocol))

    for other in model.learn(copies):
        elsewhere(other.learn)
        assert vars(other) == vars(model)


class Calls(BaseEstimator):
    """A weak learner that calls a function when it learns."""

    def __init__(self, call=None):
        self.call = call

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        self.call()
        return self

    def predict(self, X):
        return np.zeros(len(X), dtype=int)

    def __deepcopy__(self, memo):
        return self


def test_a_weak_learner_may_remove_the_learners():
    """The calls that have begun end, although the list is empty."""
    model = AdaOLMR([Calls(lambda: model._learners.clear())])
    data = chunk(model, 0)
    model.fit(*data)
    elsewhere(lambda: model.fit(*data))


@pytest.mark.parametrize("deed", ["partial_fit", "predict"])
def test_a_weak_learner_in_a_worker_thread_may_not_use_its_booster(deed):
    """It would wait for the round that waits for it."""

    def use_model():
        if threading.current_thread() is not callers[0]:
            getattr(model, deed)(*data[: 1 + (deed == "partial_fit")])

    def learn():
        callers.append(threading.current_thread())
        with pytest.raises(RuntimeError, match="this AdaOLMR was made in a worker thread"):
            model.fit(*data)
        ended.append(True)

    model, callers, ended = AdaOLMR([Calls(use_model)], n_estimators=2, n_jobs=2), [], []
    data = chunk(model, 0)
    assert Background(learn).ends()
    assert ended


WEAK_LEARNERS = {
    "tree": HoeffdingTreeClassifier(),
    "logistic": OnlineLogisticRegression(),
    "ridge": OnlineRidgeClassifier(alpha=(1, 10)),
}
READS = {
    HoeffdingTreeClassifier: [lambda tree, X: tree.get_depth()],
    OnlineLogisticRegression: [
        lambda linear, X: linear.decision_function(X),
        lambda linear, X: linear.coef_,
        lambda linear, X: linear.intercept_,
        lambda linear, X: linear.mean_,
        lambda linear, X: linear.scale_,
        lambda linear, X: linear.model_shares_,
    ],
}
READS[OnlineRidgeClassifier] = [
    lambda ridge, X: ridge.decision_function(X),
    lambda ridge, X: ridge.mean_,
    lambda ridge, X: ridge.scale_,
]


@pytest.mark.parametrize("name", WEAK_LEARNERS)
def test_weak_learners_are_locked_with_their_booster(name):
    """They are accessible as `estimators_`."""
    waiting = []

    def calls(learner):
        X, y = data
        return [
            lambda: learner.predict(X),
            lambda: learner.predict_proba(X),
            lambda: learner.partial_fit(X, y),
            lambda: pickle.dumps(learner),
            *(lambda read=read: read(learner, X) for read in READS[type(learner)]),
        ]

    def use_learners():
        if not waiting:
            waiting.extend(Background(call) for call in calls(model.estimators_[0]))
            sleep(0.1)
            assert all(call.waits() for call in waiting[::5])

    model = AdaOLMR([WEAK_LEARNERS[name], Calls(use_learners)])
    data = chunk(model, 0)
    model.fit(*data)
    assert all(call.ends() for call in waiting)
