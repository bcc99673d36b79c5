"""PredtronClassifier."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from numbers import Real
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import accuracy_score
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted

from sklrank._checks import (
    check_scored,
    check_target,
    check_weights,
    in_declared_order,
    with_reject_label,
)
from sklrank._compiled import Rows, shared_call
from sklrank._estimators import Interval, StrOptions, shares_text, unchanged_on_error
from sklrank._online import BaseOnlineClassifier, of_online
from sklrank._rankers import two_class_difference
from sklrank._typing import MirrorMap
from sklrank.linear_model._mirror import MAPS_TEXT
from sklrank.linear_model._predtron._base import TEXTS, BaseSamplePredtron
from sklrank.linear_model._predtron._losses import (
    CLASS_CODES,
    CLASS_LOSSES,
    SUBSET_LOSSES,
    SubsetLosses,
    class_problem,
    warn_of_idle_costs,
)
from sklrank.linear_model._predtron._rounds import linear_scores
from sklrank.linear_model._predtron._tasks import ClassTask, SubsetTask


@of_online
@shares_text(**TEXTS, maps=MAPS_TEXT)
class PredtronClassifier(BaseSamplePredtron, BaseOnlineClassifier):
    r"""Predtron classifier: a perceptron for any loss of class labels or label sets.

    The model computes the scores :math:`t = W x` of a sample. Each possible prediction
    :math:`\sigma` is represented by a unit vector :math:`rep(\sigma)`, and the model predicts the
    one with the greatest similarity :math:`\langle rep(\sigma), t \rangle` to the scores. If the
    loss :math:`L` of the prediction is not zero, the weights take the step ([1]_, Algorithm 1)

    .. math:: W \leftarrow W - \eta \, (rep(\tilde\sigma) - rep(\sigma_y)) \, x^T, \qquad
              \tilde\sigma = \arg\max_\sigma L(\sigma, y) + \langle rep(\sigma), t \rangle.

    The step moves the scores away from the loss-augmented prediction :math:`\tilde\sigma` and
    towards the correct prediction :math:`\sigma_y`, which has the greatest similarity among those
    without loss. With two classes and the zero-one loss, this is the classic perceptron with steps
    of twice the learning rate; with more classes, it is the multiclass perceptron.

    Parameters
    ----------
    loss : str, array-like or callable, default="zero_one"
        Loss of a prediction: a name, the costs of mistakes, or a function, see Notes.
    {update}
    mirror_map : str or callable, default="euclidean"
        Map from the sum of the steps :math:`\Theta` to the weights, see Notes. It determines the
        norm in which the margin is large ([1]_, Algorithm 3).
    learning_rate : float, default=1.0
        Learning rate :math:`\eta` that multiplies each step. It can change predictions only with
        "entropy", or with "loss-augmented" steps of a loss that has more than two values.
    representation : str, array-like or callable, default="one_hot"
        Unit vectors :math:`rep(\sigma)` of the predictions if `y` holds class labels, see Notes. A
        step for a mistake is shorter if the vectors of the two predictions are closer.
    reject_cost : float, array-like of shape (n_classes,) or None, default=None
        Cost of rejecting a sample, at least 0, one number or one for each class. Then REJECT is a
        further prediction with these losses ([1]_, Section 3 and Appendix C.1), see Notes. It
        should not be tuned by `score`, which depends on it.
    {average_and_kernel}
    {intercept_and_passes}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted, or in the order of an ordered Categorical of pandas or an Enum of
        polars if `loss` or `representation` depends on it. For an indicator matrix, the names of
        its columns, 0, ..., n_labels - 1 unless it is a data frame with names or `classes` was
        passed.
    {weights}
    predictions_ : ndarray of shape (n_predictions,)
        Values that `predict` returns if `y` holds class labels: the classes, or the indices of the
        rows of `representation`, followed by `reject_label_` if `reject_cost` is given.
    reject_label_ : object
        Label that `predict` returns for a rejected sample, or None if `reject_cost` is None:
        "reject" for classes that are strings, and -1 for numbers; if this is a class, a longer
        string, or an integer below all classes.
    {fitted}

    See Also
    --------
    PredtronLabelRanker : Ranks the labels of a sample.
    PredtronQueryRanker : Ranks the documents of a query.
    sklrank.metrics.reject_loss : Mean cost of wrong predictions and rejections.
    BanditronClassifier : Observes only whether the class that it shows is correct.

    Notes
    -----
    {reading}

    ===================  =======  ========================================================
    loss                 y        loss of a prediction
    ===================  =======  ========================================================
    "zero_one"           classes  1 if the class is wrong
    "absolute"           classes  distance of the indices in `classes_`, for ordinal classes
    array (n_classes,)   classes  cost of a mistake on a sample of each class
    table                classes  cost by true class (row) and prediction; diagonal 0
    callable             classes  ``cost(true_class, predicted_class)``
    "zero_one"           sets     1 if the set is wrong; also called "subset_zero_one"
    "hamming"            sets     number of labels in error
    "error_set_size"     sets     number of pairs of a missing label and a false one
    callable             sets     ``f(tp, fp, fn, tn)`` of integer arrays of counts
    ===================  =======  ========================================================

    The sets are the rows of an indicator matrix. Ordinal classes should be numbers or an ordered
    Categorical, since strings are sorted alphabetically. Costs that depend on the true class only,
    such as those of two classes, have an effect only as lengths of steps, with
    ``update="loss-driven"``. The empty set and the set of all labels have no "error_set_size", so
    that the model may learn to predict one of them. For classes, the names of the other losses of
    sets mean "zero_one".

    {maps}
    For two classes, which share one score, and "entropy" or "positive", no feature can be evidence
    for the first class. The learning rate of the loss bounds of [1]_ is :math:`c / (4 R^2)` with
    the least nonzero loss c and the greatest norm R of a sample (Theorem 1), or
    :math:`1 / (4 C R^2)` with the greatest loss C for "loss-driven" steps (Theorem 14); Theorem 15
    has that of other mirror maps.

    ==============  ========================================================================
    representation  unit vectors
    ==============  ========================================================================
    "one_hot"       the standard basis; -1 and 1 for two classes without `reject_cost`
    "simplex"       with equal inner products and n_classes - 1 scores; they sum to zero, so
                    that there is none for REJECT
    "ordinal"       a score for each border between neighboring classes, n_classes - 1; inner
                    products decrease linearly with the distance of the classes
    array           (n_predictions, n_scores), whose rows are divided by their norms
    callable        returns such an array for the array of the classes
    ==============  ========================================================================

    If there is a score for each class, later calls may add classes, and `drop_classes` removes
    some. If there are not as many predictions as classes, `predict` returns indices of rows, and
    `loss` is a table (n_classes, n_predictions), or ``cost(true_class, index)``.

    The vector of REJECT is the sum of the others, divided by its norm. With "positive" and
    "entropy", the model rejects often. With "euclidean", steps between classes keep the sum of the
    scores at zero, so that REJECT, at a cost below that of all mistakes, is predicted only in ties.
    Hard voting in :class:`sklearn.ensemble.VotingClassifier` fails on rejections.

    {as_published}
    For more accurate predictions, ``average=True, max_iter=10`` and features of similar scale are
    recommended; for losses with more than two values, smaller learning rates should be tried.

    {references}

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.model_selection import train_test_split
    >>> from sklrank.linear_model import PredtronClassifier
    >>> X_train, X_test, y_train, y_test = train_test_split(
    ...     *load_digits(return_X_y=True), random_state=0
    ... )
    >>> model = PredtronClassifier(average=True, max_iter=10, random_state=0)
    >>> model = model.fit(X_train, y_train)
    >>> round(model.score(X_test, y_test), 2)
    0.96

    Here a rejection costs .2 and a mistake 1. The share of samples that are not rejected:

    >>> model = PredtronClassifier(
    ...     reject_cost=0.2, mirror_map="entropy", average=True, random_state=0
    ... )
    >>> predictions = model.fit(X_train, y_train).predict(X_test)
    >>> print(f"{(predictions != model.reject_label_).mean():.2f}")
    0.09
    """

    _parameter_constraints: dict = {
        "loss": [StrOptions({*CLASS_LOSSES, *SUBSET_LOSSES}), "array-like", callable],
        **BaseSamplePredtron._parameter_constraints,
        "representation": [StrOptions(set(CLASS_CODES)), "array-like", callable],
        "reject_cost": [Interval(Real, 0, None, closed="left"), "array-like", None],
        "fit_intercept": ["boolean"],
    }

    def __init__(
        self,
        *,
        loss: str | ArrayLike | Callable = "zero_one",
        update: Literal["loss-augmented", "loss-driven"] = "loss-augmented",
        mirror_map: MirrorMap = "euclidean",
        learning_rate: float = 1.0,
        representation: str | ArrayLike | Callable = "one_hot",
        reject_cost: float | ArrayLike | None = None,
        average: bool = False,
        kernel: str | Callable | None = None,
        fit_intercept: bool = True,
        max_iter: int = 1,
        shuffle: bool = True,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.loss = loss
        self.update = update
        self.mirror_map = mirror_map
        self.learning_rate = learning_rate
        self.representation = representation
        self.reject_cost = reject_cost
        self.average = average
        self.kernel = kernel
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state

    @property
    def _accepts_indicators(self):
        if isinstance(self.loss, str):
            is_subset_loss = self.loss in SUBSET_LOSSES
        else:
            is_subset_loss = callable(self.loss)
        by_default = isinstance(self.representation, str) and self.representation == "one_hot"
        return is_subset_loss and by_default and self.reject_cost is None

    @shared_call
    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Compute the scores of the classes or labels.

        {samples_and_returns}
        ndarray of shape (n_samples, n_classes), or (n_samples,) for two classes
            Scores of the classes or labels, in the order of `classes_`; for two classes, that of
            the second minus that of the first. The score of a class is the similarity of its
            vector. If other predictions are represented, they have the columns.
        """
        scores = self._label_scores_of(self._scores(X))
        return scores if self._has_label_columns else two_class_difference(scores)

    @shared_call
    def predict(self, X: ArrayLike) -> np.ndarray:
        """Predict the class of the greatest similarity, or the labels with positive scores.

        {samples_and_returns}
        ndarray of shape (n_samples,) or (n_samples, n_labels)
            Entries of `predictions_`, or an indicator matrix of the predicted labels. Ties are
            broken in favor of the first entry.
        """
        scores = self._scores(X)
        if self._has_label_columns:
            return (scores > 0).astype(np.intp)
        return self.predictions_[self._similarities(scores).argmax(axis=1)]

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy, or 1 minus the mean cost if predictions are not only classes.

        {samples}
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
            Class labels, or an indicator matrix. For an indicator matrix, the subset accuracy is
            returned.
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights.

        Returns
        -------
        float
            The accuracy if all predictions are classes or label sets. Otherwise, 1 minus the mean
            cost of the predictions, including rejections; for a class unknown to the model, the
            greatest cost for any class.
        """
        check_is_fitted(self, "classes_")
        check_scored(self, X, y, sample_weight=sample_weight)
        if self._has_label_columns:
            y = check_target(y, multilabel=True).values.astype(np.intp)
        if self._has_label_columns or np.array_equal(self.predictions_, self.classes_):
            return accuracy_score(y, self.predict(X), sample_weight=sample_weight)
        predictions = self._similarities(self._scores(X)).argmax(axis=1)
        y = check_target(y, multilabel=False).values
        check_consistent_length(predictions, y)
        weights = check_weights(sample_weight, len(y), positive=True)
        # The costs for unknown classes are in an additional row, at index -1.
        indices = {label: index for index, label in enumerate(self.classes_.tolist())}
        labels = [indices.get(label, -1) for label in y.tolist()]
        costs = np.vstack([self._costs, self._costs.max(axis=0)])[labels, predictions]
        return 1.0 - float(np.average(costs, weights=weights))

    def _similarities(self, scores):
        """Return the similarities of all predictions, `(n_samples, n_predictions)`."""
        n_basis = len(self.predictions_) - len(self._codes)
        if not len(self._codes):
            return scores
        of_codes = linear_scores(self._codes, Rows(scores, 0.0))
        return np.hstack([scores[:, :n_basis], of_codes])

    def _label_scores_of(self, scores):
        """Return the scores of the classes or labels, without that of REJECT.

        If two predictions share one score, the first one has the score 0.
        """
        if self._has_label_columns:
            return scores
        similarities = self._similarities(scores)
        if scores.shape[1] == 1:
            half = np.diff(similarities, axis=1) / 2
            return np.column_stack([np.zeros(len(half)), half])
        return similarities[:, : len(self.predictions_) - (self.reject_label_ is not None)]

    def _order_classes(self, classes, target):
        """Return the classes in the order to which costs and representations refer."""
        symmetric = {"zero_one", "one_hot", "simplex", *SUBSET_LOSSES}
        symmetric |= {"absolute", "ordinal"} if len(classes) == 2 else set()
        by_order = np.ndim(self.reject_cost) > 0 or any(
            each not in symmetric if isinstance(each, str) else not callable(each)
            for each in (self.loss, self.representation)
        )
        return in_declared_order(classes, target) if by_order else classes

    def _start_model(self, classes):
        self.classes_ = classes
        self.reject_label_ = None
        if self._has_label_columns:
            self._subset_losses = SubsetLosses(self.loss, len(classes))
            return
        # A class label is a set of one label. All mistakes on such sets have the same loss, 2 for
        # "hamming" and 1 for the other names of losses of sets. So these names mean "zero_one".
        is_subset_loss = isinstance(self.loss, str) and self.loss in SUBSET_LOSSES
        loss = "zero_one" if is_subset_loss else self.loss
        self._class_problem = loss, self.representation, self.reject_cost
        self._set_problem(classes)

    def _set_problem(self, classes):
        loss, representation, reject_cost = self._class_problem
        self._costs, self._codes, predictions = class_problem(
            loss, representation, classes, reject_cost
        )
        if not self._loss_driven:
            warn_of_idle_costs(self._costs)
        if reject_cost is not None:
            predictions, self.reject_label_ = with_reject_label(predictions)
        self.predictions_ = predictions

    @property
    def _n_scores(self):
        return len(self.classes_) if self._has_label_columns else self._codes.shape[1]

    def _set_classes(self, classes, labels):
        with unchanged_on_error(self, draws=False):
            if self._has_label_columns:
                self._subset_losses = self._subset_losses.of_labels(len(classes))
            else:
                self._set_class_problem(classes)
            super()._set_classes(classes, labels)

    def _set_class_problem(self, classes):
        """Set the problem for other classes, or raise ValueError if they have no scores."""
        of_each = isinstance(self._class_problem[1], str) and self._n_scores == len(self.classes_)
        self._set_problem(classes)
        if not of_each or self._n_scores != len(classes):
            raise ValueError(
                f"a model of {len(self.classes_)} classes cannot have {len(classes)} classes later "
                "if it does not have a score for each class before and after: name three classes "
                "or more in the first call, with representation='one_hot', or call fit"
            )

    def _make_task(self, X, y, classes, *, restart):
        X, indptr, labels, _ = self._check_and_start(X, y, classes, None, restart=restart)
        if self._has_label_columns:
            losses = self._subset_losses = copy(self._subset_losses)
            losses.cover(np.diff(indptr))
            task = SubsetTask(
                indptr, labels, losses.n_labels, losses.offsets, losses.values, self._loss_driven
            )
        else:
            task = ClassTask(self._costs, self._codes, labels, self._loss_driven)
        return X, task, None

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        # Weights of these maps are not negative. As two classes share one score, no feature can be
        # evidence for the first one.
        tags.classifier_tags.poor_score = str(self.mirror_map) in ("entropy", "positive")
        return tags
