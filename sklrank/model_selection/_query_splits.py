"""Splits in which all samples of a query are in the same part."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import GroupKFold, GroupShuffleSplit
from sklearn.utils import indexable
from sklearn.utils.metadata_routing import UNUSED

from sklrank._checks import check_container, check_qid, check_random_state
from sklrank._estimators import _num_samples, _safe_indexing


class QueryKFold(GroupKFold):
    """K-fold cross-validator for queries, with all samples of a query in the same fold.

    This is scikit-learn's :class:`~sklearn.model_selection.GroupKFold` with `qid`, which it
    requests by default, instead of `groups`. If metadata routing is enabled, the `qid` of a search
    is passed on to it, and to the ranker and the scorer if these request it.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    shuffle : bool, default=False
        If True, queries are assigned to folds at random, and all folds have about the same number
        of *queries*. If False, queries are assigned in order of decreasing size, each to the
        smallest fold so far, so that folds have about the same number of *samples*.
    random_state : int, RandomState instance or None, default=None
        Controls the assignment if `shuffle` is True. Pass an int for the same folds in each call.

    See Also
    --------
    query_train_test_split : Split arrays once into a training and a test part.
    sklearn.model_selection.GroupKFold : K-fold cross-validator for `groups` instead of `qid`.

    Notes
    -----
    For a pipeline, pass a scorer to the search: before version 1.8, scikit-learn's searches may
    omit the query ids when they call its `score`.

    Examples
    --------
    Use NDCG to choose the penalty of a ridge regression that predicts the relevance grades:

    >>> import numpy as np
    >>> import sklearn
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklrank.metrics import ndcg_scorer
    >>> from sklrank.model_selection import QueryKFold
    >>> rng = np.random.RandomState(0)
    >>> X, qid = rng.normal(size=(200, 3)), rng.randint(20, size=200)
    >>> y = (X[:, 0] + rng.normal(size=200) > 1).astype(int)
    >>> search = GridSearchCV(
    ...     Ridge(), {"alpha": [0.1, 10]}, scoring=ndcg_scorer, cv=QueryKFold(3))
    >>> with sklearn.config_context(enable_metadata_routing=True):
    ...     print(f"{search.fit(X, y, qid=qid).best_score_:.2f}")
    0.87
    """

    # If metadata routing is disabled, scikit-learn's tools also pass `groups=None`.
    __metadata_request__split = {"qid": True, "groups": UNUSED}

    def get_n_splits(
        self,
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        groups: None = None,
    ) -> int:
        """Return the number of folds.

        Parameters
        ----------
        X, y, qid, groups : object, default=None
            Not used.

        Returns
        -------
        int
            Number of folds.
        """
        return self.n_splits

    def split(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        groups: None = None,
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Generate the indices of the training and test samples of each split.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,), default=None
            Not used.
        qid : array-like of shape (n_samples,)
            Query ids, numbers or strings.
        groups : None
            Not used. The parameter exists because scikit-learn's tools pass it to all splitters.

        Returns
        -------
        iterator of (ndarray, ndarray)
            Indices of the training samples and of the test samples of each split.
        """
        if qid is None:
            raise ValueError(
                "qid did not reach QueryKFold. In scikit-learn's tools call "
                "sklearn.set_config(enable_metadata_routing=True) and pass the ids: "
                "GridSearchCV(...).fit(X, y, qid=qid), cross_validate(..., params={'qid': qid}). "
                "In direct calls pass qid=qid."
            )
        codes, names = check_qid(qid, _num_samples(X))
        if len(names) < self.n_splits:
            raise ValueError(
                f"n_splits must be at most the number of queries, {len(names)}, got "
                f"{self.n_splits}: a query is never divided."
            )
        return super().split(X, y, groups=codes)


def query_train_test_split(
    *arrays: ArrayLike,
    qid: ArrayLike,
    test_size: float | int | None = None,
    train_size: float | int | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> list:
    """Split arrays at random into a training and a test part, without dividing queries.

    Parameters
    ----------
    *arrays : array-like, sparse matrix or dataframe of n_samples rows
        Arrays to split.
    qid : array-like of shape (n_samples,)
        Query ids, numbers or strings.
    test_size : float or int, default=None
        Fraction (float) or number (int) of the *queries* in the test part. If None, all that are
        not in the training part, or a fraction of 0.2 if `train_size` is None as well.
    train_size : float or int, default=None
        Fraction (float) or number (int) of the *queries* in the training part. If None, all that
        are not in the test part. If both sizes are given, some queries may be in neither part.
    random_state : int, RandomState instance or None, default=None
        Controls the random choice of queries. Pass an int for reproducible output.

    Returns
    -------
    list
        Training and test part of each array in `arrays`, followed by the training and test part of
        `qid`. The order of the samples is kept.

    See Also
    --------
    QueryKFold : K-fold cross-validator, in which each query is in one test part.
    sklearn.model_selection.train_test_split : Split arrays without regard to queries.

    Examples
    --------
    >>> from sklrank.model_selection import query_train_test_split
    >>> X, y, qid = [[1], [2], [3], [4]], [1, 0, 0, 2], ["a", "a", "b", "b"]
    >>> X_train, X_test, y_train, y_test, qid_train, qid_test = query_train_test_split(
    ...     X, y, qid=qid, test_size=1, random_state=0)
    >>> y_train, qid_train
    ([1, 0], ['a', 'a'])
    """
    for i, array in enumerate(arrays):
        if array is None:
            raise ValueError(f"arrays must not be None, got None as array {i + 1}: leave it out.")
        check_container(array, f"array {i + 1}")
    if qid is None:
        raise ValueError(
            "qid must be the query of each sample, got None: to split samples without queries, use "
            "sklearn.model_selection.train_test_split."
        )
    arrays = indexable(*arrays, qid)
    codes, _ = check_qid(qid, _num_samples(arrays[-1]))
    random_state = check_random_state(random_state)
    splitter = GroupShuffleSplit(
        1, test_size=test_size, train_size=train_size, random_state=random_state
    )
    train_and_test = next(splitter.split(codes, groups=codes))
    return [_safe_indexing(array, part) for array in arrays for part in train_and_test]
