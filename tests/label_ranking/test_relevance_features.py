"""RelevanceFeatures: against densities and finite differences, and what it learns."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import approx_fprime
from scipy.stats import multivariate_normal
from sklearn.gaussian_process.kernels import Matern

from sklrank._rankings import relative_positions
from sklrank.label_ranking import _relevance_features
from sklrank.label_ranking._relevance_features import RelevanceFeatures, SharedProcess

RANDOM = np.random.RandomState(0)
X = RANDOM.normal(size=(60, 4))
UTILITY = np.column_stack([np.sin(2 * X[:, 0]), X[:, 1], np.zeros(60), -X[:, 0]])
Y = np.argsort(np.argsort(-UTILITY, axis=1), axis=1) + 1.0
INCOMPLETE = np.where(RANDOM.uniform(size=Y.shape) < 0.3, np.nan, Y)
# Penalties are 0 for relevances up to 1 / 4.
LOGS = np.log([0.2, 0.1, 0.05, 0.24, 0.3])


def test_the_loss_is_a_negative_log_likelihood():
    """Up to a constant, that of normal targets with the best variance."""
    process = SharedProcess(X, relative_positions(Y))
    targets = relative_positions(Y) - relative_positions(Y).mean(axis=0)
    losses, expected = [], []
    for shift in (0.0, -0.5, -2.0):
        widths = 1 / np.sqrt(np.exp(LOGS[:4] + shift))
        kernel = Matern(widths, nu=1.5)(X) + np.exp(LOGS[4]) * np.eye(60)
        variance = np.trace(targets.T @ np.linalg.solve(kernel, targets)) / targets.size
        density = multivariate_normal(np.zeros(60), variance * kernel)
        expected.append(-np.sum(density.logpdf(targets.T)) / targets.size)
        losses.append(process.loss(np.append(LOGS[:4] + shift, LOGS[4]))[0])
    assert_allclose(np.diff(losses), np.diff(expected))


def test_large_relevances_have_a_normal_prior():
    process = SharedProcess(np.zeros((60, 4)), relative_positions(Y))
    large = np.add(LOGS, [0, 0, np.log(20), 0, 0])  # four times 1 / 4
    excess = process.loss(large)[0] - process.loss(LOGS)[0]
    assert excess * Y.size == pytest.approx(0.5 * (np.log(4) / 3) ** 2)


@pytest.mark.parametrize("shift", [0.0, 2.0])
@pytest.mark.parametrize("rankings", [Y, INCOMPLETE], ids=["complete", "incomplete"])
def test_gradient(rankings, shift):
    process = SharedProcess(X, relative_positions(rankings))
    _, gradient = process.loss(LOGS + shift)
    expected = approx_fprime(LOGS + shift, lambda logs: process.loss(logs)[0], 1e-6)
    assert_allclose(gradient, expected, atol=1e-5)


@pytest.mark.parametrize("rankings", [Y, INCOMPLETE], ids=["complete", "incomplete"])
def test_irrelevant_features_are_found(rankings):
    relevances = RelevanceFeatures(random_state=0).fit(X, rankings).relevances_
    assert relevances[:2].min() > 10 * relevances[2:].max()


@pytest.mark.parametrize("share_missing", [0.0, 0.3])
def test_features_are_selected_if_there_are_more_than_samples(share_missing, monkeypatch):
    """One for every four samples, those with the largest squared covariances with positions.

    Few features are relevant, so that this model has the larger likelihood.
    """
    monkeypatch.setattr(_relevance_features, "_MIN_SAMPLES", 41)
    random = np.random.RandomState(0)
    rows = random.normal(size=(41, 60))
    rankings = np.argsort(np.argsort(rows[:, 7:10], axis=1), axis=1) + 1.0
    rankings[random.uniform(size=rankings.shape) < share_missing] = np.nan
    relative = relative_positions(rankings)
    standardized = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    strengths = np.zeros(60)
    for feature in range(60):
        for label in range(3):
            known = ~np.isnan(relative[:, label])
            target = relative[known, label] - relative[known, label].mean()
            strengths[feature] += (standardized[known, feature] @ target) ** 2
    selected = np.sort(np.argsort(strengths)[-10:])
    relevances = RelevanceFeatures(random_state=0).fit(rows, rankings).relevances_
    assert_array_equal(np.flatnonzero(relevances), selected)
    assert set(range(7, 10)) <= set(selected)
    process = SharedProcess(standardized[:, selected], relative)
    found, _, _, loss = process.maximize(60)
    assert_allclose(relevances[selected], found)
    assert loss < SharedProcess(standardized, relative).maximize(60, one_width=True)[3]


def test_one_width_if_there_are_more_features_than_few_samples():
    """It is the best of a grid."""
    random = np.random.RandomState(0)
    rows = random.normal(size=(15, 20))
    rankings = np.argsort(np.argsort(rows[:, :3], axis=1), axis=1)
    transformer = RelevanceFeatures(random_state=0).fit(rows, rankings)
    relevances, noise = transformer.relevances_, transformer.noise_
    assert_allclose(relevances, relevances[0])
    standardized = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    process = SharedProcess(standardized, relative_positions(rankings))
    grid = np.log(relevances[0]) + np.array([-0.3, 0.0, 0.3])
    losses = [process.loss(np.append(np.full(20, log), np.log(noise)))[0] for log in grid]
    assert np.argmin(losses) == 1


def test_features_have_the_kernel_as_inner_products():
    transformer = RelevanceFeatures(random_state=0).fit(3 * X + 1, Y)
    features = transformer.transform(3 * X + 1)
    standardized = (X - X.mean(axis=0)) / X.std(axis=0)
    kernel = Matern(1 / np.sqrt(transformer.relevances_), nu=1.5)(standardized)
    assert_allclose(features @ features.T, kernel, atol=1e-6)


def test_numbers_of_samples_and_components_are_limited():
    transformer = RelevanceFeatures(7, max_samples=20, random_state=0).fit(X, Y)
    assert transformer.transform(X).shape == (60, 7)
    again = RelevanceFeatures(7, max_samples=20, random_state=0).fit(X, Y**3)
    assert_array_equal(again.transform(X), transformer.transform(X))


def test_equal_relevances_if_there_is_nothing_to_learn():
    transformer = RelevanceFeatures(random_state=0).fit(X, np.tile([1, 2, 3], (60, 1)))
    assert_allclose(transformer.relevances_, 0.25)
