"""HoeffdingTreeClassifier: an incremental decision tree for scikit-learn."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Literal

import numpy as np

from sklrank._estimators import Interval, StrOptions
from sklrank._online import CompiledClassifier, of_online
from sklrank.tree._hoeffding.tree import LEAF_PREDICTIONS, AdaptiveTree, HoeffdingTree

LEAF = -1
# The compiled tree numbers its nodes by 32-bit integers.
MAX_SIZE = np.iinfo(np.int32).max


@of_online
class HoeffdingTreeClassifier(CompiledClassifier):
    """A Hoeffding tree (VFDT): an incremental decision tree for data streams.

    This class implements the algorithm of [1]_ with Gaussian observers: each leaf models the values
    of each feature by one Gaussian distribution for each class. Whenever the weight of the samples
    of a leaf has increased by `grace_period`, ten thresholds of each feature are tried, equally
    spaced between its minimum and its maximum in the leaf; each side must have more than a
    hundredth of the weight. The information gain, in bits, of the best split is compared with that
    of the best one on another feature, and with 0 for not splitting. The leaf is split if the
    difference exceeds the Hoeffding bound ``sqrt(R**2 * log(1 / delta) / (2 * n))``, or if the
    bound is below `tau`. Here `n` is the weight of the leaf, and `R` the base-2 logarithm of the
    number of classes in it. Memory is proportional to the number of leaves, not of samples.

    A few gross errors do not decide the tree. A value that is farther than thirty standard
    deviations from the mean of its class in the leaf counts as one at this distance, once the leaf
    has thirty values of the class. No threshold is farther than six from the means of all classes.

    Missing values (NaN) are ignored in the statistics of their feature. At a split, the class
    weights of such samples are added to the heavier child, to which later ones go, too.

    Parameters
    ----------
    grace_period : float, default=200
        Increase in the weight of a leaf between two attempts to split it.
    delta : float, default=1e-7
        Probability that the split differs from that for infinitely many samples.
    tau : float, default=0.05
        Threshold for breaking ties: if the Hoeffding bound is below `tau`, the best split is made
        even if another one is almost as good.
    leaf_prediction : {"nba", "nb", "mc"}, default="nba"
        Prediction of a leaf: by its class weights ("mc", majority class), by naive Bayes with its
        Gaussian distributions ("nb"), or by the one of the two that has predicted the larger weight
        of samples in this leaf correctly ("nba", adaptive; naive Bayes in case of a tie).
    max_depth : int, default=None
        Maximum depth of the tree. If None, the depth is not limited.
    max_leaves : int, default=None
        Maximum number of leaves, which limits the memory. If None, it is not limited.
    drift_threshold : float or None, default=None
        Threshold of the test for concept drift, see Notes; 25 is recommended for streams that may
        drift. If None, as in [1]_, or if the model learns from the costs of a booster, there is no
        test.
    {shuffle_and_seed}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_rounds_ : int
        Number of samples learned, without those of weight zero.
    {n_features_in}
    feature_importances_ : ndarray of shape (n_features,)
        Sum of the gains of the splits on each feature, times the weights of the samples in their
        nodes, normalized to sum to 1.
    n_drifts_ : int
        Number of concept drifts detected.

    See Also
    --------
    sklearn.tree.DecisionTreeClassifier : A tree for data that fit into memory.

    Notes
    -----
    Concept drift is detected by a Page-Hinkley test [2]_ of the losses of samples, each before it
    is learned: 0 if the predicted class is right, else 1. If their mean increases by d > 1/4
    standard deviations, the test detects it after about ``drift_threshold / (d - 1/4)`` samples.
    Since the most likely time of the drift, a second tree has learned the samples. It replaces the
    tree when the drift is detected and it has made fewer errors. Without drift, the value 25 rarely
    detects one, and then a tree is replaced that predicted worse.

    References
    ----------
    .. [1] Domingos and Hulten, "Mining high-speed data streams", KDD 2000.
    .. [2] Page, "Continuous inspection schemes", Biometrika 41, 1954.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklrank.tree import HoeffdingTreeClassifier
    >>> X, y = make_classification(5000, random_state=0)
    >>> tree = HoeffdingTreeClassifier(grace_period=100, tau=0.2).partial_fit(
    ...     X[:4000], y[:4000], classes=[0, 1]
    ... )
    >>> bool(tree.score(X[4000:], y[4000:]) > 0.85)
    True

    Detect that the classes change their places:

    >>> tree = HoeffdingTreeClassifier(drift_threshold=25).partial_fit(X, y)
    >>> tree.partial_fit(X, 1 - y).n_drifts_
    1
    """

    _accepts_nan = True
    _parameter_constraints: dict = {
        **CompiledClassifier._parameter_constraints,
        "grace_period": [Interval(Real, 0, None, closed="neither")],
        "delta": [Interval(Real, 0, 1, closed="neither")],
        "tau": [Interval(Real, 0, None, closed="left")],
        "leaf_prediction": [StrOptions(set(LEAF_PREDICTIONS))],
        "max_depth": [Interval(Integral, 1, None, closed="left"), None],
        "max_leaves": [Interval(Integral, 2, None, closed="left"), None],
        "drift_threshold": [Interval(Real, 0, None, closed="neither"), None],
    }

    def __init__(
        self,
        *,
        grace_period: float = 200,
        delta: float = 1e-7,
        tau: float = 0.05,
        leaf_prediction: Literal["nba", "nb", "mc"] = "nba",
        max_depth: int | None = None,
        max_leaves: int | None = None,
        drift_threshold: float | None = None,
        shuffle: bool = True,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.grace_period = grace_period
        self.delta = delta
        self.tau = tau
        self.leaf_prediction = leaf_prediction
        self.max_depth = max_depth
        self.max_leaves = max_leaves
        self.drift_threshold = drift_threshold
        self.shuffle = shuffle
        self.random_state = random_state

    def _make_learner(self, n_features, n_classes, random_state):
        params = self.get_params()
        for name in ("max_depth", "max_leaves"):
            params[name] = -1 if params[name] is None else min(params[name], MAX_SIZE)
        kind = HoeffdingTree if self.drift_threshold is None else AdaptiveTree
        return kind(n_features, n_classes, **params)

    def get_depth(self) -> int:
        """Return the depth of the tree: the maximum number of splits from the root to a leaf.

        Returns
        -------
        int
            Depth of the tree. The depth of a tree with a single leaf is 0.
        """
        return int(self._fitted("_learner").node_table["depth"].max())

    def get_n_leaves(self) -> int:
        """Return the number of leaves.

        Returns
        -------
        int
            Number of leaves, at least 1.
        """
        return (len(self._fitted("_learner").node_table) + 1) // 2

    @property
    def n_rounds_(self) -> int:
        """Number of samples learned, without those of weight zero."""
        return self._fitted("_learner").n_learned

    @property
    def n_drifts_(self) -> int:
        """Number of concept drifts detected."""
        test = getattr(self._fitted("_learner"), "drift_test", None)
        return 0 if test is None else test.n_drifts

    @property
    def feature_importances_(self) -> np.ndarray:
        """Importances of the features, normalized to sum to 1; all are 0 if there are no splits."""
        nodes = self._fitted("_learner").node_table
        inner = nodes[nodes["feature"] != LEAF]
        gains = np.bincount(
            inner["feature"], inner["gain"] * inner["weight"], minlength=self.n_features_in_
        )
        return gains / gains.sum() if gains.sum() > 0 else gains
