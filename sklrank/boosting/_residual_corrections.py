r"""Corrections of a base ranking that are fitted to few judgements.

The judgement :math:`y_i` of document i is modelled as

.. math:: y_i = c_q + \rho g_i + f(x_i) + \varepsilon_i,

where :math:`c_q` is a constant for each query and :math:`g_i` the base score. The correction
:math:`f` is a Gaussian process with covariance :math:`\tau k(x, x')`, and the errors are
independent normal variables. The variance of the errors has an inverse gamma prior, and
:math:`\tau` is a multiple of it, so that the marginal likelihood has a closed form. The *models*
differ in the slope :math:`\rho`, the kernel k and the strength :math:`\tau`; in some of them
:math:`f = 0`. The marginal likelihood of a model is the product of the densities with which it
predicts each judgement from those before it. Hence it is small for a model that overfits.

Kernels are evaluated at the judged documents, or at `MAX_LANDMARKS` of them if there are more
(subset of regressors).
"""

import numpy as np
from scipy.special import softmax
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.sparsefuncs import mean_variance_axis

from sklrank._estimator import BaseEstimator

__all__ = ["SLOPES", "LinearCorrection", "RadialCorrection", "fit_corrections"]

# Slopes of the standardized judgements as functions of the standardized base scores, which are the
# correlations of the two. Often only documents that the base ranker ranks high were judged, for
# which the best slope is lower. Hence the smallest slope is not 0.
SLOPES = (0.25, 0.5, 1.0)
# Ratios of the variance of the correction to that of the errors.
STRENGTHS = (0.03, 0.1, 0.3, 1.0, 3.0)
# Prior probability of the model without a correction. The others are equally probable.
PROBABILITY_UNCHANGED = 0.5
# Shape and scale of the inverse gamma prior of the variance of the errors, which has the weight of
# two judgements. Judgements are standardized.
ERROR_SHAPE, ERROR_SCALE = 1.0, 0.5
# The time to fit the corrections is cubic in the number of landmarks.
MAX_LANDMARKS = 500
# Eigenvalues of a kernel matrix below this fraction of the largest are rounding errors.
ROUNDING = 1e-10


def fit_corrections(X, judged, queries, base_scores, judgements, slopes, random_state):
    """Fit the slope and the corrections.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
        Documents, both judged and not judged; all of them are used to standardize the features.
    judged : ndarray of int of shape (n_judged,)
        Indices of the judged documents.
    queries : ndarray of int of shape (n_judged,)
        Query of each judged document.
    base_scores, judgements : ndarray of shape (n_judged,)
        Base scores and judgements of these documents; their means in each query must be 0.
    slopes : sequence of float
        Slopes that are possible.
    random_state : RandomState instance
        Draws the landmarks.

    Returns
    -------
    slope : float
        Posterior mean of the slope.
    corrections : list of (correction, probability)
        For each kernel, the posterior mean of the correction, given that this kernel is right, and
        the probability that it is. The remaining probability is that of no correction.
    """
    residuals = judgements[:, np.newaxis] - base_scores[:, np.newaxis] * slopes
    center, scale = center_and_scale(X)
    n_used = np.isfinite(scale).sum()
    kernels = KERNELS if n_used and len(judged) else {}
    Z = standardized(X[judged], center, scale)
    landmarks = Z
    if len(judged) > MAX_LANDMARKS:
        landmarks = Z[np.sort(random_state.permutation(len(judged))[:MAX_LANDMARKS])]
    unchanged = -error_shape(queries) * np.log(ERROR_SCALE + (residuals**2).sum(axis=0) / 2)
    log_weights = [np.log(PROBABILITY_UNCHANGED) + unchanged]
    coefficients = []
    for kernel in kernels:
        basis = orthonormal_basis(kernel(landmarks, landmarks, n_used))
        features = kernel(Z, landmarks, n_used) @ basis
        evidence, weights = fit_bayesian_ridge(features, queries, residuals)
        prior = (1 - PROBABILITY_UNCHANGED) / (len(kernels) * len(STRENGTHS))
        log_weights.extend(np.log(prior) + evidence)
        coefficients.append(weights @ basis.T)
    # The first row contains the models without a correction; columns are slopes.
    probabilities = softmax(log_weights)
    slope = float(probabilities.sum(axis=0) @ slopes)
    by_kernel = probabilities[1:].reshape(len(kernels), len(STRENGTHS), len(slopes))
    corrections = []
    for kind, of_models, weights in zip(kernels.values(), by_kernel, coefficients):
        probability = of_models.sum()
        if probability > 0:
            mean = np.tensordot(of_models / probability, weights, axes=2)
            correction = kind.from_kernel(center, scale, n_used, landmarks, mean)
            corrections.append((correction, float(probability)))
    return slope, corrections


def error_shape(queries):
    """Return the shape of the posterior distribution of the variance of the errors."""
    return ERROR_SHAPE + (len(queries) - len(np.unique(queries))) / 2


def fit_bayesian_ridge(features, queries, residuals):
    """Return the marginal likelihoods and the posterior means of the weights of the features.

    Parameters
    ----------
    features : ndarray of shape (n_judged, n_features)
        Features, whose weights are independent and have variance `strength` times that of errors.
    queries : ndarray of int of shape (n_judged,)
        Query of each document.
    residuals : ndarray of shape (n_judged, n_slopes)
        Residuals for each slope.

    Returns
    -------
    evidence : ndarray of shape (n_strengths, n_slopes)
        Logarithms of the likelihoods, up to a constant.
    weights : ndarray of shape (n_strengths, n_slopes, n_features)
        Posterior means.
    """
    strengths = np.array(STRENGTHS)[:, np.newaxis]
    centered = features - means_of_queries(features, queries)
    values, vectors = np.linalg.eigh(centered.T @ centered)
    shrinkage = 1 + strengths * np.maximum(values, 0.0)
    projections = residuals.T @ centered @ vectors
    shrunken = (strengths / shrinkage)[:, np.newaxis] * projections
    squares = (residuals**2).sum(axis=0) - (shrunken * projections).sum(axis=2)
    errors = np.log(ERROR_SCALE + np.maximum(squares, 0.0) / 2)
    evidence = -error_shape(queries) * errors - np.log(shrinkage).sum(axis=1, keepdims=True) / 2
    return evidence, shrunken @ vectors.T


def orthonormal_basis(kernel):
    """Return B such that ``K B`` are features whose inner products are the kernel K."""
    values, vectors = np.linalg.eigh(kernel)
    kept = values > ROUNDING * values.max(initial=0.0)
    return vectors[:, kept] / np.sqrt(values[kept])


def means_of_queries(values, queries):
    """Return the mean of the rows of the same query, for each row."""
    _, codes, counts = np.unique(queries, return_inverse=True, return_counts=True)
    sums = np.zeros((len(counts), *values.shape[1:]))
    np.add.at(sums, codes, values)
    return (sums.T / counts).T[codes]


# -- Standardized features.


def center_and_scale(X):
    """Return the centers and the scales of the features, `(n_features,)` each.

    The scale is infinite for features that are constant, or so large that their variance overflows.
    The zeros of a sparse matrix are not changed: the centers are 0.
    """
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        if isinstance(X, np.ndarray):
            X = np.ascontiguousarray(X, dtype=np.float64)
            means = center = X.mean(axis=0)
            scale = X.std(axis=0)
        else:
            means, variances = mean_variance_axis(X.tocsr(), axis=0)
            center, scale = np.zeros(X.shape[1]), np.sqrt(variances)
        used = np.isfinite(scale) & (scale > 1e-12 * np.abs(means))
    return np.where(used, center, 0.0), np.where(used, scale, np.inf)


def standardized(X, center, scale):
    """Return standardized features; those of infinite scale are 0."""
    if isinstance(X, np.ndarray):
        return (np.ascontiguousarray(X, dtype=np.float64) - center) / scale
    return X.multiply(1 / scale).tocsr()


# -- Kernels, and the corrections that are sums of them.


def linear_kernel(Z, landmarks, n_used):
    """Return the mean product of the features."""
    return safe_sparse_dot(Z, landmarks.T, dense_output=True) / n_used


def radial_kernel(Z, landmarks, n_used):
    """Return ``exp(-d^2 / 2)`` for root mean squared distances d."""
    return np.exp(euclidean_distances(Z, landmarks, squared=True) / (-2 * n_used))


class LinearCorrection(BaseEstimator):
    """Linear function of the features."""

    def __init__(self, center, coef):
        self.center = center
        self.coef = coef

    @classmethod
    def from_kernel(cls, center, scale, n_used, landmarks, coefficients):
        """Return the weighted sum of the kernels of the landmarks."""
        weights = safe_sparse_dot(landmarks.T, coefficients) / n_used
        return cls(center, weights / scale)

    def predict(self, X):
        """Return the corrections of the scores."""
        if isinstance(X, np.ndarray):
            X = np.ascontiguousarray(X, dtype=np.float64) - self.center
        return X @ self.coef


class RadialCorrection(BaseEstimator):
    """Weighted sum of Gaussians of the distances to the landmarks."""

    def __init__(self, center, scale, n_used, landmarks, coefficients):
        self.center = center
        self.scale = scale
        self.n_used = n_used
        self.landmarks = landmarks
        self.coefficients = coefficients

    @classmethod
    def from_kernel(cls, center, scale, n_used, landmarks, coefficients):
        """Return the weighted sum of the kernels of the landmarks."""
        return cls(center, scale, n_used, landmarks, coefficients)

    def predict(self, X):
        """Return the corrections of the scores."""
        Z = standardized(X, self.center, self.scale)
        return radial_kernel(Z, self.landmarks, self.n_used) @ self.coefficients


KERNELS = {linear_kernel: LinearCorrection, radial_kernel: RadialCorrection}
