"""PredtronQueryRanker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from sklrank._base_online import BaseOnline
from sklrank._queries import Queries
from sklrank._relevance import check_relevance
from sklrank._relevance_lists import lists_of
from sklrank._sklearn import _fit_context, available_if
from sklrank.base import DocumentRankerMixin
from sklrank.linear_model._predtron._base import can_partial_fit
from sklrank.linear_model._predtron._ranker_mixin import PredtronRankerMixin

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike
    from typing_extensions import Self

    from sklrank._typing import MirrorMap, RankingLoss

__all__ = ["PredtronQueryRanker"]


class PredtronQueryRanker(PredtronRankerMixin, DocumentRankerMixin, BaseOnline):
    r"""Perceptron that ranks the documents of queries, for NDCG or precision at the top.

    Documents are scored by one vector of weights, :math:`t = X w`, with a row of X for each of a
    query. A ranking that puts document i at the position :math:`\sigma(i)` is represented by
    the unit vector of entries :math:`f(\sigma(i)) / Z`, for a falling f; predicted is the one most
    like the scores, which sorts them. When its loss is not zero the weights take a step ([1]_,
    Section 4)

    .. math:: w \leftarrow w - \eta \, X^T (rep(\tilde\sigma) - rep(\sigma_y)), \qquad
              \tilde\sigma = \arg\max_\sigma L(\sigma, y) + \langle rep(\sigma), t \rangle,

    away from a ranking that is bad and yet likely, a linear assignment problem ([1]_, Lemma 3), and
    towards the likeliest of those without loss, :math:`\sigma_y`.

    Parameters
    ----------
    loss : {"ndcg", "precision"} or object, default="ndcg"
        What a ranking costs: 1 less

        - "ndcg": the normalised discounted cumulative gain, of the gains :math:`2^y - 1` and the
          discounts :math:`1 / \log_2(1 + j)` at position j;
        - "precision": the share of relevant documents, :math:`y > 0`, among the first `k`, by the
          greatest that can be;
        - an object with the methods ``gains(relevance)``, what documents of these grades are
          worth, and ``discounts(n)``, what the positions 1 to n multiply that by: not negative,
          and not rising. The total worth is divided by the greatest that can be.
    k : int or None, default=None
        How many documents count, from the top. None: all; "precision" needs a number.
    representation : {"power", "linear", "reciprocal"} or callable, default="power"
        The function f, strictly falling: :math:`-j^{power}`, :math:`-j`, :math:`1 / j`, or
        a callable that maps an array of positions to values. The faster f falls far down the list,
        the less the scores there need to be apart ([1]_, Lemma 4).
    power : float, default=1.1
        Exponent of the representation "power".
    update : {"loss-augmented", "loss-driven"}, default="loss-augmented"
        Which step is taken: that above, or the one of Predtron.LD ([1]_, Algorithm 2), away from
        the prediction itself, and :math:`L` times as large.
    mirror_map : str or object, default="euclidean"
        What makes weights of the sum of steps: "euclidean", "p-norm", "group-norm", "schatten",
        "entropy", "positive" or an object, see :class:`PredtronClassifier`. Of one vector of
        weights, "group-norm" is "p-norm", and "schatten" "euclidean".
    learning_rate : float or "theory", default=1.0
        Size :math:`\eta` of the steps. "theory": that of [1]_, Theorems 1, 14 and 15, for the
        queries so far: small.
    average : bool, default=False
        Whether to predict by the mean of the weights over the rounds. It is nearly always better.
    kernel : str, callable or None, default=None
        None learns weights of the features, else dual coefficients of support vectors, see
        :class:`PredtronClassifier`.
    gamma, degree, coef0 : float, default=None, 3, 1
        Parameters of kernels; `gamma` None is ``1 / n_features``.
    budget : int or None, default=None
        Most support vectors under a kernel: beyond it the oldest is forgotten. None: no limit. Of
        no use without a kernel.
    max_iter : int, default=1
        Passes that `fit` makes over the queries; `partial_fit` makes one.
    shuffle : bool, default=False
        Whether `fit` goes through the queries of each pass in an order drawn anew.
    random_state : int, RandomState instance or None, default=None
        Shuffles.
    verbose : int, default=0
        Whether to print the mistakes and the mean loss of each pass.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights of the features. Not under a kernel.
    intercept_ : ndarray of shape (1,)
        0. Not under a kernel.
    dual_coef_ : ndarray of shape (1, n_supports)
        Coefficients of the support vectors. Under a kernel only.
    support_vectors_ : {ndarray, sparse matrix} of shape (n_supports, n_features)
        Documents with a coefficient; under a precomputed kernel their row numbers `(n_supports,)`.
    n_rounds_ : int
        Rounds so far: queries that were learnt.
    n_mistakes_ : int
        Rounds so far in which the ranking had a loss. A tie counts as the worst of its rankings.
    mean_loss_ : float
        Mean loss of the rounds so far, each before its query was learnt; NaN before the first one.
    n_iter_ : int
        Passes made by `fit`.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where `X` had string ones.

    See Also
    --------
    PredtronLabelRanker : Ranks the labels of a row.
    sklrank.boosting.NDCGBoost : Boosts weak learners for NDCG, on whole data.
    sklrank.model_selection.QueryKFold : Folds of whole queries; `qid` gets there through searches.

    Notes
    -----
    Parameters are read when a model is started, by `fit` or the first `partial_fit`. A query whose
    documents are all of one grade teaches nothing. There is no intercept: it would move all
    documents of a query alike.

    One pass and the last weights, as printed, is the default. For predictions standardise the
    features within each query and choose ``representation="reciprocal", learning_rate=0.001,
    average=True, max_iter=20, shuffle=True``: on MQ2008 that reaches an ``NDCG@10`` of .706, or
    .704 where each fold chooses its own setting; as printed it is .639, and a linear support vector
    machine of pairs has .705 (``benchmarks/predtron.py``).

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
    def fit(self, X: ArrayLike, y: ArrayLike, qid: ArrayLike | None = None) -> Self:
        """Forget what was learnt, then make `max_iter` passes over the queries.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Documents; under a precomputed kernel their values with each other.
        y : array-like of shape (n_samples,)
            Relevance, 0 or more.
        qid : array-like of shape (n_samples,), default=None
            Query of each document, in any order; None: all are of one query, which takes long for
            thousands of them. A query's round comes when its first document does.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If the data are malformed, or if parameters do not go together or with the data; a
            fitted model stays as it was.
        """
        return self._fit_from_scratch(X, y, qid)

    @available_if(can_partial_fit)
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: ArrayLike, y: ArrayLike, qid: ArrayLike | None = None) -> Self:
        """Learn from each query in order, going on from what was learnt before.

        Queries given in chunks, in one call or across a pickle make the same model, to the bit;
        under a kernel but for the rounding of its values. A query must come whole: what comes under
        its id in another call is another query.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Documents.
        y : array-like of shape (n_samples,)
            Relevance, 0 or more.
        qid : array-like of shape (n_samples,), default=None
            Query of each document; None: all are of one query.

        Returns
        -------
        self : object
            The estimator.

        Raises
        ------
        ValueError
            If the data are malformed; the model stays as it was.
        """
        self._partial_fit(X, y, qid)
        return self

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Score the documents.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Documents.

        Returns
        -------
        ndarray of shape (n_samples,)
            Higher ranks earlier in the query.
        """
        return self._scores(X)[:, 0]

    @property
    def coef_(self) -> np.ndarray:
        """Weights of the features."""
        return super().coef_[0]

    def _lessons(self, X, y, qid, *, restart):
        X = self._check_rows(X, reset=restart)
        y = check_relevance(y, X.shape[0])
        queries = Queries.from_qid(qid, len(y))
        if restart:
            self._start_model(1, 0.0)
        self._check_pairwise(X)
        self._set_fitted_with_qid(qid, len(y))
        # Rounds are played in the order in which queries first come, whatever their ids.
        in_turn = np.argsort(queries.order[queries.starts[:-1]])
        starts, items = lists_of(queries.starts, in_turn)
        documents = queries.order[items]
        return X, self._ranking_lessons(y[documents], starts, documents)
