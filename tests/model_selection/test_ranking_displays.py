"""Displays of label ranking: their numbers, and what they draw."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import Ridge

from sklrank.label_ranking import CalibratedLabelRanker, LabelwiseRanker, PlackettLuceRanker
from sklrank.model_selection import PairReliabilityDisplay, PreferenceDisplay, RankingDisplay

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
from matplotlib import pyplot as plt  # noqa: E402

RANDOM = np.random.RandomState(0)
X = RANDOM.normal(size=(80, 3))
Y = np.argsort(np.argsort(X + RANDOM.normal(size=X.shape), axis=1), axis=1) + 1.0
INCOMPLETE = np.where(RANDOM.uniform(size=Y.shape) < 0.2, np.nan, Y)
RANKER = CalibratedLabelRanker(LabelwiseRanker(Ridge()), random_state=0).fit(X, Y)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_counts_of_positions():
    predicted = RANKER.predict(X)
    expected = np.zeros((3, 3), dtype=int)
    for row, guess in zip(INCOMPLETE, predicted):
        ranked = [l for l in range(3) if not np.isnan(row[l])]
        for l in ranked:
            true = sum(row[m] < row[l] for m in ranked)
            expected[true, sum(guess[m] < guess[l] for m in ranked)] += 1
    display = RankingDisplay.from_predictions(INCOMPLETE, predicted)
    assert_array_equal(display.counts, expected)
    from_estimator = RankingDisplay.from_estimator(RANKER, X, INCOMPLETE)
    assert_array_equal(from_estimator.counts, expected)
    assert_array_equal(display.im_.get_array(), expected)
    assert [text.get_text() for text in display.text_.ravel()] == [*map(str, expected.ravel())]
    assert [label.get_text() for label in display.ax_.get_xticklabels()] == ["1", "2", "3"]
    assert display.ax_.get_ylabel() == "True position"


def test_tied_labels_share_the_first_of_their_positions():
    display = RankingDisplay.from_predictions([[1, 1, 5]], [[1, 2, 3]])
    assert_array_equal(display.counts, [[1, 1, 0], [0, 0, 0], [0, 0, 1]])


def test_reliability():
    probabilities = RANKER.predict_pair_proba(X)
    bins = {}
    for row, chances in zip(INCOMPLETE, probabilities):
        for a in range(3):
            for b in range(3):
                if row[a] < row[b] or row[a] > row[b]:
                    bins.setdefault(int(5 * chances[a, b]), []).append(
                        (chances[a, b], row[a] < row[b])
                    )
    display = PairReliabilityDisplay.from_predictions(INCOMPLETE, probabilities, n_bins=5)
    means = [np.mean(bins[b], axis=0) for b in sorted(bins)]
    assert_allclose(np.column_stack([display.prob_pred, display.prob_true]), means)
    assert len(display.y_prob) == sum(map(len, bins.values()))
    assert_allclose(display.line_.get_xydata(), means)
    named = PairReliabilityDisplay.from_estimator(RANKER, X, INCOMPLETE, n_bins=5)
    assert_allclose(named.prob_true, display.prob_true)
    assert "CalibratedLabelRanker" in [
        text.get_text() for text in named.ax_.get_legend().get_texts()
    ]
    assert named.ax_.get_ylabel() == "Share of pairs in this order"


def test_certain_probabilities_are_in_the_last_bin():
    certain = [[[0.5, 1.0], [0.0, 0.5]]]
    display = PairReliabilityDisplay.from_predictions([[1, 2]], certain, n_bins=4)
    assert display.prob_pred.tolist() == display.prob_true.tolist() == [0.0, 1.0]


def test_given_axes_and_styles():
    figure, (left, right) = plt.subplots(1, 2)
    matrix = RankingDisplay.from_predictions(Y, Y, ax=left, cmap="Greens")
    assert matrix.ax_ is left and matrix.figure_ is figure
    assert matrix.im_.get_cmap().name == "Greens"
    line = PairReliabilityDisplay.from_estimator(RANKER, X, Y, ax=right, color="r")
    assert line.ax_ is right and line.line_.get_color() == "r"


def test_bad_arguments():
    with pytest.raises(ValueError, match=r"counts must be a square matrix.*\(2, 3\)"):
        RankingDisplay(counts=np.zeros((2, 3)))
    with pytest.raises(ValueError, match="n_bins"):
        PairReliabilityDisplay.from_predictions([[1, 2]], np.full((1, 2, 2), 0.5), n_bins=0)
    with pytest.raises(ValueError, match=r"y_proba must have the shape.*\(1, 2, 2\); got \(1, 2\)"):
        PairReliabilityDisplay.from_predictions([[1, 2]], [[0.5, 0.5]])
    with pytest.raises(ValueError, match="probabilities from 0 to 1"):
        PairReliabilityDisplay.from_predictions([[1, 2]], np.full((1, 2, 2), 1.5))


# -- Preferences.

MODEL = PlackettLuceRanker(alpha=0.0).fit(X, Y)


def test_worths_have_quasi_standard_errors():
    display = PreferenceDisplay.from_estimator(MODEL, confidence_level=0.9)
    table = MODEL.summary()
    assert_allclose(display.estimates, table["estimate"])
    assert_allclose(display.upper - display.estimates, 1.6449 * table["quasi_std_error"], rtol=1e-4)
    order = np.argsort(-table["estimate"])
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert labels == [str(label) for label in order]
    [points, *_] = display.ax_.lines
    assert_allclose(points.get_xdata(), table["estimate"][order])
    low, high = display.ax_.get_ylim()
    assert low > high  # the best label is at the top
    assert display.ax_.get_xlabel() == "Log-worth"


@pytest.mark.parametrize(("kind", "name"), [("mean_rank", "Mean rank"), ("top_k", "top 2")])
def test_means_over_respondents(kind, name):
    display = PreferenceDisplay.from_estimator(MODEL, X[:9], kind=kind, k=2, random_state=0)
    table = MODEL.preferences(X[:9], kind, k=2, random_state=0)
    for column, values in zip(table, (display.estimates, display.lower, display.upper)):
        assert_allclose(values, table[column])
    assert name in display.ax_.get_xlabel()
    order = np.argsort(table["estimate"] * (1 if kind == "mean_rank" else -1))
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == list(map(str, order))


def test_preferences_need_a_model_of_them():
    with pytest.raises(ValueError, match=r"must be a PlackettLuceRanker, got LabelwiseRanker\(\)"):
        PreferenceDisplay.from_estimator(LabelwiseRanker(), X)


def test_matrix_of_wins():
    _, ax = plt.subplots()
    display = PreferenceDisplay.from_estimator(MODEL, X[:1], kind="wins", random_state=0, ax=ax)
    assert display.ax_ is ax
    pairs = MODEL.predict_pair_proba(X[:1])[0]
    assert_allclose(display.estimates, pairs)
    order = np.argsort(-pairs.mean(axis=1))
    drawn = np.ma.filled(ax.images[0].get_array(), np.nan)
    assert_allclose(drawn[0, 1:], pairs[order[0], order[1:]])
    assert len(ax.texts) == 6
    assert ax.texts[0].get_text().startswith(f"{pairs[order[0], order[1]]:.2f}\n")


def test_malformed_preferences():
    with pytest.raises(ValueError, match="kind must be one of"):
        PreferenceDisplay.from_estimator(MODEL, X, kind="best")
    with pytest.raises(ValueError, match="X must be the samples"):
        PreferenceDisplay.from_estimator(MODEL, kind="wins")
    for wrong in (([0.0], [0.0], [0.0]), (np.eye(2), np.eye(2), np.eye(3)), (0.0, 0.0, 0.0)):
        with pytest.raises(ValueError, match="must have one entry for each label"):
            PreferenceDisplay(["a", "b"], *wrong)
