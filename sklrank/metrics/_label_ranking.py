"""Scores and distances of predicted rankings of labels.

The metrics depend only on the order of the labels that both rankings contain. The docstring of each
public function states its formula.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata

from sklrank._checks import (
    check_pair_proba,
    check_row_labels,
    check_two_rankings,
    is_number,
    look_up,
)
from sklrank._estimators import shares_text
from sklrank.metrics._averaging import evaluate_samples
from sklrank.metrics._scorers import LabelRankingScorer

__all__ = [
    "alpha_inconsistency",
    "beta_tau_gap",
    "kendall_tau_distance",
    "kendall_tau_distance_scorer",
    "kendall_tau_score",
    "kendall_tau_scorer",
    "pair_brier_score",
    "spearman_distance",
    "spearman_distance_scorer",
]


of_rankings = shares_text(
    rankings="""
Parameters
----------
y_true : array-like of shape (n_samples, n_labels)
    True positions of the labels. Labels with smaller positions are better, labels with equal
    positions are tied, and NaN marks a label that is not ranked. Only the order matters.
y_pred : array-like of shape (n_samples, n_labels)
    Predicted positions of the labels, in the same form.
""",
    values="""
average : bool, default=True
    If True, return the mean over samples; otherwise return the value of each sample.
sample_weight : array-like of float, shape (n_samples,), default=None
    Weights of the samples in the mean.

Returns
-------
value : float or ndarray of float64, shape (n_samples,)
    Mean over samples, or the value of each sample if `average` is False.
""",
    reference="""
References
----------
.. [1] D. Fotakis, A. Kalavasis and E. Psaroudaki. "Label Ranking through Nonparametric
   Regression." ICML 2022.
""",
    noise="""
Parameters
----------
Y_clean : array-like of shape (n_samples, n_labels)
    Positions of the labels in the noiseless rankings. Labels with smaller positions are better.
Y_noisy : array-like of shape (n_samples, n_labels)
    Positions of the labels in the noisy rankings. Only labels that are ranked in both rankings
    are compared.
""",
)


@of_rankings
def kendall_tau_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    variant: str = "b",
    average: bool = True,
    sample_weight: ArrayLike | None = None,
) -> float | np.ndarray:
    r"""Compute Kendall's tau, a rank correlation that counts concordant and discordant pairs.

    Let :math:`n` be the number of pairs of labels that both rankings of a sample contain. Of these
    pairs, :math:`C` are concordant, :math:`D` are discordant, :math:`T` are tied only in the true
    ranking, :math:`P` are tied only in the predicted ranking, and :math:`B` are tied in both
    rankings. The variants of Kendall's tau are

    .. math::

        \tau_b = \frac{C - D}{\sqrt{(n - T - B) (n - P - B)}}, \quad
        \tau_a = \frac{C - D}{n}, \quad
        \gamma = \frac{C - D}{C + D}, \quad
        \tau_x = \frac{C - D + B}{n}.

    Without ties, all four are equal: 1 for the same order, -1 for the reverse order, and 0 on
    average for a random order. If the quotient is 0/0, by ties or as fewer than two labels are
    ranked in both rankings, the score of the sample is 0, which is included in the mean.

    {rankings}
    variant : {"b", "a", "gamma", "x"}, default="b"
        Treatment of ties. The variants differ most if only the true ranking has ties, as with
        estimators that never predict them:

        - `"b"`: the score is normalized by the numbers of untied pairs in the two rankings, as in
          SciPy. It is 1 only if both rankings have the same ties [1]_.
        - `"a"`: a pair that is tied in at least one ranking contributes 0.
        - `"gamma"`: pairs that are tied in at least one ranking are ignored (Goodman and Kruskal
          [2]_). A score of 1 means that no strict preference is reversed: the *correctness* of
          rankings that abstain [3]_. Ties of labels of uncertain order can increase it.
        - `"x"`: a tie states that two labels are equally good. A pair contributes 1 if it is tied
          in both rankings, and 0 if in only one of them (Emond and Mason [4]_). This variant is
          common in partial label ranking.
    {values}

    See Also
    --------
    kendall_tau_distance : Number of pairs of labels in the wrong order.
    spearman_distance : Sum of squared differences between positions.
    scipy.stats.kendalltau : Kendall's tau of a single pair of rankings, with a test of
        independence.

    References
    ----------
    .. [1] Kendall. "The Treatment of Ties in Ranking Problems." Biometrika, 1945.
    .. [2] L. A. Goodman and W. H. Kruskal. "Measures of Association for Cross Classifications."
       Journal of the American Statistical Association, 1954.
    .. [3] Cheng et al. "Predicting Partial Orders: Ranking with Abstention." ECML PKDD 2010.
    .. [4] E. J. Emond and D. W. Mason. "A New Rank Correlation Coefficient with Application to
       the Consensus Ranking Problem." Journal of Multi-Criteria Decision Analysis, 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from sklrank.metrics import kendall_tau_score
    >>> y_true = [[1, 2, 3, 4], [1, 2, np.nan, np.nan]]
    >>> y_pred = [[1, 2, 4, 3], [3, 4, 1, 2]]
    >>> kendall_tau_score(y_true, y_pred, average=False).round(3)
    array([0.667, 1.   ])
    >>> for variant in ("b", "a", "gamma", "x"):
    ...     print(variant, round(kendall_tau_score([[1, 1, 2]], [[1, 2, 3]], variant=variant), 3))
    b 0.816
    a 0.667
    gamma 1.0
    x 0.667
    """
    fraction = look_up("variant", _VARIANTS, variant)

    def scores(true, pred):
        numerator, denominator = fraction(count_pairs(true, pred))
        return np.divide(numerator, denominator, out=np.zeros(len(true)), where=denominator > 0)

    return _evaluate(scores, y_true, y_pred, average=average, sample_weight=sample_weight)


@of_rankings
def kendall_tau_distance(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    penalty: float = 0.5,
    normalize: bool = False,
    average: bool = True,
    sample_weight: ArrayLike | None = None,
) -> float | np.ndarray:
    r"""Compute the Kendall tau distance: the number of pairs of labels in the wrong order.

    Let :math:`\sigma` be the true positions and :math:`\pi` the predicted positions of a sample.
    The distance is ([1]_, section 1.3, and [2]_ for ties)

    .. math::

        d(\sigma, \pi) = \sum_{i < j} 1[(\sigma_i - \sigma_j)(\pi_i - \pi_j) < 0]
            + p \; 1[\text{exactly one of } \sigma_i = \sigma_j, \; \pi_i = \pi_j \text{ holds}],

    where the sum runs over the pairs of labels that both rankings contain. A pair that is tied in
    both rankings contributes 0. If there are no pairs, the distance is 0.

    {rankings}
    penalty : float, default=0.5
        Cost :math:`p`, from 0 to 1, of a pair that is tied in only one of the rankings. From 1/2
        on, the distance is a metric for rankings with ties; if it is 0, only strict reversals
        count.
    normalize : bool, default=False
        Whether to divide the distance of a sample by its number of pairs. It is then 0 for the same
        order and 1 for the reverse order: :math:`(1 - \tau_x) / 2` if there are pairs and `penalty`
        is 1/2, with the variant "x" of :func:`kendall_tau_score`; without ties, of any variant.
    {values}

    See Also
    --------
    kendall_tau_score : Rank correlation that is based on the same pairs.
    spearman_distance : Sum of squared differences between positions.

    {reference}
    .. [2] Fagin et al. "Comparing Partial Rankings." SIAM Journal on Discrete Mathematics, 2006.

    Examples
    --------
    >>> from sklrank.metrics import kendall_tau_distance
    >>> y_true, y_pred = [[1, 2, 3], [1, 1, 2]], [[3, 2, 1], [1, 2, 3]]
    >>> kendall_tau_distance(y_true, y_pred, average=False)
    array([3. , 0.5])
    >>> kendall_tau_distance(y_true, y_pred, penalty=0, normalize=True)
    0.5
    """
    if not is_number(penalty) or not 0 <= penalty <= 1:
        raise ValueError(f"penalty must be a number from 0 to 1, got {penalty!r}.")

    def distances(true, pred):
        counts = count_pairs(true, pred)
        sums = counts.discordant + penalty * (counts.tied_true + counts.tied_pred)
        return sums / np.maximum(sum(counts), 1) if normalize else sums

    return _evaluate(distances, y_true, y_pred, average=average, sample_weight=sample_weight)


@of_rankings
def spearman_distance(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    normalize: bool = False,
    average: bool = True,
    sample_weight: ArrayLike | None = None,
) -> float | np.ndarray:
    r"""Compute the Spearman distance: the sum of squared differences between positions.

    Let :math:`\sigma_i` be the true and :math:`\pi_i` the predicted position of label :math:`i`
    among the :math:`m` labels that both rankings of a sample contain, from 1 to :math:`m`; tied
    labels have the mean of their positions. The distance is ([1]_, section 1.3)

    .. math:: d(\sigma, \pi) = \sum_i (\sigma_i - \pi_i)^2.

    {rankings}
    normalize : bool, default=False
        Whether to divide the distance of a sample by that between a ranking without ties and its
        reverse, :math:`m (m^2 - 1) / 3`. Without ties, it is then :math:`(1 - \rho) / 2`, where
        :math:`\rho` is Spearman's correlation.
    {values}

    See Also
    --------
    kendall_tau_distance : Number of pairs of labels in the wrong order.
    scipy.stats.spearmanr : Spearman's correlation of a single pair of rankings.

    {reference}

    Examples
    --------
    >>> from sklrank.metrics import spearman_distance
    >>> y_true, y_pred = [[1, 2, 3], [1, 1, 2]], [[3, 2, 1], [1, 2, 3]]
    >>> spearman_distance(y_true, y_pred, average=False)
    array([8. , 0.5])
    >>> spearman_distance(y_true, y_pred, normalize=True)
    0.53125
    """

    def distances(true, pred):
        true, pred, n_ranked = ranked_in_both(true, pred)
        # A label that is missing in one ranking is last in both rankings, with a difference of 0.
        sums = np.sum((rankdata(true, axis=1) - rankdata(pred, axis=1)) ** 2, axis=1)
        if not normalize:
            return sums
        n_ranked = n_ranked.astype(np.float64)
        return sums / np.maximum(n_ranked * (n_ranked**2 - 1) / 3, 1)

    return _evaluate(distances, y_true, y_pred, average=average, sample_weight=sample_weight)


kendall_tau_scorer = LabelRankingScorer(kendall_tau_score)
kendall_tau_distance_scorer = LabelRankingScorer(kendall_tau_distance)
spearman_distance_scorer = LabelRankingScorer(spearman_distance)


@of_rankings
def pair_brier_score(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    average: bool = True,
    sample_weight: ArrayLike | None = None,
) -> float | np.ndarray:
    r"""Compute the Brier score of probabilities that one label is ranked before another.

    Let :math:`p_{ab}` be the predicted probability that label a is ranked before label b. The score
    of a sample is the mean of :math:`(p_{ab} - 1[\sigma_a < \sigma_b])^2` over the pairs of labels
    that its ranking orders. It is from 0 to 1, smaller is better, and 1/4 for probabilities of 1/2.
    Pairs that are tied, or whose labels are not both ranked, are ignored; the score of a sample
    without other pairs is 0.

    Parameters
    ----------
    y_true : array-like of shape (n_samples, n_labels)
        True positions of the labels. NaN marks a label that is not ranked.
    y_proba : array-like of shape (n_samples, n_labels, n_labels)
        Entry ``[i, a, b]`` is the probability that label a is ranked before label b, such as the
        result of `predict_pair_proba`. Only the entries of ordered pairs are used, and
        ``[i, b, a]`` must be one minus ``[i, a, b]``.
    {values}

    See Also
    --------
    kendall_tau_score : Agreement of two rankings.

    References
    ----------
    .. [1] G. W. Brier. "Verification of Forecasts Expressed in Terms of Probability."
       Monthly Weather Review, 1950.

    Examples
    --------
    >>> from sklrank.metrics import pair_brier_score
    >>> print(f"{pair_brier_score([[1, 2]], [[[0.5, 0.8], [0.2, 0.5]]]):.3f}")
    0.040
    """
    y_true, y_proba = check_pair_proba(y_true, y_proba)

    def scores(block):
        positions = y_true[block]
        before = positions[:, :, np.newaxis] < positions[:, np.newaxis, :]
        squares = np.where(before, (1.0 - y_proba[block]) ** 2, 0.0)
        return squares.sum(axis=(1, 2)) / np.maximum(before.sum(axis=(1, 2)), 1)

    return evaluate_samples(scores, y_true.shape, average=average, sample_weight=sample_weight)


@of_rankings
def alpha_inconsistency(Y_clean: ArrayLike, Y_noisy: ArrayLike) -> float:
    """Compute the fraction of samples whose noisy ranking differs from the noiseless ranking.

    This is Definition 2 (i) of [1]_. Two rankings also differ if a pair of labels is tied in only
    one of them.

    {noise}

    Returns
    -------
    float
        Fraction from 0 (no noise) to 1.

    See Also
    --------
    beta_tau_gap : Mean Kendall tau, which measures how large the differences are.

    {reference}

    Examples
    --------
    >>> from sklrank.metrics import alpha_inconsistency
    >>> alpha_inconsistency([[1, 2, 3], [1, 2, 3]], [[1, 2, 3], [2, 1, 3]])
    0.5
    """
    counts = _count_pairs(Y_clean, Y_noisy)
    return float((counts.concordant + counts.tied_both < sum(counts)).mean())


@of_rankings
def beta_tau_gap(Y_clean: ArrayLike, Y_noisy: ArrayLike) -> float:
    r"""Compute the mean Kendall tau between the noisy rankings and the noiseless ones.

    This is Definition 2 (ii) of [1]_.

    {noise}

    Returns
    -------
    float
        Mean of tau-a over the samples, from -1 (all rankings are reversed) to 1 (no noise); see
        :func:`kendall_tau_score`. Samples without a pair that is ranked in both rankings are
        ignored.

    See Also
    --------
    alpha_inconsistency : Fraction of samples whose rankings differ.

    {reference}

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


def _tau_b(counts):
    strict = (counts.concordant + counts.discordant).astype(np.float64)
    untied = (strict + counts.tied_pred) * (strict + counts.tied_true)
    return counts.concordant - counts.discordant, np.sqrt(untied)


# For each variant, the function that returns the numerator and the denominator of the quotient.
_VARIANTS = {
    "a": lambda counts: (counts.concordant - counts.discordant, sum(counts)),
    "b": _tau_b,
    "gamma": lambda counts: (
        counts.concordant - counts.discordant,
        counts.concordant + counts.discordant,
    ),
    "x": lambda counts: (counts.concordant - counts.discordant + counts.tied_both, sum(counts)),
}


def _evaluate(values_of, y_true, y_pred, *, average, sample_weight):
    """Check the rankings, and return `values_of(true, pred)` of each sample or its mean."""
    check_row_labels({"y_true": y_true, "sample_weight": sample_weight})
    true, pred = check_two_rankings(y_true, y_pred)
    return evaluate_samples(
        lambda block: values_of(true[block], pred[block]),
        true.shape,
        average=average,
        sample_weight=sample_weight,
    )


# -- Numbers of pairs of labels on which two rankings agree or disagree.

# Number of entries of which comparing all pairs takes less time than merge sort.
_MERGED = 512


class PairCounts(NamedTuple):
    """Numbers of the pairs of labels that are ranked in both rankings, by kind.

    Each field is an array of shape `(n_samples,)`. The sum of the fields is the number of pairs.
    """

    concordant: np.ndarray
    discordant: np.ndarray
    tied_true: np.ndarray
    """Number of pairs that are tied only in the true ranking."""
    tied_pred: np.ndarray
    """Number of pairs that are tied only in the predicted ranking."""
    tied_both: np.ndarray


def ranked_in_both(true, pred):
    """Return checked positions, infinity for labels that one of two rankings lacks, and the number
    `(n_samples,)` of the other labels.
    """
    ranked = ~(np.isnan(true) | np.isnan(pred))
    return np.where(ranked, true, np.inf), np.where(ranked, pred, np.inf), ranked.sum(axis=1)


def count_pairs(true, pred):
    """Count the concordant, discordant and tied pairs of labels of each sample.

    Let the labels be sorted by true position, and labels with equal true positions by predicted
    position. Then a pair is discordant if and only if the predicted position of its first label is
    larger than the predicted position of its second label.
    """
    true, pred, n_ranked = ranked_in_both(true, pred)
    order = np.lexsort((pred, true), axis=1)
    true = np.take_along_axis(true, order, axis=1)
    pred = np.take_along_axis(pred, order, axis=1)
    tied_both = _tied_pairs(n_ranked, true, pred)
    tied_true = _tied_pairs(n_ranked, true) - tied_both
    discordant = _decreasing_pairs(pred)
    pred.sort(axis=1)
    tied_pred = _tied_pairs(n_ranked, pred) - tied_both
    n_pairs = n_ranked * (n_ranked - 1) // 2
    concordant = n_pairs - discordant - tied_true - tied_pred - tied_both
    return PairCounts(concordant, discordant, tied_true, tied_pred, tied_both)


def _tied_pairs(n_ranked, *arrays):
    """Count the pairs of entries of each row that are equal in all arrays.

    Only the first `n_ranked` entries of each row are considered. Equal entries must be adjacent.
    """
    index = np.arange(arrays[0].shape[1])
    new = np.zeros(arrays[0].shape, dtype=bool)
    for values in arrays:
        new[:, 1:] |= values[:, 1:] != values[:, :-1]
    first = np.maximum.accumulate(np.where(new, index, 0), axis=1)
    return np.sum((index - first) * (index < n_ranked[:, None]), axis=1)


def _decreasing_pairs(values):
    """Count the pairs of entries of each row whose first entry is larger than the second one."""
    n_rows, n = values.shape
    width = min(n, _MERGED)
    # Infinity at the end of a row is in no such pair.
    size = width << (-(-n // width) - 1).bit_length()
    values = np.pad(values, ((0, 0), (0, size - n)), constant_values=np.inf).reshape(-1, width)
    counts = _decreasing_pairs_by_lags(values).reshape(n_rows, -1).sum(axis=1)
    values.sort(axis=1)
    while width < size:
        # Both halves of each row are sorted, which takes a stable sort a time of their size.
        values = values.reshape(-1, 2 * width)
        order = np.argsort(values, axis=1, kind="stable")
        is_first = order < width
        larger = (width - np.cumsum(is_first, axis=1)) * ~is_first
        counts += larger.reshape(n_rows, -1).sum(axis=1)
        values = np.take_along_axis(values, order, axis=1)
        width *= 2
    return counts


def _decreasing_pairs_by_lags(values):
    # The loop compares and adds whole rows of the transpose.
    values = np.ascontiguousarray(values.T)
    larger_before = np.zeros(values.shape, dtype=np.int32)
    for lag in range(1, len(values)):
        larger_before[lag:] += values[:-lag] > values[lag:]
    return larger_before.sum(axis=0, dtype=np.int64)
