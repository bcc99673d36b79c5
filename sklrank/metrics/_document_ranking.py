"""Metrics of the rankings of documents within queries, given graded relevance.

A public function documents the formula. ``_conventions.py`` has the options on which papers and
programs differ, ``_document_lists.py`` the sums over the sorted documents of all queries.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from sklrank._queries import Queries
from sklrank._relevance import check_relevance_of_metric
from sklrank.metrics._averaging import check_weight, mean_of_queries
from sklrank.metrics._checks import check_scores
from sklrank.metrics._conventions import (
    EMPTY,
    SHORT_IS_ZERO,
    check_k,
    choose,
    factors_of,
    gains_of,
)
from sklrank.metrics._document_lists import (
    expected_precisions,
    expected_values,
    list_documents,
    places,
    sums_of_queries,
)


def ndcg_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: ArrayLike | None = None,
    k: int | None = None,
    gain: str | Callable = "exponential",
    discount: str | Callable | None = None,
    empty: str | None = None,
    short: str | None = None,
    ties: str | None = None,
    convention: str = "standard",
    average: bool = True,
    sample_weight: ArrayLike | None = None,
) -> float | np.ndarray:
    r"""Compute NDCG: the discounted gain of each query, divided by that of the best order.

    Let :math:`y_1, y_2, \dots` be the grades of the documents of a query in the order of their
    scores, highest first, and :math:`y^*_1 \geq y^*_2 \geq \dots` the sorted grades. With a gain
    :math:`g` and a discount :math:`d` ([1]_)

    .. math::

        \mathrm{NDCG@}k = \frac{\sum_{i=1}^k g(y_i) \, d(i)}{\sum_{i=1}^k g(y^*_i) \, d(i)},

    by default with :math:`g(y) = 2^y - 1` and :math:`d(i) = 1 / \log_2(1 + i)`. The score is the
    mean over queries. Results of different programs can be compared only if they agree on the five
    options below; for the same predictions ``NDCG@10`` may be .2 or .8.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_labels)
        Relevance grades: 0 = not relevant, higher = more relevant. If 2-d, each row is a query.
    y_score : array-like of float, of the shape of `y_true`
        Scores, higher = ranked earlier.
    qid : array-like of shape (n_samples,), default=None
        Query ids, numbers or strings. Samples with the same id are the documents of one query, in
        any order. None means one query. For 1-d `y_true` only.
    k : int, default=None
        Number of documents that count, from the top. None for all.
    gain : {"exponential", "linear"} or callable, default="exponential"
        Gain of a grade :math:`y`: :math:`2^y - 1`, :math:`y` (as in scikit-learn), or a function
        from an array of grades to an array of gains.
    discount : {"log2", "letor"} or callable, default=None
        Factor of the gain at rank :math:`i`: "log2" for :math:`1 / \log_2(1 + i)`; "letor" for
        :math:`1 / \log_2 i` from rank 2 on and 1 at rank 1; or a function from an array of ranks 1,
        2, ... to an array of factors that do not increase.
    empty : {"drop", "zero", "one"}, default=None
        Score of a query whose documents all have gain 0, so that the quotient is 0/0: "drop" leaves
        it out of the mean, "zero" is 0 (as in scikit-learn), "one" is 1 (as in LightGBM and
        XGBoost).
    short : {"end", "zero"}, default=None
        Score of a query with fewer than `k` documents: "end" sums over the documents that there
        are; "zero" is 0 (unless the query is empty).
    ties : {"average", "stable", "worst"}, default=None
        Order of documents with equal scores: "average" takes the expected value over all orders
        ([2]_, as in scikit-learn); "stable" keeps the order of the samples, so that the order of a
        file affects the score; "worst" puts the smallest gain first.
    convention : {"standard", "letor"}, default="standard"
        Values of the options that are None:

        - "standard": discount "log2", empty "drop", short "end", ties "average";
        - "letor": the rules of ``Eval-Score-4.0.pl``, which computed the published results of LETOR
          4.0 ([3]_): discount "letor", empty "zero", short "zero", ties "stable".
    average : bool, default=True
        Whether to return the mean over queries, or the score of each query. Two models are best
        compared by the differences between the scores of queries.
    sample_weight : array-like of float, shape (n_samples,), default=None
        Weights of the samples. The weight of a query in the mean is the mean of its samples.

    Returns
    -------
    score : float or ndarray of float64, shape (n_queries,)
        The mean score. If `average` is False, the score of each query in the order of the sorted
        ids (``np.unique(qid)``), NaN for dropped queries; for 2-d `y_true`, of each row.

    Raises
    ------
    ValueError
        If shapes differ, if `y_true` or `y_score` is not finite, if a gain is negative, if an
        option is unknown, or if no query is left to average.

    See Also
    --------
    dcg_score : The sum without normalization.
    average_precision_score : For binary relevance.
    sklearn.metrics.ndcg_score : Rankings of the labels of each sample, with linear gain.

    Notes
    -----
    The score does not depend on the order of the samples, unless ties are "stable". LETOR's
    ``MeanNDCG`` is not the score for ``k=None``, but the mean over all `k` from 1 to the number of
    documents of the query.

    References
    ----------
    .. [1] K. Järvelin and J. Kekäläinen. "Cumulated Gain-Based Evaluation of IR Techniques." ACM
       Transactions on Information Systems, 2002.
    .. [2] F. McSherry and M. Najork. "Computing Information Retrieval Performance Measures
       Efficiently in the Presence of Tied Scores." ECIR 2008.
    .. [3] T. Qin and T.-Y. Liu. "Introducing LETOR 4.0 Datasets."
       arXiv:1306.2597, 2013.

    Examples
    --------
    >>> from sklrank.metrics import ndcg_score
    >>> qid = [1, 1, 1, 2, 2, 3]
    >>> y_true = [2, 0, 1, 0, 1, 0]
    >>> y_score = [0.9, 0.7, 0.1, 0.5, 0.5, 0.3]
    >>> round(ndcg_score(y_true, y_score, qid=qid), 3)
    0.89
    >>> ndcg_score(y_true, y_score, qid=qid, average=False).round(3)
    array([0.964, 0.815,   nan])
    >>> ndcg_score(y_true, y_score, qid=qid, k=3, convention="letor", average=False).round(3)
    array([0.908, 0.   , 0.   ])
    """
    check_k(k)
    chosen = choose(convention, gain=gain, discount=discount, empty=empty, short=short, ties=ties)
    return _evaluate(ndcg_of_queries, chosen, k, y_true, y_score, qid, average, sample_weight)


def dcg_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: ArrayLike | None = None,
    k: int | None = None,
    gain: str | Callable = "exponential",
    discount: str | Callable | None = None,
    ties: str | None = None,
    convention: str = "standard",
    average: bool = True,
    sample_weight: ArrayLike | None = None,
) -> float | np.ndarray:
    r"""Compute DCG: the discounted gain of the documents of each query.

    For the grades :math:`y_1, y_2, \dots` of the documents of a query in the order of their scores,
    highest first, a gain :math:`g` and a discount :math:`d` ([1]_)

    .. math:: \mathrm{DCG@}k = \sum_{i=1}^k g(y_i) \, d(i),

    by default with :math:`g(y) = 2^y - 1` and :math:`d(i) = 1 / \log_2(1 + i)`. The score is the
    mean over queries. A query without relevant documents has DCG 0. If there are less than `k`
    documents, the sum is over all of them.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_labels)
        Relevance grades: 0 = not relevant, higher = more relevant. If 2-d, each row is a query.
    y_score : array-like of float, of the shape of `y_true`
        Scores, higher = ranked earlier.
    qid : array-like of shape (n_samples,), default=None
        Query ids, numbers or strings. Samples with the same id are the documents of one query, in
        any order. None means one query. For 1-d `y_true` only.
    k : int, default=None
        Number of documents that count, from the top. None for all.
    gain : {"exponential", "linear"} or callable, default="exponential"
        Gain of a grade, as in :func:`ndcg_score`.
    discount : {"log2", "letor"} or callable, default=None
        Factor of the gain at a rank, as in :func:`ndcg_score`.
    ties : {"average", "stable", "worst"}, default=None
        Order of documents with equal scores, as in :func:`ndcg_score`.
    convention : {"standard", "letor"}, default="standard"
        Values of the options that are None: "standard" for discount "log2" and ties "average",
        "letor" for discount "letor" and ties "stable".
    average : bool, default=True
        Whether to return the mean over queries, or the score of each query.
    sample_weight : array-like of float, shape (n_samples,), default=None
        Weights of the samples. The weight of a query in the mean is the mean of its samples.

    Returns
    -------
    score : float or ndarray of float64, shape (n_queries,)
        The mean score. If `average` is False, the score of each query in the order of the sorted
        ids (``np.unique(qid)``); for 2-d `y_true`, of each row.

    Raises
    ------
    ValueError
        If shapes differ, if `y_true` or `y_score` is not finite, if a gain is negative, or if an
        option is unknown.

    See Also
    --------
    ndcg_score : The same, divided by the value of the best order.
    sklearn.metrics.dcg_score : Rankings of the labels of each sample, with linear gain.

    References
    ----------
    .. [1] K. Järvelin and J. Kekäläinen. "Cumulated Gain-Based Evaluation of IR Techniques." ACM
       Transactions on Information Systems, 2002.

    Examples
    --------
    >>> from sklrank.metrics import dcg_score
    >>> dcg_score([2, 0, 1], [0.9, 0.7, 0.1])
    3.5
    >>> dcg_score([2, 0, 1], [0.9, 0.7, 0.1], k=2, gain="linear")
    2.0
    """
    check_k(k)
    chosen = choose(convention, gain=gain, discount=discount, ties=ties)
    return _evaluate(_dcg_of_queries, chosen, k, y_true, y_score, qid, average, sample_weight)


def average_precision_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: ArrayLike | None = None,
    k: int | None = None,
    empty: str | None = None,
    ties: str | None = None,
    convention: str = "standard",
    average: bool = True,
    sample_weight: ArrayLike | None = None,
) -> float | np.ndarray:
    r"""Compute the average precision of each query; its mean over queries is known as MAP.

    Let :math:`r_1, r_2, \dots` be 1 for the relevant documents of a query and 0 for the others, in
    the order of their scores, highest first, and :math:`R` the number of relevant documents. Then
    ([1]_, section 8.4)

    .. math::

        \mathrm{AP@}k = \frac{1}{\min(R, k)} \sum_{i=1}^k r_i \, \frac{r_1 + \dots + r_i}{i},

    the mean precision at the ranks of the relevant documents. Without `k` the divisor is :math:`R`.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_labels)
        Relevance; grades above 0 count as relevant. If 2-d, each row is a query.
    y_score : array-like of float, of the shape of `y_true`
        Scores, higher = ranked earlier.
    qid : array-like of shape (n_samples,), default=None
        Query ids, numbers or strings. Samples with the same id are the documents of one query, in
        any order. None means one query. For 1-d `y_true` only.
    k : int, default=None
        Number of documents that count, from the top. None for all.
    empty : {"drop", "zero", "one"}, default=None
        Score of a query without a relevant document: "drop" leaves it out of the mean, "zero" is 0,
        "one" is 1.
    ties : {"average", "stable", "worst"}, default=None
        Order of documents with equal scores: "average" takes the expected value over all orders
        ([2]_); "stable" keeps the order of the samples; "worst" puts the relevant documents last.
    convention : {"standard", "letor"}, default="standard"
        Values of the options that are None: "standard" for empty "drop" and ties "average"; "letor"
        for empty "zero" and ties "stable", the rules of ``Eval-Score-4.0.pl`` for MAP.
    average : bool, default=True
        Whether to return the mean over queries, or the score of each query.
    sample_weight : array-like of float, shape (n_samples,), default=None
        Weights of the samples. The weight of a query in the mean is the mean of its samples.

    Returns
    -------
    score : float or ndarray of float64, shape (n_queries,)
        The mean score. If `average` is False, the score of each query in the order of the sorted
        ids (``np.unique(qid)``), NaN for dropped queries; for 2-d `y_true`, of each row.

    Raises
    ------
    ValueError
        If shapes differ, if `y_true` or `y_score` is not finite, if an option is unknown, or if no
        query is left to average.

    See Also
    --------
    ndcg_score : For graded relevance.
    sklearn.metrics.label_ranking_average_precision_score : For indicator matrices, with ties at
        their worst rank.
    sklearn.metrics.average_precision_score : Areas under precision-recall curves.

    References
    ----------
    .. [1] C. D. Manning, P. Raghavan and H. Schütze. "Introduction to Information Retrieval."
       Cambridge University Press, 2008.
    .. [2] F. McSherry and M. Najork. "Computing Information Retrieval Performance Measures
       Efficiently in the Presence of Tied Scores." ECIR 2008.

    Examples
    --------
    >>> from sklrank.metrics import average_precision_score
    >>> qid = [1, 1, 1, 2, 2]
    >>> y_true = [1, 0, 1, 0, 1]
    >>> y_score = [0.9, 0.7, 0.1, 0.5, 0.5]
    >>> average_precision_score(y_true, y_score, qid=qid, average=False).round(3)
    array([0.833, 0.75 ])
    """
    check_k(k)
    chosen = choose(convention, empty=empty, ties=ties)
    return _evaluate(
        average_precision_of_queries, chosen, k, y_true, y_score, qid, average, sample_weight
    )


# Each metric as a function of the scores alone, which returns a value for each query. All that does
# not depend on the scores is computed once, for callers that rank the same documents repeatedly.


def ndcg_of_queries(queries, grades, chosen, k):
    """Return the function from scores to the NDCG of each query."""
    gains = gains_of(chosen.gain, grades)
    factors = _factors(queries, chosen.discount, k)
    best = _dcg(queries, gains, gains, factors, ties="stable")

    def values_of(scores):
        values = np.full(queries.n_queries, EMPTY[chosen.empty])
        np.divide(_dcg(queries, gains, scores, factors, chosen.ties), best, values, where=best > 0)
        if k is not None and SHORT_IS_ZERO[chosen.short]:
            values[(queries.sizes < k) & (best > 0)] = 0
        return values

    return values_of


def _dcg_of_queries(queries, grades, chosen, k):
    """Return the function from scores to the DCG of each query."""
    gains = gains_of(chosen.gain, grades)
    factors = _factors(queries, chosen.discount, k)
    return lambda scores: _dcg(queries, gains, scores, factors, chosen.ties)


def average_precision_of_queries(queries, grades, chosen, k):
    """Return the function from scores to the average precision of each query."""
    relevant = grades > 0
    last = np.inf if k is None else k
    counted = places(queries) <= last
    n_relevant = np.bincount(queries.codes, weights=relevant, minlength=queries.n_queries)
    n_relevant = np.minimum(n_relevant, last)

    def values_of(scores):
        lists = list_documents(queries, scores, relevant, chosen.ties)
        sums = sums_of_queries(queries, expected_precisions(queries, lists, relevant) * counted)
        values = np.full(queries.n_queries, EMPTY[chosen.empty])
        return np.divide(sums, n_relevant, values, where=n_relevant > 0)

    return values_of


def _factors(queries, discount, k):
    """Return the factor of the gain at each place of the sorted lists: 0 beyond rank `k`."""
    ranks = places(queries)
    factors = factors_of(discount, ranks.max())[ranks - 1]
    return factors if k is None else np.where(ranks <= k, factors, 0)


def _dcg(queries, gains, scores, factors, ties):
    lists = list_documents(queries, scores, gains, ties)
    return sums_of_queries(queries, expected_values(lists, gains) * factors)


def _evaluate(of_queries, chosen, k, y_true, y_score, qid, average, sample_weight):
    """Check the arguments, compute the metric of each query, and average."""
    grades, scores = check_relevance_of_metric(y_true), check_scores(y_score)
    if grades.shape != scores.shape:
        raise ValueError(
            f"y_score must have the shape of y_true, {grades.shape}, got {scores.shape}: one score "
            "per document."
        )
    weight = check_weight(sample_weight, len(grades), average)
    if grades.ndim == 1:
        queries = Queries.from_qid(qid, len(grades))
        if weight is not None:
            weight = np.bincount(queries.codes, weights=weight) / queries.sizes
    elif qid is not None or grades.shape[1] == 1:
        raise ValueError(
            f"y_true of shape {grades.shape} has a query in each row, of {grades.shape[1]} "
            "document(s): leave qid out, or pass 1-d y_true and y_score with qid."
        )
    else:
        queries = Queries.from_qid(np.repeat(np.arange(len(grades)), grades.shape[1]), grades.size)
    values = of_queries(queries, grades.ravel(), chosen, k)(scores.ravel())
    return mean_of_queries(values, weight) if average else values
