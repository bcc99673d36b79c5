"""Objectives and losses of ranking refinement against double loops over all pairs."""

import numpy as np
import pytest

from sklrank._checks.queries import Queries
from sklrank.boosting._base import DocumentTarget
from sklrank.boosting._pair_losses import (
    BaseRankerLoss,
    ExplicitPairLoss,
    GradedPairLoss,
    JudgementLoss,
)
from sklrank.boosting._refinement.boosted import RefinementObjective

BALANCE = 0.7


class Case:
    """Base scores, judgements and scores of some queries, and the sums of the dissertation."""

    def __init__(self, seed, *, confidence=1.3, noise=0.5, as_pairs=False, spread=1.0, n=25):
        random = np.random.RandomState(seed)
        self.qid = random.randint(3, size=n)
        self.queries = Queries.from_qid(self.qid, n)
        self.base = random.randint(6, size=n) / 2 + random.randint(2, size=n) * random.normal(
            size=n
        )
        self.confidence = np.full(self.queries.n_queries, confidence)
        self.noise = noise
        self.scores = spread * random.normal(size=n)
        grades = np.where(random.random_sample(n) < 0.5, random.randint(3, size=n), np.nan)
        self.pairs = {
            (i, j)
            for i in range(n)
            for j in range(n)
            if self.qid[i] == self.qid[j] and grades[i] > grades[j]
        }
        judgements = GradedPairLoss(grades, self.queries)
        if as_pairs:
            # Some of the pairs contradict each other.
            kept = [pair for k, pair in enumerate(sorted(self.pairs)) if k % 3]
            self.pairs = {*kept, *((j, i) for i, j in kept[::5])}
            judgements = ExplicitPairLoss(np.array(sorted(self.pairs)), self.queries)
        losses = (
            BaseRankerLoss(self.base, self.confidence, self.queries),
            JudgementLoss(judgements, noise, self.queries),
            DocumentTarget.of(grades, self.queries),
        )
        self.product = RefinementObjective(*losses)
        self.sum = RefinementObjective(*losses, BALANCE)

    def matrices(self, scores):
        """Return W_ij e^(F_j - F_i) and T_ij e^(F_j - F_i), 0 for pairs of different queries."""
        n = len(scores)
        of_base, of_judged = np.zeros((n, n)), np.zeros((n, n))
        for i in range(n):
            for j in range(n):
                if self.qid[i] != self.qid[j]:
                    continue
                cost = np.exp(scores[j] - scores[i])
                gap = self.base[i] - self.base[j]
                if gap == 0:
                    w = 0.5
                elif np.isinf(self.confidence[0]):
                    w = float(gap > 0)
                else:
                    w = 1 / (1 + np.exp(-self.confidence[0] * gap))
                of_base[i, j] = w * cost
                judged = (i, j) in self.pairs
                of_judged[i, j] = (1 - self.noise / 2 if judged else self.noise / 2) * cost
        return of_base, of_judged

    def expected(self, objective, scores):
        """Return the value and the weights gamma_ij."""
        of_base, of_judged = self.matrices(scores)
        if objective is self.sum:
            gamma = BALANCE * of_base + of_judged
            return gamma.sum(), gamma
        product = of_base.sum() * of_judged.sum()
        return product, of_base / of_base.sum() + of_judged / of_judged.sum()


CASES = [
    {},
    {"as_pairs": True},
    {"noise": 0.0},
    {"noise": 1.0, "as_pairs": True},
    {"confidence": 0.0},
    {"confidence": 1e5},
    {"confidence": np.inf, "as_pairs": True},
    {"spread": 8.0},
]


@pytest.fixture(params=CASES, ids=str)
def case(request):
    with np.errstate(over="ignore"):
        yield Case(0, **request.param)


@pytest.fixture(params=["product", "sum"])
def objective(request, case):
    return getattr(case, request.param)


def test_value_labels_and_weights(case, objective):
    """Equations 4.9 to 4.12, and Algorithm 6, lines 3 to 5."""
    objective.set_scores(case.scores)
    value, gamma = case.expected(objective, case.scores)
    signed = gamma.sum(axis=1) - gamma.sum(axis=0)
    size = gamma.sum()
    np.testing.assert_allclose(objective.value, value, rtol=1e-10)
    np.testing.assert_allclose(objective.weights, np.abs(signed), rtol=1e-10, atol=1e-12 * size)
    clear = np.abs(signed) > 1e-12 * size
    np.testing.assert_array_equal(objective.labels[clear], signed[clear] > 0)


def hypotheses(random, n, kind):
    """Return which documents are raised, or the probability of it."""
    return {
        "classes": random.randint(2, size=n).astype(float),
        "probabilities": random.random_sample(n),
        "similar probabilities": 0.5 + 0.01 * random.random_sample(n),
    }[kind]


KINDS = pytest.mark.parametrize("kind", ["classes", "probabilities", "similar probabilities"])


@KINDS
def test_step_weights_and_step(case, objective, kind):
    """Mu and nu of Theorem 9, expected values for probabilities, and Algorithm 6, line 8."""
    objective.set_scores(case.scores)
    _, gamma = case.expected(objective, case.scores)
    for seed in range(4):
        raised = hypotheses(np.random.RandomState(seed), len(case.scores), kind)
        np.fill_diagonal(gamma, 0.0)
        mu = raised @ gamma @ (1 - raised)
        nu = (1 - raised) @ gamma @ raised
        np.testing.assert_allclose(objective.step_weights(raised), (mu, nu), rtol=1e-10)
        step = 0.0 if mu <= nu else np.log(mu / nu) / 2
        np.testing.assert_allclose(objective.step(raised), step, rtol=1e-9, atol=1e-12)


def test_expected_step_weights_are_means_over_draws(case, objective):
    """Over independent draws of which documents are raised."""
    random = np.random.RandomState(0)
    n = len(case.scores)
    probabilities = random.random_sample(n)
    objective.set_scores(case.scores)
    draws = np.array(
        [
            objective.step_weights(
                (random.random_sample(len(probabilities)) < probabilities).astype(float)
            )
            for _ in range(500)
        ]
    )
    error = draws.std(axis=0) / np.sqrt(len(draws))
    assert (np.abs(draws.mean(axis=0) - objective.step_weights(probabilities)) < 5 * error).all()


@KINDS
@pytest.mark.parametrize("rate", [1.0, 2.0])
def test_objective_falls_as_in_theorem_9_and_never_raised(case, objective, rate, kind):
    """In each round, with any hypothesis that is better than chance."""
    random = np.random.RandomState(1)
    scores = case.scores.copy()
    objective.set_scores(scores)
    for _ in range(15):
        raised = hypotheses(random, len(scores), kind)
        correct, incorrect = objective.step_weights(raised)
        if correct < incorrect:
            raised, (correct, incorrect) = 1 - raised, (incorrect, correct)
        before = objective.value
        scores += rate * objective.step(raised) * raised
        objective.set_scores(scores)
        assert objective.value <= before * (1 + 1e-12)
        if rate == 1.0:
            least = (np.sqrt(correct) - np.sqrt(incorrect)) ** 2
            if objective is case.sum:
                assert objective.value <= (before - least) * (1 + 1e-12)
            else:
                fall = np.log(before) - np.log(objective.value)
                assert fall >= least - 1e-12
                # Theorem 10 with eta^2 / 4 in place of eta.
                assert fall >= (correct - incorrect) ** 2 / 4 - 1e-12


def test_theorem_10_does_not_hold():
    """Its proof reverses an inequality; a hypothesis hardly better than chance disproves it."""
    case = Case(3)
    case.product.set_scores(case.scores)
    raised = (np.random.RandomState(0).random_sample(len(case.scores)) < 0.5).astype(float)
    correct, incorrect = case.product.step_weights(raised)
    if correct < incorrect:
        raised, (correct, incorrect) = 1 - raised, (incorrect, correct)
    before = case.product.value
    case.product.set_scores(case.scores + case.product.step(raised) * raised)
    assert np.log(before / case.product.value) < correct - incorrect


def test_weights_are_the_gradient(case, objective):
    """Of the objective, or of the logarithm of the product, by finite differences."""
    objective.set_scores(case.scores)
    signed = np.where(objective.labels == 1, objective.weights, -objective.weights)
    scale = objective.value if objective is case.sum else 1.0
    for document in range(0, len(signed), 5):
        values = []
        for sign in (1, -1):
            scores = case.scores.copy()
            scores[document] += sign * 1e-5
            objective.set_scores(scores)
            values.append(objective.value if objective is case.sum else np.log(objective.value))
        np.testing.assert_allclose(
            (values[1] - values[0]) / 2e-5, signed[document], rtol=1e-4, atol=1e-7 * scale
        )


@pytest.mark.parametrize("spread", [1e2, 1e4, 1e300])
@pytest.mark.parametrize("confidence", [1.0, 1e300, np.inf])
def test_far_scores_stay_finite(spread, confidence):
    case = Case(0, spread=spread, confidence=confidence)
    for objective in (case.product, case.sum):
        objective.set_scores(case.scores)
        raised = (case.scores > 0).astype(float)
        assert np.isfinite(objective.value)
        assert np.isfinite(objective.weights).all()
        assert np.isfinite(objective.step_weights(raised)).all()
        assert np.isfinite(objective.step(raised))


def test_base_scores_far_apart():
    """Each W_ij is correct although e^(lambda g) overflows."""
    base = np.array([-3e3, -1e3, -1e3 - 0.5, 1e3, 1e3 + 0.25, 5e3])
    queries = Queries.from_qid(None, len(base))
    loss = BaseRankerLoss(base, np.ones(1), queries)
    _, negative_gradient = loss.loss_and_negative_gradient(np.ones(6), np.ones(6))
    W = 1 / (1 + np.exp(np.clip(base - base[:, None], -700, 700)))
    np.testing.assert_allclose(negative_gradient, W.sum(axis=1) - W.sum(axis=0), rtol=1e-10)


def test_weights_are_zero_without_an_order():
    """Queries of one document, or neither source has an order."""
    alone = Queries.from_qid(np.arange(3), 3)
    together = Queries.from_qid(None, 3)
    for queries in (alone, together):
        confidence = np.zeros(queries.n_queries)
        base_loss = BaseRankerLoss(np.arange(3.0), confidence, queries)
        grades = np.array([1.0, 1.0, np.nan])
        judgement_loss = JudgementLoss(GradedPairLoss(grades, queries), 0.5, queries)
        objective = RefinementObjective(
            base_loss, judgement_loss, DocumentTarget.of(grades, queries)
        )
        objective.set_scores(np.zeros(3))
        assert not objective.weights.any()
