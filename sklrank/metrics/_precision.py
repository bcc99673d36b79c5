"""Metrics of documents that are sums over the relevant documents: precision, recall and RBP.

As in ``_document_ranking.py``, each of the functions with names in ``_of_queries`` returns a
function that computes the value of the metric for each query from the scores alone.
"""

from __future__ import annotations

from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from sklrank._validation import check_scalar
from sklrank.metrics._conventions import check_k, choose
from sklrank.metrics._document_lists import expected_values, list_documents, places, sums_of_queries
from sklrank.metrics._document_ranking import count_relevant, evaluate, last_place, with_empty


def precision_at_k_score(
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
    r"""Compute the precision at k: the fraction of the first `k` documents that are relevant.

    Let :math:`r_i` be 1 if the :math:`i`-th document of a query, in descending order of scores, is
    relevant, and 0 otherwise. Precision is defined as ([1]_, section 8.4)

    .. math:: \mathrm{P@}k = \frac{r_1 + \dots + r_k}{k}.

    The divisor is :math:`k` even if a query has fewer documents, as in ``trec_eval``. If `k` is
    None, it is the number of documents of the query. The score is the mean over queries.

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
        all orders of these documents; with "stable" they are in the order of the samples; with
        "worst" they are in ascending order of their grades.
    convention : {"standard", "letor"}, default="standard"
        Convention that determines the values of the options that are None. With "standard", `empty`
        is "drop" and `ties` is "average"; with "letor", `empty` is "zero" and `ties` is "stable".
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
    recall_at_k_score : The fraction of the relevant documents that are among the first `k`.
    average_precision_score : Mean of the precisions at the ranks of the relevant documents.

    References
    ----------
    .. [1] C. D. Manning, P. Raghavan and H. Schütze. "Introduction to Information Retrieval."
       Cambridge University Press, 2008.

    Examples
    --------
    >>> from sklrank.metrics import precision_at_k_score
    >>> qid = [1, 1, 1, 2, 2]
    >>> y_true = [0, 1, 1, 0, 1]
    >>> y_score = [0.9, 0.7, 0.1, 0.5, 0.5]
    >>> precision_at_k_score(y_true, y_score, qid=qid, k=2, average=False).round(3)
    array([0.5, 0.5])
    """
    check_k(k)
    chosen = choose(convention, empty=empty, ties=ties)
    return evaluate(precision_of_queries, chosen, k, y_true, y_score, qid, average, sample_weight)


def recall_at_k_score(
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
    r"""Compute the recall at k: the fraction of the relevant documents among the first `k`.

    Let :math:`r_i` be 1 if the :math:`i`-th document of a query, in descending order of scores, is
    relevant, and 0 otherwise, and let :math:`R` be the number of relevant documents. Recall is
    defined as ([1]_, section 8.4)

    .. math:: \mathrm{R@}k = \frac{r_1 + \dots + r_k}{R}.

    The score is the mean over queries.

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
        all orders of these documents; with "stable" they are in the order of the samples; with
        "worst" they are in ascending order of their grades.
    convention : {"standard", "letor"}, default="standard"
        Convention that determines the values of the options that are None. With "standard", `empty`
        is "drop" and `ties` is "average"; with "letor", `empty` is "zero" and `ties` is "stable".
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
    precision_at_k_score : The fraction of the first `k` documents that are relevant.
    hit_rate_score : Whether any of the first `k` documents is relevant.

    References
    ----------
    .. [1] C. D. Manning, P. Raghavan and H. Schütze. "Introduction to Information Retrieval."
       Cambridge University Press, 2008.

    Examples
    --------
    >>> from sklrank.metrics import recall_at_k_score
    >>> qid = [1, 1, 1, 2, 2]
    >>> y_true = [0, 1, 1, 0, 1]
    >>> y_score = [0.9, 0.7, 0.1, 0.5, 0.5]
    >>> recall_at_k_score(y_true, y_score, qid=qid, k=2, average=False).round(3)
    array([0.5, 1. ])
    """
    check_k(k)
    chosen = choose(convention, empty=empty, ties=ties)
    return evaluate(recall_of_queries, chosen, k, y_true, y_score, qid, average, sample_weight)


def rank_biased_precision_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: ArrayLike | None = None,
    k: int | None = None,
    persistence: float = 0.8,
    empty: str | None = None,
    ties: str | None = None,
    convention: str = "standard",
    average: bool = True,
    sample_weight: ArrayLike | None = None,
) -> float | np.ndarray:
    r"""Compute RBP: the rate at which a user of given persistence finds relevant documents.

    A user examines the first document of a query, and each next one with probability :math:`p`.
    Let :math:`r_i` be 1 if the :math:`i`-th document, in descending order of scores, is relevant,
    and 0 otherwise. Rank-biased precision is defined as ([1]_)

    .. math:: \mathrm{RBP@}k = (1 - p) \sum_{i=1}^k r_i \, p^{i-1}.

    The score is the mean over queries.

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
    persistence : float, default=0.8
        Probability :math:`p` of examining the next document, from 0 to 1, where 1 is excluded. A
        user examines :math:`1 / (1 - p)` documents on average.
    empty : {"drop", "zero", "one"}, default=None
        Score of a query without a relevant document. With "drop" the query is left out of the mean;
        with "zero" its score is 0; with "one" its score is 1.
    ties : {"average", "stable", "worst"}, default=None
        Order of documents with equal scores. With "average" the score is the expected value over
        all orders of these documents; with "stable" they are in the order of the samples; with
        "worst" they are in ascending order of their grades.
    convention : {"standard", "letor"}, default="standard"
        Convention that determines the values of the options that are None. With "standard", `empty`
        is "drop" and `ties` is "average"; with "letor", `empty` is "zero" and `ties` is "stable".
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
    dcg_score : A sum of gains, discounted by rank.
    expected_reciprocal_rank_score : A model of users who stop when they are satisfied.

    References
    ----------
    .. [1] A. Moffat and J. Zobel. "Rank-Biased Precision for Measurement of Retrieval
       Effectiveness." ACM Transactions on Information Systems, 2008.

    Examples
    --------
    >>> from sklrank.metrics import rank_biased_precision_score
    >>> qid = [1, 1, 1, 2, 2]
    >>> y_true = [0, 1, 1, 0, 1]
    >>> y_score = [0.9, 0.7, 0.1, 0.5, 0.5]
    >>> rank_biased_precision_score(y_true, y_score, qid=qid, k=2, average=False).round(3)
    array([0.16, 0.18])
    """
    check_k(k)
    chosen = choose(convention, empty=empty, ties=ties)
    check_scalar(persistence, "persistence", Real, min_val=0, max_val=1, include_boundaries="left")
    chosen.persistence = persistence
    return evaluate(rbp_of_queries, chosen, k, y_true, y_score, qid, average, sample_weight)


# -- Values of queries.


def precision_of_queries(queries, grades, chosen, k):
    """Return a function that computes the precision of each query from the scores."""
    divisors = queries.sizes if k is None else k
    return _hits_of_queries(queries, grades, chosen, k, divisors)


def recall_of_queries(queries, grades, chosen, k):
    """Return a function that computes the recall of each query from the scores."""
    divisors = np.maximum(count_relevant(queries, grades), 1)
    return _hits_of_queries(queries, grades, chosen, k, divisors)


def rbp_of_queries(queries, grades, chosen, k):
    """Return a function that computes RBP of each query from the scores."""
    rate = 1 - chosen.persistence
    factors = rate * np.power(chosen.persistence, places(queries) - 1.0)
    return _hits_of_queries(queries, grades, chosen, k, 1, factors)


def _hits_of_queries(queries, grades, chosen, k, divisors, factors=1.0):
    """Return a function that computes sums of factors of the relevant documents."""
    relevant = (grades > 0).astype(np.float64)
    n_relevant = count_relevant(queries, grades)
    counted = factors * (places(queries) <= last_place(k))

    def values_of(scores):
        lists = list_documents(queries, scores, grades, chosen.ties)
        sums = sums_of_queries(queries, expected_values(lists, relevant) * counted)
        return with_empty(sums / divisors, n_relevant, chosen)

    return values_of
