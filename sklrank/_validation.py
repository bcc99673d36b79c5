"""Checks of targets, class labels, weights and rows, for every kind of estimator."""

from contextlib import contextmanager
from datetime import date, timedelta
from numbers import Real
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils import check_array, column_or_1d, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from sklrank._rankings import is_missing

__all__ = [
    "Target",
    "as_numbers",
    "canonical_csr",
    "check_classes",
    "check_columns",
    "check_entries",
    "check_label_names",
    "check_rows",
    "check_target",
    "check_weights",
    "column_names",
    "labels_of_columns",
    "names_of",
    "relevance_lists",
    "sorted_classes",
    "sum_of_squares",
    "unchanged_on_error",
]


# Trees sum squares of weights.
MAX_WEIGHT = 1e150
# Scores multiply two entries, a learning rate and a loss, and sum over features and rows.
MAX_FACTOR = 1e60
WIDEST_LOOK_UP = 10_000
DATES = (np.datetime64, np.timedelta64, date, timedelta)


class Target(NamedTuple):
    """A checked target."""

    values: np.ndarray
    """Class labels `(n_samples,)`, or the indicator `(n_samples, n_labels)`, dense or CSR."""
    multilabel: bool
    names: np.ndarray | None = None
    """Of the labels of an indicator, `(n_labels,)`, where it is a data frame that has them."""


def check_target(y, *, multilabel: bool) -> Target:
    """Check `y`: class labels, or where `multilabel` allows it an indicator of labels."""
    try:
        return _checked_target(y, multilabel)
    except ValueError as error:
        if not _holds_collections(y):
            raise
        if not multilabel:
            raise ValueError(
                "y holds collections of labels; this classifier takes one class label a row, with "
                "the parameters that it has: pass a 1-d y, or use a ranker of labels"
            ) from error
        raise ValueError(
            "y holds collections of labels; the labels of a row are given as 0 and 1 in one column "
            "a label: pass sklearn.preprocessing.MultiLabelBinarizer().fit_transform(y)"
        ) from error


def _holds_collections(y):
    """Whether the entries of `y` are sets, or lists that make no table; asked of refused ones."""
    in_list = isinstance(y, list | tuple)
    entries = [
        entry
        for entry in (y if in_list else np.ravel(y))
        if isinstance(entry, set | frozenset | list | tuple)
    ]
    if any(isinstance(entry, set | frozenset) for entry in entries):
        return True
    # Lists of one length in a list are a table; an array of lists is none.
    return len({len(entry) for entry in entries}) > 1 if in_list else bool(entries)


def _checked_target(y, multilabel):
    names = column_names(y)
    if not (type(y) is np.ndarray and y.dtype.kind in "biu" and 1 <= y.ndim <= 2 and y.size):
        # check_array takes longer than learning one row.
        y = check_array(y, accept_sparse="csr", ensure_2d=False, dtype=None, input_name="y")
    if sparse.issparse(y):
        y = y.astype(np.float64)
        y.sum_duplicates()
    if y.ndim == 2 and _is_indicator(y):
        if not multilabel:
            raise ValueError(
                "y is a label indicator of shape (n_samples, n_labels); this classifier takes one "
                "class label a row, with the parameters that it has: pass a 1-d y, or use a ranker "
                "of labels"
            )
        return Target(y, True, names)
    if y.ndim == 2 and y.shape[1] > 1:
        check_classification_targets(y)
        values = np.unique(y.data if sparse.issparse(y) else y)
        raise ValueError(
            "y must hold class labels of shape (n_samples,), or 0 and 1 in one column a label "
            "(sklearn.preprocessing.MultiLabelBinarizer makes them of lists of labels); got "
            f"{y.shape[1]} columns of the values {values[:5].tolist()}"
        )
    y = column_or_1d(y, warn=True)
    if y.dtype.kind not in "biu":
        # Whole numbers are class labels, and the check would sort them to find out.
        check_classification_targets(y)
    return Target(y, False)


def _is_indicator(y):
    # Looser than scikit-learn's type_of_target, for which a single row is no indicator.
    if sparse.issparse(y):
        return bool(np.isin(y.data, (0, 1)).all())
    return y.shape[1] > 1 and y.dtype.kind in "biuf" and bool(np.isin(y, (0, 1)).all())


def as_numbers(values, name, what="numbers"):
    """The values as an array of float64; others are refused by name."""
    try:
        array = np.asarray(values)
        dates = array.dtype.kind == "O" and any(isinstance(entry, DATES) for entry in array.flat)
        if dates or array.dtype.kind in "cmM":
            # NumPy would count days, and drop the imaginary part.
            kind = "dates" if dates else f"values of the type {array.dtype}"
            raise TypeError(f"got {kind}")
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be {what}: {error}") from error


def column_names(y):
    """Names `(n_columns,)` in a data frame; None where one is no text, or stands twice."""
    names = list(getattr(y, "columns", ()))
    named = names and all(isinstance(name, str) for name in names)
    return np.array(names) if named and len(set(names)) == len(names) else None


def labels_of_columns(names, n_labels):
    """What a model calls the columns of a target: by their names, else 0, 1, ..."""
    return np.arange(n_labels) if names is None else names


def check_columns(names, classes):
    """Refuse labels of other names than `classes`, or in another order, if both are texts."""
    if names is None:
        return
    classes = np.ravel(classes).tolist()
    if not all(isinstance(name, str) for name in classes):
        return
    if len(names) != len(classes):
        raise ValueError(f"y has {len(names)} columns, and the model {len(classes)} labels")
    for place, (name, label) in enumerate(zip(names.tolist(), classes)):
        if name != label:
            raise ValueError(
                f"y has the column {name!r} at place {place}, where the model has the label "
                f"{label!r}: give y the columns that were learnt, in that order"
            )


def sorted_classes(classes):
    """The classes that an argument names, each once, in order."""
    try:
        return np.unique(names_of(classes))
    except TypeError as error:
        raise ValueError(f"classes must be names that have an order: {error}") from error


def names_of(classes):
    """The classes that an argument names, as an array `(n_classes,)` of its own."""
    names = np.array(classes)
    if names.ndim == 2 and names.shape[1] == 1:
        names = names[:, 0]
    if names.ndim != 1 or is_missing(names).any():
        raise ValueError(
            f"classes must name labels in a list or an array, without NaN or None; got {classes!r}"
        )
    return names


def check_classes(target: Target, classes=None):
    """The classes that a first call of `fit` or `partial_fit` establishes, from what it was given.

    Returns
    -------
    ndarray of shape (n_classes,)
        Sorted for class labels; for an indicator the names of its columns, those that a data frame
        has or 0, 1, ... by default.
    """
    if target.multilabel:
        n_labels = target.values.shape[1]
        if n_labels < 2:
            raise ValueError(
                f"y has {n_labels} label column; ranking labels needs two (classes) at least"
            )
        if classes is None:
            return labels_of_columns(target.names, n_labels)
        classes = names_of(classes)
        if len(classes) != n_labels or len(set(classes.tolist())) != n_labels:
            raise ValueError(
                f"classes must name the {n_labels} columns of y, each once; got {classes!r}"
            )
        return classes
    seen = np.unique(target.values)
    if classes is None:
        classes = seen
    else:
        classes = sorted_classes(classes)
        relevance_lists(target, classes)
    if len(classes) < 2:
        raise ValueError(
            f"y has one class only, {classes.tolist()}; a classifier needs two classes: give rows "
            "of another class, or name every class that may come in partial_fit's `classes`"
        )
    return classes


def check_label_names(classes):
    """Names `(n_labels,)` of labels, in the order in which they are given."""
    names = names_of(classes)
    if len(names) < 2 or len(set(names.tolist())) < len(names):
        raise ValueError(f"classes must name two labels or more, each once; got {classes!r}")
    return names


def relevance_lists(target: Target, classes):
    """The relevance lists (see `_relevance_lists`) of a checked target; labels index `classes`."""
    if target.multilabel:
        if target.values.shape[1] != len(classes):
            raise ValueError(
                f"y has {target.values.shape[1]} label columns, but the first call had "
                f"{len(classes)}: `classes` cannot change between calls of partial_fit"
            )
        check_columns(target.names, classes)
        if not sparse.issparse(target.values):
            lengths = np.count_nonzero(target.values, axis=1)
            indptr = np.concatenate(([0], np.cumsum(lengths)), dtype=np.intp)
            return indptr, np.ascontiguousarray(np.nonzero(target.values)[1])
        indicator = sparse.csr_array(target.values, copy=True)
        indicator.eliminate_zeros()
        indicator.sort_indices()
        return indicator.indptr.astype(np.intp), indicator.indices.astype(np.intp)
    labels = _looked_up(target.values, classes)
    if labels is None:
        labels = _searched(target.values, classes)
    return np.arange(len(labels) + 1, dtype=np.intp), labels


def _looked_up(values, classes):
    """Places of whole numbers in `classes` of a narrow range, None for others: needs no search."""
    if values.dtype.kind != "i" or classes.dtype.kind != "i":
        return None
    first, last = int(classes.min()), int(classes.max())
    if last - first >= WIDEST_LOOK_UP or values.min() < first or values.max() > last:
        return None
    places = np.full(last - first + 1, -1, dtype=np.intp)
    places[classes.astype(np.intp) - first] = np.arange(len(classes))
    labels = places[values.astype(np.intp, copy=False) - first]
    return labels if labels.min() >= 0 else None


def _searched(values, classes):
    unseen = np.setdiff1d(values, classes)
    if len(unseen):
        raise ValueError(
            f"y contains labels that are not in `classes`: {unseen.tolist()}; name every label "
            "that may come in the first call, partial_fit(X, y, classes=...)"
        )
    # `classes` of an indicator keep their column order: look labels up through a sorted view.
    order = np.argsort(classes)
    return order[np.searchsorted(classes, values, sorter=order)].astype(np.intp)


def check_weights(sample_weight, n_samples: int, *, positive: bool):
    """Weights `(n_samples,)` of rows, float64 and >= 0; where `positive`, not all of them zero."""
    if sample_weight is None:
        return np.ones(n_samples)
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n_samples, sample_weight)
    weights = check_array(
        sample_weight, dtype=np.float64, order="C", ensure_2d=False, input_name="sample_weight"
    )
    if weights.shape != (n_samples,):
        raise ValueError(f"sample_weight must have the shape ({n_samples},), got {weights.shape}")
    if np.any(weights < 0):
        raise ValueError(
            f"sample_weight must not be negative, got {weights.min():g}; leave rows out by weight 0"
        )
    if np.any(weights > MAX_WEIGHT):
        raise ValueError(
            f"sample_weight must be {MAX_WEIGHT:g} or less, got {weights.max():g}: larger ones "
            "would overflow"
        )
    if positive and not np.any(weights > 0):
        raise ValueError(
            "Sample weights must contain at least one non-zero number; sample_weight is all zeros"
        )
    return weights


def check_rows(estimator, X, *, reset, **check_params):
    """Check the rows of an estimator as its tags say; CSR matrices become canonical.

    Whether sparse matrices and missing values are accepted is decided where `reset`: a fitted model
    accepts what it was fitted with, whatever its parameters are now.

    Parameters
    ----------
    estimator : estimator
        Gets `n_features_in_` and `feature_names_in_` where `reset`.
    X : object
        What the user passed.
    reset : bool
        Whether a model is started.
    **check_params : dict
        Further arguments of scikit-learn's `validate_data`, as `y` or `dtype`.

    Returns
    -------
    X : {ndarray, csr_array} of shape (n_samples, n_features)
        With `y` among the arguments a tuple of `X` and the checked `y`.
    """
    if reset or not hasattr(estimator, "_row_checks"):
        tags = get_tags(estimator).input_tags
        estimator._row_checks = {
            "accept_sparse": "csr" if tags.sparse else False,
            "ensure_all_finite": "allow-nan" if tags.allow_nan else True,
        }
    checked = validate_data(estimator, X, reset=reset, **estimator._row_checks, **check_params)
    if isinstance(checked, tuple):
        X, y = checked
        return canonical_csr(X), y
    return canonical_csr(checked)


def canonical_csr(X):
    """An array as it is; a CSR matrix without duplicates, columns in order, indices of 32 bits.

    Compiled loops trust it: a matrix whose index arrays are broken is refused here.
    """
    if not sparse.issparse(X):
        return X
    most = np.iinfo(np.int32).max
    if X.nnz > most:
        raise ValueError(f"X has {X.nnz} entries, too many for one call: pass fewer rows at a time")
    if X.shape[1] > most:
        raise ValueError(f"X has {X.shape[1]} columns, the most is {most}: hash its features")
    try:
        # Not X itself, which remembers that it was sound before its arrays were written to.
        X = sparse.csr_array((X.data, X.indices, X.indptr), shape=X.shape)
        X.check_format(full_check=True)
    except ValueError as error:
        raise ValueError(f"X is no sound CSR matrix: {error}") from error
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
        if np.isinf(X.data).any():
            raise ValueError("X contains infinity, the sum of entries that stand at one place")
    if X.indices.dtype != np.int32 or X.indptr.dtype != np.int32:
        arrays = X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)
        X = sparse.csr_array(arrays, shape=X.shape)
    return X


def sum_of_squares(entries):
    """A bound on the square of each entry, had in one pass; not finite where an entry is not."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.dot(entries, entries)


def check_entries(X):
    """Refuse rows whose products would overflow."""
    entries = (X.data if sparse.issparse(X) else X).ravel()
    if sum_of_squares(entries) <= MAX_FACTOR**2:
        return
    largest = max(entries.max(initial=0.0), -entries.min(initial=0.0))
    if largest > MAX_FACTOR:
        raise ValueError(
            f"X has an entry of the size {largest:g}; beyond {MAX_FACTOR:g} scores would "
            "overflow: scale the features"
        )


@contextmanager
def unchanged_on_error(estimator):
    """Put the attributes of `estimator` back as they were when what is done inside fails."""
    before = vars(estimator).copy()
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise
