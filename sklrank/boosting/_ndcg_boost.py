"""NDCG_Boost: boosting of any classifier into a document ranker that optimises NDCG."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from sklrank._sklearn import StrOptions
from sklrank.boosting._document_ranker import SupervisedDocumentRanker
from sklrank.boosting._objectives import NDCGObjective
from sklrank.metrics import ndcg_score
from sklrank.metrics._conventions import gains_of

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

__all__ = ["NDCGBoost"]


class NDCGBoost(SupervisedDocumentRanker):
    r"""NDCG_Boost: document ranking by boosting a classifier for expected NDCG.

    Algorithm 5 of [1]_. Scores :math:`F` define a distribution over rankings, under which document
    i has the expected rank :math:`1 + A_i` (Equation 3.10). Each round lowers a bound on the
    expected loss of NDCG, Equation 3.11,

    .. math:: \frac{1}{n} \sum_{k=1}^n \frac{1}{Z_k} \sum_i (2^{r_i} - 1) A_i, \quad
              A_i = \sum_{j \ne i} \frac{1}{1 + \exp(F_i - F_j)},

    with the relevance :math:`r_i` and the ideal DCG :math:`Z_k` of the query. The sign of the
    negative gradient (Equation 3.17) is the label of a document, 1 if its score should rise, and
    the absolute value is its weight. A classifier is fitted to these, and its step (Equation 3.15)
    minimises the bound. The objective never rises. Only pairs with a relevant document count, so
    that the time of a round is proportional to (relevant) x (all) documents of each query.

    Parameters
    ----------
    estimator : classifier, default=None
        The weak learner, cloned for each round. None: a compiled
        :class:`~sklrank.tree.StumpClassifier`; with ``criterion="gain"`` it maximises the criterion
        of the dissertation (Equation 3.18).
    n_estimators : int, default=100
        Maximal number of rounds.
    gain : {"exponential", "linear"} or callable, default="exponential"
        The gain of a document of relevance r: :math:`2^r - 1`, r, or a function of r.
    learning_rate : float, default=1.0
        Factor of each step. Up to 2 the objective never rises; 1 minimises its bound.
    weighting : {"auto", "sample_weight", "resampling"}, default="auto"
        Whether the weak learner is given the weights ("sample_weight"), or documents drawn in
        proportion to them ("resampling"), as in the dissertation's experiments. "auto": weights
        where its `fit` takes them.
    max_samples : int, float or None, default=None
        How many documents are drawn for a round, a number or a share of all; None: a fifth, at
        least 20. They are drawn up to ten times a round, until the weak learner is better than
        chance.
    n_iter_no_change : int or None, default=None
        Stop when the NDCG of held-out queries, with `gain`, has not risen by more than `tol` for
        this number of rounds. None: no queries are held out.
    validation_fraction : float, default=0.1
        Fraction of the queries that is held out for early stopping.
    tol : float, default=1e-4
        Tolerance of early stopping; see `n_iter_no_change`.
    warm_start : bool, default=False
        Whether `fit` adds rounds to those of the last `fit`, up to `n_estimators`.
    random_state : int, RandomState instance or None, default=None
        Draws documents, held-out queries, and the seeds of the weak learners.
    verbose : int, default=0
        1: print some rounds, 2: print all.

    Attributes
    ----------
    estimators_ : list of classifiers
        The weak learners; they predict 1 for documents to be raised, else 0.
    estimator_weights_ : ndarray of shape (n_rounds,)
        The step of each weak learner.
    loss_curve_ : ndarray of shape (n_rounds + 1,)
        Equation 3.11 before the first round and after each.
    stop_reason_ : str
        The reason why the rounds ended.
    validation_scores_ : ndarray of shape (n_rounds,)
        NDCG of the held-out queries, with `gain`, after each round; empty without early stopping.
    feature_importances_ : ndarray of shape (n_features,)
        Importances of the weak learners, weighted by the steps, if they have any.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if `X` had names that are strings.

    See Also
    --------
    AdaRank : Weights queries, not documents.
    RankBoost : Weights pairs, independently of their ranks.
    RankingRefiner : Improves a given ranking by few judgements.
    sklrank.model_selection.QueryKFold : Folds of whole queries, and how searches pass `qid` on.

    References
    ----------
    .. [1] H. Valizadegan, "Boosting and online learning for classification and ranking",
       PhD thesis, Michigan State University, 2010, chapter 3.

    Examples
    --------
    Two queries of four documents, whose relevance depends on the second feature.

    >>> from sklrank.boosting import NDCGBoost
    >>> X = [[1, 9], [2, 3], [3, 5], [4, 1], [1, 2], [2, 6], [3, 8], [4, 4]]
    >>> y = [2, 0, 1, 0, 0, 1, 2, 0]
    >>> qid = [7, 7, 7, 7, 8, 8, 8, 8]
    >>> ranker = NDCGBoost(n_estimators=10).fit(X, y, qid=qid)
    >>> ranker.score(X, y, qid=qid)
    1.0
    >>> bool((ranker.loss_curve_[1:] <= ranker.loss_curve_[:-1]).all())
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

    def _make_objective(self, y, queries):
        return NDCGObjective(gains_of(self.gain, y), queries)

    def _validation_metric(self, y, qid):
        return partial(ndcg_score, y, qid=qid, gain=self.gain)
