"""Base class of the online boosters, which call the compiled loop over the rounds."""

from __future__ import annotations

from abc import abstractmethod
from copy import deepcopy
from functools import partial
from numbers import Integral
from typing import ClassVar

import numpy as np
from joblib import effective_n_jobs
from scipy.sparse import csr_array
from scipy.special import softmax
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed

from sklrank._compiled import ExclusiveCalls, part_of_call
from sklrank._estimators import (
    MAX_FEATURES_OR_AUTO,
    N_JOBS,
    HasMethods,
    Interval,
    StrOptions,
    print_progress,
    shares_text,
)
from sklrank._online import (
    SMALL_BATCH,
    LabelSetRanker,
    LabelSets,
    WorkingMemory,
    in_order,
    lists_of_rows,
    multiplies_entries,
    slices,
    timed_slices,
)
from sklrank.metrics import rank_loss
from sklrank.online_boosting._losses import LOSSES, SLOPED_LOSSES, describe_losses
from sklrank.online_boosting._pair_feedback import FullInformation
from sklrank.online_boosting._rounds import RoundCounter, Rounds
from sklrank.online_boosting._weak_learners import (
    EarlyTree,
    allow_nan,
    make_weak_learners,
    resolve_parameters,
)

# Texts that the docstrings of the boosters share.
of_boosters = shares_text(
    weak_learners="""
Parameters
----------
estimator : estimator, list of estimators, "trees" or None, default=None
    Weak learners.

    - If None, the models of :func:`recommended_learners` are used: linear and kernel models, in
      :class:`AdaOLMR` with 1-d `y` also trees.
    - If "trees", Hoeffding trees of at most 256 leaves, whose parameters are drawn at random so
      that they split early.
    - If a classifier with ``partial_fit(X, y, classes, sample_weight)``, clones of it are used.
    - If a list of such classifiers, learner i is a clone of entry i modulo the length of the list.

    A classifier without ``predict_proba`` votes for the label that it predicts. If its ``predict``
    returns rows of an indicator matrix, the labels of the set share the vote, or all labels if it
    is empty. Other weak learners are possible too, such as classifiers of two classes, classifiers
    of indicator matrices, rankers, and learners of costs: see :mod:`sklrank.online_boosting`.

    :class:`~sklrank.linear_model.OnlineLogisticRegression`,
    :class:`~sklrank.linear_model.OnlineRidgeClassifier` and
    :class:`~sklrank.tree.HoeffdingTreeClassifier` run in compiled code. Missing values (NaN)
    are accepted if all weak learners accept them, as trees do.
n_estimators : int or "auto", default="auto"
    Number of weak learners. If "auto", 100 trees or clones of one classifier, or the length of the
    list if `estimator` is a list or None.
""",
    training="""
max_features : int, float, {"auto", "sqrt", "log2"} or None, default="auto"
    Number of features that each weak learner uses, drawn at random once: an int, a fraction of the
    features, "sqrt", "log2", or None for all features, as is an int larger than their number. If
    "auto", trees use 20 features and other weak learners all.
max_iter : int, default=1
    Number of passes over the samples in `fit`.
{shuffle}
{threshold}
random_state : int, RandomState instance or None, default=None
    Controls all random choices: the features, the parameters of trees, the seeds of the weak
    learners, the order of the samples and, if drawn, the experts and the labels shown.
verbose : int, default=0
    If positive, `fit` and the other methods that learn print the mean rank loss so far, of samples
    before they are learned, and the number of rounds, after each batch of up to 1000 samples.
n_jobs : int or None, default=None
    Number of threads; -1 means all processors. They work on the weak learners in parallel during
    training, and on the samples during prediction. Training becomes faster only if a round takes
    some hundred microseconds, with many learners or labels. The model does not depend on `n_jobs`.

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
""",
    weak_learners_and_edge="""
{weak_learners}
edge : float, default=0.1
    Assumed edge of the weak learners, in (0, 1). The edge is the expected difference between a
    learner's vote for a relevant label and its vote for an irrelevant label. It should be tuned;
    small values are suitable if there are many labels.
""",
    potential_loss="""
loss : str or callable, default="hinge"
    Loss of a pair of labels, whose expectation is the potential, as a function of the score z of
    the irrelevant label minus the score of the relevant label.

"""
    + describe_losses(LOSSES)
    + """
    The tables of the potentials take about ``16 * n_estimators**2`` bytes for each number of
    relevant labels if the loss is linear between integers, such as "hinge", 200 instead of 16 if it
    is smooth, and up to 16 times as much if it is less smooth than the logistic loss. If it is not
    convex, such as "rank", a learner's whole vote is given to the label with the largest vote
    ([1]_, Theorem 2 for OnlineBMR).
""",
    sloped_loss="""
loss : str or callable, default="logistic"
    Loss of a pair of labels, whose gradient gives the costs, as a function of the score z of the
    irrelevant label minus the score of the relevant label.

"""
    + describe_losses(SLOPED_LOSSES),
    training_with_equal_weights="""
{training}
estimator_weights_ : ndarray of shape (n_estimators,)
    Weights of the weak learners, which are all 1.
expert_weights_ : ndarray of shape (n_estimators,)
    Weights of the experts, where expert i sums the votes of the first i learners. The last one
    always ranks the labels: its weight is 1, and the other weights are 0.
{rounds}
""",
    training_with_learned_weights="""
{training}
estimator_weights_ : ndarray of shape (n_estimators,)
    Weights alpha of the weak learners, in [-2, 2].
expert_weights_ : ndarray of shape (n_estimators,)
    Weights that Hedge gives to the experts, which sum to one. Expert i is the weighted sum of the
    votes of the first i learners.
{rounds}
""",
    notes="""
{reading}

Compiled weak learners learn labels that are added later, and `drop_classes` removes labels. Costs
depend on the number of labels m at the time: uniform votes are 1 / m, and so is, up to the edge,
the probability of the steps in potentials. What was learned with another m remains.

{label_sets}
""",
    notes_and_jung="""
{notes}

References
----------
.. [1] Jung and Tewari, "Online boosting algorithms for multi-label ranking", AISTATS 2018.
""",
    notes_and_raman="""
{notes}

References
----------
.. [1] V. Raman, D. T. Zhang, Y. H. Jung and A. Tewari, "Online boosting for multilabel ranking
   with top-k feedback", 2020.
""",
    shown="""
k : int, default=3
    Number of labels to show, from 2 to the number of labels, or from 1 with
    ``cost_estimate="labels"``; all of fewer than `k` classes. A record of a single label forms no
    pair: with "pairs" its reward does not change the scores, with "doubly-robust" the direct model
    learns it.
{exploration}
randomization : str or callable, default="uniform"
    Scheme of :func:`sklrank.feedback.explore` that draws several labels, such as "uniform" or
    "single-swap".
""",
    estimates="""
cost_estimate : {"pairs", "labels", "doubly-robust"}, default="doubly-robust"
    Estimate of the costs.

    - "pairs" : sum over the pairs of a relevant and an irrelevant label that are both shown,
      each divided by the probability that both are shown ([1]_, Eq. 1).
    - "labels" : sum over the relevant labels shown, each divided by the probability that it is
      shown, and compared with all other labels. This estimates a bound on the positions of the
      relevant labels, on which DCG and precision depend. It allows ``k=1``.
    - "doubly-robust" : sum over all pairs by a direct model of the relevance, an online logistic
      regression for each label that learns from the labels shown, plus "pairs" of its errors. The
      variance is much smaller, and so is the bias due to `propensity_clip`. The time is
      proportional to the square of the number of labels. Missing values are refused, since the
      model is linear.

propensity_clip : float, default=0.2
    Propensities are clipped to the interval from this number, 0 to 0.5, to one minus this number
    before weights are divided by them. A larger value decreases the variance of the estimates and
    increases their bias, that of the direct model if the estimate is doubly robust. With 0, they
    are unbiased.
""",
    rounds="""
empirical_edges_ : ndarray of shape (n_estimators,)
    Empirical edge of each weak learner, with the costs c (or their estimates) and the votes h of
    all rounds: ``sum(mean(c) - c @ h)`` divided by the sum of ``mean(c) - c[l]`` over the relevant
    labels l that are known. Random votes with an edge gamma towards these labels have the empirical
    edge gamma. If the costs sum to zero, this is Eq. 10 of Jung & Tewari (Eq. 5 of Raman et al.).
{rounds_of_fit}
""",
)


class OnlineBooster(LabelSetRanker):
    """Online boosting of label rankers (Algorithm 1 of Jung & Tewari 2018).

    A subclass defines `_make_cost_rule`, which returns the rule for the costs of votes. Expert i
    scores the labels by the weighted votes of the first i learners. A subclass sets `_hedge = True`
    if Hedge chooses the expert that ranks the labels; otherwise the last expert ranks the labels.
    """

    _hedge = False
    # Feedback of the list of recommended learners.
    _feedback = "full"
    # One-versus-rest model of the relevance of labels, for estimates of costs.
    _direct_model = None
    _merge_rules: ClassVar = {
        "_edge_sums": "total",
        "estimator_weights_": "mean",
        "_cost_rule": "first",  # parameters and tables
    }
    _parameter_constraints: dict = {
        **LabelSetRanker._parameter_constraints,
        "estimator": [
            HasMethods(["partial_fit"]),
            HasMethods(["partial_fit_costs"]),
            list,
            tuple,
            StrOptions({"trees"}),
            None,
        ],
        "n_estimators": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "max_features": MAX_FEATURES_OR_AUTO,
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "verbose": ["verbose"],
        "n_jobs": N_JOBS,
    }

    @abstractmethod
    def _make_cost_rule(self, n_labels, n_learners):
        """Return the :class:`~sklrank.online_boosting._costs.CostRule` of this algorithm."""

    def _label_scores(self, X):
        logs = self._fitted("_log_expert_weights")
        X = self._check_rows(X, reset=False)
        n_used = len(self.estimators_) if logs is None else 1 + int(np.argmax(logs))
        blocks = slices(X.shape[0], SMALL_BATCH)

        if len(blocks) == 1:
            return self._scores_of(X, n_used)
        predict = delayed(part_of_call(self._scores_of))
        calls = (predict(X[batch], n_used) for batch in blocks)
        return np.concatenate(Parallel(n_jobs=self.n_jobs, require="sharedmem")(calls))

    def _scores_of(self, rows, n_used, draws=None):
        """Return the scores by the first learners or, if there are draws, by the experts drawn."""
        weights, rounds = self.estimator_weights_, self._take_rounds(1)
        scores = rounds.predict(rows, weights, n_used, self._log_expert_weights, draws)
        self._memory.give(1, rounds)
        return scores

    @property
    def n_rounds_(self) -> int:
        """Number of rounds."""
        return self._fitted("_counter").n_rounds

    @property
    def expert_weights_(self) -> np.ndarray:
        """Weights of the experts, which sum to one."""
        logs = self._fitted("_log_expert_weights")
        if logs is None:
            n_experts = len(self.estimators_)
            return np.eye(1, n_experts, n_experts - 1)[0]
        return softmax(logs)

    @property
    def empirical_edges_(self) -> np.ndarray:
        """Empirical edges of the weak learners, from all rounds."""
        gains, weights = self._fitted("_edge_sums")
        return np.divide(gains, weights, out=np.zeros(len(gains)), where=weights > 0.0)

    def __setstate__(self, state):
        super().__setstate__(state)
        # Copy the arrays, since the rounds write into them, and joblib may have memory-mapped them
        # read-only.
        for name in {"estimator_weights_", "_log_expert_weights", "_edge_sums"} & set(vars(self)):
            if getattr(self, name) is not None:
                setattr(self, name, np.array(getattr(self, name)))

    @property
    def _accepts_nan(self):
        return allow_nan(self.estimator)

    def _multiplies_entries(self):
        return multiplies_entries(self.estimator)

    def _start_model(self, classes):
        n_labels = len(classes)
        self.classes_ = classes
        self._threshold, self._memory = self.threshold, WorkingMemory()
        self._label_sets = LabelSets(n_labels, self._has_label_columns)
        self._random_state = check_random_state(self.random_state)
        templates, self.n_estimators_, self.max_features_ = resolve_parameters(
            self.estimator, self.n_estimators, self.max_features, self._feedback
        )
        self.estimators_, self.estimators_features_, self._learners = make_weak_learners(
            templates,
            self.n_estimators_,
            self.max_features_,
            self.n_features_in_,
            n_labels,
            self._random_state,
        )
        self._cost_rule = self._make_cost_rule(n_labels, self.n_estimators_)
        self.estimator_weights_ = np.full(self.n_estimators_, self._cost_rule.initial_weight)
        self._log_expert_weights = np.zeros(self.n_estimators_) if self._hedge else None
        self._edge_sums = np.zeros((2, self.n_estimators_))
        self._counter = RoundCounter()

    def _take_rounds(self, n_threads):
        """Return the rounds of this model for `n_threads` threads; give them back by this key."""
        parts = self._learners, self.estimators_features_, self._cost_rule, self._counter
        return self._memory.take(n_threads, lambda: Rounds(*parts, n_threads))

    def _parts_of(self, model):
        return {
            id(own._learner): deepcopy(other._learner)
            for own, other in zip(self.estimators_, model.estimators_)
            if isinstance(own, EarlyTree)
        }

    @staticmethod
    def _merge_entries(merging):
        """Return the losses of the experts, whose logarithms of weights add up."""
        hedges = merging.states[0]["_log_expert_weights"] is not None
        return {"_log_expert_weights": merging.total("_log_expert_weights") if hedges else None}

    def _learn_rounds(
        self, X, indptr, labels, weights, *, order=None, scores=None, outputs=None, available=None
    ):
        """Play a round for each sample. The relevance of all labels is learned."""

        def reveal(rows, chosen, batch):
            feedback = FullInformation(*lists_of_rows(indptr, labels, chosen), len(self.classes_))
            draws = self._random_state.random_sample(rows.shape[0]) if self._hedge else None
            return feedback, draws, feedback.known

        self._play_rounds(X, weights, reveal, order, scores, outputs)

    def _play_rounds(self, X, weights, reveal, order=None, scores=None, outputs=None):
        """Play a round for each sample, in this `order` if it is not None.

        `reveal(rows, chosen, batch)` returns the feedback on the samples `chosen`, of numbers
        `batch` in the order, random numbers that draw the experts, or None if the last expert is
        used, and the relevance that is known, as arguments of `rank_losses`.
        """
        if self._counter.is_in_round:
            raise NotFittedError(
                f"round {self.n_rounds_} of this {type(self).__name__} ended when some of its weak "
                "learners had learned the sample and others had not: call fit to start anew, or "
                "load the model as it was saved before"
            )
        batches, n_samples, total = slices(X.shape[0], SMALL_BATCH), 0, 0.0
        # The function of joblib takes longer than a round.
        n_threads = 1 if self.n_jobs is None and X.shape[0] == 1 else effective_n_jobs(self.n_jobs)
        direct = [] if self._direct_model is None else [self._direct_model]
        with ExclusiveCalls([*self._learners, self._label_sets, *direct]):
            rounds = self._take_rounds(n_threads)
            tracked = self._track(batches, "batch", may_stop=scores is None)
            for batch in tracked if self.verbose else timed_slices(tracked):
                chosen = in_order(batch, order)
                rows, of_rows = X[chosen], weights[chosen]
                feedback, draws, known = reveal(rows, chosen, batch)
                of_sets = {name: array[batch] for name, array in (outputs or {}).items()}
                out = None if scores is None else scores[batch]
                before = self._play_batch(rounds, rows, feedback, of_rows, draws, out, of_sets)
                if self.verbose:
                    n_samples += len(before)
                    total += rank_losses(before, **known).sum()
                    print_progress(
                        type(self).__name__,
                        f"batch {batches.index(batch) + 1} of {len(batches)}",
                        {"rank loss": total / n_samples, "rounds": self.n_rounds_},
                    )
            self._memory.give(n_threads, rounds)

    def _play_batch(self, rounds, rows, feedback, weights, draws, scores, of_sets):
        """Play the rounds of a batch. Return the scores before each round if they are needed."""
        best = np.empty((len(weights), len(self.classes_)))
        if scores is None and self.verbose:
            scores = np.empty(best.shape)
        # The rounds write into this array. Copy it, so that an array held by the user is unchanged.
        self.estimator_weights_ = self.estimator_weights_.copy()
        of_sets |= {"threshold": self._threshold, **feedback.known}
        learn_sets = partial(self._label_sets.play, best, weights, **of_sets)
        of_learners = self.estimator_weights_, self._log_expert_weights
        outputs = scores, self._edge_sums, best
        rounds.play(rows, feedback, weights, *of_learners, draws, *outputs, learn_sets)
        return scores


def rank_losses(scores, indptr=None, labels=None, shown=None):
    """Return the rank loss of each sample, given relevance lists or a record.

    With a record, it is that among the labels shown: no other relevance is known.
    """
    if shown is not None:
        actions, rewards, _ = shown
        scores = np.take_along_axis(scores, actions, axis=1)
        return rank_loss(np.nan_to_num(rewards), scores, average=False)
    relevance = csr_array((np.ones(len(labels)), labels, indptr), shape=scores.shape)
    return rank_loss(relevance, scores, average=False)
