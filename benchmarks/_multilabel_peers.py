"""Simple online models of several labels, which score each sample and then learn from it.

A function takes samples `X` and an indicator matrix `Y`, and returns the scores of each sample
before it is learned. With top-k feedback, the argument `shown` is a function that returns the
indices of the labels to show, given the scores. Then only these labels are learned.
"""

import numpy as np

__all__ = ["UniformExploration", "adagrad", "linucb", "neighbors", "ridge", "vowpal_wabbit"]


class UniformExploration:
    """Choose the `k` labels of largest score, or random ones with probability `exploration`."""

    def __init__(self, k, exploration, seed):
        self.k, self.exploration, self.random = k, exploration, np.random.RandomState(seed)

    def __call__(self, scores):
        if self.random.uniform() < self.exploration:
            return self.random.permutation(len(scores))[: self.k]
        return np.argsort(-scores, kind="stable")[: self.k]


def with_constant(X):
    return np.hstack([X, np.ones((len(X), 1))])


def adagrad(X, Y, step, shown=None):
    """A logistic regression for each label, with AdaGrad steps. If `shown` is None, learn all."""
    X = with_constant(X)
    shape = (Y.shape[1], X.shape[1])
    weights, squares, scores = np.zeros(shape), np.ones(shape), np.empty(Y.shape)
    labels = np.arange(Y.shape[1])
    for x, y, score in zip(X, Y, scores):
        np.dot(weights, x, out=score)
        used = np.flatnonzero(x)
        if shown is not None:
            labels = shown(score)
        error = 1.0 / (1.0 + np.exp(-np.clip(score[labels], -500.0, 500.0))) - y[labels]
        gradient = np.outer(error, x[used])
        cells = np.ix_(labels, used)
        squares[cells] += gradient**2
        weights[cells] -= step * gradient / np.sqrt(squares[cells])
    return scores


def ridge(X, Y):
    """A ridge regression of all labels by recursive least squares, with the penalty one."""
    X = with_constant(X)
    inverse, weights = np.eye(X.shape[1]), np.zeros((X.shape[1], Y.shape[1]))
    scores = np.empty(Y.shape)
    for x, y, score in zip(X, Y, scores):
        np.dot(x, weights, out=score)
        direction = inverse @ x
        gain = direction / (1.0 + x @ direction)
        weights += np.outer(gain, y - score)
        inverse -= np.outer(gain, direction)
    return scores


def linucb(X, Y, bonus, shown):
    """A ridge regression for each label, with the penalty one.

    `shown` chooses labels by the predictions plus `bonus` times their standard errors. These sums
    are returned as the scores to show, and the predictions as the scores to rank.

    The inverse of the matrix of a label is the identity minus the sum of u u' over the vectors u of
    its updates. If there are fewer vectors than rows of all matrices, the vectors are stored.
    """
    X = with_constant(X)
    (n_samples, size), n_labels = X.shape, Y.shape[1]
    weights, scores = np.zeros((n_labels, size)), np.empty(Y.shape)
    bounds = np.empty(Y.shape)
    stores_vectors = shown.k * n_samples < n_labels * size
    if stores_vectors:
        vectors = np.empty((shown.k * n_samples, size))
        owners = np.empty(len(vectors), dtype=np.intp)
    else:
        inverses = np.repeat(np.eye(size)[np.newaxis], n_labels, axis=0)
    n_vectors = 0
    for x, y, score, bound in zip(X, Y, scores, bounds):
        np.dot(weights, x, out=score)
        if stores_vectors:
            products = vectors[:n_vectors] @ x
            variances = x @ x - np.bincount(owners[:n_vectors], products**2, minlength=n_labels)
        else:
            directions = inverses @ x
            variances = directions @ x
        variances = np.maximum(variances, 0.0)
        bound[:] = score + bonus * np.sqrt(variances)
        for label in shown(bound):
            if stores_vectors:
                own = np.flatnonzero(owners[:n_vectors] == label)
                direction = x - products[own] @ vectors[own]
            else:
                direction = directions[label]
            gain = 1.0 + variances[label]
            weights[label] += direction / gain * (y[label] - score[label])
            if stores_vectors:
                vectors[n_vectors], owners[n_vectors] = direction / np.sqrt(gain), label
                products = np.append(products, 0.0)
                n_vectors += 1
            else:
                inverses[label] -= np.outer(direction, direction) / gain
    return bounds, scores


def neighbors(X, Y, n_neighbors, window):
    """Frequencies of the labels among the nearest neighbors in the last `window` samples."""
    scores = np.zeros(Y.shape)
    for i in range(1, len(X)):
        start = max(0, i - window)
        distances = ((X[start:i] - X[i]) ** 2).sum(axis=1)
        nearest = start + np.argsort(distances, kind="stable")[:n_neighbors]
        # Frequencies in the window break ties.
        scores[i] = Y[nearest].mean(axis=0) + 1e-3 * Y[start:i].mean(axis=0)
    return scores


def vowpal_wabbit(X, Y):
    """A logistic regression of Vowpal Wabbit for each label, with its default settings."""
    from vowpalwabbit import Workspace

    scores = np.empty(Y.shape)
    samples = ["1.0 | " + " ".join(f"{j}:{x[j]:.6g}" for j in np.flatnonzero(x)) for x in X]
    for label in range(Y.shape[1]):
        model = Workspace("--loss_function logistic --quiet")
        for i, (sample, relevant) in enumerate(zip(samples, Y[:, label])):
            example = model.parse(sample if relevant else "-" + sample)
            # The prediction is that before the update.
            model.learn(example)
            scores[i, label] = example.get_partial_prediction()
            model.finish_example(example)
        model.finish()
    return scores
