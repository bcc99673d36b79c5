"""MCSSB: semi-supervised boosting of any weak learner with similarities of samples."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
from scipy.special import softmax
from sklearn.tree import ExtraTreeClassifier

from sklrank._boosters import MAX_SCORE_GAP, Objective, of_boosters
from sklrank._estimators import Interval, StrOptions
from sklrank.semi_supervised._base import SemiSupervisedBooster, of_partly_labeled
from sklrank.semi_supervised._similarity import (
    diffused_affinities,
    labeled_affinities,
    make_similarity,
    negative_gradient,
)


class MCSSBObjective(Objective):
    r"""Equation 2.7 of Valizadegan (2010), for class probabilities b, the softmax of the scores.

    .. math:: \sum_{ij} \frac{S_{ij}}{b_i^\top b_j} + C \sum_{jk} \frac{q_j^k}{b_j^k}

    The second sum is that of Eq. 2.6 with the class affinities :math:`q_j^k`, the similarity of
    sample j to the labeled samples of class k; see `_similarity.py` for other affinities. If the
    samples have weights, :math:`S_{ij}` is multiplied by those of i and j, and :math:`q_j^k` by
    that of j.

    For a hypothesis that assigns sample i to class k, the sample adds

    .. math:: B_i^k = b_i^k \sum_j \frac{S_{ij} b_j^k}{(b_i^\top b_j)^2}
              + \frac{C}{2} \frac{q_i^k}{b_i^k}

    to the correct step weight (Eqs. 2.17 and 2.18) and :math:`A_i^k = b_i^k \sum_l B_i^l` to the
    incorrect one (Eqs. 2.15 and 2.16, with their sums over j taken together). The difference
    :math:`A_i^k - B_i^k` is :math:`\alpha_i^k + C \beta_i^k` of Eq. 2.12, the cost of assigning
    sample i to class k.

    The similarity S is a matrix, dense or a CSR array, `class_affinities` are q, and
    `labeled_weight` is C. Labeled samples keep their classes as labels; the label of unlabeled ones
    is -1. If `trains_labeled` is False, the weights of labeled samples are 0, unless all samples
    are labeled.

    `costs` `(n_samples, n_classes)` are those of assigning each sample to each class; their sum
    over the classes is 0.
    """

    # The bound of Lemma 2 contains e^(2 alpha).
    scale = 2.0

    def __init__(
        self, similarity, class_affinities, labels, weights, labeled_weight, *, trains_labeled=True
    ):
        self._similarity = similarity
        self._sample_weights = weights[:, np.newaxis]
        self._half_affinities = labeled_weight / 2 * self._sample_weights * class_affinities
        self._true_labels = labels
        self._has_weight = np.full(len(labels), trains_labeled or (labels >= 0).all())
        self._has_weight |= labels < 0

    def set_scores(self, scores):
        scores = scores - scores.max(axis=1, keepdims=True)
        # The reciprocals of probabilities and their squares must be finite.
        probabilities = softmax(np.maximum(scores, -MAX_SCORE_GAP), axis=1)
        by_similarity = self._sample_weights * probabilities
        by_similarity *= negative_gradient(self._similarity, probabilities, by_similarity)
        by_labels = self._half_affinities / probabilities
        self.value = by_similarity.sum() + 2 * by_labels.sum()
        self._correct = by_similarity + by_labels
        self._incorrect = probabilities * self._correct.sum(axis=1, keepdims=True)
        self.costs = self._incorrect - self._correct
        self.labels = np.where(self._true_labels < 0, self.costs.argmin(axis=1), self._true_labels)
        # The decrease of the bound if the sample is assigned to its label.
        decreases = -np.take_along_axis(self.costs, self.labels[:, np.newaxis], axis=1)[:, 0]
        self.weights = np.where(self._has_weight, np.maximum(decreases, 0.0), 0.0)

    def step_weights(self, hypothesis):
        return np.vdot(hypothesis, self._correct), np.vdot(hypothesis, self._incorrect)


@of_boosters
@of_partly_labeled
class MCSSBClassifier(SemiSupervisedBooster):
    r"""MCSSB classifier: multi-class semi-supervised boosting for data with few labeled samples.

    Boosting minimizes the objective ([1]_, Eq. 2.7)

    .. math:: \sum_{ij} \frac{S_{ij}}{b_i^\top b_j} + C \sum_{jk} \frac{q_j^k}{b_j^k}.

    Here :math:`S_{ij}` is the similarity of the samples i and j, :math:`b_i` are the class
    probabilities of sample i, the softmax of its scores, and :math:`q_j^k` is the affinity of
    sample j to class k. The sums are small if similar samples are in the same class, and samples in
    the classes to which they have affinities. The objective never increases.

    In each round (Algorithm 3), every unlabeled sample is assigned to the class that decreases a
    bound on the objective most, and its weight is this decrease. A classifier is fitted to these
    classes and weights.

    By default, the similarity is that of nearest neighbors, the affinities are computed by label
    spreading, weak learners are fitted to labeled samples, too, and the steps are twice those of
    [1]_. The setting printed in [1]_ is ::

        MCSSBClassifier(
            DecisionTreeClassifier(max_depth=2), n_estimators=50, labeled_weight=1e4,
            similarity="rbf", learning_rate=1.0, weighting="resampling", train_on="unlabeled",
        )

    The baseline "MCSSB-Absolute" of [1]_ is ``similarity="identity"``. With it, no round can be
    fitted to the unlabeled samples alone; the figures of [1]_ agree with ``train_on="all"``. If
    accuracy is all that counts, :class:`PooledLabelSpreading` is usually better.

    Parameters
    ----------
    estimator : classifier or None, default=None
        Weak learner, which is cloned for each round. If None, `ExtraTreeClassifier(max_depth=8,
        max_features=0.5)` is used. The features of a
        :class:`~sklrank.tree.HistogramTreeClassifier` are binned once for all rounds.
    n_estimators : int, default=100
        Maximum number of rounds.
    labeled_weight : float, default=1.0
        Weight C of the second sum, from 0 to 1e300. With large values, such as the 1e4 of [1]_,
        samples keep the classes to which they have affinities. With small values, similar samples
        may agree on a class that contradicts the labels.
    similarity : {"diffusion", "rbf", "identity"} or callable, default="diffusion"
        Similarity S of the samples:

        - "diffusion": 1 if one of two samples is among the `n_neighbors` nearest neighbors of the
          other, else 0, of features divided by their standard deviations. The affinities are
          computed by label spreading on this graph, which is an extension of [1]_. Each class
          spreads weight from its labeled samples, whose total is its estimated proportion (that
          among the labeled samples, shrunk towards equal proportions if these are few). An
          unlabeled sample j has an affinity only to the class with the largest weight at j, the
          proportion of that class in the total weight at j.
        - "rbf": a Gaussian of the distance, whose width is 15 % of the range of distances, as in
          [1]_, and 0 on the diagonal. One number is stored for each pair of samples (800 MB for
          10,000 samples). If the features have different units, scale them before.
        - "identity": 1 for a sample and itself, else 0.
        - a callable: it returns the matrix of similarities of `X`, dense or sparse, symmetric and
          without negative entries. For "MCSSB-Uniform" of [1]_, use
          ``lambda X: np.ones((len(X), len(X)))``.

        Except with "diffusion", :math:`q_j^k` is the sum of the similarities of sample j to the
        labeled samples of class k, as in [1]_.
    n_neighbors : int, default=7
        Number of neighbors of each sample, for "diffusion".
    learning_rate : float, default=2.0
        Learning rate that multiplies each step. With 1, the step is that of Eq. 2.19, which
        minimizes a bound on the objective. With 2, the bound equals the objective at the start of
        the round; hence the objective does not increase with values up to 2.
    weighting : {"auto", "resampling"}, default="auto"
        {weighting}
    train_on : {"all", "unlabeled"}, default="all"
        Samples to which the weak learners are fitted. In Algorithm 3 of [1]_, these are the
        unlabeled ones; the labels have an effect through the objective only. If "all", or if all
        are labeled, a labeled sample is assigned to its class, and its weight is the decrease of
        the bound that this causes, or 0 if the bound would increase.
    {boosted}

    See Also
    --------
    PooledLabelSpreading : Graphs and classifiers, weighted by hidden labels.
    AssembleClassifier : Semi-supervised boosting with pseudo-labels.

    Notes
    -----
    {of_unlabeled}

    References
    ----------
    .. [1] H. Valizadegan, "Boosting and online learning for classification and ranking", doctoral
       dissertation, Michigan State University, 2010, chapter 2. The weights here are
       :math:`-\min_k(\alpha_i^k + C \beta_i^k)`, the decrease of the bound; the dissertation
       prints a maximum instead.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sklrank.semi_supervised import MCSSBClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> labels = np.full(150, -1)
    >>> labels[::10] = y[::10]  # fifteen labels
    >>> model = MCSSBClassifier(random_state=0).fit(X, labels)
    >>> model.score(X, y) > 0.8
    True
    """

    _parameter_constraints: dict = {
        **SemiSupervisedBooster._parameter_constraints,
        "labeled_weight": [Interval(Real, 0, 1e300, closed="right")],
        "similarity": [StrOptions({"diffusion", "rbf", "identity"}), callable],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "train_on": [StrOptions({"all", "unlabeled"})],
    }

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 100,
        *,
        labeled_weight: float = 1.0,
        similarity: Literal["diffusion", "rbf", "identity"] | Callable = "diffusion",
        n_neighbors: int = 7,
        learning_rate: float = 2.0,
        weighting: Literal["auto", "resampling"] = "auto",
        train_on: Literal["all", "unlabeled"] = "all",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.labeled_weight = labeled_weight
        self.similarity = similarity
        self.n_neighbors = n_neighbors
        self.learning_rate = learning_rate
        self.weighting = weighting
        self.train_on = train_on
        self.random_state = random_state

    def _make_objective(self, X, labels, weights):
        similarity = make_similarity(X, self.similarity, self.n_neighbors)
        is_graph = self.similarity == "diffusion"
        affinities_of = diffused_affinities if is_graph else labeled_affinities
        return MCSSBObjective(
            similarity,
            affinities_of(similarity, labels, weights, self._n_classes),
            labels,
            weights,
            self.labeled_weight,
            trains_labeled=self.train_on == "all",
        )

    def _get_estimator(self):
        if self.estimator is None:
            return ExtraTreeClassifier(max_depth=8, max_features=0.5)
        return super()._get_estimator()
