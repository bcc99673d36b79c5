"""Kinds of weak learners: what a learner of another package learns from.

A booster tells a weak learner the cost of a vote for each label (Jung & Tewari 2018, Section 2.1).
The docstring of the package states what a learner of another package learns from. Its *kind* is

- "costs": it has `partial_fit_costs`, which receives the costs times the weight of the sample;
- "labels": it is a classifier of single labels;
- "rows": it learns rows of indicator matrices, as a classifier of these or a ranker. For the costs
  of `AdaOLMR`, the weight is w of Eq. 9. If the relevance of a label is not known, the entry is 1
  if the learner's own vote for it is larger than ``1 / n_labels``.

A classifier of two classes becomes a :class:`CostSensitiveOneVsAll`, which is of the kind "costs".

If `partial_fit` has no parameter `sample_weight`, a sample is passed several times instead, or not
at all: see `copies_of`.
"""

from functools import lru_cache
from inspect import signature

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter


def kind_of(estimator):
    """Return "costs", "labels" or "rows", or None if the estimator cannot be boosted."""
    if hasattr(estimator, "partial_fit_costs"):
        return "costs"
    if not hasattr(estimator, "partial_fit"):
        return None
    # The tags of a pipeline do not tell which targets its last step takes.
    last = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    if hasattr(last, "__sklearn_tags__"):
        is_ranker = not is_classifier(last) and hasattr(last, "predict_ranks")
        if is_ranker or not get_tags(last).target_tags.single_output:
            return "rows"
    return "labels" if accepts_parameter(estimator, "classes") else None


def is_binary_classifier(estimator):
    """Return True if the estimator is a classifier of two classes only."""
    if not hasattr(estimator, "__sklearn_tags__") or hasattr(estimator, "partial_fit_costs"):
        return False
    tags = get_tags(estimator).classifier_tags
    return is_classifier(estimator) and tags is not None and not tags.multi_class


def accepts_parameter(estimator, name):
    """Return True if `partial_fit` has this parameter.

    A meta-estimator accepts `sample_weight` only if its inner estimator does, and a pipeline has
    the parameters of its last step.
    """
    if isinstance(estimator, Pipeline):
        return hasattr(estimator, "partial_fit") and accepts_parameter(estimator[-1], name)
    learn = getattr(estimator, "partial_fit", None)
    if learn is None or name not in parameters_of(getattr(learn, "__func__", learn)):
        return False
    inner = getattr(estimator, "estimator", None)
    if name != "sample_weight" or inner is None:
        return True
    return has_fit_parameter(inner, name) and accepts_parameter(inner, name)


@lru_cache(maxsize=64)
def parameters_of(function):
    """Return the names of the parameters. Inspection is slow, and many learners share a method."""
    return set(signature(function).parameters)


def copies_of(weights, remainders, total):
    """Return how often to learn each of several samples instead of learning it with a weight.

    The mean number of copies is one. A sample has ``weight / mean weight so far`` copies, rounded
    down. The remainder is added to the next sample that uses the same entry of `remainders`, so
    that the number of copies of all samples differs by less than one from their relative weights.
    Thus no random numbers are needed.

    `remainders` `(n,)`, and `total`, the sum and the number of the positive weights so far, are
    changed in place.
    """
    total += weights.sum(), np.count_nonzero(weights)
    if total[0] > 0.0:
        remainders += weights / (total[0] / total[1])
    copies = np.floor(remainders)
    remainders -= copies
    return copies.astype(np.intp)


class CostSensitiveOneVsAll(ClassifierMixin, BaseEstimator):
    """A classifier of two classes for each label, which learn from the costs of votes.

    The classifier of a label learns whether a vote for this label costs less than a vote that is
    divided equally among all labels. Its weight is the difference between these two costs. With
    the costs of `AdaOLMR`, which sum to zero, these are the labels whose relevance is known: a
    relevant label is a positive sample, an irrelevant label is a negative sample, and in each round
    the weights of the positive and of the negative samples have the same sum (Jung & Tewari 2018,
    Eq. 9).
    """

    def __init__(self, estimator=None):
        self.estimator = estimator

    def partial_fit_costs(self, X, costs):
        """Learn from the costs `(1, n_labels)` of votes for one sample `(1, n_features)`."""
        costs = np.asarray(costs, dtype=float)[0]
        if not hasattr(self, "estimators_"):
            self.classes_ = np.arange(len(costs))
            self.estimators_ = [clone(self.estimator) for _ in costs]
            self.n_learned_ = np.zeros(len(costs), dtype=np.intp)
            self.remainders_, self.total_ = np.zeros(len(costs)), np.zeros(2)
        gains = costs.mean() - costs
        weighted = accepts_parameter(self.estimator, "sample_weight")
        if not weighted:
            copies = copies_of(np.abs(gains), self.remainders_, self.total_)
        for label in np.flatnonzero(gains if weighted else copies):
            n_copies = 1 if weighted else copies[label]
            self.estimators_[label].partial_fit(
                np.repeat(X, n_copies, axis=0),
                np.full(n_copies, int(gains[label] > 0.0)),
                classes=np.arange(2),
                **({"sample_weight": np.abs(gains[[label]])} if weighted else {}),
            )
            self.n_learned_[label] += 1
        return self

    def predict_proba(self, X):
        """Return the probability of each label, for one sample. Their sum is not one.

        The probability of a label from which nothing was learned is one half.
        """
        probabilities = np.full((1, len(self.estimators_)), 0.5)
        for label in np.flatnonzero(self.n_learned_):
            estimator = self.estimators_[label]
            has_proba = hasattr(estimator, "predict_proba")
            found = estimator.predict_proba(X)[:, 1] if has_proba else estimator.predict(X)
            probabilities[0, label] = found[0]
        return probabilities
