"""Records of the labels shown and their propensities, and checks of these records."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklrank._checks import indices_of, is_missing, names_of, plain
from sklrank.feedback._protocol.sampler import find_fault

if TYPE_CHECKING:
    import pandas as pd

# Tolerated differences between propensities that should be equal or ordered, and between sums of
# propensities. Rounding to three decimals, as in a log, keeps the order, but it changes the sum of
# three propensities by up to 0.0015.
TOLERANCE, SUM_TOLERANCE = 1e-6, 2e-3
# Gradient steps are divided by propensities; the squares of smaller ones would overflow.
MIN_PROPENSITY = 1e-60
# The square of a larger reward, times that of a weight, could overflow.
MAX_REWARD = 1e100


@dataclass(frozen=True, eq=False, repr=False)
class Exploration:
    """A record of the labels that were shown, and of their propensities.

    A slice, a mask or positions as an index give the record of some samples. Rewards are not part
    of it: they are an array of the shape of `actions`, numbers from 0 to 1, or NaN if not known;
    :class:`~sklrank.linear_model.BanditronClassifier` and the boosters take 0 and 1 only.

    Parameters
    ----------
    actions : array-like of shape (n_samples, k), or (n_samples,)
        Labels shown, as indices into `classes_`: k labels per sample, or a single label.
    propensities : array-like of shape (n_samples, k, k), or (n_samples,)
        For each two of the labels shown, the probability at the time of the draw that both are
        shown, and on the diagonal that each label is shown. For a single label, that it is shown.
    classes : ndarray of shape (n_labels,), default=None
        Names of the labels at the time of the draw, the `classes_` of the model. A model that has
        other labels by then learns from the labels of these names. If None, the actions are indices
        into the `classes_` of the model that learns.

    Attributes
    ----------
    actions, propensities, classes : ndarray, ndarray, ndarray or None
        The parameters as arrays.

    See Also
    --------
    explore : Draws the labels to show, given scores.

    Notes
    -----
    Methods that learn from the record raise an error for impossible values, such as a propensity of
    0, or two labels that are shown together more often than one of them. If labels were drawn
    independently, the propensity of two labels is the product of theirs.

    Examples
    --------
    Record the actions of a policy that showed two of five labels, drawn at random:

    >>> from sklrank.feedback import Exploration
    >>> shown = Exploration([[0, 3], [4, 1], [2, 0]], [[[2 / 5, 1 / 10], [1 / 10, 2 / 5]]] * 3)
    >>> len(shown), shown[[2, 0]].actions.tolist()
    (3, [[2, 0], [0, 3]])
    >>> shown.to_frame(rewards=[[1, 0], [0, 0], [1, 1]]).columns.tolist()[:4]
    ['action_0', 'action_1', 'reward_0', 'reward_1']
    """

    actions: NDArray[np.intp]
    propensities: NDArray[np.float64]
    classes: NDArray[Any] | None = None

    def __init__(
        self, actions: ArrayLike, propensities: ArrayLike, classes: ArrayLike | None = None
    ) -> None:
        object.__setattr__(self, "actions", np.asarray(plain(actions)))
        object.__setattr__(self, "propensities", np.asarray(plain(propensities)))
        classes = None if classes is None else np.asarray(classes)
        object.__setattr__(self, "classes", classes)

    def __len__(self) -> int:
        return len(self.actions)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the actions. By it, scikit-learn's tools divide records into folds."""
        return self.actions.shape

    def __getitem__(self, rows: int | slice | ArrayLike) -> Exploration:
        if isinstance(rows, tuple) and rows[1:] == (Ellipsis,):
            rows = rows[0]
        if isinstance(rows, Integral):
            rows = [rows]
        elif not isinstance(rows, slice):
            rows = np.asarray(rows)
            rows = rows if rows.size else rows.astype(np.intp)
        return Exploration(self.actions[rows], self.propensities[rows], self.classes)

    def __repr__(self) -> str:
        shown = "x".join(map(str, np.shape(self.actions)))
        named = "" if self.classes is None else f", {len(self.classes)} classes"
        return f"<{type(self).__name__} of {shown} labels shown{named}>"

    def to_frame(
        self, rewards: ArrayLike | None = None, classes: ArrayLike | None = None
    ) -> pd.DataFrame:
        """Convert the record to a data frame with one row per sample, for example for a log.

        Add columns such as the id of the visitor, the time and the version of the policy before
        you store it, for example by ``frame.to_sql`` or ``to_parquet``.

        Parameters
        ----------
        rewards : array-like of the shape of the actions, default=None
            Rewards, which are added to the log, NaN if not yet known. If None, it has none.
        classes : array-like of shape (n_labels,), default=None
            Names of the labels, which are logged instead of the indices. If None, the names in the
            record or, without, the indices are logged.

        Returns
        -------
        pandas.DataFrame
            Columns ``action_i``, ``reward_i`` (if rewards are given) and ``propensity_i`` of the
            label shown at position i = 0, 1, ..., and ``propensity_i_j`` of two labels, with i < j.
        """
        import pandas as pd

        actions, propensities = arrays_of_record(self)
        k = actions.shape[1]
        classes = self.classes if classes is None else classes
        if classes is not None:
            names = names_of(classes)
            # NumPy would allocate for each text as much memory as the longest one takes.
            names = names.astype(object) if names.dtype.kind == "U" else names
            _check_indices(actions, len(names))
            actions = names[actions.astype(np.intp)]
        columns = {f"action_{i}": actions[:, i] for i in range(k)}
        if rewards is not None:
            rewards = _in_shape(rewards, actions.shape)
            columns |= {f"reward_{i}": rewards[:, i] for i in range(k)}
        columns |= {name: propensities[:, i, j] for name, i, j in _propensity_columns(k)}
        return pd.DataFrame(columns)

    @classmethod
    def from_frame(
        cls, frame: pd.DataFrame | Mapping[str, ArrayLike], classes: ArrayLike | None = None
    ) -> Exploration:
        """Read a log with the columns that `to_frame` writes.

        Parameters
        ----------
        frame : data frame, mapping of names to columns, or sequence of mappings
            The log: a data frame of pandas or polars, an Arrow table, or rows of a database with
            names, such as :class:`sqlite3.Row`. Other columns are ignored, also those of rewards:
            ``frame[[f"reward_{i}" for i in range(k)]]``, or ``frame["reward_0"]`` of one label.
        classes : array-like of shape (n_labels,), default=None
            Names of the labels in the order of the indices, such as `classes_` of an estimator;
            required if the actions were logged by name.

        Returns
        -------
        Exploration
            The record. For a single label per sample, its arrays have the shape ``(n_samples,)``.
        """
        frame, k = _columns(frame), 0
        while f"action_{k}" in frame:
            k += 1
        wanted = [name for name, _, _ in _propensity_columns(k)]
        missing = [name for name in wanted if name not in frame] if k else ["action_0"]
        if missing:
            raise ValueError(f"frame has no column {missing[0]!r}; see Exploration.to_frame")
        actions = np.column_stack([np.asarray(frame[f"action_{i}"]) for i in range(k)])
        actions = _whole_numbers(actions) if classes is None else _indices_of(actions, classes)
        propensities = np.empty((len(actions), k, k))
        for name, i, j in _propensity_columns(k):
            propensities[:, i, j] = propensities[:, j, i] = np.asarray(frame[name])
        arrays = (actions.ravel(), propensities.ravel()) if k == 1 else (actions, propensities)
        return cls(*arrays, classes)


def _columns(log):
    """Return the columns of a data frame, a table or a sequence of rows, as a mapping."""
    names = getattr(log, "column_names", getattr(log, "columns", None))
    if names is not None:
        return {name: np.asarray(log[name]) for name in names}
    if isinstance(log, Mapping) or not len(log):
        return log
    return {name: np.asarray([row[name] for row in log]) for name in log[0].keys()}


def arrays_of_record(exploration):
    """Return the actions `(n_samples, k)` and propensities `(n_samples, k, k)` of a record.

    It may be any object with these attributes. For single actions, k is 1.
    """
    arrays = [getattr(exploration, name, None) for name in ("actions", "propensities")]
    if arrays[0] is None:
        raise ValueError(
            "exploration must have actions and propensities, as explore returns; got "
            f"{type(exploration).__name__}"
        )
    actions, propensities = (_without_objects(plain(array)) for array in arrays)
    if actions.ndim == 1 and propensities.size == len(actions):
        return actions[:, np.newaxis], propensities.reshape(-1, 1, 1)
    if actions.ndim == 2 and propensities.shape == (*actions.shape, actions.shape[1]):
        return actions, propensities
    raise ValueError(
        "exploration must have actions and propensities of the shapes (n_samples, k) and "
        f"(n_samples, k, k), or both (n_samples,), got {actions.shape} and {propensities.shape}"
    )


def _without_objects(values):
    """Return an array, in which numbers of the type object, as in mixed tables, are numbers."""
    values = np.asarray(values)
    if values.dtype == object:
        with suppress(TypeError, ValueError), np.errstate(invalid="ignore"):
            numbers = values.astype(np.float64)
            whole = numbers.astype(np.intp)
            return whole if np.array_equal(whole, numbers) else numbers
    return values


def _indices_of(actions, classes):
    """Return the index of each action in `classes`."""
    names, logged = names_of(classes).tolist(), actions.ravel().tolist()
    index = {name: i for i, name in enumerate(names)}
    if len(index) < len(names):
        raise ValueError(f"classes must name each label once, got {names}")
    if unknown := set(logged) - set(index):
        raise ValueError(f"actions {list(unknown)[:5]} in frame are not in `classes`")
    return np.array([index[name] for name in logged], dtype=np.intp).reshape(actions.shape)


def _whole_numbers(actions):
    """Return whole numbers as integers: databases and files may store them as other types."""
    with suppress(TypeError, ValueError), np.errstate(invalid="ignore"):
        whole = actions.astype(np.intp)
        if np.array_equal(whole, actions):
            return whole
    raise ValueError(
        f"actions in frame are missing or names, such as {actions.tolist()[0][0]!r}: remove such "
        "rows, or pass `classes`, the names in the order of the labels (an estimator's classes_)"
    )


def _propensity_columns(k):
    alone = [(f"propensity_{i}", i, i) for i in range(k)]
    return alone + [(f"propensity_{i}_{j}", i, j) for i in range(k) for j in range(i + 1, k)]


def check_exploration(
    exploration, n_samples: int, n_labels: int, *, classes=None, single: bool = False
):
    """Check a record, or an object with its attributes. Return the arrays for compiled loops.

    These are C-contiguous, `(n_samples, k)` intp and `(n_samples, k, k)` float64, or `(n_samples,)`
    if `single`, for one label per sample. Raise ValueError if the record is invalid for a model of
    `n_labels` labels. The actions returned are indices into `classes`, also if it has others.
    """
    named = None if classes is None else getattr(exploration, "classes", None)
    renames = named is not None and named is not classes and not np.array_equal(named, classes)
    n_labels = len(named) if renames else n_labels
    actions, propensities = arrays_of_record(exploration)
    if len(actions) != n_samples or not 1 <= actions.shape[1] <= (1 if single else n_labels):
        one = "one label" if single else f"1 to {n_labels} labels"
        raise ValueError(
            f"actions of exploration must be {one} for each of {n_samples} samples, got an array "
            f"of shape {np.shape(exploration.actions)}"
        )
    record, fault = (actions, propensities), (0, 0, 0)
    if actions.dtype.kind in "iu" and propensities.dtype.kind in "biuf":
        actions = np.ascontiguousarray(actions, dtype=np.intp)
        propensities = np.ascontiguousarray(propensities, dtype=np.float64)
        fault = find_fault(
            actions, propensities, n_labels, MIN_PROPENSITY, TOLERANCE, SUM_TOLERANCE
        )
    if fault is not None:
        _raise_fault(*record, n_labels, *fault)
    if renames:
        message = (
            "exploration shows labels that the model does not have (any more): {}; leave these "
            "samples out, exploration[rows] and rewards[rows], or name them by classes"
        )
        actions = indices_of(np.asarray(named)[actions], classes, message)
        actions = np.ascontiguousarray(actions, dtype=np.intp)
    return (actions.ravel(), propensities.ravel()) if single else (actions, propensities)


def _check_indices(actions, n_labels):
    is_integer = actions.dtype.kind in "iu"
    if actions.size and not (is_integer and 0 <= actions.min() and actions.max() < n_labels):
        raise ValueError(
            f"actions of exploration must be integers from 0 to {n_labels - 1}, indices into "
            f"classes_; got {actions.ravel()[:5].tolist()} of the type {actions.dtype}"
        )


def _raise_fault(actions, propensities, n_labels, row, i, j):
    """Raise ValueError that names what is impossible about the labels i and j of a row."""
    _check_indices(actions, n_labels)
    if i != j and actions[row, i] == actions[row, j]:
        raise ValueError("actions of exploration must not show a label twice for a sample")
    p, q, both, same = (propensities[row][ab] for ab in ((i, i), (j, j), (i, j), (j, i)))
    # The comparison is written so that NaN fails too.
    if propensities.dtype.kind not in "biuf" or not (
        min(p, q, both, same) >= MIN_PROPENSITY and max(p, q, both, same) <= 1
    ):
        raise ValueError(
            "propensities of exploration must be probabilities in (0, 1], at least "
            f"{MIN_PROPENSITY:g} since the labels were shown"
        )
    raise ValueError(
        f"propensities of exploration are impossible in row {row}: labels {i} and {j} are both "
        f"shown with probability {both:g}, but each of them with probability {p:g} and {q:g}. "
        "They must be symmetric, and for probabilities p and q of two labels and r of both, "
        "p + q - 1 <= r <= min(p, q)"
    )


def check_shown(actions, available):
    """Raise unless the labels shown, `(n_samples,)` or `(n_samples, k)`, are in the mask."""
    if available is None:
        return
    of_shown = np.take_along_axis(available, actions.reshape(len(actions), -1), axis=1)
    if not of_shown.all():
        row = int(np.argmin(of_shown.all(axis=1)))
        raise ValueError(
            f"available has a label that was shown in row {row} as not available: pass the mask "
            "with which the labels were drawn"
        )


def _in_shape(rewards, shape):
    """Return rewards as an array of this shape, where (n_samples,) and (n_samples, 1) are one."""
    rewards = np.asarray(plain(rewards))
    if (len(shape) == 1 and rewards.shape == (*shape, 1)) or shape == (*rewards.shape, 1):
        rewards = rewards.reshape(shape)
    if rewards.shape != shape:
        of = "pairs of actions" if len(shape) == 3 else "the actions"
        raise ValueError(f"rewards must have the shape {shape} of {of}, got {rewards.shape}")
    return rewards


def check_rewards(rewards, shape, *, bounded=True, refused=None):
    """Check that rewards are numbers, or NaN if not known, of this shape. Return them as float64.

    The shape is that of the actions, or of pairs of them. If `bounded`, rewards must be from 0 to
    1. `refused` is the reason why numbers other than 0 and 1 are refused, if they are.
    """
    rewards = _in_shape(rewards, shape)
    if rewards.dtype == object:
        # Columns of a nullable type in data frames are converted to arrays of objects.
        with suppress(TypeError, ValueError):
            rewards = np.where(is_missing(rewards), np.nan, rewards).astype(np.float64)
    least, most = (0, 1) if bounded else (-MAX_REWARD, MAX_REWARD)
    # The comparison is written so that NaN passes.
    if rewards.dtype.kind not in "biuf" or np.any((rewards < least) | (rewards > most)):
        remedy = ": divide others by the largest one possible" if bounded else ""
        raise ValueError(
            f"rewards must be numbers from {least:g} to {most:g}, or NaN if not known{remedy}"
        )
    rewards = np.ascontiguousarray(rewards, dtype=np.float64)
    if refused is not None and np.any((rewards > 0) & (rewards < 1)):
        raise ValueError(f"rewards must be 0 or 1: {refused}")
    return rewards
