"""Scorers of labels in scikit-learn's tools: they return the metric of the fold."""

import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import rankdata
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import make_classification, make_multilabel_classification
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, cross_validate
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from sklrank.metrics import (
    hinge_rank_loss,
    hinge_rank_loss_scorer,
    kendall_tau_distance,
    kendall_tau_distance_scorer,
    kendall_tau_score,
    kendall_tau_scorer,
    logistic_rank_loss,
    logistic_rank_loss_scorer,
    rank_loss,
    rank_loss_scorer,
    spearman_distance,
    spearman_distance_scorer,
)
from sklrank.metrics._scorers import LabelRankingScorer
from sklrank.online_boosting import AdaOLMR

SCORERS = {
    "rank_loss_scorer": (rank_loss_scorer, rank_loss),
    "hinge_rank_loss_scorer": (hinge_rank_loss_scorer, hinge_rank_loss),
    "logistic_rank_loss_scorer": (logistic_rank_loss_scorer, logistic_rank_loss),
}
every_scorer = pytest.mark.parametrize(("scorer", "loss"), SCORERS.values(), ids=SCORERS)


@pytest.fixture(scope="module")
def multilabel():
    return make_multilabel_classification(n_samples=80, n_classes=4, random_state=0)


@pytest.fixture(scope="module")
def multiclass():
    X, y = make_classification(
        n_samples=90, n_classes=3, n_informative=5, n_clusters_per_class=1, random_state=0
    )
    return X, np.array(["ant", "bee", "cow"])[y]


@every_scorer
def test_grid_search_on_multilabel(scorer, loss, multilabel):
    X, Y = multilabel
    grid = GridSearchCV(
        OneVsRestClassifier(RidgeClassifier()),
        {"estimator__alpha": [0.1, 1e4]},
        scoring=scorer,
        cv=KFold(3),
        error_score="raise",
    ).fit(X, Y)
    train, test = next(KFold(3).split(X))
    model = clone(grid.estimator).set_params(estimator__alpha=0.1).fit(X[train], Y[train])
    expected = -loss(Y[test], model.decision_function(X[test]))
    assert grid.cv_results_["split0_test_score"][0] == pytest.approx(expected)
    assert grid.score(X, Y) == pytest.approx(-loss(Y, grid.decision_function(X)))


@every_scorer
def test_grid_search_on_multiclass(scorer, loss, multiclass):
    X, y = multiclass
    grid = GridSearchCV(
        make_pipeline(StandardScaler(), LogisticRegression()),
        {"logisticregression__C": [1e-4, 1.0]},
        scoring=scorer,
        cv=3,
        error_score="raise",
    ).fit(X, y)
    assert grid.best_params_ == {"logisticregression__C": 1.0}
    assert grid.score(X, y) == pytest.approx(-loss(y, grid.decision_function(X)))


@every_scorer
@pytest.mark.parametrize(
    "estimator", [RandomForestClassifier(5, random_state=0), KNeighborsClassifier()]
)
def test_probabilities_in_a_list(scorer, loss, estimator, multilabel):
    X, Y = multilabel
    estimator = clone(estimator).fit(X, Y)
    scores = np.column_stack([proba[:, 1] for proba in estimator.predict_proba(X)])
    assert scorer(estimator, X, Y) == pytest.approx(-loss(Y, scores))


@pytest.mark.parametrize("constant", [0, 1])
def test_label_with_one_value_in_training(constant, multilabel):
    """predict_proba then has one column, for the class in training, not always class 1."""
    X, Y = multilabel
    Y = Y.copy()
    Y[:, 2] = constant
    model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, Y)
    scores = np.column_stack(
        [p[:, 1] if p.shape[1] == 2 else np.full(len(X), constant) for p in model.predict_proba(X)]
    )
    assert rank_loss_scorer(model, X, Y) == pytest.approx(-rank_loss(Y, scores))


@every_scorer
def test_binary_decisions_are_a_column(scorer, loss, multiclass):
    X, y = multiclass
    X, y = X[y != "cow"], y[y != "cow"]
    model = LogisticRegression().fit(X, y)
    expected = -loss(y, model.decision_function(X))
    assert scorer(model, X, y) == pytest.approx(expected)
    assert rank_loss_scorer(model, X, y) == pytest.approx(model.score(X, y) - 1)


def test_fold_that_lacks_a_class(multiclass):
    X, y = multiclass
    order = np.argsort(y == "cow", kind="stable")
    X, y = X[order], y[order]
    scores = cross_val_score(
        LogisticRegression(),
        X,
        y,
        scoring=rank_loss_scorer,
        cv=[(np.arange(len(y)), np.arange(20))],
        error_score="raise",
    )
    model = LogisticRegression().fit(X, y)
    expected = -rank_loss(y[:20], model.decision_function(X[:20]), labels=model.classes_)
    assert_allclose(scores, [expected])


def test_several_metrics_at_once(multiclass):
    X, y = multiclass
    results = cross_validate(
        LogisticRegression(), X, y, scoring={n: s for n, (s, _) in SCORERS.items()}, cv=3
    )
    for name, (scorer, _) in SCORERS.items():
        alone = cross_val_score(LogisticRegression(), X, y, scoring=scorer, cv=3)
        assert_allclose(results[f"test_{name}"], alone)


@every_scorer
def test_sample_weight_by_metadata_routing(scorer, loss, multiclass):
    X, y = multiclass
    weight = np.random.default_rng(0).random(len(y))
    folds = KFold(3)
    with config_context(enable_metadata_routing=True):
        model = LogisticRegression().set_fit_request(sample_weight=True)
        weighted = clone(scorer).set_score_request(sample_weight=True)
        scores = cross_val_score(
            model, X, y, scoring=weighted, cv=folds, params={"sample_weight": weight}
        )
        grid = GridSearchCV(model, {"C": [1.0]}, scoring=weighted, cv=folds)
        grid.fit(X, y, sample_weight=weight)
    expected = []
    for train, test in folds.split(X):
        model = LogisticRegression().fit(X[train], y[train], sample_weight=weight[train])
        expected.append(
            -loss(y[test], model.decision_function(X[test]), sample_weight=weight[test])
        )
    assert_allclose(scores, expected)
    assert grid.best_score_ == pytest.approx(np.mean(expected))
    assert scorer(model, X, y, sample_weight=weight) != scorer(model, X, y)


def test_sample_weight_without_routing(multiclass):
    """A search with weights works, with one scorer and with several."""
    X, y = multiclass
    for scoring in (rank_loss_scorer, {"a": rank_loss_scorer, "b": hinge_rank_loss_scorer}):
        grid = GridSearchCV(
            LogisticRegression(),
            {"C": [1.0]},
            scoring=scoring,
            refit=False,
            cv=3,
            error_score="raise",
        )
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            grid.fit(X, y, sample_weight=np.ones(len(y)))


def test_requests_stay_with_the_clone():
    with config_context(enable_metadata_routing=True):
        changed = clone(rank_loss_scorer).set_score_request(sample_weight="w")
        requests = [
            s.get_metadata_routing().score.requests
            for s in (
                rank_loss_scorer,
                changed,
                clone(changed),
                pickle.loads(pickle.dumps(changed)),
            )
        ]
    assert requests == [{"sample_weight": None}] + [{"sample_weight": "w"}] * 3


@every_scorer
def test_scorers_pickle_clone_and_print(scorer, loss, multiclass):
    X, y = multiclass
    model = LogisticRegression().fit(X, y)
    assert repr(scorer) == f"LabelScorer({loss.__name__})"
    for copy in (clone(scorer), pickle.loads(pickle.dumps(scorer))):
        assert copy(model, X, y) == scorer(model, X, y)
        assert repr(copy) == repr(scorer)
    assert repr(scorer) in repr(GridSearchCV(model, {}, scoring=scorer))
    assert scorer._repr_mimebundle_()["text/plain"] == repr(scorer)


def test_scores_prefer_decision_function():
    class Both(BaseEstimator):
        classes_ = np.array([0, 1])

        def decision_function(self, X):
            return np.array([[1.0, 0.0]])

        def predict_proba(self, X):
            raise AssertionError("not to be called")

    assert rank_loss_scorer(Both(), [[0]], [0]) == 0


def test_prior_probabilities_are_scores(multiclass):
    X, y = multiclass
    model = DummyClassifier().fit(X, y)
    expected = -rank_loss(y, np.tile(model.class_prior_, (len(y), 1)))
    assert rank_loss_scorer(model, X, y) == pytest.approx(expected)


def test_estimator_without_scores():
    model = LinearRegression().fit([[0], [1]], [0, 1])
    with pytest.raises(TypeError, match=r"must have decision_function or predict_proba.*Linear"):
        rank_loss_scorer(model, [[0], [1]], [0, 1])


RANKING_SCORERS = {
    "kendall_tau_scorer": (kendall_tau_scorer, kendall_tau_score, 1),
    "kendall_tau_distance_scorer": (kendall_tau_distance_scorer, kendall_tau_distance, -1),
    "spearman_distance_scorer": (spearman_distance_scorer, spearman_distance, -1),
}
every_ranking_scorer = pytest.mark.parametrize(
    ("scorer", "metric", "sign"), RANKING_SCORERS.values(), ids=RANKING_SCORERS
)


class PositionRegressor(BaseEstimator):
    """Ridge regression of positions; missing positions are replaced by their mean."""

    def __init__(self, alpha=1.0):
        self.alpha = alpha

    def fit(self, X, y, sample_weight=None):
        y = np.where(np.isnan(y), np.nanmean(y, axis=0), y)
        self.ridge_ = Ridge(self.alpha).fit(X, y, sample_weight=sample_weight)
        return self

    def predict(self, X):
        return rankdata(self.ridge_.predict(X), axis=1).astype(int)


@pytest.fixture(scope="module")
def incomplete():
    """Rankings by linear scores, in which a third of the labels, or all of them, are missing."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 4))
    y = rankdata(X @ rng.normal(size=(4, 5)), axis=1)
    y[rng.random(y.shape) < 1 / 3] = np.nan
    y[:3] = np.nan
    return X, y


@every_ranking_scorer
def test_rankings_in_searches(scorer, metric, sign, incomplete):
    X, y = incomplete
    pipeline = make_pipeline(StandardScaler(), PositionRegressor())
    grid = GridSearchCV(
        pipeline,
        {"positionregressor__alpha": [1.0, 1e6]},
        scoring=scorer,
        cv=KFold(3),
        error_score="raise",
    ).fit(X, y)
    expected = []
    for train, test in KFold(3).split(X):
        model = clone(pipeline).fit(X[train], y[train])
        expected.append(sign * metric(y[test], model.predict(X[test])))
    assert_allclose(cross_val_score(pipeline, X, y, scoring=scorer, cv=3), expected)
    assert grid.cv_results_["mean_test_score"][0] == pytest.approx(np.mean(expected))
    assert grid.best_params_ == {"positionregressor__alpha": 1.0}
    assert grid.score(X, y) == pytest.approx(sign * metric(y, grid.predict(X)))


@every_ranking_scorer
def test_rankings_with_sample_weight(scorer, metric, sign, incomplete):
    X, y = incomplete
    weight = np.random.default_rng(0).random(len(y))
    with config_context(enable_metadata_routing=True):
        model = PositionRegressor().set_fit_request(sample_weight=True)
        weighted = clone(scorer).set_score_request(sample_weight=True)
        scores = cross_val_score(
            model, X, y, scoring=weighted, cv=3, params={"sample_weight": weight}
        )
        grid = GridSearchCV(model, {"alpha": [1.0]}, scoring=weighted, cv=3)
        grid.fit(X, y, sample_weight=weight)
    expected = []
    for train, test in KFold(3).split(X):
        model = PositionRegressor().fit(X[train], y[train], sample_weight=weight[train])
        expected.append(sign * metric(y[test], model.predict(X[test]), sample_weight=weight[test]))
    assert_allclose(scores, expected)
    assert grid.best_score_ == pytest.approx(np.mean(expected))
    assert scorer(model, X, y, sample_weight=weight) != scorer(model, X, y)
    several = {name: each for name, (each, *_) in RANKING_SCORERS.items()}
    search = GridSearchCV(
        PositionRegressor(), {"alpha": [1.0]}, scoring=several, refit=False, error_score="raise"
    )
    search.fit(X, y, sample_weight=weight)


@every_ranking_scorer
def test_any_regressor_of_positions(scorer, metric, sign, incomplete):
    X, _ = incomplete
    y = rankdata(X, axis=1)
    model = RandomForestRegressor(5, random_state=0).fit(X, y)
    assert scorer(model, X, y) == pytest.approx(sign * metric(y, model.predict(X)))
    # For a single label the predictions of the forest are 1-d.
    assert scorer(RandomForestRegressor(2).fit(X, y[:, 0]), X, y[:, :1]) == 0


@pytest.mark.filterwarnings("ignore:y_true has the position 0")
def test_classifiers_rank_by_predict_ranks(multilabel):
    X, Y = multilabel
    model = AdaOLMR("trees", n_estimators=5, random_state=0).fit(X, Y)
    expected = kendall_tau_score(1 - Y, model.predict_ranks(X))
    assert kendall_tau_scorer(model, X, 1 - Y) == expected


@every_ranking_scorer
def test_ranking_scorers_pickle_clone_and_print(scorer, metric, sign, incomplete):
    X, y = incomplete
    model = PositionRegressor().fit(X, y)
    assert repr(scorer) == f"LabelRankingScorer({metric.__name__})"
    for copy in (clone(scorer), pickle.loads(pickle.dumps(scorer))):
        assert copy(model, X, y) == scorer(model, X, y)
        assert repr(copy) == repr(scorer)


def test_estimators_that_do_not_rank(multiclass):
    with pytest.raises(TypeError, match=r"must have predict_ranks, or a predict.*StandardScaler"):
        kendall_tau_scorer(StandardScaler(), [[0], [1]], [[1, 2], [1, 2]])
    X, y = multiclass
    model = LogisticRegression().fit(X, y == "ant")
    with pytest.raises(ValueError, match=r"y_pred must have the shape of y_true, \(90, 3\)"):
        kendall_tau_scorer(model, X, np.ones((90, 3)))


def test_parameters_are_those_of_the_metric(incomplete, multiclass):
    X, y = incomplete
    y = np.round(y / 2)
    model = PositionRegressor().fit(X, y)
    gamma = clone(kendall_tau_scorer).set_params(variant="gamma")
    assert repr(gamma) == "LabelRankingScorer(kendall_tau_score, variant='gamma')"
    assert gamma(model, X, y) == kendall_tau_score(y, model.predict(X), variant="gamma")
    assert gamma(model, X, y) != kendall_tau_scorer(model, X, y)
    with pytest.raises(ValueError, match="Invalid parameter 'penalty'"):
        clone(gamma).set_params(penalty=1)
    with pytest.raises(TypeError, match="kendall_tau_score has no parameter 'penalty'"):
        LabelRankingScorer(kendall_tau_score, penalty=1)
    X, y = multiclass
    full = clone(rank_loss_scorer).set_params(ties="full")
    assert full(DummyClassifier(strategy="uniform").fit(X, y), X, y) == -1
