"""MCSSB: semi-supervised boosting of any weak learner with similarities of samples."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import is_regressor
from sklearn.tree import ExtraTreeRegressor

from sklrank._randomness import draw_seed
from sklrank._sklearn import N_JOBS, Interval, StrOptions, _fit_context
from sklrank._validation import unchanged_on_error
from sklrank.boosting._base import Booster
from sklrank.boosting._pooled_affinities import CLASSIFIERS, pooled_affinities
from sklrank.boosting._semi_supervised import SemiSupervisedBooster
from sklrank.boosting._semi_supervised_objectives import MCSSBObjective
from sklrank.boosting._similarity import (
    diffused_affinities,
    labeled_affinities,
    make_similarity,
    standardized,
)
from sklrank.boosting._weak_learners import FirstModelLearner, make_cost_learner

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike
    from typing_extensions import Self

__all__ = ["MCSSBClassifier"]


class MCSSBClassifier(SemiSupervisedBooster):
    r"""MCSSB classifier: multi-class semi-supervised boosting for data with few labeled samples.

    Boosting minimizes the objective ([1]_, Eq. 2.7)

    .. math:: \sum_{ij} \frac{S_{ij}}{b_i^\top b_j} + C \sum_{jk} \frac{q_j^k}{b_j^k}.

    Here :math:`S_{ij}` is the similarity of the samples i and j. The vector :math:`b_i` contains
    the class probabilities of sample i, which are the softmax of its scores, and :math:`b_i^k` is
    the probability of class k. The affinity of sample j to class k is :math:`q_j^k`. The first sum
    is small if similar samples are in the same class. The second sum is small if samples are in the
    classes to which they have affinities. The objective never increases.

    In each round, every unlabeled sample is assigned to the class that decreases a bound on the
    objective most. The weight of a sample is the largest such decrease, and a classifier is fitted
    to these classes and weights. By default, a regressor is fitted instead to the costs of
    assigning each sample to each class.

    The defaults extend [1]_ in three ways. Before the first round, the classes of the unlabeled
    samples are estimated from several sources: labels spread on graphs of neighbors, of scaled and
    of unscaled features, and classifiers are fitted to the labeled samples. The sources are
    weighted by how well they predict labels that were hidden from them. The first weak learner is
    the pool of the classifiers; if the graphs do not help, it is the only one. The later weak
    learners are fitted to the costs of all classes. The setting of [1]_ as printed is ::

        MCSSBClassifier(
            DecisionTreeClassifier(max_depth=2), n_estimators=50, similarity="rbf", scale=False,
            weighting="resampling", learning_rate=1.0, train_on="unlabeled",
        )

    ``examples/semi_supervised_boosting.py`` compares these settings.

    Parameters
    ----------
    estimator : classifier, regressor or None, default=None
        Weak learner, which is cloned for each round. A regressor is fitted to the costs of all
        classes and must support several outputs
        (:class:`~sklearn.multioutput.MultiOutputRegressor` extends any regressor to them). A
        classifier is fitted to labels and weights; see `weighting`. The features of a
        :class:`~sklrank.tree.HistogramTreeRegressor` or
        :class:`~sklrank.tree.HistogramTreeClassifier` are binned once for all rounds. If None,
        `ExtraTreeRegressor(max_depth=6, max_features=0.5)` is used if `weighting` is "auto" or
        "cost", otherwise `DecisionTreeClassifier(max_depth=2)`; and with `similarity` "auto", the
        first weak learner is a pool of classifiers.
    n_estimators : int, default=200
        Maximum number of rounds.
    labeled_weight : float, default=1e4
        Weight C of the second sum, from 0 to 1e300. Values above the default give nearly the same
        results. With small values, similar samples may agree on a class that contradicts the
        labels.
    similarity : str or callable, default="auto"
        Similarity S of the samples:

        - "auto": the similarity is that of "knn", for scaled or unscaled features, whichever has
          the larger weight. The affinities are those of "diffusion", but they are computed from a
          weighted geometric mean of class probabilities: by label spreading on either graph, and by
          a random forest, extremely randomized trees and logistic regression. The weights maximize
          the likelihood of the labeled samples, each of which is hidden in one of five folds. A
          penalty, which matters if labels are few, favors the sources that are the best alone. If
          the graphs predict hidden labels worse than the classifiers and do not improve the mean
          (by the criterion of Akaike), they are not used. Then the similarity is that of
          "identity".
        - "rbf": the similarity is a Gaussian of the distance, with width `bandwidth`, and 0 on the
          diagonal. One number is stored for each pair of samples (800 MB for 10,000 samples).
        - "knn": the similarity of two samples is 1 if one of them is among the `n_neighbors`
          nearest neighbors of the other, else 0.
        - "diffusion": the similarity is that of "knn", but the affinities are computed by label
          spreading on the graph of neighbors, which is an extension of [1]_. Each class spreads
          weight from its labeled samples. The total weight of a class is its estimated proportion
          (the proportion among the labeled samples, shrunk towards equal proportions if these are
          few). An unlabeled sample j has an affinity only to the class with the largest weight at
          j. This affinity is the proportion of that class in the total weight at j.
        - "uniform": the similarity is 1 for all pairs (a baseline of [1]_). A round takes time in
          proportion to the number of all pairs.
        - "identity": the similarity is 1 for a sample and itself, else 0 (a baseline of [1]_).
        - "precomputed": the similarities are the matrix that is passed to `fit`.
        - a callable: it is called with `X` and returns the matrix of similarities, dense or sparse,
          which must be symmetric without negative entries.

        Except with "auto" and "diffusion", :math:`q_j^k` is the sum of the similarities of sample j
        to the labeled samples of class k.
    scale : {"auto"} or bool, default="auto"
        Whether the features are divided by their standard deviations before "rbf", "knn" and
        "diffusion" compute distances. If "auto", they are, and "auto" uses both kinds of distances.
        Scaling lets all features have the same weight, whatever their units. If `X` contains
        categories, encode them as indicators; rare categories have large weights then. Weak
        learners are fitted to unscaled features.
    bandwidth : float, default=0.15
        Standard deviation of the Gaussian of "rbf", as a fraction of the range of the distances
        between samples.
    n_neighbors : int, default=7
        Number of neighbors of each sample, for "auto", "knn" and "diffusion".
    learning_rate : float, default=2.0
        Learning rate that multiplies each step. With 1, the step is that of Eq. 2.19, which
        minimizes a bound on the objective. With 2, the bound equals the objective at the start of
        the round; hence the objective does not increase with values up to 2.
    weighting : {"auto", "sample_weight", "resampling", "cost"}, default="auto"
        How the weak learner is fitted:

        - "cost": a regressor is fitted to the negative costs of assigning each sample to each
          class, and the class with the largest prediction is predicted. This is an extension of
          [1]_.
        - "sample_weight": a classifier is fitted with the weights as `sample_weight`.
        - "resampling": a classifier is fitted to samples that are drawn in proportion to the
          weights, as in [1]_.
        - "auto": "cost" is used if `estimator` is None or a regressor. For classifiers,
          "sample_weight" is used if `fit` accepts `sample_weight`, otherwise "resampling".
    train_on : {"all", "unlabeled"}, default="all"
        Samples to which the weak learners are fitted. In Algorithm 3 of [1]_, these are the
        unlabeled samples; the labels have an effect through the objective only. If "all", a labeled
        sample is assigned to its class, and its weight is the decrease of the bound that this
        causes, or 0 if the bound would increase. If all samples are labeled, "all" is used.
    max_samples : int, float or None, default=None
        Number of samples drawn in each round if the weak learner is fitted by resampling: an int, a
        fraction of all samples, or None for one fifth of them, but at least 20. In each round,
        samples are drawn up to ten times, until the weak learner is better than chance.
    warm_start : bool, default=False
        If True, `fit` keeps the rounds of the last call and adds rounds up to `n_estimators`. The
        training data must be the same in both calls.
    random_state : int, RandomState instance or None, default=None
        Controls the random choice of samples, the folds and the forests of "auto", and the
        randomness of the weak learners.
    verbose : int, default=0
        Verbosity. If 1, print the first nine rounds and every tenth one; if 2, print all rounds.
    n_jobs : int or None, default=None
        Number of parallel jobs of the search for neighbors and of the forests.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Distinct classes in `y`, without -1.
    estimators_ : list of classifiers
        Weak learners. They predict indices into `classes_`.
    estimator_weights_ : ndarray of shape (n_rounds,)
        Step of each weak learner, by which its predictions are multiplied.
    loss_curve_ : ndarray of shape (n_rounds + 1,)
        Objective before the first round and after each round.
    source_weights_ : dict of str to float
        Weights of "scaled graph", "unscaled graph", "random forest", "extra trees" and "logistic
        regression". Defined only if `similarity` is "auto".
    transduction_ : ndarray of shape (n_samples,)
        Classes of the training samples: the given label of each labeled sample, and the predicted
        class of each unlabeled sample.
    feature_importances_ : ndarray of shape (n_features,)
        Mean importance of each feature over the weak learners, weighted by the steps. Defined only
        if the weak learners have `feature_importances_`.
    stop_reason_ : str
        Reason why boosting stopped.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features. Defined only if `X` has feature names that are all strings.

    See Also
    --------
    AssembleClassifier : Semi-supervised boosting with pseudo-labels.

    Notes
    -----
    The label -1 marks unlabeled samples, but some tools of scikit-learn treat it as a class.
    `cross_val_predict` with ``method="predict_proba"`` or ``"decision_function"``,
    `StackingClassifier` and `VotingClassifier` encode `y` before they call `fit`: -1 becomes
    class 0, and all samples are labeled. To compute held-out scores, call `fit` in a loop over the
    folds. `cross_val_predict` with ``method="predict"`` does not change `y`. In a hyperparameter
    search, do not set `scoring`: the default, :meth:`score`, considers labeled samples only, while
    other scorers treat -1 as a class. If `y` contains both strings and -1, pass a
    :class:`~sklearn.model_selection.KFold` as `cv`, because stratified folds require entries of
    `y` that can be sorted.

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
    >>> from sklrank.boosting import MCSSBClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> labels = np.full(150, -1)
    >>> labels[::10] = y[::10]  # fifteen labels
    >>> model = MCSSBClassifier(random_state=0).fit(X, labels)
    >>> model.score(X, y) > 0.9
    True
    """

    _parameter_constraints: dict = {
        **Booster._parameter_constraints,
        "labeled_weight": [Interval(Real, 0, 1e300, closed="right")],
        "similarity": [
            StrOptions({"auto", "rbf", "knn", "diffusion", "uniform", "identity", "precomputed"}),
            callable,
        ],
        "scale": [StrOptions({"auto"}), "boolean"],
        "bandwidth": [Interval(Real, 0, None, closed="neither")],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "weighting": [StrOptions({"auto", "sample_weight", "resampling", "cost"})],
        "train_on": [StrOptions({"all", "unlabeled"})],
        "n_jobs": N_JOBS,
    }

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 200,
        *,
        labeled_weight: float = 1e4,
        similarity: (
            Literal["auto", "rbf", "knn", "diffusion", "uniform", "identity", "precomputed"]
            | Callable
        ) = "auto",
        scale: Literal["auto"] | bool = "auto",
        bandwidth: float = 0.15,
        n_neighbors: int = 7,
        learning_rate: float = 2.0,
        weighting: Literal["auto", "sample_weight", "resampling", "cost"] = "auto",
        train_on: Literal["all", "unlabeled"] = "all",
        max_samples: int | float | None = None,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.labeled_weight = labeled_weight
        self.similarity = similarity
        self.scale = scale
        self.bandwidth = bandwidth
        self.n_neighbors = n_neighbors
        self.learning_rate = learning_rate
        self.weighting = weighting
        self.train_on = train_on
        self.max_samples = max_samples
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: ArrayLike, y: ArrayLike, similarities: ArrayLike | None = None) -> Self:
        """Fit the ensemble to labeled and unlabeled samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Classes; -1 marks unlabeled samples. If the classes are strings, `y` must be an array of
            objects.
        similarities : {array-like, sparse matrix} of shape (n_samples, n_samples), default=None
            Similarities S, which are required if `similarity` is "precomputed". Cross-validation
            cannot split this matrix; use a callable `similarity` there.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If the data are malformed, if `y` has fewer than two classes, or if the matrix of
            similarities has the wrong shape, has negative entries, or is not symmetric. In these
            cases, a fitted model does not change.
        """
        with unchanged_on_error(self):
            X, labels = self._check_X_y(X, y)
            self._start_rounds()
            objective, pool = self._make_objective(X, labels, similarities)
            learner = self._make_learner(X, objective)
            if pool is not None and self.estimator is None:
                # Weak learners after the first round learn what the neighbors add.
                later = learner if self._uses_graphs() else None
                learner = FirstModelLearner(pool, X, self._n_classes, len(self.estimators_), later)
            self._boost_and_label(objective, learner, labels)
        return self

    def _make_objective(self, X, labels, matrix):
        """Return the objective, and the pool of classifiers if `similarity` is "auto"."""
        if (matrix is not None) != (self.similarity == "precomputed"):
            raise ValueError(
                "fit takes similarities with similarity='precomputed', and only then; "
                f"similarity is {self.similarity!r}"
            )
        pool = None
        kind = {"diffusion": "knn", "precomputed": matrix}.get(self.similarity, self.similarity)
        if self.similarity == "auto":
            similarity, affinities, pool = self._pooled(X, labels)
        else:
            of_distances = self.similarity in ("rbf", "knn", "diffusion")
            similarity = self._make_similarity(X, kind, scale=self.scale and of_distances)
            if self.similarity == "diffusion":
                affinities = diffused_affinities(similarity.matrix, labels, self._n_classes)
            else:
                affinities = labeled_affinities(similarity, labels, self._n_classes)
        objective = MCSSBObjective(
            similarity,
            affinities,
            labels,
            self.labeled_weight,
            trains_labeled=self.train_on == "all",
        )
        return objective, pool

    def _make_similarity(self, X, kind, scale):
        return make_similarity(
            standardized(X) if scale else X,
            kind,
            bandwidth=self.bandwidth,
            n_neighbors=self.n_neighbors,
            n_jobs=self.n_jobs,
        )

    def _pooled(self, X, labels):
        """Return the similarity, the affinities and the classifiers of similarity="auto"."""
        scales = (True, False) if self.scale == "auto" else (bool(self.scale),)
        similarities = [self._make_similarity(X, "knn", scale) for scale in scales]
        affinities, weights, pool = pooled_affinities(
            X,
            [similarity.matrix for similarity in similarities],
            labels,
            self._n_classes,
            seed=self._pool_seed,
            n_jobs=self.n_jobs,
        )
        names = ["scaled graph" if scale else "unscaled graph" for scale in scales]
        self.source_weights_ = dict(zip([*names, *CLASSIFIERS], weights.tolist()))
        if self._uses_graphs():
            similarity = similarities[weights[: len(similarities)].argmax()]
        else:
            similarity = self._make_similarity(X, "identity", scale=False)
        return similarity, affinities, pool

    def _uses_graphs(self):
        """Return False if similarity="auto" found that neighbors do not help."""
        return any(
            weight for name, weight in self.source_weights_.items() if name not in CLASSIFIERS
        )

    def _start_rounds(self):
        super()._start_rounds()
        vars(self).pop("source_weights_", None)
        if not self.estimators_:
            vars(self).pop("_pool_seed", None)
        # A warm start may be the first fit with this similarity.
        if self.similarity == "auto" and not hasattr(self, "_pool_seed"):
            self._pool_seed = draw_seed(self._random_state)

    def _get_estimator(self):
        # Tags are computed before parameters are checked, so `weighting` may be of any type.
        weighting = self.weighting if isinstance(self.weighting, str) else None
        if self.estimator is None and weighting in ("auto", "cost"):
            return ExtraTreeRegressor(max_depth=6, max_features=0.5)
        return super()._get_estimator()

    def _make_learner(self, X, objective):
        estimator = self._get_estimator()
        if self.weighting == "cost" or (self.weighting == "auto" and is_regressor(estimator)):
            return make_cost_learner(
                estimator, X, objective, n_classes=self._n_classes, random_state=self._random_state
            )
        return super()._make_learner(X, objective)
