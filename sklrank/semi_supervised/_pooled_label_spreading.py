"""Pooled label spreading: graphs and classifiers weighted by hidden labels, then a forest."""

from __future__ import annotations

import warnings
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import softmax
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from sklrank._checks import check_rows
from sklrank._estimators import (
    N_JOBS,
    BaseEstimator,
    Interval,
    _fit_context,
    draw_seed,
    fit_weighted,
    one_blas_thread,
)
from sklrank._typing import Self
from sklrank.semi_supervised._base import PartlyLabeledMixin, of_partly_labeled
from sklrank.semi_supervised._similarity import neighbor_graph, one_hot, spread_labels, standardized


@of_partly_labeled
class PooledLabelSpreading(PartlyLabeledMixin, BaseEstimator):
    r"""Pooled label spreading: a pool of graphs and classifiers labels samples for a forest.

    Four sources estimate the class probabilities of the unlabeled samples: labels spread on the
    graphs of nearest neighbors of scaled and of unscaled features, and extremely randomized trees
    and logistic regression are fitted to the labeled samples. Their logarithmic opinion pool is

    .. math:: p_i^k \propto \prod_s (p_{si}^k)^{w_s}.

    The weights :math:`w_s` depend on the likelihood of labels that were hidden from the sources, in
    up to five folds. Hence the graphs matter if neighbors often belong to the same class, and the
    classifiers otherwise. Extremely randomized trees are fitted to the labels of the pool. They
    predict new samples.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees of each forest.
    n_neighbors : int, default=7
        Number of neighbors of each sample in the graphs.
    random_state : int, RandomState instance or None, default=None
        Controls the folds and the forests.
    n_jobs : int or None, default=None
        Number of parallel jobs of the search for neighbors and of the forests.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Distinct classes in `y`, without -1.
    transduction_ : ndarray of shape (n_samples,)
        Classes of the training samples: the given label of each labeled sample, and the most
        probable class of each unlabeled sample.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        Class probabilities of the training samples. Those of a labeled sample are 1 and 0.
    source_weights_ : dict of str to float
        Weights of "scaled graph", "unscaled graph", "extra trees" and "logistic regression". Their
        sum is 1.
    estimator_ : ExtraTreesClassifier
        Forest that is fitted to the labels of the pool.
    {n_features_in}

    See Also
    --------
    MCSSBClassifier : Semi-supervised boosting of any classifier.
    sklearn.semi_supervised.LabelSpreading : Label spreading on one graph.

    Notes
    -----
    Let :math:`\ell_s` be the log-likelihood of the n hidden labels under the source s. The weights
    are proportional to :math:`e^{\ell_s / \sqrt n}`, those of the algorithm Hedge [1]_ with the
    learning rate :math:`n^{-1/2}`: the more labels there are, the larger is the weight of the best
    source. The probabilities of the sources are mixed with equal ones, which have the weight
    :math:`1 / (n + 2)`, the probability of a mistake after n labels without one by Laplace's rule
    of succession. Without it, one source could veto a class.

    {of_unlabeled}

    References
    ----------
    .. [1] Y. Freund and R. E. Schapire, "A decision-theoretic generalization of on-line learning
       and an application to boosting", Journal of Computer and System Sciences 55, 1997.
    .. [2] D. Zhou, O. Bousquet, T. N. Lal, J. Weston and B. Schoelkopf, "Learning with local and
       global consistency", NIPS 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sklrank.semi_supervised import PooledLabelSpreading
    >>> X, y = load_iris(return_X_y=True)
    >>> labels = np.full(150, -1)
    >>> labels[::10] = y[::10]  # fifteen labels
    >>> model = PooledLabelSpreading(random_state=0).fit(X, labels)
    >>> model.score(X, y) > 0.9
    True
    """

    _accepts_sparse = True
    _parameter_constraints: dict = {
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": N_JOBS,
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        n_neighbors: int = 7,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.n_neighbors = n_neighbors
        self.random_state = random_state
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the pool and the forest to labeled and unlabeled samples.

        {partly_labeled}
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples, in proportion to each other. Those of labeled samples multiply
            their labels and the likelihoods of hidden ones; the forest uses all of them. Samples of
            weight 0 are left out. If None, all samples have the same weight.

        {returns_self}
        """
        return self._fit(X, y, sample_weight)

    def _fit_labels(self, X, labels, weights):
        seed = draw_seed(self.random_state)
        pool = self._pool(X, labels, weights, folds_of(labels, seed), seed)
        known = labels >= 0
        pool[known] = one_hot(labels[known], len(self.classes_))
        self.label_distributions_ = pool
        best = pool.argmax(axis=1)
        self.transduction_ = self.classes_[best]
        # All classes have a sample, a labeled one.
        self.estimator_ = self._forest(seed).fit(X, best, weights)

    def _forest(self, seed):
        return ExtraTreesClassifier(self.n_estimators, random_state=seed, n_jobs=self.n_jobs)

    @one_blas_thread
    def _pool(self, X, labels, weights, folds, seed):
        """Set the weights of the sources, and return their pool."""
        n_classes = len(self.classes_)
        sources = {
            name: graph_probabilities(
                neighbor_graph(Z, self.n_neighbors, self.n_jobs), labels, weights, n_classes, folds
            )
            for name, Z in (("scaled graph", standardized(X)), ("unscaled graph", X))
        }
        logistic = make_pipeline(StandardScaler(with_mean=False), LogisticRegression())
        classifiers = {"extra trees": self._forest(seed), "logistic regression": logistic}
        for name, classifier in classifiers.items():
            sources[name] = classifier_probabilities(
                classifier, X, labels, weights, n_classes, folds
            )
        # If the only label of a class is hidden, no source can predict it.
        labeled = labels >= 0
        rows = np.flatnonzero(labeled & (np.bincount(labels[labeled])[labels] > 1))
        mistake = 1 / (len(rows) + 2)

        def log_mixed(probabilities):
            return np.log((1 - mistake) * probabilities + mistake / n_classes)

        likelihoods = np.array(
            [
                log_mixed(hidden[rows])[np.arange(len(rows)), labels[rows]] @ weights[rows]
                for hidden, _ in sources.values()
            ]
        )
        # The mean weight of the hidden labels is 1.
        likelihoods *= len(rows) / (weights[rows].sum() or 1.0)
        of_sources = softmax(likelihoods / np.sqrt(max(1, len(rows))))
        self.source_weights_ = dict(zip(sources, of_sources.tolist()))
        logs = sum(w * log_mixed(known) for w, (_, known) in zip(of_sources, sources.values()))
        return softmax(logs, axis=1)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Predict the class of each sample.

        {samples_and_returns}
        ndarray of shape (n_samples,)
            Predicted classes.
        """
        proba = self.predict_proba(X)
        return self.classes_[proba.argmax(axis=1)]

    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Predict class probabilities.

        {samples_and_returns}
        ndarray of shape (n_samples, n_classes)
            Class probabilities of the forest. The sum of each row is 1.
        """
        check_is_fitted(self)
        return self.estimator_.predict_proba(check_rows(self, X, reset=False))


# -- Sources: class probabilities of labeled samples whose label is hidden, and of all samples.


def graph_probabilities(graph, labels, weights, n_classes, folds):
    """Return the probabilities by label spreading, two arrays of shape `(n_samples, n_classes)`.

    The first contains those of a labeled sample if its label is hidden, the second those if all
    labels are known.
    """
    n_folds = folds.max() + 1
    seen = [np.where(folds == fold, -1, labels) for fold in range(n_folds)]
    # The spreading is linear, so that all folds are spread together.
    source = np.hstack([one_hot(each, n_classes) for each in [*seen, labels]])
    source *= weights[:, np.newaxis]
    shares = np.split(spread_labels(graph, source, n_classes), n_folds + 1, axis=1)
    hidden = np.stack(shares[:-1])[np.maximum(folds, 0), np.arange(len(labels))]
    return hidden, shares[-1]


def classifier_probabilities(classifier, X, labels, weights, n_classes, folds):
    """Return the probabilities by a classifier of labeled samples, as `graph_probabilities`."""
    labeled = labels >= 0
    with warnings.catch_warnings():
        # Many classes have few labels.
        warnings.filterwarnings("ignore", "The number of unique classes")
        warnings.filterwarnings("ignore", category=ConvergenceWarning)
        known = fit_classifier(classifier, X, labels, weights, labeled).predict_proba(X)
        hidden = known.copy()
        for fold in range(folds.max() + 1):
            of_fold, seen = folds == fold, labeled & (folds != fold)
            classes = np.unique(labels[seen])
            # Some classifiers refuse a single class.
            of_classes = np.ones((of_fold.sum(), 1))
            if len(classes) > 1:
                model = fit_classifier(classifier, X, labels, weights, seen)
                of_classes = model.predict_proba(X[of_fold])
            hidden[of_fold] = of_classes @ one_hot(classes, n_classes)
    return hidden, known


def fit_classifier(classifier, X, labels, weights, rows):
    """Return a clone of a classifier or a pipeline that is fitted to some of the samples."""
    return fit_weighted(clone(classifier), X[rows], labels[rows], weights[rows])


def folds_of(labels, seed):
    """Return the fold in which each label is hidden; -1 for unlabeled samples.

    The labels of a class are spread over the folds. If a class has one label, it is hidden, too.
    """
    order = np.random.RandomState(seed).permutation(len(labels))
    order = order[labels[order] >= 0]
    order = order[np.argsort(labels[order], kind="stable")]
    folds = np.full(len(labels), -1)
    # As many folds as scikit-learn's cross-validation has. Labels of a class are neighbors in this
    # order, and so are in different folds.
    folds[order] = np.arange(len(order)) % min(5, len(order))
    return folds
