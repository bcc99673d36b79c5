"""Scores and distances of predicted rankings of labels.

Rankings are positions, one for each label: smaller = better, NaN = not ranked, equal = tied. Only
the order matters, and only labels that both rankings contain. A public function documents the
formula and its parameters; ``_pair_counts.py`` counts pairs of labels.
"""

from __future__ import annotations

from numbers import Real

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata

from sklrank.metrics._averaging import evaluate_samples
from sklrank.metrics._checks import check_two_rankings
from sklrank.metrics._conventions import look_up
from sklrank.metrics._pair_counts import count_pairs, ranked_in_both


def kendall_tau_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    variant: str = "b",
    average: bool = True,
    sample_weight: ArrayLike | None = None,
) -> float | np.ndarray:
    r"""Compute Kendall's tau: pairs of labels in the right order minus those in the wrong order.

    Of the :math:`n` pairs of labels that both rankings of a sample contain, :math:`C` are
    concordant, :math:`D` discordant, :math:`T` tied only in the true ranking, :math:`P` tied only
    in the predicted ranking and :math:`B` tied in both. Then

    .. math::

        \tau_b = \frac{C - D}{\sqrt{(n - T - B) (n - P - B)}}, \quad
        \tau_a = \frac{C - D}{n}, \quad
        \gamma = \frac{C - D}{C + D}, \quad
        \tau_x = \frac{C - D + B}{n}.

    Without ties all four agree: 1 for the same order, -1 for the reverse order, 0 on average for a
    random order. If the quotient is 0/0, because no two labels are ranked in both rankings or all
    of them are tied, the sample has score 0. It counts in the mean, unless its weight is 0.

    Parameters
    ----------
    y_true : array-like of shape (n_samples, n_labels)
        True positions of the labels: smaller = better, equal = tied, NaN = not ranked. Only their
        order matters.
    y_pred : array-like of shape (n_samples, n_labels)
        Predicted positions of the labels.
    variant : {"b", "a", "gamma", "x"}, default="b"
        The treatment of ties. It matters most if the true ranking has ties and the predicted one
        does not, as that of an estimator that ranks all labels:

        - `"b"`: each ranking is normalized by its own untied pairs, as in SciPy. A score of 1
          requires the same ties in both rankings, so that such a prediction stays below 1 [1]_.
        - `"a"`: a pair with a tie counts 0.
        - `"gamma"`: pairs with a tie are left out. A score of 1 means that no strict preference is
          reversed (Goodman and Kruskal [2]_, the *correctness* of rankings that abstain [3]_).
          A prediction can raise this score by tying uncertain pairs.
        - `"x"`: a tie is a statement like an order. A pair counts 1 if it is tied in both rankings,
          0 if it is tied in one of them (Emond and Mason [4]_, common in partial label ranking).
    average : bool, default=True
        Whether to return the mean over samples, or the score of each sample.
    sample_weight : array-like of float, shape (n_samples,), default=None
        Weights of the samples in the mean.

    Returns
    -------
    score : float or ndarray of float64, shape (n_samples,)
        The mean score, or the score of each sample if `average` is False.

    Raises
    ------
    ValueError
        If the shapes differ or are not 2-d, if a position is infinite or not a number, or if
        `variant` is unknown.

    See Also
    --------
    kendall_tau_distance : Counts the pairs in the wrong order.
    spearman_distance : Compares positions, not pairs.
    scipy.stats.kendalltau : One pair of rankings, with a test of independence.

    References
    ----------
    .. [1] M. G. Kendall. "The Treatment of Ties in Ranking Problems."
       Biometrika, 1945.
    .. [2] L. A. Goodman and W. H. Kruskal. "Measures of Association for Cross Classifications."
       Journal of the American Statistical Association, 1954.
    .. [3] W. Cheng, M. Rademaker, B. De Baets and E. Hüllermeier. "Predicting Partial Orders:
       Ranking with Abstention." ECML PKDD 2010.
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

    For the true positions :math:`\sigma` and the predicted positions :math:`\pi` of a sample, over
    the pairs of labels that both rankings contain ([1]_, section 1.3, and [2]_ for ties):

    .. math::

        d(\sigma, \pi) = \sum_{i < j} 1[(\sigma_i - \sigma_j)(\pi_i - \pi_j) < 0]
            + p \; 1[\text{either } \sigma_i = \sigma_j \text{ or } \pi_i = \pi_j],

    where a pair that is tied in both rankings costs nothing. A sample without pairs has distance 0.

    Parameters
    ----------
    y_true : array-like of shape (n_samples, n_labels)
        True positions of the labels: smaller = better, equal = tied, NaN = not ranked. Only their
        order matters.
    y_pred : array-like of shape (n_samples, n_labels)
        Predicted positions of the labels.
    penalty : float, default=0.5
        The cost :math:`p`, from 0 to 1, of a pair that is tied in only one of the rankings. With
        1/2 or more the distance is a metric for rankings with ties; 0 counts strict reversals only.
    normalize : bool, default=False
        Whether to divide the distance of a sample by its number of pairs: from 0 for the same
        order to 1 for the reverse order. With `penalty` 1/2 this is :math:`(1 - \tau_x) / 2` of a
        sample with pairs; without ties it is :math:`(1 - \tau) / 2`.
    average : bool, default=True
        Whether to return the mean over samples, or the distance of each sample.
    sample_weight : array-like of float, shape (n_samples,), default=None
        Weights of the samples in the mean.

    Returns
    -------
    distance : float or ndarray of float64, shape (n_samples,)
        The mean distance, or the distance of each sample if `average` is False.

    Raises
    ------
    ValueError
        If the shapes differ or are not 2-d, if a position is infinite or not a number, or if
        `penalty` is out of range.

    See Also
    --------
    kendall_tau_score : The same pairs as a correlation.
    spearman_distance : Compares positions, not pairs.

    References
    ----------
    .. [1] D. Fotakis, A. Kalavasis and E. Psaroudaki. "Label Ranking through Nonparametric
       Regression." ICML 2022.
    .. [2] R. Fagin, R. Kumar, M. Mahdian, D. Sivakumar and E. Vee. "Comparing Partial Rankings."
       SIAM Journal on Discrete Mathematics, 2006.

    Examples
    --------
    >>> from sklrank.metrics import kendall_tau_distance
    >>> y_true, y_pred = [[1, 2, 3], [1, 1, 2]], [[3, 2, 1], [1, 2, 3]]
    >>> kendall_tau_distance(y_true, y_pred, average=False)
    array([3. , 0.5])
    >>> kendall_tau_distance(y_true, y_pred, penalty=0, normalize=True)
    0.5
    """
    if not isinstance(penalty, Real) or not 0 <= penalty <= 1:
        raise ValueError(f"penalty must be a number from 0 to 1, got {penalty!r}.")

    def distances(true, pred):
        counts = count_pairs(true, pred)
        sums = counts.discordant + penalty * (counts.tied_true + counts.tied_pred)
        return sums / np.maximum(sum(counts), 1) if normalize else sums

    return _evaluate(distances, y_true, y_pred, average=average, sample_weight=sample_weight)


def spearman_distance(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    normalize: bool = False,
    average: bool = True,
    sample_weight: ArrayLike | None = None,
) -> float | np.ndarray:
    r"""Compute the Spearman distance: the sum of squared differences between positions.

    For the true positions :math:`\sigma` and the predicted positions :math:`\pi` of a sample ([1]_,
    section 1.3):

    .. math::

        d(\sigma, \pi) = \sum_i (\sigma_i - \pi_i)^2

    The positions are those among the :math:`m` labels that both rankings contain: 1 to :math:`m`,
    where tied labels have the mean of their positions. A sample with fewer than two such labels has
    distance 0.

    Parameters
    ----------
    y_true : array-like of shape (n_samples, n_labels)
        True positions of the labels: smaller = better, equal = tied, NaN = not ranked. Only their
        order matters.
    y_pred : array-like of shape (n_samples, n_labels)
        Predicted positions of the labels.
    normalize : bool, default=False
        Whether to divide the distance of a sample by that of a ranking to its reverse,
        :math:`m (m^2 - 1) / 3`: from 0 for the same order to 1. Without ties this is
        :math:`(1 - \rho) / 2` with Spearman's correlation :math:`\rho`.
    average : bool, default=True
        Whether to return the mean over samples, or the distance of each sample.
    sample_weight : array-like of float, shape (n_samples,), default=None
        Weights of the samples in the mean.

    Returns
    -------
    distance : float or ndarray of float64, shape (n_samples,)
        The mean distance, or the distance of each sample if `average` is False.

    Raises
    ------
    ValueError
        If the shapes differ or are not 2-d, or if a position is infinite or not a number.

    See Also
    --------
    kendall_tau_distance : Counts pairs in the wrong order.
    scipy.stats.spearmanr : Spearman's correlation of one pair of rankings.

    References
    ----------
    .. [1] D. Fotakis, A. Kalavasis and E. Psaroudaki. "Label Ranking through Nonparametric
       Regression." ICML 2022.

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
        # Labels that one ranking lacks are last in both, where their difference is 0.
        difference = rankdata(true, axis=1) - rankdata(pred, axis=1)
        sums = np.sum(difference**2, axis=1)
        if not normalize:
            return sums
        n_ranked = n_ranked.astype(np.float64)
        return sums / np.maximum(n_ranked * (n_ranked**2 - 1) / 3, 1)

    return _evaluate(distances, y_true, y_pred, average=average, sample_weight=sample_weight)


def _tau_a(counts):
    return counts.concordant - counts.discordant, sum(counts)


def _tau_b(counts):
    strict = (counts.concordant + counts.discordant).astype(np.float64)
    untied = (strict + counts.tied_pred) * (strict + counts.tied_true)
    return counts.concordant - counts.discordant, np.sqrt(untied)


def _gamma(counts):
    return counts.concordant - counts.discordant, counts.concordant + counts.discordant


def _tau_x(counts):
    return counts.concordant - counts.discordant + counts.tied_both, sum(counts)


# The numerator and the denominator of the quotient.
_VARIANTS = {"a": _tau_a, "b": _tau_b, "gamma": _gamma, "x": _tau_x}

# Metrics by name, with the sign by which scorers multiply them: greater is better.
RANKING_METRICS = {
    "kendall_tau_score": (1, kendall_tau_score),
    "kendall_tau_distance": (-1, kendall_tau_distance),
    "spearman_distance": (-1, spearman_distance),
}


def _evaluate(values_of, y_true, y_pred, *, average, sample_weight):
    """Compute `values_of(true, pred)` of the samples and average."""
    true, pred = check_two_rankings(y_true, y_pred)
    return evaluate_samples(
        lambda block: values_of(true[block], pred[block]),
        true.shape,
        average=average,
        sample_weight=sample_weight,
    )
