"""MCSSB: boosting of any classifier by similarities to rows with and without labels."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal

from sklearn.tree import DecisionTreeRegressor

from sklrank._sklearn import N_JOBS, Interval, StrOptions, _fit_context
from sklrank._validation import unchanged_on_error
from sklrank.boosting._booster import Booster
from sklrank.boosting._class_masses import diffused_masses, labeled_masses
from sklrank.boosting._cost_learner import CostLearner
from sklrank.boosting._mcssb_objective import MCSSBObjective
from sklrank.boosting._semi_supervised import SemiSupervisedBooster
from sklrank.boosting._similarity import make_similarity
from sklrank.boosting._weak_learners import ClassifierLearner

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import ArrayLike
    from typing_extensions import Self

__all__ = ["MCSSBClassifier"]


class MCSSBClassifier(SemiSupervisedBooster):
    r"""Multi-class semi-supervised boosting.

    Few rows have labels, many have none. Each round gives every row the class that lowers

    .. math:: \sum_{ij} \frac{S_{ij}}{b_i^\top b_j} + C \sum_{jk} \frac{q_j^k}{b_j^k}

    most ([1]_, Eq. 2.7), weighs it by how much, and trains a weak learner on that. Here S are
    similarities, b the class shares, the softmax of the scores, and :math:`q_j^k` the similarity of
    row j to the labeled rows of class k. The first sum wants similar rows in one class, the second
    one wants them in the class of their labeled neighbors. The sum never rises from round to round.

    The defaults are those of the dissertation, except that weights are given to classifiers that
    take them. Where rows that are near each other mostly share a class, an extension does far
    better, without tuning::

        MCSSBClassifier(
            n_estimators=200, similarity="diffusion", weighting="cost", learning_rate=2.0
        )

    Labels spread on a graph of neighbors before the first round, so that all rows tell a class and
    not only those near a label, and the weak learners see the costs of all classes. Where near rows
    tell little, as among combinations of categories, ``similarity="absolute"`` is safer.
    ``examples/semi_supervised_boosting.py`` measures them all.

    Parameters
    ----------
    estimator : classifier, regressor or None, default=None
        The weak learner. None: `DecisionTreeClassifier(max_depth=2)`. With ``weighting="cost"`` a
        regressor of several outputs (:class:`~sklearn.multioutput.MultiOutputRegressor` makes one
        of any); None: `DecisionTreeRegressor(max_depth=2)`.
    n_estimators : int, default=50
        Number of rounds, at most.
    labeled_weight : float, default=1e4
        C, up to 1e300. Results hardly change from the default upwards; with small ones similar rows
        agree on anything.
    similarity : str or callable, default="rbf"
        S, by name:

        - "rbf": Gaussian, of the width `bandwidth`; 0 on the diagonal. Keeps a number for each pair
          of rows, 800 MB for 10,000 of them.
        - "knn": 1 where one of two rows is among the `n_neighbors` nearest of the other, else 0.
        - "diffusion": the same, but the labels spread on that graph, and :math:`q_j` has a single
          entry, at the class that reaches row j most: its share in all that does (an extension).
          Classes spread in proportion to their labels, as far as those are many enough to tell.
        - "uniform": 1 for all pairs; "absolute": 1 for a row and itself. Comparisons of [1]_.
        - "precomputed": the matrix that `fit` is given.
        - a callable, called with `X`: the matrix that it returns, dense or sparse, symmetric, with
          no negative entry.
    bandwidth : float, default=0.15
        Of "rbf": the standard deviation of the Gaussian, as a share of the range of the distances
        between rows.
    n_neighbors : int, default=7
        Of "knn" and "diffusion".
    learning_rate : float, default=1.0
        Each step is multiplied by it. One is Eq. 2.19, which minimises a bound. With two the bound
        is back where the round began: no step up to there lets the objective rise.
    weighting : {"auto", "sample_weight", "resampling", "cost"}, default="auto"
        How the weak learner is told the weights: by `sample_weight`, by drawing rows in proportion
        ("resampling", as in [1]_), or "auto": the first where its `fit` takes it. "cost": a
        regressor learns what each class of each row gains, and the class of the largest prediction
        is taken (an extension); it learns from all rows.
    max_samples : int, float or None, default=None
        How many rows are drawn: a number, a share, or None for a fifth, at least 20. They are drawn
        up to ten times a round, until the weak learner is better than chance.
    warm_start : bool, default=False
        Whether `fit` goes on from the rounds of the call before; the data must be the same.
    random_state : int, RandomState instance or None, default=None
        Seeds the weak learners and draws the rows.
    verbose : int, default=0
        Whether rounds are reported.
    n_jobs : int or None, default=None
        Of the search for neighbors.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes in `y`, without -1.
    estimators_ : list of classifiers
        The weak learners; they predict indices into `classes_`.
    estimator_weights_ : ndarray of shape (n_rounds,)
        Their steps.
    objective_ : ndarray of shape (n_rounds + 1,)
        The objective before the first round and after each.
    transduction_ : ndarray of shape (n_samples,)
        Classes of the training rows: their label, or what is predicted.
    feature_importances_ : ndarray of shape (n_features,)
        Of the weak learners, where they have such.
    stop_reason_ : str
        Why there are no more rounds.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where `X` had string ones.

    See Also
    --------
    AssembleClassifier : Boosting by guessed labels, without similarities.

    Notes
    -----
    -1 is no class, which not all of scikit-learn's tools know. `cross_val_predict` with
    ``method="predict_proba"`` or ``"decision_function"``, `StackingClassifier` and
    `VotingClassifier` number the entries of `y` anew before `fit` sees them: -1 becomes class 0,
    and all rows have a label. Scores of rows held out come of a loop over folds that calls `fit`
    itself; `cross_val_predict` with ``method="predict"`` leaves `y` as it is. In a search leave out
    `scoring`: :meth:`score` looks at labeled rows only, where other scorers take -1 for a class.
    Where `y` has strings and -1, let `cv` be a :class:`~sklearn.model_selection.KFold`: folds by
    class need entries that can be sorted.

    References
    ----------
    .. [1] H. Valizadegan, "Boosting and online learning for classification and ranking", doctoral
       dissertation, Michigan State University, 2010, chapter 2. Weights are
       :math:`-\min_k(\alpha_i^k + C \beta_i^k)`, what the bound gains; the text prints a maximum.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sklrank.boosting import MCSSBClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> labels = np.full(150, -1)
    >>> labels[::30] = y[::30]  # five labels
    >>> model = MCSSBClassifier(
    ...     similarity="diffusion", weighting="cost", learning_rate=2.0, random_state=0
    ... ).fit(X, labels)
    >>> model.score(X, y) > 0.9
    True
    """

    _parameter_constraints: dict = {
        **Booster._parameter_constraints,
        "labeled_weight": [Interval(Real, 0, 1e300, closed="right")],
        "similarity": [
            StrOptions({"rbf", "knn", "diffusion", "uniform", "absolute", "precomputed"}),
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
        n_estimators: int = 50,
        *,
        labeled_weight: float = 1e4,
        similarity: (
            Literal["rbf", "knn", "diffusion", "uniform", "absolute", "precomputed"] | Callable
        ) = "rbf",
        bandwidth: float = 0.15,
        n_neighbors: int = 7,
        learning_rate: float = 1.0,
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
        """Learn from rows with and without labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Classes; -1 marks rows without a label. With strings for classes, an array of objects.
        similarities : {array-like, sparse matrix} of shape (n_samples, n_samples), default=None
            S, for ``similarity="precomputed"``. Cross-validation cannot take it apart: there
            `similarity` is better a callable.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If the data are malformed, the labels name less than two classes, or the similarity
            matrix has the wrong shape, a negative entry or no symmetry; a fitted model stays as it
            was.
        """
        with unchanged_on_error(self):
            X, labels = self._check_training(X, y)
            self._begin()
            objective = self._objective(X, labels, similarities)
            self._boost_from(X, labels, objective, self._learner(X))
        return self

    def _objective(self, X, labels, matrix):
        if (matrix is not None) != (self.similarity == "precomputed"):
            raise ValueError(
                "fit takes similarities with similarity='precomputed', and only then; "
                f"similarity is {self.similarity!r}"
            )
        kind = {"diffusion": "knn", "precomputed": matrix}.get(self.similarity, self.similarity)
        similar = make_similarity(
            X,
            kind,
            bandwidth=self.bandwidth,
            n_neighbors=self.n_neighbors,
            n_jobs=self.n_jobs,
        )
        if self.similarity == "diffusion":
            masses = diffused_masses(similar.matrix, labels, len(self.classes_))
        else:
            masses = labeled_masses(similar, labels, len(self.classes_))
        return MCSSBObjective(similar, masses, labels, self.labeled_weight)

    def _template(self):
        if self.weighting == "cost" and self.estimator is None:
            return DecisionTreeRegressor(max_depth=2)
        return super()._template()

    def _learner(self, X):
        n_classes = len(self.classes_)
        if self.weighting == "cost":
            return CostLearner(self._template(), X, n_classes=n_classes)
        return ClassifierLearner(
            self._template(),
            X,
            weighting=self.weighting,
            max_samples=self.max_samples,
            n_classes=n_classes,
        )
