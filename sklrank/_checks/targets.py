"""Checks of targets, class labels, and the labels that are available."""

import warnings
from numbers import Real
from reprlib import repr as shortened
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from sklrank._checks.numbers import check_exact, is_integer
from sklrank._checks.samples import aligned, check_container, check_labeled, is_missing, plain


class Target(NamedTuple):
    """A checked target."""

    values: np.ndarray
    """Class labels `(n_samples,)`, or a dense or CSR indicator matrix `(n_samples, n_labels)`."""
    multilabel: bool
    names: np.ndarray | None = None
    """Names `(n_labels,)` of the columns of an indicator matrix, if it is a data frame."""
    order: np.ndarray | None = None
    """Class labels in the order that the data type of `y` declares, or None if it has none."""


# The remedy that errors about lists of labels name.
BINARIZER = (
    "give the labels of a sample as 0 and 1, in one column per label: pass "
    "sklearn.preprocessing.MultiLabelBinarizer().fit_transform(y)"
)


def check_target(y, *, multilabel: bool) -> Target:
    """Check `y`: class labels or, if `multilabel` is True, also an indicator matrix."""
    try:
        return _checked_target(y, multilabel)
    except (TypeError, ValueError):
        check_labeled(y)
        single = (
            "this classifier takes one class label per sample, with its present parameters: pass a "
            "1-d y, or use a label ranker"
        )
        check_no_collections(y, BINARIZER if multilabel else single)
        raise


def _checked_target(y, multilabel):
    check_container(y, "y")
    names, order, y = column_names(y), declared_order(y), plain(y)
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
        check_class_labels(y)
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
        check_exact(y, "y")
        check_class_labels(y)
    return Target(y, False, order=order)


def check_class_labels(y):
    """Raise unless `y` has class labels that scikit-learn's classifiers take, none missing."""
    if y.dtype.kind in "mM":
        check_labeled(y)
    if y.dtype == object and y.size and all(isinstance(label, Real) for label in y.flat):
        raise ValueError(
            "Unknown label type: y has numbers of the type object, as in a table whose parts had "
            "several types; pass classes as integers or strings, such as y.astype(int)"
        )
    check_classification_targets(y)


def declared_order(y):
    """Return the categories of an ordered Categorical of pandas, or an Enum of polars, or None."""
    kind = getattr(y, "dtype", None)
    if kind is None and len(getattr(y, "columns", ())) == 1:
        kind = next(iter(y.dtypes))
    if getattr(kind, "ordered", False) or type(kind).__name__ == "Enum":
        return np.asarray(kind.categories)
    return None


def in_declared_order(classes, target: Target):
    """Return the classes in the order that the data type of the target declares, or sorted.

    Warn if that is the order of the alphabet.
    """
    if target.order is not None:
        known = set(target.order.tolist())
        new = [label for label in classes.tolist() if label not in known]
        return np.concatenate([target.order, np.array(new, dtype=object)]) if new else target.order
    if any(isinstance(label, str) for label in classes.tolist()):
        warnings.warn(
            "the costs depend on the order of the classes, and strings have that of the alphabet, "
            f"{classes.tolist()}: pass y as an ordered pandas.Categorical, a polars.Enum, or as "
            "integers",
            stacklevel=3,
        )
    return classes


def _is_indicator(y):
    # Unlike type_of_target of scikit-learn, this function accepts a single row.
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

    They are sorted class labels or, for an indicator matrix, the names of its columns: `classes`,
    those of a data frame, or 0, ..., n_labels - 1.
    """
    if target.multilabel:
        n_labels = target.values.shape[1]
        if n_labels < 2:
            raise ValueError(
                f"y has {n_labels} label column; ranking labels needs at least two (classes)"
            )
        return named_columns(classes, target.names, n_labels)
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


def named_columns(classes, names, n_labels):
    """Return the names of the columns of a target: `classes`, or by `labels_of_columns`."""
    if classes is None:
        return labels_of_columns(names, n_labels)
    given = check_label_names(classes)
    if len(given) != n_labels:
        raise ValueError(
            f"classes must name the {n_labels} columns of y, each once; got {classes!r}"
        )
    return given


def sorted_classes(classes):
    """Return the unique classes of an argument `classes`, sorted."""
    try:
        return np.unique(names_of(classes))
    except TypeError as error:
        raise ValueError(f"classes must be names that have an order: {error}") from error


def sorted_labels(labels, name, **options):
    """Return the unique entries of class labels, called `name`, as `numpy.unique` does."""
    check_exact(labels, name)
    try:
        return np.unique(labels, **options)
    except TypeError as error:
        raise ValueError(
            f"{name} must hold class labels of one kind, such as strings, without None: {error}"
        ) from error


def as_names(values):
    """Return an array of names or numbers, whose entries have the types of those of a list.

    NumPy would convert the numbers of a list that contains a string to strings, also NaN.
    """
    names = np.asarray(plain(values))
    if names.dtype.kind == "U" and not isinstance(values, np.ndarray):
        if not all(isinstance(value, str) for value in values):
            return np.asarray(values, dtype=object)
    return names


def names_of(classes):
    """Return an argument `classes` as a new array `(n_classes,)`."""
    names = np.array(plain(classes))
    if names.ndim == 2 and names.shape[1] == 1:
        names = names[:, 0]
    if names.ndim != 1 or not len(names) or is_missing(as_names(classes)).any():
        raise ValueError(
            f"classes must name labels in a list or an array, without NaN or None; got {classes!r}"
        )
    check_exact(names, "classes")
    return names


def column_names(y):
    """Return the column names of a data frame, or None if they are not distinct strings."""
    names = list(getattr(y, "column_names", getattr(y, "columns", ())))  # of pyarrow, of others
    named = names and all(isinstance(name, str) for name in names)
    return np.array(names) if named and len(set(names)) == len(names) else None


def labels_of_columns(names, n_labels):
    """Return the class labels of the columns of a target: their names, or their indices."""
    return np.arange(n_labels) if names is None else names


def check_row_labels(arguments):
    """Raise if objects have no values yet; warn if pandas' rows have labels in another order.

    Rows are matched by their place, as in scikit-learn. `arguments` are the objects by their names;
    those whose name ends in "_val" are compared among themselves.
    """
    firsts = {}
    for name, value in arguments.items():
        if not sparse.issparse(value):
            check_container(value, name)
        index = getattr(value, "index", None)
        if not hasattr(index, "get_indexer"):
            continue
        first_name, first = firsts.setdefault(name.endswith("_val"), (name, index))
        if len(index) != len(first) or index.equals(first) or not first.is_unique:
            continue
        if index.is_unique and (first.get_indexer(index) >= 0).all():
            warnings.warn(
                f"{first_name} and {name} have the same row labels in another order, but rows are "
                f"matched by their place: pass {name}.loc[{first_name}.index], or "
                f"{name}.to_numpy() if the order is right",
                stacklevel=4,
            )


def check_same_order(first, second, names=("y_true", "y_score")):
    """Raise if a data frame, `second`, has the columns of the first one in another order.

    Warn if it has the rows in another order. `first` may be an array of labels instead.
    """
    check_row_labels(dict(zip(names, (first, second))))
    known, given = column_names(first), column_names(second)
    if isinstance(first, np.ndarray) and first.ndim == 1:
        known = first
    known, given = ([] if each is None else each.tolist() for each in (known, given))
    if known != given and set(known) == set(given):
        raise ValueError(
            f"{names[1]} has the columns {shortened(given)}, and {names[0]} the same ones in "
            f"another order, {shortened(known)}: pass {names[1]} with its columns in that order"
        )


def check_scored(estimator, X, y, **others):
    """Raise if columns of `y` are not the labels of an estimator; warn of rows in another order."""
    check_row_labels({"X": X, "y": y, **others})
    names, classes = column_names(y), getattr(estimator, "classes_", None)
    if isinstance(classes, np.ndarray) and names is not None and len(names) > 1:
        check_columns(names, classes)


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
    """Return the relevance lists (see `_online`) of a target, as indices into `classes`."""
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
    """Return the indices of `values` in `classes`; raise the message about those not in it."""
    labels, unseen = find_labels(values, classes)
    if np.any(unseen):
        raise ValueError(message.format(np.unique(values[unseen]).tolist()))
    return labels


def find_labels(values, classes):
    """Return the indices of `values` in `classes`, and a mask of those that are not in them."""
    if {values.dtype.kind, classes.dtype.kind} == {"i", "u"}:
        # NumPy would round both to floats.
        classes, values = classes.astype(object), values.astype(object)
    order = np.argsort(classes)
    try:
        places = np.searchsorted(classes, values, sorter=order)
    except TypeError as error:
        raise ValueError(
            f"labels such as {shortened(np.ravel(values).tolist())} cannot be compared with the "
            f"classes {shortened(classes.tolist())}: pass labels of one kind, numbers or strings"
        ) from error
    labels = order[np.minimum(places, len(classes) - 1)]
    return labels, classes[labels] != values


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
    check_same_order(classes, available, ("classes_", "available"))
    index = getattr(available, "columns", getattr(available, "index", None))
    known = classes.tolist()
    labels = index.tolist() if hasattr(index, "get_indexer") else known
    if labels != known and set(labels) == set(known):
        available, labels = available.reindex(known, axis=available.ndim - 1), known
    meaning = "available must be a mask of bools, or a list of the names of labels in classes_"
    try:
        mask = np.asarray(plain(available))
        names = set() if mask.dtype == bool else set(mask.ravel().tolist())
    except (TypeError, ValueError) as error:
        raise ValueError(f"{meaning}: {error}") from error
    if mask.dtype != bool:
        # Zeros and ones are names, too, if the labels are integers.
        if mask.ndim > 1 or len(names) < mask.size or any(isinstance(n, bool) for n in names):
            raise ValueError(f"{meaning}, each once; got {mask.dtype} of the shape {mask.shape}")
        if unknown := names.difference(known):
            raise ValueError(f"{meaning}; {list(unknown)[:5]} are not in classes_")
        mask = np.array([name in names for name in known])
    elif labels not in (known, [*range(len(labels))]):
        raise ValueError(
            f"{meaning}; got one of {shortened(labels)}: select classes_, or pass .to_numpy()"
        )
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
