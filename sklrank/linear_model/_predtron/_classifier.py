"""PredtronClassifier."""

from __future__ import annotations

from copy import deepcopy
from numbers import Real
from typing import TYPE_CHECKING, Literal

import numpy as np
from sklearn.metrics import accuracy_score
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted

from sklrank._base_online import BaseOnlineClassifier
from sklrank._sklearn import Interval, StrOptions, _fit_context, available_if
from sklrank._validation import check_columns, check_target, check_weights
from sklrank.base import two_class_difference
from sklrank.linear_model._mirror._parameter import scores_poorly
from sklrank.linear_model._predtron._base import PredtronMixin, can_partial_fit, rows_are_rounds
from sklrank.linear_model._predtron._losses import (
    CLASS_LOSSES,
    SUBSET_LOSSES,
    SubsetLosses,
    class_costs,
)
from sklrank.linear_model._predtron._reject_rules import REJECT_RULES, margins
from sklrank.linear_model._predtron._tasks import ClassTask, SubsetTask
from sklrank.metrics import coverage_score

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike
    from typing_extensions import Self

    from sklrank._typing import MirrorMap

__all__ = ["PredtronClassifier"]


class PredtronClassifier(PredtronMixin, BaseOnlineClassifier):
    r"""Perceptron for any loss of class labels or label sets, with a reject option.

    A prediction :math:`\sigma` is represented by a unit vector :math:`rep(\sigma)`. The model
    predicts the one with the greatest similarity :math:`\langle rep(\sigma), t \rangle` to the
    scores :math:`t = W x`. If its loss :math:`L(\sigma, y)` is not zero, the weights take a step
    ([1]_, Algorithm 1)

    .. math:: W \leftarrow W - \eta \, (rep(\tilde\sigma) - rep(\sigma_y)) \, x^T, \qquad
              \tilde\sigma = \arg\max_\sigma L(\sigma, y) + \langle rep(\sigma), t \rangle,

    away from the loss-augmented prediction :math:`\tilde\sigma`, and towards the correct
    prediction :math:`\sigma_y`, which has the greatest similarity among those without loss. With
    two classes and the zero-one loss it is the classic perceptron, with steps of twice the learning
    rate; with more classes it is the multiclass perceptron.

    Parameters
    ----------
    loss : str, array-like or callable, default="zero_one"
        Loss of a prediction. For class labels, 1-d `y`:

        - "zero_one": 1 for a wrong class;
        - "absolute": the number of classes between the prediction and the true class, in the order
          of `classes_` (ordinal classes). Encode them as numbers, since strings are sorted
          alphabetically;
        - array-like of shape (n_classes,): the cost of a mistake on a sample of each class;
        - array-like of shape (n_classes, n_classes): the cost of a prediction (column) for a sample
          of a class (row), zero on the diagonal;
        - callable ``cost(true_class, predicted_class)``.

        With two classes there is one wrong prediction for each class, so their costs change the
        steps of "loss-driven" only.

        For label sets, an indicator matrix `Y`:

        - "zero_one", "subset_zero_one": 1 for a set that is not exactly the true one;
        - "hamming": the number of labels in error;
        - "error_set_size": the number of pairs of a relevant label that is missing and an
          irrelevant label that is predicted. The empty set and the set of all labels have no loss,
          so a model may end up predicting either for all samples;
        - callable ``f(tp, fp, fn, tn)`` of integer arrays: the numbers of true positives, false
          positives, false negatives and true negatives among the labels.

        For class labels, the names of losses of label sets mean "zero_one".
    update : {"loss-augmented", "loss-driven"}, default="loss-augmented"
        Step of the weights. "loss-augmented": the step above. "loss-driven": that of Predtron.LD
        ([1]_, Algorithm 2), with the prediction itself as :math:`\tilde\sigma`, and :math:`L` times
        as long.
    mirror_map : str or object, default="euclidean"
        Map from the sum of the steps :math:`\Theta` to the weights. It sets the norm in which the
        margin is large ([1]_, Algorithm 3).

        - "euclidean": :math:`W = \Theta`;
        - "p-norm": a norm close to the sum of absolute values, for few nonzero weights;
        - "group-norm": a norm close to the sum over features of the norms of their weights, for few
          relevant features;
        - "schatten": a norm close to the sum of singular values, for weights of low rank. With less
          than 8 scores or features it is "euclidean";
        - "entropy": exponentiated gradient. The weights of a class are a distribution over the
          features;
        - "positive": negative weights are set to zero. Two classes share one score, so that with
          this map and with "entropy" no feature can be evidence for the first class;
        - an object with a method ``weights(dual_weights)``, which maps an array `(n_scores,
          n_weights)` to one of the same shape.
    learning_rate : float or "theory", default=1.0
        Size :math:`\eta` of the steps. It changes predictions only with "entropy", or with
        "loss-augmented" steps of a loss with more than two values; otherwise it only scales the
        scores. "theory": the rate of [1]_, Theorems 1, 14 and 15, for the samples so far; it is not
        known for "entropy", "positive" and objects.
    reject_cost : float, array-like of shape (n_classes,) or None, default=None
        Cost of rejecting a sample, 0 or more: one number, or one for each class. None: no sample is
        rejected. Do not search over it, since `score` depends on it.
    reject_rule : {"margin"}, default="margin"
        Rule by which samples are rejected, with `reject_cost`. "margin": a sample is rejected if
        the difference between its two greatest scores is below a threshold. The threshold is the
        one that would have cost least so far, if each sample is scored before it is first learned
        (held-out scores).
    reject_label : int, str or None, default=None
        Label that `predict` returns for a rejected sample; not a class. None is "reject" if the
        classes are strings, and -1 if they are numbers, or the integer below all of them if -1 is
        a class.
    average : bool, default=False
        Whether to predict by the mean of the weights over the rounds (averaged perceptron). For
        "euclidean" it adds little cost; with the other maps each mistake costs a pass over all
        weights.
    kernel : str, callable or None, default=None
        None: the model learns weights of the features. Otherwise it learns dual coefficients of
        support vectors, with a kernel of :func:`sklearn.metrics.pairwise.pairwise_kernels`, as
        "rbf" or "poly"; with "precomputed", where `X` is the kernel matrix; or with
        ``kernel(A, B)``, which returns the values `(n, m)` for the rows of both arrays.
    gamma, degree, coef0 : float, default=None, 3, 1
        Parameters of kernels; `gamma` None is ``1 / n_features``.
    budget : int or None, default=None
        Greatest number of support vectors under a kernel; the oldest ones are removed. None: no
        limit. Ignored without a kernel.
    fit_intercept : bool, default=True
        Whether to add a constant feature of value one; under a kernel, one is added to its values.
    max_iter : int, default=1
        Number of passes of `fit` over the samples; `partial_fit` makes one.
    shuffle : bool, default=False
        Whether `fit` shuffles the samples before each pass. It is needed for samples that are
        sorted by class.
    random_state : int, RandomState instance or None, default=None
        Seed of the shuffles.
    verbose : int, default=0
        Whether to print the mistakes and the mean loss of each pass.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels. For an indicator matrix its columns, by name if it is a data frame with names.
    coef_ : ndarray of shape (n_classes, n_features), or (1, n_features)
        Weights of the features; one row for two classes. Not under a kernel.
    intercept_ : ndarray of shape (n_classes,) or (1,)
        Weights of the constant feature, zero without `fit_intercept`. Not under a kernel.
    dual_coef_ : ndarray of shape (n_classes, n_supports) or (1, n_supports)
        Coefficients of the support vectors. Under a kernel only.
    support_vectors_ : {ndarray, sparse matrix} of shape (n_supports, n_features)
        Samples with a coefficient; under a precomputed kernel their indices `(n_supports,)`.
    reject_threshold_ : float
        The least margin that is not rejected. With `reject_cost` only.
    reject_label_ : object
        Label that `predict` returns for a rejected sample; None without `reject_cost`.
    n_rounds_ : int
        Number of rounds so far; each is one sample.
    n_mistakes_ : int
        Number of rounds so far whose prediction had a loss. Among tied predictions the one with the
        greatest loss counts.
    mean_loss_ : float
        Mean loss of the rounds so far, each before its step; NaN before the first one.
    n_iter_ : int
        Number of passes of `fit`.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if those of `X` are strings.

    See Also
    --------
    PredtronLabelRanker : Ranks the labels of a sample.
    PredtronQueryRanker : Ranks the documents of a query.
    BanditronClassifier : Learns from the feedback on the class that it showed.

    Notes
    -----
    Parameters take effect when a model is started, by `fit` or the first `partial_fit`.

    A rejection is not a vote: the hard voting of :class:`sklearn.ensemble.VotingClassifier` fails
    on it, so do not set `reject_cost` there.

    The defaults are the algorithm as printed: one pass, and the unaveraged weights that its mistake
    bounds are about. For predictions ``average=True, max_iter=10, shuffle=True`` and features
    of similar scale are recommended: on five data sets the accuracy is within .014 of logistic
    regression. On pendigits it is .95 and on letter .78, against .87 and .63 by the defaults. If
    the loss has more than two values, try smaller learning rates: for grades and standardised
    features .1 is better than 1 (``benchmarks/predtron.py``).

    References
    ----------
    .. [1] P. Jain, N. Natarajan and A. Tewari, "Predtron: A family of online algorithms for general
       prediction problems", NIPS 2015.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.model_selection import train_test_split
    >>> from sklrank.linear_model import PredtronClassifier
    >>> X_train, X_test, y_train, y_test = train_test_split(
    ...     *load_digits(return_X_y=True), random_state=0
    ... )
    >>> model = PredtronClassifier(average=True, max_iter=10).fit(X_train, y_train)
    >>> round(model.score(X_test, y_test), 2)
    0.96

    With a reject option that costs .3, where a mistake costs 1:

    >>> model = PredtronClassifier(reject_cost=0.3, average=True, max_iter=10)
    >>> model = model.fit(X_train, y_train)
    >>> round(model.coverage(X_test), 2)
    0.96
    """

    _parameter_constraints: dict = {
        "loss": [StrOptions({*CLASS_LOSSES, *SUBSET_LOSSES}), "array-like", callable],
        **PredtronMixin._parameter_constraints,
        "reject_cost": [Interval(Real, 0, None, closed="left"), "array-like", None],
        "reject_rule": [StrOptions(set(REJECT_RULES))],
        "reject_label": [Interval(Real, None, None, closed="neither"), str, None],
        "fit_intercept": ["boolean"],
    }

    def __init__(
        self,
        *,
        loss: str | ArrayLike | Callable = "zero_one",
        update: Literal["loss-augmented", "loss-driven"] = "loss-augmented",
        mirror_map: MirrorMap = "euclidean",
        learning_rate: float | Literal["theory"] = 1.0,
        reject_cost: float | ArrayLike | None = None,
        reject_rule: Literal["margin"] = "margin",
        reject_label: int | str | None = None,
        average: bool = False,
        kernel: str | Callable | None = None,
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        budget: int | None = None,
        fit_intercept: bool = True,
        max_iter: int = 1,
        shuffle: bool = False,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.update = update
        self.mirror_map = mirror_map
        self.learning_rate = learning_rate
        self.reject_cost = reject_cost
        self.reject_rule = reject_rule
        self.reject_label = reject_label
        self.average = average
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.budget = budget
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.verbose = verbose

    @property
    def _accepts_indicators(self):
        if isinstance(self.loss, str):
            is_subset_loss = self.loss in SUBSET_LOSSES
        else:
            is_subset_loss = callable(self.loss)
        return is_subset_loss and self.reject_cost is None

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit the model from scratch, by `max_iter` passes over the samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples; under a precomputed kernel the kernel matrix.
        y : {array-like, sparse matrix} of shape (n_samples,) or (n_samples, n_labels)
            Class labels, or an indicator matrix.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If the data are malformed or hold one class only, or if parameters do not go together or
            with the data. A fitted model is not changed then.
        """
        return self._fit_from_scratch(X, y, None)

    @available_if(can_partial_fit)
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Continue training with each sample in order.

        Samples in one call, in chunks, or before and after pickling make bit-identical models;
        under a kernel they agree up to rounding of its values.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : {array-like, sparse matrix} of shape (n_samples,) or (n_samples, n_labels)
            Class labels, or an indicator matrix.
        classes : array-like of shape (n_classes,), default=None
            All classes that may occur, at the first call; by default those of `y`. For an indicator
            matrix the names of its columns.

        Returns
        -------
        self : object
            The estimator.

        Raises
        ------
        ValueError
            If the data are malformed or hold labels that are not in `classes`. The model is not
            changed then.
        """
        self._partial_fit(X, y, classes)
        return self

    @available_if(can_partial_fit)
    @_fit_context(prefer_skip_nested_validation=True)
    def progressive_fit(
        self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None
    ) -> np.ndarray:
        """Score each sample, then learn from it (progressive, or prequential, validation).

        The resulting model is that of `partial_fit`. The scores are those of the current weights,
        even with `average`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : {array-like, sparse matrix} of shape (n_samples,) or (n_samples, n_labels)
            Class labels, or an indicator matrix.
        classes : array-like of shape (n_classes,), default=None
            As in `partial_fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Scores of each sample before it was learned; columns as in `classes_`. With two classes
            the first one has the score 0, the second one that of `decision_function`.

        Raises
        ------
        ValueError
            As `partial_fit`.
        """
        return self._add_first_class(self._partial_fit(X, y, classes, return_scores=True))

    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Score the classes, or labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes), or (n_samples,) for two classes
            The scores t; for two classes the difference between those of the second and the first.
        """
        scores = self._add_first_class(self._scores(X))
        return scores if self._fitted_with_indicators else two_class_difference(scores)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Predict the class of the greatest score, or the labels of positive scores.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_labels)
            Entries of `classes_`, the first one among equal scores, and `reject_label_` for
            rejected samples; or an indicator matrix.
        """
        scores = self._scores(X)
        if self._fitted_with_indicators:
            return (scores > 0).astype(np.intp)
        best, rejected = self._decide(scores)
        predictions = self.classes_[best]
        if self.reject_label_ is not None:
            # The label may be a longer string than the classes. No integer type of NumPy holds both
            # all numbers of uint64 and a negative one.
            if predictions.dtype.kind != "O":
                kind = np.result_type(predictions, np.asarray(self.reject_label_))
                predictions = predictions.astype(object if predictions.dtype == "u8" else kind)
            predictions[rejected] = self.reject_label_
        return predictions

    def coverage(self, X: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the share of samples that are not rejected.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights.

        Returns
        -------
        float
            From 0 to 1; 1 without `reject_cost`.
        """
        predictions = self.predict(X)
        if self.reject_label_ is None:
            return 1.0
        return coverage_score(
            predictions, reject_label=self.reject_label_, sample_weight=sample_weight
        )

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy, or with `reject_cost` 1 - mean cost of mistakes and rejections.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
            Class labels, or an indicator matrix: then the subset accuracy is returned.
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights.

        Returns
        -------
        float
            At most 1. With `reject_cost` each sample counts 1 - cost of its prediction. If the true
            class is unknown, this is the greatest cost of the prediction for any class.
        """
        check_is_fitted(self, "classes_")
        if self.reject_label_ is None:
            if self._fitted_with_indicators:
                target = check_target(y, multilabel=True)
                check_columns(target.names, self.classes_)
                y = target.values.astype(np.intp)
            return accuracy_score(y, self.predict(X), sample_weight=sample_weight)
        predictions, rejected = self._decide(self._scores(X))
        y = check_target(y, multilabel=False).values
        check_consistent_length(predictions, y)
        weights = check_weights(sample_weight, len(y), positive=True)
        # The costs for unknown classes are in one more row, at index -1.
        indices = {label: index for index, label in enumerate(self.classes_.tolist())}
        labels = [indices.get(label, -1) for label in y.tolist()]
        costs = np.vstack([self._costs, self._costs.max(axis=0)])
        costs = costs[labels, np.where(rejected, len(indices), predictions)]
        return 1.0 - float(np.average(costs, weights=weights))

    def _decide(self, scores):
        """Return the index of the best class of each sample, and whether it is rejected."""
        _, best = margins(scores)
        if self._reject_rule is None:
            return best, np.zeros(len(best), dtype=bool)
        return best, self._reject_rule.rejects(scores)

    def _start_model(self, classes):
        self.classes_ = classes
        self.reject_label_ = self._reject_rule = None
        if self._fitted_with_indicators:
            self._subset_losses = SubsetLosses(self.loss, len(classes))
            n_scores = len(classes)
        else:
            n_scores = self._start_classes(classes)
        self._model = self._make_model(n_scores, float(self.fit_intercept))

    def _start_classes(self, classes):
        # A class is a set of one label, for which losses of sets are 1 for a mistake.
        is_subset_loss = isinstance(self.loss, str) and self.loss in SUBSET_LOSSES
        loss = "zero_one" if is_subset_loss else self.loss
        self._costs = class_costs(loss, classes, self.reject_cost)
        if self.reject_cost is not None:
            self.reject_label_ = self._choose_reject_label(classes)
            self._reject_rule = REJECT_RULES[self.reject_rule](self._costs)
        return 1 if len(classes) == 2 else len(classes)

    def _choose_reject_label(self, classes):
        label, is_number = self.reject_label, classes.dtype.kind in "biuf"
        if classes.dtype.kind in "mM":
            raise ValueError(
                f"y holds classes of the type {classes.dtype}, and no label of this type stands "
                "for a rejection: encode them as numbers or strings, or leave reject_cost out"
            )
        if label is None and is_number:
            return -1 if -1 not in classes else int(np.floor(classes.min())) - 1
        label = "reject" if label is None else label
        if isinstance(label, str) == is_number:
            kind = "a number" if is_number else "a string"
            raise ValueError(f"reject_label={label!r} must be {kind}, as the classes are")
        if label in classes.tolist():
            raise ValueError(
                f"reject_label={label!r} is a class: choose one that is not in {classes.tolist()}"
            )
        return label

    def _make_task(self, X, y, classes, *, restart):
        X, indptr, labels, _ = self._check_and_start(X, y, classes, None, restart=restart)
        self._check_pairwise(X)
        if self._fitted_with_indicators:
            losses = self._subset_losses
            losses.cover(np.diff(indptr))
            task = SubsetTask(
                indptr, labels, losses.n_labels, losses.offsets, losses.values, self._loss_driven
            )
        else:
            # The rule is updated in place, and unchanged_on_error restores the reference only.
            self._reject_rule = deepcopy(self._reject_rule)
            costs = np.ascontiguousarray(self._costs[:, : len(self.classes_)])
            task = ClassTask(costs, labels, self._loss_driven)
        return X, task, rows_are_rounds

    def _add_first_class(self, scores):
        """Add the score 0 of the first of two classes, which share one score in the model."""
        if self._fitted_with_indicators or scores.shape[1] > 1:
            return scores
        return np.column_stack([np.zeros(len(scores)), scores])

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = scores_poorly(self.mirror_map, one_score=True)
        return tags

    @property
    def reject_threshold_(self) -> float:
        """The least margin that is not rejected."""
        check_is_fitted(self, "classes_")
        if self._reject_rule is None:
            raise AttributeError("reject_threshold_ is an attribute of models with reject_cost")
        return self._reject_rule.threshold
