"""The objective of NDCGBoost against loops over the pairs of Valizadegan (2010), chapter 3."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from sklrank._checks.queries import Queries, gains_of
from sklrank.boosting._base import DocumentTarget
from sklrank.boosting._objectives import LogisticObjective, NDCGObjective

# Queries in mixed order: three with different grades, one without a relevant document, one of equal
# grades, two of one document, relevant or not.
QID = np.random.RandomState(0).permutation(np.repeat([9, 3, 5, 4, 8, 1, 2], [12, 7, 2, 5, 4, 1, 1]))
GRADES = np.random.RandomState(1).randint(4, size=len(QID)).astype(float)
GRADES[QID == 4] = 0.0
GRADES[QID == 8] = 2.0
GRADES[QID == 1] = 3.0
GRADES[QID == 2] = 0.0


def target_of(queries, weights=None, query_weights=None):
    return DocumentTarget.of(np.zeros(len(queries.codes)), queries, weights, query_weights)


def root(grades):
    return np.sqrt(grades)


class Case:
    """An objective and the formulas of the dissertation, in loops."""

    def __init__(self, grades=GRADES, qid=QID, gain="exponential", k=None):
        function = {"exponential": lambda r: 2.0**r - 1, "linear": lambda r: r, root: root}[gain]
        gains = [function(grade) for grade in grades]
        self.objective = NDCGObjective(
            gains_of(gain, grades), target_of(Queries.from_qid(qid, len(qid))), k
        )
        documents_of = {q: np.flatnonzero(qid == q) for q in set(qid.tolist())}
        best = {
            q: sum(
                gain / np.log2(1 + rank)
                for rank, gain in enumerate(sorted((gains[i] for i in documents), reverse=True), 1)
                if k is None or rank <= k
            )
            for q, documents in documents_of.items()
        }
        n = sum(z > 0 for z in best.values())
        # The gains of both documents of each ordered pair, divided by n and Z_k.
        self.pairs = [
            (i, j, gains[i] / (n * best[q]), gains[j] / (n * best[q]))
            for q, documents in documents_of.items()
            for i in documents
            for j in documents
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

    def step_weights(self, F, f):
        """Numerator and denominator in Equation 3.15."""
        correct = sum(gain * self.theta(F, i, j) for i, j, gain, _ in self.pairs if f[j] < f[i])
        incorrect = sum(gain * self.theta(F, i, j) for i, j, gain, _ in self.pairs if f[j] > f[i])
        return correct, incorrect


@pytest.fixture(
    scope="module",
    params=[
        {},
        {"gain": "linear"},
        {"gain": root},
        {"grades": GRADES / 3},
        {"qid": np.zeros(len(QID), dtype=int)},
        {"qid": QID.astype(str)},
        {"k": 1},
        {"k": 3},
        {"k": 100},
    ],
    ids=["plain", "linear", "function", "fractions", "one query", "strings", "1", "3", "100"],
)
def case(request):
    return Case(**request.param)


SCORES = np.random.RandomState(2).normal(size=(4, len(QID))) * [[0], [1], [6], [40]]


@pytest.mark.parametrize("F", SCORES, ids=["start", "near", "far", "farther"])
def test_value_labels_weights_and_steps(case, F):
    objective = case.objective
    objective.set_scores(F.copy())
    assert_allclose(objective.value, case.value(F), rtol=1e-10)
    signed = case.signed_weights(F)
    assert_allclose(objective.weights, np.abs(signed), rtol=1e-10, atol=1e-14)
    clear = np.abs(signed) > 1e-13
    assert_array_equal(objective.labels[clear], signed[clear] > 0)
    for seed in range(3):
        f = np.random.RandomState(seed).randint(2, size=len(F)).astype(float)
        correct, incorrect = case.step_weights(F, f)
        assert_allclose(objective.step_weights(f), (correct, incorrect), rtol=1e-10)
        step = np.log(correct / incorrect) / 2 if correct > incorrect else 0.0
        assert_allclose(objective.step(f), step, rtol=1e-9, atol=1e-12)
        # Equation 3.18: the weighted gain of a classifier is the slope at step 0.
        assert_allclose(signed @ f, correct - incorrect, atol=1e-12)


def test_weights_are_the_slopes_of_the_objective(case):
    for document in range(0, len(QID), 7):
        values = []
        for change in (-1e-5, 1e-5):
            F = SCORES[1].copy()
            F[document] += change
            case.objective.set_scores(F)
            values.append(case.objective.value)
        case.objective.set_scores(SCORES[1])
        signed = case.objective.weights[document] * (2 * case.objective.labels[document] - 1)
        assert_allclose((values[0] - values[1]) / 2e-5, signed, rtol=1e-5, atol=1e-9)


def test_documents_of_queries_with_equal_grades_have_no_weight():
    """Also documents of queries without a relevant document, or with one document."""
    case = Case()
    case.objective.set_scores(SCORES[1].copy())
    assert not case.objective.weights[np.isin(QID, [4, 8, 1, 2])].any()
    assert case.objective.weights[np.isin(QID, [9, 3])].all()


def test_queries_without_gain_are_left_out_of_the_mean():
    relevant = QID != 4
    relevant &= QID != 2
    with_, without = Case(), Case(GRADES[relevant], QID[relevant])
    with_.objective.set_scores(SCORES[1].copy())
    without.objective.set_scores(SCORES[1][relevant])
    assert_allclose(with_.objective.value, without.objective.value, rtol=1e-14)
    nothing = NDCGObjective(np.zeros(3), target_of(Queries.from_qid(None, 3)))
    nothing.set_scores(np.zeros(3))
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
    objective = NDCGObjective(np.exp2(grades) - 1.0, target_of(Queries.from_qid(qid, 20)))
    F, f = spread * random.normal(size=20), random.randint(2, size=20).astype(float)

    def value(scores):
        objective.set_scores(scores)
        return objective.value

    before = value(F)
    (correct, incorrect), step = objective.step_weights(f), objective.step(f)
    rounding = 1e-12 * (before + np.exp(alpha) * incorrect)
    bound = before - (1 - np.exp(-alpha)) * correct + np.expm1(alpha) * incorrect
    assert value(F + alpha * f) <= bound + rounding
    assert value(F + rate * step * f) <= before + rounding
    if correct > incorrect > 0 and step < 6:
        least = (np.sqrt(correct) - np.sqrt(incorrect)) ** 2
        # This is stronger than the theorem, as 1 - x < e^-x.
        assert value(F + step * f) <= before - least + rounding


def test_step_of_a_perfect_hypothesis_is_finite():
    objective = NDCGObjective(np.array([1.0, 0.0]), target_of(Queries.from_qid(None, 2)))
    objective.set_scores(np.zeros(2))
    assert objective.step_weights(np.array([1.0, 0.0])) == (0.25, 0.0)
    assert 6 < objective.step(np.array([1.0, 0.0])) < 8
    assert objective.step(np.array([0.0, 1.0])) == 0
    assert objective.step(np.ones(2)) == 0


@pytest.mark.parametrize("spread", [1e3, 1e300])
def test_scores_far_apart_stay_finite(spread):
    case = Case()
    case.objective.set_scores(spread * SCORES[1])
    f = (SCORES[1] > 0).astype(float)
    assert np.isfinite(case.objective.value)
    assert np.isfinite(case.objective.weights).all()
    assert np.isfinite([*case.objective.step_weights(f), case.objective.step(f)]).all()


def test_constants_of_queries_do_not_matter():
    case = Case()
    case.objective.set_scores(SCORES[1].copy())
    value, weights = case.objective.value, case.objective.weights
    case.objective.set_scores(SCORES[1] + 1e3 * QID)
    assert_allclose(case.objective.value, value)
    assert_allclose(case.objective.weights, weights, atol=1e-12)


# -- The logistic objective, and hessians.


class LogisticCase(Case):
    """The logistic objective in loops."""

    def __init__(self, *args, gain="exponential", **kwargs):
        super().__init__(*args, gain=gain, **kwargs)
        function = {"exponential": lambda r: 2.0**r - 1, "linear": lambda r: r}[gain]
        self.objective = LogisticObjective(
            function(kwargs.get("grades", GRADES)),
            target_of(Queries.from_qid(kwargs.get("qid", QID), len(QID))),
            kwargs.get("k"),
        )
        self.pairs = [(i, j, a - b) for i, j, a, b in self.pairs if a > b]

    def value(self, F):
        return sum(weight * np.logaddexp(0, F[j] - F[i]) for i, j, weight in self.pairs)

    def pair_weights(self, F):
        return [(i, j, weight / (1 + np.exp(F[i] - F[j]))) for i, j, weight in self.pairs]


@pytest.mark.parametrize("F", SCORES, ids=["start", "near", "far", "farther"])
@pytest.mark.parametrize(
    "options", [{}, {"gain": "linear"}, {"qid": np.zeros(len(QID), dtype=int)}, {"k": 2}]
)
def test_logistic_objective(F, options):
    case = LogisticCase(**options)
    objective = case.objective
    objective.set_scores(F.copy())
    assert_allclose(objective.value, case.value(F), rtol=1e-10)
    signed, hessians = np.zeros((2, len(F)))
    for i, j, weight in case.pair_weights(F):
        signed[i] += weight
        signed[j] -= weight
        hessians[[i, j]] += weight
    assert_allclose(objective.negative_gradient, signed, rtol=1e-10, atol=1e-14)
    assert_allclose(objective.hessians, hessians, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("F", SCORES, ids=["start", "near", "far", "farther"])
def test_masses_of_expected_ndcg(F):
    case = Case()
    case.objective.set_scores(F.copy())
    hessians = np.zeros(len(F))
    for i, j, gain, _ in case.pairs:
        hessians[[i, j]] += gain * case.theta(F, i, j)
    assert_allclose(case.objective.hessians, hessians, rtol=1e-10, atol=1e-14)


@given(
    seed=st.integers(0, 2**32 - 1),
    spread=st.floats(0, 30),
    rate=st.floats(0, 2),
    n_leaves=st.integers(1, 6),
    l2=st.floats(0, 3),
    objective_class=st.sampled_from([NDCGObjective, LogisticObjective]),
)
def test_leaf_steps_never_raise_the_objective(seed, spread, rate, n_leaves, l2, objective_class):
    """The bound of each leaf in `_objectives.py`."""
    random = np.random.RandomState(seed)
    qid, grades = random.randint(4, size=20), random.randint(3, size=20)
    objective = objective_class(np.exp2(grades) - 1.0, target_of(Queries.from_qid(qid, 20)))
    F, leaves = spread * random.normal(size=20), random.randint(n_leaves, size=20)
    objective.set_scores(F)
    before = objective.value
    gradients = np.bincount(leaves, objective.negative_gradient, n_leaves)
    hessians = np.bincount(leaves, objective.hessians, n_leaves) + l2 * objective.hessians.mean()
    values = np.divide(gradients, hessians, out=np.zeros(n_leaves), where=hessians > 0)
    objective.set_scores(F + rate / 2 * values[leaves])
    assert objective.value <= before * (1 + 1e-12)
