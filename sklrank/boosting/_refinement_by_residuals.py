"""Ranking refinement by corrections of the base scores that are fitted to the judgements."""

from typing import NamedTuple

import numpy as np

from sklrank.boosting._judgements import standardized_wins
from sklrank.boosting._residual_corrections import SLOPES, fit_corrections, means_of_queries

__all__ = ["CorrectedRanking"]

# Slope of the standardized judgements as a function of the standardized base scores, from which on
# the base ranker is certain, so that it is not corrected.
CERTAIN_SLOPE = 10.0


class CorrectedRanking(NamedTuple):
    """Base scores times a factor, plus corrections."""

    confidence: float
    """Factor of the base scores."""
    corrections: list
    """Corrections, and the probability of each of them."""
    judged: np.ndarray
    """Indices of the judged documents."""
    codes: np.ndarray
    """Their queries."""
    residuals: np.ndarray
    """The part of their judgements that the base scores do not explain."""

    @classmethod
    def fit(cls, X, base_scores, judgements, queries, *, confidence, random_state):
        """Fit corrections.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n_samples, n_features)
            Documents.
        base_scores : ndarray of shape (n_samples,)
            Scores of the base ranker.
        judgements : GradedPairLoss or ExplicitPairLoss
            Judgements.
        queries : Queries
            Query of each document.
        confidence : float or None
            Factor of the base scores; None to estimate it.
        random_state : RandomState instance
            Draws the landmarks of the corrections.

        Returns
        -------
        CorrectedRanking
        """
        judged, grades = standardized_wins(judgements, queries)
        codes = queries.codes[judged]
        unit = inverse_deviation(base_scores, queries)
        base = unit * base_scores[judged]
        base -= means_of_queries(base, codes)
        slopes = SLOPES
        if confidence is not None and unit > 0:
            slopes = [min(confidence / unit, CERTAIN_SLOPE)]
        if slopes[0] == CERTAIN_SLOPE:
            slope, corrections = CERTAIN_SLOPE, []
        else:
            slope, corrections = fit_corrections(
                X, judged, codes, base, grades, slopes, random_state
            )
        return cls(slope * unit, corrections, judged, codes, grades - slope * base)

    def residuals_after(self, X, correction, probability, residuals):
        """Return the residuals after a correction."""
        values = probability * correction.predict(X[self.judged])
        return residuals - (values - means_of_queries(values, self.codes))


def inverse_deviation(scores, queries):
    """Return 1 / (standard deviation of the scores within queries), or 0 if it is 0."""
    unit = np.abs(scores).max() or 1.0
    means = np.bincount(queries.codes, scores / unit) / queries.sizes
    deviations = scores / unit - means[queries.codes]
    deviation = np.sqrt(np.mean(deviations**2))
    # Equal scores may differ from their mean by rounding.
    if deviation <= 1e-12:
        return 0.0
    with np.errstate(over="ignore"):
        return float(min(1 / unit / deviation, np.finfo(np.float64).max))
