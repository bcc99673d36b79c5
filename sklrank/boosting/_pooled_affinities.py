r"""Class affinities pooled from several sources, which are weighted by means of hidden labels.

A source estimates the class probabilities of all samples: label spreading on a graph of neighbors,
or a random forest that is fitted to the labeled samples. Their logarithmic opinion pool,

.. math:: p_i^k \propto \prod_s (p_{si}^k)^{w_s},

has weights :math:`w_s \geq 0` that maximize the likelihood of labels that were hidden from the
sources. If neighbors often belong to different classes, the graphs have weights near 0.
"""

import warnings

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from sklearn.ensemble import RandomForestClassifier

from sklrank.boosting._similarity import one_hot, spread_labels

__all__ = ["pooled_affinities"]

# Maximum number of folds in which labels are hidden.
N_FOLDS = 5
N_TREES = 100
# Probability that a source is wrong in a way that its probabilities do not show. Without it, a
# probability of 0 would veto a class.
SURPRISE = 0.01
# Penalty of the squared distance of the weights from equal weights of sum 1.
PENALTY = 1.0


def pooled_affinities(X, graphs, labels, n_classes, *, seed, n_jobs=None):
    """Return the pooled affinities, the weights of the sources, and the forest.

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
        Controls the folds and the forest.
    n_jobs : int, default=None
        Number of parallel jobs of the forest.

    Returns
    -------
    affinities : ndarray of shape (n_samples, n_classes)
        The affinity of an unlabeled sample to its most probable class is the probability of this
        class; its other affinities are 0. Labeled samples have the affinity 1 to their class.
    weights : ndarray of shape (n_graphs + 1,)
        Weights of the graphs and of the forest. Those of the graphs are 0 if they predict hidden
        labels worse than the forest, and do not improve its predictions.
    forest : RandomForestClassifier
        Forest fitted to the labeled samples.
    """
    sources = [graph_probabilities(graph, labels, n_classes, seed) for graph in graphs]
    *of_forest, forest = forest_probabilities(X, labels, seed, n_jobs)
    sources.append(of_forest)
    labeled = labels >= 0
    # If the only label of a class is hidden, no source can predict it.
    rows = np.flatnonzero(labeled & (np.bincount(labels[labeled])[labels] > 1))
    hidden = np.stack([log_with_surprise(hidden[rows]) for hidden, _ in sources])
    weights, likelihood = pool_weights(hidden, labels[rows])
    alone, likelihood_alone = pool_weights(hidden[-1:], labels[rows])
    _, likelihood_of_graphs = pool_weights(hidden[:-1], labels[rows])
    # The criterion of Akaike: each weight must change the logarithm by 1. With few labels, it finds
    # the graphs needless too often; then they must also be worse than the forest.
    n_graphs = len(graphs)
    if likelihood - n_graphs < likelihood_alone > likelihood_of_graphs + n_graphs:
        weights = np.append(np.zeros(len(graphs)), alone)
    probabilities = softmax(
        sum(weight * log_with_surprise(known) for weight, (_, known) in zip(weights, sources)),
        axis=1,
    )
    strongest = one_hot(probabilities.argmax(axis=1), n_classes)
    of_labels = one_hot(labels, n_classes)
    affinities = np.where(labeled[:, np.newaxis], of_labels, probabilities * strongest)
    return affinities, weights, forest


def pool_weights(log_probabilities, labels):
    """Return the weights that maximize the penalized likelihood of the labels.

    Parameters
    ----------
    log_probabilities : ndarray of shape (n_sources, n_labeled, n_classes)
        Logarithms of the probabilities of each source.
    labels : ndarray of int of shape (n_labeled,)
        Classes.

    Returns
    -------
    weights : ndarray of shape (n_sources,)
        Weights.
    likelihood : float
        Logarithm of the likelihood, minus the penalty.
    """
    rows, n_sources = np.arange(len(labels)), len(log_probabilities)
    of_labels = log_probabilities[:, rows, labels].sum(axis=1)
    equal = 1 / n_sources

    def loss_and_gradient(weights):
        logs = log_softmax(np.tensordot(weights, log_probabilities, 1), axis=1)
        expected = (np.exp(logs) * log_probabilities).sum(axis=(1, 2))
        loss = PENALTY / 2 * np.sum((weights - equal) ** 2) - logs[rows, labels].sum()
        return loss, expected - of_labels + PENALTY * (weights - equal)

    start = np.full(n_sources, equal)
    bounds = [(0.0, None)] * n_sources
    result = minimize(loss_and_gradient, start, jac=True, method="L-BFGS-B", bounds=bounds)
    return result.x, -result.fun


def log_with_surprise(probabilities):
    """Return the logarithms of probabilities that are mixed with equal ones."""
    return np.log((1 - SURPRISE) * probabilities + SURPRISE / probabilities.shape[1])


# -- Sources: class probabilities of labeled samples whose label is hidden, and of all samples.


def graph_probabilities(graph, labels, n_classes, seed):
    """Return the probabilities by label spreading, two arrays of shape `(n_samples, n_classes)`.

    The first contains those of a labeled sample if its label is hidden, the second those if all
    labels are known.
    """
    folds = folds_of(labels, seed)
    n_folds = folds.max() + 1
    seen = [np.where(folds == fold, -1, labels) for fold in range(n_folds)]
    # The spreading is linear, so that all folds are spread together.
    source = np.hstack([one_hot(each, n_classes) for each in [*seen, labels]])
    shares = np.split(spread_labels(graph, source, n_classes), n_folds + 1, axis=1)
    hidden = shares[-1].copy()
    for fold in range(n_folds):
        hidden[folds == fold] = shares[fold][folds == fold]
    return hidden, shares[-1]


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


def forest_probabilities(X, labels, seed, n_jobs):
    """Return the probabilities by a random forest, as `graph_probabilities` does, and the forest.

    The label of a sample is hidden from the trees whose bootstrap sample does not contain it.
    """
    labeled = np.flatnonzero(labels >= 0)
    forest = RandomForestClassifier(N_TREES, oob_score=True, random_state=seed, n_jobs=n_jobs)
    with warnings.catch_warnings():
        # Many classes have few labels. A label may be in all bootstrap samples if there are few.
        warnings.filterwarnings("ignore", "The number of unique classes|Some inputs do not have")
        forest.fit(X[labeled], labels[labeled])
    known = forest.predict_proba(X)
    hidden = known.copy()
    hidden[labeled] = forest.oob_decision_function_
    return hidden, known, forest
