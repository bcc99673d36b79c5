"""label_ranking_report and pair_brier_score: against loops over samples and labels."""

import numpy as np
import pandas as pd
import pytest

from sklrank.metrics import kendall_tau_score, label_ranking_report, pair_brier_score

RANDOM = np.random.RandomState(0)
TRUE = RANDOM.rand(40, 5).argsort(axis=1) + 1.0
PRED = np.where(RANDOM.rand(40, 1) < 0.5, TRUE, RANDOM.rand(40, 5).argsort(axis=1) + 1.0)
HOLES = np.where(RANDOM.rand(40, 5) < 0.3, np.nan, TRUE)
TIED = np.ceil(TRUE / 2)


def rank(positions, label, ranked):
    return 1 + sum(positions[m] < positions[label] for m in ranked)


@pytest.mark.parametrize("true", [TRUE, HOLES, TIED], ids=["complete", "holes", "tied"])
def test_measures(true):
    report = label_ranking_report(true, PRED, output_dict=True)
    first, three, some = [], [], []
    errors = {label: [] for label in range(5)}
    for t, p in zip(true, PRED):
        ranked = [l for l in range(5) if not np.isnan(t[l])]
        some.append(bool(ranked))
        if not ranked:
            continue
        ranks = {l: (rank(t, l, ranked), rank(p, l, ranked)) for l in ranked}
        first.append(np.mean([r == 1 for r, guess in ranks.values() if guess == 1]))
        three.append(np.mean([r <= 3 for r, guess in ranks.values() if guess <= 3]))
        for l, (r, guess) in ranks.items():
            pairs = [np.sign((t[l] - t[m]) * (p[l] - p[m])) for m in ranked if m != l]
            errors[l].append((r, guess, abs(r - guess), pairs))
    assert report["top-1"] == pytest.approx(np.mean(first))
    assert report["top-3 overlap"] == pytest.approx(np.mean(three))
    assert report["tau"] == pytest.approx(kendall_tau_score(true[some], PRED[some]))
    for label, measures in report["labels"].items():
        rows = errors[label]
        assert measures["samples"] == len(rows)
        for name, column in (("true", 0), ("predicted", 1), ("error", 2)):
            assert measures[name] == pytest.approx(np.mean([row[column] for row in rows]))
        assert measures["tau"] == pytest.approx(np.mean(np.concatenate([row[3] for row in rows])))


def test_text():
    names = ["tea", "coffee", "milk", "water", "juice"]
    text = label_ranking_report(TRUE, PRED, labels=names, digits=4)
    lines = text.splitlines()
    report = label_ranking_report(TRUE, PRED, labels=names, output_dict=True)
    assert lines[1].split() == ["tau", f"{report['tau']:.4f}"]
    assert lines[5].split() == ["true", "predicted", "error", "tau", "samples"]
    for line, name in zip(lines[6:], names):
        measures = report["labels"][name]
        assert line.split()[0] == name
        assert float(line.split()[3]) == pytest.approx(measures["error"], abs=1e-4)
        assert int(line.split()[-1]) == 40
    frame = pd.DataFrame(TRUE, columns=names)
    assert label_ranking_report(frame, PRED, digits=4) == text


def test_labels_that_no_sample_ranks():
    never = np.where(np.arange(5) == 2, np.nan, TRUE)
    report = label_ranking_report(never, PRED, output_dict=True)
    assert report["labels"][2]["samples"] == 0 and np.isnan(report["labels"][2]["error"])
    assert "nan" in label_ranking_report(never, PRED)
    nothing = label_ranking_report(np.full((2, 2), np.nan), [[1, 2]] * 2, output_dict=True)
    assert np.isnan(nothing["tau"]) and nothing["samples"] == 2


@pytest.mark.parametrize("labels", [["a", "b"], list("abcda"), "abcde", [["a"]] * 5])
def test_labels_that_do_not_name_each_column(labels):
    with pytest.raises(ValueError, match="labels must name the 5 columns of y_true, each by"):
        label_ranking_report(TRUE, PRED, labels=labels)


@pytest.mark.parametrize("y_true", [3, [1, 2, 3], "ab"])
def test_rankings_of_a_wrong_shape(y_true):
    with pytest.raises(ValueError, match="y_true must"):
        label_ranking_report(y_true, PRED)


@pytest.mark.parametrize("true", [TRUE, HOLES, TIED], ids=["complete", "holes", "tied"])
def test_brier_score(true):
    chances = RANDOM.rand(40, 5, 5)
    upper = np.triu(chances, 1)
    chances = upper + np.tril(1 - upper.transpose(0, 2, 1), -1) + 0.5 * np.eye(5)
    expected = []
    for row, p in zip(true, chances):
        squares = [
            (p[a, b] - (row[a] < row[b])) ** 2
            for a in range(5)
            for b in range(5)
            if row[a] < row[b] or row[a] > row[b]
        ]
        expected.append(np.mean(squares) if squares else 0.0)
    assert pair_brier_score(true, chances, average=False) == pytest.approx(expected)
    weight = RANDOM.rand(40)
    found = pair_brier_score(true, chances, sample_weight=weight)
    assert found == pytest.approx(np.average(expected, weights=weight))
    assert pair_brier_score(TRUE, np.full((40, 5, 5), 0.5)) == pytest.approx(0.25)


def test_brier_score_of_bad_probabilities():
    with pytest.raises(ValueError, match=r"y_proba must have the shape.*\(40, 5, 5\)"):
        pair_brier_score(TRUE, np.full((40, 5), 0.5))
    with pytest.raises(ValueError, match="from 0 to 1"):
        pair_brier_score(TRUE, np.full((40, 5, 5), np.nan))


def test_brier_score_of_probabilities_that_do_not_add_up():
    chances = np.array([[[0.5, 0.8, 0.3], [0.2, 0.5, 0.9], [0.9, 0.1, 0.5]]])
    message = "must be one minus.* the sum is 1.2 for the sample 0 and the labels 2 and 0"
    with pytest.raises(ValueError, match=message):
        pair_brier_score([[2, 3, 1]], chances)
    # Pairs that are not ordered are not used.
    for ranking in ([1, 2, 1], [1, 2, np.nan]):
        assert 0 <= pair_brier_score([ranking], chances) <= 1
    for dtype, error in ((np.float32, 1e-7), (np.float16, 1e-3)):
        rounded = chances.astype(dtype)
        assert pair_brier_score([[1, 2, np.nan]], rounded) == pytest.approx(0.04, abs=error)
