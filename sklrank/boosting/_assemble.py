"""ASSEMBLE: boosting of any classifier by the labels that the ensemble gives to unlabeled rows."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from sklrank._sklearn import N_JOBS, Interval, _fit_context
from sklrank._validation import unchanged_on_error
from sklrank.boosting._assemble_objective import AssembleObjective
from sklrank.boosting._booster import Booster
from sklrank.boosting._semi_supervised import SemiSupervisedBooster
from sklrank.boosting._weak_learners import ClassifierLearner

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import Self

__all__ = ["AssembleClassifier"]


class AssembleClassifier(SemiSupervisedBooster):
    r"""Adaptive semi-supervised ensemble: AdaBoost that guesses the labels it lacks.

    Unlabeled rows have the class that the ensemble so far gives them, and weights as in AdaBoost
    ([1]_; [2]_, Algorithm 2): those that it is sure of hardly count. Before the first round the
    class is that of the nearest labeled row.

    With more than two classes, weights and steps are those of SAMME [3]_,
    :math:`\alpha = \log \frac{1 - \epsilon}{\epsilon} + \log(K - 1)`: a weak learner that is right
    more often than chance is of use. (As printed, it would need to be right every other time, and
    small trees of many classes would stop the first round.)

    It knows no similarity of rows but for the first guesses. Where near rows share a class,
    :class:`MCSSBClassifier` is far better.

    Parameters
    ----------
    estimator : classifier or None, default=None
        The weak learner. None: `DecisionTreeClassifier(max_depth=2)`.
    n_estimators : int, default=50
        Number of rounds, at most.
    labeled_share : float, default=0.9
        The share that the labeled rows together have in the weights at first. With one the
        unlabeled rows have no weight ever.
    learning_rate : float, default=1.0
        Each step is multiplied by it; up to two the objective never rises.
    weighting : {"auto", "sample_weight", "resampling"}, default="auto"
        How the weak learner is told the weights: by `sample_weight`, by drawing rows in proportion,
        or "auto": the first where its `fit` takes it.
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
        Of the search for the nearest labeled rows.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes in `y`, without -1.
    estimators_ : list of classifiers
        The weak learners; they predict indices into `classes_`.
    estimator_weights_ : ndarray of shape (n_rounds,)
        Their steps.
    objective_ : ndarray of shape (n_rounds + 1,)
        The exponential loss before the first round and after each.
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
    MCSSBClassifier : Boosting by similarities.

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
    >>> from sklrank.boosting import AssembleClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> labels = np.full(150, -1)
    >>> labels[::10] = y[::10]  # fifteen labels
    >>> AssembleClassifier(random_state=0).fit(X, labels).score(X, y) > 0.8
    True
    """

    _parameter_constraints: dict = {
        **Booster._parameter_constraints,
        "labeled_share": [Interval(Real, 0, 1, closed="right")],
        "n_jobs": N_JOBS,
    }

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 50,
        *,
        labeled_share: float = 0.9,
        learning_rate: float = 1.0,
        weighting: Literal["auto", "sample_weight", "resampling"] = "auto",
        max_samples: int | float | None = None,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.labeled_share = labeled_share
        self.learning_rate = learning_rate
        self.weighting = weighting
        self.max_samples = max_samples
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn from rows with and without labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Classes; -1 marks rows without a label. With strings for classes, an array of objects.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If the data are malformed, or the labels name less than two classes; a fitted model
            stays as it was.
        """
        with unchanged_on_error(self):
            X, labels = self._check_training(X, y)
            self._begin()
            n_classes = len(self.classes_)
            objective = AssembleObjective(
                labels, self._first_guesses(X, labels), n_classes, self.labeled_share
            )
            learner = ClassifierLearner(
                self._template(),
                X,
                weighting=self.weighting,
                max_samples=self.max_samples,
                n_classes=n_classes,
            )
            self._boost_from(X, labels, objective, learner)
        return self

    def _first_guesses(self, X, labels):
        """The class of the nearest labeled row."""
        labeled = np.flatnonzero(labels >= 0)
        if len(labeled) == len(labels):
            return labels
        nearest = KNeighborsClassifier(n_neighbors=1, n_jobs=self.n_jobs)
        return nearest.fit(X[labeled], labels[labeled]).predict(X)
