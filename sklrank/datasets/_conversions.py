"""Label rankings from classification data (type A) and from regression data (type B)."""

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
    """Rank the classes of each sample by their probability under naive Bayes.

    A classifier is fitted to all samples; then the classes of each sample are ordered by predicted
    probability. The benchmark data sets of "type A" (iris, glass, vowel, ...) are generated so.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Samples.

    y : array-like of shape (n_samples,)
        Class labels of at least two classes.

    estimator : classifier with `predict_proba`, default=None
        Classifier that predicts the probabilities; it is cloned. None:
        :class:`~sklearn.naive_bayes.GaussianNB` on the features that are not constant.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        Samples.

    Y : ndarray of shape (n_samples, n_classes), float64
        Positions of the classes (columns in sorted order); 1 is the most probable one. Of equally
        probable classes the smaller one comes first.

    Raises
    ------
    ValueError
        If `y` has a single class, `estimator` does not predict probabilities, or `estimator` is
        None and all features are constant.

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
        raise ValueError(f"y must have two classes or more to rank, got only {y[0]!r}.")
    if estimator is None:
        estimator, features = GaussianNB(), _for_naive_bayes(X)
    else:
        estimator, features = clone(estimator), X
    # Logarithms first: probabilities that underflow to 0 may have different logarithms.
    for method in ("predict_log_proba", "predict_proba"):
        if hasattr(estimator, method):
            estimator.fit(features, y)
            # Many classifiers compute log(0), which correctly ranks last.
            with np.errstate(divide="ignore"):
                return X, positions_from_scores(getattr(estimator, method)(features))
    raise ValueError(f"estimator must have predict_proba, which {estimator!r} lacks.")


def _for_naive_bayes(X: np.ndarray) -> np.ndarray:
    """Return the features that vary, divided by a common power of two.

    Neither changes the predictions of naive Bayes in exact arithmetic. But rounding errors in the
    means of constant features, and over- or underflow of squares, would.
    """
    halves = X.astype(np.float64) / 2  # differences of halves are finite
    low, high = halves.min(axis=0), halves.max(axis=0)
    varies = high > low
    if not varies.any():
        raise ValueError(
            "X must have a feature that is not constant, so that naive Bayes can rank the classes; "
            f"got {X.shape[1]} constant one(s). Add a feature or pass another estimator."
        )
    _, exponent = np.frexp((high - low).max())
    return np.ldexp(halves[:, varies], -exponent)


def label_ranking_from_regression(
    X: ArrayLike,
    labels: int | Sequence[int] | None = None,
    *,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Convert some numeric features into labels, ranked by their values.

    The selected features are removed and standardized; the largest value of a sample ranks first.
    As features are correlated, the remaining ones are informative about the ranking. The benchmark
    data sets of "type B" (housing, stock, wisconsin, ...) are generated so.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Numeric features; the target of the regression may be appended.

    labels : int or sequence of int, default=None
        Indices of the features to convert; or their number, drawn at random from the features that
        are not constant. None means half of the features.

    random_state : int, RandomState instance or None, default=None
        Controls the draw of features. Pass an int for reproducible output.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features - n_labels), float64
        The other features.

    Y : ndarray of shape (n_samples, n_labels), float64
        Positions of the labels; 1 is the largest value. Of equal values the smaller label comes
        first. The labels are in the order of `labels`, or of the features if these were drawn.

    Raises
    ------
    ValueError
        If `labels` are not at least two distinct features that are not constant, or if no feature
        would remain.

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
    halves = X / 2  # differences of halves are finite
    low, high = halves.min(axis=0), halves.max(axis=0)
    labels = _choose_features(labels, high > low, check_random_state(random_state))
    # Scale to [0, 1] first: squared deviations of tiny or huge numbers under- or overflow.
    scaled = (halves[:, labels] - low[labels]) / (high[labels] - low[labels])
    Y = positions_from_scores((scaled - scaled.mean(axis=0)) / scaled.std(axis=0))
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
        raise ValueError(f"labels must be an integer or feature indices, got {labels!r}.")
    if not ((features >= 0) & (features < n_features)).all() or len(set(features)) < len(features):
        raise ValueError(
            f"labels must be features from 0 to {n_features - 1}, each once, got {labels!r}."
        )
    if not 2 <= len(features) < n_features:
        raise ValueError(
            f"labels must be at least two of the {n_features} features and leave one of them, got "
            f"{labels!r}."
        )
    if not varies[features].all():
        constant = features[~varies[features]].tolist()
        raise ValueError(f"labels must not be constant features, which have no order: {constant}.")
    return features
