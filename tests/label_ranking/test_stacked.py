"""StackedRanker: against slow statements, and as a user meets it."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import nnls
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from sklrank.label_ranking import LabelwiseRanker, PairwiseRanker, StackedRanker
from sklrank.metrics import kendall_tau_score

RANDOM = np.random.RandomState(0)
X = RANDOM.normal(size=(120, 4))
UTILITY = X @ RANDOM.normal(size=(4, 5)) + 0.3 * RANDOM.normal(size=(120, 5))
Y = np.argsort(np.argsort(-UTILITY, axis=1), axis=1) + 1
INCOMPLETE = np.where(RANDOM.uniform(size=Y.shape) < 0.3, np.nan, Y)
LINEAR = LabelwiseRanker(Ridge(), incomplete="relative")
TREE = LabelwiseRanker(DecisionTreeRegressor(max_depth=4, random_state=0), incomplete="relative")
LOGISTIC = PairwiseRanker(LogisticRegression(), voting="soft")
SAME_FOR_ALL = LabelwiseRanker(DummyRegressor())


def stacked(**rankers):
    return StackedRanker([*rankers.items()], cv=3)


@pytest.fixture(scope="module")
def recommended():
    return StackedRanker(random_state=0).fit(X, Y)


# -- Against slow statements.


def centred(values):
    return (values - values.mean(axis=1, keepdims=True)).ravel()


def test_weights_are_those_of_non_negative_least_squares_on_rows_held_out():
    rankers = [TREE, LOGISTIC]
    held_out = np.zeros((2, *Y.shape))
    for scores, ranker in zip(held_out, rankers):
        for train, test in KFold(3).split(X):
            scores[test] = clone(ranker).fit(X[train], Y[train]).decision_function(X[test])
    expected, _ = nnls(np.column_stack([*map(centred, held_out)]), -centred(Y / 6))
    ranker = stacked(tree=TREE, logistic=LOGISTIC).fit(X, Y)
    assert_allclose([*ranker.weights_.values()], expected)
    of_all_rows = [clone(ranker).fit(X, Y).decision_function(X) for ranker in rankers]
    assert_allclose(ranker.decision_function(X), np.tensordot(expected, of_all_rows, axes=1))
    sizes = [np.sqrt(np.mean(centred(scores) ** 2)) for scores in held_out]
    shares = expected * sizes / np.dot(expected, sizes)
    assert_allclose([*ranker.shares_.values()], shares)


def test_a_label_that_a_fold_does_not_rank_is_left_out_of_the_weighing_there():
    few = np.where((np.arange(120) >= 40)[:, np.newaxis] & (np.arange(5) == 2), np.nan, Y)
    rankers = [TREE, LOGISTIC]
    scores, targets = ([], []), []
    for train, test in KFold(3).split(X):
        labels = [l for l in range(5) if not np.isnan(few[train, l]).all()]
        assert len(labels) == (4 if 0 in test else 5)
        for of_ranker, ranker in zip(scores, rankers):
            fitted = clone(ranker).fit(X[train], few[train][:, labels])
            of_ranker.append(fitted.decision_function(X[test]))
        for i in test:
            ranked = [few[i, l] for l in labels if not np.isnan(few[i, l])]
            place = [sum(other <= few[i, l] for other in ranked) for l in labels]
            targets.append([p / (len(ranked) + 1) if p else np.nan for p in place])

    def explained(rows):
        known = [np.array(row)[~np.isnan(target)] for row, target in zip(rows, targets)]
        return np.concatenate([row - row.mean() for row in known])

    columns = [explained([row for fold in of_ranker for row in fold]) for of_ranker in scores]
    expected, _ = nnls(np.column_stack(columns), -explained(targets))
    ranker = stacked(tree=TREE, logistic=LOGISTIC).fit(X, few)
    assert_allclose([*ranker.weights_.values()], expected)


def test_a_single_ranker_is_left_as_it_is():
    ranker = stacked(tree=TREE).fit(X, Y)
    assert_array_equal(ranker.predict(X), clone(TREE).fit(X, Y).predict(X))
    assert ranker.shares_ == {"tree": 1.0}


def test_only_the_order_of_the_positions_counts():
    ranker = stacked(tree=TREE, logistic=LOGISTIC)
    expected = ranker.fit(X, Y).decision_function(X)
    assert_allclose(clone(ranker).fit(X, np.exp(Y) - 7).decision_function(X), expected)


def test_what_does_not_help_is_dropped():
    ranker = stacked(linear=LINEAR, none=SAME_FOR_ALL).fit(X, Y)
    assert ranker.shares_["linear"] > 0.9
    twice = stacked(one=LINEAR, two=clone(LINEAR)).fit(X, Y)
    assert_allclose(sum(twice.shares_.values()), 1.0)
    assert len(twice.estimators_) == sum(weight > 0 for weight in twice.weights_.values())
    assert_array_equal(twice.predict(X), clone(LINEAR).fit(X, Y).predict(X))


def test_where_nothing_helps_all_have_their_share():
    nothing = np.tile([1, 1, 1], (120, 1))
    ranker = stacked(linear=LINEAR, none=SAME_FOR_ALL).fit(X, nothing)
    assert ranker.shares_ == {"linear": 0.5, "none": 0.5}
    assert_array_equal(ranker.predict(X[:2]), [[1, 2, 3], [1, 2, 3]])


# -- As a user meets it.


def test_recommended_finds_what_suits_the_data(recommended):
    more = np.random.RandomState(1).normal(size=(500, 4))
    random = np.random.RandomState(0)
    random.normal(size=(120, 4))
    utility = more @ random.normal(size=(4, 5))
    truth = np.argsort(np.argsort(-utility, axis=1), axis=1) + 1
    assert recommended.score(more, truth) > 0.85
    assert recommended.shares_["trees"] + recommended.shares_["small_trees"] < 0.5
    assert recommended.score(more, truth) >= clone(LINEAR).fit(X, Y).score(more, truth) - 0.02


def test_recommended_repeats_with_its_seed(recommended):
    again = StackedRanker(random_state=0, n_jobs=2).fit(X, Y)
    assert_allclose(again.decision_function(X), recommended.decision_function(X))
    assert again.weights_ == recommended.weights_


def test_many_rows_are_held_out_once(monkeypatch):
    import sklrank.label_ranking._stacked as module

    fitted = []

    class Counting(LabelwiseRanker):
        def fit(self, X, y):
            fitted.append(len(X))
            return super().fit(X, y)

    monkeypatch.setattr(module, "_MANY_SAMPLES", 100)
    StackedRanker([("one", Counting(Ridge()))], random_state=0).fit(X, Y)
    assert fitted == [96, 120]
    fitted.clear()
    StackedRanker([("one", Counting(Ridge()))], random_state=0).fit(X[:100], Y[:100])
    assert fitted == [80] * 5 + [100]


def test_incomplete_rankings():
    ranker = stacked(linear=LINEAR, logistic=LOGISTIC).fit(X, INCOMPLETE)
    assert ranker.score(X, Y) > 0.8
    with pytest.raises(ValueError, match="not ranked"):
        stacked(linear=LabelwiseRanker(Ridge())).fit(X, INCOMPLETE)


@pytest.mark.parametrize("n_ranked", [1, 2])
def test_recommended_where_few_samples_rank_a_label(n_ranked):
    """The other labels are ranked as well as ever."""
    few = Y[:60].astype(float)
    few[n_ranked:, 2] = np.nan
    others = [0, 1, 3, 4]
    scores = StackedRanker(cv=2, random_state=0).fit(X[:60], few).decision_function(X[60:])
    assert kendall_tau_score(Y[60:, others], -scores[:, others]) > 0.75


def test_rankings_in_a_single_row_give_all_rankers_their_share():
    single = np.full(Y.shape, np.nan)
    single[7] = Y[7]
    ranker = stacked(linear=LINEAR, logistic=LOGISTIC).fit(X, single)
    assert ranker.shares_ == {"linear": 0.5, "logistic": 0.5}
    assert_array_equal(ranker.predict(X), np.tile(Y[7], (120, 1)))


def test_a_label_that_no_row_ranks():
    """As the rankers themselves: positions cannot be learnt of it; comparisons leave it neutral."""
    never = np.where(np.arange(5) == 2, np.nan, Y)
    with pytest.raises(ValueError, match=r"labels \[2\] in no row"):
        StackedRanker().fit(X, never)
    logistic = stacked(logistic=LOGISTIC).fit(X, never)
    assert_array_equal(logistic.predict(X), clone(LOGISTIC).fit(X, never).predict(X))
    # The other labels in a single row, which is held out once.
    single = np.where((np.arange(120) == 7)[:, np.newaxis], never, np.nan)
    assert stacked(logistic=LOGISTIC).fit(X, single).predict(X).shape == Y.shape


def test_sparse_rows_where_all_rankers_take_them():
    ranker = stacked(linear=LINEAR, logistic=LOGISTIC)
    expected = ranker.fit(X, Y).decision_function(X)
    found = clone(ranker).fit(sparse.csr_matrix(X), Y).decision_function(sparse.csr_matrix(X))
    assert_allclose(found, expected, atol=1e-3)
    with pytest.raises(TypeError, match="[Ss]parse"):
        StackedRanker().fit(sparse.csr_matrix(X), Y)


def test_data_frames():
    frame = pd.DataFrame(X, columns=list("abcd"))
    ranker = stacked(linear=LINEAR, logistic=LOGISTIC).fit(frame, pd.DataFrame(Y))
    assert_array_equal(ranker.feature_names_in_, list("abcd"))
    assert_array_equal(ranker.predict(frame), clone(ranker).fit(X, Y).predict(X))


def test_rankers_choose_columns_of_a_data_frame_by_name():
    frame = pd.DataFrame(X, columns=list("abcd")).assign(text="not a number")
    chosen = make_column_transformer(("passthrough", ["b", "d"]))
    by_name = [make_pipeline(chosen, ranker) for ranker in (LINEAR, LOGISTIC)]
    ranker = stacked(linear=by_name[0], logistic=by_name[1]).fit(frame, Y)
    expected = stacked(linear=LINEAR, logistic=LOGISTIC).fit(X[:, [1, 3]], Y)
    assert ranker.weights_ == expected.weights_
    assert_array_equal(ranker.predict(frame), expected.predict(X[:, [1, 3]]))


def test_parameters_of_the_rankers_are_reached_by_name():
    ranker = stacked(linear=clone(LINEAR), tree=clone(TREE))
    ranker.set_params(linear__estimator__alpha=7.0, tree=clone(LOGISTIC), cv=4)
    assert ranker.estimators[0][1].estimator.alpha == 7.0
    assert isinstance(ranker.get_params()["tree"], PairwiseRanker)
    grid = {"linear__estimator__alpha": [1e-3, 1e6]}
    search = GridSearchCV(stacked(linear=clone(LINEAR)), grid, cv=3).fit(X, Y)
    assert set(search.best_params_) == set(grid)
    assert StackedRanker().get_params()["estimators"] is None


def test_a_ranker_that_is_dropped_might_as_well_not_be_there():
    """A search may try it with and without."""
    ranker = stacked(linear=LINEAR, tree=TREE, logistic=LOGISTIC).set_params(tree="drop")
    without = stacked(linear=LINEAR, logistic=LOGISTIC).fit(X, Y)
    assert ranker.fit(X, Y).weights_ == without.weights_
    assert_array_equal(ranker.decision_function(X), without.decision_function(X))
    grid = {"linear": ["drop", LINEAR]}
    search = GridSearchCV(stacked(linear=LINEAR, none=SAME_FOR_ALL), grid, cv=3).fit(X, Y)
    assert search.best_params_ == {"linear": LINEAR}


def test_in_a_pipeline_and_pickled():
    ranker = stacked(linear=LINEAR, logistic=LOGISTIC)
    assert cross_val_score(make_pipeline(StandardScaler(), ranker), X, Y, cv=3).mean() > 0.8
    ranker.fit(X, Y)
    assert_array_equal(pickle.loads(pickle.dumps(ranker)).predict(X), ranker.predict(X))
    assert set(ranker.predict_topk(X, 2)[0]) <= set(range(5))


@pytest.mark.parametrize(
    ("estimators", "message"),
    [
        ([], "empty"),
        ([("one", "drop"), ("two", "drop")], "no ranker that is not dropped"),
        ([("one", "drop"), ("one", TREE)], "not unique"),
        ([("one", LINEAR), ("one", TREE)], "not unique"),
        ([("a__b", LINEAR)], "must not contain __"),
        ([("cv", LINEAR)], "conflict"),
    ],
)
def test_refuses_names_that_do_not_tell_rankers_apart(estimators, message):
    with pytest.raises(ValueError, match=message):
        StackedRanker(estimators).fit(X, Y)


def test_refuses_data_that_are_no_rankings_and_stays_as_it_was():
    ranker = stacked(linear=LINEAR, logistic=LOGISTIC)
    with pytest.raises(NotFittedError):
        ranker.predict(X)
    expected = ranker.fit(X, Y).decision_function(X)
    with pytest.raises(ValueError, match="shape"):
        ranker.fit(X, Y[:, 0])
    with pytest.raises(ValueError, match="splits"):
        ranker.fit(X[:2], Y[:2])
    assert_allclose(ranker.decision_function(X), expected)


def test_as_few_samples_as_folds():
    assert StackedRanker(random_state=0).fit(X[:10], Y[:10]).predict(X).shape == Y.shape


@pytest.mark.parametrize(
    "estimators",
    [
        [LabelwiseRanker],
        [("a", LabelwiseRanker)],
        [LabelwiseRanker()],
        [("a",)],
        [("a", LOGISTIC.estimator)],
        [("a", "dropped")],
        [(1, LabelwiseRanker())],
        [("a", None)],
    ],
)
def test_what_is_no_list_of_named_rankers(estimators):
    with pytest.raises(ValueError, match="estimators must be a list of"):
        StackedRanker(estimators).fit(np.zeros((9, 1)), np.tile([1, 2], (9, 1)))


def test_rankers_may_be_pipelines():
    pipeline = make_pipeline(StandardScaler(), LINEAR)
    ranker = stacked(linear=pipeline).fit(X, Y)
    assert_array_equal(ranker.predict(X), clone(pipeline).fit(X, Y).predict(X))


def test_folds_may_be_masks():
    held_out = np.arange(120) < 40
    masks = [(~held_out, held_out), (held_out, ~held_out)]
    rows = [tuple(np.flatnonzero(mask) for mask in fold) for fold in masks]
    rankers = [("tree", TREE), ("logistic", LOGISTIC)]
    by_masks, by_rows = (StackedRanker(rankers, cv=cv).fit(X, Y) for cv in (masks, rows))
    assert by_masks.weights_ == by_rows.weights_


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        (121, "cv=121 cannot split 120 rankings"),
        (StratifiedKFold(3), r"cv=StratifiedKFold\(.*\) cannot split 120 rankings.*KFold"),
        ([], r"cv=\[\] must make at least one fold"),
        ([([0, 1, 2], [])], "cv=.* must .* each with .* held-out samples"),
        ([([], [0, 1, 2])], "cv=.* must .* each with training samples"),
    ],
)
def test_folds_that_hold_nothing_out(cv, message):
    with pytest.raises(ValueError, match=message):
        StackedRanker([("linear", LINEAR)], cv=cv).fit(X, Y)


def test_too_few_rows_to_hold_some_out():
    with pytest.raises(ValueError, match="cv='auto' makes 5 folds"):
        StackedRanker().fit(np.zeros((4, 1)), np.tile([1, 2], (4, 1)))
