"""Splits that leave queries whole."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import GroupKFold, GroupShuffleSplit
from sklearn.utils import indexable
from sklearn.utils.metadata_routing import UNUSED

from sklrank._queries import check_qid
from sklrank._sklearn import _num_samples, _safe_indexing


class QueryKFold(GroupKFold):
    """K-fold cross-validation by query: the rows of a query are in the same fold.

    With metadata routing the query ids that a search is given reach the splitter, the ranker and
    the scorer, without further calls. This is scikit-learn's
    :class:`~sklearn.model_selection.GroupKFold`, asking for `qid` instead of `groups`.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    shuffle : bool, default=False
        Whether to deal the queries to the folds at random, about the same number of *queries* to
        each. Otherwise the largest queries are dealt first, each to the smallest fold, so that
        folds have about the same number of *rows*.
    random_state : int, RandomState instance or None, default=None
        Determines the folds if `shuffle` is True. Pass an int for the same folds at each call.

    See Also
    --------
    query_train_test_split : One split, into arrays.
    sklearn.model_selection.GroupKFold : The same for `groups`.

    Notes
    -----
    Name a scorer where the ranker stands in a pipeline: before release 1.8, scikit-learn's searches
    may leave out the ids when they call a pipeline's own `score`.

    Examples
    --------
    A regression of the grades, its penalty chosen by NDCG:

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

    # scikit-learn's tools pass `groups` too, as None, where routing is off.
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
            The number of folds.
        """
        return self.n_splits

    def split(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        groups: None = None,
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Generate the rows of each fold and those of the others.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,), default=None
            Not used.
        qid : array-like of shape (n_samples,)
            Query ids, numbers or texts.
        groups : None
            Not used; for tools that pass it to every splitter.

        Returns
        -------
        iterator of (ndarray, ndarray)
            Row numbers for training and for testing.

        Raises
        ------
        ValueError
            If `qid` is not given or does not fit, or if there are less queries than folds.
        """
        if qid is None:
            raise ValueError(
                "qid did not reach QueryKFold. In scikit-learn's tools call "
                "sklearn.set_config(enable_metadata_routing=True) and pass the ids on: "
                "GridSearchCV(...).fit(X, y, qid=qid), cross_validate(..., params={'qid': qid}). "
                "In a call of your own, pass qid=qid."
            )
        codes, names = check_qid(qid, _num_samples(X))
        if len(names) < self.n_splits:
            raise ValueError(
                f"n_splits must be at most the number of queries, {len(names)}, got "
                f"{self.n_splits}: a query is not split."
            )
        return super().split(X, y, groups=codes)


def query_train_test_split(
    *arrays: ArrayLike,
    qid: ArrayLike,
    test_size: float | int | None = None,
    train_size: float | int | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> list:
    """Split arrays at random into two parts, leaving queries whole.

    Parameters
    ----------
    *arrays : array-like, sparse matrix or dataframe of n_samples rows
        What to split.
    qid : array-like of shape (n_samples,)
        Query ids, numbers or texts.
    test_size : float or int, default=None
        The share of the *queries* that go to the test part, or their number. None: those that are
        not for training, or 0.2 where `train_size` is None, too.
    train_size : float or int, default=None
        The same of the training part. None: the queries that are not for testing. With both sizes
        some queries may be in neither part.
    random_state : int, RandomState instance or None, default=None
        Determines the split. Pass an int for reproducible output.

    Returns
    -------
    list
        The training and test parts of each of `arrays`, and in the end those of `qid`. The rows
        keep their order.

    Raises
    ------
    ValueError
        If lengths differ or a part would be empty.

    See Also
    --------
    QueryKFold : Every query is tested once.
    sklearn.model_selection.train_test_split : Splits rows.

    Examples
    --------
    >>> from sklrank.model_selection import query_train_test_split
    >>> X, y, qid = [[1], [2], [3], [4]], [1, 0, 0, 2], ["a", "a", "b", "b"]
    >>> X_train, X_test, y_train, y_test, qid_train, qid_test = query_train_test_split(
    ...     X, y, qid=qid, test_size=1, random_state=0)
    >>> y_train, qid_train
    ([1, 0], ['a', 'a'])
    """
    arrays = indexable(*arrays, qid)
    codes, _ = check_qid(qid, _num_samples(arrays[-1]))
    splitter = GroupShuffleSplit(
        1, test_size=test_size, train_size=train_size, random_state=random_state
    )
    train_and_test = next(splitter.split(codes, groups=codes))
    return [_safe_indexing(array, rows) for array in arrays for rows in train_and_test]
