"""Models of NDCGBoost as JSON, and the scorer of the examples, which reads them."""

import importlib.util
import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression

from sklrank.boosting import NDCGBoost, RankBoost
from sklrank.tree import HistogramTreeRegressor, StumpClassifier

PATH = Path(__file__).parents[2] / "examples" / "exported_ranker.py"


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("exported_ranker", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


random = np.random.RandomState(0)
X = random.normal(size=(200, 4))
X[:, 2] = random.choice([-7.5, 0, 3, 11, 40], size=200)
QID = np.repeat(np.arange(20), 10)
Y = np.digitize(X.sum(axis=1) + 9 * np.isin(X[:, 2], [-7.5, 11]), [3, 12])
MISSING = np.where(random.uniform(size=X.shape) < 0.2, np.nan, X)
# Categories and values that are not in the training samples.
NEW = np.vstack([MISSING, [[9, -9, 5, 0], [np.nan, 0, -1, 1e300], [0, 0, 3.5, -1e300]]])


@cache
def fitted(name):
    trees = HistogramTreeRegressor(max_leaf_nodes=6, min_samples_leaf=5)
    if name == "default":
        return NDCGBoost(n_estimators=12, random_state=0).fit(X, np.digitize(X[:, 0], [0, 1]), QID)
    if name == "stumps":
        return NDCGBoost(StumpClassifier(), 5).fit(X, Y, QID)
    if name == "pairs":
        return RankBoost(n_estimators=5).fit(X, Y, QID)
    if name == "categories":
        trees.set_params(categorical_features=[2])
    return NDCGBoost(trees, 5, learning_rate=0.3).fit(MISSING, Y, QID)


NAMES = ["default", "stumps", "categories", "trees", "pairs"]


def samples_for(name):
    return X if name in ("stumps", "pairs") else NEW


@pytest.mark.parametrize("name", NAMES)
def test_scores(name, example):
    ranker, samples = fitted(name), samples_for(name)
    text = ranker.export_json()
    assert "NaN" not in text and "Infinity" not in text
    model = json.loads(text)
    expected = ranker.predict(samples)
    assert len(np.unique(expected)) > 2
    assert_allclose([example.score(model, x) for x in samples.tolist()], expected, rtol=1e-9)
    read = NDCGBoost.from_json(text)
    assert_array_equal(read.predict(samples), expected)
    assert_array_equal(list(read.staged_predict(samples)), list(ranker.staged_predict(samples)))
    assert_allclose(read.feature_importances_, ranker.feature_importances_)
    assert read.score(X, Y, qid=QID) == ranker.score(X, Y, qid=QID)


def test_the_default_has_a_linear_part(example):
    model = json.loads(fitted("default").export_json())
    assert [term["feature"] for term in model["linear"]] == [0, 1, 2, 3]


def test_a_text_that_was_read_can_be_exported_again():
    for ranker in map(fitted, NAMES):
        read = NDCGBoost.from_json(ranker.export_json())
        again = NDCGBoost.from_json(read.export_json())
        assert_array_equal(again.predict(X), read.predict(X))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("unit", [0.1, 0.25, 1.0, 2.0**25 + 1])
def test_precision_of_categories(dtype, unit, example):
    """The text says how to compare numbers such as 0.1, which differs in the two precisions."""
    random_state = np.random.RandomState(0)
    numbers = random_state.randint(1, 5, size=200)
    samples = np.column_stack([unit * numbers, random_state.normal(size=200)])
    trees = HistogramTreeRegressor(categorical_features=[0])
    ranker = NDCGBoost(trees, 3).fit(samples.astype(dtype), numbers % 2, QID)
    text = ranker.export_json()
    model, read = json.loads(text), NDCGBoost.from_json(text)
    assert len(np.unique(ranker.predict(samples.astype(dtype)))) > 1
    single = samples.astype(np.float32)
    others = samples * [1 + 1e-12, 1], samples * [1e300, 1], samples * [np.nan, 1]
    for tested in (samples, single.astype(np.float64), *others):
        expected = ranker.predict(tested)
        assert_allclose([example.score(model, x) for x in tested.tolist()], expected, rtol=1e-9)
        assert_array_equal(read.predict(tested), expected)
    assert_array_equal(read.predict(single), ranker.predict(single))


def test_names_of_features():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=list("abcd"))
    text = NDCGBoost(StumpClassifier(), 2).fit(frame, Y, QID).export_json()
    assert json.loads(text)["feature_names"] == list("abcd")
    assert_array_equal(NDCGBoost.from_json(text).feature_names_in_, list("abcd"))


def test_rounds_can_be_added():
    ranker = NDCGBoost.from_json(fitted("trees").export_json())
    before = ranker.predict(MISSING)
    ranker.set_params(warm_start=True, n_estimators=8).fit(MISSING, Y, QID)
    assert len(ranker.estimators_) == 8
    assert_array_equal(list(ranker.staged_predict(MISSING))[4], before)


def test_other_weak_learners_are_refused():
    ranker = NDCGBoost(LogisticRegression(), 2).fit(X, Y, QID)
    with pytest.raises(ValueError, match=r"estimators_\[0\] is LogisticRegression"):
        ranker.export_json()


def test_trees_for_shap(example):
    """A walk through the arrays, as shap does it, gives the scores of the trees."""
    model = json.loads(fitted("trees").export_json())
    scores = np.zeros(len(NEW))
    for tree in example.shap_trees(model)["trees"]:
        assert tree["node_sample_weight"][0] == len(X)
        for number, x in enumerate(NEW):
            node = 0
            while tree["children_left"][node] >= 0:
                value = x[tree["features"][node]]
                is_left = value <= tree["thresholds"][node]
                child = "default" if np.isnan(value) else "left" if is_left else "right"
                node = tree[f"children_{child}"][node]
            scores[number] += tree["values"][node, 0]
    assert_allclose(scores, fitted("trees").predict(NEW), rtol=1e-9)


def changed(*path, to):
    """Return a function that changes an entry of a model."""

    def change(model):
        for key in path[:-1]:
            model = model[key]
        model[path[-1]] = to

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (changed("format", to="other"), "its format is 'other'"),
        (changed("version", to=2), "version 2"),
        (changed("n_features", to=0), "n_features is 0"),
        (changed("n_features", to=2), "is not an integer from 0 to 1"),
        (changed("feature_names", to=["a"]), "not a list of 4 strings"),
        (changed("trees", to=3), "not iterable"),
        (changed("trees", 0, to=[]), "no node"),
        (changed("trees", 0, 0, to={}), "'count' is missing"),
        (changed("trees", 0, 0, "left", to=0), "not two successive nodes after it"),
        (changed("trees", 0, 0, "left", to=99), "99 is not an integer from 0 to"),
        (changed("trees", 0, 0, "right", to=1), "not two successive nodes"),
        (changed("trees", 0, 0, "missing", to=0), "not two successive nodes"),
        (changed("trees", 0, 0, "gain", to="1"), "'1' is not a finite number"),
        (changed("trees", 0, 0, "gain", to=True), "True is not a finite number"),
        (changed("trees", 0, 0, "gain", to=10**400), "too large"),
        (changed("linear", to=[{"feature": 1}]), "'low' is missing"),
        (changed("linear", to=[{"feature": -1}]), "-1 is not an integer"),
    ],
)
def test_texts_that_are_not_models(change, message):
    model = json.loads(fitted("categories").export_json())
    change(model)
    with pytest.raises(ValueError, match=f"not a model that export_json returned: .*{message}"):
        NDCGBoost.from_json(json.dumps(model))


@pytest.mark.parametrize("text", ["", "3", "null", "{}", "[1]", '{"format": NaN}', "[" * 10**5])
def test_texts_that_are_not_objects(text):
    with pytest.raises(ValueError, match="not a model that export_json returned"):
        NDCGBoost.from_json(text)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda node: node["right_categories"].append(node["left_categories"][0]), "both children"),
        (lambda node: node["left_categories"].append(77.0), "different categories"),
        (lambda node: node.update(left_categories=list(range(1000, 1256))), "too many categories"),
    ],
)
def test_categories_must_agree(change, message):
    model = json.loads(fitted("categories").export_json())
    trees = [[node for node in tree if "left_categories" in node] for tree in model["trees"]]
    nodes = next(nodes for nodes in trees if len(nodes) > 1)
    change(nodes[0])
    with pytest.raises(ValueError, match=message):
        NDCGBoost.from_json(json.dumps(model))
