r"""Boosting on complete data: base class of objectives, learners, and the loop over the rounds.

In each round an objective computes a label and a weight for each training sample from the current
scores, a learner fits a weak learner to them, the objective computes the step, and the step times
the predictions of the weak learner is added to the scores.

Objectives do not depend on the estimator. At the current scores :math:`F`, an objective computes a
*label* and a *weight* for each sample. A weak learner that fits these labels under these weights
decreases a bound on the objective. The predictions :math:`f` of a weak learner on the training
samples are called its *hypothesis*. For a hypothesis, the objective computes two *step weights*:
:math:`c` is the weight of the correct predictions, and :math:`w` the weight of the incorrect ones.
For any step size :math:`\alpha \geq 0` they satisfy

.. math:: L(F + \alpha f) \leq L(F) - (1 - e^{-s \alpha}) c + (e^{s \alpha} - 1) w,

where :math:`L` is the objective and :math:`s` its `scale`. The right side is minimized by
:math:`\alpha^* = \frac{1}{2 s} \log(c / w)`, which decreases the objective by at least
:math:`(\sqrt c - \sqrt w)^2`. At :math:`2 \alpha^*`, the bound equals :math:`L(F)`. Hence no step
size between 0 and :math:`2 \alpha^*` increases the objective. For a product of losses, all of these
statements hold for its logarithm.

A learner stores the training samples `X`. Its method `fit(objective, random_state)` returns a
fitted model and the hypothesis. For rankers, this has one number for each sample: the predicted
class, the probability of class 1, or a feature times a factor. For classifiers, it is the indicator
matrix of the predicted classes. The method `step(objective, hypothesis, learning_rate)` returns the
step, which is 0 if the hypothesis is no better than chance; boosting then ends.
"""

import warnings
from abc import ABC, abstractmethod
from itertools import islice
from math import log
from numbers import Integral, Real

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.dummy import DummyClassifier
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from sklrank._checks import check_outputs
from sklrank._estimators import (
    BaseEstimator,
    HasMethods,
    Interval,
    StrOptions,
    has_method,
    one_blas_thread,
    set_random_states,
    shares_text,
)

# The ratio of the step weights is limited to this value, since a hypothesis that is never wrong has
# an infinite step. A larger step would hardly decrease the loss further, and scores could overflow.
MAX_RATIO = 1e6
# Step weights whose relative difference is smaller than this are equal up to rounding.
ROUNDING = 1e-12

# Limit of the distance of a score from the middle of its query, or from the largest score of its
# sample. Scores are clipped to this distance, so that their exponentials, the reciprocals of these
# and the squares of both are finite. At this distance, the loss can hardly be decreased further.
MAX_SCORE_GAP = 300.0


def exp_scores(scores, queries, max_gap):
    """Return e^F, for scores F that are shifted: the middle of those of a query is 0.

    They are clipped to [-max_gap, max_gap], so that products of a few exponentials are finite.
    """
    first = queries.starts[:-1]
    grouped = scores[queries.order]
    middle = (np.maximum.reduceat(grouped, first) + np.minimum.reduceat(grouped, first)) / 2
    return np.exp(np.clip(scores - middle[queries.codes], -max_gap, max_gap))


# Texts that the docstrings of the boosters share.
of_boosters = shares_text(
    weighting="""
How the weights are passed to the weak learner: as `sample_weight`, if it accepts them
("auto"), or by fitting it to samples that are drawn in proportion to them, a fifth of their
number but at least 20, as in the experiments of the dissertation.
""",
    learning_rate="""
learning_rate : float, default=1.0
    Learning rate that multiplies each step. With values up to 2, the objective does not
    increase; with 1, each step minimizes a bound on the objective.
""",
    random_state="""
random_state : int, RandomState instance or None, default=None
    Controls the random choice of samples and the randomness of the weak learners.
""",
    rounds="""
estimator_weights_ : ndarray of shape (n_rounds,)
    Step of each weak learner, by which its predictions are multiplied.
loss_curve_ : ndarray of shape (n_rounds + 1,)
    Objective before the first round and after each round.
stop_reason_ : str
    Reason why boosting stopped.
feature_importances_ : ndarray of shape (n_features,)
    Mean importance of each feature over the weak learners, weighted by the steps. Defined only
    if the weak learners have `feature_importances_`.
{n_features_in}
""",
)


class Objective(ABC):
    """Base class of objectives.

    Attributes
    ----------
    value : float
        The objective at the scores of the last `set_scores`.
    labels : ndarray of int of shape (n_samples,)
        The class that the weak learner should predict for each sample.
    weights : ndarray of shape (n_samples,)
        Weight of each sample, 0 or more.
    negative_gradient : ndarray of shape (n_samples,)
        Negative gradient, for objectives of pairs of documents.
    scale : float
        The factor `s` in the exponents of the bound.
    """

    scale = 1.0

    @abstractmethod
    def set_scores(self, scores):
        """Set the scores, and compute `value`, `labels` and `weights` there."""

    def value_at(self, scores):
        """Return the objective at other scores; what `set_scores` computed may be lost."""
        self.set_scores(scores)
        return self.value

    def held_out_value(self, scores):
        """Return the number that compares rankings of held-out samples; smaller is better."""
        return self.value_at(scores)

    def compared(self):
        """Return an objective that decreases as rankings improve, to compare and to minimize."""
        return self

    def step_weights(self, hypothesis):
        """Return the weights of the correct and of the incorrect predictions, two numbers >= 0."""
        raise NotImplementedError

    def step(self, hypothesis):
        """Return the step size for a hypothesis; 0 if it is no better than chance."""
        return self.step_size(*self.step_weights(hypothesis))

    def step_size(self, correct, incorrect):
        """Return the step size that minimizes the bound; 0 if `correct` is not the larger one."""
        if not correct > incorrect * (1 + ROUNDING):
            return 0.0
        ratio = min(correct / incorrect, MAX_RATIO) if incorrect > 0 else MAX_RATIO
        return log(ratio) / (2 * self.scale)

    def _total_weight(self, target, is_counted):
        """Return the total weight of the queries that count; 1 if it is 0.

        Set `counted_weight` to that of the queries of the target.
        """
        self.counted_weight = float(target.query_weights @ is_counted)
        total = self.counted_weight if target.total_weight is None else target.total_weight
        return total or 1.0

    def _set_gradient(self, negative_gradient):
        """Label a sample 1 if its negative gradient is positive, else 0; set the weights."""
        self.negative_gradient = negative_gradient
        self.labels = (negative_gradient > 0).astype(np.intp)
        self.weights = np.abs(negative_gradient)


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


class Booster(BaseEstimator):
    """Base class of boosters: weighted sums of weak learners that are fitted one after another.

    `fit` makes an objective and a learner, and calls :meth:`_start_rounds` and :meth:`_boost`.
    """

    # Method of the weak learners whose output is added to the scores.
    _response_method = "predict"
    # Number of columns of the scores; None for rankers, which have one score for each sample.
    _n_classes = None

    _parameter_constraints = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [Interval(Real, 0, 2, closed="right")],
        "weighting": [StrOptions({"auto", "resampling"})],
        "random_state": ["random_state"],
    }

    def _start_rounds(self):
        """Remove the rounds of an earlier `fit`."""
        self.estimators_ = []
        self.estimator_weights_ = np.empty(0)
        self.loss_curve_ = np.empty(0)
        self._random_state = check_random_state(self.random_state)

    def _boost(self, objective, learner, scores, after_round=None):
        """Add rounds to the `scores` of the training samples, which are changed.

        The function `after_round(model, step)` is called at the end of each round, after the
        objective has been set to the new scores. It returns a reason to stop, or None to continue.
        """
        objective.set_scores(scores)
        if not len(self.loss_curve_):
            self.loss_curve_ = np.array([objective.value])
        n_fitted, n_rounds, reason = len(self.estimators_), self._n_rounds_to_fit(), None
        learning_rate = getattr(self, "learning_rate", 1.0)  # AdaRank has none

        def rounds():
            while reason is None and len(self.estimators_) < n_rounds:
                yield len(self.estimators_)

        for _ in self._track(rounds(), "round", n_items=max(0, n_rounds - n_fitted)):
            if not objective.weights.any():
                reason = "all weights are zero: the objective cannot be lowered further"
                break
            fitted = learner.fit(objective, self._random_state)
            if fitted is None:
                reason = "no weak learner lowers the objective"
                break
            model, hypothesis = fitted
            step = learner.step(objective, hypothesis, learning_rate)
            if not step > 0:
                reason = "the last weak learner was no better than chance"
                break
            scores += step * hypothesis
            objective.set_scores(scores)
            self.estimators_.append(model)
            self.estimator_weights_ = np.append(self.estimator_weights_, step)
            self.loss_curve_ = np.append(self.loss_curve_, objective.value)
            reason = after_round(model, step) if after_round else None
        if reason is None and len(self.estimators_) < n_rounds:
            reason = "a callback requested to stop"
        self.stop_reason_ = reason or self._reason_for_all_rounds()
        if not (self.estimators_ or scores.any()) and scores.ndim == 1 and scores.size:
            name = type(self).__name__
            warnings.warn(
                f"{name} gives all samples the score 0: {self.stop_reason_}", stacklevel=4
            )

    def _attributes_so_far(self):
        # The list is that of this estimator, which grows.
        return {"estimators_": list(self.estimators_)}

    def _n_rounds_to_fit(self):
        """Return the number of rounds, unless boosting stops early."""
        return self.n_estimators

    def _reason_for_all_rounds(self):
        """Return the reason to stop after `_n_rounds_to_fit()` rounds."""
        return "n_estimators rounds were fitted"

    def _hypothesis(self, model, X):
        """Return the predictions of a weak learner, before multiplication by the step size."""
        return hypothesis_of(model, X, self._n_classes, self._response_method)

    def _staged_scores(self, X):
        """Yield the scores before the first round and after each round, in one reused array."""
        scores = self._initial_scores(X)
        yield scores
        for number in range(len(self.estimators_)):
            self._add_rounds(scores, X, number, number + 1)
            yield scores

    def _add_rounds(self, scores, X, start, stop):
        """Add the rounds from `start` to `stop` - 1 to the scores of samples."""
        models, steps = self.estimators_, self.estimator_weights_
        trees = sum_of_trees(self, models, steps, self._n_classes, self._response_method)
        if trees is not None:
            out, n_jobs = scores.reshape(len(scores), -1), getattr(self, "n_jobs", None)
            trees.add(X, out, start, stop, n_jobs)
            return
        for model, step in zip(models[start:stop], steps[start:stop]):
            scores += step * self._hypothesis(model, X)

    def _initial_scores(self, X):
        """Return the scores before the first round."""
        n_classes = self._n_classes
        return np.zeros(X.shape[0] if n_classes is None else (X.shape[0], n_classes))

    def _scores_of_rounds(self, X):
        """Yield a copy of the scores after each round."""
        return (scores.copy() for scores in islice(self._staged_scores(X), 1, None))

    def _scores(self, X, n_rounds=None):
        """Return the scores after a number of rounds, or after all rounds."""
        scores = self._initial_scores(X)
        self._add_rounds(scores, X, 0, len(self.estimators_) if n_rounds is None else n_rounds)
        return scores

    def _n_rounds_to_predict(self):
        """Return the number of rounds whose weak learners make up the fitted model."""
        return len(self.estimators_)

    def _fitted_rounds(self):
        """Return an iterator over the weak learners of the fitted model and their steps."""
        return islice(zip(self.estimators_, self.estimator_weights_), self._n_rounds_to_predict())

    @property
    def feature_importances_(self) -> np.ndarray:
        """Importance of each feature: the mean over the weak learners, weighted by the steps."""
        check_is_fitted(self)
        total = np.zeros(self.n_features_in_)
        for model, step in self._fitted_rounds():
            # If only one class was drawn in a round, a dummy replaces the weak learner.
            if not isinstance(model, DummyClassifier):
                total += step * model.feature_importances_
        return total / (total.sum() or 1.0)
