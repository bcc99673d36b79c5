"""Common behavior of the compiled online classifiers: chunks, weights, inputs, errors.

The three estimators share `CompiledClassifier` of `sklrank._online.classifier`; each test runs on
all of them.
"""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning, NotFittedError

from sklrank.linear_model import OnlineLogisticRegression, OnlineRidgeClassifier
from sklrank.tree import HoeffdingTreeClassifier

# So loose that trees split after a few samples.
QUICK = {"grace_period": 7.7, "delta": 0.3, "tau": 0.7}
MODELS = {
    "tree-mc": HoeffdingTreeClassifier(leaf_prediction="mc", **QUICK, shuffle=False),
    "tree-nb": HoeffdingTreeClassifier(leaf_prediction="nb", **QUICK, shuffle=False),
    "tree-nba": HoeffdingTreeClassifier(max_leaves=6, **QUICK, shuffle=False),
    "logistic": OnlineLogisticRegression(learning_rate=0.5, shuffle=False),
    "logistic-ovr": OnlineLogisticRegression(multi_class="ovr", shuffle=False),
    "ridge": OnlineRidgeClassifier(alpha=0.3, shuffle=False),
    "ridge-rbf": OnlineRidgeClassifier(kernel="rbf", n_components=8, random_state=0, shuffle=False),
}
TREES = {name for name in MODELS if name.startswith("tree")}


@pytest.fixture(params=MODELS)
def name(request):
    return request.param


@pytest.fixture
def model(name):
    return clone(MODELS[name])


def stream(seed=0, n_rows=120, n_classes=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    X = rng.normal(size=(n_rows, 4)) + rng.normal(0, 1.5, (n_classes, 4))[y]
    X[:, 1] = np.round(X[:, 1])
    return X, y, rng.gamma(2.0, size=n_rows)


# -- Samples one by one.


@settings(
    max_examples=10,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_classes=st.integers(2, 4),
    cuts=st.lists(st.integers(1, 119), unique=True, max_size=8).map(sorted),
    between=st.lists(st.sampled_from(["predict", "pickle", "nothing"]), min_size=9, max_size=9),
)
@pytest.mark.parametrize("name", MODELS)
def test_chunks_do_not_matter(name, seed, n_classes, cuts, between, fingerprint):
    """One call and chunks, with predictions and pickles in between, give the same model."""
    X, y, weights = stream(seed, n_classes=n_classes)
    classes = np.arange(n_classes)
    at_once = clone(MODELS[name]).partial_fit(X, y, classes, weights)
    model = clone(MODELS[name])
    for rows, action in zip(np.split(np.arange(len(X)), cuts), between, strict=False):
        model.partial_fit(X[rows], y[rows], classes, weights[rows])
        if action == "predict":
            model.predict_proba(X)
        elif action == "pickle":
            model = pickle.loads(pickle.dumps(model))
    assert_array_equal(model.predict_proba(X), at_once.predict_proba(X))
    assert fingerprint(model) == fingerprint(at_once)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(("cuts", "n_classes"), [([], 4), ([1, 40, 41, 90], 2)])
def test_progressive_fit_predicts_then_learns(name, cuts, n_classes, fingerprint):
    """As predict_proba and partial_fit per sample; samples of weight zero are only predicted."""
    X, y, weights = stream(n_classes=n_classes)
    weights[[0, 7, 8, -1]] = 0.0
    classes = np.arange(n_classes)
    slow, expected = clone(MODELS[name])._init_model(4, classes), []
    for i in range(len(X)):
        row = slice(i, i + 1)
        expected.append(slow.predict_proba(X[row])[0])
        slow.partial_fit(X[row], y[row], sample_weight=weights[row])
    model, found = clone(MODELS[name]), []
    for rows in np.split(np.arange(len(X)), cuts):
        found.append(model.progressive_fit(X[rows], y[rows], classes, weights[rows]))
    assert_array_equal(np.vstack(found), expected)
    assert_array_equal(model.predict_proba(X), slow.predict_proba(X))
    at_once = clone(MODELS[name]).partial_fit(X, y, classes, weights)
    assert fingerprint(model) == fingerprint(at_once)


def test_progressive_fit_takes_names_of_classes(model):
    """Columns are those of classes_; the first sample has uniform probabilities."""
    X, y, _ = stream()
    names = np.array(["bee", "ant", "cow"])[y]
    probabilities = model.progressive_fit(X, names)
    assert model.classes_.tolist() == ["ant", "bee", "cow"]
    assert_allclose(probabilities[0], 1 / 3)
    assert_allclose(probabilities.sum(axis=1), 1.0)


def test_pickles_of_equal_models_are_equal(model):
    """Byte by byte. (They are loaded once before, after which equal strings are shared.)"""
    X, y, weights = stream()
    rows = np.arange(len(X))
    pickles = set()
    for cuts in ([], [40], [10, 60], [1, 2, 3]):
        copy = clone(model)
        for chunk in np.split(rows, cuts):
            copy.partial_fit(X[chunk], y[chunk], [0, 1, 2], weights[chunk])
        pickles.add(pickle.dumps(pickle.loads(pickle.dumps(copy))))
    assert len(pickles) == 1


def test_fit_starts_from_scratch(model, fingerprint):
    """It is the first partial_fit of a new model."""
    X, y, weights = stream()
    fresh = clone(model).partial_fit(X, y, sample_weight=weights)
    model.fit(X[:, :3] * 5, (y > 0).astype(str))
    assert fingerprint(model.fit(X, y, weights)) == fingerprint(fresh)
    assert fingerprint(model.fit(X, y)) == fingerprint(clone(model).fit(X, y, np.ones(len(y))))


def test_order_of_samples_matters(model, name):
    """The learners are not batch methods. (A check of the tests above.)"""
    X, y, weights = stream()
    forward = clone(model).fit(X, y, weights).predict_proba(X)
    backward = clone(model).fit(X[::-1], y[::-1], weights[::-1]).predict_proba(X)
    assert np.abs(forward - backward).max() > 1e-9 or name == "ridge-constant"


def test_predictions_of_a_sample_do_not_depend_on_others(model, fingerprint):
    """Predicting does not change the model."""
    X, y, weights = stream()
    before = fingerprint(model.fit(X, y, weights))
    together = model.predict_proba(X)
    alone = np.vstack([model.predict_proba(row[None]) for row in X])
    assert_array_equal(alone, together)
    assert_array_equal(model.predict_proba(X[::-1]), together[::-1])
    assert fingerprint(model) == before


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_probabilities(model, n_classes):
    """Each row is a distribution over `classes_`; predict returns the most probable class."""
    X, y, weights = stream(1, n_classes=n_classes)
    labels = np.array(["e", "a", "d", "b", "c"])[y]
    model.fit(X, labels, weights)
    assert model.classes_.tolist() == sorted(set(labels))
    probabilities = model.predict_proba(X)
    assert probabilities.shape == (len(X), n_classes)
    assert probabilities.min() >= 0
    assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-12)
    assert_array_equal(model.predict(X), model.classes_[probabilities.argmax(axis=1)])
    logarithms = model.predict_log_proba(X)
    assert_allclose(np.exp(logarithms), probabilities, rtol=1e-12)
    assert_array_equal(np.isneginf(logarithms), probabilities == 0)


def test_untrained_model_predicts_a_uniform_distribution(model):
    """Of equally probable classes the first one is predicted."""
    model._init_model(4, np.array(["a", "b", "c"]))
    assert_allclose(model.predict_proba(np.ones((2, 4))), np.full((2, 3), 1 / 3))
    assert model.predict(np.ones((1, 4))).tolist() == ["a"]


def test_declared_classes_may_have_no_samples(model):
    """Such a class has a column, and is not predicted."""
    X, y, _ = stream()
    model.partial_fit(X, y, classes=[2, 7, 0, 1])
    assert model.classes_.tolist() == [0, 1, 2, 7]
    assert set(model.predict(X)) <= {0, 1, 2}
    # The first samples may be of one class.
    model = clone(model).partial_fit(np.ones((3, 4)), [1, 1, 1], classes=[0, 1])
    assert model.predict(np.ones((1, 4))).tolist() == [1]


def test_reproducible_by_seed():
    """The same seed draws the same random features; another seed draws others."""
    X, y, _ = stream()
    votes = [
        clone(MODELS["ridge-rbf"]).set_params(random_state=seed).fit(X, y).predict_proba(X)
        for seed in (0, 0, 1)
    ]
    assert_array_equal(votes[0], votes[1])
    assert np.abs(votes[0] - votes[2]).max() > 1e-6


# -- Labels and weights.


def test_class_names_do_not_matter(model):
    """Names in the same order give identical models."""
    X, y, weights = stream(3)
    plain = model.fit(X, y, weights).predict_proba(X)
    for names in (["ant", "bee", "cow"], [-7, 3, 1000], [0.0, 1.0, 2.0]):
        named = clone(model).fit(X, np.array(names)[y], weights)
        assert named.classes_.tolist() == names
        assert_array_equal(named.predict_proba(X), plain)


@pytest.mark.parametrize("order", [[2, 0, 1], [1, 0, 2], [2, 1, 0]])
def test_class_order_does_not_matter(model, order):
    """Another order permutes the columns, up to rounding errors."""
    X, y, weights = stream(3)
    plain = model.fit(X, y, weights).predict_proba(X)
    moved = clone(model).fit(X, np.array(order)[y], weights).predict_proba(X)
    assert_allclose(moved[:, order], plain, atol=1e-6)


def test_zero_weight_is_no_sample(model, fingerprint):
    """Samples of weight zero, at any position and of any value, do not change the model."""
    X, y, weights = stream(4)
    expected = fingerprint(clone(model).fit(X, y, weights))
    at = [0, 0, 5, 50, 119, 120, 120]
    more = np.insert(X, at, 1e9, axis=0), np.insert(y, at, 1), np.insert(weights, at, 0.0)
    assert fingerprint(model.fit(*more)) == expected


def test_chunk_of_zero_weight(model, fingerprint):
    """A call whose samples all have weight zero does not change the model, but may start it."""
    X, y, weights = stream(4)
    before = fingerprint(model.fit(X, y, weights))
    model.partial_fit(X[:3], y[:3], sample_weight=np.zeros(3))
    assert fingerprint(model) == before
    empty = clone(model).partial_fit(X[:3], y[:3], [0, 1, 2], sample_weight=np.zeros(3))
    assert fingerprint(empty.partial_fit(X, y, sample_weight=weights)) == before


def test_scalar_weight(model, fingerprint):
    """A number is the weight of all samples."""
    X, y, _ = stream(4)
    expected = fingerprint(clone(model).fit(X, y, np.full(len(y), 2.5)))
    assert fingerprint(model.fit(X, y, sample_weight=2.5)) == expected


# -- Inputs.


def test_inputs_are_only_read(model, fingerprint):
    """Read-only arrays are accepted, and writable ones are not changed."""
    X, y, weights = stream()
    copies = X.copy(), y.copy(), weights.copy()
    model.fit(X, y, weights)
    model.partial_fit(X, y, sample_weight=weights).predict_proba(X)
    for array, copy in zip((X, y, weights), copies, strict=True):
        assert_array_equal(array, copy)
        array.setflags(write=False)
    expected = fingerprint(model)
    model.fit(X, y, weights).partial_fit(X, y, sample_weight=weights)
    assert fingerprint(model) == expected


def test_kinds_of_arrays(model):
    """The model depends on the values, not on their type and memory layout."""
    X, y, weights = stream()
    X = np.float32(X).astype(float)
    expected = clone(model).fit(X, y, weights).predict_proba(X)
    frame = pd.DataFrame(X)
    for converted in (
        np.asfortranarray(X),
        np.repeat(X, 2, axis=0)[::2],
        X.astype(np.float32),
        X.tolist(),
        frame,
        frame.convert_dtypes(),
    ):
        model.fit(converted, pd.Series(y), pd.Series(weights))
        assert_array_equal(model.predict_proba(converted), expected)


def test_feature_names(model):
    """Names are stored, and checked in later calls."""
    X, y, _ = stream()
    frame = pd.DataFrame(X, columns=list("abcd"))
    model.fit(frame, y)
    assert model.feature_names_in_.tolist() == list("abcd")
    assert model.n_features_in_ == 4
    with pytest.raises(ValueError, match="feature names"):
        model.partial_fit(frame[list("dcba")], y)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"a": "z"}))


def test_column_vector_of_labels_warns(model, fingerprint):
    """A column of labels is accepted, with scikit-learn's warning."""
    X, y, _ = stream()
    expected = fingerprint(clone(model).fit(X, y))
    with pytest.warns(DataConversionWarning, match="column-vector"):
        model.fit(X, y[:, None])
    assert fingerprint(model) == expected


# -- Errors.

X0, Y0, W0 = stream()
WRONG = {  # name: (method, arguments, error, what the message names)
    "unseen label": ("partial_fit", {"y": np.where(Y0 == 2, 5, Y0)}, ValueError, r"y .*5.*classes"),
    "other classes": ("partial_fit", {"classes": [0, 1, 3]}, ValueError, "classes"),
    "short y, new class": ("partial_fit", {"classes": range(4), "y": Y0[1:]}, ValueError, "119"),
    "weights, new class": (
        "partial_fit",
        {"classes": range(4), "sample_weight": -W0},
        ValueError,
        "[Nn]egative.*weight",
    ),
    "NaN label": (
        "partial_fit",
        {"y": np.where(Y0 == 2, np.nan, Y0)},
        ValueError,
        "y contains NaN",
    ),
    "NaN label, fit": ("fit", {"y": np.where(Y0 == 2, np.nan, Y0)}, ValueError, "y contains NaN"),
    "fewer columns": ("partial_fit", {"X": X0[:, :3]}, ValueError, "3 features"),
    "more columns": ("partial_fit", {"X": np.hstack([X0, X0])}, ValueError, "8 features"),
    "one class": ("fit", {"y": np.ones_like(Y0)}, ValueError, "one class"),
    "regression": ("fit", {"y": X0[:, 0]}, ValueError, "[Uu]nknown label type|continuous"),
    "no y": ("fit", {"y": None}, ValueError, "requires y"),
    "short y": ("fit", {"y": Y0[:-1]}, ValueError, "119.*120"),
    "short y, partial": ("partial_fit", {"y": Y0[:-1]}, ValueError, "119.*120"),
    "indicator": ("fit", {"y": np.eye(3, dtype=int)[Y0]}, ValueError, "y is an indicator matrix"),
    "sparse indicator": (
        "partial_fit",
        {"y": sparse.csr_array(np.eye(3, dtype=int)[Y0])},
        ValueError,
        "y is an indicator matrix",
    ),
    "two outputs": ("fit", {"y": np.column_stack([Y0, Y0])}, ValueError, "y|multioutput"),
    "no rows": ("fit", {"X": X0[:0], "y": Y0[:0], "sample_weight": None}, ValueError, "0 sample"),
    "no rows, partial": (
        "partial_fit",
        {"X": X0[:0], "y": Y0[:0], "sample_weight": None},
        ValueError,
        "0 sample",
    ),
    "no columns": ("fit", {"X": X0[:, :0]}, ValueError, "0 feature"),
    "one row, flat": ("fit", {"X": X0[0]}, ValueError, "2D array"),
    "infinite": ("fit", {"X": np.where(X0 > 1, np.inf, X0)}, ValueError, "X contains infinity"),
    "infinite, partial": (
        "partial_fit",
        {"X": np.where(X0 > 1, -np.inf, X0)},
        ValueError,
        "X contains infinity",
    ),
    "words": ("fit", {"X": np.full((120, 4), "a")}, ValueError, "could not convert string"),
    "complex": ("fit", {"X": X0 * 1j}, ValueError, "[Cc]omplex"),
    "sparse infinity": (
        "fit",
        {"X": sparse.csr_array(np.where(X0 == X0.max(), np.inf, 0.0))},
        ValueError,
        "infinity",
    ),
    "sparse, infinity by its sum": (
        "partial_fit",
        {"X": sparse.csr_array(([1e308, 1e308], [0, 0], [0] + [2] * 120), shape=(120, 4))},
        ValueError,
        "infinity, the sum of entries",
    ),
    "negative weight": ("partial_fit", {"sample_weight": -W0}, ValueError, "[Nn]egative.*weight"),
    "negative, fit": ("fit", {"sample_weight": W0 - 1}, ValueError, "[Nn]egative.*weight"),
    "short weights": ("partial_fit", {"sample_weight": W0[1:]}, ValueError, "sample_weight"),
    "wide weights": ("fit", {"sample_weight": W0[:, None]}, ValueError, "[Ss]ample.weight"),
    "NaN weight": ("fit", {"sample_weight": W0 * np.nan}, ValueError, "sample_weight"),
    "infinite weight": ("partial_fit", {"sample_weight": W0 * np.inf}, ValueError, "sample_weight"),
    "no weight": ("fit", {"sample_weight": 0 * W0}, ValueError, "[Ss]ample.weight"),
}


def test_refused_calls_leave_the_model_alone(model, fingerprint):
    """The message names the argument, and the fitted model stays as it was."""
    model.fit(X0, Y0)
    before = fingerprint(model)
    for method, wrong, error, message in WRONG.values():
        arguments = {"X": X0, "y": Y0, "sample_weight": W0} | wrong
        for name in (method, "progressive_fit") if method == "partial_fit" else (method,):
            with pytest.raises(error, match=message):
                getattr(model, name)(**arguments)
            assert fingerprint(model) == before


def test_refused_calls_leave_an_unfitted_model_unfitted(model):
    """It has no fitted attributes."""
    for method, wrong, error, message in WRONG.values():
        if method != "fit":
            continue
        with pytest.raises(error, match=message):
            model.fit(**({"X": X0, "y": Y0, "sample_weight": W0} | wrong))
        # Clones of estimators among the parameters have equal representations only.
        assert {k: repr(v) for k, v in vars(model).items()} == {
            k: repr(v) for k, v in vars(clone(model)).items()
        }
        with pytest.raises(NotFittedError):
            model.predict(X0)


def test_refused_frame_leaves_the_names_alone(model, fingerprint):
    """A refused fit with other features keeps the old names and number of features."""
    old, new = pd.DataFrame(X0, columns=list("abcd")), pd.DataFrame(X0[:, :3], columns=list("xyz"))
    model.fit(old, Y0)
    before, votes = fingerprint(model), model.predict_proba(old)
    with pytest.raises(ValueError, match="one class"):
        model.fit(new, np.zeros(120, int))
    assert model.feature_names_in_.tolist() == list("abcd")
    assert fingerprint(model) == before
    assert_array_equal(model.predict_proba(old), votes)
    # A model without names does not get any.
    unnamed = clone(model).fit(X0, Y0)
    with pytest.raises(ValueError, match="[Nn]egative"):
        unnamed.fit(old, Y0, sample_weight=-W0)
    assert not hasattr(unnamed, "feature_names_in_")


def test_refused_prediction(model, fingerprint):
    """Before fitting, with another number of features, with infinite values."""
    with pytest.raises(NotFittedError):
        model.predict_proba(X0)
    model.fit(X0, Y0)
    before = fingerprint(model)
    infinite = np.where(X0 > 1, np.inf, X0)
    for wrong, message in ((X0[:, :3], "3 features"), (infinite, "infinity"), (X0[:0], "0 sample")):
        with pytest.raises(ValueError, match=message):
            model.predict_proba(wrong)
    assert fingerprint(model) == before


def test_missing_values_are_for_trees(model, name, fingerprint):
    """A tree accepts NaN and has finite votes; a linear model raises an error."""
    X = np.where(X0 > 1.5, np.nan, X0)
    assert model.__sklearn_tags__().input_tags.allow_nan == (name in TREES)
    if name in TREES:
        probabilities = model.fit(X, Y0, W0).predict_proba(np.vstack([X, np.full(4, np.nan)]))
        assert_allclose(probabilities.sum(axis=1), 1)
        return
    with pytest.raises(ValueError, match="X contains NaN"):
        model.fit(X, Y0)
    model.fit(X0, Y0)
    before = fingerprint(model)
    with pytest.raises(ValueError, match="X contains NaN"):
        model.partial_fit(X, Y0)
    with pytest.raises(ValueError, match="X contains NaN"):
        model.predict(X)
    assert fingerprint(model) == before


ORDER_PARAMS = {
    "shuffle": ["yes", None],
    "random_state": ["seed", -1],
}
TREE_PARAMS = ORDER_PARAMS | {
    "grace_period": [0, -1, "x", None],
    "delta": [0, 1, -0.1, None],
    "tau": [-0.1, None],
    "leaf_prediction": ["mean", None, 1],
    "max_depth": [0, -1, 1.5],
    "max_leaves": [1, 0, 2.5],
    "drift_threshold": [0, -1, "auto"],
}
LINEAR_PARAMS = ORDER_PARAMS | {
    "standardize": ["yes", None],
    "normalize": ["l1", True],
}
LOGISTIC_PARAMS = LINEAR_PARAMS | {
    "multi_class": ["both", None],
    "learning_rate": [0, -1],
    "intercept_scaling": [0, -1, None],
}
RIDGE_PARAMS = LINEAR_PARAMS | {
    "kernel": ["poly", None],
    "alpha": [0, -1],
    "n_components": [0, 1.5],
    "gamma": [0, -1],
    "sketch_size": [0, 1.5],
    "drift_threshold": [0, -1, "auto"],
}
PARAMS_OF = {"tree-mc": TREE_PARAMS, "logistic": LOGISTIC_PARAMS, "ridge": RIDGE_PARAMS}


@pytest.mark.parametrize("name", PARAMS_OF)
def test_every_parameter_is_checked(name):
    """The lists above have all parameters of __init__."""
    assert set(PARAMS_OF[name]) == set(MODELS[name].get_params())


@pytest.mark.parametrize("name", PARAMS_OF)
def test_bad_parameters_are_named(name):
    """The message names the parameter; a fitted model stays as it was."""
    template = MODELS[name]
    model = clone(template).fit(X0, Y0)
    votes = model.predict_proba(X0)
    for param, values in PARAMS_OF[name].items():
        for value in values:
            model.set_params(**{param: value})
            # partial_fit checks parameters in its first call only, as in scikit-learn.
            for call in (model.fit, clone(model).partial_fit):
                with pytest.raises(ValueError, match=f"'{param}'"):
                    call(X0, Y0)
        model.set_params(**{param: template.get_params()[param]})
    assert_array_equal(model.predict_proba(X0), votes)


# -- Extremes.

TINY, SMALL = 5e-324, np.finfo(float).tiny
EXTREMES = {
    "huge": [1e300, -1e300],
    "huge and small": [1e300, -1e300, 1.0, SMALL, 0.0],
    "huge on one side": [1e200, 1.0],
    "square overflows": [1.5e154, -1.2e154, 1e154],
    "denormal": [TINY, -TINY, 2 * TINY, 0.0],
    "square underflows": [1e-160, 3e-160, -2e-160],
    "square is denormal": [1e-161, 2.5e-161, -1e-161],
    "small": [SMALL, 1.0, -1.0],
}


@pytest.mark.parametrize("values", EXTREMES.values(), ids=EXTREMES)
def test_extreme_values(model, values):
    """Predictions are distributions, without a warning; ordinary samples can follow."""
    rng = np.random.default_rng(0)
    X, y = rng.choice(values, (200, 4)), rng.integers(0, 3, 200)
    X[:, 0] = np.where(rng.random(200) < 0.9, X[:, 0], 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for rows in np.array_split(np.arange(200), 8):
            model.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
            votes = model.predict_proba(np.vstack([X, X0, np.zeros((1, 4))]))
            assert_allclose(votes.sum(axis=1), 1)
            assert votes.min() >= 0
        model.partial_fit(X0, Y0)
        assert_allclose(model.predict_proba(X0).sum(axis=1), 1)


def test_difference_of_entries_overflows(model):
    """In two calls, since scikit-learn's validation would warn of the overflow in one."""
    model.partial_fit(np.vstack([X0, [[1.7e308, 1, 1, 1]]]), np.append(Y0, 0))
    model.partial_fit(np.vstack([[[-1.7e308, 1, 1, 1]], X0]), np.append(2, Y0))
    votes = model.predict_proba(X0)
    assert_allclose(votes.sum(axis=1), 1)
    assert votes.min() >= 0


@pytest.mark.parametrize("factor", [1e-12, 1e12, 1e-100, 1e100])
def test_extreme_weights(model, factor):
    """Weights are tiny or huge, or both in one stream."""
    rng = np.random.default_rng(0)
    mixed = np.where(rng.random(120) < 0.5, W0 * factor, W0)
    for weights in (W0 * factor, mixed):
        if isinstance(model, OnlineRidgeClassifier) and factor > 1:
            with pytest.raises(ValueError, match="sample_weight must be 1e[+]10 times alpha"):
                model.fit(X0, Y0, weights)
            continue
        model.fit(X0, Y0, weights)
        votes = model.predict_proba(X0)
        assert_allclose(votes.sum(axis=1), 1)
        assert votes.min() >= 0
