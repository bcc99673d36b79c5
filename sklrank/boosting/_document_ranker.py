"""Base classes of the boosters that rank documents."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklrank._boosting_rounds import Booster
from sklrank._docstrings import shares_text
from sklrank._queries import Queries
from sklrank._relevance import check_relevance, check_something_to_learn
from sklrank._sklearn import _fit_context
from sklrank._validation import check_rows, input_tags_of, unchanged_on_error
from sklrank._weak_learners import make_classifier_learner
from sklrank.base import DocumentRankerMixin
from sklrank.tree import HistogramTreeClassifier

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike
    from typing_extensions import Self

# Texts that the methods `fit` of document rankers share.
of_documents = shares_text(
    documents="""
X : {array-like, sparse matrix} of shape (n_samples, n_features)
    Documents. The features describe how a document matches its query. A sparse matrix is
    accepted if the weak learner accepts it.
y : array-like of shape (n_samples,)
    Relevance, 0 (not relevant) or more.
qid : array-like of shape (n_samples,), default=None
    Query id of each document, in any order. If None, all documents belong to one query; for
    500 or more documents a warning is given, as `qid` has probably been forgotten. If all
    documents belong to one query, pass ``qid=np.zeros(len(X))`` to avoid the warning. The
    documentation of :class:`~sklrank.model_selection.QueryKFold` shows how to pass `qid`
    through hyperparameter searches.
"""
)


class DocumentRanker(DocumentRankerMixin, Booster):
    """Base class of boosters whose scores rank the documents of queries."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        of_weak_learner = input_tags_of(self._weak_learner())
        tags.input_tags.sparse = of_weak_learner.sparse
        tags.input_tags.allow_nan = of_weak_learner.allow_nan
        return tags

    def _weak_learner(self):
        """Return the estimator that is fitted in each round."""
        if self.estimator is not None:
            return self.estimator
        return HistogramTreeClassifier(max_leaf_nodes=2, min_samples_leaf=1)

    def _make_learner(self, X, objective):
        """Return the learner that fits weak learners to an objective on the samples `X`."""
        return make_classifier_learner(
            self._weak_learner(),
            X,
            weighting=self.weighting,
            random_state=self._random_state,
            n_labels=self._n_labels(objective),
            response_method=self._response_method,
        )

    def _n_labels(self, objective):
        """Return the number of distinct labels to which weak learners are fitted."""
        return 2

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Score documents.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Documents.

        Returns
        -------
        ndarray of float64 of shape (n_samples,)
            Scores; documents with higher scores are ranked earlier. The score of a document does
            not depend on the other documents.
        """
        return self._scores(self._check_X(X), self._n_rounds_to_predict())

    def staged_predict(self, X: ArrayLike) -> Iterator[np.ndarray]:
        """Score documents after each round of boosting.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Documents.

        Returns
        -------
        iterator of ndarray of float64 of shape (n_samples,)
            Scores after the first round, after the second round, and so on, up to the last round
            that was fitted, also after early stopping.
        """
        return self._scores_of_rounds(self._check_X(X))

    def _check_X(self, X):
        check_is_fitted(self)
        return check_rows(self, X, reset=False, dtype=[np.float64, np.float32])

    def _check_training_X(self, X):
        return check_rows(self, X, reset=True, dtype=[np.float64, np.float32])


class SupervisedDocumentRanker(DocumentRanker):
    """Base class of document rankers that are fitted to the relevance of all documents.

    A subclass defines `_make_objective(y, queries)`, which returns its objective.
    """

    @abstractmethod
    def _make_objective(self, y, queries):
        """Return the objective for these training samples."""

    @_fit_context(prefer_skip_nested_validation=False)
    @of_documents
    def fit(self, X: ArrayLike, y: ArrayLike, qid: ArrayLike | None = None) -> Self:
        """Fit the ranker.

        Parameters
        ----------
        {documents}

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If `y` has negative entries; if no query has documents of different relevance; if the
            lengths of `qid` and `X` differ; or if the input contains infinities, or NaN that the
            weak learner does not accept.
        """
        with unchanged_on_error(self):
            X, y, queries = self._check_training_set(X, y, qid)
            check_something_to_learn(y, queries)
            self._start_rounds()
            self._boost_samples(X, y, queries)
        return self

    def _check_training_set(self, X, y, qid):
        """Check the training samples, and return them with their queries."""
        X = self._check_training_X(X)
        y = check_relevance(y, X.shape[0])
        queries = Queries.from_qid(qid, len(y))
        self._set_fitted_with_qid(qid, len(y))
        return X, y, queries

    def _boost_samples(self, X, y, queries, after_round=None):
        objective = self._make_objective(y, queries)
        self._boost(objective, self._make_learner(X, objective), after_round)


def queries_of(queries, samples):
    """Return the queries of some of the samples."""
    return Queries.from_qid(queries.codes[samples], len(samples))
