"""Estimates for lists: propensities and unbiasedness by enumeration of all lists."""

import math
from itertools import combinations, permutations, product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import make_multilabel_classification

from sklrank.feedback import (
    Exploration,
    PlackettLuceRandomization,
    SingleSwapRandomization,
    SoftmaxRandomization,
    UniformRandomization,
)
from sklrank.linear_model import SemiBanditRanker
from sklrank.off_policy import OffPolicyWarning, list_policy_value, list_propensities

quiet = pytest.mark.filterwarnings("ignore::sklrank.off_policy.OffPolicyWarning")
M, K = 4, 3
LISTS = np.array(list(permutations(range(M), K)))
RANDOM = np.random.RandomState(0)
LOGGING, POLICY = RANDOM.exponential(size=(2, 1, M))  # strengths
REWARDS = RANDOM.normal(size=(K, M))
DISCOUNTS = np.array([1.0, 0.6, 0.5])


def chain(strengths, labels):
    """The conditional probabilities of a Plackett-Luce list, one label after the other."""
    left, found = dict(enumerate(strengths)), []
    for label in labels:
        found.append(left[label] / sum(left.values()))
        del left[label]
    return found


def test_propensities_of_lists_are_those_of_the_draws():
    strengths = np.tile(LOGGING, (len(LISTS), 1))
    found = list_propensities(strengths, LISTS)
    assert_allclose(found, [chain(LOGGING[0], labels) for labels in LISTS])
    assert_allclose(found.prod(axis=1).sum(), 1)


@pytest.mark.parametrize("k", [1, 2, 3, 4, 6])
def test_propensities_of_sets_are_sums_over_their_orders(k):
    strengths = np.random.RandomState(k).exponential(size=6) ** 5
    lists = np.random.RandomState(1).permutation(6)[None, :k]
    orders = permutations(lists[0])
    total = sum(np.prod(chain(strengths, order)) for order in orders)
    assert_allclose(list_propensities(strengths[None], lists, ordered=False), [total], rtol=1e-12)


def test_propensities_of_tiny_strengths_keep_their_digits():
    strengths = np.array([[1.0, 1e-30, 2e-30]])
    assert_allclose(list_propensities(strengths, [[0, 1, 2]]), [[1, 1 / 3, 1]])
    assert_allclose(list_propensities(strengths, [[0, 1, 2]], ordered=False), [1])


@pytest.mark.parametrize(("n_labels", "k"), [(40, 30), (200, 100)])
def test_propensities_of_long_sets(n_labels, k):
    chance = list_propensities(np.ones((1, n_labels)), [np.arange(k)], ordered=False)
    assert_allclose(chance, [1 / math.comb(n_labels, k)], rtol=1e-12)


@pytest.mark.parametrize("power", [-40, 20, 40])
def test_propensities_of_sets_of_very_different_strengths(power):
    strengths = np.random.RandomState(0).uniform(0.1, 1, size=6) ** power
    for labels in combinations(range(6), 3):
        total = math.fsum(np.prod(chain(strengths, order)) for order in permutations(labels))
        found = list_propensities(strengths[None], [labels], ordered=False)
        assert_allclose(found, [total], rtol=1e-9)


def list_moments(lists, chances):
    """Probabilities that label a is at position i and label b at position j."""
    at = np.eye(M)[lists]
    return np.einsum("n,nia,njb->iajb", chances, at, at)


def position_marginals(chances):
    """Probability of each label at each position under a law of lists."""
    at = np.zeros((K, M))
    for labels, chance in zip(LISTS, chances):
        at[np.arange(K), labels] += chance
    return at


def laws():
    """Yield for both policies: conditional propensities, those of lists, those of positions."""
    for strengths in (LOGGING, POLICY):
        steps = list_propensities(np.tile(strengths, (len(LISTS), 1)), LISTS)
        yield steps, steps.prod(axis=1), position_marginals(steps.prod(axis=1))


def inputs(method, labels, row):
    """Return the rewards of a list and the arguments of the method, of the row of LISTS."""
    (steps, chance, at), (new_steps, new_chance, new_at) = laws()
    j = np.arange(K)
    if method == "independent":
        return REWARDS[j, labels], at[j, labels][None], new_at[j, labels][None]
    if method == "cascade":  # the reward depends on the labels above
        rewards = REWARDS[j, labels] * np.cumsum(1 + labels)
        return rewards, steps[row][None], new_steps[row][None]
    rewards = REWARDS[j, labels] * (1 + (labels[0] == labels.max()))  # on the whole list
    return rewards, chance[row][None], new_chance[row][None]


@quiet
@pytest.mark.parametrize("method", ["independent", "cascade", "standard"])
def test_estimates_are_unbiased_over_all_lists(method):
    (_, chances, _), (_, new_chances, _) = laws()
    expected = found = 0.0
    for row, labels in enumerate(LISTS):
        rewards, propensities, policy = inputs(method, labels, row)
        expected += new_chances[row] * rewards @ DISCOUNTS
        estimate = list_policy_value(
            rewards[None], propensities, policy, method=method, discounts=DISCOUNTS
        )
        found += chances[row] * estimate.value
    assert_allclose(found, expected)


@quiet
def test_pseudo_inverse_is_unbiased_for_sums_over_positions():
    (_, chances, _), (_, new_chances, new_at) = laws()
    moments, expected, found = list_moments(LISTS, chances), 0.0, 0.0
    for row, labels in enumerate(LISTS):
        total = REWARDS[np.arange(K), labels].sum()  # only the sum is observed
        options = {"method": "pseudo-inverse", "lists": labels[None]}
        estimate = list_policy_value([total], moments, new_at[None], **options)
        expected += new_chances[row] * total
        found += chances[row] * estimate.value
    assert_allclose(found, expected)


@quiet
def test_pseudo_inverse_of_independent_positions_has_a_formula():
    """Both forms agree if the label of each position is drawn from items of its own."""
    random = np.random.RandomState(2)
    logging, policy = (rows / rows.sum(axis=1, keepdims=True) for rows in random.rand(2, K, M))
    lists = np.array(list(product(range(M), repeat=K)))
    chances = logging[np.arange(K), lists].prod(axis=1)
    moments = list_moments(lists, chances)
    for labels in lists[::7]:
        options = {"method": "pseudo-inverse", "lists": labels[None]}
        general = list_policy_value([2.0], moments, policy[None], **options)
        shown = (rows[np.arange(K), labels][None] for rows in (logging, policy))
        simple = list_policy_value([2.0], *shown, method="pseudo-inverse")
        assert_allclose(general.value, simple.value)


def cascade_predictions(labels):
    """The expected discounted rewards from position j on, and their mean over the j-th label."""
    strengths, (of_shown, of_policy) = POLICY[0], np.zeros((2, K))

    def onward(prefix):
        """Return the mean reward of the positions after a prefix."""
        j = len(prefix)
        if j == K:
            return 0.0
        left = [label for label in range(M) if label not in prefix]
        total = strengths[left].sum()
        return sum(strengths[a] / total * (reward(prefix, a) + onward([*prefix, a])) for a in left)

    def reward(prefix, label):
        return DISCOUNTS[len(prefix)] * REWARDS[len(prefix), label] * (sum(prefix) + label + 1)

    for j, label in enumerate(labels):
        before = list(labels[:j])
        of_shown[j] = reward(before, label) + onward([*before, label])
        of_policy[j] = onward(before)
    rewards = [reward(list(labels[:j]), label) / DISCOUNTS[j] for j, label in enumerate(labels)]
    return np.array(rewards), of_shown, of_policy


@quiet
def test_cascade_is_doubly_robust():
    (steps, chances, _), (new_steps, new_chances, _) = laws()
    random, expected, found = np.random.RandomState(3), 0.0, 0.0
    shift = random.normal(size=(K, M))
    for row, labels in enumerate(LISTS):
        rewards, of_shown, of_policy = cascade_predictions(labels)
        expected += new_chances[row] * rewards @ DISCOUNTS
        arguments = {"method": "cascade", "discounts": DISCOUNTS}
        # A right model needs no propensities.
        wrong = random.rand(1, K)
        estimate = list_policy_value(
            rewards[None],
            wrong,
            new_steps[row][None],
            predicted=(of_shown[None], of_policy[None]),
            **arguments,
        )
        assert_allclose(estimate.value, of_policy[0])
        # Any model is unbiased with right propensities: here, one that depends on the last label.
        wrong_shown = shift[np.arange(K), labels]
        wrong_policy = np.zeros(K)
        for j in range(K):
            left = [label for label in range(M) if label not in labels[:j]]
            wrong_policy[j] = np.average(shift[j, left], weights=POLICY[0, left])
        estimate = list_policy_value(
            rewards[None],
            steps[row][None],
            new_steps[row][None],
            predicted=(wrong_shown[None], wrong_policy[None]),
            **arguments,
        )
        found += chances[row] * estimate.value
    assert_allclose(of_policy[0], expected)
    assert_allclose(found, expected)


SCHEMES = [
    UniformRandomization(0.5),
    SingleSwapRandomization(0.7),
    PlackettLuceRandomization(0.6),
    SoftmaxRandomization(0.3),
]


@quiet
@pytest.mark.parametrize("scheme", SCHEMES, ids=repr)
@pytest.mark.parametrize("k", [2, 3])
def test_exact_propensities_make_sums_over_labels_and_pairs_unbiased(scheme, k, law):
    random = np.random.RandomState(4)
    scores, new_scores = random.normal(size=(2, 1, 5))
    relevance, wrong = random.rand(5), random.rand(5, 5)
    pairs, new = scheme.propensities(scores, k)[0], SCHEMES[2].propensities(new_scores, k)
    totals = {"labels": 0.0, "pairs": 0.0}
    for shown, chance in law(scheme, scores[0], k).items():
        shown = np.array(shown)
        record = Exploration([shown], [pairs[np.ix_(shown, shown)]])
        for method in totals:
            rewards = relevance[shown] if method == "labels" else wrong[np.ix_(shown, shown)]
            found = list_policy_value(rewards[None], record, new, method=method)
            totals[method] += chance * found.value
    assert_allclose(totals["labels"], new[0].diagonal() @ relevance)
    assert_allclose(totals["pairs"], (new[0] * wrong).sum())


def test_models_are_policies():
    X, Y = make_multilabel_classification(1000, n_classes=6, random_state=0)
    scheme = UniformRandomization(1.0)
    log = scheme.explore(np.zeros((1000, 6)), 3, random_state=0)
    clicks = np.take_along_axis(Y, log.actions, axis=1).astype(float)
    ranker = SemiBanditRanker(k=3, exploration=0.1, random_state=0)
    ranker.partial_fit_feedback(X[:500], log[:500], clicks[:500], classes=range(6))
    rest, clicks[500:520] = log[500:], np.nan
    found = list_policy_value(clicks[500:], rest, ranker, X=X[500:])
    assert found.n_samples == 480
    value = (np.diagonal(ranker.propensities(X), axis1=1, axis2=2) * Y)[520:].sum(axis=1).mean()
    assert abs(found.value - value) < 4 * found.standard_error
    again = list_policy_value(clicks[520:], log[520:], ranker.propensities(X[520:]))
    assert found == again
    boot = list_policy_value(
        clicks[520:], log[520:], ranker, X=X[520:], interval="bootstrap", random_state=0
    )
    assert_allclose([boot.low, boot.high], [found.low, found.high], atol=0.02)


def test_variances_are_in_the_order_of_assumptions():
    """Of a reward that depends on the label and the position only, all estimates are unbiased."""
    (steps, chances, at), (new_steps, new_chances, new_at) = laws()
    j, squares = np.arange(K), {}
    rewards = REWARDS[j, LISTS] ** 2
    arguments = {
        "independent": (at[j, LISTS], new_at[j, LISTS]),
        "cascade": (steps, new_steps),
        "standard": (chances, new_chances),
    }
    for method, (old, new) in arguments.items():
        with pytest.warns(OffPolicyWarning):
            terms = [
                list_policy_value(rewards[[i]], old[[i]], new[[i]], method=method).value
                for i in range(len(LISTS))
            ]
        assert_allclose(chances @ terms, new_chances @ rewards.sum(axis=1))
        squares[method] = chances @ np.square(terms)
    assert squares["independent"] < squares["cascade"] < squares["standard"]


def test_invalid_arguments_are_named():
    rewards, log = np.ones((4, 2)), Exploration([[0, 1]] * 4, [[[0.5, 0.2], [0.2, 0.5]]] * 4)
    good, options = np.full((4, 2), 0.5), {"method": "independent"}
    bad = [
        ("method", (rewards, log, good), {"method": "slate"}),
        ("rewards", (rewards[:, 0], log, good), {}),
        ("interval", (rewards, good, good), {**options, "interval": "sequence"}),
        ("exploration", (rewards, 0 * good, good), options),
        ("exploration", (rewards, good[:2], good), options),
        ("exploration", (rewards, log, good), options),
        ("policy", (rewards, good, -good), options),
        ("policy", (np.ones((4, 2, 2)), log, good), {"method": "pairs"}),
        ("policy", (rewards, log, np.ones((5, 2))), {}),
        ("policy", (np.ones((4, 2, 2)), log, np.ones((5, 2, 2))), {"method": "pairs"}),
        ("policy", (rewards, log, np.ones((4, 3, 2))), {}),
        ("exploration", (rewards, good, good), {}),
        ("`X`", (rewards, log, SemiBanditRanker()), {}),
        (
            "lists",
            (rewards, np.ones((2, 2, 2, 2)), np.ones((4, 2, 2))),
            {"method": "pseudo-inverse"},
        ),
        *(
            (
                "lists must have one or more labels, integers from 0 to 1",
                (rewards, np.ones((2, 2, 2, 2)), np.ones((4, 2, 2))),
                {"method": "pseudo-inverse", "lists": np.array(wrong)},
            )
            for wrong in ([[-1, 0]] * 4, [[1, 2]] * 4, [[0.0, 1.0]] * 4)
        ),
        ("predicted", (rewards, good, good), {"method": "cascade", "predicted": (1, 2)}),
        *(
            ("discounts", (rewards, log, good), {"discounts": wrong})
            for wrong in ([1, 2, 3], [1], [[1], [1], [1], [1]], [1, np.nan])
        ),
        ("discounts", [good[:2, 0]] * 3, {"method": "standard", "discounts": [1, 1]}),
    ]
    for name, arguments, changes in bad:
        with pytest.raises(ValueError, match=name):
            list_policy_value(*arguments, **changes)
    for name, strengths, lists in [
        ("strengths", [[0.0, 1]], [[0]]),
        ("lists", [[1.0, 1]], [[2]]),
        ("lists", [[1.0, 1]], [[0, 0]]),
        ("lists", [[1.0, 1]], [[0], [1]]),
        ("lists", [[1.0, 1]], np.empty((1, 0), dtype=int)),
    ]:
        with pytest.raises(ValueError, match=name):
            list_propensities(strengths, lists)


@pytest.mark.filterwarnings("ignore::sklrank.off_policy.OffPolicyWarning")
def test_a_model_is_asked_for_few_samples_at_a_time():
    """The probabilities of pairs of all samples would need too much memory."""

    class Policy:
        sizes = []

        def propensities(self, X):
            self.sizes.append(len(X))
            return np.random.RandomState(0).uniform(size=(1, 4, 4)) * X[:, 0, None, None]

    X = np.linspace(0.5, 1, 150)[:, None]
    shown = UniformRandomization(1.0).explore(np.zeros((150, 4)), k=2, random_state=0)
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
    expected = list_policy_value(clicks, shown, of_labels)
    found = list_policy_value(clicks, shown, ranker, X=X, available=available)
    assert found == expected
    assert_allclose(found.value, clicks.sum(axis=1).mean())
    found = list_policy_value(
        clicks[:, :, None] * clicks[:, None],
        shown,
        ranker,
        method="pairs",
        X=X,
        available=available,
    )
    assert found == list_policy_value(
        clicks[:, :, None] * clicks[:, None], shown, of_pairs, method="pairs"
    )
    with pytest.raises(ValueError, match="available has 400 rows, and X has 300"):
        mask = np.resize(available, (400, 6))
        list_policy_value(clicks, shown, ranker, X=X, available=mask)
    with pytest.raises(ValueError, match="available must be None, as policy is no model"):
        list_policy_value(clicks, shown, of_labels, available=available)
