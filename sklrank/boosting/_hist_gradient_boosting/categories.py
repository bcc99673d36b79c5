"""Columns of documents: categories of data frames as numbers, and the columns of validation sets.

Trees read numbers. Categories of data frames, such as strings, are replaced by their index among
the sorted ones of the training samples, others and missing values by NaN. (The `OrdinalEncoder` of
scikit-learn takes `None`, by which polars marks missing values, as a category.)
"""

import warnings
from collections.abc import Set

import numpy as np
from sklearn.utils import check_array

from sklrank._checks import check_known, check_numeric, check_times, is_frame, is_missing
from sklrank._estimators import _safe_indexing

# So many samples show where the values of a feature are.
MAX_COMPARED = 10_000
# With fewer queries, features that are equal in a query may all be high or all low by chance.
MIN_QUERIES = 10
# Data types of the categories of pandas and polars.
CATEGORICAL = {"CategoricalDtype", "Categorical", "Enum"}
# Errors name this remedy for columns that have no numbers.
REMEDY = "give it the data type category, name it in categorical_features, or encode it"


def find_categorical(X, given):
    """Return the parameter `categorical_features` as indices or as a mask, or None."""
    if isinstance(given, str):
        return [type(each).__name__ in CATEGORICAL for each in X.dtypes]
    if isinstance(given, Set):
        given = sorted(given)
    if given is None or np.asarray(given).dtype.kind not in "UO" or not len(given):
        return given
    names = [str(name) for name in X.columns] if is_frame(X) else []
    unknown = sorted({str(name) for name in given} - set(names))
    if unknown:
        raise ValueError(
            f"categorical_features has the name {unknown[0]!r}, but X has the features "
            f"{', '.join(names) or 'without names'}: pass a data frame, or indices"
        )
    return np.isin(names, given)


class CategoryEncoder:
    """Sorted categories of the columns of a data frame in a mask, None for other columns."""

    def __init__(self, X, is_categorical):
        self._names = list(X.columns)
        self.categories = [
            _distinct(_values_of(X, feature), name) if is_categorical[feature] else None
            for feature, name in enumerate(X.columns)
        ]

    def encode(self, X):
        """Return samples as an array of floats, in which categories are numbers."""
        X = X if hasattr(X, "shape") else np.array(X, dtype=object)
        encoded = np.empty(X.shape)
        numeric = [feature for feature, each in enumerate(self.categories) if each is None]
        if numeric:
            numbers = _safe_indexing(X, np.array(numeric), axis=1)
            check_times(numbers)
            try:
                encoded[:, numeric] = check_array(
                    numbers, dtype=np.float64, ensure_all_finite="allow-nan", input_name="X"
                )
            except (TypeError, ValueError):
                check_numeric(numbers, REMEDY)
                raise
        for feature, categories in enumerate(self.categories):
            if categories is not None:
                codes = {category: float(code) for code, category in enumerate(categories)}
                values = _values_of(X, feature)
                encoded[:, feature] = [codes.get(value, np.nan) for value in values.tolist()]
                unknown = np.isnan(encoded[:, feature]) & ~is_missing(values)
                check_known(values, unknown, categories, self._names[feature])
        return encoded


def _values_of(X, feature):
    return np.asarray(_safe_indexing(X, feature, axis=1), dtype=object)


def _distinct(values, name):
    try:
        return sorted(set(values[~is_missing(values)].tolist()))
    except TypeError as error:
        raise ValueError(
            f"The categories of the feature {name!r} must be of one kind, such as strings: {error}"
        ) from error


def warn_if_untransformed(X, X_val, n_queries, is_categorical):
    """Warn if most of the features of validation documents have values in other units than `X`.

    These are features of which 95 % of the values in `X_val` are on one side of the median in `X`,
    or most are outside of its range. It takes half of them; in the worst split of MQ2008, 28 % look
    shifted. `n_queries` are the numbers of queries of both; `is_categorical` is a mask or None.
    """
    if n_queries[1] < min(MIN_QUERIES, n_queries[0]):
        return
    X, X_val = (rows[:: max(1, len(rows) // MAX_COMPARED)] for rows in (X, X_val))
    if is_categorical is not None:
        X, X_val = X[:, ~is_categorical], X_val[:, ~is_categorical]
    n_known = (~np.isnan(X_val)).sum(axis=0)
    compared = np.flatnonzero((n_known > 0) & ~np.isnan(X).all(axis=0))
    if not len(compared):
        return
    low, median, high = np.nanquantile(X[:, compared], [0, 0.5, 1], axis=0)
    X_val, n_known = X_val[:, compared], n_known[compared]
    sides = [(X_val > median).sum(axis=0), (X_val < median).sum(axis=0)]
    is_outside = ((X_val < low) | (X_val > high)).sum(axis=0) > 0.5 * n_known
    n_other = np.sum((np.max(sides, axis=0) > 0.95 * n_known) | is_outside)
    if n_other > 0.5 * len(compared):
        warnings.warn(
            f"X_val looks as if it were not transformed as X: {n_other} of {len(compared)} "
            "features have most values outside of those of X. A pipeline transforms X_val only "
            "with Pipeline(..., transform_input=['X_val']) and metadata routing",
            stacklevel=2,
        )
