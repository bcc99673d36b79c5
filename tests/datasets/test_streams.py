"""make_multilabel_ranking_stream has the properties that its docstring states."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklrank.datasets import make_multilabel_ranking_stream
from sklrank.metrics import rank_loss


def least_squares(X, scores):
    """Recover the weights `(n_labels, n_features)` and the biases from noiseless scores."""
    solution = np.linalg.lstsq(np.column_stack([X, np.ones(len(X))]), scores, rcond=None)[0]
    return solution[:-1].T, solution[-1]


def cosines(U, V):
    return (U * V).sum(axis=1) / np.linalg.norm(U, axis=1) / np.linalg.norm(V, axis=1)


@pytest.mark.parametrize("function", ["linear", "interaction"])
@pytest.mark.parametrize("drift", ["none", "abrupt", "gradual"])
def test_shapes_types_and_seed(function, drift):
    def make(seed):
        return make_multilabel_ranking_stream(
            300, 7, 5, function=function, drift=drift, random_state=seed, return_scores=True
        )

    X, Y, scores = make(0)
    assert X.shape == (300, 7) and X.dtype == np.float64
    assert Y.shape == (300, 5) and Y.dtype == np.int64
    assert scores.shape == (300, 5) and scores.dtype == np.float64
    assert set(np.unique(Y)) == {0, 1}
    for first, second in zip(make(0), (X, Y, scores)):
        assert_array_equal(first, second)
    assert not np.array_equal(make(1)[0], X)


def test_scores_only_if_requested():
    X, Y = make_multilabel_ranking_stream(10, random_state=0)
    assert X.shape == (10, 20) and Y.shape == (10, 10)


@pytest.mark.parametrize(
    "function, drift",
    [("linear", "none"), ("interaction", "none"), ("linear", "abrupt"), ("interaction", "gradual")],
)
@pytest.mark.parametrize("cardinality, noise", [(0.5, 0.5), (3.0, 0.0), (9.5, 2.0)])
def test_cardinality_of_each_concept(function, drift, cardinality, noise):
    _, Y = make_multilabel_ranking_stream(
        24_000,
        cardinality=cardinality,
        noise=noise,
        function=function,
        drift=drift,
        random_state=3,
    )
    for stretch in np.split(Y, 3):
        assert stretch.sum(axis=1).mean() == pytest.approx(cardinality, abs=0.06)
    assert np.ptp(Y.mean(axis=0)) > 0.02  # some labels are more frequent than others


@pytest.mark.parametrize("function", ["linear", "interaction"])
@pytest.mark.parametrize("drift", ["none", "abrupt", "gradual"])
def test_no_ranking_beats_the_scores(function, drift):
    _, Y, scores = make_multilabel_ranking_stream(
        5000, function=function, drift=drift, random_state=0, return_scores=True
    )
    rng = np.random.default_rng(0)
    best = rank_loss(Y, scores)
    assert best < 0.15
    assert rank_loss(Y, rng.permutation(scores)) > 2 * best
    assert rank_loss(Y, rng.standard_normal(scores.shape)) == pytest.approx(0.5, abs=0.02)
    assert rank_loss(Y, scores + 0.3 * rng.standard_normal(scores.shape)) > best


def test_without_noise_the_scores_determine_the_labels():
    _, Y, scores = make_multilabel_ranking_stream(500, noise=0, random_state=0, return_scores=True)
    assert_array_equal(Y, scores > 0)


def test_with_large_noise_the_scores_do_not_matter():
    _, Y = make_multilabel_ranking_stream(2000, cardinality=4.0, noise=1e200, random_state=0)
    assert Y.sum(axis=1).mean() == pytest.approx(4.0, abs=0.2)


def test_weights_have_unit_length():
    X, _, scores = make_multilabel_ranking_stream(200, 6, random_state=0, return_scores=True)
    weights, _ = least_squares(X, scores)
    assert_allclose(np.linalg.norm(weights, axis=1), 1)


def test_linear_models_cannot_learn_interactions():
    X, _, scores = make_multilabel_ranking_stream(
        50_000, 6, function="interaction", random_state=0, return_scores=True
    )
    weights, _ = least_squares(X, scores)
    assert_allclose(weights[:, :-1], 0, atol=0.03)


def test_abrupt_drift_rotates_the_weights_by_a_right_angle():
    X, _, scores = make_multilabel_ranking_stream(
        900, drift="abrupt", random_state=0, return_scores=True
    )
    halves = slice(0, 450), slice(450, 900)
    (U, bias), (V, bias_v) = (least_squares(X[s], scores[s]) for s in halves)
    for s, weights in zip(halves, (U, V)):
        assert_allclose(X[s] @ weights.T + bias, scores[s])  # a single concept
    assert_allclose(cosines(U, V), 0, atol=1e-9)
    assert_allclose(bias_v, bias)


def test_gradual_drift_rotates_steadily():
    n_samples, width = 40_000, 100
    X, _, scores = make_multilabel_ranking_stream(
        n_samples, 5, drift="gradual", random_state=0, return_scores=True
    )

    def weights_at(row):
        window = slice(max(row - width // 2, 0), row + width // 2)
        return least_squares(X[window], scores[window])[0]

    start, third, middle, end = map(weights_at, (0, n_samples // 3, n_samples // 2, n_samples))
    assert_allclose(cosines(start, third), np.cos(np.pi / 6), atol=0.01)
    assert_allclose(cosines(start, middle), np.cos(np.pi / 4), atol=0.01)
    assert_allclose(cosines(start, end), 0, atol=0.01)


def test_streams_are_prefixes_of_longer_streams():
    long = make_multilabel_ranking_stream(70_000, 2, 4, random_state=0)
    short = make_multilabel_ranking_stream(66_000, 2, 4, random_state=0)
    for a, b in zip(long, short):
        assert_array_equal(a[:66_000], b)


@pytest.mark.parametrize(
    "parameters, problem",
    [
        ({"n_samples": 0}, "n_samples"),
        ({"n_features": 0}, "n_features"),
        ({"n_labels": 1}, "n_labels"),
        ({"cardinality": 0}, "cardinality"),
        ({"cardinality": 10}, "cardinality"),
        ({"cardinality": np.nan}, "cardinality must be a number, got nan"),
        ({"noise": -0.1}, "noise"),
        ({"noise": np.inf}, "noise == inf, must be < inf"),
        ({"function": "cubic"}, "function must be one of .*got 'cubic'"),
        ({"drift": "sudden"}, "drift must be one of .*got 'sudden'"),
        ({"drift": "abrupt", "n_features": 1}, "n_features must be at least 2, got 1"),
    ],
)
def test_wrong_parameters(parameters, problem):
    with pytest.raises(ValueError, match=problem):
        make_multilabel_ranking_stream(**parameters)


def test_wrong_types():
    with pytest.raises(TypeError, match="n_samples"):
        make_multilabel_ranking_stream(10.5)
