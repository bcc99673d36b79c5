"""Mixins for label rankers, document rankers and classifiers that score their classes."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from sklrank._checks import (
    check_available,
    check_k,
    check_relevance,
    check_scored,
    gain_by_order,
    has_exponential_gains,
    is_qid_given,
    only_available,
    strict_positions,
)
from sklrank._compiled import shared_call
from sklrank._estimators import ADAPTERS_MANAGER, of_labels, shares_text
from sklrank._typing import Method, Self
from sklrank.metrics import ndcg_score
from sklrank.metrics._document_values import NoRelevantDocumentError


def with_names(method: Method) -> Method:
    """Decorate a method that returns a column for each label: `set_output` chooses its container.

    The container is kept where scikit-learn's `set_output` and `clone` keep theirs.
    """

    @wraps(method)
    def call(ranker: Any, X: ArrayLike, *args: Any, **kwargs: Any) -> Any:
        values = method(ranker, X, *args, **kwargs)
        container = getattr(ranker, "_sklearn_output_config", {}).get("predict", "default")
        if container == "default" or np.ndim(values) == 1:
            return values
        names = ranker.classes_ if container == "pandas" else ranker.classes_.astype(str)
        adapter = ADAPTERS_MANAGER.adapters[container]
        return adapter.create_container(np.asarray(values), X, columns=names)

    return call  # type: ignore[return-value]


@of_labels
class LabelRankerMixin:
    """Mixin for estimators that rank labels by scores.

    The estimator defines `classes_` and `_label_scores(X)`, which returns scores of shape
    `(n_samples, n_labels)`. Labels with higher scores are ranked earlier. If scores are equal, the
    label with the smaller column index is ranked earlier.

    Results that have a column for each label may be data frames: `predict_ranks`, and those of the
    methods with the decorator :func:`with_names`.
    """

    def set_output(self, *, predict: str | None = None, transform: str | None = None) -> Self:
        """Set the container of predictions that have a column for each label.

        These are the results of `predict_ranks`, `decision_function`, `predict` and
        `predict_proba`; of :class:`~sklrank.label_ranking.PlackettLuceRanker` also
        `predict_topk_proba` and `expected_positions`. Results of one dimension, such as class
        labels, remain arrays.

        Parameters
        ----------
        predict : {"default", "pandas", "polars"}, default=None
            Container: an array, or a data frame whose columns are `classes_` and whose index is
            that of `X`. If None, it does not change.
        transform : None
            For transformers only: another value raises an error that names `predict`.

        Returns
        -------
        self : object
            The ranker.

        {value_error}
            If `predict` is none of these.

        Examples
        --------
        >>> import pandas as pd
        >>> from sklearn.linear_model import Ridge
        >>> from sklrank.label_ranking import LabelwiseRanker
        >>> y = pd.DataFrame({"tea": [1, 2, 1], "coffee": [2, 1, 2]})
        >>> ranker = LabelwiseRanker(Ridge()).set_output(predict="pandas")
        >>> ranker.fit([[0], [2], [1]], y).predict([[2]])
           tea  coffee
        0    2       1
        """
        if transform is not None:
            raise ValueError(
                f"transform={transform!r} sets the output of transformers, and this is a ranker: "
                f"use set_output(predict={transform!r})"
            )
        containers = ("default", *sorted(ADAPTERS_MANAGER.adapters))
        if predict is not None:
            if predict not in containers:
                raise ValueError(f"predict must be one of {containers}, got {predict!r}")
            self._sklearn_output_config = {"predict": predict}
        return self

    @with_names
    @shared_call
    def predict_ranks(self, X: ArrayLike, *, available: ArrayLike | None = None) -> np.ndarray:
        """Predict the position of each label.

        {samples}
        {available_and_returns}
        ndarray of int of shape (n_samples, n_labels)
            Positions of the labels; 1 is the best position. Labels that are not available have the
            last ones. The columns are in the order of `classes_`.

        {value_error}
            If `X` or `available` is invalid.
        """
        scores = self._label_scores(X)
        available = check_available(available, self.classes_, len(scores))
        return strict_positions(only_available(scores, available)).astype(np.intp)

    @shared_call
    def predict_topk(
        self, X: ArrayLike, k: int, *, available: ArrayLike | None = None
    ) -> np.ndarray:
        """Predict the `k` best labels of each sample.

        {samples}
        k : int
            Number of labels to return, from 1 to `n_labels`.
        {available_and_returns}
        ndarray of shape (n_samples, k)
            Entries of `classes_`, from best to worst.

        {value_error}
            If `k` is not an integer from 1 to `n_labels`, or `available` is invalid or has fewer
            labels than `k` for a sample.
        """
        scores = self._label_scores(X)
        k = check_k(k, scores.shape[1])
        scores = only_available(scores, check_available(available, self.classes_, len(scores), k))
        return self.classes_[np.argsort(-scores, axis=1, kind="stable")[:, :k]]


@of_labels
class ClassScoresMixin:
    """Mixin with `decision_function` and `predict` for classifiers that score their classes.

    The estimator defines `classes_` and `_class_scores(X)`, which returns scores of shape
    `(n_samples, n_classes)`.
    """

    @shared_call
    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Return the score of each class.

        {samples_and_returns}
        ndarray of shape (n_samples, n_classes), or (n_samples,) for two classes
            Scores, with columns in the order of `classes_`. For two classes, the score of the
            second class minus that of the first.
        """
        return two_class_difference(self._class_scores(X))

    @shared_call
    def predict(self, X: ArrayLike, *, available: ArrayLike | None = None) -> np.ndarray:
        """Predict the class with the largest score.

        {samples}
        {available_and_returns}
        ndarray of shape (n_samples,)
            Predicted class labels. If scores are equal, the class that is first in `classes_` is
            predicted.

        {value_error}
            If `X` or `available` is invalid.
        """
        scores = self._class_scores(X)
        available = check_available(available, self.classes_, len(scores))
        return self.classes_[only_available(scores, available).argmax(axis=1)]


def two_class_difference(scores: np.ndarray) -> np.ndarray:
    """Return scores `(n_samples, n_classes)`, for two classes their difference `(n_samples,)`."""
    return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores


def two_class_weights(weights: np.ndarray) -> np.ndarray:
    """Return a row of weights for each class, or for two classes one row, their difference."""
    return weights[1:] - weights[:1] if len(weights) == 2 else weights


def mean_ndcg(
    y: np.ndarray,
    scores: np.ndarray,
    *,
    gain: str | Callable | None = None,
    item: str = "document",
    group: str = "query",
    **options,
) -> float:
    """Return the mean NDCG of the predictions of a ranker for the target `y`.

    If `gain` is None, it is exponential. If the grades have no exponential gains, because they are
    negative or too large, the gain is the number of distinct lower grades. Errors about `y` use the
    words `item` and `group`. The other parameters are those of :func:`sklrank.metrics.ndcg_score`.
    """
    if gain is None:
        gain = "exponential" if has_exponential_gains(y) else gain_by_order
    try:
        return ndcg_score(y, scores, gain=gain, **options)
    except NoRelevantDocumentError:
        by_order = gain is gain_by_order
        relevant = f"grade above the lowest one, {np.min(y):g}" if by_order else "gain above 0"
        raise ValueError(
            f"y has no relevant {item}, one of a {relevant}, in any {group} of positive weight, "
            f"so that its NDCG is not defined; include a {group} with a relevant {item}"
        ) from None


@shares_text()
class DocumentRankerMixin:
    """Mixin for document rankers, whose `predict` scores the documents of queries.

    A sample is a document, whose features describe how it matches its query. Samples with the same
    `qid` belong to the same query. The estimator requests `qid` by default: if metadata routing is
    enabled in scikit-learn, pipelines and searches pass `qid` to the splitter, `fit` and `score`.
    The estimator must set `_fitted_with_qid` in `fit`, whether there are several queries.
    """

    __metadata_request__fit = {"qid": True}
    __metadata_request__score = {"qid": True}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.positive_only = True
        return tags

    def score(
        self,
        X: ArrayLike,
        y: ArrayLike,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return the mean NDCG of the queries that have a relevant document.

        {rows}
        y : array-like of shape (n_samples,)
            Relevance of each document, 0 or more.
        qid : array-like of shape (n_samples,), default=None
            Query id of each document. If None, all documents belong to one query; this is allowed
            only if the ranker was fitted without `qid`, in one call. For 500 or more documents a
            warning is given, as `qid` has probably been forgotten.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples. The weight of a query is the mean of the weights of its samples.

        Returns
        -------
        float
            Mean NDCG, from 0 to 1; NDCG@k if the ranker has a parameter `k` that is not None. Then
            rankers of different k have different metrics: a search over k needs a scorer with a k
            of its own, ``scoring=clone(ndcg_scorer).set_params(k=10)``. The gain is that of the
            parameter `gain`. If the ranker has no such parameter, the gain is exponential; if `y`
            has grades above 31, the gain of a document is the number of distinct lower grades in
            `y`. See :func:`sklrank.metrics.ndcg_score` for other conventions.

        {value_error}
            If `qid` is None although the ranker was fitted to several queries; if `y` has entries
            that are not numbers of 0 or more, or no relevant document; or if the lengths of the
            arguments differ.
        """
        check_scored(self, X, y, qid=qid, sample_weight=sample_weight)
        scores = self._scores_by_query(X, qid)
        y = check_relevance(y, len(scores))
        return self._mean_ndcg(y, scores, qid, sample_weight)

    def _mean_ndcg(self, y, scores, qid, sample_weight):
        """Return the mean NDCG by the parameters `k` and `gain`, if the ranker has them."""
        k, gain = getattr(self, "k", None), getattr(self, "gain", None)
        return mean_ndcg(y, scores, qid=qid, k=k, gain=gain, sample_weight=sample_weight)

    def _scores_by_query(self, X, qid, **arguments):
        """Return the predictions; raise an error if `qid` is None, but must not be."""
        check_is_fitted(self)
        if qid is None and self._fitted_with_qid:
            raise ValueError(
                "qid is None, but this ranker was fitted with queries: all samples would count as "
                "one query. Pass qid=..., and let scikit-learn's tools pass it on by "
                "sklearn.set_config(enable_metadata_routing=True); permutation_importance cannot: "
                "use sklrank.model_selection.query_permutation_importance with scoring=ndcg_scorer"
            )
        scores = self.predict(X, **arguments)
        is_qid_given(qid, len(scores))
        return scores
