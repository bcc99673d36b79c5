"""`shuffle`: `fit` learns the samples in a random order, all other methods in that of the rows."""

import inspect

import numpy as np
import pytest
from fitted_models import make_data, predictions
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.datasets import make_blobs
from sklearn.metrics import balanced_accuracy_score
from sklearn.utils import get_tags
from test_common import KINDS

from sklrank.tree import HoeffdingTreeClassifier

LEARNERS = {name: one for name, one in KINDS.items() if hasattr(one, "partial_fit")}
# A tree whose splits depend on the order of a few samples.
LEARNERS["HoeffdingTreeClassifier"] = HoeffdingTreeClassifier(grace_period=9, tau=0.9)
CLASSIFIERS = {name: one for name, one in LEARNERS.items() if is_classifier(one)}
# Learners whose default settings draw nothing but the order of the samples.
DRAW_ORDER = {
    "HoeffdingTreeClassifier",
    "OnlineLogisticRegression",
    "OnlineRidgeClassifier",
    "PredtronClassifier",
    "PredtronLabelRanker",
    "PredtronQueryRanker",
}
each_learner = pytest.mark.parametrize("name", LEARNERS)


def assert_equal(model, other, X):
    others = predictions(other, X)
    for name, values in predictions(model, X).items():
        assert_array_equal(np.asarray(values), np.asarray(others[name]), err_msg=name)


@each_learner
def test_all_shuffle_by_default(name):
    """As SGDClassifier, and the order is drawn by `random_state`.

    As in Perceptron of scikit-learn, that is 0 if nothing else is random: two fits are the same.
    """
    parameters = inspect.signature(type(LEARNERS[name])).parameters
    assert parameters["shuffle"].default is True
    assert parameters["random_state"].default == (0 if name in DRAW_ORDER else None)
    model, (X, *targets) = clone(LEARNERS[name]), make_data(LEARNERS[name])
    model.set_params(shuffle=True)
    first, same, other = (clone(model.set_params(random_state=i)) for i in (1, 1, 2))
    assert_equal(first.fit(X, *targets), same.fit(X, *targets), X)
    scores = [next(iter(predictions(each.fit(X, *targets), X).values())) for each in (first, other)]
    assert not np.array_equal(*scores)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_sorted_rows_are_learned_like_shuffled_ones(name):
    """Rows sorted by class, as those of SMOTE, cost no accuracy."""
    X, y = make_blobs(700, n_features=6, centers=3, cluster_std=5.0, random_state=3)
    X, y, X_test, y_test = X[:300], y[:300], X[300:], y[300:]
    scores = []
    for rows in (np.argsort(y, kind="stable"), np.arange(300)):
        models = [clone(CLASSIFIERS[name]).set_params(random_state=i, shuffle=True) for i in (0, 1)]
        found = [model.fit(X[rows], y[rows]).predict(X_test) for model in models]
        scores.append(np.mean([balanced_accuracy_score(y_test, labels) for labels in found]))
    assert scores[1] > 0.6
    assert scores[0] > scores[1] - 0.07


@each_learner
def test_rows_in_their_order(name, fingerprint):
    """Without `shuffle`, a pass is a call of partial_fit, to the bit. That never shuffles."""
    X, *targets = make_data(LEARNERS[name])
    model = clone(LEARNERS[name]).set_params(shuffle=False, random_state=0)
    if "max_iter" in model.get_params():
        model.set_params(max_iter=1)
    fitted = clone(model).fit(X, *targets)
    vars(fitted).pop("n_iter_", None)
    learned = clone(model).partial_fit(X, *targets)
    assert fingerprint(fitted) == fingerprint(learned)
    shuffling = clone(model).set_params(shuffle=True)
    assert_equal(clone(shuffling).partial_fit(X, *targets), learned, X)
    if hasattr(model, "progressive_fit"):
        scores = [one.progressive_fit(X, *targets) for one in (shuffling, clone(model))]
        assert_array_equal(*scores)
        assert_equal(shuffling, learned, X)


class Backwards(np.random.RandomState):
    """A generator that draws the reverse order."""

    def permutation(self, x):
        return (np.arange(x) if np.ndim(x) == 0 else x)[::-1]


@pytest.mark.parametrize("as_csr", [False, True])
@each_learner
def test_targets_and_weights_move_with_their_rows(name, as_csr):
    """The reverse order, if it is drawn, is that of the reversed data."""
    template = LEARNERS[name]
    if as_csr and not get_tags(template).input_tags.sparse:
        pytest.skip("no sparse matrices")
    X, *targets = make_data(template)
    names = list(inspect.signature(template.fit).parameters)
    data = dict(zip(names, (X, *targets)))
    weights = np.arange(len(X)) % 4 // 2
    if "sample_weight" in names:
        data["sample_weight"] = weights
    backwards = np.arange(len(X))[::-1]
    if "qid" in names:  # Documents of a query are learned at once.
        data["query_weight"] = weights[data["qid"]]
        backwards = np.argsort(-data["qid"], kind="stable")
    other = {name: values[backwards] for name, values in data.items()}
    if as_csr:
        data["X"], other["X"] = map(sparse.csr_array, (data["X"], other["X"]))
    shuffled = clone(template).set_params(shuffle=True, random_state=Backwards(0))
    in_order = clone(template).set_params(shuffle=False, random_state=Backwards(0))
    assert_equal(shuffled.fit(**data), in_order.fit(**other), X)
