"""NDCGBoost: any classifier becomes a document ranker that optimises NDCG."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from sklrank._sklearn import StrOptions
from sklrank.boosting._ndcg_objective import NDCGObjective
from sklrank.boosting._supervised_document_ranker import SupervisedDocumentRanker
from sklrank.metrics import ndcg_score
from sklrank.metrics._conventions import gains_of

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

__all__ = ["NDCGBoost"]


class NDCGBoost(SupervisedDocumentRanker):
    r"""NDCG_Boost: document ranking by boosting a classifier for expected NDCG.

    Algorithm 5 of [1]_. Scores :math:`F` define a distribution over rankings, under which the
    document i has the expected rank :math:`1 + A_i` (Equation 3.10). Each round lowers the bound
    of the expected NDCG lost, Equation 3.11,

    .. math:: \frac{1}{n} \sum_{k=1}^n \frac{1}{Z_k} \sum_i (2^{r_i} - 1) A_i, \quad
              A_i = \sum_{j \ne i} \frac{1}{1 + \exp(F_i - F_j)},

    with the relevance :math:`r_i` and the best DCG :math:`Z_k` of the query. It asks of each
    document whether it should rise, and how much that matters (Equation 3.17); a classifier learns
    the answers; its step (Equation 3.15) is the one that lowers the bound most. The objective
    never rises. Only pairs with a relevant document count, so that a round costs (relevant) x (all)
    for each query.

    Parameters
    ----------
    estimator : classifier, default=None
        The weak learner, cloned for each round. None: a compiled
        :class:`~sklrank.tree.StumpClassifier`; with ``criterion="gain"`` it maximises what the
        dissertation prints (Equation 3.18).
    n_estimators : int, default=100
        Number of rounds at most.
    gain : {"exponential", "linear"} or callable, default="exponential"
        What a document of relevance r is worth: :math:`2^r - 1`, r, or a function of r.
    learning_rate : float, default=1.0
        Each step is multiplied by it. Up to 2 the objective never rises; 1 lowers its bound most.
    weighting : {"auto", "sample_weight", "resampling"}, default="auto"
        Whether the weak learner is given weights, or documents drawn in proportion to them, as in
        the dissertation's experiments. "auto": weights where its `fit` takes them.
    max_samples : int, float or None, default=None
        How many documents are drawn, a number or a share of all; None: a fifth, at least 20. They
        are drawn up to ten times a round, until the weak learner is better than chance.
    n_iter_no_change : int or None, default=None
        Stop when the NDCG of queries held out, with `gain`, has not risen by more than `tol` for so
        many rounds. None: no queries are held out.
    validation_fraction : float, default=0.1
        Share of the queries held out.
    tol : float, default=1e-4
        See `n_iter_no_change`.
    warm_start : bool, default=False
        Whether `fit` adds rounds to those of the last `fit`, up to `n_estimators`.
    random_state : int, RandomState instance or None, default=None
        Draws documents, the queries held out, and the seeds of the weak learners.
    verbose : int, default=0
        1: some rounds are reported, 2: all.

    Attributes
    ----------
    estimators_ : list of classifiers
        The weak learners; each tells by 1 and 0 which documents rise.
    estimator_weights_ : ndarray of shape (n_rounds,)
        The step of each.
    objective_ : ndarray of shape (n_rounds + 1,)
        Equation 3.11 before the first round and after each.
    stop_reason_ : str
        Why there are no more rounds.
    validation_scores_ : ndarray of shape (n_rounds,)
        NDCG of the queries held out, with `gain`, after each round; empty without.
    feature_importances_ : ndarray of shape (n_features,)
        Importances of the weak learners, weighted by the steps, where they have any.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where `X` had names.

    See Also
    --------
    AdaRank : Weights queries, not documents.
    RankBoost : Weights pairs, whatever their places.
    RankingRefiner : Improves a given ranking by few judgements.
    sklrank.model_selection.QueryKFold : Folds of whole queries; `qid` gets there through searches.

    References
    ----------
    .. [1] H. Valizadegan, "Boosting and online learning for classification and ranking",
       PhD thesis, Michigan State University, 2010, chapter 3.

    Examples
    --------
    Two queries of four documents; the second feature tells what is relevant.

    >>> from sklrank.boosting import NDCGBoost
    >>> X = [[1, 9], [2, 3], [3, 5], [4, 1], [1, 2], [2, 6], [3, 8], [4, 4]]
    >>> y = [2, 0, 1, 0, 0, 1, 2, 0]
    >>> qid = [7, 7, 7, 7, 8, 8, 8, 8]
    >>> ranker = NDCGBoost(n_estimators=10).fit(X, y, qid=qid)
    >>> ranker.score(X, y, qid=qid)
    1.0
    >>> bool((ranker.objective_[1:] <= ranker.objective_[:-1]).all())
    True
    """

    _parameter_constraints = {
        **SupervisedDocumentRanker._parameter_constraints,
        "gain": [StrOptions({"exponential", "linear"}), callable],
    }

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 100,
        *,
        gain: Literal["exponential", "linear"] | Callable = "exponential",
        learning_rate: float = 1.0,
        weighting: Literal["auto", "sample_weight", "resampling"] = "auto",
        max_samples: int | float | None = None,
        n_iter_no_change: int | None = None,
        validation_fraction: float = 0.1,
        tol: float = 1e-4,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.gain = gain
        self.learning_rate = learning_rate
        self.weighting = weighting
        self.max_samples = max_samples
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.tol = tol
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose

    def _objective(self, y, queries):
        return NDCGObjective(gains_of(self.gain, y), queries)

    def _quality(self, y, qid):
        return partial(ndcg_score, y, qid=qid, gain=self.gain)
