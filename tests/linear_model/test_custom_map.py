"""A user's mirror map in BanditronClassifier, and its errors."""

import pickle
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklrank._rows import Rows

from sklrank.linear_model import BanditronClassifier
from sklrank.linear_model._mirror import make_mirror_map


@dataclass
class Projected:
    """Nonnegative weights, without a projection of the dual weights."""

    factor: float = 2.0

    def weights(self, dual_weights):
        return self.factor * np.maximum(dual_weights, 0)


@dataclass
class Returning:
    """Returns zeros for small dual weights, and a given object for others."""

    result: object
    limit: float = 20.0

    def weights(self, dual_weights):
        if np.abs(dual_weights).max() < self.limit:
            return np.zeros(dual_weights.shape, dtype=np.float32)
        return self.result


class Failing:
    def weights(self, dual_weights):
        if np.any(np.abs(dual_weights) > 20):
            raise KeyError("no such weight")
        return dual_weights


class Writing:
    def weights(self, dual_weights):
        dual_weights += 1
        return dual_weights


def stream(n_rows=300):
    random = np.random.RandomState(0)
    y = random.randint(3, size=n_rows)
    return random.normal(size=(n_rows, 4)) + 2 * np.eye(3, 4)[y], y


def test_it_is_called_once_for_a_step_of_all_classes():
    calls = []

    class Counted:
        def weights(self, dual_weights):
            calls.append(dual_weights.copy())
            return dual_weights

    mirror_map = make_mirror_map(Counted(), 3, 4)
    assert mirror_map.convexity is None
    calls.clear()
    X, y = stream(5)
    mirror_map.take_steps(Rows(X, 0.0), np.eye(3)[y])
    assert len(calls) == 5
    assert_array_equal(calls[-1], mirror_map.dual_weights)


def test_identity_is_the_euclidean_map(fingerprint):
    """It plays the same rounds, although it returns the array that it gets."""

    @dataclass
    class Identity:
        def weights(self, dual_weights):
            return dual_weights

    X, y = stream()
    euclidean = BanditronClassifier(random_state=0).fit(X, y)
    model = clone(euclidean).set_params(mirror_map=Identity()).fit(X, y)
    assert model.n_rounds_ == euclidean.n_rounds_
    assert model.error_rate_ == euclidean.error_rate_
    assert_array_equal(model.coef_, euclidean.coef_)


def test_weights_are_those_that_it_returns():
    """Also in chunks, and after pickling."""
    X, y = stream()
    model = BanditronClassifier(mirror_map=Projected(), fit_intercept=False, random_state=0)
    at_once = clone(model).partial_fit(X, y)
    model.partial_fit(X[:100], y[:100], range(3))
    model = pickle.loads(pickle.dumps(model)).partial_fit(X[100:], y[100:])
    assert_array_equal(model.coef_, at_once.coef_)
    assert np.all(model.coef_ >= 0)
    assert np.any(model.coef_ > 0)


BAD = {
    "a wrong shape": (np.zeros((4, 3)), r"shape \(4, 3\) for dual weights of the shape \(3, 5\)"),
    "NaN": (np.full((3, 5), np.nan), "NaN or infinity"),
    "nothing": (None, "mirror_map"),
    "text": ("weights", "returned str, not numbers"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_weights_are_named_at_the_start(case, fingerprint):
    """It is called when the model is started; a fitted model is not changed."""
    result, message = BAD[case]
    X, y = stream()
    model = BanditronClassifier(random_state=0).fit(X, y)
    before = fingerprint(vars(model)["_rounds"])
    model.set_params(mirror_map=Returning(result, limit=0.0))
    with pytest.raises(ValueError, match=f"mirror_map.*{message}|{message}"):
        model.fit(X, y)
    assert fingerprint(vars(model)["_rounds"]) == before


@pytest.mark.parametrize("case", BAD)
def test_bad_weights_are_named_later(case, fingerprint, capfd):
    """An error is raised, and nothing printed. A failing `fit` does not change the model."""
    result, message = BAD[case]
    X, y = stream()
    model = BanditronClassifier(random_state=0).fit(X, y)
    before = fingerprint(vars(model)["_rounds"])
    model.set_params(mirror_map=Returning(result))
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    assert fingerprint(vars(model)["_rounds"]) == before
    fresh = clone(model)
    for call in (fresh.partial_fit, fresh.progressive_fit):
        with pytest.raises(ValueError, match=message):
            call(X, y)
        assert not hasattr(fresh, "classes_")
    shown = fresh.explore(X, classes=range(3))
    with pytest.raises(ValueError, match=message):
        fresh.partial_fit_feedback(X, shown, shown.actions == y)
    assert capfd.readouterr() == ("", "")


def test_its_own_errors_are_raised():
    """Unchanged; and it cannot write to the dual weights."""
    X, y = stream()
    with pytest.raises(KeyError, match="no such weight"):
        BanditronClassifier(mirror_map=Failing(), random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="read-only"):
        BanditronClassifier(mirror_map=Writing(), random_state=0).fit(X, y)


def test_object_without_weights_is_refused():
    X, y = stream()
    for mirror_map in (object(), 3, np.maximum, make_mirror_map("euclidean", 3, 5)):
        with pytest.raises(ValueError, match="'mirror_map' parameter of BanditronClassifier"):
            BanditronClassifier(mirror_map=mirror_map).fit(X, y)
