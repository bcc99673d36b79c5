"""BanditronClassifier."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Literal

import numpy as np

from sklrank._sklearn import Interval, StrOptions
from sklrank._validation import MAX_FACTOR
from sklrank.linear_model._bandit._base import BaseBanditClassifier
from sklrank.linear_model._bandit._model import MirrorDescent
from sklrank.linear_model._mirror._parameter import CONSTRAINTS, make_mirror_map, scores_poorly

if TYPE_CHECKING:
    from sklrank._typing import ExplorationRate, MirrorMap

__all__ = ["BanditronClassifier"]


class BanditronClassifier(BaseBanditClassifier):
    r"""Linear classifier that learns from bandit feedback by online mirror descent.

    In each round one class is shown, and only whether it is right becomes known. The class
    :math:`\hat y` of the greatest score :math:`w_k \cdot x` is shown with the probability
    :math:`1 - \gamma_t + \gamma_t / K`, and each other one of the K classes with
    :math:`\gamma_t / K`. From the class shown, :math:`\tilde y`, its propensity :math:`p` and
    whether it is the right class :math:`y`, online mirror descent takes the step ([2]_,
    Algorithms 7 to 10)

    .. math:: \Theta \leftarrow \Theta - \eta \, \delta_t x^T, \qquad
              \delta_t = 1_{\hat y} - 1_{\tilde y} \frac{[\tilde y = y]}{p},

    whose expectation is the perceptron step for known :math:`y`. Banditron [1]_ is the case of the
    Euclidean mirror map, whose weights W are :math:`\Theta`.

    `fit` and `partial_fit` simulate the rounds: they use `y` only to find whether the class shown
    is right. `explore` and `partial_fit_feedback` are the two halves of a round with real feedback.

    Parameters
    ----------
    exploration : float or str, default=0.1
        Exploration rate :math:`\gamma_t`, the share of the rounds in which the class shown is drawn
        from all classes: a number above 0 and at most 1, or the name of a schedule, whose rates are
        at most 1/2. The default is the constant rate of Banditron as published [1]_;
        "ag3-forgetting", which is not from the papers, usually makes fewer mistakes and is
        recommended.

        - "decay": :math:`t^{-1/3} / 2`;
        - "ag1", "ag2", "ag3": tuned by the feedback so far ([2]_, Eqs. 6.4, 6.5 and 6.3, with the
          support function :math:`(1 + z)^{0.1}`);
        - "ag2-unbiased": as "ag2", with an unbiased estimate of the number of mistakes; the
          estimate of [2]_ is too high and leads to too much exploration;
        - "ag3-forgetting": as "ag3", from about the last hundred rounds; not in [2]_.
    mirror_map : str or object, default="euclidean"
        Function that maps :math:`\Theta` to the weights W.

        - "euclidean": the identity;
        - "p-norm", "group-norm", "schatten": for many features and classes of which few weights,
          few features, or few combinations of features are relevant. The potential is half the
          squared norm for a norm close to the sum of the absolute weights, of the lengths of each
          feature's weight vectors, or of the singular values of W ([3]_, Corollaries 6 and 8). If
          the number of these is seven or less, it is the potential of "euclidean";
        - "entropy": the weights of each class are a distribution over the features (exponential
          gradient); for many features of which few are relevant, and whose large values indicate a
          class;
        - "positive": negative weights are set to zero after each step;
        - an object with a method ``weights(dual_weights)``, which gets :math:`\Theta` as a
          read-only array of shape `(n_classes, n_features_in_ + fit_intercept)` and returns W, of
          the same shape. It is called after each step.
    learning_rate : float or "auto", default="auto"
        Step size :math:`\eta`. It scales the weights of all named mirror maps except "entropy" and
        does not change their predictions. "auto" is 1, and for "entropy" the step size of [2]_, Eq.
        5.12, with the number of rounds so far in place of the total, and with samples divided by
        the largest absolute entry so far.
    fit_intercept : bool, default=True
        If True, add a constant feature of value one. The papers have none.
    max_iter : int, default=5
        Number of passes over the samples in `fit`; `partial_fit` makes one pass.
    random_state : int, RandomState instance or None, default=None
        Seed or generator of the draws of the classes to show.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    coef_ : ndarray of shape (n_classes, n_features), or (1, n_features) for two classes
        Weights of the features; for two classes those of the second less those of the first.
    intercept_ : ndarray of shape (n_classes,) or (1,)
        Intercepts; zero if `fit_intercept` is False.
    exploration_ : float
        Exploration rate :math:`\gamma_t` of the next round.
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
    LinUCBClassifier : Second-order updates and confidence bounds; usually far fewer mistakes.
    sklrank.online_boosting.TopKBBM : Shows several labels for each sample.
    OnlineLogisticRegression : Learns from known classes.

    Notes
    -----
    Parameters are read when a model is started: by `fit`, or by the first call of another method.

    A schedule that is tuned by feedback counts the feedback that `partial_fit_feedback` gets, so
    that samples shown in one call share a rate. It assumes that this model chose the classes shown;
    to learn from the log of another policy, use a number.

    References
    ----------
    .. [1] S. M. Kakade, S. Shalev-Shwartz and A. Tewari, "Efficient bandit algorithms for online
       multiclass prediction", ICML 2008.
    .. [2] H. Valizadegan, "Boosting and online learning for classification and ranking",
       dissertation, Michigan State University, 2010, chapters 5 and 6.
    .. [3] P. Jain, N. Natarajan and A. Tewari, "Predtron: a family of online algorithms for general
       prediction problems", NIPS 2015.

    Examples
    --------
    >>> from sklrank.datasets import make_keyword_documents
    >>> from sklrank.linear_model import BanditronClassifier
    >>> X, y = make_keyword_documents(5000, random_state=0)
    >>> model = BanditronClassifier(exploration="ag3-forgetting", random_state=0)
    >>> bool(model.partial_fit(X, y).score(X, y) > 0.95)
    True

    With real feedback, which may come later:

    >>> shown = model.explore(X[:3])
    >>> rewards = y[:3] == model.classes_[shown.actions]
    >>> model.partial_fit_feedback(X[:3], shown, rewards).n_rounds_
    5003
    """

    _parameter_constraints: dict = {
        **BaseBanditClassifier._parameter_constraints,
        "mirror_map": CONSTRAINTS,
        "learning_rate": [Interval(Real, 0, MAX_FACTOR, closed="right"), StrOptions({"auto"})],
    }

    def __init__(
        self,
        *,
        exploration: ExplorationRate = 0.1,
        mirror_map: MirrorMap = "euclidean",
        learning_rate: float | Literal["auto"] = "auto",
        fit_intercept: bool = True,
        max_iter: int = 5,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.exploration = exploration
        self.mirror_map = mirror_map
        self.learning_rate = learning_rate
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.random_state = random_state

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = scores_poorly(self.mirror_map, one_score=False)
        return tags

    def _make_model(self, n_classes):
        if self.exploration == 0:
            raise ValueError(
                "exploration=0 always shows the class of the greatest score, and Banditron cannot "
                "learn about the other classes: set exploration above 0, or use LinUCBClassifier"
            )
        learning_rate = self.learning_rate
        if learning_rate == "auto":
            learning_rate = np.nan if self.mirror_map == "entropy" else 1.0
        width = self.n_features_in_ + self.fit_intercept
        mirror_map = make_mirror_map(self.mirror_map, n_classes, width)
        return MirrorDescent(self.n_features_in_, mirror_map, learning_rate)
