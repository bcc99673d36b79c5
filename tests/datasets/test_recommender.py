"""make_recommender has the properties that its docstring states."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklrank.datasets import make_recommender
from sklrank.datasets._recommender import personality_diagnosis
from sklrank.metrics import ndcg_score


def test_shapes_and_seed():
    def make(seed):
        return make_recommender(7, 30, 4, n_rated=6, random_state=seed)

    X, y, relevance, qid, base_scores = make(0)
    assert X.shape == (210, 4)
    assert y.shape == relevance.shape == qid.shape == base_scores.shape == (210,)
    assert_array_equal(np.isfinite(y.reshape(7, 30)).sum(axis=1), 6)
    assert set(relevance) <= set(range(5)) and set(y[np.isfinite(y)]) <= set(range(5))
    assert_array_equal(X[:30], X[30:60])
    assert np.isfinite(base_scores).all()
    for first, second in zip(make(0), make(0)):
        assert_array_equal(first, second)
    assert not np.array_equal(make(1)[0], X)


def test_most_ratings_are_the_relevance():
    _, y, relevance, _, _ = make_recommender(random_state=0)
    rated = np.isfinite(y)
    assert 0.5 < (y[rated] == relevance[rated]).mean() < 1


def test_the_base_ranker_is_good_and_not_perfect():
    _, _, relevance, qid, base_scores = make_recommender(50, random_state=0)
    chance = ndcg_score(relevance, np.zeros(len(qid)), qid=qid, k=10)
    assert chance + 0.1 < ndcg_score(relevance, base_scores, qid=qid, k=10) < 0.9


def test_features_do_not_explain_the_latent_part():
    X, _, relevance, qid, _ = make_recommender(10, 500, random_state=0)
    explained = []
    for user in range(10):
        rows = qid == user
        # Squared distances are linear in these features.
        design = np.column_stack([X[rows], X[rows] ** 2, np.ones(rows.sum())])
        residual = relevance[rows] - design @ np.linalg.lstsq(design, relevance[rows])[0]
        explained.append(1 - residual.var() / relevance[rows].var())
    assert 0.6 < np.mean(explained) < 0.8


def test_personality_diagnosis_against_loops():
    random = np.random.RandomState(0)
    ratings = np.where(random.random_sample((3, 9)) < 0.5, random.randint(5, size=(3, 9)), np.nan)
    others = np.where(random.random_sample((4, 9)) < 0.7, random.randint(5, size=(4, 9)), np.nan)
    others[:, 2] = np.nan
    others[0, 3] = 4.0
    scores = personality_diagnosis(ratings, others)
    for user in range(3):
        belief = [
            np.exp(
                -sum(
                    (ratings[user, item] - other[item]) ** 2 / 2
                    for item in range(9)
                    if np.isfinite(ratings[user, item] - other[item])
                )
            )
            for other in others
        ]
        for item in range(9):
            known = [j for j in range(4) if np.isfinite(others[j, item])]
            expected = (
                sum(belief[j] * others[j, item] for j in known) / sum(belief[j] for j in known)
                if known
                else np.nanmean(others)
            )
            # The mean rating has a small weight, too.
            assert_allclose(scores[user, item], expected, atol=1e-4)


def test_memory_of_personality_diagnosis():
    ratings = np.random.RandomState(0).randint(5, size=(60, 400)).astype(float)
    tracemalloc.start()
    personality_diagnosis(ratings, ratings)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10 * ratings.nbytes


@pytest.mark.parametrize(
    "parameters",
    [
        {"n_users": 0},
        {"n_rated": 201},
    ],
)
def test_bad_parameters(parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        make_recommender(**parameters)
