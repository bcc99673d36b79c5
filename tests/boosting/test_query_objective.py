"""The objective of AdaRank, and its search for a feature."""

from math import exp, log, log2

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklrank._checks.queries import Queries
from sklrank.boosting import AdaRank
from sklrank.boosting._ada_rank import RULES, FeatureLearner, QueryObjective
from sklrank.boosting._base import DocumentTarget
from sklrank.metrics._document_values import values as _document_metrics

RANDOM = np.random.RandomState(0)
# The query 5 has no relevant document.
QID = RANDOM.permutation(np.repeat([7, 5, 2, 11, 3], [6, 4, 1, 9, 5]))
GRADES = RANDOM.randint(3, size=len(QID)) * (QID != 5).astype(float)
GRADES[QID == 2] = 4
X = RANDOM.normal(size=(len(QID), 5)) + 0.3 * GRADES[:, None] * np.arange(5)
COUNTED = [2, 3, 7, 11]


def ndcg(grades, scores, k):
    """Return the NDCG of a query, for scores without ties."""

    def dcg(grades):
        return sum((2**grade - 1) / log2(1 + place) for place, grade in enumerate(grades[:k], 1))

    return dcg(grades[np.argsort(-scores)]) / dcg(np.sort(grades)[::-1])


def average_precision(grades, scores, k):
    """Return the average precision of a query, for scores without ties."""
    found = grades[np.argsort(-scores)][:k] > 0
    precisions = [found[:place].mean() for place, hit in enumerate(found, 1) if hit]
    return sum(precisions) / min(k or len(grades), sum(grades > 0))


METRICS = {"ndcg": ndcg, "map": average_precision}


def performances(metric, scores, k):
    return np.array([METRICS[metric](GRADES[QID == q], scores[QID == q], k) for q in COUNTED])


def objective_of(metric="ndcg", k=None, step_rule="xu-li", **options):
    return QueryObjective(
        DocumentTarget.of(GRADES, Queries.from_qid(QID, len(QID))),
        metric,
        k,
        RULES[step_rule].step_weights,
        **options,
    )


@pytest.mark.parametrize("metric", ["ndcg", "map"])
@pytest.mark.parametrize("k", [None, 3])
@pytest.mark.parametrize("step_rule", ["xu-li", "printed"])
def test_weights_and_steps(metric, k, step_rule):
    """Algorithm 4, lines 4, 5 and 7, and the step of Xu & Li (2007)."""
    objective = objective_of(metric, k, step_rule)
    F, f = X[:, 0], X[:, 4]
    objective.set_scores(F)
    losses = [exp(-E) for E in performances(metric, F, k)]
    p = np.array(losses) / sum(losses)
    assert_allclose(objective.value, sum(losses) / len(losses))
    assert_allclose(objective.query_weights, p)
    E = performances(metric, f, k)
    eta = sum(p * E)
    expected = {
        "xu-li": 0.5 * log(sum(p * (1 + E)) / sum(p * (1 - E))),
        "printed": 0.5 * log(eta / (1 - eta)) if eta > 0.5 else 0.0,
    }
    assert_allclose(objective.step(f), expected[step_rule])


@pytest.mark.parametrize("metric", ["ndcg", "map"])
def test_must_beat_chance(metric):
    """Chance is the mean performance of random orders."""
    objective = objective_of(metric, must_beat_chance=True)
    objective.set_scores(X[:, 0])
    orders = [performances(metric, RANDOM.random_sample(len(QID)), None) for _ in range(2000)]
    chance = objective.query_weights @ np.mean(orders, axis=0)
    assert objective.step(np.ones(len(QID))) == 0
    # A hypothesis that is constant in each query.
    assert objective.step(QID.astype(float)) == 0
    unrestricted = objective_of(metric)
    unrestricted.set_scores(X[:, 0])
    for sign in (1, -1):
        f = sign * X[:, 4]
        weighted = objective.query_weights @ performances(metric, f, None)
        assert abs(weighted - chance) > 0.02
        assert (weighted > chance) == (sign > 0)
        assert unrestricted.step(f) > 0
        assert objective.step(f) == (unrestricted.step(f) if sign > 0 else 0)


def test_documents_share_the_weight_of_their_query():
    objective = objective_of()
    objective.set_scores(X[:, 0])
    for q, weight in zip(COUNTED, objective.query_weights):
        documents = QID == q
        assert_allclose(objective.weights[documents], weight / documents.sum())
    assert not objective.weights[QID == 5].any()
    assert_array_equal(np.unique(GRADES)[objective.labels], GRADES)


def test_weighted_search_selects_the_feature_of_the_best_weighted_performance():
    objective = objective_of()
    objective.set_scores(X[:, 0].copy())
    learner = FeatureLearner(X, objective, RULES["xu-li"])
    weighted = {
        (feature, sign): objective.query_weights @ performances("ndcg", sign * X[:, feature], None)
        for feature in range(5)
        for sign in (1, -1)
    }
    ranker, hypothesis = learner.fit(objective, None)
    assert (ranker.feature, ranker.factor) == max(weighted, key=weighted.get)
    assert_array_equal(hypothesis, X[:, ranker.feature] * ranker.factor)


def test_greedy_search_lowers_the_objective_most():
    objective = objective_of()
    F = 0.4 * X[:, 3]
    objective.set_scores(F)
    learner = FeatureLearner(X, objective, RULES["greedy"])
    tried = {}
    for feature in range(5):
        for sign in (1, -1):
            step = objective.step(sign * X[:, feature])
            for fraction in RULES["greedy"].fractions:
                scores = F + step * fraction * sign * X[:, feature]
                losses = np.exp(-performances("ndcg", scores, None))
                tried[feature, sign * fraction] = losses.mean()
    ranker, hypothesis = learner.fit(objective, None)
    assert_allclose(tried[ranker.feature, ranker.factor], min(tried.values()), rtol=1e-12)
    assert_allclose(hypothesis, X[:, ranker.feature] * ranker.factor)


@pytest.mark.parametrize("metric", ["ndcg", "map"])
def test_features_are_sorted_once_in_the_first_round(metric, monkeypatch):
    """Besides once for their performance: all fractions of a feature give the same ranking."""
    sorted_scores, original = [], _document_metrics.list_documents

    def list_documents(queries, scores, values, ties):
        sorted_scores.append(scores)
        return original(queries, scores, values, ties)

    objective = objective_of(metric)
    objective.set_scores(np.zeros(len(QID)))
    monkeypatch.setattr(_document_metrics, "list_documents", list_documents)
    learner = FeatureLearner(X, objective, RULES["greedy"])
    assert len(sorted_scores) == 10
    assert learner.fit(objective, None)[0].factor in (1, -1)
    assert len(sorted_scores) == 20


@pytest.mark.parametrize("rule", RULES)
def test_no_feature_is_selected_that_does_not_lower_the_objective(rule):
    objective = objective_of()
    objective.set_scores(X[:, 1].copy())
    # Adding the same feature again does not change the ranking.
    assert FeatureLearner(X[:, [1, 1]], objective, RULES[rule]).fit(objective, None) is None


def test_features_whose_sums_overflow_are_refused():
    X, y = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 1.0]]), [0, 1, 2]
    ranker = AdaRank().fit(X, y)
    for method in (ranker.predict, lambda X: ranker.fit(X, y)):
        with pytest.raises(ValueError, match="X has an entry of the size 1e\\+308"):
            method(np.copysign(1e308, X))


@pytest.mark.filterwarnings("ignore:AdaRank gives all samples the score 0")
def test_a_metric_that_is_the_same_for_all_rankings_is_said():
    y = 1 + np.arange(40) % 3
    with pytest.warns(UserWarning, match="metric='map' is the same for all rankings"):
        AdaRank(metric="map").fit(np.arange(40.0).reshape(-1, 1), y, np.arange(40) % 4)
