"""RankBoost: boosting by the weights of pairs of documents."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

import numpy as np

from sklrank.boosting._document_ranker import SupervisedDocumentRanker
from sklrank.boosting._objectives import PairObjective
from sklrank.metrics import ndcg_score

__all__ = ["RankBoost"]


class RankBoost(SupervisedDocumentRanker):
    r"""RankBoost: document ranking by boosting a classifier for the order of pairs.

    [1]_ minimises the mean exponential loss over the pairs of documents of a query of which i is
    more relevant than j. All pairs of all queries have the same weight,

    .. math:: \frac{1}{|P|} \sum_{(i, j) \in P} \exp(F_j - F_i).

    The negative gradient at a document is the loss of the pairs in which it is the more relevant
    one less the loss of those in which it is the less relevant one. Its sign is the label of the
    document, 1 if its score should rise, and its absolute value the weight. The step is
    :math:`\alpha = \frac{1}{2} \ln(W_+ / W_-)`, with the loss of the pairs that the weak learner
    ranks correctly and incorrectly; it lowers the objective by
    :math:`(\sqrt{W_+} - \sqrt{W_-})^2`. The sums over pairs are computed from cumulative sums over
    the grades, in a few operations for each document.

    Parameters
    ----------
    estimator : classifier, default=None
        The weak learner, cloned for each round. None: a compiled
        :class:`~sklrank.tree.StumpClassifier`; with ``criterion="gain"`` it maximises the criterion
        of [1]_.
    n_estimators : int, default=100
        Maximal number of rounds.
    learning_rate : float, default=1.0
        Factor of each step. Up to 2 the objective never rises; 1 minimises its bound.
    weighting : {"auto", "sample_weight", "resampling"}, default="auto"
        Whether the weak learner is given the weights ("sample_weight"), or documents drawn in
        proportion to them ("resampling"). "auto": weights where its `fit` takes them.
    max_samples : int, float or None, default=None
        How many documents are drawn for a round, a number or a share of all; None: a fifth, at
        least 20. They are drawn up to ten times a round, until the weak learner is better than
        chance.
    n_iter_no_change : int or None, default=None
        Stop when the NDCG of held-out queries has not risen by more than `tol` for this number of
        rounds. As only the order of relevance counts, the gain of a document is the number of
        distinct lower values of `y` in the held-out queries. None: no queries are held out.
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
        The loss before the first round and after each.
    stop_reason_ : str
        The reason why the rounds ended.
    validation_scores_ : ndarray of shape (n_rounds,)
        NDCG of the held-out queries after each round; empty without early stopping.
    feature_importances_ : ndarray of shape (n_features,)
        Importances of the weak learners, weighted by the steps, if they have any.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if `X` had names that are strings.

    See Also
    --------
    NDCGBoost : Considers the ranks of the documents as well.
    RankingRefiner : With ``combination="sum"`` adds the order of a base ranker to the loss.
    sklrank.model_selection.QueryKFold : Folds of whole queries, and how searches pass `qid` on.

    References
    ----------
    .. [1] Y. Freund, R. Iyer, R. E. Schapire and Y. Singer, "An efficient boosting algorithm for
       combining preferences", Journal of Machine Learning Research 4, 2003.

    Examples
    --------
    Two queries of four documents, whose relevance depends on the second feature.

    >>> from sklrank.boosting import RankBoost
    >>> X = [[1, 9], [2, 3], [3, 5], [4, 1], [1, 2], [2, 6], [3, 8], [4, 4]]
    >>> y = [2, 0, 1, 0, 0, 1, 2, 0]
    >>> qid = [7, 7, 7, 7, 8, 8, 8, 8]
    >>> RankBoost(n_estimators=10).fit(X, y, qid=qid).score(X, y, qid=qid)
    1.0
    """

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 100,
        *,
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
        return PairObjective(y, queries)

    def _validation_metric(self, y, qid):
        grades = np.unique(y, return_inverse=True)[1]
        return partial(ndcg_score, grades, qid=qid, gain="linear")
