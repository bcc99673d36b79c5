"""Features of HistGradientBoostingRanker by name and by data type, and sparse documents."""

import json
import pickle
from copy import copy

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.linear_model import Ridge

from sklrank.boosting import HistGradientBoostingRanker

pd = pytest.importorskip("pandas")

RANDOM = np.random.RandomState(0)
QID = np.repeat(np.arange(40), 10)
NUMBER = RANDOM.normal(size=len(QID))
CITY = RANDOM.choice(["Rome", "Oslo", "Lima", "Bern"], size=len(QID))
CODE = RANDOM.choice([3, 7, 11], size=len(QID))
Y = (NUMBER > 0.5) + np.isin(CITY, ["Oslo", "Lima"]) + (CODE == 7)
MISSING = np.arange(len(QID)) % 17 == 0


def pandas_frame():
    frame = pd.DataFrame({"city": pd.Categorical(CITY), "number": NUMBER, "code": CODE})
    frame.loc[MISSING, "city"] = None
    return frame.astype({"code": "category"})


def polars_frame():
    pl = pytest.importorskip("polars")
    city = [None if missing else name for name, missing in zip(CITY.tolist(), MISSING)]
    cities = pl.Enum(["Rome", "Oslo", "Lima", "Bern"])
    return pl.DataFrame(
        {
            "city": pl.Series(city, dtype=cities),
            "number": NUMBER,
            "code": pl.Series(CODE.astype(str), dtype=pl.Categorical),
        }
    )


def codes():
    """Return the same samples as numbers, whose order is that of the sorted categories."""
    city = np.unique(CITY, return_inverse=True)[1].astype(float)
    city[MISSING] = np.nan
    code = np.unique(CODE, return_inverse=True)[1]
    return np.column_stack([city, NUMBER, code])


def make(**parameters):
    return HistGradientBoostingRanker(
        max_iter=5, max_leaf_nodes=6, early_stopping=False, random_state=0, **parameters
    )


EXPECTED = make(categorical_features=[0, 2]).fit(codes(), Y, QID).predict(codes())


@pytest.mark.parametrize(
    "given", ["from_dtype", ["city", "code"], {"city", "code"}, [0, 2], {0, 2}, [True, False, True]]
)
def test_categories_of_pandas(given):
    ranker = make(categorical_features=given).fit(pandas_frame(), Y, QID)
    assert_array_equal(ranker.is_categorical_, [True, False, True])
    assert_array_equal(ranker.predict(pandas_frame()), EXPECTED)
    assert_array_equal(pickle.loads(pickle.dumps(ranker)).predict(pandas_frame()), EXPECTED)
    assert ranker.score(pandas_frame(), Y, QID) > 0.95


def test_categories_of_polars():
    frame = polars_frame()
    # As strings, "11" is before "3".
    code = np.unique(CODE.astype(str), return_inverse=True)[1]
    numbers = np.column_stack([codes()[:, :2], code])
    expected = make(categorical_features=[0, 2]).fit(numbers, Y, QID).predict(numbers)
    assert_array_equal(make().fit(frame, Y, QID).predict(frame), expected)


def test_new_categories_are_missing():
    ranker = make(min_samples_leaf=5).fit(pandas_frame(), Y, QID)
    rows = [["Paris", 0.2, 3], [None, 0.2, 3], ["Oslo", 0.2, 3]]
    new = pd.DataFrame(rows, columns=["city", "number", "code"])
    paris, missing, oslo = ranker.predict(new)
    assert paris == missing != oslo
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        assert_array_equal(ranker.predict(rows), [paris, missing, oslo])
    for frame in (new[["number", "city", "code"]], new[["city", "code"]]):
        with pytest.raises(ValueError, match="feature names"):
            ranker.predict(frame)


def test_validation_documents_have_the_categories_of_the_training_documents():
    frame = pandas_frame()
    val = {"X_val": frame[:50], "y_val": Y[:50], "qid_val": QID[:50]}
    assert_array_equal(make().fit(frame, Y, QID, **val).predict(frame), EXPECTED)


def test_frames_of_categories_only():
    frame = pandas_frame()[["city", "code"]]
    ranker = make().fit(frame, Y, QID)
    assert ranker.score(frame, Y, QID) > 0.8
    assert_array_equal(ranker.encode(frame), codes()[:, [0, 2]])


def test_without_categories():
    frame = pandas_frame()[["number"]]
    ranker = make().fit(frame, Y, QID)
    assert ranker.is_categorical_ is None
    assert_array_equal(ranker.encode(frame), frame)
    with pytest.raises(ValueError, match="column 'city' of X must have numbers"):
        make(categorical_features=None).fit(pandas_frame(), Y, QID)


def test_sparse_documents_are_those_of_the_dense_array():
    X = np.where(RANDOM.uniform(size=(len(QID), 6)) < 0.3, RANDOM.normal(size=(len(QID), 6)), 0)
    expected = make().fit(X, Y, QID, X_val=X[:60], y_val=Y[:60], qid_val=QID[:60])
    ranker = make().fit(
        sparse.csc_array(X), Y, QID, X_val=sparse.csr_array(X[:60]), y_val=Y[:60], qid_val=QID[:60]
    )
    assert_array_equal(ranker.predict(sparse.coo_array(X)), expected.predict(X))
    assert_array_equal(ranker.validation_loss_curve_, expected.validation_loss_curve_)


def test_constraints_by_name():
    frame = pandas_frame()
    named = make(monotonic_cst={"number": -1}).fit(frame, Y, QID).predict(frame)
    listed = make(monotonic_cst=[0, -1, 0]).fit(frame, Y, QID).predict(frame)
    assert_array_equal(named, listed)
    assert not np.array_equal(named, EXPECTED)


def test_bad_names():
    ranker = make().fit(pandas_frame(), Y, QID)
    for parameters, message in [
        ({"categorical_features": ["town"]}, "has the name 'town', but X has the features city"),
        ({"categorical_features": [0.5]}, "categorical_features must be a list"),
        ({"categorical_features": [3]}, "indices from 0 to 2"),
        ({"categorical_features": "auto"}, "categorical_features"),
        ({"monotonic_cst": {"price": 1}}, "unexpected feature names"),
        ({"monotonic_cst": {"number": 2}}, "monotonic_cst"),
        ({"monotonic_cst": {"city": 1}}, "have no order"),
    ]:
        bad = copy(ranker).set_params(**parameters)
        with pytest.raises(ValueError, match=message):
            bad.fit(pandas_frame(), Y, QID)
        assert_array_equal(bad.predict(pandas_frame()), EXPECTED)


def test_names_need_a_frame_of_one_kind_of_categories():
    with pytest.raises(ValueError, match="has the name 'city', but X has the features without"):
        make(categorical_features=["city"]).fit(codes(), Y, QID)
    frame = pandas_frame()
    frame["city"] = pd.Series([*CITY[:-1], 5], dtype="category")
    with pytest.raises(ValueError, match="The categories of the feature 'city' must be of one"):
        make().fit(frame, Y, QID)


def test_json_has_names_and_categories():
    content = json.loads(make().fit(pandas_frame(), Y, QID).export_json())
    assert content["feature_names"] == ["city", "number", "code"]
    found = {}
    for tree in content["trees"]:
        for node in tree:
            if "left_categories" in node:
                both = node["left_categories"] + node["right_categories"]
                found.setdefault(content["feature_names"][node["feature"]], []).append(sorted(both))
    assert found.keys() == {"city", "code"}
    assert all(each == ["Bern", "Lima", "Oslo", "Rome"] for each in found["city"])
    assert all(each == [3, 7, 11] for each in found["code"])


def test_shap_trees_have_the_expected_values_of_the_trees():
    """The conditional expectations agree for all sets of known features, hence Shapley values."""
    ranker = make(min_samples_leaf=3).fit(pandas_frame(), Y, QID)
    X = ranker.encode(pandas_frame()[:15])
    rounds = list(zip(ranker.export_shap()["trees"], ranker.estimators_, strict=True))
    assert any(len(tree["features"]) > len(model.tree_.nodes()["left"]) for tree, model in rounds)
    for known in range(8):
        is_known = [known >> feature & 1 for feature in range(3)]
        for tree, model in rounds:
            nodes = model.tree_.nodes()
            for x in X:
                expected = 0.25 * expectation(nodes, 0, x, is_known)
                assert shap_expectation(tree, 0, x, is_known) == pytest.approx(expected)


def expectation(nodes, node, x, is_known):
    """Return the mean value of the leaves that a document can reach if some features are known."""
    left, feature = nodes["left"][node], nodes["feature"][node]
    if left == 0:
        return nodes["value"][node]
    values = [expectation(nodes, child, x, is_known) for child in (left, left + 1)]
    if not is_known[feature]:
        return np.average(values, weights=nodes["count"][[left, left + 1]])
    if np.isnan(x[feature]):
        return values[1 - nodes["missing_left"][node]]
    if nodes["categorical"][node]:
        return values[1 - (int(nodes["left_categories"][node, 0]) >> int(x[feature]) & 1)]
    return values[int(x[feature] > nodes["threshold"][node])]


def shap_expectation(tree, node, x, is_known):
    """Return the same for a tree of `shap`."""
    left, right = tree["children_left"][node], tree["children_right"][node]
    feature = tree["features"][node]
    if left < 0:
        return tree["values"][node, 0]
    if not is_known[feature]:
        values = [shap_expectation(tree, child, x, is_known) for child in (left, right)]
        return np.average(values, weights=tree["node_sample_weight"][[left, right]])
    child = left if x[feature] <= tree["thresholds"][node] else right
    if np.isnan(x[feature]):
        child = tree["children_default"][node]
    return shap_expectation(tree, child, x, is_known)


@pytest.mark.parametrize("linear_start", [False, True])
def test_shapley_values_add_up(linear_start):
    shap = pytest.importorskip("shap")
    frame = pandas_frame()
    ranker = make(init="linear" if linear_start else None).fit(frame, Y, QID)
    X = ranker.encode(frame)
    explainer = shap.TreeExplainer(ranker.export_shap())
    explained = explainer.shap_values(X) + (ranker.linear_.terms(X) if linear_start else 0)
    assert_allclose(explained.sum(axis=1) + explainer.expected_value, ranker.predict(frame))


@pytest.mark.parametrize("has_category", [False, True])
def test_columns_of_strings_are_named(has_category):
    X = pd.DataFrame({"price": [1.0, 2, 3, 4], "kind": list("abab"), "size": list("uvuv")})
    if has_category:
        X["size"] = X["size"].astype("category")
    with pytest.raises(ValueError, match="the column 'kind' of X must have numbers: .* category"):
        HistGradientBoostingRanker().fit(X, [0, 1, 0, 1], qid=[1, 1, 2, 2])


@pytest.mark.parametrize("dtype", [np.int64, np.float32])
def test_categories_that_floats_cannot_hold_are_refused(dtype):
    ids = (2**60 + np.arange(40) % 8).astype(dtype)
    ranker = HistGradientBoostingRanker(categorical_features=[0])
    with pytest.raises(ValueError, match="the categorical feature 0 has the number 11529"):
        ranker.fit(ids.reshape(-1, 1), np.arange(40) % 3, np.arange(40) % 4)


def test_an_init_that_may_violate_constraints_is_said():
    X = np.random.RandomState(0).normal(size=(40, 2))
    ranker = HistGradientBoostingRanker(max_iter=2, init=Ridge(), monotonic_cst=[-1, 0])
    with pytest.warns(UserWarning, match="init may violate monotonic_cst"):
        ranker.fit(X, np.arange(40) % 3, np.arange(40) % 4)
