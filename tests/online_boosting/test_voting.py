"""OnlineVotingClassifier: weights by the rank losses of the classifiers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB

from sklrank.feedback import Exploration
from sklrank.linear_model import OnlineLogisticRegression, OnlineRidgeClassifier
from sklrank.online_boosting import AdaOLMR, OnlineBMR, OnlineVotingClassifier, TopKBBM
from sklrank.tree import HoeffdingTreeClassifier

RANDOM = np.random.RandomState(0)
N, M, K = 150, 6, 3
X = RANDOM.normal(size=(N, 4)) * [1, 5, 0.1, 1] + [0, 2, -1, 0]
Y = (X @ RANDOM.normal(size=(4, M)) + RANDOM.normal(size=(N, M)) > 2).astype(int)
CLASS = Y.argmax(axis=1)
WEIGHT = RANDOM.choice([0.0, 0.5, 1.0, 3.0], N)
PARTS = [
    OnlineLogisticRegression(multi_class="ovr", learning_rate=0.1),
    OnlineLogisticRegression(multi_class="ovr", standardize=False, normalize="l2"),
    OnlineRidgeClassifier(boosting_target="relevance", vote_smoothing=1),
    # It votes equally for all labels, until it splits.
    HoeffdingTreeClassifier(grace_period=1000),
]


def rank_loss(votes, relevant, irrelevant):
    """Proportion of pairs in the wrong order; equal votes count one half."""
    pairs = [
        1.0 if votes[b] > votes[a] else 0.5 if votes[b] == votes[a] else 0.0
        for a in relevant
        for b in irrelevant
    ]
    return sum(pairs) / len(pairs) if pairs else 0.0


def expected_votes(votes, known, relevance, weight, rate):
    """Weighted mean of the votes `(n_parts, N, M)` of the parts, and the last weights."""
    losses, mean = np.zeros(len(votes)), np.empty(votes.shape[1:])
    for t in range(len(mean)):
        hedge = np.exp(-rate * losses)
        mean[t] = hedge / hedge.sum() @ votes[:, t]
        relevant = [label for label in known[t] if relevance[t, label]]
        irrelevant = [label for label in known[t] if not relevance[t, label]]
        losses += weight[t] * np.array([rank_loss(v[t], relevant, irrelevant) for v in votes])
    hedge = np.exp(-rate * losses)
    return mean, hedge / hedge.sum()


@pytest.mark.parametrize("rate", [0.3, 2.0])
def test_class_labels(rate):
    parts = [clone(part) for part in PARTS]
    votes = np.array([part.progressive_fit(X, CLASS, range(M), WEIGHT) for part in parts])
    known, relevance = np.tile(range(M), (N, 1)), np.eye(M)[CLASS]
    mean, weights = expected_votes(votes, known, relevance, WEIGHT, rate)
    model = OnlineVotingClassifier(PARTS, learning_rate=rate)
    assert_allclose(model.progressive_fit(X, CLASS, range(M), WEIGHT), mean, rtol=1e-9)
    assert_allclose(model.estimator_weights_, weights, rtol=1e-9)
    expected = [part.predict_proba(X) for part in parts]
    assert_allclose(model.predict_proba(X), np.tensordot(weights, expected, axes=1), rtol=1e-9)
    assert [type(part) for part in model.estimators_] == [type(part) for part in PARTS]


def test_labels_shown():
    """Only pairs of labels that were shown count, whatever their propensities."""
    actions = np.array([RANDOM.choice(M, K, replace=False) for _ in range(N)])
    rewards = np.take_along_axis(Y, actions, axis=1)
    propensities = RANDOM.uniform(0.01, 1, (N, 1, 1)) * np.ones((N, K, K))

    def booster(learner):
        return TopKBBM(learner, n_estimators=1, k=K, random_state=0)

    def shown(t):
        return Exploration(actions[t : t + 1], propensities[t : t + 1]), rewards[t : t + 1]

    # Without the tree, which learns from importance weights that depend on all votes.
    before = np.full((3, N, M), 1 / M)
    for votes, part in zip(before, PARTS[:3]):
        model = booster(part)
        for t in range(N):
            if t:
                votes[t] = model.estimators_[0].predict_proba(X[t : t + 1])
            model.partial_fit_feedback(X[t : t + 1], *shown(t), classes=range(M))
    _, weights = expected_votes(before, actions, Y, np.ones(N), 2.0)
    vote = booster(OnlineVotingClassifier(PARTS[:3], learning_rate=2.0))
    vote.partial_fit_feedback(X, Exploration(actions, propensities), rewards, classes=range(M))
    assert_allclose(vote.estimators_[0].estimator_weights_, weights, rtol=1e-9)


def test_full_information_of_a_booster():
    """Pairs of all labels; the first learner of AdaOLMR learns from costs that are known."""
    parts = [OnlineRidgeClassifier(boosting_target="relevance"), PARTS[3]]
    model = AdaOLMR(OnlineVotingClassifier(parts), n_estimators=1, random_state=0)
    single = AdaOLMR(parts[0], n_estimators=1, random_state=0)
    losses = np.zeros(2)
    for t in range(40):
        x, y = X[t : t + 1], Y[t : t + 1]
        if t and 0 < y.sum() < M:
            vote = single.estimators_[0].predict_proba(x)[0]
            relevant, irrelevant = np.flatnonzero(y[0]), np.flatnonzero(1 - y[0])
            tree = model.estimators_[0].estimators_[1].predict_proba(x)[0]
            losses += [rank_loss(v, relevant, irrelevant) for v in (vote, tree)]
        elif 0 < y.sum() < M:
            losses += 0.5
        model.partial_fit(x, y)
        single.partial_fit(x, y)
    weights = np.exp(-losses) / np.exp(-losses).sum()
    assert_allclose(model.estimators_[0].estimator_weights_, weights, rtol=1e-9)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), rate=st.sampled_from([0.1, 1.0, 5.0]))
def test_bound_of_hedge(seed, rate):
    """(rate * smallest loss + log n) / (1 - exp(-rate)), for the mean loss of the classifiers."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, 60)
    votes = np.array([part.progressive_fit(X[:60], labels, range(3)) for part in fresh_parts()])
    model = OnlineVotingClassifier(fresh_parts(), learning_rate=rate)
    total, losses = 0.0, np.zeros(len(votes))
    for t in range(60):
        weights = model.estimator_weights_ if t else np.full(len(votes), 1 / len(votes))
        others = [label for label in range(3) if label != labels[t]]
        loss = np.array([rank_loss(v[t], [labels[t]], others) for v in votes])
        total, losses = total + weights @ loss, losses + loss
        model.partial_fit(X[t : t + 1], labels[t : t + 1], range(3))
    bound = (rate * losses.min() + np.log(len(votes))) / (1 - np.exp(-rate))
    assert total <= bound + 1e-9


def fresh_parts():
    return [OnlineLogisticRegression(learning_rate=rate) for rate in (0.1, 1.0)] + [
        OnlineRidgeClassifier(),
        HoeffdingTreeClassifier(grace_period=5),
    ]


def test_the_best_classifier_wins():
    """Labels that no model can learn from a constant, and that another learns at once."""
    useless = OnlineRidgeClassifier(kernel="constant")
    model = OnlineVotingClassifier([useless, OnlineLogisticRegression()]).fit(X, X[:, 0] > 0)
    assert model.estimator_weights_[1] > 0.999
    assert_allclose(model.estimator_weights_.sum(), 1)


def test_seeds_of_the_classifiers():
    """They follow from `random_state`, and the templates do not change."""
    template = OnlineRidgeClassifier(kernel="rbf", n_components=5)
    models = [
        OnlineVotingClassifier([template, template], random_state=seed).fit(X, CLASS)
        for seed in (0, 0, 1)
    ]
    scores = [model.predict_proba(X) for model in models]
    assert_array_equal(scores[0], scores[1])
    assert np.abs(scores[0] - scores[2]).max() > 1e-3
    first, second = models[0].estimators_
    assert np.abs(first.predict_proba(X) - second.predict_proba(X)).max() > 1e-3
    assert template.random_state is None


@pytest.mark.parametrize(
    ("estimators", "error", "message"),
    [
        ([], ValueError, "estimators is empty"),
        ([GaussianNB()], TypeError, "estimators must be online classifiers of sklrank.*GaussianNB"),
        ([OnlineRidgeClassifier(alpha=-1)], ValueError, "'alpha' parameter"),
        ([OnlineRidgeClassifier(kernel="no")], ValueError, "'kernel' parameter"),
    ],
)
def test_invalid_estimators(estimators, error, message):
    model = OnlineVotingClassifier().fit(X, CLASS)
    before = model.predict_proba(X)
    with pytest.raises(error, match=message):
        model.set_params(estimators=estimators).fit(X, CLASS)
    assert_array_equal(model.predict_proba(X), before)


def test_weights_that_outweigh_the_penalty_of_a_classifier():
    model = OnlineVotingClassifier([OnlineLogisticRegression(), OnlineRidgeClassifier(alpha=1e-9)])
    with pytest.raises(ValueError, match="alpha=1e-09"):
        model.fit(X, CLASS, sample_weight=np.full(N, 100.0))


def test_missing_values_if_all_classifiers_accept_them():
    missing = np.where(RANDOM.uniform(size=X.shape) < 0.1, np.nan, X)
    trees = [HoeffdingTreeClassifier(), HoeffdingTreeClassifier(grace_period=20)]
    assert OnlineVotingClassifier(trees).fit(missing, CLASS).predict(missing).shape == (N,)
    with pytest.raises(ValueError, match="NaN"):
        OnlineVotingClassifier([*trees, OnlineRidgeClassifier()]).fit(missing, CLASS)


@pytest.mark.parametrize(
    "make", [lambda inner: inner, lambda inner: OnlineVotingClassifier([inner]), OnlineBMR, AdaOLMR]
)
def test_large_entries_where_they_are_multiplied(make):
    """They raise an error also if a classifier inside of the model multiplies them."""
    rng = np.random.RandomState(0)
    X, y = 1e200 * rng.normal(size=(20, 3)), rng.randint(2, size=20)
    model = make(OnlineRidgeClassifier(standardize=False))
    with pytest.raises(ValueError, match="X has an entry of the size .*scale the features"):
        model.fit(X, y)
    assert {*make(OnlineRidgeClassifier()).fit(X, y).predict(X)} <= {0, 1}
