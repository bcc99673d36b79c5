"""How a weak learner takes the labels and weights of a round, and which hypothesis comes of it.

A weak learner has `learn(objective, random_state)`, which returns a fitted model and its
*hypothesis* on the training rows: what the scores are moved along. `hypothesis_of` makes the same
of new rows. For rankers it is 0 or 1 a row (or whatever the model predicts), or the probability of
1, for classifiers the indicator of the class predicted. `n_tries` says how often it may learn in a
round until it is better than chance: more than once where rows are drawn, and the next draw may
tell more.
"""

from copy import copy
from numbers import Integral

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.dummy import DummyClassifier
from sklearn.utils.validation import has_fit_parameter

from sklrank._randomness import set_random_states
from sklrank.tree._binning import BinnedFeatures
from sklrank.tree._stump import StumpClassifier

__all__ = ["ClassifierLearner", "StumpLearner", "hypothesis_of"]

# Few rows, drawn once, may mislead long before there is nothing left to learn.
N_DRAWS = 10


def hypothesis_of(model, X, n_classes=None, response="predict"):
    """Predictions as steps of the scores: `(n_samples,)`, or indicators of `n_classes` columns."""
    if response == "predict_proba":
        # A model that was shown one class gives one column.
        return model.predict_proba(X) @ (np.asarray(model.classes_) == 1).astype(np.float64)
    # Our own stumps need not check the rows again, a hundred times.
    predict = model._predict_checked if type(model) is StumpClassifier else model.predict
    predicted = predict(X)
    if n_classes is None:
        return np.asarray(predicted, dtype=np.float64)
    return np.eye(n_classes)[predicted]


class ClassifierLearner:
    """Any scikit-learn classifier.

    Parameters
    ----------
    estimator : classifier
        Cloned for each round.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The training rows.
    weighting : {"auto", "sample_weight", "resampling"}
        Whether weights are given to the classifier, or rows are drawn in proportion to them. What
        is given has mean one, for classifiers that weigh rows against a penalty. "auto": given
        where `fit` takes them.
    max_samples : int, float or None
        How many rows are drawn, a number or a share of all. None: a fifth of them, at least 20,
        as in the dissertation's experiments.
    n_classes : int or None
        Number of classes of the hypothesis; None for rankers.
    response : {"predict", "predict_proba"}
        Whether the hypothesis of a ranker is the class or the probability of the class 1.
    """

    def __init__(
        self,
        estimator,
        X,
        *,
        weighting="auto",
        max_samples=None,
        n_classes=None,
        response="predict",
    ):
        if not is_classifier(estimator):
            raise ValueError(
                f"estimator must be a classifier, got {estimator!r}: it learns a label for each row"
            )
        if not hasattr(estimator, response):
            raise ValueError(
                f"response={response!r}, but {estimator!r} has no {response}; use "
                "response='predict', or another classifier, as DecisionTreeClassifier(max_depth=1)"
            )
        self.estimator = estimator
        self.X = X
        self.n_classes = n_classes
        self.response = response
        takes_weights = has_fit_parameter(estimator, "sample_weight")
        if weighting == "sample_weight" and not takes_weights:
            raise ValueError(
                f"weighting='sample_weight', but the fit of {estimator!r} takes no sample_weight; "
                "use weighting='resampling' or 'auto'"
            )
        self.resampled = weighting == "resampling" or not takes_weights
        self.n_tries = N_DRAWS if self.resampled else 1
        self.n_drawn = sample_size(max_samples, X.shape[0])

    def learn(self, objective, random_state):
        """Train a clone on the labels and weights of the objective."""
        labels, weights = objective.labels, objective.weights
        model = clone(self.estimator)
        set_random_states(model, random_state)
        if self.resampled:
            rows, weights = draw_rows(labels, weights, self.n_drawn, random_state), None
        else:
            rows = np.flatnonzero(weights)
            weights = weights[rows] / weights[rows].mean()
        if (labels[rows] == labels[rows[0]]).all():
            # Many classifiers refuse a single class.
            model = DummyClassifier(strategy="most_frequent")
        fit_params = {} if weights is None else {"sample_weight": weights}
        model.fit(self.X[rows], labels[rows], **fit_params)
        return model, hypothesis_of(model, self.X, self.n_classes, self.response)


class StumpLearner:
    """Compiled stumps: the rows are binned once for all rounds.

    Parameters
    ----------
    stump : StumpClassifier
        Its parameters are those of each round.
    X : ndarray of shape (n_samples, n_features)
        The training rows.
    """

    n_tries = 1

    def __init__(self, stump, X):
        self.stump = clone(stump)
        self.X = X
        self.rows = BinnedFeatures(X, stump.max_bins)

    def learn(self, objective, random_state):
        """Fit a stump to the labels and weights of the objective."""
        # A clone takes as long as the fit of a small query.
        model = copy(self.stump)
        model.classes_ = np.arange(2)
        model._fit_binned(self.rows, objective.labels, objective.weights)
        return model, hypothesis_of(model, self.X)


def sample_size(max_samples, n_samples):
    """How many rows are drawn of `n_samples`."""
    if max_samples is None:
        return max(20, n_samples // 5)
    if isinstance(max_samples, Integral):
        return int(max_samples)
    return max(1, round(max_samples * n_samples))


def draw_rows(labels, weights, size, random_state):
    """Rows drawn with replacement in proportion to their weights, of two labels if there are."""
    shares = weights / weights.sum()
    rows = random_state.choice(len(labels), size=size, p=shares)
    others = np.where(labels == labels[rows[0]], 0.0, shares)
    if others[rows].any() or not others.any():
        return rows
    rows[-1] = random_state.choice(len(labels), p=others / others.sum())
    return rows
