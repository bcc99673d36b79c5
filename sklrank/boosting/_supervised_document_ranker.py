"""What the rankers share that learn from judged documents alone: `fit`, and early stopping."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Integral, Real
from typing import TYPE_CHECKING

import numpy as np
from sklearn.model_selection import GroupShuffleSplit

from sklrank._queries import Queries
from sklrank._relevance import check_relevance, check_something_to_learn
from sklrank._sklearn import Interval, _fit_context
from sklrank._validation import unchanged_on_error
from sklrank.boosting._document_ranker import DocumentRanker
from sklrank.boosting._weak_learners import hypothesis_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import Self

__all__ = ["SupervisedDocumentRanker"]


class SupervisedDocumentRanker(DocumentRanker):
    """A ranker of documents, all of them judged.

    A subclass names its objective of some training rows, `_objective(y, queries)`, and by what rows
    held out are measured, `_quality(y, qid)`.
    """

    _parameter_constraints = {
        **DocumentRanker._parameter_constraints,
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left"), None],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    @abstractmethod
    def _objective(self, y, queries):
        """What is minimised over these rows."""

    @abstractmethod
    def _quality(self, y, qid):
        """A function of scores: how well they rank these rows, by a metric like the objective."""

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: ArrayLike, y: ArrayLike, qid: ArrayLike | None = None) -> Self:
        """Learn to rank.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Documents, each as it matches its query. Sparse where the weak learner takes it.
        y : array-like of shape (n_samples,)
            Relevance, 0 (not relevant) or more.
        qid : array-like of shape (n_samples,), default=None
            Query of each document, in any order; None: all are of one query, the rows of a fold
            too. :class:`~sklrank.model_selection.QueryKFold` shows how searches pass it on.

        Returns
        -------
        self : object
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
        X = self._checked(X, reset=not self._is_warm_start)
        y = check_relevance(y, X.shape[0])
        queries = Queries.from_qid(qid, len(y))
        self._knows_queries = qid is not None
        self._begin()
        if self.n_iter_no_change is None:
            check_something_to_learn(y, queries)
            self._boost_rows(X, self._objective(y, queries))
        # Where an earlier fit stopped early, a warm start has nothing to add to it.
        elif self._reason_to_stop() is None:
            train, held_out = self._held_out(y, queries)
            self._boost_rows(
                X[train],
                self._objective(y[train], Queries.from_qid(queries.codes[train], len(train))),
                self._watch(X[held_out], y[held_out], queries.codes[held_out]),
            )
        return self

    def _begin(self):
        super()._begin()
        share = 0.0 if self.n_iter_no_change is None else self.validation_fraction
        if not self.estimators_:
            self.validation_scores_ = np.empty(0)
            self._split_seed = self._random_state.randint(np.iinfo(np.int32).max)
        elif share > self._share_held_out:
            raise ValueError(
                f"n_iter_no_change={self.n_iter_no_change} and validation_fraction={share} hold "
                "out queries that the rounds fitted so far have learnt from; with warm_start=True "
                f"the share held out cannot grow, it was {self._share_held_out}"
            )
        self._share_held_out = share

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
        """Early stopping by how well rows held out are ranked."""
        scores, quality = self._sum(X), self._quality(y, codes)

        def enough(model, step):
            scores[:] += step * hypothesis_of(model, X, response=self._response)
            self.validation_scores_ = np.append(self.validation_scores_, quality(scores))
            return self._reason_to_stop()

        return enough

    def _reason_to_stop(self):
        """Said when the queries held out tell that it is enough; otherwise None."""
        history, patience = self.validation_scores_, self.n_iter_no_change
        if len(history) > patience:
            if history[-patience:].max() <= history[:-patience].max() + self.tol:
                return f"the queries held out have not been ranked better for {patience} rounds"
        return None
