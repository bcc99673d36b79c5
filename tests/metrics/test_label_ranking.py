"""Metrics of label rankings: comparison with double loops over labels, and with SciPy."""

import math
import tracemalloc
from functools import partial
from itertools import combinations
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.stats import kendalltau, spearmanr

from sklrank.metrics import (
    _averaging,
    _label_ranking,
    kendall_tau_distance,
    kendall_tau_score,
    spearman_distance,
)

METRICS = [kendall_tau_score, kendall_tau_distance, spearman_distance]
VARIANTS = ["a", "b", "gamma", "x"]
# All metrics with all options that affect the result.
CHOICES = {
    **{f"score-{v}": partial(kendall_tau_score, variant=v) for v in VARIANTS},
    "distance": kendall_tau_distance,
    "distance-strict": partial(kendall_tau_distance, penalty=0),
    "distance-share": partial(kendall_tau_distance, normalize=True),
    "spearman": spearman_distance,
    "spearman-share": partial(spearman_distance, normalize=True),
}
every_choice = pytest.mark.parametrize("metric", CHOICES.values(), ids=CHOICES)
any_choice = st.sampled_from(list(CHOICES.values()))


def ranked_labels(true, pred):
    return [j for j in range(len(true)) if not (math.isnan(true[j]) or math.isnan(pred[j]))]


def slow_score(true, pred, variant="b"):
    """Compute the score from the signs of all pairs, which define these coefficients."""
    pairs = list(combinations(ranked_labels(true, pred), 2))
    a = [np.sign(true[j] - true[i]) for i, j in pairs]
    b = [np.sign(pred[j] - pred[i]) for i, j in pairs]
    if variant == "x":
        # Emond and Mason: both orders of a pair; +1 if the first is ahead or tied, else -1.
        sides = [(s * x, s * y) for x, y in zip(a, b) for s in (1, -1)]
        agreement = [(1 if x >= 0 else -1) * (1 if y >= 0 else -1) for x, y in sides]
        return sum(agreement) / len(agreement) if agreement else 0.0
    net = sum(x * y for x, y in zip(a, b))
    scale = {
        "a": len(pairs),
        "b": math.sqrt(sum(x * x for x in a) * sum(y * y for y in b)),
        "gamma": sum(abs(x * y) for x, y in zip(a, b)),
    }[variant]
    return net / scale if scale else 0.0


def slow_distance(true, pred, penalty=0.5, normalize=False):
    pairs = list(combinations(ranked_labels(true, pred), 2))
    costs = []
    for i, j in pairs:
        product = (true[i] - true[j]) * (pred[i] - pred[j])
        one_tie = (true[i] == true[j]) != (pred[i] == pred[j])
        costs.append(1 if product < 0 else penalty if one_tie else 0)
    return sum(costs) / (len(pairs) if normalize and pairs else 1)


def slow_spearman(true, pred, normalize=False):
    labels = ranked_labels(true, pred)
    total = 0.0
    for i in labels:
        places = [
            1 + sum(y[j] < y[i] for j in labels) + (sum(y[j] == y[i] for j in labels) - 1) / 2
            for y in (true, pred)
        ]
        total += (places[0] - places[1]) ** 2
    worst = sum((k - (len(labels) - 1 - k)) ** 2 for k in range(len(labels)))
    return total / (worst if normalize and worst else 1)


SLOW = {
    kendall_tau_score: slow_score,
    kendall_tau_distance: slow_distance,
    spearman_distance: slow_spearman,
}


def slow(metric, y_true, y_pred):
    """Compute the value of each sample, pair by pair or label by label."""
    if isinstance(metric, partial):
        return np.array([SLOW[metric.func](*row, **metric.keywords) for row in zip(y_true, y_pred)])
    return np.array([SLOW[metric](*row) for row in zip(y_true, y_pred)])


def random_rankings(n_samples=60, n_labels=7, seed=0):
    """Draw rankings with ties and missing labels; some have nothing to compare, or ties only."""
    rng = np.random.default_rng(seed)
    rankings = rng.integers(1, n_labels + 1, size=(2, n_samples, n_labels)).astype(float)
    rankings[rng.random(rankings.shape) < rng.choice([0, 0.3], (2, n_samples, 1))] = np.nan
    rankings[0, 0] = np.nan
    rankings[1, 1, 1:] = np.nan
    rankings[0, 2] = 5
    rankings[:, 3] = 5
    rankings[0, 4, ::2] = np.nan
    rankings[1, 4, 1::2] = np.nan
    return rankings


def permutations(n_samples=40, n_labels=8, seed=0):
    rng = np.random.default_rng(seed)
    return rng.permuted(np.tile(np.arange(1.0, n_labels + 1), (2, n_samples, 1)), axis=2)


@st.composite
def rankings(draw, missing=True):
    shape = draw(st.tuples(st.just(2), st.integers(1, 4), st.integers(1, 6)))
    values = draw(hnp.arrays(np.int64, shape, elements=st.integers(-3, 3))).astype(float)
    if missing:
        values[draw(hnp.arrays(bool, shape))] = np.nan
    return values


@every_choice
def test_agrees_with_the_double_loop(metric):
    y_true, y_pred = random_rankings()
    expected = slow(metric, y_true, y_pred)
    assert_allclose(metric(y_true, y_pred, average=False), expected, rtol=1e-12, atol=1e-15)
    assert metric(y_true, y_pred) == pytest.approx(expected.mean())
    weight = np.random.default_rng(1).random(len(y_true))
    assert metric(y_true, y_pred, sample_weight=weight) == pytest.approx(
        np.average(expected, weights=weight)
    )


@given(data=rankings(), metric=any_choice)
def test_small_cases_agree_with_the_double_loop(data, metric):
    assert_allclose(metric(*data, average=False), slow(metric, *data), rtol=1e-12, atol=1e-15)


@given(data=rankings(), metric=any_choice, width=st.integers(1, 3))
def test_merged_blocks_agree_with_the_double_loop(data, metric, width):
    """Rankings of more than 512 labels are counted in blocks, which are merged."""
    with mock.patch.object(_label_ranking, "_MERGED", width):
        values = metric(*data, average=False)
    assert_allclose(values, slow(metric, *data), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("n_labels", [513, 3000])
def test_score_of_many_labels_agrees_with_scipy(n_labels):
    y_true, y_pred = np.random.default_rng(0).integers(0, n_labels, size=(2, 3, n_labels))
    expected = [kendalltau(*row).statistic for row in zip(y_true, y_pred)]
    assert_allclose(kendall_tau_score(y_true, y_pred, average=False), expected, rtol=1e-12)


@pytest.mark.parametrize("variant", VARIANTS)
def test_score_agrees_with_scipy_without_ties(variant):
    y_true, y_pred = permutations()
    expected = [kendalltau(*row).statistic for row in zip(y_true, y_pred)]
    scores = kendall_tau_score(y_true, y_pred, variant=variant, average=False)
    assert_allclose(scores, expected, rtol=1e-12, atol=1e-15)


def test_score_agrees_with_scipy_with_ties():
    """SciPy gets the labels ranked in both; it returns NaN if all labels of a ranking are tied."""
    y_true, y_pred = random_rankings()
    scores = kendall_tau_score(y_true, y_pred, average=False)
    n_compared = 0
    for true, pred, score in zip(y_true, y_pred, scores):
        labels = ranked_labels(true, pred)
        true, pred = true[labels], pred[labels]
        if len(set(true)) > 1 and len(set(pred)) > 1:
            assert score == pytest.approx(kendalltau(true, pred).statistic)
            n_compared += 1
        else:
            assert score == 0
    assert n_compared > 50


def test_distances_agree_with_scipy_without_ties():
    y_true, y_pred = permutations()
    tau = [kendalltau(*row).statistic for row in zip(y_true, y_pred)]
    rho = [spearmanr(*row).statistic for row in zip(y_true, y_pred)]
    share = kendall_tau_distance(y_true, y_pred, normalize=True, average=False)
    assert_allclose(1 - 2 * share, tau, rtol=1e-12, atol=1e-12)
    share = spearman_distance(y_true, y_pred, normalize=True, average=False)
    assert_allclose(1 - 2 * share, rho, rtol=1e-12, atol=1e-12)
    squares = np.sum((y_true - y_pred) ** 2, axis=1)
    assert_array_equal(spearman_distance(y_true, y_pred, average=False), squares)


def test_hand_values():
    # One adjacent swap among six labels: one pair of fifteen, two positions off by one.
    y_true, y_pred = [[1, 2, 3, 4, 5, 6]], [[2, 1, 3, 4, 5, 6]]
    assert kendall_tau_score(y_true, y_pred) == pytest.approx(13 / 15)
    assert kendall_tau_distance(y_true, y_pred) == 1
    assert spearman_distance(y_true, y_pred) == 2
    # A total order that is consistent with a true ranking with ties: 2 pairs right, 1 tied.
    y_true, y_pred = [[1, 1, 2]], [[1, 2, 3]]
    assert kendall_tau_score(y_true, y_pred) == pytest.approx(2 / math.sqrt(6))
    assert kendall_tau_score(y_true, y_pred, variant="gamma") == 1
    assert kendall_tau_distance(y_true, y_pred, penalty=0) == 0
    assert kendall_tau_distance(y_true, y_pred, penalty=0.25) == 0.25
    assert spearman_distance(y_true, y_pred) == 0.5
    # Without the last label, which is not ranked, its pairs and its position do not count.
    y_true, y_pred = [[1, 2, np.nan]], [[3, 1, 2]]
    assert kendall_tau_score(y_true, y_pred) == -1
    assert kendall_tau_distance(y_true, y_pred) == 1
    assert spearman_distance(y_true, y_pred) == 2


@every_choice
def test_samples_without_pairs_have_value_zero(metric):
    nan = np.nan
    for true, pred in ([4], [2]), ([1, nan], [nan, 1]), ([nan, nan], [1, 2]), ([1, nan], [1, 2]):
        assert metric([true], [pred]) == 0
    y_true, y_pred = [[1, 2], [1, nan]], [[2, 1], [1, 2]]
    assert metric(y_true, y_pred) == metric(y_true[:1], y_pred[:1]) / 2
    assert metric(y_true, y_pred, sample_weight=[1, 0]) == metric(y_true[:1], y_pred[:1])


def test_ties_only():
    tied, strict = [[1, 1, 1]], [[1, 2, 3]]
    for variant in VARIANTS:
        assert kendall_tau_score(tied, strict, variant=variant) == 0
        assert kendall_tau_score(tied, tied, variant=variant) == (variant == "x")
    assert kendall_tau_distance(tied, strict) == 1.5
    assert kendall_tau_distance(tied, tied) == spearman_distance(tied, tied) == 0


@every_choice
def test_result_types(metric):
    y_true, y_pred = random_rankings()
    assert type(metric(y_true, y_pred)) is float
    per_row = metric(y_true.astype(np.float32), y_pred, average=False)
    assert per_row.shape == (len(y_true),)
    assert per_row.dtype == np.float64


@every_choice
def test_block_size_does_not_matter(metric, monkeypatch):
    y_true, y_pred = random_rankings()
    whole = metric(y_true, y_pred, average=False)
    for size in (1, 10, 30):
        monkeypatch.setattr(_averaging, "_BLOCK", size)
        assert_array_equal(metric(y_true, y_pred, average=False), whole)


@given(data=rankings(), metric=any_choice, seed=st.integers(0, 99))
def test_order_of_labels_and_samples_does_not_matter(data, metric, seed):
    rng = np.random.default_rng(seed)
    columns, rows = rng.permutation(data.shape[2]), rng.permutation(data.shape[1])
    values = metric(*data, average=False)
    assert_array_equal(metric(*data[:, :, columns], average=False), values)
    assert_array_equal(metric(*data[:, rows], average=False), values[rows])
    alone = [metric(*data[:, [i]]) for i in range(data.shape[1])]
    assert_array_equal(alone, values)


@given(data=rankings(), metric=any_choice)
def test_only_the_order_matters(data, metric):
    y_true, y_pred = data
    values = metric(y_true, y_pred, average=False)
    assert_array_equal(metric(1e300 * y_true, 1e-300 * y_pred, average=False), values)
    assert_array_equal(metric(y_true**3 - 7, np.exp(y_pred), average=False), values)


@given(data=rankings(), metric=any_choice)
def test_symmetric(data, metric):
    y_true, y_pred = data
    values = metric(y_true, y_pred, average=False)
    assert_array_equal(metric(y_pred, y_true, average=False), values)
    # If both rankings are reversed, all pairs agree or disagree as before.
    assert_array_equal(metric(-y_true, -y_pred, average=False), values)


@given(data=rankings(), variant=st.sampled_from(["a", "b", "gamma"]))
def test_reversal_negates(data, variant):
    y_true, y_pred = data
    scores = kendall_tau_score(y_true, y_pred, variant=variant, average=False)
    reverse = kendall_tau_score(y_true, -y_pred, variant=variant, average=False)
    assert_array_equal(reverse, -scores)
    assert (np.abs(scores) <= 1).all()


@given(data=rankings())
def test_score_x_is_the_normalized_distance(data):
    pairs = kendall_tau_distance(*data, normalize=True, average=False)
    scores = kendall_tau_score(*data, variant="x", average=False)
    comparable = [len(ranked_labels(*row)) > 1 for row in zip(*data)]
    assert_allclose(scores, np.where(comparable, 1 - 2 * pairs, 0), atol=1e-12)


@given(data=rankings(missing=False), third=st.integers(0, 99), penalty=st.sampled_from([0.5, 1]))
def test_kendall_distance_is_a_metric(data, third, penalty):
    y, z = data
    x = np.random.default_rng(third).integers(-3, 4, y.shape)
    distance = partial(kendall_tau_distance, penalty=penalty, average=False)
    assert (distance(y, y) == 0).all()
    assert (distance(y, z) <= distance(y, x) + distance(x, z) + 1e-12).all()


@given(data=rankings())
def test_normalized_distances_are_shares(data):
    for metric in (kendall_tau_distance, spearman_distance):
        shares = metric(*data, normalize=True, average=False)
        assert ((shares >= 0) & (shares <= 1 + 1e-12)).all()
    y = np.arange(1.0, 8.0)[None]
    for metric in (kendall_tau_distance, spearman_distance):
        assert metric(y, -y, normalize=True) == 1


@every_choice
def test_containers(metric):
    y_true, y_pred = random_rankings()
    expected = metric(y_true, y_pred)
    assert metric(pd.DataFrame(y_true), pd.DataFrame(y_pred)) == expected
    assert metric(pd.DataFrame(y_true).astype("Int64"), y_pred) == expected
    assert metric(y_true.tolist(), y_pred.tolist()) == expected
    assert metric(np.asfortranarray(y_true), y_pred.astype(np.float32)) == expected
    y_true, y_pred = permutations()
    assert metric(y_true.astype(np.int8), y_pred.astype(np.uint16)) == metric(y_true, y_pred)


@every_choice
def test_inputs_are_not_modified(metric):
    data = random_rankings()
    before = data.copy()
    data.flags.writeable = False
    metric(*data)
    assert_array_equal(data, before)


def test_many_labels():
    """For reversed rankings the counts have a closed form and exceed 16 bits."""
    m = 1500
    y = np.arange(m)[None]
    assert kendall_tau_distance(y, -y) == m * (m - 1) / 2
    assert spearman_distance(y, -y) == m * (m**2 - 1) / 3
    assert kendall_tau_score(y, -y) == -1


def test_many_samples_in_bounded_memory():
    y_true, y_pred = np.random.default_rng(0).random((2, 10_000, 50))
    for metric in METRICS:
        tracemalloc.start()
        metric(y_true, y_pred)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 1.5 * y_true.nbytes


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(
    ("y_true", "y_pred", "options", "message"),
    [
        (
            [[1, np.inf]],
            [[1, 2]],
            {},
            r"y_true must be finite, or NaN for .* got inf at \(0, 1\)",
        ),
        (
            [[1, 2]],
            [[-np.inf, 2]],
            {},
            r"y_pred must be finite, or NaN for a label that is not ranked; got -inf at \(0, 0\)",
        ),
        (
            [1, 2],
            [[1, 2]],
            {},
            r"y_true must hold positions of shape \(n_samples, n_labels\), got \(2,\)",
        ),
        ([[1, 2]], [1, 2], {}, r"y_pred must hold positions of shape .* got \(2,\)"),
        ([[1, 2]], [[[1, 2]]], {}, r"y_pred must hold positions of shape .* got \(1, 1, 2\)"),
        (
            [[1, 2]],
            [[1, 2, 3]],
            {},
            r"y_pred must have the shape of y_true, \(1, 2\), got \(1, 3\)",
        ),
        ([[1, 2]], [[1, 2]] * 2, {}, "y_true has 1 rows and y_pred has 2"),
        ([["a", "b"]], [[1, 2]], {}, "y_true must be an array of positions.* 'a'"),
        ([[1, 2]], [[1], [1, 2]], {}, "y_pred must be an array of positions"),
        ([[1, 2]], 3, {}, "y_pred must be an array of positions"),
        ([[]], [[]], {}, "y_true must be an array of positions.* 0 feature"),
        ([[1, 2]], sparse.csr_array([[1, 2]]), {}, "y_pred must be an array of positions"),
        ([[1, 2]], [[1, 2]], {"sample_weight": [1, 2]}, r"sample_weight must .* got \(2,\)"),
        ([[1, 2]], [[1, 2]], {"sample_weight": [-1]}, "sample_weight must not be negative, got -1"),
        (
            [[1, 2]],
            [[1, 2]],
            {"sample_weight": [1], "average": False},
            "sample_weight only affects the mean",
        ),
    ],
)
def test_errors_name_the_argument(metric, y_true, y_pred, options, message):
    with pytest.raises(ValueError, match=message):
        metric(y_true, y_pred, **options)


def test_unknown_options():
    for variant in ("c", ["b"]):
        with pytest.raises(ValueError, match=r"variant must be one of \['a', 'b', .*\], got"):
            kendall_tau_score([[1, 2]], [[1, 2]], variant=variant)
    for penalty in (-0.1, 1.5, np.nan, "half"):
        with pytest.raises(ValueError, match="penalty must be a number from 0 to 1, got"):
            kendall_tau_distance([[1, 2]], [[1, 2]], penalty=penalty)
