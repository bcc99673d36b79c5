"""Predictions of the Plackett-Luce model: probabilities, expected positions, draws, preferences."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.special import softmax
from sklearn.utils.validation import check_is_fitted

from sklrank._checks import (
    check_columns,
    check_k,
    check_level,
    check_random_state,
    check_weights,
    column_names,
    stored_positions,
    strict_positions,
)
from sklrank._compiled import shared_call
from sklrank._rankers import with_names
from sklrank.label_ranking._label_ranker import PairProbaMixin, of_rankers
from sklrank.label_ranking._plackett_luce.inference import check_number, table
from sklrank.label_ranking._plackett_luce.likelihood import (
    RankingLikelihood,
    expected_positions,
    pair_probabilities,
    ranked_labels,
    topk_probabilities,
)
from sklrank.metrics import kendall_tau_score


@of_rankers
class PlackettLucePredictions(PairProbaMixin):
    """Mixin of `PlackettLuceRanker` with the predictions of its model."""

    @with_names
    @shared_call
    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        r"""Return the probability of each label to be ranked first.

        {samples_and_returns}
        ndarray of shape (n_samples, n_labels)
            Probabilities, :math:`e^{s_l} / \sum_m e^{s_m}`. Each row has the sum 1.
        """
        return softmax(self._label_scores(X), axis=1)

    @with_names
    @shared_call
    def predict_topk_proba(self, X: ArrayLike, k: int) -> np.ndarray:
        """Return the probability of each label to be one of the `k` best.

        {samples}
        k : int
            Number of places, from 1 to `n_labels`.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Probabilities, with a numerical error below 1e-12. Each row has the sum k.
        """
        scores = self._label_scores(X)
        return topk_probabilities(scores, check_k(k, scores.shape[1]))

    @with_names
    @shared_call
    def expected_positions(self, X: ArrayLike) -> np.ndarray:
        """Return the expected position of each label.

        {samples_and_returns}
        ndarray of shape (n_samples, n_labels)
            One plus the expected number of labels before the label, in the order of the scores.
        """
        return expected_positions(self._label_scores(X))

    def _bounded_scores(self, X):
        return -expected_positions(self._label_scores(X))

    @shared_call
    def sample_rankings(
        self,
        X: ArrayLike,
        n_draws: int = 1,
        *,
        random_state: int | np.random.RandomState | None = None,
    ) -> np.ndarray:
        """Draw rankings from the model.

        {samples}
        n_draws : int, default=1
            Number of rankings that are drawn for each sample.
        random_state : int, RandomState instance or None, default=None
            Controls the random draws. Pass an int for reproducible rankings.

        Returns
        -------
        ndarray of int of shape (n_draws, n_samples, n_labels)
            Positions of the labels; 1 is the best position.
        """
        check_number(n_draws, "n_draws", 1)
        scores = self._label_scores(X)
        # The order of scores with independent Gumbel noise has the distribution of the model.
        noise = check_random_state(random_state).gumbel(size=(n_draws, *scores.shape))
        drawn = strict_positions((scores + noise).reshape(-1, scores.shape[1]))
        return drawn.reshape(noise.shape).astype(np.intp)

    @shared_call
    def score_samples(self, X: ArrayLike, y: ArrayLike | None = None) -> np.ndarray:
        """Return the log-likelihood of each ranking.

        {samples}
        y : array-like of shape (n_samples, n_labels), default=None
            Positions of the labels. NaN marks a label that is not ranked. The rule for ties is that
            of `fit`. If None, the predicted rankings, the most likely ones: their likelihood is a
            measure of confidence.

        Returns
        -------
        ndarray of shape (n_samples,)
            Natural logarithms of the likelihoods.
        """
        check_is_fitted(self)
        orders = tuple(self.tie_prevalences_)
        log_prevalences = np.log(list(self.tie_prevalences_.values()))

        def log_likelihoods(positions, scores):
            likelihood = RankingLikelihood(positions, self._fitted_ties, orders)
            return likelihood.log_likelihoods(scores, log_prevalences)

        return self._values(X, y, log_likelihoods)

    def _linear_terms(self, X):
        """Return the features of samples and the weights of the labels, whose product is scores."""
        features = self.features_.transform(self._check_rows(X, reset=False))
        features = np.hstack([features, np.ones((len(features), 1))])
        return features, np.vstack([self._coef.T, self._intercept])

    def _values(self, X, y, values_of):
        """Return `values_of(positions, scores)` of the rankings, computed in tables of these."""
        features, weights = self._linear_terms(X)
        if y is None:
            y = strict_positions(features @ weights)
        else:
            check_columns(column_names(y), self.classes_)
            y = self._check_rankings(y, len(features), len(self.classes_))
        values = np.zeros(len(features))
        for part in ranked_labels(stored_positions(y)):
            values[part.rows] = values_of(part.positions, part.scores(features, weights))
        return values

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        if not sparse.issparse(y):
            return super().score(X, y, sample_weight)
        check_is_fitted(self)

        def taus(positions, scores):
            return kendall_tau_score(positions, strict_positions(scores), average=False)

        values = self._values(X, y, taus)
        sample_weight = check_weights(sample_weight, len(values), positive=True)
        return float(np.average(values, weights=sample_weight))

    @shared_call
    def preferences(
        self,
        X: ArrayLike,
        kind: Literal["mean_rank", "top_k", "wins"] = "mean_rank",
        *,
        k: int = 1,
        confidence_level: float = 0.95,
        n_draws: int = 200,
        random_state: int | np.random.RandomState | None = None,
        **options: Any,
    ) -> Any:
        """Return mean preferences of respondents, with intervals.

        The limits are quantiles over draws from the normal distribution of the estimates.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Respondents, over which the mean is taken. A single one is possible.
        kind : {"mean_rank", "top_k", "wins"}, default="mean_rank"
            The expected position, the probability to be one of the `k` best, or those of the order
            of two labels.
        k : int, default=1
            Number of places, for "top_k".
        confidence_level : float, default=0.95
            Level of the intervals.
        n_draws : int, default=200
            Number of draws.
        random_state : int, RandomState instance or None, default=None
            Controls the draws.
        **options
            Parameters of :meth:`worth_covariance`.

        Returns
        -------
        DataFrame, or Bunch of arrays if pandas is not installed
            Columns `estimate`, `lower` and `upper`, with a row for each label, or for each pair of
            labels: the probability that the first is ranked before the second.
        """
        check_level(confidence_level, "confidence_level")
        check_number(n_draws, "n_draws", 1)
        scores = self._label_scores(X)
        n_labels = scores.shape[1]
        functions = {
            "mean_rank": expected_positions,
            "top_k": lambda scores: topk_probabilities(scores, check_k(k, n_labels)),
            "wins": lambda scores: pair_probabilities(scores).reshape(len(scores), -1),
        }
        if kind not in functions:
            raise ValueError(f"kind must be one of {tuple(functions)}, got {kind!r}")
        random = check_random_state(random_state)
        values, vectors = np.linalg.eigh(self._covariance(random_state=random, **options))
        problem = self._problem
        solution, _ = problem.unpack(self._parameters)
        features = self.features_.transform(self._check_rows(X, reset=False)) - problem.mean
        features = np.hstack([features @ problem.axes, np.ones((len(features), 1))])
        draws, directions = [], self._label_directions()
        for _ in range(n_draws):
            noise = vectors @ (np.sqrt(values.clip(0.0)) * random.normal(size=len(values)))
            moved = solution + noise[: solution.size].reshape(solution.shape)
            draws.append(functions[kind](features @ moved @ directions.T).mean(axis=0))
        tail = (1.0 - confidence_level) / 2.0
        lower, upper = np.quantile(draws, [tail, 1.0 - tail], axis=0)
        columns = {"estimate": functions[kind](scores).mean(axis=0), "lower": lower, "upper": upper}
        names = self.classes_.tolist()
        return table(columns, [(a, b) for a in names for b in names] if kind == "wins" else names)
