"""Scorers of document rankers: they ask for the query ids of the rows that they score."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import column_or_1d

from sklrank.metrics._document_ranking import average_precision_score, ndcg_score
from sklrank.metrics._scorer import Scorer, label_scores

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike


class DocumentScorer(Scorer):
    """A metric of documents by query; its parameters are those of the metric."""

    __metadata_request__score = {"qid": True}

    def score(
        self,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return how well the estimator ranks the documents of each query.

        Parameters
        ----------
        estimator : object
            A fitted ranker of documents, or any regressor: `predict` gives the scores (a
            classifier's does so too, with many ties). For 2-d `y` a ranker of labels: its
            `decision_function` or `predict_proba` gives them.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score.
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
            Grades; a single column is 1-d.
        qid : array-like of shape (n_samples,)
            Query ids, for 1-d `y`.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        float
            The metric.

        Raises
        ------
        ValueError
            If `qid` is not given for 1-d `y`.
        """
        by_labels = np.ndim(y) == 2 and np.shape(y)[1] > 1
        if qid is None and not by_labels:
            raise ValueError(
                "qid did not reach the scorer, which would take all rows for one query. In "
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
    """NDCG, see :func:`sklrank.metrics.ndcg_score` for the parameters.

    They are set on a copy: ``clone(ndcg_scorer).set_params(k=10)``.
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


class AveragePrecisionScorer(DocumentScorer):
    """MAP, see :func:`sklrank.metrics.average_precision_score` for the parameters.

    They are set on a copy: ``clone(average_precision_scorer).set_params(k=10)``.
    """

    _metric = staticmethod(average_precision_score)

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


ndcg_scorer = NDCGScorer()
average_precision_scorer = AveragePrecisionScorer()
