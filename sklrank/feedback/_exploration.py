"""The record of what was shown, from which an estimator can learn later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np

from sklrank._rankings import is_missing

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

__all__ = ["Exploration", "check_exploration", "check_rewards", "check_single_actions"]

# Tolerance for propensities read from logs: by how much that of (a, b) may differ from (b, a)'s.
ROUNDING = 1e-6
# Steps are divided by propensities, and smaller ones could make them overflow: learners from single
# actions refuse them, boosters, which have bounds of their own, cut them off here at the least.
MIN_PROPENSITY = 1e-60


@dataclass(frozen=True, eq=False)
class Exploration:
    """What was shown, and with which probability.

    Plain arrays, a line for each row; index it by a slice, a mask or positions to get the record
    of some rows, in the order asked for. What came back, the rewards, is kept beside it: an array
    of their shape, of 0 and 1.

    Parameters
    ----------
    actions : array-like of shape (n_samples, k), or (n_samples,)
        The labels shown, as indices into `classes_`; or the one that was.
    propensities : array-like of shape (n_samples, k, k), or (n_samples,)
        For each two labels shown in a row the probability, at the time of the draw, that both were;
        on the diagonal the probability that the label was. Of one label that probability alone.

    Attributes
    ----------
    actions : ndarray of shape (n_samples, k), or (n_samples,)
        As given.
    propensities : ndarray of shape (n_samples, k, k), or (n_samples,)
        As given.

    See Also
    --------
    UniformRandomization.explore : Draws what to show, given scores.

    Notes
    -----
    What is not possible, such as a propensity of 0, is refused by the method that learns from it.
    Where a log has the probability of each label alone, and they were drawn independently of each
    other, those of two are products.

    Examples
    --------
    The log of another policy, which showed two of five labels, drawn at random:

    >>> from sklrank.feedback import Exploration
    >>> shown = Exploration([[0, 3], [4, 1], [2, 0]], [[[2 / 5, 1 / 10], [1 / 10, 2 / 5]]] * 3)
    >>> len(shown), shown[[2, 0]].actions.tolist()
    (3, [[2, 0], [0, 3]])
    >>> shown.to_frame(rewards=[[1, 0], [0, 0], [1, 1]]).columns.tolist()[:4]
    ['action_0', 'action_1', 'reward_0', 'reward_1']
    """

    actions: NDArray[np.intp]
    propensities: NDArray[np.float64]

    def __init__(self, actions: ArrayLike, propensities: ArrayLike) -> None:
        object.__setattr__(self, "actions", np.asarray(actions))
        object.__setattr__(self, "propensities", np.asarray(propensities))

    def __len__(self) -> int:
        return len(self.actions)

    def __getitem__(self, rows: int | slice | ArrayLike) -> Exploration:
        if isinstance(rows, Integral):
            rows = [rows]
        elif not isinstance(rows, slice):
            rows = np.asarray(rows)
            rows = rows if rows.size else rows.astype(np.intp)
        return Exploration(self.actions[rows], self.propensities[rows])

    @classmethod
    def concatenate(cls, explorations: Sequence[Exploration]) -> Exploration:
        """Put records of the same number of labels shown after each other.

        Parameters
        ----------
        explorations : sequence of Exploration
            One at least.

        Returns
        -------
        Exploration
            The rows of the first, then those of the second, and so on.
        """
        explorations = list(explorations)
        return cls(
            np.concatenate([part.actions for part in explorations]),
            np.concatenate([part.propensities for part in explorations]),
        )

    def to_frame(
        self, rewards: ArrayLike | None = None, classes: ArrayLike | None = None
    ) -> pd.DataFrame:
        """A data frame to log, a line for each row.

        Parameters
        ----------
        rewards : array-like of the shape of the actions, default=None
            What came back, to be logged as well.
        classes : array-like of shape (n_labels,), default=None
            Names to log in place of the labels' indices: an estimator's `classes_`.

        Returns
        -------
        pandas.DataFrame
            Columns ``action_i``, ``reward_i`` where rewards were given, ``propensity_i`` (that the
            i-th label was shown) and ``propensity_i_j`` (that both were), with i < j.

        Raises
        ------
        ImportError
            If pandas is not installed.
        ValueError
            If `rewards` have another shape than the actions, or `classes` are too few.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("Exploration.to_frame needs pandas: pip install pandas") from error
        actions, propensities = self.actions, self.propensities
        if actions.ndim == 1:
            actions, propensities = actions[:, np.newaxis], propensities.reshape(-1, 1, 1)
        k = actions.shape[1]
        if classes is not None:
            if len(actions) and np.max(actions) >= len(classes):
                raise ValueError(
                    f"classes has {len(classes)} names, but label {np.max(actions)} was shown"
                )
            actions = np.asarray(classes)[actions]
        columns = {f"action_{i}": actions[:, i] for i in range(k)}
        if rewards is not None:
            rewards = np.asarray(rewards)
            if rewards.shape != self.actions.shape:
                raise ValueError(
                    f"rewards must have the shape {self.actions.shape} of the actions, got "
                    f"{rewards.shape}"
                )
            rewards = rewards.reshape(actions.shape)
            columns |= {f"reward_{i}": rewards[:, i] for i in range(k)}
        columns |= {name: propensities[:, i, j] for name, i, j in _propensity_columns(k)}
        return pd.DataFrame(columns)

    @classmethod
    def from_frame(
        cls, frame: pd.DataFrame | Mapping[str, ArrayLike], classes: ArrayLike | None = None
    ) -> Exploration:
        """Read what `to_frame` wrote, or a log made like it.

        Parameters
        ----------
        frame : pandas.DataFrame, or a mapping of names to columns
            Other columns are left alone. The rewards are, for k labels,
            ``frame[[f"reward_{i}" for i in range(k)]]``.
        classes : array-like of shape (n_labels,), default=None
            Where the actions were logged by name: the names in the order of the labels, that is
            `classes_` of the estimator that is to learn.

        Returns
        -------
        Exploration
            The record.

        Raises
        ------
        ValueError
            If a column is missing, an action is not in `classes`, or is a name without them.
        """
        k = 0
        while f"action_{k}" in frame:
            k += 1
        wanted = [name for name, _, _ in _propensity_columns(k)]
        missing = [name for name in wanted if name not in frame] if k else ["action_0"]
        if missing:
            raise ValueError(f"frame has no column {missing[0]!r}; see Exploration.to_frame")
        actions = np.column_stack([np.asarray(frame[f"action_{i}"]) for i in range(k)])
        if not len(actions):
            raise ValueError("frame has no rows")
        if is_missing(actions).any():
            raise ValueError("frame lacks actions in some rows: leave those rows out")
        if classes is not None:
            names = np.asarray(classes)
            unknown = np.setdiff1d(actions, names)
            if len(unknown):
                raise ValueError(f"actions {unknown.tolist()} in frame are not in `classes`")
            order = np.argsort(names)
            actions = order[np.searchsorted(names, actions, sorter=order)]
        else:
            actions = _whole_numbers(actions)
        propensities = np.empty((len(actions), k, k))
        for name, i, j in _propensity_columns(k):
            propensities[:, i, j] = propensities[:, j, i] = np.asarray(frame[name])
        return cls(actions, propensities)


def _whole_numbers(actions):
    """Actions as integers, in whatever type a data base or a file gave them."""
    with suppress(TypeError, ValueError), np.errstate(invalid="ignore"):
        whole = actions.astype(np.intp)
        if np.array_equal(whole, actions):
            return whole
    raise ValueError(
        f"actions in frame are names, such as {actions.flat[0]!r}: pass `classes`, the names in "
        "the order of the labels (an estimator's classes_)"
    )


def _propensity_columns(k):
    alone = [(f"propensity_{i}", i, i) for i in range(k)]
    return alone + [(f"propensity_{i}_{j}", i, j) for i in range(k) for j in range(i + 1, k)]


def check_exploration(exploration, n_samples: int, n_labels: int):
    """Refuse a record from which nothing can be learnt, whoever made it.

    Parameters
    ----------
    exploration : Exploration, or an object with its attributes
        What was shown.
    n_samples, n_labels : int
        What it must fit.

    Returns
    -------
    actions : ndarray of shape (n_samples, k), C-contiguous intp
    propensities : ndarray of shape (n_samples, k, k), C-contiguous float64

    Raises
    ------
    ValueError
        Naming what is wrong: `exploration`, actions or propensities.
    """
    actions = getattr(exploration, "actions", None)
    propensities = getattr(exploration, "propensities", None)
    if actions is None:
        raise ValueError(
            f"exploration must have actions and propensities, as explore returns; got "
            f"{type(exploration).__name__}"
        )
    actions = np.asarray(actions)
    if actions.ndim != 2 or len(actions) != n_samples or not 1 <= actions.shape[1] <= n_labels:
        raise ValueError(
            f"actions of exploration must have the shape ({n_samples}, k) with k from 1 to the "
            f"number of labels, {n_labels}; got {actions.shape}"
        )
    if actions.dtype.kind not in "iu":
        raise ValueError(
            f"actions of exploration must be integers, indices into classes_; got {actions.dtype}"
        )
    if actions.min() < 0 or actions.max() >= n_labels:
        raise ValueError(
            f"actions of exploration must be labels from 0 to {n_labels - 1}, indices into "
            f"classes_; got {actions.min()} to {actions.max()}"
        )
    ordered = np.sort(actions, axis=1)
    if np.any(ordered[:, 1:] == ordered[:, :-1]):
        raise ValueError("actions of exploration must not show a label twice in a row")
    shape = (*actions.shape, actions.shape[1])
    if propensities is None or np.asarray(propensities).ndim == 0:
        raise ValueError(
            "propensities of exploration are missing: give the probability of each two labels to "
            f"be shown both, of shape {shape}"
        )
    propensities = np.asarray(propensities)
    if propensities.shape != shape or propensities.dtype.kind not in "biuf":
        raise ValueError(
            f"propensities of exploration must be numbers of shape (n_samples, k, k) = {shape}, "
            f"got {propensities.dtype} of shape {propensities.shape}"
        )
    propensities = np.ascontiguousarray(propensities, dtype=np.float64)
    # The comparisons are written so that NaN fails too.
    if not np.all((propensities > 0) & (propensities <= 1)):
        raise ValueError(
            "propensities of exploration must be probabilities in (0, 1]: what was shown had a "
            f"chance to be; got {np.min(propensities):g} to {np.max(propensities):g}"
        )
    if np.any(np.abs(propensities - propensities.swapaxes(1, 2)) > ROUNDING):
        raise ValueError(
            "propensities of exploration must be symmetric: entries i, j and j, i are both the "
            "probability that the i-th and the j-th label of the row were shown"
        )
    return np.ascontiguousarray(actions, dtype=np.intp), propensities


def check_single_actions(exploration, n_samples: int, n_labels: int):
    """As `check_exploration`, of a record that shows one label a row.

    Its arrays may have the axes of length one that a record of several labels has.

    Returns
    -------
    actions : ndarray of shape (n_samples,), C-contiguous intp
    propensities : ndarray of shape (n_samples,), C-contiguous float64

    Raises
    ------
    ValueError
        Naming what is wrong: `exploration`, actions or propensities.
    """
    actions = getattr(exploration, "actions", None)
    propensities = getattr(exploration, "propensities", None)
    if actions is None or propensities is None:
        raise ValueError(
            f"exploration must have actions and propensities, as explore returns; got "
            f"{type(exploration).__name__}"
        )
    actions, propensities = np.asarray(actions), np.asarray(propensities)
    if actions.shape not in ((n_samples,), (n_samples, 1)):
        raise ValueError(
            f"actions of exploration must have the shape ({n_samples},), one label shown a row; "
            f"got {actions.shape}"
        )
    if actions.dtype.kind not in "iu" or actions.min() < 0 or actions.max() >= n_labels:
        raise ValueError(
            f"actions of exploration must be integers from 0 to {n_labels - 1}, indices into "
            f"classes_; got {np.unique(actions)[:5].tolist()}"
        )
    if propensities.size != n_samples or propensities.dtype.kind not in "biuf":
        raise ValueError(
            f"propensities of exploration must be numbers of shape ({n_samples},), got "
            f"{propensities.dtype} of shape {propensities.shape}"
        )
    # The comparisons are written so that NaN fails too.
    if not (propensities.min() >= MIN_PROPENSITY and propensities.max() <= 1):
        raise ValueError(
            "propensities of exploration must be probabilities in (0, 1]: what was shown had a "
            f"chance to be, {MIN_PROPENSITY:g} at least; got {propensities.min():g} to "
            f"{propensities.max():g}"
        )
    return (
        np.ascontiguousarray(actions.reshape(-1), dtype=np.intp),
        np.ascontiguousarray(propensities.reshape(-1), dtype=np.float64),
    )


def check_rewards(rewards, shape):
    """Rewards as an int8 array; refuse what is not 0 or 1, or has another shape than the actions.

    Raises
    ------
    ValueError
        Naming `rewards`.
    """
    rewards = np.asarray(rewards)
    if rewards.dtype == object:
        # Data frames with a type for missing values give arrays of objects.
        with suppress(TypeError, ValueError):
            rewards = rewards.astype(np.float64)
    if rewards.shape != shape:
        raise ValueError(f"rewards must have the shape {shape} of the actions, got {rewards.shape}")
    if rewards.dtype.kind not in "biuf" or not np.all((rewards == 0) | (rewards == 1)):
        raise ValueError(
            "rewards must be 0 or 1 (was the label shown relevant?), without missing ones; learn "
            "from the rows whose rewards are in: exploration[rows], rewards[rows]"
        )
    return np.ascontiguousarray(rewards, dtype=np.int8)
