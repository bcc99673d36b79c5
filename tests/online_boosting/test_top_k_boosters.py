"""Public behavior of TopKBBM and TopKAdaptive."""

import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import joblib
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris, make_multilabel_classification
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklrank.feedback import Exploration, explore
from sklrank.feedback._protocol import LIST_RANDOMIZATIONS
from sklrank.linear_model import OnlineLogisticRegression
from sklrank.metrics import rank_loss
from sklrank.online_boosting import TopKAdaptive, TopKBBM

X, Y = make_multilabel_classification(300, n_features=12, n_classes=5, random_state=0)
LINEAR = OnlineLogisticRegression(multi_class="ovr")
KINDS = {
    "bbm": TopKBBM("trees", n_estimators=8, exploration=0.3, random_state=0),
    "bbm, single swap": TopKBBM(
        "trees", n_estimators=8, k=2, randomization="single-swap", exploration=0.3, random_state=0
    ),
    "adaptive": TopKAdaptive("trees", n_estimators=8, exploration=0.3, random_state=0),
    "adaptive, single swap": TopKAdaptive(
        LINEAR, n_estimators=3, k=4, randomization="single-swap", exploration=1.0, random_state=0
    ),
    "adaptive, recommended": TopKAdaptive(exploration=0.2, random_state=0),
}


@pytest.fixture(params=KINDS)
def model(request):
    return clone(KINDS[request.param])


def rewards_of(record, Y):
    return np.take_along_axis(Y, record.actions, axis=1)


def test_learns_to_rank(model):
    """Unseen samples are ranked better than at random."""
    model.set_params(max_iter=3).fit(X[:200], Y[:200])
    assert rank_loss(Y[200:], model.decision_function(X[200:])) < 0.35
    assert model.n_rounds_ == 600


def test_fit_simulates_the_protocol(model, fingerprint):
    """explore and partial_fit_feedback, sample by sample, give the model of partial_fit."""
    simulated = clone(model).partial_fit(X[:80], Y[:80])
    played = clone(model)
    for i in range(80):
        shown = played.explore(X[i : i + 1], classes=range(5))
        played.partial_fit_feedback(X[i : i + 1], shown, rewards_of(shown, Y[i : i + 1]))
    assert fingerprint(played) == fingerprint(simulated)


def test_only_the_relevance_of_shown_labels_is_used(model, fingerprint):
    """Wrong relevance of all other labels gives the same model and the same scores."""
    honest, garbage, watcher = clone(model), clone(model), clone(model)
    garbled = 1 - Y[:80]
    for i in range(80):
        shown = watcher.explore(X[i : i + 1], classes=range(5))
        watcher.partial_fit_feedback(X[i : i + 1], shown, rewards_of(shown, Y[i : i + 1]))
        garbled[i, shown.actions[0]] = Y[i, shown.actions[0]]
    assert (garbled != Y[:80]).mean() >= 0.2
    scores = honest.progressive_fit(X[:80], Y[:80], classes=range(5))
    assert_array_equal(garbage.progressive_fit(X[:80], garbled, classes=range(5)), scores)
    assert fingerprint(honest) == fingerprint(garbage)


@pytest.mark.parametrize("as_labels", [False, True])
def test_chunks_and_pickles_make_the_same_model(model, as_labels, fingerprint):
    """At once, in chunks, with pickles and predictions in between, and progressively."""
    y = Y.argmax(axis=1) if as_labels else Y
    at_once = clone(model).partial_fit(X, y)
    chunked = clone(model).partial_fit(X[:1], y[:1], classes=None if not as_labels else range(5))
    for start, stop in [(1, 2), (2, 90), (90, 91), (91, 300)]:
        chunked = pickle.loads(pickle.dumps(chunked))
        chunked.predict(X[:5])
        chunked.partial_fit(X[start:stop], y[start:stop])
    progressive = clone(model)
    progressive.progressive_fit(X, y)
    assert fingerprint(chunked) == fingerprint(at_once)
    assert fingerprint(progressive) == fingerprint(at_once)


def test_feedback_in_any_chunks(model, fingerprint):
    """Feedback later, in chunks, with pickles in between, from logs: the model of one call."""
    model.fit(X[:100], Y[:100])
    shown = model.explore(X)
    rewards = rewards_of(shown, Y)
    at_once = pickle.loads(pickle.dumps(model)).partial_fit_feedback(X, shown, rewards)
    logged = Exploration.from_frame(shown.to_frame(rewards=rewards))
    pieces = pickle.loads(pickle.dumps(model))
    for start, stop in [(0, 1), (1, 150), (150, 300)]:
        rows = slice(start, stop)
        pieces.partial_fit_feedback(X[rows], logged[rows], rewards[rows])
        pieces = pickle.loads(pickle.dumps(pieces))
    assert fingerprint(pieces) == fingerprint(at_once)
    # Another order of the samples is another stream, and is learned too.
    order = np.random.RandomState(0).permutation(len(X))
    other = model.partial_fit_feedback(X[order], shown[order], rewards[order])
    assert np.isfinite(other.decision_function(X)).all()
    assert other.n_rounds_ == at_once.n_rounds_


def test_logs_and_models_that_are_memory_mapped(model, tmp_path, fingerprint):
    """They give the same model, and the files do not change."""
    model.fit(X[:100], Y[:100])
    shown = model.explore(X)
    rewards = rewards_of(shown, Y).astype(np.int8)
    joblib.dump((shown, rewards), tmp_path / "log")
    joblib.dump(model, tmp_path / "model")
    before = (tmp_path / "model").read_bytes()
    expected = fingerprint(model.partial_fit_feedback(X, shown, rewards))
    for mode in ("r", "r+", "c"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of joblib, on small arrays
            loaded = joblib.load(tmp_path / "model", mmap_mode=mode)
            record, answers = joblib.load(tmp_path / "log", mmap_mode="r")
        loaded.partial_fit_feedback(X, record, answers)
        assert fingerprint(loaded) == expected
        assert (tmp_path / "model").read_bytes() == before


def test_explore_is_thread_safe():
    """It does not change the learners, so calls may run in parallel."""
    model = TopKBBM(exploration=1e-300, random_state=0).fit(X, Y)
    many = np.tile(X, (10, 1))
    expected = model.explore(many).actions
    with ThreadPoolExecutor(4) as threads:
        found = [threads.submit(model.explore, many) for _ in range(8)]
    for future in found:
        assert_array_equal(future.result().actions, expected)


def test_explore_learns_nothing(model, fingerprint):
    """It only draws random numbers, the same in one call as in a call for each sample."""
    model.fit(X, Y)
    one_by_one, before = pickle.loads(pickle.dumps(model)), pickle.loads(pickle.dumps(model))
    shown = model.explore(X)
    for i in range(20):
        row = one_by_one.explore(X[i : i + 1])
        assert_array_equal(row.actions[0], shown.actions[i])
        assert_array_equal(row.propensities[0], shown.propensities[i])
    model._random_state = before._random_state
    assert fingerprint(model) == fingerprint(before)
    assert shown.actions.shape == (300, model.k)
    assert shown.propensities.shape == (300, model.k, model.k)


def test_hedge_does_not_overflow():
    """Importance-weighted losses may be so large that their exponentials underflow."""
    shown = explore(np.zeros(Y.shape), 3, exploration=1.0, random_state=0)
    rare = Exploration(shown.actions, np.full(shown.propensities.shape, 1e-6))
    model = TopKAdaptive(
        "trees", n_estimators=5, cost_estimate="pairs", propensity_clip=0, random_state=0
    )
    model.partial_fit_feedback(X, rare, rewards_of(rare, Y), classes=range(5))
    assert model._log_expert_weights.max() < -1e6
    assert model.expert_weights_.sum() == pytest.approx(1)
    assert np.isfinite(model.progressive_fit(X, Y)).all()
    assert len(model.explore(X)) == 300


def test_threads_change_nothing(model, fingerprint):
    x, y = X[:15], Y[:15]
    alone = clone(model).fit(x, y)
    together = clone(model).set_params(n_jobs=3).fit(x, y)
    shown = alone.explore(x)
    record = together.explore(x)
    assert_array_equal(record.actions, shown.actions)
    alone.partial_fit_feedback(x, shown, rewards_of(shown, y))
    together.partial_fit_feedback(x, shown, rewards_of(shown, y)).set_params(n_jobs=None)
    assert fingerprint(alone) == fingerprint(together)


def test_seeds(model, fingerprint):
    first, same, other = (
        fingerprint(clone(model).set_params(random_state=seed).fit(X, Y).estimators_)
        for seed in (1, 1, 2)
    )
    assert first == same != other


def test_scores_of_a_sample_do_not_depend_on_other_samples(model):
    model.fit(X, Y)
    scores = model.decision_function(X)
    assert_array_equal(scores[::-1][:7], model.decision_function(X[::-1][:7]))
    assert_array_equal(scores[5], model.decision_function(X[5:6])[0])


def test_greedy_samples_show_the_best_labels():
    """Without exploration, the labels shown are those of predict_topk."""
    model = TopKBBM("trees", n_estimators=5, k=2, exploration=1e-12, random_state=0)
    model.partial_fit(X, Y, classes=list("abcde"))
    assert_array_equal(model.classes_[model.explore(X).actions], model.predict_topk(X, 2))


def test_class_labels():
    """A shown class is relevant or not; if there are fewer classes than k, all are shown."""
    iris = load_iris()
    model = TopKAdaptive(LINEAR, n_estimators=3, k=2, exploration=0.2, learning_rate=0.1)
    model.set_params(max_iter=5, shuffle=True, random_state=0).fit(iris.data, iris.target)
    assert model.score(iris.data, iris.target) > 0.7
    shown = model.explore(iris.data)
    model.partial_fit_feedback(iris.data, shown, shown.actions == iris.target[:, None])
    binary = TopKBBM("trees", n_estimators=3, random_state=0).fit(iris.data, iris.target == 1)
    assert binary.explore(iris.data[:4]).propensities.tolist() == [[[1.0, 1.0], [1.0, 1.0]]] * 4


def test_logs_of_another_policy():
    """A model can learn from the log of a policy that shows four random labels."""
    log = explore(np.zeros(Y.shape), 4, exploration=1.0, random_state=0)
    model = TopKBBM("trees", n_estimators=20, random_state=0)
    model.partial_fit_feedback(X[:200], log[:200], rewards_of(log, Y)[:200], classes=list("abcde"))
    assert model.classes_.tolist() == list("abcde")
    assert rank_loss(Y[200:], model.decision_function(X[200:])) < 0.3
    by_hand = Exploration(log.actions[:200].tolist(), np.full((200, 4, 4), 12 / 20))
    again = TopKBBM("trees", n_estimators=20, random_state=0)
    again.partial_fit_feedback(X[:200], by_hand, rewards_of(log, Y)[:200], classes=list("abcde"))
    assert_allclose(again.decision_function(X), model.decision_function(X), atol=1e-12)


def test_sample_weights_multiply_the_pairs(fingerprint):
    """A weight of 2 has the effect of half the propensity; weight zero is not a round."""
    shown = explore(np.zeros(Y.shape), 3, exploration=1.0, random_state=0)
    rewards = rewards_of(shown, Y)
    model = TopKBBM(
        "trees", n_estimators=3, cost_estimate="pairs", propensity_clip=0, random_state=0
    )
    doubled = clone(model).partial_fit_feedback(
        X, shown, rewards, classes=range(5), sample_weight=np.full(300, 2.0)
    )
    halved = Exploration(shown.actions, shown.propensities / 2)
    expected = clone(model).partial_fit_feedback(X, halved, rewards, classes=range(5))
    assert_allclose(doubled.decision_function(X), expected.decision_function(X), atol=1e-12)
    some = np.arange(300) % 3 > 0
    weighted = clone(model).partial_fit_feedback(
        X, shown, rewards, classes=range(5), sample_weight=some.astype(float)
    )
    left_out = clone(model).partial_fit_feedback(
        X[some], shown[some], rewards[some], classes=range(5)
    )
    assert fingerprint(weighted) == fingerprint(left_out)


def test_grid_search_in_a_pipeline():
    """Search over k, exploration and randomization; over k and the learning rate."""
    pipeline = make_pipeline(StandardScaler(), TopKBBM("trees", n_estimators=3, random_state=0))
    grid = {
        "topkbbm__k": [2, 4],
        "topkbbm__exploration": [0.1, 0.5],
        "topkbbm__randomization": sorted(LIST_RANDOMIZATIONS),
    }
    search = GridSearchCV(pipeline, grid, cv=2, error_score="raise").fit(X, Y)
    assert len(search.cv_results_["params"]) == 4 * len(LIST_RANDOMIZATIONS)
    assert 0.5 < search.best_score_ < 1
    assert len(set(search.cv_results_["mean_test_score"])) > 4
    pipeline = make_pipeline(
        StandardScaler(), TopKAdaptive("trees", n_estimators=3, random_state=0)
    )
    grid = {"topkadaptive__k": [2, 3], "topkadaptive__learning_rate": ["theory", 0.1]}
    assert GridSearchCV(pipeline, grid, cv=2, error_score="raise").fit(X, Y).best_score_ > 0.4


def test_data_frames():
    """Feature names are checked by explore and partial_fit_feedback too."""
    frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(12)])
    model = TopKBBM("trees", n_estimators=3, random_state=0).fit(frame, Y)
    shown = model.explore(frame)
    model.partial_fit_feedback(frame, shown, rewards_of(shown, Y))
    with pytest.raises(ValueError, match="feature names"):
        model.explore(frame.iloc[:, ::-1])


# -- Errors.


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"k": 1}, "'k'"),
        ({"k": 2.5}, "'k'"),
        ({"k": 6}, "k=6 labels cannot be shown if there are 5"),
        ({"exploration": 0}, "'exploration'"),
        ({"exploration": 1.2}, "'exploration'"),
        ({"exploration": "grow"}, "'exploration'"),
        ({"randomization": "double-swap"}, "'randomization'"),
        ({"propensity_clip": 0.6}, "'propensity_clip'"),
        ({"propensity_clip": (0.005, 0.995)}, "'propensity_clip'"),
    ],
)
@pytest.mark.parametrize("make", [TopKBBM, TopKAdaptive])
def test_bad_parameters(make, parameters, message, fingerprint):
    """The error names the parameter, in any first call; a fitted model stays as it was."""
    for method in (
        lambda model: model.fit(X, Y),
        lambda model: model.partial_fit(X, Y),
        lambda model: model.progressive_fit(X, Y),
        lambda model: model.explore(X, classes=range(5)),
    ):
        model = make("trees", n_estimators=2).set_params(**parameters)
        with pytest.raises(ValueError, match=message):
            method(model)
        assert not hasattr(model, "classes_")
    fitted = make("trees", n_estimators=2, random_state=0).fit(X, Y)
    before = fingerprint(fitted.set_params(**parameters))
    with pytest.raises(ValueError, match=message):
        fitted.fit(X, Y)
    assert fingerprint(fitted) == before


@pytest.mark.parametrize("learning_rate", [0, -1.0, "paper"])
def test_bad_learning_rate(learning_rate):
    with pytest.raises(ValueError, match="'learning_rate'"):
        TopKAdaptive(learning_rate=learning_rate).fit(X, Y)
    with pytest.raises(ValueError, match="'gradient_clip'"):
        TopKAdaptive(gradient_clip=0).fit(X, Y)


@pytest.mark.parametrize(
    "message, argument, change",
    [
        ("NaN", "X", lambda X: X * np.nan),
        ("infinity", "X", lambda X: X + np.inf),
        ("features", "X", lambda X: X[:, 1:]),
        ("0 sample", "X", lambda X: X[:0]),
        ("actions", "X", lambda X: X[:7]),
        ("integers from 0 to 4", "actions", lambda actions: actions + 3),
        ("exploration must have", "actions", lambda actions: None),
        ("propensities", "propensities", lambda p: None),
        ("propensities", "propensities", lambda p: 0 * p),
        ("propensities", "propensities", lambda p: 2 * p),
        ("propensities", "propensities", lambda p: p[:, 0]),
        ("rewards", "rewards", lambda rewards: rewards + 0.5),
        ("pairs of a relevant and an irrelevant", "rewards", lambda rewards: rewards / 2),
        ("rewards", "rewards", lambda rewards: Y),
        ("classes", "classes", lambda _: range(1, 6)),
        ("sample_weight", "sample_weight", lambda _: np.full(300, -1.0)),
        ("sample_weight", "sample_weight", lambda _: np.ones(3)),
    ],
)
def test_bad_feedback_leaves_the_model_as_it_was(message, argument, change, fingerprint):
    model = TopKAdaptive(LINEAR, n_estimators=2, random_state=0).fit(X, Y)
    shown = model.explore(X)
    before = fingerprint(model)
    good = {"X": X, "rewards": rewards_of(shown, Y), "classes": None, "sample_weight": None}
    good |= {"actions": shown.actions, "propensities": shown.propensities}

    def learn(*, actions, propensities, **arguments):
        record = SimpleNamespace(actions=actions, propensities=propensities)
        return model.partial_fit_feedback(exploration=record, **arguments)

    with pytest.raises(ValueError, match=message):
        learn(**good | {argument: change(good[argument])})
    assert fingerprint(model) == before
    assert learn(**good) is model


def test_a_model_starts_from_named_labels():
    """Names are required to start a model, and must be distinct."""
    model = TopKBBM("trees", n_estimators=2, random_state=0)
    with pytest.raises(NotFittedError, match="name them by `classes`"):
        model.explore(X)
    with pytest.raises(NotFittedError):
        model.partial_fit_feedback(X, Exploration([[0, 1]], np.ones((1, 2, 2))), [[0, 1]])
    for bad in (["a"], ["a", "b", "a"], 20, [["a", "b"]]):
        with pytest.raises(ValueError, match="classes must name"):
            model.explore(X, classes=bad)
    assert not hasattr(model, "classes_")
    model.explore(X[:3], classes=["a", "b", "c"])
    with pytest.raises(ValueError, match="must begin with the labels of the model"):
        model.explore(X[:3], classes=["a", "c", "b"])
