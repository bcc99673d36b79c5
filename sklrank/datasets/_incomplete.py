"""Incomplete rankings, in which labels are hidden, and partial rankings, with ties."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils import check_random_state

from sklrank._rankings import check_positions, close_ranks

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def hide_labels(
    Y: ArrayLike,
    survival: float | ArrayLike = 0.7,
    *,
    keep_positions: bool = False,
    random_state: int | np.random.RandomState | None = None,
) -> np.ndarray:
    """Make rankings incomplete: keep each label with its survival probability.

    Parameters
    ----------
    Y : array-like of shape (n_samples, n_labels)
        Positions, smaller is better; NaN (not ranked) and ties are allowed.

    survival : float or array-like that broadcasts to (n_samples, n_labels), default=0.7
        The probability of keeping a label: one for all labels, one for each label, or one for each
        label of each sample, if it depends on the features. The draws are independent.

    keep_positions : bool, default=False
        Whether the remaining labels keep their positions, which reveal how many labels are hidden
        before them. By default they are renumbered.

    random_state : int, RandomState instance or None, default=None
        Controls the draws. Pass an int for reproducible output; a smaller `survival` then hides the
        same labels and more.

    Returns
    -------
    ndarray of shape (n_samples, n_labels), float64
        Positions, NaN for hidden labels. Without `keep_positions` a position is 1 plus the number
        of labels ranked before. All labels of a sample may be hidden.

    Raises
    ------
    ValueError
        If `survival` has a wrong shape, or is not a probability.

    See Also
    --------
    tie_labels : Makes rankings partial.

    References
    ----------
    .. [1] D. Fotakis, A. Kalavasis, E. Psaroudaki, "Label ranking through nonparametric
       regression", ICML 2022: Definition 3; with `keep_positions`, the process of Appendix D.

    Examples
    --------
    >>> from sklrank.datasets import hide_labels
    >>> hide_labels([[1, 3, 4, 2], [4, 3, 2, 1]], survival=[1, 0, 1, 1])
    array([[ 1., nan,  3.,  2.],
           [ 3., nan,  2.,  1.]])
    """
    Y = check_positions(Y)
    survival = check_probabilities(survival, "survival", Y.shape)
    drawn = check_random_state(random_state).random_sample(Y.shape)
    hidden = np.where(drawn < survival, Y, np.nan)
    return hidden if keep_positions else close_ranks(hidden)


def tie_labels(
    Y: ArrayLike,
    probability: float | ArrayLike = 0.3,
    *,
    random_state: int | np.random.RandomState | None = None,
) -> np.ndarray:
    """Make rankings partial: tie labels at neighbouring positions.

    The positions of a ranking are cut into intervals (a random increasing partition), and the
    labels of an interval are tied: a > d > c > b becomes a = d > c = b if the only cut is in the
    middle.

    Parameters
    ----------
    Y : array-like of shape (n_samples, n_labels)
        Positions, smaller is better; NaN (not ranked) and ties are allowed and are kept.

    probability : float or array-like that broadcasts to (n_samples, n_labels - 1), default=0.3
        The probability that there is no cut after the best label, the second best, and so on: one
        for all positions, one for each position, or one for each position of each sample. The draws
        are independent. 0 changes nothing, 1 ties all labels.

    random_state : int, RandomState instance or None, default=None
        Controls the cuts. Pass an int for reproducible output; a larger `probability` then ties the
        same labels and more.

    Returns
    -------
    ndarray of shape (n_samples, n_labels), float64
        Positions, 1 plus the number of labels ranked before; tied labels have equal positions.

    Raises
    ------
    ValueError
        If `probability` has a wrong shape, or is not a probability.

    See Also
    --------
    hide_labels : Makes rankings incomplete.

    References
    ----------
    .. [1] D. Fotakis, A. Kalavasis, E. Psaroudaki, "Label ranking through nonparametric
       regression", ICML 2022: Definition 6.

    Examples
    --------
    >>> from sklrank.datasets import tie_labels
    >>> tie_labels([[1, 4, 3, 2]], probability=[1, 0, 1])
    array([[1., 3., 3., 1.]])
    """
    Y = check_positions(Y)
    cuts = (len(Y), Y.shape[1] - 1)
    probability = check_probabilities(probability, "probability", cuts)
    return close_ranks(Y, check_random_state(random_state).random_sample(cuts) < probability)


def check_probabilities(values, name: str, shape: tuple[int, int]) -> np.ndarray:
    """Check a probability or an array of probabilities, and broadcast it to `shape`."""
    values = np.asarray(values, dtype=np.float64)
    if not ((values >= 0) & (values <= 1)).all():
        raise ValueError(f"{name} must be a probability, or an array of them, got {values}.")
    try:
        return np.broadcast_to(values, shape)
    except ValueError as error:
        raise ValueError(
            f"{name} must be a number or broadcast to the shape {shape}, got {values.shape}."
        ) from error
