"""Metrics of cascade models: a user examines documents one after the other until one satisfies.

As in ``_document_ranking.py``, each of the functions with names in ``_of_queries`` returns a
function that computes the value of the metric for each query from the scores alone.
"""

from __future__ import annotations

from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from sklrank._validation import check_scalar
from sklrank.metrics._conventions import check_k, choose
from sklrank.metrics._document_lists import list_documents, places, sums_of_queries
from sklrank.metrics._document_ranking import count_relevant, evaluate, last_place, with_empty
from sklrank.metrics._survival import survivals


def hit_rate_score(
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
    r"""Compute the hit rate: whether any of the first `k` documents of a query is relevant.

    The score of a query is 1 if a relevant document is among the `k` documents with the highest
    scores, and 0 otherwise. It is also known as success at :math:`k`. The score is the mean over
    queries.

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
    reciprocal_rank_score : Reciprocal of the rank of the first relevant document.
    recall_at_k_score : The fraction of the relevant documents that are among the first `k`.

    Examples
    --------
    >>> from sklrank.metrics import hit_rate_score
    >>> qid = [1, 1, 1, 2, 2]
    >>> y_true = [0, 1, 1, 0, 1]
    >>> y_score = [0.9, 0.7, 0.1, 0.5, 0.5]
    >>> hit_rate_score(y_true, y_score, qid=qid, k=2, average=False).round(3)
    array([1., 1.])
    """
    check_k(k)
    chosen = choose(convention, empty=empty, ties=ties)
    return evaluate(hit_rate_of_queries, chosen, k, y_true, y_score, qid, average, sample_weight)


def reciprocal_rank_score(
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
    r"""Compute the reciprocal rank of the first relevant document; its mean is known as MRR.

    If the first relevant document of a query, in descending order of scores, has rank :math:`i`,
    the score of the query is :math:`1/i` ([1]_). It is 0 if :math:`i > k`. The score is the mean
    over queries.

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
    hit_rate_score : Whether any of the first `k` documents is relevant.
    expected_reciprocal_rank_score : The same for graded relevance.

    References
    ----------
    .. [1] E. M. Voorhees. "The TREC-8 Question Answering Track Report."
       TREC-8, 1999.

    Examples
    --------
    >>> from sklrank.metrics import reciprocal_rank_score
    >>> qid = [1, 1, 1, 2, 2]
    >>> y_true = [0, 1, 1, 0, 1]
    >>> y_score = [0.9, 0.7, 0.1, 0.5, 0.5]
    >>> reciprocal_rank_score(y_true, y_score, qid=qid, k=2, average=False).round(3)
    array([0.5 , 0.75])
    """
    check_k(k)
    chosen = choose(convention, empty=empty, ties=ties)
    return evaluate(
        reciprocal_rank_of_queries, chosen, k, y_true, y_score, qid, average, sample_weight
    )


def expected_reciprocal_rank_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: ArrayLike | None = None,
    k: int | None = None,
    max_grade: float | None = None,
    empty: str | None = None,
    ties: str | None = None,
    convention: str = "standard",
    average: bool = True,
    sample_weight: ArrayLike | None = None,
) -> float | np.ndarray:
    r"""Compute ERR: the expected reciprocal rank at which a user finds what he looks for.

    A user examines the documents of a query in descending order of their scores. A document of
    grade :math:`y` satisfies the user with probability :math:`R = (2^y - 1) / 2^m`, where :math:`m`
    is the highest grade; then the user stops. Expected reciprocal rank is defined as ([1]_)

    .. math:: \mathrm{ERR@}k = \sum_{i=1}^k \frac{1}{i} R_i \prod_{j=1}^{i-1} (1 - R_j).

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
    max_grade : float, default=None
        Highest grade :math:`m` of the scale, at least the highest grade in `y_true`. If None, the
        latter is used; pass it to compare results on different samples.
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
        If shapes differ, if `y_true` or `y_score` is not finite, if a grade is negative or above
        `max_grade`, if an option is unknown, or if no query is left to average.

    See Also
    --------
    reciprocal_rank_score : Reciprocal of the rank of the first relevant document.
    rank_biased_precision_score : A model of users who stop regardless of what they find.

    Notes
    -----
    With :math:`n` tied documents, of which :math:`k` matter, the time is proportional to
    :math:`n k`.

    References
    ----------
    .. [1] O. Chapelle, D. Metzler, Y. Zhang and P. Grinspan. "Expected Reciprocal Rank for Graded
       Relevance." CIKM 2009.

    Examples
    --------
    >>> from sklrank.metrics import expected_reciprocal_rank_score
    >>> qid = [1, 1, 1, 2, 2]
    >>> y_true = [0, 1, 1, 0, 1]
    >>> y_score = [0.9, 0.7, 0.1, 0.5, 0.5]
    >>> expected_reciprocal_rank_score(y_true, y_score, qid=qid, k=2, average=False).round(3)
    array([0.25 , 0.375])
    """
    check_k(k)
    chosen = choose(convention, empty=empty, ties=ties)
    if max_grade is not None:
        check_scalar(max_grade, "max_grade", Real, min_val=0)
        # All stopping probabilities would be 0.
        if np.isinf(max_grade):
            raise ValueError(f"max_grade must be a finite number, got {max_grade}.")
    chosen.max_grade = max_grade
    return evaluate(err_of_queries, chosen, k, y_true, y_score, qid, average, sample_weight)


# -- Values of queries.


def hit_rate_of_queries(queries, grades, chosen, k):
    """Return a function that computes the hit rate of each query from the scores."""
    stops = (grades > 0).astype(np.float64)
    n_relevant = count_relevant(queries, grades)
    final = queries.starts[:-1] + np.minimum(queries.sizes, last_place(k)) - 1

    def values_of(scores):
        _, beyond = _reached_and_beyond(queries, scores, grades, stops, chosen, k)
        return with_empty(1 - beyond[final], n_relevant, chosen)

    return values_of


def reciprocal_rank_of_queries(queries, grades, chosen, k):
    """Return a function that computes the reciprocal rank of each query from the scores."""
    return _expected_reciprocals(queries, grades, (grades > 0).astype(np.float64), chosen, k)


def err_of_queries(queries, grades, chosen, k):
    """Return a function that computes ERR of each query from the scores."""
    highest = grades.max(initial=0.0) if chosen.max_grade is None else chosen.max_grade
    if grades.min(initial=0.0) < 0 or grades.max(initial=0.0) > highest:
        bad = grades.min() if grades.min() < 0 else grades.max()
        raise ValueError(
            f"y_true must hold grades from 0 to max_grade={highest:g}, got {bad:g}: use grades "
            "from 0 (not relevant) up, and the highest grade of the scale as max_grade."
        )
    # Written such that large grades do not overflow.
    stops = np.exp2(grades - highest) - np.exp2(-highest)
    return _expected_reciprocals(queries, grades, stops, chosen, k)


def _expected_reciprocals(queries, grades, stops, chosen, k):
    """Return a function that computes the expected reciprocal rank at which a user stops."""
    ranks, n_relevant = places(queries), count_relevant(queries, grades)
    factors = np.where(ranks <= last_place(k), 1.0 / ranks, 0.0)

    def values_of(scores):
        reached, beyond = _reached_and_beyond(queries, scores, grades, stops, chosen, k)
        sums = sums_of_queries(queries, (reached - beyond) * factors)
        return with_empty(sums, n_relevant, chosen)

    return values_of


def _reached_and_beyond(queries, scores, grades, stops, chosen, k):
    """Return the probabilities that a user reaches each place, and that he goes beyond it."""
    lists = list_documents(queries, scores, grades, chosen.ties)
    groups = np.append(lists.groups, len(lists.order))
    beyond = survivals(stops[lists.order], groups, queries.starts, last_place(k))
    reached = np.empty_like(beyond)
    reached[1:] = beyond[:-1]
    reached[queries.starts[:-1]] = 1.0
    return reached, beyond
