"""The protocol of online models that show labels and learn from the rewards of these labels."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from numbers import Integral, Real
from reprlib import repr as shortened

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from sklrank._checks import (
    check_available,
    check_label_names,
    check_row_labels,
    check_weights,
    names_of,
    sorted_classes,
)
from sklrank._compiled import ExclusiveCalls, exclusive_call, shared_call
from sklrank._estimators import (
    Interval,
    StrOptions,
    apart_from_siblings,
    check_random_source,
    of_labels,
    shares_text,
    unchanged_on_error,
    with_task_tree,
)
from sklrank._online.batches import SMALL_BATCH, mask_rows, slices, timed_slices
from sklrank._online.label_sets import FULL_INFORMATION
from sklrank._typing import RandomSource, Self
from sklrank.feedback import Exploration
from sklrank.feedback._protocol import (
    DECAYS,
    LIST_RANDOMIZATIONS,
    check_exploration,
    check_rewards,
    check_shown,
    exploration_rates,
    make_sampler,
)

# Texts that docstrings share.
of_exploring = shares_text(
    protocol="""
The method `explore` draws the labels to show, and `partial_fit_feedback` learns from their
relevance. `fit`, `partial_fit` and `progressive_fit` simulate both steps on samples with known
labels, and use only the relevance of the labels shown.
""",
    exploration="""
exploration : float, str or callable, default=0.05
    Amount of exploration, in (0, 1]. With "uniform" and "single-swap", it is the probability that a
     sample explores instead of showing the k labels of largest score. Values from 0.05 to 0.1 are
     suitable if users see the labels; larger ones such as 0.5 if many labels are rare and showing
     irrelevant labels does no harm, which requires many samples or passes. `score` ignores the cost
     of exploration, which a search with ``scoring=progressive_reward_score``
     (:mod:`sklrank.model_selection`) counts. "decay" is ``t ** -0.25`` in round t = 1, 2, ..., for
     which the bounds of Raman et al. (2020) decrease fastest, and "ag0" is ``t ** (-1 / 3) / 2``. A
     callable, such as a :class:`~sklrank.feedback.DecayingExploration`, maps t to the amount.
     `explore` uses the amount of the next round for all samples.
""",
    feedback="""
The labels may have been shown by this model or by another policy, in any order and at any earlier
time, since the record has the propensities with which they were drawn. Passing the samples in one
call or in several calls, with the model pickled in between, gives bit-identical models.
""",
    record="""
Parameters
----------
X : {array-like, sparse matrix} of shape (n_samples, n_features)
    Samples for which labels were shown.
exploration : Exploration
    The labels shown and their propensities, as `explore` returns them, or the record of another
    policy. The number of labels may differ from `k`.
rewards : array-like of shape (n_samples, k) or (n_samples,)
    1 for each label shown that is relevant, 0 for each that is not, and NaN if this is not known:
    nothing is learned about the label, which is unbiased if relevance and knowledge are
    independent. `SemiBanditRanker` and `LinUCBClassifier` accept all numbers from 0 to 1.
classes : array-like of shape (n_labels,), default=None
    Names of the labels, as in `explore`.
""",
    could_be_shown="""
available : array-like, default=None
    Labels that could be shown, as in `explore`. The boosters learn about no pair with another
    label; Banditron and schedules that depend on the feedback, about the best class that was
    available.
""",
    learned="""
{returns_or_raises}
    If the data are invalid: labels outside of `classes_`, that were not available or that were
    dropped since, propensities that are missing or not in (0, 1], or rewards that are not in [0,
    1], or, where numbers are refused, not 0 or 1. Then the model does not change.
NotFittedError
    If there is no model yet and `classes` is None.
""",
)


@of_labels
@of_exploring
class ExploringMixin(metaclass=ABCMeta):
    """Mixin of online classifiers that show labels and learn from the rewards of these labels.

    A subclass has the parameters `exploration`, `randomization` and, unless it shows a single class
    and sets `_shows_lists` to False, `k`. Its `_start_model` calls `_start_exploring`. It defines
    `_draw`, which draws the labels for some samples, and `_learn_shown`, which learns from them.
    """

    _shows_lists = True
    # Why rewards other than 0 and 1 are refused, or None if they are accepted.
    _refused_numbers = None
    _parameter_constraints: dict = {
        "k": [Interval(Integral, 1, None, closed="left")],
        "exploration": [Interval(Real, 0, 1, closed="right"), StrOptions(set(DECAYS)), callable],
        "randomization": [StrOptions(LIST_RANDOMIZATIONS), callable],
    }

    @abstractmethod
    def _draw(self, rows, sampler, available, random_state):
        """Return the labels that the sampler draws for these samples, and their propensities."""

    @abstractmethod
    def _learn_shown(self, X, actions, propensities, rewards, weights, available):
        """Learn from the labels shown for each sample, and from their rewards."""

    def explore(
        self,
        X: ArrayLike,
        classes: ArrayLike | None = None,
        *,
        available: ArrayLike | None = None,
        random_state: RandomSource = None,
    ) -> Exploration:
        """Draw the labels to show for each sample.

        The model does not learn in this method; only its random number generator changes. If there
        is no model yet, `classes` creates it.

        {samples}
        classes : array-like of shape (n_labels,), default=None
            Names of the labels, which become `classes_`, required if there is no model. Later, they
            may have new labels, for rankers after those of the model. Classifiers that show a
            single class require sorted classes.
        {available}
        random_state : int, sequence of int, SeedSequence or RandomState instance, default=None
            Source of the random draws of this call, which then does not change the model. If None,
            it is the model's own generator, which the parameter `random_state` initializes. A
            sequence is the entropy of a :class:`numpy.random.SeedSequence`, such as the numbers of
            a server and of a request; other numbers draw independently.

        Returns
        -------
        Exploration
            The labels shown, `k` of each sample in the order in which the scheme (`randomization`)
            shows them, or a single class, as indices into `classes_`, with their propensities and
            the names. Pass the record to `partial_fit_feedback` when the rewards are known.

        {value_error}
            If `X`, `available` or `random_state` is invalid, `classes` lacks labels of the model or
            has another order, or fewer labels are available for a sample than are shown.
        NotFittedError
            If there is no model yet and `classes` is None.
        """
        generator = check_random_source(random_state)
        if hasattr(self, "classes_") and not self._adds_classes(classes):
            return self._explore(self._check_X_and_start(X, classes), available, generator)
        with ExclusiveCalls([self]), unchanged_on_error(self):
            return self._explore(self._check_X_and_start(X, classes), available, generator)

    @shared_call
    def _explore(self, X, available, generator):
        available = self._check_available(available, X.shape[0])
        generator = apart_from_siblings(self._random_state) if generator is None else generator
        sampler = self._memory.take("sampler", self._make_sampler)
        sampler.change_exploration(self._next_rate())
        shown = [
            self._draw(X[block], sampler, mask_rows(available, block), generator)
            for block in timed_slices(self._blocks(X))
        ]
        self._return_sampler(sampler)
        shown = shown[0] if len(shown) == 1 else map(np.concatenate, zip(*shown))
        return Exploration(*shown, self.classes_)

    @shared_call
    def propensities(self, X: ArrayLike, *, available: ArrayLike | None = None) -> np.ndarray:
        """Compute the probabilities that labels, and pairs of labels, are shown by `explore`.

        {samples}
        {available_and_returns}
        ndarray of shape (n_samples, n_labels, n_labels) or (n_samples, n_classes)
            Exact probability in the next call of `explore` that both labels are shown, on the
            diagonal that each is shown, or of each class for classifiers that show a single one.
            Labels that are not available have 0.

        {value_error}
            If `X` or `available` is invalid, or if the ranker draws an expert for each sample. The
            propensities of a record are then those given the expert drawn.
        """
        return self._propensities(X, available)

    def _propensities(self, X, available):
        scores = self._label_scores(X)
        available = self._check_available(available, len(scores))
        sampler = self._make_sampler()
        sampler.change_exploration(self._next_rate())
        return sampler.propensities(scores, available)

    # `_fit_context` would check the parameters in each call, which takes twice as long as learning
    # a sample. They are checked when the model starts.
    @exclusive_call
    @with_task_tree
    def partial_fit_feedback(
        self,
        X: ArrayLike,
        exploration: Exploration,
        rewards: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        available: ArrayLike | None = None,
    ) -> Self:
        """Update the model by the labels that were shown and their rewards.

        {feedback}

        {record}
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples. If None, all weights are one.
        {could_be_shown}

        {learned}
        """
        others = {"sample_weight": sample_weight, "available": available}
        check_row_labels({"X": X, "rewards": rewards, **others})
        with self._discard_failed_start(classes):
            X = self._check_X_and_start(X, classes)
            shown = check_exploration(
                exploration,
                X.shape[0],
                len(self.classes_),
                classes=self.classes_,
                single=not self._shows_lists,
            )
            rewards = check_rewards(rewards, shown[0].shape, refused=self._refused_numbers)
            available = check_available(available, self.classes_, X.shape[0])
            check_shown(shown[0], available)
            weights = check_weights(sample_weight, X.shape[0], positive=False)
            self._check_weights(weights)
            unknown = np.isnan(rewards)
            if unknown.any():
                rows = ~unknown.reshape(X.shape[0], -1).all(axis=1)
                X, available = X[rows], mask_rows(available, rows)
                *shown, rewards, weights = (part[rows] for part in (*shown, rewards, weights))
            self._learn_shown(X, *shown, rewards, weights, available)
        return self

    def _check_X_and_start(self, X, classes):
        """Check samples without targets, and create a model for `classes` if there is none yet."""
        if classes is not None and not self._shows_lists:
            names = check_label_names(classes)
            if not np.array_equal(names, sorted_classes(names)):
                raise ValueError(
                    f"classes={shortened(names.tolist())} must be sorted, since the actions of an "
                    "Exploration are indices into classes_, which is sorted: pass sorted(classes) "
                    "to this method, and to from_frame or to_frame of the record"
                )
        if hasattr(self, "classes_"):
            X = self._check_rows(X, reset=False)
            if classes is not None:
                self._check_names(classes)
            return X
        if classes is None:
            check_is_fitted(
                self,
                "classes_",
                msg="This %(name)s has no classes yet: name them by `classes`, or call fit",
            )
        return self._start_for(X, classes)

    @exclusive_call
    def _start_for(self, X, classes):
        if hasattr(self, "classes_"):  # another thread was first
            return self._check_X_and_start(X, classes)
        with unchanged_on_error(self):
            self._validate_params()
            X = self._check_rows(X, reset=True)
            names = check_label_names(classes)
            self._has_label_columns = self._shows_lists
            self._start_model(names if self._shows_lists else sorted_classes(names))
        return X

    @exclusive_call
    def _check_names(self, classes):
        """Check the names of the labels that the actions of a record refer to; add new ones."""
        known, names = self.classes_, names_of(classes)
        if self._has_label_columns and not np.array_equal(names[: len(known)], known):
            raise ValueError(
                f"classes={shortened(names.tolist())} must begin with the labels of the model, "
                f"{shortened(known.tolist())}, in their order: name new labels after them, and "
                "remove labels by drop_classes"
            )
        self._check_same_classes(names)

    def _start_exploring(self):
        """Read the parameters of the exploration. `classes_` is set already."""
        self._exploration, self._randomization = self.exploration, self.randomization
        functions = self.randomization, getattr(self, "mirror_map", None)
        self._calls_functions = any(map(callable, functions))
        self._k = self.k if self._shows_lists else 1
        self._check_n_labels(len(self.classes_))
        if self._has_label_columns and self.threshold in FULL_INFORMATION:
            raise ValueError(
                f"threshold={self.threshold!r} is chosen by a measure that needs the relevance of "
                "all labels of past samples, but only that of the labels shown is known: use "
                "'auto', 'f1', 'f1_macro', 'hamming', 'cardinality' or a number"
            )

    def _check_n_labels(self, n_labels):
        if self._k > n_labels and self._has_label_columns:
            raise ValueError(
                f"k={self._k} labels cannot be shown if there are {n_labels}: decrease 'k'"
            )

    def _set_classes(self, classes, labels):
        self._check_n_labels(len(classes))
        super()._set_classes(classes, labels)

    def _n_shown(self):
        """Return the number of labels to show: all of them, if there are fewer classes than `k`."""
        return min(self._k, len(self.classes_))

    def _check_available(self, available, n_samples):
        return check_available(available, self.classes_, n_samples, self._n_shown())

    def _blocks(self, X):
        """Return slices that divide the samples into the blocks of the compiled loops."""
        return slices(X.shape[0], SMALL_BATCH)

    def _make_sampler(self):
        """Return a new sampler of the labels to show."""
        return make_sampler(self._randomization, len(self.classes_), self._n_shown())

    def _return_sampler(self, sampler):
        sampler.raise_error()
        self._memory.give("sampler", sampler)

    def _next_rate(self):
        """Return the amount of exploration in the next round."""
        if type(self._exploration) is float:
            return self._exploration
        return exploration_rates(self._exploration, [self.n_rounds_ + 1])[0]

    def _exploration_rates(self, weights):
        """Return the amounts of exploration of samples of these weights, in the next rounds."""
        # A sample of weight zero is not a round.
        rounds = self.n_rounds_ + 1 + np.cumsum(weights > 0.0) - (weights > 0.0)
        return exploration_rates(self._exploration, rounds)
