"""StumpClassifier: comparison with an exhaustive search, and use as an estimator."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.tree import DecisionTreeClassifier

from sklrank._binning import find_thresholds
from sklrank.tree import StumpClassifier


def make_data(seed, n=40, n_values=6):
    """Draw features of few values, one of them constant, and weights, some of them zero."""
    random = np.random.RandomState(seed)
    X = random.randint(n_values, size=(n, 4)) / 2
    X[:, 1] = 3.0
    y = np.where(X[:, 2] + random.normal(size=n) > 1, "yes", "no")
    y[:2] = "no", "yes"
    weights = random.uniform(size=n) * random.randint(2, size=n)
    weights[:2] = 0.5
    return X, y, weights


def merit(criterion, left, right):
    """Return the criterion of a threshold, from the weights of both classes on either side."""
    if criterion == "gain":
        return abs((left[1] - left[0]) - (right[1] - right[0]))
    return sum((yes - no) ** 2 / (yes + no) for no, yes in (left, right) if yes + no > 0)


def all_splits(X, y, weights, criterion):
    """Yield the criterion of each threshold between values of samples with a weight, in order."""
    seen = weights > 0
    for feature in range(X.shape[1]):
        values = np.unique(X[seen, feature])
        for threshold in (values[1:] + values[:-1]) / 2:
            on_left = X[:, feature] <= threshold
            sides = [
                [weights[side & (y == name)].sum() for name in ("no", "yes")]
                for side in (on_left, ~on_left)
            ]
            yield feature, threshold, merit(criterion, *sides)


# -- Comparison with slow statements.


@pytest.mark.parametrize("criterion", ["gini", "gain"])
@given(seed=st.integers(0, 2**32 - 1), weighted=st.booleans())
def test_the_best_threshold_is_found(criterion, seed, weighted):
    X, y, weights = make_data(seed)
    if not weighted:
        weights = np.ones(len(X))
    stump = StumpClassifier(criterion=criterion).fit(X, y, weights)
    splits = [*all_splits(X, y, weights, criterion)]
    best = max(merit for *_, merit in splits)
    everything = [weights[y == name].sum() for name in ("no", "yes")]
    if best <= merit(criterion, everything, [0, 0]) + 1e-9:
        assert np.isinf(stump.threshold_)
        return
    # Ties go to the smaller feature, then to the smaller threshold.
    first = next((f, t) for f, t, merit in splits if merit >= best - 1e-9)
    assert (stump.feature_, stump.threshold_) == first
    on_left = X[:, first[0]] <= first[1]
    if criterion == "gini":
        for side in (on_left, ~on_left):
            predicted = stump.predict(X[side])[0]
            heaviest = max(weights[side & (y == name)].sum() for name in ("no", "yes"))
            assert_allclose(weights[side & (y == predicted)].sum(), heaviest)
    else:
        right = weights[stump.predict(X) == y].sum()
        assert_allclose(2 * right - weights.sum(), best)


def test_as_good_as_the_stumps_of_scikit_learn():
    for seed in range(5):
        X, y, weights = make_data(seed, n=200, n_values=150)
        tree = DecisionTreeClassifier(max_depth=1).fit(X, y, weights).tree_
        tree = [tree.feature[0], tree.threshold[0]]
        ours = StumpClassifier().fit(X, y, weights)
        merits = {(f, t): merit for f, t, merit in all_splits(X, y, weights, "gini")}
        assert_allclose(merits[ours.feature_, ours.threshold_], merits[tuple(tree)])


def test_ties_go_to_the_smaller_feature_and_threshold():
    X = np.array([[0.0, 1, 1], [1, 1, 1], [2, 2, 2], [3, 2, 2]])
    stump = StumpClassifier().fit(X[:, [1, 2]], [0, 0, 1, 1])
    assert (stump.feature_, stump.threshold_) == (0, 1.5)
    stump = StumpClassifier().fit(X[:, [0]], [0, 1, 0, 1])
    assert stump.threshold_ == 0.5


@pytest.mark.parametrize("criterion", ["gini", "gain"])
def test_without_a_gain_the_heavier_class_is_predicted(criterion):
    stump = StumpClassifier(criterion=criterion).fit(np.ones((5, 2)), [0, 0, 1, 1, 1])
    assert stump.threshold_ == np.inf
    assert_array_equal(stump.predict(np.zeros((2, 2))), [1, 1])
    assert not stump.feature_importances_.any()
    # Weights of zero leave one class.
    stump.fit([[0], [1], [2]], [0, 1, 1], sample_weight=[3, 0, 0])
    assert_array_equal(stump.predict([[0], [2]]), [0, 0])


@pytest.mark.parametrize("criterion", ["gini", "gain"])
@given(seed=st.integers(0, 2**32 - 1))
def test_probabilities_are_the_shares_of_a_leaf(criterion, seed):
    X, y, weights = make_data(seed)
    stump = StumpClassifier(criterion=criterion).fit(X, y, weights)
    left = X[:, stump.feature_] <= stump.threshold_
    probabilities = stump.predict_proba(X)
    for i in range(len(X)):
        side = left == left[i]
        for c, name in enumerate(stump.classes_):
            share = weights[side & (y == name)].sum() / weights[side].sum()
            assert_allclose(probabilities[i, c], share, atol=1e-12)
    assert_array_equal(stump.predict(X), stump.classes_[probabilities.argmax(axis=1)])
    assert_array_equal(stump.predict(X), stump.classes_[stump.leaf_classes_[1 - left]])
    assert_array_equal(probabilities[:, 1], stump.leaf_proba_[1 - left])
    logarithms = stump.predict_log_proba(X)
    assert_allclose(np.exp(logarithms), probabilities)
    assert_array_equal(np.isneginf(logarithms), probabilities == 0)


def test_scored_by_the_area_under_the_curve():
    X, y, _ = make_data(0, n=200)
    assert cross_val_score(StumpClassifier(), X, y, scoring="roc_auc").mean() > 0.7


def test_max_bins_are_quantiles():
    values = np.random.RandomState(0).exponential(size=1000)
    thresholds = find_thresholds(values, 8)
    assert len(thresholds) == 7
    shares = [(values <= threshold).mean() for threshold in thresholds]
    assert_allclose(shares, np.arange(1, 8) / 8, atol=2e-3)
    # With few values there is a threshold between any two of them.
    assert_array_equal(find_thresholds(np.array([3.0, 1, 2, 3]), 3), [1.5, 2.5])
    # Half of the samples have the same value: no threshold is equal to it.
    values[:500] = 0.0
    inside = find_thresholds(values, 8)
    assert (inside > 0).all() and (inside < values.max()).all()


@pytest.mark.parametrize("max_bins", [2, 255, 256])
def test_any_number_of_bins(max_bins):
    X = np.arange(1000.0)[:, np.newaxis]
    stump = StumpClassifier(max_bins=max_bins).fit(X, X[:, 0] >= 501)
    assert abs(stump.threshold_ - 500) <= 1000 / max_bins
    assert stump.score(X, X[:, 0] >= 501) >= 0.995


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_neighboring_floats_are_separated(dtype):
    low = dtype(0.1)
    X = np.array([[low], [np.nextafter(low, dtype(1))]])
    stump = StumpClassifier().fit(X, [0, 1])
    assert_array_equal(stump.predict(X), [0, 1])
    assert_array_equal(stump.predict(X.astype(np.float64)), [0, 1])


def test_huge_values():
    X = np.array([[-1e308], [1e308], [1.5e308]])
    stump = StumpClassifier().fit(X, [0, 0, 1])
    assert_array_equal(stump.predict(X), [0, 0, 1])


# -- Use as an estimator.


def test_data_frame():
    X, y, weights = make_data(0)
    frame = pd.DataFrame(X, columns=list("abcd"))
    stump = StumpClassifier().fit(frame, pd.Series(y), pd.Series(weights))
    assert_array_equal(stump.feature_names_in_, list("abcd"))
    assert_array_equal(stump.classes_, ["no", "yes"])
    assert_array_equal(stump.predict(frame), clone(stump).fit(X, y, weights).predict(X))
    assert_array_equal(stump.feature_importances_, np.arange(4) == stump.feature_)


@pytest.mark.parametrize(
    ("parameters", "arguments", "message"),
    [
        ({}, ([[1], [2]], [0, 0]), "two classes, got 1 class"),
        ({}, ([[1], [2], [3]], [0, 1, 2]), "Only binary classification.*got 3 class"),
        ({}, ([[1], [2]], [0.5, 0.7]), "continuous"),
        ({}, ([[1], [np.nan]], [0, 1]), "NaN"),
        ({}, ([[1], [np.inf]], [0, 1]), "infinity"),
        ({}, ([[1], [2]], [0, 1, 1]), "inconsistent"),
        ({}, ([[1], [2]], [0, 1], [1, -1]), "must not be negative"),
        ({}, ([[1], [2]], [0, 1], [0, 0]), "all zeros"),
        ({"max_bins": 257}, ([[1], [2]], [0, 1]), "max_bins"),
        ({"max_bins": 1}, ([[1], [2]], [0, 1]), "max_bins"),
        ({"criterion": "entropy"}, ([[1], [2]], [0, 1]), "criterion"),
    ],
)
def test_bad_input(parameters, arguments, message):
    with pytest.raises(ValueError, match=message):
        StumpClassifier(**parameters).fit(*arguments)


def test_a_failed_fit_leaves_the_stump_unchanged(fingerprint):
    X, y, weights = make_data(0)
    stump = StumpClassifier().fit(X, y)
    before = fingerprint(stump)
    wide = np.hstack([X, X])
    for arguments in ((wide, np.arange(len(X)) % 3), (wide, y, -weights)):
        with pytest.raises(ValueError):
            stump.fit(*arguments)
        assert fingerprint(stump) == before


def test_not_fitted():
    for method in ("predict", "predict_proba", "predict_log_proba"):
        with pytest.raises(NotFittedError):
            getattr(StumpClassifier(), method)([[1]])
