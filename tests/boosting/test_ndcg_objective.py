"""What NDCGBoost minimises, against chapter 3 of Valizadegan (2010) written out pair by pair."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from sklrank._queries import Queries
from sklrank.boosting._ndcg_objective import NDCGObjective
from sklrank.metrics._conventions import gains_of

# Queries with gains, rows mixed; one without a relevant document, one of equal grades, two of one
# document, relevant or not.
QID = np.random.RandomState(0).permutation(np.repeat([9, 3, 5, 4, 8, 1, 2], [12, 7, 2, 5, 4, 1, 1]))
GRADES = np.random.RandomState(1).randint(4, size=len(QID)).astype(float)
GRADES[QID == 4] = 0.0
GRADES[QID == 8] = 2.0
GRADES[QID == 1] = 3.0
GRADES[QID == 2] = 0.0


def root(grades):
    return np.sqrt(grades)


class Case:
    """An objective, and what the formulas say of it."""

    def __init__(self, grades=GRADES, qid=QID, gain="exponential"):
        worth = {"exponential": lambda r: 2.0**r - 1, "linear": lambda r: r, root: root}[gain]
        gains = [worth(grade) for grade in grades]
        self.objective = NDCGObjective(gains_of(gain, grades), Queries.from_qid(qid, len(qid)))
        rows_of = {q: np.flatnonzero(qid == q) for q in set(qid.tolist())}
        best = {
            q: sum(
                gain / np.log2(1 + place)
                for place, gain in enumerate(sorted((gains[i] for i in rows), reverse=True), 1)
            )
            for q, rows in rows_of.items()
        }
        n = sum(z > 0 for z in best.values())
        # Of each ordered pair of documents the gain of the first, by n and Z_k, and of the second.
        self.pairs = [
            (i, j, gains[i] / (n * best[q]), gains[j] / (n * best[q]))
            for q, rows in rows_of.items()
            for i in rows
            for j in rows
            if i != j and best[q] > 0
        ]

    def value(self, F):
        """Equation 3.11."""
        return sum(gain / (1 + np.exp(F[i] - F[j])) for i, j, gain, _ in self.pairs)

    def theta(self, F, i, j):
        """Equation 3.14."""
        return np.exp(F[i] - F[j]) / (1 + np.exp(F[i] - F[j])) ** 2

    def signed_weights(self, F):
        """Equation 3.17."""
        weights = np.zeros(len(F))
        for i, j, gain, other in self.pairs:
            weights[i] += (gain - other) * self.theta(F, i, j)
        return weights

    def masses(self, F, f):
        """Numerator and denominator in Equation 3.15."""
        won = sum(gain * self.theta(F, i, j) for i, j, gain, _ in self.pairs if f[j] < f[i])
        lost = sum(gain * self.theta(F, i, j) for i, j, gain, _ in self.pairs if f[j] > f[i])
        return won, lost


@pytest.fixture(
    scope="module",
    params=[
        {},
        {"gain": "linear"},
        {"gain": root},
        {"grades": GRADES / 3},
        {"qid": np.zeros(len(QID), dtype=int)},
        {"qid": QID.astype(str)},
    ],
    ids=["plain", "linear", "function", "fractions", "one query", "texts"],
)
def case(request):
    return Case(**request.param)


SCORES = np.random.RandomState(2).normal(size=(4, len(QID))) * [[0], [1], [6], [40]]


@pytest.mark.parametrize("F", SCORES, ids=["start", "near", "far", "farther"])
def test_value_labels_weights_masses_and_step(case, F):
    objective = case.objective
    objective.move_to(F.copy())
    assert_allclose(objective.value, case.value(F), rtol=1e-10)
    signed = case.signed_weights(F)
    assert_allclose(objective.weights, np.abs(signed), rtol=1e-10, atol=1e-14)
    clear = np.abs(signed) > 1e-13
    assert_array_equal(objective.labels[clear], signed[clear] > 0)
    for seed in range(3):
        f = np.random.RandomState(seed).randint(2, size=len(F)).astype(float)
        won, lost = case.masses(F, f)
        assert_allclose(objective.masses(f), (won, lost), rtol=1e-10)
        step = np.log(won / lost) / 2 if won > lost else 0.0
        assert_allclose(objective.step(f), step, rtol=1e-9, atol=1e-12)
        # What makes Equation 3.18 the right thing to ask of a classifier at small steps.
        assert_allclose(signed @ f, won - lost, atol=1e-12)


def test_weights_are_the_slopes_of_the_objective(case):
    for row in range(0, len(QID), 7):
        values = []
        for change in (-1e-5, 1e-5):
            F = SCORES[1].copy()
            F[row] += change
            case.objective.move_to(F)
            values.append(case.objective.value)
        case.objective.move_to(SCORES[1])
        signed = case.objective.weights[row] * (2 * case.objective.labels[row] - 1)
        assert_allclose((values[0] - values[1]) / 2e-5, signed, rtol=1e-5, atol=1e-9)


def test_documents_that_can_gain_nothing_have_no_weight():
    """Those of queries without relevant documents, of equal grades, of one document."""
    case = Case()
    case.objective.move_to(SCORES[1].copy())
    assert not case.objective.weights[np.isin(QID, [4, 8, 1, 2])].any()
    assert case.objective.weights[np.isin(QID, [9, 3])].all()


def test_queries_without_gain_drop_out_of_the_mean():
    relevant = QID != 4
    relevant &= QID != 2
    with_, without = Case(), Case(GRADES[relevant], QID[relevant])
    with_.objective.move_to(SCORES[1].copy())
    without.objective.move_to(SCORES[1][relevant])
    assert_allclose(with_.objective.value, without.objective.value, rtol=1e-14)
    nothing = NDCGObjective(np.zeros(3), Queries.from_qid(None, 3))
    nothing.move_to(np.zeros(3))
    assert nothing.value == 0
    assert not nothing.weights.any()


@given(
    seed=st.integers(0, 2**32 - 1),
    alpha=st.floats(1e-3, 20),
    spread=st.floats(0, 30),
    rate=st.floats(0, 2, exclude_min=True),
)
def test_the_bound_holds_for_any_hypothesis_and_step(seed, alpha, spread, rate):
    """Proposition 2 and Theorem 7: up to twice the step the objective does not rise."""
    random = np.random.RandomState(seed)
    qid = random.randint(4, size=20)
    grades = random.randint(3, size=20) * random.randint(2, size=20)
    objective = NDCGObjective(np.exp2(grades) - 1.0, Queries.from_qid(qid, 20))
    F, f = spread * random.normal(size=20), random.randint(2, size=20).astype(float)

    def value(scores):
        objective.move_to(scores)
        return objective.value

    before = value(F)
    (won, lost), step = objective.masses(f), objective.step(f)
    rounding = 1e-12 * (before + np.exp(alpha) * lost)
    bound = before - (1 - np.exp(-alpha)) * won + np.expm1(alpha) * lost
    assert value(F + alpha * f) <= bound + rounding
    assert value(F + rate * step * f) <= before + rounding
    if won > lost > 0 and step < 6:
        least = (np.sqrt(won) - np.sqrt(lost)) ** 2
        # By more than the theorem says, as 1 - x is less than e^-x.
        assert value(F + step * f) <= before - least + rounding


def test_the_step_of_a_hypothesis_that_never_errs_is_finite():
    objective = NDCGObjective(np.array([1.0, 0.0]), Queries.from_qid(None, 2))
    objective.move_to(np.zeros(2))
    assert objective.masses(np.array([1.0, 0.0])) == (0.25, 0.0)
    assert 6 < objective.step(np.array([1.0, 0.0])) < 8
    assert objective.step(np.array([0.0, 1.0])) == 0
    assert objective.step(np.ones(2)) == 0


@pytest.mark.parametrize("spread", [1e3, 1e300])
def test_scores_far_apart_stay_finite(spread):
    case = Case()
    case.objective.move_to(spread * SCORES[1])
    f = (SCORES[1] > 0).astype(float)
    assert np.isfinite(case.objective.value)
    assert np.isfinite(case.objective.weights).all()
    assert np.isfinite([*case.objective.masses(f), case.objective.step(f)]).all()


def test_only_differences_within_a_query_count():
    case = Case()
    case.objective.move_to(SCORES[1].copy())
    value, weights = case.objective.value, case.objective.weights
    case.objective.move_to(SCORES[1] + 1e3 * QID)
    assert_allclose(case.objective.value, value)
    assert_allclose(case.objective.weights, weights, atol=1e-12)
