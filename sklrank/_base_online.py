"""Base classes of all online estimators, which check the input and create or continue a model."""

from abc import abstractmethod
from collections.abc import Sequence
from contextlib import contextmanager, nullcontext
from functools import cache
from reprlib import repr as shortened

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from sklrank._call_guard import CallGuard, exclusive_call, shared_call
from sklrank._estimator import BaseEstimator
from sklrank._progress import IterativeMixin
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

__all__ = [
    "BATCH",
    "BaseOnline",
    "BaseOnlineClassifier",
    "multiplies_entries",
    "row_blocks",
    "slices",
    "to_dense",
    "undrawn_on_error",
]

# Samples per compiled call. Ctrl-C interrupts training only between calls. Estimators whose samples
# take longer to learn have smaller batches.
BATCH = 10_000
# Maximal number of entries (128 MB) of a block of a sparse matrix that is converted to an array.
MAX_DENSE_ENTRIES = 2**24


class BaseOnline(IterativeMixin, CallGuard, BaseEstimator):
    """Base class of the estimators that learn one sample at a time.

    A subclass sets `_accepts_nan` if it accepts missing values, and `_accepts_sparse` if it accepts
    CSR matrices. Its `_multiplies_entries` returns whether it, or a classifier inside of it,
    multiplies entries of `X`; then entries whose products would overflow raise an error.
    """

    _accepts_sparse = False
    _changes_in_place = True
    _learns_label_names = True  # From the columns of a target that is a data frame.
    _checks_entries = False
    # Whether the target has a column for each label, as an indicator matrix has. Otherwise, it
    # consists of class labels.
    _has_label_columns = False

    @property
    def _accepts_nan(self):
        return False

    def _multiplies_entries(self):
        return False

    @classmethod
    @cache
    def _get_param_names(cls):
        # scikit-learn inspects the signature in each call. Starting a booster makes five such calls
        # for each weak learner. Without the cache, the start would take twice as long.
        return super()._get_param_names()

    @shared_call
    def __getstate__(self):
        return super().__getstate__()

    def _check_fitted(self, attribute="classes_"):
        # The function of scikit-learn takes longer than the prediction for one sample.
        if not hasattr(self, attribute):
            check_is_fitted(self, attribute)

    def _check_rows(self, X, *, reset):
        if not reset and self._is_valid(X):
            return X
        X = check_rows(self, X, reset=reset, dtype=np.float64, order="C")
        if reset:
            # Parameters that are set later do not change what the model does with entries.
            self._checks_entries = self._multiplies_entries()
        if self._checks_entries:
            check_entries(X)
        return X

    def _is_valid(self, X):
        """Return True if `X` is certain to pass validation unchanged.

        Validation takes about 100 microseconds, longer than a model needs to learn one sample.
        """
        bound = MAX_FACTOR**2 if self._checks_entries else np.inf
        return (
            type(X) is np.ndarray
            and X.dtype == np.float64
            and X.ndim == 2
            and X.flags.c_contiguous
            and X.shape[0] > 0
            and X.shape[1] == getattr(self, "n_features_in_", None)
            and not hasattr(self, "feature_names_in_")
            and bool(sum_of_squares(X.ravel()) < bound)
        )

    def _check_same_classes(self, classes):
        # The order matters only where classes name the columns of an indicator matrix.
        given = np.ravel(classes) if self._has_label_columns else sorted_classes(classes)
        if not np.array_equal(given, self.classes_):
            known, given = self.classes_.tolist(), given.tolist()
            of_known, of_given = set(known), set(given)
            new = shortened([label for label in given if label not in of_known])
            missing = shortened([label for label in known if label not in of_given])
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


def multiplies_entries(estimators):
    """Return True if an estimator, or one of a list, multiplies entries of the samples."""
    estimators = estimators if isinstance(estimators, Sequence) else [estimators]
    return any(
        isinstance(estimator, BaseOnline) and estimator._multiplies_entries()
        for estimator in estimators
    )


class BaseOnlineClassifier(ClassifierMixin, BaseOnline):
    """Base class of the online classifiers and boosters.

    A subclass sets `_accepts_indicators` if the target may be an indicator matrix.
    """

    _accepts_indicators = False

    @abstractmethod
    def _start_model(self, classes):
        """Set `classes_` and all other attributes of an untrained model."""

    def _check_and_start(self, X, y, classes, sample_weight, *, restart=False):
        """Check samples with their targets, and create a model if there is none yet.

        All arguments are checked before the model learns. If the input is invalid, the model does
        not change.

        Parameters
        ----------
        X, y, classes, sample_weight : objects
            Arguments of `fit` or `partial_fit`.
        restart : bool, default=False
            Whether to replace an existing model by an untrained model.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features), C-contiguous float64, or a CSR matrix
        indptr, labels : ndarrays of intp
            Relevance lists of the samples, see `_relevance_lists`.
        weights : ndarray of shape (n_samples,)
            Sample weights.
        """
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        restart = restart or not hasattr(self, "classes_")
        with unchanged_on_error(self, draws=restart):
            X = self._check_rows(X, reset=restart)
            # Parameters may have changed since the model was created. The model still accepts the
            # kind of target with which it was created.
            multilabel = self._accepts_indicators or (self._has_label_columns and not restart)
            target = check_target(y, multilabel=multilabel)
            n_samples = X.shape[0]
            if target.values.shape[0] != n_samples:
                raise ValueError(f"y has {target.values.shape[0]} rows and X has {n_samples}")
            weights = check_weights(sample_weight, n_samples, positive=restart and classes is None)
            if restart:
                self._has_label_columns = target.multilabel
                self._start_model(check_classes(target, classes))
            else:
                self._check_same_labels(target, classes)
            self._check_weights(weights)
            indptr, labels = relevance_lists(target, self.classes_)
        return X, indptr, labels, weights

    def _check_X_and_start(self, X, classes, *, indicators):
        """Check samples without targets, and create a model for `classes` if there is none yet."""
        if hasattr(self, "classes_"):
            if classes is not None:
                self._check_same_classes(classes)
            return self._check_rows(X, reset=False)
        if classes is None:
            check_is_fitted(
                self,
                "classes_",
                msg="This %(name)s has no classes yet: name them by `classes`, or call fit",
            )
        return self._start_for(X, classes, indicators)

    @exclusive_call
    def _start_for(self, X, classes, indicators):
        with unchanged_on_error(self):
            self._validate_params()
            X = self._check_rows(X, reset=True)
            names = check_label_names(classes)
            self._has_label_columns = indicators
            self._start_model(names if indicators else sorted_classes(names))
        return X

    def _check_weights(self, weights):
        """Raise if the model cannot learn from samples with these weights."""

    def _discard_failed_start(self):
        """Return a context manager that discards a model started in its body if the body raises."""
        return nullcontext() if hasattr(self, "classes_") else unchanged_on_error(self)

    def _check_same_labels(self, target: Target, classes):
        if target.multilabel != self._has_label_columns:
            kinds = ("class labels", "an indicator matrix")
            raise ValueError(
                f"y holds {kinds[target.multilabel]}, but the first call had "
                f"{kinds[self._has_label_columns]}; call fit to start anew"
            )
        if classes is not None:
            self._check_same_classes(classes)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = self._accepts_indicators
        return tags


def row_blocks(X, max_rows, *, dense=True):
    """Return slices that cover the rows of `X`, each of at most `max_rows` rows.

    If `X` is sparse and `dense` is True, the blocks will be converted to arrays. Then a block has
    at most `MAX_DENSE_ENTRIES` entries, but at least one row.
    """
    if dense and sparse.issparse(X):
        max_rows = min(max_rows, max(1, MAX_DENSE_ENTRIES // X.shape[1]))
    return slices(X.shape[0], max_rows)


def slices(n, size):
    """Return slices that cover `n` items, each of at most `size` items."""
    # gen_batches of scikit-learn is not used, since checking its parameters takes longer than some
    # models need to learn one sample. For the same reason a single slice is a special case.
    if 0 < n <= size:
        return [slice(0, n)]
    return [slice(first, min(first + size, n)) for first in range(0, n, size)]


@contextmanager
def undrawn_on_error(random_state, rounds):
    """Restore the state of a generator if the body raises before it plays a round of `rounds`.

    The random numbers of a batch are drawn before its rounds. If no round was played, the next call
    draws the same numbers again. Saving the state takes as long as several rounds.
    """
    n_rounds, state = rounds.n_rounds, random_state.get_state(legacy=False)
    try:
        yield
    except BaseException:
        if rounds.n_rounds == n_rounds:
            random_state.set_state(state)
        raise


def to_dense(X):
    """Return `X` as an array."""
    return X.toarray() if sparse.issparse(X) else X
