"""Validation by query: splits, searches with routed query ids, permutation importance."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import clone
from sklearn.base import BaseEstimator
from sklearn.inspection import permutation_importance
from sklearn.linear_model import Ridge
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate, learning_curve
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklrank.boosting import NDCGBoost
from sklrank.linear_model import PredtronQueryRanker
from sklrank.metrics import average_precision_scorer, ndcg_score, ndcg_scorer
from sklrank.model_selection import (
    QueryKFold,
    query_permutation_importance,
    query_train_test_split,
)


class QueryRidge(BaseEstimator):
    """Ridge regression of grades minus their mean in the query, which needs the query ids."""

    __metadata_request__fit = {"qid": True}
    __metadata_request__score = {"qid": True}

    def __init__(self, alpha=1.0):
        self.alpha = alpha

    def fit(self, X, y, qid=None):
        if qid is None:
            raise AssertionError("qid did not reach fit")
        means = {q: y[qid == q].mean() for q in set(qid)}
        self.ridge_ = Ridge(self.alpha).fit(X, y - [means[q] for q in qid])
        return self

    def predict(self, X):
        return self.ridge_.predict(X)

    def score(self, X, y, qid=None, sample_weight=None):
        return ndcg_score(y, self.predict(X), qid=qid, sample_weight=sample_weight)


@pytest.fixture(scope="module")
def documents():
    """Draw grades that depend on two of four features, in thirty queries with string ids."""
    rng = np.random.RandomState(0)
    X, qid = rng.normal(size=(300, 4)), rng.randint(30, size=300)
    y = np.digitize(2 * X[:, 0] + X[:, 1] + rng.normal(size=300), [1, 3])
    return X, y, np.array([f"q{q}" for q in qid])


@pytest.mark.parametrize("shuffle", [False, True])
def test_queries_are_kept_together(documents, shuffle):
    X, y, qid = documents
    folds = QueryKFold(4, shuffle=shuffle, random_state=0 if shuffle else None)
    seen = np.zeros(len(X), dtype=int)
    for train, test in folds.split(X, y, qid=qid):
        assert not set(qid[train]) & set(qid[test])
        assert_array_equal(np.sort(np.append(train, test)), np.arange(len(X)))
        seen[test] += 1
        if shuffle:
            assert len(set(qid[test])) in (7, 8)
        else:
            assert abs(len(test) - len(X) / 4) < 5
    assert (seen == 1).all()


def test_folds_are_those_of_groups(documents):
    X, y, qid = documents
    ours = QueryKFold(3, shuffle=True, random_state=1).split(X, y, qid)
    theirs = GroupKFold(3, shuffle=True, random_state=1).split(X, y, np.unique(qid, False, True)[1])
    for our_part, their_part in zip(ours, theirs):
        assert_array_equal(our_part[1], their_part[1])


@pytest.mark.parametrize(
    ("qid", "message"),
    [
        (None, r"qid did not reach QueryKFold.*enable_metadata_routing=True"),
        ([1, 2], r"qid must be of shape \(3,\), got \(2,\)"),
        ([1, 1, 2], "n_splits must be at most the number of queries, 2, got 3"),
    ],
)
def test_bad_splits(qid, message):
    with pytest.raises(ValueError, match=message):
        QueryKFold(3).split([[1], [2], [3]], qid=qid)


@pytest.mark.parametrize("scoring", [None, ndcg_scorer], ids=["own", "scorer"])
def test_search_over_a_pipeline(documents, routing, scoring):
    if scoring is None:
        # See scikit-learn's issue 30937.
        pytest.importorskip("sklearn", "1.8", reason="a pipeline's own score got no metadata")
    X, y, qid = documents
    pipeline = make_pipeline(StandardScaler(), QueryRidge())
    search = GridSearchCV(
        pipeline,
        {"queryridge__alpha": [1.0, 1e6]},
        cv=QueryKFold(3),
        scoring=scoring,
        error_score="raise",
    ).fit(X, y, qid=qid)
    for i, (train, test) in enumerate(QueryKFold(3).split(X, y, qid)):
        scaler = StandardScaler().fit(X[train])
        model = QueryRidge().fit(scaler.transform(X[train]), y[train], qid[train])
        expected = ndcg_score(y[test], model.predict(scaler.transform(X[test])), qid=qid[test])
        assert search.cv_results_[f"split{i}_test_score"][0] == pytest.approx(expected)
    expected = ndcg_score(y, search.predict(X), qid=qid)
    assert search.score(X, y, qid=qid) == pytest.approx(expected)


def test_nested_validation(documents, routing):
    X, y, qid = documents
    search = GridSearchCV(QueryRidge(), {"alpha": [1e-2, 1e5]}, cv=QueryKFold(2))
    scoring = {"ndcg": ndcg_scorer, "map": average_precision_scorer}
    results = cross_validate(
        search,
        X,
        y,
        cv=QueryKFold(3),
        scoring=scoring,
        params={"qid": qid},
        return_estimator=True,
        error_score="raise",
    )
    folds = QueryKFold(3).split(X, y, qid)
    for i, ((train, test), fitted) in enumerate(zip(folds, results["estimator"])):
        alone = clone(search).fit(X[train], y[train], qid=qid[train])
        assert alone.best_params_ == fitted.best_params_
        for name, scorer in scoring.items():
            expected = scorer(alone, X[test], y[test], qid=qid[test])
            assert results[f"test_{name}"][i] == pytest.approx(expected)


def test_ids_reach_partial_fit(documents, routing):
    """A learning curve calls partial_fit with one part of the training samples after the other."""
    # See scikit-learn's issue 33283.
    pytest.importorskip("sklearn", "1.9.1", reason="each part was given the ids of all rows")
    X, y, qid = documents
    _, _, scores = learning_curve(
        PredtronQueryRanker(),
        X,
        y,
        cv=QueryKFold(3),
        train_sizes=[0.5, 1.0],
        exploit_incremental_learning=True,
        params={"qid": qid},
        error_score="raise",
    )
    for n, (train, test) in enumerate(QueryKFold(3).split(X, y, qid)):
        ranker, half = PredtronQueryRanker(), len(train) // 2
        for rows, score in zip((train[:half], train[half:]), scores[:, n]):
            ranker.partial_fit(X[rows], y[rows], qid=qid[rows])
            expected = ndcg_score(y[test], ranker.predict(X[test]), qid=qid[test])
            assert score == pytest.approx(expected)


def test_the_error_without_routing_has_a_remedy(documents):
    X, y, qid = documents
    with pytest.raises(ValueError, match="qid did not reach QueryKFold"):
        cross_validate(Ridge(), X, y, cv=QueryKFold(3), scoring=ndcg_scorer)
    with pytest.raises(ValueError, match="qid did not reach QueryKFold"):
        GridSearchCV(QueryRidge(), {"alpha": [1]}, cv=QueryKFold(3)).fit(X, y, qid=qid)
    with pytest.raises(ValueError, match="qid did not reach the scorer"):
        cross_validate(Ridge(), X, y, cv=3, scoring=ndcg_scorer, error_score="raise")


def test_split_into_arrays(documents):
    X, y, qid = documents
    *rest, qid_train, qid_test = query_train_test_split(
        X, sparse.csr_matrix(X), y.tolist(), qid=qid, test_size=0.3, random_state=0
    )
    X_train, X_test, sparse_train, _, y_train, y_test = rest
    assert not set(qid_train) & set(qid_test)
    assert len(set(qid_test)) == 9
    train = np.isin(qid, qid_train)
    assert_array_equal(X_train, X[train])
    assert_array_equal(X_test, X[~train])
    assert_array_equal(sparse_train.toarray(), X[train])
    assert (y_train, y_test) == (y[train].tolist(), y[~train].tolist())
    again = query_train_test_split(qid=qid, test_size=9, random_state=0)
    assert_array_equal(again[1], qid_test)
    assert len(set(query_train_test_split(qid=qid)[1])) == 6


@pytest.mark.parametrize(
    ("sizes", "n_train", "n_test"),
    [
        ({"train_size": 0.2}, 6, 24),
        ({"train_size": 4}, 4, 26),
        ({"train_size": 0.5, "test_size": 3}, 15, 3),
    ],
)
def test_split_by_the_size_of_the_training_part(documents, sizes, n_train, n_test):
    qid = documents[2]
    train, test = query_train_test_split(qid=qid, random_state=0, **sizes)
    assert (len(set(train)), len(set(test))) == (n_train, n_test)
    assert not set(train) & set(test)
    assert len(train) + len(test) == np.isin(qid, np.append(train, test)).sum()


def test_split_keeps_dataframes(documents):
    pd = pytest.importorskip("pandas")
    X, _, qid = documents
    frame = pd.DataFrame(X).assign(qid=qid)
    train, test, *_ = query_train_test_split(frame, qid=frame["qid"])
    assert not set(train["qid"]) & set(test["qid"])
    assert len(train) + len(test) == len(frame)


def test_split_of_different_lengths():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        query_train_test_split([1, 2, 3], qid=[1, 2])


def test_split_without_an_array_or_without_ids():
    with pytest.raises(ValueError, match="got None as array 2: leave it out"):
        query_train_test_split([1, 2], None, qid=["a", "b"])
    with pytest.raises(ValueError, match="qid must be the query of each sample, got None"):
        query_train_test_split([1, 2], qid=None)


@pytest.mark.parametrize("scoring", [None, ndcg_scorer], ids=["own", "scorer"])
@pytest.mark.parametrize("n_jobs", [None, pytest.param(2, marks=pytest.mark.slow)])
def test_importance(documents, scoring, n_jobs):
    X, y, qid = documents
    # Worker processes can import the package, but not this file.
    model = NDCGBoost(n_estimators=20).fit(X, y, qid)
    result = query_permutation_importance(
        model, X, y, qid=qid, scoring=scoring, n_repeats=3, n_jobs=n_jobs, random_state=0
    )
    assert result.importances.shape == (4, 3)
    assert result.importances_mean.argsort()[::-1][:2].tolist() == [0, 1]
    expected = permutation_importance(
        model,
        X,
        y,
        scoring=lambda model, X, y: ndcg_score(y, model.predict(X), qid=qid),
        n_repeats=3,
        random_state=0,
    )
    assert_allclose(result.importances, expected.importances)


def test_importance_with_weights(documents, routing):
    """A scorer of make_scorer works, too."""
    X, y, qid = documents
    weight = np.random.RandomState(1).uniform(size=300)
    model = QueryRidge().fit(X, y, qid)
    weighted = clone(ndcg_scorer).set_score_request(sample_weight=True)
    made = make_scorer(ndcg_score).set_score_request(qid=True, sample_weight=True)
    results = [
        query_permutation_importance(
            model, X, y, qid=qid, scoring=scoring, sample_weight=weight, random_state=0
        ).importances
        for scoring in (None, weighted, made)
    ]
    assert_allclose(results[1], results[0])
    assert_allclose(results[2], results[0])


def test_permutation_importance_without_queries_has_an_error_with_a_remedy(documents, routing):
    X, y, qid = documents
    model = NDCGBoost(n_estimators=2).fit(X, y, qid)
    with pytest.raises(ValueError, match="query_permutation_importance"):
        permutation_importance(model, X, y)


def test_importance_by_name(documents):
    X, y, qid = documents
    with pytest.raises(TypeError, match="scoring must be None or a callable.*'ndcg'"):
        query_permutation_importance(Ridge().fit(X, y), X, y, qid=qid, scoring="ndcg")
