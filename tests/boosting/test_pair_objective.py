"""The objective of RankBoost against a double loop over pairs of documents."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from sklrank._checks.queries import Queries
from sklrank.boosting._base import DocumentTarget
from sklrank.boosting._rank_boost import PairObjective

QID = np.array(["b", "a", "b", "c", "b", "a", "d", "b", "a", "c", "b", "c", "b"])
GRADES = np.array([2.0, 0.0, 0.5, 0.0, 2.0, 1.0, 3.0, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0])
SCORES = np.random.RandomState(0).normal(size=(3, len(QID))) * [[0], [1], [6]]


def pairs_of(grades, qid):
    n = len(grades)
    return [
        (i, j) for i in range(n) for j in range(n) if qid[i] == qid[j] and grades[i] > grades[j]
    ]


@pytest.mark.parametrize("F", SCORES, ids=["start", "near", "far"])
@pytest.mark.parametrize("qid", [QID, None], ids=["queries", "one query"])
def test_value_labels_weights_and_steps(F, qid):
    pairs = pairs_of(GRADES, np.zeros(len(F)) if qid is None else qid)
    loss = {(i, j): np.exp(F[j] - F[i]) / len(pairs) for i, j in pairs}
    objective = PairObjective(DocumentTarget.of(GRADES, Queries.from_qid(qid, len(F))))
    objective.set_scores(F.copy())
    assert_allclose(objective.value, sum(loss.values()), rtol=1e-10)
    signed = np.zeros(len(F))
    for (i, j), part in loss.items():
        signed[i] += part
        signed[j] -= part
    size = sum(loss.values())
    assert_allclose(objective.weights, np.abs(signed), rtol=1e-10, atol=1e-12 * size)
    clear = np.abs(signed) > 1e-12 * size
    assert_array_equal(objective.labels[clear], signed[clear] > 0)
    for seed in range(3):
        f = np.random.RandomState(seed).randint(2, size=len(F)).astype(float)
        correct = sum(part for (i, j), part in loss.items() if f[i] > f[j])
        incorrect = sum(part for (i, j), part in loss.items() if f[i] < f[j])
        assert_allclose(objective.step_weights(f), (correct, incorrect), rtol=1e-10, atol=1e-14)
        assert_allclose(signed @ f, correct - incorrect, rtol=1e-9, atol=1e-12 * size)
        if correct > incorrect > 1e-4 * correct:
            assert_allclose(objective.step(f), np.log(correct / incorrect) / 2, rtol=1e-9)


@given(seed=st.integers(0, 2**32 - 1), alpha=st.floats(1e-3, 5), rate=st.floats(0, 2))
def test_the_bound_is_exact_and_the_objective_never_rises(seed, alpha, rate):
    random = np.random.RandomState(seed)
    F, f = 2 * random.normal(size=len(QID)), random.randint(2, size=len(QID)).astype(float)
    objective = PairObjective(DocumentTarget.of(GRADES, Queries.from_qid(QID, len(QID))))

    def value(scores):
        objective.set_scores(scores)
        return objective.value

    before = value(F)
    (correct, incorrect), step = objective.step_weights(f), objective.step(f)
    after = before - (1 - np.exp(-alpha)) * correct + np.expm1(alpha) * incorrect
    assert_allclose(value(F + alpha * f), after, rtol=1e-9)
    assert value(F + rate * step * f) <= before * (1 + 1e-12)
    if correct > incorrect > 1e-5 * correct:
        least = (np.sqrt(correct) - np.sqrt(incorrect)) ** 2
        assert_allclose(value(F + step * f), before - least, rtol=1e-9)


def test_weights_are_zero_when_all_pairs_are_in_order():
    """Otherwise scores would grow until they are clipped, which ties the outermost documents."""
    objective = PairObjective(DocumentTarget.of(np.arange(3.0), Queries.from_qid(None, 3)))
    objective.set_scores(20.0 * np.arange(3))
    assert objective.weights.any()
    objective.set_scores(30.0 * np.arange(3))
    assert not objective.weights.any()


@pytest.mark.parametrize("spread", [1e3, 1e300])
def test_scores_far_apart_stay_finite(spread):
    objective = PairObjective(DocumentTarget.of(GRADES, Queries.from_qid(QID, len(QID))))
    objective.set_scores(spread * SCORES[1])
    f = (SCORES[1] > 0).astype(float)
    assert np.isfinite(objective.value)
    assert np.isfinite(objective.weights).all()
    assert np.isfinite([*objective.step_weights(f), objective.step(f)]).all()
