"""Base classes of the online rankers of labels, and of those that show k labels."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import contextmanager
from functools import partial
from numbers import Integral, Real
from typing import TYPE_CHECKING, overload

import numpy as np

from sklrank._base_online import BaseOnlineClassifier, slices, timed_slices
from sklrank._docstrings import shares_text
from sklrank._label_sets import FULL_INFORMATION, THRESHOLDS, LabelSets
from sklrank._model_lock import exclusive_call, shared_call
from sklrank._randomness import check_random_source
from sklrank._sklearn import Interval, StrOptions, _fit_context, check_parameters, with_task_tree
from sklrank._validation import (
    check_available,
    check_weights,
    is_integer,
    is_number,
    mask_rows,
    only_available,
)
from sklrank.base import LabelRankerMixin, two_class_difference, with_names
from sklrank.feedback import (
    DECAYS,
    LIST_RANDOMIZATIONS,
    Exploration,
    check_exploration,
    check_rewards,
    check_shown,
    exploration_rates,
    make_sampler,
)

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import ArrayLike
    from typing_extensions import Self

    from sklrank._typing import RandomSource

# Samples per compiled call: fewer than in `_base_online`, since a round of many learners takes
# longer. Ctrl-C interrupts training, and `verbose` prints, only between calls.
BATCH = 1000
_METHODS = ["decision_function", "predict", "predict_proba"]


# Texts that the docstrings of the rankers share.
of_label_sets = shares_text(
    threshold="""
threshold : str or float, default="auto"
    Rule by which `predict` chooses label sets, if the target is an indicator matrix. All rules but
    a float are learned from past samples ("Label sets" in the notes).

    - "f1": the labels whose probability is above half of the micro-F1 of past sets.
    - "f1_macro": the same with a threshold for each label, half of the F1 of the label.
    - "cardinality": the most probable labels, as many as are expected to be relevant.
    - "hamming": the labels whose probability is above 1/2.
    - "auto", "jaccard", "subset": the best of several rules by the micro-F1, the mean Jaccard index
      or the subset accuracy of their past sets. The latter two need the relevance of all labels.
    - a float in (0, 1): the labels whose probability is above this number.
""",
    label_sets="""
*Calibration.* Scores are converted to probabilities by Platt scaling (Platt 1999, "Probabilistic
outputs for support vector machines") with an intercept for each label. Its inputs are the score,
the standardized score, the logarithm of the share of the vote, and the largest score of the sample.
After each sample, the coefficients are updated by a Newton step on the log loss of its scores from
before it was learned. For class labels, the probabilities are the softmax of the scores times a
coefficient that is learned in the same way (Guo et al. 2017, "On calibration of modern neural
networks").

*Label sets.* There are four rules: the labels of a probability above 1/2; the same with the most
probable label instead of an empty set; the labels of a probability above half of the micro-F1 of
the past sets of this rule (Busa-Fekete et al. 2015, "Online F-measure optimization"); and the most
probable labels, whose number is the sum of all probabilities, rounded. `threshold` selects one of
them, or the rule whose past sets were the best. If only the relevance of the labels shown is known,
the numbers of relevant labels are weighted by the inverse of the propensities of these labels.
""",
)


class LabelSetRanker(LabelRankerMixin, BaseOnlineClassifier):
    """Base class of online rankers whose learners vote for labels.

    The votes become sets of labels and probabilities by :class:`~sklrank._label_sets.LabelSets`.
    """

    _accepts_indicators = True
    _accepts_sparse = True
    _parameter_constraints: dict = {
        "threshold": [StrOptions(set(THRESHOLDS)), Interval(Real, 0, 1, closed="neither")],
    }

    @with_names
    @shared_call
    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Score the labels by the weighted votes of the learners.

        If there are several experts (attribute `expert_weights_`), the votes are those of the
        expert with the largest weight.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_labels), or (n_samples,)
            Scores of the labels, in the order of `classes_`. A higher score ranks a label earlier.
            For two class labels, the difference between the scores of the second and the first.
        """
        scores = self._label_scores(X)
        return scores if self._has_label_columns else two_class_difference(scores)

    @with_names
    @shared_call
    def predict(self, X: ArrayLike, *, available: ArrayLike | None = None) -> np.ndarray:
        """Predict class labels, or sets of labels by the parameter `threshold`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        available : array-like, default=None
            Labels that may be predicted: a boolean mask of shape (n_samples, n_labels), or of shape
            (n_labels,) for all samples, or a list of names in `classes_`. None stands for all.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_labels)
            If the model was fitted with class labels, the class with the largest score. If it was
            fitted with an indicator matrix, an indicator matrix of the predicted sets.

        Raises
        ------
        ValueError
            If `X`, `threshold` or `available` is invalid.
        """
        threshold, scores = self._checked_threshold(), self._label_scores(X)
        available = check_available(available, self.classes_, len(scores))
        if not self._has_label_columns:
            return self.classes_[np.argmax(only_available(scores, available), axis=1)]
        sets = np.empty(scores.shape, dtype=np.intp)
        self._label_sets.play(scores, sets=sets, threshold=threshold)
        return only_available(sets, available, 0)

    @with_names
    @shared_call
    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Predict the probability of each class, or that each label is relevant.

        The probabilities are calibrated on the scores that past samples had before they were
        learned ("Calibration" in the notes of the class).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Probabilities, in the order of `classes_`. If the model was fitted with class labels,
            each row sums to one. If it was fitted with an indicator matrix, each entry is the
            probability that the label is relevant.
        """
        scores = self._label_scores(X)
        chances = np.empty(scores.shape)
        self._label_sets.play(scores, chances=chances)
        return chances

    @overload
    def progressive_fit(
        self, X: ArrayLike, y: ArrayLike, *arguments: Any, method: str = ..., **others: Any
    ) -> np.ndarray: ...
    @overload
    def progressive_fit(
        self, X: ArrayLike, y: ArrayLike, *arguments: Any, method: list[str], **others: Any
    ) -> list[np.ndarray]: ...
    @_fit_context(prefer_skip_nested_validation=True)
    def progressive_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        method: str | list[str] = "decision_function",
    ) -> np.ndarray | list[np.ndarray]:
        """Predict each sample, then learn from it (progressive, or prequential, validation).

        The resulting model is the same as that of `partial_fit`. Each prediction uses what was
        learned from the samples before, including the calibration and the rule for label sets.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y, classes, sample_weight : array-likes
            As in `partial_fit`. Samples of weight zero are predicted, but not learned.
        method : str or list of str, default="decision_function"
            Predictions to return: "decision_function", "predict", "predict_proba", or several.

        Returns
        -------
        ndarray of shape (n_samples, n_labels) or (n_samples,), or a list of these
            Predictions of each sample before it is learned, as the method of this name returns
            them; but scores have a column for each label, also for two classes, and are those of
            the expert that is drawn in a round, if the algorithm draws experts.

        Raises
        ------
        ValueError
            If `method` or the data are invalid, as in `partial_fit`.
        """
        return self._progressive_fit(X, y, classes, sample_weight, method)

    def _progressive_fit(self, X, y, classes, sample_weight, method, available=None):
        names = [method] if isinstance(method, str) else list(method)
        unknown = [name for name in names if name not in _METHODS]
        if unknown:
            raise ValueError(f"method must be one of {_METHODS} or a list of these, got {method!r}")
        with self._discard_failed_start(classes):
            data = self._check_and_start(X, y, classes, sample_weight)
            shape = len(data[-1]), len(self.classes_)
            out = {"decision_function": np.empty(shape), "predict_proba": np.empty(shape)}
            out["predict"] = np.empty(shape, dtype=np.intp)
            mask = check_available(available, self.classes_, len(data[-1]), self._n_shown())
            arguments = {} if mask is None else {"available": mask}
            self._learn_rounds(*data, scores=out["decision_function"], predictions=out, **arguments)
        out["predict"] = only_available(out["predict"], mask, 0)
        out["decision_function"] = only_available(out["decision_function"], mask)
        if not self._has_label_columns:
            out["predict"] = self.classes_[out["predict"].argmax(axis=1)]
        return out[method] if isinstance(method, str) else [out[name] for name in names]

    def _n_shown(self):
        """Return the number of labels that are shown and must be available."""
        return 1

    def _finish_merge(self):
        self._memory = WorkingMemory()  # the other one has the learners from before

    def _start_label_sets(self):
        self._checked_threshold()
        self._memory = WorkingMemory()
        self._label_sets = LabelSets(len(self.classes_), self._has_label_columns)

    def _label_sets_update(self, weights, predictions=None, batch=None, **feedback):
        """Return a function of the scores of samples that updates the calibration and the rules.

        Parameters
        ----------
        weights, feedback : arrays
            Arguments of `LabelSets.play`.
        predictions : dict of str to ndarray, default=None
            Arrays whose rows `batch` are filled with the predictions before each update.
        """
        out = {name: array[batch] for name, array in (predictions or {}).items()}
        return partial(
            self._label_sets.play,
            sample_weight=weights,
            chances=out.get("predict_proba"),
            sets=out.get("predict"),
            threshold=self._checked_threshold(),
            **feedback,
        )

    def _checked_threshold(self):
        """Return the parameter, which may have changed since it was checked in `fit`."""
        if not (is_number(self.threshold) or self.threshold in list(THRESHOLDS)) or (
            is_number(self.threshold) and not 0 < self.threshold < 1
        ):
            check_parameters(self, "threshold")
        return self.threshold


class WorkingMemory:
    """Compiled objects that calls use in turn, such as samplers, which are not part of a model.

    After a model is loaded or copied, they are made again. To make one takes longer than to learn a
    sample.
    """

    def __init__(self):
        self._free = {}

    def __reduce__(self):
        return WorkingMemory, ()

    @contextmanager
    def borrow(self, key, make):
        """Lend the object of this key to one call at a time, or the result of `make` if in use."""
        thing = self._free.pop(key, None)
        thing = make() if thing is None else thing
        yield thing
        # Not after an error, which may have left it in the middle of its work.
        self._free[key] = thing


class ShownLabelsRanker(LabelSetRanker):
    """Base class of rankers that show `k` labels and learn from the relevance of these labels.

    A subclass has the parameters `k`, `exploration` and `randomization`, and the attribute
    `n_rounds_`. It defines `_show`, which draws the labels for some samples, and `_learn_shown`,
    which learns from them. Its `_start_model` calls `_make_sampler` to check the parameters.
    """

    _parameter_constraints: dict = {
        **LabelSetRanker._parameter_constraints,
        "k": [Interval(Integral, 1, None, closed="left")],
        "exploration": [Interval(Real, 0, 1, closed="right"), StrOptions(set(DECAYS)), callable],
        "randomization": [StrOptions(LIST_RANDOMIZATIONS)],
    }

    # Why rewards other than 0 and 1 are refused, or None if they are accepted.
    _refused_numbers = None

    @abstractmethod
    def _show(self, rows, sampler, available, random_state):
        """Return the labels that the sampler draws for these samples, and their propensities."""

    @abstractmethod
    def _learn_shown(self, X, actions, propensities, rewards, weights, available):
        """Learn from the labels shown for each sample, and from their rewards."""

    @_fit_context(prefer_skip_nested_validation=True)
    def progressive_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        method: str | list[str] = "decision_function",
        available: ArrayLike | None = None,
    ) -> np.ndarray | list[np.ndarray]:
        """Predict each sample, then learn from it (progressive, or prequential, validation).

        If all labels are available, the resulting model is the same as that of `partial_fit`. Each
        prediction uses what was learned from the samples before, including the calibration and the
        rule for label sets.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y, classes, sample_weight : array-likes
            As in `partial_fit`. Samples of weight zero are predicted, but not learned.
        method : str or list of str, default="decision_function"
            Predictions to return: "decision_function", "predict", "predict_proba", or several.
        available : array-like, default=None
            Labels that may be shown: a boolean mask of shape (n_samples, n_labels), or of shape
            (n_labels,) for all samples, or a list of names in `classes_`. None stands for all.

        Returns
        -------
        ndarray of shape (n_samples, n_labels) or (n_samples,), or a list of these
            Predictions of each sample before it is learned, as the method of this name returns
            them; but scores have a column for each label, also for two classes, are those of the
            expert that is drawn in a round, if the algorithm draws experts, and are minus infinity
            for labels that are not available.

        Raises
        ------
        ValueError
            If `method` or the data are invalid, as in `partial_fit`, or if `available` is invalid
            or has fewer than `k` labels for a sample.
        """
        return self._progressive_fit(X, y, classes, sample_weight, method, available)

    def explore(
        self,
        X: ArrayLike,
        classes: ArrayLike | None = None,
        *,
        available: ArrayLike | None = None,
        random_state: RandomSource = None,
    ) -> Exploration:
        """Draw the `k` labels to show for each sample.

        The model does not learn in this method; only its random number generator changes. If there
        is no model yet, `classes` creates it. Every label that is available has a positive
        probability of being shown.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        classes : array-like of shape (n_labels,), default=None
            Names of the labels, which become `classes_`. They are required if the model is not
            fitted. Later, new labels may follow those of the model.
        available : array-like, default=None
            Labels that may be shown: a boolean mask of shape (n_samples, n_labels), or of shape
            (n_labels,) for all samples, or a list of names in `classes_`. None stands for all.
        random_state : int, sequence of int, SeedSequence or RandomState instance, default=None
            Source of the random draws of this call, which then does not change the model. If None,
            it is the model's own generator, which the parameter `random_state` initializes. A
            sequence is the entropy of a :class:`numpy.random.SeedSequence`, for example the numbers
            of a server and of a request. Other numbers draw independently of these.

        Returns
        -------
        Exploration
            The labels shown, as indices into `classes_`, with their propensities and the names
            `classes_`. Their order is that in which the exploration scheme (parameter
            `randomization`) shows them. Pass the record to `partial_fit_feedback` when the rewards
            are known.

        Raises
        ------
        ValueError
            If `X` or `random_state` is invalid, `classes` does not begin with the labels of the
            model, or fewer than `k` labels are available for a sample.
        NotFittedError
            If there is no model yet and `classes` is None.
        """
        generator = check_random_source(random_state)
        return self._start_and_explore(X, classes, available, generator, indicators=True)

    @shared_call
    def _explore(self, X, available, generator):
        arguments, rate = self._sampler_arguments(), self._exploration_rates(np.ones(1))[0]
        available = check_available(available, self.classes_, X.shape[0], arguments[-1])
        generator = self._random_state if generator is None else generator
        with self._memory.borrow(arguments, partial(make_sampler, *arguments)) as sampler:
            sampler.change_exploration(rate)
            shown = [
                self._show(X[batch], sampler, mask_rows(available, batch), generator)
                for batch in timed_slices(slices(X.shape[0], BATCH))
            ]
        shown = shown[0] if len(shown) == 1 else map(np.concatenate, zip(*shown))
        return Exploration(*shown, self.classes_)

    @shared_call
    def propensities(self, X: ArrayLike, *, available: ArrayLike | None = None) -> np.ndarray:
        """Compute the probabilities that labels, and pairs of labels, are shown by `explore`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        available : array-like, default=None
            Labels that may be shown: a boolean mask of shape (n_samples, n_labels), or of shape
            (n_labels,) for all samples, or a list of names in `classes_`. None stands for all.

        Returns
        -------
        ndarray of shape (n_samples, n_labels, n_labels)
            Exact probability in the next call of `explore` that both labels are shown. The diagonal
            has the probabilities that each label is shown; labels that are not available have 0.

        Raises
        ------
        ValueError
            If `X` or `available` is invalid, or if the ranker draws an expert for each sample. The
            propensities of a record are then those given the expert drawn.
        """
        scores = self._label_scores(X)
        if getattr(self, "_hedge", False) and len(self.expert_weights_) > 1:
            raise ValueError(
                f"{type(self).__name__} draws one of {len(self.expert_weights_)} experts for each "
                "sample, so that its propensities have no formula: use those that `explore` records"
            )
        sampler = self._make_sampler()
        available = check_available(available, self.classes_, len(scores), sampler.k)
        return sampler.propensities(scores, available)

    # As in the bandit classifiers, `_fit_context` would take longer than learning a sample.
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

        The labels may have been shown by this model or by another policy, in any order and at any
        earlier time, since the record has the propensities with which they were drawn. Passing the
        samples in one call or in several calls gives bit-identical models. Pickling the model
        between calls does not change the result.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples for which labels were shown.
        exploration : Exploration
            The labels shown and their propensities, as `explore` returns them. The number of labels
            may differ from `k`.
        rewards : array-like of shape (n_samples, k)
            1 for each label shown that is relevant, 0 for each label shown that is irrelevant, and
            NaN if the relevance of a label is not known: nothing is learned about it, which is
            unbiased if relevance and knowledge do not depend on each other. `SemiBanditRanker`
            accepts all numbers from 0 to 1.
        classes : array-like of shape (n_labels,), default=None
            Names of the labels, as in `explore`.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples. If None, all weights are one.
        available : array-like, default=None
            Labels that could be shown, as in `explore`. The boosters then learn about no pair with
            another label.

        Returns
        -------
        self : object
            The estimator.

        Raises
        ------
        ValueError
            If the data are invalid: labels outside of `classes_`, that were not available or that
            were dropped since, propensities that are missing or not in (0, 1], or rewards that are
            not in [0, 1], or, for a booster, neither 0 nor 1. In these cases, the model does not
            change.
        NotFittedError
            If there is no model yet and `classes` is None.
        """
        with self._discard_failed_start(classes):
            X = self._check_X_and_start(X, classes, indicators=True)
            n_labels = len(self.classes_)
            shown = check_exploration(exploration, X.shape[0], n_labels, classes=self.classes_)
            rewards = check_rewards(rewards, shown[0].shape, refused=self._refused_numbers)
            available = check_available(available, self.classes_, X.shape[0])
            check_shown(shown[0], available)
            weights = check_weights(sample_weight, X.shape[0], positive=False)
            self._check_weights(weights)
            unknown = np.isnan(rewards).all(axis=1)
            if unknown.any():
                weights = np.where(unknown, 0.0, weights)
            self._learn_shown(X, *shown, rewards, weights, available)
        return self

    def _checked_threshold(self):
        threshold = super()._checked_threshold()
        if threshold in FULL_INFORMATION and self._has_label_columns:
            raise ValueError(
                f"threshold={threshold!r} is chosen by a measure that needs the relevance of all "
                "labels of past samples, but only that of the labels shown is known: use 'auto', "
                "'f1', 'f1_macro', 'hamming', 'cardinality' or a number"
            )
        return threshold

    def _sampler_arguments(self):
        """Check the parameters of the sampler. Return its scheme, and numbers of labels and k."""
        # scikit-learn checks parameters in `fit` only, and they may have changed since.
        names = list(LIST_RANDOMIZATIONS)
        if not is_integer(self.k) or self.k < 1 or self.randomization not in names:
            check_parameters(self, "k", "randomization")
        n_labels = len(self.classes_)
        if self.k > n_labels and self._has_label_columns:
            raise ValueError(
                f"k={self.k} labels cannot be shown if there are {n_labels}: decrease 'k'"
            )
        # If there are fewer class labels than k, as in a binary problem, all labels are shown.
        return self.randomization, n_labels, min(self.k, n_labels)

    def _make_sampler(self, rate=None):
        """Return the sampler of the labels to show.

        `rate` is its amount of exploration. If None, it is that of the next round.
        """
        if rate is None:
            rate = self._exploration_rates(np.ones(1))[0]
        return make_sampler(*self._sampler_arguments(), rate)

    def _n_shown(self):
        return min(self.k, len(self.classes_))

    def _exploration_rates(self, weights):
        """Return the amounts of exploration of samples of these weights, in the next rounds."""
        if is_number(self.exploration) and 0 < self.exploration <= 1:
            return np.full(len(weights), self.exploration)
        check_parameters(self, "exploration")
        # A sample of weight zero is not a round.
        rounds = self.n_rounds_ + 1 + np.cumsum(weights > 0.0) - (weights > 0.0)
        return exploration_rates(self.exploration, rounds)


def shown_labels(actions, propensities, rewards):
    """Return a checked record `(actions, rewards, chances)` as `LabelSets.play` accepts it."""
    return actions, rewards, np.diagonal(propensities, axis1=1, axis2=2)
