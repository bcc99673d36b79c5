"""Estimates for lists: unbiasedness by enumeration of all lists, models as policies."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import make_multilabel_classification

from sklrank.feedback import Exploration, explore
from sklrank.feedback._protocol import LIST_RANDOMIZATIONS, make_sampler
from sklrank.linear_model import SemiBanditRanker
from sklrank.off_policy import list_policy_value

quiet = pytest.mark.filterwarnings("ignore::sklrank.off_policy.OffPolicyWarning")
DISCOUNTS = np.array([1.0, 0.6, 0.5])


@quiet
@pytest.mark.parametrize("scheme", sorted(LIST_RANDOMIZATIONS))
@pytest.mark.parametrize("k", [2, 3])
def test_exact_propensities_make_sums_over_labels_and_pairs_unbiased(scheme, k, law):
    random = np.random.RandomState(4)
    scores, new_scores = random.normal(size=(2, 1, 5))
    relevance, wrong = random.rand(5), random.rand(5, 5)
    both = make_sampler(scheme, 5, k, 0.5).propensities(scores)[0]
    new = make_sampler("plackett-luce", 5, k, 0.6).propensities(new_scores)
    totals = {"labels": 0.0, "pairs": 0.0}
    for shown, chance in law(scheme, scores[0], k, 0.5).items():
        shown = np.array(shown)
        record = Exploration([shown], [both[np.ix_(shown, shown)]])
        for method in totals:
            rewards = relevance[shown] if method == "labels" else wrong[np.ix_(shown, shown)]
            found = list_policy_value(rewards[None], record, new, method=method)
            totals[method] += chance * found.value
    assert_allclose(totals["labels"], new[0].diagonal() @ relevance)
    assert_allclose(totals["pairs"], (new[0] * wrong).sum())


@quiet
@pytest.mark.parametrize("method", ["labels", "pairs"])
def test_value_is_the_definition(method):
    """One reward at a time; samples with a reward that is not known are left out."""
    random, n, m, k = np.random.RandomState(0), 40, 5, 3
    shown = explore(random.normal(size=(n, m)), k, exploration=0.5, random_state=0)
    policy = make_sampler("plackett-luce", m, k, 0.6).propensities(random.normal(size=(n, m)))
    rewards = random.normal(size=(n, k) if method == "labels" else (n, k, k))
    rewards[::4, 1] = np.nan
    totals = []
    for i in range(n):
        total, a, p = 0.0, shown.actions[i], shown.propensities[i]
        for j in range(k):
            if method == "labels":
                total += DISCOUNTS[j] * rewards[i, j] * policy[i, a[j], a[j]] / p[j, j]
            for l in range(k if method == "pairs" else 0):
                total += DISCOUNTS[l] * rewards[i, j, l] * policy[i, a[j], a[l]] / p[j, l]
        totals += [] if np.isnan(total) else [total]
    found = list_policy_value(rewards, shown, policy, method=method, discounts=DISCOUNTS)
    assert found.n_samples == len(totals) == 30
    assert_allclose(found.value, np.mean(totals))
    assert_allclose(found.standard_error, np.std(totals, ddof=1) / np.sqrt(30))


def test_models_are_policies():
    X, Y = make_multilabel_classification(1000, n_classes=6, random_state=0)
    log = explore(np.zeros((1000, 6)), 3, exploration=1.0, random_state=0)
    clicks = np.take_along_axis(Y, log.actions, axis=1).astype(float)
    ranker = SemiBanditRanker(k=3, exploration=0.1, random_state=0)
    ranker.partial_fit_feedback(X[:500], log[:500], clicks[:500], classes=range(6))
    rest, clicks[500:520] = log[500:], np.nan
    found = list_policy_value(clicks[500:], rest, ranker, X=X[500:])
    assert found.n_samples == 480
    value = (np.diagonal(ranker.propensities(X), axis1=1, axis2=2) * Y)[520:].sum(axis=1).mean()
    assert abs(found.value - value) < 4 * found.standard_error
    known = clicks[520:], log[520:]
    assert found == list_policy_value(*known, ranker.propensities(X[520:]))
    options = {"X": X[520:], "interval": "bootstrap", "random_state": 0}
    boot = list_policy_value(*known, ranker, **options)
    assert_allclose([boot.low, boot.high], [found.low, found.high], atol=0.02)


def test_invalid_arguments_are_named():
    rewards, log = np.ones((4, 2)), Exploration([[0, 1]] * 4, [[[0.5, 0.2], [0.2, 0.5]]] * 4)
    pairs, good = np.ones((4, 2, 2)), np.full((4, 2), 0.5)
    bad = [
        ("method", (rewards, log, good), {"method": "slate"}),
        ("rewards", (rewards[:, 0], log, good), {}),
        ("rewards .* of pairs of actions", (rewards, log, good), {"method": "pairs"}),
        ("rewards must be known", (rewards * [1, np.nan], log, good), {}),
        ("interval", (rewards, log, good), {"interval": "sequence"}),
        ("exploration", (rewards, good, good), {}),
        ("policy", (rewards, log, -good), {}),
        ("policy", (pairs, log, good), {"method": "pairs"}),
        ("policy", (rewards, log, np.ones((5, 2))), {}),
        ("policy", (pairs, log, np.ones((5, 2, 2))), {"method": "pairs"}),
        ("policy", (rewards, log, np.ones((4, 3, 2))), {}),
        ("`X`", (rewards, log, SemiBanditRanker()), {}),
        *(
            ("discounts", (rewards, log, good), {"discounts": wrong})
            for wrong in ([1, 2, 3], [1], [[1], [1], [1], [1]], [1, np.nan])
        ),
    ]
    for name, arguments, changes in bad:
        with pytest.raises(ValueError, match=name):
            list_policy_value(*arguments, **changes)


@quiet
def test_a_model_is_asked_for_few_samples_at_a_time():
    """The probabilities of pairs of all samples would need too much memory."""

    class Policy:
        sizes = []

        def propensities(self, X):
            self.sizes.append(len(X))
            return np.random.RandomState(0).uniform(size=(1, 4, 4)) * X[:, 0, None, None]

    X = np.linspace(0.5, 1, 150)[:, None]
    shown = explore(np.zeros((150, 4)), k=2, exploration=1.0, random_state=0)
    clicks = (shown.actions == 3).astype(int)
    policy = Policy()
    found = list_policy_value(clicks, shown, policy, X=X)
    chances = np.diagonal(policy.propensities(X), axis1=1, axis2=2)
    assert found.value == pytest.approx(list_policy_value(clicks, shown, chances).value)
    assert policy.sizes[:3] == [64, 64, 22]


def test_policies_that_are_models_are_told_what_was_available():
    """The value is that of their propensities among the available labels."""
    X, Y = make_multilabel_classification(300, n_classes=6, random_state=0)
    available = np.random.RandomState(0).random_sample(Y.shape) < 0.7
    available[:, :2] = True
    ranker = SemiBanditRanker(k=2, exploration=0.5, random_state=0)
    shown = ranker.explore(X, classes=range(6), available=available)
    clicks = np.take_along_axis(Y, shown.actions, axis=1)
    of_pairs = ranker.propensities(X, available=available)
    of_labels = np.diagonal(of_pairs, axis1=1, axis2=2)
    asked = {"policy": ranker, "X": X, "available": available}
    found = list_policy_value(clicks, shown, **asked)
    assert found == list_policy_value(clicks, shown, of_labels)
    assert_allclose(found.value, clicks.sum(axis=1).mean())
    both = clicks[:, :, None] * clicks[:, None]
    found = list_policy_value(both, shown, method="pairs", **asked)
    assert found == list_policy_value(both, shown, of_pairs, method="pairs")
    with pytest.raises(ValueError, match="available has 400 rows, and X has 300"):
        mask = np.resize(available, (400, 6))
        list_policy_value(clicks, shown, ranker, X=X, available=mask)
    with pytest.raises(ValueError, match="available must be None, as policy is no model"):
        list_policy_value(clicks, shown, of_labels, available=available)
