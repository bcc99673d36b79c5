"""Rankings made of classification and of regression data."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_diabetes, load_iris, load_wine
from sklearn.linear_model import LinearRegression, Perceptron
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from sklrank.datasets import label_ranking_from_classification, label_ranking_from_regression
from sklrank.metrics import beta_tau_gap


def complete(Y):
    return np.array_equal(np.sort(Y, axis=1), np.tile(np.arange(1, Y.shape[1] + 1), (len(Y), 1)))


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_classes_by_probability(load):
    X, y = load(return_X_y=True)
    X_same, Y = label_ranking_from_classification(X, y)
    assert_array_equal(X_same, X)
    assert Y.dtype == np.float64 and complete(Y)
    model = GaussianNB().fit(X, y)
    assert_array_equal(Y.argmin(axis=1), model.predict(X))
    log_probability = model.predict_log_proba(X)
    for row, log_p in zip(Y, log_probability):
        assert_array_equal(np.argsort(row), np.argsort(-log_p, kind="stable"))


def test_probabilities_that_underflow_keep_their_order():
    X = [[0], [1], [5000], [5001], [1000], [1001]]
    _, Y = label_ranking_from_classification(X, [0, 0, 1, 1, 2, 2])
    assert_array_equal(Y[::2], [[1, 3, 2], [3, 1, 2], [2, 3, 1]])


@pytest.mark.parametrize("unit", [1.0, 1e300 / 8, 1e-300])
@pytest.mark.parametrize("constant", [0.0, 1e9 / 3, -1e300])
def test_neither_units_nor_constant_features_change_rankings(unit, constant):
    X, y = load_iris(return_X_y=True)
    beside = np.insert(X * unit, [0, 2], constant, axis=1)
    X_same, Y = label_ranking_from_classification(beside, y)
    assert_array_equal(X_same, beside)
    assert_array_equal(Y, label_ranking_from_classification(X, y)[1])


def test_few_bits_are_made_many():
    """Numbers of 32 bits and truth values rank as the same numbers of 64 bits."""
    X, y = load_iris(return_X_y=True)
    for few in (X.astype(np.float32), X > X.mean(axis=0)):
        X_same, Y = label_ranking_from_classification(few, y)
        assert X_same.dtype == few.dtype
        assert_array_equal(Y, label_ranking_from_classification(few.astype(np.float64), y)[1])


def test_constant_features_alone():
    problem = r"X must have a feature that is not constant, .* got 2 constant"
    with pytest.raises(ValueError, match=problem):
        label_ranking_from_classification([[1, 2]] * 4, [0, 0, 1, 1])


def test_probabilities_of_zero_rank_last():
    X, y = load_iris(return_X_y=True)
    _, Y = label_ranking_from_classification(X, y, estimator=DecisionTreeClassifier())
    assert_array_equal(Y[[0, 50, 100]], [[1, 2, 3], [2, 1, 3], [2, 3, 1]])


def test_names_and_other_classifiers():
    X, y = load_iris(return_X_y=True)
    names = np.array(["c", "a", "b"])[y]
    estimator = KNeighborsClassifier(5)
    _, Y = label_ranking_from_classification(X, names, estimator=estimator)
    assert not hasattr(estimator, "classes_")
    best = np.array(["a", "b", "c"])[Y.argmin(axis=1)]
    assert (best == names).mean() > 0.9
    assert_array_equal(Y[0], [2, 3, 1])  # a and b, of no neighbour, in their order


def test_near_to_a_published_set(benchmark_folder):
    """Made by another naive Bayes, of classes that the set no longer tells."""
    with np.load(benchmark_folder / "labelranking" / "authorship.npz", allow_pickle=True) as data:
        X, published = data["X"], data["Y"]
    _, Y = label_ranking_from_classification(X, published.argmin(axis=1))
    assert beta_tau_gap(published, Y) > 0.95


def test_attributes_by_size():
    X = load_diabetes(scaled=False).data
    labels = [7, 4, 5]
    rest, Y = label_ranking_from_regression(X, labels)
    assert_array_equal(rest, X[:, [0, 1, 2, 3, 6, 8, 9]])
    assert complete(Y)
    standard = (X - X.mean(axis=0)) / X.std(axis=0)
    for row, values in zip(Y, standard[:, labels]):
        assert_array_equal(np.argsort(row), np.argsort(-values, kind="stable"))


def test_remaining_features_are_informative():
    X, Y = label_ranking_from_regression(load_diabetes().data, [4, 5, 6, 7])
    best_guess = LinearRegression().fit(X[:300], Y[:300]).predict(X[300:])
    assert (best_guess.argmin(axis=1) == Y[300:].argmin(axis=1)).mean() > 0.4


def test_units_of_features_do_not_matter():
    X = load_diabetes(scaled=False).data
    _, expected = label_ranking_from_regression(X, [4, 5, 6, 7])
    X[:, [4, 5, 6, 7]] *= 2.0 ** np.array([900, -900, 0, 1])
    assert_array_equal(label_ranking_from_regression(X, [4, 5, 6, 7])[1], expected)
    tiniest = [[0, 1, 0], [1, 0, 0], [0, 5e-324, 0]]
    with pytest.raises(ValueError, match=r"constant features.*\[2\]"):
        label_ranking_from_regression(np.transpose(tiniest), [1, 2])


def test_features_drawn():
    X = np.random.default_rng(0).random((20, 9))
    X[:, [2, 5]] = 1
    rest, Y = label_ranking_from_regression(X, random_state=0)
    assert rest.shape == (20, 5) and Y.shape == (20, 4)
    again = label_ranking_from_regression(X, 4, random_state=0)
    assert_array_equal(again[0], rest)
    assert_array_equal(again[1], Y)
    for seed in range(20):
        rest, Y = label_ranking_from_regression(X, 7, random_state=seed)
        assert_array_equal(rest, np.ones((20, 2)))


@pytest.mark.parametrize(
    "labels, problem",
    [
        (1, "labels"),
        (4, "labels"),
        (3, "labels=3 of the features cannot be drawn: only 2"),
        ([0], "labels must be at least two"),
        ([0, 1, 2, 3], "labels must be at least two of the 4 features and leave one"),
        ([0, 0], "labels must be features from 0 to 3, each once"),
        ([0, 4], "labels must be features from 0 to 3"),
        ([0, -1], "labels must be features from 0 to 3"),
        ([0, 2], "labels must not be constant features.*\\[2\\]"),
        (["a", "b"], "labels must be an integer or feature indices"),
    ],
)
def test_wrong_labels(labels, problem):
    X = [[1, 2, 3, 4], [2, 1, 3, 4]]
    with pytest.raises(ValueError, match=problem):
        label_ranking_from_regression(X, labels)


def test_too_few_features_or_classes():
    with pytest.raises(ValueError, match="X must have four features or more"):
        label_ranking_from_regression([[1, 2, 3], [2, 3, 1]])
    with pytest.raises(ValueError, match="y must have two classes"):
        label_ranking_from_classification([[1], [2]], [0, 0])
    with pytest.raises(ValueError, match="estimator must have predict_proba"):
        label_ranking_from_classification([[1], [2]], [0, 1], estimator=Perceptron())
