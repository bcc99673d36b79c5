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
    """Permutation importance of features, with a score that knows the queries.

    The importance of a feature is how much the score falls when its column is shuffled, over all
    rows. :func:`sklearn.inspection.permutation_importance` does this work; by itself it would leave
    out the query ids and score all rows as one query.

    Parameters
    ----------
    estimator : object
        A fitted ranker of documents.
    X : array-like or dataframe of shape (n_samples, n_features)
        Rows, better not those of training.
    y : array-like of shape (n_samples,)
        Grades.
    qid : array-like of shape (n_samples,)
        Query ids, numbers or texts.
    scoring : callable, default=None
        ``scoring(estimator, X, y, qid=qid)``, greater is better, such as
        :data:`sklrank.metrics.ndcg_scorer`. None takes ``estimator.score(X, y, qid=qid)``.
    n_repeats : int, default=5
        How often each column is shuffled.
    n_jobs : int or None, default=None
        How many columns to work on at the same time; None means 1, -1 all processors.
    random_state : int, RandomState instance or None, default=None
        Determines the shuffling. Pass an int for reproducible output.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows, passed on to the score if given.

    Returns
    -------
    result : :class:`~sklearn.utils.Bunch`
        With the attributes

        - ``importances_mean``, ``importances_std``: ndarrays of shape (n_features,), mean and
          deviation over the repeats;
        - ``importances``: ndarray of shape (n_features, n_repeats).

    Raises
    ------
    TypeError
        If `scoring` is neither None nor callable.

    See Also
    --------
    sklearn.inspection.permutation_importance : The same for rows that stand alone.

    Notes
    -----
    A feature that is the same for all documents of a query is shuffled like any other: it gets
    values of other queries, different ones within the query.

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
    # Columns are shuffled, rows stay where they are: the ids fit throughout.
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
