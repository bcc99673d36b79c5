"""Functions of arrays of rankings, one ranking for each row.

*Positions* are the target of label ranking: column ``j`` holds the position of label ``j``. Smaller
is better, NaN means not ranked, equal numbers are ties; only the order matters. *Orderings* are the
inverse: column ``i`` holds the label at position ``i``, best first.
"""

import numpy as np
from sklearn.utils import check_array

__all__ = [
    "check_positions",
    "close_ranks",
    "invert_orderings",
    "is_missing",
    "listed_labels",
    "positions_from_scores",
]


def check_positions(Y, name: str = "Y", *, complete: bool = False) -> np.ndarray:
    """Check positions; return float64 `(n_samples, n_labels)`. `complete`: no NaN and no ties."""
    try:
        Y = check_array(
            Y,
            dtype=np.float64,
            ensure_2d=False,
            allow_nd=True,
            ensure_all_finite=False,
            input_name=name,
        )
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must be an array of positions, one per label, NaN where not ranked: {error}"
        ) from error
    if Y.ndim != 2:
        raise ValueError(
            f"{name} must hold positions of shape (n_samples, n_labels), got {Y.shape}: one row of "
            f"positions per sample. Reshape {name}: reshape(1, -1) makes a single ranking of it, "
            "reshape(-1, 1) a single label."
        )
    bad = np.argwhere(np.isinf(Y))
    if len(bad):
        where = tuple(bad[0].tolist())
        raise ValueError(
            f"{name} must be finite, or NaN for a label that is not ranked; got {Y[where]} at "
            f"{where}."
        )
    if complete:
        # NaN is neither smaller nor larger than anything: the test catches it, too.
        wrong = np.isnan(Y[:, 0]) | ~(np.diff(np.sort(Y, axis=1), axis=1) > 0).all(axis=1)
        if wrong.any():
            row = wrong.argmax()
            raise ValueError(
                f"{name} must rank every label, without ties; row {row} is {Y[row].tolist()}."
            )
    return Y


def positions_from_scores(scores: np.ndarray) -> np.ndarray:
    """Return positions 1, 2, ... by decreasing score; ties go to the smaller label."""
    order = np.argsort(-scores, axis=1, kind="stable")
    positions = np.empty(scores.shape)
    np.put_along_axis(positions, order, np.arange(1.0, scores.shape[1] + 1)[np.newaxis], axis=1)
    return positions


def close_ranks(positions: np.ndarray, joined: np.ndarray | None = None) -> np.ndarray:
    """Renumber positions: 1 plus the number of labels ranked before. NaN is kept.

    In rankings where ``joined[:, i]`` is True, with `joined` of shape `(n_samples, n_labels - 1)`,
    the label in place ``i + 1`` is tied with the one in place ``i``. Places are counted from 0; of
    tied labels the smaller one comes first.
    """
    order = np.argsort(positions, axis=1, kind="stable")
    ordered = np.take_along_axis(positions, order, axis=1)
    starts = np.ones(positions.shape, dtype=bool)
    starts[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    if joined is not None:
        starts[:, 1:] &= ~joined
    places = np.arange(1.0, positions.shape[1] + 1)
    ordered = np.where(
        np.isnan(ordered), np.nan, np.maximum.accumulate(np.where(starts, places, 0), axis=1)
    )
    closed = np.empty(positions.shape)
    np.put_along_axis(closed, order, ordered, axis=1)
    return closed


def is_missing(values: np.ndarray) -> np.ndarray:
    """Return a mask of the entries that are None or NaN, for an array of any type."""
    if values.dtype.kind == "O":
        return np.frompyfunc(_is_missing, 1, 1)(values).astype(bool)
    return np.isnan(values) if values.dtype.kind in "fmM" else np.zeros(values.shape, dtype=bool)


def _is_missing(value) -> bool:
    differs = value is None or value != value
    # Comparisons with pandas' NA return NA, neither True nor False.
    return not isinstance(differs, bool | np.bool_) or bool(differs)


def listed_labels(orderings: np.ndarray) -> np.ndarray:
    """Return the listed labels, row after row, converted from objects to their own type."""
    labels = orderings[~is_missing(orderings)]
    return np.array(labels.tolist()) if labels.dtype.kind == "O" else labels


def invert_orderings(
    orderings: np.ndarray, classes: np.ndarray, name: str = "orderings"
) -> np.ndarray:
    """Return the positions `(n_samples, n_classes)` of labels that are listed best first."""
    listed = ~is_missing(orderings)
    gap = listed[:, 1:] & ~listed[:, :-1]
    if gap.any():
        row = gap.any(axis=1).argmax()
        raise ValueError(
            f"{name} must list the ranked labels first: row {row} is {orderings[row].tolist()}; "
            "move missing entries to its end."
        )
    rows, places = np.nonzero(listed)
    labels = listed_labels(orderings)
    sorter = np.argsort(classes)
    try:
        found = np.searchsorted(classes, labels, sorter=sorter)
    except TypeError as error:
        raise ValueError(
            f"{name} lists labels of another kind than classes, {_shorten(classes)}: {error}"
        ) from error
    columns = sorter[np.minimum(found, len(classes) - 1)]
    unknown = classes[columns] != labels
    if np.any(unknown):
        label, row = labels[unknown].tolist()[0], rows[unknown][0]
        raise ValueError(
            f"{name} lists {label!r} in row {row}, which is not in classes: {_shorten(classes)}."
        )
    positions = np.full((len(orderings), len(classes)), np.nan)
    positions[rows, columns] = places + 1
    twice = (~np.isnan(positions)).sum(axis=1) < listed.sum(axis=1)
    if twice.any():
        row = twice.argmax()
        raise ValueError(f"{name} lists a label twice in row {row}: {orderings[row].tolist()}.")
    return positions


def _shorten(classes: np.ndarray) -> str:
    return f"{classes[:6].tolist()}{' and more' if len(classes) > 6 else ''}"
