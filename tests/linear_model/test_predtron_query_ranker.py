"""PredtronQueryRanker: documents of queries, ranked."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklrank.datasets import make_subset_ranking
from sklrank.linear_model import PredtronQueryRanker
from sklrank.metrics import ndcg_score
from sklrank.model_selection import QueryKFold, query_permutation_importance

random = np.random.RandomState(0)
X = random.normal(size=(240, 6))
QID = random.permutation(np.arange(240) % 40)
SCORES = X @ [2, 1, -1, 0, 0, 0] + random.normal(size=240)
GRADES = np.digitize(SCORES, [1, 3])
# Distinct grades in each query, so that no two rankings have equal losses.
RANKS = np.zeros(240)
for query in range(40):
    RANKS[QID == query] = SCORES[QID == query].argsort().argsort()

MODELS = {
    "default": PredtronQueryRanker(shuffle=False),
    "mean": PredtronQueryRanker(average=True, max_iter=3, representation="linear", shuffle=False),
    "loss-driven": PredtronQueryRanker(update="loss-driven", learning_rate=0.3, shuffle=False),
    "p-norm": PredtronQueryRanker(mirror_map="p-norm", representation="reciprocal", shuffle=False),
    "rbf": PredtronQueryRanker(kernel="rbf", average=True, shuffle=False),
}
each_model = pytest.mark.parametrize("name", MODELS)


# -- Queries.


@each_model
def test_ids_do_not_matter(name):
    """Rounds are in the order of the queries' first documents, whatever their ids."""
    scores = clone(MODELS[name]).fit(X, GRADES, QID).predict(X)
    others = (-QID, QID / 7, (QID * 13) % 41, np.array([f"q{q}" for q in QID]), pd.Series(QID))
    for qid in others:
        assert_allclose(clone(MODELS[name]).fit(X, GRADES, qid).predict(X), scores, atol=1e-12)


@each_model
def test_documents_of_a_query_in_any_order(name):
    """Documents may be together or apart, if the order of the queries is the same."""
    model = clone(MODELS[name]).fit(X, RANKS, QID)
    first = [np.flatnonzero(QID == q)[0] for q in range(40)]
    query_order = np.argsort(first)
    together = np.concatenate([np.flatnonzero(QID == q) for q in query_order])
    reversed_ = np.concatenate([np.flatnonzero(QID == q)[::-1] for q in query_order])
    for order in (together, reversed_):
        other = clone(model).fit(X[order], RANKS[order], QID[order])
        assert_allclose(other.predict(X), model.predict(X), atol=1e-9)
        assert other.n_mistakes_ == model.n_mistakes_
    one_by_one = clone(MODELS[name]).set_params(max_iter=1)
    at_once = clone(one_by_one).fit(X, RANKS, QID)
    for q in query_order:
        one_by_one.partial_fit(X[QID == q], RANKS[QID == q])
    assert_allclose(one_by_one.predict(X), at_once.predict(X), atol=1e-9)


def test_without_ids_all_is_one_query():
    alone = PredtronQueryRanker(shuffle=False).fit(X[:8], GRADES[:8])
    same = PredtronQueryRanker(shuffle=False).fit(X[:8], GRADES[:8], qid=np.full(8, "same"))
    assert_array_equal(alone.coef_, same.coef_)
    assert alone.n_rounds_ == 1
    assert_allclose(alone.score(X, GRADES), ndcg_score(GRADES, alone.predict(X)))
    with pytest.raises(ValueError, match="fitted with queries.*enable_metadata_routing=True"):
        same.score(X, GRADES)


def test_score_needs_ids_after_several_queries():
    """Whether `fit` or `partial_fit` got them, by their ids or one in each call."""
    first, second = (X[:10], GRADES[:10]), (X[10:20], GRADES[10:20])
    with_ids = PredtronQueryRanker(shuffle=False).partial_fit(X, GRADES, QID)
    for model in (
        with_ids,
        clone(with_ids).partial_fit(X, GRADES, QID).partial_fit(*first),
        clone(with_ids).partial_fit(*first).partial_fit(*second),
        clone(with_ids).fit(*first).partial_fit(*second),
    ):
        with pytest.raises(ValueError, match="fitted with queries"):
            model.score(X, GRADES)
        assert 0 < model.score(X, GRADES, QID) <= 1
    for model in (clone(with_ids).partial_fit(*first), clone(with_ids).fit(*first)):
        assert 0 < model.score(*second) <= 1
    passes = clone(with_ids).set_params(max_iter=3).fit(*first)
    assert passes.n_rounds_ == 3
    assert passes.score(*first) == ndcg_score(GRADES[:10], passes.predict(X[:10]))
    # A new fit starts anew.
    assert 0 < with_ids.fit(*first).score(*second) <= 1


@pytest.mark.filterwarnings("ignore:the relevance .* has the exponential gain")
@pytest.mark.parametrize("k", [None, 3])
def test_score_is_ndcg_at_k(k):
    model = PredtronQueryRanker(k=k, shuffle=False).fit(X, GRADES, QID)
    assert model.score(X, GRADES, QID) == ndcg_score(GRADES, model.predict(X), qid=QID, k=k)
    # The exponential gains of 1000 * GRADES would overflow. GRADES are the numbers of lower grades.
    model.fit(X, 1000 * GRADES, QID)
    expected = ndcg_score(GRADES, model.predict(X), qid=QID, k=k, gain="linear")
    assert model.score(X, 1000 * GRADES, QID) == pytest.approx(expected)


def test_an_id_in_another_call_is_another_query():
    model = PredtronQueryRanker(shuffle=False).partial_fit(X[:6], RANKS[:6], np.zeros(6))
    again = clone(model).partial_fit(X[:3], RANKS[:3], np.zeros(3))
    again.partial_fit(X[3:6], RANKS[3:6], np.zeros(3))
    assert (model.n_rounds_, again.n_rounds_) == (1, 2)


def test_queries_of_one_grade_do_not_change_the_model():
    """Nor do queries of one document."""
    model = PredtronQueryRanker(shuffle=False).fit(X, GRADES, QID)
    before = model.coef_
    model.partial_fit(X, np.full(240, 7), QID).partial_fit(X, GRADES, np.arange(240))
    assert_array_equal(model.coef_, before)
    assert model.n_rounds_ == 40 + 40 + 240


@each_model
def test_the_mean_of_all_documents_does_not_matter(name):
    """It changes all scores of a query equally, since there is no intercept."""
    model = clone(MODELS[name]).set_params(learning_rate=1.0)
    scores = clone(model).fit(X, RANKS, QID).predict(X)
    moved = clone(model).fit(X + 4, RANKS, QID).predict(X + 4)
    assert_allclose(moved - moved.mean(), scores - scores.mean(), atol=1e-9)


# -- A user's loss and representation.


class OwnNDCG:
    def gains(self, relevance):
        return 2.0**relevance - 1

    def discounts(self, n_positions):
        return 1 / np.log2(1 + np.arange(1, n_positions + 1))


def test_own_loss_and_representation():
    model = PredtronQueryRanker(representation="reciprocal", shuffle=False).fit(X, GRADES, QID)
    own = PredtronQueryRanker(
        loss=OwnNDCG(), representation=lambda positions: 1 / positions, shuffle=False
    )
    assert_allclose(own.fit(X, GRADES, QID).coef_, model.coef_, atol=1e-9)
    assert_allclose(own.mean_loss_, model.mean_loss_)


# -- Attributes.


def test_attributes():
    model = PredtronQueryRanker(shuffle=False).fit(X, GRADES, QID)
    assert model.coef_.shape == (6,)
    assert_allclose(model.predict(X), X @ model.coef_, atol=1e-12)
    weights = np.random.RandomState(1).rand(240)
    expected = ndcg_score(GRADES, model.predict(X), qid=QID, sample_weight=weights)
    assert_allclose(model.score(X, GRADES, QID, sample_weight=weights), expected)


def test_it_learns_the_papers_simulation():
    """Queries of Section 6, for which -i^1.1 is better than 1 / i."""
    rows, grades, qid = make_subset_ranking(200, 30, random_state=0)
    train = qid < 150
    scores = {}
    for representation in ("power", "reciprocal"):
        model = PredtronQueryRanker(representation=representation, shuffle=False)
        model.fit(rows[train], grades[train], qid[train])
        scores[representation] = model.score(rows[~train], grades[~train], qid[~train])
    assert scores["power"] > max(0.9, scores["reciprocal"])


# -- Invalid arguments.


def replaced(values, value):
    values = np.array(values, dtype=float)
    values[3] = value
    return values


BAD_INPUT = [
    ((X, replaced(GRADES, np.nan), QID), "y contains NaN"),
    ((X, replaced(GRADES, np.inf), QID), "y contains infinity"),
    ((X, replaced(GRADES, -1), QID), "0 or more; got -1"),
    ((X, np.array(["a", "b", "c"])[GRADES], QID), "y must be relevance, numbers"),
    ((X, GRADES[:-1], QID), "y must have a value for each of the 240 rows"),
    ((X, np.column_stack([GRADES, GRADES]), QID), "1d array"),
    ((X, None, QID), "y is None"),
    ((X, GRADES, QID[:-1]), "qid must be of shape"),
    ((X, GRADES, QID[:, np.newaxis]), "qid must be of shape"),
    ((X, GRADES, [None, *QID[1:]]), "qid must hold ids of one kind"),
    ((X, GRADES, replaced(QID, np.nan)), "qid must be known for every sample"),
]


@pytest.mark.parametrize("name", ["mean", "rbf"])
def test_invalid_data_do_not_change_the_model(name, fingerprint):
    model = clone(MODELS[name]).fit(X, GRADES, QID)
    before = fingerprint(model)
    for arguments, message in BAD_INPUT:
        for method in (model.fit, model.partial_fit):
            with pytest.raises(ValueError, match=message):
                method(*arguments)
            assert fingerprint(model) == before


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"loss": "map"}, "'loss' parameter"),
        ({"loss": "precision"}, "k must be a positive integer under loss='precision'"),
        ({"loss": OwnNDCG(), "k": 2}, "k must be None where loss is an object"),
        ({"k": 0}, "'k' parameter"),
        ({"representation": "cubic"}, "'representation' parameter"),
        ({"representation": lambda positions: positions}, "representation must give finite"),
        ({"power": -1}, "'power' parameter"),
    ],
)
def test_bad_parameters_are_named(parameters, message, fingerprint):
    model = PredtronQueryRanker(shuffle=False).fit(X, GRADES, QID).set_params(**parameters)
    before = fingerprint(model)
    with pytest.raises(ValueError, match=message):
        model.fit(X, GRADES, QID)
    assert fingerprint(model) == before
    model = PredtronQueryRanker(**parameters, shuffle=False)
    with pytest.raises(ValueError, match=message):
        model.partial_fit(X, GRADES, QID)
    assert not hasattr(model, "n_features_in_")


def test_more_positions_than_documents():
    """All documents count then, as in NDCG@k of short queries."""
    model = PredtronQueryRanker(k=50, shuffle=False).fit(X, GRADES, QID)
    assert_array_equal(model.coef_, PredtronQueryRanker(shuffle=False).fit(X, GRADES, QID).coef_)


# -- With scikit-learn's tools.


def test_a_search_over_a_pipeline(routing):
    pytest.importorskip("sklearn", "1.8", reason="its searches leave the ids of pipelines out")
    search = GridSearchCV(
        make_pipeline(StandardScaler(), PredtronQueryRanker(average=True, shuffle=False)),
        {
            "predtronqueryranker__representation": ["power", "reciprocal"],
            "predtronqueryranker__mirror_map": ["euclidean", "p-norm"],
            "predtronqueryranker__loss": ["ndcg", "precision"],
            "predtronqueryranker__k": [3],
        },
        cv=QueryKFold(2),
        error_score="raise",
    ).fit(X, GRADES, qid=QID)
    for n, (train, test) in enumerate(QueryKFold(2).split(X, GRADES, QID)):
        for parameters, found in zip(
            search.cv_results_["params"], search.cv_results_[f"split{n}_test_score"]
        ):
            pipeline = clone(search.estimator).set_params(**parameters)
            scores = pipeline.fit(X[train], GRADES[train], qid=QID[train]).predict(X[test])
            assert_allclose(found, ndcg_score(GRADES[test], scores, qid=QID[test], k=3))
    assert search.best_score_ > 0.85


@each_model
def test_cross_validation(routing, name):
    model = MODELS[name]
    scores = cross_validate(model, X, GRADES, cv=QueryKFold(3), params={"qid": QID})["test_score"]
    for score, (train, test) in zip(scores, QueryKFold(3).split(X, GRADES, QID)):
        alone = clone(model).fit(X[train], GRADES[train], qid=QID[train])
        assert_allclose(score, ndcg_score(GRADES[test], alone.predict(X[test]), qid=QID[test]))


def test_a_search_without_routing_says_how():
    search = GridSearchCV(PredtronQueryRanker(shuffle=False), {"k": [2]}, cv=3, error_score="raise")
    with pytest.raises(ValueError, match="enable_metadata_routing=True"):
        search.fit(X, GRADES, qid=QID)


def test_permutation_importance():
    model = PredtronQueryRanker(average=True, max_iter=5, shuffle=False).fit(X, GRADES, QID)
    means = query_permutation_importance(
        model, X, GRADES, qid=QID, n_repeats=3, random_state=0
    ).importances_mean
    assert means.argmax() == 0
    assert set(means.argsort()[::-1][:3].tolist()) == {0, 1, 2}


# -- On real data.


def test_mq2008(letor_data):
    """The first fold: ten passes come close to boosting."""
    rows, grades, qid = letor_data(1, 2, 3)
    model = PredtronQueryRanker(average=True, max_iter=10, shuffle=False)
    model.fit(rows, grades, qid=qid)
    rows, grades, qid = letor_data(5)
    assert ndcg_score(grades, model.predict(rows), qid=qid, k=10) >= 0.7


@pytest.mark.parametrize("average", [False, True])
def test_no_support_vectors(average):
    """Without relevant documents there is no mistake, and no document becomes a support vector."""
    X = np.random.RandomState(0).normal(size=(4, 3))
    model = PredtronQueryRanker(kernel="poly", average=average, shuffle=False).fit(X, np.zeros(4))
    assert model.dual_coef_.shape == (1, 0)
    assert model.support_vectors_.shape == (0, 3)
    assert_array_equal(model.predict(X), np.zeros(4))
