"""Measures of noise: comparison with SciPy, and with loops over pairs of labels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.stats import kendalltau

from sklrank.metrics import alpha_inconsistency, beta_tau_gap

incomplete_partial = hnp.arrays(
    float, st.tuples(st.integers(1, 5), st.integers(1, 6)), elements=st.sampled_from([1, 2, 3, 4])
).flatmap(lambda Y: hnp.arrays(bool, Y.shape).map(lambda missing: np.where(missing, np.nan, Y)))


def test_measures_on_complete_rankings():
    rng = np.random.default_rng(0)
    clean, noisy = (np.argsort(rng.random((200, 4)), axis=1) + 1 for _ in range(2))
    alpha = np.mean([list(p) != list(q) for p, q in zip(clean, noisy)])
    beta = np.mean([kendalltau(p, q).statistic for p, q in zip(clean, noisy)])
    assert alpha_inconsistency(clean, noisy) == pytest.approx(alpha)
    assert beta_tau_gap(clean, noisy) == pytest.approx(beta)
    assert beta_tau_gap(clean, -clean) == -1
    far = [[-1e308, 0, 1e308]]
    assert alpha_inconsistency(far, far) == 0 and beta_tau_gap(far, [[1, 2, 3]]) == 1


@given(incomplete_partial, st.integers(0, 99))
def test_measures_pair_by_pair(Y, seed):
    other = np.random.default_rng(seed).permuted(Y, axis=1)
    changed, taus = [], []
    for p, q in zip(Y, other):
        ranked = [j for j in range(len(p)) if not np.isnan(p[j] + q[j])]
        signs = [
            (np.sign(p[i] - p[j]), np.sign(q[i] - q[j])) for i in ranked for j in ranked if j < i
        ]
        changed.append(any(a != b for a, b in signs))
        taus += [np.mean([a * b for a, b in signs])] if signs else []
    assert alpha_inconsistency(Y, other) == pytest.approx(np.mean(changed))
    if taus:
        assert beta_tau_gap(Y, other) == pytest.approx(np.mean(taus))
    else:
        with pytest.raises(ValueError, match="no sample with two labels"):
            beta_tau_gap(Y, other)


@pytest.mark.parametrize("measure", [alpha_inconsistency, beta_tau_gap])
def test_wrong_shapes(measure):
    with pytest.raises(ValueError, match=r"Y_noisy must have the shape of Y_clean, \(1, 2\)"):
        measure([[1, 2]], [[1, 2, 3]])
    with pytest.raises(ValueError, match="Y_clean must hold"):
        measure([1, 2], [[1, 2]])
