"""Incomplete rankings, in which labels are hidden, and partial rankings, with ties."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from sklrank._checks import check_positions, check_random_state, close_ranks


def hide_labels(
    Y: ArrayLike,
    survival: float | ArrayLike = 0.7,
    *,
    keep_positions: bool = False,
    random_state: int | np.random.RandomState | None = None,
) -> np.ndarray:
    """Make rankings incomplete: hide labels at random.

    These are incomplete rankings of Definition 3 of [1]_ or, with `keep_positions`, of Definition 8
    (Appendix F), in which the positions of the remaining labels are known. Labels are hidden
    independently; for another law, replace the hidden positions by NaN yourself.

    Parameters
    ----------
    Y : array-like of shape (n_samples, n_labels)
        Positions of the labels; a smaller position is better. NaN, for labels that are not ranked,
        and ties are allowed.
    survival : float or array-like that broadcasts to (n_samples, n_labels), default=0.7
        Probability that a label is kept: a number, or an array with one for each label, or for each
        label of each sample.
    keep_positions : bool, default=False
        If True, the remaining labels keep their positions, which reveal how many labels before them
        are hidden. If False, they are renumbered.
    random_state : int, RandomState instance or None, default=None
        Controls the hidden labels. Pass an int for reproducible output, in which a smaller
        `survival` hides all labels that a larger one hides.

    Returns
    -------
    ndarray of shape (n_samples, n_labels), float64
        Positions; hidden labels, perhaps all of a sample, are NaN. If `keep_positions` is False,
        each position is 1 plus the number of labels ranked before.

    See Also
    --------
    tie_labels : Makes rankings partial.

    References
    ----------
    .. [1] Fotakis et al., "Label ranking through nonparametric regression", ICML 2022.

    Examples
    --------
    >>> from sklrank.datasets import hide_labels
    >>> hide_labels([[1, 3, 4, 2], [4, 3, 2, 1]], survival=[1, 0, 1, 1])
    array([[ 1., nan,  3.,  2.],
           [ 3., nan,  2.,  1.]])
    """
    Y = check_positions(Y, evidence=None)
    random = check_random_state(random_state)
    kept = random.random_sample(Y.shape) < check_probabilities(survival, "survival", Y.shape)
    hidden = np.where(kept, Y, np.nan)
    return hidden if keep_positions else close_ranks(hidden)


def tie_labels(
    Y: ArrayLike,
    probability: float | ArrayLike = 0.3,
    *,
    partitions: Mapping[tuple[int, ...], float | ArrayLike] | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> np.ndarray:
    """Make rankings partial: tie labels at neighboring positions.

    The positions of a ranking are cut into intervals at random, and the labels in each interval
    are tied (Definition 6 of [1]_). For example, a > d > c > b becomes a = d > c = b if the only
    cut is in the middle.

    Parameters
    ----------
    Y : array-like of shape (n_samples, n_labels)
        Positions of the labels; a smaller position is better. NaN, for labels that are not ranked,
        and ties are allowed and are kept.
    probability : float or array-like that broadcasts to (n_samples, n_labels - 1), default=0.3
        Probability that there is no cut after a label, so that it is tied with the next one: a
        number, or an array with one for each position from the best to the last but one, or for
        each position of each sample. Cuts are independent. Not used if `partitions` is given.
    partitions : dict from tuple of int to float or array-like of shape (n_samples,), or None, \
            default=None
        Any law of the partitions of the positions. Each key is a partition: the sizes of its
        intervals, from the best positions to the last ones, which sum to n_labels. Each value is
        its probability, a number or an array with one for each sample, for which they sum to 1.
    random_state : int, RandomState instance or None, default=None
        Controls the cuts. Pass an int for reproducible output, in which a larger `probability` ties
        all labels that a smaller one ties.

    Returns
    -------
    ndarray of shape (n_samples, n_labels), float64
        Positions: each is 1 plus the number of labels ranked before. Tied labels have equal
        positions.

    See Also
    --------
    hide_labels : Makes rankings incomplete.

    References
    ----------
    .. [1] Fotakis et al., "Label ranking through nonparametric regression", ICML 2022.

    Examples
    --------
    >>> from sklrank.datasets import tie_labels
    >>> tie_labels([[1, 4, 3, 2]], probability=[1, 0, 1])
    array([[1., 3., 3., 1.]])

    The best two labels are tied, or the last three:

    >>> tie_labels([[1, 4, 3, 2]], partitions={(2, 1, 1): 0.5, (1, 3): 0.5}, random_state=0)
    array([[1., 2., 2., 2.]])
    """
    Y = check_positions(Y, evidence=None)
    random = check_random_state(random_state)
    if partitions is None:
        cuts = (len(Y), Y.shape[1] - 1)
        probability = check_probabilities(probability, "probability", cuts)
        return close_ranks(Y, random.random_sample(cuts) < probability)
    joined, chances = check_partitions(partitions, Y.shape)
    drawn = (random.random_sample(len(Y)) >= chances.cumsum(axis=0)[:-1]).sum(axis=0)
    return close_ranks(Y, joined[drawn])


def check_partitions(partitions, shape):
    """Check a law of partitions; return their masks of joined neighbors, and probabilities.

    The shapes are `(n_partitions, n_labels - 1)`, as in :func:`close_ranks`, and
    `(n_partitions, n_samples)`.
    """
    n_samples, n_labels = shape
    joined = np.ones((len(partitions), n_labels), dtype=bool)
    for row, sizes in zip(joined, partitions):
        if min(sizes, default=0) < 1 or sum(sizes) != n_labels:
            raise ValueError(
                "partitions must have tuples of positive sizes as keys, whose sum is the number "
                f"of labels, {n_labels}; got {sizes!r}."
            )
        row[np.cumsum(sizes) - 1] = False
    chances = [check_probabilities(p, "partitions", (n_samples,)) for p in partitions.values()]
    chances = np.array(chances).reshape(len(partitions), n_samples)
    if not np.allclose(chances.sum(axis=0), 1.0):
        raise ValueError("partitions must have probabilities that sum to 1 for each sample.")
    return joined[:, :-1], chances


def check_probabilities(values, name: str, shape: tuple[int, ...]) -> np.ndarray:
    """Check a probability or an array of probabilities; return it broadcast to `shape`."""
    given, values = values, np.asarray(values, dtype=np.float64)
    if isinstance(given, bool) or not ((values >= 0) & (values <= 1)).all():
        raise ValueError(f"{name} must be a probability, or an array of them, got {given!r}.")
    try:
        return np.broadcast_to(values, shape)
    except ValueError as error:
        raise ValueError(
            f"{name} must be a number or broadcast to the shape {shape}, got {values.shape}."
        ) from error
