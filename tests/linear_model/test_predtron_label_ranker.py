"""PredtronLabelRanker: labels of samples, ranked by graded relevance."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale

from sklrank.linear_model import PredtronLabelRanker
from sklrank.metrics import ndcg_score, rank_loss
from sklrank.model_selection import progressive_val_score

random = np.random.RandomState(0)
X = random.normal(size=(150, 8))
SCORES = X @ random.normal(size=(8, 5)) + 0.3 * random.normal(size=(150, 5))
GRADES = np.digitize(SCORES, [1, 4])
# Distinct grades in each row, so that no two rankings have equal losses.
RANKS = SCORES.argsort(axis=1).argsort(axis=1)


def ndcg(y, scores, k=None):
    """NDCG of one sample."""
    discounts = 1 / np.log2(2 + np.arange(len(y)))
    discounts[k or len(y) :] = 0
    gains = 2.0**y - 1
    best = np.sort(gains)[::-1] @ discounts
    return gains[np.argsort(-scores, kind="stable")] @ discounts / best


# -- A user's loss and representation.


class OwnNDCG:
    def gains(self, relevance):
        return 2.0**relevance - 1

    def discounts(self, n_positions):
        return 1 / np.log2(1 + np.arange(1, n_positions + 1))


class OwnPrecision:
    def gains(self, relevance):
        return (relevance > 0).tolist()

    def discounts(self, n_positions):
        return [1] * 2 + [0] * (n_positions - 2)


@pytest.mark.parametrize("update", ["loss-augmented", "loss-driven"])
@pytest.mark.parametrize(
    ("built_in", "own"), [({}, OwnNDCG()), ({"loss": "precision", "k": 2}, OwnPrecision())]
)
def test_own_loss(built_in, own, update):
    model = PredtronLabelRanker(update=update, **built_in, shuffle=False).fit(X, GRADES)
    twin = PredtronLabelRanker(update=update, loss=own, shuffle=False).fit(X, GRADES)
    assert_allclose(twin.coef_, model.coef_, atol=1e-9)
    assert_allclose(twin.mean_loss_, model.mean_loss_)


@pytest.mark.parametrize(
    ("built_in", "own"),
    [
        ({"representation": "linear"}, lambda positions: -positions),
        ({"representation": "reciprocal"}, lambda positions: (1 / positions).tolist()),
        ({"representation": "power", "power": 2}, lambda positions: -(positions**2)),
        ({}, lambda positions: -(positions**1.1)),
    ],
)
def test_own_representation(built_in, own):
    model = PredtronLabelRanker(**built_in, shuffle=False).fit(X, GRADES)
    twin = PredtronLabelRanker(representation=own, shuffle=False).fit(X, GRADES)
    assert_allclose(twin.coef_, model.coef_, atol=1e-12)


# -- Invariances.


@pytest.mark.parametrize("mirror_map", ["euclidean", "p-norm", "group-norm", "schatten"])
@pytest.mark.parametrize("average", [False, True])
def test_labels_can_be_permuted(mirror_map, average):
    model = PredtronLabelRanker(mirror_map=mirror_map, average=average, max_iter=2, shuffle=False)
    model.fit(X, RANKS)
    for order in ([4, 3, 2, 1, 0], [2, 0, 1, 4, 3]):
        permuted = clone(model).fit(X, RANKS[:, order])
        assert_allclose(permuted.coef_, model.coef_[order], atol=1e-9)
        assert_array_equal(permuted.predict(X), model.predict(X)[:, order])


def test_formats_of_y():
    """Dense or sparse, integers, booleans, lists, data frames; names of the labels."""
    model = PredtronLabelRanker(shuffle=False).fit(X, GRADES)
    for y in (
        GRADES.astype(float),
        GRADES.tolist(),
        sparse.csr_array(GRADES),
        sparse.coo_matrix(GRADES),
        pd.DataFrame(GRADES, columns=list("abcde")),
    ):
        assert_array_equal(clone(model).fit(X, y).coef_, model.coef_)
    indicator = clone(model).fit(X, GRADES > 0)
    assert_array_equal(clone(model).fit(X, 1 * (GRADES > 0)).coef_, indicator.coef_)
    assert model.classes_.tolist() == [0, 1, 2, 3, 4]
    named = PredtronLabelRanker(shuffle=False).partial_fit(X, GRADES, classes=list("zbcda"))
    assert_array_equal(named.coef_, model.coef_)
    assert named.predict_topk(X, 1)[0, 0] == "zbcda"[model.predict_topk(X, 1)[0, 0]]


@pytest.mark.filterwarnings("ignore:the relevance .* has the exponential gain")
def test_samples_of_one_grade_do_not_change_the_model():
    model = PredtronLabelRanker(shuffle=False).fit(X, GRADES)
    before = model.coef_
    for grade in (0.0, 3.0, 1000.0):
        model.partial_fit(X, np.full_like(SCORES, grade))
    assert_array_equal(model.coef_, before)
    assert model.n_rounds_ == 600


@pytest.mark.filterwarnings("ignore:the relevance .* has the exponential gain")
@pytest.mark.parametrize("rate", [1.0, 0.01])
def test_grades_may_be_in_the_hundreds(rate):
    """The gains 2^y - 1 would overflow; grades below the greatest one hardly count."""
    model = PredtronLabelRanker(learning_rate=rate, average=True, max_iter=3, shuffle=False)
    model.fit(X, GRADES * 1000)
    assert np.isfinite(model.coef_).all()
    assert 0 < model.mean_loss_ < 1
    one = model.set_params(max_iter=1).fit(X[:, :1], GRADES[:, :1])
    assert_array_equal(one.predict(X[:, :1]), np.ones((150, 1)))


# -- Predictions and scores.


def test_predictions_are_rankings():
    model = PredtronLabelRanker(average=True, shuffle=False).fit(X, GRADES)
    scores, positions = model.decision_function(X), model.predict(X)
    assert_array_equal(np.sort(positions, axis=1), np.tile(np.arange(1, 6), (150, 1)))
    assert_array_equal(positions, model.predict_ranks(X))
    order = np.argsort(-scores, axis=1)
    assert_array_equal(np.take_along_axis(positions, order, axis=1), np.sort(positions, axis=1))
    assert_array_equal(model.predict_topk(X, 3), order[:, :3])
    assert_array_equal(model.predict(np.zeros((1, 8))).shape, (1, 5))


@pytest.mark.parametrize("k", [None, 2])
def test_score(k):
    """Mean NDCG by its formula; samples without a relevant label do not count."""
    model = PredtronLabelRanker(k=k, shuffle=False).fit(X, GRADES)
    y = GRADES.copy()
    y[:10] = 0
    judged = y.any(axis=1)
    scores = model.decision_function(X)
    values = np.array([ndcg(*row, k=k) for row in zip(y[judged], scores[judged])])
    assert_allclose(model.score(X, y), values.mean())
    assert_allclose(model.score(X, sparse.csr_array(y)), values.mean())
    weights = np.arange(150.0)
    expected = np.average(values, weights=weights[judged])
    assert_allclose(model.score(X, y, sample_weight=weights), expected)
    assert_allclose(model.score(X, y, sample_weight=2.0), values.mean())
    with pytest.raises(ValueError, match=r"sample_weight must have the shape \(150,\)"):
        model.score(X, y, sample_weight=weights[:10])


@pytest.mark.filterwarnings("ignore:the relevance .* has the exponential gain")
def test_score_of_grades_without_relevance_or_exponential_gain():
    model = PredtronLabelRanker(shuffle=False).fit(X, GRADES)
    with pytest.raises(ValueError, match="^y has no relevant label.* include a sample"):
        model.score(X, np.zeros_like(GRADES))
    # The exponential gains of 1000 * GRADES would overflow. GRADES are the numbers of lower grades.
    model.fit(X, 1000 * GRADES)
    expected = ndcg_score(GRADES, model.decision_function(X), gain="linear")
    assert model.score(X, 1000 * GRADES) == pytest.approx(expected)


def test_it_learns():
    model = PredtronLabelRanker(average=True, max_iter=10, shuffle=False)
    assert model.fit(X[:100], GRADES[:100]).score(X[100:], GRADES[100:]) > 0.9
    model.set_params(kernel=partial(rbf_kernel, gamma=0.03))
    assert model.fit(X[:100], GRADES[:100]).score(X[100:], GRADES[100:]) > 0.9


# -- Invalid arguments.


def replaced(value):
    y = GRADES.astype(float)
    y[3, 1] = value
    return y


BAD_GRADES = [
    (replaced(np.nan), "y contains NaN"),
    (replaced(np.inf), "y contains infinity"),
    (replaced(-1), "y must be relevance, 0 or more; got -1"),
    (sparse.csr_array(replaced(-1)), "0 or more; got -1"),
    (GRADES[:, 0], "y must be the relevance of labels, of shape"),
    (GRADES[:, :, np.newaxis], "of shape \\(n_samples, n_labels\\)"),
    (GRADES[:-1], "y has 149 rows and X has 150"),
    (GRADES.astype(str).astype(object) + "?", "y must be relevance, numbers"),
    (None, "y is None"),
]


def test_invalid_grades_do_not_change_the_model(fingerprint):
    model = PredtronLabelRanker(average=True, shuffle=False).fit(X, GRADES)
    before = fingerprint(model)
    for y, message in BAD_GRADES:
        for method in (model.fit, model.partial_fit, model.progressive_fit, model.score):
            with pytest.raises(ValueError, match=message):
                method(X, y)
            assert fingerprint(model) == before
    for method in (model.partial_fit, model.progressive_fit):
        with pytest.raises(ValueError, match="y has 4 label columns, but the first call had 5"):
            method(X, GRADES[:, :4])
        with pytest.raises(ValueError, match="classes=.* lacks labels of the model"):
            method(X, GRADES, classes=list("abcde"))
        with pytest.raises(ValueError, match="classes must name labels"):
            method(X, GRADES, classes=5)
        assert fingerprint(model) == before
    with pytest.raises(ValueError, match="y must have a column for each of the 5 labels, got 4"):
        model.score(X, GRADES[:, :4])
    for classes in (list("abcd"), list("abcda")):
        with pytest.raises(ValueError, match="classes must name"):
            PredtronLabelRanker(shuffle=False).partial_fit(X, GRADES, classes=classes)


class Nonsense:
    def __init__(self, gains=None, discounts=None):
        self.gains = gains or OwnNDCG().gains
        self.discounts = discounts or OwnNDCG().discounts


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"loss": "map"}, "'loss' parameter"),
        ({"loss": "precision"}, "k must be a positive integer under loss='precision'"),
        ({"loss": OwnNDCG(), "k": 2}, "k must be None where loss is an object"),
        ({"loss": Nonsense(gains=lambda y: y[:1, :1])}, "loss must give a gain for each entry"),
        ({"loss": Nonsense(gains=lambda y: -y - 1)}, "loss must give gains from 0"),
        ({"loss": Nonsense(gains=lambda y: y / 0.0)}, "loss must give gains from 0"),
        ({"loss": Nonsense(gains=lambda y: y * 1e-310)}, "loss must give gains from 0"),
        ({"loss": Nonsense(gains=lambda y: "none")}, "loss must be numbers"),
        ({"loss": Nonsense(discounts=lambda n: np.ones(2))}, "loss must give 5 finite discounts"),
        ({"loss": Nonsense(discounts=lambda n: np.arange(n))}, "loss must give 5 finite discounts"),
        ({"loss": Nonsense(discounts=lambda n: -np.ones(n))}, "loss must give 5 finite discounts"),
        (
            {"loss": Nonsense(discounts=lambda n: np.arange(n, 0, -1))},
            "loss must have the same value at a position",
        ),
        ({"k": 0}, "'k' parameter"),
        ({"k": 1.5}, "'k' parameter"),
        ({"k": 6}, "k=6 is more than the 5 labels"),
        ({"representation": "cubic"}, "'representation' parameter"),
        ({"representation": lambda positions: positions}, "representation must give finite values"),
        (
            {"representation": lambda positions: -positions[:2]},
            "representation must return a value",
        ),
        (
            {"representation": lambda positions: -positions / len(positions)},
            "representation must have the same value at a position",
        ),
        ({"power": 0}, "'power' parameter"),
        ({"power": np.nan}, "'power' parameter"),
        ({"power": 1000}, "representation must give finite values"),
        ({"fit_intercept": 2}, "'fit_intercept' parameter"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning", "ignore:invalid value")
def test_bad_parameters_are_named(parameters, message, fingerprint):
    model = PredtronLabelRanker(shuffle=False).fit(X, GRADES).set_params(**parameters)
    before = fingerprint(model)
    with pytest.raises(ValueError, match=message):
        model.fit(X, GRADES)
    assert fingerprint(model) == before
    for method in ("partial_fit", "progressive_fit"):
        model = PredtronLabelRanker(**parameters, shuffle=False)
        with pytest.raises(ValueError, match=message):
            getattr(model, method)(X, GRADES)
        assert not hasattr(model, "classes_")


# -- With scikit-learn's tools.


def test_a_search_over_a_pipeline():
    search = GridSearchCV(
        make_pipeline(
            StandardScaler(), PredtronLabelRanker(max_iter=2, average=True, shuffle=False)
        ),
        {
            "predtronlabelranker__loss": ["ndcg", "precision"],
            "predtronlabelranker__representation": ["power", "reciprocal"],
            "predtronlabelranker__mirror_map": ["euclidean", "group-norm"],
            "predtronlabelranker__k": [3],
        },
        cv=2,
        error_score="raise",
    ).fit(X, GRADES)
    assert search.best_score_ > 0.85


def test_progressive_validation():
    rows, tags = make_multilabel_classification(80, random_state=0)
    rows = scale(rows)
    for chunk_size in (1, 20):
        found = progressive_val_score(
            PredtronLabelRanker(shuffle=False), rows, tags, chunk_size=chunk_size
        )
        # A model that is not fitted scores all labels equally.
        expected = [rank_loss(tags[:chunk_size], np.zeros((chunk_size, 5)))]
        model = PredtronLabelRanker(shuffle=False).partial_fit(rows[:chunk_size], tags[:chunk_size])
        for start in range(chunk_size, 80, chunk_size):
            part = slice(start, start + chunk_size)
            expected.append(rank_loss(tags[part], model.decision_function(rows[part])))
            model.partial_fit(rows[part], tags[part])
        of_chunks = found.reshape(-1, chunk_size).mean(axis=1)
        assert_allclose(of_chunks, expected)
