"""Metrics of the rankings of documents within queries, given graded relevance.

The docstring of each public function states its formula. The options on which papers and programs
differ are defined in ``_conventions.py``. Sums over the sorted documents of all queries are
computed in ``_document_lists.py``.
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
    list_best_first,
    list_documents,
    places,
    sums_of_queries,
)

# Last rank that matters if all ranks matter.
EVERY_PLACE = np.iinfo(np.intp).max


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
    r"""Compute NDCG: the DCG of each query, divided by the DCG of the ideal ranking.

    Let :math:`y_1, y_2, \dots` be the grades of the documents of a query, in descending order of
    their scores. Let :math:`y^*_1 \geq y^*_2 \geq \dots` be the same grades in descending order,
    which is the ideal ranking. For a gain function :math:`g` and a discount function :math:`d`,
    NDCG is defined as ([1]_)

    .. math::

        \mathrm{NDCG@}k = \frac{\sum_{i=1}^k g(y_i) \, d(i)}{\sum_{i=1}^k g(y^*_i) \, d(i)}.

    By default, :math:`g(y) = 2^y - 1` and :math:`d(i) = 1 / \log_2(1 + i)`. The score is the mean
    over queries. Results of different programs can be compared only if the programs use the same
    values of the options `gain`, `discount`, `empty`, `short` and `ties`: for the same predictions,
    ``NDCG@10`` may be 0.2 with some values and 0.8 with others.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_labels)
        Relevance grades. A document of grade 0 is not relevant; higher grades mean more relevant.
        If the array is 2-d, each row is a query.
    y_score : array-like of float, of the shape of `y_true`
        Scores. Documents with higher scores are ranked first.
    qid : array-like of shape (n_samples,), default=None
        Query ids, numbers or strings. The samples with the same id are the documents of one query;
        they need not be adjacent. If None, all samples belong to one query. This parameter is only
        allowed for 1-d `y_true`.
    k : int, default=None
        Number of top-ranked documents to include. If None, all documents are included.
    gain : {"exponential", "linear"} or callable, default="exponential"
        Gain of a grade :math:`y`: "exponential" is :math:`2^y - 1`, and "linear" is :math:`y` (as
        in scikit-learn). A callable must return an array of gains for an array of grades.
    discount : {"log2", "letor"} or callable, default=None
        Factor by which the gain at rank :math:`i` is multiplied: "log2" is
        :math:`1 / \log_2(1 + i)`; "letor" is 1 at rank 1 and :math:`1 / \log_2 i` at all other
        ranks. A callable must return an array of factors, which do not increase, for the array of
        the ranks 1, 2, ...
    empty : {"drop", "zero", "one"}, default=None
        Score of a query whose documents all have gain 0, so that the quotient is 0/0. With "drop"
        the query is left out of the mean; with "zero" its score is 0 (as in scikit-learn); with
        "one" its score is 1 (as in LightGBM and XGBoost).
    short : {"end", "zero"}, default=None
        Score of a query with fewer than `k` documents. With "end" the sums include all documents of
        the query; with "zero" the score is 0, unless all documents of the query have gain 0.
    ties : {"average", "stable", "worst"}, default=None
        Order of documents with equal scores. With "average" the score is the expected value over
        all orders of these documents ([2]_, as in scikit-learn); with "stable" they are in the
        order of the samples, so that the score depends on this order; with "worst" they are in
        ascending order of their gains.
    convention : {"standard", "letor"}, default="standard"
        Convention that determines the values of the options that are None:

        - "standard": discount "log2", empty "drop", short "end", ties "average";
        - "letor": discount "letor", empty "zero", short "zero", ties "stable". These are the rules
          of ``Eval-Score-4.0.pl``, which computed the published results of LETOR 4.0 ([3]_).
    average : bool, default=True
        If True, return the mean over queries; otherwise return the score of each query. To compare
        two models, use the differences between their scores of each query.
    sample_weight : array-like of float, shape (n_samples,), default=None
        Weights of the samples. The weight of a query in the mean is the mean of the weights of its
        samples.

    Returns
    -------
    score : float or ndarray of float64, shape (n_queries,)
        Mean score or, if `average` is False, the score of each query, which is NaN for dropped
        queries. The queries are in the order of the sorted ids (``np.unique(qid)``) or, for 2-d
        `y_true`, in the order of the rows.

    Raises
    ------
    ValueError
        If shapes differ, if `y_true` or `y_score` is not finite, if a gain is negative, if an
        option is unknown, or if no query is left to average.

    See Also
    --------
    dcg_score : DCG without normalization.
    average_precision_score : Average precision, a metric for binary relevance.
    sklearn.metrics.ndcg_score : NDCG of rankings of the labels of each sample, with linear gain.

    Notes
    -----
    The score does not depend on the order of the samples, unless `ties` is "stable". LETOR's
    ``MeanNDCG`` is not the score for ``k=None``, but the mean of the scores for all `k` from 1 to
    the number of documents of the query.

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
    return evaluate(ndcg_of_queries, chosen, k, y_true, y_score, qid, average, sample_weight)


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
    r"""Compute DCG: the discounted cumulative gain of the documents of each query.

    Let :math:`y_1, y_2, \dots` be the grades of the documents of a query, in descending order of
    their scores. For a gain function :math:`g` and a discount function :math:`d`, DCG is defined as
    ([1]_)

    .. math:: \mathrm{DCG@}k = \sum_{i=1}^k g(y_i) \, d(i).

    By default, :math:`g(y) = 2^y - 1` and :math:`d(i) = 1 / \log_2(1 + i)`. If there are fewer than
    `k` documents, the sum includes all of them. The DCG of a query without relevant documents is 0.
    The score is the mean over queries.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_labels)
        Relevance grades. A document of grade 0 is not relevant; higher grades mean more relevant.
        If the array is 2-d, each row is a query.
    y_score : array-like of float, of the shape of `y_true`
        Scores. Documents with higher scores are ranked first.
    qid : array-like of shape (n_samples,), default=None
        Query ids, numbers or strings. The samples with the same id are the documents of one query;
        they need not be adjacent. If None, all samples belong to one query. This parameter is only
        allowed for 1-d `y_true`.
    k : int, default=None
        Number of top-ranked documents to include. If None, all documents are included.
    gain : {"exponential", "linear"} or callable, default="exponential"
        Gain of a grade, as in :func:`ndcg_score`.
    discount : {"log2", "letor"} or callable, default=None
        Factor by which the gain at a rank is multiplied, as in :func:`ndcg_score`.
    ties : {"average", "stable", "worst"}, default=None
        Order of documents with equal scores, as in :func:`ndcg_score`.
    convention : {"standard", "letor"}, default="standard"
        Convention that determines the values of the options that are None. With "standard",
        `discount` is "log2" and `ties` is "average"; with "letor", `discount` is "letor" and `ties`
        is "stable".
    average : bool, default=True
        If True, return the mean over queries; otherwise return the score of each query.
    sample_weight : array-like of float, shape (n_samples,), default=None
        Weights of the samples. The weight of a query in the mean is the mean of the weights of its
        samples.

    Returns
    -------
    score : float or ndarray of float64, shape (n_queries,)
        Mean score or, if `average` is False, the score of each query. The queries are in the order
        of the sorted ids (``np.unique(qid)``) or, for 2-d `y_true`, in the order of the rows.

    Raises
    ------
    ValueError
        If shapes differ, if `y_true` or `y_score` is not finite, if a gain is negative, or if an
        option is unknown.

    See Also
    --------
    ndcg_score : DCG divided by the DCG of the ideal ranking.
    sklearn.metrics.dcg_score : DCG of rankings of the labels of each sample, with linear gain.

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
    return evaluate(_dcg_of_queries, chosen, k, y_true, y_score, qid, average, sample_weight)


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

    Let the documents of a query be in descending order of their scores. Let :math:`r_i` be 1 if the
    :math:`i`-th document is relevant and 0 otherwise, and let :math:`R` be the number of relevant
    documents. Average precision is the mean precision at the ranks of the relevant documents
    ([1]_, section 8.4), which is

    .. math::

        \mathrm{AP@}k = \frac{1}{\min(R, k)} \sum_{i=1}^k r_i \, \frac{r_1 + \dots + r_i}{i}.

    If `k` is None, the divisor is :math:`R`.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_labels)
        Relevance grades. Documents with grades above 0 are relevant. If the array is 2-d, each row
        is a query.
    y_score : array-like of float, of the shape of `y_true`
        Scores. Documents with higher scores are ranked first.
    qid : array-like of shape (n_samples,), default=None
        Query ids, numbers or strings. The samples with the same id are the documents of one query;
        they need not be adjacent. If None, all samples belong to one query. This parameter is only
        allowed for 1-d `y_true`.
    k : int, default=None
        Number of top-ranked documents to include. If None, all documents are included.
    empty : {"drop", "zero", "one"}, default=None
        Score of a query without a relevant document. With "drop" the query is left out of the mean;
        with "zero" its score is 0; with "one" its score is 1.
    ties : {"average", "stable", "worst"}, default=None
        Order of documents with equal scores. With "average" the score is the expected value over
        all orders of these documents ([2]_); with "stable" they are in the order of the samples;
        with "worst" the relevant ones are last.
    convention : {"standard", "letor"}, default="standard"
        Convention that determines the values of the options that are None. With "standard", `empty`
        is "drop" and `ties` is "average"; with "letor", `empty` is "zero" and `ties` is "stable",
        which are the rules of ``Eval-Score-4.0.pl`` for MAP.
    average : bool, default=True
        If True, return the mean over queries; otherwise return the score of each query.
    sample_weight : array-like of float, shape (n_samples,), default=None
        Weights of the samples. The weight of a query in the mean is the mean of the weights of its
        samples.

    Returns
    -------
    score : float or ndarray of float64, shape (n_queries,)
        Mean score or, if `average` is False, the score of each query, which is NaN for dropped
        queries. The queries are in the order of the sorted ids (``np.unique(qid)``) or, for 2-d
        `y_true`, in the order of the rows.

    Raises
    ------
    ValueError
        If shapes differ, if `y_true` or `y_score` is not finite, if an option is unknown, or if no
        query is left to average.

    See Also
    --------
    ndcg_score : NDCG, a metric for graded relevance.
    sklearn.metrics.label_ranking_average_precision_score : Average precision for indicator
        matrices, in which tied labels have their worst rank.
    sklearn.metrics.average_precision_score : Area under a precision-recall curve.

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
    return evaluate(
        average_precision_of_queries, chosen, k, y_true, y_score, qid, average, sample_weight
    )


# Each of the following functions takes the queries, the grades and the options of a metric. It
# returns a function that computes the value of the metric for each query from the scores alone.
# Quantities that do not depend on the scores are computed only once, which saves time if the same
# documents are ranked repeatedly.


def ndcg_of_queries(queries, grades, chosen, k):
    """Return a function that computes the NDCG of each query from the scores."""
    gains = gains_of(chosen.gain, grades)
    factors = rank_factors(queries, chosen.discount, k)
    best = ideal_dcg(queries, gains, factors)

    def values_of(scores):
        values = np.full(queries.n_queries, EMPTY[chosen.empty])
        np.divide(_dcg(queries, gains, scores, factors, chosen.ties), best, values, where=best > 0)
        if k is not None and SHORT_IS_ZERO[chosen.short]:
            values[(queries.sizes < k) & (best > 0)] = 0
        return values

    return values_of


def _dcg_of_queries(queries, grades, chosen, k):
    """Return a function that computes the DCG of each query from the scores."""
    gains = gains_of(chosen.gain, grades)
    factors = rank_factors(queries, chosen.discount, k)
    return lambda scores: _dcg(queries, gains, scores, factors, chosen.ties)


def average_precision_of_queries(queries, grades, chosen, k):
    """Return a function that computes the average precision of each query from the scores."""
    relevant = grades > 0
    last = last_place(k)
    counted = places(queries) <= last
    n_relevant = count_relevant(queries, grades)
    divisors = np.clip(n_relevant, 1, last)

    def values_of(scores):
        lists = list_documents(queries, scores, relevant, chosen.ties)
        sums = sums_of_queries(queries, expected_precisions(queries, lists, relevant) * counted)
        return with_empty(sums / divisors, n_relevant, chosen)

    return values_of


def rank_factors(queries, discount, k):
    """Return the factor of the gain at each place of the sorted lists, 0 at ranks above `k`."""
    ranks = places(queries)
    factors = factors_of(discount, ranks.max())[ranks - 1]
    return factors if k is None else np.where(ranks <= k, factors, 0)


def ideal_dcg(queries, gains, factors):
    """Return the largest DCG of each query, of which `factors` are the factors of the ranks."""
    return _sums_of_gains(queries, list_best_first(queries, gains), gains, factors)


def _dcg(queries, gains, scores, factors, ties):
    return _sums_of_gains(queries, list_documents(queries, scores, gains, ties), gains, factors)


def _sums_of_gains(queries, lists, gains, factors):
    return sums_of_queries(queries, expected_values(lists, gains) * factors)


def last_place(k):
    """Return the last rank that a metric cut at `k` includes."""
    return EVERY_PLACE if k is None else k


def count_relevant(queries, grades):
    """Return the number of relevant documents of each query."""
    return np.bincount(queries.codes, weights=grades > 0, minlength=queries.n_queries)


def with_empty(values, n_relevant, chosen):
    """Return the values, where those of queries without a relevant document are replaced."""
    return np.where(n_relevant > 0, values, EMPTY[chosen.empty])


def evaluate(of_queries, chosen, k, y_true, y_score, qid, average, sample_weight):
    """Check the arguments, and return the metric of each query or the mean over queries."""
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
