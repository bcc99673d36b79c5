"""Base classes of the boosters that rank documents."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from functools import wraps
from inspect import signature
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import GroupShuffleSplit
from sklearn.utils.validation import check_is_fitted

from sklrank._boosters import Booster, make_classifier_learner
from sklrank._checks import (
    Queries,
    check_query_weights,
    check_relevance,
    check_rows,
    check_something_to_learn,
    check_weights,
    input_tags_of,
    is_qid_given,
)
from sklrank._estimators import _fit_context, failed_weight_checks, shares_text, unchanged_on_error
from sklrank._rankers import DocumentRankerMixin
from sklrank._typing import Method, Self
from sklrank.tree import HistogramTreeClassifier

# Texts that document rankers share.
of_document_rankers = shares_text(
    documents="""
Parameters
----------
X : {array-like, sparse matrix} of shape (n_samples, n_features)
    Documents, described by how they match their query; sparse if the weak learner accepts it, and
    for AdaRank with single features.
y : array-like of shape (n_samples,)
    Relevance, 0 (not relevant) or more.
{qid}
""",
    qid="""
qid : array-like of shape (n_samples,), default=None
    Query id of each document, in any order. If None, all documents belong to one query; for
    500 or more documents a warning is given, which ``qid=np.zeros(len(X))`` avoids.
    :class:`~sklrank.model_selection.QueryKFold` shows how to pass `qid` through searches.
""",
    weights="""
sample_weight : array-like of shape (n_samples,), default=None
    Weights of the documents: one of weight 2 counts as two, so that the weight of a pair is the
    product of those of its documents; those of weight 0 are left out. If None, all are 1.
{query_weight}
""",
    stump_and_rounds="""
estimator : classifier, default=None
    Weak learner, which is cloned for each round. If None, it is a decision stump,
    :class:`~sklrank.tree.HistogramTreeClassifier` with ``max_leaf_nodes=2`` and
    ``min_samples_leaf=1``. Larger trees of this class are fast, too.
n_estimators : int, default=100
    Maximum number of rounds.
""",
    boosting="""
{learning_rate}
weighting : {"auto", "resampling"}, default="auto"
    {weighting}
{random_state}

Attributes
----------
estimators_ : list of classifiers
    Weak learners. They predict 1 for documents whose scores should increase, else 0.
{rounds}
""",
    gain="""
gain : {"exponential", "linear"} or callable, default="exponential"
    Gain of a document of relevance r, in the objective and in `score`: :math:`2^r - 1`
    ("exponential"), r ("linear"), or the value of a function of r.
k : int or None, default=None
    Number of top-ranked documents that matter: `score` is NDCG@k, and :math:`Z_q` the ideal DCG
    of the first `k`, so that queries with more relevant documents weigh more. All pairs remain in
    the objective.
""",
    example="""
Two queries of four documents, whose relevance depends on the second feature.

>>> X = [[1, 9], [2, 3], [3, 5], [4, 1], [1, 2], [2, 6], [3, 8], [4, 4]]
>>> y = [2, 0, 1, 0, 0, 1, 2, 0]
>>> qid = [7, 7, 7, 7, 8, 8, 8, 8]
""",
    score_qid="""
qid : array-like of shape (n_samples,), default=None
    Query id of each document. If None, all documents belong to one query; this is allowed
    only if the ranker was fitted without `qid`.
sample_weight : array-like of shape (n_samples,), default=None
    Weights of the samples. The weight of a query is the mean of the weights of its samples.
""",
    query_weight="""
query_weight : array-like of shape (n_samples,), default=None
    Weight of the query of each document, the same for all documents of a query: one of weight 2
    counts as two queries; those of weight 0 are left out. If None, all are 1.
""",
)

# Names of parameters of LightGBM and XGBoost, and what replaces them here.
PEER_NAMES = {
    "boosting_type": "no such argument: the trees are those of gradient boosting",
    "bagging_fraction subsample subsample_freq": "max_features; trees use all documents",
    "callbacks": "verbose, or set_callbacks with scikit-learn 1.9",
    "categorical_feature feature_types": "categorical_features, or columns of type category",
    "class_weight": "sample_weight or query_weight of fit",
    "colsample_bytree feature_fraction": "max_features",
    "device device_type": "n_jobs; there is no GPU support",
    "early_stopping_round early_stopping_rounds": "early_stopping=True and n_iter_no_change",
    "eta": "learning_rate",
    "eval_at": "k of the constructor",
    "eval_group eval_qid": "qid_val of fit",
    "eval_names": "X_val of fit, a single set without a name",
    "eval_metric metric": "scoring of the constructor",
    "eval_sample_weight": "X_val of fit, without weights",
    "eval_set eval_X eval_y": "X_val, y_val and qid_val of fit",
    "feature_name": "a data frame X, whose columns have names",
    "group": "qid, the query of each document: qid=np.repeat(np.arange(len(group)), group)",
    "importance_type": "feature_importances_, which are decreases of the loss",
    "init_model xgb_model": "warm_start=True",
    "init_score": "init of the constructor, an estimator of the initial scores",
    "label_gain": "gain, a function of the grades",
    "lambda_l1 reg_alpha": "l2_regularization; there is no L1 penalty",
    "lambda_l2 reg_lambda": "l2_regularization",
    "lambdarank_truncation_level": "k",
    "max_bin": "max_bins",
    "min_child_samples min_data_in_leaf": "min_samples_leaf",
    "min_child_weight min_split_gain": "min_samples_leaf or max_leaf_nodes",
    "monotone_constraints": "monotonic_cst",
    "n_estimators num_boost_round num_iterations": "max_iter",
    "num_leaves max_leaves": "max_leaf_nodes",
    "objective": "loss",
    "seed": "random_state",
    "verbose verbosity": "verbose of the constructor",
}
REPLACEMENTS = {name: text for names, text in PEER_NAMES.items() for name in names.split()}

# With these min_samples_leaf, weighting and response_method, a weight of 2 equals two samples.
EXACT = (1, "auto", "predict")
# Minimal positive weight. The weight of a pair is the product of those of its two documents and its
# query, and is multiplied by functions of the scores: it must not be zero.
MIN_WEIGHT = 1e-90


class DocumentTarget(NamedTuple):
    """The target of document rankers: relevance, queries and weights, which are positive."""

    y: np.ndarray
    """Relevance of each document."""
    queries: Queries
    weights: np.ndarray
    """Weight of each document."""
    query_weights: np.ndarray
    """Weight of each query, in the order of `queries.names`."""
    total_weight: float | None = None
    """Total weight of the queries that an objective counts, if others are in other parts."""
    least_weight: float | None = None
    """Least weight of the documents of all parts."""

    @property
    def unit(self):
        """Weight of one of the copies for which documents stand: the least one, 1 at most."""
        return min(1.0, self.weights.min() if self.least_weight is None else self.least_weight)

    @classmethod
    def check(cls, y, queries, sample_weight=None, query_weight=None):
        """Check the weights. Return the target, and the samples of positive weight or None."""
        weights = check_weights(sample_weight, len(y), positive=True)
        target = cls.of(y, queries, weights, check_query_weights(query_weight, queries))
        for name, given in ("sample_weight", weights), ("query_weight", target.query_weights):
            if np.any((given > 0) & (given < MIN_WEIGHT)):
                raise ValueError(
                    f"{name} must be 0, or at least {MIN_WEIGHT:g}, as products of smaller weights "
                    "would be 0: multiply all weights by a number"
                )
        seen = (weights > 0) & (target.query_weights[queries.codes] > 0)
        if seen.all():
            return target, None
        if not seen.any():
            raise ValueError(
                "sample_weight and query_weight leave no document: each has one of weight 0; let "
                "both be positive for some documents"
            )
        samples = np.flatnonzero(seen)
        return target.take(samples), samples

    @classmethod
    def of(cls, y, queries, weights=None, query_weights=None):
        """Return a target whose weights are 1 if they are None."""
        weights = np.ones(len(y)) if weights is None else weights
        query_weights = np.ones(queries.n_queries) if query_weights is None else query_weights
        return cls(y, queries, weights, query_weights)

    @property
    def all_weights(self):
        """Weight of each document, times that of its query."""
        return self.weights * self.query_weights[self.queries.codes]

    def take(self, samples):
        """Return the target of some of the samples."""
        queries = Queries.from_qid(self.queries.codes[samples], len(samples))
        weights = self.weights[samples], self.query_weights[queries.names]
        return DocumentTarget(self.y[samples], queries, *weights)

    def check_something_to_learn(self, part="given", *, names=("y", "qid")):
        """Raise a ValueError if no query has documents of different relevance."""
        check_something_to_learn(self.y, self.queries, part, names=names)


def explains_peer_names(method: Method) -> Method:
    """Decorate a method: for an argument of a peer that it lacks, its TypeError names another one.

    The replacements are arguments of `HistGradientBoostingRanker`; other rankers have some of them.
    """
    names = REPLACEMENTS.keys() - signature(method).parameters.keys()

    # `inspect.signature`, by which scikit-learn finds the parameters, returns that of the method.
    @wraps(method)
    def call(self, *args, **kwargs):
        for name in kwargs:
            if name in names:
                fit, remedy = signature(type(self).fit).parameters, REPLACEMENTS[name]
                known = {*fit, *signature(type(self)).parameters}
                if "X_val" not in known and remedy.split()[0].strip(",;") not in known:
                    remedy = "HistGradientBoostingRanker, which has a replacement"
                raise TypeError(
                    f"{type(self).__name__}.{method.__name__}() got an unexpected keyword argument "
                    f"{name!r}: use {remedy}"
                )
        return method(self, *args, **kwargs)

    return call


def split_queries(queries, fraction, seed):
    """Return the samples of the queries to learn from, and those of the held-out queries.

    Of a single query, they are a part of its documents each.
    """
    samples = np.arange(len(queries.codes))
    groups = queries.codes if queries.n_queries > 1 else samples
    splitter = GroupShuffleSplit(1, test_size=fraction, random_state=seed)
    return next(splitter.split(samples, groups=groups))


@of_document_rankers
class DocumentRanker(DocumentRankerMixin, Booster):
    """Base class of boosters whose scores rank the documents of queries."""

    @property
    def _accepts_sparse(self):
        return input_tags_of(self._weak_learner()).sparse

    @property
    def _accepts_nan(self):
        return input_tags_of(self._weak_learner()).allow_nan

    def _weak_learner(self):
        """Return the estimator that is fitted in each round."""
        if self.estimator is not None:
            return self.estimator
        return HistogramTreeClassifier(max_leaf_nodes=2, min_samples_leaf=1)

    @property
    def _failed_checks(self):
        reason = "the weak learner counts samples, draws them, or raises them at random"
        given = (
            getattr(self._weak_learner(), "min_samples_leaf", None),
            self.weighting,
            getattr(self, "response_method", "predict"),
        )
        # Parameters that were not checked yet may be arrays.
        if all(np.ndim(one) == 0 and one == exact for one, exact in zip(given, EXACT)):
            return {}
        return failed_weight_checks(reason)

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

        {rows_and_returns}
        ndarray of float64 of shape (n_samples,)
            Scores, which do not depend on other documents; higher ones are ranked earlier.
        """
        return self._scores(self._check_X(X), self._n_rounds_to_predict())

    def staged_predict(self, X: ArrayLike) -> Iterator[np.ndarray]:
        """Score documents after each round of boosting.

        {rows_and_returns}
        iterator of ndarray of float64 of shape (n_samples,)
            Scores after each round that was fitted, also those after early stopping.
        """
        return self._scores_of_rounds(self._check_X(X))

    def _check_X(self, X, *, reset=False):
        if not reset:
            check_is_fitted(self)
        return check_rows(self, X, reset=reset, dtype=[np.float64, np.float32])

    def _check_training_X(self, X):
        return self._check_X(X, reset=True)


@of_document_rankers
class SupervisedDocumentRanker(DocumentRanker):
    """Base class of document rankers that are fitted to the relevance of all documents."""

    # Whether relevance may be negative; the objective may refuse it, too.
    _signed_relevance = False

    @abstractmethod
    def _make_objective(self, target):
        """Return the objective for this :class:`DocumentTarget`."""

    @explains_peer_names
    @_fit_context(prefer_skip_nested_validation=False)
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        query_weight: ArrayLike | None = None,
    ) -> Self:
        """Fit the ranker.

        {documents}
        {weights}

        {returns_self}
        """
        with unchanged_on_error(self):
            X, target = self._check_training_set(X, y, qid, sample_weight, query_weight)
            target.check_something_to_learn()
            self._start_rounds()
            objective = self._make_objective(target)
            self._boost(objective, self._make_learner(X, objective), self._initial_scores(X))
        return self

    def _check_training_set(self, X, y, qid, sample_weight, query_weight):
        """Check the training samples; return those of positive weight with their target."""
        X = self._check_training_X(X)
        y = check_relevance(y, X.shape[0], signed=self._signed_relevance)
        queries = Queries.from_qid(qid, len(y))
        self._fitted_with_qid = is_qid_given(qid, len(y))
        target, samples = DocumentTarget.check(y, queries, sample_weight, query_weight)
        return X if samples is None else X[samples], target
