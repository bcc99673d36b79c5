"""Checks of samples, targets, class labels and weights, for all estimators."""

from contextlib import contextmanager
from datetime import date, timedelta
from numbers import Integral, Real
from typing import NamedTuple

import numpy as np
import sklearn.utils
from scipy import sparse
from sklearn.utils import InputTags, check_array, column_or_1d, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

# Maximal sample weight. Trees sum up squares of weights, which must not overflow.
MAX_WEIGHT = 1e150
# Maximal absolute entry of `X` for estimators that multiply entries. Scores are sums over features
# and samples, whose terms are products of two entries, a learning rate and a loss.
MAX_FACTOR = 1e60
DATES = (np.datetime64, np.timedelta64, date, timedelta)


# -- Samples.


def input_tags_of(estimator):
    """Return the input tags of an inner estimator, or the default tags if it has none.

    The parameter `estimator` may hold any object until `fit` checks it.
    """
    return get_tags(estimator).input_tags if hasattr(estimator, "__sklearn_tags__") else InputTags()


def check_rows(estimator, X, *, reset, **check_params):
    """Check `X` according to the tags of the estimator.

    In CSR matrices, indices are sorted and duplicate entries are summed; see `canonical_rows`.

    Tags may depend on parameters. A fitted model accepts sparse matrices and missing values if the
    estimator accepted them when training started, even if parameters have changed since.

    Parameters
    ----------
    estimator : estimator
        Estimator whose `n_features_in_` and `feature_names_in_` are set if `reset` is True, and
        compared with `X` otherwise.
    X : object
        Samples passed by the user.
    reset : bool
        Whether a new model is created.
    **check_params : dict
        Further arguments of scikit-learn's `validate_data`, such as `y` or `dtype`.

    Returns
    -------
    X : {ndarray, csr_array} of shape (n_samples, n_features)
        Checked samples. If `y` is among the arguments, a tuple of `X` and the checked `y`.
    """
    check_sparse(X)
    check_sparse(check_params.get("y"), "y")
    if reset or not hasattr(estimator, "_row_checks"):
        tags = get_tags(estimator).input_tags
        estimator._row_checks = {
            "accept_sparse": "csr" if tags.sparse else False,
            "ensure_all_finite": "allow-nan" if tags.allow_nan else True,
        }
    try:
        checked = validate_data(estimator, X, reset=reset, **estimator._row_checks, **check_params)
    except (TypeError, ValueError):
        if not check_params.get("skip_check_array"):
            check_numeric(X, getattr(estimator, "_remedy_for_columns", "encode or drop it"))
        raise
    if isinstance(checked, tuple):
        X, y = checked
        return canonical_rows(X), y
    return canonical_rows(checked)


def is_frame(X):
    """Return True if `X` is a data frame, whose columns have names and data types."""
    return hasattr(X, "columns") and hasattr(X, "dtypes")


def check_numeric(X, remedy):
    """Raise an error that names the first column of a data frame that cannot be numbers."""
    for name in X.columns if is_frame(X) else []:
        try:
            if np.asarray(X[name]).dtype.kind in "mM":
                raise TypeError("it has dates")
            check_array(X[name], dtype=np.float64, ensure_2d=False, ensure_all_finite=False)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"the column {str(name)!r} of X must have numbers: {remedy}; {error}"
            ) from error


def check_sparse(X, name="X"):
    """Raise if the index arrays of a sparse matrix contradict each other.

    SciPy trusts them: to convert or to index such a matrix would read beyond the end of its arrays.
    Objects of other types are not checked.
    """
    if not sparse.issparse(X) or X.format not in ("bsr", "coo", "csc", "csr"):
        return
    is_coo = X.format == "coo"
    parts = (X.data, X.coords) if is_coo else (X.data, X.indices, X.indptr)
    try:
        # A new matrix, since `X` may have cached the result of a check before the user changed its
        # arrays.
        fresh = type(X)(parts, shape=X.shape)
        if not is_coo:
            fresh.check_format(full_check=True)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} is not a valid {X.format.upper()} matrix: {error}") from error


def is_missing(values: np.ndarray) -> np.ndarray:
    """Return a mask of the entries of an array of any type that are missing, as None or NaN."""
    if values.dtype.kind == "O":
        return np.frompyfunc(_is_missing, 1, 1)(values).astype(bool)
    return np.isnan(values) if values.dtype.kind in "fmM" else np.zeros(values.shape, dtype=bool)


def _is_missing(value) -> bool:
    differs = value is None or value != value
    # Comparisons with pandas' NA return NA, which is neither True nor False.
    return not isinstance(differs, bool | np.bool_) or bool(differs)


def aligned(array):
    """Return an array whose entries lie at multiples of their size, copied if they do not.

    Compiled loops and BLAS rely on it. Arrays that were received from another process may lie
    anywhere. Data frames are returned as they are.
    """
    return array.copy() if isinstance(array, np.ndarray) and not array.flags.aligned else array


def canonical_rows(X):
    """Return an aligned array, or a CSR matrix with sorted 32-bit indices without duplicates.

    Duplicate entries are summed. Compiled loops rely on this form. A data frame is returned as it
    is.
    """
    if not sparse.issparse(X):
        return aligned(X)
    max_index = np.iinfo(np.int32).max
    if X.nnz > max_index:
        raise ValueError(f"X has {X.nnz} entries, too many for one call: pass fewer rows at a time")
    if X.shape[1] > max_index:
        raise ValueError(f"X has {X.shape[1]} columns, more than {max_index}: hash its features")
    # A new matrix, since `X` may have cached that it is canonical before its arrays changed.
    arrays = aligned(X.data), aligned(X.indices), aligned(X.indptr)
    X = sparse.csr_array(arrays, shape=X.shape)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
        if np.isinf(X.data).any():
            raise ValueError("X contains infinity, the sum of entries at the same position")
    if X.indices.dtype != np.int32 or X.indptr.dtype != np.int32:
        arrays = X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)
        X = sparse.csr_array(arrays, shape=X.shape)
    return X


def check_entries(X, name="X"):
    """Raise if products of entries of `X`, which is called `name`, would overflow."""
    entries = (X.data if sparse.issparse(X) else X).ravel()
    with np.errstate(over="ignore"):
        if np.vdot(entries, entries) <= MAX_FACTOR**2:
            return
    largest = max(entries.max(initial=0.0), -entries.min(initial=0.0))
    if largest > MAX_FACTOR:
        raise ValueError(
            f"{name} has an entry of the size {largest:g}; scores would overflow beyond "
            f"{MAX_FACTOR:g}: scale the features"
        )


def check_outputs(outputs, estimator):
    """Return the outputs of an inner estimator; raise a ValueError if one is NaN or infinite.

    A data frame is converted to an array.
    """
    outputs = np.asarray(outputs)
    if not np.isfinite(outputs).all():
        raise ValueError(
            f"{type(estimator).__name__} predicts NaN or infinity: remove extreme values from X, "
            "scale the features, or use another estimator"
        )
    return outputs


# -- Targets.


class Target(NamedTuple):
    """A checked target."""

    values: np.ndarray
    """Class labels `(n_samples,)`, or a dense or CSR indicator matrix `(n_samples, n_labels)`."""
    multilabel: bool
    names: np.ndarray | None = None
    """Names `(n_labels,)` of the columns of an indicator matrix, if it is a data frame."""


def check_given(y):
    """Raise if the target of a training method is None."""
    if y is None:
        raise ValueError("this estimator requires y to be passed, but the target y is None")


# The remedy that errors about lists of labels name.
BINARIZER = (
    "give the labels of a sample as 0 and 1, in one column per label: pass "
    "sklearn.preprocessing.MultiLabelBinarizer().fit_transform(y)"
)


def check_target(y, *, multilabel: bool) -> Target:
    """Check `y`: class labels or, if `multilabel` is True, also an indicator matrix."""
    try:
        return _checked_target(y, multilabel)
    except ValueError:
        single = (
            "this classifier takes one class label per sample, with its present parameters: pass a "
            "1-d y, or use a label ranker"
        )
        check_no_collections(y, BINARIZER if multilabel else single)
        raise


def _checked_target(y, multilabel):
    check_sparse(y, "y")
    names = column_names(y)
    # Functions of scikit-learn are skipped for valid arrays, since each takes longer than learning
    # one sample.
    if not (type(y) is np.ndarray and y.dtype.kind in "biu" and 1 <= y.ndim <= 2 and y.size):
        y = check_array(y, accept_sparse="csr", ensure_2d=False, dtype=None, input_name="y")
    if sparse.issparse(y):
        y = y.astype(np.float64)
        y.sum_duplicates()
    else:
        y = aligned(y)
    if y.ndim == 2 and _is_indicator(y):
        if not multilabel:
            raise ValueError(
                "y is an indicator matrix of shape (n_samples, n_labels); this classifier takes "
                "one class label per sample, with its present parameters: pass a 1-d y, or use a "
                "label ranker or a PredtronClassifier with the default representation, no "
                "reject_cost and a loss of label sets such as 'hamming'"
            )
        return Target(y, True, names)
    if y.ndim == 2 and y.shape[1] > 1:
        check_classification_targets(y)
        values = np.unique(y.data if sparse.issparse(y) else y)
        raise ValueError(
            "y must have class labels of shape (n_samples,), or 0 and 1 in one column per label "
            "(sklearn.preprocessing.MultiLabelBinarizer makes them from lists of labels); got "
            f"{y.shape[1]} columns with the values {values[:5].tolist()}"
        )
    if y.ndim > 1:
        y = column_or_1d(y, warn=True)
    if y.dtype.kind not in "biu":
        # Integers are valid class labels. They are not checked, since the check would sort them.
        if y.dtype == object:
            sorted_labels(y, "y")
        check_classification_targets(y)
    return Target(y, False)


def _is_indicator(y):
    # Return True if `y` is an indicator matrix. Unlike type_of_target of scikit-learn, this
    # function accepts an indicator matrix with a single row.
    if sparse.issparse(y):
        return bool(np.isin(y.data, (0, 1)).all())
    return y.shape[1] > 1 and y.dtype.kind in "biuf" and bool(np.isin(y, (0, 1)).all())


def check_no_collections(y, remedy=BINARIZER):
    """Raise if entries of `y` are sets, or lists that do not form an array."""
    in_list = isinstance(y, list | tuple)
    entries = list(y if in_list else np.ravel(y))
    sets = any(isinstance(entry, set | frozenset) for entry in entries)
    lengths = {len(entry) for entry in entries if isinstance(entry, list | tuple)}
    # A list of lists of equal length is an array; an array of lists is not.
    if sets or len(lengths) > in_list:
        raise ValueError(f"y holds collections of labels; {remedy}")


# -- Classes.


def check_classes(target: Target, classes=None):
    """Return the classes of a new model, from the arguments of `fit` or `partial_fit`.

    Returns
    -------
    ndarray of shape (n_classes,)
        Sorted class labels. For an indicator matrix, the names of its columns: `classes`, or the
        column names of a data frame, or 0, ..., n_labels - 1.
    """
    if target.multilabel:
        n_labels = target.values.shape[1]
        if n_labels < 2:
            raise ValueError(
                f"y has {n_labels} label column; ranking labels needs at least two (classes)"
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
            f"y has one class only, {classes.tolist()}; a classifier needs two classes: add "
            "samples of another class, or name all classes by `classes` of partial_fit"
        )
    return classes


def check_label_names(classes):
    """Return the argument `classes` as names `(n_labels,)` of labels, in the given order."""
    names = names_of(classes)
    if len(names) < 2 or len(set(names.tolist())) < len(names):
        raise ValueError(f"classes must name two labels or more, each once; got {classes!r}")
    return names


def sorted_classes(classes):
    """Return the unique classes of an argument `classes`, sorted."""
    try:
        return np.unique(names_of(classes))
    except TypeError as error:
        raise ValueError(f"classes must be names that have an order: {error}") from error


def sorted_labels(labels, name):
    """Return the unique entries of an array of class labels, which is called `name`, sorted."""
    try:
        return np.unique(labels)
    except TypeError as error:
        raise ValueError(
            f"{name} must hold class labels of one kind, such as strings, without None: {error}"
        ) from error


def as_names(values):
    """Return an array of names or numbers, whose entries have the types of those of a list.

    NumPy would convert the numbers of a list that contains a string to strings, also NaN.
    """
    names = np.asarray(values)
    if names.dtype.kind == "U" and not isinstance(values, np.ndarray):
        if not all(isinstance(value, str) for value in values):
            return np.asarray(values, dtype=object)
    return names


def names_of(classes):
    """Return an argument `classes` as a new array `(n_classes,)`."""
    names = np.array(classes)
    if names.ndim == 2 and names.shape[1] == 1:
        names = names[:, 0]
    if names.ndim != 1 or not len(names) or is_missing(as_names(classes)).any():
        raise ValueError(
            f"classes must name labels in a list or an array, without NaN or None; got {classes!r}"
        )
    return names


def column_names(y):
    """Return the column names of a data frame, or None if they are not distinct strings."""
    names = list(getattr(y, "column_names", getattr(y, "columns", ())))  # of pyarrow, of others
    named = names and all(isinstance(name, str) for name in names)
    return np.array(names) if named and len(set(names)) == len(names) else None


def labels_of_columns(names, n_labels):
    """Return the class labels of the columns of a target: their names, or their indices."""
    return np.arange(n_labels) if names is None else names


def check_columns(names, classes):
    """Raise if column names and `classes` are strings and differ, or differ in their order."""
    if names is None:
        return
    classes = np.ravel(classes).tolist()
    if not all(isinstance(name, str) for name in classes):
        return
    if len(names) != len(classes):
        raise ValueError(f"y has {len(names)} columns, and the model {len(classes)} labels")
    for position, (name, label) in enumerate(zip(names.tolist(), classes)):
        if name != label:
            raise ValueError(
                f"y has the column {name!r} at position {position}, where the model has the "
                f"label {label!r}: pass y with the columns that the model was fitted with, in order"
            )


# -- Labels as indices into the classes.


def relevance_lists(target: Target, classes):
    """Return the relevance lists (see `_base_online`) of a checked target.

    The labels in the lists are indices into `classes`.
    """
    if target.multilabel:
        if target.values.shape[1] != len(classes):
            raise ValueError(
                f"y has {target.values.shape[1]} label columns, but the first call had "
                f"{len(classes)}: name the columns by `classes`, which may have new labels"
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
    labels = indices_of(
        target.values,
        classes,
        "y contains labels that are not in `classes`: {}; name all labels, also new ones, by "
        "partial_fit(X, y, classes=...)",
    )
    return np.arange(len(labels) + 1, dtype=np.intp), labels


def indices_of(values, classes, message):
    """Return the indices of `values` in `classes`, which may be unsorted.

    If some are not in `classes`, raise with the message, into which they are formatted.
    """
    labels, unseen = find_labels(values, classes)
    if np.any(unseen):
        raise ValueError(message.format(np.unique(values[unseen]).tolist()))
    return labels


def find_labels(values, classes):
    """Return the indices of `values` in `classes`, and a mask of those that are not in them."""
    order = np.argsort(classes)
    places = np.searchsorted(classes, values, sorter=order)
    labels = order[np.minimum(places, len(classes) - 1)]
    return labels, classes[labels] != values


# -- Weights, other numbers, and failures.


# Booleans are instances of `Integral` and `Real`, but no parameter of the package takes them as
# numbers: the constraint `Interval` in `_sklearn.py`, `is_integer`, `is_number` and `check_scalar`
# do not accept them.


def is_integer(x) -> bool:
    """Return True if `x` is an integer, and not a boolean."""
    return type(x) is int or (isinstance(x, Integral) and not isinstance(x, bool))


def check_k(k, n_labels: int) -> int:
    """Check a number of labels to show or to return; return it as an int."""
    if not is_integer(k) or not 1 <= k <= n_labels:
        raise ValueError(
            f"k must be an integer from 1 to the number of labels, {n_labels}; got {k!r}"
        )
    return int(k)


def check_available(available, classes, n_samples: int, k: int = 1):
    """Check a mask of the labels that are available for each sample, or a list of their names.

    Return the mask `(n_samples, n_labels)` of int8, whose rows may be one row in memory, or None if
    `available` is None. At least `k` labels must be available for each sample.
    """
    if available is None:
        return None
    meaning = "available must be a mask of bools, or a list of the names of labels in classes_"
    try:
        mask = np.asarray(available)
        names = set() if mask.dtype == bool else set(mask.ravel().tolist())
    except (TypeError, ValueError) as error:
        raise ValueError(f"{meaning}: {error}") from error
    if mask.dtype != bool:
        # Zeros and ones are names, too, if the labels are integers.
        if mask.ndim > 1 or len(names) < mask.size or any(isinstance(n, bool) for n in names):
            raise ValueError(f"{meaning}, each once; got {mask.dtype} of the shape {mask.shape}")
        if unknown := names.difference(classes.tolist()):
            raise ValueError(f"{meaning}; {list(unknown)[:5]} are not in classes_")
        mask = np.array([name in names for name in classes.tolist()])
    if mask.shape not in ((n_samples, len(classes)), (len(classes),)):
        raise ValueError(
            f"available must have the shape ({n_samples}, {len(classes)}) of samples and labels, "
            f"or ({len(classes)},) for all samples, got {mask.shape}"
        )
    fewest = int(np.count_nonzero(mask, axis=-1).min())
    if fewest < k:
        raise ValueError(
            f"available must have at least {k} labels for each sample, got {fewest}: pass only "
            "samples that have as many, or decrease k"
        )
    mask = np.ascontiguousarray(mask).view(np.int8)
    return np.broadcast_to(mask, (n_samples, len(classes)))


def only_available(scores, available, fill=-np.inf):
    """Return `scores`, in which the entries of labels that are not available are `fill`."""
    return scores if available is None else np.where(available, scores, fill)


def is_number(x) -> bool:
    """Return True if `x` is a real number, and not a boolean."""
    # `isinstance` of an abstract class takes a microsecond.
    return type(x) is float or (isinstance(x, Real) and not isinstance(x, bool))


def check_level(level, name):
    """Raise unless the confidence level of intervals is a number between 0 and 1."""
    if not (is_number(level) and 0 < level < 1):
        raise ValueError(f"{name} must be a number between 0 and 1, got {level!r}")


def check_scalar(x, name, target_type, **bounds):
    """Check a number with scikit-learn's `check_scalar`, and raise if it is a boolean or NaN."""
    if isinstance(x, bool):
        raise TypeError(f"{name} must be a number, got {x!r}")
    if isinstance(x, Real) and x != x:
        # No comparison with a bound would fail.
        raise ValueError(f"{name} must be a number, got {x!r}")
    return sklearn.utils.check_scalar(x, name, target_type, **bounds)


def check_random_state(random_state):
    """Return a RandomState instance from a parameter `random_state`, as scikit-learn does."""
    try:
        return sklearn.utils.check_random_state(random_state)
    except (TypeError, ValueError) as error:
        raise ValueError(
            "random_state must be an integer from 0 to 2**32 - 1, a RandomState instance or None; "
            f"got {random_state!r}"
        ) from error


def check_weights(sample_weight, n_samples: int, *, positive: bool, name="sample_weight"):
    """Return the sample weights `(n_samples,)` as float64 after a check that none is negative.

    If `positive` is True, raise if all weights are zero. Errors call the weights `name`.
    """
    if sample_weight is None:
        return np.ones(n_samples)
    if is_number(sample_weight):
        sample_weight = np.full(n_samples, sample_weight)
    elif isinstance(sample_weight, bool):
        raise ValueError(f"{name} must be numbers, got {sample_weight}")
    try:
        weights = check_array(
            sample_weight, dtype=np.float64, order="C", ensure_2d=False, input_name=name
        )
    except ValueError as error:
        if name in str(error):
            raise
        raise ValueError(f"{name} must be numbers: {error}") from error
    if weights.shape != (n_samples,):
        raise ValueError(f"{name} must have the shape ({n_samples},), got {weights.shape}")
    if np.any(weights < 0):
        raise ValueError(
            f"{name} must not be negative, got {weights.min():g}; ignore samples by weight 0"
        )
    if np.any(weights > MAX_WEIGHT):
        raise ValueError(
            f"{name} must be {MAX_WEIGHT:g} or less, got {weights.max():g}: larger ones "
            "would overflow"
        )
    if positive and not np.any(weights > 0):
        raise ValueError(
            f"Sample weights must contain at least one non-zero number; {name} is all zeros"
        )
    return aligned(weights)


def check_finite(values, name, what, remedy, dtype=np.float64):
    """Return an argument of a metric as an array of one or two dimensions with finite entries.

    Errors call it `name`, say that it must hold `what`, and end with the `remedy`.
    """
    try:
        array = check_array(
            values,
            dtype=dtype,
            ensure_2d=False,
            allow_nd=True,
            ensure_all_finite=False,
            input_name=name,
        )
    except (TypeError, ValueError) as error:
        if name in str(error):
            raise
        raise ValueError(f"{name} must hold numbers: {error}") from error
    if array.ndim > 2:
        raise ValueError(
            f"{name} must hold {what} of shape (n_samples,) or (n_samples, n_labels), got "
            f"{array.shape}."
        )
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        where = tuple(bad[0].tolist())
        raise ValueError(f"{name} must be finite, got {array[where]} at {where}: {remedy}.")
    return aligned(array)


def look_up(name, table, choice, also=""):
    """Return ``table[choice]``, where `choice` is the value of the parameter called `name`.

    An error lists the keys of the table after `also`, such as "callable or ".
    """
    if not isinstance(choice, str) or choice not in table:
        raise ValueError(f"{name} must be {also}one of {sorted(table)}, got {choice!r}.")
    return table[choice]


def as_numbers(values, name, what="numbers"):
    """Convert values to a float64 array.

    If they are not numbers, raise an error in which they are called `name`.
    """
    try:
        array = np.asarray(values)
        dates = array.dtype.kind == "O" and any(isinstance(entry, DATES) for entry in array.flat)
        if dates or array.dtype.kind in "cmM":
            # NumPy would convert dates to integers, and discard imaginary parts.
            kind = "dates" if dates else f"values of the type {array.dtype}"
            raise TypeError(f"got {kind}")
        return aligned(np.asarray(values, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be {what}: {error}") from error


def with_reject_label(labels):
    """Return the labels followed by a label of their type for rejected samples, and this label."""
    if labels.dtype.kind in "mM":
        raise ValueError(
            f"y holds classes of the type {labels.dtype}, and no label of this type stands for a "
            "rejection: encode them as numbers or strings, or do without rejections"
        )
    if labels.dtype.kind in "biuf":
        label = -1 if -1 not in labels else int(np.floor(labels.min())) - 1
    else:
        label = "reject"
        while label in labels.tolist():
            label += "_"
    # The label may be a longer string. No integer type of NumPy holds all numbers of uint64 and -1.
    as_objects = labels.dtype.kind == "O" or labels.dtype == np.uint64
    kind = object if as_objects else np.result_type(labels, np.asarray(label))
    return np.append(labels.astype(kind), np.array([label], dtype=kind)), label


@contextmanager
def unchanged_on_error(estimator, *, draws=True):
    """Restore the attributes of `estimator` if the body of the `with` statement raises.

    The states of its random number generators are restored, too, except for the global generator of
    NumPy. Saving a state takes as long as learning several samples. If the body draws no random
    numbers, pass `draws=False`.
    """
    before = vars(estimator).copy()
    shared = np.random.mtrand._rand
    generators = [
        value
        for value in (before.values() if draws else ())
        if isinstance(value, np.random.RandomState) and value is not shared
    ]
    states = [generator.get_state(legacy=False) for generator in generators]
    try:
        yield
    except BaseException:
        # A single assignment, which a second Ctrl-C cannot interrupt halfway.
        estimator.__dict__ = before
        for generator, state in zip(generators, states):
            generator.set_state(state)
        raise
