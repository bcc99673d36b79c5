"""Samples for the rounds of boosters, and a weak learner that records what it learns."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin


def make_rows(n=40, m=4, seed=0):
    """Return samples and an indicator matrix, with a row of zeros and one of ones."""
    random = np.random.RandomState(seed)
    Y = (random.uniform(size=(n, m)) < 0.4).astype(int)
    Y[3], Y[7] = 0, 1
    return random.normal(size=(n, 2)), Y


class Recorder(ClassifierMixin, BaseEstimator):
    """A weak learner that records its calls of partial_fit, and votes by the sums of weights."""

    def __init__(self, tilt=1.0):
        self.tilt = tilt

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        if not hasattr(self, "calls_"):
            self.calls_, self.totals_, self.classes_ = [], np.ones(len(classes)), classes
        self.calls_.append((X.copy(), y.copy(), sample_weight.copy()))
        np.add.at(self.totals_, y, sample_weight)
        return self

    def predict_proba(self, X):
        votes = self.totals_ * np.exp(self.tilt * np.cos(np.arange(len(self.totals_)) * X[0, 0]))
        return votes[np.newaxis] / votes.sum()


def check_calls(model, calls):
    """Check the calls of each `Recorder`: a sample, its relevant labels, and their weights."""
    for estimator, expected in zip(model.estimators_, calls):
        assert len(estimator.calls_) == len(expected)
        for (rows, labels, weights), (x, relevant, importance) in zip(estimator.calls_, expected):
            assert_array_equal(rows, np.repeat(x[None], len(relevant), axis=0))
            assert_array_equal(labels, relevant)
            assert_allclose(weights, importance, atol=1e-10, rtol=1e-10)
