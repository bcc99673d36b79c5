"""Parameters that describe the weak learners: what None, "trees" and "auto" resolve to."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.utils import get_tags

from sklrank.linear_model import OnlineLogisticRegression, OnlineRidgeClassifier
from sklrank.online_boosting import AdaOLMR, OnlineBMR, TopKAdaptive, TopKBBM, recommended_learners
from sklrank.tree import HoeffdingTreeClassifier

X, Y = make_multilabel_classification(120, n_features=30, n_classes=5, random_state=0)


def feedback_of(booster):
    """Feedback on the indicator matrix Y."""
    return "full" if booster in (OnlineBMR, AdaOLMR) else "top-k"


BOOSTERS = [AdaOLMR, OnlineBMR, TopKBBM, TopKAdaptive]
LIST = [GaussianNB(), OnlineLogisticRegression(), HoeffdingTreeClassifier()]


def settings(estimators):
    """Return classes and parameters of weak learners, without the seeds that the booster draws."""
    return [
        (type(each), {k: repr(v) for k, v in each.get_params().items() if k != "random_state"})
        for each in estimators
    ]


@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize("n_estimators", ["auto", 1, 12])
def test_none_means_the_recommended_learners(booster, n_estimators):
    """As many as asked for, each on all features."""
    model = booster(n_estimators=n_estimators, random_state=0).fit(X, Y)
    length = None if n_estimators == "auto" else n_estimators
    expected = recommended_learners(length, feedback=feedback_of(booster))
    assert settings(model.estimators_) == settings(expected)
    assert model.n_estimators_ == len(expected) == len(model.estimators_)
    assert model.max_features_ is None
    assert all(len(seen) == 30 for seen in model.estimators_features_)


def test_trees_join_the_list_for_streams_of_classes():
    y = Y.argmax(axis=1)
    model = AdaOLMR(random_state=0).fit(X, y)
    assert settings(model.estimators_) == settings(recommended_learners(feedback="class"))
    assert sum(isinstance(each, HoeffdingTreeClassifier) for each in model.estimators_) == 8
    equal_weights = OnlineBMR(random_state=0).fit(X, y)
    assert settings(equal_weights.estimators_) == settings(recommended_learners())
    # The longer the list, the more regressions of random Fourier features.
    assert settings(recommended_learners(15)[:7]) == settings(recommended_learners())
    longer = recommended_learners(17, feedback="class")
    assert settings(longer[:15]) == settings(recommended_learners(feedback="class"))
    assert settings(longer[15:]) == settings(longer[3:5])


@pytest.mark.slow
def test_trees_win_where_concepts_depend_on_few_features():
    """A concept of two of ten features, which changes once."""
    random = np.random.RandomState(0)
    rows = random.uniform(size=(6000, 10))
    first, second = rows[:3000], rows[3000:]
    y = np.concatenate(
        [(first[:, 0] > 0.5) ^ (first[:, 1] > 0.5), (second[:, 2] > 0.5) ^ (second[:, 3] > 0.5)]
    )
    right = []
    for learners in (None, recommended_learners()):
        scores = AdaOLMR(learners, random_state=0).progressive_fit(rows, y, classes=[False, True])
        right.append((scores.argmax(axis=1) == y).mean())
    assert right[0] > right[1] + 0.1


@pytest.mark.parametrize("booster", BOOSTERS)
def test_none_is_the_list_by_hand(booster):
    """Bit by bit, and with other numbers of features too."""
    learners = recommended_learners(feedback=feedback_of(booster))
    for max_features in ("auto", None, 4):
        by_hand = None if max_features == "auto" else max_features
        expected = booster(learners, len(learners), max_features=by_hand, random_state=0).fit(X, Y)
        model = booster(max_features=max_features, random_state=0).fit(X, Y)
        assert_array_equal(model.decision_function(X), expected.decision_function(X))
        assert model.max_features_ == by_hand


@pytest.mark.parametrize("booster", BOOSTERS)
def test_learners_of_random_features_use_fifty_columns(booster):
    """Each draws its own; the others use all, or those that `max_features` draws."""
    wide = np.random.default_rng(0).normal(size=(9, 80))
    for max_features, n_seen in ((None, 80), (60, 60), (30, 30)):
        model = booster(max_features=max_features, random_state=0).fit(wide, Y[:9])
        for learner, seen in zip(model.estimators_, model.estimators_features_, strict=True):
            is_bent = learner.get_params().get("kernel") == "rbf"
            assert len(seen) == (min(50, n_seen) if is_bent else n_seen)
            assert (np.diff(seen) > 0).all()
        first, second = model.estimators_features_[-2:]
        assert first.tolist() != second.tolist()


RESOLVED = {
    "trees": ({"estimator": "trees"}, 100, 20),
    "fewer trees": ({"estimator": "trees", "n_estimators": 3}, 3, 20),
    "trees, all features": (
        {"estimator": "trees", "n_estimators": 2, "max_features": None},
        2,
        None,
    ),
    "one estimator": ({"estimator": OnlineLogisticRegression()}, 100, None),
    "one estimator, numbers": (
        {"estimator": GaussianNB(), "n_estimators": np.int64(2), "max_features": 0.5},
        2,
        0.5,
    ),
    "a list": ({"estimator": LIST}, 3, None),
    "a tuple": ({"estimator": tuple(LIST), "max_features": "sqrt"}, 3, "sqrt"),
    "a longer round of a list": ({"estimator": LIST, "n_estimators": 5}, 5, None),
}


@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize("case", RESOLVED)
def test_fitted_attributes_tell_what_auto_was(booster, case):
    parameters, n_estimators, max_features = RESOLVED[case]
    model = booster(**parameters, random_state=0).partial_fit(X[:1], Y[:1])
    assert model.n_estimators_ == n_estimators == len(model.estimators_)
    assert type(model.n_estimators_) is int
    assert model.max_features_ == max_features
    n_features = {None: 30, 20: 20, 0.5: 15, "sqrt": 5}[max_features]
    assert {len(seen) for seen in model.estimators_features_} == {n_features}
    assert len(model.estimator_weights_) == len(model.expert_weights_) == n_estimators


@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize(
    ("parameter", "value", "message"),
    [
        ("estimator", "forest", "'estimator' .* among {'trees'}.*Got 'forest'"),
        ("estimator", "auto", "'estimator' .* among {'trees'}.*Got 'auto'"),
        ("n_estimators", "all", "'n_estimators' .* among {'auto'}.*Got 'all'"),
        ("n_estimators", None, "'n_estimators'"),
        ("max_features", "all", "'max_features' .*'auto'.*Got 'all'"),
    ],
)
def test_other_strings_are_refused(booster, parameter, value, message):
    """The message names the options."""
    for method in ("fit", "partial_fit", "progressive_fit"):
        model = booster().set_params(**{parameter: value})
        with pytest.raises(ValueError, match=message):
            getattr(model, method)(X, Y)
        assert not hasattr(model, "classes_")
    assert booster.__name__ in booster().set_params(**{parameter: value})._repr_html_()


@pytest.mark.parametrize("booster", BOOSTERS)
def test_tags_follow_the_resolved_learners(booster):
    """Missing values are accepted if all weak learners accept them."""
    holes = np.where(np.random.RandomState(0).uniform(size=X.shape) < 0.2, np.nan, X)
    pairs = {"cost_estimate": "pairs"} if "cost_estimate" in booster().get_params() else {}
    for estimator in (None, "trees", HoeffdingTreeClassifier(), OnlineRidgeClassifier(), LIST[1:]):
        model = booster(estimator, n_estimators=4, random_state=0, **pairs)
        fitted = clone(model).fit(X, Y)
        accepted = all(get_tags(each).input_tags.allow_nan for each in fitted.estimators_)
        assert get_tags(model).input_tags.allow_nan == accepted
        if accepted:
            assert np.isfinite(model.fit(holes, Y).decision_function(holes)).all()
        else:
            with pytest.raises(ValueError, match="NaN"):
                model.fit(holes, Y)


@pytest.mark.parametrize("booster", BOOSTERS)
def test_parameters_set_later_and_clones(booster):
    """A clone has the parameters as given; a fitted model keeps its learners until `fit`."""
    model = booster(random_state=0).set_params(estimator="trees", n_estimators=3)
    copy = clone(model)
    assert (copy.estimator, copy.n_estimators, copy.max_features) == ("trees", 3, "auto")
    model.fit(X[:20], Y[:20])
    model.set_params(n_estimators="auto", max_features=5, estimator=LIST)
    assert (model.n_estimators_, model.max_features_) == (3, 20)
    model.partial_fit(X[:20], Y[:20])
    assert (model.n_estimators_, model.max_features_) == (3, 20)
    model.fit(X[:20], Y[:20])
    assert (model.n_estimators_, model.max_features_) == (3, 5)
    assert type(model.estimators_[0]) is GaussianNB


@pytest.mark.parametrize("booster", [AdaOLMR, TopKBBM])
def test_grid_search_over_numbers_and_auto(booster):
    grid = {
        "estimator": [None, "trees", OnlineLogisticRegression()],
        "n_estimators": ["auto", 2],
        "max_features": ["auto", "sqrt"],
    }
    search = GridSearchCV(booster(random_state=0), grid, cv=2, error_score="raise")
    search.fit(X[:30], Y[:30])
    assert len(set(search.cv_results_["mean_test_score"])) > 6
    best, chosen = search.best_estimator_, search.best_params_
    assert best.n_estimators_ in ((2,) if chosen["n_estimators"] == 2 else (7, 100))
    assert best.max_features == chosen["max_features"]


def test_recommended_learners_do_better_than_trees():
    X, Y = make_multilabel_classification(400, n_features=40, n_classes=6, random_state=1)
    scores = [
        booster(estimator, random_state=0).fit(X[:250], Y[:250]).score(X[250:], Y[250:])
        for booster in BOOSTERS
        for estimator in (None, "trees")
    ]
    assert all(default > trees for default, trees in zip(scores[::2], scores[1::2]))


def test_the_first_learner_is_a_ridge_regression_of_wide_samples():
    """Of the negative costs, on samples of norm one, without a sketch of 700 columns."""
    rng = np.random.default_rng(0)
    X = np.where(rng.random((30, 700)) < 0.1, rng.uniform(1, 2, (30, 700)), 0.0)
    Y = rng.integers(2, size=(30, 4))
    Y[:, :2] = [0, 1]  # Each sample has a relevant and an irrelevant label.
    model = AdaOLMR(random_state=0, shuffle=False).fit(X, Y)
    learner = model.estimators_[0]
    size = Y.sum(axis=1, keepdims=True)
    target = np.where(Y, 0.5 / size, -0.5 / (4 - size))
    F = np.column_stack([X / np.linalg.norm(X, axis=1, keepdims=True), np.ones(30)])
    weights = np.linalg.solve(F.T @ F + np.eye(701), F.T @ target)
    assert_allclose(learner.decision_function(X), F @ weights, atol=1e-10)
