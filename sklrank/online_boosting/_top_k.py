"""Top-k BBM and Top-k Adaptive, which learn from the relevance of the labels shown."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, Literal

import numpy as np

from sklrank._estimators import Interval, StrOptions
from sklrank._online import (
    ExploringMixin,
    ShownLabels,
    SimulatedLabels,
    lists_of_rows,
    mask_rows,
    of_exploring,
    of_label_sets,
    of_online,
)
from sklrank._typing import MaxFeatures, Threshold
from sklrank.feedback._protocol import exploration_rates
from sklrank.linear_model import OnlineLogisticRegression
from sklrank.online_boosting._costs import gradient_costs, potential_costs
from sklrank.online_boosting._losses import LOSSES, SLOPED_LOSSES
from sklrank.online_boosting._online_booster import OnlineBooster, of_boosters
from sklrank.online_boosting._pair_feedback import ESTIMATES, TopKFeedback


class TopKBooster(ExploringMixin, OnlineBooster):
    """Online boosting from top-k feedback (Algorithm 1 of Raman et al. 2020)."""

    _feedback = "top-k"

    _parameter_constraints: dict = {
        **OnlineBooster._parameter_constraints,
        **ExploringMixin._parameter_constraints,
        "cost_estimate": [StrOptions(set(ESTIMATES))],
        "propensity_clip": [Interval(Real, 0, 0.5, closed="both")],
    }

    @property
    def _accepts_nan(self):
        # The direct model is linear.
        return super()._accepts_nan and self.cost_estimate != "doubly-robust"

    _refused_numbers = (
        "the boosters learn from pairs of a relevant and an irrelevant label: use SemiBanditRanker "
        "for rewards that are numbers"
    )

    def _draw(self, rows, sampler, available, random_state):
        draws, uniforms = self._draw_numbers(sampler, rows.shape[0], random_state)
        return sampler.draw_rows(
            self._scores_of(rows, len(self._learners), draws), uniforms, available
        )

    def _propensities(self, X, available):
        if self._hedge and len(self.expert_weights_) > 1:
            raise ValueError(
                f"{type(self).__name__} draws one of {len(self.expert_weights_)} experts for each "
                "sample, so that its propensities have no formula: use those that `explore` records"
            )
        return super()._propensities(X, available)

    def _learn_shown(self, X, actions, propensities, rewards, weights, available):
        def reveal(rows, chosen, batch):
            record = actions[batch], propensities[batch], rewards[batch]
            shown = ShownLabels(*record, len(self.classes_), mask_rows(available, batch))
            feedback = TopKFeedback(shown, *self._estimate(rows))
            return feedback, None, feedback.known

        self._play_rounds(X, weights, reveal)

    def _learn_rounds(
        self, X, indptr, labels, weights, *, order=None, scores=None, outputs=None, available=None
    ):
        # Functions of the user may fail, so they are called before the first round.
        rates = self._exploration_rates(weights if order is None else weights[order])

        def reveal(rows, chosen, batch):
            lists = lists_of_rows(indptr, labels, chosen)
            draws, uniforms = self._draw_numbers(sampler, rows.shape[0], self._random_state)
            masks = mask_rows(available, chosen)
            shown = SimulatedLabels(sampler, uniforms, rates[batch], *lists, masks)
            feedback = TopKFeedback(shown, *self._estimate(rows))
            return feedback, draws, dict(zip(("indptr", "labels"), lists))

        sampler = self._memory.take("sampler", self._make_sampler)
        self._play_rounds(X, weights, reveal, order, scores, outputs)
        self._return_sampler(sampler)

    def _start_model(self, classes):
        if self.k == 1 and self.cost_estimate != "labels":
            raise ValueError(
                "k=1 label forms no pair: increase 'k', or set cost_estimate=\"labels\""
            )
        # Before the creation of the model, which draws random numbers.
        self.classes_ = classes
        self._start_exploring()
        super()._start_model(classes)
        self._direct_model = None
        self._propensity_clip, self._cost_estimate = self.propensity_clip, self.cost_estimate
        if self.cost_estimate == "doubly-robust":
            model = OnlineLogisticRegression(multi_class="ovr", normalize="l2")
            model._init_model(self.n_features_in_, np.arange(len(classes)))
            self._direct_model = model._learner

    def _estimate(self, rows):
        """Return the bounds of propensities, the estimate of the costs, and its direct model."""
        clip = self._propensity_clip
        direct = () if self._direct_model is None else (self._direct_model, rows)
        return clip, 1.0 - clip, self._cost_estimate, *direct

    def _draw_numbers(self, sampler, n_samples, random_state):
        """Return two arrays of random numbers, for the draws of experts and for the sampler.

        The first is None if the last expert is used.
        """
        n_hedge = int(self._hedge)
        draws = random_state.random_sample((n_samples, n_hedge + sampler.n_uniforms))
        expert_draws = np.ascontiguousarray(draws[:, 0]) if self._hedge else None
        return expert_draws, np.ascontiguousarray(draws[:, n_hedge:])


@of_online
@of_label_sets
@of_exploring
@of_boosters
class TopKBBM(TopKBooster):
    """Boost-by-majority for multilabel ranking from top-k feedback (Top-k BBM).

    The ranker shows `k` labels of each sample and learns only from their relevance. The costs are
    unbiased estimates of those of :class:`OnlineBMR`: each pair of a relevant and an irrelevant
    label that are both shown has the weight ``1 / Pr[both shown]`` ([1]_, Eqs. 1 and 3, Algorithm
    2). As the number of relevant labels is unknown, losses are not normalized, and the potential of
    a pair assumes that learners have an edge only towards its relevant label.

    {protocol}

    {weak_learners_and_edge}
    {potential_loss}
    {shown}
    {estimates}
    {training_with_equal_weights}

    See Also
    --------
    TopKAdaptive : Adapts to weak learners whose edges are unknown and differ.
    OnlineBMR : Learns from the relevance of all labels.

    Notes
    -----
    The experiments of [1]_ correspond to ``estimator="trees"``, ``cost_estimate="pairs"`` and
    ``propensity_clip=0.005``, with the values of `n_estimators` (20 to 50), `exploration` (0.02 to
    0.04) and `max_iter` (10 or 20) in its Table 5, and with the best of four edges.

    {notes_and_raman}

    Examples
    --------
    Show three of eight labels to a user, and learn which of them are relevant:

    >>> import numpy as np
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklrank.metrics import rank_loss
    >>> from sklrank.online_boosting import TopKBBM
    >>> X, Y = make_multilabel_classification(1000, n_classes=8, random_state=0)
    >>> model = TopKBBM(k=3, exploration=0.2, random_state=0)
    >>> for batch in np.array_split(np.arange(800), 80):
    ...     shown = model.explore(X[batch], classes=range(8))
    ...     rewards = np.take_along_axis(Y[batch], shown.actions, axis=1)
    ...     model = model.partial_fit_feedback(X[batch], shown, rewards)
    >>> bool(rank_loss(Y[800:], model.decision_function(X[800:])) < 0.15)
    True
    """

    _parameter_constraints: dict = {
        **TopKBooster._parameter_constraints,
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
        k: int = 3,
        exploration: float | Literal["decay", "ag0"] | Callable[[int], float] = 0.05,
        randomization: str | Callable[..., np.ndarray] = "uniform",
        cost_estimate: Literal["pairs", "labels", "doubly-robust"] = "doubly-robust",
        propensity_clip: float = 0.2,
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
        self.k = k
        self.exploration = exploration
        self.randomization = randomization
        self.cost_estimate = cost_estimate
        self.propensity_clip = propensity_clip
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
@of_exploring
@of_boosters
class TopKAdaptive(TopKBooster):
    """Adaptive online boosting from top-k feedback (Top-k Adaptive).

    The ranker shows `k` labels of each sample and learns only from their relevance. The costs,
    gradients and losses are unbiased estimates of those of :class:`AdaOLMR`: each pair of a
    relevant and an irrelevant label that are both shown has the weight ``1 / Pr[both shown]``
    ([1]_, Eqs. 1 and 4, Algorithm 3). They are not normalized by the number of pairs, which is
    unknown.

    {protocol}

    {weak_learners}
    {shown}
    {sloped_loss}
    learning_rate : float or "theory", default=1.0
        Learning rate of the weights of the learners; in round t, the step size is divided by the
        square root of t. "theory" is ``8 sqrt(2) rho / n_labels**2``, where rho is `exploration`,
        that of the first round if it changes (line 13 of Algorithm 3). The bound on the loss in
        [1]_ is proved for this value and a constant rho. With it, the weights hardly change in
        streams of a few thousand samples; since they start at 0, their signs are then those of the
        first steps.
    gradient_clip : float or None, default=1.0
        Bound of the absolute values of the gradients in the steps of the weights of the learners,
        as in the experiments of [1]_. If None, the gradients are not clipped.
    {estimates}
    {training_with_learned_weights}

    See Also
    --------
    TopKBBM : Assumes weak learners of a known edge, which all have the same weight.
    AdaOLMR : Learns from the relevance of all labels.

    Notes
    -----
    The experiments of [1]_ correspond to ``estimator="trees"``, ``cost_estimate="pairs"`` and
    ``propensity_clip=0.005``, with the values of `n_estimators` (50 or 60), `exploration` (0.02 to
    0.06) and `max_iter` (10 or 20) in its Table 5. The bounds of [1]_ hold for the logistic loss.

    {notes_and_raman}

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklrank.metrics import rank_loss
    >>> from sklrank.online_boosting import TopKAdaptive
    >>> X, Y = make_multilabel_classification(1000, n_classes=8, random_state=0)
    >>> model = TopKAdaptive(k=3, exploration=0.2, random_state=0)
    >>> scores = model.progressive_fit(X, Y)
    >>> bool(rank_loss(Y[500:], scores[500:]) < 0.15)
    True
    """

    _hedge = True
    _parameter_constraints: dict = {
        **TopKBooster._parameter_constraints,
        "learning_rate": [Interval(Real, 0, None, closed="neither"), StrOptions({"theory"})],
        "loss": [StrOptions(SLOPED_LOSSES), callable],
        "gradient_clip": [Interval(Real, 0, None, closed="neither"), None],
    }

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int | Literal["auto"] = "auto",
        *,
        k: int = 3,
        exploration: float | Literal["decay", "ag0"] | Callable[[int], float] = 0.05,
        randomization: str | Callable[..., np.ndarray] = "uniform",
        loss: str | Callable[[np.ndarray], np.ndarray] = "logistic",
        learning_rate: float | Literal["theory"] = 1.0,
        gradient_clip: float | None = 1.0,
        cost_estimate: Literal["pairs", "labels", "doubly-robust"] = "doubly-robust",
        propensity_clip: float = 0.2,
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
        self.k = k
        self.exploration = exploration
        self.randomization = randomization
        self.loss = loss
        self.learning_rate = learning_rate
        self.gradient_clip = gradient_clip
        self.cost_estimate = cost_estimate
        self.propensity_clip = propensity_clip
        self.max_features = max_features
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.threshold = threshold
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _make_cost_rule(self, n_labels, n_learners):
        rate = self.learning_rate
        if rate == "theory":
            # Raman et al. 2020, Algorithm 3, line 13: eta_t without its factor 1 / sqrt(t).
            rate = 8 * 2**0.5 * exploration_rates(self.exploration, [1])[0] / n_labels**2
        clip = float("inf") if self.gradient_clip is None else self.gradient_clip
        return gradient_costs(n_labels, n_learners, self.loss, rate, clip, 1.0)
