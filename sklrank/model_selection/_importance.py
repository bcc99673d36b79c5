"""Permutation importance of features for rankers of documents."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.inspection import permutation_importance
from sklearn.utils import Bunch


def query_permutation_importance(
    estimator: Any,
    X: ArrayLike,
    y: ArrayLike,
    *,
    qid: ArrayLike,
    scoring: Callable | None = None,
    n_repeats: int = 5,
    n_jobs: int | None = None,
    random_state: int | np.random.RandomState | None = None,
    sample_weight: ArrayLike | None = None,
) -> Bunch:
    """Compute the permutation importance of features for a ranker of documents.

    The importance of a feature is the decrease of the score when its values are shuffled over all
    samples. This is :func:`sklearn.inspection.permutation_importance` with the query ids passed to
    the scorer, without which all samples would be the documents of a single query.

    Parameters
    ----------
    estimator : object
        A fitted ranker of documents.
    X : array-like or dataframe of shape (n_samples, n_features)
        Samples, preferably held out from training.
    y : array-like of shape (n_samples,)
        Relevance grades.
    qid : array-like of shape (n_samples,)
        Query ids, numbers or strings.
    scoring : callable, default=None
        Scorer, called as ``scoring(estimator, X, y, qid=qid)``, such as
        :data:`sklrank.metrics.ndcg_scorer`. If None, ``estimator.score(X, y, qid=qid)``, which
        pipelines and searches accept only with ``enable_metadata_routing=True``.
    n_repeats : int, default=5
        Number of times that each feature is shuffled.
    n_jobs : int or None, default=None
        Number of features processed in parallel. None means 1, and -1 means all processors.
    random_state : int, RandomState instance or None, default=None
        Controls the shuffling. Pass an int for reproducible output.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the samples. If not None, they are passed to the scorer.

    Returns
    -------
    result : :class:`~sklearn.utils.Bunch`
        Object with the following attributes:

        - ``importances_mean``, ``importances_std``: ndarrays of shape (n_features,), the mean and
          the standard deviation of the importances over the repeats;
        - ``importances``: ndarray of shape (n_features, n_repeats), the importances themselves.

    See Also
    --------
    sklearn.inspection.permutation_importance : Permutation importance without query ids.

    Notes
    -----
    A feature that is the same for all documents of a query is shuffled like others: its values then
    differ within the query, since they are those of other queries.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import Ridge
    >>> from sklrank.metrics import ndcg_scorer
    >>> from sklrank.model_selection import query_permutation_importance
    >>> rng = np.random.RandomState(0)
    >>> X, qid = rng.normal(size=(200, 3)), rng.randint(20, size=200)
    >>> y = (X[:, 0] > 1).astype(int)
    >>> result = query_permutation_importance(
    ...     Ridge().fit(X, y), X, y, qid=qid, scoring=ndcg_scorer, random_state=0)
    >>> result.importances_mean.round(1)
    array([0.4, 0. , 0. ])
    """
    if scoring is None:
        scoring = _own_score
    elif not callable(scoring):
        raise TypeError(
            "scoring must be None or a callable scoring(estimator, X, y, qid=qid), such as "
            f"sklrank.metrics.ndcg_scorer, got {scoring!r}."
        )
    # The query ids stay valid, because only the values of a feature are shuffled, not the samples.
    return permutation_importance(
        estimator,
        X,
        y,
        scoring=partial(scoring, qid=qid),
        n_repeats=n_repeats,
        n_jobs=n_jobs,
        random_state=random_state,
        sample_weight=sample_weight,
    )


def _own_score(estimator, X, y, **metadata):
    return estimator.score(X, y, **metadata)
