"""ResidualRefiner, against Bayesian regressions with full covariances."""

from functools import partial
from unittest.mock import patch

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse, stats
from scipy.linalg import null_space
from scipy.special import softmax
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression

from sklrank.boosting import RankingRefiner, ResidualRefiner
from sklrank.datasets import _recommender, make_recommender
from sklrank.metrics import ndcg_score

QUERIES = [np.repeat(["b", "a"], [20, 25]), np.zeros(45, dtype=int)]


def data(seed=0, qid=QUERIES[0]):
    random = np.random.RandomState(seed)
    X = random.normal(size=(45, 5)) * [1, 10, 0.1, 1, 0] + [0, 50, 0, 0, 3]
    base = 7 * random.normal(size=45)
    grades = np.digitize(base / 7 + X[:, 0] - X[:, 3] ** 2, [-1, 0, 1]).astype(float)
    judged = np.where(random.random_sample(45) < 0.5, grades, np.nan)
    # Their documents are equally good, or the only one that was judged.
    alone = np.arange(len(qid), len(qid) + 3)
    X = np.vstack([X, X[:3]])
    base = np.append(base, base[:3])
    if len(set(qid)) > 1:
        return X, np.append(judged, [1, 1, 2]), np.append(qid, ["c", "c", "d"]), base, alone
    return X, np.append(judged, [np.nan] * 3), np.append(qid, [0] * 3), base, alone


def slow_scores(X, judged, qid, base):
    """The posterior mean over all models, in which each is a multivariate t distribution."""
    rows = np.flatnonzero(~np.isnan(judged))
    wins = np.array(
        [sum(np.sign(judged[i] - judged[j]) for j in rows if qid[i] == qid[j]) for i in rows]
    )
    informative = [i for i, row in enumerate(rows) if wins[qid[rows] == qid[row]].any()]
    rows, wins = rows[informative], wins[informative]
    y = np.array([w / wins[qid[rows] == qid[row]].std() for w, row in zip(wins, rows)])
    varying = X.std(axis=0) > 0
    Z = (X[:, varying] - X[:, varying].mean(axis=0)) / X[:, varying].std(axis=0)
    linear = (Z[:, np.newaxis] * Z[rows]).mean(axis=2)
    within = np.concatenate([base[qid == q] - base[qid == q].mean() for q in np.unique(qid)])
    g = base / np.sqrt(np.mean(within**2))
    # Contrasts of the documents of a query do not depend on its constant.
    contrasts = null_space((np.unique(qid[rows])[:, np.newaxis] == qid[rows]).astype(float))
    logs, means = [], []
    for slope in (0.25, 0.5, 1.0):
        z = contrasts.T @ (y - slope * g[rows])
        for kernel in [0 * linear, linear]:
            for strength in (0.03, 0.1, 0.3, 1, 3) if kernel.any() else (1,):
                shape = np.eye(len(z)) + strength * contrasts.T @ kernel[rows] @ contrasts
                density = stats.multivariate_t(shape=0.5 * shape, df=2)
                prior = 0.5 / 5 if kernel.any() else 0.5
                logs.append(np.log(prior) + density.logpdf(z))
                weights = contrasts @ np.linalg.solve(shape, z)
                means.append(slope * g + strength * kernel @ weights)
    return softmax(logs) @ np.array(means), np.array(logs)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("qid", QUERIES, ids=["several queries", "one query"])
def test_scores_are_the_posterior_mean(seed, qid):
    X, judged, qid, base, _ = data(seed, qid)
    model = ResidualRefiner().fit(X, judged, qid, base_scores=base)
    scores = model.predict(X, base)
    expected, logs = slow_scores(X, judged, qid, base)
    for query in np.unique(qid):
        of_query = qid == query
        assert_allclose(
            scores[of_query] - scores[of_query].mean(),
            expected[of_query] - expected[of_query].mean(),
            atol=1e-8,
        )
    unchanged = softmax(logs).reshape(3, 6)[:, 0].sum()
    assert_allclose(1 - model.correction_probability_, unchanged, rtol=1e-8)


def test_without_information_the_base_ranking_stays():
    """Nothing is judged to be better, or all features are constant."""
    X, judged, qid, base, _ = data()
    for X_given, y in ((X, np.where(np.isnan(judged), np.nan, 1)), (np.ones_like(X), judged)):
        model = ResidualRefiner().fit(X_given, y, qid, base_scores=base)
        assert not model.coef_.any()
        scores = model.predict(X_given, base_scores=base)
        assert_array_equal(np.argsort(scores, kind="stable"), np.argsort(base, kind="stable"))


def test_equal_base_scores_leave_the_judgements_alone():
    X, judged, qid, _, _ = data(qid=QUERIES[1])
    models = [ResidualRefiner().fit(X, judged, qid, np.full(48, b)) for b in (0.1, 0.0)]
    assert models[0].base_weight_ == models[1].base_weight_ == 0.0
    assert_allclose(models[0].coef_, models[1].coef_)
    assert np.ptp(models[0].predict(X, np.zeros(48))) > 0.1


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.coo_array, sparse.csc_matrix])
def test_sparse_matrices_give_the_same_ranking(make):
    X, judged, qid, base, _ = data()
    X = X * (np.random.RandomState(1).uniform(size=X.shape) < 0.6)
    dense = ResidualRefiner().fit(X, judged, qid, base).predict(X, base)
    fitted = ResidualRefiner().fit(make(X), judged, qid, base)
    scores = fitted.predict(make(X), base)
    for query in np.unique(qid):
        gaps = (scores - dense)[qid == query]
        assert_allclose(gaps, gaps[0], atol=1e-9)


def test_monotone_transformations_of_the_grades_do_not_matter():
    X, judged, qid, base, _ = data()
    expected = ResidualRefiner().fit(X, judged, qid, base).predict(X, base)
    scores = ResidualRefiner().fit(X, np.exp(judged) - 5, qid, base).predict(X, base)
    assert_array_equal(scores, expected)


def test_large_weights_and_base_scores_are_finite():
    """Neither the squares of weights nor their products with base scores overflow."""
    X, judged, qid, base, _ = data()
    refiner = ResidualRefiner().fit(X, judged, qid, 1e306 * np.abs(base), np.full(48, 1e150))
    assert np.isfinite(refiner.coef_).all()
    assert refiner.base_weight_ > 0


def test_features_with_extreme_values_are_finite():
    X, judged, qid, base, _ = data()
    first = np.clip(X[:, 0], -9, 9)
    for factor in (1e300, 1e-300, 1e307):
        X[:, 0] = factor * first
        model = ResidualRefiner().fit(X, judged, qid, base)
        assert np.isfinite(model.predict(X, base)).all()


def film_ratings(n_judged):
    """Return X, base scores, ratings and judgements of users who see films that they like."""
    random = np.random.RandomState(0)
    factors, quality = random.normal(size=(400, 6)), random.normal(size=400)
    genres = (factors @ random.normal(size=(6, 12)) > 2).astype(float)
    tastes = 0.4 * random.normal(size=(40, 6))
    utility = 0.5 * quality + tastes @ factors.T
    seen = utility + 2 * random.gumbel(size=utility.shape) > 3.5
    ratings = np.clip(np.round(2 + utility + 0.8 * random.normal(size=utility.shape)), 0, 4)
    base = quality + 0.5 * random.normal(size=400)
    for user in range(40):
        films = np.flatnonzero(seen[user])
        judged = np.full(len(films), np.nan)
        judged[:n_judged] = ratings[user, films[:n_judged]]
        yield np.column_stack([genres, base])[films], base[films], ratings[user, films], judged


def recommended_items(n_judged):
    X, y, relevance, qid, base = make_recommender(40, n_rated=n_judged, random_state=1)
    for user in range(40):
        rows = qid == user
        yield X[rows], base[rows], relevance[rows], y[rows]


def items_of_hidden_taste():
    with patch.object(_recommender, "HIDDEN", 1.0):
        yield from recommended_items(10)


USERS = {
    "films, 10": partial(film_ratings, 10),
    "films, 20": partial(film_ratings, 20),
    "items, 5": partial(recommended_items, 5),
    "items, 20": partial(recommended_items, 20),
    "features without information": items_of_hidden_taste,
}


@pytest.mark.parametrize("users", USERS.values(), ids=USERS)
def test_never_worse_than_the_base_ranker_beyond_noise(users):
    gains = []
    for X, base, relevance, judged in users():
        rest = np.isnan(judged)
        scores = ResidualRefiner().fit(X, judged, base_scores=base).predict(X, base)
        before, after = (
            ndcg_score(relevance[rest], each[rest], k=10, empty="zero") for each in (base, scores)
        )
        gains.append(after - before)
    assert np.mean(gains) > -2 * np.std(gains) / np.sqrt(len(gains))


# -- Base scores.


def test_predictions_need_base_scores():
    X, judged, qid, base, _ = data()
    model = ResidualRefiner().fit(X, judged, qid, base)
    gaps = model.predict(X, base + 1) - model.predict(X, base)
    assert_allclose(gaps, model.base_weight_)
    for call in (model.predict, lambda X: model.score(X, np.arange(48), qid)):
        with pytest.raises(ValueError, match="base_scores=None"):
            call(X)
    assert model.score(X, np.arange(48), qid, base_scores=base) > 0


def test_base_rankers():
    X, judged, qid, _, _ = data()
    expected = ResidualRefiner().fit(X, judged, qid, X[:, 0]).predict(X, X[:, 0])
    ranker = LinearRegression().fit(X, X[:, 0])
    for base_ranker in (0, ranker, RankingRefiner(0, n_estimators=1).fit(X, judged, qid)):
        model = clone(ResidualRefiner(FrozenEstimator(base_ranker) if base_ranker else 0))
        scores = model.fit(X, judged, qid).predict(X)
        if base_ranker in (0, ranker):
            assert_allclose(scores, expected)
        # Scores that are given replace those of the base ranker.
        model.fit(X, judged, qid, base_scores=X[:, 0])
        assert_allclose(model.predict(X, base_scores=X[:, 0]), expected)


@pytest.mark.parametrize("unit", [1e-300, 1e300])
def test_the_unit_of_base_scores_does_not_matter(unit):
    X, judged, qid, base, _ = data()
    base = base / np.abs(base).max()
    expected = ResidualRefiner().fit(X, judged, qid, base).predict(X, base)
    scores = ResidualRefiner().fit(X, judged, qid, unit * base).predict(X, unit * base)
    assert_allclose(scores, expected)


def test_a_failed_fit_changes_nothing(fingerprint):
    X, judged, qid, base, _ = data()
    model = ResidualRefiner().fit(X, judged, qid, base)
    before = fingerprint(model)
    for arguments, message in (
        ((X, judged, qid, base[1:]), "one score for each of the 48 samples"),
        ((X, np.full(48, np.nan), qid, base), "nothing is judged"),
        ((X, judged, qid[1:], base), "qid"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(*arguments)
    with pytest.raises(ValueError, match="base_scores=None"):
        model.predict(X)
    assert fingerprint(model) == before


def test_a_fitted_refiner_keeps_its_base_ranker():
    X = np.random.RandomState(0).normal(size=(20, 3))
    refiner = ResidualRefiner(0).fit(X, (X[:, 1] > 0).astype(int))
    expected = refiner.predict(X)
    assert_array_equal(refiner.set_params(base_ranker=2).predict(X), expected)
