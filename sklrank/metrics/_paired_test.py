"""Randomization test of the difference between two rankings."""

from __future__ import annotations

from numbers import Integral
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array, gen_batches

from sklrank._validation import check_random_state, check_scalar
from sklrank.metrics._averaging import samples_per_block

__all__ = ["paired_test"]

# If there are at most this many informative queries, all assignments of signs are enumerated.
MAX_EXACT = 16


class PairedTestResult(NamedTuple):
    """Result of :func:`paired_test`."""

    difference: float
    """Mean of the first values minus the second values."""
    standard_error: float
    """Standard error of the difference."""
    p_value: float
    """Probability of a difference of at least this size if both rankings are equally good."""
    n_queries: int
    """Number of queries with both values."""


def paired_test(
    values: ArrayLike,
    other_values: ArrayLike,
    *,
    n_permutations: int = 10_000,
    random_state: int | np.random.RandomState | None = None,
) -> PairedTestResult:
    r"""Test whether two rankings of the same queries differ, by a two-sided randomization test.

    The values of a metric for each query are obtained with ``average=False``. Under the null
    hypothesis, the two values of each query may be exchanged, which changes the sign of their
    difference ([1]_). The p-value is the probability that the absolute mean of the differences with
    random signs is at least as large as that of the observed differences. No distribution of the
    differences is assumed.

    Parameters
    ----------
    values, other_values : array-like of shape (n_queries,)
        Values of a metric for each query, in the same order. A query in which either value is NaN
        is left out.
    n_permutations : int, default=10_000
        Number of random assignments of signs. It is not used if at most 16 differences are not 0;
        then all assignments are enumerated.
    random_state : int, RandomState instance or None, default=None
        Controls the random signs.

    Returns
    -------
    PairedTestResult
        Named tuple with the fields `difference`, the mean of `values` minus that of `other_values`;
        `standard_error` of the difference (NaN for one query); `p_value`; and `n_queries`, the
        number of queries that are not left out.

    Raises
    ------
    ValueError
        If the shapes of the values differ, if they are infinite, or if no query is left.

    See Also
    --------
    ndcg_score : A metric with values for each query.
    scipy.stats.permutation_test : Permutation tests of other statistics.

    Notes
    -----
    If signs are drawn, the observed assignment counts as one of them. So the p-value is at least
    1 / (`n_permutations` + 1), and the test is valid for any number of permutations.

    References
    ----------
    .. [1] M. D. Smucker, J. Allan and B. Carterette. "A Comparison of Statistical Significance
       Tests for Information Retrieval Evaluation." CIKM 2007.

    Examples
    --------
    >>> from sklrank.metrics import paired_test
    >>> result = paired_test([0.9, 0.8, 0.7, 0.9, 0.6], [0.5, 0.7, 0.6, 0.6, 0.5])
    >>> print(f"{result.difference:.2f} +- {result.standard_error:.2f}, p = {result.p_value:.4f}")
    0.20 +- 0.06, p = 0.0625
    """
    check_scalar(n_permutations, "n_permutations", Integral, min_val=1)
    values, other_values = (
        check_array(
            array,
            ensure_2d=False,
            dtype=np.float64,
            ensure_all_finite="allow-nan",
            input_name=name,
        )
        for array, name in ((values, "values"), (other_values, "other_values"))
    )
    if values.ndim != 1 or values.shape != other_values.shape:
        raise ValueError(
            "values and other_values must have one value for each query, got the shapes "
            f"{values.shape} and {other_values.shape}: pass the results of a metric with "
            "average=False for the same queries."
        )
    differences = values - other_values
    differences = differences[~np.isnan(differences)]
    n_queries = len(differences)
    if not n_queries:
        raise ValueError("values and other_values are both known for no query: nothing to test.")
    error = differences.std(ddof=1) / np.sqrt(n_queries) if n_queries > 1 else np.nan
    p_value = randomization_p_value(
        differences[differences != 0], n_permutations, check_random_state(random_state)
    )
    return PairedTestResult(float(differences.mean()), float(error), p_value, n_queries)


def randomization_p_value(differences, n_permutations, random):
    """Return the p-value of differences of which none is 0."""
    n_queries = len(differences)
    if not n_queries:
        return 1.0
    # Sums of the same numbers in another order may differ by rounding.
    threshold = abs(differences.sum()) - 1e-12 * np.abs(differences).sum()
    if n_queries <= MAX_EXACT:
        # The bits of the numbers from 0 to 2^n - 1.
        bits = np.arange(2**n_queries)[:, np.newaxis] >> np.arange(n_queries) & 1
        return float(np.mean(np.abs((2.0 * bits - 1) @ differences) >= threshold))
    n_extreme = 1
    for block in gen_batches(n_permutations, samples_per_block(n_queries)):
        signs = 2.0 * random.randint(2, size=(block.stop - block.start, n_queries)) - 1
        n_extreme += np.sum(np.abs(signs @ differences) >= threshold)
    return float(n_extreme / (n_permutations + 1))
