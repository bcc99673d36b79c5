"""OnlineLogisticRegression and OnlineRidgeClassifier."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Literal

import numpy as np

from sklrank._checks import MAX_FACTOR, warn_of_first_rows
from sklrank._compiled import shared_call
from sklrank._estimators import Interval, StrOptions, draw_frequencies, shares_text
from sklrank._online import CompiledClassifier, of_online
from sklrank._rankers import ClassScoresMixin, two_class_weights
from sklrank.linear_model._regression._feature_map import FeatureMap
from sklrank.linear_model._regression._logistic import LogisticLearner
from sklrank.linear_model._regression._ridge import RidgeLearner

_CONSTRAINTS = {
    **CompiledClassifier._parameter_constraints,
    "standardize": ["boolean"],
    "normalize": [StrOptions({"l2"}), None],
}

# A text that the docstring of LinUCBClassifier shares.
DRIFT_TEXT = """
Concept drift is detected by a Page-Hinkley test [3]_ of the losses of samples, each before it is
learned. If their mean increases by d > 1/2 standard deviations, the test detects it after about
``drift_threshold / (d - 1/2)`` samples. The model then forgets the previous samples: its weights
become the starting point of a new regression, and soon follow the new samples. Without drift, the
default almost never detects one.
"""

# Texts that the docstrings share.
_OF_LINEAR_CLASSIFIERS = shares_text(
    drift=DRIFT_TEXT,
    standardize="""
standardize : bool, default=True
    If True, each sample is standardized by the means and standard deviations of the previous
    samples. Features with few nonzero entries are only scaled, see Notes.
""",
    sparse="""
If at most an eighth of all entries so far are nonzero, features of which this holds are not
centered, but divided by their root mean square. Features that are centered remain so until the
share is less than a sixteenth. An array and a sparse matrix of the same samples give the same
model.
""",
    coef="""
Attributes
----------
classes_ : ndarray of shape (n_classes,)
    Class labels.
coef_ : ndarray of shape (n_classes, n_features), or (1, n_features) for two classes
    Weights of the features in their original units: the scores are ``X @ coef_.T + intercept_``.
    For two classes, the difference between the weights of the second and the first class.
""",
    scaling="""
mean_, scale_ : ndarray of shape (n_features,)
    Means and standard deviations of the features over the samples learned so far, by which the next
    one is standardized; 0 and 1 if `standardize` is False. The scale of constant features is 1. For
    features that are not centered, they are 0 and the root mean square.
n_rounds_ : int
    Number of samples learned, without those of weight zero.
{n_features_in}
""",
)

# Largest permitted ratio of a sample weight to the penalty `alpha`. With larger ratios, rounding
# errors outweigh the penalty if features are collinear.
MAX_WEIGHT_TO_ALPHA = 1e10

# With more weights than these (and as many sums of squares: 64 MB), gradient steps use single
# precision. Their effect is that of rounding the weights to seven digits.
MAX_DOUBLE_WEIGHTS = 2**22


def _candidates(name, values, low, high, low_is_allowed):
    """Return the values of a parameter, which is a number or a sequence of numbers, as an array."""
    try:
        array = np.array([values] if isinstance(values, Real) else values, dtype=np.float64)
    except (TypeError, ValueError):  # not numbers, or lists of different lengths
        array = np.empty(0)
    valid = array >= low if low_is_allowed else array > low
    if array.ndim != 1 or not len(array) or not np.all(valid & (array <= high)):
        raise ValueError(
            f"{name} must be a number {'from' if low_is_allowed else 'above'} {low:g} to {high:g}, "
            f"or a sequence of such numbers; got {values!r}"
        )
    return array


class _OnlineLinearClassifier(ClassScoresMixin, CompiledClassifier):
    """Base class of classifiers whose scores are linear in the features of a feature map.

    The features are standardized and clipped, at ten standard deviations for gradient steps, whose
    length is bounded, and at three for least squares. A ranker that has the model sets
    `_learns_relevance` before it calls `_init_model`: then the model learns the relevance of known
    labels.
    """

    _learns_relevance = False
    # Whether the scores of ordinary samples are no affine function, since their values are clipped.
    _clips_often = False

    def _multiplies_entries(self):
        # Standardized values are clipped, and normalized samples have the norm one.
        return not self.standardize and self.normalize is None

    @property
    def n_rounds_(self) -> int:
        """Number of samples learned, without those of weight zero."""
        return int(self._fitted("_learner").feature_map.count)

    def _learn_rounds(self, X, indptr, labels, weights, *, order=None, scores=None):
        if self.standardize and X.shape[0] > 1 and not self.n_rounds_:
            warn_of_first_rows(X, self, order)
        super()._learn_rounds(X, indptr, labels, weights, order=order, scores=scores)

    def _class_scores(self, X):
        # Probabilities would have the same order, but several of them can be equal to 0 or 1.
        return self._fitted("_learner").score_rows(self._check_rows(X, reset=False))

    @property
    @shared_call
    def coef_(self) -> np.ndarray:
        """Weights of the features."""
        return two_class_weights(self._affine("coef_")[0])

    @property
    @shared_call
    def intercept_(self) -> np.ndarray:
        """Intercepts."""
        return two_class_weights(self._affine("intercept_")[1])

    def _affine(self, name):
        """Return the weights of the features and the intercepts of all classes."""
        features, weights = self._fitted("_learner").feature_map, self._learner.weight_table
        if features.is_rbf or features.normalize or (features.standardize and self._clips_often):
            cause = "kernel='rbf'" if features.is_rbf else "normalize='l2'"
            if not (features.is_rbf or features.normalize):
                cause = "standardize=True, which clips values at three standard deviations"
            raise AttributeError(
                f"{name} does not exist with {cause}: scores are not linear in the features"
            )
        means, deviations = features.standardization()
        scales = np.where(deviations > 0.0, deviations, np.inf if features.standardize else 1.0)
        coef = features.column_weights(weights[:-1]).T / scales
        return coef, features.intercept * weights[-1] - coef @ means

    @property
    def model_shares_(self) -> np.ndarray:
        """Shares of the models in the prediction."""
        return self._fitted("_learner").copy_shares()

    @property
    def mean_(self) -> np.ndarray:
        """Means of the features over the samples learned so far."""
        return self._fitted("_learner").feature_map.standardization()[0]

    @property
    def scale_(self) -> np.ndarray:
        """Standard deviations of the features over the samples learned; 1 for constant features."""
        deviations = self._fitted("_learner").feature_map.standardization()[1]
        return np.where(deviations > 0, deviations, 1.0)


@of_online
@_OF_LINEAR_CLASSIFIERS
class OnlineLogisticRegression(_OnlineLinearClassifier):
    """Online logistic regression with adaptive gradient steps and running standardization.

    Each sample is standardized by the means and standard deviations of the previous samples, and
    scaled to a norm of about one. Then the weights take an adaptive gradient step (AdaGrad [1]_),
    ``w -= learning_rate * g / sqrt(1 + sum of g**2)``, with the gradient g and the sum over all
    steps so far. The model does not depend on the units of the features.

    Parameters
    ----------
    multi_class : {"multinomial", "ovr"}, default="multinomial"
        A softmax regression over all classes, or one binary model for each class.
    learning_rate : float or array-like of floats, default=1.0
        Learning rate that multiplies each step. Short streams and rare features require larger
        values. If several are given, a model is learned with each of them, see Notes.
    {standardize}
    normalize : {"l2"} or None, default=None
        If "l2", each sample is scaled to the norm one after it is standardized. If None, it is
        divided by the square root of the number of features. Without `standardize`, samples are
        then not scaled, and their entries must not exceed 1e60.
    intercept_scaling : float, default=1.0
        Value of the constant feature of the intercept, whose steps are shorter with smaller values.
    {shuffle_and_seed}

    {coef}
    intercept_ : ndarray of shape (n_classes,) or (1,)
        Intercepts. Like `coef_`, not defined with ``normalize="l2"``, where scores are not linear.
        Values beyond ten standard deviations count as these.
    model_shares_ : ndarray of shape (n_learning_rates,)
        Shares of the models with each `learning_rate` in the prediction, which sum to one.
    {scaling}

    See Also
    --------
    OnlineRidgeClassifier : Classifier with second-order updates and random features for kernels.
    sklearn.linear_model.SGDClassifier : Classifier with plain gradient steps, for features that are
        already scaled.

    Notes
    -----
    For sparse features, use ``normalize="l2"`` and a small `intercept_scaling`: otherwise their
    samples are much shorter than one, and the intercepts outweigh the features. A sparse sample
    takes time only for its nonzero features, and the model stores weights only of features that
    were nonzero; with ``normalize="l2"`` and more than 4 million weights in single precision.

    {sparse}

    With several learning rates, the prediction is the mean of the scores, in which the share of a
    model is proportional to its likelihood: exp of minus the sum of its log losses so far, each
    before the sample was learned.

    As a weak learner of a booster, the model learns from the known labels of each sample: only from
    the relevant ones if it is multinomial. If not all labels are shown, the losses of the shares
    are rank losses of those shown. In a :class:`SemiBanditRanker`, it always learns
    one-versus-rest.

    References
    ----------
    .. [1] J. Duchi, E. Hazan and Y. Singer, "Adaptive subgradient methods for online learning and
       stochastic optimization", JMLR 12, 2011.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklrank.linear_model import OnlineLogisticRegression
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = OnlineLogisticRegression(random_state=0).fit(X[:400], y[:400])
    >>> bool(model.score(X[400:], y[400:]) > 0.95)
    True
    """

    _parameter_constraints: dict = {
        "multi_class": [StrOptions({"multinomial", "ovr"})],
        "learning_rate": [Interval(Real, 0, MAX_FACTOR, closed="right"), "array-like"],
        "intercept_scaling": [Interval(Real, 0, MAX_FACTOR, closed="right")],
        **_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        multi_class: Literal["multinomial", "ovr"] = "multinomial",
        learning_rate: float | Sequence[float] = 1.0,
        standardize: bool = True,
        normalize: Literal["l2"] | None = None,
        intercept_scaling: float = 1.0,
        shuffle: bool = True,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.multi_class = multi_class
        self.learning_rate = learning_rate
        self.standardize = standardize
        self.normalize = normalize
        self.intercept_scaling = intercept_scaling
        self.shuffle = shuffle
        self.random_state = random_state

    def _make_learner(self, n_features, n_classes, random_state):
        rates = _candidates("learning_rate", self.learning_rate, 0, MAX_FACTOR, False)
        features = FeatureMap(
            n_features,
            10.0,
            1.0 / np.sqrt(n_features),
            standardize=self.standardize,
            normalize=self.normalize == "l2",
            intercept=self.intercept_scaling,
        )
        return LogisticLearner(
            features,
            n_classes,
            self.multi_class == "multinomial" and not self._learns_relevance,
            rates,
            # The samples must be scaled, since single precision has no numbers above 1e38.
            self.normalize == "l2" and n_features * n_classes > MAX_DOUBLE_WEIGHTS,
        )


@of_online
@_OF_LINEAR_CLASSIFIERS
class OnlineRidgeClassifier(_OnlineLinearClassifier):
    """Online ridge classifier, which solves a least squares problem exactly after every sample.

    Each sample is standardized by the means and standard deviations of the previous samples.
    Recursive least squares then minimizes the sum of the squared errors over all samples so far,
    plus ``alpha`` times the squared norm of the weights. The cost per sample is quadratic in the
    number of features, which `sketch_size` limits. The probabilities are the predictions of the
    regression, clipped at zero and normalized to the sum one.

    Parameters
    ----------
    kernel : {"linear", "rbf"}, default="linear"
        The standardized features of the samples, or random Fourier features of these, which
        approximate a Gaussian kernel [1]_.
    alpha : float or array-like of floats, default=1.0
        Strength of the L2 penalty, at least 1e-10; that on the intercept is at most 1. Sample
        weights must not exceed 1e10 times `alpha`. If several values are given, a model is learned
        with each of them, see Notes.
    n_components : int, default=100
        Number of random features for the "rbf" kernel.
    gamma : float, default=0.5
        Coefficient of the "rbf" kernel ``exp(-gamma * |z - z'|**2 / d)`` of standardized samples
        with `d` features, or 1 if `normalize` is "l2". With ``normalize=None``, the value 1
        corresponds to ``gamma="scale"`` in scikit-learn.
    drift_threshold : float or None, default=25.0
        Threshold of the test for concept drift, see Notes. The losses are rank losses: the
        proportion of classes whose score is larger than that of the true class. If None, or if the
        model learns from the costs of a booster, there is no test.
    {standardize}
    normalize : {"l2"} or None, default=None
        If "l2", each standardized sample is scaled to the norm one. If None and `standardize` is
        False, the entries of samples must not exceed 1e60.
    sketch_size : int or None, default=None
        Maximum number of features of the regression, or of the "rbf" kernel. The first ones that
        are nonzero in a sample have an entry of their own; values of others are added to, or
        subtracted from, a random entry (count sketch [2]_). If None, all features are used.
    {shuffle}
    random_state : int, RandomState instance or None, default=0
        Controls the order of the samples in `fit`, the entries of a sketch, and the random Fourier
        features. If None, each fit draws others.

    {coef}
    intercept_ : ndarray of shape (n_classes,) or (1,)
        Intercepts. Like `coef_`, defined only with ``kernel="linear"``, ``standardize=False`` and
        ``normalize=None``: else, scores are not linear, since standardized values are clipped at 3.
    model_shares_ : ndarray of shape (n_alphas,)
        Shares of the models with each `alpha` in the prediction, which sum to one.
    n_drifts_ : int
        Number of concept drifts detected.
    {scaling}

    See Also
    --------
    OnlineLogisticRegression : Classifier with first-order updates, whose cost is linear in the
        number of features.
    sklearn.linear_model.RidgeClassifier : Ridge classifier for data sets in memory.

    Notes
    -----
    {sparse}

    {drift}

    With several penalties, the prediction is the mean of the predictions, in which the share of a
    model is proportional to its likelihood, ``E ** (-n_samples / 2)``. Here `E` is the sum of its
    squared errors on the samples so far, each before it was learned.

    As a weak learner of a booster, the model is a regression of the negative costs of all labels, a
    second-order step of gradient boosting for every sample. In a :class:`SemiBanditRanker`, it is a
    regression of the relevance of the labels shown.

    References
    ----------
    .. [1] Rahimi and Recht, "Random features for large-scale kernel machines", NIPS 2007.
    .. [2] M. Charikar, K. Chen and M. Farach-Colton, "Finding frequent items in data streams",
       ICALP 2002.
    .. [3] Page, "Continuous inspection schemes", Biometrika 41, 1954.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklrank.linear_model import OnlineRidgeClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = OnlineRidgeClassifier(kernel="rbf", n_components=300, random_state=0)
    >>> bool(model.fit(X[:1000], y[:1000]).score(X[1000:], y[1000:]) > 0.9)
    True
    """

    _learner_draws = _clips_often = True
    _parameter_constraints: dict = {
        "kernel": [StrOptions({"linear", "rbf"})],
        "alpha": [Interval(Real, 1 / MAX_WEIGHT_TO_ALPHA, None, closed="left"), "array-like"],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "gamma": [Interval(Real, 0, None, closed="neither")],
        "drift_threshold": [Interval(Real, 0, None, closed="neither"), None],
        "sketch_size": [Interval(Integral, 1, None, closed="left"), None],
        **_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        kernel: Literal["linear", "rbf"] = "linear",
        alpha: float | Sequence[float] = 1.0,
        n_components: int = 100,
        gamma: float = 0.5,
        drift_threshold: float | None = 25.0,
        standardize: bool = True,
        normalize: Literal["l2"] | None = None,
        sketch_size: int | None = None,
        shuffle: bool = True,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.n_components = n_components
        self.gamma = gamma
        self.drift_threshold = drift_threshold
        self.standardize = standardize
        self.normalize = normalize
        self.sketch_size = sketch_size
        self.shuffle = shuffle
        self.random_state = random_state

    # Factor of the predicted deviations from a uniform vote, and smoothness of the clipping of
    # votes at 0: instead of max(v, 0), a vote is (v + sqrt(v^2 + (smoothing / n_classes)^2)) / 2.
    _vote_scale, _vote_smoothing = 1.0, 0.0

    @property
    def n_drifts_(self) -> int:
        """Number of concept drifts detected."""
        return self._fitted("_learner").drift_test.n_drifts

    def _check_weights(self, weights):
        max_weight, alpha = weights.max(initial=0.0), self._learner.min_alpha
        if max_weight > MAX_WEIGHT_TO_ALPHA * alpha:
            raise ValueError(
                f"sample_weight must be {MAX_WEIGHT_TO_ALPHA:g} times alpha={alpha:g} or less, "
                f"got {max_weight:g}: divide it by its mean"
            )

    def _make_learner(self, n_features, n_classes, random_state):
        alphas = _candidates("alpha", self.alpha, 1 / MAX_WEIGHT_TO_ALPHA, np.inf, True)
        n_components = self.n_components if self.kernel == "rbf" else 0
        n_slots = min(n_features, self.sketch_size or n_features)
        # Samples of norm one have the kernel exp(-gamma |z - z'|^2), which does not depend on the
        # number of features.
        gamma = self.gamma * n_slots / (1 if self.normalize == "l2" else n_features)
        frequencies, phases = draw_frequencies(n_slots, n_components, gamma, random_state)
        sketch = {}
        if n_slots < n_features:
            sketch["n_slots"] = n_slots
            sketch["shared_slots"] = random_state.randint(n_slots, size=n_features).astype(np.intc)
            sketch["signs"] = random_state.choice([-1, 1], n_features).astype(np.intc)
        features = FeatureMap(
            n_features,
            3.0,
            frequencies=frequencies,
            phases=phases,
            standardize=self.standardize,
            normalize=self.normalize == "l2",
            **sketch,
        )
        return RidgeLearner(
            features,
            n_classes,
            alphas,
            self._vote_scale,
            1.0 if self._learns_relevance else self._vote_smoothing,
            self._learns_relevance,
            self.drift_threshold,
        )
