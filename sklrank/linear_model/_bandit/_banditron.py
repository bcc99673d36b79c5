"""BanditronClassifier."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Literal

import numpy as np

from sklrank._checks import MAX_FACTOR
from sklrank._estimators import Interval, StrOptions, shares_text
from sklrank._online import of_exploring, of_online
from sklrank._typing import ExplorationRate, MirrorMap
from sklrank.linear_model._bandit._base import TEXTS, BaseBanditClassifier
from sklrank.linear_model._bandit._kernel_map import KernelMap
from sklrank.linear_model._bandit._model import MirrorDescent
from sklrank.linear_model._mirror import CONSTRAINTS, MAPS_TEXT, make_map

# Factor of the learning rate of Eq. 5.12 in the experiments of Valizadegan (2010), section 5.4.
SMALL_FACTOR = 1e-5


@of_online
@of_exploring
@shares_text(**TEXTS, maps=MAPS_TEXT)
class BanditronClassifier(BaseBanditClassifier):
    r"""Linear classifier that learns from bandit feedback by online mirror descent.

    In each round, the classifier shows one of K classes and observes only whether this class is
    correct. It shows the class :math:`\hat y` with the largest score :math:`w_k \cdot x` with
    probability :math:`1 - \gamma_t + \gamma_t / K`, and each other class with probability
    :math:`\gamma_t / K`. Let :math:`\tilde y` be the class shown, :math:`p` its propensity (the
    probability with which it was shown), :math:`y` the correct class, and :math:`1_k` the k-th unit
    vector. Online mirror descent takes the step ([2]_, Algorithms 7 to 10)

    .. math:: \Theta \leftarrow \Theta - \eta \, \delta_t x^T, \qquad
              \delta_t = 1_{\hat y} - 1_{\tilde y} \frac{[\tilde y = y]}{p}.

    The expectation of this step is the step of the perceptron, which knows :math:`y`. Banditron
    [1]_ is the special case of the Euclidean mirror map, for which the weights W are equal to
    :math:`\Theta`.

    {protocol}

    Parameters
    ----------
    exploration : float, str, SelfTunedExploration or callable, default=0.1
        Exploration rate :math:`\gamma_t`, in (0, 1]: the probability that the class shown is drawn
        at random from all classes. A number (0.1 as in [1]_), or a schedule or its name, see Notes.
    {randomization}
    mirror_map : str or callable, default="euclidean"
        Function that maps :math:`\Theta` to the weights W, see Notes. It is derived from a
        potential, half the squared norm of W ([3]_, Corollaries 6 and 8).
    kernel : {"rbf", "poly"} or None, default=None
        Kernel in whose feature space the classifier is linear ([2]_, Section 5.3.1): Gaussian,
        ``exp(-gamma * |x - z|**2)``, or polynomial, ``(1 + gamma * x . z)**3``. It requires the
        Euclidean mirror map. If None, the classifier is linear in the features.
    gamma : float or None, default=None
        Parameter of the kernel. If None, it is ``1 / n_features``.
    learning_rate : float, "auto" or "theory", default="auto"
        Step size :math:`\eta`, which changes predictions only with "entropy". Then "theory" is that
        of [2]_, Eq. 5.12, with the current number of rounds in place of the total, and samples are
        divided by the largest absolute value so far. "auto" is 1e-5 times that, as in the
        experiments of [2]_: the weights of a class stay almost uniform, and their differences are
        proportional to its dual weights minus their mean. With other maps, both are 1.
    fit_intercept : bool, default=True
        Whether to add a constant feature of value one, or one to the kernel values. The papers have
        none.
    {max_iter}
    random_state : int, RandomState instance or None, default=None
        Controls the order of the samples in `fit` and the random draws of the classes to show.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    coef_ : ndarray of shape (n_classes, n_features), or (1, n_features) for two classes
        Weights of the features. For two classes, the difference between the weights of the second
        and the first class.
    intercept_ : ndarray of shape (n_classes,) or (1,)
        Intercepts; zero if `fit_intercept` is False. Like `coef_`, not defined with a kernel.
    {rounds}

    See Also
    --------
    LinUCBClassifier : Classifier with second-order updates and confidence bounds, which usually
        makes fewer mistakes.
    sklrank.online_boosting.TopKBBM : Booster that shows several labels for each sample.
    OnlineLogisticRegression : Classifier that learns from known classes.

    {classes_come_and_go}

    ============  ==========================================================================
    exploration   rate
    ============  ==========================================================================
    "ag0"         :math:`t^{-1/3} / 2`, as in the experiments of [2]_
    "ag1", "ag2"  by the feedback of previous rounds ([2]_, Eqs. 6.4 and 6.5), with the
                  support function :math:`(1 + z)^{0.1}`
    "ag3"         the same, by Eq. 6.3
    "decay"       :math:`t^{-1/4}`
    object        a :class:`~sklrank.feedback.SelfTunedExploration`, which has other exponents
    callable      maps the round t = 1, 2, ... to its rate, such as a
                  :class:`~sklrank.feedback.DecayingExploration`
    ============  ==========================================================================

    {maps}
    With a kernel, each round in which the weights change adds its sample to the support vectors, so
    that the time of a round is proportional to the number of rounds before. Features should be
    scaled, for example by :class:`sklearn.preprocessing.StandardScaler`: kernel values of large
    features are all 0, or all determined by one feature.

    With real feedback, schedules are updated in `partial_fit_feedback`: all samples of one call of
    `explore` have the same rate. Those that depend on feedback assume that this model chose the
    classes shown. To learn from the log of another policy, set `exploration` to a number.

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
    >>> from sklearn.datasets import make_blobs
    >>> from sklrank.linear_model import BanditronClassifier
    >>> X, y = make_blobs(5000, n_features=20, centers=9, random_state=0)
    >>> model = BanditronClassifier(exploration="ag3", random_state=0)
    >>> bool(model.partial_fit(X, y).score(X, y) > 0.95)
    True

    Real feedback may arrive later:

    >>> shown = model.explore(X[:3])
    >>> rewards = y[:3] == model.classes_[shown.actions]
    >>> model.partial_fit_feedback(X[:3], shown, rewards).n_rounds_
    5003
    """

    _needs_small_means = _steps_like_rows = True
    _parameter_constraints: dict = {
        **BaseBanditClassifier._parameter_constraints,
        "mirror_map": CONSTRAINTS,
        "kernel": [StrOptions({"rbf", "poly"}), None],
        "gamma": [Interval(Real, 0, None, closed="neither"), None],
        "learning_rate": [
            Interval(Real, 0, MAX_FACTOR, closed="right"),
            StrOptions({"auto", "theory"}),
        ],
    }

    def __init__(
        self,
        *,
        exploration: ExplorationRate = 0.1,
        randomization: str | Callable[..., np.ndarray] = "uniform",
        mirror_map: MirrorMap = "euclidean",
        kernel: Literal["rbf", "poly"] | None = None,
        gamma: float | None = None,
        learning_rate: float | Literal["auto", "theory"] = "auto",
        fit_intercept: bool = True,
        max_iter: int = 5,
        shuffle: bool = True,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.exploration = exploration
        self.randomization = randomization
        self.mirror_map = mirror_map
        self.kernel = kernel
        self.gamma = gamma
        self.learning_rate = learning_rate
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state

    _refused_numbers = (
        "Banditron's step is that of a perceptron for the one correct class: use LinUCBClassifier "
        "for rewards that are numbers"
    )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        # Weights that are a distribution fail if a feature is evidence against a class.
        tags.classifier_tags.poor_score = str(self.mirror_map) == "entropy"
        return tags

    def _make_model(self, classes, random_state):
        if self.exploration == 0:
            raise ValueError(
                "exploration=0 always shows the class of the greatest score, and Banditron cannot "
                "learn about the other classes: set exploration above 0, or use LinUCBClassifier"
            )
        learning_rate = self.learning_rate
        is_factor = isinstance(learning_rate, str) and self.mirror_map == "entropy"
        if isinstance(learning_rate, str):
            learning_rate = SMALL_FACTOR if is_factor and learning_rate == "auto" else 1.0
        n_features, n_classes = self.n_features_in_, len(classes)
        if self.kernel is None:
            mirror_map = make_map(self.mirror_map, n_classes, n_features + self.fit_intercept)
        elif self.mirror_map == "euclidean":
            gamma = 1 / n_features if self.gamma is None else self.gamma
            mirror_map = KernelMap(n_classes, n_features, self.kernel, gamma)
        else:
            raise ValueError(
                f"mirror_map={self.mirror_map!r} does not go with kernel={self.kernel!r}, which "
                "requires 'euclidean'; or leave the kernel out"
            )
        return MirrorDescent(n_features, mirror_map, learning_rate, is_factor)

    def _weights(self, name):
        if isinstance(self._fitted("_rounds").model.mirror_map, KernelMap):
            raise AttributeError(f"{name} is not available for models with a kernel")
        return super()._weights(name)
