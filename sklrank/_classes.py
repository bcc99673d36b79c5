"""The names of classes and labels: those that an argument gives, and those of a frame's columns."""

import numpy as np

from sklrank._rankings import is_missing

__all__ = [
    "check_columns",
    "column_names",
    "labels_of_columns",
    "names_of",
    "sorted_classes",
]


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
