"""Label rankings from data of classification (type A) and of regression (type B)."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB
from sklearn.utils import check_array, check_random_state, check_scalar, check_X_y

from sklrank._rankings import positions_from_scores

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def label_ranking_from_classification(
    X: ArrayLike, y: ArrayLike, *, estimator: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """Rank the classes of each row by the probability that naive Bayes gives them.

    A classifier is trained on all rows; then the classes are ordered by their predicted
    probability, in each row. So are the benchmark sets of "type A" made (iris, glass, vowel, ...).

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The features.

    y : array-like of shape (n_samples,)
        The classes, two or more.

    estimator : classifier with `predict_proba`, default=None
        What gives the probabilities; None for :class:`~sklearn.naive_bayes.GaussianNB`, trained on
        the features that are not constant. It is cloned, not changed.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        The features.

    Y : ndarray of shape (n_samples, n_classes), float64
        Positions of the classes (columns in sorted order), 1 is most probable; of equally probable
        classes the smaller comes first.

    Raises
    ------
    ValueError
        If `y` has one class only, `estimator` gives no probabilities, or it is None and all
        features are constant.

    See Also
    --------
    label_ranking_from_regression : The other type.

    References
    ----------
    .. [1] W. Cheng, J. Huhn, E. Hüllermeier, "Decision tree and instance-based learning for label
       ranking", ICML 2009.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklrank.datasets import label_ranking_from_classification
    >>> X, Y = label_ranking_from_classification(*load_iris(return_X_y=True))
    >>> Y[[0, 50, 100]]
    array([[1., 2., 3.],
           [3., 1., 2.],
           [3., 2., 1.]])
    """
    X, y = check_X_y(X, y)
    if len(np.unique(y)) < 2:
        raise ValueError(f"y must have two classes or more to rank, got only {y[0]!r}.")
    if estimator is None:
        estimator, features = GaussianNB(), _for_naive_bayes(X)
    else:
        estimator, features = clone(estimator), X
    # Logarithms, as probabilities may be the same 0 where their logarithms differ.
    for method in ("predict_log_proba", "predict_proba"):
        if hasattr(estimator, method):
            estimator.fit(features, y)
            # Many classifiers take the logarithm of 0, which ranks last as it should.
            with np.errstate(divide="ignore"):
                return X, positions_from_scores(getattr(estimator, method)(features))
    raise ValueError(f"estimator must have predict_proba, which {estimator!r} has not.")


def _for_naive_bayes(X: np.ndarray) -> np.ndarray:
    """The features that vary, divided by one power of two: the same to naive Bayes.

    Constant ones tell nothing of the classes, but the rounding of their means would. Squares of
    huge or tiny numbers would leave the range of floats.
    """
    halves = X.astype(np.float64) / 2  # differences of halves are finite
    low, high = halves.min(axis=0), halves.max(axis=0)
    varies = high > low
    if not varies.any():
        raise ValueError(
            "X must have a feature that is not constant, by which naive Bayes can rank the classes "
            f"of a row; got {X.shape[1]} constant one(s). Add a feature or pass another estimator."
        )
    _, exponent = np.frexp((high - low).max())
    return np.ldexp(halves[:, varies], -exponent)


def label_ranking_from_regression(
    X: ArrayLike,
    labels: int | Sequence[int] | None = None,
    *,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Turn some numeric features into labels, ranked by their size in each row.

    The features chosen are taken out and standardised; in each row the largest ranks first. As
    features are correlated, those that remain tell something about the ranking. So are the
    benchmark sets of "type B" made (housing, stock, wisconsin, ...).

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Numeric features, to which the target of the regression may be appended.

    labels : int or sequence of int, default=None
        The columns to become labels; or how many, drawn at random from those that are not
        constant. None means half of the columns.

    random_state : int, RandomState instance or None, default=None
        Determines the draw of columns. Pass an int for reproducible output.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features - n_labels), float64
        The other features.

    Y : ndarray of shape (n_samples, n_labels), float64
        Positions of the labels, 1 is the largest; of equal ones the smaller label comes first. The
        labels are in the order of `labels`, or of the columns where those were drawn.

    Raises
    ------
    ValueError
        If `labels` are not two columns or more, each once, that are not constant; or no feature
        would remain.

    See Also
    --------
    label_ranking_from_classification : The other type.

    References
    ----------
    .. [1] W. Cheng, J. Huhn, E. Hüllermeier, "Decision tree and instance-based learning for label
       ranking", ICML 2009.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklrank.datasets import label_ranking_from_regression
    >>> X, Y = label_ranking_from_regression(load_diabetes().data, labels=[4, 5, 6, 7])
    >>> X.shape, Y.shape
    ((442, 6), (442, 4))
    >>> Y[:2]
    array([[4., 2., 3., 1.],
           [2., 3., 1., 4.]])
    """
    X = check_array(X, dtype=np.float64, input_name="X")
    halves = X / 2  # differences of halves are finite
    low, high = halves.min(axis=0), halves.max(axis=0)
    labels = _choose_columns(labels, high > low, check_random_state(random_state))
    # Scale into [0, 1] first: deviations of tiny numbers underflow, those of huge ones overflow.
    shares = (halves[:, labels] - low[labels]) / (high[labels] - low[labels])
    Y = positions_from_scores((shares - shares.mean(axis=0)) / shares.std(axis=0))
    return np.delete(X, labels, axis=1), Y


def _choose_columns(labels, varies: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
    n_features = len(varies)
    if labels is None:
        labels = n_features // 2
        if labels < 2:
            raise ValueError(f"X must have four columns or more for labels=None, got {n_features}.")
    if isinstance(labels, Integral):
        check_scalar(labels, "labels", Integral, min_val=2, max_val=n_features - 1)
        varying = np.flatnonzero(varies)
        if len(varying) < labels:
            raise ValueError(
                f"labels={labels} of the columns of X cannot be drawn: only {len(varying)} are "
                "not constant."
            )
        return np.sort(rng.choice(varying, labels, replace=False))
    columns = np.asarray(labels)
    if columns.ndim != 1 or columns.dtype.kind not in "iu":
        raise ValueError(f"labels must be an integer or column numbers, got {labels!r}.")
    if not ((columns >= 0) & (columns < n_features)).all() or len(set(columns)) < len(columns):
        raise ValueError(
            f"labels must be columns from 0 to {n_features - 1}, each once, got {labels!r}."
        )
    if not 2 <= len(columns) < n_features:
        raise ValueError(
            f"labels must name two columns or more and leave one of the {n_features} as a "
            f"feature, got {labels!r}."
        )
    if not varies[columns].all():
        constant = columns[~varies[columns]].tolist()
        raise ValueError(f"labels must not be constant columns, which have no order: {constant}.")
    return columns
