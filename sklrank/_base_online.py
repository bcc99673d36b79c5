"""What every estimator that learns row by row does before it learns: check, and start anew."""

from functools import cache
from reprlib import repr as shortened

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from sklrank._validation import (
    MAX_FACTOR,
    Target,
    check_classes,
    check_entries,
    check_label_names,
    check_rows,
    check_target,
    check_weights,
    relevance_lists,
    sorted_classes,
    sum_of_squares,
    unchanged_on_error,
)

__all__ = ["BaseOnline", "BaseOnlineClassifier", "row_blocks", "to_dense"]

# Entries, 128 MB of them, that the rows of a sparse matrix which are to_dense together may have.
MAX_DENSE_ENTRIES = 2**24


class BaseOnline(BaseEstimator):
    """Base of the estimators that learn row by row.

    A subclass sets `_accepts_nan` (missing values), `_accepts_sparse` (CSR matrices) and
    `_multiplies_entries`: whether entries whose products would overflow are refused.
    """

    _accepts_sparse = False
    _multiplies_entries = False
    _fitted_with_indicators = False  # whether a row has labels, or a class

    @property
    def _accepts_nan(self):
        return False

    @classmethod
    @cache
    def _get_param_names(cls):
        # scikit-learn inspects the signature at each call, of which a booster's set-up makes five
        # for each of its learners: half the time that it takes.
        return super()._get_param_names()

    def _check_rows(self, X, *, reset):
        if not reset and self._is_clean(X):
            return X
        X = check_rows(self, X, reset=reset, dtype=np.float64, order="C")
        if self._multiplies_entries:
            check_entries(X)
        return X

    def _is_clean(self, X):
        # Whether validation would return the rows as they are. It takes some 100 microseconds, more
        # than a model needs for a row.
        most = MAX_FACTOR**2 if self._multiplies_entries else np.inf
        return (
            type(X) is np.ndarray
            and X.dtype == np.float64
            and X.ndim == 2
            and X.flags.c_contiguous
            and X.shape[0] > 0
            and X.shape[1] == getattr(self, "n_features_in_", None)
            and not hasattr(self, "feature_names_in_")
            and bool(sum_of_squares(X.ravel()) < most)
        )

    def _check_same_classes(self, classes):
        # Class labels are a set; the names of an indicator's columns have their order.
        given = np.ravel(classes) if self._fitted_with_indicators else sorted_classes(classes)
        if not np.array_equal(given, self.classes_):
            known, given = self.classes_.tolist(), given.tolist()
            new = shortened([label for label in given if label not in known])
            missing = shortened([label for label in known if label not in given])
            raise ValueError(
                f"classes={shortened(given)} differs from the first call's {shortened(known)} "
                f"(new: {new}, missing: {missing}; or their order), and the labels of a model are "
                "fixed: leave classes out, or start a new model, which fit does too"
            )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._accepts_nan
        tags.input_tags.sparse = self._accepts_sparse
        return tags


class BaseOnlineClassifier(ClassifierMixin, BaseOnline):
    """Base of the online classifiers and boosters.

    A subclass starts a model in `_start(classes)`, which sets `classes_`, and says whether it takes
    label indicators (`_accepts_indicators`).
    """

    _accepts_indicators = False

    def _prepare(self, X, y, classes, sample_weight, *, restart=False):
        """Check all that is to be learnt; where `restart`, forget what was learnt before.

        Where nothing was learnt before, a model is started in either case.
        Bad input is refused before anything is learnt, and leaves the model as it was.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features), C-contiguous float64, or a CSR matrix
        indptr, labels : ndarrays of intp
            Relevance lists, see `_relevance_lists`.
        weights : ndarray of shape (n_samples,)
        """
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        restart = restart or not hasattr(self, "classes_")
        with unchanged_on_error(self):
            X = self._check_rows(X, reset=restart)
            # A started model takes what it took, whatever its parameters are now.
            takes_sets = self._accepts_indicators or (self._fitted_with_indicators and not restart)
            target = check_target(y, multilabel=takes_sets)
            n_samples = X.shape[0]
            if target.values.shape[0] != n_samples:
                raise ValueError(f"y has {target.values.shape[0]} rows and X has {n_samples}")
            weights = check_weights(sample_weight, n_samples, positive=restart and classes is None)
            if restart:
                self._start_anew(check_classes(target, classes), target.multilabel)
            else:
                self._check_same_labels(target, classes)
            indptr, labels = relevance_lists(target, self.classes_)
        return X, indptr, labels, weights

    def _start_from_rows(self, X, classes, *, indicators):
        """Check rows without labels; where there is no model, start one for these classes."""
        if hasattr(self, "classes_"):
            if classes is not None:
                self._check_same_classes(classes)
            return self._check_rows(X, reset=False)
        if classes is None:
            check_is_fitted(
                self,
                "classes_",
                msg="This %(name)s knows no classes yet: name them by `classes`, or call fit",
            )
        with unchanged_on_error(self):
            self._validate_params()
            X = self._check_rows(X, reset=True)
            names = check_label_names(classes)
            self._start_anew(names if indicators else sorted_classes(names), indicators)
        return X

    def _start_anew(self, classes, indicators):
        self._fitted_with_indicators = indicators
        self._start(classes)

    def _check_same_labels(self, target: Target, classes):
        if target.multilabel != self._fitted_with_indicators:
            kinds = ("class labels", "an indicator of labels")
            raise ValueError(
                f"y holds {kinds[target.multilabel]}, but the first call had "
                f"{kinds[self._fitted_with_indicators]}; call fit to start anew"
            )
        if classes is not None:
            self._check_same_classes(classes)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = self._accepts_indicators
        return tags


def row_blocks(X, most, *, unpacks=True):
    """Slices of `most` rows each, of a sparse matrix that is to_dense as few as may be together."""
    if unpacks and sparse.issparse(X):
        most = min(most, max(1, MAX_DENSE_ENTRIES // X.shape[1]))
    # scikit-learn's gen_batches checks its parameters for longer than some models need for a row.
    n_samples = X.shape[0]
    return [slice(first, min(first + most, n_samples)) for first in range(0, n_samples, most)]


def to_dense(X):
    """The rows as an array, for loops that read them whole."""
    return X.toarray() if sparse.issparse(X) else X
