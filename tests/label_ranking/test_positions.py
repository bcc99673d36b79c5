"""Conversion between orderings and positions, and its errors."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from sklrank._checks.rankings import invert_orderings
from sklrank.label_ranking import (
    PlackettLuceRanker,
    orderings_from_positions,
    positions_from_long,
    positions_from_orderings,
    positions_from_scores,
    positions_from_survey,
)


@st.composite
def incomplete_orderings(draw):
    """Draw rows that list some of the labels 0, 1, ..., and the number of labels."""
    n_labels = draw(st.integers(1, 7))
    rows = draw(
        st.lists(
            st.permutations(range(n_labels)).flatmap(
                lambda p: st.integers(0, n_labels).map(lambda n: p[:n] + [np.nan] * (n_labels - n))
            ),
            min_size=1,
            max_size=5,
        )
    )
    return np.array(rows, dtype=float), n_labels


@given(incomplete_orderings())
def test_round_trip(case):
    orderings, n_labels = case
    positions = positions_from_orderings(orderings, classes=range(n_labels))
    assert positions.dtype == np.float64
    assert_array_equal(orderings_from_positions(positions), orderings)
    again = positions_from_orderings(
        orderings_from_positions(positions), classes=np.arange(n_labels)
    )
    assert_array_equal(again, positions)


@given(incomplete_orderings())
def test_the_position_of_a_label_is_where_it_is_listed(case):
    orderings, n_labels = case
    positions = positions_from_orderings(orderings, classes=range(n_labels))
    for ordering, row in zip(orderings.tolist(), positions):
        for label in range(n_labels):
            if label in ordering:
                assert row[label] == ordering.index(label) + 1
            else:
                assert np.isnan(row[label])


@pytest.mark.parametrize("first", [0, 1, 10])
def test_labels_counted_from_anywhere(first):
    orderings = np.array([[2, 0, 1], [0, 1, 2]]) + first
    assert_array_equal(positions_from_orderings(orderings), [[2, 3, 1], [1, 2, 3]])


def test_names_and_their_order():
    orderings = [["pop", "jazz", "rock"], ["rock", "pop", None]]
    by_name = positions_from_orderings(orderings)  # jazz, pop, rock
    assert_array_equal(by_name, [[2, 1, 3], [np.nan, 2, 1]])
    classes = ["rock", "pop", "jazz"]
    positions = positions_from_orderings(orderings, classes=classes)
    assert_array_equal(positions, by_name[:, [2, 1, 0]])
    assert orderings_from_positions(positions, classes=classes).tolist() == orderings


def test_nan_among_names_is_missing():
    positions = positions_from_orderings([["b", np.nan], ["a", "b"]])
    assert_array_equal(positions, [[np.nan, 1], [1, 2]])


def test_missing_labels_of_data_frames():
    for dtype, labels in (("Int64", [4, 2]), ("string", ["b", "a"]), (object, ["b", "a"])):
        frame = pd.DataFrame([labels, [labels[1], pd.NA]], dtype=dtype)
        assert_array_equal(positions_from_orderings(frame), [[2, 1], [1, np.nan]])


@pytest.mark.parametrize("kind", ["M8[D]", "M8[ns]", "m8[s]"])
def test_dates_and_times(kind):
    first, second, third = days = np.array([5, 7, 90], dtype=kind)
    orderings = np.array([[third, first], [second, np.array("NaT", dtype=kind)]])
    positions = positions_from_orderings(orderings, classes=days)
    assert_array_equal(positions, [[2, np.nan, 1], [np.nan, 1, np.nan]])
    back = orderings_from_positions(positions, classes=days)
    assert_array_equal(back[:, :2], orderings)
    assert np.isnat(back[:, 2]).all()
    assert_array_equal(positions_from_orderings(orderings[:1]), [[2, 1]])


def test_orderings_of_numbers_are_not_converted_to_lists():
    """That would take half of the time."""

    class Listless(np.ndarray):
        def tolist(self):
            raise AssertionError("a list of all labels")

    orderings = np.argsort(np.random.RandomState(0).random_sample((50, 6)), axis=1)
    expected = np.argsort(orderings, axis=1) + 1
    assert_array_equal(invert_orderings(orderings.view(Listless), np.arange(6)), expected)


def test_integers_that_floats_cannot_represent():
    """The end of a row is filled with None, since NaN would convert the labels to floats."""
    classes = np.array([2**53 + 1, 2**53, 0])
    orderings = orderings_from_positions([[1, 2, np.nan]], classes=classes)
    assert orderings.tolist() == [[2**53 + 1, 2**53, None]]
    positions = positions_from_orderings(orderings, classes=classes)
    assert_array_equal(positions, [[1, 2, np.nan]])


def test_labels_of_another_type_than_classes():
    dates = np.array(["2020", "2021"], dtype="M8[D]")
    for listed in ([["2020-01-01", "2021-01-01"]], [[pd.Timestamp("2020"), pd.Timestamp("2021")]]):
        with pytest.raises(ValueError, match="cannot be compared with the classes"):
            positions_from_orderings(listed, classes=dates)


def test_best_labels_only():
    positions = positions_from_orderings([[4, 1], [0, 4]], classes=range(5))
    assert_array_equal(positions, [[np.nan, 2, np.nan, np.nan, 1], [1, np.nan, np.nan, np.nan, 2]])


def test_nothing_ranked():
    nothing = [[np.nan, np.nan]]
    assert np.isnan(positions_from_orderings(nothing, classes=["a", "b", "c"])).all()
    assert orderings_from_positions(nothing, classes=["a", "b"]).tolist() == [[None, None]]


def test_types():
    assert orderings_from_positions([[2, 1]]).dtype.kind == "i"
    assert orderings_from_positions([[2, 1]], classes=["a", "b"]).dtype.kind == "U"
    assert orderings_from_positions([[2, np.nan]]).dtype == np.float64
    assert orderings_from_positions([[np.nan, 1]], classes=["a", "b"]).tolist() == [["b", None]]


def test_only_the_order_of_positions_counts():
    assert_array_equal(orderings_from_positions([[0.5, -3, 100]]), [[1, 0, 2]])


def test_ties():
    positions = [[1, 2, 3], [2, 1, 1]]
    with pytest.raises(ValueError, match="positions has ties, first in row 1: .*ties='first'"):
        orderings_from_positions(positions)
    assert_array_equal(orderings_from_positions(positions, ties="first"), [[0, 1, 2], [1, 2, 0]])


@pytest.mark.parametrize(
    "orderings, classes, problem",
    [
        ([[0, 1, 1], [0, 1, 2]], None, "orderings lists a label twice in row 0"),
        ([[0, 1], [0, 0]], None, "orderings lists a label twice in row 1"),
        ([[0, 1], [0, 3]], [0, 1, 2], "orderings lists 3.* in row 1, which is not in classes"),
        ([[0, np.nan, 1]], [0, 1], "orderings must list the ranked labels first: row 0"),
        ([[0, 1, np.nan]], None, "orderings has 3 places but only 2 different.*classes"),
        ([0, 1], None, "orderings must have the shape"),
        ([], None, "orderings must have the shape"),
        (
            [[0, 1], [1, 0], [0]],
            None,
            "orderings must have the same number of places in each row.* end of shorter rows",
        ),
        ([[0, 1], 1], None, "same number of places in each row"),
        ([[[0]], [[0, 1]]], None, "one label at each"),
        ([[{"a"}, object()]], None, "orderings must list labels that have an order"),
        ([[0, 1]], [0, 0], "classes must name .* each once"),
        ([[0, 1]], [0, None], "classes must name labels .* without NaN or None"),
        ([[0, 1]], [0, 1, np.nan], "classes must name labels .* without NaN or None"),
        ([["a", "b"]], ["a", "b", np.nan], "classes must name labels .* without NaN or None"),
        ([[0, 1]], 2, "classes must name labels in a list or an array, .* got 2"),
        ([[0, 1]], np.array([0, "a"], dtype=object), "classes must be names that have an order"),
    ],
)
def test_wrong_orderings(orderings, classes, problem):
    with pytest.raises(ValueError, match=problem):
        positions_from_orderings(orderings, classes=classes)


@pytest.mark.parametrize(
    "parameters, problem",
    [
        ({"positions": [1, 2]}, "positions must hold positions of shape"),
        ({"positions": [[1, np.inf]]}, "positions must be finite"),
        ({"positions": [[1, 2]], "classes": ["a"]}, "classes must name the 2 columns.* got 1"),
        ({"positions": [[1, 2]], "classes": ["a", "a"]}, "classes must name .* each once"),
        ({"positions": [[1, 2]], "ties": "random"}, "ties must be .*got 'random'"),
    ],
)
def test_wrong_positions(parameters, problem):
    with pytest.raises(ValueError, match=problem):
        orderings_from_positions(**parameters)


def test_positions_from_scores():
    """One plus the number of labels with a larger score."""
    scores = np.random.RandomState(0).randint(4, size=(50, 5)) / 3.0
    scores[::7, 1] = np.nan
    expected = [
        [np.nan if np.isnan(s) else 1 + sum(other > s for other in row) for s in row]
        for row in scores
    ]
    assert_array_equal(positions_from_scores(scores), expected)
    for bad, message in ([0.1, 0.2], "scores must hold"), ([[np.inf]], "scores must be finite"):
        with pytest.raises(ValueError, match=message):
            positions_from_scores(bad)


# -- Tables of answers.

ANSWERS = [[1.0, 99.0, 2.0], [2.0, 1.0, 0.0], [1.0, 1.0, 2.0]]
CODED = [[1.0, np.nan, 2.0], [2.0, 1.0, np.nan], [1.0, 1.0, 2.0]]


def test_codes_of_missing_answers_are_replaced():
    for codes in ([0, 99], {0, 99}, {0: "none", 99: "unknown"}.keys(), ["0", "99"]):
        assert_array_equal(positions_from_survey(ANSWERS, missing_values=codes), CODED)
    with pytest.raises(ValueError, match="missing_values must be numbers"):
        positions_from_survey(ANSWERS, missing_values=["unknown"])
    frame = pd.DataFrame(ANSWERS, index=[5, 6, 7], columns=list("abc")).astype(int)
    found = positions_from_survey(frame, missing_values=[0, 99])
    pd.testing.assert_frame_equal(found, pd.DataFrame(CODED, frame.index, frame.columns))
    with_none = [[1, None, 2], [2, 1, 0], [1, 1, 2]]
    assert_array_equal(positions_from_survey(with_none, missing_values=0), CODED)


def test_labels_that_are_not_listed_are_tied_last():
    options = {"missing_values": [0, 99], "unlisted": "last"}
    last = [[1.0, 3.0, 2.0], [2.0, 1.0, 3.0], [1.0, 1.0, 2.0]]
    assert_array_equal(positions_from_survey(ANSWERS, **options), last)
    found = positions_from_survey(pd.DataFrame(ANSWERS), **options)
    pd.testing.assert_frame_equal(found, pd.DataFrame(last))
    with pytest.raises(ValueError, match="unlisted must be 'missing' or 'last', got 'first'"):
        positions_from_survey(ANSWERS, unlisted="first")


@pytest.mark.parametrize("position", [99.0, 0.0, -1.0, 1.5])
def test_unlikely_positions_are_refused(position):
    answers = [[2.0, 1.0, 3.0], [1.0, position, 2.0]]
    bad = rf"position {position:g} of the label %s in row %s, .*labels, 3: pass missing"
    with pytest.raises(ValueError, match=bad % (1, 1)):
        positions_from_survey(answers)
    frame = pd.DataFrame(answers, index=["ann", "bob"], columns=list("abc"))
    with pytest.raises(ValueError, match=bad % ("'b'", "'bob'")):
        positions_from_survey(frame)


ORDERINGS = [[3.0, 1.0, np.nan, np.nan], [2.0, 4.0, 1.0, np.nan], [1.0, 2.0, 3.0, 4.0]]


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        (ORDERINGS, True),
        (ORDERINGS[2:], False),  # either
        ([[2.0, 1.0, np.nan], [1.0, 2.0, 3.0]], False),  # either
        ([*ORDERINGS, [1.0, np.nan, 2.0, np.nan]], False),  # no label is at place 2
        ([*ORDERINGS, [1.0, 1.0, 2.0, 3.0]], False),  # orderings list no label twice
        ([[np.nan] * 4, *ORDERINGS[2:]], False),
    ],
)
@pytest.mark.filterwarnings("error")
def test_orderings_are_told_from_positions(answers, expected):
    if expected:
        with pytest.warns(UserWarning, match="may hold orderings"):
            positions_from_survey(answers)
    else:
        assert_array_equal(positions_from_survey(answers), answers)


def test_a_code_that_is_learned_is_said():
    X, Y = np.arange(4.0)[:, np.newaxis], [[1, 2, 99], [2, 1, 99], [1, 2, 3], [3, 1, 2]]
    with pytest.warns(UserWarning, match="position 99 above the number of labels, 3"):
        PlackettLuceRanker(alpha=1.0).fit(X, Y)
    # Positions among more labels, and other numbers whose order counts, are valid.
    for valid in (np.array(Y).clip(max=6), np.multiply(Y, 10)[2:]):
        PlackettLuceRanker(alpha=1.0).fit(X[: len(valid)], valid)


LONG = pd.DataFrame(
    [(7, "tea", 1), (7, "milk", 2), (9, "milk", 1), (8, "juice", 1), (8, "tea", np.nan)],
    columns=["person", "drink", "rank"],
)


def test_a_row_for_each_answer():
    columns = LONG["person"], LONG["drink"], LONG["rank"]
    found = positions_from_long(*columns)
    expected = LONG.pivot(index="person", columns="drink", values="rank")
    pd.testing.assert_frame_equal(found, expected, check_names=False, check_column_type=False)
    last = positions_from_long(*columns, unlisted="last")
    assert_array_equal(last, [[3, 2, 1], [1, 2, np.nan], [2, 1, 2]])
    named = positions_from_long(*columns, classes=["tea", "juice", "water", "milk"])
    assert_array_equal(named[["juice", "milk", "tea"]], found)
    assert named["water"].isna().all()


def test_orderings_whose_ties_were_split():
    with pytest.raises(ValueError, match="the label '3}', a part of a tie .*load_preflib"):
        positions_from_orderings([["1", "{2", "3}"], ["3", "2", "1"]])
    found = positions_from_orderings([["{1, 2}", "a"]])  # the name of a set
    assert_array_equal(found, [[2, 1]])


def test_a_row_for_each_answer_in_a_sparse_matrix():
    """An answer of 0 is stored, and NaN is not."""
    columns = LONG["person"], LONG["drink"], LONG["rank"] - 1
    found = positions_from_long(*columns, sparse=True)
    dense = positions_from_long(*columns)
    stored = np.full(dense.shape, np.nan)
    entries = found.positions.tocoo()
    stored[entries.row, entries.col] = entries.data
    assert_array_equal(stored, dense)
    assert (found["index"].tolist(), found.columns.tolist()) == (
        dense.index.tolist(),
        dense.columns.tolist(),
    )
    with pytest.raises(ValueError, match="use unlisted='missing'"):
        positions_from_long(*columns, sparse=True, unlisted="last")


@pytest.mark.skipif(sklearn.__version__ < "1.9", reason="scikit-learn looks pandas up itself")
def test_a_row_for_each_answer_without_pandas(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    found = positions_from_long([1, 0], ["b", "a"], [1, 1])
    assert_array_equal(found.positions, [[1, np.nan], [np.nan, 1]])
    assert (found["index"].tolist(), found.columns.tolist()) == ([0, 1], ["a", "b"])


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([1, 1], ["a", "a"], [1, 2]), {}, "respondent 1 ranks 'a' twice, in row 1, at 2"),
        ((["u", np.nan], ["a", "b"], [1, 2]), {}, "respondents must be .* without NaN or None"),
        (([1, 2], ["a", np.nan], [1, 2]), {}, "options must be .* without NaN or None"),
        (([7], ["b"], [1]), {"classes": ["a"]}, "classes, got 'b' of the respondent 7: add it"),
        (([1, 7], ["a", "b"], [1, np.inf]), {}, "respondent 7 ranks 'b' at inf"),
        (([1, 7], ["a", "b"], [1, "x"]), {}, "ranks must be numbers"),
        (([1, 7], ["a", "b"], [[1], [2]]), {}, "ranks must be a column .*shape .2, 1."),
        (([1, np.nan], ["a", "b"], [1, 2]), {}, "respondents must be a column"),
        (([1, 1], ["a", None], [1, 2]), {}, "options must be a column"),
        (
            (np.array([1, "x"], dtype=object), ["a", "b"], [1, 2]),
            {},
            "respondents must be a column",
        ),
        (([], [], []), {}, "respondents must be a column"),
        (([1], ["a", "b"], [1, 2]), {}, "inconsistent"),
        (([1], ["a"], [1]), {"unlisted": "first"}, "unlisted must be"),
    ],
)
def test_malformed_answers(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        positions_from_long(*arguments, **options)
