"""RankBoost: pairs of documents, weighed by how wrong they are."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

import numpy as np

from sklrank.boosting._pair_objective import PairObjective
from sklrank.boosting._supervised_document_ranker import SupervisedDocumentRanker
from sklrank.metrics import ndcg_score

__all__ = ["RankBoost"]


class RankBoost(SupervisedDocumentRanker):
    r"""RankBoost: document ranking by boosting a classifier for the order of pairs.

    [1]_ minimises the mean exponential loss over the pairs of documents of a query of which i is
    more relevant than j, all pairs of all queries alike,

    .. math:: \frac{1}{|P|} \sum_{(i, j) \in P} \exp(F_j - F_i).

    Each round asks of each document whether it should rise, by the weight of the pairs in which it
    is the more relevant one less that of the others; the step is
    :math:`\alpha = \frac{1}{2} \ln(W_+ / W_-)`, with the weights of the pairs that the weak learner
    sets right and wrong. The objective then falls by :math:`(\sqrt{W_+} - \sqrt{W_-})^2`. The sums
    over pairs come of running sums over the grades, so that a round costs a few operations a
    document.

    Parameters
    ----------
    estimator : classifier, default=None
        The weak learner, cloned for each round. None: a compiled
        :class:`~sklrank.tree.StumpClassifier`; with ``criterion="gain"`` it maximises what
        [1]_ asks for.
    n_estimators : int, default=100
        Number of rounds at most.
    learning_rate : float, default=1.0
        Each step is multiplied by it. Up to 2 the objective never rises; 1 lowers its bound most.
    weighting : {"auto", "sample_weight", "resampling"}, default="auto"
        Whether the weak learner is given weights, or documents drawn in proportion to them.
        "auto": weights where its `fit` takes them.
    max_samples : int, float or None, default=None
        How many documents are drawn, a number or a share of all; None: a fifth, at least 20. They
        are drawn up to ten times a round, until the weak learner is better than chance.
    n_iter_no_change : int or None, default=None
        Stop when the NDCG of queries held out has not risen by more than `tol` for so many rounds;
        as only the order of relevance counts, the gain of a document is the number of the lower
        values that `y` has there. None: no queries are held out.
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
        The loss before the first round and after each.
    stop_reason_ : str
        Why there are no more rounds.
    validation_scores_ : ndarray of shape (n_rounds,)
        NDCG of the queries held out, after each round; empty without.
    feature_importances_ : ndarray of shape (n_features,)
        Importances of the weak learners, weighted by the steps, where they have any.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where `X` had names.

    See Also
    --------
    NDCGBoost : Looks at the places of the documents as well.
    RankingRefiner : With ``combination="sum"`` adds the order of a base ranker to the loss.
    sklrank.model_selection.QueryKFold : Folds of whole queries; `qid` gets there through searches.

    References
    ----------
    .. [1] Y. Freund, R. Iyer, R. E. Schapire and Y. Singer, "An efficient boosting algorithm for
       combining preferences", Journal of Machine Learning Research 4, 2003.

    Examples
    --------
    Two queries of four documents; the second feature tells what is relevant.

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

    def _objective(self, y, queries):
        return PairObjective(y, queries)

    def _quality(self, y, qid):
        order = np.unique(y, return_inverse=True)[1]
        return partial(ndcg_score, order, qid=qid, gain="linear")
