"""What the boosters of document rankings share: their data, early stopping, predictions."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Integral, Real
from typing import TYPE_CHECKING

import numpy as np
from sklearn.model_selection import GroupShuffleSplit
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from sklrank._queries import Queries, check_relevance, check_something_to_learn
from sklrank._sklearn import Interval, _fit_context
from sklrank._validation import unchanged_on_error
from sklrank.base import DocumentRankerMixin
from sklrank.boosting._booster import Booster
from sklrank.boosting._weak_learners import ClassifierLearner, StumpLearner, hypothesis_of
from sklrank.metrics import ndcg_score
from sklrank.tree import StumpClassifier

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike

__all__ = ["DocumentRanker"]


class DocumentRanker(DocumentRankerMixin, Booster):
    """A booster whose scores rank the documents of queries.

    A subclass names its objective of some training rows, `_objective(y, queries)`.
    """

    _parameter_constraints = {
        **Booster._parameter_constraints,
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left"), None],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = (
            self.estimator is not None and get_tags(self.estimator).input_tags.sparse
        )
        return tags

    @abstractmethod
    def _objective(self, y, queries):
        """What is minimised over these rows."""

    def _learner(self, X, objective):
        """What learns the labels and weights of the objective on these rows."""
        estimator = StumpClassifier() if self.estimator is None else self.estimator
        by_class = self._response == "predict"
        if type(estimator) is StumpClassifier and self.weighting != "resampling" and by_class:
            estimator._validate_params()
            return StumpLearner(estimator, X)
        return ClassifierLearner(
            estimator,
            X,
            weighting=self.weighting,
            max_samples=self.max_samples,
            response=self._response,
        )

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: ArrayLike, y: ArrayLike, qid: ArrayLike | None = None) -> DocumentRanker:
        """Learn to rank.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Documents, each as it matches its query. Sparse where the weak learner takes it.
        y : array-like of shape (n_samples,)
            Relevance, 0 (not relevant) or more.
        qid : array-like of shape (n_samples,), default=None
            Query of each document, in any order; None: all are of one query.

        Returns
        -------
        DocumentRanker
            The estimator itself.

        Raises
        ------
        ValueError
            If `y` is negative, or no query has documents of different relevance; if `qid` has
            another length; if the input holds NaN or infinities.
        """
        with unchanged_on_error(self):
            return self._fit(X, y, qid)

    def _fit(self, X, y, qid):
        X = self._checked(X, reset=not (self.warm_start and hasattr(self, "estimators_")))
        y = check_relevance(y, X.shape[0])
        queries = Queries.from_qid(qid, len(y))
        self._knows_queries = qid is not None
        self._begin()
        if self.n_iter_no_change is None:
            check_something_to_learn(y, queries)
            self._boost_rows(X, y, queries)
        # Where an earlier fit stopped early, a warm start has nothing to add to it.
        elif self._reason_to_stop() is None:
            train, held_out = self._held_out(y, queries)
            codes = queries.codes[train]
            self._boost_rows(
                X[train],
                y[train],
                Queries.from_qid(codes, len(codes)),
                self._watch(X[held_out], y[held_out], queries.codes[held_out]),
            )
        return self

    def _begin(self):
        super()._begin()
        if not self.estimators_:
            self.validation_scores_ = np.empty(0)
            self._split_seed = self._random_state.randint(np.iinfo(np.int32).max)

    def _boost_rows(self, X, y, queries, enough=None):
        objective = self._objective(y, queries)
        self._boost(objective, self._learner(X, objective), self._sum(X), enough)

    def _held_out(self, y, queries):
        """Rows to learn from and rows to watch, apart by query; the same after a warm start."""
        if queries.n_queries < 2:
            raise ValueError(
                "n_iter_no_change holds out a part of the queries, but qid has one query only; "
                "use n_iter_no_change=None, or give queries"
            )
        split = GroupShuffleSplit(
            1, test_size=self.validation_fraction, random_state=self._split_seed
        )
        train, held_out = next(split.split(y, groups=queries.codes))
        for rows, part in (train, "to learn from"), (held_out, "held out"):
            codes = queries.codes[rows]
            check_something_to_learn(y[rows], Queries.from_qid(codes, len(codes)), part)
        return train, held_out

    def _watch(self, X, y, codes):
        """Early stopping by the NDCG of rows held out."""
        scores = self._sum(X)

        def enough(model, step):
            scores[:] += step * hypothesis_of(model, X, response=self._response)
            score = ndcg_score(y, scores, qid=codes)
            self.validation_scores_ = np.append(self.validation_scores_, score)
            return self._reason_to_stop()

        return enough

    def _reason_to_stop(self):
        """Said when the queries held out tell that it is enough; otherwise None."""
        history, patience = self.validation_scores_, self.n_iter_no_change
        if len(history) > patience:
            if history[-patience:].max() <= history[:-patience].max() + self.tol:
                return f"NDCG of the queries held out has not risen for {patience} rounds"
        return None

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Score documents.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Documents.

        Returns
        -------
        ndarray of float64 of shape (n_samples,)
            Scores, higher = ranked earlier. A document's score does not depend on the others.
        """
        return self._sum(self._checked(X))

    def staged_predict(self, X: ArrayLike) -> Iterator[np.ndarray]:
        """Score documents by the ensemble of each round.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Documents.

        Returns
        -------
        iterator of ndarray of float64 of shape (n_samples,)
            Scores after one round, after two, and so on.
        """
        return self._staged_sums(self._checked(X))

    def _checked(self, X, *, reset=False):
        if not reset:
            check_is_fitted(self)
        return validate_data(
            self,
            X,
            accept_sparse="csr" if get_tags(self).input_tags.sparse else False,
            dtype=[np.float64, np.float32],
            reset=reset,
        )
