"""Kernel features whose widths are learned from rankings."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import minimize
from sklearn.base import TransformerMixin
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted, validate_data

from sklrank._checks import check_positions, relative_positions
from sklrank._estimators import BaseEstimator, draw_seed

# Samples from which the widths are learned, which takes the cube of their number. There are at most
# half as many widths; if there are more features, all of them have one width.
_N_SAMPLES = 200


class KernelFeatures(TransformerMixin, BaseEstimator):
    """Nyström features of a Matérn kernel with a width for each standardized feature.

    The widths maximize the marginal likelihood of Gaussian processes, one for each label, of the
    relative positions in the rankings. Features that do not matter get large widths.

    Parameters
    ----------
    n_components : int, default=500
        Maximum number of samples that are centers of the kernel.
    random_state : int, RandomState instance or None, default=None
        Controls the choice of the samples that are centers of the kernel.

    Attributes
    ----------
    widths_ : ndarray of shape (n_features,)
        Widths of the standardized features.
    n_features_in_ : int
        Number of features.
    """

    _doc_link_module = ""  # private, without a page in the documentation

    def __init__(self, n_components=500, random_state=None):
        self.n_components = n_components
        self.random_state = random_state

    def fit(self, X, y):
        """Learn the widths from samples `X` and positions `y`, with NaN for missing labels."""
        X = validate_data(self, X, dtype=np.float64)
        self.scaler_ = StandardScaler().fit(X)
        X, positions = self.scaler_.transform(X), check_positions(y)
        some = np.linspace(0, len(X) - 1, min(len(X), _N_SAMPLES)).astype(np.intp)
        self.widths_ = learn_widths(X[some], positions[some])
        drawn = np.random.RandomState(draw_seed(self.random_state)).permutation(len(X))
        self.centers_ = X[drawn[: self.n_components]] / self.widths_
        values, vectors = eigh(MATERN(self.centers_))
        self.projection_ = vectors / np.sqrt(np.maximum(values, 1e-12 * values[-1]))
        return self

    def transform(self, X):
        """Return the kernel features of the samples."""
        check_is_fitted(self)
        X = self.scaler_.transform(validate_data(self, X, reset=False, dtype=np.float64))
        return MATERN(X / self.widths_, self.centers_) @ self.projection_


MATERN = Matern(1.0, nu=1.5)


def learn_widths(X, positions):
    """Return the width of each feature."""
    targets = np.ma.masked_invalid(relative_positions(positions))
    targets = (targets - targets.mean(axis=0)).filled(0.0)
    deviation = targets.std()
    n_features = X.shape[1]
    distance = np.sqrt(n_features)
    if not deviation:
        return np.full(n_features, distance)
    widths = np.full(n_features if 2 * n_features <= _N_SAMPLES else 1, distance)
    kernel = ConstantKernel() * Matern(widths, nu=1.5) + WhiteKernel(0.3)
    process = GaussianProcessRegressor(kernel, optimizer=None).fit(X, targets / deviation)
    start = process.kernel_.theta

    def loss(theta):
        value, gradient = process.log_marginal_likelihood(theta, True, clone_kernel=False)
        return -value, -gradient

    # Up to a thousandfold: a feature of such a width has no effect.
    found = minimize(
        loss,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=[(log - np.log(1e3), log + np.log(1e3)) for log in start],
        options={"maxiter": 50},
    )
    learned = process.kernel_.clone_with_theta(found.x).k1.k2.length_scale
    return np.broadcast_to(learned, n_features).copy()
