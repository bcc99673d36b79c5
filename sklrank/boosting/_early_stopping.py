"""Early stopping of document rankers by the objective of held-out queries."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

import numpy as np
from sklearn.model_selection import GroupShuffleSplit
from sklearn.utils.validation import check_is_fitted

from sklrank._queries import Queries
from sklrank._randomness import draw_seed
from sklrank._relevance import check_relevance, check_something_to_learn
from sklrank._sklearn import _fit_context
from sklrank._validation import check_rows, unchanged_on_error
from sklrank.boosting._document_ranker import (
    SupervisedDocumentRanker,
    of_documents,
    queries_of,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import Self


class EarlyStoppingRanker(SupervisedDocumentRanker):
    """Base class of document rankers whose rounds are evaluated on held-out queries.

    A subclass defines `_start_boosting` and has the parameters `early_stopping`,
    `validation_fraction`, `n_iter_no_change` and `tol`.
    """

    @_fit_context(prefer_skip_nested_validation=False)
    @of_documents
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        qid: ArrayLike | None = None,
        *,
        X_val: ArrayLike | None = None,
        y_val: ArrayLike | None = None,
        qid_val: ArrayLike | None = None,
    ) -> Self:
        """Fit the ranker.

        Parameters
        ----------
        {documents}
        X_val : {array-like, sparse matrix} of shape (n_val_samples, n_features), default=None
            Documents of the queries that take the place of held-out queries. The ranker is fitted
            to all queries of `X`, and their objective is stored in `validation_loss_curve_`.
            Without early stopping, they are only evaluated. Searches of scikit-learn raise
            `UnsetMetadataPassedError` unless it is requested by ``set_fit_request(X_val=True,
            y_val=True, qid_val=True)``. If `X_val` has as many rows as `X`, they split it as they
            split `X`: give it another number of rows.
        y_val : array-like of shape (n_val_samples,), default=None
            Relevance of the documents `X_val`.
        qid_val : array-like of shape (n_val_samples,), default=None
            Query id of each document of `X_val`. If None, they belong to one query.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If `y` has negative entries; if no query has documents of different relevance; if the
            documents that are held out, or those of `X_val`, all have the gain 0; if the lengths of
            `qid` and `X` differ; if only one of `X_val` and `y_val` is given; or if the input
            contains infinities, or NaN that the weak learner does not accept.
        """
        with unchanged_on_error(self):
            X, y, queries = self._check_training_set(X, y, qid)
            validation = self._check_validation_set(X_val, y_val, qid_val)
            self._start_rounds()
            self._fit_checked(X, y, queries, validation)
        return self

    def _check_validation_set(self, X_val, y_val, qid_val):
        """Return X, y and the queries of the validation set, or None if there is none."""
        if X_val is None and y_val is None and qid_val is None:
            return None
        if X_val is None or y_val is None:
            raise ValueError("X_val and y_val must be passed together, and qid_val with qid")
        if qid_val is None and self._fitted_with_qid:
            raise ValueError("qid_val is None, but qid was given: pass the queries of X_val")
        X_val = check_rows(self, X_val, reset=False, dtype=[np.float64, np.float32])
        y_val = check_relevance(y_val, X_val.shape[0], names=("y_val", "X_val"))
        queries = Queries.from_qid(qid_val, len(y_val), "qid_val")
        self._check_evaluated(y_val, queries, "of X_val", names=("y_val", "qid_val"))
        return X_val, y_val, queries

    def _check_evaluated(self, y, queries, part, *, names=("y", "qid")):
        """Raise a ValueError if rounds cannot be evaluated on "the samples {part}"."""
        check_something_to_learn(y, queries, part, names=names)
        objective = self._make_objective(y, queries)
        objective.set_scores(np.zeros(len(y)))
        if not objective.weights.any():
            raise ValueError(
                f"{names[0]} has no documents of different gain in the samples {part}, so that "
                "their objective is always the same; include relevant documents, and check gain"
            )

    def _fit_checked(self, X, y, queries, validation):
        """Fit the ranker to checked samples."""
        evaluated = validation
        fraction = self.validation_fraction if validation is None and self._stops_early else 0.0
        if self.estimators_ and fraction > self._held_out_fraction:
            raise ValueError(
                f"validation_fraction={fraction} would hold out queries that the rounds so far "
                "learned from; for a warm start it must not exceed that of the fit before, "
                f"{self._held_out_fraction}; use early_stopping='auto' or False, or pass X_val"
            )
        if fraction:
            train, held_out = self._split(y, queries)
            evaluated = X[held_out], y[held_out], queries_of(queries, held_out)
            X, y, queries = X[train], y[train], queries_of(queries, train)
        check_something_to_learn(y, queries)
        self._start_boosting(X, y, queries, validation)
        n_rounds = len(self.estimators_)
        after_round = None if evaluated is None else self._evaluation(*evaluated)
        # A warm start adds no rounds if boosting was stopped early before.
        if self._early_stopping_reason() is None:
            self._boost_samples(X, y, queries, after_round)
        if len(self.estimators_) > n_rounds or not n_rounds:
            self._held_out_fraction = fraction

    @abstractmethod
    def _start_boosting(self, X, y, queries, validation):
        """Choose what depends on the samples before the first round, without held-out queries."""

    def _start_rounds(self):
        super()._start_rounds()
        self.validation_loss_curve_ = np.empty(0)
        self._stops_early = self.early_stopping is True
        if not self.estimators_:
            self._split_seed = draw_seed(self._random_state)

    def _split(self, y, queries):
        """Split the queries into a training part and a held-out part.

        Return the indices of the samples of each part. They are the same in each warm start.
        """
        if queries.n_queries < 2:
            raise ValueError(
                "early stopping holds out a part of the queries, but qid has one query only; "
                "use early_stopping='auto' or False, or give queries"
            )
        splitter = GroupShuffleSplit(
            1, test_size=self.validation_fraction, random_state=self._split_seed
        )
        train, held_out = next(splitter.split(y, groups=queries.codes))
        check_something_to_learn(y[train], queries_of(queries, train), "to learn from")
        self._check_evaluated(y[held_out], queries_of(queries, held_out), "held out")
        return train, held_out

    def _evaluation(self, X, y, queries):
        """Evaluate the rounds so far, and return the function that evaluates each later round."""
        objective = self._make_objective(y, queries)
        losses = []
        for scores in self._staged_scores(X):
            losses.append(objective.value_at(scores))
        self.validation_loss_curve_ = np.array(losses)

        def after_round(model, step):
            scores[:] += step * self._hypothesis(model, X)
            loss = objective.value_at(scores)
            self.validation_loss_curve_ = np.append(self.validation_loss_curve_, loss)
            return self._early_stopping_reason()

        return after_round

    def _early_stopping_reason(self):
        """Return a reason to stop if the objective of held-out queries no longer decreases."""
        losses, patience = self.validation_loss_curve_, self.n_iter_no_change
        if self._stops_early and len(losses) > patience:
            if losses[-patience:].min() >= losses[:-patience].min() - self.tol:
                return f"the validation loss has not decreased for {patience} rounds"
        return None

    def _print_round(self, n_rounds, figures):
        if len(self.validation_loss_curve_):
            figures = {**figures, "validation loss": float(self.validation_loss_curve_[-1])}
        super()._print_round(n_rounds, figures)

    @property
    def n_iter_(self) -> int:
        """Number of trees that `predict` uses."""
        check_is_fitted(self)
        if self._stops_early and len(self.validation_loss_curve_) > 1:
            return 1 + int(self.validation_loss_curve_[1:].argmin())
        return len(self.estimators_)

    def _n_rounds_to_predict(self):
        return self.n_iter_
