"""Calls of online models that fail: by Ctrl-C, by a lack of memory, or since they are refused.

`fit` and a first call leave the model as it was. Other calls may keep the first samples, as if the
call had received only these; the random numbers of the next ones may have been drawn.
"""

import gc
import pickle
import signal
import sys
import threading
import time
from contextlib import contextmanager
from copy import deepcopy
from functools import cache, partial
from itertools import count, cycle
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.utils import check_random_state

import sklrank
from sklrank._online.batches import timed_slices
from sklrank.boosting import AdaRank, NDCGBoost, RankBoost
from sklrank.feedback import Exploration
from sklrank.label_ranking import LabelwiseRanker, PairwiseRanker, StackedRanker
from sklrank.linear_model import (
    BanditronClassifier,
    LinUCBClassifier,
    OnlineLogisticRegression,
    OnlineRidgeClassifier,
    PredtronClassifier,
    PredtronLabelRanker,
    PredtronQueryRanker,
    SemiBanditRanker,
)
from sklrank.linear_model._predtron._base import KernelModel, LinearModel
from sklrank.online_boosting import (
    AdaOLMR,
    OnlineBMR,
    TopKAdaptive,
    TopKBBM,
)
from sklrank.semi_supervised import AssembleClassifier, MCSSBClassifier
from sklrank.tree import HoeffdingTreeClassifier, ProbabilisticLabelTree
from sklrank.tree._histogram import HistogramTreeRegressor

BATCH = 3
N_SAMPLES = 6
PACKAGE = str(Path(sklrank.__file__).parent)

MODELS = {
    "logistic": OnlineLogisticRegression(),
    "ridge": OnlineRidgeClassifier(kernel="rbf", n_components=5),
    "tree": HoeffdingTreeClassifier(grace_period=5, tau=0.9),
    "label-tree": ProbabilisticLabelTree(max_children=2, max_iter=2),
    "banditron": BanditronClassifier(exploration=0.3),
    "banditron-entropy": BanditronClassifier(exploration=0.3, mirror_map="entropy"),
    "linucb": LinUCBClassifier(exploration=0.3),
    "predtron": PredtronClassifier(average=True),
    "predtron-reject": PredtronClassifier(reject_cost=0.3, max_iter=2),
    "predtron-subsets": PredtronClassifier(loss="hamming"),
    "predtron-kernel": PredtronClassifier(kernel="rbf", average=True),
    "predtron-labels": PredtronLabelRanker(),
    "predtron-queries": PredtronQueryRanker(average=True),
    "bmr": OnlineBMR("trees", n_estimators=3),
    "olmr": AdaOLMR(),
    "olmr-trees": AdaOLMR("trees", n_estimators=3, shuffle=True, max_iter=2),
    "olmr-sklearn": AdaOLMR(GaussianNB(), n_estimators=1),
    "topk-bbm": TopKBBM(k=2, exploration=0.3),
    "topk-bbm-sklearn": TopKBBM(GaussianNB(), n_estimators=1, k=2, exploration=0.3),
    "topk-adaptive": TopKAdaptive(k=2, exploration=0.3),
    "topk-adaptive-trees": TopKAdaptive("trees", n_estimators=3, k=2, n_jobs=2),
}
METHODS = ["fit", "partial_fit", "progressive_fit", "partial_fit_feedback"]
CASES = [(name, method) for name in MODELS for method in METHODS if hasattr(MODELS[name], method)]
# A call of `partial_fit` learns all samples or none.
LEARNS_ALL_OR_NONE = {name for name in MODELS if name.startswith("predtron")}


@pytest.fixture(autouse=True)
def small_batches(monkeypatch, set_constant):
    for name in ("BATCH", "SMALL_BATCH"):
        set_constant(name, BATCH)
    for model in (LinearModel, KernelModel):
        monkeypatch.setattr(model, "max_rows", BATCH)


def make(name):
    """Return an untrained model whose `random_state`, if any, is a generator."""
    model = clone(MODELS[name])
    if not hasattr(model, "random_state"):
        return model
    return model.set_params(random_state=np.random.RandomState(3))


def arguments(model, method, n_samples=N_SAMPLES, seed=0):
    """Return the arguments of a method, with at least two class labels and positive features."""
    rng = np.random.default_rng(seed)
    X = rng.gamma(2.0, size=(n_samples, 4))
    y = np.arange(n_samples) % 3
    X[:, 1] += y
    if isinstance(model, PredtronQueryRanker):
        return X, (X[:, 1] > 2).astype(float), np.arange(n_samples) // 4
    if isinstance(model, PredtronLabelRanker) or model.get_params().get("loss") == "hamming":
        return X, (X[:, :3] > np.median(X, axis=0)[:3]).astype(int)
    if method == "partial_fit_feedback":
        k = () if isinstance(model, BanditronClassifier | LinUCBClassifier) else (2,)
        actions = np.array([rng.permutation(3)[: max(k, default=1)] for _ in X])
        propensities = np.full((n_samples, *2 * k), 0.5)
        shown = Exploration(actions.reshape(n_samples, *k), propensities)
        return X, shown, (actions == y[:, np.newaxis]).astype(int).reshape(n_samples, *k), range(3)
    return X, y


def some_rows(values, rows):
    """Return these rows of an array or record; return `classes` unchanged."""
    if isinstance(values, Exploration):
        return Exploration(values.actions[rows], values.propensities[rows])
    return values[rows] if isinstance(values, np.ndarray) else values


@cache
def trained(name):
    model = make(name)
    return model.fit(*arguments(model, "fit", seed=1))


@contextmanager
def raising_at_call(number, error):
    """Raise `error` at the start of the given call, from 0, of a Python function of the package.

    CPython handles Ctrl-C at these points.
    """
    n_calls = 0

    def trace(frame, event, arg):
        nonlocal n_calls
        code = frame.f_code
        # A generator expression may be called by the garbage collector, which ignores errors.
        if event == "call" and code.co_filename.startswith(PACKAGE) and code.co_name[0] != "<":
            n_calls += 1
            if n_calls == number + 1:
                raise error

    sys.setprofile(trace)
    try:
        yield
    finally:
        sys.setprofile(None)


def possible_states(start, method, keeps_samples, state):
    """Return the states that a call may leave: as before, and after each sample that it keeps."""
    model = start()
    states, data = [state(model)], arguments(model, method)
    for stop in range(1 if keeps_samples else N_SAMPLES, N_SAMPLES + 1):
        model = start()
        getattr(model, method)(*[some_rows(part, slice(stop)) for part in data])
        states.append(state(model))
    return states


@pytest.mark.parametrize(
    ("errors", "first_number", "step"),
    [
        ([KeyboardInterrupt], 0, 61),
        pytest.param([KeyboardInterrupt, MemoryError], 1, 7, marks=pytest.mark.slow),
    ],
    ids=["few", "many"],
)
@pytest.mark.parametrize("first", [True, False], ids=["first", "later"])
@pytest.mark.parametrize(("name", "method"), CASES)
def test_interrupted_calls(name, method, first, errors, first_number, step, fingerprint):
    """At a call of a Python function, the model is as before, or has learned the first samples."""

    def state(model):
        if keeps_samples:
            vars(model).update(random_state=None, _random_state=None)
        return fingerprint(model)

    template = make(name) if first else trained(name)
    start = partial(deepcopy, template)
    keeps_samples = not (first or method == "fit" or name in LEARNS_ALL_OR_NONE)
    possible = possible_states(start, method, keeps_samples, state)
    data = arguments(start(), method)
    found = []
    for number, error in zip(count(first_number, step), cycle(errors)):
        model = start()
        call = getattr(model, method)
        try:
            with raising_at_call(number, error):
                call(*data)
            break
        except error:
            found.append(possible.index(state(model)))
    assert found[0] == 0


@pytest.mark.parametrize("change", ["add", "drop"])
@pytest.mark.parametrize(
    "name", ["tree", "linucb", "predtron-reject", "olmr", "topk-adaptive-trees"]
)
def test_interrupted_changes_of_classes(name, change, fingerprint):
    """The model is as before, or has all new classes and samples, or lacks all that it drops."""
    template = trained(name)
    X, y = arguments(template, "partial_fit")

    def call(model):
        return model.partial_fit(X, y, range(-1, 5)) if change == "add" else model.drop_classes([1])

    possible = [fingerprint(model) for model in (template, call(deepcopy(template)))]
    found = []
    for number in count(0, 7 if change == "add" else 3):
        model = deepcopy(template)
        try:
            with raising_at_call(number, KeyboardInterrupt):
                call(model)
            break
        except KeyboardInterrupt:
            found.append(possible.index(fingerprint(model)))
    assert found[0] == 0
    assert len(found) > 3


class Interrupted(ClassifierMixin, BaseEstimator):
    """A weak learner that raises `error` in a call of one of its methods, and only once."""

    calls = count()
    stop = error = None

    def _count(self):
        if next(Interrupted.calls) == self.stop:
            raise self.error

    def predict_proba(self, X):
        self._count()
        return np.tile(self.totals_ / self.totals_.sum(), (len(X), 1))

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        self._count()
        if classes is not None and not hasattr(self, "classes_"):
            self.classes_, self.totals_, self.n_learned_ = classes, np.ones(len(classes)), 0
        self.n_learned_ += 1
        np.add.at(self.totals_, np.searchsorted(self.classes_, y), sample_weight)
        return self


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
@pytest.mark.parametrize("method", ["partial_fit", "progressive_fit", "partial_fit_feedback"])
@pytest.mark.parametrize("make_booster", [AdaOLMR, OnlineBMR, TopKBBM, TopKAdaptive])
def test_half_a_round(make_booster, method, error, monkeypatch):
    """Three weak learners vote and learn: a round is whole, or the model refuses further ones."""
    k = {"k": 2} if hasattr(make_booster, "explore") else {}
    if method == "partial_fit_feedback" and not k:
        pytest.skip("the booster learns from all labels")
    monkeypatch.setattr(Interrupted, "error", error)
    found = set()
    for stop in (1, 4, 8):
        monkeypatch.setattr(Interrupted, "stop", None)
        model = make_booster(Interrupted(), n_estimators=3, random_state=0, **k)
        model.fit(*arguments(model, "fit", 4, seed=1))
        data = arguments(model, method, 4)
        monkeypatch.setattr(Interrupted, "calls", count())
        monkeypatch.setattr(Interrupted, "stop", stop)
        with pytest.raises(error):
            getattr(model, method)(*data)
        n_learned = {weak.n_learned_ for weak in model.estimators_}
        found.add(len(n_learned) == 1)
        ranks = model.predict_ranks(data[0])
        if model._counter.is_in_round:
            for one in (model, deepcopy(model)):
                with pytest.raises(NotFittedError, match="call fit"):
                    getattr(one, method)(*data)
            assert np.array_equal(ranks, model.predict_ranks(data[0]))
            model.fit(*arguments(model, "fit", 4, seed=1))
        else:
            assert len(n_learned) == 1
        getattr(model, method)(*data)
    assert found == {True, False}


# -- Refused calls.

BAD = {
    "infinity": lambda X, *rest: (np.full_like(X, np.inf), *rest),
    "no features": lambda X, *rest: (X[:, :0], *rest),
    "shorter X": lambda X, *rest: (X[1:], *rest),
    "text": lambda X, target, *rest: (X, "targets", *rest),
}


@pytest.mark.parametrize("first", [True, False], ids=["first", "later"])
@pytest.mark.parametrize(("name", "method"), CASES)
def test_refused_calls(name, method, first, fingerprint):
    """The model stays as it was, as does the generator given as `random_state`."""
    model = make(name) if first else deepcopy(trained(name))
    before = fingerprint(model)
    for damage in BAD.values():
        with pytest.raises((ValueError, TypeError)):
            getattr(model, method)(*damage(*arguments(model, method)))
    assert fingerprint(model) == before


X = np.random.default_rng(0).normal(size=(30, 4))
GRADES = np.arange(30) % 3
ORDERS = np.argsort(X[:, :3], axis=1) + 1.0
SHOWN = Exploration(np.full((30, 2), 7), np.full((30, 2, 2), 0.5))
REFUSED_LATE = {
    "exploration of TopKAdaptive": (
        TopKAdaptive(k=2),
        "partial_fit_feedback",
        (X, SHOWN, np.ones((30, 2)), range(3)),
    ),
    "exploration of LinUCB": (
        LinUCBClassifier(),
        "partial_fit_feedback",
        (X, SHOWN, np.ones(30), range(3)),
    ),
    "learner of AdaOLMR": (AdaOLMR(MultinomialNB(), 2), "fit", (X, GRADES)),
    "learner of AdaOLMR in partial_fit": (AdaOLMR(MultinomialNB(), 2), "partial_fit", (X, GRADES)),
    "learner of NDCGBoost": (NDCGBoost(Ridge()), "fit", (X, GRADES)),
    "grades of RankBoost": (RankBoost(), "fit", (X, np.ones(30))),
    "grades of AdaRank": (AdaRank(), "fit", (X, np.ones(30))),
    "learner of AssembleClassifier": (AssembleClassifier(Ridge()), "fit", (X, GRADES)),
    "learner of MCSSBClassifier": (MCSSBClassifier(MultinomialNB()), "fit", (X, GRADES)),
    "classifier of LabelwiseRanker": (LabelwiseRanker(LogisticRegression()), "fit", (X, ORDERS)),
    "regressor of PairwiseRanker": (PairwiseRanker(MultinomialNB()), "fit", (X, ORDERS)),
    "ranker of StackedRanker": (
        StackedRanker([("bad", PairwiseRanker(MultinomialNB()))]),
        "fit",
        (X, ORDERS),
    ),
}


@pytest.mark.parametrize("case", REFUSED_LATE)
def test_calls_refused_late(case, fingerprint):
    """After random numbers have been drawn, whose generator is restored."""
    model, method, data = REFUSED_LATE[case]
    model = clone(model).set_params(random_state=np.random.RandomState(5))
    before = fingerprint(model)
    with pytest.raises((ValueError, TypeError)):
        getattr(model, method)(*data)
    assert fingerprint(model) == before


def test_global_generator_is_not_restored():
    """Other threads may use it."""
    shared = check_random_state(None)
    before = shared.get_state(legacy=False)["state"]
    with pytest.raises(ValueError, match="Negative values"):
        AdaOLMR(MultinomialNB(), 2).fit(X, GRADES)
    after = shared.get_state(legacy=False)["state"]
    assert after["pos"] != before["pos"] or not np.array_equal(after["key"], before["key"])


# -- Ctrl-C during a compiled call.


def seconds_until_interrupted(call, after=0.2):
    """Send Ctrl-C while `call` runs, and return the CPU time for which it runs on."""
    begin = None

    def interrupt():
        nonlocal begin
        begin = time.process_time()
        signal.raise_signal(signal.SIGINT)

    timer = threading.Timer(after, interrupt)
    # Shells start programs in the background with SIGINT ignored.
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    # An interrupt in a callback of the garbage collector is ignored.
    gc.disable()
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            call()
            pytest.fail("the call was too short")
        seconds = time.process_time() - begin
        timer.join()
    finally:
        timer.cancel()
        gc.enable()
        signal.signal(signal.SIGINT, handler)
    return seconds


WIDE = np.random.default_rng(0).normal(size=(2000, 600))


def noise(n_samples):
    values = np.random.default_rng(1).normal(size=(n_samples, 6))
    return values[:, :5], values[:, 5]


SLOW_CALLS = {
    "linucb": lambda: LinUCBClassifier().partial_fit(WIDE, np.arange(2000) % 26),
    "ridge": lambda: OnlineRidgeClassifier(alpha=(1, 2, 3, 4, 5, 6, 7, 8)).partial_fit(
        np.hstack([WIDE, WIDE**2, WIDE**3]), np.arange(2000) % 3
    ),
    "predtron": lambda: PredtronClassifier(mirror_map="schatten", average=True).partial_fit(
        np.vstack([WIDE] * 10), np.arange(20_000) % 50
    ),
    "booster": lambda: AdaOLMR(OnlineRidgeClassifier(), n_estimators=20).partial_fit(
        WIDE, np.arange(2000) % 3
    ),
    "histogram tree": lambda: HistogramTreeRegressor(max_leaf_nodes=65_536, min_samples_leaf=1).fit(
        *noise(200_000)
    ),
}


@pytest.mark.parametrize("name", SLOW_CALLS)
def test_interrupts_do_not_wait_for_a_batch(name):
    assert seconds_until_interrupted(SLOW_CALLS[name]) < 1.0


@pytest.mark.parametrize(
    "model",
    [
        AdaOLMR(random_state=0),
        SemiBanditRanker(random_state=0),
        TopKAdaptive(random_state=0),
        TopKBBM(random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_an_interrupted_ranker_is_that_of_its_rounds(model):
    """Its scores, probabilities and label sets, with feedback on all labels or on those shown."""
    X, Y = WIDE[:, :8], (WIDE[:, 8:14] > 0.5).astype(int)
    X, Y = np.tile(X, (100, 1)), np.tile(Y, (100, 1))
    labels = np.tile([0, 2, 5], (len(X), 1))
    shown, rewards = Exploration(labels, np.ones((len(X), 3, 3))), Y[:, [0, 2, 5]]

    def learn(ranker, start, stop):
        ranker.partial_fit(X[start:stop], Y[start:stop], classes=range(6))

    def learn_feedback(ranker, start, stop):
        record = Exploration(shown.actions[start:stop], shown.propensities[start:stop])
        ranker.partial_fit_feedback(X[start:stop], record, rewards[start:stop], classes=range(6))

    for training in [learn, learn_feedback][: 1 + hasattr(model, "explore")]:
        interrupted, whole = clone(model), clone(model)
        training(interrupted, 0, 1)
        seconds_until_interrupted(partial(training, interrupted, 1, len(X)), after=0.1)
        assert interrupted.n_rounds_ < len(X)
        training(whole, 0, interrupted.n_rounds_)
        for method in ("decision_function", "predict_proba", "predict"):
            found, expected = (getattr(each, method)(X[:200]) for each in (interrupted, whole))
            np.testing.assert_array_equal(found, expected)


def test_timed_slices_cover_the_batches(set_constant):
    set_constant("CALL_SECONDS", 1e9)
    assert list(timed_slices([slice(3, 4), slice(4, 30)])) == [
        slice(3, 4),
        slice(4, 20),
        slice(20, 30),
    ]


@pytest.mark.parametrize(
    "name", ["ridge", "logistic", "linucb", "banditron", "predtron", "booster"]
)
def test_results_do_not_depend_on_the_time(name, set_constant):
    """Neither the model nor its predictions."""
    model = {
        "ridge": OnlineRidgeClassifier(),
        "logistic": OnlineLogisticRegression(),
        "linucb": LinUCBClassifier(random_state=0),
        "banditron": BanditronClassifier(random_state=0),
        "predtron": PredtronClassifier(),
        "booster": AdaOLMR(n_estimators=3, random_state=0),
    }[name]
    X, y = WIDE[:500, :6], np.arange(500) % 5
    scores = []
    for seconds in (0.0, 1e9):
        set_constant("CALL_SECONDS", seconds)
        learned = clone(model).partial_fit(X, y)
        scores += [learned.decision_function(X), learned.progressive_fit(X, y)]
    np.testing.assert_array_equal(scores[0], scores[2])
    np.testing.assert_array_equal(scores[1], scores[3])


def learn_rows(model, X, Y, rows):
    """Learn some rows, by class labels, by the relevance of all labels, or of two of them."""
    if hasattr(model, "partial_fit_feedback") and model._shows_lists:
        record = Exploration(np.tile([0, 2], (len(rows), 1)), np.ones((len(rows), 2, 2)))
        return model.partial_fit_feedback(X[rows], record, Y[rows][:, [0, 2]], classes=range(4))
    y = Y[rows] if model._accepts_indicators else Y[rows].argmax(axis=1)
    if hasattr(model, "partial_fit_feedback"):
        record = Exploration(np.zeros(len(rows), dtype=int), np.ones(len(rows)))
        return model.partial_fit_feedback(X[rows], record, y == 0, classes=range(4))
    return model.partial_fit(X[rows], y, classes=range(4))


@pytest.mark.parametrize(
    "model",
    [
        HoeffdingTreeClassifier(leaf_prediction="mc"),
        OnlineLogisticRegression(),
        OnlineRidgeClassifier(),
        LinUCBClassifier(random_state=0),
        AdaOLMR(n_estimators=2, random_state=0),
        OnlineBMR(n_estimators=2, random_state=0),
        TopKAdaptive(k=2, n_estimators=2, random_state=0),
        SemiBanditRanker(k=2, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_what_a_signal_handler_saves_has_learned_its_rounds(model):
    """The model goes on at `n_rounds_`, as it does after Ctrl-C."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 5))
    Y = np.eye(4, dtype=int)[(X[:, :4] + rng.normal(size=(3000, 4))).argmax(axis=1)]
    rows, saved, begin = np.arange(len(X)), [], time.perf_counter()
    whole = learn_rows(clone(model), X, Y, rows)
    seconds = time.perf_counter() - begin
    for _ in range(20):
        running = learn_rows(clone(model), X, Y, rows[:1])

        def save(*_, running=running):
            saved.append(pickle.loads(pickle.dumps(running)))

        before = signal.signal(signal.SIGALRM, save)
        signal.setitimer(signal.ITIMER_REAL, seconds * rng.uniform(0.2, 0.8))
        learn_rows(running, X, Y, rows[1:])
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if saved and 1 < saved[-1].n_rounds_ < len(X):
            break
    resumed = learn_rows(saved[-1], X, Y, rows[saved[-1].n_rounds_ :])
    assert resumed.n_rounds_ == whole.n_rounds_ == len(X)
    method = "decision_function" if hasattr(whole, "decision_function") else "predict_proba"
    found, expected = (getattr(each, method)(X[:50]) for each in (resumed, whole))
    np.testing.assert_array_equal(found, expected)
