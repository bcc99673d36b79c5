"""Learners: how a weak learner is fitted to the labels and weights of a round.

A learner stores the training samples `X`. Its method `fit(objective, random_state)` returns a
fitted model and the *hypothesis*: the predictions of the model on the training samples, which are
multiplied by the step and added to the scores. The function `hypothesis_of` computes the hypothesis
for any samples. For rankers, the hypothesis has one number for each sample: the predicted class,
the probability of class 1, or a feature times a factor. For classifiers, it is the indicator matrix
of the predicted classes.

The method `step(objective, hypothesis, learning_rate)` returns the step, which is 0 if the
hypothesis is no better than chance; boosting then ends.
"""

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.dummy import DummyClassifier
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from sklrank._checks import check_outputs
from sklrank._estimators import has_method, one_blas_thread, set_random_states


def is_own(model):
    """Return True for models of this package; subclasses of users may override any method."""
    return type(model).__module__.startswith("sklrank.")


def sum_of_trees(booster, models, steps, *of_hypothesis):
    """Return the sum of the hypotheses of models times steps if all are trees of this package.

    It is kept for the booster. Its method ``add(X, out, start, stop)`` adds those of some models
    for each sample. Return None for other models. `of_hypothesis` is what `hypothesis_of` needs.
    """
    is_alike = len(set(map(type, models))) == 1 and is_own(models[0])
    if not (is_alike and hasattr(models[0], "_sum_of")):
        return None
    return models[0]._sum_of(booster, models, steps, *of_hypothesis)


def hypothesis_of(model, X, n_classes=None, response_method="predict"):
    """Return the predictions of a model for `X` as the array that is added to the scores.

    If `n_classes` is None, it is the predicted value of each sample, or the probability of class 1
    with "predict_proba"; otherwise, the indicator matrix of the predicted classes.
    """
    trees = sum_of_trees(model, [model], [1.0], n_classes, response_method)
    if trees is not None:  # X has been checked: the trees of all rounds need not check it again.
        predicted = trees.predict(X)
        return predicted[:, 0] if n_classes is None else predicted
    if response_method == "predict_proba":
        # A model that was fitted to one class has one column.
        of_one = (np.asarray(model.classes_) == 1).astype(np.float64)
        return check_outputs(model.predict_proba(X) @ of_one, model)
    predicted = model.predict(X)
    if n_classes is None:
        return check_outputs(np.asarray(predicted, dtype=np.float64), model)
    if not np.isin(predicted, np.arange(n_classes)).all():
        raise ValueError(
            f"{type(model).__name__} predicts labels that it was not fitted to: use an estimator "
            "whose predict returns classes of the training samples"
        )
    return np.eye(n_classes)[np.asarray(predicted, dtype=np.intp)]


class Learner:
    """Base class of learners whose steps minimize the bound of the objective."""

    def step(self, objective, hypothesis, learning_rate):
        """Return the step for a hypothesis, in proportion to the learning rate."""
        return learning_rate * objective.step(hypothesis)


def make_classifier_learner(
    estimator, X, *, weighting, random_state, n_labels=2, n_classes=None, response_method="predict"
):
    """Return the learner for a classifier, which must be able to learn `n_labels` labels.

    The others are those of :class:`ClassifierLearner`, and `random_state`, which draws the samples
    whose quantiles bound the bins.
    """
    if not is_classifier(estimator):
        raise ValueError(
            f"estimator must be a classifier, got {estimator!r}: it is fitted to a label for each "
            "sample"
        )
    if n_labels > 2 and not get_tags(estimator).classifier_tags.multi_class:
        raise ValueError(
            f"estimator must distinguish {n_labels} classes, got {estimator!r}, which takes two "
            "classes only; use DecisionTreeClassifier(max_depth=1), for example"
        )
    if is_own(estimator) and hasattr(estimator, "_round_fitter") and weighting != "resampling":
        fit_tree = estimator._round_fitter(X, n_labels, random_state)
        return BinnedLearner(fit_tree, n_classes, response_method)
    return ClassifierLearner(estimator, X, weighting, n_classes, response_method)


class ClassifierLearner(Learner):
    """Learner for any scikit-learn classifier, which is cloned for each round.

    With the `weighting` "resampling", or if `fit` accepts no `sample_weight`, a fifth of the
    samples, at least 20, are drawn in proportion to the weights, as in the experiments of the
    dissertation. Weights that are passed as `sample_weight` have mean one, for classifiers that
    balance the weighted loss against a penalty. `n_classes` is that of the hypothesis, None for
    rankers, whose hypothesis is the output of the `response_method`.
    """

    def __init__(self, estimator, X, weighting="auto", n_classes=None, response_method="predict"):
        if not has_method(estimator, response_method):
            raise ValueError(
                f"response_method={response_method!r}, but {estimator!r} has no "
                f"{response_method}; use response_method='predict', or another classifier, such as "
                "DecisionTreeClassifier(max_depth=1)"
            )
        self.estimator, self.X = estimator, X
        self.n_classes, self.response_method = n_classes, response_method
        accepts_weights = has_fit_parameter(estimator, "sample_weight")
        self.resampling = weighting == "resampling" or not accepts_weights
        self.n_drawn = max(20, X.shape[0] // 5)

    @one_blas_thread
    def fit(self, objective, random_state):
        """Fit a clone to the labels and weights of the objective."""
        labels, weights = objective.labels, objective.weights
        model = clone(self.estimator)
        set_random_states(model, random_state)
        if self.resampling:
            drawn, weights = draw_samples(labels, weights, self.n_drawn, random_state), None
        else:
            drawn = np.flatnonzero(weights)
            weights = weights[drawn] / weights[drawn].mean()
        if (labels[drawn] == labels[drawn[0]]).all():
            # Many classifiers refuse a single class.
            model = DummyClassifier(strategy="most_frequent")
        fit_params = {} if weights is None else {"sample_weight": weights}
        model.fit(self.X[drawn], labels[drawn], **fit_params)
        return model, hypothesis_of(model, self.X, self.n_classes, self.response_method)


def draw_samples(labels, weights, size, random_state):
    """Draw indices of samples with replacement, in proportion to the weights.

    If all have the same label, the last one is drawn again from others of positive weight, if any.
    """
    probabilities = weights / weights.sum()
    drawn = random_state.choice(len(labels), size=size, p=probabilities)
    others = np.where(labels == labels[drawn[0]], 0.0, probabilities)
    if others[drawn].any() or not others.any():
        return drawn
    drawn[-1] = random_state.choice(len(labels), p=others / others.sum())
    return drawn


class BinnedLearner(Learner):
    """Learner for the trees of this package, which bins the features once for all rounds.

    The function ``fit_tree(labels, weights, random_state)`` returns a tree and the leaf of each
    sample; the other parameters are those of :class:`ClassifierLearner`.
    """

    def __init__(self, fit_tree, n_classes, response_method):
        self._fit_tree, self._of_hypothesis = fit_tree, (n_classes, response_method)

    def fit(self, objective, random_state):
        """Fit a tree to the labels and weights of the objective."""
        model, leaves = self._fit_tree(objective.labels, objective.weights, random_state)
        return model, model._node_values(*self._of_hypothesis).take(leaves, axis=0)
