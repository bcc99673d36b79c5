"""How noisy rankings are, beside the noiseless ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sklrank._rankings import check_positions

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def alpha_inconsistency(Y_clean: ArrayLike, Y_noisy: ArrayLike) -> float:
    """Share of the rows whose ranking is not the noiseless one.

    Parameters
    ----------
    Y_clean : array-like of shape (n_samples, n_labels)
        Positions in the noiseless rankings, smaller is better.

    Y_noisy : array-like of shape (n_samples, n_labels)
        Positions in the noisy ones. Only labels ranked in both count; a tie differs from an order.

    Returns
    -------
    float
        From 0, no noise, to 1.

    Raises
    ------
    ValueError
        If the arrays are no positions of the same shape.

    See Also
    --------
    beta_tau_gap : Tells small differences from large ones.

    References
    ----------
    .. [1] D. Fotakis, A. Kalavasis, E. Psaroudaki, "Label ranking through nonparametric
       regression", ICML 2022: Definition 2 (i).

    Examples
    --------
    >>> from sklrank.datasets import alpha_inconsistency
    >>> alpha_inconsistency([[1, 2, 3], [1, 2, 3]], [[1, 2, 3], [2, 1, 3]])
    0.5
    """
    n_pairs, n_same, _ = _count_pairs(Y_clean, Y_noisy)
    return float((n_same < n_pairs).mean())


def beta_tau_gap(Y_clean: ArrayLike, Y_noisy: ArrayLike) -> float:
    r"""Mean Kendall tau between the noisy rankings and the noiseless ones.

    Parameters
    ----------
    Y_clean : array-like of shape (n_samples, n_labels)
        Positions in the noiseless rankings, smaller is better.

    Y_noisy : array-like of shape (n_samples, n_labels)
        Positions in the noisy ones.

    Returns
    -------
    float
        From -1, all reversed, to 1, no noise: the mean over rows of concordant less discordant
        pairs of labels, divided by the pairs that are ranked in both (so tau-a: tied pairs count
        0). Rows without such a pair are left out.

    Raises
    ------
    ValueError
        If the arrays are no positions of the same shape, or no row has a pair.

    See Also
    --------
    alpha_inconsistency : Tells only whether rankings differ.

    References
    ----------
    .. [1] D. Fotakis, A. Kalavasis, E. Psaroudaki, "Label ranking through nonparametric
       regression", ICML 2022: Definition 2 (ii).

    Examples
    --------
    One of three pairs is reversed in the second row, and nothing in the first:

    >>> from sklrank.datasets import beta_tau_gap
    >>> round(beta_tau_gap([[1, 2, 3], [1, 2, 3]], [[1, 2, 3], [2, 1, 3]]), 3)
    0.667
    """
    n_pairs, _, tau_sum = _count_pairs(Y_clean, Y_noisy)
    counts = n_pairs > 0
    if not counts.any():
        raise ValueError("Y_clean and Y_noisy have no row with two labels that are ranked in both.")
    return float((tau_sum[counts] / n_pairs[counts]).mean())


def _count_pairs(Y_clean, Y_noisy) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Count label pairs of each row.

    Returns
    -------
    n_pairs, n_same, tau_sum : ndarray of shape (n_samples,)
        The pairs ranked in both rankings; those of them that stand alike; concordant less
        discordant ones.
    """
    Y_clean, Y_noisy = check_positions(Y_clean, "Y_clean"), check_positions(Y_noisy, "Y_noisy")
    if Y_clean.shape != Y_noisy.shape:
        raise ValueError(
            f"Y_noisy must have the shape of Y_clean, {Y_clean.shape}, got {Y_noisy.shape}."
        )
    n_pairs, n_same, tau_sum = np.zeros((3, len(Y_clean)), dtype=np.int64)
    for j in range(Y_clean.shape[1] - 1):
        # One label against all later ones; NaN where either is not ranked.
        clean, noisy = (np.sign(Y[:, j + 1 :] - Y[:, [j]]) for Y in (Y_clean, Y_noisy))
        product = clean * noisy
        n_pairs += (~np.isnan(product)).sum(axis=1)
        n_same += (clean == noisy).sum(axis=1)
        tau_sum += np.nansum(product, axis=1).astype(np.int64)
    return n_pairs, n_same, tau_sum
