"""Measures of the noise in rankings, compared with the noiseless rankings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sklrank.metrics._checks import check_two_rankings
from sklrank.metrics._pair_counts import count_pairs

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def alpha_inconsistency(Y_clean: ArrayLike, Y_noisy: ArrayLike) -> float:
    """Compute the fraction of samples whose noisy ranking differs from the noiseless ranking.

    Parameters
    ----------
    Y_clean : array-like of shape (n_samples, n_labels)
        Positions of the labels in the noiseless rankings. Labels with smaller positions are better.

    Y_noisy : array-like of shape (n_samples, n_labels)
        Positions of the labels in the noisy rankings. Only labels that are ranked in both rankings
        are compared. Two rankings also differ if a pair of labels is tied in only one of them.

    Returns
    -------
    float
        Fraction from 0 (no noise) to 1.

    Raises
    ------
    ValueError
        If the arrays have different shapes or do not contain positions.

    See Also
    --------
    beta_tau_gap : Mean Kendall tau, which measures how large the differences are.

    References
    ----------
    .. [1] D. Fotakis, A. Kalavasis, E. Psaroudaki, "Label ranking through nonparametric
       regression", ICML 2022: Definition 2 (i).

    Examples
    --------
    >>> from sklrank.metrics import alpha_inconsistency
    >>> alpha_inconsistency([[1, 2, 3], [1, 2, 3]], [[1, 2, 3], [2, 1, 3]])
    0.5
    """
    counts = _count_pairs(Y_clean, Y_noisy)
    n_same = counts.concordant + counts.tied_both
    return float((n_same < sum(counts)).mean())


def beta_tau_gap(Y_clean: ArrayLike, Y_noisy: ArrayLike) -> float:
    r"""Compute the mean Kendall tau between the noisy rankings and the noiseless ones.

    Parameters
    ----------
    Y_clean : array-like of shape (n_samples, n_labels)
        Positions of the labels in the noiseless rankings. Labels with smaller positions are better.

    Y_noisy : array-like of shape (n_samples, n_labels)
        Positions of the labels in the noisy rankings.

    Returns
    -------
    float
        Mean of tau-a over the samples, from -1 (all rankings are reversed) to 1 (no noise). For one
        sample, tau-a is the number of concordant pairs of labels minus the number of discordant
        pairs, divided by the number of pairs that are ranked in both rankings. Tied pairs are
        neither concordant nor discordant. Samples without a pair that is ranked in both rankings
        are ignored.

    Raises
    ------
    ValueError
        If the arrays have different shapes or do not contain positions, or if no sample has two
        labels that are ranked in both rankings.

    See Also
    --------
    alpha_inconsistency : Fraction of samples whose rankings differ.

    References
    ----------
    .. [1] D. Fotakis, A. Kalavasis, E. Psaroudaki, "Label ranking through nonparametric
       regression", ICML 2022: Definition 2 (ii).

    Examples
    --------
    No pair is reversed in the first sample, and one of three pairs is reversed in the second:

    >>> from sklrank.metrics import beta_tau_gap
    >>> round(beta_tau_gap([[1, 2, 3], [1, 2, 3]], [[1, 2, 3], [2, 1, 3]]), 3)
    0.667
    """
    counts = _count_pairs(Y_clean, Y_noisy)
    n_pairs = sum(counts)
    if not n_pairs.any():
        raise ValueError(
            "Y_clean and Y_noisy have no sample with two labels that are ranked in both."
        )
    has_pairs = n_pairs > 0
    return float(((counts.concordant - counts.discordant)[has_pairs] / n_pairs[has_pairs]).mean())


def _count_pairs(Y_clean, Y_noisy):
    return count_pairs(*check_two_rankings(Y_clean, Y_noisy, names=("Y_clean", "Y_noisy")))
