"""Objectives of ranking refinement against double loops over all pairs."""

import numpy as np
import pytest

from sklrank._queries import Queries
from sklrank.boosting._pair_orders import ExplicitPairLoss, GradedPairLoss
from sklrank.boosting._refinement_errors import BaseRankerLoss, JudgementLoss
from sklrank.boosting._refinement_objectives import ProductObjective, SumObjective

BALANCE = 0.7


class Case:
    """Base scores, judgements and scores of some queries; sums as the dissertation prints them."""

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
            # Of which some contradict each other.
            kept = [pair for k, pair in enumerate(sorted(self.pairs)) if k % 3]
            self.pairs = {*kept, *((j, i) for i, j in kept[::5])}
            judgements = ExplicitPairLoss(np.array(sorted(self.pairs)))
        sources = (
            BaseRankerLoss(self.base, self.confidence, self.queries),
            JudgementLoss(judgements, noise, self.queries),
            self.queries,
        )
        self.product = ProductObjective(*sources)
        self.sum = SumObjective(*sources, BALANCE)

    def matrices(self, scores):
        """W_ij e^(F_j - F_i) and T_ij e^(F_j - F_i), 0 for pairs of different queries."""
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
                told = (i, j) in self.pairs
                of_judged[i, j] = (1 - self.noise / 2 if told else self.noise / 2) * cost
        return of_base, of_judged

    def expected(self, objective, scores):
        """The value and the weights gamma_ij."""
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
    objective.move_to(case.scores)
    value, gamma = case.expected(objective, case.scores)
    signed = gamma.sum(axis=1) - gamma.sum(axis=0)
    size = gamma.sum()
    np.testing.assert_allclose(objective.value, value, rtol=1e-10)
    np.testing.assert_allclose(objective.weights, np.abs(signed), rtol=1e-10, atol=1e-12 * size)
    clear = np.abs(signed) > 1e-12 * size
    np.testing.assert_array_equal(objective.labels[clear], signed[clear] > 0)


def hypotheses(random, n, kind):
    """Of which documents rise, or of the chance that they do."""
    return {
        "classes": random.randint(2, size=n).astype(float),
        "chances": random.random_sample(n),
        "chances alike": 0.5 + 0.01 * random.random_sample(n),
    }[kind]


KINDS = pytest.mark.parametrize("kind", ["classes", "chances", "chances alike"])


@KINDS
def test_masses_and_step(case, objective, kind):
    """Theorem 9's mu and nu, of chances the expected ones, and Algorithm 6, line 8."""
    objective.move_to(case.scores)
    _, gamma = case.expected(objective, case.scores)
    for seed in range(4):
        rises = hypotheses(np.random.RandomState(seed), len(case.scores), kind)
        np.fill_diagonal(gamma, 0.0)
        mu = rises @ gamma @ (1 - rises)
        nu = (1 - rises) @ gamma @ rises
        np.testing.assert_allclose(objective.masses(rises), (mu, nu), rtol=1e-10)
        step = 0.0 if mu <= nu else np.log(mu / nu) / 2
        np.testing.assert_allclose(objective.step(rises), step, rtol=1e-9, atol=1e-12)


def test_expected_masses_are_means_of_masses(case, objective):
    """Over draws of which documents rise, each by itself."""
    random = np.random.RandomState(0)
    chances = random.random_sample(len(case.scores))
    objective.move_to(case.scores)
    draws = np.array(
        [
            objective.masses((random.random_sample(len(chances)) < chances).astype(float))
            for _ in range(2000)
        ]
    )
    error = draws.std(axis=0) / np.sqrt(len(draws))
    assert (np.abs(draws.mean(axis=0) - objective.masses(chances)) < 5 * error).all()


@KINDS
@pytest.mark.parametrize("rate", [0.5, 1.0, 2.0])
def test_it_never_rises_and_falls_as_theorem_9_says(case, objective, rate, kind):
    """Round by round, with any hypothesis that is better than chance."""
    random = np.random.RandomState(1)
    scores = case.scores.copy()
    objective.move_to(scores)
    for _ in range(15):
        rises = hypotheses(random, len(scores), kind)
        won, lost = objective.masses(rises)
        if won < lost:
            rises, (won, lost) = 1 - rises, (lost, won)
        before = objective.value
        scores += rate * objective.step(rises) * rises
        objective.move_to(scores)
        assert objective.value <= before * (1 + 1e-12)
        if rate == 1.0:
            least = (np.sqrt(won) - np.sqrt(lost)) ** 2
            if objective is case.sum:
                assert objective.value <= (before - least) * (1 + 1e-12)
            else:
                fall = np.log(before) - np.log(objective.value)
                assert fall >= least - 1e-12
                # What is left of Theorem 10.
                assert fall >= (won - lost) ** 2 / 4 - 1e-12


def test_theorem_10_does_not_hold():
    """Its proof turns an inequality around; a hypothesis hardly better than chance shows it."""
    case = Case(3)
    case.product.move_to(case.scores)
    rises = (np.random.RandomState(0).random_sample(len(case.scores)) < 0.5).astype(float)
    won, lost = case.product.masses(rises)
    if won < lost:
        rises, (won, lost) = 1 - rises, (lost, won)
    before = case.product.value
    case.product.move_to(case.scores + case.product.step(rises) * rises)
    assert np.log(before / case.product.value) < won - lost


def test_weights_are_the_gradient(case, objective):
    """The demand for a row is what the objective (the product's logarithm) falls by as it rises."""
    objective.move_to(case.scores)
    signed = np.where(objective.labels == 1, objective.weights, -objective.weights)
    scale = objective.value if objective is case.sum else 1.0
    for row in range(0, len(signed), 5):
        values = []
        for sign in (1, -1):
            scores = case.scores.copy()
            scores[row] += sign * 1e-5
            objective.move_to(scores)
            values.append(objective.value if objective is case.sum else np.log(objective.value))
        np.testing.assert_allclose(
            (values[1] - values[0]) / 2e-5, signed[row], rtol=1e-4, atol=1e-7 * scale
        )


@pytest.mark.parametrize("spread", [1e2, 1e4, 1e300])
@pytest.mark.parametrize("confidence", [1.0, 1e300, np.inf])
def test_far_scores_stay_finite(spread, confidence):
    case = Case(0, spread=spread, confidence=confidence)
    for objective in (case.product, case.sum):
        objective.move_to(case.scores)
        rises = (case.scores > 0).astype(float)
        assert np.isfinite(objective.value)
        assert np.isfinite(objective.weights).all()
        assert np.isfinite(objective.masses(rises)).all()
        assert np.isfinite(objective.step(rises))


def test_base_scores_far_apart():
    """Each W_ij is right though e^(lambda g) of the whole query is no number."""
    base = np.array([-3e3, -1e3, -1e3 - 0.5, 1e3, 1e3 + 0.25, 5e3])
    queries = Queries.from_qid(None, len(base))
    error = BaseRankerLoss(base, np.ones(1), queries)
    _, demand = error.demand(np.ones(6), np.ones(6))
    W = 1 / (1 + np.exp(np.clip(base - base[:, None], -700, 700)))
    np.testing.assert_allclose(demand, W.sum(axis=1) - W.sum(axis=0), rtol=1e-10)


def test_nothing_is_left_to_gain():
    """One row a query, or no order told by anyone."""
    alone = Queries.from_qid(np.arange(3), 3)
    together = Queries.from_qid(None, 3)
    for queries in (alone, together):
        confidence = np.zeros(queries.n_queries)
        base = BaseRankerLoss(np.arange(3.0), confidence, queries)
        judged = JudgementLoss(GradedPairLoss(np.array([1.0, 1.0, np.nan]), queries), 0.5, queries)
        objective = ProductObjective(base, judged, queries)
        objective.move_to(np.zeros(3))
        assert not objective.weights.any()
