"""PredtronQueryRanker."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np

from sklrank._base_online import BaseOnline
from sklrank._call_guard import exclusive_call
from sklrank._queries import Queries
from sklrank._relevance import check_relevance
from sklrank._relevance_lists import lists_of
from sklrank._sklearn import _fit_context, available_if
from sklrank.base import DocumentRankerMixin
from sklrank.linear_model._predtron._base import can_partial_fit
from sklrank.linear_model._predtron._base_ranker import PredtronRankerMixin

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike
    from typing_extensions import Self

    from sklrank._typing import MirrorMap, RankingLoss

__all__ = ["PredtronQueryRanker"]


class PredtronQueryRanker(PredtronRankerMixin, DocumentRankerMixin, BaseOnline):
    r"""Predtron query ranker: a perceptron for NDCG or precision at the top.

    The model ranks the documents of each query, which are rows of X. One vector of weights scores
    them, :math:`t = X w`. A ranking that puts document i at the position :math:`\sigma(i)` is
    represented by the unit vector of the entries :math:`f(\sigma(i)) / Z` with a strictly
    decreasing function :math:`f`. The predicted ranking has the greatest inner product with the
    scores, so it sorts the documents by score. If its loss is not zero, the weights take the step
    ([1]_, Section 4)

    .. math:: w \leftarrow w - \eta \, X^T (rep(\tilde\sigma) - rep(\sigma_y)), \qquad
              \tilde\sigma = \arg\max_\sigma L(\sigma, y) + \langle rep(\sigma), t \rangle.

    The step moves the scores away from the loss-augmented ranking :math:`\tilde\sigma`, which is
    found by solving a linear assignment problem ([1]_, Lemma 3). It moves them towards the correct
    ranking :math:`\sigma_y`, which has the greatest inner product with the scores among the
    rankings without loss.

    Parameters
    ----------
    loss : {"ndcg", "precision"} or object, default="ndcg"
        Loss of a ranking. It is 1 minus one of the following measures:

        - "ndcg": the normalized discounted cumulative gain, with the gains :math:`2^y - 1` and the
          discounts :math:`1 / \log_2(1 + j)` at position j;
        - "precision": the precision at `k`, divided by its greatest possible value. The relevant
          documents are those with :math:`y > 0`;
        - an object that defines the sum of gains times discounts, divided by its greatest possible
          value. Its method ``gains(relevance)`` returns the gains for an array of relevance values
          of shape (n_rankings, n_items). Its method ``discounts(n)`` returns the discounts at the
          positions 1 to n, which must be nonnegative and nonincreasing and must not depend on n.
    k : int or None, default=None
        Number of top-ranked documents to include in the loss, and in the NDCG that `score` returns.
        If None, all documents are included. `k` must be given for "precision", and must be None if
        `loss` is an object.
    representation : {"power", "linear", "reciprocal"} or callable, default="power"
        The strictly decreasing function :math:`f`. It is :math:`-j^{power}` for "power",
        :math:`-j` for "linear" and :math:`1 / j` for "reciprocal". A callable maps an array of
        positions to the values of :math:`f`. At positions where :math:`f` decreases faster, smaller
        differences between the scores suffice ([1]_, Lemma 4).
    power : float, default=1.1
        Exponent of the "power" representation. It is ignored for other representations.
    update : {"loss-augmented", "loss-driven"}, default="loss-augmented"
        Step of the weights. "loss-augmented" is the step above. "loss-driven" is the step of
        Predtron.LD ([1]_, Algorithm 2): the prediction itself takes the place of
        :math:`\tilde\sigma`, and the step is multiplied by the loss :math:`L` of the prediction.
    mirror_map : str or object, default="euclidean"
        Map from the sum of the steps to the weights: "euclidean", "p-norm", "group-norm",
        "schatten", "entropy", "positive" or an object. See :class:`PredtronClassifier` for their
        descriptions. For one vector of weights, "group-norm" is identical to "p-norm", and
        "schatten" is identical to "euclidean".
    learning_rate : float or "theory", default=1.0
        Learning rate :math:`\eta` that multiplies each step. "theory" is the rate of [1]_, Theorems
        1, 14 and 15, for the queries of all rounds up to the current one. It is usually small.
    average : bool, default=False
        Whether to predict with the mean of the weights over the rounds (averaged perceptron).
    kernel : str, callable or None, default=None
        If None, the model learns weights of the features. Otherwise, it learns dual coefficients
        of support vectors; see :class:`PredtronClassifier` for the possible values.
    gamma, degree, coef0 : float, default=None, 3, 1
        Parameters of the kernels that are given by name. If `gamma` is None, ``1 / n_features`` is
        used.
    budget : int or None, default=None
        Maximum number of support vectors of a model with a kernel. If it is exceeded, the oldest
        support vectors are removed. If None, the number is not limited. `budget` is ignored if
        `kernel` is None.
    max_iter : int, default=1
        Number of passes over the queries in `fit`; `partial_fit` always makes one pass.
    shuffle : bool, default=False
        Whether `fit` shuffles the queries before each pass.
    random_state : int, RandomState instance or None, default=None
        Controls the order of the queries if `shuffle` is True.
    verbose : int, default=0
        If positive, the number of mistakes and the mean loss of each pass are printed.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights of the features. Defined only if the model has no kernel.
    intercept_ : ndarray of shape (1,)
        Always zero, since the model has no intercept. Defined only if the model has no kernel.
    dual_coef_ : ndarray of shape (1, n_supports)
        Dual coefficients of the support vectors. Defined only if the model has a kernel.
    support_vectors_ : {ndarray, sparse matrix} of shape (n_supports, n_features)
        Documents that have dual coefficients. With a precomputed kernel, the indices of these
        documents, of shape (n_supports,).
    n_rounds_ : int
        Number of rounds that the model has been trained on. Each round uses one query.
    n_mistakes_ : int
        Number of these rounds in which the loss of the predicted ranking was not zero. Among tied
        rankings, the one with the greatest loss is the prediction.
    mean_loss_ : float
        Mean loss of the predictions that were made in these rounds, before the step of each round.
        It is NaN before the first round.
    n_iter_ : int
        Number of passes made by `fit`.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features. Defined only if `X` has feature names that are all strings.

    See Also
    --------
    PredtronLabelRanker : Ranks the labels of a sample.
    sklrank.boosting.NDCGBoost : Maximizes NDCG by boosting on the whole training set.
    sklrank.model_selection.QueryKFold : Cross-validator that does not split queries.

    Notes
    -----
    The parameters are read in `fit` and, if the model is not fitted, in the first call of
    `partial_fit`. Later changes do not affect the model until `fit` is called.

    A query whose documents have equal relevance does not change the model. There is no intercept,
    since it would change all scores of a query equally.

    The default parameters follow the published algorithm, which makes one pass over the queries and
    predicts with unaveraged weights. The mistake bounds of [1]_ refer to these weights. For more
    accurate predictions, ``representation="reciprocal", learning_rate=0.001, average=True,
    max_iter=20, shuffle=True`` and features standardized within each query are recommended. With
    these parameters, the ``NDCG@10`` on MQ2008 is .706, or .704 if each fold selects its own
    parameters. With the default parameters it is .639, and with a linear support vector machine on
    pairs of documents .705 (``benchmarks/predtron.py``).

    References
    ----------
    .. [1] P. Jain, N. Natarajan and A. Tewari, "Predtron: A family of online algorithms for general
       prediction problems", NIPS 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from sklrank.linear_model import PredtronQueryRanker
    >>> rng = np.random.RandomState(0)
    >>> X, qid = rng.randn(500, 5), np.repeat(np.arange(50), 10)
    >>> y = np.digitize(X @ [2, -1, 0, 0, 1], [1, 3])
    >>> ranker = PredtronQueryRanker(average=True, max_iter=5).fit(X[:300], y[:300], qid[:300])
    >>> round(ranker.score(X[300:], y[300:], qid[300:]), 2)
    1.0
    """

    __metadata_request__partial_fit = {"qid": True}

    def __init__(
        self,
        *,
        loss: Literal["ndcg", "precision"] | RankingLoss = "ndcg",
        k: int | None = None,
        representation: Literal["power", "linear", "reciprocal"] | Callable = "power",
        power: float = 1.1,
        update: Literal["loss-augmented", "loss-driven"] = "loss-augmented",
        mirror_map: MirrorMap = "euclidean",
        learning_rate: float | Literal["theory"] = 1.0,
        average: bool = False,
        kernel: str | Callable | None = None,
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        budget: int | None = None,
        max_iter: int = 1,
        shuffle: bool = False,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.k = k
        self.representation = representation
        self.power = power
        self.update = update
        self.mirror_map = mirror_map
        self.learning_rate = learning_rate
        self.average = average
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.budget = budget
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
    @exclusive_call
    def fit(self, X: ArrayLike, y: ArrayLike, qid: ArrayLike | None = None) -> Self:
        """Fit the model from scratch with `max_iter` passes over the queries.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Documents, or the kernel matrix `(n_samples, n_samples)` if the kernel is precomputed.
        y : array-like of shape (n_samples,)
            Relevance of the documents, at least 0.
        qid : array-like of shape (n_samples,), default=None
            Query of each document, in any order. If None, all documents belong to one query, which
            is slow for thousands of documents. The queries are used for training in the order of
            their first documents.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If the data are malformed, or if parameters are not compatible with each other or with
            the data. In this case, a fitted model does not change.
        """
        return self._fit_from_scratch(X, y, qid)

    @available_if(can_partial_fit)
    @_fit_context(prefer_skip_nested_validation=True)
    @exclusive_call
    def partial_fit(self, X: ArrayLike, y: ArrayLike, qid: ArrayLike | None = None) -> Self:
        """Continue training with each query in order.

        All documents of a query must be passed in one call: a query id that occurs again in another
        call is treated as a new query. Without a kernel, passing the queries in one call or in
        several calls gives bit-identical models. With a kernel, the models are equal up to rounding
        errors of the kernel values. Pickling the model between calls does not change the result.

        A call that is interrupted by Ctrl-C (KeyboardInterrupt) or by a lack of memory
        (MemoryError) has learned all samples or none.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Documents.
        y : array-like of shape (n_samples,)
            Relevance of the documents, at least 0.
        qid : array-like of shape (n_samples,), default=None
            Query of each document. If None, all documents belong to one query.

        Returns
        -------
        self : object
            The estimator.

        Raises
        ------
        ValueError
            If the data are malformed. In this case, the model does not change.
        """
        self._partial_fit(X, y, qid)
        return self

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Compute the scores of the documents.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Documents.

        Returns
        -------
        ndarray of shape (n_samples,)
            Scores of the documents. Documents with higher scores are ranked earlier in a query.
        """
        return self._scores(X)[:, 0]

    @property
    def coef_(self) -> np.ndarray:
        """Weights of the features."""
        return super().coef_[0]

    def _make_task(self, X, y, qid, *, restart):
        X = self._check_rows(X, reset=restart)
        y = check_relevance(y, X.shape[0])
        queries = Queries.from_qid(qid, len(y))
        if restart:
            self._start_ranking_model(1, 0.0)
        self._check_pairwise(X)
        self._set_fitted_with_qid(qid, len(y), continues=not restart)
        # The rounds are in the order of the first documents of the queries, whatever their ids are.
        order = np.argsort(queries.order[queries.starts[:-1]])
        starts, items = lists_of(queries.starts, order)
        documents = queries.order[items]
        task = self._make_ranking_task(y[documents], starts)
        return X, task, partial(_rows_of_queries, starts, documents)


def _rows_of_queries(starts, documents, rounds):
    """Return the rows of X in the given rounds, and the index of the first row of each query."""
    starts, items = lists_of(starts, rounds)
    return documents[items], starts
