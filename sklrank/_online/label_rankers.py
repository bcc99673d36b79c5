"""Base class of the online rankers of labels whose learners vote."""

from __future__ import annotations

from numbers import Real
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from sklrank._checks import check_available, only_available
from sklrank._compiled import shared_call
from sklrank._estimators import Interval, StrOptions, _fit_context, of_labels, shares_text
from sklrank._online.batches import WorkingMemory
from sklrank._online.classifier import BaseOnlineClassifier, of_online
from sklrank._online.label_sets import THRESHOLDS
from sklrank._rankers import LabelRankerMixin, two_class_difference, with_names

_METHODS = ["decision_function", "predict", "predict_proba"]


# Texts that the docstrings of the rankers share.
of_label_sets = shares_text(
    threshold="""
threshold : str or float, default="auto"
    Rule by which `predict` chooses label sets, if the target is an indicator matrix.

    =============  ===============================================================
    threshold      the labels that are predicted
    =============  ===============================================================
    "f1"           those of a probability above half of the micro-F1 of past sets
    "f1_macro"     the same with a threshold for each label, half of its F1
    "cardinality"  the most probable, as many as are expected to be relevant
    "hamming"      those of a probability above 1/2
    "auto"         those of the rule whose past sets have the best micro-F1
    "jaccard"      the same by the mean Jaccard index; needs all relevant labels
    "subset"       the same by the subset accuracy; needs all relevant labels
    float          those of a probability above this number, between 0 and 1
    =============  ===============================================================

    All rules but a float are learned from past samples ("Label sets" in the notes).
""",
    rounds_of_fit="""
n_rounds_ : int
    Number of rounds. Each sample of positive weight is one round in each pass.
n_iter_ : int
    Number of passes over the samples in the last call of `fit`.
{n_features_in}
""",
    label_sets="""
*Calibration.* Scores are converted to probabilities by Platt scaling (Platt 1999, "Probabilistic
outputs for support vector machines") with an intercept for each label, of the score, the
standardized score, the logarithm of the share of the vote, and the largest score of the sample.
After each sample, the coefficients take a Newton step on the log loss of its scores from before it
was learned. For class labels, the probabilities are the softmax of the scores times a coefficient
that is learned in the same way (Guo et al. 2017, "On calibration of modern neural networks").

*Label sets.* There are four rules: the labels of a probability above 1/2; the same with the most
probable label instead of an empty set; the labels of a probability above half of the micro-F1 of
the past sets of this rule (Busa-Fekete et al. 2015, "Online F-measure optimization"); and the most
probable labels, whose number is the sum of all probabilities, rounded. `threshold` selects one of
them, or the rule whose past sets were the best. If only the relevance of labels shown is known,
numbers of relevant labels are weighted by the inverse of the propensities.
""",
)


@of_labels
@of_online
class LabelSetRanker(LabelRankerMixin, BaseOnlineClassifier):
    """Base class of online rankers whose learners vote for labels.

    The votes become sets of labels and probabilities by `LabelSets` (`label_sets.pyx`).
    `_start_model` of a subclass sets `_label_sets`, `_threshold` and `_memory`.
    """

    _accepts_indicators = True
    _accepts_sparse = True
    _parameter_constraints: dict = {
        **BaseOnlineClassifier._parameter_constraints,
        "threshold": [StrOptions(set(THRESHOLDS)), Interval(Real, 0, 1, closed="neither")],
    }

    @with_names
    @shared_call
    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Score the labels by the weighted votes of the learners.

        If there are several experts (attribute `expert_weights_`), the votes are those of the
        expert with the largest weight.

        {samples_and_returns}
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

        {samples}
        {available_and_returns}
        ndarray of shape (n_samples,) or (n_samples, n_labels)
            If the model was fitted with class labels, the class with the largest score. If it was
            fitted with an indicator matrix, an indicator matrix of the predicted sets.

        {value_error}
            If `X` or `available` is invalid.
        """
        scores = self._label_scores(X)
        available = check_available(available, self.classes_, len(scores))
        if not self._has_label_columns:
            return self.classes_[np.argmax(only_available(scores, available), axis=1)]
        sets = np.empty(scores.shape, dtype=np.intp)
        self._label_sets.play(scores, sets=sets, threshold=self._threshold)
        return only_available(sets, available, 0)

    @with_names
    @shared_call
    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Predict the probability of each class, or that each label is relevant.

        The probabilities are calibrated on the scores that past samples had before they were
        learned ("Calibration" in the notes of the class).

        {samples_and_returns}
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
        available: ArrayLike | None = None,
    ) -> np.ndarray | list[np.ndarray]:
        """Predict each sample, then learn from it (progressive, or prequential, validation).

        {progressive}

        {targets}
        {classes}
        {weights}
        method : str or list of str, default="decision_function"
            Predictions to return: "decision_function", "predict", "predict_proba", or several.
        {available_and_returns}
        ndarray of shape (n_samples, n_labels) or (n_samples,), or a list of these
            Predictions of each sample before it is learned, as the method of this name returns
            them. But scores have a column for each label, also for two classes; are those of the
            expert that is drawn in a round, if the algorithm draws experts; and are minus infinity
            for labels that are not available.

        {value_error}
            If `method` or the data are invalid, as in `partial_fit`.
        """
        names = [method] if isinstance(method, str) else list(method)
        if any(name not in _METHODS for name in names):
            raise ValueError(f"method must be one of {_METHODS} or a list of these, got {method!r}")
        with self._discard_failed_start(classes):
            data = self._check_and_start(X, y, classes, sample_weight)
            shape = len(data[-1]), len(self.classes_)
            scores, chances, sets = (np.empty(shape, kind) for kind in (float, float, np.intp))
            available = check_available(available, self.classes_, len(scores), self._n_shown())
            outputs = {"chances": chances, "sets": sets}
            self._learn_rounds(*data, scores=scores, outputs=outputs, available=available)
        sets = only_available(sets, available, 0)
        if not self._has_label_columns:
            sets = self.classes_[sets.argmax(axis=1)]
        results = dict(zip(_METHODS, (only_available(scores, available), sets, chances)))
        return results[method] if isinstance(method, str) else [results[name] for name in names]

    def _n_shown(self):
        return 1

    def _finish_merge(self):
        self._memory = WorkingMemory()  # the other one has the learners from before
