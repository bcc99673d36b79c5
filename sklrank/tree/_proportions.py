"""Predictions of trees whose leaves have the proportions of the classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin

from sklrank._estimators import shares_text


@shares_text()
class ProportionsMixin(ClassifierMixin):
    """Classifier of which `_predict`, of samples that `_check_X` returns, are the proportions."""

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Predict class labels.

        {dense_samples_and_returns}
        ndarray of shape (n_samples,)
            The classes of the largest probability; the first one in case of ties.
        """
        places = self.predict_proba(X).argmax(axis=1)
        return self.classes_[places]

    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Predict the probability of each class: its proportion in the leaf of the sample.

        {dense_samples_and_returns}
        ndarray of shape (n_samples, n_classes)
            Probabilities of the classes, in the order of `classes_`. Each row sums to 1.
        """
        return self._predict(self._check_X(X))
