"""Synthetic queries whose documents have many grades: the simulation of the Predtron paper."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np

from sklrank._checks import check_random_state, check_scalar

# Standard deviation of a feature around its center, for each design.
DEVIATIONS = {"gaussian": 1.0, "uniform": 1 / np.sqrt(3)}


def make_subset_ranking(
    n_queries: int = 100,
    n_documents: int = 50,
    n_features: int = 100,
    *,
    n_informative: int | None = None,
    design: str = "gaussian",
    center_spread: float = 1.0,
    scale: float = 0.04,
    random_state: int | np.random.RandomState | None = None,
    return_weights: bool = False,
) -> tuple[np.ndarray, ...]:
    r"""Generate queries whose documents are ranked perfectly by a linear score.

    This function implements the simulation of Section 6 of the Predtron paper [1]_. Each query has
    m documents, whose features are drawn independently. The weights :math:`w^*` of the features are
    the same for all queries. The grade of a document x is determined by thresholds of its score
    :math:`\langle x, w^* \rangle`. It is

    .. math:: y = m - j \quad \text{where} \quad \zeta_{j+1} \le \langle x, w^* \rangle < \zeta_j,
              \qquad \zeta_1 = \infty, \quad \zeta_j = \frac1j, \quad \zeta_{m+1} = -\infty.

    Grades range from 0, for scores below 1/m, to m - 1, for scores of at least 1/2. Therefore, with
    the gain :math:`2^y - 1`, the DCG depends almost only on the documents with the highest grades.

    With the Gaussian design, the features of the i-th document of each query are normally
    distributed around the i-th of m centers. The paper does not say how weights and centers are
    drawn. Here, `n_informative` weights at random indices are normal, the others 0, and scaled so
    that the difference of the scores of a document and its center has the standard deviation
    `scale`. The centers are normal, and the same for all queries.

    The scale determines the difficulty. For 50 documents and a scale of 0.04, a single document has
    the highest grade in four of five queries; for a scale of 1, a third of all documents have it.
    If ``1 / n_documents`` is several times larger than `scale`, most queries have no relevant ones.

    Parameters
    ----------
    n_queries : int, default=100
        Number of queries.
    n_documents : int, default=50
        Number m of documents of each query, at least 2.
    n_features : int, default=100
        Number of features.
    n_informative : int or None, default=None
        Number of features with a nonzero weight, from 1 to `n_features`. If None, all features have
        a nonzero weight.
    design : {"gaussian", "uniform"}, default="gaussian"
        Distribution of the features.

        - "gaussian": the features of the i-th document of a query are normal with standard
          deviation 1 around the i-th center.
        - "uniform": the features are uniform on [-1, 1], and the centers are 0.
    center_spread : float, default=1.0
        Standard deviation of each feature of the centers, at least 0, if `design` is "gaussian".
    scale : float, default=0.04
        Standard deviation of the difference between the score of a document and the score of its
        center, above 0.
    random_state : int, RandomState instance or None, default=None
        Controls the random draws. Pass an int for reproducible output.
    return_weights : bool, default=False
        If True, also return the weights.

    Returns
    -------
    X : ndarray of shape (n_queries * n_documents, n_features), float64
        Documents, grouped by query.
    y : ndarray of shape (n_queries * n_documents,), int64
        Relevance grades, from 0 to ``n_documents - 1``.
    qid : ndarray of shape (n_queries * n_documents,), int64
        Index of the query of each document.
    weights : ndarray of shape (n_features,), float64
        The weights :math:`w^*`. Returned only if ``return_weights=True``.

    See Also
    --------
    make_recommender : Generates queries whose grades depend only partly on the features.

    References
    ----------
    .. [1] P. Jain, N. Natarajan and A. Tewari, "Predtron: a family of online algorithms for general
       prediction problems", NIPS 2015.

    Examples
    --------
    >>> from sklrank.datasets import make_subset_ranking
    >>> from sklrank.metrics import ndcg_score
    >>> X, y, qid, weights = make_subset_ranking(random_state=0, return_weights=True)
    >>> X.shape
    (5000, 100)
    >>> print(ndcg_score(y, X @ weights, qid=qid, gain="linear"))
    1.0
    """
    check_scalar(n_queries, "n_queries", Integral, min_val=1)
    check_scalar(n_documents, "n_documents", Integral, min_val=2)
    check_scalar(n_features, "n_features", Integral, min_val=1)
    if n_informative is None:
        n_informative = n_features
    check_scalar(n_informative, "n_informative", Integral, min_val=1, max_val=n_features)
    if design not in DEVIATIONS:
        raise ValueError(f"design must be one of {tuple(DEVIATIONS)}, got {design!r}.")
    finite = {"min_val": 0, "max_val": np.inf}
    check_scalar(center_spread, "center_spread", Real, **finite, include_boundaries="left")
    check_scalar(scale, "scale", Real, **finite, include_boundaries="neither")
    random = check_random_state(random_state)
    weights = np.zeros(n_features)
    informative = random.choice(n_features, n_informative, replace=False)
    weights[informative] = random.normal(size=n_informative)
    weights *= scale / (DEVIATIONS[design] * np.linalg.norm(weights))

    shape = (n_queries, n_documents, n_features)
    if design == "uniform":
        X = random.uniform(-1, 1, size=shape)
    else:
        X = random.normal(size=shape)
        X += center_spread * random.normal(size=shape[1:])
    X = X.reshape(-1, n_features)
    # A grade is the number of thresholds 1/m, ..., 1/2 that the score reaches.
    y = np.digitize(X @ weights, 1 / np.arange(n_documents, 1, -1))
    qid = np.repeat(np.arange(n_queries), n_documents)
    return (X, y, qid, weights) if return_weights else (X, y, qid)
