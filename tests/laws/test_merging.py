"""Models that learned different samples, merged into one."""

import pickle
import threading
from copy import deepcopy
from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn import config_context
from sklearn.datasets import load_digits, make_multilabel_classification
from sklearn.naive_bayes import GaussianNB

from sklrank._compiled import merging as _merging
from sklrank.feedback import Exploration
from sklrank.linear_model import (
    BanditronClassifier,
    LinUCBClassifier,
    OnlineLogisticRegression,
    OnlineRidgeClassifier,
    PredtronClassifier,
    SemiBanditRanker,
)
from sklrank.metrics import rank_loss
from sklrank.online_boosting import AdaOLMR, OnlineBMR, TopKAdaptive, TopKBBM
from sklrank.tree import HoeffdingTreeClassifier, ProbabilisticLabelTree

CLASSES, N_FIRST = np.arange(10), 200


def alike(X):
    """Return rows of equal norm, without the columns that do not occur in the first ones.

    Then LinUCB scales all rows by the same number, and columns keep their entries of a sketch.
    """
    X = X[:, X[:N_FIRST].any(axis=0)]
    return 4 * X / np.linalg.norm(X, axis=1, keepdims=True)


X, y = load_digits(return_X_y=True)
X, y = alike(X[:1000]), y[:1000]
# Features whose values are all below thirty standard deviations, at which others count.
FREQUENT = X[:, (X != np.median(X, axis=0)).mean(axis=0) > 0.2]
ACTIONS = np.random.RandomState(0).randint(10, size=len(y))
LABELED_X, LABELED_Y = make_multilabel_classification(700, n_classes=6, random_state=0)


def learn(model, rows, X=X):
    """Let the model learn rows of the data: classes, or the rewards of the classes shown."""
    if isinstance(model, LinUCBClassifier | BanditronClassifier):
        shown = Exploration(ACTIONS[rows], np.full(len(rows), 0.1))
        return model.partial_fit_feedback(X[rows], shown, ACTIONS[rows] == y[rows], CLASSES)
    return model.partial_fit(X[rows], y[rows], CLASSES)


def workers(model, n=4, X=X, start=None):
    """Return copies of a model, each of which has learned a part of the data."""
    rows = np.arange(0 if start is None else N_FIRST, len(y))
    return [learn(deepcopy(model if start is None else start), rows[i::n], X) for i in range(n)]


ITEM_FEATURES = {label: np.cos([label, 2 * label, 3 * label]) for label in range(10)}

EXACT = {
    "ridge": OnlineRidgeClassifier(standardize=False),
    "ridge-norm": OnlineRidgeClassifier(standardize=False, normalize="l2", alpha=0.1),
    "ridge-rbf": OnlineRidgeClassifier(standardize=False, kernel="rbf", random_state=0),
    "ridge-sketch": OnlineRidgeClassifier(standardize=False, sketch_size=20, random_state=0),
    "linucb": LinUCBClassifier(clip=None),
    "linucb-items": LinUCBClassifier(clip=None, item_features=ITEM_FEATURES),
}


def sent(model):
    """Return a copy whose arrays travel beside the pickle, as those that dask sends."""
    arrays = []
    message = pickle.dumps(model, protocol=5, buffer_callback=arrays.append)
    return pickle.loads(message, buffers=[bytearray(array) for array in arrays])


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("name", EXACT)
def test_merged_model_is_that_of_one_pass(name, is_sparse):
    data = sparse.csr_array(alike(np.where(X > 0.6, X, 0.0))) if is_sparse else X
    start = learn(deepcopy(EXACT[name]), np.arange(N_FIRST), data)
    one = learn(deepcopy(start), np.arange(N_FIRST, len(y)), data)
    parts = [pickle.loads(pickle.dumps(part)) for part in workers(start, 4, data, start)]
    scores = one.decision_function(data)
    assert np.abs(parts[0].decision_function(data) - scores).max() > 1e-3
    for order in [(0, 1, 2, 3), (2, 3, 1, 0)]:
        first, *others = (deepcopy(parts[i]) for i in order)
        assert first.merge(others, base=start) is first
        np.testing.assert_allclose(first.decision_function(data), scores, atol=1e-10)
        assert first._count_rounds() == len(y)


@pytest.mark.parametrize("name", ["ridge", "ridge-norm"])
def test_untrained_models_need_no_base(name):
    one = learn(deepcopy(EXACT[name]), np.arange(len(y)))
    first, *others = workers(EXACT[name])
    first.merge([sent(each) for each in others])
    np.testing.assert_allclose(first.decision_function(X), one.decision_function(X), atol=1e-10)


def test_merged_models_continue_to_learn_alike():
    start = learn(deepcopy(EXACT["ridge"]), np.arange(N_FIRST))
    rows = np.arange(N_FIRST, 600)
    one = learn(deepcopy(start), rows)
    first, second = (learn(deepcopy(start), rows[i::2]) for i in range(2))
    first.merge(second, base=start)
    for model in (first, one):
        learn(model, np.arange(600, len(y)))
    np.testing.assert_allclose(first.decision_function(X), one.decision_function(X), atol=1e-10)


@pytest.mark.parametrize("model", [OnlineRidgeClassifier(), LinUCBClassifier(random_state=0)])
def test_models_that_scale_are_close_to_one_pass(model):
    one = learn(deepcopy(model), np.arange(len(y))).decision_function(X)
    first, *others = workers(model)
    of_part = np.abs(first.decision_function(X) - one).mean()
    of_merged = np.abs(first.merge(others).decision_function(X) - one).mean()
    assert of_merged < of_part / 2


@pytest.mark.parametrize("threshold", [-1.0, 0.6, 0.95])
@pytest.mark.parametrize("with_start", [False, True])
def test_statistics_of_features_are_those_of_all_samples(threshold, with_start):
    # Columns that are all centered, some of them, or none.
    data = sparse.csr_array(np.where(FREQUENT + 0.01 > threshold, FREQUENT, 0.0))
    model = OnlineRidgeClassifier()
    start = learn(deepcopy(model), np.arange(N_FIRST), data) if with_start else None
    first, *others = workers(model, 3, data, start)
    first.merge(others, base=start)
    one = learn(model, np.arange(len(y)), data)
    # Whether a column of few entries is centered depends on the order of the samples.
    both = (first.mean_ > 0) == (one.mean_ > 0)
    assert both.mean() > 0.7
    np.testing.assert_allclose(first.mean_[both], one.mean_[both], atol=1e-12)
    np.testing.assert_allclose(first.scale_[both], one.scale_[both], rtol=1e-9)
    moments = [model.scale_**2 + model.mean_**2 for model in (first, one)]
    np.testing.assert_allclose(*moments, rtol=1e-9)
    assert first._learner.feature_map.count == len(y)


def test_constants_far_from_zero_keep_their_scale():
    data = FREQUENT + 1e7
    data[:, 0] = 3e7
    first, second = workers(OnlineRidgeClassifier(), 2, data)
    one = learn(OnlineRidgeClassifier(), np.arange(len(y)), data)
    first.merge(second)
    np.testing.assert_allclose(first.scale_, one.scale_, rtol=1e-6)
    assert first.scale_[0] == 1.0


def test_statistics_of_linucb_are_those_of_all_samples():
    model = LinUCBClassifier(n_components=10, random_state=0)
    start = learn(deepcopy(model), np.arange(N_FIRST), FREQUENT)
    first, *others = workers(model, 3, FREQUENT, start)
    first.merge(others, base=start)
    one = learn(model, np.arange(len(y)), FREQUENT)
    states = [m._rounds.model.__getstate__() for m in (first, one)]
    for name in ("means", "m2", "minima", "maxima", "n_seen", "n_recent"):
        np.testing.assert_allclose(states[0][name], states[1][name], rtol=1e-9, atol=1e-9)
    assert (first.n_rounds_, first.error_rate_) == (one.n_rounds_, one.error_rate_)


def test_sketches_whose_slots_differ():
    # Columns 0 to 9 occur in one part, and 5 to 14 in the other one. All have a slot of their own.
    rng = np.random.RandomState(0)
    data = np.zeros((len(y), 40))
    data[:500, :10], data[500:, 5:15] = rng.rand(500, 10), rng.rand(500, 10)
    # Of a sample with a new column, the regression learns only the other columns.
    data[[0, 500, 999]] *= 1e-14
    model = OnlineRidgeClassifier(standardize=False, sketch_size=20, random_state=0)
    first = learn(deepcopy(model), np.arange(500), data)
    second = learn(deepcopy(model), np.arange(999, 499, -1), data)
    one = learn(deepcopy(model), np.arange(len(y)), data)
    first.merge(second)
    np.testing.assert_allclose(
        first.decision_function(data), one.decision_function(data), atol=1e-10
    )
    with pytest.raises(ValueError, match="slots"):
        kernel = OnlineRidgeClassifier(kernel="rbf", sketch_size=20, random_state=0)
        learn(deepcopy(kernel), np.arange(500), data).merge(
            learn(deepcopy(kernel), np.arange(999, 499, -1), data)
        )


def test_shares_of_penalties_follow_the_sums_of_errors():
    first, second = workers(OnlineRidgeClassifier(alpha=(0.1, 1, 100), standardize=False), 2)
    states = [model._learner.__getstate__() for model in (first, second)]
    errors = sum(state["squared_errors"] for state in states)
    logs = -0.5 * sum(state["total_weight"] for state in states) * np.log(errors)
    shares = np.exp(logs - logs.max())
    first.merge(second)
    np.testing.assert_allclose(first.model_shares_, shares / shares.sum(), rtol=1e-6)


def test_gradient_steps_are_averaged_by_their_sums_of_squares():
    start = learn(OnlineLogisticRegression(), np.arange(N_FIRST))
    models = workers(None, 3, X, start)

    def tables(model):
        state = model._learner.__getstate__()
        rows = state["row_of"]
        assert (rows >= 0).any()
        table = np.zeros((len(rows), *state["table"].shape[1:]))
        table[:, 1] = 1.0
        table[rows >= 0] = state["table"][rows[rows >= 0]]
        return table[:, 0, 0], table[:, 1, 0]

    weights, squares = map(np.array, zip(*map(tables, [start, *models])))
    gains = squares[1:] - squares[0]
    moved = gains.sum(axis=0) > 0
    expected = weights[0].copy()
    expected[moved] = np.average(weights[1:], axis=0, weights=np.where(moved, gains, 1.0))[moved]
    models[0].merge(models[1:], base=start)
    np.testing.assert_allclose(tables(models[0])[0], expected, atol=1e-12)
    np.testing.assert_allclose(tables(models[0])[1], squares[0] + gains.sum(axis=0), rtol=1e-12)


@pytest.mark.parametrize(
    "model",
    [
        BanditronClassifier(random_state=0),
        BanditronClassifier(random_state=0, mirror_map="entropy"),
        BanditronClassifier(random_state=0, mirror_map="p-norm"),
        PredtronClassifier(),
        PredtronClassifier(mirror_map="schatten"),
    ],
    ids=str,
)
def test_dual_weights_are_averaged_by_rounds(model):
    def map_of(model):
        if isinstance(model, PredtronClassifier):
            return model._model.rounds.mirror_map
        return model._rounds.model.mirror_map

    first = learn(deepcopy(model), np.arange(100))
    second = learn(deepcopy(model), np.arange(100, 400))
    expected = 0.25 * map_of(first).dual_weights + 0.75 * map_of(second).dual_weights
    first.merge(second)
    merged = map_of(first)
    np.testing.assert_allclose(merged.dual_weights, expected, atol=1e-12)
    # The weights are those of the map of these dual weights.
    rebuilt = type(merged).__new__(type(merged))
    state = type(merged)(*expected.shape).__getstate__() | {"duals": expected}
    if type(merged).__name__ in ("EuclideanMap", "SchattenMap"):
        rebuilt.__setstate__(state)
        if type(merged).__name__ == "EuclideanMap":
            np.testing.assert_allclose(merged.weights, rebuilt.weights, atol=1e-12)
    if type(merged).__name__ == "EntropicMap":
        weights = np.exp(expected - expected.max(axis=1, keepdims=True))
        np.testing.assert_allclose(merged.weights, weights / weights.sum(axis=1, keepdims=True))
    assert first.n_rounds_ == 400


def test_exploration_rate_is_that_of_all_rounds():
    for exploration in ("decay", "ag1"):
        first, second = workers(BanditronClassifier(exploration=exploration, random_state=0), 2)
        hits = [m._rounds.schedule.__getstate__()["n_hits"] for m in (first, second)]
        first.merge(second)
        expected = (len(y) + 1) ** -0.25
        if exploration == "ag1":
            expected = 0.5 * (1 + len(y) + 2 * sum(hits)) ** -0.9
        assert first.exploration_ == pytest.approx(expected)


RANKERS = [
    AdaOLMR(random_state=0),
    OnlineBMR(random_state=0),
    SemiBanditRanker(random_state=0),
    TopKBBM(random_state=0),
    TopKAdaptive(random_state=0),
]


def test_default_trees_are_those_of_the_model_that_learned_most():
    models = [
        AdaOLMR(random_state=0).partial_fit(X[rows], y[rows], CLASSES)
        for rows in (np.arange(50), np.arange(50, 300), np.arange(300, 350))
    ]
    trees = models[1].estimators_[-8:]
    expected = [tree.predict_proba(X) for tree in trees]
    merged = deepcopy(models[0]).merge(deepcopy(models[1:]))
    for tree, probabilities in zip(merged.estimators_[-8:], expected, strict=True):
        assert_array_equal(tree.predict_proba(X), probabilities)
    # Both attributes have the same trees, which are not those of the other model.
    merged.partial_fit(X, y)
    for tree, learner, probabilities in zip(
        merged.estimators_[-8:], merged._learners[-8:], expected, strict=True
    ):
        assert tree._learner is learner
        assert np.abs(tree.predict_proba(X) - probabilities).max() > 0.01
    assert_array_equal(trees[0].predict_proba(X), expected[0])


@pytest.mark.parametrize("model", RANKERS, ids=lambda model: type(model).__name__)
def test_merged_rankers_are_close_to_one_pass(model):
    X, Y = LABELED_X, LABELED_Y
    parts = [deepcopy(model).partial_fit(X[i:400:4], Y[i:400:4]) for i in range(4)]
    one = deepcopy(model).partial_fit(X[:400], Y[:400])
    part_loss = rank_loss(Y[400:], parts[1].decision_function(X[400:]))
    part_sets = [part._label_sets.__getstate__() for part in parts]
    weights = [getattr(part, "_log_expert_weights", None) for part in parts]
    merged = parts[0].merge(parts[1:])
    loss, one_loss = (rank_loss(Y[400:], each.decision_function(X[400:])) for each in (merged, one))
    # At most half of the loss due to fewer samples, or 0.015, which is noise.
    assert loss < max(one_loss + 0.015, (one_loss + part_loss) / 2)
    assert merged.n_rounds_ == 400
    sets = merged._label_sets.__getstate__()
    for name in ("rule_sums", "label_sums", "n_learned"):
        np.testing.assert_allclose(sets[name], sum(state[name] for state in part_sets))
    if weights[0] is not None:
        np.testing.assert_allclose(merged._log_expert_weights, sum(weights))
    # The learners are those of the list of estimators.
    for estimator, learner in zip(merged.estimators_, getattr(merged, "_learners", [])):
        assert estimator._learner is learner
    merged.partial_fit(X[400:450], Y[400:450])


@pytest.mark.parametrize(
    "model", [*EXACT.values(), *RANKERS], ids=lambda model: type(model).__name__
)
def test_untrained_models_change_nothing(model, fingerprint):
    data = (LABELED_X, LABELED_Y) if model in RANKERS else (X[:300], y[:300])
    trained, untrained = deepcopy(model).partial_fit(*data), deepcopy(model)
    before = fingerprint(trained)
    trained.merge([untrained, deepcopy(model)])
    trained.merge(untrained, base=untrained)
    trained.merge([trained], base=trained)
    trained.merge([])
    assert fingerprint(trained) == before
    untrained.merge(trained)
    if getattr(model, "random_state", 0) is not None:
        assert fingerprint(untrained) == before
    np.testing.assert_array_equal(
        untrained.decision_function(data[0]), trained.decision_function(data[0])
    )


def test_base_counts_once_in_a_second_night():
    model, rows = OnlineRidgeClassifier(standardize=False), np.arange(len(y))
    one = learn(deepcopy(model), rows)
    for day in np.array_split(rows, 4):
        servers = [learn(deepcopy(model), day[i::3]) for i in range(3)]
        base = model if hasattr(model, "classes_") else None
        model = servers[0].merge(servers[1:], base=base)
    np.testing.assert_allclose(model.decision_function(X), one.decision_function(X), atol=1e-10)
    assert model._count_rounds() == len(y)


REFUSED = {
    "HoeffdingTreeClassifier": HoeffdingTreeClassifier(),
    "drift": HoeffdingTreeClassifier(drift_threshold=1.0),
    "ProbabilisticLabelTree": ProbabilisticLabelTree(),
    "BanditronClassifier": BanditronClassifier(kernel="rbf", random_state=0),
    "PredtronClassifier": PredtronClassifier(kernel="rbf"),
    "OnlineBMR": OnlineBMR([GaussianNB()]),
    "average": PredtronClassifier(average=True),
}


@pytest.mark.parametrize("name", REFUSED)
def test_models_that_do_not_add_up_are_refused_by_name(name, fingerprint):
    first, second = (learn(deepcopy(REFUSED[name]), np.arange(i, 80, 2)) for i in range(2))
    before = fingerprint(first), fingerprint(second)
    expected = type(first).__name__
    with pytest.raises(ValueError, match=f"{expected} cannot be merged"):
        first.merge(second)
    assert (fingerprint(first), fingerprint(second)) == before


def test_models_must_agree(fingerprint):
    model = learn(OnlineRidgeClassifier(drift_threshold=None), np.arange(100))
    other = learn(OnlineRidgeClassifier(drift_threshold=None), np.arange(50))
    before = fingerprint(model)
    narrow = OnlineRidgeClassifier(drift_threshold=None).partial_fit(X[:50, :5], y[:50], CLASSES)
    wrong = {
        "alpha of model 1 of others is 3": OnlineRidgeClassifier(drift_threshold=None, alpha=3),
        "is a OnlineLogisticRegression": OnlineLogisticRegression(),
        "n_features_in_ of model 1 of others is 5": narrow,
    }
    for message, bad in wrong.items():
        with pytest.raises(ValueError, match=message):
            model.merge([other, bad])
    for bad in (None, "model", np.ones(3)):
        with pytest.raises(ValueError, match="not a OnlineRidgeClassifier"):
            model.merge(bad)
        if bad is not None:
            with pytest.raises(ValueError, match="base is a"):
                model.merge(other, base=bad)
    deepcopy(model).merge(learn(OnlineRidgeClassifier(drift_threshold=None, alpha=1), np.arange(5)))
    with pytest.raises(ValueError, match="learned 50 rounds, and base 100: it did not"):
        deepcopy(model).merge(other, base=model)
    assert fingerprint(model) == before
    rbf = [
        learn(OnlineRidgeClassifier(kernel="rbf", random_state=seed), np.arange(100))
        for seed in range(2)
    ]
    with pytest.raises(ValueError, match="random_state"):
        rbf[0].merge(rbf[1])
    items = [
        learn(LinUCBClassifier(item_features={**ITEM_FEATURES, name: np.ones(3)}), np.arange(100))
        for name in ("one", "two")
    ]
    with pytest.raises(ValueError, match="item_features of model 0 of others has other entries"):
        items[0].merge(items[1])
    for model in items:
        model.set_params(item_features={**ITEM_FEATURES, "one": np.ones(3), "two": np.ones(3)})
    items[0].merge(items[1])


def test_a_drift_of_one_model_is_refused():
    rng = np.random.RandomState(0)
    data, labels = rng.normal(size=(900, 3)), np.zeros(900, dtype=int)
    labels[:] = data[:, 0] > 0
    start = OnlineRidgeClassifier().partial_fit(data[:300], labels[:300], [0, 1])
    stays = deepcopy(start).partial_fit(data[300:600], labels[300:600])
    drifts = deepcopy(start).partial_fit(data[300:], 1 - labels[300:])
    assert (stays.n_drifts_, drifts.n_drifts_) == (0, 1)
    with pytest.raises(ValueError, match="concept drift"):
        stays.merge(drifts, base=start)
    drifted_again = deepcopy(drifts).partial_fit(data[:50], 1 - labels[:50])
    drifts.merge(drifted_again, base=deepcopy(drifts))
    assert drifts.n_drifts_ == 1


@pytest.mark.parametrize("n_calls", range(4))
def test_interrupts_leave_the_model_as_it_was(n_calls, monkeypatch, fingerprint):
    first, second = workers(LinUCBClassifier(n_components=5, random_state=0), 2)
    before, left = fingerprint(first), [n_calls * 5]
    solve = _merging.cho_solve

    def interrupted(*arguments):
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return solve(*arguments)

    monkeypatch.setattr(_merging, "cho_solve", interrupted)
    with pytest.raises(KeyboardInterrupt):
        first.merge(second)
    assert fingerprint(first) == before
    monkeypatch.undo()
    first.merge(second)
    assert first.n_rounds_ == len(y)


def test_two_threads_merge_two_models_with_each_other():
    first, second = workers(OnlineRidgeClassifier(standardize=False), 2)
    barrier = threading.Barrier(2)

    def merge(one, other):
        barrier.wait()
        one.merge(other)

    threads = [threading.Thread(target=merge, args=pair) for pair in permutations((first, second))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()
    assert {first._count_rounds(), second._count_rounds()} <= {len(y), 1.5 * len(y)}


@pytest.mark.parametrize(
    "model",
    [
        LinUCBClassifier(clip=None),
        BanditronClassifier(random_state=0),
        OnlineLogisticRegression(),
        PredtronClassifier(),
        AdaOLMR(random_state=0),
        SemiBanditRanker(random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_classes_of_the_result_are_those_of_all_models(model):
    few, rows = CLASSES[1:8], np.flatnonzero((y >= 1) & (y < 8))
    start = deepcopy(model).partial_fit(X[rows][:N_FIRST], y[rows][:N_FIRST], few)
    first = deepcopy(start).partial_fit(X[rows][300:], y[rows][300:])
    second = deepcopy(start).partial_fit(X[:400], y[:400], CLASSES)
    state = second.classes_.tolist(), second.n_features_in_
    merged = deepcopy(first).merge(second, base=start)
    assert sorted(merged.classes_) == list(CLASSES)
    assert (second.classes_.tolist(), second.n_features_in_) == state
    if not isinstance(model, BanditronClassifier | PredtronClassifier):  # of few rounds
        assert merged.score(X[y == 0], y[y == 0]) > 0.5
    merged.partial_fit(X[:10], y[:10])


@pytest.mark.parametrize("n_droppers", [1, 2])
@pytest.mark.parametrize("name", ["ridge", "linucb", "linucb-items"])
def test_classes_that_a_model_dropped_are_dropped(name, n_droppers):
    """The other classes are those of a model that learned all samples."""
    start = learn(deepcopy(EXACT[name]), np.arange(N_FIRST))
    rows, kept = np.arange(N_FIRST, len(y)), CLASSES[:-1]
    rows = rows[(y[rows] != CLASSES[-1]) & (ACTIONS[rows] != CLASSES[-1])]
    one, parts = learn(deepcopy(start), rows), []
    for i in range(3):
        part = deepcopy(start)
        if i < n_droppers:
            part.drop_classes(CLASSES[-1:])
        if not isinstance(part, LinUCBClassifier):
            part.partial_fit(X[rows[i::3]], y[rows[i::3]])
        else:
            shown = Exploration(ACTIONS[rows[i::3]], np.full(len(rows[i::3]), 0.1))
            part.partial_fit_feedback(X[rows[i::3]], shown, ACTIONS[rows[i::3]] == y[rows[i::3]])
        parts.append(part)
    merged = parts[2].merge(parts[:2], base=start)
    assert merged.classes_.tolist() == kept.tolist()
    # Targets of the ridge regression depend on the number of classes, equally for all of them.
    scores, expected = merged.decision_function(X), one.decision_function(X)[:, :-1]
    if not isinstance(merged, LinUCBClassifier):
        scores, expected = (each - each.mean(axis=1, keepdims=True) for each in (scores, expected))
    np.testing.assert_allclose(scores, expected, atol=1e-10)


def test_classes_that_a_model_dropped_and_added_again():
    """What the base knows of them would be subtracted once too often, but that of others is not."""
    start = learn(deepcopy(EXACT["linucb"]), np.arange(N_FIRST))
    start.drop_classes([3]).explore(X[:1], classes=CLASSES)  # before the copies
    again, other = deepcopy(start), learn(deepcopy(start), np.arange(N_FIRST, 600))
    again.explore(X[:1], classes=[*CLASSES, 10])
    again.drop_classes([5, 10])
    again.explore(X[:1], classes=CLASSES)
    learn(again, np.arange(600, 700))
    before = other.decision_function(X)
    for model, others, name in ((other, again, "model 0 of others"), (again, other, "the model")):
        with pytest.raises(ValueError, match=rf"{name} dropped \[5\] of the classes of base"):
            model.merge(others, base=start)
    np.testing.assert_array_equal(other.decision_function(X), before)
    # Later copies share the drop.
    learn(deepcopy(again), np.arange(700, 800)).merge(learn(deepcopy(again), [1, 2, 3]), base=again)


def test_classes_of_models_that_have_learned_nothing():
    start = learn(deepcopy(EXACT["linucb"]), np.arange(N_FIRST))
    first, second = deepcopy(start), learn(deepcopy(start), np.arange(N_FIRST, 600))
    first.explore(X[:1], classes=[*CLASSES, 10])
    before = second.decision_function(X)
    assert first.merge(second, base=start).classes_.tolist() == [*CLASSES, 10]
    np.testing.assert_array_equal(first.decision_function(X)[:, :-1], before)
    third = deepcopy(start)
    third.explore(X[:1], classes=[*CLASSES, 11])
    assert deepcopy(start).merge(third, base=start).classes_.tolist() == [*CLASSES, 11]
    first, second = deepcopy(start), deepcopy(start)
    first.drop_classes(CLASSES[:5])
    second.drop_classes(CLASSES[5:])
    with pytest.raises(ValueError, match="dropped all classes of base but 0"):
        first.merge(second, base=start)
    assert first.classes_.tolist() == CLASSES[5:].tolist()


def test_linucb_with_added_classes_is_that_of_one_pass():
    model = LinUCBClassifier(clip=None)

    def play(model, rows, classes):
        actions = np.searchsorted(classes, np.minimum(ACTIONS[rows], classes[-1]))
        shown = Exploration(actions, np.full(len(rows), 0.1))
        return model.partial_fit_feedback(X[rows], shown, classes[actions] == y[rows], classes)

    rows = np.arange(N_FIRST, 600), np.arange(600, 1000)
    start = play(deepcopy(model), np.arange(N_FIRST), CLASSES[:7])
    first = play(deepcopy(start), rows[0], CLASSES[:7])
    second = play(deepcopy(start), rows[1], CLASSES)
    one = play(play(deepcopy(start), rows[0], CLASSES[:7]), rows[1], CLASSES)
    first.merge(second, base=start)
    assert first.classes_.tolist() == one.classes_.tolist() == CLASSES.tolist()
    np.testing.assert_allclose(first.decision_function(X), one.decision_function(X), atol=1e-10)


def test_models_of_a_stream_are_merged_again_and_again():
    """The learners have dropped some of their step sizes, also in the base. Nothing warns."""
    random = np.random.RandomState(0)
    X = random.normal(size=(6000, 20))
    Y = X @ random.normal(size=(20, 5)) + 2 * random.normal(size=(6000, 5)) > 2
    base = AdaOLMR(random_state=0)
    for start in range(0, 6000, 2000):
        parts = [slice(start, start + 1000), slice(start + 1000, start + 2000)]
        first, second = (deepcopy(base).partial_fit(X[rows], Y[rows].astype(int)) for rows in parts)
        base = first.merge(second, base=base)
    shares = [
        state["log_shares"]
        for state in (learner._learner.__getstate__() for learner in base.estimators_)
        if "log_shares" in state
    ]
    assert np.isneginf(np.concatenate(shares, axis=None)).any()
    assert base.n_rounds_ == 6000
    assert rank_loss(Y, base.decision_function(X)) < 0.1


WITHOUT_ITEMS = [model for name, model in EXACT.items() if name != "linucb-items"]
MERGED = [*WITHOUT_ITEMS, *RANKERS, BanditronClassifier(random_state=0), PredtronClassifier()]


@pytest.mark.parametrize("which", [0, 1, "base"])
@pytest.mark.parametrize("model", MERGED, ids=lambda model: type(model).__name__)
def test_attributes_that_only_one_model_has(model, which):
    """Those of the user and of scikit-learn remain; others are no matter of the order of models."""
    data = (LABELED_X, LABELED_Y) if model in RANKERS else (X, y)
    base = deepcopy(model).partial_fit(*(each[:60] for each in data))
    models = [deepcopy(base).partial_fit(*(each[i:160:2] for each in data)) for i in (60, 61)]
    one = base if which == "base" else models[which]
    names = [*base.classes_.tolist(), 99]
    one._change_classes(np.array(names))
    one.drop_classes([99])
    one.server, one.history, one.backup = "north", [1, 2], deepcopy(base)
    with config_context(enable_metadata_routing=True):
        one.set_score_request(sample_weight=True)
    one.set_output(predict="pandas") if hasattr(one, "set_output") else None
    one._sklearn_output_config = {}
    merged = models[0].merge(models[1], base=base)
    assert hasattr(merged, "server") == hasattr(merged, "backup") == (which == 0)
    assert ("_metadata_request" in vars(merged)) == (which == 0)
    merged.drop_classes(names[:1])
    merged.merge(deepcopy(merged).partial_fit(*(each[-9:] for each in keep(data, names[0]))))


def keep(data, dropped):
    """Return the data without a class, or without the first column of an indicator matrix."""
    samples, target = data
    if target.ndim == 2:
        return samples, target[:, 1:]
    return samples[target != dropped], target[target != dropped]


def test_numbers_and_strings_are_no_labels_of_one_model():
    models = [
        OnlineRidgeClassifier().partial_fit(X[:9], np.arange(9) % 3),
        OnlineRidgeClassifier().partial_fit(X[:9], (np.arange(9) % 3).astype(str)),
    ]
    with pytest.raises(ValueError, match="not both numbers and strings"):
        models[0].merge(models[1:])
