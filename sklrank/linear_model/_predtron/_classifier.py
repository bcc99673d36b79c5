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
from sklrank.linear_model._mirror._parameter import scores_poorly
from sklrank.linear_model._predtron._base import PredtronMixin, can_partial_fit
from sklrank.linear_model._predtron._lessons import ClassLessons, SubsetLessons
from sklrank.linear_model._predtron._losses import (
    CLASS_LOSSES,
    SUBSET_LOSSES,
    SubsetLosses,
    class_costs,
)
from sklrank.linear_model._predtron._reject_rules import REJECT_RULES, LeadRule, leads_of
from sklrank.metrics import coverage_score
from sklrank.metrics._checks import as_label_columns

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike
    from typing_extensions import Self

    from sklrank._typing import MirrorMap

__all__ = ["PredtronClassifier"]


class PredtronClassifier(PredtronMixin, BaseOnlineClassifier):
    r"""Perceptron for any loss: of classes, ordered classes, rejections, sets of labels.

    A prediction :math:`\sigma` is represented by a unit vector :math:`rep(\sigma)`; predicted is
    the one most like the scores :math:`t = W x`. When its loss :math:`L(\sigma, y)` is not zero,
    the weights take a step ([1]_, Algorithm 1)

    .. math:: W \leftarrow W - \eta \, (rep(\tilde\sigma) - rep(\sigma_y)) \, x^T, \qquad
              \tilde\sigma = \arg\max_\sigma L(\sigma, y) + \langle rep(\sigma), t \rangle,

    from the prediction that is worst and yet likely towards the likeliest of those without loss,
    :math:`\sigma_y`. With two classes and the zero-one loss it is the classic perceptron, with a
    step of twice the learning rate; with more classes the multiclass one.

    Parameters
    ----------
    loss : str, array-like or callable, default="zero_one"
        What a prediction costs. Of class labels, 1-d `y`:

        - "zero_one": 1 for a wrong class;
        - "absolute": by how many classes it is off, in the order of `classes_` (ordinal): encode
          grades as numbers, since texts are in alphabetic order;
        - array-like of shape (n_classes,): the cost of mistaking a row of each class;
        - array-like of shape (n_classes, n_classes): the cost of a prediction (column) for a row of
          a class (row), zero where they agree;
        - callable ``cost(true_class, predicted_class)``.

        Two classes leave one wrong prediction: their costs change the steps of "loss-driven" only.

        Of sets of labels, `Y` an indicator:

        - "zero_one", "subset_zero_one": 1 for a set that is not exactly right;
        - "hamming": the number of labels that are wrong;
        - "error_set_size": the number of pairs of a relevant label that is missing and an
          irrelevant one that is there; so the empty set costs nothing, nor does that of all labels,
          and a model may settle on either;
        - callable ``f(tp, fp, fn, tn)`` of integer arrays: the numbers of labels that are rightly
          there, wrongly there, wrongly missing, rightly missing.

        A wrong class is one wrong set, so the names for sets mean "zero_one" for class labels.
    update : {"loss-augmented", "loss-driven"}, default="loss-augmented"
        Which step is taken: that above, or the one of Predtron.LD ([1]_, Algorithm 2), away from
        the prediction itself, and :math:`L` times as large.
    mirror_map : str or object, default="euclidean"
        What makes weights of the sum of steps :math:`\Theta`, and by that the norm in which a
        margin is large ([1]_, Algorithm 3).

        - "euclidean": :math:`W = \Theta`;
        - "p-norm": a norm close to the sum of absolute values, for few weights that matter;
        - "group-norm": close to the sum over features of the length of their weights, for few
          features that matter to any class;
        - "schatten": close to the sum of singular values, for weights of low rank; of less than 8
          scores or features it is "euclidean";
        - "entropy": exponential gradient, weights of a class are a distribution over features;
        - "positive": weights below zero become zero. Two classes share one score, so that under
          this map and "entropy" no feature speaks for the first of them by being large;
        - an object with a method ``weights(dual_weights)``, which makes of an array `(n_scores,
          n_weights)` one of the same shape.
    learning_rate : float or "theory", default=1.0
        Size :math:`\eta` of the steps. Only "entropy" and "loss-augmented" steps of a loss with
        more values than two depend on it: other predictions stay the same when all steps are
        scaled. "theory": that of [1]_, Theorems 1, 14 and 15, for the rows so far; it has none for
        "entropy", "positive" and an object.
    reject_cost : float, array-like of shape (n_classes,) or None, default=None
        What it costs not to decide, 0 or more, one number or one for each class. None: the model
        always decides. Models of different costs have different scores: do not search over it.
    reject_rule : {"lead", "representation"}, default="lead"
        When a row is rejected, with `reject_cost`. "lead": when the lead of its best class over the
        next is below a threshold, that which would have cost least so far, of what would have been
        predicted for each row before it was first learnt. "representation": when the scores are
        most like that of the rejection, :math:`(e_1 + \dots + e_m) / \sqrt m` ([1]_, Section 3). It
        never happens, since scores that sum to zero are most like a class: choose it for the
        theorem only.
    reject_label : int, str or None, default=None
        What `predict` says of a row that it rejects; no class. None is "reject" for classes that
        are texts, and for numbers -1, or where that is a class the integer below all of them.
    average : bool, default=False
        Whether to predict by the mean of the weights over the rounds. It is nearly always better,
        and for "euclidean" costs little; other maps pay for a pass over all weights at each
        mistake.
    kernel : str, callable or None, default=None
        None learns weights of the features. Else dual coefficients of support vectors: a name of
        :func:`sklearn.metrics.pairwise.pairwise_kernels`, as "rbf" or "poly"; "precomputed", with
        the kernel matrix for `X`; or ``kernel(A, B)`` that returns the values `(n, m)` of all rows
        of the one with all of the other.
    gamma, degree, coef0 : float, default=None, 3, 1
        Parameters of kernels; `gamma` None is ``1 / n_features``.
    budget : int or None, default=None
        Most support vectors under a kernel: beyond it the oldest is forgotten. None: no limit. Of
        no use without a kernel.
    fit_intercept : bool, default=True
        Whether there is one more feature, of value one; under a kernel one is added to its values.
    max_iter : int, default=1
        Passes that `fit` makes over the rows; `partial_fit` makes one.
    shuffle : bool, default=False
        Whether `fit` goes through the rows of each pass in an order drawn anew. Rows that are
        sorted by class teach little without it.
    random_state : int, RandomState instance or None, default=None
        Shuffles.
    verbose : int, default=0
        Whether to print the mistakes and the mean loss of each pass.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes; of an indicator its columns, by name in a data frame that has names.
    coef_ : ndarray of shape (n_classes, n_features), or (1, n_features)
        Weights of the features; one row for two classes, but under the `reject_rule`
        "representation". Not under a kernel.
    intercept_ : ndarray of shape (n_classes,) or (1,)
        Weights of the constant, zero without `fit_intercept`. Not under a kernel.
    dual_coef_ : ndarray of shape (n_classes, n_supports) or (1, n_supports)
        Coefficients of the support vectors. Under a kernel only.
    support_vectors_ : {ndarray, sparse matrix} of shape (n_supports, n_features)
        Rows with a coefficient; under a precomputed kernel their numbers `(n_supports,)`.
    reject_threshold_ : float
        The least lead that is decided. With `reject_cost` and the rule "lead" only.
    reject_label_ : object
        What `predict` says of a row that is rejected; None without `reject_cost`.
    n_rounds_ : int
        Rounds so far: rows that were learnt.
    n_mistakes_ : int
        Rounds so far in which the prediction had a loss. A tie counts as the worst of its
        predictions.
    mean_loss_ : float
        Mean loss of the rounds so far, each before its row was learnt; NaN before the first one.
    n_iter_ : int
        Passes made by `fit`.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where `X` had string ones.

    See Also
    --------
    PredtronLabelRanker : Ranks the labels of a row.
    PredtronQueryRanker : Ranks the documents of a query.
    BanditronClassifier : Learns from whether what it showed was right.

    Notes
    -----
    Parameters are read when a model is started, by `fit` or the first `partial_fit`.

    A rejection is no vote: the hard voting of :class:`sklearn.ensemble.VotingClassifier` fails on
    it, so leave `reject_cost` out there.

    The perceptron as printed, one pass and the last weights, is the default. For predictions choose
    ``average=True, max_iter=10, shuffle=True``, and scale the features alike: on five sets that is
    within .014 of the accuracy of logistic regression, on pendigits .95 and on letter .78, where as
    printed it is .87 and .63. Where a loss has more values than two, try smaller learning rates:
    for grades and standardised features .1 is better than 1 (``benchmarks/predtron.py``).

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

    Not to decide costs .3, a mistake 1:

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
        reject_rule: Literal["lead", "representation"] = "lead",
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
        of_sets = self.loss in SUBSET_LOSSES if isinstance(self.loss, str) else callable(self.loss)
        return of_sets and self.reject_cost is None

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Forget what was learnt, then make `max_iter` passes over the rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; under a precomputed kernel their values with each other.
        y : {array-like, sparse matrix} of shape (n_samples,) or (n_samples, n_labels)
            Class labels, or an indicator of labels.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If the data are malformed or hold one class only, or if parameters do not go together or
            with the data; a fitted model stays as it was.
        """
        return self._fit_from_scratch(X, y, None)

    @available_if(can_partial_fit)
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Learn from each row in order, going on from what was learnt before.

        Rows given in chunks, in one call or across a pickle make the same model, to the bit; under
        a kernel but for the rounding of its values.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : {array-like, sparse matrix} of shape (n_samples,) or (n_samples, n_labels)
            Class labels, or an indicator of labels.
        classes : array-like of shape (n_classes,), default=None
            Every class that may come, at the first call; those of `y` by default. Of an indicator
            the names of its columns.

        Returns
        -------
        self : object
            The estimator.

        Raises
        ------
        ValueError
            If the data are malformed or hold labels that are not in `classes`; the model stays as
            it was.
        """
        self._partial_fit(X, y, classes)
        return self

    @available_if(can_partial_fit)
    @_fit_context(prefer_skip_nested_validation=True)
    def progressive_fit(
        self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None
    ) -> np.ndarray:
        """Score each row, then learn from it (progressive, or prequential, validation).

        The model afterwards is the one that `partial_fit` makes. Scores are those of the weights
        that learn, also with `average`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : {array-like, sparse matrix} of shape (n_samples,) or (n_samples, n_labels)
            Class labels, or an indicator of labels.
        classes : array-like of shape (n_classes,), default=None
            As in `partial_fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The scores that each row got before it was learnt; columns as in `classes_`. Of two
            classes the first one has the score 0, the second one that of `decision_function`.

        Raises
        ------
        ValueError
            As `partial_fit`.
        """
        scores = self._partial_fit(X, y, classes, scored=True)
        return as_label_columns(self._decisions(scores))

    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Score the classes, or labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes), or (n_samples,) for two classes
            The scores t; for two classes the lead of the second one.
        """
        return self._decisions(self._scores(X))

    def predict(self, X: ArrayLike) -> np.ndarray:
        """The prediction most like the scores; the first class among equals.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_labels)
            Entries of `classes_`, and `reject_label_` for rows that are rejected; or an indicator
            of the labels whose score is above zero.
        """
        scores = self._scores(X)
        if self._fitted_with_indicators:
            return (scores > 0).astype(np.intp)
        best, rejected = self._decide(scores)
        predictions = self.classes_[best]
        if self.reject_label_ is not None:
            # The label may be a text longer than those of the classes. No type of NumPy holds both
            # all numbers of uint64 and one below zero.
            if predictions.dtype.kind != "O":
                kind = np.result_type(predictions, np.asarray(self.reject_label_))
                predictions = predictions.astype(object if predictions.dtype == "u8" else kind)
            predictions[rejected] = self.reject_label_
        return predictions

    def coverage(self, X: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Share of the rows that are decided, that is not rejected.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

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
        """Accuracy, or with `reject_cost` 1 less the mean cost of mistakes and rejections.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
            Class labels, or an indicator of labels: then a row counts whose labels are all right.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        float
            At most 1. With `reject_cost` a row counts 1 less the cost of what is said of it; of a
            class that was not learnt, the most that this costs for any class.
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
        # Classes that were not learnt have a row of costs behind the others, which -1 chooses.
        places = {label: place for place, label in enumerate(self.classes_.tolist())}
        labels = [places.get(label, -1) for label in y.tolist()]
        costs = np.vstack([self._costs, self._costs.max(axis=0)])
        costs = costs[labels, np.where(rejected, len(places), predictions)]
        return 1.0 - float(np.average(costs, weights=weights))

    def _decide(self, scores):
        """The best class of each row, as an index, and whether the row is rejected."""
        _, best = leads_of(scores)
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
        self._machine = self._make_machine(n_scores, float(self.fit_intercept))

    def _start_classes(self, classes):
        # One class a row is a set of one label: then losses of sets are 1 for a mistake.
        of_sets = isinstance(self.loss, str) and self.loss in SUBSET_LOSSES
        loss = "zero_one" if of_sets else self.loss
        self._costs = costs = class_costs(loss, classes, self.reject_cost)
        if self.reject_cost is not None:
            self.reject_label_ = self._choose_reject_label(classes)
            self._reject_rule = REJECT_RULES[self.reject_rule](costs)
            costs = self._reject_rule.class_costs
        self._lesson_costs = costs
        return 1 if costs.shape == (2, 2) else len(classes)

    def _choose_reject_label(self, classes):
        label, is_number = self.reject_label, classes.dtype.kind in "biuf"
        if classes.dtype.kind in "mM":
            raise ValueError(
                f"y holds classes of the type {classes.dtype}, among which no label stands for a "
                "rejection: name them by numbers or texts, or leave reject_cost out"
            )
        if label is None and is_number:
            return -1 if -1 not in classes else int(np.floor(classes.min())) - 1
        label = "reject" if label is None else label
        if isinstance(label, str) == is_number:
            kind = "a number" if is_number else "a text"
            raise ValueError(f"reject_label={label!r} must be {kind}, as the classes are")
        if label in classes.tolist():
            raise ValueError(
                f"reject_label={label!r} is a class: choose one that is not in {classes.tolist()}"
            )
        return label

    def _lessons(self, X, y, classes, *, restart):
        X, indptr, labels, _ = self._check_and_start(X, y, classes, None, restart=restart)
        self._check_pairwise(X)
        if self._fitted_with_indicators:
            return X, SubsetLessons(indptr, labels, self._subset_losses, self._loss_driven)
        # The rule counts in place, and unchanged_on_error restores only the reference: work on a
        # copy.
        self._reject_rule = deepcopy(self._reject_rule)
        return X, ClassLessons(self._lesson_costs, labels, self._loss_driven, self._reject_rule)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = scores_poorly(self.mirror_map, one_score=True)
        return tags

    @property
    def reject_threshold_(self) -> float:
        """The least lead that is decided."""
        check_is_fitted(self, "classes_")
        if not isinstance(self._reject_rule, LeadRule):
            raise AttributeError(
                "reject_threshold_ is an attribute of models with reject_cost and the reject_rule "
                "'lead'"
            )
        return self._reject_rule.threshold

    def _decisions(self, scores):
        if self._fitted_with_indicators or scores.shape[1] > 2:
            return scores
        return scores[:, 0] if scores.shape[1] == 1 else scores[:, 1] - scores[:, 0]
