r"""Class affinities pooled from several sources, which are weighted by means of hidden labels.

A source estimates the class probabilities of all samples: label spreading on a graph of neighbors,
or a classifier that is fitted to the labeled samples. Their logarithmic opinion pool,

.. math:: p_i^k \propto \prod_s (p_{si}^k)^{w_s},

has weights :math:`w_s \geq 0` that maximize the likelihood of labels that were hidden from the
sources. If neighbors often belong to different classes, the graphs have weights near 0.
"""

import warnings

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from sklearn.base import ClassifierMixin
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklrank._estimator import BaseEstimator
from sklrank.boosting._similarity import one_hot, spread_labels

__all__ = ["CLASSIFIERS", "PooledClassifier", "pooled_affinities"]

# Maximum number of folds in which labels are hidden.
N_FOLDS = 5
# Number of trees of the forests that are fitted to all labels, and to those that are not hidden.
N_TREES, N_TREES_OF_FOLD = 100, 30
# Probability that a source is wrong in a way that its probabilities do not show. Without it, a
# probability of 0 would veto a class.
SURPRISE = 0.01
# Penalties of the squared distance of the weight of a single source from 1, and of the weights of
# several sources from those of the average over single sources.
PENALTY_SINGLE, PENALTY = 1.0, 30.0
# Prior probability that a graph is the best source. If each class has one label, it decides.
PRIOR_OF_GRAPHS = 2 / 3


def random_forest(n_trees, seed, n_jobs):
    """Return a forest whose trees search for the best splits."""
    return RandomForestClassifier(n_trees, random_state=seed, n_jobs=n_jobs)


def extra_trees(n_trees, seed, n_jobs):
    """Return a forest of random splits, which is better than the other one on few labels."""
    return ExtraTreesClassifier(n_trees, random_state=seed, n_jobs=n_jobs)


def logistic_regression(n_trees, seed, n_jobs):
    """Return a linear classifier, which is better than forests if the classes are linear."""
    return make_pipeline(StandardScaler(with_mean=False), LogisticRegression())


# Classifiers of the labeled samples that are sources.
CLASSIFIERS = {
    "random forest": random_forest,
    "extra trees": extra_trees,
    "logistic regression": logistic_regression,
}


def pooled_affinities(X, graphs, labels, n_classes, *, seed, n_jobs=None):
    """Return the pooled affinities, the weights of the sources, and a classifier.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
        Samples.
    graphs : list of sparse matrix of shape (n_samples, n_samples)
        Graphs of neighbors.
    labels : ndarray of int of shape (n_samples,)
        Classes; -1 for unlabeled samples.
    n_classes : int
        Number of classes.
    seed : int
        Controls the folds and the forests.
    n_jobs : int, default=None
        Number of parallel jobs of the forests.

    Returns
    -------
    affinities : ndarray of shape (n_samples, n_classes)
        The affinity of an unlabeled sample to its most probable class is the probability of this
        class; its other affinities are 0. Labeled samples have the affinity 1 to their class.
    weights : ndarray of shape (n_graphs + n_classifiers,)
        Weights of the graphs and of the classifiers. Those of the graphs are 0 if they predict
        hidden labels worse than the classifiers, and do not improve their predictions.
    classifier : PooledClassifier
        The pool of the classifiers alone.
    """
    folds = folds_of(labels, seed)
    sources = [graph_probabilities(graph, labels, n_classes, folds) for graph in graphs]
    classifiers = []
    for make in CLASSIFIERS.values():
        *source, classifier = classifier_probabilities(
            make, X, labels, n_classes, folds, seed, n_jobs
        )
        sources.append(source)
        classifiers.append(classifier)
    labeled = labels >= 0
    # If the only label of a class is hidden, no source can predict it.
    rows = np.flatnonzero(labeled & (np.bincount(labels[labeled])[labels] > 1))
    hidden = np.stack([log_with_surprise(hidden[rows]) for hidden, _ in sources])
    n_graphs = len(graphs)
    n_classifiers = len(CLASSIFIERS)
    of_graphs = np.full(n_graphs, 1 / n_graphs)
    of_classifiers = np.full(n_classifiers, 1 / n_classifiers)
    prior = np.append(PRIOR_OF_GRAPHS * of_graphs, (1 - PRIOR_OF_GRAPHS) * of_classifiers)
    weights, likelihood = pool_weights(hidden, labels[rows], prior)
    alone, likelihood_alone = pool_weights(hidden[n_graphs:], labels[rows], of_classifiers)
    _, likelihood_of_graphs = pool_weights(hidden[:n_graphs], labels[rows], of_graphs)
    # The criterion of Akaike: each weight must change the logarithm by 1. With few labels, it finds
    # the graphs needless too often; then they must also be worse than the classifiers.
    if likelihood - n_graphs < likelihood_alone > likelihood_of_graphs + n_graphs:
        weights = np.append(np.zeros(n_graphs), alone)
    probabilities = pool([known for _, known in sources], weights)
    strongest = one_hot(probabilities.argmax(axis=1), n_classes)
    of_labels = one_hot(labels, n_classes)
    affinities = np.where(labeled[:, np.newaxis], of_labels, probabilities * strongest)
    return affinities, weights, PooledClassifier(classifiers, alone)


def pool(probabilities, weights):
    """Return the logarithmic opinion pool of the probabilities of several sources."""
    logs = [weight * log_with_surprise(known) for weight, known in zip(weights, probabilities)]
    return softmax(sum(logs), axis=1)


def pool_weights(log_probabilities, labels, prior):
    """Return the weights that maximize the penalized likelihood of the labels.

    The penalty pulls the weights towards those of single sources, averaged in proportion to their
    posterior probabilities. With few labels, the best source alone is often better than a pool
    whose weights are estimated freely.

    Parameters
    ----------
    log_probabilities : ndarray of shape (n_sources, n_labeled, n_classes)
        Logarithms of the probabilities of each source.
    labels : ndarray of int of shape (n_labeled,)
        Classes.
    prior : ndarray of shape (n_sources,)
        Prior probability of each source.

    Returns
    -------
    weights : ndarray of shape (n_sources,)
        Weights.
    likelihood : float
        Logarithm of the likelihood, minus the penalty.
    """
    single = [
        maximize_likelihood(each[np.newaxis], labels, np.ones(1), PENALTY_SINGLE)
        for each in log_probabilities
    ]
    weights = np.concatenate([weight for weight, _ in single])
    center = weights * softmax(np.log(prior) + [likelihood for _, likelihood in single])
    return maximize_likelihood(log_probabilities, labels, center, PENALTY)


def maximize_likelihood(log_probabilities, labels, center, penalty):
    """Return weights and likelihood, as `pool_weights`; the penalty pulls weights to `center`."""
    rows = np.arange(len(labels))
    of_labels = log_probabilities[:, rows, labels].sum(axis=1)

    def loss_and_gradient(weights):
        logs = log_softmax(np.tensordot(weights, log_probabilities, 1), axis=1)
        expected = (np.exp(logs) * log_probabilities).sum(axis=(1, 2))
        distance = weights - center
        loss = penalty / 2 * distance @ distance - logs[rows, labels].sum()
        return loss, expected - of_labels + penalty * distance

    bounds = [(0.0, None)] * len(center)
    result = minimize(loss_and_gradient, center, jac=True, method="L-BFGS-B", bounds=bounds)
    return result.x, -result.fun


def log_with_surprise(probabilities):
    """Return the logarithms of probabilities that are mixed with equal ones."""
    return np.log((1 - SURPRISE) * probabilities + SURPRISE / probabilities.shape[1])


# -- Sources: class probabilities of labeled samples whose label is hidden, and of all samples.


def graph_probabilities(graph, labels, n_classes, folds):
    """Return the probabilities by label spreading, two arrays of shape `(n_samples, n_classes)`.

    The first contains those of a labeled sample if its label is hidden, the second those if all
    labels are known.
    """
    n_folds = folds.max() + 1
    seen = [np.where(folds == fold, -1, labels) for fold in range(n_folds)]
    # The spreading is linear, so that all folds are spread together.
    source = np.hstack([one_hot(each, n_classes) for each in [*seen, labels]])
    shares = np.split(spread_labels(graph, source, n_classes), n_folds + 1, axis=1)
    hidden = shares[-1].copy()
    for fold in range(n_folds):
        hidden[folds == fold] = shares[fold][folds == fold]
    return hidden, shares[-1]


def classifier_probabilities(make, X, labels, n_classes, folds, seed, n_jobs):
    """Return the probabilities by a classifier, as `graph_probabilities` does, and the classifier.

    The classifier is fitted to the labeled samples, `make(n_trees, seed, n_jobs)` returns it.
    """
    labeled = labels >= 0
    with warnings.catch_warnings():
        # Many classes have few labels.
        warnings.filterwarnings("ignore", "The number of unique classes")
        warnings.filterwarnings("ignore", category=ConvergenceWarning)
        classifier = make(N_TREES, seed, n_jobs).fit(X[labeled], labels[labeled])
        known = classifier.predict_proba(X)
        hidden = known.copy()
        for fold in range(folds.max() + 1):
            of_fold, seen = folds == fold, labeled & (folds != fold)
            classes = np.unique(labels[seen])
            # Some classifiers refuse a single class.
            of_classes = np.ones((of_fold.sum(), 1))
            if len(classes) > 1:
                model = make(N_TREES_OF_FOLD, seed, n_jobs).fit(X[seen], labels[seen])
                of_classes = model.predict_proba(X[of_fold])
            hidden[of_fold] = of_classes @ one_hot(classes, n_classes)
    return hidden, known, classifier


def folds_of(labels, seed):
    """Return the fold in which each label is hidden; -1 for unlabeled samples.

    The labels of a class are spread over the folds. If a class has one label, it is hidden, too.
    """
    order = np.random.RandomState(seed).permutation(len(labels))
    order = order[labels[order] >= 0]
    ordered = labels[order]
    _, first, codes, counts = np.unique(
        ordered, return_index=True, return_inverse=True, return_counts=True
    )
    # Number of labels of the same class before each label.
    by_class = np.argsort(codes, kind="stable")
    before = np.empty(len(order), dtype=np.intp)
    before[by_class] = np.concatenate([np.arange(count) for count in counts])
    # Classes begin with different folds.
    begin = first.argsort().argsort()
    folds = np.full(len(labels), -1)
    folds[order] = (before + begin[codes]) % min(N_FOLDS, len(order))
    return folds


# -- The pool of the classifiers.


class PooledClassifier(ClassifierMixin, BaseEstimator):
    """Logarithmic opinion pool of fitted classifiers.

    Parameters
    ----------
    classifiers : list of classifiers
        Classifiers fitted to the same samples.
    weights : ndarray of shape (n_classifiers,)
        Weights.
    """

    def __init__(self, classifiers, weights):
        self.classifiers = classifiers
        self.weights = weights

    def predict(self, X):
        """Return the index of the class with the largest probability."""
        return self.predict_proba(X).argmax(axis=1)

    def predict_proba(self, X):
        """Return the class probabilities."""
        return pool([each.predict_proba(X) for each in self.classifiers], self.weights)

    @property
    def feature_importances_(self):
        """Weighted mean of the importances in the forests and of the absolute coefficients."""
        total = sum(
            weight * importances_of(each) for weight, each in zip(self.weights, self.classifiers)
        )
        return total / (total.sum() or 1.0)


def importances_of(classifier):
    """Return the importances of the features, whose sum is 1."""
    if hasattr(classifier, "feature_importances_"):
        return classifier.feature_importances_
    sizes = np.abs(classifier[-1].coef_).sum(axis=0)
    return sizes / (sizes.sum() or 1.0)
