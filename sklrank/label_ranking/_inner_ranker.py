"""Rankers inside of other rankers: which estimators they can be, how they are fitted and scored."""

from __future__ import annotations

import numpy as np
from sklearn.base import is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from sklrank._sklearn import _num_samples, _safe_indexing
from sklrank._validation import check_columns
from sklrank.base import LabelRankerMixin
from sklrank.label_ranking._fit_task import fit_task
from sklrank.label_ranking._label_ranker import LabelRanker

__all__ = ["check_frozen_labels", "fit_and_score", "fit_ranker", "is_ranker", "last_ranker"]


def is_ranker(estimator):
    """Return whether an estimator can learn positions, unless it is frozen, and score labels."""
    if isinstance(estimator, type) or not all(
        hasattr(estimator, name) for name in ("fit", "decision_function")
    ):
        return False
    if isinstance(estimator, FrozenEstimator):
        return True  # It learns no targets.
    # The targets of classifiers are classes, and those of other rankers of labels are relevances.
    last, _ = last_ranker(estimator)
    learns_relevance = isinstance(last, LabelRankerMixin) and not isinstance(last, LabelRanker)
    return not (learns_relevance or is_classifier(estimator))


def check_frozen_labels(ranker, classes):
    """Raise a ValueError if a ranker is frozen and was fitted to other labels than `classes`."""
    if not (isinstance(ranker, FrozenEstimator) and hasattr(ranker, "classes_")):
        return
    if len(ranker.classes_) != len(classes):
        raise ValueError(
            f"y has {len(classes)} labels, and the frozen ranker was fitted to "
            f"{len(ranker.classes_)}: pass y with the labels of the ranker, in their order"
        )
    if isinstance(classes[0], str):
        check_columns(classes, ranker.classes_)


def last_ranker(ranker, X=None):
    """Return the ranker inside of pipelines, fitted searches and frozen estimators.

    Samples X, of the whole ranker, are transformed to those of the returned one, unless they are
    None.

    Returns
    -------
    ranker : label ranker
        The last step, the best estimator or the frozen estimator, or `ranker` itself.
    X : array-like of shape (n_samples, n_features) or None
        The samples that it receives.
    """
    while True:
        if isinstance(ranker, Pipeline):
            if X is not None and len(ranker) > 1:
                X = ranker[:-1].transform(X)
            ranker = ranker[-1]
        elif isinstance(ranker, FrozenEstimator):
            ranker = ranker.estimator
        elif hasattr(ranker, "best_estimator_"):
            ranker = ranker.best_estimator_
        else:
            return ranker, X


def decision_function(ranker, X):
    return ranker.decision_function(X)


@fit_task
def fit_ranker(ranker, X, positions, rows=None):
    """Fit a ranker to the samples `rows`, or to all samples if that is None; return it."""
    if rows is not None:
        X, positions = _safe_indexing(X, rows), positions[rows]
    return ranker.fit(X, positions)


@fit_task
def fit_and_score(ranker, X, positions, train, test, unseen, scores_of=decision_function):
    """Fit a ranker to the samples `train`; return the scores `(n_test, n_labels)` of `test`.

    The mask `unseen` marks labels that no sample in `train` ranks; their scores are 0. The function
    `scores_of` returns the scores of a fitted ranker for given samples.
    """
    X_test, positions = _safe_indexing(X, test), positions[train]
    scores = np.zeros((_num_samples(X_test), positions.shape[1]))
    if not np.isnan(positions).all():
        ranker.fit(_safe_indexing(X, train), positions[:, ~unseen])
        found = scores_of(ranker, X_test)
        # A frozen ranker, which does not learn from `train`, scores all labels.
        scores[:, ~unseen] = found[:, ~unseen] if found.shape[1] == len(unseen) else found
    return scores
