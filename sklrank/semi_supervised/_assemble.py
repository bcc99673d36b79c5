"""ASSEMBLE: semi-supervised boosting of any classifier with pseudo-labels."""

from __future__ import annotations

from numbers import Real
from typing import Any, Literal

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from sklrank._boosters import MAX_SCORE_GAP, Objective, of_boosters
from sklrank._estimators import Interval, StrOptions
from sklrank.semi_supervised._base import SemiSupervisedBooster, of_partly_labeled


class AssembleObjective(Objective):
    r"""Loss of ASSEMBLE (Bennett et al. 2002), for several classes as in SAMME.

    .. math:: \sum_i d_i \exp\Bigl(\frac{1}{K} \sum_k F_i^k - F_i^{y_i}\Bigr)

    Here :math:`F_i^k` is the score of sample i for class k of K, :math:`y_i` is its label, and
    :math:`d_i` its initial weight. The label of an unlabeled sample is its pseudo-label, the class
    with the largest score. Since no other label has a smaller loss, a new pseudo-label never
    increases the loss. The weight of a sample is its loss.

    The default step (see `AssembleClassifier`) minimizes the loss for fixed labels along the
    hypothesis, and no step between 0 and twice this step increases the loss. With two classes, the
    bound of `_boosters/rounds.py` is equal to this loss. With more classes, the bound does not hold
    in general, and is not needed.

    The label of an unlabeled sample is -1, and `pseudo_labels` are the labels as long as all scores
    are 0. The initial weights of the labeled samples are in proportion to the `weights`, and so are
    those of the unlabeled ones.
    """

    def __init__(self, labels, weights, pseudo_labels, n_classes, labeled_share, step_rule="samme"):
        # The step is log(correct / incorrect) / (2 * scale).
        self.scale, self._gain = (1.0, 1.0) if step_rule == "printed" else (0.5, n_classes - 1)
        self._is_labeled = labels >= 0
        self._true_labels = labels
        self._initial_pseudo_labels = pseudo_labels
        labeled, unlabeled = (weights[mask].sum() for mask in (labels >= 0, labels < 0))
        self._initial_weights = weights * np.where(
            self._is_labeled, labeled_share / labeled, (1 - labeled_share) / (unlabeled or 1.0)
        )

    def set_scores(self, scores):
        pseudo_labels = scores.argmax(axis=1) if scores.any() else self._initial_pseudo_labels
        self.labels = np.where(self._is_labeled, self._true_labels, pseudo_labels)
        margins = scores[np.arange(len(scores)), self.labels] - scores.mean(axis=1)
        self.weights = self._initial_weights * np.exp(np.minimum(-margins, MAX_SCORE_GAP))
        self.value = self.weights.sum()

    def step_weights(self, hypothesis):
        is_correct = hypothesis[np.arange(len(hypothesis)), self.labels]
        return self._gain * (self.weights @ is_correct), self.weights @ (1 - is_correct)


@of_boosters
@of_partly_labeled
class AssembleClassifier(SemiSupervisedBooster):
    r"""ASSEMBLE classifier: AdaBoost with pseudo-labels for the unlabeled samples.

    In each round, the pseudo-label of an unlabeled sample is the class that the weak learners of
    the preceding rounds predict; before the first round, that of the nearest labeled sample. Its
    weight is that of AdaBoost ([1]_; [2]_, Algorithm 2), so that samples that are predicted with a
    large margin have small weights.

    With more than two classes, the weights and steps are those of SAMME [3]_. The step is
    :math:`\alpha = \log \frac{1 - \epsilon}{\epsilon} + \log(K - 1)` for K classes and the weighted
    error :math:`\epsilon` of the weak learner, which therefore only needs to be more accurate than
    chance. With the step printed in [1]_ and [2]_, :math:`\alpha = \frac{1}{2} \log
    \frac{1 - \epsilon}{\epsilon}`, the accuracy must exceed one half; with many classes, small
    trees do not reach it, and boosting stops in the first round. The setting of [2]_ is
    ``step_rule="printed", labeled_share=1.0``.

    Similarities of samples are used for the first pseudo-labels only. If nearby samples mostly
    belong to the same class, :class:`MCSSBClassifier` is usually more accurate.

    Parameters
    ----------
    estimator : classifier or None, default=None
        Weak learner, which is cloned for each round. If None, `DecisionTreeClassifier(max_depth=8)`
        is used. A :class:`~sklrank.tree.HistogramTreeClassifier` is faster, because its features
        are binned once for all rounds, but can be much less accurate with many classes.
    n_estimators : int, default=50
        Maximum number of rounds.
    step_rule : {"samme", "printed"}, default="samme"
        Step :math:`\alpha` of each round: that of SAMME, or the one printed in [1]_. With two
        classes, the printed step is half of the other one.
    labeled_share : float, default=0.9
        Fraction of the sum of the initial weights that is given to the labeled samples. With 1, the
        weights of the unlabeled samples are 0 in all rounds.
    {learning_rate}
    weighting : {"auto", "resampling"}, default="auto"
        {weighting}
    {boosted}

    See Also
    --------
    MCSSBClassifier : Semi-supervised boosting with similarities of samples.

    Notes
    -----
    {of_unlabeled}

    References
    ----------
    .. [1] K. P. Bennett, A. Demiriz and R. Maclin, "Exploiting unlabeled data in ensemble methods",
       KDD 2002.
    .. [2] H. Valizadegan, "Boosting and online learning for classification and ranking", doctoral
       dissertation, Michigan State University, 2010, chapter 2.
    .. [3] J. Zhu, H. Zou, S. Rosset and T. Hastie, "Multi-class AdaBoost", Statistics and Its
       Interface 2, 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sklrank.semi_supervised import AssembleClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> labels = np.full(150, -1)
    >>> labels[::10] = y[::10]  # fifteen labels
    >>> AssembleClassifier(random_state=0).fit(X, labels).score(X, y) > 0.8
    True
    """

    _parameter_constraints: dict = {
        **SemiSupervisedBooster._parameter_constraints,
        "step_rule": [StrOptions({"samme", "printed"})],
        "labeled_share": [Interval(Real, 0, 1, closed="right")],
    }

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 50,
        *,
        step_rule: Literal["samme", "printed"] = "samme",
        labeled_share: float = 0.9,
        learning_rate: float = 1.0,
        weighting: Literal["auto", "resampling"] = "auto",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.step_rule = step_rule
        self.labeled_share = labeled_share
        self.learning_rate = learning_rate
        self.weighting = weighting
        self.random_state = random_state

    def _make_objective(self, X, labels, weights):
        pseudo_labels, labeled = labels, np.flatnonzero(labels >= 0)
        if len(labeled) < len(labels):
            # The class of the labeled sample nearest to each sample.
            nearest = KNeighborsClassifier(n_neighbors=1)
            pseudo_labels = nearest.fit(X[labeled], labels[labeled]).predict(X)
        options = self._n_classes, self.labeled_share, self.step_rule
        return AssembleObjective(labels, weights, pseudo_labels, *options)
