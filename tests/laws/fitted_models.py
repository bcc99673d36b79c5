"""Fitted models, and the compiled objects in them, for the tests of saved models."""

import inspect
import warnings

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.utils import get_tags
from sklrank._compiled.state import Persistent

from sklrank._online.batches import WorkingMemory

N_SAMPLES, N_FEATURES = 60, 4


def make_data(estimator, seed=0):
    """Return X and the other arguments of `fit`, of any kind that the estimator accepts."""
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(N_SAMPLES, N_FEATURES))
    classes = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)
    if get_tags(estimator).input_tags.pairwise:
        X = X @ X.T
    if "qid" in inspect.signature(estimator.fit).parameters:
        return X, classes, np.arange(N_SAMPLES) // 6
    if is_classifier(estimator):
        # `multi_class` is False if there must be two classes.
        return X, classes if get_tags(estimator).classifier_tags.multi_class else X[:, 0] > 0
    if is_regressor(estimator):
        return X, X[:, 0] + X[:, 1]
    return X, rng.rand(N_SAMPLES, 3).argsort(axis=1) + 1.0


def fit(estimator):
    """Return a clone of the estimator that is fitted, and its data."""
    model = clone(estimator)
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    data = make_data(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(*data)
    return model, data


def predictions(model, X):
    """Return the results of all methods that predict."""
    names = ("decision_function", "predict", "predict_proba", "predict_ranks", "transform")
    methods = {name: getattr(model, name) for name in names if hasattr(model, name)}
    queries = {"qid": np.arange(X.shape[0]) // 6}
    return {
        name: method(X, **(queries if "qid" in inspect.signature(method).parameters else {}))
        for name, method in methods.items()
    }


def learn(model, data):
    """Continue training if the model can do so."""
    if hasattr(model, "partial_fit"):
        model.partial_fit(*data)


def persistent_objects(thing, found=None):
    """Return the compiled objects in a model, in a fixed order."""
    found = [] if found is None else found
    if isinstance(thing, Persistent):
        if not any(thing is other for other in found):
            found.append(thing)
            persistent_objects(thing.__getstate__(), found)
    elif isinstance(thing, dict):
        for value in thing.values():
            persistent_objects(value, found)
    elif isinstance(thing, list | tuple):
        for value in thing:
            persistent_objects(value, found)
    elif isinstance(thing, WorkingMemory):
        pass
    elif isinstance(thing, BaseEstimator) or type(thing).__module__.startswith("sklrank"):
        persistent_objects(vars(thing), found)
    return found
