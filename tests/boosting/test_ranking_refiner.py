"""The public interface of RankingRefiner; see also `test_refinement_objectives.py`."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, Perceptron
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from sklrank.boosting import NDCGBoost, RankingRefiner
from sklrank.datasets import make_recommender
from sklrank.metrics import ndcg_score
from sklrank.tree import HistogramTreeClassifier

PARAMETERS = [
    {},
    {"combination": "sum", "balance": 0.3},
    {"noise": 0.0, "learning_rate": 0.3},
    {"weighting": "resampling"},
    {"noise": 0.5, "response_method": "predict", "learning_rate": 1.0},
    {"estimator": DecisionTreeClassifier(max_depth=2, random_state=0)},
    {
        "estimator": DecisionTreeClassifier(max_depth=2),
        "response_method": "predict_proba",
        "weighting": "resampling",
    },
    {"estimator": LogisticRegression(), "response_method": "predict_proba", "noise": "auto"},
]

COMBINATIONS = pytest.mark.parametrize("combination", ["sum", "product"])


@pytest.fixture
def data():
    """Return documents of three queries in mixed order; the base scores are the first feature."""
    random = np.random.RandomState(0)
    X = random.normal(size=(60, 4)).round(1)
    qid = random.choice(["a", "b", "c"], size=60)
    relevance = np.digitize(X[:, 0] + X[:, 1], [0.5, 1.5]).astype(float)
    judged = np.where(random.random_sample(60) < 0.4, relevance, np.nan)
    return X, judged, qid


def refiner(**parameters):
    fixed = {"n_estimators": 12, "random_state": 0, "weighting": "auto"}
    return RankingRefiner(0, **fixed | parameters)


@pytest.mark.parametrize("parameters", PARAMETERS, ids=str)
def test_the_objective_never_rises(data, parameters):
    model = refiner(**parameters).fit(*data)
    assert len(model.loss_curve_) == len(model.estimators_) + 1 > 2
    assert (np.diff(model.loss_curve_) <= 1e-12 * model.loss_curve_[0]).all()
    assert (model.estimator_weights_ > 0).all()


@pytest.mark.parametrize("parameters", PARAMETERS, ids=str)
def test_the_first_round_by_hand(data, parameters):
    """The objective and the confidence by loops over all pairs of documents of a query."""
    X, judged, qid = data
    model = refiner(**parameters).fit(*data)
    noise = model.noise_
    base_loss = judgement_loss = n_judged = 0.0
    for k, query in enumerate(np.unique(qid)):
        documents = np.flatnonzero(qid == query)
        confidence = 1 / np.sort(X[documents, 0])[-10:].std()
        assert_allclose(model.confidence_[k], confidence)
        for i in documents:
            for j in documents:
                # W_ij + W_ji = 1.
                base_loss += 0.5
                is_judged = judged[i] > judged[j]
                judgement_loss += 1 - noise / 2 if is_judged else noise / 2
                n_judged += is_judged
    if parameters.get("noise", "auto") == "auto":
        assert_allclose((1 - noise) * n_judged, judgement_loss / 2)
    else:
        assert noise == parameters["noise"]
    if parameters.get("combination") == "sum":
        assert_allclose(model.loss_curve_[0], parameters["balance"] * base_loss + judgement_loss)
    else:
        assert_allclose(model.loss_curve_[0], base_loss * judgement_loss)


def draw(labels, weights, size, random):
    """Draw samples in proportion to their weights; if there is one label, the last one anew."""
    drawn = random.choice(len(labels), size=size, p=weights / weights.sum())
    others = np.where(labels == labels[drawn[0]], 0, weights)
    if not others[drawn].any():
        drawn[-1] = random.choice(len(labels), p=others / others.sum())
    return drawn


def slow_refinement(X, base, judged, n_rounds, *, combination, noise, learning_rate, method, size):
    """Return the scores of Algorithm 6 for one query, by sums over all pairs of documents."""
    n, random = len(X), np.random.RandomState(0)
    rate = 1 / np.sort(base)[-10:].std()
    W = 1 / (1 + np.exp(rate * (base[np.newaxis, :] - base[:, np.newaxis])))
    T = np.where(judged[:, np.newaxis] > judged, 1 - noise / 2, noise / 2)
    F = np.zeros(n)
    for _ in range(n_rounds):
        costs = np.exp(F[np.newaxis, :] - F[:, np.newaxis])
        if combination == "product":
            gamma = W * costs / np.sum(W * costs) + T * costs / np.sum(T * costs)
        else:
            gamma = 0.3 * W * costs + T * costs
        w = np.array([sum(gamma[i, j] - gamma[j, i] for j in range(n)) for i in range(n)])
        labels = (w > 0).astype(int)
        random.randint(np.iinfo(np.int32).max)  # the seed of the stump, which it does not use
        drawn = draw(labels, np.abs(w), size, random)
        stump = HistogramTreeClassifier(max_leaf_nodes=2, min_samples_leaf=1)
        stump.fit(X[drawn], labels[drawn])
        f = stump.predict(X) if method == "predict" else stump.predict_proba(X)[:, 1]
        pairs = [(i, j) for i in range(n) for j in range(n) if i != j]
        correct = sum(gamma[i, j] * f[i] * (1 - f[j]) for i, j in pairs)
        incorrect = sum(gamma[i, j] * (1 - f[i]) * f[j] for i, j in pairs)
        if correct <= incorrect:
            break
        F = F + learning_rate * 0.5 * np.log(correct / incorrect) * f
    return F


@pytest.mark.parametrize("combination", ["product", "sum"])
@pytest.mark.parametrize("printed", [True, False])
def test_the_rounds_are_those_of_algorithm_6(data, combination, printed):
    """With the default weak learner, and the defaults or the printed values."""
    X, judged, _ = data
    # Half of the sum of T is that of the judged pairs.
    n_judged = np.sum(judged[:, np.newaxis] > judged)
    rules = {"noise": 2 * n_judged / (2 * n_judged + 60**2), "learning_rate": 0.2}
    method, size, parameters = "predict_proba", 20, {}
    if printed:
        rules, method = {"noise": 0.5, "learning_rate": 1.0}, "predict"
        parameters = rules | {"response_method": method}
    model = RankingRefiner(
        0, n_estimators=6, combination=combination, balance=0.3, random_state=0, **parameters
    )
    scores = model.fit(X, judged).predict(X)
    expected = slow_refinement(
        X, X[:, 0], judged, 6, combination=combination, method=method, size=size, **rules
    )
    assert_allclose(scores, expected, rtol=1e-8, atol=1e-10)
    assert np.ptp(scores) > 0


@pytest.mark.parametrize("base_ranker", [0, LinearRegression()], ids=str)
@pytest.mark.parametrize("method", ["predict", "predict_proba"])
def test_all_methods_with_both_response_methods(data, base_ranker, method):
    X, judged, qid = data
    if base_ranker:
        base_ranker.fit(X, X[:, 0])
    model = RankingRefiner(base_ranker, n_estimators=3, response_method=method).fit(X, judged, qid)
    *_, last = model.staged_predict(X)
    assert_allclose(model.predict(X), last)
    assert 0 <= model.score(X, judged, qid) <= 1


@pytest.mark.parametrize("parameters", PARAMETERS[:3], ids=str)
def test_order_of_samples_and_names_of_queries_do_not_matter(data, parameters):
    X, judged, qid = data
    expected = refiner(**parameters).fit(X, judged, qid).predict(X)
    order = np.random.RandomState(1).permutation(len(X))
    names = {"a": 7, "b": 3, "c": 5}
    renamed = np.array([names[query] for query in qid])
    model = refiner(**parameters).fit(X[order], judged[order], renamed[order])
    assert_allclose(model.predict(X), expected, rtol=1e-8)


@COMBINATIONS
def test_pairs_equal_grades(data, combination):
    X, judged, qid = data
    better = (judged[:, None] > judged) & (qid[:, None] == qid)
    pairs = np.argwhere(better)
    model = refiner(combination=combination).fit(X, qid=qid, pairs=np.vstack([pairs, pairs[:5]]))
    expected = refiner(combination=combination).fit(*data).predict(X)
    assert_allclose(model.predict(X), expected, rtol=1e-10)


@COMBINATIONS
def test_kinds_of_base_rankers(data, combination):
    pd = pytest.importorskip("pandas")
    X, judged, qid = data
    expected = refiner(combination=combination).fit(*data).predict(X)
    regressor = LinearRegression().fit(X, X[:, 0])
    classifier = LogisticRegression().fit(X, X[:, 0] > 0)
    frame = pd.DataFrame(X, columns=list("wxyz"))

    def predictions(X, base_ranker=None, **kwargs):
        model = RankingRefiner(
            base_ranker, n_estimators=12, combination=combination, weighting="auto"
        )
        return model.fit(X, judged, qid, **kwargs).predict(X)

    assert_array_equal(predictions(X, base_scores=X[:, 0]), expected)
    assert_array_equal(predictions(X, 3, base_scores=X[:, 0]), expected)
    assert_array_equal(predictions(frame, "w"), expected)
    assert_allclose(predictions(X, regressor), expected)
    assert_array_equal(
        predictions(X, classifier), predictions(X, base_scores=classifier.decision_function(X))
    )
    with pytest.raises(ValueError, match="not fitted yet"):
        clone(RankingRefiner(regressor)).fit(*data)
    frozen = clone(
        RankingRefiner(
            FrozenEstimator(regressor), n_estimators=12, combination=combination, weighting="auto"
        )
    )
    assert_allclose(frozen.fit(*data).predict(X), expected)


def test_base_ranker_needs_no_fit_method(data):
    class Formula:
        def predict(self, X):
            return X[:, 0]

    X = data[0]
    by_formula = RankingRefiner(Formula(), random_state=0).fit(*data)
    assert_array_equal(
        by_formula.predict(X), RankingRefiner(0, random_state=0).fit(*data).predict(X)
    )


def test_document_ranker_as_base_ranker(data):
    X, judged, qid = data
    known = np.isfinite(judged)
    base = NDCGBoost(n_estimators=5).fit(X[known], judged[known], qid[known])
    by_model = RankingRefiner(base, n_estimators=5, random_state=0).fit(*data).predict(X)
    by_scores = (
        RankingRefiner(n_estimators=5, random_state=0)
        .fit(*data, base_scores=base.predict(X))
        .predict(X)
    )
    assert_array_equal(by_model, by_scores)


def test_each_query_has_its_own_confidence(data):
    """The unit of the base scores of one query does not matter."""
    X, _, qid = data
    scores = X[:, 0]
    scaled = np.where(qid == "b", 1000 * scores - 5, scores)
    product = RankingRefiner(n_estimators=9, random_state=0)
    models = [clone(product).fit(*data, base_scores=s) for s in (scores, scaled)]
    assert_allclose(models[0].predict(X), models[1].predict(X), rtol=1e-8)
    assert_allclose(models[0].confidence_[1], 1000 * models[1].confidence_[1])


def test_equal_top_scores_mean_infinite_confidence(data):
    X, judged, _ = data
    base = np.where(np.arange(60) < 10, 5.0, X[:, 0])
    model = RankingRefiner(n_estimators=5).fit(X, judged, base_scores=base)
    assert_array_equal(model.confidence_, [np.inf])
    assert np.isfinite(model.predict(X)).all()


@COMBINATIONS
@pytest.mark.parametrize("unit", [1e-300, 1e300])
def test_the_unit_of_base_scores_does_not_matter(data, unit, combination):
    X, judged, qid = data
    base = X[:, 0] / np.abs(X[:, 0]).max()
    unfitted = RankingRefiner(n_estimators=9, combination=combination, random_state=0)
    expected = clone(unfitted).fit(X, judged, qid, base)
    model = clone(unfitted).fit(X, judged, qid, unit * base)
    assert_allclose(model.confidence_ * unit, expected.confidence_)
    assert_allclose(model.predict(X), expected.predict(X))


# scikit-learn sums the scores to check that they are finite.
@pytest.mark.filterwarnings("ignore:invalid value encountered in reduce")
@COMBINATIONS
def test_extreme_differences(data, combination):
    X, judged, qid = data
    base = np.where(X[:, 0] > 0, 1.5e308, -1.5e308)
    grades = np.where(judged == 2, 1.5e308, np.where(judged == 0, -1.5e308, judged))
    unfitted = RankingRefiner(n_estimators=9, combination=combination, random_state=0)
    model = clone(unfitted).fit(X, grades, qid, base)
    as_judged = clone(unfitted).fit(X, judged, qid, base)
    assert_array_equal(model.predict(X), as_judged.predict(X))
    assert np.isfinite(model.predict(X)).all()


def test_large_balance_follows_the_base_ranker(data):
    scores = [
        refiner(combination="sum", balance=balance).fit(*data).predict(data[0])
        for balance in (1e9, 1e100)
    ]
    assert_allclose(scores[0], scores[1], atol=1e-6)
    assert np.ptp(scores[1]) > 0


def test_equal_judgements_follow_the_base_ranker(data):
    X = data[0]
    judged = np.where(np.arange(60) < 5, 0.0, np.nan)
    for noise in (0.5, "auto"):
        model = refiner(n_estimators=300, noise=noise, learning_rate=1.0).fit(X, judged)
        assert np.corrcoef(model.predict(X), X[:, 0])[0, 1] > 0.95
    assert model.noise_ == 1.0


@pytest.mark.slow
def test_refinement_ranks_better_than_the_base_ranker():
    X, y, relevance, qid, base = make_recommender(20, n_rated=20, random_state=0)
    X = np.column_stack([X, base])
    model = RankingRefiner(5, n_estimators=40, random_state=0)
    gains = []
    for user in range(20):
        rows = qid == user
        rest = np.isnan(y[rows])
        refined = model.fit(X[rows], y[rows]).predict(X[rows])
        before, after = (
            ndcg_score(relevance[rows][rest], scores[rest], k=10)
            for scores in (base[rows], refined)
        )
        gains.append(after - before)
    assert np.mean(gains) > 2 * np.std(gains) / np.sqrt(20)


def test_staged_predictions(data):
    X = data[0]
    model = refiner().fit(*data)
    stages = list(model.staged_predict(X))
    assert len(stages) == 12
    assert_allclose(stages[-1], model.predict(X))
    shorter = refiner(n_estimators=5).fit(*data)
    assert_allclose(stages[4], shorter.predict(X))


@pytest.mark.parametrize("parameters", PARAMETERS, ids=str)
def test_seeds_and_pickle(data, parameters):
    model, again = (refiner(**parameters).fit(*data) for _ in range(2))
    for other in (again, pickle.loads(pickle.dumps(model))):
        assert_array_equal(other.loss_curve_, model.loss_curve_)
        assert_array_equal(other.predict(data[0]), model.predict(data[0]))


def test_scores_are_sums_of_probabilities(data):
    """Also if the response method is changed, which applies to the next fit only."""
    X = data[0]
    parameters = {"estimator": LogisticRegression(), "response_method": "predict_proba"}
    model = refiner(**parameters).fit(*data).set_params(response_method="predict")
    proba = [weak.predict_proba(X)[:, 1] for weak in model.estimators_]
    assert_allclose(model.predict(X), model.estimator_weights_ @ proba)


def test_score_leaves_out_documents_that_are_not_judged(data):
    X, judged, qid = data
    model = refiner().fit(*data)
    known = np.isfinite(judged)
    expected = ndcg_score(judged[known], model.predict(X)[known], qid=qid[known])
    assert model.score(X, judged, qid) == pytest.approx(expected)
    assert model.score(X.tolist(), judged.tolist(), qid.tolist()) == pytest.approx(expected)
    with pytest.raises(ValueError, match="qid is None"):
        model.score(X, judged)
    with pytest.raises(ValueError, match="nothing is judged"):
        model.score(X, np.full(60, np.nan), qid)
    with pytest.raises(ValueError, match=r"qid must be of shape \(60,\), got \(59,\)"):
        model.score(X, judged, qid[:-1])
    with pytest.raises(ValueError, match="inconsistent numbers"):
        model.score(X, judged, qid, np.ones(59))


@COMBINATIONS
def test_score_of_negative_grades(data, combination):
    """Such grades have no exponential gain: that of a document is the number of lower grades."""
    X, judged, qid = data
    known = np.isfinite(judged)
    model = refiner(combination=combination).fit(X, judged - 1, qid)
    expected = ndcg_score(judged[known], model.predict(X)[known], qid=qid[known], gain="linear")
    assert set(judged[known]) == {0.0, 1.0, 2.0}
    assert model.score(X, judged - 1, qid) == pytest.approx(expected)
    message = "y has no relevant document, one of a grade above the lowest one, -1, in any query"
    with pytest.raises(ValueError, match=message):
        model.score(X, np.full(60, -1.0), qid)


class TwoScores(LinearRegression):
    def __sklearn_is_fitted__(self):
        return True

    def predict(self, X):
        return X[:, :2]


NO_BASE = RankingRefiner()
BASE = RankingRefiner(0)
BAD = [
    (NO_BASE, {"base_scores": np.zeros(5)}, r"60 samples.*\(5,\)"),
    (NO_BASE, {"base_scores": np.zeros((60, 2))}, r"one score"),
    (NO_BASE, {"base_scores": np.full(60, np.nan)}, "base_scores contains NaN"),
    (RankingRefiner(4), {}, "base_ranker=4.*0 to 3"),
    (RankingRefiner(TwoScores()), {}, "the scores of base_ranker must be one score"),
    (RankingRefiner("price"), {}, "base_ranker='price'.*no names"),
    (RankingRefiner(LinearRegression()), {}, "not fitted"),
    (RankingRefiner(-1), {}, "base_ranker"),
    (RankingRefiner(True), {}, "'base_ranker' parameter .* must be an int .* Got True"),
    (RankingRefiner(0, balance=1e101), {}, "balance"),
    (BASE, {"y": ["good"] * 60}, "y must be numbers"),
    (NO_BASE, {"base_scores": ["high"] * 60}, "base_scores must be numbers"),
    (BASE, {"y": None, "pairs": [[0, 1], [2]]}, "pairs must hold two indices"),
    (BASE, {"y": None}, "requires y to be passed"),
    (BASE, {"y": np.full(60, np.nan)}, "nothing is judged"),
    (BASE, {"y": np.zeros(5)}, "60 rows"),
    (BASE, {"y": np.full(60, np.inf)}, "y contains infinity"),
    (BASE, {"y": np.full(60, 1j)}, "type complex128"),
    (BASE, {"qid": np.zeros(5)}, "qid"),
    (BASE, {"pairs": [[0, 1]]}, "y and pairs are both given"),
    (BASE, {"y": None, "pairs": [[0, 60]]}, "from 0 to 59; got 60"),
    (BASE, {"y": None, "pairs": [[-1, 0]]}, "got -1"),
    (BASE, {"y": None, "pairs": [[0, 1]], "qid": np.arange(60)}, "with the same qid"),
    (BASE, {"y": None, "pairs": [[3, 3]], "qid": None}, "two documents of one query"),
    (BASE, {"y": None, "pairs": [[0.0, 1.0]]}, "integers"),
    (BASE, {"y": None, "pairs": [0, 1]}, "shape"),
    (BASE, {"y": None, "pairs": np.empty((0, 2), int)}, "shape"),
    (RankingRefiner(0, noise=0), {"y": np.ones(60)}, "noise=0"),
    (RankingRefiner(0, noise=1.1), {}, "noise"),
    (RankingRefiner(0, noise=np.nan), {}, "noise"),
    (RankingRefiner(0, balance=-1), {}, "balance"),
    (RankingRefiner(0, combination="both"), {}, "combination"),
    (RankingRefiner(0, LinearRegression()), {}, "must be a classifier"),
    (RankingRefiner(0, response_method="decision_function"), {}, "response"),
    (
        RankingRefiner(0, Perceptron(), response_method="predict_proba"),
        {},
        "Perceptron.* has no predict_proba",
    ),
]


@pytest.mark.parametrize("model, changes, message", BAD, ids=lambda part: str(part)[:40])
def test_bad_input_is_refused_by_name(data, fingerprint, model, changes, message):
    arguments = dict(zip(("X", "y", "qid"), data)) | changes
    model = clone(model)
    before = fingerprint(model)
    with pytest.raises(ValueError, match=message):
        model.fit(**arguments)
    assert fingerprint(model) == before


def test_names_of_features(data):
    pd = pytest.importorskip("pandas")
    X, judged, qid = data
    frame = pd.DataFrame(X, columns=list("wxyz"))
    with pytest.raises(ValueError, match="'price' is not a feature of X, which has w, x, y, z"):
        RankingRefiner("price").fit(frame, judged, qid)


def test_sparse_matrices(data):
    from scipy import sparse

    X, judged, qid = data
    tree = DecisionTreeClassifier(max_depth=1, random_state=0)
    dense = refiner(estimator=tree).fit(X, judged, qid)
    for make in (sparse.csr_array, sparse.coo_array, sparse.dia_array):
        fitted = refiner(estimator=tree).fit(make(X), judged, qid)
        assert_allclose(fitted.predict(make(X)), dense.predict(X))
        assert fitted.score(make(X), judged, qid) == pytest.approx(dense.score(X, judged, qid))


def test_probabilities_that_are_nan_are_refused(data):
    X, judged, qid = data
    model = RankingRefiner(0, GaussianNB(), 3, weighting="auto").fit(X, judged, qid)
    extreme = X.copy()
    extreme[0, 0] = 1e308
    with pytest.raises(ValueError, match="GaussianNB predicts NaN or infinity"):
        with np.errstate(all="ignore"):
            model.predict(extreme)
