"""MCSSB: semi-supervised boosting of any weak learner with similarities of samples."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
from sklearn.tree import ExtraTreeClassifier

from sklrank._boosters import of_boosters
from sklrank._estimators import Interval, StrOptions
from sklrank.semi_supervised._booster import SemiSupervisedBooster
from sklrank.semi_supervised._labels import of_partly_labeled
from sklrank.semi_supervised._objectives import MCSSBObjective
from sklrank.semi_supervised._similarity import (
    diffused_affinities,
    labeled_affinities,
    make_similarity,
)


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
