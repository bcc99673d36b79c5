"""Base classes of classifiers of labeled and unlabeled samples, and checks of their target."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from scipy.special import softmax
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from sklrank._boosters import Booster, make_classifier_learner
from sklrank._checks import (
    as_names,
    check_class_labels,
    check_rows,
    check_scored,
    check_weights,
    input_tags_of,
    is_missing,
    sorted_labels,
)
from sklrank._estimators import (
    _fit_context,
    _safe_indexing,
    failed_weight_checks,
    shares_text,
    unchanged_on_error,
)
from sklrank._rankers import ClassScoresMixin
from sklrank._typing import Self

of_partly_labeled = shares_text(
    partly_labeled="""
{samples}
y : array-like of shape (n_samples,)
    Classes; -1, None or NaN marks unlabeled samples. With -1 beside strings, `y` must be an array
    of objects.
""",
    boosted="""
{random_state}

Attributes
----------
classes_ : ndarray of shape (n_classes,)
    Distinct classes in `y`, without -1.
estimators_ : list of classifiers
    Weak learners. They predict indices into `classes_`.
transduction_ : ndarray of shape (n_samples,)
    Classes of the training samples: the given label of each labeled sample, and the predicted
    class of each unlabeled sample.
{rounds}
""",
    of_unlabeled="""
The label -1 marks unlabeled samples. Tools of scikit-learn that encode `y` before they call `fit`
treat it as a class: `StackingClassifier`, `VotingClassifier`, and `cross_val_predict` with
``method="predict_proba"`` or ``"decision_function"``, instead of which a loop over the folds
computes held-out scores. In a hyperparameter search, do not set `scoring`: the default,
:meth:`score`, considers labeled samples only. If `y` contains both strings and -1, pass a
:class:`~sklearn.model_selection.KFold` as `cv`, because stratified folds require entries of `y`
that can be sorted.
""",
)

# Texts by which tables mark unlabeled samples.
MARKS = {"", "-1", "?", "n/a", "na", "nan", "none", "null", "unknown", "unlabeled", "unlabelled"}
# Maximal number of entries (128 MB) of a sparse matrix that is converted to an array.
MAX_DENSE_ENTRIES = 2**24


@of_partly_labeled
class PartlyLabeledMixin(ClassifierMixin):
    """Base class of classifiers that are fitted to labeled and unlabeled samples."""

    _needs_small_means = True
    # scikit-learn exempts its own semi-supervised estimators from this check by their names.
    _failed_checks = {"check_classifiers_classes": "-1 is not a class, it marks unlabeled samples"}

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy on the labeled samples.

        {samples}
        y : array-like of shape (n_samples,)
            Classes. Samples with the label -1, None or NaN are ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples.

        Returns
        -------
        float
            Accuracy, from 0 to 1.
        """
        check_scored(self, X, y, sample_weight=sample_weight)
        y = column_or_1d(marked_labels(y))
        check_consistent_length(X, y, sample_weight)
        labeled = np.flatnonzero(is_labeled(y))
        if not len(labeled):
            raise ValueError(
                "y labels no sample: all entries are -1; give labeled samples to score"
            )
        weights = None if sample_weight is None else _safe_indexing(sample_weight, labeled)
        return accuracy_score(y[labeled], self.predict(X)[labeled], sample_weight=weights)

    def _fit(self, X, y, sample_weight, *args):
        """Check the training set, and fit the model to its samples of positive weight.

        A subclass defines ``_fit_labels(X, labels, weights, *args)``, which is given labels as
        indices into `classes_` or -1, and weights of mean 1. It sets `transduction_`.
        """
        with unchanged_on_error(self):
            y = None if y is None else marked_labels(y)
            if np.ndim(y) == 1:
                is_labeled(y)  # Its errors have the remedy.
            X, y = check_rows(self, X, reset=True, y=y, dtype=np.float64)
            # Which of two equal distances or splits is better is a matter of rounding, which
            # differs between arrays and sparse matrices.
            X = X.toarray() if issparse(X) and np.prod(X.shape) <= MAX_DENSE_ENTRIES else X
            weights = check_weights(sample_weight, X.shape[0], positive=True)
            seen = np.flatnonzero(weights)
            all_seen = len(seen) == len(y)
            self.classes_, labels = encode_labels(y[seen])
            warn_of_mark(self.classes_, labels)
            # The largest weight is 1 before their sum is computed, which could overflow.
            weights = weights[seen] / weights.max()
            self._fit_labels(X if all_seen else X[seen], labels, weights / weights.mean(), *args)
            if not all_seen:
                transduction = self.predict(X)
                transduction[seen] = self.transduction_
                self.transduction_ = transduction
        return self


@of_partly_labeled
class SemiSupervisedBooster(ClassScoresMixin, PartlyLabeledMixin, Booster):
    """Base class of boosted classifiers that are fitted to labeled and unlabeled samples.

    A subclass defines `_make_objective`.
    """

    _failed_checks = PartlyLabeledMixin._failed_checks | failed_weight_checks(
        "neighbors, and samples that are drawn, are counted"
    )

    @abstractmethod
    def _make_objective(self, X, labels, weights):
        """Return the objective; `labels` are indices into `classes_`, or -1."""

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the ensemble to labeled and unlabeled samples.

        {partly_labeled}
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples in the objective, in proportion to each other. Samples of weight
            0 are left out. If None, all samples have the same weight.

        {returns_self}

        Warns
        -----
        UserWarning
            If no round could be fitted.
        """
        return self._fit(X, y, sample_weight)

    def _fit_labels(self, X, labels, weights):
        self._start_rounds()
        objective = self._make_objective(X, labels, weights)
        scores = self._initial_scores(X)
        self._boost(objective, self._make_learner(X, objective), scores)
        if not self.estimators_:
            warnings.warn(
                f"{type(self).__name__} fitted no round, and predicts the same class for all "
                f"samples: {self.stop_reason_}. Choose another estimator, similarity, "
                "weighting or train_on",
                stacklevel=5,
            )
        self.transduction_ = self.classes_[np.where(labels < 0, scores.argmax(axis=1), labels)]

    def staged_predict(self, X: ArrayLike) -> Iterator[np.ndarray]:
        """Predict the class of each sample after each round of boosting.

        {samples_and_returns}
        iterator of ndarray of shape (n_samples,)
            Predicted classes after each round.
        """
        rounds = self._scores_of_rounds(self._check_X(X))
        return (self.classes_[scores.argmax(axis=1)] for scores in rounds)

    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Predict class probabilities, the softmax of the scores.

        {samples_and_returns}
        ndarray of shape (n_samples, n_classes)
            Class probabilities, which are not calibrated. The sum of each row is 1.
        """
        return softmax(self._class_scores(X), axis=1)

    @property
    def _n_classes(self):
        return len(self.classes_)

    def _get_estimator(self):
        """Return the weak learner, which is cloned for each round."""
        # Of depths from 2 to 12, and without a limit, the best in the mean over satimage, vowel,
        # mice_protein, pendigits, car, iris, wine and breast_cancer, for ASSEMBLE.
        return DecisionTreeClassifier(max_depth=8) if self.estimator is None else self.estimator

    def _make_learner(self, X, objective):
        return make_classifier_learner(
            self._get_estimator(),
            X,
            weighting=self.weighting,
            random_state=self._random_state,
            n_labels=self._n_classes,
            n_classes=self._n_classes,
        )

    def _class_scores(self, X):
        return self._scores(self._check_X(X))

    def _check_X(self, X):
        check_is_fitted(self)
        return check_rows(self, X, reset=False)

    @property
    def _accepts_sparse(self):
        return input_tags_of(self._get_estimator()).sparse


def marked_labels(y):
    """Return `y` as an array in which -1 replaces missing labels, such as None and NaN."""
    y = as_names(y)
    missing = np.zeros(y.shape, dtype=bool) if y.dtype.kind in "biu" else is_missing(y)
    if not missing.any():
        return y
    marked = np.where(missing, -1, y)
    are_numbers = all(isinstance(label, Real) for label in marked.flat)
    return np.array(marked.tolist()) if are_numbers else marked


def encode_labels(y):
    """Return the sorted classes without -1, and the index of the class of each sample.

    The index is -1 for unlabeled samples.
    """
    labeled = is_labeled(y)
    if not labeled.any():
        raise ValueError(
            "y labels no sample: all entries are -1; a classifier needs samples of two classes at "
            "least"
        )
    classes, codes = sorted_labels(y[labeled], "y", return_inverse=True)
    # The labels are repeated, since scikit-learn warns of a possible regression target if most
    # labels are distinct.
    check_class_labels(np.tile(y[labeled], 2))
    if len(classes) < 2:
        raise ValueError(
            f"y has one class only, {classes.tolist()}; a classifier needs samples of two classes "
            "at least (-1 is no class: it marks unlabeled samples)"
        )
    labels = np.full(len(y), -1, dtype=np.intp)
    labels[labeled] = codes
    return classes, labels


def warn_of_mark(classes, labels):
    """Warn if no sample is unlabeled, and the class of most samples looks like a mark of them."""
    if (labels < 0).any():
        return
    counts = np.bincount(labels)
    most, others = classes[counts.argmax()], np.delete(classes, counts.argmax())
    is_mark = isinstance(most, str) and most.strip().lower() in MARKS
    if classes.dtype.kind in "iuf":
        is_mark = most < min(others.min(), 0) or most > 2 * max(others.max(), len(classes))
    if is_mark and counts.max() > len(labels) / 2:
        warnings.warn(
            f"no sample is unlabeled, and most are of the class {str(most)!r}. If it marks "
            "unlabeled samples, replace it by the number -1, None or NaN",
            stacklevel=4,
        )


def is_labeled(y):
    """Return a mask of the entries of `y` that are not -1. The string "-1" raises an error."""
    if y.dtype.kind in "SU":
        # NumPy converts all entries of a list that contains a string to strings.
        if (y == np.array("-1", dtype=y.dtype.kind)).any():
            raise ValueError(
                "y is an array of strings and has '-1' among them, which would be a class: pass "
                "an array of objects, np.array(y, dtype=object), with the number -1 for unlabeled "
                "samples"
            )
        return np.ones(len(y), dtype=bool)
    return (y != -1).astype(bool)
