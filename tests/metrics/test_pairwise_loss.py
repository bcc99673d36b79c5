"""Rank losses: comparison with a double loop over pairs, and properties."""

import itertools
import math
import sys
import tracemalloc
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.metrics import label_ranking_loss

from sklrank.metrics import (
    _averaging,
    _pairwise_loss,
    hinge_rank_loss,
    logistic_rank_loss,
    rank_loss,
)

LOSSES = [rank_loss, hinge_rank_loss, logistic_rank_loss]


def rank_cost(good, bad, tie=0.5):
    return 1.0 if good < bad else tie if good == bad else 0.0


def hinge_cost(good, bad):
    return max(0.0, 1 + bad - good)


def logistic_cost(good, bad):
    return math.log1p(math.exp(bad - good))


COSTS = dict(zip(LOSSES, [rank_cost, hinge_cost, logistic_cost], strict=True))


def double_loop(cost, Y, S, normalize=True):
    """Compute the loss of each sample, pair by pair."""
    losses = []
    for relevant, scores in zip(np.asarray(Y, dtype=bool), S, strict=True):
        costs = [cost(good, bad) for good in scores[relevant] for bad in scores[~relevant]]
        losses.append(sum(costs) / (len(costs) if normalize and costs else 1))
    return np.array(losses)


def random_samples(n_samples=60, n_labels=7, seed=0, tied=True):
    """Draw samples with all numbers of relevant labels, including none and all of them."""
    rng = np.random.default_rng(seed)
    Y = (rng.random((n_samples, n_labels)) < rng.random((n_samples, 1))).astype(int)
    Y[0], Y[1] = 0, 1
    S = rng.normal(scale=2, size=(n_samples, n_labels))
    return Y, np.round(S) if tied else S


@st.composite
def rows(draw):
    shape = draw(st.tuples(st.integers(1, 5), st.integers(1, 6)))
    Y = draw(hnp.arrays(bool, shape))
    # Eighths are exact, so constants are added without rounding; few values give ties.
    S = draw(hnp.arrays(np.int64, shape, elements=st.integers(-24, 24))) / 8
    return Y, S


def test_one_weight_for_all_samples():
    Y, S = random_samples()
    assert rank_loss(Y, S, sample_weight=3.0) == pytest.approx(rank_loss(Y, S))


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("loss", LOSSES)
def test_agrees_with_the_double_loop(loss, normalize):
    Y, S = random_samples()
    expected = double_loop(COSTS[loss], Y, S, normalize)
    assert_allclose(loss(Y, S, normalize=normalize, average=False), expected, rtol=1e-12)
    assert loss(Y, S, normalize=normalize) == pytest.approx(expected.mean())
    weight = np.random.default_rng(1).random(len(Y))
    assert loss(Y, S, normalize=normalize, sample_weight=weight) == pytest.approx(
        np.average(expected, weights=weight)
    )


@pytest.mark.parametrize("normalize", [True, False])
def test_full_ties_agree_with_the_double_loop(normalize):
    Y, S = random_samples()
    expected = double_loop(lambda good, bad: rank_cost(good, bad, tie=1), Y, S, normalize)
    assert_allclose(rank_loss(Y, S, ties="full", normalize=normalize, average=False), expected)


@pytest.mark.parametrize("loss", LOSSES)
def test_result_types(loss):
    Y, S = random_samples()
    assert isinstance(loss(Y, S), float)
    per_row = loss(Y, S.astype(np.float32), average=False)
    assert per_row.shape == (len(Y),)
    assert per_row.dtype == np.float64


@pytest.mark.parametrize("loss", LOSSES)
def test_block_size_does_not_matter(loss, monkeypatch):
    Y, S = random_samples()
    whole = loss(Y, S, average=False)
    for size in (1, 10, 30):
        monkeypatch.setattr(_averaging, "_BLOCK", size)
        assert_allclose(loss(Y, S, average=False), whole, rtol=1e-14)


@pytest.mark.parametrize("ties", ["half", "full"])
def test_agrees_with_scikit_learn(ties):
    Y, S = random_samples(tied=False)
    assert rank_loss(Y, S, ties=ties) == pytest.approx(label_ranking_loss(Y, S))
    Y, S = random_samples(tied=True)
    assert rank_loss(Y, S, ties="full") == pytest.approx(label_ranking_loss(Y, S))


@given(data=rows(), loss=st.sampled_from(LOSSES), seed=st.integers(0, 99))
def test_order_of_labels_and_samples_does_not_matter(data, loss, seed):
    Y, S = data
    rng = np.random.default_rng(seed)
    columns, order = rng.permutation(Y.shape[1]), rng.permutation(Y.shape[0])
    losses = loss(Y, S, average=False)
    assert_allclose(loss(Y[:, columns], S[:, columns], average=False), losses, atol=1e-12)
    assert_allclose(loss(Y[order], S[order], average=False), losses[order], atol=1e-12)
    alone = [loss(Y[[i]], S[[i]]) for i in range(len(Y))]
    assert_allclose(alone, losses, atol=1e-12)


@given(data=rows(), loss=st.sampled_from(LOSSES), shift=st.integers(-100, 100))
def test_adding_a_constant_to_the_scores_of_a_sample_changes_nothing(data, loss, shift):
    Y, S = data
    shifts = shift * np.arange(len(Y))[:, None]
    assert_allclose(loss(Y, S + shifts), loss(Y, S), atol=1e-12)


@given(data=rows())
def test_surrogates_bound_the_rank_loss(data):
    Y, S = data
    loss = rank_loss(Y, S, ties="full", average=False)
    assert (hinge_rank_loss(Y, S, average=False) >= loss - 1e-12).all()
    assert (logistic_rank_loss(Y, S, average=False) >= np.log(2) * loss - 1e-12).all()
    # Negated scores reverse each pair; if ties count 1/2, the two losses sum to one.
    pairs = (Y.any(axis=1) & ~Y.all(axis=1)).astype(float)
    both = rank_loss(Y, S, average=False) + rank_loss(Y, -S, average=False)
    assert_allclose(both, pairs, atol=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
def test_containers_of_the_target(loss):
    Y, S = random_samples()
    expected = loss(Y, S)
    for container in (
        sparse.csr_matrix,
        sparse.csc_array,
        sparse.coo_array,
        sparse.lil_matrix,
        pd.DataFrame,
        np.ndarray.tolist,
        lambda Y: Y.astype(bool),
        lambda Y: Y.astype(float),
    ):
        assert loss(container(Y), S) == expected
    assert loss(Y, pd.DataFrame(S)) == expected
    assert loss(Y, S.tolist()) == expected


@pytest.mark.parametrize("loss", LOSSES)
def test_inputs_are_not_modified(loss):
    Y, S = random_samples()
    Y_before, S_before = Y.copy(), S.copy()
    Y.flags.writeable = S.flags.writeable = False
    loss(Y, S)
    assert_array_equal(Y, Y_before)
    assert_array_equal(S, S_before)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("classes", [[0, 1, 2], ["ant", "bee", "cow"], [1.5, -3.0, 7.0]])
def test_class_labels_are_one_relevant_label(loss, classes):
    rng = np.random.default_rng(0)
    codes, S = rng.integers(3, size=20), rng.normal(size=(20, 3))
    y = np.array(classes)[codes]
    expected = loss(np.eye(3)[codes], S)
    assert loss(y, S, labels=classes) == expected
    assert loss(pd.Series(y), S, labels=classes) == expected
    order = np.argsort(classes)
    assert loss(y.tolist(), S[:, order]) == expected


@pytest.mark.parametrize("loss", LOSSES)
def test_samples_without_some_class(loss):
    S = np.array([[1.0, 0.0, 2.0], [0.0, 0.5, 3.0]])
    assert loss(["a", "c"], S, labels=["a", "b", "c"]) == loss([[1, 0, 0], [0, 0, 1]], S)


@pytest.mark.parametrize("loss", LOSSES)
def test_binary_scores_of_the_second_class(loss):
    y, s = np.array(["no", "yes", "yes"]), np.array([0.5, 0.5, -2.0])
    assert loss(y, s) == loss(y, np.column_stack([np.zeros(3), s]))
    assert loss(y[1:], s[1:], labels=["no", "yes"]) == pytest.approx(
        np.mean([COSTS[loss](0.5, 0), COSTS[loss](-2.0, 0)])
    )


def test_one_label_has_no_pairs():
    for loss in LOSSES:
        assert loss([[1], [0]], [[0.3], [0.4]]) == 0


def test_large_scores_stay_finite_and_exact():
    Y, S = [[1, 0, 0]], np.array([[-1e6, 1e6, -1e6]])
    assert logistic_rank_loss(Y, S, normalize=False) == pytest.approx(2e6 + np.log(2))
    assert logistic_rank_loss(Y, -S) == pytest.approx(np.log(2) / 2)
    # Distant scores do not affect a small difference: 1 + 0 - 0.75, and 0 from the score -1e15.
    assert hinge_rank_loss([[1, 0, 0]], [[0.75, 0.0, -1e15]], normalize=False) == 0.25


@pytest.mark.parametrize("scale", [1e-12, 0.1, 2, 50, 1e4, 1e15])
@pytest.mark.parametrize("gap", [-1e6, -800, -50, 0, 50, 800])
def test_logistic_loss_of_many_labels(scale, gap):
    """The sum over all pairs, of which the first row is rounded, so that scores are equal."""
    rng = np.random.default_rng(0)
    Y = rng.random((2, 600)) < 0.5
    S = rng.normal(scale=scale, size=Y.shape) + gap * Y
    S[0] = np.round(S[0])
    for y, s, loss in zip(Y, S, logistic_rank_loss(Y, S, average=False)):
        costs = np.logaddexp(0, s[~y][:, np.newaxis] - s[y])
        assert_allclose(loss, costs.mean(), rtol=1e-12, atol=1e-320)


def test_many_samples_in_bounded_memory():
    rng = np.random.default_rng(0)
    S, Y = rng.random((20_000, 20)), rng.random((20_000, 20)) < 0.5
    for loss in LOSSES:
        tracemalloc.start()
        loss(Y, S)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 2 * S.nbytes


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(
    ("y_true", "y_score", "options", "message"),
    [
        ([[1, 0]], [[np.nan, 0.0]], {}, r"y_score must be finite, got nan at \(0, 0\)"),
        ([[1, 0]], [[0.0, np.inf]], {}, r"y_score must be finite, got inf at \(0, 1\)"),
        ([[1, 0]], [[[0.0, 1.0]]], {}, r"y_score must hold scores of shape .*got \(1, 1, 2\)"),
        ([[1, 0]], [[0.0, 1.0, 2.0]], {}, r"y_score must have the shape .*\(1, 2\), got \(1, 3\)"),
        ([[1, 0]], [0.5], {}, r"y_score must have the shape"),
        ([[1, 0]], [[0.0, 1.0]] * 2, {}, "y_true has 1 rows and y_score has 2"),
        ([[1, 2]], [[0.0, 1.0]], {}, "y_true must hold 0 or 1 if it is 2-d, got 2"),
        ([["a", "b"]], [[0.0, 1.0]], {}, "y_true must hold 0 or 1 if it is 2-d, got a"),
        (sparse.csr_array([[3, 0]]), [[0.0, 1.0]], {}, "y_true must hold 0 or 1"),
        ([[[1, 0]]], [[0.0, 1.0]], {}, r"y_true must be .* got shape \(1, 1, 2\)"),
        (
            [0, 2],
            np.eye(3)[:2],
            {},
            r"labels must name .* 3 columns .* of y_true, \[0, 2\]",
        ),
        ([0, 1], [0.1, 0.2], {"labels": [0, 1, 2]}, r"labels must name .* 2 columns .* got \[0, 1"),
        ([0, 1], np.eye(2), {"labels": [1, 1]}, r"labels must be distinct, got \[1, 1\]"),
        (["a", "d"], np.eye(2), {"labels": ["a", "b"]}, "labels must hold every class .*'d'"),
        ([0, 1], np.eye(2), {"labels": ["a", "b"]}, "labels must hold every class"),
        ([[1, 0]], [[0.0, 1.0]], {"sample_weight": [1, 2]}, r"sample_weight .* got \(2,\)"),
        ([[1, 0]], [[0.0, 1.0]], {"sample_weight": [0]}, "sample_weight is all zeros"),
        ([[1, 0]], [[0.0, 1.0]], {"sample_weight": [-1]}, "sample_weight must not be negative"),
        ([[1, 0]], [[0.0, 1.0]], {"sample_weight": [1e151]}, "sample_weight must be 1e[+]150 or"),
        (
            [[1, 0]],
            [[0.0, 1.0]],
            {"sample_weight": [1], "average": False},
            "sample_weight only affects the mean",
        ),
    ],
)
def test_errors_name_the_argument(loss, y_true, y_score, options, message):
    with pytest.raises(ValueError, match=message):
        loss(y_true, y_score, **options)


@pytest.mark.parametrize("ties", ["none", ["half"]])
def test_unknown_ties(ties):
    with pytest.raises(ValueError, match=r"ties must be one of \['full', 'half'\], got "):
        rank_loss([[1, 0]], [[0.0, 1.0]], ties=ties)


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("many_costs", [0, _pairwise_loss._MANY_COSTS])
@pytest.mark.parametrize("loss", LOSSES)
def test_scores_near_the_largest_float(loss, normalize, many_costs, monkeypatch):
    """The costs are exact fractions; a loss above the largest float is infinite."""
    monkeypatch.setattr(_pairwise_loss, "_MANY_COSTS", many_costs)
    scores = [1e308, -1e308, 1.7e308, 3.0, -2.5, 0.0]
    for Y in itertools.product([0, 1], repeat=len(scores)):
        good = [Fraction(s) for s, relevant in zip(scores, Y) if relevant]
        bad = [Fraction(s) for s, relevant in zip(scores, Y) if not relevant]
        if loss is logistic_rank_loss:
            costs = [exact_logistic(b - g) for g in good for b in bad]
        else:
            costs = [Fraction(COSTS[loss](g, b)) for g in good for b in bad]
        expected = sum(costs) / (max(len(costs), 1) if normalize else 1)
        expected = np.inf if expected > Fraction(sys.float_info.max) else float(expected)
        assert_allclose(loss([Y], [scores], normalize=normalize), expected, rtol=1e-12)


def exact_logistic(difference):
    return max(difference, 0) + Fraction(math.log1p(math.exp(-min(abs(difference), 800))))


@pytest.mark.parametrize("loss", [hinge_rank_loss, logistic_rank_loss])
def test_means_near_the_largest_float(loss):
    """The sum over samples overflows, and the mean does not."""
    Y, S = [[0, 1]] * 3, [[0.8e308, -0.8e308]] * 3
    assert_allclose(loss(Y, S), 1.6e308)
    assert_allclose(loss(Y, S, sample_weight=[1e150, 1e150, 1e-300]), 1.6e308)
    assert_allclose(loss(Y, S, sample_weight=[5e-324, 5e-324, 0]), 1.6e308)


def test_tiny_scores_keep_their_order():
    assert rank_loss([[1, 0, 0]], [[5e-324, 0.0, -5e-324]]) == 0.0
