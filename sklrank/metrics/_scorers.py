"""Scorers of the metrics of this package, for the parameter `scoring` of scikit-learn's tools.

scikit-learn's ``make_scorer`` is not sufficient for three reasons. A loss of scores needs the class
of each column of scores, because some classes may be missing in a test fold. Forests return
multilabel probabilities as a list. Classifiers that rank labels return the ranking by
``predict_ranks`` and not by ``predict``.

To define a scorer, add a subclass of :class:`Scorer` that defines `score`, and an instance of it.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.utils import column_or_1d
from sklearn.utils.metadata_routing import UNUSED

from sklrank._estimator import BaseEstimator
from sklrank._validation import check_columns, column_names
from sklrank.metrics._cascades import (
    expected_reciprocal_rank_score,
    hit_rate_score,
    reciprocal_rank_score,
)
from sklrank.metrics._checks import as_label_columns
from sklrank.metrics._document_ranking import average_precision_score, ndcg_score
from sklrank.metrics._label_ranking import RANKING_METRICS
from sklrank.metrics._pairwise_loss import PAIRWISE_LOSSES
from sklrank.metrics._precision import (
    precision_at_k_score,
    rank_biased_precision_score,
    recall_at_k_score,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike


def label_scores(estimator, X):
    """Return the scores of the labels by `decision_function` or, if missing, `predict_proba`.

    Parameters
    ----------
    estimator : object
        A fitted classifier or ranker.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Samples.

    Returns
    -------
    scores : ndarray of shape (n_samples, n_labels)
        Scores. Labels with higher scores are ranked first.

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
            f"{estimator!r}, which does not score them."
        )
    if isinstance(scores, list):
        return _second_classes(estimator, scores)
    return as_label_columns(np.asarray(scores))


def _second_classes(estimator, probas):
    """Return the probability that each label is relevant, of shape `(n_samples, n_labels)`.

    The list `probas` contains the class probabilities of each label.
    """
    if hasattr(estimator, "classes_"):
        classes = estimator.classes_
    else:  # MultiOutputClassifier after partial_fit
        classes = [each.classes_ for each in estimator.estimators_]
    # If a label was never relevant in training, it has no column for class 1, and the sum is 0.
    return np.column_stack(
        [
            proba[:, np.asarray(each) == 1].sum(axis=1)
            for proba, each in zip(probas, classes, strict=True)
        ]
    )


def label_positions(estimator, X):
    """Return the positions of the labels by `predict_ranks` or, if missing, `predict`.

    Parameters
    ----------
    estimator : object
        A fitted ranker of labels, or a regressor of positions.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Samples.

    Returns
    -------
    positions : ndarray of shape (n_samples, n_labels)
        Positions. Labels with smaller positions are better.

    Raises
    ------
    TypeError
        If the estimator has neither method.
    """
    for method in ("predict_ranks", "predict"):
        if hasattr(estimator, method):
            positions = np.asarray(getattr(estimator, method)(X))
            # Some regressors return a 1-d array for a single target.
            return positions[:, np.newaxis] if positions.ndim == 1 else positions
    raise TypeError(
        f"estimator must have predict_ranks, or a predict that returns positions, got "
        f"{estimator!r}, which does not rank labels."
    )


def _check_labels(estimator, y):
    # Columns of scores and columns of `y` are matched by index, so their names must be equal.
    classes = getattr(estimator, "classes_", None)
    if isinstance(classes, np.ndarray) and np.ndim(y) == 2 and np.shape(y)[1] > 1:
        check_columns(column_names(y), classes)


class Scorer(BaseEstimator):
    """Base class of scorers, called as ``scorer(estimator, X, y)``; greater scores are better.

    It is a `BaseEstimator`, so that scorers have parameters and can be cloned, and so that
    scikit-learn generates `set_score_request` from the signature of `score`.
    """

    __metadata_request__score = {"estimator": UNUSED}

    def __call__(
        self, estimator: Any, X: ArrayLike, y_true: ArrayLike, **metadata: ArrayLike | None
    ) -> float:
        return self.score(estimator, X, y_true, **metadata)

    @abstractmethod
    def score(
        self, estimator: Any, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the score of the predictions for `X` given the target `y`."""

    def _accept_sample_weight(self):
        # scikit-learn 1.9 calls this method for each scorer in a search with several metrics.
        return True


class PairwiseLossScorer(Scorer):
    """Scorer for scores of labels, which returns a pairwise loss with negative sign.

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
    """Scorer for positions of labels, which returns a metric, with negative sign for distances.

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


class DocumentScorer(Scorer):
    """Base class of scorers for rankings of documents; their parameters are those of the metric."""

    __metadata_request__score = {"qid": True}

    def score(
        self,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return the mean of the metric over the queries.

        Parameters
        ----------
        estimator : object
            For 1-d `y`, a fitted ranker of documents or a fitted regressor, whose `predict` returns
            scores. A classifier is possible, too, but its predictions have many ties. For 2-d `y`,
            a fitted ranker of labels with `decision_function` or `predict_proba`.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
            Relevance grades. A single column is treated as a 1-d array.
        qid : array-like of shape (n_samples,)
            Query ids, which are required for 1-d `y`.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples.

        Returns
        -------
        float
            Mean of the metric.

        Raises
        ------
        ValueError
            If `qid` is not given for 1-d `y`.
        """
        by_labels = np.ndim(y) == 2 and np.shape(y)[1] > 1
        if qid is None and not by_labels:
            raise ValueError(
                "qid did not reach the scorer, so that all samples would count as one query. In "
                "scikit-learn's tools call sklearn.set_config(enable_metadata_routing=True) and "
                "pass the ids on: GridSearchCV(...).fit(X, y, qid=qid), cross_validate(..., "
                "params={'qid': qid}). In a call of your own, pass qid=qid."
            )
        if by_labels:
            scores = label_scores(estimator, X)
        else:
            y, scores = column_or_1d(y), estimator.predict(X)
        return self._metric(y, scores, qid=qid, sample_weight=sample_weight, **self.get_params())


class NDCGScorer(DocumentScorer):
    """Scorer for NDCG; see :func:`sklrank.metrics.ndcg_score` for the parameters.

    To set parameters, use a copy: ``clone(ndcg_scorer).set_params(k=10)``.
    """

    _metric = staticmethod(ndcg_score)

    def __init__(
        self,
        k: int | None = None,
        gain: str | Callable = "exponential",
        discount: str | Callable | None = None,
        empty: str | None = None,
        short: str | None = None,
        ties: str | None = None,
        convention: str = "standard",
    ) -> None:
        self.k = k
        self.gain = gain
        self.discount = discount
        self.empty = empty
        self.short = short
        self.ties = ties
        self.convention = convention


class BinaryRelevanceScorer(DocumentScorer):
    """Base class of scorers for metrics of binary relevance that share these parameters."""

    def __init__(
        self,
        k: int | None = None,
        empty: str | None = None,
        ties: str | None = None,
        convention: str = "standard",
    ) -> None:
        self.k = k
        self.empty = empty
        self.ties = ties
        self.convention = convention


class AveragePrecisionScorer(BinaryRelevanceScorer):
    """Scorer for MAP; see :func:`sklrank.metrics.average_precision_score` for the parameters.

    To set parameters, use a copy: ``clone(average_precision_scorer).set_params(k=10)``.
    """

    _metric = staticmethod(average_precision_score)


class PrecisionAtKScorer(BinaryRelevanceScorer):
    """Scorer for precision; see :func:`sklrank.metrics.precision_at_k_score` for the parameters.

    To set parameters, use a copy: ``clone(precision_at_k_scorer).set_params(k=10)``.
    """

    _metric = staticmethod(precision_at_k_score)


class RecallAtKScorer(BinaryRelevanceScorer):
    """Scorer for recall at k; see :func:`sklrank.metrics.recall_at_k_score` for the parameters.

    To set parameters, use a copy: ``clone(recall_at_k_scorer).set_params(k=10)``.
    """

    _metric = staticmethod(recall_at_k_score)


class HitRateScorer(BinaryRelevanceScorer):
    """Scorer for the hit rate; see :func:`sklrank.metrics.hit_rate_score` for the parameters.

    To set parameters, use a copy: ``clone(hit_rate_scorer).set_params(k=10)``.
    """

    _metric = staticmethod(hit_rate_score)


class ReciprocalRankScorer(BinaryRelevanceScorer):
    """Scorer for MRR; see :func:`sklrank.metrics.reciprocal_rank_score` for the parameters.

    To set parameters, use a copy: ``clone(reciprocal_rank_scorer).set_params(k=10)``.
    """

    _metric = staticmethod(reciprocal_rank_score)


class ExpectedReciprocalRankScorer(DocumentScorer):
    """Scorer for ERR; see :func:`sklrank.metrics.expected_reciprocal_rank_score`.

    To set parameters, use a copy: ``clone(expected_reciprocal_rank_scorer).set_params(k=10)``.
    """

    _metric = staticmethod(expected_reciprocal_rank_score)

    def __init__(
        self,
        k: int | None = None,
        max_grade: float | None = None,
        empty: str | None = None,
        ties: str | None = None,
        convention: str = "standard",
    ) -> None:
        self.k = k
        self.max_grade = max_grade
        self.empty = empty
        self.ties = ties
        self.convention = convention


class RankBiasedPrecisionScorer(DocumentScorer):
    """Scorer for RBP; see :func:`sklrank.metrics.rank_biased_precision_score` for the parameters.

    To set parameters, use a copy: ``clone(rank_biased_precision_scorer).set_params(k=10)``.
    """

    _metric = staticmethod(rank_biased_precision_score)

    def __init__(
        self,
        k: int | None = None,
        persistence: float = 0.8,
        empty: str | None = None,
        ties: str | None = None,
        convention: str = "standard",
    ) -> None:
        self.k = k
        self.persistence = persistence
        self.empty = empty
        self.ties = ties
        self.convention = convention


rank_loss_scorer = PairwiseLossScorer("rank_loss")
hinge_rank_loss_scorer = PairwiseLossScorer("hinge_rank_loss")
logistic_rank_loss_scorer = PairwiseLossScorer("logistic_rank_loss")
kendall_tau_scorer = LabelRankingScorer("kendall_tau_score")
kendall_tau_distance_scorer = LabelRankingScorer("kendall_tau_distance")
spearman_distance_scorer = LabelRankingScorer("spearman_distance")
ndcg_scorer = NDCGScorer()
average_precision_scorer = AveragePrecisionScorer()
precision_at_k_scorer = PrecisionAtKScorer()
recall_at_k_scorer = RecallAtKScorer()
hit_rate_scorer = HitRateScorer()
reciprocal_rank_scorer = ReciprocalRankScorer()
expected_reciprocal_rank_scorer = ExpectedReciprocalRankScorer()
rank_biased_precision_scorer = RankBiasedPrecisionScorer()
