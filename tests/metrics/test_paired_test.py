"""The randomization test, against an enumeration and a simulation."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from sklrank.metrics import ndcg_score, paired_test


@pytest.mark.parametrize("n_queries", [1, 2, 7, 12])
def test_all_signs_are_enumerated(n_queries):
    random = np.random.RandomState(n_queries)
    values, others = random.randint(6, size=(2, n_queries)) / 5
    differences = values - others
    means = [np.mean(differences * signs) for signs in product([-1, 1], repeat=n_queries)]
    expected = np.mean(np.abs(means) >= abs(differences.mean()) - 1e-12)
    result = paired_test(values, others)
    assert result.p_value == pytest.approx(expected)
    assert result.difference == pytest.approx(differences.mean())
    assert result.n_queries == n_queries
    swapped = paired_test(others, values)
    assert swapped.p_value == result.p_value
    assert swapped.difference == -result.difference


def test_random_signs_approximate_all_signs():
    random = np.random.RandomState(0)
    values = random.normal(0.4, size=18)
    exact = stats.permutation_test(
        (values,), np.mean, permutation_type="samples", n_resamples=np.inf
    )
    result = paired_test(values, np.zeros(18), n_permutations=20_000, random_state=0)
    assert abs(result.p_value - exact.pvalue) < 5 * np.sqrt(exact.pvalue / 20_000)
    assert result.standard_error == pytest.approx(stats.sem(values))


def test_p_values_of_equal_rankings_are_uniform():
    random = np.random.RandomState(0)
    p_values = [
        paired_test(*random.normal(size=(2, 40)), n_permutations=199, random_state=i).p_value
        for i in range(400)
    ]
    for level in (0.05, 0.2, 0.5):
        error = np.sqrt(level * (1 - level) / 400)
        assert abs(np.mean(np.array(p_values) <= level) - level) < 4 * error


def test_queries_without_a_value_are_left_out():
    qid = np.repeat(np.arange(5), 4)
    y = np.tile([0, 1, 0, 2], 5) * (qid != 3)
    scores = np.random.RandomState(0).normal(size=(2, 20))
    values = [ndcg_score(y, each, qid=qid, average=False) for each in scores]
    result = paired_test(*values)
    assert result.n_queries == 4
    assert result.difference == pytest.approx(np.nanmean(values[0]) - np.nanmean(values[1]))
    same = paired_test(values[0], values[0])
    assert (same.difference, same.p_value) == (0, 1)
    assert np.isnan(paired_test([1.0], [0.5]).standard_error)


def test_the_seed_determines_the_result():
    values = np.random.RandomState(0).normal(size=(2, 50))
    first, second = (paired_test(*values, n_permutations=100, random_state=3) for _ in range(2))
    assert first == second


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"values": [0.1, 0.2]}, ValueError, r"\(2,\) and \(3,\)"),
        ({"values": [np.nan] * 3}, ValueError, "known for no query"),
        ({"values": [np.inf, 0, 1]}, ValueError, "values contains infinity"),
        ({"other_values": [[1], [2], [3]]}, ValueError, "one value for each query"),
        ({"n_permutations": 0}, ValueError, "n_permutations"),
        ({"n_permutations": 1.5}, TypeError, "n_permutations"),
    ],
)
def test_bad_input(arguments, error, message):
    with pytest.raises(error, match=message):
        paired_test(**{"values": [0.1, 0.2, 0.3], "other_values": [0, 0, 0]} | arguments)
