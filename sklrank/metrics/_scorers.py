"""Scorers of the metrics of this package, for the parameter `scoring` of scikit-learn's tools.

scikit-learn's ``make_scorer`` is not sufficient: a loss of scores needs the class of each column,
as classes may be missing in a test fold; forests return multilabel probabilities as a list; and
rankings of classifiers are those of ``predict_ranks``.

The scorer of a metric is defined beside it, as an instance of one of the classes below.
"""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils import column_or_1d
from sklearn.utils.metadata_routing import UNUSED

from sklrank._checks import check_scored, document_scores, label_scores
from sklrank._estimators import BaseEstimator

# Parameters of metrics that are no parameters of their scorers.
_ARGUMENTS = {"y_true", "y_score", "y_pred", "qid", "labels", "average", "sample_weight"}


class Scorer(BaseEstimator):
    """Base class of scorers, called as ``scorer(estimator, X, y)``; greater scores are better.

    A scorer is a `BaseEstimator`, so that it can be cloned, and so that scikit-learn generates
    `set_score_request` from the signature of `score`. Its parameters are those of the metric, which
    is negated if it is not called a score; to set some of them, use a copy, such as
    ``clone(ndcg_scorer).set_params(k=10)``.
    """

    __metadata_request__score = {"estimator": UNUSED}

    def __init__(self, metric: Callable, **options: Any) -> None:
        self.metric = metric
        for name, default in self._defaults().items():
            setattr(self, name, options.pop(name, default))
        if options:
            raise TypeError(f"{metric.__name__} has no parameter {next(iter(options))!r}")

    def _defaults(self):
        parameters = inspect.signature(self.metric).parameters.values()
        return {each.name: each.default for each in parameters if each.name not in _ARGUMENTS}

    def _options(self):
        return {name: getattr(self, name) for name in self._defaults()}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"metric": self.metric, **self._options()}

    def __repr__(self) -> str:
        defaults = self._defaults()
        # As texts, since values may be arrays, and strings that were pickled are not identical.
        changed = [
            f"{name}={value!r}"
            for name, value in self._options().items()
            if repr(value) != repr(defaults[name])
        ]
        return f"{type(self).__name__}({', '.join([self.metric.__name__, *changed])})"

    def __call__(
        self, estimator: Any, X: ArrayLike, y_true: ArrayLike, **metadata: ArrayLike | None
    ) -> float:
        return self.score(estimator, X, y_true, **metadata)

    @abstractmethod
    def score(
        self, estimator: Any, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the score of the predictions for `X` given the target `y`."""

    def _evaluate(self, *arguments, **others):
        value = self.metric(*arguments, **self._options() | others)
        return value if self.metric.__name__.endswith("_score") else -value

    def _accept_sample_weight(self):
        # scikit-learn 1.9 calls this method for each scorer in a search with several metrics.
        return True


class LabelScorer(Scorer):
    """Scorer for scores of labels, by `decision_function` or, if missing, `predict_proba`."""

    def score(
        self, estimator: Any, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> float:
        check_scored(estimator, X, y, sample_weight=sample_weight)
        classes = getattr(estimator, "classes_", None)
        scores = label_scores(estimator, X)
        return self._evaluate(y, scores, labels=classes, sample_weight=sample_weight)


class LabelRankingScorer(Scorer):
    """Scorer for positions of labels, by `predict_ranks` or, if missing, `predict`."""

    def score(
        self, estimator: Any, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> float:
        check_scored(estimator, X, y, sample_weight=sample_weight)
        return self._evaluate(y, label_positions(estimator, X), sample_weight=sample_weight)


class DocumentScorer(Scorer):
    """Scorer for rankings of the documents of queries, by `predict` or expected grades."""

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
            For 1-d `y`, a fitted ranker of documents or regressor, whose `predict` returns scores,
            or a classifier, whose scores are the expected grades or the decision function.
            For 2-d `y`, a fitted ranker of labels with `decision_function` or `predict_proba`.
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
        """
        check_scored(estimator, X, y, qid=qid, sample_weight=sample_weight)
        y = y.toarray() if sparse.issparse(y) else y
        if np.ndim(y) == 2 and np.shape(y)[1] > 1:
            scores = label_scores(estimator, X)
        elif qid is None:
            raise ValueError(
                "qid did not reach the scorer, so that all samples would count as one query. In "
                "scikit-learn's tools call sklearn.set_config(enable_metadata_routing=True) and "
                "pass the ids on: GridSearchCV(...).fit(X, y, qid=qid), cross_validate(..., "
                "params={'qid': qid}). In a call of your own, pass qid=qid."
            )
        else:
            y, scores = column_or_1d(y), document_scores(estimator, X)
        others = {}
        if getattr(self, "gain", None) == "exponential" and np.min(np.asarray(y), initial=0) < 0:
            # Negative relevance has no exponential gain.
            others["gain"] = getattr(estimator, "gain", self.gain)
        return self._evaluate(y, scores, qid=qid, sample_weight=sample_weight, **others)


def label_positions(estimator, X):
    """Return positions of the labels, of shape `(n_samples, n_labels)`, for samples `X`."""
    for method in ("predict_ranks", "predict"):
        if hasattr(estimator, method):
            positions = np.asarray(getattr(estimator, method)(X))
            # Some regressors return a 1-d array for a single target.
            return positions[:, np.newaxis] if positions.ndim == 1 else positions
    raise TypeError(
        f"estimator must have predict_ranks, or a predict that returns positions, got "
        f"{estimator!r}, which does not rank labels."
    )
