"""NDCG_Boost: document ranking by boosting any classifier to optimize NDCG."""

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
    r"""NDCG_Boost document ranker: boosting of a classifier for expected NDCG.

    This class implements Algorithm 5 of [1]_. The scores :math:`F` define a distribution over
    rankings, under which document i has the expected rank :math:`1 + A_i` (Equation 3.10). Each
    round decreases a bound on the expected loss of NDCG over n queries (Equation 3.11),

    .. math:: \frac{1}{n} \sum_{k=1}^n \frac{1}{Z_k} \sum_i (2^{r_i} - 1) A_i, \quad
              A_i = \sum_{j \ne i} \frac{1}{1 + \exp(F_i - F_j)},

    where :math:`r_i` is the relevance of document i and :math:`Z_k` is the ideal DCG of query k.
    The second sum runs over the documents i of query k, and the third over its other documents j. A
    document is labeled 1 if its negative gradient (Equation 3.17) is positive, that is, if its
    score should increase, else 0. The weight of the document is the absolute value of the gradient.
    A classifier is fitted to these labels and weights, and its step (Equation 3.15) minimizes a
    bound on the objective. The objective never increases. Only pairs with at least one relevant
    document contribute to it, so that the time of a round is proportional to the number of relevant
    documents times the number of all documents, summed over the queries.

    Parameters
    ----------
    estimator : classifier, default=None
        Weak learner, which is cloned for each round. If None, a compiled
        :class:`~sklrank.tree.StumpClassifier` is used. A stump with ``criterion="gain"`` maximizes
        the criterion of the dissertation (Equation 3.18).
    n_estimators : int, default=100
        Maximum number of rounds.
    gain : {"exponential", "linear"} or callable, default="exponential"
        Gain of a document of relevance r: :math:`2^r - 1` ("exponential"), r ("linear"), or the
        value of a function of r.
    learning_rate : float, default=1.0
        Learning rate that multiplies each step. With values up to 2, the objective does not
        increase; with 1, each step minimizes a bound on the objective.
    weighting : {"auto", "sample_weight", "resampling"}, default="auto"
        How the weights are passed to the weak learner: as `sample_weight`, or by fitting it to
        documents that are drawn in proportion to them ("resampling"), as in the experiments of the
        dissertation. If "auto", `sample_weight` is used if the `fit` method of the weak learner
        accepts it, otherwise resampling.
    max_samples : int, float or None, default=None
        Number of documents drawn in each round if the weak learner is fitted by resampling: an int,
        a fraction of all documents, or None for one fifth of them, but at least 20. In each round,
        documents are drawn up to ten times, until the weak learner is better than chance.
    n_iter_no_change : int or None, default=None
        Boosting stops when the NDCG of held-out queries, computed with `gain`, has not increased by
        more than `tol` for this number of rounds. If None, no queries are held out.
    validation_fraction : float, default=0.1
        Fraction of the queries that are held out for early stopping.
    tol : float, default=1e-4
        Tolerance of early stopping; see `n_iter_no_change`.
    warm_start : bool, default=False
        If True, `fit` keeps the rounds of the last call and adds rounds up to `n_estimators`.
    random_state : int, RandomState instance or None, default=None
        Controls the random choice of documents and of held-out queries, and the randomness of the
        weak learners.
    verbose : int, default=0
        Verbosity. If 1, print the first nine rounds and every tenth one; if 2, print all rounds.

    Attributes
    ----------
    estimators_ : list of classifiers
        Weak learners. They predict 1 for documents whose scores should increase, else 0.
    estimator_weights_ : ndarray of shape (n_rounds,)
        Step of each weak learner, by which its predictions are multiplied.
    loss_curve_ : ndarray of shape (n_rounds + 1,)
        Objective (Equation 3.11) before the first round and after each round.
    stop_reason_ : str
        Reason why boosting stopped.
    validation_scores_ : ndarray of shape (n_rounds,)
        NDCG of the held-out queries, computed with `gain`, after each round; empty without early
        stopping.
    feature_importances_ : ndarray of shape (n_features,)
        Mean importance of each feature over the weak learners, weighted by the steps. Defined only
        if the weak learners have `feature_importances_`.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features. Defined only if `X` has feature names that are all strings.

    See Also
    --------
    AdaRank : Document ranker that weights queries.
    RankBoost : Document ranker that weights pairs of documents, independently of their ranks.
    RankingRefiner : Document ranker that improves a given ranking with few judgements.
    sklrank.model_selection.QueryKFold : Cross-validation whose folds consist of whole queries.

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
