"""Label rankings from classification data (type A) and from regression data (type B)."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from reprlib import repr as shortened
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_array, check_X_y

from sklrank._checks import check_random_state, check_scalar, strict_positions


def label_ranking_from_classification(
    X: ArrayLike, y: ArrayLike, *, estimator: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """Convert classification data into label rankings, by the predicted class probabilities.

    The classes of each sample are ranked by decreasing predicted probability, as in the benchmark
    data sets of "type A" (iris, glass, vowel, ...) [1]_.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Samples.
    y : array-like of shape (n_samples,)
        Class labels, of at least two different classes.
    estimator : classifier with `predict_proba`, default=None
        Classifier that predicts the probabilities. A clone of it is fitted. If None,
        :class:`~sklearn.naive_bayes.GaussianNB` is fitted to the features that are not constant.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        The given samples.
    Y : ndarray of shape (n_samples, n_classes), float64
        Positions of the sorted classes; 1 is that of the most probable one. Equally probable ones
        are ranked in the order of the columns.

    See Also
    --------
    label_ranking_from_regression : Converts regression data.

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
        raise ValueError(f"y must have two classes or more to rank, got only {y.tolist()[0]!r}.")
    if estimator is None:
        estimator, features = GaussianNB(), _varying(X)
    else:
        estimator, features = clone(estimator), X
    # Log-probabilities are preferred, since they still differ if probabilities underflow to 0.
    for method in ("predict_log_proba", "predict_proba"):
        if hasattr(estimator, method):
            estimator.fit(features, y)
            # Many classifiers compute log(0). The result, -inf, is correctly ranked last.
            with np.errstate(divide="ignore"):
                return X, strict_positions(getattr(estimator, method)(features))
    raise ValueError(f"estimator must have predict_proba, which {estimator!r} lacks.")


def _varying(X: np.ndarray) -> np.ndarray:
    """Return the features that vary: naive Bayes would rank by rounding errors of the others."""
    varies = X.max(axis=0) > X.min(axis=0)
    if not varies.any():
        raise ValueError(
            "X must have a feature that is not constant, so that naive Bayes can rank the classes; "
            f"got {X.shape[1]} constant one(s). Add a feature or pass another estimator."
        )
    return X[:, varies].astype(np.float64)


def label_ranking_from_regression(
    X: ArrayLike,
    labels: int | Sequence[int] | None = None,
    *,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Convert regression data into label rankings: some features become labels.

    The selected features are removed from `X` and standardized, and the labels ranked by decreasing
    value, as in the benchmark data sets of "type B" (housing, stock, wisconsin, ...) [1]_. If
    features are correlated, the remaining ones are informative about the ranking.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Numeric features. The target of the regression may be appended as a further column.
    labels : int or sequence of int, default=None
        Features to convert into labels: their indices, or their number (None: half of them), of
        which so many are drawn from those that are not constant.
    random_state : int, RandomState instance or None, default=None
        Controls the random choice of features. Pass an int for reproducible output.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features - n_labels), float64
        The features that were not converted into labels.
    Y : ndarray of shape (n_samples, n_labels), float64
        Positions of the labels; 1 is that of the largest value. Labels with equal values are ranked
        in the order of their columns: of `labels` if it is a sequence, else of the features.

    See Also
    --------
    label_ranking_from_classification : Converts classification data.

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
    low, high = X.min(axis=0), X.max(axis=0)
    labels = _choose_features(labels, high > low, check_random_state(random_state))
    Y = strict_positions(StandardScaler().fit_transform(X[:, labels]))
    return np.delete(X, labels, axis=1), Y


def _choose_features(labels, varies: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
    n_features = len(varies)
    if labels is None:
        labels = n_features // 2
        if labels < 2:
            raise ValueError(
                f"X must have four features or more for labels=None, got {n_features}."
            )
    if isinstance(labels, Integral):
        check_scalar(labels, "labels", Integral, min_val=2, max_val=n_features - 1)
        varying = np.flatnonzero(varies)
        if len(varying) < labels:
            raise ValueError(
                f"labels={labels} of the features cannot be drawn: only {len(varying)} of them are "
                "not constant."
            )
        return np.sort(rng.choice(varying, labels, replace=False))
    features = np.asarray(labels)
    if features.ndim != 1 or features.dtype.kind not in "iu":
        raise ValueError(f"labels must be an integer or feature indices, got {shortened(labels)}.")
    if not ((features >= 0) & (features < n_features)).all() or len(set(features)) < len(features):
        raise ValueError(
            f"labels must be features from 0 to {n_features - 1}, each once, got "
            f"{shortened(labels)}."
        )
    if not 2 <= len(features) < n_features:
        raise ValueError(
            f"labels must be at least two of the {n_features} features and leave one of them, got "
            f"{shortened(labels)}."
        )
    if not varies[features].all():
        constant = features[~varies[features]].tolist()
        raise ValueError(f"labels must not be constant features, which have no order: {constant}.")
    return features
