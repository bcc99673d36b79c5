"""Metrics of the rankings of documents within queries, given graded relevance.

The docstring of each public function states its formula, and its scorer is defined below it. To add
a metric, write a function as `document_metric` describes it, and its scorer, list both in `__all__`
and in `docs/api/metrics.rst`, and add a slow statement to `tests/metrics/test_first_documents.py`.
The options on which papers and programs differ are in `_document_values/values.py`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import wraps

import numpy as np
from numpy.typing import ArrayLike

from sklrank._checks import (
    Queries,
    check_finite,
    check_row_labels,
    check_same_order,
    check_scores,
    counted_from_least,
    places,
    sums_of_queries,
)
from sklrank._estimators import shares_text
from sklrank.metrics._averaging import check_weight, weighted_mean
from sklrank.metrics._document_values.values import (
    NoRelevantDocumentError,
    average_precision_of_queries,
    check_cutoff,
    count_relevant,
    dcg_of_queries,
    expected_values,
    last_place,
    list_documents,
    metric_options,
    ndcg_of_queries,
    with_empty,
)
from sklrank.metrics._scorers import DocumentScorer

__all__ = [
    "average_precision_score",
    "average_precision_scorer",
    "dcg_score",
    "hit_rate_score",
    "hit_rate_scorer",
    "ndcg_score",
    "ndcg_scorer",
    "precision_at_k_score",
    "precision_at_k_scorer",
    "recall_at_k_score",
    "recall_at_k_scorer",
    "reciprocal_rank_score",
    "reciprocal_rank_scorer",
]

EMPTY = """\
empty : {"drop", "zero", "one"}, default=None
    Score of a query without a relevant document. With "drop" the query is left out of the mean;
    with "zero" its score is 0; with "one" its score is 1.
"""
TIES = """\
ties : {"average", "stable", "worst"}, default=None
    Order of documents with equal scores. With "average" the score is the expected value over
    all orders of these documents; with "stable" they are in the order of the samples; with
    "worst" they are in ascending order of their grades.
"""
CONVENTION = """\
convention : {"standard", "letor"}, default="standard"
    Convention that determines the values of the options that are None. With "standard", `empty`
    is "drop" and `ties` is "average"; with "letor", `empty` is "zero" and `ties` is "stable",
    as in ``Eval-Score-4.0.pl`` of LETOR 4.0.
"""
ENDING = """\
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
"""

of_documents = shares_text(
    lists="""
Parameters
----------
y_true : array-like of shape (n_samples,) or (n_samples, n_labels)
    Relevance grades. Documents with grades above 0 are relevant, and higher grades mean more
    relevant. If the array is 2-d, each row is a query.
y_score : array-like of float, of the shape of `y_true`
    Scores. Documents with higher scores are ranked first.
qid : array-like of shape (n_samples,), default=None
    Query ids, numbers or strings. The samples with the same id are the documents of one query;
    they need not be adjacent. If None, all samples belong to one query. This parameter is only
    allowed for 1-d `y_true`.
k : int, default=None
    Number of top-ranked documents to include. If None, all documents are included.
""",
    ties=TIES,
    arguments="{lists}\n" + EMPTY + TIES + CONVENTION + ENDING,
    ending=ENDING,
    book="""
References
----------
.. [1] C. D. Manning, P. Raghavan and H. Schütze. "Introduction to Information Retrieval."
   Cambridge University Press, 2008.
""",
    example="""
>>> qid = [1, 1, 1, 2, 2]
>>> y_true = [0, 1, 1, 0, 1]
>>> y_score = [0.9, 0.7, 0.1, 0.5, 0.5]
""",
)


def document_metric(of_queries: Callable) -> Callable[..., float | np.ndarray]:
    """Return the public metric with the docstring of a function of checked arguments.

    The function gets the queries, the grades, the options and `k`, and returns a function that
    computes the value of each query from the scores; it applies `ties`, `k` and `empty`, as
    `_hits_of_queries` does. Its name ends in `_score`, or in `_loss` if smaller is better, and its
    docstring has `{arguments}` and `{example}`. Below it stands its scorer, a
    `DocumentScorer`. Both names are in `__all__` and in `docs/api/metrics.rst`.
    """

    @wraps(of_queries, assigned=("__module__", "__name__", "__qualname__", "__doc__"))
    def metric(
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
        options = {"empty": empty, "ties": ties}
        return _evaluate(
            of_queries, y_true, y_score, qid, k, average, sample_weight, convention, **options
        )

    del metric.__wrapped__  # Its signature is another one.
    return of_documents(metric)


@of_documents
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
    over queries. Results of programs can be compared only if they use the same values of the
    options: for the same predictions, ``NDCG@10`` may be 0.2 with some values and 0.8 with others.

    {lists}
    gain : {"exponential", "linear"} or callable, default="exponential"
        Gain of a grade :math:`y`: :math:`2^y - 1` ("exponential"), :math:`y` ("linear", as in
        scikit-learn), or a function that returns an array of gains for an array of grades.
    discount : {"log2", "letor"} or callable, default=None
        Factor of the gain at rank :math:`i`: :math:`1 / \log_2(1 + i)` ("log2"), 1 at rank 1 and
        :math:`1 / \log_2 i` at others ("letor"), or a function that returns an array of factors,
        which do not increase, for the array of the ranks 1, 2, ...
    empty : {"drop", "zero", "one"}, default=None
        Score of a query whose documents all have gain 0, so that the quotient is 0/0. With "drop"
        the query is left out of the mean; it is 0 with "zero" (as in scikit-learn), and 1 with
        "one" (as in LightGBM and XGBoost).
    short : {"end", "zero"}, default=None
        Score of a query with fewer than `k` documents: sums over all of them ("end"), or 0 unless
        all have gain 0 ("zero").
    {ties}
    convention : {"standard", "letor"}, default="standard"
        Convention that determines the values of the options that are None:

        - "standard": discount "log2", empty "drop", short "end", ties "average" ([2]_);
        - "letor": discount "letor", empty "zero", short "zero", ties "stable". These are the rules
          of ``Eval-Score-4.0.pl``, which computed the published results of LETOR 4.0 ([3]_).
    {ending}

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
    .. [3] Qin and Liu. "Introducing LETOR 4.0 Datasets." arXiv:1306.2597, 2013.

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
    options = {"gain": gain, "discount": discount, "empty": empty, "short": short, "ties": ties}
    return _evaluate(
        ndcg_of_queries, y_true, y_score, qid, k, average, sample_weight, convention, **options
    )


ndcg_scorer = DocumentScorer(ndcg_score)


@of_documents
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
    their scores. For a gain function :math:`g` and a discount function :math:`d`, DCG is ([1]_)

    .. math:: \mathrm{DCG@}k = \sum_{i=1}^k g(y_i) \, d(i).

    By default, :math:`g(y) = 2^y - 1` and :math:`d(i) = 1 / \log_2(1 + i)`. If there are fewer than
    `k` documents, the sum includes all of them. The score is the mean over queries.

    {lists}
    gain : {"exponential", "linear"} or callable, default="exponential"
        Gain of a grade, as in :func:`ndcg_score`.
    discount : {"log2", "letor"} or callable, default=None
        Factor of the gain at a rank, as in :func:`ndcg_score`.
    {ties}
    convention : {"standard", "letor"}, default="standard"
        Convention that determines the values of the options that are None. With "standard",
        `discount` is "log2" and `ties` is "average"; with "letor", `discount` is "letor" and `ties`
        is "stable".
    {ending}

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
    options = {"gain": gain, "discount": discount, "ties": ties}
    return _evaluate(
        dcg_of_queries, y_true, y_score, qid, k, average, sample_weight, convention, **options
    )


@document_metric
def average_precision_score(queries, grades, chosen, k):
    r"""Compute the average precision of each query; its mean over queries is known as MAP.

    Let the documents of a query be in descending order of their scores. Let :math:`r_i` be 1 if the
    :math:`i`-th document is relevant and 0 otherwise, and let :math:`R` be the number of relevant
    documents. Average precision is the mean precision at the ranks of the relevant documents
    ([1]_, section 8.4), which is

    .. math::

        \mathrm{AP@}k = \frac{1}{\min(R, k)} \sum_{i=1}^k r_i \, \frac{r_1 + \dots + r_i}{i}.

    If `k` is None, the divisor is :math:`R`. Expected values over ties are computed as in [2]_.

    {arguments}

    See Also
    --------
    ndcg_score : NDCG, a metric for graded relevance.
    sklearn.metrics.label_ranking_average_precision_score : Average precision for indicator
        matrices, in which tied labels have their worst rank.
    sklearn.metrics.average_precision_score : Area under a precision-recall curve.

    {book}
    .. [2] F. McSherry and M. Najork. "Computing Information Retrieval Performance Measures
       Efficiently in the Presence of Tied Scores." ECIR 2008.

    Examples
    --------
    >>> from sklrank.metrics import average_precision_score
    {example}
    >>> average_precision_score(y_true, y_score, qid=qid, average=False).round(3)
    array([0.583, 0.75 ])
    """
    return average_precision_of_queries(queries, grades, chosen, k)


average_precision_scorer = DocumentScorer(average_precision_score)


@document_metric
def precision_at_k_score(queries, grades, chosen, k):
    r"""Compute the precision at k: the fraction of the first `k` documents that are relevant.

    Let :math:`r_i` be 1 if the :math:`i`-th document of a query, in descending order of scores, is
    relevant, and 0 otherwise. Precision is defined as ([1]_, section 8.4)

    .. math:: \mathrm{P@}k = \frac{r_1 + \dots + r_k}{k}.

    The divisor is :math:`k` even if a query has fewer documents, as in ``trec_eval``. If `k` is
    None, it is the number of documents of the query. The score is the mean over queries.

    {arguments}

    See Also
    --------
    recall_at_k_score : The fraction of the relevant documents that are among the first `k`.
    average_precision_score : Mean of the precisions at the ranks of the relevant documents.

    {book}

    Examples
    --------
    >>> from sklrank.metrics import precision_at_k_score
    {example}
    >>> precision_at_k_score(y_true, y_score, qid=qid, k=2, average=False).round(3)
    array([0.5, 0.5])
    """
    return _hits_of_queries(queries, grades, chosen, k, queries.sizes if k is None else k)


precision_at_k_scorer = DocumentScorer(precision_at_k_score)


@document_metric
def recall_at_k_score(queries, grades, chosen, k):
    r"""Compute the recall at k: the fraction of the relevant documents among the first `k`.

    Let :math:`r_i` be 1 if the :math:`i`-th document of a query, in descending order of scores, is
    relevant, and 0 otherwise, and let :math:`R` be the number of relevant documents. Recall is
    defined as ([1]_, section 8.4)

    .. math:: \mathrm{R@}k = \frac{r_1 + \dots + r_k}{R}.

    The score is the mean over queries.

    {arguments}

    See Also
    --------
    precision_at_k_score : The fraction of the first `k` documents that are relevant.
    hit_rate_score : Whether any of the first `k` documents is relevant.

    {book}

    Examples
    --------
    >>> from sklrank.metrics import recall_at_k_score
    {example}
    >>> recall_at_k_score(y_true, y_score, qid=qid, k=2, average=False).round(3)
    array([0.5, 1. ])
    """
    divisors = np.maximum(count_relevant(queries, grades), 1)
    return _hits_of_queries(queries, grades, chosen, k, divisors)


recall_at_k_scorer = DocumentScorer(recall_at_k_score)


@document_metric
def hit_rate_score(queries, grades, chosen, k):
    r"""Compute the hit rate: whether any of the first `k` documents of a query is relevant.

    The score of a query is 1 if a relevant document is among the `k` documents with the highest
    scores, and 0 otherwise. It is also known as success at :math:`k`. The score is the mean over
    queries.

    {arguments}

    See Also
    --------
    reciprocal_rank_score : Reciprocal of the rank of the first relevant document.
    recall_at_k_score : The fraction of the relevant documents that are among the first `k`.

    Examples
    --------
    >>> from sklrank.metrics import hit_rate_score
    {example}
    >>> hit_rate_score(y_true, y_score, qid=qid, k=2, average=False).round(3)
    array([1., 1.])
    """
    return _first_hit_of_queries(queries, grades, chosen, k, np.ones(len(grades)))


hit_rate_scorer = DocumentScorer(hit_rate_score)


@document_metric
def reciprocal_rank_score(queries, grades, chosen, k):
    r"""Compute the reciprocal rank of the first relevant document; its mean is known as MRR.

    If the first relevant document of a query, in descending order of scores, has rank :math:`i`,
    the score of the query is :math:`1/i` ([1]_). It is 0 if :math:`i > k`. The score is the mean
    over queries.

    {arguments}

    See Also
    --------
    hit_rate_score : Whether any of the first `k` documents is relevant.

    References
    ----------
    .. [1] Voorhees. "The TREC-8 Question Answering Track Report." TREC-8, 1999.

    Examples
    --------
    >>> from sklrank.metrics import reciprocal_rank_score
    {example}
    >>> reciprocal_rank_score(y_true, y_score, qid=qid, k=2, average=False).round(3)
    array([0.5 , 0.75])
    """
    return _first_hit_of_queries(queries, grades, chosen, k, 1.0 / places(queries))


reciprocal_rank_scorer = DocumentScorer(reciprocal_rank_score)


def _hits_of_queries(queries, grades, chosen, k, divisors):
    """Return a function that computes quotients of the numbers of relevant documents."""
    relevant = (grades > 0).astype(np.float64)
    n_relevant = count_relevant(queries, grades)
    counted = places(queries) <= last_place(k)

    def values_of(scores):
        lists = list_documents(queries, scores, grades, chosen.ties)
        sums = sums_of_queries(queries, expected_values(lists, relevant) * counted)
        return with_empty(sums / divisors, n_relevant, chosen)

    return values_of


def _first_hit_of_queries(queries, grades, chosen, k, factors):
    """Return a function that computes the expected factor of the first relevant document's place.

    If r of n tied documents are relevant, the first is at place i, from 0, with the probability
    r / (n - i), given that none is before this place.
    """
    relevant = grades > 0
    n_relevant = count_relevant(queries, grades)
    factors = factors * (places(queries) <= last_place(k))

    def values_of(scores):
        lists = list_documents(queries, scores, grades, chosen.ties)
        hits = np.add.reduceat(relevant[lists.order], lists.groups, dtype=np.intp)
        with_hits = np.flatnonzero(hits)
        query = np.searchsorted(queries.starts, lists.groups[with_hits], side="right") - 1
        query, first = np.unique(query, return_index=True)
        starts, hits = lists.groups[with_hits[first]], hits[with_hits[first]]
        sizes = np.append(lists.groups, len(lists.order))[with_hits[first] + 1] - starts
        values = np.zeros(queries.n_queries)
        values[query] = factors[starts]
        for i in np.flatnonzero(sizes > hits):
            chances = hits[i] / np.arange(sizes[i], hits[i] - 1, -1.0)
            not_before = np.cumprod(np.append(1.0, 1.0 - chances[:-1]))
            values[query[i]] = (not_before * chances) @ factors[starts[i] :][: len(chances)]
        return with_empty(values, n_relevant, chosen)

    return values_of


def _evaluate(of_queries, y_true, y_score, qid, k, average, sample_weight, convention, **options):
    """Check the arguments, and return the metric of each query or the mean over queries."""
    check_cutoff(k)
    chosen = metric_options(convention, **options)
    check_row_labels({"y_true": y_true, "qid": qid, "sample_weight": sample_weight})
    check_same_order(y_true, y_score)
    remedy = "leave out documents of unknown relevance"
    grades = check_finite(y_true, "y_true", "relevance", remedy)
    scores = check_scores(y_score)
    if grades.shape != scores.shape:
        raise ValueError(
            f"y_score must have the shape of y_true, {grades.shape}, got {scores.shape}: one score "
            "per document."
        )
    if "gain" not in options and grades.min(initial=np.inf) > 0 and np.ptp(grades) > 0:
        warnings.warn(
            f"all documents are relevant, since the lowest grade in y_true is {grades.min():g}: "
            "this metric needs grades of 0, such as those of y_true >= 4, or use ndcg_score",
            stacklevel=3,
        )
    weight = check_weight(sample_weight, len(grades), average)
    if grades.ndim == 1:
        queries = Queries.from_qid(qid, len(grades))
        if weight is not None:
            weight = np.bincount(queries.codes, weights=weight) / queries.sizes
        if qid is not None and of_queries is ndcg_of_queries and options["gain"] == "linear":
            grades = counted_from_least(grades, queries)
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
    """Return the weighted mean of the values of the queries, without values that are NaN."""
    kept = ~np.isnan(values)
    weight = kept.astype(np.float64) if weight is None else weight * kept
    if not weight.any():
        raise NoRelevantDocumentError(
            "y_true has no relevant document in any query of positive weight, so that "
            "empty='drop' leaves nothing to average: pass empty='zero' or 'one' to count such "
            "queries."
        )
    return weighted_mean(values[kept], weight[kept])
