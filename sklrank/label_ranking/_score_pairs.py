"""One-versus-one decomposition whose samples are scores of the labels."""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer, StandardScaler

from sklrank.label_ranking._pairwise import PairwiseRanker

__all__ = ["ScorePairRanker"]


class ScorePairRanker(PairwiseRanker):
    """Pairwise ranker of samples that are scores of the labels, of shape `(n_samples, n_labels)`.

    The classifier of a pair sees three features: the scores of the two labels and their
    difference. Its default is a logistic regression on cubic polynomials of these features.
    """

    def _default_estimator(self, random_state, n_jobs):
        # Polynomials between the smallest and the largest score, and straight lines beyond them.
        polynomials = SplineTransformer(2, degree=3, extrapolation="linear", include_bias=False)
        return make_pipeline(polynomials, StandardScaler(), LogisticRegression(max_iter=1000))

    def _pair_samples(self, X, pair):
        first, second = X[:, pair].T
        return np.column_stack([first, second, first - second])
