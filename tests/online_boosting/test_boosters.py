"""Public behavior of OnlineBMR and AdaOLMR."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier
from sklearn.datasets import load_iris, make_multilabel_classification
from sklearn.exceptions import DataConversionWarning
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from sklrank.linear_model import OnlineLogisticRegression, OnlineRidgeClassifier
from sklrank.metrics import rank_loss, rank_loss_scorer
from sklrank.online_boosting import (
    AdaOLMR,
    OnlineBMR,
    TopKAdaptive,
    TopKBBM,
)
from sklrank.tree import HoeffdingTreeClassifier

X, Y = make_multilabel_classification(300, n_features=12, n_classes=5, random_state=0)


class Means(ClassifierMixin, BaseEstimator):
    """A learner in Python: classes whose mean is near. Those of scikit-learn take ten times longer.

    It learns a sample with its relevant labels at a time.
    """

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        if not hasattr(self, "classes_"):
            self.classes_ = classes
            self.sums_, self.totals_ = np.zeros((len(classes), X.shape[1])), np.ones(len(classes))
        np.add.at(self.sums_, y, sample_weight[:, np.newaxis] * X)
        np.add.at(self.totals_, y, sample_weight)
        return self

    def predict_proba(self, X):
        means = self.sums_ / self.totals_[:, np.newaxis]
        return softmax(-np.abs(X[:, np.newaxis] - means).mean(axis=2), axis=1)


KINDS = {
    "ada": AdaOLMR("trees", n_estimators=8, random_state=0, shuffle=False),
    "bmr": OnlineBMR("trees", n_estimators=8, random_state=0, shuffle=False),
    "bmr, rank loss": OnlineBMR(
        "trees", n_estimators=8, loss="rank", random_state=0, shuffle=False
    ),
    "recommended": AdaOLMR(n_estimators=6, random_state=0, shuffle=False),
    "mixed": AdaOLMR(
        [
            HoeffdingTreeClassifier(grace_period=5, delta=0.5, tau=0.5),
            OnlineLogisticRegression(multi_class="ovr"),
            Means(),
            OnlineLogisticRegression(),
        ],
        n_estimators=5,
        max_features=0.5,
        random_state=0,
        shuffle=False,
    ),
}


@pytest.fixture(params=KINDS)
def model(request):
    return clone(KINDS[request.param])


def test_learns_to_rank(model):
    """Unseen samples are ranked far better than at random after 200 samples."""
    model.fit(X[:200], Y[:200])
    assert rank_loss(Y[200:], model.decision_function(X[200:])) < 0.25
    assert model.score(X[200:], Y[200:]) == pytest.approx(
        1 - rank_loss(Y[200:], model.decision_function(X[200:]))
    )


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
    expected = fingerprint(at_once)
    assert fingerprint(chunked) == expected
    assert fingerprint(progressive) == expected
    fitted = clone(model).fit(X, y)
    del fitted.n_iter_
    assert fingerprint(fitted) == expected


def test_threads_change_nothing(model, fingerprint):
    """The model does not depend on n_jobs."""
    alone = clone(model).fit(X[:15], Y[:15])
    together = clone(model).set_params(n_jobs=3).fit(X[:15], Y[:15]).set_params(n_jobs=None)
    assert fingerprint(alone) == fingerprint(together)
    many = np.tile(X, (8, 1))
    assert_array_equal(
        alone.decision_function(many), together.set_params(n_jobs=2).decision_function(many)
    )


def test_seeds(model, fingerprint):
    """The same random_state gives the same model, another one gives another."""
    first, same, other = (
        fingerprint(clone(model).set_params(random_state=seed).fit(X[:60], Y[:60]).estimators_)
        for seed in (1, 1, 2)
    )
    assert first == same != other


def test_scores_of_a_sample_do_not_depend_on_other_samples(model):
    model.fit(X, Y)
    scores = model.decision_function(X)
    assert_array_equal(scores[::-1][:7], model.decision_function(X[::-1][:7]))
    assert_array_equal(scores[5], model.decision_function(X[5:6])[0])


@settings(max_examples=10, deadline=None)
@given(st.permutations(range(5)), st.sampled_from(["ada", "bmr", "recommended"]))
def test_labels_can_be_permuted(order, kind):
    """Permuted columns of Y give permuted scores."""
    order = np.array(order)
    scores = clone(KINDS[kind]).fit(X[:60], Y[:60]).decision_function(X)
    permuted = clone(KINDS[kind]).fit(X[:60], Y[:60][:, order]).decision_function(X)
    assert_allclose(permuted, scores[:, order], atol=1e-9)


def test_rankings_agree_with_the_scores(model):
    """Ranks, top-k and predictions follow the scores; equal scores rank by column."""
    model.partial_fit(X, Y, classes=list("abcde"))
    scores = model.decision_function(X)
    ranks, top = model.predict_ranks(X), model.predict_topk(X, 3)
    for row in range(len(X)):
        order = sorted(range(5), key=lambda label: (-scores[row, label], label))
        assert [ranks[row, label] for label in order] == [1, 2, 3, 4, 5]
        assert list(top[row]) == [model.classes_[label] for label in order[:3]]
    for k in (0, 6, 2.5, True):
        with pytest.raises(ValueError, match="k must be an integer from 1 to"):
            model.predict_topk(X, k)


def test_nothing_is_learned_without_pairs(model):
    """A sample with no or all labels relevant is scored and counted as a round, but not learned."""
    model.fit(X[:50], Y[:50])
    before = model.decision_function(X)
    scores = model.progressive_fit(X[:4], np.repeat([[0], [1]], 2, axis=0) * np.ones((4, 5), int))
    assert scores.shape == (4, 5)
    assert np.isfinite(scores).all()
    assert_array_equal(model.decision_function(X), before)
    assert model.n_rounds_ == 54


def test_zero_weight_is_no_sample(model, fingerprint):
    """Samples of weight zero do not change the model."""
    weight = (np.arange(300) % 3 > 0).astype(float)
    weighted = clone(model).fit(X, Y, sample_weight=weight)
    without = clone(model).fit(X[weight > 0], Y[weight > 0])
    if not isinstance(model, AdaOLMR):  # Hedge draws for each sample that is scored
        assert fingerprint(weighted) == fingerprint(without)
    assert_array_equal(weighted.decision_function(X), without.decision_function(X))


def test_class_labels(model):
    """A 1-d y has two or more classes, numbers or strings."""
    data, target = load_iris(return_X_y=True)
    order = np.random.RandomState(0).permutation(150)
    data, target = np.tile(data[order], (3, 1)), np.tile(target[order], 3)
    names = np.array(["setosa", "versicolor", "virginica"])[target]
    by_number = clone(model).fit(data, target)
    by_name = clone(model).fit(data, names)
    assert_array_equal(by_name.decision_function(data), by_number.decision_function(data))
    assert by_name.score(data, names) > 0.8
    assert_array_equal(by_name.predict_topk(data, 1)[:, 0], by_name.predict(data))
    two = clone(model).fit(data, target > 0)
    margin = two.decision_function(data)
    assert margin.shape == (450,)
    assert_array_equal(two.predict(data), margin > 0)
    assert two.progressive_fit(data[:3], target[:3] > 0).shape == (3, 2)


def test_targets_of_every_kind(model):
    """Y may be an array, a sparse matrix or a frame; X may have another memory layout."""
    x, y = X[:40], Y[:40]
    expected = clone(model).fit(x, y).decision_function(x)
    for same in (sparse.csr_matrix(y), sparse.coo_array(y), pd.DataFrame(y), y.astype(bool)):
        assert_array_equal(clone(model).fit(x, same).decision_function(x), expected)
    assert_array_equal(clone(model).fit(np.asfortranarray(x), y).decision_function(x), expected)
    frame = pd.DataFrame(x, columns=[f"x{i}" for i in range(12)])
    named = clone(model).fit(frame, y)
    assert_array_equal(named.feature_names_in_, frame.columns)
    assert_array_equal(named.decision_function(frame), expected)
    with pytest.raises(ValueError, match="feature names"):
        named.predict(frame.rename(columns={"x0": "y0"}))


BAD_CALLS = {
    "NaN in y": (lambda m: m.partial_fit(X, np.where(Y, np.nan, 0.0)), r"\by\b.*NaN"),
    "infinity in X": (lambda m: m.partial_fit(np.where(X > 3, np.inf, X), Y), "infinity"),
    "no rows": (lambda m: m.partial_fit(X[:0], Y[:0]), "minimum of 1 is required"),
    "fewer columns": (lambda m: m.partial_fit(X[:, :5], Y), "5 features"),
    "other labels": (lambda m: m.partial_fit(X, Y[:, :4]), "4 label columns"),
    "class labels now": (lambda m: m.partial_fit(X, Y[:, 0]), "call fit to start anew"),
    "other rows": (lambda m: m.partial_fit(X, Y[:9]), "y has 9 rows"),
    "grades": (lambda m: m.partial_fit(X, Y * 2), "0 and 1"),
    "negative weight": (lambda m: m.partial_fit(X, Y, sample_weight=-np.ones(300)), "egative"),
    "long weights": (lambda m: m.partial_fit(X, Y, sample_weight=np.ones(301)), "sample_weight"),
    "a label twice": (
        lambda m: m.partial_fit(
            X[:2], sparse.csr_matrix((np.ones(3), [0, 0, 1], [0, 3, 3]), shape=(2, 5))
        ),
        "0 and 1",
    ),
    "fewer classes": (lambda m: m.partial_fit(X, Y[:, 1:], classes=range(1, 5)), "lacks.*0"),
    "unnamed column": (lambda m: m.partial_fit(X, np.c_[Y, Y[:, 0]]), "name the columns"),
    "names of other columns": (lambda m: m.partial_fit(X, Y, classes=range(6)), "5 columns"),
    "fit on one class": (lambda m: m.fit(X, np.ones(300)), "one class"),
    "fit on one label": (lambda m: m.fit(X, sparse.csr_matrix(Y[:, :1])), "label"),
    "fit on regression": (lambda m: m.fit(X, X[:, 0] + 0.5), "Unknown label type"),
    "fit on a frame with infinity": (
        lambda m: m.fit(pd.DataFrame(np.where(X > 3, np.inf, X)).add_prefix("x"), Y),
        "infinity",
    ),
    "no positive weight": (lambda m: m.fit(X, Y, sample_weight=np.zeros(300)), "sample_weight"),
}


def test_bad_input_is_refused_and_changes_nothing(model, fingerprint):
    """The message names the argument, and the fitted model stays as it was."""
    model.fit(X[:20], Y[:20])
    before = fingerprint(model)
    for call, (do, words) in BAD_CALLS.items():
        with pytest.raises(ValueError, match=words):
            do(model)
        assert fingerprint(model) == before, call


@pytest.mark.parametrize(
    "y",
    [
        [{1, 2}, {3}] * 30,
        [frozenset("a"), frozenset("bc")] * 30,
        [[1, 2], [3]] * 30,
        [(1, 2), (0, 3)] * 30,
        pd.Series([[1, 2], [0, 3]] * 30),
        pd.Series([(1, 2), (3,)] * 30),
        [["a", "b"], ["c"]] * 30,
        [["a", "b"], ["c", "a"]] * 30,
    ],
)
def test_error_for_collections_of_labels_names_the_binarizer(y):
    for learn in ("fit", "partial_fit", "progressive_fit"):
        with pytest.raises(ValueError, match="MultiLabelBinarizer"):
            getattr(AdaOLMR("trees", n_estimators=2), learn)(X[:60], y)
    with pytest.raises(ValueError, match="one class label per sample|shape"):
        HoeffdingTreeClassifier().fit(X[:60], y)


def test_unknown_classes_are_refused():
    """The error for a class that the first call did not name says what to do."""
    model = AdaOLMR("trees", n_estimators=2, random_state=0).partial_fit(X, np.arange(300) % 3)
    with pytest.raises(ValueError, match=r"not in `classes`: \[3\].*partial_fit\(X, y, classes="):
        model.partial_fit(X, np.arange(300) % 4)
    model = AdaOLMR("trees", n_estimators=2).partial_fit(X, np.arange(300) % 3, classes=range(4))
    model.partial_fit(X, np.arange(300) % 4)
    with pytest.raises(ValueError, match="classes must name the 5 columns"):
        AdaOLMR().partial_fit(X, Y, classes=["a", "b"])
    named = AdaOLMR("trees", n_estimators=2).partial_fit(X, Y, classes=list("dcbae"))
    named.partial_fit(X, Y, classes=list("dcbae"))
    with pytest.raises(ValueError, match=r"missing: \['c'\], new: \['f'\]"):
        named.partial_fit(X, Y, classes=list("dabef"))


@pytest.mark.parametrize("kind", ["ada", "bmr", "bmr, rank loss"])
def test_parameters_set_later_do_not_change_a_fitted_model(kind):
    """They have an effect in the next fit."""
    model = clone(KINDS[kind]).fit(X, Y)
    expected = model.decision_function(X)
    for parameters in ({"n_estimators": 3}, {"n_estimators": 30}, {"estimator": GaussianNB()}):
        model.set_params(**parameters)
        assert_array_equal(model.decision_function(X), expected)
    if "loss" in model.get_params():
        model.set_params(loss="rank" if model.loss == "hinge" else "hinge")
        assert_array_equal(model.decision_function(X), expected)
    ridge = AdaOLMR(OnlineRidgeClassifier(), n_estimators=2).fit(X, Y).set_params(estimator=None)
    with pytest.raises(ValueError, match="NaN"):
        ridge.decision_function(np.where(X > 3, np.nan, X))


@pytest.mark.parametrize(
    ("name", "values"),
    [("n_jobs", [None, 1, 2, -1, np.int64(1)]), ("verbose", [0, 1, True, False, np.int64(0)])],
)
@pytest.mark.parametrize("make", [AdaOLMR, OnlineBMR, TopKBBM, TopKAdaptive])
def test_parameters_that_are_read_in_each_call(make, name, values):
    model = make("trees", n_estimators=2, random_state=0).fit(X[:60], Y[:60])
    calls = [
        lambda: model.partial_fit(X[:5], Y[:5]),
        lambda: model.progressive_fit(X[:5], Y[:5]),
    ]
    if hasattr(model, "explore"):
        shown = model.explore(X[:5])
        rewards = np.take_along_axis(Y[:5], shown.actions, axis=1)
        calls.append(lambda: model.partial_fit_feedback(X[:5], shown, rewards))
    for value in values:
        model.set_params(**{name: value})
        n_rounds = model.n_rounds_
        for call in calls:
            call()
        assert model.n_rounds_ == n_rounds + 5 * len(calls)


@pytest.mark.parametrize(
    "parameters",
    [
        {"edge": 0.0},
        {"edge": 1.0},
        {"edge": -0.1},
        {"loss": "squared"},
        {"n_estimators": 0},
        {"max_features": 0},
        {"max_features": 1.5},
        {"max_iter": 0},
        {"estimator": 3},
        {"estimator": []},
        {"n_jobs": "two"},
        {"n_jobs": 0},
    ],
    ids=str,
)
def test_bad_parameters_are_named(parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        OnlineBMR(**parameters).fit(X, Y)


def test_estimators_that_cannot_be_boosted():
    for estimator in (DecisionTreeClassifier(), [GaussianNB(), StandardScaler()]):
        with pytest.raises((TypeError, ValueError), match="partial_fit"):
            AdaOLMR(estimator).fit(X, Y)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_parameters_of_weak_learners_are_checked(n_jobs):
    """They are checked when a model is started, not in the calls within rounds."""
    model = OnlineBMR(GaussianNB(var_smoothing=-1.0), n_estimators=2, n_jobs=n_jobs)
    with pytest.raises(ValueError, match="var_smoothing"):
        model.fit(X, Y)
    assert not hasattr(model, "classes_")


def test_invalid_estimators_have_a_repr():
    """Only `fit` refuses them; a fitted model still predicts."""
    for estimator in (5, [], DecisionTreeClassifier()):
        model = OnlineBMR(estimator)
        assert is_classifier(model)
        assert "OnlineBMR" in model._repr_html_()
    model = OnlineBMR(n_estimators=3, random_state=0).fit(X, Y)
    scores = model.decision_function(X)
    assert_array_equal(model.set_params(estimator=5).decision_function(X), scores)


def test_samples_that_a_weak_learner_refuses(fingerprint):
    model = OnlineBMR(MultinomialNB(), n_estimators=3, random_state=0)
    for call in (model.fit, model.partial_fit, model.progressive_fit):
        with pytest.raises(ValueError, match="Negative values"):
            call(-X[:20], Y[:20])
        assert not hasattr(model, "classes_")
    before = fingerprint(model.fit(X[:20], Y[:20]))
    with pytest.raises(ValueError, match="Negative values"):
        model.fit(-X[:20], Y[:20])
    assert fingerprint(model) == before


@pytest.mark.parametrize("n_labels", [3, 5, 7, 13])
@pytest.mark.parametrize("n_estimators", [1, 3, 10])
def test_equal_votes_predict_no_label(n_labels, n_estimators):
    """Rounding errors of the sums do not matter."""
    model = OnlineBMR(n_estimators=n_estimators, random_state=0)
    model.partial_fit(X, np.zeros((len(X), n_labels), dtype=int))
    assert not model.predict(X).any()


@pytest.mark.parametrize("estimator", [GaussianNB(), SGDClassifier(loss="log_loss"), Perceptron()])
def test_scikit_learn_weak_learners(estimator):
    """With and without predict_proba; the learners are clones with different seeds."""
    model = AdaOLMR(estimator, n_estimators=2, max_features=6, random_state=0, shuffle=False)
    model.fit(X[:50], Y[:50])
    assert rank_loss(Y[:50], model.decision_function(X[:50])) < 0.3
    assert not hasattr(estimator, "classes_")
    assert all(weak.n_features_in_ == 6 for weak in model.estimators_)
    if "random_state" in estimator.get_params():
        assert len({weak.random_state for weak in model.estimators_}) == 2


def test_lists_of_learners_are_repeated():
    model = KINDS["mixed"]
    fitted = clone(model).fit(X, Y)
    kinds = [type(weak) for weak in fitted.estimators_]
    assert kinds == [type(model.estimator[i % 4]) for i in range(5)]
    assert [len(seen) for seen in fitted.estimators_features_] == [6] * 5
    # `estimators_` are the learners that vote.
    weak, seen = fitted.estimators_[0], fitted.estimators_features_[0]
    assert weak.predict_proba(X[:, seen]).shape == (300, 5)
    assert weak.get_n_leaves() > 1


def test_missing_values_where_the_learners_take_them():
    """NaN is accepted if all weak learners accept it, as trees do."""
    holes = np.where(np.random.RandomState(0).uniform(size=X.shape) < 0.3, np.nan, X)
    model = AdaOLMR("trees", n_estimators=10, random_state=0).fit(holes[:200], Y[:200])
    assert rank_loss(Y[200:], model.decision_function(holes[200:])) < 0.3
    with pytest.raises(ValueError, match="NaN"):
        AdaOLMR([HoeffdingTreeClassifier(), OnlineRidgeClassifier()]).fit(holes, Y)


def test_passes_and_shuffling():
    """max_iter passes equal repeated calls of partial_fit; shuffling changes the order."""
    model = AdaOLMR("trees", n_estimators=5, random_state=0, shuffle=False)
    thrice = clone(model).set_params(max_iter=3).fit(X, Y)
    again = clone(model).partial_fit(X, Y).partial_fit(X, Y).partial_fit(X, Y)
    assert_array_equal(thrice.decision_function(X), again.decision_function(X))
    assert (thrice.n_iter_, thrice.n_rounds_) == (3, 900)
    shuffled = clone(model).set_params(shuffle=True).fit(X, Y)
    assert not np.array_equal(
        shuffled.decision_function(X), clone(model).fit(X, Y).decision_function(X)
    )


def test_grid_search_over_the_edge_in_a_pipeline():
    """The edge is chosen by cross-validation."""
    grid = {"onlinebmr__edge": [0.01, 0.2], "onlinebmr__n_estimators": [4, 8]}
    pipeline = make_pipeline(StandardScaler(), OnlineBMR(random_state=0))
    search = GridSearchCV(pipeline, grid, scoring=rank_loss_scorer, cv=3).fit(X, Y)
    assert set(search.best_params_) == set(grid)
    assert -0.2 < search.best_score_ < 0
    nested = GridSearchCV(
        AdaOLMR(HoeffdingTreeClassifier(), n_estimators=3, random_state=0),
        {"estimator__grace_period": [10, 100]},
        cv=2,
    ).fit(X, Y)
    assert nested.best_score_ == nested.cv_results_["mean_test_score"].max() > 0.6


def test_sample_weight_by_metadata_routing():
    """Requested weights are passed to fit, partial_fit and score."""
    weight = np.random.RandomState(0).uniform(size=300)
    with sklearn.config_context(enable_metadata_routing=True):
        model = AdaOLMR("trees", n_estimators=4, random_state=0)
        model.set_fit_request(sample_weight=True).set_partial_fit_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        pipeline = make_pipeline(scaler, model)
        results = cross_validate(
            pipeline,
            X,
            Y,
            scoring=clone(rank_loss_scorer).set_score_request(sample_weight=True),
            params={"sample_weight": weight},
            return_estimator=True,
            cv=2,
        )
    scaled = StandardScaler().fit_transform(X[150:])
    by_hand = AdaOLMR("trees", n_estimators=4, random_state=0).fit(scaled, Y[150:], weight[150:])
    assert_array_equal(
        results["estimator"][0][-1].decision_function(scaled), by_hand.decision_function(scaled)
    )


def test_score_takes_what_fit_takes():
    """A column of class labels is scored by the weighted accuracy."""
    y = Y[:, :1]
    with pytest.warns(DataConversionWarning):
        model = AdaOLMR("trees", n_estimators=4, random_state=0).fit(X, y)
    assert model.score(X, y) == np.mean(model.predict(X) == y.ravel()) > 0.5
    weight = np.arange(300.0)
    right = model.predict(X) == y.ravel()
    assert model.score(X, y, sample_weight=weight) == pytest.approx(weight @ right / weight.sum())


def test_verbose_prints_the_rounds(capsys):
    OnlineBMR(n_estimators=1, verbose=1, random_state=0).fit(np.tile(X, (8, 1)), np.tile(Y, (8, 1)))
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(": rank loss ")[0] for line in lines] == [
        "[OnlineBMR] batch 1 of 3",
        "[OnlineBMR] batch 2 of 3",
        "[OnlineBMR] batch 3 of 3",
    ]
    assert [line.split(", ")[1] for line in lines] == ["rounds 1000", "rounds 2000", "rounds 2400"]


def test_looks_like_scikit_learn():
    """It has an HTML representation and nested parameters."""
    model = AdaOLMR(HoeffdingTreeClassifier(), 7)
    assert model.get_params()["n_estimators"] == 7
    assert model.get_params()["estimator__tau"] == 0.05
    assert "HoeffdingTreeClassifier" in model._repr_html_()


@pytest.mark.parametrize("booster", [AdaOLMR, OnlineBMR, TopKAdaptive, TopKBBM])
def test_trees_are_bounded_and_differ(booster):
    """Each has random parameters, 20 random features, and a bound on its leaves."""
    wide = np.random.default_rng(0).normal(size=(9, 30))
    model = booster("trees", random_state=0).fit(wide, Y[:9])
    assert len(model.estimators_) == 100
    assert all(len(set(seen)) == 20 for seen in model.estimators_features_)
    assert len({tuple(sorted(seen)) for seen in model.estimators_features_}) > 90
    assert all(tree.max_leaves == 256 for tree in model.estimators_)
    for parameter in ("grace_period", "delta", "tau"):
        assert len({getattr(tree, parameter) for tree in model.estimators_}) == 100


@pytest.mark.parametrize("attribute", ["estimator_weights_", "expert_weights_", "empirical_edges_"])
def test_attributes_that_were_read_do_not_change(attribute):
    model = AdaOLMR("trees", n_estimators=3, random_state=0)
    read, copies = [], []
    for rows in np.array_split(np.arange(300), 4):
        read.append(getattr(model.partial_fit(X[rows], Y[rows]), attribute))
        copies.append(read[-1].copy())
    assert_array_equal(read, copies)
    assert len(np.unique(copies, axis=0)) == 4


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "paper"),
    [("emotions", 0.1600), ("scene", 0.0881), ("yeast", 0.1874), ("mediamill_reduced", 0.0632)],
)
def test_paper_table_3(multilabel_data, name, paper):
    """Ada.OLMR over trees ranks as well as the paper's, within two deviations of three seeds."""
    X_train, Y_train, X_test, Y_test = multilabel_data(name)
    losses = []
    for seed in range(3):
        model = AdaOLMR("trees", random_state=seed).fit(X_train, Y_train)
        losses.append(rank_loss(Y_test, model.progressive_fit(X_test, Y_test)))
    assert np.mean(losses) < paper + 2 * np.std(losses)
