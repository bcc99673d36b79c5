"""OnlineBMR and Ada.OLMR, which learn from the relevance of all labels."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, Literal

import numpy as np

from sklrank._estimators import Interval, StrOptions
from sklrank._online import of_label_sets, of_online
from sklrank._typing import MaxFeatures, Threshold
from sklrank.online_boosting._costs import gradient_costs, potential_costs
from sklrank.online_boosting._losses import LOSSES, SLOPED_LOSSES
from sklrank.online_boosting._online_booster import OnlineBooster, of_boosters


@of_online
@of_label_sets
@of_boosters
class OnlineBMR(OnlineBooster):
    """Online boost-by-majority for multilabel ranking (OnlineBMR).

    Labels are ranked by the sum of the votes of weak learners, where a vote is a distribution over
    the labels. In each round, the costs of learner i are potentials ([1]_, Eqs. 1 and 2), the
    expected loss if the learners after learner i vote at random with the given edge. Thus learner i
    learns most from samples whose loss depends on its vote. If the weak learners have this edge,
    the number of learners that a given loss requires is optimal (Theorem 4). The potentials are
    exact: they are computed from tables of a random walk, one for each number of relevant labels.

    {weak_learners_and_edge}
        For a sample with more than ``1 / edge`` relevant labels, it is the inverse of their number.
    {potential_loss}
    {training_with_equal_weights}

    See Also
    --------
    AdaOLMR : Adapts to weak learners whose edges are unknown and differ, and has no edge to tune.

    Notes
    -----
    The experiments of [1]_ correspond to ``estimator="trees"``, 100 trees with random parameters
    and 20 random features each, and the best of four edges. The default learners usually rank
    better and are faster.

    {notes_and_jung}

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklrank.online_boosting import OnlineBMR
    >>> X, Y = make_multilabel_classification(1000, n_classes=6, random_state=0)
    >>> model = OnlineBMR(random_state=0).fit(X[:700], Y[:700])
    >>> bool(model.score(X[700:], Y[700:]) > 0.8)
    True
    """

    _parameter_constraints: dict = {
        **OnlineBooster._parameter_constraints,
        "edge": [Interval(Real, 0, 1, closed="neither")],
        "loss": [StrOptions(set(LOSSES)), callable],
    }

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int | Literal["auto"] = "auto",
        *,
        edge: float = 0.1,
        loss: str | Callable[[np.ndarray], np.ndarray] = "hinge",
        max_features: MaxFeatures | Literal["auto"] = "auto",
        max_iter: int = 1,
        shuffle: bool = True,
        threshold: Threshold = "auto",
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.edge = edge
        self.loss = loss
        self.max_features = max_features
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.threshold = threshold
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _make_cost_rule(self, n_labels, n_learners):
        return potential_costs(n_labels, n_learners, self.loss, self.edge)


@of_online
@of_label_sets
@of_boosters
class AdaOLMR(OnlineBooster):
    """Adaptive online boosting for multilabel ranking (Ada.OLMR).

    Labels are ranked by the weighted votes of weak learners, where a vote is a distribution over
    the labels. In each round, learner i learns from the gradient c of the logistic rank loss at the
    scores given by the learners before it ([1]_, Eq. 8): each relevant label l has the importance
    weight ``max(c) - c[l]``. The weight alpha_i of learner i is in [-2, 2]. In round t, it takes a
    gradient step of size ``1 / sqrt(t)`` on the same loss. Expert i is the weighted sum of the
    votes of the first i learners. Hedge weights the experts by their rank losses (Algorithm 3).
    `predict` and `decision_function` use the expert with the largest weight; `progressive_fit`
    draws an expert in each round, as in the paper.

    The algorithm adapts to weak learners of unknown edge. The default learners need no tuning.

    {weak_learners}
    {sloped_loss}
    expert_loss : {"rank", "loss"}, default="rank"
        Loss by which Hedge weights the experts: the rank loss, as in [1]_, or `loss`, divided by
        its double value at z = 0, so that a pair of equal scores has the loss 0.5 in both cases.
    {training_with_learned_weights}

    See Also
    --------
    OnlineBMR : Requires an optimal number of weak learners if their edge is known.
    TopKAdaptive : Learns only from the relevance of the labels shown.

    Notes
    -----
    The experiments of [1]_ correspond to ``estimator="trees"``, that is, 100 trees with random
    parameters and 20 random features each. The default learners usually rank better and are faster.

    Unless the loss is "logistic", the gradients are clipped to [-1, 1] in the steps of the weights.
    The bound on the rank loss (Theorem 5 of [1]_) holds for the logistic loss. Of another loss f of
    the difference z, its proof needs that f is convex, with a slope that is bounded (so that the
    regret of the weights is of order sqrt(T)) and, for z >= 0, has a positive lower bound (so that
    each pair in the wrong order has a weight), and that ``f(z + a) - f(z) <= f'(z) (exp(a) - 1)``
    (so that a learner with an edge decreases the loss in proportion to it). The exponential loss
    has equality there, and its slope is bounded because the weights are; the hinge loss does not
    satisfy it. If Hedge uses `loss`, whose largest value for a sample is B after the division, the
    losses of the experts drawn have an expected sum of at most
    ``B / (1 - exp(-B)) * (L + log(n_estimators))``, where L is that of the best expert, for any
    loss that is not negative.

    {notes_and_jung}

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

    @property
    def _feedback(self):
        return "full" if self._has_label_columns else "class"

    _parameter_constraints: dict = {
        **OnlineBooster._parameter_constraints,
        "loss": [StrOptions(SLOPED_LOSSES), callable],
        "expert_loss": [StrOptions({"rank", "loss"})],
    }

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int | Literal["auto"] = "auto",
        *,
        loss: str | Callable[[np.ndarray], np.ndarray] = "logistic",
        expert_loss: Literal["rank", "loss"] = "rank",
        max_features: MaxFeatures | Literal["auto"] = "auto",
        max_iter: int = 1,
        shuffle: bool = True,
        threshold: Threshold = "auto",
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.loss = loss
        self.expert_loss = expert_loss
        self.max_features = max_features
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.threshold = threshold
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _make_cost_rule(self, n_labels, n_learners):
        clip = float("inf") if self.loss == "logistic" else 1.0
        options = {"hedges_loss": self.expert_loss == "loss"}
        return gradient_costs(n_labels, n_learners, self.loss, 1.0, clip, 0.5, **options)
