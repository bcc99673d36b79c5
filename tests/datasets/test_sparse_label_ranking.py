"""make_sparse_label_ranking, hide_labels and tie_labels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal

from sklrank.datasets import hide_labels, make_sparse_label_ranking, tie_labels
from sklrank.metrics import alpha_inconsistency, beta_tau_gap

NOISES = ["none", "gaussian", "mallows", "plackett-luce"]

incomplete_partial = hnp.arrays(
    float, st.tuples(st.integers(1, 5), st.integers(1, 6)), elements=st.sampled_from([1, 2, 3, 4])
).flatmap(lambda Y: hnp.arrays(bool, Y.shape).map(lambda missing: np.where(missing, np.nan, Y)))


def places(row):
    """Return the position of each label: 1 plus the number of labels before it."""
    return [np.nan if np.isnan(p) else 1 + sum(q < p for q in row) for p in row]


@pytest.mark.parametrize("noise", NOISES)
def test_shapes_and_seed(noise):
    def make(seed):
        return make_sparse_label_ranking(
            200, 30, 6, n_informative=4, noise=noise, survival=0.8, tie_probability=0.2,
            random_state=seed, return_clean=True,
        )  # fmt: skip

    X, Y, Y_clean, scores = make(0)
    assert X.shape == (200, 30) and X.dtype == np.float64
    assert set(np.unique(X)) == {0, 1}
    assert X.mean() == pytest.approx(0.5, abs=0.03)
    assert Y.shape == Y_clean.shape == scores.shape == (200, 6)
    assert Y.dtype == Y_clean.dtype == scores.dtype == np.float64
    assert_array_equal(Y, [places(row) for row in Y])
    assert np.isnan(Y).mean() == pytest.approx(0.2, abs=0.04)
    assert any(len(set(row[row > 0])) < (row > 0).sum() for row in Y)
    for first, second in zip(make(0), (X, Y, Y_clean, scores)):
        assert_array_equal(first, second)
    assert not np.array_equal(make(1)[0], X)
    assert len(make_sparse_label_ranking(5, random_state=0)) == 2


def test_clean_rankings_follow_the_scores():
    _, Y, Y_clean, scores = make_sparse_label_ranking(500, random_state=0, return_clean=True)
    assert_array_equal(Y, Y_clean)
    assert_array_equal(Y, [places(-row) for row in scores])
    assert scores.min() >= 0.25 and scores.max() <= 0.75


def test_ties_in_scores_go_to_the_smaller_label():
    _, Y, _, scores = make_sparse_label_ranking(
        50, 3, 5, n_informative=1, random_state=0, return_clean=True
    )
    assert set(np.unique(scores)) == {0.25, 0.75}
    for positions, row in zip(Y, scores):
        assert_array_equal(np.argsort(positions), sorted(range(5), key=lambda j: (-row[j], j)))


@pytest.mark.parametrize("n_informative", [1, 4, 20])
def test_scores_depend_on_the_informative_features_only(n_informative):
    X, _, _, scores = make_sparse_label_ranking(
        300, 20, 3, n_informative=n_informative, random_state=0, return_clean=True
    )
    weights = np.linalg.lstsq(np.column_stack([X, np.ones(300)]), scores, rcond=None)[0]
    assert_allclose(weights[-1], 0.25)
    assert_array_equal((weights[:-1] > 1e-9).sum(axis=0), n_informative)
    assert_allclose(weights[:-1].sum(axis=0), 0.5)
    assert np.abs(weights[:-1][weights[:-1] < 1e-9]).max(initial=0) < 1e-12


def test_labels_may_share_their_features():
    """Samples with equal values of these features have equal scores."""
    X, _, _, scores = make_sparse_label_ranking(
        400, 12, n_informative=3, shared_features=True, random_state=0, return_clean=True
    )
    weights = np.linalg.lstsq(np.column_stack([X, np.ones(400)]), scores, rcond=None)[0][:-1]
    matters = np.flatnonzero((weights > 1e-9).all(axis=1))
    assert_array_equal(matters, np.flatnonzero((weights > 1e-9).any(axis=1)))
    assert len(matters) == 3
    assert len(np.unique(scores.round(9), axis=0)) == 8
    cells = np.unique(X[:, matters], axis=0, return_inverse=True)[1].ravel()
    for cell in range(8):
        assert np.ptp(scores[cells == cell], axis=0).max() < 1e-12


def test_noise_does_not_change_the_problem_of_a_seed():
    """Noise, survival and ties change neither the features nor the noiseless rankings."""
    reference = make_sparse_label_ranking(100, random_state=3, return_clean=True)
    for noise in NOISES:
        X, Y, Y_clean, scores = make_sparse_label_ranking(
            100, noise=noise, survival=0.5, tie_probability=0.5, random_state=3, return_clean=True
        )
        assert_array_equal(X, reference[0])
        assert_array_equal(Y_clean, reference[2])
        assert_array_equal(scores, reference[3])
        assert not np.array_equal(Y, Y_clean)


@pytest.mark.parametrize(
    "noise, parameter, from_much_to_none",
    [
        ("gaussian", "scale", [0.3, 0.05, 0.005, 0]),
        ("plackett-luce", "scale", [0.3, 0.05, 0.005, 0]),
        ("mallows", "theta", [0, 1.0, 3.0, np.inf]),
    ],
)
def test_noise_levels(noise, parameter, from_much_to_none):
    alphas, betas = [], []
    for level in from_much_to_none:
        _, Y, Y_clean, _ = make_sparse_label_ranking(
            2000, noise=noise, **{parameter: level}, random_state=0, return_clean=True
        )
        assert_array_equal(np.sort(Y, axis=1), np.tile(np.arange(1, 6), (2000, 1)))
        alphas.append(alpha_inconsistency(Y_clean, Y))
        betas.append(beta_tau_gap(Y_clean, Y))
    assert alphas == sorted(alphas, reverse=True) and alphas[-1] == 0
    assert betas == sorted(betas) and betas[-1] == 1


@pytest.mark.parametrize("theta", [0.6, 1.0, 4.4])
def test_mallows_noise_is_as_large_as_theory_says(theta):
    _, Y, Y_clean, _ = make_sparse_label_ranking(
        20_000, 20, noise="mallows", theta=theta, random_state=0, return_clean=True
    )
    phi, i = np.exp(-theta), np.arange(1, 6)
    alpha = 1 - 1 / np.prod((1 - phi**i) / (1 - phi))
    distance = (phi / (1 - phi) - i * phi**i / (1 - phi**i)).sum()
    assert alpha_inconsistency(Y_clean, Y) == pytest.approx(alpha, abs=0.015)
    assert beta_tau_gap(Y_clean, Y) == pytest.approx(1 - 2 * distance / 10, abs=0.015)


@pytest.mark.parametrize(
    "parameters, problem",
    [
        ({"n_samples": 0}, "n_samples"),
        ({"n_features": 0}, "n_features"),
        ({"n_labels": 1}, "n_labels"),
        ({"n_informative": 101}, "n_informative"),
        ({"n_informative": 0}, "n_informative"),
        ({"noise": "uniform"}, "noise must be one of .*got 'uniform'"),
        ({"scale": -1}, "scale"),
        ({"scale": np.inf}, "scale == inf, must be < inf"),
        ({"theta": -1}, "theta"),
        ({"theta": np.nan}, "theta"),
        ({"survival": 1.1}, "^survival must be a probability"),
        ({"survival": [1, 1]}, r"^survival must .* shape \(50, 5\), got \(2,\)"),
        ({"tie_probability": -0.1}, "^tie_probability must be a probability"),
        ({"tie_probability": [0] * 5}, r"^tie_probability must .* \(50, 4\), got \(5,\)"),
    ],
)
def test_wrong_parameters(parameters, problem):
    with pytest.raises(ValueError, match=problem):
        make_sparse_label_ranking(**{"n_samples": 50, **parameters})


def test_noise_too_small_to_divide_by():
    _, Y, Y_clean, _ = make_sparse_label_ranking(
        50, noise="plackett-luce", scale=1e-320, random_state=0, return_clean=True
    )
    assert_array_equal(Y, Y_clean)


def test_wrong_types():
    with pytest.raises(TypeError, match="n_informative"):
        make_sparse_label_ranking(n_informative=2.5)


# --- hide_labels and tie_labels


@given(incomplete_partial, st.integers(0, 99))
def test_hidden_labels(Y, seed):
    hidden = hide_labels(Y, 0.5, random_state=seed)
    kept = hide_labels(Y, 0.5, keep_positions=True, random_state=seed)
    assert_array_equal(kept[~np.isnan(kept)], Y[~np.isnan(kept)])
    assert_array_equal(hidden, [places(row) for row in kept])
    assert_array_equal(hide_labels(Y, 1), [places(row) for row in Y])
    assert np.isnan(hide_labels(Y, 0)).all()
    fewer = hide_labels(Y, 0.3, random_state=seed)
    assert (np.isnan(fewer) | ~np.isnan(hidden)).all()


def test_survival_by_label_and_by_sample():
    Y = np.tile([2, 3, 1], (5000, 1))
    by_label = hide_labels(Y, [0.2, 1, 0.7], random_state=0)
    assert_allclose((~np.isnan(by_label)).mean(axis=0), [0.2, 1, 0.7], atol=0.03)
    by_row = np.zeros((5000, 3))
    by_row[::2] = 1
    assert_array_equal(np.isnan(hide_labels(Y, by_row)), by_row == 0)


@given(incomplete_partial, st.integers(0, 99))
def test_tied_labels_are_neighbors(Y, seed):
    tied = tie_labels(Y, 0.5, random_state=seed)
    assert_array_equal(tied, [places(row) for row in tied])
    assert_array_equal(np.isnan(tied), np.isnan(Y))
    with np.errstate(invalid="ignore"):
        for i in range(Y.shape[1]):
            for j in range(Y.shape[1]):  # no pair is reversed and no tie is broken
                assert not ((Y[:, i] <= Y[:, j]) & (tied[:, i] > tied[:, j])).any()
    assert_array_equal(tie_labels(Y, 0), [places(row) for row in Y])
    assert np.isin(tie_labels(Y, 1)[~np.isnan(Y)], 1).all()


def test_chosen_partition():
    """The example of the paper: e > b > d > a > c is cut into [1, 2] [3] [4, 5]."""
    Y = [[4, 2, 5, 3, 1]]
    assert_array_equal(tie_labels(Y, [1, 0, 0, 1]), [[4, 1, 4, 3, 1]])


def test_frequency_of_cuts():
    tied = tie_labels(np.tile([1, 2, 3, 4], (5000, 1)), [0.1, 0.5, 0.9], random_state=0)
    joined = tied[:, 1:] == tied[:, :-1]
    assert_allclose(joined.mean(axis=0), [0.1, 0.5, 0.9], atol=0.03)


def test_any_law_of_partitions():
    """Step 4 of Definition 6: the partition is drawn from a law that depends on the sample."""
    Y = np.tile([4, 2, 5, 3, 1], (8000, 1))
    ranks = {(2, 1, 2): [4, 1, 4, 3, 1], (5,): [1] * 5, (1, 1, 1, 1, 1): Y[0].tolist()}
    often = np.where(np.arange(8000) < 4000, 0.7, 0.2)
    law = dict(zip(ranks, [often, 0.1, 0.9 - often]))
    tied = tie_labels(Y, partitions=law, random_state=0)
    for sizes, expected in ranks.items():
        drawn = (tied == expected).all(axis=1)
        chance = np.broadcast_to(law[sizes], 8000)
        assert_allclose([drawn[:4000].mean(), drawn[4000:].mean()], chance[[0, -1]], atol=0.03)
    assert {tuple(row) for row in tied.tolist()} == {tuple(row) for row in ranks.values()}


@pytest.mark.parametrize(
    ("partitions", "message"),
    [
        ({(2, 2): 1.0}, "number of labels, 3; got .2, 2"),
        ({(3, 0): 1.0}, "positive sizes"),
        ({(1, 2): 0.5, (3,): 0.4}, "sum to 1 for each sample"),
        ({(1, 2): -0.5, (3,): 1.5}, "partitions must be a probability"),
        ({(3,): [1.0, 1.0, 1.0]}, "broadcast to the shape .2,"),
        ({}, "sum to 1 for each sample"),
    ],
)
def test_wrong_partitions(partitions, message):
    with pytest.raises(ValueError, match=message):
        tie_labels([[1, 2, 3], [3, 2, 1]], partitions=partitions)


@pytest.mark.parametrize("transform", [hide_labels, tie_labels])
def test_wrong_positions(transform):
    with pytest.raises(ValueError, match="Y must hold positions"):
        transform([1, 2, 3])
    with pytest.raises(ValueError, match="Y must be finite, or NaN"):
        transform([[1, np.inf]])
    with pytest.raises(ValueError, match="must be a probability"):
        transform([[1, 2]], np.nan)


def test_few_features_are_all_informative():
    X, Y = make_sparse_label_ranking(200, 3, random_state=0)
    same_X, same_Y = make_sparse_label_ranking(200, 3, n_informative=3, random_state=0)
    assert_array_equal(X, same_X)
    assert_array_equal(Y, same_Y)
