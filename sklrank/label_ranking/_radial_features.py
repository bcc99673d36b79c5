"""Nyström features of a Gaussian kernel, for any number of samples."""

from __future__ import annotations

from numbers import Integral, Real

from sklearn.base import TransformerMixin
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted, validate_data

from sklrank._estimator import BaseEstimator
from sklrank._sklearn import Interval, _fit_context
from sklrank._validation import check_weights, unchanged_on_error

__all__ = ["RadialFeatures"]


class RadialFeatures(TransformerMixin, BaseEstimator):
    """Nyström features of a Gaussian kernel on standardized features.

    The transformer is a pipeline of scikit-learn's transformers. The number of components is
    limited to the number of samples. If there are as many components as samples,
    linear regression on the components is equivalent to kernel regression.

    Parameters
    ----------
    scale : float, default=1.0
        Factor in the exponent of the kernel. The kernel of two samples is exp(-scale d), where d
        is the mean over features of their squared differences.
    n_components : int, default=500
        Number of kernel features. It is reduced to the number of samples if there are fewer.
    random_state : int, RandomState instance or None, default=None
        Controls the random choice of the samples that are centers of the kernel.

    Attributes
    ----------
    pipeline_ : Pipeline
        The fitted transformers.
    n_features_in_ : int
        Number of features.
    """

    _doc_link_module = ""  # private, without a page in the documentation
    _parameter_constraints: dict = {
        "scale": [Interval(Real, 0, None, closed="neither")],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(self, scale=1.0, *, n_components=500, random_state=None):
        self.scale = scale
        self.n_components = n_components
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None, sample_weight=None):
        """Fit the scaler and draw the centers of the kernel.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : Ignored
            Not used, present for compatibility with pipelines.
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights, for the standardization. Samples of weight 0 are not centers. If None,
            all samples have the same weight.

        Returns
        -------
        self : object
            The fitted transformer.
        """
        with unchanged_on_error(self):
            X = validate_data(self, X)
            if sample_weight is not None:
                sample_weight = check_weights(sample_weight, len(X), positive=True)
                X, sample_weight = X[sample_weight > 0], sample_weight[sample_weight > 0]
            return self._fit(X, sample_weight)

    def _fit(self, X, sample_weight):
        n_samples, n_features = X.shape
        radial = Nystroem(
            gamma=self.scale / n_features,
            n_components=min(self.n_components, n_samples),
            random_state=self.random_state,
        )
        # The pipeline would pass the weights on only as the routing of metadata is configured.
        scaler = StandardScaler().fit(X, sample_weight=sample_weight)
        self.pipeline_ = make_pipeline(scaler, radial.fit(scaler.transform(X)))
        return self

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
        return self.pipeline_.transform(validate_data(self, X, reset=False))
