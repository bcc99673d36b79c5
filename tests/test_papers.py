"""Statements of the papers that concern no estimator: as corrected in docs/papers.md, by numbers.

Each test has the statement as printed, where that is false, and shows that it is.
"""

import numpy as np
import pytest


def softmax(scores):
    powers = np.exp(scores - scores.max())
    return powers / powers.sum()


def lemma_1(random, K=3):
    """Return 1 / Z~ and the bound of Eq. 2.8, for the pair (i, j), for (j, i), and its mean."""
    H = random.normal(size=(2, K))
    alpha = random.uniform(0, 0.5)
    h = np.eye(K)[random.randint(K, size=2)]
    b, new = (np.array([softmax(row) for row in scores]) for scores in (H, H + alpha * h))
    Z = b[0] @ b[1]
    tau = b[0] * b[1] / Z
    start = (1 + np.exp(6 * alpha) + np.exp(-6 * alpha)) / (3 * Z)
    bounds = [start + (np.exp(6 * alpha) - 1) / (3 * Z) * ((b[i] - tau) @ h[i]) for i in range(2)]
    return 1 / (new[0] @ new[1]), *bounds, np.mean(bounds)


def test_lemma_1_of_the_thesis_holds_for_the_mean_of_both_orders_of_a_pair():
    """Theorem 1 sums over both orders; for a single one Eq. 2.8 is false."""
    random = np.random.RandomState(0)
    draws = np.array([lemma_1(random) for _ in range(500)])
    value, first, second, mean = draws.T
    assert (value > first).any() and (value > second).any()
    assert (value <= mean * (1 + 1e-12)).all()


def test_theorem_1_of_the_thesis():
    """F~ <= F (1 + e^6a + e^-6a) / 3 + (e^6a - 1) / 3 sum_ik h_i^k (alpha_i^k + C beta_i^k)."""
    random = np.random.RandomState(0)
    for _ in range(60):
        n, K, n_labeled, C = 5, 3, 2, random.choice([0.1, 1.0, 100.0])
        S = random.uniform(size=(n, n))
        S = S + S.T
        y = np.eye(K)[random.randint(K, size=n_labeled)]
        H, step = random.normal(size=(n, K)), random.uniform(0, 0.4)
        h = np.eye(K)[random.randint(K, size=n)]

        def objective(H, S=S, y=y, C=C):
            b = np.array([softmax(row) for row in H])
            return (S / (b @ b.T)).sum() + C * (S[: len(y)] / (y @ b.T)).sum()

        b = np.array([softmax(row) for row in H])
        linear = 0.0
        for i in range(n):
            for k in range(K):
                for j in range(n):
                    Z = b[i] @ b[j]
                    linear += h[i, k] * S[i, j] * (b[i, k] - b[i, k] * b[j, k] / Z) / Z
                for j in range(n_labeled):
                    phi = y[j] @ (b[i, k] / b[i]) - y[j, k] / b[i, k]
                    linear += h[i, k] * C * S[j, i] * phi / 2
        grown = np.exp(6 * step)
        bound = objective(H) * (1 + grown + 1 / grown) / 3 + (grown - 1) / 3 * linear
        assert objective(H + step * h) <= bound * (1 + 1e-9)


def test_proposition_1_of_the_thesis():
    """1 / log(2 + A) is above its tangent at 0."""
    A = np.linspace(0, 50, 1001)
    assert (1 / np.log(2 + A) >= 1 / np.log(2) - A / (2 * np.log(2) ** 2) - 1e-15).all()


def theorem_6(random, sign):
    """Return M(F + a f) minus the bound of Theorem 6, whose last sum has the given sign."""
    m, alpha = 5, random.uniform(0, 1)
    grades, F = random.randint(3, size=m), random.normal(size=m)
    f = random.randint(2, size=m)
    gain = 2.0**grades - 1

    def M(F):
        P = 1 / (1 + np.exp(F[:, None] - F))
        return gain @ (P.sum(axis=1) - np.diag(P))

    gaps = F[:, None] - F
    theta = np.exp(gaps) / (1 + np.exp(gaps)) ** 2 * (1 - np.eye(m))
    # Proposition 2, with e^(3 a x) convex: e^(a (f_j - f_i)) - 1 for 0/1 values of f is at most
    # (e^3a + e^-3a + 1) / 3 - 1 + (e^3a - 1) / 3 (f_j - f_i).
    free = (np.exp(3 * alpha) + np.exp(-3 * alpha) + 1) / 3 - 1
    weights = ((gain[:, None] - gain) * theta).sum(axis=1)
    bound = M(F) + free * (gain @ theta).sum() + sign * (np.exp(3 * alpha) - 1) / 3 * (f @ weights)
    return M(F + alpha * f) - bound


def test_theorem_6_of_the_thesis_has_the_other_sign():
    """Documents of positive weight should be raised: this lowers the objective."""
    random = np.random.RandomState(0)
    printed = [theorem_6(random, 1) for _ in range(300)]
    turned = [theorem_6(random, -1) for _ in range(300)]
    assert max(printed) > 0.1
    assert max(turned) <= 1e-12


@pytest.mark.parametrize("hits", [0.3, 0.97])
def test_proposition_7_of_the_thesis(hits):
    """The third inequality, of the rounds that are no hits: the sum of K tau_t / gamma_t.

    It is printed with mu_t, the sum over hits, and fails if these are many. gamma is Eq. 6.3.
    """
    random, K, power, T = np.random.RandomState(0), 5, 0.1, 400
    gamma, mu, tau = np.zeros((3, T))
    for t in range(T):
        gamma[t] = slope(t + mu.sum(), power) / (2 * slope(tau.sum(), power))
        same = random.uniform() < hits
        mu[t], tau[t] = 2 * same, 1 - same
    rho = np.exp(1 - power)
    bound = 2 * rho * K * (1 + tau.sum()) ** power / slope(T + mu.sum(), power)
    assert (K * tau / gamma).sum() <= bound
    assert ((K * mu / gamma).sum() > bound) == (hits > 0.9)


def slope(z, power):
    return power * (1 + z) ** (power - 1)


def test_lemmas_11_and_13_of_predtron():
    """With a margin of C_L (of 1) between right and wrong predictions the surrogate is 0."""
    random = np.random.RandomState(0)
    for _ in range(200):
        losses = random.uniform(0.1, 2, size=6) * (np.arange(6) > 1)
        for margin, of_loss in ((losses.max(), losses), (1.0, np.sign(losses))):
            similarities = random.normal(size=6)
            best = similarities[:2].max()
            similarities[:2] = best
            similarities[2:] = best - margin - random.uniform(0, 1, size=4)
            similarities[2 + random.randint(4)] = best - margin  # the margin is attained
            surrogate = (of_loss + similarities).max() - best
            assert surrogate == pytest.approx(0, abs=1e-12)
