"""Checks of samples: dense and sparse matrices, and data frames."""

import re
import warnings
from datetime import date, timedelta

import numpy as np
from scipy import sparse
from sklearn.utils import InputTags, check_array, get_tags
from sklearn.utils.extmath import row_norms
from sklearn.utils.validation import validate_data

# Maximal absolute entry of `X` for estimators that multiply entries. Scores are sums over features
# and samples, whose terms are products of two entries, a learning rate and a loss.
MAX_FACTOR = 1e60
# Of fewer values, most may be new categories by chance.
MIN_VALUES = 10
# Trees of scikit-learn, and similarities, take values that differ by less as equal.
FEATURE_THRESHOLD = 1e-7
# Single precision has 2**24 numbers of one size. Splits and steps need some hundreds.
MIN_SPREAD = 2.0**-16
# A step on a row that is so many times as large as the usual one outweighs as many others, and its
# square of those in random directions. No row of 25 real sets is that large, and no feature of
# those that are scaled; in five that are not, the largest is 126 to 160,000 times the usual one.
MAX_RATIO = 100
REMEDIES = {
    "row": "Remove it if it is an error, or scale the rows: sklearn.preprocessing.Normalizer",
    "feature": "Scale the features: sklearn.preprocessing.StandardScaler",
}
# Steps along such a mean undo each other. Letter (2.7), iris (3.6) and satimage (4.6) are learned
# with .2 to .3 less of the accuracy than scaled, balance (2.1) as well.
MAX_OFFSET = 2.5
# Of fewer rows, the median is not the usual size.
MIN_ROWS = 30
# Running statistics bound no values of so few rows (`_online/outliers.pxd`); those that follow tell
# their usual range. One of Cauchy's distribution is so many ranges away in .3 % of the features.
N_FIRST, N_COMPARED, MAX_RANGES = 30, 1000, 10
DATES = (np.datetime64, np.timedelta64, date, timedelta)


def input_tags_of(estimator):
    """Return the input tags of an inner estimator, or the defaults for objects without tags."""
    return get_tags(estimator).input_tags if hasattr(estimator, "__sklearn_tags__") else InputTags()


def check_rows(estimator, X, *, reset, **check_params):
    """Check `X` according to the tags of the estimator, and return it as `canonical_rows` does.

    If `reset` is True, a new model is created: `n_features_in_` and `feature_names_in_` are set.
    Otherwise, they are compared with `X`. Tags may depend on parameters: a fitted model accepts
    what the estimator accepted when training started. The other arguments are those of
    scikit-learn's `validate_data`; with `y`, a tuple of both is returned.
    """
    if not reset and is_plain_array(estimator, X, **check_params):
        return X
    check_container(X)
    check_container(check_params.get("y"), "y")
    if reset or not hasattr(estimator, "_row_checks"):
        tags = get_tags(estimator).input_tags
        estimator._row_checks = {
            "accept_sparse": "csr" if tags.sparse else False,
            "ensure_all_finite": "allow-nan" if tags.allow_nan else True,
        }
    X = plain(X)
    if not check_params.get("skip_check_array"):
        check_times(X)
    if "y" in check_params:
        check_params["y"] = plain(check_params["y"])
    try:
        if "y" in check_params and np.asarray(check_params["y"]).dtype.kind in "OmM":
            check_labeled(check_params["y"])
        checked = validate_data(estimator, X, reset=reset, **estimator._row_checks, **check_params)
    except (TypeError, ValueError):
        check_labeled(check_params.get("y"))
        if not check_params.get("skip_check_array"):
            check_numeric(X, getattr(estimator, "_remedy_for_columns", "encode or drop it"))
        raise
    is_single = check_params.get("dtype") is np.float32
    if reset and (is_single or getattr(estimator, "_needs_small_means", False)):
        warn_of_offsets(X, estimator)
    if isinstance(checked, tuple):
        X, y = checked
        return canonical_rows(X), y
    return canonical_rows(checked)


def is_plain_array(estimator, X, *, dtype="numeric", order=None, **check_params):
    """Return whether samples for a fitted model are an array that `validate_data` would return.

    For a single sample, its checks take longer than most predictions.
    """
    if type(X) is not np.ndarray or X.ndim != 2 or not X.size or check_params:
        return False
    if hasattr(estimator, "feature_names_in_") or not hasattr(estimator, "_row_checks"):
        return False
    if isinstance(dtype, str):
        dtype = np.float64, np.float32
    with np.errstate(all="ignore"):
        return bool(
            X.shape[1] == getattr(estimator, "n_features_in_", None)
            and X.flags.aligned
            and (order is None or X.flags.c_contiguous)
            and X.dtype in (dtype if isinstance(dtype, list | tuple) else [dtype])
            and np.isfinite(X.sum())
        )


def warn_of_offsets(X, estimator):
    """Warn if a feature of dense samples varies by little, beside its size or at all."""
    if sparse.issparse(X):
        return
    X = check_array(X, dtype=np.float64, ensure_all_finite=False)
    low, high = np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)
    sizes, spreads = np.maximum(np.abs(low), np.abs(high)), high - low
    least = 0.0 if getattr(estimator, "_steps_like_rows", False) else FEATURE_THRESHOLD
    is_small = spreads < np.maximum(MIN_SPREAD * sizes, least)
    for i in np.flatnonzero((spreads > 0) & is_small)[:1]:
        warnings.warn(
            f"the feature {i} of X has values of the size {sizes[i]:.3g}, which differ by "
            f"{spreads[i]:.3g} at most: {type(estimator).__name__} can hardly tell them apart. "
            "Standardize it, as sklearn.preprocessing.StandardScaler does",
            stacklevel=4,
        )


def is_frame(X):
    """Return True if `X` is a data frame, whose columns have names and data types."""
    return hasattr(X, "columns") and hasattr(X, "dtypes")


def check_times(X):
    """Raise if samples have times, which some libraries convert to numbers of any unit."""
    types, names = getattr(X, "dtypes", []), getattr(X, "columns", [])
    if hasattr(X, "dtype"):
        types, names = [X.dtype], [None]
    elif hasattr(X, "schema") and hasattr(X, "column_names"):  # of pyarrow
        types, names = X.schema.types, X.column_names
    for kind, name in zip(types, names):
        if re.match("date|time|duration", str(kind), re.IGNORECASE):
            where = "X" if name is None else f"the column {str(name)!r} of X"
            raise ValueError(
                f"{where} must have numbers, got {kind}: pass times as numbers of a unit"
            )


def check_numeric(X, remedy):
    """Raise an error that names the first column of a data frame that cannot be numbers."""
    for i, name in enumerate(getattr(X, "column_names", X.columns if is_frame(X) else [])):
        try:
            column = X.iloc[:, i] if hasattr(X, "iloc") else X[name]
            check_array(column, dtype=np.float64, ensure_2d=False, ensure_all_finite=False)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"the column {str(name)!r} of X must have numbers: {remedy}; {error}"
            ) from error


def check_known(values, unknown, categories, feature):
    """Warn if most values of a categorical feature are unknown; raise if they are of another kind.

    Those in the mask `unknown` are neither missing nor among the `categories` of training.
    """
    n_known = len(values) - np.count_nonzero(is_missing(values))
    n_unknown = np.count_nonzero(unknown)
    if not n_unknown or not len(categories):
        return
    example = values[[unknown.argmax()]].tolist()[0]
    trained = np.asarray(categories[:1]).tolist()[0]
    text = (
        f"the feature {feature!r} of X has the category {example!r}, and {n_unknown} of {n_known} "
        f"values are unknown: in training, it had categories such as {trained!r}"
    )
    if n_unknown == n_known and isinstance(example, str) != isinstance(trained, str):
        raise ValueError(f"{text}. Pass the values as in training, either names or codes")
    if n_known >= MIN_VALUES and n_unknown > 0.5 * n_known:
        warnings.warn(
            f"{text}, or so many that only the most frequent were kept. Unknown categories count "
            "as missing; encode them as in training, or fit to samples that have them",
            stacklevel=3,
        )


def check_container(X, name="X"):
    """Raise for a lazy frame, or if the index arrays of a sparse matrix contradict each other.

    SciPy trusts them, and would read beyond the end of its arrays.
    """
    if hasattr(X, "collect") and not hasattr(X, "__array__"):
        raise ValueError(f"{name} has no values yet: pass {name}.collect()")
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
        return np.asarray(np.frompyfunc(_is_missing, 1, 1)(values), dtype=bool)
    return np.isnan(values) if values.dtype.kind in "fmM" else np.zeros(values.shape, dtype=bool)


def check_labeled(
    y, *, name="y", remedy="classifiers of sklrank.semi_supervised take them as unlabeled"
):
    """Raise if entries of `y`, which is called `name`, are missing, as None or NaN."""
    if y is None or sparse.issparse(y):
        return
    try:
        missing = np.argwhere(is_missing(np.asarray(plain(y), dtype=object)))
    except ValueError:  # lists of different lengths
        return
    if len(missing):
        raise ValueError(
            f"Input {name} contains NaN or None, first for the sample {missing[0, 0]}: leave such "
            f"samples out ({remedy})"
        )


def _is_missing(value) -> bool:
    differs = value is None or value != value
    # Comparisons with pandas' NA return NA, which is neither True nor False.
    return not isinstance(differs, bool | np.bool_) or bool(differs)


def plain(values):
    """Return a masked array, or a column of a nullable type, as an array that NumPy understands.

    Masked entries are NaN, or None among names: NumPy would return what is behind the mask. Whole
    numbers remain integers: scikit-learn would round them.
    """
    if np.ma.is_masked(values):
        is_number = values.dtype.kind in "biuf"
        array = values.data.astype(np.float64 if is_number else object)
        array[values.mask] = np.nan if is_number else None
        return array
    dtype = getattr(getattr(values, "dtype", None), "numpy_dtype", None)
    if dtype is None or not hasattr(values, "isna") or values.isna().any():
        return values
    return values.to_numpy(dtype=dtype)


def aligned(array):
    """Return an array whose entries lie at multiples of their size, as compiled loops expect.

    Those of arrays that were received from another process, which are copied, may not.
    """
    return array.copy() if isinstance(array, np.ndarray) and not array.flags.aligned else array


def canonical_rows(X):
    """Return an aligned array, or a CSR matrix with sorted 32-bit indices without duplicates.

    Duplicate entries are summed. Compiled loops rely on this form.
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


def warn_of_large(kind, X, estimator, *, with_mean=False):
    """Warn if one "row" or "feature", the `kind`, or their mean, outweighs the others in steps."""
    if X.shape[0] < MIN_ROWS:
        return
    sizes = row_norms(X) if kind == "row" else abs(X).max(axis=0)
    sizes = sizes.toarray().ravel() if sparse.issparse(sizes) else sizes
    with np.errstate(over="ignore", invalid="ignore"):
        ratio = sizes.max() / np.median(sizes[sizes > 0]) if sizes.any() else 0.0
        squared = np.square(X.mean(axis=0)).sum() if with_mean else 0.0
        variance = row_norms(X, squared=True).mean() - squared if with_mean else 0.0
    large, small, limit = f"{kind} {sizes.argmax()}", f"the usual {kind}", MAX_RATIO
    if ratio <= limit and variance > 1e-12 * squared:  # Less is an error of rounding.
        large, small, limit = "the mean of the rows", "their distance from it", MAX_OFFSET
        ratio = np.sqrt(squared / variance)
    if ratio > limit:
        scaler = "MaxAbsScaler" if sparse.issparse(X) else "StandardScaler"
        remedy = REMEDIES[kind].replace("StandardScaler", scaler)
        warnings.warn(
            f"{large} of X is {ratio:.3g} times as large as {small}: in steps of "
            f"{type(estimator).__name__}, the rest hardly counts. {remedy}",
            stacklevel=5,
        )


def warn_of_first_rows(X, estimator, order=None):
    """Warn of gross errors in the dense rows learned first, which running statistics cannot tell.

    The rows of `X` are learned in the order `order`, if there is one.
    """
    rows = (np.arange(X.shape[0]) if order is None else order)[:N_COMPARED]
    if sparse.issparse(X) or len(rows) < N_FIRST + MIN_ROWS:
        return
    first, others = np.split(X[rows], [N_FIRST])
    low, high = others.min(axis=0), others.max(axis=0)
    with np.errstate(over="ignore"):
        reach = np.where(low < high, MAX_RANGES * (high - low), np.inf)
        errors = np.argwhere((first < low - reach) | (first > high + reach))
    for row, i in errors[:1]:
        warnings.warn(
            f"row {rows[row]} of X has the value {first[row, i]:g} of the feature {i}, far from "
            f"others, and is one of the first that {type(estimator).__name__} learns, which "
            "decide the scale of the features: remove the row, or use LinUCBClassifier or AdaOLMR",
            stacklevel=5,
        )


def check_outputs(outputs, estimator):
    """Return the outputs of an inner estimator as an array; raise if one is NaN or infinite."""
    outputs = np.asarray(outputs)
    if not np.isfinite(outputs).all():
        raise ValueError(
            f"{type(estimator).__name__} predicts NaN or infinity: remove extreme values from X, "
            "scale the features, or use another estimator"
        )
    return outputs


def check_given(y):
    """Raise if the target of a training method is None."""
    if y is None:
        raise ValueError("this estimator requires y to be passed, but the target y is None")
