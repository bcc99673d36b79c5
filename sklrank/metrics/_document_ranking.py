"""How well documents are ranked by score, query by query, where the truth is graded relevance.

A public function here states the formula; ``_conventions.py`` names the choices that papers and
programs make differently, ``_document_lists.py`` sums over the places of all queries' lists.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from sklrank._queries import Queries
from sklrank._relevance import check_relevance_of_metric
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
from sklrank.metrics._labels_and_scores import check_scores
from sklrank.metrics._rows import check_weight


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
    r"""NDCG: the discounted gain of each query's documents, by that of the best order.

    Let :math:`y_1, y_2, \dots` be the grades of the documents of a query, the highest score first,
    and :math:`y^*_1 \geq y^*_2 \geq \dots` the same grades in the best order. With a gain
    :math:`g` and a discount :math:`d` ([1]_)

    .. math::

        \mathrm{NDCG@}k = \frac{\sum_{i=1}^k g(y_i) \, d(i)}{\sum_{i=1}^k g(y^*_i) \, d(i)},

    by default with :math:`g(y) = 2^y - 1` and :math:`d(i) = 1 / \log_2(1 + i)`. The score is the
    mean over queries. Figures of different programs can be compared only if they agree on the five
    choices below; on the same predictions ``NDCG@10`` may be .2 or .8.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_labels)
        Grades: 0 = not relevant, higher = more relevant. If 2-d, each row is a query.
    y_score : array-like of float, of the shape of `y_true`
        Scores, higher = ranked earlier.
    qid : array-like of shape (n_samples,), default=None
        Query ids, numbers or texts. Rows with the same id are the documents of one query, wherever
        they stand. None means one query. For 1-d `y_true` only.
    k : int, default=None
        How many documents count, from the top. None for all.
    gain : {"exponential", "linear"} or callable, default="exponential"
        What a grade :math:`y` is worth: :math:`2^y - 1`, :math:`y` (as in scikit-learn), or a
        function from an array of grades to an array of gains.
    discount : {"log2", "letor"} or callable, default=None
        By what the gain at rank :math:`i` is multiplied: "log2" for :math:`1 / \log_2(1 + i)`;
        "letor" for :math:`1 / \log_2 i` from rank 2 on and 1 at rank 1; or a function from an array
        of ranks 1, 2, ... to an array of factors that do not rise.
    empty : {"drop", "zero", "one"}, default=None
        What a query counts whose documents all have gain 0, so that the quotient is 0/0: it is left
        out of the mean, or has the score 0 (as in scikit-learn), or 1 (as in LightGBM and XGBoost).
    short : {"end", "zero"}, default=None
        What a query counts that has less than `k` documents: "end" lets the sums end with the
        documents; "zero" gives it the score 0 (unless it is empty).
    ties : {"average", "stable", "worst"}, default=None
        How documents with equal scores are ordered: "average" takes the expected value over all
        their orders ([2]_, as in scikit-learn); "stable" takes them as the rows stand, which lets
        the order of a file leak into the score; "worst" puts the smallest gain first.
    convention : {"standard", "letor"}, default="standard"
        The choices for which None is given:

        - "standard": discount "log2", empty "drop", short "end", ties "average";
        - "letor": the rule of ``Eval-Score-4.0.pl``, which made the published figures of LETOR 4.0
          ([3]_): discount "letor", empty "zero", short "zero", ties "stable".
    average : bool, default=True
        Whether to return the mean over queries, or each query's score: two models are best
        compared by the differences between those.
    sample_weight : array-like of float, shape (n_samples,), default=None
        Weights of the rows. A query weighs in the mean as much as its rows do on average.

    Returns
    -------
    score : float or ndarray of float64, shape (n_queries,)
        The mean score. If `average` is False, the score of each query in the order of the sorted
        ids (``np.unique(qid)``), NaN for those that are dropped; of each row for 2-d `y_true`.

    Raises
    ------
    ValueError
        If shapes differ, if `y_true` or `y_score` is not finite, if a gain is negative, if a choice
        is unknown, or if no query is left to average.

    See Also
    --------
    dcg_score : The sum without the quotient.
    average_precision_score : For relevance without grades.
    sklearn.metrics.ndcg_score : One list of labels a row, with linear gain.

    Notes
    -----
    Shuffled rows give the same score, unless ties are "stable". LETOR's ``MeanNDCG`` is not the
    score for ``k=None``, but a query's mean over all `k` from 1 to the number of its documents.

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
    r"""DCG: the discounted gain of each query's documents.

    For the grades :math:`y_1, y_2, \dots` of the documents of a query, the highest score first, a
    gain :math:`g` and a discount :math:`d` ([1]_)

    .. math:: \mathrm{DCG@}k = \sum_{i=1}^k g(y_i) \, d(i),

    by default with :math:`g(y) = 2^y - 1` and :math:`d(i) = 1 / \log_2(1 + i)`. The score is the
    mean over queries; one without relevant documents has DCG 0, and the sum ends with the
    documents.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_labels)
        Grades: 0 = not relevant, higher = more relevant. If 2-d, each row is a query.
    y_score : array-like of float, of the shape of `y_true`
        Scores, higher = ranked earlier.
    qid : array-like of shape (n_samples,), default=None
        Query ids, numbers or texts. Rows with the same id are the documents of one query, wherever
        they stand. None means one query. For 1-d `y_true` only.
    k : int, default=None
        How many documents count, from the top. None for all.
    gain : {"exponential", "linear"} or callable, default="exponential"
        What a grade is worth, as in :func:`ndcg_score`.
    discount : {"log2", "letor"} or callable, default=None
        By what the gain at a rank is multiplied, as in :func:`ndcg_score`.
    ties : {"average", "stable", "worst"}, default=None
        How documents with equal scores are ordered, as in :func:`ndcg_score`.
    convention : {"standard", "letor"}, default="standard"
        The choices for which None is given: "standard" for discount "log2" and ties "average",
        "letor" for discount "letor" and ties "stable".
    average : bool, default=True
        Whether to return the mean over queries, or each query's score.
    sample_weight : array-like of float, shape (n_samples,), default=None
        Weights of the rows. A query weighs in the mean as much as its rows do on average.

    Returns
    -------
    score : float or ndarray of float64, shape (n_queries,)
        The mean score. If `average` is False, the score of each query in the order of the sorted
        ids (``np.unique(qid)``); of each row for 2-d `y_true`.

    Raises
    ------
    ValueError
        If shapes differ, if `y_true` or `y_score` is not finite, if a gain is negative, or if a
        choice is unknown.

    See Also
    --------
    ndcg_score : The same, as a share of what the best order has.
    sklearn.metrics.dcg_score : One list of labels a row, with linear gain.

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
    r"""Average precision of each query; its mean over queries is known as MAP.

    Let :math:`r_1, r_2, \dots` tell by 1 and 0 which documents of a query are relevant, the highest
    score first, and :math:`R` be their number. Then ([1]_, section 8.4)

    .. math::

        \mathrm{AP@}k = \frac{1}{\min(R, k)} \sum_{i=1}^k r_i \, \frac{r_1 + \dots + r_i}{i},

    the precision at the places of the relevant documents. Without `k` it is divided by :math:`R`.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_labels)
        Relevance; every grade above 0 counts as relevant. If 2-d, each row is a query.
    y_score : array-like of float, of the shape of `y_true`
        Scores, higher = ranked earlier.
    qid : array-like of shape (n_samples,), default=None
        Query ids, numbers or texts. Rows with the same id are the documents of one query, wherever
        they stand. None means one query. For 1-d `y_true` only.
    k : int, default=None
        How many documents count, from the top. None for all.
    empty : {"drop", "zero", "one"}, default=None
        What a query without a relevant document counts: it is left out of the mean, or has the
        score 0 or 1.
    ties : {"average", "stable", "worst"}, default=None
        How documents with equal scores are ordered: "average" takes the expected value over all
        their orders ([2]_); "stable" takes them as the rows stand; "worst" puts the relevant ones
        last.
    convention : {"standard", "letor"}, default="standard"
        The choices for which None is given: "standard" for empty "drop" and ties "average"; "letor"
        for empty "zero" and ties "stable", the rule of ``Eval-Score-4.0.pl`` for MAP.
    average : bool, default=True
        Whether to return the mean over queries, or each query's score.
    sample_weight : array-like of float, shape (n_samples,), default=None
        Weights of the rows. A query weighs in the mean as much as its rows do on average.

    Returns
    -------
    score : float or ndarray of float64, shape (n_queries,)
        The mean score. If `average` is False, the score of each query in the order of the sorted
        ids (``np.unique(qid)``), NaN for those that are dropped; of each row for 2-d `y_true`.

    Raises
    ------
    ValueError
        If shapes differ, if `y_true` or `y_score` is not finite, if a choice is unknown, or if no
        query is left to average.

    See Also
    --------
    ndcg_score : For graded relevance.
    sklearn.metrics.label_ranking_average_precision_score : For 2-d indicators, with ties at their
        worst place.
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


# Each metric as a function of the scores alone, for those who rank the same documents again and
# again: what does not depend on the scores is done once. The values are those of the queries.


def ndcg_of_queries(queries, grades, chosen, k):
    """NDCG under the conventions chosen."""
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
    """DCG under the conventions chosen."""
    gains = gains_of(chosen.gain, grades)
    factors = _factors(queries, chosen.discount, k)
    return lambda scores: _dcg(queries, gains, scores, factors, chosen.ties)


def average_precision_of_queries(queries, grades, chosen, k):
    """Average precision under the conventions chosen."""
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
    """By how much the gain at each place of the lists is multiplied: 0 beyond `k`."""
    ranks = places(queries)
    factors = factors_of(discount, ranks.max())[ranks - 1]
    return factors if k is None else np.where(ranks <= k, factors, 0)


def _dcg(queries, gains, scores, factors, ties):
    lists = list_documents(queries, scores, gains, ties)
    return sums_of_queries(queries, expected_values(lists, gains) * factors)


def _evaluate(of_queries, chosen, k, y_true, y_score, qid, average, sample_weight):
    """Check what is given, take a metric of the queries, and average."""
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
    return _mean_of_queries(values, weight) if average else values


def _mean_of_queries(values, weight):
    kept = ~np.isnan(values)
    weight = kept.astype(np.float64) if weight is None else weight * kept
    if not weight.any():
        raise ValueError(
            "y_true has no relevant document in any query that weighs, which leaves nothing to "
            "average with empty='drop': pass empty='zero' or 'one' to count such queries."
        )
    return float(np.average(values[kept], weights=weight[kept]))
