"""Propensities of the policies of online models are those that `explore` records."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris, make_multilabel_classification
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import scale

from sklrank.feedback._protocol import LIST_RANDOMIZATIONS
from sklrank.linear_model import BanditronClassifier, LinUCBClassifier, SemiBanditRanker
from sklrank.online_boosting import TopKAdaptive, TopKBBM

BANDITS = [
    BanditronClassifier(exploration=0.3, random_state=0),
    BanditronClassifier(exploration="ag3", randomization="plackett-luce", random_state=0),
    BanditronClassifier(kernel="rbf", exploration=0.2, random_state=0),
    LinUCBClassifier(random_state=0),
    LinUCBClassifier(kernel="linear", exploration=0.2, random_state=0),
    LinUCBClassifier(covariance="diagonal", exploration="decay", random_state=0),
]


@pytest.mark.parametrize("bandit", BANDITS, ids=str)
def test_propensities_of_bandits_are_those_of_their_records(bandit):
    X, y = load_iris(return_X_y=True)
    X = scale(X)
    bandit.fit(X, y)
    exact = bandit.propensities(X)
    assert exact.shape == (150, 3)
    assert_allclose(exact.sum(axis=1), 1)
    for _ in range(5):
        shown = bandit.explore(X)
        assert_allclose(exact[np.arange(150), shown.actions], shown.propensities, rtol=1e-12)
    assert_array_equal(bandit.propensities(X[7:8]), exact[7:8])


@pytest.mark.parametrize("randomization", sorted(LIST_RANDOMIZATIONS))
def test_frequencies_of_classes_are_near_the_propensities(randomization):
    X, y = load_iris(return_X_y=True)
    parameters = {"exploration": 0.5, "randomization": randomization, "random_state": 0}
    bandit = LinUCBClassifier(kernel="linear", **parameters).fit(X, y)
    counts = np.zeros((3, 3))
    actions = bandit.explore(np.tile(X, (300, 1))).actions
    np.add.at(counts, (np.tile(y, 300), actions), 1)
    expected = [bandit.propensities(X)[y == k].mean(axis=0) for k in range(3)]
    assert_allclose(counts / 15000, expected, atol=0.02)


@pytest.mark.parametrize("randomization", sorted(LIST_RANDOMIZATIONS))
@pytest.mark.parametrize("kind", [SemiBanditRanker, TopKBBM])
def test_propensities_of_rankers_are_those_of_their_records(kind, randomization):
    X, Y = make_multilabel_classification(200, n_classes=5, random_state=0)
    ranker = kind(k=3, exploration=0.4, randomization=randomization, random_state=0)
    ranker.partial_fit(X[:150], Y[:150])
    exact, shown = ranker.propensities(X[150:]), ranker.explore(X[150:])
    assert exact.shape == (50, 5, 5)
    rows, labels = np.arange(50)[:, None, None], shown.actions
    of_shown = exact[rows, labels[:, :, None], labels[:, None, :]]
    assert_allclose(of_shown, shown.propensities, rtol=1e-12)
    assert_allclose(np.trace(exact, axis1=1, axis2=2), 3)


def test_mixtures_of_experts_have_no_propensities():
    X, Y = make_multilabel_classification(50, n_classes=4, random_state=0)
    booster = TopKAdaptive(k=2, random_state=0).partial_fit(X, Y)
    with pytest.raises(ValueError, match="TopKAdaptive draws one of .* experts"):
        booster.propensities(X)
    for model in (booster, SemiBanditRanker(), LinUCBClassifier()):
        with pytest.raises(NotFittedError):
            type(model)().propensities(X)


def test_one_expert_has_propensities():
    X, Y = make_multilabel_classification(50, n_classes=4, random_state=0)
    booster = TopKAdaptive("trees", 1, k=2, random_state=0).partial_fit(X, Y)
    assert_allclose(np.trace(booster.propensities(X), axis1=1, axis2=2), 2)
