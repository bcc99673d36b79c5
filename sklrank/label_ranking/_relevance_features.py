r"""Nyström features of a Matérn kernel with a width for each feature, learned from rankings.

The relative positions of the labels, centered for each label, are modelled as independent Gaussian
processes with the same covariance :math:`s (K + \nu I)`, where

.. math:: K_{ij} = (1 + \sqrt 3 d_{ij}) e^{-\sqrt 3 d_{ij}}, \qquad
    d_{ij}^2 = \sum_m r_m (x_{im} - x_{jm})^2

on standardized features. This is the Matérn kernel with :math:`\nu = 3/2`. Positions are step
functions of the features; a Gaussian kernel, whose functions are smoother, has a lower likelihood
on most data. The relevances :math:`r_m` are the squared inverse widths. They and the
noise :math:`\nu` maximize the marginal likelihood; for given :math:`r` and :math:`\nu`, the best
variance s has a closed form (Rasmussen and Williams, "Gaussian Processes for Machine Learning",
2006, Sections 4.2 and 5.1).
"""

from __future__ import annotations

from numbers import Integral

import numpy as np
from scipy.linalg import LinAlgError, cho_solve, cholesky
from scipy.optimize import minimize
from sklearn.base import TransformerMixin
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from sklrank._estimator import BaseEstimator
from sklrank._rankings import check_positions, relative_positions
from sklrank._sklearn import Interval, _fit_context
from sklrank._validation import unchanged_on_error

__all__ = ["RelevanceFeatures"]

# Bounds of the logarithms of relevances and of the noise.
_RELEVANCES, _NOISES = (-12.0, 5.0), (-9.0, 4.0)
_START_NOISE = 0.1
# Relevances above 1 / n_features are penalized: their logarithm has a normal prior with this
# standard deviation. Smaller ones are not, so that irrelevant features are ignored.
_DEVIATION = 3.0
# If there are more features than samples, features are selected from this number of samples on.
# With fewer, the likelihood prefers too few features.
_MIN_SAMPLES = 200
# Number of samples for each selected feature.
_SAMPLES_BY_FEATURE = 4
# Smallest eigenvalue of a kernel matrix that is distinguished from 0.
_ROUNDING = 1e-12


class RelevanceFeatures(TransformerMixin, BaseEstimator):
    """Nyström features of a Matérn kernel that learns how relevant each feature is.

    The relevances of the features are chosen by the marginal likelihood of the rankings. If there
    are more features than samples to learn from, all features have the same relevance. With at
    least 200 samples, this model is compared with one in which the features with the largest
    correlations with the positions are selected, one for every four samples, and the others have
    relevance 0. The numbers of samples and of components are limited, so that the time to fit is
    linear in the number of samples.

    Parameters
    ----------
    n_components : int, default=500
        Number of kernel features. It is reduced to the number of samples if there are fewer.
    max_samples : int, default=500
        The relevances are learned from a random choice of this number of samples, if there are
        more.
    max_iter : int, default=60
        Maximum number of iterations of L-BFGS.
    random_state : int, RandomState instance or None, default=None
        Controls the choice of the samples and of the centers of the kernel.

    Attributes
    ----------
    relevances_ : ndarray of shape (n_features,)
        Relevance of each standardized feature; 0 if the feature was not selected.
    noise_ : float
        Ratio of the variances of the noise and of the process.
    n_iter_ : int
        Number of iterations of L-BFGS.
    scaler_ : StandardScaler
        The fitted scaler.
    centers_ : ndarray of shape (n_components, n_features)
        Centers of the kernel: standardized samples.
    normalization_ : ndarray of shape (n_components, n_components)
        Inverse root of the kernel matrix of the centers.
    n_features_in_ : int
        Number of features.
    """

    _doc_link_module = ""  # private, without a page in the documentation
    _parameter_constraints: dict = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "max_samples": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(self, n_components=500, *, max_samples=500, max_iter=60, random_state=None):
        self.n_components = n_components
        self.max_samples = max_samples
        self.max_iter = max_iter
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y):
        """Learn the relevances and draw the centers of the kernel.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples, n_labels)
            Positions of the labels. NaN marks a label that is not ranked. An array of shape
            `(n_samples,)` is that of a single label.

        Returns
        -------
        self : object
            The fitted transformer.
        """
        with unchanged_on_error(self):
            X = validate_data(self, X)
            if y is None:
                raise ValueError(
                    f"{type(self).__name__} requires y to be passed, but the target y is None"
                )
            y = np.asarray(y)
            positions = check_positions(y[:, np.newaxis] if y.ndim == 1 else y, "y")
            check_consistent_length(X, positions)
            return self._fit(X, relative_positions(positions))

    def _fit(self, X, positions):
        random = check_random_state(self.random_state)
        self.scaler_ = StandardScaler().fit(X)
        Z = self.scaler_.transform(X)
        rows = np.arange(len(Z))
        if len(Z) > self.max_samples:
            rows = random.permutation(len(Z))[: self.max_samples]
        if Z.shape[1] <= len(rows):
            process = SharedProcess(Z[rows], positions[rows])
            self.relevances_, self.noise_, self.n_iter_, _ = process.maximize(self.max_iter)
        else:
            self._compare_models(Z, positions, rows)
        self.centers_ = Z[random.permutation(len(Z))[: self.n_components]]
        values, vectors = np.linalg.eigh(matern(distances(self.centers_, self.relevances_)))
        self.normalization_ = (vectors / np.sqrt(np.maximum(values, _ROUNDING))) @ vectors.T
        return self

    def _compare_models(self, Z, positions, rows):
        """Learn the same relevance of all features, or relevances of few; keep the best."""
        models = [np.arange(Z.shape[1])]
        if len(rows) >= _MIN_SAMPLES:
            models.append(selected_features(Z, positions, len(rows) // _SAMPLES_BY_FEATURE))
        best = np.inf
        for features in models:
            process = SharedProcess(Z[np.ix_(rows, features)], positions[rows])
            *found, loss = process.maximize(self.max_iter, one_width=len(features) == Z.shape[1])
            if loss < best:
                best = loss
                self.relevances_ = np.zeros(Z.shape[1])
                self.relevances_[features], self.noise_, self.n_iter_ = found

    def transform(self, X):
        """Return the kernel features of the samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Kernel features.
        """
        check_is_fitted(self)
        Z = self.scaler_.transform(validate_data(self, X, reset=False))
        return matern(distances(Z, self.relevances_, self.centers_)) @ self.normalization_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags


def selected_features(X, positions, n_selected):
    """Return the features with the largest sums of squared covariances with the positions.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Standardized samples.
    positions : ndarray of shape (n_samples, n_labels)
        Relative positions of the labels. NaN marks a label that is not ranked.
    n_selected : int
        Number of features.

    Returns
    -------
    ndarray of shape (n_selected,)
        Indices of the features, in increasing order.
    """
    strengths = np.sum((X.T @ centered(positions)) ** 2, axis=1)
    return np.sort(np.argsort(-strengths, kind="stable")[:n_selected])


def centered(targets):
    """Return the targets minus their means for each column; those that are NaN become 0."""
    known = ~np.isnan(targets)
    counts = np.maximum(known.sum(axis=0), 1)
    means = np.where(known, targets, 0.0).sum(axis=0) / counts
    return np.where(known, targets - means, 0.0)


def distances(X, relevances, Y=None):
    """Return the distances of the rows of X from those of Y, or from each other."""
    roots = np.sqrt(relevances)
    return euclidean_distances(X * roots, None if Y is None else Y * roots)


def matern(distance):
    """Return the kernel of samples with the given distances."""
    scaled = np.sqrt(3.0) * distance
    return (1.0 + scaled) * np.exp(-scaled)


class SharedProcess:
    """Gaussian processes of several targets with the same covariance.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Standardized samples.
    targets : ndarray of shape (n_samples, n_targets)
        Targets. Missing ones, NaN, are replaced by the mean of the others.
    """

    def __init__(self, X, targets):
        self.X = X
        self.targets = centered(targets)

    def maximize(self, max_iter, one_width=False):
        """Maximize the marginal likelihood; if `one_width` is True, with equal relevances.

        Returns
        -------
        relevances : ndarray of shape (n_features,)
            Relevances.
        noise : float
            Noise.
        n_iter : int
            Number of iterations, at least 1.
        loss : float
            Loss of the result; 0 if all targets are 0.
        """
        n_features = self.X.shape[1]
        n_widths = 1 if one_width else n_features
        logs, n_iter, loss = np.full(n_widths + 1, -np.log(n_features)), 1, 0.0
        logs[-1] = np.log(_START_NOISE)
        if self.targets.any():
            found = minimize(
                self.loss_of_one_width if one_width else self.loss,
                logs,
                jac=True,
                method="L-BFGS-B",
                bounds=[_RELEVANCES] * n_widths + [_NOISES],
                options={"maxiter": max_iter},
            )
            logs, n_iter, loss = found.x, max(found.nit, 1), found.fun
        relevances = np.full(n_features, np.exp(logs[:-1]))
        return relevances, float(np.exp(logs[-1])), n_iter, loss

    def loss_of_one_width(self, logs):
        """Return the loss of equal relevances, and its gradient."""
        relevance, noise = logs
        value, gradient = self.loss(np.append(np.full(self.X.shape[1], relevance), noise))
        return value, np.array([gradient[:-1].sum(), gradient[-1]])

    def loss(self, logs):
        """Return the penalized negative log-likelihood of a target value, and its gradient.

        `logs` are the logarithms of the relevances and of the noise. A constant is left out.
        """
        n_samples, n_targets = self.targets.shape
        relevances, noise = np.exp(logs[:-1]), np.exp(logs[-1])
        distance = distances(self.X, relevances)
        covariance = matern(distance)
        covariance[np.diag_indices(n_samples)] += noise
        try:
            factor = cholesky(covariance, lower=True)
        except LinAlgError:
            return np.inf, np.zeros_like(logs)
        weights = cho_solve((factor, True), self.targets)
        variance = np.sum(self.targets * weights) / self.targets.size
        log_determinant = 2.0 * np.log(factor.diagonal()).sum()
        value = 0.5 * (self.targets.size * np.log(variance) + n_targets * log_determinant)

        inverse = cho_solve((factor, True), np.eye(n_samples))
        by_covariance = 0.5 * (n_targets * inverse - weights @ weights.T / variance)
        # The derivative of the kernel by log r is -3 r (x - x')^2 exp(-sqrt(3) d) / 2.
        by_squares = 3.0 * by_covariance * np.exp(-np.sqrt(3.0) * distance)
        products = np.sum(self.X * (by_squares @ self.X), axis=0)
        squares = by_squares.sum(axis=1) @ self.X**2
        gradient = np.append(relevances * (products - squares), noise * by_covariance.trace())

        excess = np.maximum(logs[:-1] + np.log(len(relevances)), 0.0) / _DEVIATION
        value += 0.5 * np.sum(excess**2)
        gradient[:-1] += excess / _DEVIATION
        return value / self.targets.size, gradient / self.targets.size
