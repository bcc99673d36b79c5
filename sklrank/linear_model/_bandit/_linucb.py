"""LinUCBClassifier."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Literal

import numpy as np

from sklrank._sklearn import Interval, StrOptions
from sklrank.linear_model._bandit._base import BaseBanditClassifier
from sklrank.linear_model._bandit._linucb_model import DiagonalLinUCB, FullLinUCB

if TYPE_CHECKING:
    from sklrank._typing import ExplorationRate

__all__ = ["LinUCBClassifier"]

# For each value of `covariance` the compiled model, and the `bonus` and `alpha` of "auto".
COVARIANCES = {"full": (FullLinUCB, 0.9, 0.2), "diagonal": (DiagonalLinUCB, 3.0, 0.4)}


class LinUCBClassifier(BaseBanditClassifier):
    r"""Linear classifier that learns from bandit feedback by upper confidence bounds (LinUCB).

    In each round one class is shown, and only whether it is right becomes known: the reward
    :math:`r_t` is 1 or 0. Each class k has a ridge regression of the reward on the features, over
    the rounds :math:`S_k` in which it was shown,

    .. math:: A_k = \alpha I + \sum_{t \in S_k} x_t x_t^T, \qquad
              w_k = A_k^{-1} \sum_{t \in S_k} r_t x_t,

    and the class shown is that of the greatest upper confidence bound, the estimated reward plus a
    multiple of its standard error (LinUCB with disjoint linear models [1]_, Algorithm 1),

    .. math:: \arg\max_k \; w_k \cdot x + \beta s \sqrt{x^T A_k^{-1} x}.

    The factor :math:`\beta` is the `bonus`. The standard deviation s of the errors, which is 1 in
    [1]_, is estimated from the rounds so far, the later ones with more weight, so that exploration
    fades as the estimates become accurate. On dense data LinUCB makes a fraction of the mistakes of
    :class:`BanditronClassifier`, at a cost per round that is quadratic ("full") or linear
    ("diagonal") in the number of features.

    Features of dense samples are centred and divided by their ranges, both estimated from the
    samples so far, so that the units of the features do not matter. Sparse samples are only divided
    by a common factor, which keeps them sparse.

    `fit` and `partial_fit` simulate the rounds: they use `y` only to find whether the class shown
    is right. `explore` and `partial_fit_feedback` are the two halves of a round with real feedback.

    Parameters
    ----------
    covariance : {"full", "diagonal"}, default="full"
        Part of each :math:`A_k` to keep: the whole matrix, which takes ``n_classes *
        n_features**2`` numbers, or its diagonal, which is recommended for many features. With
        "diagonal" the recursive update of :math:`w_k` uses the inverse of the diagonal in place of
        :math:`A_k^{-1}`.
    bonus : float or "auto", default="auto"
        Factor :math:`\beta` of the standard error. "auto" is 0.9 for "full" and 3 for "diagonal".
    alpha : float or "auto", default="auto"
        L2 penalty :math:`\alpha` of the regressions, relative to the mean squared length of the
        samples; at least 1e-10. "auto" is 0.2 for "full" and 0.4 for "diagonal".
    clip : float or None, default=5.0
        Values of dense samples are clipped at this number of standard deviations of their feature
        from its mean; smaller values are for heavier tails. A value a thousand times too large
        inflates the standard deviation for thousands of samples nevertheless: remove such samples.
        With None dense samples are only divided by a common factor, as sparse ones are.
    exploration : float or str, default=0.0
        Share of the rounds in which the class shown is drawn from all classes, as in
        :class:`BanditronClassifier`: a number from 0 to 1, or the name of a schedule. The
        confidence bounds explore already; a number above 0 is for logs in which each class must
        have a positive propensity.
    fit_intercept : bool, default=True
        If True, add a constant feature. Without it samples are not standardised.
    max_iter : int, default=5
        Number of passes over the samples in `fit`; `partial_fit` makes one pass.
    random_state : int, RandomState instance or None, default=None
        Seed or generator of the draws of the classes to show.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    coef_ : ndarray of shape (n_classes, n_features), or (1, n_features) for two classes
        Weights of the features in their original units; for two classes those of the second less
        those of the first. Together with `intercept_` they give the scores of samples of which no
        value is clipped.
    intercept_ : ndarray of shape (n_classes,) or (1,)
        Intercepts; zero if `fit_intercept` is False.
    exploration_ : float
        Exploration rate of the next round.
    error_rate_ : float
        Share of the rounds so far in which the class shown was wrong; NaN before the first round.
    n_rounds_ : int
        Number of rounds so far, which is the number of samples learned.
    n_iter_ : int
        Number of passes of `fit`.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if all of them are strings.

    See Also
    --------
    BanditronClassifier : First-order updates, with a choice of mirror maps.
    sklrank.online_boosting.TopKBBM : Shows several labels for each sample.
    OnlineRidgeClassifier : Learns from known classes.

    Notes
    -----
    Parameters are read when a model is started: by `fit`, or by the first call of another method.
    The samples of that call also decide on standardisation: a model that starts with sparse samples
    does not standardise dense ones later.

    The weights :math:`w_k` are updated recursively. With "full" they are the exact ridge solution,
    for samples :math:`x_t` that were standardised by the samples up to round t.

    References
    ----------
    .. [1] L. Li, W. Chu, J. Langford and R. E. Schapire, "A contextual-bandit approach to
       personalized news article recommendation", WWW 2010.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklrank.linear_model import LinUCBClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = LinUCBClassifier(random_state=0).partial_fit(X, y)
    >>> print(f"{model.error_rate_:.1f} of the digits shown were wrong")
    0.1 of the digits shown were wrong

    With real feedback, which may come later:

    >>> shown = model.explore(X[:3])
    >>> rewards = y[:3] == model.classes_[shown.actions]
    >>> model.partial_fit_feedback(X[:3], shown, rewards).n_rounds_
    1800
    """

    _parameter_constraints: dict = {
        **BaseBanditClassifier._parameter_constraints,
        "covariance": [StrOptions(set(COVARIANCES))],
        "bonus": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        # Rounding would outweigh a smaller penalty if features are collinear.
        "alpha": [Interval(Real, 1e-10, None, closed="left"), StrOptions({"auto"})],
        "clip": [Interval(Real, 0, None, closed="neither"), None],
    }

    def __init__(
        self,
        *,
        covariance: Literal["full", "diagonal"] = "full",
        bonus: float | Literal["auto"] = "auto",
        alpha: float | Literal["auto"] = "auto",
        clip: float | None = 5.0,
        exploration: ExplorationRate = 0.0,
        fit_intercept: bool = True,
        max_iter: int = 5,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.covariance = covariance
        self.bonus = bonus
        self.alpha = alpha
        self.clip = clip
        self.exploration = exploration
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.random_state = random_state

    def _make_model(self, n_classes):
        make, bonus, alpha = COVARIANCES[self.covariance]
        standardise = self.clip is not None and self.fit_intercept and not self._started_sparse
        return make(
            self.n_features_in_,
            n_classes,
            self.n_features_in_ + self.fit_intercept,
            alpha if self.alpha == "auto" else self.alpha,
            bonus if self.bonus == "auto" else self.bonus,
            self.clip if standardise else 0.0,
        )
