"""SemiBanditRanker."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from numbers import Integral
from typing import Literal

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from sklrank._compiled import ExclusiveCalls
from sklrank._estimators import Interval, draw_seed, set_random_states
from sklrank._online import (
    ExploringMixin,
    LabelSetRanker,
    LabelSets,
    ShownLabels,
    SimulatedLabels,
    VotingLearner,
    WorkingMemory,
    in_order,
    lists_of_rows,
    mask_rows,
    of_exploring,
    of_label_sets,
    of_online,
    timed_slices,
)
from sklrank._typing import Threshold
from sklrank.linear_model._bandit._shown_labels import learn_rounds
from sklrank.linear_model._regression._estimators import (
    OnlineLogisticRegression,
    OnlineRidgeClassifier,
)


@of_online
@of_exploring
@of_label_sets
class SemiBanditRanker(ExploringMixin, LabelSetRanker):
    """Multilabel ranker that shows k labels and learns the relevance of each of them.

    In each round, the ranker shows `k` labels of a sample and observes which of them are relevant,
    a semi-bandit feedback [1]_. It learns the relevance of each label shown by itself, which is
    unbiased, since the choice depends only on the sample and on previous rounds. It needs no
    importance weights, whose variance is high if labels are shown rarely. In contrast,
    :class:`~sklrank.online_boosting.TopKBBM` and :class:`~sklrank.online_boosting.TopKAdaptive`
    estimate the costs of pairs of labels, divided by the propensities of the pairs. This ranker
    usually collects more rewards than both, and is recommended for feedback on the labels shown.

    The model is a vote of three online learners,

    - a logistic regression for each label, of standardized samples,
    - the same of raw samples with a small `intercept_scaling`, which is better for sparse samples,
      each with the learning rates 0.3, 1 and 3,
    - a ridge regression on the relevance of the labels shown, of standardized samples, with the
      penalties 1 and 10, times `max_iter`. More than 256 features are reduced to a sketch of 256.

    The weight of learner i is proportional to ``exp(-2 * L_i)``, where ``L_i`` is the sum of its
    rank losses on the labels shown, each before the labels were learned (Hedge [2]_).

    {protocol}

    Parameters
    ----------
    k : int, default=3
        Number of labels to show: for an indicator matrix at most as many as it has; all of fewer
        than `k` classes. With ``k=1`` there is no rank loss, and all learners have the same weight.
    {exploration}
    randomization : str or callable, default="uniform"
        Scheme of :func:`sklrank.feedback.explore` that draws several labels.
    max_iter : int, default=1
        Number of passes over the samples in `fit`.
    {shuffle}
    {threshold}
    random_state : int, RandomState instance or None, default=None
        Controls the order of the samples in `fit`, the labels shown and the seeds of the learners.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        Class labels, or the names of the columns if the target is an indicator matrix.
    estimators_ : list of estimators
        Learners of the vote. Their classes are 0, ..., n_labels - 1, the indices into `classes_`.
    estimator_weights_ : ndarray of shape (n_estimators,)
        Weights of the learners in the vote, which sum to one.
    {rounds_of_fit}

    See Also
    --------
    sklrank.online_boosting.TopKBBM : Boosts learners of estimated costs of pairs of labels.
    sklrank.online_boosting.AdaOLMR : Learns from the relevance of all labels.
    LinUCBClassifier : Shows a single class of each sample.

    Notes
    -----
    {reading}

    The propensities of the labels shown affect only the rules for label sets. A label that is added
    later starts with the matrix of the ridge regression that all labels share, and without weights.

    {label_sets}

    References
    ----------
    .. [1] N. Cesa-Bianchi and G. Lugosi, "Combinatorial bandits", Journal of Computer and System
       Sciences 78, 2012.
    .. [2] Y. Freund and R. E. Schapire, "A decision-theoretic generalization of on-line learning
       and an application to boosting", Journal of Computer and System Sciences 55, 1997.

    Examples
    --------
    Show three of eight labels to a user, and learn which of them are relevant:

    >>> import numpy as np
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklrank.linear_model import SemiBanditRanker
    >>> from sklrank.metrics import rank_loss
    >>> X, Y = make_multilabel_classification(1000, n_classes=8, random_state=0)
    >>> model = SemiBanditRanker(k=3, exploration=0.2, random_state=0)
    >>> for batch in np.array_split(np.arange(800), 80):
    ...     shown = model.explore(X[batch], classes=range(8))
    ...     rewards = np.take_along_axis(Y[batch], shown.actions, axis=1)
    ...     model = model.partial_fit_feedback(X[batch], shown, rewards)
    >>> bool(rank_loss(Y[800:], model.decision_function(X[800:])) < 0.15)
    True
    """

    _parameter_constraints: dict = {
        **LabelSetRanker._parameter_constraints,
        **ExploringMixin._parameter_constraints,
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        *,
        k: int = 3,
        exploration: float | Literal["decay", "ag0"] | Callable[[int], float] = 0.05,
        randomization: str | Callable[..., np.ndarray] = "uniform",
        max_iter: int = 1,
        shuffle: bool = True,
        threshold: Threshold = "auto",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.k = k
        self.exploration = exploration
        self.randomization = randomization
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.threshold = threshold
        self.random_state = random_state

    def _draw(self, rows, sampler, available, random_state):
        votes = self._learner.predict_rows(rows)
        uniforms = random_state.random_sample((len(votes), sampler.n_uniforms))
        return sampler.draw_rows(votes, uniforms, available)

    def _learn_shown(self, X, actions, propensities, rewards, weights, available):
        def show(batch, chosen):
            record = actions[batch], propensities[batch], rewards[batch]
            return ShownLabels(*record, len(self.classes_))

        self._play_rounds(X, weights, show)

    def _learn_rounds(
        self, X, indptr, labels, weights, *, order=None, scores=None, outputs=None, available=None
    ):
        # Functions of the user may fail, so they are called before the first round.
        rates = self._exploration_rates(weights if order is None else weights[order])

        def show(batch, chosen):
            size = batch.stop - batch.start, sampler.n_uniforms
            drawn = sampler, self._random_state.random_sample(size), rates[batch]
            lists = lists_of_rows(indptr, labels, chosen)
            return SimulatedLabels(*drawn, *lists, mask_rows(available, batch))

        sampler = self._memory.take("sampler", self._make_sampler)
        self._play_rounds(X, weights, show, order, scores, outputs)
        self._return_sampler(sampler)

    def _play_rounds(self, X, weights, show, order=None, scores=None, outputs=None):
        """Learn each batch from the labels that `show(batch, chosen)` shows for its samples."""
        batches = self._track(self._blocks(X), "batch", may_stop=scores is None)
        with ExclusiveCalls([self._learner, self._label_sets]):
            for batch in timed_slices(batches):
                chosen = in_order(batch, order)
                of_rows, shown = weights[chosen], show(batch, chosen)
                before = np.empty((len(of_rows), len(self.classes_)))
                before = before if scores is None else scores[batch]
                of_sets = {name: array[batch] for name, array in (outputs or {}).items()}
                of_sets |= {"threshold": self._threshold, "shown": shown.record}
                learn_sets = partial(self._label_sets.play, before, of_rows, **of_sets)
                learn_rounds(self._learner, X[chosen], shown, of_rows, before, learn_sets)

    @property
    def n_rounds_(self) -> int:
        """Number of samples learned, without those of weight zero."""
        return self._fitted("_label_sets").n_learned

    @property
    def estimator_weights_(self) -> np.ndarray:
        """Weights of the learners in the vote."""
        return self._fitted("_learner").copy_weights()

    def _label_scores(self, X):
        return self._fitted("_learner").predict_rows(self._check_rows(X, reset=False))

    def _start_model(self, classes):
        self.classes_ = classes
        self._start_exploring()
        self._threshold, self._memory = self.threshold, WorkingMemory()
        self._label_sets = LabelSets(len(classes), self._has_label_columns)
        self._random_state = check_random_state(self.random_state)
        seeds, self.estimators_ = np.random.RandomState(draw_seed(self._random_state)), []
        for template in self._templates():
            estimator = clone(template)
            if template._learner_draws:
                set_random_states(estimator, seeds)
            estimator._learns_relevance = True
            estimator._init_model(self.n_features_in_, np.arange(len(classes)))
            self.estimators_.append(estimator)
        # The rates 0.5 and 8 are as good within the error, on five sets of labels.
        self._learner = VotingLearner([estimator._learner for estimator in self.estimators_], 2.0)

    def _templates(self):
        logistic = OnlineLogisticRegression(learning_rate=(0.3, 1, 3), normalize="l2")
        raw = clone(logistic).set_params(standardize=False, intercept_scaling=0.3)
        # In later passes, a smaller penalty would seem to be the best one, since its losses are the
        # smallest ones on samples that were already learned.
        alpha = self.max_iter, 10 * self.max_iter
        return [logistic, raw, OnlineRidgeClassifier(alpha=alpha, normalize="l2", sketch_size=256)]

    def _check_weights(self, weights):
        for estimator in self.estimators_:
            estimator._check_weights(weights)
