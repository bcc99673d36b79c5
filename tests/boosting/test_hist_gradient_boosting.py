"""HistGradientBoostingRanker: its trees and losses, and what held-out queries choose."""

from itertools import permutations

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import spearmanr
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline

from sklrank._checks.queries import Queries
from sklrank.boosting import HistGradientBoostingRanker, NDCGBoost, RankBoost
from sklrank.boosting._base import DocumentTarget, split_queries
from sklrank.boosting._hist_gradient_boosting import race as _tree_race
from sklrank.metrics import ndcg_score, ndcg_scorer
from sklrank.tree import HistogramTreeClassifier
from sklrank.tree._histogram import HistogramTreeRegressor
from sklrank.tree._histogram import trees as _histogram_tree


def make_many_queries(seed, n_queries=60, size=12, nonlinear=True):
    """Return documents of which few features matter, for one of them only in an interaction."""
    random = np.random.RandomState(seed)
    X = random.normal(size=(n_queries * size, 5))
    quality = np.maximum(X[:, 0], X[:, 1]) * np.sign(X[:, 2]) if nonlinear else X[:, 0]
    y = np.digitize(quality + 0.3 * random.normal(size=len(X)), [0.5, 1.5])
    return X, y, np.repeat(np.arange(n_queries), size)


def test_size_of_trees_and_number_of_rounds_are_chosen():
    train, test = make_many_queries(0), make_many_queries(1)
    stump = HistogramTreeClassifier(max_leaf_nodes=2, min_samples_leaf=1)
    stumps = NDCGBoost(stump).fit(*train).score(*test)
    trees = HistGradientBoostingRanker(random_state=0).fit(*train)
    assert trees.max_leaf_nodes_ > 2
    assert trees.score(*test) > stumps + 0.05
    X, y, qid = train
    noise = HistGradientBoostingRanker(random_state=0).fit(
        X, np.random.RandomState(0).permutation(y), qid
    )
    assert len(noise.estimators_) < 30 < len(trees.estimators_)
    assert noise.stop_reason_ == "held-out queries chose this number of rounds"
    cut = HistGradientBoostingRanker(max_iter=10, random_state=0).fit(*train)
    assert len(cut.estimators_) == cut.n_iter_ == 10
    assert cut.stop_reason_ == "max_iter rounds were fitted"


def test_few_queries_are_not_held_out():
    ranker = HistGradientBoostingRanker(max_iter=9).fit(*make_many_queries(0, n_queries=4, size=20))
    assert ranker.max_leaf_nodes_ == 8
    assert len(ranker.estimators_) == 9
    assert ranker.linear_ is None


def test_documents_of_a_single_query_are_held_out():
    X, y, _ = make_many_queries(0)
    one = np.zeros(len(y))
    noise = np.random.RandomState(0).permutation(y)
    assert len(HistGradientBoostingRanker(random_state=0).fit(X, noise, one).estimators_) < 30
    stopped = HistGradientBoostingRanker(early_stopping=True, max_iter=300, random_state=0)
    assert stopped.fit(X, y, one).n_iter_ < len(stopped.estimators_) < 300
    assert len(stopped.validation_loss_curve_) == len(stopped.estimators_) + 1


@pytest.mark.parametrize("init", [Ridge(), RankBoost(n_estimators=20)])
def test_estimator_as_start(init):
    """Rankers are fitted with queries, and the trees correct the scores."""
    X, y, qid = make_many_queries(0)
    settings = {"max_iter": 8, "max_leaf_nodes": 6, "early_stopping": False}
    ranker = HistGradientBoostingRanker(init=init, **settings).fit(X, y, qid)
    arguments = {} if isinstance(init, Ridge) else {"qid": qid}
    alone = clone(init).fit(X, y, **arguments).predict(X)
    assert_allclose(ranker.init_.predict(X), alone)
    assert_allclose(next(ranker.staged_predict(X)), alone + 0.25 * ranker.estimators_[0].predict(X))
    assert ranker.score(X, y, qid) > ndcg_score(y, alone, qid=qid) + 0.02
    assert ranker.linear_ is None and not hasattr(init, "n_features_in_")
    with pytest.raises(ValueError, match="init"):
        ranker.export_json()


@pytest.mark.parametrize("routing", [False, True])
def test_pipeline_as_start_gets_the_queries(routing):
    X, y, qid = make_many_queries(0)
    start = RankBoost(n_estimators=3)
    settings = {"max_iter": 2, "max_leaf_nodes": 6, "early_stopping": False}
    with sklearn.config_context(enable_metadata_routing=routing):
        ranker = HistGradientBoostingRanker(init=make_pipeline(start), **settings).fit(X, y, qid)
    assert_array_equal(ranker.init_.predict(X), start.fit(X, y, qid).predict(X))


def test_fitted_start_gets_the_columns_of_its_fit():
    pd = pytest.importorskip("pandas")
    X, y, qid = make_many_queries(0)
    frame = pd.DataFrame(X, columns=list("abcde"))
    start = FrozenEstimator(Ridge().fit(frame, y))
    ranker = HistGradientBoostingRanker(init=start, max_iter=2)
    with pytest.raises(ValueError, match="init was fitted to the features a, b, c, d, e, and X"):
        ranker.fit(frame[list("edcba")], y, qid)
    with pytest.raises(ValueError, match="init was fitted to a data frame"):
        ranker.fit(frame.assign(e=pd.Categorical(y)), y, qid)
    with pytest.warns(UserWarning, match="feature names"):
        ranker.fit(frame, y, qid)
        assert_allclose(ranker.init_.predict(X), start.predict(frame))


def test_start_of_an_estimator_has_weights():
    X, y, qid = make_many_queries(0)
    weights = np.where(qid % 2, 2.0, 1.0)
    ranker = HistGradientBoostingRanker(init=Ridge(), max_iter=2)
    ranker.fit(X, y, qid, query_weight=weights)
    assert_allclose(ranker.init_.coef_, Ridge().fit(X, y, weights).coef_)
    ranker.set_params(init=KNeighborsRegressor())
    with pytest.raises(ValueError, match="init must accept weights"):
        ranker.fit(X, y, qid, query_weight=weights)


@pytest.mark.parametrize("scoring", ["ndcg", "loss", clone(ndcg_scorer).set_params(k=5)])
def test_scoring(scoring):
    """Early stopping watches the metric."""
    X, y, qid = make_many_queries(0)
    validation = as_validation(1)
    ranker = HistGradientBoostingRanker(k=5, scoring=scoring, early_stopping=True, max_iter=40)
    ranker.fit(X, y, qid, **validation)
    X_val, y_val, qid_val = validation.values()
    values = [
        ndcg_score(y_val, scores, qid=qid_val, k=5) for scores in ranker.staged_predict(X_val)
    ]
    if scoring != "loss":
        assert_allclose(ranker.validation_loss_curve_[1:], np.negative(values))
        assert ranker.n_iter_ == 1 + np.argmax(values)


def test_scoring_of_a_loss_without_a_value():
    X, y, qid = make_many_queries(0)

    def loss(y, scores, query):
        return scores - y, np.ones(len(y))

    fixed = HistGradientBoostingRanker(loss, max_iter=5).fit(X, y, qid)
    assert (fixed.max_leaf_nodes_, len(fixed.estimators_), fixed.linear_) == (8, 5, None)
    raced = HistGradientBoostingRanker(loss, scoring="ndcg", random_state=0).fit(X, y, qid)
    assert raced.stop_reason_ == "held-out queries chose this number of rounds"
    assert raced.score(*make_many_queries(1)) > 0.95
    for refused, message in (
        ({"init": "linear"}, "init='linear' needs the value of the loss"),
        ({"early_stopping": True}, "scoring='loss' needs the value of the loss"),
    ):
        with pytest.raises(ValueError, match=message):
            HistGradientBoostingRanker(loss, **refused).fit(X, y, qid)
    for value in (np.nan, None, np.ones(2)):
        with pytest.raises(ValueError, match="scoring must return a finite number"):
            HistGradientBoostingRanker(scoring=lambda *_, **__: value).fit(X, y, qid)  # noqa: B023


def test_depth():
    X, y, qid = make_many_queries(0)
    for max_depth in 1, 3:
        ranker = HistGradientBoostingRanker(max_depth=max_depth, max_leaf_nodes=31, max_iter=3)
        for model in ranker.fit(X, y, qid).estimators_:
            nodes = model.tree_.nodes()
            depth = np.zeros(len(nodes["left"]), dtype=int)
            for node, left in enumerate(nodes["left"]):
                if left:
                    depth[[left, left + 1]] = depth[node] + 1
            assert depth.max() == max_depth


def test_rank_correlation_is_the_score():
    random = np.random.RandomState(0)
    X, y, qid = random.normal(size=(90, 2)), random.normal(size=90), np.arange(90) // 30
    ranker = HistGradientBoostingRanker("spearman", max_iter=5).fit(X, y, qid)
    scores = ranker.predict(X)
    of_queries = [spearmanr(y[qid == q], scores[qid == q])[0] for q in range(3)]
    assert_allclose(ranker.score(X, y, qid), np.mean(of_queries))
    assert_allclose(ranker.score(X, y, qid, qid), np.average(of_queries, weights=range(3)))
    with pytest.raises(ValueError, match="no query with documents of different relevance"):
        ranker.score(X, 0 * y, qid)
    linear = HistGradientBoostingRanker(gain="linear", max_iter=5).fit(X, y, qid)
    shifted = y - np.repeat([y[qid == q].min() for q in range(3)], 30)
    assert linear.score(X, y, qid) == ndcg_score(shifted, linear.predict(X), qid=qid, gain="linear")


def test_boosting_starts_from_linear_scores_if_they_help():
    """With many features of equal weight they do."""
    random = np.random.RandomState(0)
    qid = np.repeat(np.arange(40), 12)
    X = random.normal(size=(len(qid), 20))
    linear = HistGradientBoostingRanker(random_state=0).fit(
        X, np.digitize(X.sum(axis=1), [4, 8]), qid
    )
    assert_allclose(
        next(linear.staged_predict(X)) - linear.linear_.predict(X),
        0.25 * linear.estimators_[0].predict(X),
        atol=1e-12,
    )
    assert linear.feature_importances_.min() > 0.02
    for init in ("linear", None):
        given = HistGradientBoostingRanker(init=init, max_iter=3)
        assert (given.fit(X, np.abs(X[:, 0]) < 0.3, qid).linear_ is not None) == (init == "linear")


def test_validation_set():
    X, y, qid = make_many_queries(0)
    X_val, y_val, qid_val = make_many_queries(1)
    validation = {"X_val": X_val, "y_val": y_val, "qid_val": qid_val}
    ranker = HistGradientBoostingRanker(max_iter=12).fit(X, y, qid, **validation)
    objective = ranker._make_objective(
        DocumentTarget.of(y_val.astype(float), Queries.from_qid(qid_val, len(y_val)))
    )
    stages = list(ranker.staged_predict(X_val))
    expected = [objective.value_at(scores) for scores in stages]
    assert_allclose(ranker.validation_loss_curve_[1:], expected)
    stopped = HistGradientBoostingRanker(max_iter=400, early_stopping=True, n_iter_no_change=3)
    stopped.fit(X, y, qid, **validation)
    assert "has not decreased for 3 rounds" in stopped.stop_reason_
    assert stopped.n_iter_ == 1 + stopped.validation_loss_curve_[1:].argmin()
    assert_array_equal(
        stopped.predict(X_val), list(stopped.staged_predict(X_val))[stopped.n_iter_ - 1]
    )


def test_bad_validation_sets(fingerprint):
    X, y, qid = make_many_queries(0)
    ranker = HistGradientBoostingRanker(max_iter=3, random_state=0).fit(X, y, qid)
    before = fingerprint(ranker)
    without_gain = "^y_val has no query .* in the samples of X_val.*check y_val, and qid_val,"
    for changes, message in [
        ({"y_val": None}, "X_val and y_val must be passed together"),
        ({"qid_val": None}, "qid_val is None"),
        ({"y_val": [1.0]}, "y_val must have a value for each of the 720 rows of X_val"),
        ({"qid_val": [1, 2]}, r"^qid_val must be of shape \(720,\), got \(2,\)"),
        ({"y_val": np.zeros(720)}, without_gain),
        ({"X_val": np.zeros((720, 2))}, "X has 2 features"),
    ]:
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
    ranker = HistGradientBoostingRanker(random_state=0).fit(*train)
    assert ranker.score(*test) > 0.95
    assert ranker.feature_importances_[4] == 0
    assert ranker.feature_importances_[0] > 0.8
    X, _, _ = test
    assert ranker.predict(X)[np.isnan(X[:, 0])].min() > 0


def test_threads_do_not_change_the_ranker(monkeypatch):
    data = make_many_queries(0)
    one = HistGradientBoostingRanker(max_iter=9, random_state=0).fit(*data)
    monkeypatch.setattr(_histogram_tree, "LEAST_VALUES_FOR_THREADS", 0)
    two = HistGradientBoostingRanker(max_iter=9, random_state=0, n_jobs=2).fit(*data)
    assert_array_equal(two.predict(data[0]), one.predict(data[0]))


def test_queries_without_relevant_documents_do_not_matter():
    X, y, qid = make_many_queries(0)
    empty = np.isin(qid, [3, 59])
    kept = HistGradientBoostingRanker(max_iter=5).fit(
        X, np.where(empty, 0, y), qid, **as_validation(1)
    )
    alone = HistGradientBoostingRanker(max_iter=5).fit(
        X[~empty], y[~empty], qid[~empty], **as_validation(1)
    )
    assert_allclose(kept.loss_curve_[0], alone.loss_curve_[0], rtol=1e-4)
    assert kept.score(X, np.where(empty, 0, y), qid) > 0.7


def as_validation(seed):
    return dict(zip(["X_val", "y_val", "qid_val"], make_many_queries(seed)))


def test_the_race_uses_a_part_of_many_documents(monkeypatch):
    """The loss sees the documents that learn, and the metric those that are held out."""
    X, y, qid = make_many_queries(0, n_queries=300)
    learned, judged = set(), set()

    def loss(y, scores, query):
        learned.add(len(y))
        return scores - y, np.ones(len(y))

    def scoring(ranker, X, y, qid):
        judged.add(len(y))
        return ndcg_score(y, ranker.predict(X), qid=qid)

    monkeypatch.setattr(_tree_race, "RACE_SAMPLES", 600)
    ranker = HistGradientBoostingRanker(loss, scoring=scoring, max_iter=5, random_state=0)
    ranker.fit(X, y, qid)
    assert judged == {120}
    assert learned == {120, 480, len(y)}


def test_the_queries_of_early_stopping_do_not_race():
    """Whatever their relevance is, the trees are the same."""
    X, y, qid = make_many_queries(0)
    stopping = {"early_stopping": True, "validation_fraction": 0.25, "n_iter_no_change": 9}
    ranker = HistGradientBoostingRanker(max_iter=9, random_state=0, **stopping).fit(X, y, qid)
    _, held_out = split_queries(Queries.from_qid(qid, len(y)), 0.25, ranker._split_seed)
    changed = y.copy()
    changed[held_out] = np.random.RandomState(1).permutation(y[held_out])
    other = clone(ranker).fit(X, changed, qid)
    assert (other.validation_loss_curve_ != ranker.validation_loss_curve_).all()
    for scores, expected in zip(other.staged_predict(X), ranker.staged_predict(X)):
        assert_array_equal(scores, expected)


def test_one_query():
    """Nothing can be held out."""
    X, y, _ = make_many_queries(0, n_queries=20)
    ranker = HistGradientBoostingRanker(max_iter=20, early_stopping=False)
    ranker.fit(X, y, np.zeros(len(y)))
    assert len(ranker.estimators_) == 20
    assert ranker.score(X, y, np.zeros(len(y))) > 0.9
    with pytest.raises(ValueError, match="no query with documents of different relevance"):
        HistGradientBoostingRanker().fit(X, np.ones(len(y)), np.zeros(len(y)))


def test_queries_of_one_document():
    X, y, qid = make_many_queries(0)
    qid[60:] = np.arange(1000, 1000 + len(qid) - 60)
    ranker = HistGradientBoostingRanker(random_state=0).fit(X, y, qid)
    assert np.isfinite(ranker.predict(X)).all()
    assert ndcg_score(y, ranker.predict(X), qid=qid, k=1000) == ranker.score(X, y, qid)


# -- Slow statements.


def probability(F, i, j):
    """Return the probability that j is before i."""
    return 1 / (1 + np.exp(F[i] - F[j]))


# The weight of the pair (i, j) of a query, in which i should be first, of each loss of pairs.
PAIR_WEIGHTS = {
    "logistic": lambda G, F, i, j: max(G[i] - G[j], 0) * probability(F, i, j),
    "expected-ndcg": lambda G, F, i, j: G[i] * probability(F, i, j) * probability(F, j, i),
}


@pytest.mark.parametrize("loss", PAIR_WEIGHTS)
@pytest.mark.parametrize("learning_rate", [0.1, 2.0])
def test_the_default_never_raises_the_objective(loss, learning_rate):
    options = {"learning_rate": learning_rate, "max_iter": 15, "random_state": 0}
    ranker = HistGradientBoostingRanker(loss, **options)
    losses = ranker.fit(*make_many_queries(0, n_queries=30, nonlinear=False)).loss_curve_
    assert len(losses) == len(ranker.estimators_) + 1
    assert (losses[1:] <= losses[:-1] * (1 + 1e-12)).all()


@pytest.mark.parametrize("loss", PAIR_WEIGHTS)
@pytest.mark.parametrize("max_leaf_nodes", [2, 5])
def test_trees_are_fitted_to_the_gradients_and_hessians_of_the_pairs(loss, max_leaf_nodes):
    """The public tree, fitted to the ratios with the hessians as weights, is that of a round."""
    X, y, qid = make_many_queries(0, n_queries=8)
    ranker = HistGradientBoostingRanker(
        loss,
        learning_rate=0.3,
        max_iter=4,
        max_leaf_nodes=max_leaf_nodes,
        min_samples_leaf=4,
        init=None,
        early_stopping=False,
    ).fit(X, y, qid)
    tree = HistogramTreeRegressor(max_leaf_nodes=max_leaf_nodes, min_samples_leaf=4)
    F = np.zeros(len(y))
    for fitted in ranker.staged_predict(X):
        gradient, mass = np.zeros((2, len(y)))
        for q in range(8):
            documents = np.flatnonzero(qid == q)
            gains = 2.0 ** y[documents] - 1
            ideal = (np.sort(gains)[::-1] / np.log2(2 + np.arange(len(gains)))).sum()
            for i, j in permutations(range(len(documents)), 2):
                weight = PAIR_WEIGHTS[loss](gains / ideal / 8, F[documents], i, j)
                gradient[documents[[i, j]]] += weight, -weight
                mass[documents[[i, j]]] += weight
        seen = mass > 0
        tree.fit(X[seen], gradient[seen] / mass[seen], mass[seen])
        F += 0.15 * tree.predict(X)
        assert_allclose(fitted, F, atol=1e-9)


def test_monotonic_constraints_and_categories_of_linear_scores():
    """Wrong slopes are 0, and categories have no slope."""
    random = np.random.RandomState(0)
    X = random.normal(size=(400, 3))
    X[:, 2] = random.randint(4, size=400)
    y = np.digitize(X[:, 0] - X[:, 1] + np.array([0, 2, -2, 1])[X[:, 2].astype(int)], [1, 2])
    ranker = HistGradientBoostingRanker(
        max_iter=30, monotonic_cst=[1, 1, 0], categorical_features=[2], init="linear"
    ).fit(X, y, np.repeat(np.arange(40), 10))
    assert ranker.linear_.coef[0] > 0
    assert not ranker.linear_.coef[1:].any()
    assert ranker.feature_importances_[2] > 0.1
    low, high = X[:200].copy(), X[:200].copy()
    high[:, :2] += random.exponential(size=(200, 2))
    assert (ranker.predict(high) >= ranker.predict(low) - 1e-12).all()


def test_warm_start_keeps_what_was_chosen():
    X, y, qid = make_many_queries(0)
    ranker = HistGradientBoostingRanker(max_iter=5, warm_start=True, random_state=0).fit(X, y, qid)
    size = ranker.max_leaf_nodes_
    ranker.set_params(max_iter=8, l2_regularization=1e6).fit(X, y, qid)
    assert len(ranker.estimators_) == 8
    last = ranker.estimators_[-1]
    assert last.max_leaf_nodes == ranker.max_leaf_nodes_ == size
    # Other parameters are those that the ranker has now.
    assert last.l2_regularization == 1e6 and np.abs(last.predict(X)).max() < 1e-3
    ranker.set_params(max_iter=9, max_leaf_nodes=3).fit(X, y, qid)
    assert ranker.estimators_[-1].tree_.n_nodes <= 5 and ranker.max_leaf_nodes_ == 3
    ranker.set_params(max_iter=8)
    with pytest.raises(ValueError, match="max_iter=7 is less than the 9 rounds"):
        ranker.set_params(max_iter=7).fit(X, y, qid)


@pytest.mark.slow
def test_mq2008(letor_data):
    """The first fold, mean of three seeds; see examples/paper_ndcg_boost.py for all folds."""
    X_train, *train = letor_data(1, 2, 3)
    X_test, grades, qid = letor_data(5)
    scores = []
    for seed in range(3):
        ranker = HistGradientBoostingRanker(random_state=seed).fit(X_train, *train)
        scores.append(ndcg_score(grades, ranker.predict(X_test), qid=qid, k=10))
    assert np.mean(scores) >= 0.715
