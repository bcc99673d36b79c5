"""PredtronClassifier."""

from __future__ import annotations

from copy import copy, deepcopy
from numbers import Real
from typing import TYPE_CHECKING, Literal

import numpy as np
from sklearn.metrics import accuracy_score
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted

from sklrank._base_online import BaseOnlineClassifier
from sklrank._call_guard import exclusive_call, shared_call
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
    r"""Predtron classifier: a perceptron for any loss of class labels or label sets.

    The model computes the scores :math:`t = W x` of a sample. Each possible prediction
    :math:`\sigma` is represented by a unit vector :math:`rep(\sigma)`, and the model predicts the
    one with the greatest similarity :math:`\langle rep(\sigma), t \rangle` to the scores. If the
    loss :math:`L` of the prediction is not zero, the weights take the step ([1]_, Algorithm 1)

    .. math:: W \leftarrow W - \eta \, (rep(\tilde\sigma) - rep(\sigma_y)) \, x^T, \qquad
              \tilde\sigma = \arg\max_\sigma L(\sigma, y) + \langle rep(\sigma), t \rangle.

    The step moves the scores away from the loss-augmented prediction :math:`\tilde\sigma` and
    towards the correct prediction :math:`\sigma_y`, which has the greatest similarity among the
    predictions without loss. With two classes and the zero-one loss, this method is the classic
    perceptron with steps of twice the learning rate. With more classes, it is the multiclass
    perceptron. If `reject_cost` is given, the model rejects uncertain samples.

    Parameters
    ----------
    loss : str, array-like or callable, default="zero_one"
        Loss of a prediction. If `y` holds class labels, the loss is one of

        - "zero_one": 1 for every wrong class;
        - "absolute": the absolute difference between the indices of the predicted and the true
          class in `classes_`, for ordinal classes. Ordinal classes should be encoded as numbers,
          since strings are sorted alphabetically;
        - an array-like of shape (n_classes,): the cost of a mistake on a sample of each class;
        - an array-like of shape (n_classes, n_classes): the cost of each prediction (column) for a
          sample of each class (row), with zeros on the diagonal;
        - a callable ``cost(true_class, predicted_class)`` that returns the cost of a prediction.

        With two classes, only one prediction is wrong for each class. So the costs influence the
        length of a step only, and not its direction.

        If `y` is an indicator matrix of label sets, the loss is one of

        - "zero_one" or "subset_zero_one": 1 for every set that differs from the true set;
        - "hamming": the number of labels in error;
        - "error_set_size": the number of pairs of a relevant label that is missing and an
          irrelevant label that is predicted. The empty set and the set of all labels have no loss,
          so the model may learn to predict one of them for all samples;
        - a callable ``f(tp, fp, fn, tn)`` of integer arrays, which hold the numbers of true
          positives, false positives, false negatives and true negatives among the labels.

        If `y` holds class labels, the names "subset_zero_one", "hamming" and "error_set_size" mean
        "zero_one".
    update : {"loss-augmented", "loss-driven"}, default="loss-augmented"
        Step of the weights. "loss-augmented" is the step above. "loss-driven" is the step of
        Predtron.LD ([1]_, Algorithm 2): the prediction itself takes the place of
        :math:`\tilde\sigma`, and the step is multiplied by the loss :math:`L` of the prediction.
    mirror_map : str or object, default="euclidean"
        Map from the sum of the steps :math:`\Theta` to the weights. It determines the norm in which
        the margin is large ([1]_, Algorithm 3).

        - "euclidean": :math:`W = \Theta`;
        - "p-norm": a norm close to the sum of absolute values, for few nonzero weights;
        - "group-norm": a norm close to the sum over features of the norms of their weights, for few
          relevant features;
        - "schatten": a norm close to the sum of singular values, for weights of low rank. With
          fewer than 8 scores, or fewer than 8 features including the constant feature, it is
          identical to "euclidean";
        - "entropy": exponentiated gradient. The weights of a class are a distribution over the
          features;
        - "positive": negative weights are set to zero. Two classes share one score, so with this
          map and with "entropy" no feature can be evidence for the first class;
        - an object with a method ``weights(dual_weights)``, which maps an array `(n_scores,
          n_weights)` to an array of the same shape.
    learning_rate : float or "theory", default=1.0
        Learning rate :math:`\eta` that multiplies each step. It can change predictions only with
        "entropy", with a user-defined mirror map, or with "loss-augmented" steps of a loss that has
        more than two values. Otherwise it only scales the scores. "theory" is the rate of [1]_,
        Theorems 1, 14 and 15, for the samples of all rounds up to the current one. It is not
        available for "entropy", "positive" and user-defined mirror maps.
    reject_cost : float, array-like of shape (n_classes,) or None, default=None
        Cost of rejecting a sample, at least 0: one number, or one number for each class. If None,
        no sample is rejected. `reject_cost` should not be tuned by `score`, which depends on it.
    reject_rule : {"margin"}, default="margin"
        Rule that decides which samples are rejected. It is used only if `reject_cost` is given.
        With "margin", a sample is rejected if the difference between its two greatest scores is
        below a threshold. The threshold minimizes the total cost on held-out scores: each training
        sample is scored before the model first learns from it.
    reject_label : int, str or None, default=None
        Label that `predict` returns for a rejected sample. It must not be a class. If None, the
        label is "reject" if the classes are strings. If the classes are numbers, it is -1, or an
        integer below all classes if -1 is a class.
    average : bool, default=False
        Whether to predict with the mean of the weights over the rounds (averaged perceptron). The
        additional cost is small for "euclidean". For the other maps, each mistake requires a pass
        over all weights.
    kernel : str, callable or None, default=None
        If None, the model learns weights of the features. Otherwise, it learns dual coefficients
        of support vectors. A string is the name of a kernel of
        :func:`sklearn.metrics.pairwise.pairwise_kernels`, such as "rbf" or "poly", or
        "precomputed", in which case `X` must be the kernel matrix. A callable ``kernel(A, B)``
        returns the array `(n, m)` of the kernel values between the n rows of A and the m rows of B.
    gamma, degree, coef0 : float, default=None, 3, 1
        Parameters of the kernels that are given by name. If `gamma` is None, ``1 / n_features`` is
        used.
    budget : int or None, default=None
        Maximum number of support vectors of a model with a kernel. If it is exceeded, the oldest
        support vectors are removed. If None, the number is not limited. `budget` is ignored if
        `kernel` is None.
    fit_intercept : bool, default=True
        Whether to add a constant feature of value one. With a kernel, one is added to the kernel
        values instead.
    max_iter : int, default=1
        Number of passes over the samples in `fit`; `partial_fit` always makes one pass.
    shuffle : bool, default=False
        Whether `fit` shuffles the samples before each pass. Shuffling is needed if the samples are
        sorted by class.
    random_state : int, RandomState instance or None, default=None
        Controls the order of the samples if `shuffle` is True.
    verbose : int, default=0
        If positive, the number of mistakes and the mean loss of each pass are printed.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels. If `y` is an indicator matrix, the names of its columns, which are
        0, ..., n_labels - 1 unless `y` is a data frame with names or `classes` was passed.
    coef_ : ndarray of shape (n_classes, n_features), or (1, n_features)
        Weights of the features, in one row if `y` holds the labels of two classes. Defined only if
        the model has no kernel.
    intercept_ : ndarray of shape (n_classes,) or (1,)
        Weights of the constant feature, which are zero if `fit_intercept` is False. Defined only
        if the model has no kernel.
    dual_coef_ : ndarray of shape (n_classes, n_supports) or (1, n_supports)
        Dual coefficients of the support vectors. Defined only if the model has a kernel.
    support_vectors_ : {ndarray, sparse matrix} of shape (n_supports, n_features)
        Samples that have dual coefficients. With a precomputed kernel, the indices of these
        samples, of shape (n_supports,).
    reject_threshold_ : float
        Smallest margin for which a sample is not rejected. Defined only if `reject_cost` is given.
    reject_label_ : object
        Label that `predict` returns for a rejected sample, or None if `reject_cost` is None.
    n_rounds_ : int
        Number of rounds that the model has been trained on. Each round uses one sample.
    n_mistakes_ : int
        Number of these rounds in which the loss of the prediction was not zero. Among tied
        predictions, the one with the greatest loss is the prediction.
    mean_loss_ : float
        Mean loss of the predictions that were made in these rounds, before the step of each round.
        It is NaN before the first round.
    n_iter_ : int
        Number of passes made by `fit`.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features. Defined only if `X` has feature names that are all strings.

    See Also
    --------
    PredtronLabelRanker : Ranks the labels of a sample.
    PredtronQueryRanker : Ranks the documents of a query.
    BanditronClassifier : Observes only whether the class that it shows is correct.

    Notes
    -----
    The parameters are read in `fit` and, if the model is not fitted, in the first call of
    `partial_fit` or `progressive_fit`. Later changes do not affect the model until `fit` is called.

    Hard voting in :class:`sklearn.ensemble.VotingClassifier` fails on the label of rejected
    samples, which is not a class. So `reject_cost` should not be set for its estimators.

    The default parameters follow the published algorithm, which makes one pass over the samples and
    predicts with unaveraged weights. The mistake bounds of [1]_ refer to these weights. For more
    accurate predictions, ``average=True, max_iter=10, shuffle=True`` and features of similar scale
    are recommended. On five data sets, the accuracy with these parameters is within .014 of that of
    logistic regression. It is .95 on pendigits and .78 on letter, compared with .87 and .63 with
    the default parameters. If the loss has more than two values, smaller learning rates should be
    tried: for grades and standardized features, .1 is better than 1 (``benchmarks/predtron.py``).

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

    In the next example, a rejection costs .3 and a mistake costs 1:

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
    @exclusive_call
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit the model from scratch with `max_iter` passes over the samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples, or the kernel matrix `(n_samples, n_samples)` if the kernel is precomputed.
        y : {array-like, sparse matrix} of shape (n_samples,) or (n_samples, n_labels)
            Class labels, or an indicator matrix.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If the data are malformed or hold only one class, or if parameters are not compatible
            with each other or with the data. In this case, a fitted model does not change.
        """
        return self._fit_from_scratch(X, y, None)

    @available_if(can_partial_fit)
    @_fit_context(prefer_skip_nested_validation=True)
    @exclusive_call
    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Continue training with each sample in order.

        Without a kernel, passing the samples in one call or in several calls gives bit-identical
        models. With a kernel, the models are equal up to rounding errors of the kernel values.
        Pickling the model between calls does not change the result.

        A call that is interrupted by Ctrl-C (KeyboardInterrupt) or by a lack of memory
        (MemoryError) has learned all samples or none.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : {array-like, sparse matrix} of shape (n_samples,) or (n_samples, n_labels)
            Class labels, or an indicator matrix.
        classes : array-like of shape (n_classes,), default=None
            All classes that may occur in any call, given in the first call. If None, they are the
            classes of `y`. For an indicator matrix, the names of its columns.

        Returns
        -------
        self : object
            The estimator.

        Raises
        ------
        ValueError
            If the data are malformed or hold labels that are not in `classes`. In this case, the
            model does not change.
        """
        self._partial_fit(X, y, classes)
        return self

    @available_if(can_partial_fit)
    @_fit_context(prefer_skip_nested_validation=True)
    @exclusive_call
    def progressive_fit(
        self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None
    ) -> np.ndarray:
        """Score each sample, then learn from it (progressive, or prequential, validation).

        The resulting model is the same as after `partial_fit`. The scores are computed with the
        current weights, even if `average` is True.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : {array-like, sparse matrix} of shape (n_samples,) or (n_samples, n_labels)
            Class labels, or an indicator matrix.
        classes : array-like of shape (n_classes,), default=None
            See `partial_fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Scores of each sample before the model learned from it, with columns in the order of
            `classes_`. With two classes, the score of the first class is 0, and the score of the
            second class is the one that `decision_function` returns.

        Raises
        ------
        ValueError
            See `partial_fit`.
        """
        return self._add_first_class(self._partial_fit(X, y, classes, return_scores=True))

    @shared_call
    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Compute the scores of the classes or labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes), or (n_samples,) for two classes
            Scores of the classes or labels, in the order of `classes_`. For two classes, the
            difference between the scores of the second and the first class.
        """
        scores = self._add_first_class(self._scores(X))
        return scores if self._has_label_columns else two_class_difference(scores)

    @shared_call
    def predict(self, X: ArrayLike) -> np.ndarray:
        """Predict the class with the greatest score, or the labels with positive scores.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_labels)
            Predicted classes, with `reject_label_` for rejected samples, or an indicator matrix of
            the predicted labels. Ties are broken in favor of the class that is first in `classes_`.
        """
        scores = self._scores(X)
        if self._has_label_columns:
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

    @shared_call
    def coverage(self, X: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the fraction of samples that are not rejected.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights.

        Returns
        -------
        float
            Weighted fraction of samples, from 0 to 1. It is 1 if `reject_cost` is None.
        """
        predictions = self.predict(X)
        if self.reject_label_ is None:
            return 1.0
        return coverage_score(
            predictions, reject_label=self.reject_label_, sample_weight=sample_weight
        )

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy, or 1 minus the mean cost if `reject_cost` is given.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
            Class labels, or an indicator matrix. For an indicator matrix, the subset accuracy is
            returned.
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights.

        Returns
        -------
        float
            The accuracy if `reject_cost` is None. Otherwise, 1 minus the mean cost of the
            predictions, including rejections. If the true class of a sample is unknown to the
            model, the cost of its prediction is the greatest cost for any class.
        """
        check_is_fitted(self, "classes_")
        if self.reject_label_ is None:
            if self._has_label_columns:
                target = check_target(y, multilabel=True)
                check_columns(target.names, self.classes_)
                y = target.values.astype(np.intp)
            return accuracy_score(y, self.predict(X), sample_weight=sample_weight)
        predictions, rejected = self._decide(self._scores(X))
        y = check_target(y, multilabel=False).values
        check_consistent_length(predictions, y)
        weights = check_weights(sample_weight, len(y), positive=True)
        # The costs for unknown classes are in an additional row, at index -1.
        indices = {label: index for index, label in enumerate(self.classes_.tolist())}
        labels = [indices.get(label, -1) for label in y.tolist()]
        costs = np.vstack([self._costs, self._costs.max(axis=0)])
        costs = costs[labels, np.where(rejected, len(indices), predictions)]
        return 1.0 - float(np.average(costs, weights=weights))

    def _decide(self, scores):
        """Return the index of the best class of each sample, and whether the sample is rejected."""
        _, best = margins(scores)
        if self._reject_rule is None:
            return best, np.zeros(len(best), dtype=bool)
        return best, self._reject_rule.rejects(scores)

    def _start_model(self, classes):
        self.classes_ = classes
        self.reject_label_ = self._reject_rule = None
        if self._has_label_columns:
            self._subset_losses = SubsetLosses(self.loss, len(classes))
            n_scores = len(classes)
        else:
            n_scores = self._start_classes(classes)
        self._model = self._make_model(n_scores, float(self.fit_intercept))

    def _start_classes(self, classes):
        # A class label is a set of one label. All mistakes on such sets have the same loss, 2 for
        # "hamming" and 1 for the other names of losses of sets. So these names mean "zero_one".
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
        if self._has_label_columns:
            losses = self._subset_losses = copy(self._subset_losses)
            losses.cover(np.diff(indptr))
            task = SubsetTask(
                indptr, labels, losses.n_labels, losses.offsets, losses.values, self._loss_driven
            )
        else:
            # The rule is updated in place, as are the losses above. Copies are used, since
            # `unchanged_on_error` restores only the references after an error.
            self._reject_rule = deepcopy(self._reject_rule)
            costs = np.ascontiguousarray(self._costs[:, : len(self.classes_)])
            task = ClassTask(costs, labels, self._loss_driven)
        return X, task, rows_are_rounds

    def _add_first_class(self, scores):
        """Return the scores with a column of zeros for the first class if two classes share one."""
        if self._has_label_columns or scores.shape[1] > 1:
            return scores
        return np.column_stack([np.zeros(len(scores)), scores])

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = scores_poorly(self.mirror_map, one_score=True)
        return tags

    @property
    def reject_threshold_(self) -> float:
        """Smallest margin for which a sample is not rejected."""
        check_is_fitted(self, "classes_")
        if self._reject_rule is None:
            raise AttributeError("reject_threshold_ is an attribute of models with reject_cost")
        return self._reject_rule.threshold
