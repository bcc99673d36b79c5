"""Ada.OLMR: boosting by gradients of the logistic rank loss, with learned weights and Hedge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from sklrank._sklearn import StrOptions
from sklrank.online_boosting._gradients import GRADIENTS
from sklrank.online_boosting._online_booster import OnlineBooster

if TYPE_CHECKING:
    import numpy as np

    from sklrank._typing import MaxFeatures

__all__ = ["AdaOLMR"]


class AdaOLMR(OnlineBooster):
    """Adaptive online boosting for multilabel ranking (Ada.OLMR).

    Labels are ranked by the weighted votes of weak learners, where a vote is a distribution over
    the labels. In each round, learner i learns from the gradient c of the logistic rank loss at the
    scores given by the learners before it ([1]_, Eq. 8): each relevant label l has the importance
    weight ``max(c) - c[l]``. The weight alpha_i of learner i is in [-2, 2]. In round t it is
    updated by a gradient step of size ``1 / sqrt(t)`` on the same loss. Expert i is the weighted
    sum of the votes of the first i learners. Hedge weights the experts by their rank losses
    (Algorithm 3). `predict` and `decision_function` use the expert with the largest weight;
    `progressive_fit` draws an expert in each round, as in the paper.

    The algorithm adapts to weak learners of unknown edge. The default learners need no tuning.

    Parameters
    ----------
    estimator : estimator, list of estimators, "trees" or None, default=None
        Weak learners.

        - If None, the learners of :func:`recommended_learners` are used.
        - If "trees", Hoeffding trees are used. Their parameters are drawn at random so that they
          split early. Each tree has at most 256 leaves.
        - If a classifier with ``partial_fit(X, y, classes, sample_weight)``, clones of it are used.
        - If a list of such classifiers, learner i is a clone of entry i modulo the length of the
          list.

        A classifier without ``predict_proba`` votes for the label that it predicts. If its
        ``predict`` returns rows of an indicator matrix, each represents a set of labels, among
        which the vote is divided equally; if the set is empty, among all labels. Other weak
        learners are possible too, such as classifiers of two classes, classifiers of indicator
        matrices, rankers, and learners of costs: see :mod:`sklrank.online_boosting`.

        :class:`~sklrank.linear_model.OnlineLogisticRegression`,
        :class:`~sklrank.linear_model.OnlineRidgeClassifier` and
        :class:`~sklrank.tree.HoeffdingTreeClassifier` run in compiled code. Missing values (NaN)
        are accepted if all weak learners accept them, as trees do.
    n_estimators : int or "auto", default="auto"
        Number of weak learners. If "auto", the number is 12 if `estimator` is None, 100 for trees
        or clones of one classifier, and the length of the list if `estimator` is a list.
    loss : {"logistic", "exponential"}, default="logistic"
        Loss of a pair of labels, whose gradient gives the costs: ``log(1 + exp(z))`` or ``exp(z)``,
        where z is the score of the irrelevant label minus the score of the relevant label. The
        bounds of [1]_ hold for "logistic". The gradients of "exponential" are not bounded, so they
        are clipped to [-1, 1] in the steps of the weights, and a difference z above 30 counts as
        30.
    pair_weights : {"uniform", "dcg"}, default="uniform"
        Weights of the pairs of a relevant and an irrelevant label. If "uniform", all pairs of a
        sample have the same weight, as in [1]_. If "dcg", the weight is proportional to the DCG
        discount ``1 / log2(1 + position)`` of the label that the current scores rank first among
        the two. Thus the first positions of the ranking count most. The sum of the weights of a
        sample is the same in both cases.
    max_features : int, float, {"auto", "sqrt", "log2"} or None, default="auto"
        Number of features that each weak learner uses: an int, a fraction of the features, "sqrt",
        "log2", or None for all features. An int larger than the number of features selects all of
        them. If "auto", trees use 20 features and other weak learners use all features. The
        features of a learner are drawn at random once.
    max_iter : int, default=1
        Number of passes over the samples in `fit`.
    shuffle : bool, default=False
        If True, `fit` shuffles the samples before each pass.
    random_state : int, RandomState instance or None, default=None
        Controls the random choice of the features, the parameters of trees, the seeds of the weak
        learners, the experts and the order of the samples. Pass an int for reproducible results.
    verbose : int, default=0
        If positive, `fit` and the other methods that learn print the mean rank loss so far, of
        samples before they are learned, and the number of rounds, after each batch of up to 1000
        samples.
    n_jobs : int or None, default=None
        Number of threads; -1 means all processors. They work on the weak learners in parallel
        during training, and on the samples during prediction. Training becomes faster only if a
        round takes at least some hundred microseconds, that is, with many learners or labels. The
        model does not depend on `n_jobs`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        Class labels, or the names of the columns if the target is an indicator matrix.
    n_estimators_ : int
        Number of weak learners, where "auto" is replaced by its value.
    max_features_ : int, float, {"sqrt", "log2"} or None
        Parameter `max_features`, where "auto" is replaced by its value.
    estimators_ : list of estimators
        Weak learners. Their classes are 0, ..., n_labels - 1, the indices into `classes_`.
    estimators_features_ : list of ndarray of shape (n_features_i,)
        Indices of the features used by each weak learner.
    estimator_weights_ : ndarray of shape (n_estimators,)
        Weights alpha of the weak learners, in [-2, 2].
    expert_weights_ : ndarray of shape (n_estimators,)
        Weights that Hedge gives to the experts, which sum to one.
    empirical_edges_ : ndarray of shape (n_estimators,)
        Empirical edge of each weak learner, with the costs c and the votes h of all rounds:
        ``sum(mean(c) - c @ h)`` divided by the sum of ``mean(c) - c[l]`` over the relevant labels l
        that are known. Random votes with an edge gamma towards these labels have the empirical edge
        gamma. Since the costs sum to zero, this is Eq. 10 of [1]_.
    n_rounds_ : int
        Number of rounds. Each sample of positive weight is one round in each pass.
    n_iter_ : int
        Number of passes over the samples in the last call of `fit`.
    n_features_in_ : int
        Number of features seen during training.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features. Defined only if `X` has feature names that are all strings.

    See Also
    --------
    OnlineBMR : Requires an optimal number of weak learners if their edge is known.
    TopKAdaptive : Learns only from the relevance of the labels shown.

    Notes
    -----
    The experiments of [1]_ correspond to ``estimator="trees"``, that is, 100 trees with random
    parameters and 20 random features each. The default learners usually rank better and are faster.

    Most parameters are read in `fit` and, if the model is not fitted, in the first call of
    `partial_fit` or `progressive_fit`. Later changes do not affect the model until `fit` is called.
    `pair_weights`, `n_jobs` and `verbose` are read in each call.

    References
    ----------
    .. [1] Y. H. Jung and A. Tewari, "Online boosting algorithms for multi-label ranking",
       AISTATS 2018.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklrank.metrics import rank_loss
    >>> from sklrank.online_boosting import AdaOLMR
    >>> X, Y = make_multilabel_classification(1000, n_classes=6, random_state=0)
    >>> model = AdaOLMR(random_state=0)
    >>> scores = model.progressive_fit(X, Y)
    >>> bool(rank_loss(Y[500:], scores[500:]) < 0.12)
    True
    >>> model.predict_topk(X[:2], k=2).shape
    (2, 2)
    """

    _hedge = True
    _parameter_constraints: dict = {
        **OnlineBooster._parameter_constraints,
        "loss": [StrOptions(set(GRADIENTS))],
    }

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int | Literal["auto"] = "auto",
        *,
        loss: Literal["logistic", "exponential"] = "logistic",
        pair_weights: Literal["uniform", "dcg"] = "uniform",
        max_features: MaxFeatures | Literal["auto"] = "auto",
        max_iter: int = 1,
        shuffle: bool = False,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.loss = loss
        self.pair_weights = pair_weights
        self.max_features = max_features
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _make_cost_rule(self, n_labels, n_learners):
        clip = float("inf") if self.loss == "logistic" else 1.0
        return GRADIENTS[self.loss](n_labels, n_learners, gradient_clip=clip)
