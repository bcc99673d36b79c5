"""Scorers: the metrics of this package as scikit-learn's tools want them, greater is better.

``make_scorer`` would do but for three facts of ranking: a loss of scores must know which class a
column belongs to (a test fold may lack some), forests give multilabel probabilities as a list, and
classifiers that rank do so by ``predict_ranks``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.metadata_routing import UNUSED

from sklrank._validation import check_columns, column_names
from sklrank.metrics._label_ranking import RANKING_METRICS
from sklrank.metrics._labels_and_scores import as_label_columns
from sklrank.metrics._pairwise_loss import PAIRWISE_LOSSES

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def label_scores(estimator, X):
    """Score every label of every row by `decision_function`, else by `predict_proba`.

    Parameters
    ----------
    estimator : object
        A fitted classifier or ranker.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows to score.

    Returns
    -------
    scores : ndarray of shape (n_samples, n_labels)
        Scores, higher = ranked earlier.

    Raises
    ------
    TypeError
        If the estimator has neither method.
    """
    for method in ("decision_function", "predict_proba"):
        if hasattr(estimator, method):
            scores = getattr(estimator, method)(X)
            break
    else:
        raise TypeError(
            f"estimator must have decision_function or predict_proba to rank labels, got "
            f"{estimator!r}: it predicts but does not score."
        )
    if isinstance(scores, list):
        return _second_classes(estimator, scores)
    return as_label_columns(np.asarray(scores))


def _second_classes(estimator, probas):
    """The probability of class 1 from one array of probabilities per label."""
    if hasattr(estimator, "classes_"):
        classes = estimator.classes_
    else:  # MultiOutputClassifier after partial_fit
        classes = [each.classes_ for each in estimator.estimators_]
    # A label that training never saw has no column for class 1: the empty sum is right, 0.
    return np.column_stack(
        [
            proba[:, np.asarray(each) == 1].sum(axis=1)
            for proba, each in zip(probas, classes, strict=True)
        ]
    )


def label_positions(estimator, X):
    """Rank the labels of every row by `predict_ranks`, else by `predict`.

    Parameters
    ----------
    estimator : object
        A fitted ranker, or any regressor of positions.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows to rank the labels of.

    Returns
    -------
    positions : ndarray of shape (n_samples, n_labels)
        Smaller = better.

    Raises
    ------
    TypeError
        If the estimator has neither method.
    """
    for method in ("predict_ranks", "predict"):
        if hasattr(estimator, method):
            positions = np.asarray(getattr(estimator, method)(X))
            # Some regressors flatten a single target.
            return positions[:, np.newaxis] if positions.ndim == 1 else positions
    raise TypeError(
        f"estimator must have predict_ranks, or a predict that returns positions, got "
        f"{estimator!r}: it does not rank labels."
    )


def _check_labels(estimator, y):
    # Columns of scores and of `y` are compared by place, whatever they are called.
    classes = getattr(estimator, "classes_", None)
    if isinstance(classes, np.ndarray) and np.ndim(y) == 2 and np.shape(y)[1] > 1:
        check_columns(column_names(y), classes)


class Scorer(BaseEstimator):
    """A callable ``scorer(estimator, X, y)``: what its `score` returns, greater is better.

    It is a `BaseEstimator` for what scikit-learn generates from the signature of `score`:
    metadata requests (`set_score_request`), parameters and cloning.
    """

    __metadata_request__score = {"estimator": UNUSED}

    def __call__(
        self, estimator: Any, X: ArrayLike, y_true: ArrayLike, **metadata: ArrayLike | None
    ) -> float:
        return self.score(estimator, X, y_true, **metadata)

    def score(
        self, estimator: Any, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return how well the estimator ranks `X` against `y`, greater is better."""
        raise NotImplementedError

    def _accept_sample_weight(self):
        # scikit-learn 1.9 asks this of every scorer of a multi-metric search.
        return True


class PairwiseLossScorer(Scorer):
    """Minus a loss of the scores of labels.

    Parameters
    ----------
    loss : {"rank_loss", "hinge_rank_loss", "logistic_rank_loss"}
        Name of the loss.
    """

    def __init__(self, loss: Literal["rank_loss", "hinge_rank_loss", "logistic_rank_loss"]) -> None:
        self.loss = loss

    def score(
        self, estimator: Any, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> float:
        _check_labels(estimator, y)
        return -PAIRWISE_LOSSES[self.loss](
            y,
            label_scores(estimator, X),
            labels=getattr(estimator, "classes_", None),
            sample_weight=sample_weight,
        )


class LabelRankingScorer(Scorer):
    """A metric of the positions of labels, distances negated.

    Parameters
    ----------
    metric : {"kendall_tau_score", "kendall_tau_distance", "spearman_distance"}
        Name of the metric.
    """

    def __init__(
        self,
        metric: Literal["kendall_tau_score", "kendall_tau_distance", "spearman_distance"],
    ) -> None:
        self.metric = metric

    def score(
        self, estimator: Any, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> float:
        _check_labels(estimator, y)
        sign, metric = RANKING_METRICS[self.metric]
        return sign * metric(y, label_positions(estimator, X), sample_weight=sample_weight)


rank_loss_scorer = PairwiseLossScorer("rank_loss")
hinge_rank_loss_scorer = PairwiseLossScorer("hinge_rank_loss")
logistic_rank_loss_scorer = PairwiseLossScorer("logistic_rank_loss")
kendall_tau_scorer = LabelRankingScorer("kendall_tau_score")
kendall_tau_distance_scorer = LabelRankingScorer("kendall_tau_distance")
spearman_distance_scorer = LabelRankingScorer("spearman_distance")
