"""Models of boosted trees as JSON, and the scorer of the examples, which reads them."""

import importlib.util
import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklrank.boosting import HistGradientBoostingRanker

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
    if name == "default":
        ranker = HistGradientBoostingRanker(max_iter=12, init="linear", random_state=0)
        return ranker.fit(X, np.digitize(X[:, 0], [0, 1]), QID)
    return HistGradientBoostingRanker(
        learning_rate=0.3,
        max_iter=5,
        max_leaf_nodes=6,
        min_samples_leaf=5,
        categorical_features=[2] if name == "categories" else None,
        init=None,
        early_stopping=False,
    ).fit(MISSING, Y, QID)


NAMES = ["default", "categories", "trees"]


@pytest.mark.parametrize("name", NAMES)
def test_scores(name, example):
    ranker = fitted(name)
    text = ranker.export_json()
    assert "NaN" not in text and "Infinity" not in text
    model = json.loads(text)
    expected = ranker.predict(NEW)
    assert len(np.unique(expected)) > 2
    assert_allclose([example.score(model, x) for x in NEW.tolist()], expected, rtol=1e-9)


def test_the_default_has_a_linear_part(example):
    model = json.loads(fitted("default").export_json())
    assert [term["feature"] for term in model["linear"]] == [0, 1, 2, 3]


@pytest.mark.filterwarnings("ignore:the feature 0 of X has the category")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("unit", [0.1, 0.25, 1.0, 2.0**21 + 1])
def test_precision_of_categories(dtype, unit, example):
    """Values are compared exactly: 0.1 differs in the two precisions."""
    random_state = np.random.RandomState(0)
    numbers = random_state.randint(1, 5, size=200)
    samples = np.column_stack([unit * numbers, random_state.normal(size=200)])
    ranker = HistGradientBoostingRanker(max_iter=3, categorical_features=[0])
    ranker.fit(samples.astype(dtype), numbers % 2, QID)
    text = ranker.export_json()
    model = json.loads(text)
    assert len(np.unique(ranker.predict(samples.astype(dtype)))) > 1
    single = samples.astype(np.float32)
    others = samples * [1 + 1e-12, 1], samples * [1e300, 1], samples * [np.nan, 1]
    for tested in (samples, single.astype(np.float64), *others):
        expected = ranker.predict(tested)
        assert_allclose([example.score(model, x) for x in tested.tolist()], expected, rtol=1e-9)


def test_names_of_features():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=list("abcd"))
    text = HistGradientBoostingRanker(max_iter=2).fit(frame, Y, QID).export_json()
    assert json.loads(text)["feature_names"] == list("abcd")
