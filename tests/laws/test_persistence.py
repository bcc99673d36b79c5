"""Saved models: they predict and learn as before, or say why they cannot be loaded."""

import copy
import pickle
import warnings
from functools import cache

import joblib
import numpy as np
import pytest
import sklrank._compiled.state
import skops.io
from fitted_models import (
    fit,
    learn,
    make_data,
    persistent_objects,
    predictions,
)
from sklearn.utils import get_tags
from test_common import KINDS, OTHERS

import sklrank
from sklrank.linear_model import OnlineLogisticRegression

pytestmark = pytest.mark.usefixtures("few_trees")
each_estimator = pytest.mark.parametrize(
    "estimator",
    [*KINDS.values(), *(pytest.param(one, marks=pytest.mark.slow) for one in OTHERS)],
    ids=repr,
)

# Compiled classes of scikit-learn inside of models; skops asks users to trust them by name.
OF_SKLEARN = {
    "sklearn.tree._tree.Tree",
    "sklearn.neighbors._kd_tree.KDTree",
    "sklearn.metrics._dist_metrics.EuclideanDistance64",
}


def untrusted_types(data):
    return set(skops.io.get_untrusted_types(data=data))


def through_skops(model, folder):
    data = skops.io.dumps(model)
    return skops.io.loads(data, trusted=sorted(untrusted_types(data)))


def through_joblib(model, folder):
    joblib.dump(model, folder / "model")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of joblib, on small arrays
        return joblib.load(folder / "model", mmap_mode="r")


WAYS = {
    "skops": through_skops,
    "joblib": through_joblib,
    "pickle": lambda model, folder: pickle.loads(pickle.dumps(model)),
    "deepcopy": lambda model, folder: copy.deepcopy(model),
}


@each_estimator
def test_saved_models_predict_and_learn_as_before(estimator, tmp_path):
    model, data = fit(estimator)
    assert predictions(model, data[0])
    loaded = {way: save_and_load(model, tmp_path) for way, save_and_load in WAYS.items()}
    new_data = make_data(model, seed=1)
    for _ in range(2):
        X = data[0] if get_tags(model).input_tags.pairwise else new_data[0]
        expected = predictions(model, X)
        for way, copied in loaded.items():
            for name, result in predictions(copied, X).items():
                np.testing.assert_array_equal(result, expected[name], err_msg=f"{way}: {name}")
        if get_tags(model).input_tags.pairwise:
            break
        for one in (model, *loaded.values()):
            learn(one, new_data)


# Models that tests only read.
fitted = cache(fit)


@each_estimator
def test_types_that_skops_asks_to_trust(estimator):
    """They are classes of this package, and those of scikit-learn's trees and neighbors."""
    model, _ = fitted(estimator)
    types = untrusted_types(skops.io.dumps(model))
    assert f"{type(model).__module__}.{type(model).__name__}" in types
    assert {name for name in types if not name.startswith("sklrank.")} <= OF_SKLEARN


# -- Versions.


@pytest.mark.parametrize("way", ["skops", "pickle"])
def test_other_state_formats_are_refused_by_name(way, monkeypatch, tmp_path):
    """The error says which version saved the model."""
    model, _ = fit(OnlineLogisticRegression())
    with monkeypatch.context() as context:
        context.setattr(sklrank._compiled.state, "STATE_FORMAT", 99)
        context.setattr(sklrank._compiled.state, "__version__", "9.8.7")
        data = skops.io.dumps(model) if way == "skops" else pickle.dumps(model)
    message = r"saved by sklrank 9\.8\.7 in state format 99, but sklrank .* state format 2"
    with pytest.raises(ValueError, match=message):
        if way == "skops":
            skops.io.loads(data, trusted=sorted(untrusted_types(data)))
        else:
            pickle.loads(data)


@each_estimator
def test_estimators_without_a_format_are_refused(estimator):
    model, _ = fitted(estimator)
    for one in (model, *persistent_objects(model)):
        state = dict(one.__getstate__())
        assert state.pop("_sklrank_version") == sklrank.__version__
        del state["_sklrank_state_format"]
        with pytest.raises(ValueError, match=f"this {type(one).__name__} was saved by an unknown"):
            type(one).__new__(type(one)).__setstate__(state)
