"""One-versus-one decomposition whose samples are scores of the labels."""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from sklrank.label_ranking._pairwise import PairwiseRanker

__all__ = ["ScorePairRanker"]


class ScorePairRanker(PairwiseRanker):
    """Pairwise ranker of samples that are scores of the labels, of shape `(n_samples, n_labels)`.

    The classifier of a pair sees three features: the scores of the two labels and their
    difference. Its default is a logistic regression on these features, their squares and products.
    """

    def _default_estimator(self, random_state, n_jobs):
        polynomials = PolynomialFeatures(2, include_bias=False)
        return make_pipeline(StandardScaler(), polynomials, LogisticRegression(max_iter=1000))

    def _pair_samples(self, X, pair):
        first, second = X[:, pair].T
        return np.column_stack([first, second, first - second])
