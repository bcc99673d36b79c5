"""MCSSB: boosting of any classifier by the similarities of labeled and unlabeled samples."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal

from sklearn.base import is_regressor
from sklearn.tree import DecisionTreeRegressor

from sklrank._sklearn import N_JOBS, Interval, StrOptions, _fit_context
from sklrank._validation import unchanged_on_error
from sklrank.boosting._base import Booster
from sklrank.boosting._objectives import MCSSBObjective
from sklrank.boosting._semi_supervised import SemiSupervisedBooster
from sklrank.boosting._similarity import diffused_affinities, labeled_affinities, make_similarity
from sklrank.boosting._weak_learners import CostLearner

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import ArrayLike
    from typing_extensions import Self

__all__ = ["MCSSBClassifier"]


class MCSSBClassifier(SemiSupervisedBooster):
    r"""Multi-class semi-supervised boosting.

    For data of which few samples are labeled. Each round assigns every sample to the class that
    lowers

    .. math:: \sum_{ij} \frac{S_{ij}}{b_i^\top b_j} + C \sum_{jk} \frac{q_j^k}{b_j^k}

    most ([1]_, Eq. 2.7), weights the sample by the decrease, and fits a weak learner. Here S are
    similarities, b the class probabilities, the softmax of the scores, and :math:`q_j^k` the
    affinity of sample j to class k. The first sum is small if similar samples are in one class, the
    second one if they are in the class of similar labeled samples. The objective never rises.

    The defaults are recommended where near samples mostly share a class. They extend [1]_: labels
    spread on a graph of neighbors before the first round, so that all samples have an affinity to a
    class and not only those near a label, and the weak learners are fitted to the costs of all
    classes. The setting of [1]_ as printed, which is far less accurate without tuning, is ::

        MCSSBClassifier(
            n_estimators=50, similarity="rbf", weighting="resampling", learning_rate=1.0
        )

    Where near samples are unrelated, as among combinations of categories,
    ``similarity="identity"`` is safer. ``examples/semi_supervised_boosting.py`` compares them all.

    Parameters
    ----------
    estimator : classifier, regressor or None, default=None
        The weak learner, cloned for each round: a regressor of several outputs
        (:class:`~sklearn.multioutput.MultiOutputRegressor` makes one of any), fitted to the costs
        of all classes, or a classifier, fitted to labels and weights; see `weighting`. None:
        `DecisionTreeRegressor(max_depth=2)` for costs, else `DecisionTreeClassifier(max_depth=2)`.
    n_estimators : int, default=200
        Maximal number of rounds.
    labeled_weight : float, default=1e4
        C, up to 1e300. Results hardly change from the default upwards; with small values similar
        samples agree on any class.
    similarity : str or callable, default="diffusion"
        S, by name:

        - "rbf": Gaussian of the width `bandwidth`; 0 on the diagonal. It stores a number for each
          pair of samples, 800 MB for 10,000 samples.
        - "knn": 1 where one of two samples is among the `n_neighbors` nearest of the other, else 0.
        - "diffusion": the same, but labels spread on the graph of neighbors, and :math:`q_j` has a
          single entry above 0, the share of the class that reaches sample j most in all that reach
          it (an extension). Classes spread in proportion to their labels, as far as these are
          enough to estimate the proportions.
        - "uniform": 1 for all pairs; "identity": 1 for a sample and itself, else 0. Baselines of
          [1]_.
        - "precomputed": the matrix that `fit` is given.
        - a callable: the matrix that it returns for `X`, dense or sparse, symmetric, without
          negative entries.

        For all but "diffusion", :math:`q_j^k` is the similarity of sample j to the labeled samples
        of class k.
    bandwidth : float, default=0.15
        Standard deviation of the Gaussian of "rbf", as a share of the range of the distances
        between samples.
    n_neighbors : int, default=7
        Number of neighbors of "knn" and "diffusion".
    learning_rate : float, default=2.0
        Factor of each step. 1 is Eq. 2.19, which minimises a bound. With 2 the bound equals the
        objective at the start of the round: no step up to there raises the objective.
    weighting : {"auto", "sample_weight", "resampling", "cost"}, default="auto"
        How the weak learner is fitted:

        - "cost": a regressor is fitted to the gains of all classes for all samples, and the class
          of the largest prediction is predicted (an extension);
        - "sample_weight": a classifier is given the weights;
        - "resampling": a classifier is given samples drawn in proportion to the weights, as in
          [1]_;
        - "auto": "cost" if `estimator` is None or a regressor; for classifiers "sample_weight"
          where `fit` takes weights, else "resampling".
    max_samples : int, float or None, default=None
        How many samples are drawn for a round, a number or a share of all; None: a fifth, at least
        20. They are drawn up to ten times a round, until the weak learner is better than chance.
    warm_start : bool, default=False
        Whether `fit` adds rounds to those of the last `fit`, up to `n_estimators`; the data must be
        the same.
    random_state : int, RandomState instance or None, default=None
        Seeds the weak learners and draws the samples.
    verbose : int, default=0
        1: print some rounds, 2: print all.
    n_jobs : int or None, default=None
        Number of jobs of the search for neighbors.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes in `y`, without -1.
    estimators_ : list of classifiers
        The weak learners; they predict indices into `classes_`.
    estimator_weights_ : ndarray of shape (n_rounds,)
        The step of each weak learner.
    loss_curve_ : ndarray of shape (n_rounds + 1,)
        The objective before the first round and after each.
    transduction_ : ndarray of shape (n_samples,)
        Classes of the training samples: the given labels, and predictions for unlabeled samples.
    feature_importances_ : ndarray of shape (n_features,)
        Importances of the weak learners, weighted by the steps, if they have any.
    stop_reason_ : str
        The reason why the rounds ended.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if `X` had names that are strings.

    See Also
    --------
    AssembleClassifier : Boosting by pseudo-labels, without similarities.

    Notes
    -----
    -1 is no class, and not all tools of scikit-learn know that. `cross_val_predict` with
    ``method="predict_proba"`` or ``"decision_function"``, `StackingClassifier` and
    `VotingClassifier` encode `y` before they call `fit`: -1 becomes class 0, and all samples are
    labeled. To get held-out scores, call `fit` in a loop over the folds; `cross_val_predict` with
    ``method="predict"`` leaves `y` as it is. In a search leave out `scoring`: :meth:`score`
    considers labeled samples only, while other scorers treat -1 as a class. If `y` holds strings
    and -1, let `cv` be a :class:`~sklearn.model_selection.KFold`: stratified folds need entries
    that can be sorted.

    References
    ----------
    .. [1] H. Valizadegan, "Boosting and online learning for classification and ranking", doctoral
       dissertation, Michigan State University, 2010, chapter 2. The weights here are
       :math:`-\min_k(\alpha_i^k + C \beta_i^k)`, the decrease of the bound; the text prints a
       maximum.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sklrank.boosting import MCSSBClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> labels = np.full(150, -1)
    >>> labels[::30] = y[::30]  # five labels
    >>> model = MCSSBClassifier(random_state=0).fit(X, labels)
    >>> model.score(X, y) > 0.9
    True
    """

    _parameter_constraints: dict = {
        **Booster._parameter_constraints,
        "labeled_weight": [Interval(Real, 0, 1e300, closed="right")],
        "similarity": [
            StrOptions({"rbf", "knn", "diffusion", "uniform", "identity", "precomputed"}),
            callable,
        ],
        "bandwidth": [Interval(Real, 0, None, closed="neither")],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "weighting": [StrOptions({"auto", "sample_weight", "resampling", "cost"})],
        "n_jobs": N_JOBS,
    }

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 200,
        *,
        labeled_weight: float = 1e4,
        similarity: (
            Literal["rbf", "knn", "diffusion", "uniform", "identity", "precomputed"] | Callable
        ) = "diffusion",
        bandwidth: float = 0.15,
        n_neighbors: int = 7,
        learning_rate: float = 2.0,
        weighting: Literal["auto", "sample_weight", "resampling", "cost"] = "auto",
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
        self.bandwidth = bandwidth
        self.n_neighbors = n_neighbors
        self.learning_rate = learning_rate
        self.weighting = weighting
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
            Classes; -1 marks unlabeled samples. An array of objects, if classes are strings.
        similarities : {array-like, sparse matrix} of shape (n_samples, n_samples), default=None
            S, for ``similarity="precomputed"``. As cross-validation cannot split it, let
            `similarity` be a callable there.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If the data are malformed, the labels are of less than two classes, or the similarity
            matrix has the wrong shape, negative entries, or is not symmetric; a fitted model stays
            as it was.
        """
        with unchanged_on_error(self):
            X, labels = self._check_X_y(X, y)
            self._start_rounds()
            objective = self._make_objective(X, labels, similarities)
            self._boost_and_label(objective, self._make_learner(X), labels)
        return self

    def _make_objective(self, X, labels, matrix):
        if (matrix is not None) != (self.similarity == "precomputed"):
            raise ValueError(
                "fit takes similarities with similarity='precomputed', and only then; "
                f"similarity is {self.similarity!r}"
            )
        kind = {"diffusion": "knn", "precomputed": matrix}.get(self.similarity, self.similarity)
        similarity = make_similarity(
            X,
            kind,
            bandwidth=self.bandwidth,
            n_neighbors=self.n_neighbors,
            n_jobs=self.n_jobs,
        )
        if self.similarity == "diffusion":
            affinities = diffused_affinities(similarity.matrix, labels, self._n_classes)
        else:
            affinities = labeled_affinities(similarity, labels, self._n_classes)
        return MCSSBObjective(similarity, affinities, labels, self.labeled_weight)

    def _get_estimator(self):
        if self.estimator is None and self.weighting in ("auto", "cost"):
            return DecisionTreeRegressor(max_depth=2)
        return super()._get_estimator()

    def _make_learner(self, X):
        estimator = self._get_estimator()
        if self.weighting == "cost" or (self.weighting == "auto" and is_regressor(estimator)):
            return CostLearner(estimator, X, n_classes=self._n_classes)
        return super()._make_learner(X)
