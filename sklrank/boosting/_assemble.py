"""ASSEMBLE: boosting of any classifier by pseudo-labels of the unlabeled samples."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from sklrank._sklearn import N_JOBS, Interval, _fit_context
from sklrank._validation import unchanged_on_error
from sklrank.boosting._base import Booster
from sklrank.boosting._objectives import AssembleObjective
from sklrank.boosting._semi_supervised import SemiSupervisedBooster

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import Self

__all__ = ["AssembleClassifier"]


class AssembleClassifier(SemiSupervisedBooster):
    r"""ASSEMBLE, adaptive semi-supervised ensemble: AdaBoost with pseudo-labels.

    The pseudo-label of an unlabeled sample is the class that the ensemble predicts so far, and its
    weight is that of AdaBoost ([1]_; [2]_, Algorithm 2): samples that are predicted with a large
    margin hardly count. Before the first round the pseudo-label is the class of the nearest labeled
    sample.

    With more than two classes the weights and steps are those of SAMME [3]_,
    :math:`\alpha = \log \frac{1 - \epsilon}{\epsilon} + \log(K - 1)`, so that a weak learner must
    be right more often than chance only. (As printed in [1]_ it must be right in half of the cases,
    and small trees of many classes would end the first round.)

    Similarities of samples are used for the first pseudo-labels only. Where near samples share a
    class, :class:`MCSSBClassifier` is far better.

    Parameters
    ----------
    estimator : classifier or None, default=None
        The weak learner, cloned for each round. None: `DecisionTreeClassifier(max_depth=2)`.
    n_estimators : int, default=50
        Maximal number of rounds.
    labeled_share : float, default=0.9
        The share of the labeled samples in the sum of the initial weights. With 1 the unlabeled
        samples have no weight in any round.
    learning_rate : float, default=1.0
        Factor of each step. Up to 2 the objective never rises.
    weighting : {"auto", "sample_weight", "resampling"}, default="auto"
        Whether the weak learner is given the weights ("sample_weight"), or samples drawn in
        proportion to them ("resampling"). "auto": weights where its `fit` takes them.
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
        Number of jobs of the search for the nearest labeled samples.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes in `y`, without -1.
    estimators_ : list of classifiers
        The weak learners; they predict indices into `classes_`.
    estimator_weights_ : ndarray of shape (n_rounds,)
        The step of each weak learner.
    loss_curve_ : ndarray of shape (n_rounds + 1,)
        The exponential loss before the first round and after each.
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
    MCSSBClassifier : Boosting by similarities.

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
        """Fit the ensemble to labeled and unlabeled samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Classes; -1 marks unlabeled samples. An array of objects, if classes are strings.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If the data are malformed, or the labels are of less than two classes; a fitted model
            stays as it was.
        """
        with unchanged_on_error(self):
            X, labels = self._check_X_y(X, y)
            self._start_rounds()
            objective = AssembleObjective(
                labels, self._pseudo_labels(X, labels), self._n_classes, self.labeled_share
            )
            self._boost_and_label(objective, self._make_learner(X), labels)
        return self

    def _pseudo_labels(self, X, labels):
        """Return the class of the nearest labeled sample."""
        labeled = np.flatnonzero(labels >= 0)
        if len(labeled) == len(labels):
            return labels
        nearest = KNeighborsClassifier(n_neighbors=1, n_jobs=self.n_jobs)
        return nearest.fit(X[labeled], labels[labeled]).predict(X)
