"""The public interface of NDCGBoost, RankBoost and AdaRank."""

import pickle
from functools import partial

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning, UnsetMetadataPassedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags

from sklrank.boosting import AdaRank, NDCGBoost, RankBoost, _tree_choice
from sklrank.boosting._linear_scores import LinearScorer
from sklrank.boosting._tree_choice import choose_trees
from sklrank.metrics import average_precision_score, ndcg_score, ndcg_scorer
from sklrank.model_selection import QueryKFold, query_permutation_importance
from sklrank.tree import (
    HistogramTreeClassifier,
    HistogramTreeRegressor,
    StumpClassifier,
    _histogram_tree,
)


def make_queries(seed, n=240):
    """Return features, grades by the first two of them, and thirty queries in mixed order."""
    random = np.random.RandomState(seed)
    X, qid = random.normal(size=(n, 4)), random.randint(30, size=n)
    y = np.digitize(2 * X[:, 0] + X[:, 1] + random.normal(size=n), [1, 3])
    return X, y, qid


X, Y, QID = make_queries(0)
# Grades whose exponential gains, linear gains and order differ.
GRADES = 2 * Y

ALGORITHMS = [NDCGBoost, RankBoost, AdaRank]
TREE = DecisionTreeClassifier(max_depth=2)
CONFIGURATIONS = {
    "ndcg": NDCGBoost(StumpClassifier(), 8),
    "ndcg-trees": NDCGBoost(HistogramTreeRegressor(max_leaf_nodes=4, min_samples_leaf=8), 8),
    "ndcg-trees-options": NDCGBoost(
        HistogramTreeRegressor(max_depth=2, l2_regularization=2.0),
        8,
        objective="expected-ndcg",
        gain="linear",
        learning_rate=1.0,
    ),
    "ndcg-classifier-logistic": NDCGBoost(StumpClassifier(), 8, objective="logistic"),
    "ndcg-options": NDCGBoost(
        StumpClassifier(criterion="gain", max_bins=16), 8, gain="linear", learning_rate=0.5
    ),
    "ndcg-k": NDCGBoost(HistogramTreeRegressor(max_leaf_nodes=4, min_samples_leaf=8), 8, k=2),
    "ndcg-logistic": NDCGBoost(LogisticRegression(), 8),
    "rank": RankBoost(n_estimators=8),
    "rank-tree": RankBoost(TREE, 8, random_state=0),
    "rank-binned": RankBoost(HistogramTreeClassifier(max_leaf_nodes=4, min_samples_leaf=8), 8),
    "ada": AdaRank(n_estimators=8),
    "ada-options": AdaRank(n_estimators=8, metric="map", k=5, search="weighted"),
    "ada-tree": AdaRank(TREE, 8, weighting="auto", random_state=0),
}
DRAWN = {
    "ndcg-drawn": NDCGBoost(KNeighborsClassifier(3), 8, random_state=0),
    "rank-drawn": RankBoost(
        weighting="resampling", max_samples=0.3, n_estimators=8, random_state=0
    ),
    "ada-drawn": AdaRank(TREE, 8, random_state=0),
}


def with_each(configurations):
    return pytest.mark.parametrize(
        "ranker", [pytest.param(ranker, id=name) for name, ranker in configurations.items()]
    )


def options_of_score(ranker):
    """Return the options of NDCG that are parameters of the ranker."""
    return {name: value for name, value in ranker.get_params().items() if name in ("gain", "k")}


def fit(ranker, **parameters):
    return clone(ranker).set_params(**parameters).fit(X, Y, qid=QID)


# -- All algorithms.


@with_each(CONFIGURATIONS | DRAWN)
def test_learns_to_rank(ranker):
    X_test, grades, qid = make_queries(1)
    chance = ndcg_score(grades, np.zeros(len(grades)), qid=qid)
    fitted = fit(ranker)
    assert fitted.score(X_test, grades, qid=qid) > chance + 0.1
    expected = ndcg_score(grades, fitted.predict(X_test), qid=qid, **options_of_score(ranker))
    assert_allclose(fitted.score(X_test, grades, qid=qid), expected)


@pytest.mark.parametrize("name", sorted(CONFIGURATIONS.keys() - {"ada-options", "ada-tree"}))
@pytest.mark.parametrize("learning_rate", [0.2, 2.0])
def test_the_objective_never_rises(name, learning_rate):
    losses = fit(CONFIGURATIONS[name], n_estimators=30, learning_rate=learning_rate).loss_curve_
    assert len(losses) > 2
    assert (losses[1:] <= losses[:-1] * (1 + 1e-12)).all()


@with_each(CONFIGURATIONS | DRAWN)
def test_score_of_a_document_does_not_depend_on_others(ranker):
    fitted = fit(ranker)
    scores = fitted.predict(X)
    assert_array_equal(np.concatenate([fitted.predict(X[[i]]) for i in range(20)]), scores[:20])
    assert_array_equal(fitted.predict(X[::-3]), scores[::-3])


@with_each(CONFIGURATIONS)
def test_order_of_the_samples_does_not_matter(ranker):
    order = np.random.RandomState(3).permutation(len(X))
    permuted = clone(ranker).fit(X[order], Y[order], qid=QID[order])
    assert_allclose(permuted.predict(X), fit(ranker).predict(X), atol=1e-9)


@with_each(CONFIGURATIONS)
def test_sign_of_the_features_does_not_matter(ranker):
    negated = X * [-1, 1, -1, 1]
    assert_allclose(
        clone(ranker).fit(negated, Y, qid=QID).predict(negated), fit(ranker).predict(X), atol=1e-9
    )


@with_each(CONFIGURATIONS | DRAWN)
def test_names_of_queries_do_not_matter(ranker):
    scores = fit(ranker).predict(X)
    for names in (-QID, QID / 7, np.array([f"q{q}" for q in QID]), pd.Series(QID, index=QID)):
        assert_allclose(clone(ranker).fit(X, Y, qid=names).predict(X), scores, atol=1e-9)


@with_each(CONFIGURATIONS)
def test_without_qid_all_documents_are_of_one_query(ranker):
    alone = clone(ranker).fit(X, Y)
    same = clone(ranker).fit(X, Y, qid=np.full(len(X), "same"))
    assert_array_equal(alone.predict(X), same.predict(X))
    expected = ndcg_score(Y, alone.predict(X), **options_of_score(ranker))
    assert_allclose(alone.score(X, Y), expected)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_score_checks_relevance_like_fit(algorithm):
    ranker = algorithm(n_estimators=3).fit(X, Y, qid=QID)
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        assert ranker.score(X, Y[:, np.newaxis], qid=QID) == ranker.score(X, Y, qid=QID)
    for bad in (-Y, Y[:5], np.column_stack([Y, Y]), None):
        for method in (ranker.fit, ranker.score):
            with pytest.raises(ValueError, match=r"\by\b") as error:
                method(X, bad, qid=QID)
            assert "y_true" not in str(error.value) and "y_score" not in str(error.value)


@with_each(CONFIGURATIONS | DRAWN)
def test_staged_predictions(ranker):
    fitted = fit(ranker)
    stages = [*fitted.staged_predict(X)]
    assert len(stages) == len(fitted.estimators_) == len(fitted.estimator_weights_)
    assert_array_equal(stages[-1], fitted.predict(X))
    for n in range(1, len(stages), 3):
        assert_allclose(stages[n - 1], fit(ranker, n_estimators=n).predict(X), atol=1e-12)


EARLY = {
    "ndcg-early": NDCGBoost(n_estimators=16, n_iter_no_change=3, random_state=0),
    "rank-early": RankBoost(TREE, 16, n_iter_no_change=2, validation_fraction=0.3, random_state=1),
    "ada-early": AdaRank(TREE, 16, n_iter_no_change=6, random_state=0),
}


@with_each(CONFIGURATIONS | DRAWN | EARLY)
@pytest.mark.parametrize("n_first", [3, 14])
def test_warm_start_equals_one_fit(ranker, n_first):
    """Also with a pickle in between, and where the first fit stopped early."""
    at_once = fit(ranker, n_estimators=16)
    first = fit(ranker, n_estimators=n_first, warm_start=True)
    first = pickle.loads(pickle.dumps(first)).set_params(n_estimators=16)
    second = first.fit(X, Y, qid=QID)
    for name in ("estimator_weights_", "loss_curve_", "validation_scores_"):
        assert_array_equal(getattr(second, name), getattr(at_once, name))
    assert second.stop_reason_ == at_once.stop_reason_
    assert_array_equal(second.predict(X), at_once.predict(X))


@with_each(DRAWN)
def test_seeds(ranker):
    assert_array_equal(fit(ranker).predict(X), fit(ranker).predict(X))
    assert not np.array_equal(fit(ranker).predict(X), fit(ranker, random_state=1).predict(X))
    generator = np.random.RandomState(0)
    assert_array_equal(fit(ranker, random_state=generator).predict(X), fit(ranker).predict(X))


def test_warm_start_cannot_remove_rounds(fingerprint):
    ranker = fit(NDCGBoost(StumpClassifier(), n_estimators=5, warm_start=True))
    before = fingerprint(ranker.set_params(n_estimators=4))
    with pytest.raises(ValueError, match="n_estimators=4 is less than the 5 rounds"):
        ranker.fit(X, Y, qid=QID)
    assert fingerprint(ranker) == before
    assert len(ranker.set_params(warm_start=False).fit(X, Y, qid=QID).estimators_) == 4


@pytest.mark.parametrize("is_read", [False, True])
def test_warm_start_chooses_no_trees_for_rounds_of_another_estimator(is_read, fingerprint):
    ranker = fit(NDCGBoost(StumpClassifier(), n_estimators=2))
    if is_read:
        ranker = NDCGBoost.from_json(ranker.export_json())
    ranker.set_params(estimator=None, warm_start=True, n_estimators=4)
    before = fingerprint(ranker)
    with pytest.raises(ValueError, match="estimator=None chooses.*warm_start=True"):
        ranker.fit(X, Y, qid=QID)
    assert fingerprint(ranker) == before
    ranker.set_params(estimator=HistogramTreeRegressor()).fit(X, Y, qid=QID)
    assert len(ranker.estimators_) == 4


def test_another_estimator_between_default_trees():
    """The trees chosen by the first fit are used again."""
    ranker = fit(NDCGBoost(n_estimators=3, random_state=0, early_stopping=False), warm_start=True)
    ranker.set_params(estimator=StumpClassifier(), n_estimators=4).fit(X, Y, qid=QID)
    ranker.set_params(estimator=None, n_estimators=5).fit(X, Y, qid=QID)
    tree = ranker.estimators_[-1]
    assert isinstance(tree, HistogramTreeRegressor)
    assert tree.max_leaf_nodes == ranker.max_leaf_nodes_


def test_size_of_the_default_trees_is_defined_for_these_only():
    ranker = fit(NDCGBoost(n_estimators=2, random_state=0))
    assert hasattr(ranker, "max_leaf_nodes_")
    assert not hasattr(fit(ranker.set_params(estimator=StumpClassifier())), "max_leaf_nodes_")


def ndcg_by_order(y, scores, qid):
    """Return the NDCG whose gains are the numbers of lower grades."""
    lower = [len(set(y[y < grade])) for grade in y]
    return ndcg_score(lower, scores, qid=qid, gain="linear")


VALIDATION = {
    "ndcg": (NDCGBoost, {}, ndcg_score),
    "ndcg-k": (NDCGBoost, {"k": 2}, partial(ndcg_score, k=2)),
    "ndcg-linear": (NDCGBoost, {"gain": "linear"}, partial(ndcg_score, gain="linear")),
    "rank": (RankBoost, {}, ndcg_by_order),
    "ada": (AdaRank, {"k": 3}, partial(ndcg_score, k=3)),
    "ada-map": (AdaRank, {"metric": "map"}, average_precision_score),
}


@pytest.mark.parametrize(("algorithm", "parameters", "metric"), VALIDATION.values(), ids=VALIDATION)
def test_early_stopping_by_held_out_queries(algorithm, parameters, metric):
    """The validation score is the metric that is boosted."""
    seen = set()

    class Recorder(DecisionTreeClassifier):
        def fit(self, X, y, sample_weight=None):
            seen.update(X[:, 0])
            return super().fit(X, y, sample_weight)

    ranker = algorithm(
        Recorder(max_depth=2),
        50,
        n_iter_no_change=3,
        validation_fraction=0.2,
        tol=1e-3,
        random_state=0,
        **parameters,
    ).fit(X, GRADES, qid=QID)
    train = np.isin(X[:, 0], [*seen])
    held_out = ~np.isin(QID, QID[train])
    judged = [q for q in set(QID[held_out]) if GRADES[QID == q].any()]
    assert 0 < len(judged) <= 6
    history = [
        metric(GRADES[held_out], s[held_out], qid=QID[held_out]) for s in ranker.staged_predict(X)
    ]
    assert_allclose(ranker.validation_scores_, history)
    assert ranker.stop_reason_ == "the validation score has not improved for 3 rounds"

    def stops(n):
        return n > 3 and max(history[n - 3 : n]) <= max(history[: n - 3]) + 1e-3

    assert [stops(n) for n in range(1, len(history) + 1)] == [False] * (len(history) - 1) + [True]
    best = history.index(max(history)) + 1
    assert ranker.best_n_rounds_ == best < len(history)
    assert_array_equal(ranker.predict(X), [*ranker.staged_predict(X)][best - 1])


@pytest.mark.parametrize("estimator", [None, HistogramTreeRegressor(), StumpClassifier()])
def test_a_k_above_all_sizes_of_queries_changes_nothing(estimator):
    models = [
        NDCGBoost(estimator, 12, k=k, n_iter_no_change=9, random_state=0).fit(X, Y, qid=QID)
        for k in (None, 10**400, 2)
    ]
    assert_array_equal(models[0].predict(X), models[1].predict(X))
    assert_array_equal(models[0].validation_scores_, models[1].validation_scores_)
    assert models[0].score(X, Y, qid=QID) == models[1].score(X, Y, qid=QID)
    assert not np.array_equal(models[0].predict(X), models[2].predict(X))


def best_round(scores):
    return 1 + max(range(len(scores)), key=lambda i: (scores[i], -i))


@pytest.mark.parametrize("name", ["trees", "default", "stumps"])
def test_the_fitted_model_consists_of_the_best_rounds(name):
    """Of scores, importances and JSON, also after a warm start."""
    estimator = {"trees": HistogramTreeRegressor(), "stumps": StumpClassifier()}.get(name)
    X_val, y_val, qid_val = make_queries(1)
    validation = {"X_val": X_val, "y_val": y_val, "qid_val": qid_val}
    ranker = NDCGBoost(estimator, 20, n_iter_no_change=99, warm_start=True, random_state=0)
    ranker.fit(X, Y, qid=QID, **validation)
    for n_rounds in (20, 24):
        ranker.set_params(n_estimators=n_rounds).fit(X, Y, qid=QID, **validation)
        assert len(ranker.estimators_) == len(ranker.validation_scores_) == n_rounds
        best = best_round(ranker.validation_scores_)
        assert ranker.best_n_rounds_ == best < n_rounds
        short = NDCGBoost.from_json(ranker.export_json())
        assert len(short.estimators_) == best
        assert_allclose(ranker.predict(X), sum(model.predict(X) for model in short.estimators_))
        assert_allclose(ranker.feature_importances_, short.feature_importances_)


def test_validation_scores_of_a_warm_start_are_those_of_the_last_validation_set():
    first, second = make_queries(1), make_queries(2)
    ranker = NDCGBoost(StumpClassifier(), 3, warm_start=True, n_iter_no_change=9)

    def scores_on(X_val, y_val, qid_val):
        stages = ranker.staged_predict(X_val)
        return [ndcg_score(y_val, stage, qid=qid_val) for stage in stages]

    for n_rounds, data in (3, first), (5, second), (5, first):
        ranker.set_params(n_estimators=n_rounds)
        ranker.fit(X, Y, qid=QID, **dict(zip(("X_val", "y_val", "qid_val"), data)))
        assert_allclose(ranker.validation_scores_, scores_on(*data))
        assert ranker.best_n_rounds_ == best_round(scores_on(*data))
    ranker.set_params(n_estimators=6, n_iter_no_change=None).fit(X, Y, qid=QID)
    assert len(ranker.validation_scores_) == 0
    assert ranker.best_n_rounds_ == len(ranker.estimators_) == 6


@pytest.mark.parametrize("ranker", [NDCGBoost(gain="linear"), RankBoost(), AdaRank(metric="map")])
def test_grades_that_fit_accepts(ranker):
    """The exponential gain of these grades would overflow."""
    ranker = clone(ranker).set_params(n_iter_no_change=3)
    assert len(ranker.fit(X, 1000 * Y, qid=QID).validation_scores_) > 0
    # Y is the number of distinct lower grades.
    expected = ndcg_score(Y, ranker.predict(X), qid=QID, gain="linear")
    assert_allclose(ranker.score(X, 1000 * Y, qid=QID), expected)


@pytest.mark.parametrize("gain", ["exponential", "linear", np.sqrt])
def test_the_score_of_the_validation_set_is_its_validation_score(gain):
    X_val, grades, qid_val = make_queries(1)
    ranker = NDCGBoost(StumpClassifier(), 5, gain=gain, k=3)
    ranker.fit(X, Y, qid=QID, X_val=X_val, y_val=grades, qid_val=qid_val)
    score = ranker.score(X_val, grades, qid=qid_val)
    assert score == pytest.approx(ranker.validation_scores_[-1])


def gain_of_the_best(grades):
    return np.maximum(grades - 1, 0)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_score_without_relevant_documents(algorithm):
    ranker = fit(algorithm(n_estimators=2))
    irrelevant = np.where(QID < 15, 0, Y)
    weight = (QID < 15).astype(float)
    for arguments in ((np.zeros(len(Y)), QID), (irrelevant, QID, weight)):
        with pytest.raises(ValueError, match="^y has no relevant document.* include a query"):
            ranker.score(X, *arguments)
    assert 0 < ranker.score(X, irrelevant, QID, 1 - weight) <= 1


@pytest.mark.parametrize("estimator", [None, StumpClassifier()])
def test_validation_sets_without_gain(estimator, fingerprint):
    ranker = NDCGBoost(estimator, 3, gain=gain_of_the_best, random_state=0).fit(X, Y, qid=QID)
    before = fingerprint(ranker)
    few = np.where(QID == 0, Y, np.minimum(Y, 1))
    for y_val, part in ((np.minimum(Y, 1), "of X_val"), (None, "held out")):
        validation = {} if y_val is None else {"X_val": X, "y_val": y_val, "qid_val": QID}
        changed = clone(ranker).set_params(n_iter_no_change=2)
        name = "y" if y_val is None else "y_val"
        message = f"^{name} has no document of a gain above 0 .* {part}.*gain$"
        with pytest.raises(ValueError, match=message):
            changed.fit(X, few, qid=QID, **validation)
    with pytest.raises(ValueError, match="^y has no relevant document, one of a gain above 0"):
        ranker.score(X, np.minimum(Y, 1), QID)
    assert fingerprint(ranker) == before


@pytest.mark.parametrize(
    ("parameters", "more"),
    [
        ({}, {"n_iter_no_change": 3}),
        ({"n_iter_no_change": 3}, {"validation_fraction": 0.2}),
    ],
)
def test_warm_start_holds_out_no_query_of_earlier_rounds(parameters, more, fingerprint):
    ranker = fit(NDCGBoost(StumpClassifier(), n_estimators=2, warm_start=True, **parameters))
    before = fingerprint(ranker.set_params(n_estimators=4, **more))
    with pytest.raises(ValueError, match="the fraction held out cannot grow, it was 0"):
        ranker.fit(X, Y, qid=QID)
    assert fingerprint(ranker) == before
    assert len(ranker.set_params(n_iter_no_change=None).fit(X, Y, qid=QID).estimators_) == 4
    # The last fit used all queries.
    with pytest.raises(ValueError, match="cannot grow"):
        ranker.set_params(n_estimators=6, n_iter_no_change=3).fit(X, Y, qid=QID)


@pytest.mark.parametrize("algorithm", [NDCGBoost, RankBoost, AdaRank])
def test_warm_start_with_a_validation_set_holds_out_no_query(algorithm, fingerprint):
    """All queries of X are used for training if X_val is given."""
    validation = dict(zip(("X_val", "y_val", "qid_val"), make_queries(1)))
    ranker = algorithm(StumpClassifier(), 2, warm_start=True, weighting="auto", random_state=0)
    y = (Y > 0).astype(int)
    ranker.fit(X, y, qid=QID)
    ranker.set_params(n_estimators=4, n_iter_no_change=3).fit(X, y, qid=QID, **validation)
    assert len(ranker.estimators_) == len(ranker.validation_scores_) == 4
    before = fingerprint(ranker.set_params(n_estimators=6))
    with pytest.raises(ValueError, match="the fraction held out cannot grow, it was 0"):
        ranker.fit(X, y, qid=QID)
    assert fingerprint(ranker) == before


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_warm_start_without_new_rounds_leaves_the_held_out_queries_held_out(algorithm):
    validation = dict(zip(("X_val", "y_val", "qid_val"), make_queries(1)))
    parameters = {"n_iter_no_change": 9, "warm_start": True, "random_state": 0}
    at_once = fit(algorithm(n_estimators=3, **parameters))
    ranker = fit(algorithm(n_estimators=2, **parameters))
    ranker.fit(X, Y, qid=QID, **validation)
    assert len(ranker.estimators_) == 2
    ranker.set_params(n_estimators=3).fit(X, Y, qid=QID)
    assert_array_equal(ranker.validation_scores_, at_once.validation_scores_)
    # After a round that is fitted to all queries, none can be held out.
    ranker.set_params(n_estimators=4).fit(X, Y, qid=QID, **validation)
    assert len(ranker.estimators_) == 4
    with pytest.raises(ValueError, match="the fraction held out cannot grow, it was 0"):
        ranker.set_params(n_estimators=5).fit(X, Y, qid=QID)


@pytest.mark.parametrize("estimator", [None, StumpClassifier()])
def test_early_stopping_may_be_set_or_left_to_other_parameters(estimator):
    X, y, qid = make_many_queries(0, nonlinear=False)

    def fitted(n_estimators=60, **parameters):
        ranker = NDCGBoost(estimator, n_estimators, random_state=0, **parameters)
        return ranker.fit(X, np.random.RandomState(0).permutation(y), qid)

    on, ten = fitted(early_stopping=True), fitted(n_iter_no_change=10)
    assert on.stop_reason_ == "the validation score has not improved for 10 rounds"
    assert_array_equal(on.predict(X), ten.predict(X))
    three = fitted(early_stopping=True, n_iter_no_change=3)
    assert_array_equal(three.predict(X), fitted(n_iter_no_change=3).predict(X))
    for off in (
        fitted(12, early_stopping=False),
        fitted(12, early_stopping=False, n_iter_no_change=3),
    ):
        assert len(off.estimators_) == off.best_n_rounds_ == 12
        assert len(off.validation_scores_) == 0
        assert off.stop_reason_ == "n_estimators rounds were fitted"


def test_default_trees_are_not_chosen_by_the_queries_of_early_stopping(monkeypatch):
    """All folds by which they are chosen consist of the other queries."""
    X, y, qid = make_many_queries(0)
    seen = []

    def spy(trees, folds, *arguments):
        seen.extend([part.codes.shape[1] for part in fold.bins] for fold in folds)
        return choose_trees(trees, folds, *arguments)

    monkeypatch.setattr(_tree_choice, "choose_trees", spy)
    NDCGBoost(n_estimators=9, n_iter_no_change=5, validation_fraction=0.25).fit(X, y, qid)
    assert len(seen) == 5
    assert [sum(sizes) for sizes in seen] == [45 * 12] * 5


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_early_stopping_needs_several_queries(algorithm):
    off = "early_stopping=False" if algorithm is NDCGBoost else "n_iter_no_change=None"
    with pytest.raises(ValueError, match=f"qid has one query only; use {off}"):
        algorithm(n_iter_no_change=2).fit(X, Y)
    # Only one query has different grades.
    grades = np.where(QID == 3, Y, 0)
    with pytest.raises(ValueError, match="no query with documents of different relevance in the"):
        algorithm(n_iter_no_change=2).fit(X, grades, qid=QID)


@pytest.mark.parametrize("name", ["ndcg", "rank-tree", "ada", "ada-tree", "rank-drawn"])
def test_importances(name):
    importances = fit((CONFIGURATIONS | DRAWN)[name]).feature_importances_
    assert_allclose(importances.sum(), 1)
    assert importances.argmax() == 0


def test_importances_of_adarank_are_shares_of_the_coefficients():
    """Each feature is selected in one direction only, so that the scores are linear."""
    ranker = fit(AdaRank())
    assert len({weak.factor for weak in ranker.estimators_}) > 1
    coefficients = np.abs(ranker.predict(np.eye(4)))
    assert_allclose(ranker.feature_importances_, coefficients / coefficients.sum())


def test_no_importances_if_weak_learners_have_none():
    assert not hasattr(fit(DRAWN["ndcg-drawn"]), "feature_importances_")
    assert not hasattr(NDCGBoost(), "feature_importances_")


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("container", [sparse.csr_matrix, sparse.csc_array])
def test_sparse_matrices_if_the_weak_learner_accepts_them(algorithm, container):
    ranker = algorithm(DecisionTreeClassifier(max_depth=2), 5, random_state=0)
    expected = clone(ranker).fit(X, Y, qid=QID).predict(X)
    fitted = clone(ranker).fit(container(X), Y, qid=QID)
    assert_allclose(fitted.predict(container(X)), expected)
    with pytest.raises(TypeError, match="[Ss]parse"):
        algorithm().fit(container(X), Y, qid=QID)


def test_fitted_ranker_accepts_the_input_that_it_was_fitted_to():
    """Parameters set after `fit` apply to the next `fit`."""
    ranker = RankBoost(TREE, 8, random_state=0).fit(sparse.csr_array(X), Y, qid=QID)
    expected = ranker.predict(sparse.csr_array(X))
    ranker.set_params(estimator=None)
    assert_array_equal(ranker.predict(sparse.csr_array(X)), expected)
    with pytest.raises(TypeError, match="[Ss]parse"):
        ranker.fit(sparse.csr_array(X), Y, qid=QID)
    assert_array_equal(ranker.predict(sparse.csr_array(X)), expected)


def test_sparse_matrices_with_indices_of_64_bits(wide_csr):
    ranker = NDCGBoost(DecisionTreeClassifier(max_depth=2, random_state=0), 5)
    expected = clone(ranker).fit(X, Y, qid=QID).predict(X)
    assert_allclose(ranker.fit(wide_csr(X), Y, qid=QID).predict(wide_csr(X)), expected)


def test_data_frames():
    frame = pd.DataFrame(X, columns=list("abcd"))
    ranker = NDCGBoost(n_estimators=5, random_state=0).fit(frame, pd.Series(Y), qid=pd.Series(QID))
    assert_array_equal(ranker.feature_names_in_, list("abcd"))
    assert_array_equal(ranker.predict(frame), fit(ranker).predict(X))
    with pytest.raises(ValueError, match="feature names"):
        ranker.predict(frame[["b", "a", "c", "d"]])


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_single_precision(algorithm):
    """Scores do not depend on the precision of X, whatever the precision in `fit`."""
    single = X.astype(np.float32)
    double = fit(algorithm())
    assert_allclose(double.predict(single), double.predict(single.astype(float)), rtol=1e-6)
    fitted = algorithm().fit(single, Y, qid=QID)
    assert_allclose(fitted.predict(single), fitted.predict(single.astype(float)), rtol=1e-6)
    # Rounding moves 0.1 above the threshold, and would round the threshold to the same number.
    close = algorithm(n_estimators=1).fit([[0.1], [np.float32(0.1)]], [0, 1])
    assert np.diff(close.predict(np.array([[0.0], [0.1]], dtype=np.float32))) > 0


@pytest.mark.parametrize(("verbose", "n_lines"), [(0, 0), (1, 11), (2, 13)])
def test_verbose(verbose, n_lines, capsys):
    fit(NDCGBoost(StumpClassifier(), n_estimators=12, verbose=verbose))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == n_lines
    if verbose:
        assert lines[0].startswith("[NDCGBoost] round 1 of 12: objective ")
        assert lines[-1] == "[NDCGBoost] 12 rounds: n_estimators rounds were fitted"


# -- Boosted trees, the default of NDCGBoost.


def make_many_queries(seed, n_queries=60, size=12, nonlinear=True):
    """Return documents of which few features matter, for one of them only in an interaction."""
    random = np.random.RandomState(seed)
    X = random.normal(size=(n_queries * size, 5))
    quality = np.maximum(X[:, 0], X[:, 1]) * np.sign(X[:, 2]) if nonlinear else X[:, 0]
    y = np.digitize(quality + 0.3 * random.normal(size=len(X)), [0.5, 1.5])
    return X, y, np.repeat(np.arange(n_queries), size)


def test_size_of_trees_and_number_of_rounds_are_chosen():
    train, test = make_many_queries(0), make_many_queries(1)
    stumps = NDCGBoost(StumpClassifier()).fit(*train).score(*test)
    trees = NDCGBoost(random_state=0).fit(*train)
    assert trees.max_leaf_nodes_ > 2
    assert trees.score(*test) > stumps + 0.05
    X, y, qid = train
    noise = NDCGBoost(random_state=0).fit(X, np.random.RandomState(0).permutation(y), qid)
    assert len(noise.estimators_) < 30 < len(trees.estimators_)
    assert noise.stop_reason_ == "held-out queries chose this number of rounds"
    cut = NDCGBoost(n_estimators=20, random_state=0).fit(*train)
    assert len(cut.estimators_) == 20
    assert cut.stop_reason_.endswith("objective of held-out queries: raise n_estimators")


def test_few_queries_are_not_held_out():
    four = np.isin(QID, QID[:4])
    assert len(np.unique(QID[:4])) == 4
    ranker = NDCGBoost(n_estimators=9).fit(X[four], Y[four], QID[four])
    assert ranker.max_leaf_nodes_ == 8
    assert len(ranker.estimators_) == 9
    assert all(isinstance(tree, HistogramTreeRegressor) for tree in ranker.estimators_)


def test_boosting_starts_from_linear_scores_if_they_help():
    """Many features of equal weight; or relevance in the middle of the range of a feature."""
    random = np.random.RandomState(0)
    qid = np.repeat(np.arange(40), 12)
    X = random.normal(size=(len(qid), 20))
    linear = NDCGBoost(random_state=0).fit(X, np.digitize(X.sum(axis=1), [4, 8]), qid)
    assert isinstance(linear.estimators_[0], LinearScorer)
    assert_array_equal(linear.estimator_weights_[0], 1)
    assert_allclose(next(linear.staged_predict(X)), linear.estimators_[0].predict(X))
    assert linear.feature_importances_.min() > 0.02
    middle = NDCGBoost(random_state=0).fit(X, np.abs(X[:, 0]) < 0.3, qid)
    assert not any(isinstance(weak, LinearScorer) for weak in middle.estimators_)


@pytest.mark.parametrize("name", ["logistic", "expected-ndcg"])
@pytest.mark.parametrize("learning_rate", ["auto", 0.1, 2.0])
def test_the_default_never_raises_the_objective(name, learning_rate):
    ranker = NDCGBoost(objective=name, learning_rate=learning_rate, random_state=0)
    losses = ranker.fit(*make_many_queries(0, nonlinear=False)).loss_curve_
    assert len(losses) == len(ranker.estimators_) + 1
    assert (losses[1:] <= losses[:-1] * (1 + 1e-12)).all()


def test_validation_set():
    X, y, qid = make_many_queries(0)
    X_val, y_val, qid_val = make_many_queries(1)
    validation = {"X_val": X_val, "y_val": y_val, "qid_val": qid_val}
    for ranker in NDCGBoost(n_estimators=12), RankBoost(n_estimators=12):
        ranker.fit(X, y, qid, **validation)
        if isinstance(ranker, NDCGBoost):
            expected = [
                ndcg_score(y_val, scores, qid=qid_val) for scores in ranker.staged_predict(X_val)
            ]
            assert_allclose(ranker.validation_scores_, expected)
        assert len(ranker.validation_scores_) == len(ranker.estimators_)
    stopped = NDCGBoost(StumpClassifier(), 400, n_iter_no_change=3).fit(X, y, qid, **validation)
    assert "has not improved for 3 rounds" in stopped.stop_reason_


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"y_val": None}, "X_val and y_val must be passed together"),
        ({"qid_val": None}, "qid_val is None"),
        ({"y_val": [1.0]}, "y_val must have a value for each of the 720 rows of X_val"),
        ({"qid_val": [1, 2]}, r"^qid_val must be of shape \(720,\), got \(2,\)"),
        (
            {"y_val": np.zeros(720)},
            "^y_val has no query .* in the samples of X_val.*check y_val, and qid_val,",
        ),
        ({"X_val": np.zeros((720, 2))}, "X has 2 features"),
    ],
)
def test_bad_validation_sets(changes, message, fingerprint):
    X, y, qid = make_many_queries(0)
    ranker = NDCGBoost(n_estimators=3, random_state=0).fit(X, y, qid)
    before = fingerprint(ranker)
    validation = {"X_val": X, "y_val": y, "qid_val": qid} | changes
    with pytest.raises(ValueError, match=message):
        ranker.fit(X, y, qid, **validation)
    assert fingerprint(ranker) == before


def test_missing_values():
    """Missing values that are informative, and a feature without values."""
    train, test = make_many_queries(0, nonlinear=False), make_many_queries(1, nonlinear=False)
    for X, _, _ in train, test:
        X[X[:, 0] > 1, 0] = np.nan
        X[:, 4] = np.nan
    ranker = NDCGBoost(random_state=0).fit(*train)
    assert ranker.score(*test) > 0.95
    assert ranker.feature_importances_[4] == 0
    assert ranker.feature_importances_[0] > 0.8
    X, _, _ = test
    assert ranker.predict(X)[np.isnan(X[:, 0])].min() > 0


def test_threads_do_not_change_the_ranker(monkeypatch):
    data = make_many_queries(0)
    one = NDCGBoost(n_estimators=9, random_state=0).fit(*data)
    monkeypatch.setattr(_histogram_tree, "LEAST_VALUES_FOR_THREADS", 0)
    two = NDCGBoost(n_estimators=9, random_state=0, n_jobs=2).fit(*data)
    assert_array_equal(two.predict(data[0]), one.predict(data[0]))


def test_missing_values_of_the_validation_set_only():
    X_val, y_val, qid_val = make_many_queries(1)
    missing = np.where(np.abs(X_val) > 2, np.nan, X_val)
    ranker = NDCGBoost(n_estimators=9, random_state=0)
    ranker.fit(*make_many_queries(0), X_val=missing, y_val=y_val, qid_val=qid_val)
    assert_allclose(ranker.validation_scores_[-1], ranker.score(missing, y_val, qid_val))


def test_queries_without_relevant_documents_do_not_matter():
    X, y, qid = make_many_queries(0)
    empty = np.isin(qid, [3, 59])
    kept = NDCGBoost(n_estimators=5).fit(X, np.where(empty, 0, y), qid, **as_validation(1))
    alone = NDCGBoost(n_estimators=5).fit(X[~empty], y[~empty], qid[~empty], **as_validation(1))
    assert_allclose(kept.loss_curve_[0], alone.loss_curve_[0])
    assert kept.score(X, np.where(empty, 0, y), qid) > 0.7


def as_validation(seed):
    return dict(zip(["X_val", "y_val", "qid_val"], make_many_queries(seed)))


def test_the_choice_uses_a_part_of_many_documents(monkeypatch):
    """If the drawn queries show nothing, all rounds are fitted."""
    X, y, qid = make_many_queries(0, n_queries=300)
    monkeypatch.setattr(_tree_choice, "CHOICE_SAMPLES", 600)
    ranker = NDCGBoost(random_state=0).fit(X, y, qid)
    assert ranker.max_leaf_nodes_ > 2
    few = np.where(qid < 5, y, 0)
    ranker.set_params(n_estimators=7).fit(X, few, qid)
    assert 1 <= len(ranker.estimators_) <= 7
    monkeypatch.setattr(_tree_choice, "CHOICE_SAMPLES", 1)
    assert len(ranker.fit(X, few, qid).estimators_) == 7


def test_one_query():
    """Nothing can be held out."""
    X, y, _ = make_many_queries(0, n_queries=20)
    ranker = NDCGBoost(n_estimators=20).fit(X, y, np.zeros(len(y)))
    assert len(ranker.estimators_) == 20
    assert ranker.score(X, y, np.zeros(len(y))) > 0.9
    with pytest.raises(ValueError, match="no query with documents of different relevance"):
        NDCGBoost().fit(X, np.ones(len(y)), np.zeros(len(y)))


def test_queries_of_one_document():
    X, y, qid = make_many_queries(0)
    qid[60:] = np.arange(1000, 1000 + len(qid) - 60)
    ranker = NDCGBoost(random_state=0).fit(X, y, qid)
    assert np.isfinite(ranker.predict(X)).all()
    assert ndcg_score(y, ranker.predict(X), qid=qid, k=1000) == ranker.score(X, y, qid)


def test_trees_of_other_rankers_are_refused():
    with pytest.raises(ValueError, match="estimator must be a classifier"):
        RankBoost(HistogramTreeRegressor()).fit(X, Y, QID)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_trees_whose_features_are_binned_once(algorithm):
    """They rank as well as scikit-learn's trees, and accept missing values."""
    parameters = {"n_estimators": 15, "weighting": "auto", "random_state": 0}
    tree = HistogramTreeClassifier(max_leaf_nodes=4, min_samples_leaf=5)
    peer = DecisionTreeClassifier(max_leaf_nodes=4, min_samples_leaf=5)
    X_new, y_new, qid_new = make_queries(1)
    ours, others = (fit(algorithm(one, **parameters)) for one in (tree, peer))
    assert ours.score(X_new, y_new, qid_new) > others.score(X_new, y_new, qid_new) - 0.02
    missing = np.where(np.abs(X) > 2, np.nan, X)
    fitted = algorithm(tree, **parameters).fit(missing, Y, QID)
    assert np.isfinite(fitted.predict(missing)).all()
    with pytest.raises(ValueError, match="NaN"):
        algorithm(StumpClassifier(), **parameters).fit(missing, Y > 0, QID)


# -- Nothing to gain, and errors.


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_constant_features(algorithm):
    ranker = algorithm().fit(np.ones_like(X), Y, qid=QID)
    assert ranker.estimators_ == []
    assert_array_equal(ranker.predict(X), np.zeros(len(X)))
    assert not ranker.feature_importances_.any()


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("learning_rate", [1.0, 2.0])
def test_separable_data(algorithm, learning_rate):
    """The rounds end, or continue without overflow."""
    grades = np.digitize(X[:, 2], [-1, 0, 1])
    ranker = algorithm(n_estimators=200, learning_rate=learning_rate).fit(X, grades, qid=QID)
    assert_allclose(ranker.score(X, grades, qid=QID), 1.0)
    assert np.isfinite(ranker.predict(X)).all()
    assert (ranker.loss_curve_[1:] <= ranker.loss_curve_[:-1] * (1 + 1e-12)).all()


def replaced(values, value):
    values = np.array(values, dtype=float)
    values[3] = value
    return values


BAD_INPUT = [
    ((replaced(X, np.nan), Y, QID), "X contains NaN"),
    ((replaced(X, np.inf), Y, QID), "X contains infinity"),
    ((X, replaced(Y, np.nan), QID), "y contains NaN"),
    ((X, replaced(Y, np.inf), QID), "y contains infinity"),
    ((X, replaced(Y, -1), QID), "0 or more; got -1"),
    ((X, Y + 1j, QID), "type complex128"),
    ((X, Y.astype("M8[D]"), QID), "type datetime64"),
    ((X, Y.astype("M8[D]").astype(object), QID), "got dates"),
    ((X, pd.Series(Y.astype("M8[s]")).dt.tz_localize("UTC"), QID), "got dates"),
    ((X, np.array(["a", "b", "c"])[Y], QID), "y must be relevance, numbers"),
    ((X, np.ones(len(X)), QID), "no query with documents of different relevance"),
    ((X, Y, np.arange(len(X))), "no query with documents of different relevance"),
    ((X, Y[:-1], QID), "y must have a value for each of the 240 rows"),
    ((X, Y, QID[:-1]), "qid must be of shape"),
    ((X, Y, QID[:, np.newaxis]), "qid must be of shape"),
    ((X, Y, [None, *QID[1:]]), "qid must hold ids of one kind"),
    ((X, Y, replaced(QID, np.nan)), "qid must be known for every sample"),
    ((X, np.column_stack([Y, Y]), QID), "1d array"),
    ((X, None, QID), "y is None"),
    ((X[:, 0], Y, QID), "2D array"),
]


@pytest.mark.parametrize("algorithm", [*ALGORITHMS, partial(NDCGBoost, StumpClassifier())])
@pytest.mark.parametrize("warm_start", [False, True])
def test_bad_input_leaves_the_model_as_it_was(algorithm, warm_start, fingerprint):
    ranker = fit(algorithm(n_estimators=4, random_state=0), warm_start=warm_start)
    before = fingerprint(ranker.set_params(n_estimators=6))
    allows_nan = get_tags(ranker).input_tags.allow_nan
    for arguments, message in BAD_INPUT[1:] if allows_nan else BAD_INPUT:
        with pytest.raises(ValueError, match=message):
            ranker.fit(*arguments)
        assert fingerprint(ranker) == before
    if warm_start:
        with pytest.raises(ValueError, match="X has 3 features"):
            ranker.fit(X[:, :3], Y, QID)
        assert fingerprint(ranker) == before


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("warm_start", [False, True])
def test_failing_weak_learner_leaves_the_model_as_it_was(algorithm, warm_start, fingerprint):
    class Failing(DecisionTreeClassifier):
        fits_left = 6

        def fit(self, X, y, sample_weight=None):
            Failing.fits_left -= 1
            if Failing.fits_left < 0:
                raise RuntimeError("out of luck")
            return super().fit(X, y, sample_weight)

    ranker = algorithm(
        Failing(max_depth=1), 4, warm_start=warm_start, random_state=0, weighting="resampling"
    ).fit(X, Y, qid=QID)
    before = fingerprint(ranker.set_params(n_estimators=8))
    with pytest.raises(RuntimeError, match="out of luck"):
        ranker.fit(X, Y, qid=QID)
    assert fingerprint(ranker) == before


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"estimator": Ridge()}, ValueError, "must be a classifier, got Ridge"),
        ({"estimator": NDCGBoost()}, ValueError, "must be a classifier, got NDCGBoost"),
        ({"estimator": "tree"}, ValueError, "'estimator' parameter"),
        (
            {"estimator": KNeighborsClassifier(), "weighting": "sample_weight"},
            ValueError,
            "takes no sample_weight",
        ),
        ({"learning_rate": 0}, ValueError, "learning_rate"),
        ({"learning_rate": 2.1}, ValueError, "learning_rate"),
        ({"n_estimators": 0}, ValueError, "n_estimators"),
        ({"max_samples": 1.5}, ValueError, "max_samples"),
        ({"validation_fraction": 1.0}, ValueError, "validation_fraction"),
        ({"n_iter_no_change": 0}, ValueError, "n_iter_no_change"),
    ],
)
def test_bad_parameters(algorithm, parameters, error, message):
    with pytest.raises(error, match=message):
        algorithm(**parameters).fit(X, Y, qid=QID)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_refuses_an_estimator_class(algorithm):
    pytest.importorskip("sklearn", "1.8", reason="its message is another")
    with pytest.raises(TypeError, match="got estimator class instead"):
        algorithm(DecisionTreeClassifier).fit(X, Y, qid=QID)


@pytest.mark.parametrize(
    ("ranker", "message"),
    [
        (NDCGBoost(gain="square"), "'gain' parameter"),
        (NDCGBoost(gain=np.negative), "gain must be from 0"),
        (NDCGBoost(StumpClassifier(max_bins=1)), "'max_bins' parameter"),
        (AdaRank(metric="mrr"), "'metric' parameter"),
        (AdaRank(k=0), "'k' parameter"),
        (NDCGBoost(k=0), "'k' parameter"),
        (AdaRank(StumpClassifier()), "must distinguish 3 classes, got StumpClassifier"),
    ],
)
def test_bad_parameters_of_one_algorithm(ranker, message):
    with pytest.raises(ValueError, match=message):
        ranker.fit(X, Y, qid=QID)


def test_adarank_and_grades_without_gain():
    """2^y - 1 is rounded to 0: NDCG leaves such queries out, average precision does not."""
    ranker = fit(AdaRank())
    grades = np.where(QID < 15, Y, 1e-17 * Y)
    half = ranker.fit(X, grades, qid=QID).loss_curve_
    assert_array_equal(half, ranker.fit(X, np.where(QID < 15, Y, 0), qid=QID).loss_curve_)
    with pytest.raises(ValueError, match="no document whose gain differs from 0.* 2e-17"):
        AdaRank().fit(X, 1e-17 * Y, qid=QID)
    assert np.isfinite(AdaRank(metric="map").fit(X, 1e-17 * Y, qid=QID).loss_curve_).all()


def test_adarank_draws_again_until_the_classifier_must_beat_chance():
    """A single sample has one class, and a constant prediction ranks nothing."""
    ranker = fit(AdaRank(TREE, 3, max_samples=1))
    reason = "none of 10 weak learners, each fitted to newly drawn samples, was better than chance"
    assert ranker.stop_reason_ == reason
    few = fit(AdaRank(TREE, 20, max_samples=2, random_state=0))
    assert all(len(np.unique(weak.predict(X))) > 1 for weak in few.estimators_)
    assert len(few.estimators_) == 20


def test_adarank_accepts_stumps_for_two_grades():
    ranker = AdaRank(StumpClassifier(), 3, weighting="auto").fit(X, 3 * (Y > 0), qid=QID)
    tree = clone(ranker).set_params(estimator=DecisionTreeClassifier(max_depth=1), random_state=0)
    assert_allclose(tree.fit(X, 3 * (Y > 0), qid=QID).estimator_weights_, ranker.estimator_weights_)


def test_subclasses_of_stumps_are_not_compiled():
    class OppositeFit(StumpClassifier):
        def fit(self, X, y, sample_weight=None):
            return super().fit(X, 1 - y, sample_weight)

    class OppositePredict(StumpClassifier):
        def predict(self, X):
            return 1 - super().predict(X)

    for stump in (OppositeFit(), OppositePredict()):
        assert fit(NDCGBoost(stump, 3)).stop_reason_.endswith("no better than chance")


def test_adarank_is_scored_at_its_k():
    ranker = fit(AdaRank(k=2))
    assert ranker.score(X, Y, qid=QID) == ndcg_score(Y, ranker.predict(X), qid=QID, k=2)
    assert ranker.score(X, Y, qid=QID) != ndcg_score(Y, ranker.predict(X), qid=QID)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((X,), "missing a required argument: 'y'"),
        ((X, Y, QID, X), "too many positional arguments"),
    ],
)
def test_errors_of_arguments_name_the_class(algorithm, arguments, message):
    with pytest.raises(TypeError, match=rf"^{algorithm.__name__}\.fit\(\) {message}"):
        algorithm().fit(*arguments)
    with pytest.raises(TypeError, match=f"^{algorithm.__name__}.* unexpected keyword.* 'group'"):
        algorithm().fit(X, Y, group=QID)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_score_without_qid(algorithm):
    with pytest.raises(ValueError, match="fitted with queries.*enable_metadata_routing=True"):
        fit(algorithm(n_estimators=2)).score(X, Y)


# -- With scikit-learn's tools.


def test_a_search_over_a_pipeline(routing):
    search = GridSearchCV(
        make_pipeline(StandardScaler(), NDCGBoost(DecisionTreeClassifier(random_state=0), 5)),
        {"ndcgboost__learning_rate": [0.3, 1.0], "ndcgboost__estimator__max_depth": [1, 2]},
        scoring=clone(ndcg_scorer).set_params(k=10),
        cv=QueryKFold(3),
        error_score="raise",
    ).fit(X, Y, qid=QID)
    for n, (train, test) in enumerate(QueryKFold(3).split(X, Y, QID)):
        for parameters, found in zip(
            search.cv_results_["params"], search.cv_results_[f"split{n}_test_score"]
        ):
            pipeline = clone(search.estimator).set_params(**parameters)
            scores = pipeline.fit(X[train], Y[train], qid=QID[train]).predict(X[test])
            assert_allclose(found, ndcg_score(Y[test], scores, qid=QID[test], k=10))
    assert_allclose(search.score(X, Y, qid=QID), ndcg_score(Y, search.predict(X), qid=QID, k=10))


def test_a_search_with_a_validation_set(routing):
    validation = dict(zip(("X_val", "y_val", "qid_val"), make_queries(1, n=200)))
    ranker = NDCGBoost(StumpClassifier())
    search = GridSearchCV(ranker, {"n_estimators": [2, 3]}, cv=QueryKFold(2))
    with pytest.raises(UnsetMetadataPassedError, match="X_val"):
        search.fit(X, Y, qid=QID, **validation)
    ranker.set_fit_request(X_val=True, y_val=True, qid_val=True)
    best = search.fit(X, Y, qid=QID, **validation).best_estimator_
    alone = clone(best).fit(X, Y, qid=QID, **validation)
    assert_array_equal(best.validation_scores_, alone.validation_scores_)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_nested_validation(routing, algorithm):
    pytest.importorskip("sklearn", "1.8", reason="its searches leave the ids of pipelines out")
    search = GridSearchCV(algorithm(random_state=0), {"n_estimators": [1, 4]}, cv=QueryKFold(2))
    scores = cross_validate(
        search, X, Y, cv=QueryKFold(3), params={"qid": QID}, error_score="raise"
    )["test_score"]
    for score, (train, test) in zip(scores, QueryKFold(3).split(X, Y, QID)):
        alone = clone(search).fit(X[train], Y[train], qid=QID[train])
        assert_allclose(score, ndcg_score(Y[test], alone.predict(X[test]), qid=QID[test]))


def test_a_search_without_routing_says_how():
    search = GridSearchCV(NDCGBoost(), {"n_estimators": [2]}, cv=3, error_score="raise")
    with pytest.raises(ValueError, match="enable_metadata_routing=True"):
        search.fit(X, Y, qid=QID)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_permutation_importance(algorithm):
    ranker = fit(algorithm(n_estimators=10))
    means = query_permutation_importance(
        ranker, X, Y, qid=QID, n_repeats=3, random_state=0
    ).importances_mean
    assert means.argsort()[::-1][:2].tolist() == [0, 1]


# -- On real data.


def test_mq2008(letor_data):
    """The first fold, mean of three seeds; see examples/paper_ndcg_boost.py for all folds."""
    X_train, *train = letor_data(1, 2, 3)
    X_test, grades, qid = letor_data(5)
    scores = []
    for seed in range(3):
        ranker = NDCGBoost(random_state=seed).fit(X_train, *train)
        scores.append(ndcg_score(grades, ranker.predict(X_test), qid=qid, k=10))
    assert np.mean(scores) >= 0.715
