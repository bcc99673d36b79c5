"""How noisy rankings are, beside the noiseless ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sklrank.metrics._pair_counts import count_pairs
from sklrank.metrics._positions import check_two_rankings

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
    counts = _count_pairs(Y_clean, Y_noisy)
    n_same = counts.concordant + counts.tied_both
    return float((n_same < sum(counts)).mean())


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
    counts = _count_pairs(Y_clean, Y_noisy)
    n_pairs = sum(counts)
    if not n_pairs.any():
        raise ValueError("Y_clean and Y_noisy have no row with two labels that are ranked in both.")
    has_pairs = n_pairs > 0
    return float(((counts.concordant - counts.discordant)[has_pairs] / n_pairs[has_pairs]).mean())


def _count_pairs(Y_clean, Y_noisy):
    return count_pairs(*check_two_rankings(Y_clean, Y_noisy, names=("Y_clean", "Y_noisy")))
