"""LinUCB with features of the classes, against the ridge regression on all products."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklrank.linear_model import LinUCBClassifier

RANDOM = np.random.RandomState(0)
K, D, P = 5, 3, 2
ITEMS = dict(enumerate(RANDOM.normal(size=(K, P))))
X = RANDOM.normal(size=(60, D))
REWARDS = RANDOM.randint(2, size=(60, K))


class SlowShared:
    """The regression of the rewards on the products of the scaled sample and the item."""

    def __init__(self, alpha):
        self.rows, self.z, self.rewards, self.squared_errors = [], [], [], []
        self.items = np.column_stack([list(ITEMS.values()), np.ones(K)])
        self.alpha, self.w = alpha, np.zeros((P + 1) * (D + 1))

    def products(self, x, rows):
        x = np.append(x / np.sqrt(np.mean(np.sum(np.square(rows), axis=1))), 0.25)
        return np.array([np.outer(item, x).ravel() for item in self.items])

    def bounds(self, x, bonus):
        z, seen = self.products(x, [*self.rows, x]), np.array(self.z).reshape(-1, len(self.w))
        inverse = np.linalg.inv(self.alpha * np.eye(len(self.w)) + seen.T @ seen)
        mean, n = 0.0, len(self.squared_errors)
        for t, square in enumerate(self.squared_errors):
            mean += 3 / (t + 3) * (square - mean)
        s = np.sqrt((3 + n * mean) / (3 + n))
        return z @ self.w + bonus * s * np.sqrt(np.einsum("ki,ij,kj->k", z, inverse, z))

    def learn(self, x, action, reward):
        self.rows.append(x)
        z = self.products(x, self.rows)[action]
        self.squared_errors.append((reward - self.w @ z) ** 2)
        self.z.append(z)
        self.rewards.append(reward)
        Z = np.array(self.z)
        self.w = np.linalg.solve(self.alpha * np.eye(len(self.w)) + Z.T @ Z, Z.T @ self.rewards)


def test_is_the_regression_on_products():
    settings = {"clip": None, "drift_threshold": None, "alpha": 0.5, "bonus": 0.8}
    model, slow = LinUCBClassifier(item_features=ITEMS, **settings), SlowShared(0.5)
    for x, rewards in zip(X, REWARDS):
        shown = model.explore([x], classes=range(K))
        action = shown.actions[0]
        assert action == slow.bounds(x, 0.8).argmax()
        model.partial_fit_feedback([x], shown, rewards[[action]])
        slow.learn(x, action, rewards[action])
    scores = [slow.products(x, slow.rows) @ slow.w for x in X]
    assert_allclose(model.decision_function(X), scores, atol=1e-9)
    assert_allclose(X @ model.coef_.T + model.intercept_, scores, atol=1e-9)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_new_items(kernel, fingerprint):
    """A new item has the score of an old one with equal features, at once."""
    items = dict(ITEMS)
    model = LinUCBClassifier(kernel=kernel, item_features=lambda name: items[name], random_state=0)
    model.partial_fit(X, REWARDS.argmax(axis=1), classes=range(K))
    before, state = model.decision_function(X), fingerprint(model)
    with pytest.raises(ValueError, match="no array for class 7"):
        model.partial_fit(X[:1], [0], classes=[*range(K), 7])
    assert fingerprint(model) == state
    items[7] = items[2]
    model.explore(X[:1], classes=[*range(K), 7])
    assert_array_equal(model.decision_function(X)[:, :K], before)
    assert_array_equal(model.decision_function(X)[:, K], before[:, 2])
    model.drop_classes([0, 3])
    assert_array_equal(model.decision_function(X)[:, :3], before[:, [1, 2, 4]])


@pytest.mark.parametrize(
    "change, message",
    [
        ({"item_features": {0: [1.0]}}, "no array for class 1"),
        ({"item_features": {0: [1.0], 1: [1.0, 2.0]}}, "as many finite numbers"),
        ({"item_features": {0: [1.0], 1: [np.nan]}}, "as many finite numbers"),
        ({"item_features": {0: [1.0], 1: [-1.7e9]}}, "size 1.7e.09: scale them"),
        ({"item_features": {0: [1.0], 1: ["a"]}}, "no array for class 1"),
        ({"item_features": {0: [1.0], 1: [1.0]}, "covariance": "diagonal"}, "covariance='full'"),
    ],
)
def test_bad_item_features(change, message):
    with pytest.raises(ValueError, match=message):
        LinUCBClassifier(**change).partial_fit(X, (X[:, 0] > 0).astype(int))


@pytest.mark.parametrize(
    "start, later, adds, message",
    [
        (ITEMS, {name: np.ones(9) for name in range(K)}, False, "items have the shape"),
        (None, ITEMS, False, "item_features"),
        (ITEMS, None, True, "item_features"),
    ],
)
def test_other_item_features_of_a_fitted_model(start, later, adds, message, fingerprint):
    """A refused change of labels leaves the model as it was."""
    model = LinUCBClassifier(kernel="linear", item_features=start)
    model.partial_fit(X, REWARDS.argmax(axis=1), classes=range(K)).set_params(item_features=later)
    before = fingerprint(model)
    with pytest.raises(ValueError, match=message):
        model.partial_fit(X, X[:, 0] > 0, range(K + 1)) if adds else model.drop_classes([0])
    assert fingerprint(model) == before
    if later is None:
        assert_array_equal(model.drop_classes([0]).classes_, range(1, K))
