"""HoeffdingTreeClassifier with a drift_threshold: a second tree replaces it when classes drift."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklrank.tree._hoeffding.tree import AdaptiveTree, HoeffdingTree

from sklrank.online_boosting import AdaOLMR
from sklrank.tree import HoeffdingTreeClassifier

CLASSES = [0, 1, 2]
PARAMS = {"grace_period": 20, "delta": 0.1, "tau": 0.4, "shuffle": False}


def drifting_stream(n_samples=1200):
    """Three classes that change their names abruptly after each third, and noise."""
    rng = np.random.RandomState(0)
    X = rng.normal(size=(n_samples, 4))
    y = (X[:, 0] > 0.3).astype(int) + (X[:, 1] > 0.2)
    y[n_samples // 3 :] = (y[n_samples // 3 :] + 1) % 3
    y[2 * n_samples // 3 :] = (X[2 * n_samples // 3 :, 2] > 0).astype(int)
    noise = rng.uniform(size=n_samples) < 0.1
    y[noise] = rng.randint(3, size=noise.sum())
    return X, y, rng.uniform(0.5, 1.5, size=n_samples)


X, Y, WEIGHTS = drifting_stream()


class SlowAdaptiveTree:
    """The rule, with two classifiers, and all means of the test computed anew for each loss."""

    def __init__(self, threshold, **params):
        self.threshold, self.params = threshold, PARAMS | params
        self.tree, self.candidate = self.new_tree(), None
        self.losses, self.excess, self.errors = [], 0.0, [0, 0]
        self.events = []

    def new_tree(self):
        # A sample of weight zero names the classes.
        tree = HoeffdingTreeClassifier(**self.params)
        return tree.partial_fit(X[:1], [0], CLASSES, [0.0])

    def learn(self, x, label, weight):
        """Return the probabilities for the sample before it is learned."""
        votes = self.tree.predict_proba(x)
        loss = int(self.tree.predict(x)[0] != label)
        if self.candidate is not None:
            self.errors[0] += loss
            self.errors[1] += int(self.candidate.predict(x)[0] != label)
        self.test(loss)
        trees = [self.tree] if self.candidate is None else [self.tree, self.candidate]
        for tree in trees:
            tree.partial_fit(x, [label], sample_weight=[weight])
        return votes

    def test(self, loss):
        deviation = 0.2
        if len(self.losses) >= 30:
            position = np.arange(1, len(self.losses) + 1)
            ages = position * (position + 1)
            mean = np.average(self.losses, weights=ages)
            spread = np.average((np.array(self.losses) - mean) ** 2, weights=ages) ** 0.5
            deviation = max(deviation, spread)
            self.excess = max(0.0, self.excess + loss - mean - deviation / 4)
        if self.excess > self.threshold * deviation and self.errors[0] > self.errors[1]:
            self.events.append("drift")
            self.tree, self.losses, self.excess = self.candidate, [], 0.0
        else:
            if self.excess > self.threshold * deviation:
                self.events.append("waits")
            self.losses.append(loss)
        if self.excess == 0:
            if self.candidate is not None:
                self.events.append("candidate ends")
            self.candidate, self.errors = None, [0, 0]
        elif self.candidate is None:
            self.candidate = self.new_tree()


@pytest.mark.parametrize("leaf_prediction, threshold", [("nba", 3.0), ("mc", 8.0)])
def test_slow_statement(leaf_prediction, threshold):
    slow = SlowAdaptiveTree(threshold, leaf_prediction=leaf_prediction)
    rows = zip(X, Y, WEIGHTS)
    expected = [slow.learn(x[None], label, weight)[0] for x, label, weight in rows]
    model = HoeffdingTreeClassifier(
        **PARAMS, leaf_prediction=leaf_prediction, drift_threshold=threshold
    )
    assert_array_equal(model.progressive_fit(X, Y, CLASSES, WEIGHTS), expected)
    assert set(slow.events) == {"drift", "waits", "candidate ends"}
    assert model.n_drifts_ == slow.events.count("drift") >= 2
    assert model.n_rounds_ == len(Y)
    assert model.get_depth() == slow.tree.get_depth() > 0
    assert model.get_n_leaves() == slow.tree.get_n_leaves()
    assert_array_equal(model.feature_importances_, slow.tree.feature_importances_)


def test_chunks_and_pickles_in_mid_warning(fingerprint):
    """Samples of weight zero are not learned."""
    model = HoeffdingTreeClassifier(**PARAMS, drift_threshold=5.0)
    weights = np.where(np.arange(len(Y)) % 7, WEIGHTS, 0.0)
    whole, chunked, warned = clone(model).partial_fit(X, Y, CLASSES, weights), model, 0
    for start in range(0, len(Y), 50):
        rows = slice(start, start + 50)
        chunked.partial_fit(X[rows], Y[rows], CLASSES, weights[rows])
        warned += chunked._learner.candidate.n_learned > 0
        chunked = pickle.loads(pickle.dumps(chunked))
    assert warned > 3
    assert fingerprint(chunked) == fingerprint(whole)
    assert chunked.n_rounds_ == np.count_nonzero(weights)


def test_trees_recover():
    """With the recommended threshold. Before the drifts, the model is the tree without a test."""
    model, without = HoeffdingTreeClassifier(drift_threshold=25), HoeffdingTreeClassifier()
    votes = model.progressive_fit(X, Y, CLASSES)
    others = without.progressive_fit(X, Y, CLASSES)
    assert_array_equal(votes[:400], others[:400])
    assert (model.n_drifts_, without.n_drifts_) == (2, 0)
    for last in (slice(600, 800), slice(1000, 1200)):
        right, wrong = (np.mean(each[last].argmax(axis=1) == Y[last]) for each in (votes, others))
        assert right > 0.75 > 0.65 > wrong


def test_none_is_the_tree_itself():
    """And so is a threshold that no drift exceeds."""
    tree = HoeffdingTreeClassifier(**PARAMS).fit(X, Y)
    never = HoeffdingTreeClassifier(**PARAMS, drift_threshold=1e9).fit(X, Y)
    assert type(tree._learner) is HoeffdingTree
    assert pickle.dumps(tree._learner) == pickle.dumps(never._learner.tree)
    assert never.n_drifts_ == 0


def test_candidates_that_end_are_as_new():
    """The memory of a large tree is freed, too."""
    model = HoeffdingTreeClassifier(**PARAMS, drift_threshold=25)
    model.partial_fit(X[:400], Y[:400], CLASSES)
    assert model.n_drifts_ == 0 and model.get_n_leaves() > 2
    drifted = next(
        i for i in range(400, 800) if model.partial_fit(X[i : i + 1], Y[i : i + 1]).n_drifts_
    )
    assert drifted > 400
    new = HoeffdingTree(4, 3, **model.get_params() | {"max_depth": -1, "max_leaves": -1})
    candidate = model._learner.candidate
    assert candidate.nbytes == new.nbytes
    assert pickle.dumps(candidate) == pickle.dumps(new)


def test_costs_of_a_booster_are_not_tested():
    """They depend on the other learners."""
    scores = [
        AdaOLMR(HoeffdingTreeClassifier(drift_threshold=each), n_estimators=2, random_state=0)
        .fit(X, Y)
        .decision_function(X)
        for each in (None, 0.1)
    ]
    assert_array_equal(*scores)


def test_trees_of_a_state_have_one_size_and_are_two():
    params = HoeffdingTreeClassifier(drift_threshold=1).get_params()
    params |= {"max_depth": -1, "max_leaves": -1}
    learner, other = AdaptiveTree(4, 3, **params), AdaptiveTree(4, 2, **params)
    state = learner.__getstate__()
    for candidate in (other.tree, state["tree"]):
        with pytest.raises(ValueError, match="differ in size, or are one tree"):
            AdaptiveTree.__new__(AdaptiveTree).__setstate__(state | {"candidate": candidate})
