"""PredtronClassifier: classes, label sets and rejections."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, make_multilabel_classification
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale

from sklrank.linear_model import PredtronClassifier
from sklrank.metrics import reject_loss
from sklrank.model_selection import progressive_val_score

IRIS, SPECIES = load_iris(return_X_y=True)
IRIS = scale(IRIS)
ORDER = np.random.RandomState(0).permutation(150)
IRIS, SPECIES = IRIS[ORDER], SPECIES[ORDER]
TEXTS, TAGS = make_multilabel_classification(300, n_classes=4, random_state=0)
TEXTS = scale(TEXTS)


def same_model(a, b):
    assert_allclose(a.coef_, b.coef_, atol=1e-12)
    assert_allclose(a.intercept_, b.intercept_, atol=1e-12)
    assert_allclose(a.mean_loss_, b.mean_loss_)


# -- Losses.


@pytest.mark.parametrize("update", ["loss-augmented", "loss-driven"])
@pytest.mark.parametrize(
    ("name", "twins"),
    [
        ("zero_one", [[1, 1, 1], 1 - np.eye(3), lambda true, guess: true != guess]),
        ("absolute", [[[0, 1, 2], [1, 0, 1], [2, 1, 0]], lambda true, guess: abs(true - guess)]),
        ("hamming", ["zero_one", "error_set_size", "subset_zero_one"]),
    ],
)
def test_losses_of_classes(name, twins, update):
    """A name, a vector, a table and a function of equal costs; names of losses of label sets."""
    model = PredtronClassifier(loss=name, update=update, max_iter=2, shuffle=False).fit(
        IRIS, SPECIES
    )
    for twin in twins:
        same_model(clone(model).set_params(loss=twin).fit(IRIS, SPECIES), model)


@pytest.mark.parametrize(
    ("name", "twin"),
    [
        ("zero_one", lambda tp, fp, fn, tn: (fp > 0) | (fn > 0)),
        ("subset_zero_one", "zero_one"),
        ("hamming", lambda tp, fp, fn, tn: fp + fn),
        ("error_set_size", lambda tp, fp, fn, tn: fp * fn),
    ],
)
def test_losses_of_label_sets(name, twin):
    model = PredtronClassifier(loss=name, shuffle=False).fit(TEXTS, TAGS)
    same_model(clone(model).set_params(loss=twin).fit(TEXTS, TAGS), model)


def test_functions_get_the_classes():
    """A cost function gets the true and the predicted class label."""
    prices = {("setosa", "virginica"): 4.0}
    names = np.array(["setosa", "versicolor", "virginica"])
    model = PredtronClassifier(
        loss=lambda true, guess: prices.get((true, guess), true != guess), shuffle=False
    )
    table = [[0, 1, 4], [1, 0, 1], [1, 1, 0]]
    same_model(
        model.fit(IRIS, names[SPECIES]),
        PredtronClassifier(loss=table, shuffle=False).fit(IRIS, SPECIES),
    )


# -- Class labels, indicator matrices.


@pytest.mark.parametrize(
    "names", [list("abc"), [10, 20, 30], ["c", "bb", "a"], [2.0, -1.0, 0.0], [True, False]]
)
@pytest.mark.parametrize("reject_cost", [None, 0.1])
def test_classes_have_names(names, reject_cost):
    """The columns are those of the sorted class labels, whatever their type."""
    kept = len(names) > SPECIES
    X, y = IRIS[kept], SPECIES[kept]
    indices = np.argsort(np.argsort(names))[y]
    plain = PredtronClassifier(reject_cost=reject_cost, mirror_map="positive", shuffle=False).fit(
        X, indices
    )
    for kind in (None, object) if isinstance(names[0], str) else (None,):
        model = clone(plain).fit(X, np.array(names, dtype=kind)[y])
        assert model.classes_.tolist() == sorted(names)
        assert_array_equal(model.decision_function(X), plain.decision_function(X))
        found, indices = model.predict(X), plain.predict(X)
        accepted = indices >= 0
        assert_array_equal(found[accepted], model.classes_[indices[accepted]])
        assert (found[~accepted] == model.reject_label_).all()


def test_indicators():
    """Dense or sparse, with names of the labels."""
    model = PredtronClassifier(loss="hamming", shuffle=False).partial_fit(
        TEXTS, TAGS, classes=list("abcd")
    )
    assert model.classes_.tolist() == list("abcd")
    explicit = sparse.coo_array(TAGS)
    explicit.data[:5] = 0
    for known in (sparse.csr_array(TAGS), sparse.csc_matrix(TAGS), TAGS.astype(bool), TAGS * 1.0):
        other = PredtronClassifier(loss="hamming", shuffle=False).fit(TEXTS, known)
        assert_array_equal(other.coef_, model.coef_)
    zeros = TAGS.copy()
    zeros[explicit.coords[0][:5], explicit.coords[1][:5]] = 0
    same_model(clone(other).fit(TEXTS, explicit), clone(other).fit(TEXTS, zeros))
    predictions = model.predict(TEXTS)
    assert_array_equal(predictions, model.decision_function(TEXTS) > 0)
    assert_allclose(model.score(TEXTS, TAGS), np.mean((predictions == TAGS).all(axis=1)))
    assert_allclose(model.score(TEXTS, sparse.csr_array(TAGS)), model.score(TEXTS, TAGS))


def test_columns_can_be_permuted():
    order = [2, 0, 3, 1]
    model = PredtronClassifier(loss="hamming", average=True, shuffle=False).fit(TEXTS, TAGS)
    permuted = clone(model).fit(TEXTS, TAGS[:, order])
    assert_allclose(permuted.coef_, model.coef_[order], atol=1e-12)


def test_two_classes():
    """They share one row of weights, and the decision function has one column."""
    X, y = IRIS[SPECIES > 0], SPECIES[SPECIES > 0]
    model = PredtronClassifier(max_iter=3, shuffle=False).fit(X, y)
    assert model.coef_.shape == (1, 4)
    difference = model.decision_function(X)
    assert_allclose(difference, X @ model.coef_[0] + model.intercept_, atol=1e-12)
    assert_array_equal(model.predict(X), np.where(difference > 0, 2, 1))


# -- Rejections.


def rejecting_model(**parameters):
    return PredtronClassifier(
        **{"reject_cost": 0.1, "mirror_map": "positive"} | parameters, shuffle=False
    )


def test_score_of_rejections_among_costs():
    """Mistakes and rejections may cost more than 1."""
    costs = np.array([[0, 2, 5], [1, 0, 4], [3, 3, 0.0]])
    model = rejecting_model(loss=costs).set_params(reject_cost=1.5).fit(IRIS, SPECIES)
    predictions = model.predict(IRIS)
    assert 0 < np.mean(predictions == -1) < 1
    lost = [1.5 if p == -1 else costs[y, p] for y, p in zip(SPECIES, predictions)]
    assert_allclose(model.score(IRIS, SPECIES), 1 - np.mean(lost))


@pytest.mark.parametrize("costs", [0.1, [0.1, 0.2, 0.4]])
def test_score_of_rejections(costs):
    """The score is 1 - mean cost, where a rejection costs that of its class and a mistake 1."""
    model = rejecting_model().set_params(reject_cost=costs).fit(IRIS, SPECIES)
    predictions = model.predict(IRIS)
    assert 0 < np.mean(predictions == -1) < 1
    each = np.broadcast_to(costs, 3)[SPECIES]
    lost = np.where(predictions == -1, each, predictions != SPECIES)
    assert_allclose(model.score(IRIS, SPECIES), 1 - lost.mean())
    weights = np.random.RandomState(0).rand(150)
    expected = 1 - np.average(lost, weights=weights)
    assert_allclose(model.score(IRIS, SPECIES, sample_weight=weights), expected)


def test_score_of_unknown_classes():
    """A prediction costs the maximum over classes; cross-validation works."""
    costs = np.array([[0, 2, 5], [1, 0, 4], [3, 3, 0.0]])
    model = rejecting_model(loss=costs).set_params(reject_cost=[1.5, 0.5, 1]).fit(IRIS, SPECIES)
    predictions = model.predict(IRIS)
    assert set(predictions) == {-1, 0, 1, 2}
    greatest = {-1: 1.5, 0: 3, 1: 3, 2: 5}
    assert_allclose(
        model.score(IRIS, np.full(150, 7)), 1 - np.mean([greatest[p] for p in predictions])
    )
    rare = np.append(SPECIES, 3)
    with pytest.warns(UserWarning, match="least populated class"):
        scores = cross_val_score(rejecting_model(), np.vstack([IRIS, IRIS[0]]), rare)
    assert np.isfinite(scores).all()


@pytest.mark.parametrize(
    ("y", "weights", "message"),
    [
        (SPECIES[:1], None, "inconsistent numbers of samples"),
        (SPECIES[:-1], None, "inconsistent numbers of samples"),
        (SPECIES, np.ones(149), "sample_weight must have the shape"),
        (SPECIES, np.zeros(150), "sample_weight is all zeros"),
        (SPECIES, np.full(150, -1.0), "sample_weight must not be negative"),
    ],
)
def test_score_of_rejections_refuses_bad_input(y, weights, message):
    model = rejecting_model().fit(IRIS, SPECIES)
    with pytest.raises(ValueError, match=message):
        model.score(IRIS, y, sample_weight=weights)


@pytest.mark.parametrize(
    ("classes", "expected"),
    [
        ([0, 1, 2], -1),
        ([-1, 0, 1], -2),
        ([-7, 0, 1], -1),
        ([-7, -1, 1], -8),
        ([-1.0, 0.0, 2.0], -2),
        (list("abc"), "reject"),
        (["a", "reject", "reject_"], "reject__"),
    ],
)
def test_labels_of_rejections(classes, expected):
    """They are no classes but of the same type; strings may be longer."""
    y = np.array(classes)[SPECIES]
    for kind in (y, y.astype(object)) if y.dtype.kind == "U" else (y,):
        model = rejecting_model().fit(IRIS, kind)
        assert model.reject_label_ == expected
        predictions = model.predict(IRIS)
        assert {expected} < set(predictions.tolist()) <= {*classes, expected}
        assert_array_equal(model.predictions_, [*classes, expected])
        hits = predictions == y
        assert_allclose(model.score(IRIS, y), np.mean(hits + 0.9 * (predictions == expected)))


@pytest.mark.parametrize("kind", [np.uint8, np.uint32, np.uint64, np.int64])
def test_rejections_leave_large_numbers_as_they_are(kind):
    """Also those that no float represents exactly."""
    classes = np.iinfo(kind).max - np.arange(3, dtype=kind)
    predictions = rejecting_model().fit(IRIS, classes[SPECIES]).predict(IRIS).tolist()
    assert set(predictions) <= {*classes.tolist(), -1}
    assert {type(label) for label in predictions} == {int}


def test_without_the_option():
    model = PredtronClassifier(shuffle=False).fit(IRIS, SPECIES)
    assert model.reject_label_ is None
    assert_allclose(model.score(IRIS, SPECIES), np.mean(model.predict(IRIS) == SPECIES))


def test_metrics_of_rejections():
    """Computed by hand, for a mistake, two rejections and two hits."""
    y, found = [0, 1, 2, 1, 0], [0, 2, -1, 1, -1]
    assert_allclose(reject_loss(y, found, reject_cost=0.25), 1.5 / 5)
    costs = [9, 9, 0.5, 9, 0.1]
    assert_allclose(reject_loss(y, found, reject_cost=costs), 1.6 / 5)
    weights = [1, 2, 3, 0, 4]
    assert_allclose(
        reject_loss(y, found, reject_cost=costs, sample_weight=weights), (2 + 1.5 + 0.4) / 10
    )


# -- Invalid arguments.


@pytest.mark.parametrize("cost", [-0.1, np.nan, np.inf, "free", [0.1, 0.2]])
def test_costs_of_rejections_refused_by_name(cost):
    with pytest.raises(
        ValueError, match="^reject_cost must be a number of 0 or more, or 3 of them"
    ):
        reject_loss([0, 1, 0], [0, -1, 1], reject_cost=cost)


def test_metric_of_rejections_needs_samples():
    with pytest.raises(ValueError, match="^y_pred has no samples"):
        reject_loss([], [], reject_cost=0.1)


BAD_TARGETS = [
    (np.where(np.arange(150) == 3, np.nan, SPECIES), "y contains NaN"),
    (np.where(np.arange(150) == 3, np.inf, SPECIES), "y contains infinity"),
    (SPECIES + 0.5 * (np.arange(150) == 3), "Unknown label type"),
    (SPECIES[:-1], "y has 149 rows and X has 150"),
    (np.column_stack([SPECIES, SPECIES]), "class labels"),
]


def test_invalid_targets_do_not_change_the_model(fingerprint):
    model = PredtronClassifier(average=True, shuffle=False).fit(IRIS, SPECIES)
    before = fingerprint(model)
    more = [(SPECIES + 1, "not in `classes`"), (TAGS[:150], "an indicator matrix; call fit")]
    for y, message in [*BAD_TARGETS, *more]:
        for method in (model.partial_fit, model.progressive_fit):
            with pytest.raises(ValueError, match="|".join([message, "first call"])):
                method(IRIS, y)
        assert fingerprint(model) == before
    for y, message in [*BAD_TARGETS, (np.zeros(150), "one class only")]:
        with pytest.raises(ValueError, match=message):
            model.fit(IRIS, y)
        assert fingerprint(model) == before
    with pytest.raises(ValueError, match="lacks labels of the model"):
        model.partial_fit(IRIS, SPECIES, classes=[0, 1])
    assert fingerprint(model) == before


def test_invalid_indicators_do_not_change_the_model(fingerprint):
    model = PredtronClassifier(loss="hamming", shuffle=False).fit(TEXTS, TAGS)
    before = fingerprint(model)
    for Y, message in [
        (TAGS[:, :3], "3 label columns"),
        (TAGS[:-1], "299 rows"),
        (TAGS[:, 0], "class labels, but the first call had an indicator"),
        (TAGS * 2, "class labels of shape"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.partial_fit(TEXTS, Y)
        assert fingerprint(model) == before


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"loss": "square"}, "'loss' parameter"),
        ({"loss": [1, 2]}, "loss must give one cost for each of the 3 classes"),
        ({"loss": np.ones((3, 4))}, "loss must give one cost for each of the 3 classes"),
        ({"loss": np.ones((3, 3))}, "loss must be 0 where the prediction is the true class"),
        ({"loss": [1, -1, 1]}, "loss must be from 0 to 1e.60"),
        ({"loss": [1, np.nan, 1]}, "loss must be from 0 to 1e.60"),
        ({"loss": [1, np.inf, 1]}, "loss must be from 0 to 1e.60"),
        ({"loss": [1, "a", 1]}, "loss must be numbers"),
        ({"loss": lambda true, guess: "a"}, "loss must be numbers"),
        ({"loss": lambda true, guess: 1}, "loss must be 0 where"),
        ({"reject_cost": np.inf}, "reject_cost"),
        ({"reject_cost": -0.1}, "reject_cost"),
        ({"reject_cost": [0.1, 0.2]}, "reject_cost must be a number from 0 to 1e.60, or one"),
        ({"reject_cost": [0.1, 0.2, np.nan]}, "reject_cost must be"),
        ({"reject_cost": "cheap"}, "reject_cost"),
        ({"reject_cost": 0.3, "representation": "simplex"}, "does not go with representation"),
        ({"representation": "binary"}, "'representation' parameter"),
        ({"representation": np.ones(3)}, "representation must have a row"),
        ({"representation": np.eye(3) * [1, 1, 0]}, "representation must have a row"),
        ({"representation": np.eye(3) * [1, 1, np.nan]}, "representation must have a row"),
        ({"representation": np.ones((3, 2))}, "representation must have rows of different"),
        ({"representation": lambda classes: "abc"}, "representation must be numbers"),
        ({"representation": np.eye(4)}, "loss must give one cost for each of the 3 classes"),
        ({"representation": np.eye(2), "loss": [[0, 1], [1, 0], [1, 1]]}, "loss must be 0 for"),
        ({"fit_intercept": "yes"}, "'fit_intercept' parameter"),
    ],
)
def test_bad_parameters_are_named(parameters, message, fingerprint):
    model = PredtronClassifier(shuffle=False).fit(IRIS, SPECIES).set_params(**parameters)
    before = fingerprint(model)
    with pytest.raises(ValueError, match=message):
        model.fit(IRIS, SPECIES)
    assert fingerprint(model) == before
    for method in ("partial_fit", "progressive_fit"):
        model = PredtronClassifier(**parameters, shuffle=False)
        with pytest.raises(ValueError, match=message):
            getattr(model, method)(IRIS, SPECIES)
        assert not hasattr(model, "classes_")


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        (lambda tp, fp, fn, tn: np.ones(2), "loss must return a number for each entry"),
        (lambda tp, fp, fn, tn: tp * 1.0, "loss must be 0 where no label is in error"),
        (lambda tp, fp, fn, tn: -fp, "loss must be from 0 to 1e.60"),
        (lambda tp, fp, fn, tn: fp + np.where(fn > 0, np.nan, 0), "loss must be from 0"),
        ("absolute", "pass a 1-d y"),
    ],
)
def test_bad_losses_of_label_sets(loss, message):
    model = PredtronClassifier(loss=loss, shuffle=False)
    for method in ("fit", "partial_fit"):
        with pytest.raises(ValueError, match=message):
            getattr(model, method)(TEXTS, TAGS)
        assert not hasattr(model, "classes_")


@pytest.mark.parametrize("parameters", [{"reject_cost": 0.1}, {"representation": "simplex"}])
def test_options_of_class_labels(parameters):
    with pytest.raises(ValueError, match="y is an indicator matrix"):
        PredtronClassifier(**parameters, shuffle=False).fit(TEXTS, TAGS)


# -- With scikit-learn's tools.


@pytest.mark.filterwarnings("ignore:loss has no effect")
def test_a_search_over_a_pipeline():
    search = GridSearchCV(
        make_pipeline(
            StandardScaler(), PredtronClassifier(max_iter=3, average=True, shuffle=False)
        ),
        {
            "predtronclassifier__loss": ["zero_one", "absolute", [1, 2, 1]],
            "predtronclassifier__mirror_map": ["euclidean", "p-norm"],
            "predtronclassifier__learning_rate": [1.0, 0.1],
        },
        cv=3,
        error_score="raise",
    ).fit(IRIS, SPECIES)
    assert search.best_score_ > 0.9


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("parameters", [{}, {"reject_cost": 0.2}])
def test_progressive_scores_have_a_column_for_each_class(n_classes, parameters):
    """Also for two classes, as in every online classifier."""
    X, y = IRIS[n_classes > SPECIES], SPECIES[n_classes > SPECIES]
    scores = PredtronClassifier(**parameters, shuffle=False).progressive_fit(
        X, y, classes=range(n_classes)
    )
    assert scores.shape == (len(X), n_classes)
    model = PredtronClassifier(**parameters, shuffle=False).partial_fit(
        X[:1], y[:1], classes=range(n_classes)
    )
    for i in range(1, 30):
        decision = model.decision_function(X[[i]])[0]
        expected = scores[i, 1] - scores[i, 0] if n_classes == 2 else scores[i]
        assert_allclose(expected, decision, atol=1e-12)
        model.partial_fit(X[[i]], y[[i]])


def test_progressive_validation():
    scores = PredtronClassifier(shuffle=False).progressive_fit(IRIS, SPECIES)
    hits = progressive_val_score(
        PredtronClassifier(shuffle=False), IRIS, SPECIES, scoring="accuracy"
    )
    assert_array_equal(hits, scores.argmax(axis=1) == SPECIES)
    losses = progressive_val_score(
        PredtronClassifier(loss="hamming", shuffle=False), TEXTS, TAGS, chunk_size=10
    )
    assert losses.shape == (300,)
    assert losses[100:].mean() < 0.3


# -- Accuracy.


@pytest.mark.parametrize(
    ("parameters", "bound"),
    [
        ({}, 0.9),
        ({"kernel": partial(rbf_kernel, gamma=0.1)}, 0.9),
        ({"mirror_map": "group-norm"}, 0.88),
    ],
)
def test_digits(parameters, bound):
    X, y = load_digits(return_X_y=True)
    X = X / 16 - X.mean() / 16
    model = PredtronClassifier(average=True, max_iter=5, **parameters, shuffle=False)
    assert model.fit(X[:1200], y[:1200]).score(X[1200:], y[1200:]) > bound


def test_rejections_among_dates_are_refused():
    dates = np.array(["2020", "2021", "2022"], dtype="M8[D]")[SPECIES]
    with pytest.raises(ValueError, match="y holds classes of the type datetime64"):
        rejecting_model().fit(IRIS, dates)
    model = PredtronClassifier(shuffle=False).fit(IRIS, dates)
    assert model.predict(IRIS).dtype == dates.dtype


def test_score_accepts_the_targets_of_fit():
    Y = np.eye(3, dtype=int)[SPECIES]
    expected = PredtronClassifier(loss="hamming", shuffle=False).fit(IRIS, Y).score(IRIS, Y)
    for kind in (pd.DataFrame(Y).astype("Int64"), Y.astype(">i4"), Y.tolist(), Y.astype(bool)):
        assert (
            PredtronClassifier(loss="hamming", shuffle=False).fit(IRIS, kind).score(IRIS, kind)
            == expected
        )
