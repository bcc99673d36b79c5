"""The corrections of combination="residual", against Gaussian processes with full covariances."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse, stats
from scipy.linalg import null_space
from scipy.special import softmax

from sklrank.boosting import RankingRefiner
from sklrank.boosting import _residual_corrections as module
from sklrank.boosting._base_scores import KnownScores, hashes_of_rows
from sklrank.datasets import make_recommender
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
    distances = ((Z[:, np.newaxis] - Z[rows]) ** 2).mean(axis=2)
    kernels = [(Z[:, np.newaxis] * Z[rows]).mean(axis=2), np.exp(-distances / 2)]
    within = np.concatenate([base[qid == q] - base[qid == q].mean() for q in np.unique(qid)])
    g = base / np.sqrt(np.mean(within**2))
    # Contrasts of the documents of a query do not depend on its constant.
    contrasts = null_space((np.unique(qid[rows])[:, np.newaxis] == qid[rows]).astype(float))
    logs, means = [], []
    for slope in (0.25, 0.5, 1.0):
        z = contrasts.T @ (y - slope * g[rows])
        for kernel in [0 * kernels[0], *kernels]:
            for strength in (0.03, 0.1, 0.3, 1, 3) if kernel.any() else (1,):
                shape = np.eye(len(z)) + strength * contrasts.T @ kernel[rows] @ contrasts
                density = stats.multivariate_t(shape=0.5 * shape, df=2)
                prior = 0.5 / 10 if kernel.any() else 0.5
                logs.append(np.log(prior) + density.logpdf(z))
                weights = contrasts @ np.linalg.solve(shape, z)
                means.append(slope * g + strength * kernel @ weights)
    return softmax(logs) @ np.array(means), np.array(logs)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("qid", QUERIES, ids=["several queries", "one query"])
def test_scores_are_the_posterior_mean(seed, qid):
    X, judged, qid, base, _ = data(seed, qid)
    model = RankingRefiner().fit(X, judged, qid, base_scores=base)
    scores = model.predict(X)
    expected, logs = slow_scores(X, judged, qid, base)
    for query in np.unique(qid):
        of_query = qid == query
        assert_allclose(
            scores[of_query] - scores[of_query].mean(),
            expected[of_query] - expected[of_query].mean(),
            atol=1e-8,
        )
    unchanged = softmax(logs).reshape(3, 11)[:, 0].sum()
    assert_allclose(1 - model.estimator_weights_.sum(), unchanged, rtol=1e-8)


def test_a_given_confidence_is_the_slope():
    X, judged, qid, base, _ = data()
    scores = [
        RankingRefiner(confidence=confidence / unit).fit(X, judged, qid, base * unit).predict(X)
        for confidence, unit in ((0.1, 1.0), (0.1, 1e-3))
    ]
    assert_allclose(scores[0], scores[1])
    model = RankingRefiner(confidence=0.1).fit(X, judged, qid, base)
    assert_allclose(model.confidence_, np.full(4, 0.1))
    corrections = zip(model.estimators_, model.estimator_weights_)
    assert_allclose(scores[0], 0.1 * base + sum(w * c.predict(X) for c, w in corrections))


@pytest.mark.parametrize("confidence", [1e250, np.inf])
def test_a_certain_base_ranker_is_not_corrected(confidence):
    X, judged, qid, base, _ = data()
    scores = RankingRefiner(confidence=confidence).fit(X, judged, qid, base).predict(X)
    assert_array_equal(np.argsort(scores), np.argsort(base))


def test_without_information_the_base_ranking_stays():
    """Nothing is judged to be better, or all features are constant."""
    X, judged, qid, base, _ = data()
    for X_given, y in ((X, np.where(np.isnan(judged), np.nan, 1)), (np.ones_like(X), judged)):
        model = RankingRefiner().fit(X_given, y, qid, base_scores=base)
        assert model.estimators_ == []
        scores = model.predict(X_given, base_scores=base)
        assert_array_equal(np.argsort(scores, kind="stable"), np.argsort(base, kind="stable"))


def test_equal_base_scores_leave_the_judgements_alone():
    X, judged, qid, base, _ = data(qid=QUERIES[1])
    scores = [
        RankingRefiner(confidence=c).fit(X, judged, qid, base_scores=b).predict(X)
        for b, c in ((np.full(48, 0.1), "auto"), (np.zeros(48), 5.0), (base, 0.0))
    ]
    assert_allclose(scores[0], scores[1])
    assert_allclose(scores[0], scores[2])
    assert np.ptp(scores[0]) > 0.1


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.coo_array, sparse.csc_matrix])
def test_sparse_matrices_give_the_same_ranking(make):
    X, judged, qid, base, _ = data()
    X = X * (np.random.RandomState(1).uniform(size=X.shape) < 0.6)
    dense = RankingRefiner().fit(X, judged, qid, base).predict(X)
    fitted = RankingRefiner().fit(make(X), judged, qid, base)
    scores = fitted.predict(make(X))
    for query in np.unique(qid):
        gaps = (scores - dense)[qid == query]
        assert_allclose(gaps, gaps[0], atol=1e-9)


def test_monotone_transformations_of_the_grades_do_not_matter():
    X, judged, qid, base, _ = data()
    expected = RankingRefiner().fit(X, judged, qid, base).predict(X)
    scores = RankingRefiner().fit(X, np.exp(judged) - 5, qid, base).predict(X)
    assert_array_equal(scores, expected)


def test_features_with_extreme_values_are_finite():
    X, judged, qid, base, _ = data()
    first = np.clip(X[:, 0], -9, 9)
    for factor in (1e300, 1e-300, 1e307):
        X[:, 0] = factor * first
        model = RankingRefiner().fit(X, judged, qid, base)
        assert np.isfinite(model.predict(X)).all()


def test_landmarks_approximate_many_judgements(monkeypatch):
    random = np.random.RandomState(0)
    X, base = random.normal(size=(2, 300, 2)), random.normal(size=300)
    y = base + np.sin(2 * X[0, :, 0])
    exact = RankingRefiner(random_state=0).fit(X[0], y, base_scores=base)
    monkeypatch.setattr(module, "MAX_LANDMARKS", 100)
    few = RankingRefiner(random_state=0).fit(X[0], y, base_scores=base)
    scores = [model.predict(X[1], base_scores=base) for model in (exact, few)]
    assert np.corrcoef(*scores)[0, 1] > 0.999
    assert len(few.estimators_[-1].landmarks) == 100


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


def recommended_items(n_judged, **parameters):
    X, y, relevance, qid, base = make_recommender(
        40, n_rated=n_judged, random_state=1, **parameters
    )
    for user in range(40):
        rows = qid == user
        yield X[rows], base[rows], relevance[rows], y[rows]


USERS = {
    "films, 10": partial(film_ratings, 10),
    "films, 20": partial(film_ratings, 20),
    "items, 5": partial(recommended_items, 5),
    "items, 20": partial(recommended_items, 20),
    "features without information": partial(recommended_items, 10, hidden=1.0),
}


@pytest.mark.parametrize("users", USERS.values(), ids=USERS)
def test_never_worse_than_the_base_ranker_beyond_noise(users):
    gains = []
    for X, base, relevance, judged in users():
        rest = np.isnan(judged)
        scores = RankingRefiner().fit(X, judged, base_scores=base).predict(X, base)
        before, after = (
            ndcg_score(relevance[rest], each[rest], k=10, empty="zero") for each in (base, scores)
        )
        gains.append(after - before)
    assert np.mean(gains) > -2 * np.std(gains) / np.sqrt(len(gains))


# -- Base scores that were passed to fit.


def test_base_scores_of_training_samples_are_known():
    X, judged, qid, base, _ = data()
    model = RankingRefiner().fit(X[:45], judged[:45], qid[:45], base[:45])
    scores = model.predict(X[:45])
    assert_array_equal(model.predict(X[40:10:-2]), scores[40:10:-2])
    assert_array_equal(model.predict(X[:45], base[:45]), scores)
    assert_array_equal(next(model.staged_predict(X[:1])), next(model.staged_predict(X))[:1])
    with pytest.raises(ValueError, match="sample 1 of X is not among the training samples.*pass"):
        model.predict(np.vstack([X[0], X[1] + 1]))
    assert_allclose(
        model.predict(X[:3] + 1, base_scores=base[:3] + 1)
        - model.predict(X[:3] + 1, base_scores=base[:3]),
        model.confidence_[0],
    )


def test_equal_samples_with_different_base_scores():
    X, judged, qid, base, alone = data()
    base[alone] += 1
    model = RankingRefiner().fit(X, judged, qid, base)
    assert len(model.predict(X)) == len(model.predict(X[5:40])) + 13 == 48
    with pytest.raises(ValueError, match="equal to sample 2 of X have different base scores"):
        model.predict(X[[7, 8, 0]])
    with pytest.raises(ValueError, match="base_scores"):
        model.score(X[:5], np.ones(5), qid[:5])
    assert model.score(X[:20], np.arange(20), qid[:20], base_scores=base[:20]) > 0


def test_hashes_of_rows():
    X = np.random.RandomState(0).randint(-1, 2, size=(2000, 8)).astype(float)
    hashes = hashes_of_rows(X)
    assert len(np.unique(hashes)) == len(np.unique(X, axis=0))
    assert_array_equal(hashes_of_rows(sparse.csr_array(X)), hashes)
    assert_array_equal(hashes_of_rows(np.asfortranarray(X.astype(np.float32)) * -1 * -1), hashes)
    with_zeros = sparse.csr_array(X)
    with_zeros.data[::3] = 0
    assert_array_equal(hashes_of_rows(with_zeros), hashes_of_rows(with_zeros.toarray()))
    known = KnownScores(X, np.arange(2000.0))
    assert_array_equal(known(X), np.arange(2000.0))
