"""Labels that come and go in online models, and the random numbers of a service."""

import pickle
import threading
from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB

from sklrank._compiled.label_axes import LabelAxis, Relabeling
from sklrank.feedback import Exploration
from sklrank.linear_model import (
    BanditronClassifier,
    LinUCBClassifier,
    OnlineLogisticRegression,
    OnlineRidgeClassifier,
    PredtronClassifier,
    PredtronLabelRanker,
    SemiBanditRanker,
)
from sklrank.linear_model._predtron._base import BasePredtron
from sklrank.online_boosting import AdaOLMR, OnlineBMR, TopKAdaptive, TopKBBM
from sklrank.tree import HoeffdingTreeClassifier, ProbabilisticLabelTree

RNG = np.random.default_rng(0)
N, D = 60, 4
X = RNG.normal(size=(N, D))
SCORES = X @ RNG.normal(size=(D, 6))
RELEVANT = (SCORES > 0.5).astype(int)
NAMES = np.array(list("abcdef"))
LABELS = NAMES[SCORES[:, :4].argmax(axis=1)]
TREES = {"estimator": "trees", "n_estimators": 3, "random_state": 0}
RANKERS = {
    "bmr": OnlineBMR(n_estimators=4, random_state=0),
    "bmr, callable": OnlineBMR(n_estimators=2, loss=np.exp, random_state=0),
    "ada": AdaOLMR(n_estimators=4, threshold="f1_macro", random_state=0),
    "ada, trees": AdaOLMR(**TREES),
    "bbm": TopKBBM(n_estimators=4, k=2, random_state=0),
    "adaptive, trees": TopKAdaptive(**TREES, k=2, cost_estimate="labels"),
    "semi": SemiBanditRanker(k=2, random_state=0),
    "predtron": PredtronClassifier(loss="hamming", average=True),
    "predtron, entropy": PredtronClassifier(loss="hamming", mirror_map="entropy", average=True),
}
CLASSIFIERS = {
    "logistic": OnlineLogisticRegression(learning_rate=(0.3, 1)),
    "single": OnlineLogisticRegression(multi_class="ovr"),
    "ridge": OnlineRidgeClassifier(alpha=(1, 10), drift_threshold=5.0),
    "rbf": OnlineRidgeClassifier(kernel="rbf", n_components=5, random_state=0),
    "hoeffding": HoeffdingTreeClassifier(grace_period=5, tau=0.9),
    "hoeffding, mc": HoeffdingTreeClassifier(grace_period=5, tau=0.9, leaf_prediction="mc"),
    "hoeffding, drift": HoeffdingTreeClassifier(grace_period=5, tau=0.9, drift_threshold=0.5),
    "linucb": LinUCBClassifier(exploration=0.2, n_components=5, random_state=0),
    "linucb, diagonal": LinUCBClassifier(covariance="diagonal", random_state=0),
    "banditron": BanditronClassifier(random_state=0),
    "banditron, kernel": BanditronClassifier(kernel="rbf", random_state=0),
    "predtron, one-hot": PredtronClassifier(average=True),
    "predtron, reject": PredtronClassifier(reject_cost=0.3),
    "predtron, kernel": PredtronClassifier(kernel="rbf", average=True),
    **{
        f"predtron, {name}": PredtronClassifier(mirror_map=name, average=True)
        for name in ("p-norm", "group-norm", "schatten", "positive")
    },
}
rankers = pytest.mark.parametrize("model", RANKERS.values(), ids=RANKERS)
classifiers = pytest.mark.parametrize("model", CLASSIFIERS.values(), ids=CLASSIFIERS)
explorers = pytest.mark.parametrize(
    "model",
    [CLASSIFIERS[name] for name in ("linucb", "linucb, diagonal", "banditron")]
    + [RANKERS[name] for name in ("bbm", "adaptive, trees", "semi")],
    ids=lambda model: type(model).__name__,
)


def started(model, classes, *, indicators):
    """Return an untrained model."""
    model = clone(model)
    model._check_rows(X, reset=True)
    model._has_label_columns, model._loss_driven = indicators, False
    model._start_model(np.array(classes))
    if isinstance(model, BasePredtron):  # Its model starts with the first rounds.
        model._model = model._make_model()
    return model


def class_scores(model, classes):
    """Return the scores, or probabilities, of the classes in this order."""
    method = "decision_function" if hasattr(model, "decision_function") else "predict_proba"
    known = model.classes_.tolist()
    return getattr(model, method)(X)[:, [known.index(label) for label in classes]]


# -- New labels.


@rankers
def test_new_columns_before_the_first_sample_are_those_of_a_model_that_knew_them(
    model, fingerprint
):
    grown = started(model, NAMES[:3], indicators=True).partial_fit(X, RELEVANT, NAMES)
    known = started(model, NAMES, indicators=True).partial_fit(X, RELEVANT)
    assert fingerprint(grown) == fingerprint(known)


@classifiers
def test_new_classes_before_the_first_sample_are_those_of_a_model_that_knew_them(
    model, fingerprint
):
    """Sorted classes: the new ones are before, between and after the others."""
    grown = started(model, list("bce"), indicators=False).partial_fit(X, LABELS, NAMES[::-1])
    known = started(model, NAMES, indicators=False).partial_fit(X, LABELS)
    assert_array_equal(grown.classes_, NAMES)
    assert fingerprint(grown) == fingerprint(known)


# Banditron's and LinUCB's first choices depend on the order, since the scores are equal.
ORDERED = {"linucb", "linucb, diagonal", "banditron", "banditron, kernel"}


@pytest.mark.parametrize("name", sorted(set(CLASSIFIERS) - ORDERED))
def test_what_is_learned_does_not_depend_on_the_places_of_classes(name):
    """Class i is called by the letter i of `letters`; the last two come later."""
    y = np.append(np.arange(4), SCORES[4:, :4].argmax(axis=1))

    def scores_of(letters):
        names = np.array(list(letters))
        model = clone(CLASSIFIERS[name]).partial_fit(X[:30], names[y[:30]], names[:4])
        model.partial_fit(X, names[SCORES.argmax(axis=1)], names)
        return class_scores(model, names)

    assert_allclose(scores_of("abcdef"), scores_of("ebdfac"), rtol=1e-6, atol=1e-8)


ON_LOGS = ["linucb", "linucb, diagonal"]


@pytest.mark.parametrize("name", [*ON_LOGS, "hoeffding", "hoeffding, mc", "label tree"])
@given(n_before=st.integers(1, N - 1), new=st.sampled_from(["b", "be", "g"]))
def test_a_class_added_later_is_one_that_was_never_seen(name, n_before, new):
    """Nothing that these models learn of other classes concerns it."""
    old, everything = np.array(list("acd")), np.array(sorted("acd" + new))
    y = np.where(LABELS == "b", new[0], LABELS)
    first, shown = np.flatnonzero(LABELS != "b")[:n_before], np.random.default_rng(0).permutation(y)

    def learn(model, rows, labels, classes):
        if name not in ON_LOGS:
            return model.partial_fit(X[rows], y[rows], classes)
        actions = np.searchsorted(classes, labels[rows])
        record = Exploration(actions, np.full(len(actions), 0.5), classes)
        return model.partial_fit_feedback(X[rows], record, labels[rows] == y[rows], classes)

    tree = ProbabilisticLabelTree(max_children=2, random_state=0)
    later, before = (clone(CLASSIFIERS.get(name, tree)) for _ in range(2))
    learn(later, first, y, old)
    learn(before, first, y, everything)
    for model in (later, before):
        learn(model, np.arange(N), shown, everything)
    assert_array_equal(class_scores(later, everything), class_scores(before, everything))


@pytest.mark.parametrize(
    "model",
    [
        *(CLASSIFIERS[name] for name in ("linucb", "linucb, diagonal", "banditron")),
        RANKERS["adaptive, trees"],
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_label_that_is_not_available_until_later_is_one_that_is_added_later(model):
    """The decisions are equal. (Models whose formulas contain the number of labels differ.)"""
    later, before = clone(model), clone(model)
    shown = [
        later.explore(X, NAMES[:4], random_state=1),
        before.explore(X, NAMES, available=NAMES[:4], random_state=1),
    ]
    assert_array_equal(shown[0].actions, shown[1].actions)
    rewards = np.take_along_axis(RELEVANT, shown[0].actions.reshape(N, -1), axis=1)
    later.partial_fit_feedback(X, shown[0], rewards)
    before.partial_fit_feedback(X, shown[1], rewards, available=NAMES[:4])
    shown = [one.explore(X, NAMES, random_state=2) for one in (later, before)]
    assert_array_equal(shown[0].actions, shown[1].actions)
    assert_array_equal(later.decision_function(X), before.decision_function(X))


def test_averages_of_new_labels_contain_their_initial_weights():
    model = clone(RANKERS["predtron, entropy"]).partial_fit(X, RELEVANT[:, :4], NAMES[:4])
    before = model.coef_
    model._check_same_classes(NAMES)
    assert_allclose(model.coef_[:4], before, rtol=1e-12)
    assert_allclose(np.c_[model.coef_, model.intercept_][4:], 1 / (D + 1), rtol=1e-12)


@pytest.mark.parametrize("name", ["bmr", "ada, trees", "semi", "predtron"])
def test_columns_are_placed_by_name(name, fingerprint):
    model = clone(RANKERS[name]).partial_fit(X, RELEVANT[:, :4], NAMES[:4])
    order = [5, 2, 0, 4, 1, 3]
    by_name, at_the_end = deepcopy(model), deepcopy(model)
    frame = pd.DataFrame(RELEVANT[:, order], columns=NAMES[order])
    by_name.partial_fit(X, frame, classes=NAMES[order])
    assert_array_equal(by_name.classes_, list("abcdfe"))
    at_the_end.partial_fit(X, RELEVANT[:, [0, 1, 2, 3, 5, 4]], classes=list("abcdfe"))
    assert fingerprint(by_name) == fingerprint(at_the_end)
    with pytest.raises(ValueError, match="y has the column 'f' at position 0"):
        by_name.partial_fit(X, frame, classes=NAMES)


def test_label_rankers_learn_new_columns():
    grades = np.round(SCORES - SCORES.min())
    model = PredtronLabelRanker(average=True).partial_fit(X, grades[:, :4], NAMES[:4])
    model.partial_fit(X, grades, NAMES)
    for _ in range(10):
        scores = model.progressive_fit(X, grades[:, ::-1], NAMES[::-1])
    assert_array_equal(scores.shape, (N, 6))
    assert_array_equal(model.classes_, NAMES)
    assert model.score(X, grades) > 0.95
    assert_array_equal(model.drop_classes(["b"]).predict(X).max(axis=1), np.full(N, 5))


@rankers
def test_pickles_and_chunks(model, fingerprint):
    """A model that grows may be pickled, and the calls after that may be divided."""
    model = clone(model).partial_fit(X[:20], RELEVANT[:20, :3], NAMES[:3])
    other = pickle.loads(pickle.dumps(model))
    model.partial_fit(X[20:], RELEVANT[20:], NAMES)
    other.partial_fit(X[20:25], RELEVANT[20:25], NAMES)
    other = pickle.loads(pickle.dumps(other))
    scores = other.progressive_fit(X[25:], RELEVANT[25:], NAMES)
    assert scores.shape == (35, 6)
    # Predtron's tables of losses are in the order in which they were needed.
    model._subset_losses = other._subset_losses = None
    assert fingerprint(model) == fingerprint(other)


def test_weak_learners_of_other_packages_cannot_learn_new_labels(fingerprint):
    """The error names them, and nothing changes; compiled learners in the list, too."""
    model = AdaOLMR([OnlineLogisticRegression(), GaussianNB()], random_state=0)
    model.partial_fit(X, RELEVANT[:, :4], NAMES[:4])
    before = fingerprint(model)
    for call in (
        lambda: model.partial_fit(X, RELEVANT, NAMES),
        lambda: model.progressive_fit(X, RELEVANT, NAMES),
        lambda: model.drop_classes(["a"]),
    ):
        with pytest.raises(ValueError, match=r"GaussianNB.*cannot change them: use compiled"):
            call()
        assert fingerprint(model) == before
    model.partial_fit(X, RELEVANT[:, :4])


@pytest.mark.filterwarnings("ignore:the costs depend on the order of the classes")
@pytest.mark.parametrize(
    ("model", "n_classes"),
    [
        (PredtronClassifier(), 2),
        (PredtronClassifier(representation="simplex"), 4),
        (PredtronClassifier(loss=np.ones((4, 4)) - np.eye(4)), 4),
    ],
)
def test_predtrons_without_a_score_for_each_class_keep_their_classes(model, n_classes, fingerprint):
    y = NAMES[SCORES[:, :n_classes].argmax(axis=1)]
    model = clone(model).partial_fit(X, y)
    before = fingerprint(model)
    with pytest.raises(ValueError, match=f"model of {n_classes} classes|loss must give"):
        model.partial_fit(X, y, NAMES)
    assert fingerprint(model) == before
    with pytest.raises(ValueError, match="model of 3 classes cannot have 2 classes later"):
        PredtronClassifier().fit(X, SCORES[:, :3].argmax(axis=1)).drop_classes([1])


def test_the_mean_weight_of_known_labels_is_that_of_all_labels():
    """Ridge regressions of relevance shorten the steps of labels that are known more often."""
    model = clone(RANKERS["semi"]).partial_fit(X, RELEVANT[:, :4], NAMES[:4])
    model.partial_fit(X[:1], RELEVANT[:1], NAMES).drop_classes(["a"])
    state = model.estimators_[-1]._learner.__getstate__()
    assert_allclose(state["mean_known_weight"], state["known_weight"].mean(), rtol=1e-12)


@explorers
def test_exploring_that_fails_starts_nothing_and_adds_nothing(model, fingerprint):
    model = clone(model)
    before = fingerprint(model)
    with pytest.raises(ValueError, match="available"):
        model.explore(X, NAMES[:4], available=["z"])
    assert fingerprint(model) == before
    model.explore(X, NAMES[:4])
    before = fingerprint(model)
    with pytest.raises(ValueError, match="available"):
        model.explore(X, NAMES, available=["z"])
    assert fingerprint(model) == before


# -- Labels that go.


@rankers
def test_dropped_columns(model):
    model = clone(model).partial_fit(X, RELEVANT, NAMES)
    before = model.decision_function(X)
    model.drop_classes(["b", "f"])
    assert_array_equal(model.classes_, list("acde"))
    after = model.decision_function(X)
    if isinstance(model, PredtronClassifier):  # The votes of other learners are normalized.
        assert_allclose(after, before[:, [0, 2, 3, 4]], rtol=1e-12)
    assert model.predict(X).shape == after.shape == (N, 4)
    model.partial_fit(X, RELEVANT[:, [0, 2, 3, 4]])


@pytest.mark.parametrize("model", [*RANKERS.values(), *CLASSIFIERS.values()], ids=repr)
def test_a_model_that_is_fitted_anew_has_dropped_nothing(model):
    """Also if it has more labels than before, as those that are not in the model have no birth."""
    few, all_ = np.arange(N) % 4, np.arange(N) % 6
    if any(model is one for one in RANKERS.values()):
        few, all_ = RELEVANT[:, :4], RELEVANT
    model = clone(model).fit(X, few).drop_classes([1])
    model.fit(X, all_)
    assert (model._n_drops, model._births) == (0, None)
    model.drop_classes([4, 5])
    assert_array_equal(model.classes_, np.arange(4))


@pytest.mark.parametrize("relevance", [True, False])
def test_what_was_learned_of_a_dropped_label_is_forgotten(relevance):
    """Two streams that differ in a single label have equal weights without it."""
    tables = []
    for seed in (1, 2):
        model = clone(OnlineRidgeClassifier() if relevance else CLASSIFIERS["single"])
        model._learns_relevance = relevance
        learner = model._init_model(D, np.arange(6))._learner
        relevant = RELEVANT.copy()
        relevant[:, 0] = 1
        relevant[:, 2] = np.random.default_rng(seed).random(N) < 0.5
        indptr = np.append(0, relevant.sum(axis=1).cumsum())
        learner.play_rows(X, indptr, np.nonzero(relevant)[1].copy(), np.ones(N))
        assert np.abs(learner.weight_table).min(axis=0).max() > 0
        tables.append(deepcopy(learner, Relabeling(np.array([0, 1, -1, 4, 3, 5]))).weight_table)
        assert_array_equal(
            tables[-1], learner.weight_table[:, [0, 1, 2, 4, 3, 5]] * (1, 1, 0, 1, 1, 1)
        )
    assert_array_equal(*tables)


@classifiers
def test_a_dropped_class_that_returns_is_a_new_one(model, fingerprint):
    """Its state is that of another label that is added instead."""
    model = clone(model).partial_fit(X, LABELS)
    again, other = deepcopy(model.drop_classes(["b"])), deepcopy(model)
    assert set(model.predict(X)) <= {*"acd", "reject"}
    of_two = np.where(LABELS == "b", "bb", LABELS)
    again.partial_fit(X, LABELS, list("abcd"))
    other.partial_fit(X, of_two, ["a", "bb", "c", "d"])
    assert_array_equal(again.classes_, list("abcd"))
    for one in (again, other):
        one.classes_ = one.predictions_ = None
    assert fingerprint(again) == fingerprint(other)


@pytest.mark.parametrize("indicators", [True, False])
def test_label_trees_forget_dropped_labels(indicators):
    Y, classes = (RELEVANT, NAMES) if indicators else (LABELS, list("abcd"))
    tree = ProbabilisticLabelTree(max_children=2, random_state=0).partial_fit(X, Y, classes)
    before = tree.predict_proba(X)
    tree.drop_classes(["b", "d"])
    kept = [0, 2, 4, 5] if indicators else [0, 2]
    assert_array_equal(np.sort(tree.classes_), NAMES[kept])
    after = tree.predict_proba(X)
    if indicators:
        assert_array_equal(after, before[:, kept])
    else:
        assert_allclose(after.sum(axis=1), 1.0)
    assert set(tree.predict_topk(X, len(kept)).ravel()) == set(NAMES[kept])
    loaded = pickle.loads(pickle.dumps(tree))
    assert_array_equal(loaded.predict_proba(X), after)
    # A label that returns is a new one: its probability is 0 until it is relevant.
    rows = np.flatnonzero(RELEVANT[:, 1] if indicators else LABELS == "b")
    others = np.setdiff1d(np.arange(N), rows if indicators else np.flatnonzero(LABELS > "c"))
    target, names = (Y[:, [*kept, 1]], NAMES[[*kept, 1]]) if indicators else (Y, None)
    for _ in range(20):
        tree.partial_fit(X[others], target[others], names)
    place = tree.classes_.tolist().index("b")
    if indicators:
        assert_array_equal(tree.predict_proba(X)[:, place], 0.0)
    for _ in range(20):
        tree.partial_fit(X[LABELS != "d"], target[LABELS != "d"], names)
    found = tree.predict_proba(X)[:, place]
    assert found[rows].mean() > found.mean() + 0.1


@pytest.mark.parametrize("indicators", [True, False])
def test_label_trees_drop_labels_that_they_met_after_a_drop(indicators):
    """Training meets new labels, which no argument has to name."""
    Y, classes = (RELEVANT, NAMES) if indicators else (LABELS, list("abcd"))
    tree = ProbabilisticLabelTree().partial_fit(X, Y, classes)
    for label in "bab":
        tree.drop_classes([label])
        names = np.append(tree.classes_, label) if indicators else None
        columns = [NAMES.tolist().index(name) for name in names] if indicators else slice(None)
        tree.partial_fit(X, Y[:, columns] if indicators else Y, names)
        assert sorted(tree.classes_) == list(classes)
    births = dict(zip(tree.classes_.tolist(), tree._births.tolist()))
    assert births == dict.fromkeys(classes, 0) | {"a": 2, "b": 3}


def test_label_trees_may_lose_all_labels_of_the_tree():
    """Labels that are added later join it, although the models of all nodes are those of others."""
    tree = ProbabilisticLabelTree(max_children=2).partial_fit(X, LABELS, list("abcdef"))
    tree.drop_classes(list("abcd"))
    assert_array_equal(tree.predict_proba(X), 0.5)
    y = np.where(SCORES[:, 4] > SCORES[:, 5], "e", "f")
    for _ in range(10):
        tree.partial_fit(X, y)
    assert tree.score(X, y) > 0.8


def test_labels_to_show_must_remain(fingerprint):
    """Class labels may be fewer: then all of them are shown."""
    model = TopKBBM(**TREES, k=3).partial_fit(X, RELEVANT, NAMES)
    before = fingerprint(model)
    with pytest.raises(ValueError, match="k=3 labels cannot be shown if there are 2"):
        model.drop_classes(list("abcd"))
    assert fingerprint(model) == before
    model = TopKBBM(**TREES, k=3).partial_fit(X, LABELS).drop_classes(list("ab"))
    assert model.explore(X).actions.shape == (N, 2)


def test_bad_names_are_refused(fingerprint):
    model = clone(CLASSIFIERS["linucb"])
    with pytest.raises(NotFittedError):
        model.drop_classes(["a"])
    model.partial_fit(X, LABELS)
    before = fingerprint(model)
    for classes, message in [
        (["a", "x"], r"not in classes_: \{'x'\}"),
        (["a", "b", "c"], "1 of 4 labels would remain"),
        ([None], "without NaN or None"),
        ("a", "in a list or an array"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.drop_classes(classes)
        assert fingerprint(model) == before


# -- Delayed feedback, and threads.


@explorers
def test_delayed_rewards_teach_the_labels_that_were_shown(model, fingerprint):
    """A record refers to its labels by name, whatever labels come and go in between."""
    model, first = clone(model), np.array(list("bdf"))
    shown = model.explore(X, first)
    rewards = np.ones(shown.actions.shape)
    assert_array_equal(shown.classes, first)
    assert_array_equal(shown[3:5].classes, first)
    later = list("bdfac") if model._has_label_columns else list("abcdf")
    model.explore(X, later)
    places, other = np.array([later.index(label) for label in first]), deepcopy(model)
    model.partial_fit_feedback(X, shown, rewards)
    other.partial_fit_feedback(X, Exploration(places[shown.actions], shown.propensities), rewards)
    assert fingerprint(model) == fingerprint(other)
    dropped = first[shown.actions.ravel()[0]]
    model.drop_classes([dropped])
    before = fingerprint(model)
    with pytest.raises(ValueError, match=rf"any more\): \['{dropped}'\]; leave these samples out"):
        model.partial_fit_feedback(X, shown, rewards)
    assert fingerprint(model) == before
    kept = ~(first[shown.actions] == dropped).reshape(N, -1).any(axis=1)
    if kept.any():
        model.partial_fit_feedback(X[kept], shown[kept], rewards[kept])


def test_records_of_data_frames_have_names():
    frame = Exploration([1, 0], [0.5, 0.5]).to_frame(classes=["x", "y"])
    assert_array_equal(Exploration.from_frame(frame, classes=["x", "y"]).classes, ["x", "y"])
    assert Exploration([1, 0], [0.5, 0.5]).classes is None


@pytest.mark.parametrize("name", ["ada, trees", "semi", "predtron"])
def test_other_threads_see_all_new_labels_or_none(name):
    model, shapes, stops = clone(RANKERS[name]), set(), threading.Event()
    model.partial_fit(X, RELEVANT[:, :4], NAMES[:4])

    def read():
        while not stops.is_set():
            shapes.add(model.decision_function(X).shape)

    thread = threading.Thread(target=read)
    thread.start()
    try:
        for _ in range(20):
            model.partial_fit(X[:5], RELEVANT[:5], NAMES).drop_classes(NAMES[4:])
    finally:
        stops.set()
        thread.join()
    assert shapes <= {(N, 4), (N, 6)}


def test_models_that_change_their_labels_keep_the_generator_of_numpy():
    model = BanditronClassifier().partial_fit(X, LABELS).drop_classes(["a"])
    assert model._random_state is np.random.mtrand._rand


# -- Axes of labels.


@given(data=st.data())
def test_label_axes_are_those_of_lists(data):
    before, n, after, axis = (
        data.draw(st.integers(low, high)) for low, high in ((0, 2), (1, 5), (0, 2), (0, 1))
    )
    labels = np.array(data.draw(st.lists(st.integers(-1, n - 1), max_size=6)), dtype=np.intp)
    shape = [3, 3]
    shape[axis] = before + n + after
    array = np.arange(np.prod(shape)).reshape(shape)
    columns = np.moveaxis(array, axis, 0).tolist()
    moved = [columns[before + i] if i >= 0 else [-7] * 3 for i in labels]
    expected = columns[:before] + moved + columns[len(columns) - after :]
    found = np.moveaxis(LabelAxis(before, after).relabeled(array, axis, labels, -7), axis, 0)
    assert found.tolist() == expected


@given(drops=st.lists(st.booleans(), max_size=30))
def test_labels_that_are_added_one_by_one_are_rarely_copied(drops):
    """They are written behind the others, and what is dropped between leaves no trace."""
    array, rows, n_copies = np.zeros((2, 1)), [[0], [0]], 0
    for number, drop in enumerate([*drops, *[False] * 60]):
        labels = np.r_[: len(rows), [-1]][int(drop) :]
        rows = [*rows, [number]][int(drop) :]
        before, array = array, LabelAxis().relabeled(array, 0, labels, number)
        n_copies += not np.shares_memory(before, array)
        assert array.tolist() == rows
    assert n_copies <= 8 + 2 * sum(drops)


# -- Random numbers.


@explorers
def test_given_random_numbers_leave_the_model_as_it_is(model, fingerprint):
    model = clone(model).set_params(exploration=1.0).partial_fit(X, RELEVANT[:, :4].argmax(axis=1))
    before = fingerprint(model)
    draws = {}
    for name, random_state in [
        ("number", lambda: 5),
        ("generator", lambda: np.random.RandomState(5)),
        ("server 1", lambda: [3, 1]),
        ("server 1, again", lambda: np.random.SeedSequence([3, 1])),
        ("server 2", lambda: (3, 2)),
    ]:
        first = model.explore(X, random_state=random_state())
        again = model.explore(X, random_state=random_state())
        assert_array_equal(first.actions, again.actions)
        assert_array_equal(first.propensities, again.propensities)
        draws[name] = first.actions.tolist()
        assert fingerprint(model) == before
    assert draws["number"] == draws["generator"]
    assert draws["server 1"] == draws["server 1, again"]
    assert len({str(actions) for actions in draws.values()}) == 3
    for bad in ("seed", -1, [1.5], [[-1]], 2**33):
        with pytest.raises(ValueError, match="random_state must be"):
            model.explore(X, random_state=bad)


@explorers
def test_another_random_state_takes_effect_on_the_next_draw(model, fingerprint):
    """The same one has no effect, so that parameters can be set to what they are."""
    model = clone(model).partial_fit(X, RELEVANT[:, :4].argmax(axis=1)).set_params(exploration=1.0)
    loaded = pickle.loads(pickle.dumps(model))
    before = fingerprint(loaded)
    assert fingerprint(loaded.set_params(**loaded.get_params())) == before
    expected = model.explore(X, random_state=7).actions
    assert_array_equal(loaded.set_params(random_state=7).explore(X).actions, expected)
    loaded.set_params(random_state=np.random.RandomState(7))
    assert_array_equal(loaded.explore(X).actions, expected)
    loaded.set_params(random_state=7)
    assert_array_equal(pickle.loads(pickle.dumps(loaded)).explore(X).actions, expected)
    before = fingerprint(loaded)
    with pytest.raises(ValueError, match="random_state must be"):
        loaded.set_params(random_state=-1)
    assert fingerprint(loaded) == before


@rankers
def test_memory_does_not_depend_on_labels_of_the_past(model):
    ranker = started(model, NAMES, indicators=True)
    sizes = []
    for i in range(14):
        ranker._change_classes(np.append(ranker.classes_, f"label {i:04}"))
        ranker.drop_classes(ranker.classes_[:1])
        sizes.append(len(pickle.dumps(ranker)))
    assert sizes[-1] == sizes[9]
