"""ConformalDocumentList keeps the risks that its docstring promises."""

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import binom
from sklearn.ensemble import AdaBoostRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklrank._checks.queries import Queries
from sklrank.boosting import ConformalDocumentList, HistGradientBoostingRanker
from sklrank.boosting._conformal_lists import (
    discovery_threshold,
    missed_threshold,
    risk_p_value,
)
from sklrank.model_selection import QueryKFold


class OneFeature(Ridge):
    """Ranker that scores documents by their only feature."""

    def predict(self, X):
        return np.asarray(X)[:, 0]


def draw(random, n_queries, size=8):
    """Draw documents, of which those with high scores are often relevant."""
    X = random.normal(size=(n_queries * size, 1))
    return X, random.normal(size=len(X)) < X[:, 0] - 0.7, np.repeat(np.arange(n_queries), size)


def frozen():
    return FrozenEstimator(OneFeature().fit([[0.0], [1.0]], [0, 1]))


def risk_of(risk, listed, relevant):
    """Return the risk of the list of one query, or None if it is not defined."""
    if risk == "recall":
        return (relevant & ~listed).sum() / relevant.sum() if relevant.any() else None
    return (listed & ~relevant).sum() / max(listed.sum(), 1)


def mean_risk(risk, scores, relevant, qid, threshold):
    values = [
        risk_of(risk, scores[qid == one] >= threshold, relevant[qid == one])
        for one in np.unique(qid)
    ]
    values = [value for value in values if value is not None]
    return np.mean(values), len(values)


@pytest.mark.parametrize("seed", range(20))
def test_threshold_of_recall_against_its_definition(seed):
    random = np.random.RandomState(seed)
    X, relevant, qid = draw(random, 15, 5)
    scores = np.round(X[:, 0], 1)  # with ties
    queries = Queries.from_qid(qid, len(qid))
    alpha = random.uniform(0.05, 0.6)
    threshold, n_queries, _ = missed_threshold(scores, relevant, queries, alpha, None)
    allowed = [-np.inf]
    for candidate in np.unique(scores):
        mean, n = mean_risk("recall", scores, relevant, qid, candidate)
        assert n == n_queries
        if (n * mean + 1) / (n + 1) <= alpha + 1e-12:
            allowed.append(candidate)
    # Between relevant documents, thresholds have the same risk.
    listed, best = scores >= threshold, scores >= max(allowed)
    assert_array_equal(listed[relevant], best[relevant])


@pytest.mark.parametrize("seed", range(20))
def test_threshold_of_discoveries_against_its_definition(seed):
    random = np.random.RandomState(seed)
    X, relevant, qid = draw(random, 40, 5)
    scores = np.round(X[:, 0], 1)
    shuffled = random.permutation(len(qid))
    queries = Queries.from_qid(qid[shuffled], len(qid))
    alpha, delta = random.uniform(0.2, 0.6), 0.2
    threshold, n_queries, _ = discovery_threshold(
        scores[shuffled], relevant[shuffled], queries, alpha, delta
    )
    expected = np.inf
    if risk_p_value(np.array([0.0]), n_queries, alpha)[0] <= delta:
        for candidate in np.unique(scores)[::-1]:
            mean, n = mean_risk("false-discovery", scores, relevant, qid, candidate)
            if risk_p_value(np.array([mean]), n, alpha)[0] > delta:
                break
            expected = candidate
    assert threshold == expected


def test_p_value_against_its_definition():
    n, alpha = 30, 0.3
    for mean in (0.0, 0.1, 0.25, 0.3, 0.5, 1.0):
        a = min(mean, alpha)
        term = 0.0 if a == 0 else a * np.log(a / alpha)
        hoeffding = np.exp(-n * (term + (1 - a) * np.log((1 - a) / (1 - alpha))))
        bentkus = np.e * binom.cdf(np.ceil(n * mean - 1e-9), n, alpha)
        expected = min(hoeffding, bentkus, 1)
        assert_allclose(risk_p_value(np.array([mean]), n, alpha), [expected])


def test_p_value_is_valid_for_the_hardest_risks():
    """Risks of 0 and 1 whose mean is alpha: the level is kept, by enumeration."""
    n, alpha = 25, 0.2
    counts = np.arange(n + 1)
    values = risk_p_value(counts / n, n, alpha)
    for delta in (0.05, 0.1, 0.3):
        assert binom.pmf(counts, n, alpha)[values <= delta].sum() <= delta


@pytest.mark.parametrize(
    ("risk", "kind", "value"), [("recall", "complete", True), ("false-discovery", "empty", False)]
)
def test_too_few_queries(risk, kind, value):
    X, y, qid = draw(np.random.RandomState(0), 12)
    lists = ConformalDocumentList(frozen(), alpha=0.01, risk=risk)
    with pytest.warns(UserWarning, match=f"alpha=0.01 needs at least .* will be {kind}") as caught:
        lists.fit(X, y, qid=qid)
    needed = int(str(caught[0].message).split("at least ")[1].split()[0])
    assert (lists.predict(X, qid=qid) == value).all()
    assert not np.isfinite(lists.threshold_)
    # As many as that are enough, if no document is missed or wrong.
    X, qid = np.tile([[0.0], [1.0]], (needed, 1)), np.repeat(np.arange(needed), 2)
    y = np.tile([0, 1], needed)
    lists.fit(X, y, qid=qid)
    assert np.isfinite(lists.threshold_)
    assert_array_equal(lists.predict(X, qid=qid), y == 1)
    with pytest.warns(UserWarning, match=f"needs at least {needed} "):
        lists.fit(X[2:], y[2:], qid=qid[2:])


def test_scores_are_compared_within_queries():
    """A number that is added to the scores of a query changes no list."""
    random = np.random.RandomState(0)
    X, y, qid = draw(random, 60)
    lists = ConformalDocumentList(frozen()).fit(X, y, qid=qid)
    moved = X + random.normal(size=60)[qid, np.newaxis]
    assert_array_equal(lists.predict(moved, qid=qid), lists.predict(X, qid=qid))
    assert 0 < lists.predict(X, qid=qid).mean() < 1
    order = random.permutation(len(X))
    assert_array_equal(lists.predict(X[order], qid=qid[order]), lists.predict(X, qid=qid)[order])


def test_rankers_get_the_queries():
    X, y, qid = draw(np.random.RandomState(0), 60)
    ranker = HistGradientBoostingRanker(max_iter=3, max_leaf_nodes=3, random_state=0)
    lists = ConformalDocumentList(ranker, random_state=0).fit(X, y, qid=qid)
    assert lists.ranker_._fitted_with_qid and not hasattr(ranker, "estimators_")
    piped = ConformalDocumentList(make_pipeline(StandardScaler(), ranker), random_state=0)
    piped.fit(X, y, qid=qid)
    assert piped.ranker_[-1]._fitted_with_qid
    assert_array_equal(piped.predict(X, qid=qid), lists.predict(X, qid=qid))
    with sklearn.config_context(enable_metadata_routing=True):
        assert_array_equal(piped.fit(X, y, qid=qid).predict(X, qid=qid), lists.predict(X, qid=qid))


def test_searches_get_the_queries():
    X, y, qid = draw(np.random.RandomState(0), 60)
    ranker = HistGradientBoostingRanker(max_iter=3, max_leaf_nodes=3, random_state=0)
    search = GridSearchCV(ranker, {"max_iter": [3]}, cv=QueryKFold(2))
    lists = ConformalDocumentList(search, random_state=0)
    with pytest.raises(ValueError, match="enable_metadata_routing=True"):
        lists.fit(X, y, qid=qid)
    with sklearn.config_context(enable_metadata_routing=True):
        lists.fit(X, y, qid=qid)
    expected = ConformalDocumentList(ranker, random_state=0).fit(X, y, qid=qid)
    assert lists.threshold_ == expected.threshold_
    ConformalDocumentList(AdaBoostRegressor(n_estimators=2)).fit(X, y, qid=qid)  # does not route


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_reach_the_ranker_with_their_categories(library):
    frames = pytest.importorskip(library)
    if library == "polars" and sklearn.__version__ < "1.9":
        pytest.skip("scikit-learn does not know polars 2")
    X, y, qid = draw(np.random.RandomState(0), 60)
    words = np.where(X[:, 0] > 0, "high", "low").tolist()
    enum = "category" if library == "pandas" else frames.Enum(["low", "high"])
    frame = frames.DataFrame({"x": X[:, 0], "word": frames.Series(words, dtype=enum)})
    ranker = HistGradientBoostingRanker(max_iter=3, max_leaf_nodes=3, random_state=0)
    lists = ConformalDocumentList(ranker, random_state=0).fit(frame, y, qid=qid)
    assert lists.feature_names_in_.tolist() == ["x", "word"]
    assert lists.ranker_.is_categorical_.tolist() == [False, True]
    codes = np.column_stack([X[:, 0], np.array(words) == "low"]).astype(float)
    ranker.set_params(categorical_features=[1])
    expected = ConformalDocumentList(ranker, random_state=0).fit(codes, y, qid=qid)
    assert_array_equal(lists.predict(frame, qid=qid), expected.predict(codes, qid=qid))


def test_invalid_input():
    X, y, qid = draw(np.random.RandomState(0), 60)
    lists = ConformalDocumentList(frozen()).fit(X, y, qid=qid)
    before = lists.threshold_
    with pytest.raises(ValueError, match="qid is None, but was passed to fit"):
        lists.predict(X)
    with pytest.raises(ValueError, match="y must be relevance, 0 or more"):
        lists.fit(X, y - 1.0, qid=qid)
    lists.set_params(ranker=FrozenEstimator(Ridge().fit(X, np.column_stack([y, y]))))
    with pytest.raises(ValueError, match="one score for each document, got the shape"):
        lists.fit(X, y, qid=qid)
    lists.set_params(ranker=FrozenEstimator(Ridge().fit(X, 1e300 * y)))
    with pytest.raises(ValueError, match="ranker predicts scores beyond"):
        lists.fit(X, y, qid=qid)
    assert lists.threshold_ == before


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.1, 0.2])
def test_coverage_and_size_of_lists_of_recall(alpha):
    """The mean over 100 sets of held-out queries is within a point of alpha, and not above it.

    The oracle knows the threshold at which the risk of the population is alpha.
    """
    random = np.random.RandomState(0)
    X, relevant, qid = draw(random, 20_000)
    queries = Queries.from_qid(qid, len(qid))
    scores = X[:, 0] - X[:, 0].reshape(-1, 8).mean(axis=1)[qid]
    of_query = relevant.reshape(-1, 8)
    has_one = of_query.any(axis=1)

    def evaluate(threshold):
        listed = scores.reshape(-1, 8) >= threshold
        missed = (of_query & ~listed).sum(axis=1)[has_one] / of_query.sum(axis=1)[has_one]
        return missed.mean(), listed.mean()

    grid = np.quantile(scores, np.linspace(0, 1, 2001))
    oracle = next(t for t in grid[::-1] if evaluate(t)[0] <= alpha)
    risks, sizes = [], []
    for _ in range(100):
        drawn = random.choice(queries.n_queries, 300, replace=False)
        rows = (8 * drawn[:, np.newaxis] + np.arange(8)).ravel()
        lists = ConformalDocumentList(frozen(), alpha=alpha)
        lists.fit(X[rows], relevant[rows], qid=qid[rows])
        risk, size = evaluate(lists.threshold_)
        risks.append(risk)
        sizes.append(size)
    error = np.std(risks) / np.sqrt(100)
    assert alpha - 0.01 < np.mean(risks) < alpha + 3 * error
    assert np.mean(sizes) < 1.1 * evaluate(oracle)[1]


@pytest.mark.slow
def test_level_of_false_discoveries():
    """The expected risk exceeds alpha for at most a tenth of the sets of held-out queries."""
    random = np.random.RandomState(0)
    X, relevant, qid = draw(random, 20_000)
    scores = (X[:, 0] - X[:, 0].reshape(-1, 8).mean(axis=1)[qid]).reshape(-1, 8)
    of_query = relevant.reshape(-1, 8)
    alpha, risks, sizes = 0.3, [], []
    for _ in range(100):
        drawn = random.choice(len(scores), 300, replace=False)
        rows = (8 * drawn[:, np.newaxis] + np.arange(8)).ravel()
        lists = ConformalDocumentList(frozen(), alpha=alpha, risk="false-discovery")
        lists.fit(X[rows], relevant[rows], qid=qid[rows])
        listed = scores >= lists.threshold_
        wrong = (listed & ~of_query).sum(axis=1) / np.maximum(listed.sum(axis=1), 1)
        risks.append(wrong.mean())
        sizes.append(listed.mean())
    exceeds = np.mean(np.array(risks) > alpha)
    assert exceeds <= 0.1 + 3 * np.sqrt(0.09 / 100)
    assert np.mean(risks) > alpha - 0.08 and np.mean(sizes) > 0.05
