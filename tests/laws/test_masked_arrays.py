"""Masked arrays, and columns of nullable types: what is behind a mask is never learned."""

import inspect

import numpy as np
import pandas as pd
import pytest
from fitted_models import make_data, predictions
from sklearn.base import clone, is_classifier
from test_common import KINDS

from sklrank.feedback import Exploration
from sklrank.linear_model import (
    BanditronClassifier,
    LinUCBClassifier,
    OnlineLogisticRegression,
    SemiBanditRanker,
)
from sklrank.metrics import kendall_tau_distance, ndcg_score, rank_loss
from sklrank.off_policy import policy_value
from sklrank.online_boosting import TopKAdaptive
from sklrank.tree import HistogramTreeClassifier

estimators = pytest.mark.parametrize("estimator", KINDS.values(), ids=KINDS)


def masked(array):
    """Return a masked array with another number behind the mask, and the array with NaN there."""
    array = np.array(array, dtype=float)
    mask = np.zeros(array.shape, dtype=bool)
    mask[3] = True
    known = array.copy()
    known[3] = np.nan
    return np.ma.MaskedArray(np.where(mask, array.max(), array), mask), known


def result(estimator, data, X, weight=None):
    """Return the predictions of a new model as text, or the error."""
    model = clone(estimator)
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    weights = {} if weight is None else {"sample_weight": weight}
    try:
        return repr(predictions(model.fit(*data, **weights), X))
    except ValueError as error:
        return str(error)


@pytest.mark.filterwarnings("ignore")
@estimators
def test_a_mask_is_nan(estimator):
    """It has a meaning, such as a label that is not ranked, or it is refused as NaN is."""
    data = list(make_data(estimator))
    for i, each in enumerate(data[: 1 if is_classifier(estimator) else 2]):
        with_mask, with_nan = (data.copy() for _ in range(2))
        with_mask[i], with_nan[i] = masked(each)
        assert result(estimator, with_mask, data[0]) == result(estimator, with_nan, data[0])
    if "sample_weight" in inspect.signature(estimator.fit).parameters:
        weights = masked(np.ones(len(data[0])))
        found, expected = (result(estimator, data, data[0], weight) for weight in weights)
        assert found == expected
        assert "NaN" in found


@estimators
def test_classes_behind_a_mask_are_refused(estimator):
    """But by semi-supervised classifiers, for which these samples are unlabeled."""
    if not is_classifier(estimator):
        return
    X, y = make_data(estimator)
    if "semi_supervised" in type(estimator).__module__:
        target = np.ma.MaskedArray(y.astype(int), np.arange(len(y)) == 3)
        unlabeled = np.where(np.arange(len(y)) == 3, -1, y.astype(int))
        found = clone(estimator).set_params(random_state=0).fit(X, target)
        expected = clone(estimator).set_params(random_state=0).fit(X, unlabeled)
        assert (found.predict(X) == expected.predict(X)).all()
        return
    for names in (y.astype(int), y.astype(str)):
        target = np.ma.MaskedArray(names, np.arange(len(y)) == 3)
        with pytest.raises(ValueError):
            clone(estimator).fit(X, target)


@pytest.mark.parametrize(
    "model",
    [
        BanditronClassifier(random_state=0),
        LinUCBClassifier(random_state=0),
        SemiBanditRanker(k=2, random_state=0),
        TopKAdaptive(k=2, n_estimators=1, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_masked_records(model):
    X = np.random.default_rng(0).normal(size=(20, 3))
    model = clone(model)
    shown = model.explore(X, classes=range(3))
    rewards = masked(shown.actions == 0)
    one, other = (clone(model) for _ in range(2))
    for copy, each in zip((one, other), rewards):
        copy.partial_fit_feedback(X, shown, each, classes=range(3))
    assert one.n_rounds_ == other.n_rounds_ == 19
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))
    hidden = Exploration(masked(shown.actions)[0], shown.propensities, shown.classes)
    with pytest.raises(ValueError, match="actions"):
        one.partial_fit_feedback(X, hidden, shown.actions == 0)
    hidden = Exploration(shown.actions, masked(shown.propensities)[0], shown.classes)
    with pytest.raises(ValueError, match="propensities"):
        one.partial_fit_feedback(X, hidden, shown.actions == 0)


@pytest.mark.filterwarnings("ignore::sklrank.off_policy._log.OffPolicyWarning")
def test_masked_arguments_of_metrics():
    scores = np.random.default_rng(0).normal(size=(8, 4))
    ranks = scores.argsort(axis=1).argsort(axis=1) + 1
    with pytest.raises(ValueError, match="y_score must be finite"):
        rank_loss(np.arange(8) % 4, masked(scores)[0])
    with pytest.raises(ValueError, match="y_true must hold 0 or 1"):
        rank_loss(masked(scores > 0)[0], scores)
    with pytest.raises(ValueError, match="y_true must be finite"):
        ndcg_score(masked(ranks[:, 0])[0], scores[:, 0])
    found, expected = (kendall_tau_distance(each, ranks) for each in masked(ranks))
    assert found == expected
    shown = Exploration(np.arange(8) % 2, np.full(8, 0.5))
    policy = np.full((8, 2), 0.5)
    found, expected = (
        policy_value(each, shown, policy, method="ips")["value"]
        for each in masked(np.arange(8) / 8)
    )
    assert found == expected


# -- Columns of nullable types.

IDS = 2**53 + np.arange(3)


@pytest.mark.parametrize("kind", ["Int64", "int64[pyarrow]", "UInt64"])
@pytest.mark.parametrize("model", [OnlineLogisticRegression(), HistogramTreeClassifier()])
def test_large_numbers_are_different_classes(model, kind):
    if "pyarrow" in kind:
        pytest.importorskip("pyarrow")
    X, y = np.eye(3)[np.arange(60) % 3], IDS[np.arange(60) % 3]
    fitted = clone(model).fit(X, pd.Series(y, dtype=kind))
    assert fitted.classes_.tolist() == IDS.tolist()
    if hasattr(model, "partial_fit"):
        of_array = clone(model).partial_fit(X, y, classes=pd.Series(IDS, dtype=kind))
        for _ in range(5):
            of_array.partial_fit(X, pd.Series(y, dtype=kind))
        assert of_array.classes_.dtype.kind in "iu"
        np.testing.assert_array_equal(of_array.predict(X), y)


@pytest.mark.parametrize("kind", [object, "string", "str", "category"])
def test_names_given_to_a_model_of_numbers(kind):
    X = np.eye(3)
    model = OnlineLogisticRegression().partial_fit(X, [0, 1, 2])
    with pytest.raises(ValueError, match="'b'.*classes"):
        model.partial_fit(X, pd.Series(["a", "b", "c"], dtype=kind))
    names = OnlineLogisticRegression().partial_fit(X, ["a", "b", "c"])
    with pytest.raises(ValueError, match=r"1.*classes"):
        names.partial_fit(X, pd.Series([0, 1, 2], dtype="Int64"))
