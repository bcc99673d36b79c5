"""Records of the labels shown, and checks of them."""

import pickle
import sqlite3
import tracemalloc
from contextlib import suppress
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.utils import _safe_indexing, indexable

from sklrank.feedback import Exploration, explore
from sklrank.feedback._protocol import check_exploration, check_rewards

SHOWN = explore(np.random.RandomState(0).normal(size=(6, 5)), 3, exploration=0.5, random_state=0)


def assert_same(a, b):
    assert_array_equal(a.actions, b.actions)
    assert_array_equal(a.propensities, b.propensities)


@pytest.mark.parametrize(
    "rows", [slice(1, 4), slice(None, None, -2), [4, 0, 4], np.arange(6) % 3 == 0, 2, np.int64(-1)]
)
def test_records_are_indexed_like_arrays(rows):
    positions = np.arange(6)[rows].ravel()
    assert_same(SHOWN[rows], Exploration(SHOWN.actions[positions], SHOWN.propensities[positions]))
    assert SHOWN[[]].actions.shape == (0, 3)


def test_pickles():
    assert_same(pickle.loads(pickle.dumps(SHOWN)), SHOWN)


def test_records_of_single_labels():
    """The arrays have one dimension, or the dimensions of k = 1: both are read."""
    flat = Exploration([3, 0, 1], [0.5, 0.25, 1.0])
    deep = Exploration([[3], [0], [1]], [[[0.5]], [[0.25]], [[1.0]]])
    for record in (flat, deep):
        assert_same(Exploration.from_frame(record.to_frame()), flat)
        for single, expected in ((False, deep), (True, flat)):
            actions, propensities = check_exploration(record, 3, 4, single=single)
            assert_array_equal(actions, expected.actions)
            assert_array_equal(propensities, expected.propensities)
    for shape in ((3,), (3, 1)):
        for given in ([1, 0, 1], [[1], [0], [1]]):
            assert_array_equal(check_rewards(given, shape), np.reshape([1, 0, 1], shape))
    with pytest.raises(ValueError, match="rewards must have the shape"):
        check_rewards([1, 0], (3, 1))


def test_data_frames_of_logs():
    """Written and read with names, rewards and other columns, from frames and mappings."""
    names = np.array(list("edcba"))
    rewards = np.random.RandomState(1).randint(2, size=(6, 3))
    frame = SHOWN.to_frame(rewards=rewards, classes=names)
    frame["user"] = range(6)
    assert_same(Exploration.from_frame(frame, classes=names), SHOWN)
    assert_same(Exploration.from_frame(frame.to_dict("series"), classes=names), SHOWN)
    assert_same(Exploration.from_frame(SHOWN.to_frame()), SHOWN)
    # Databases and files may have integers as other types.
    for kind in (object, float):
        actions = {f"action_{i}": kind for i in range(3)}
        assert_same(Exploration.from_frame(SHOWN.to_frame().astype(actions)), SHOWN)
    assert_array_equal(frame[[f"reward_{i}" for i in range(3)]], rewards)
    assert frame["action_0"].tolist() == [names[label] for label in SHOWN.actions[:, 0]]
    assert frame["propensity_0_2"].tolist() == SHOWN.propensities[:, 0, 2].tolist()
    # One row per sample, in the order of the record.
    assert_same(Exploration.from_frame(frame.iloc[[4, 1]], classes=names), SHOWN[[4, 1]])


@pytest.mark.parametrize("k", [1, 3])
def test_logs_of_other_libraries_databases_and_files(k, tmp_path):
    """A log with a missing reward and other columns is read to the bit, from tables and rows."""
    scores = np.random.RandomState(0).normal(size=(5, 4))
    shown = explore(scores, k, exploration=0.3, random_state=0)
    names, rewards = np.array(["a", "b", "c", "d"]), np.arange(5.0 * k).reshape(5, k)
    rewards[2, 0] = np.nan
    frame = shown.to_frame(rewards, classes=names).assign(visitor=range(100, 105), version="v1")
    connection = sqlite3.connect(":memory:")
    connection.row_factory = sqlite3.Row
    frame.to_sql("log", connection, index=False)
    rows = connection.execute("SELECT * FROM log ORDER BY visitor").fetchall()
    connection.close()
    tables, files = [frame, frame.to_dict("list")], [rows, [dict(row) for row in rows]]
    with suppress(ImportError):
        from pyarrow import Table, parquet

        tables.append(Table.from_pandas(frame))
        parquet.write_table(tables[-1], tmp_path / "log.parquet")
        tables += [parquet.read_table(tmp_path / "log.parquet"), pd.read_parquet(tmp_path)]
    with suppress(ImportError):
        import polars

        tables.append(polars.from_pandas(frame))
    for log in tables + files:
        record = Exploration.from_frame(log, classes=names)
        assert_array_equal(record.actions.reshape(5, k), shown.actions)
        assert_array_equal(record.propensities.ravel(), shown.propensities.ravel())
    for log in tables:
        found = np.column_stack([np.asarray(log[f"reward_{i}"], dtype=float) for i in range(k)])
        assert_array_equal(found, rewards)
        assert np.asarray(log["visitor"]).tolist() == list(range(100, 105))
        assert set(np.asarray(log["version"])) == {"v1"}
    clicks = np.array([row["reward_0"] for row in rows], dtype=float)
    assert_array_equal(clicks, rewards[:, 0])
    with pytest.raises(ValueError, match="action_0"):
        Exploration.from_frame([])


def test_tools_of_scikit_learn_divide_records():
    shown = Exploration(np.arange(12).reshape(6, 2), np.full((6, 2, 2), 0.5))
    assert shown.shape == (6, 2) and indexable(shown, np.ones(6))[0] is shown
    part = _safe_indexing(shown, np.array([4, 1]))
    assert isinstance(part, Exploration)
    assert_array_equal(part.actions, [[8, 9], [2, 3]])
    assert_array_equal(shown[np.arange(6) > 4, ...].actions, [[10, 11]])


def test_invalid_frames():
    frame = SHOWN.to_frame()
    with pytest.raises(ValueError, match="no column 'propensity_1_2'"):
        Exploration.from_frame(frame.drop(columns="propensity_1_2"))
    with pytest.raises(ValueError, match="no column 'action_0'"):
        Exploration.from_frame(pd.DataFrame({"x": [1]}))
    with pytest.raises(ValueError, match="not in `classes`"):
        Exploration.from_frame(frame, classes=[0, 1])
    with pytest.raises(ValueError, match="or names, such as 'a'"):
        Exploration.from_frame(SHOWN.to_frame(classes=list("aaaaa")))
    with pytest.raises(ValueError, match=r"or names, such as \d"):
        Exploration.from_frame(frame.astype({"action_0": float}) + 0.5)
    for names in (None, list("abcde")):
        lacking = SHOWN.to_frame(classes=names).astype({"action_0": object})
        lacking.loc[0, "action_0"] = None
        with pytest.raises(ValueError, match="actions in frame are missing|not in `classes`"):
            Exploration.from_frame(lacking, classes=names)
    with pytest.raises(ValueError, match="rewards must have the shape"):
        SHOWN.to_frame(rewards=[[1, 0]])


HALF = np.full((2, 2, 2), 0.5)
BAD = {
    "actions of exploration must be 1 to 3 labels for each of 2 samples": [
        ([[0, 1]], HALF[:1]),
        ([[0, 1, 2, 3], [0, 1, 2, 3]], np.full((2, 4, 4), 0.5)),
    ],
    "must be integers from 0 to 2": [
        ([[0.0, 1.0], [1.0, 0.0]], HALF),
        ([["a", "b"], ["b", "a"]], HALF),
        ([[0, 1], [1, 3]], HALF),
        ([[0, 1], [1, -1]], HALF),
    ],
    "a label twice": [([[0, 1], [1, 1]], HALF)],
    "must have actions and propensities of the shapes": [
        ([0, 1], HALF),
        ([[0, 1], [1, 0]], None),
        ([[0, 1], [1, 0]], HALF[0]),
        ([[0, 1], [1, 0]], np.full((2, 2), 0.5)),
        ([[0, 1], [1, 0]], [[[0.5]], [[0.5]]]),
        ([[0, 1]] * 2, HALF[:1]),
        ([[0, 1]], HALF),
        ([0], HALF[:1]),
        ([[[0, 1]]], HALF),
        (3, 0.5),
    ],
    r"must be probabilities in \(0, 1\], at least 1e-60": [
        ([[0, 1], [1, 0]], HALF.astype(str)),
        ([[0, 1], [1, 0]], HALF * 1e-70),
        ([[0, 1], [1, 0]], HALF * [[1, 0], [0, 1]]),
        ([[0, 1], [1, 0]], HALF * 3),
        ([[0, 1], [1, 0]], -HALF),
        ([[0, 1], [1, 0]], HALF * np.nan),
        ([[0, 1], [1, 0]], HALF * np.inf),
    ],
    r"with probability 0.5, .* They must be symmetric": [
        ([[0, 1], [1, 0]], HALF * [[1, 1], [0.5, 1]])
    ],
    r"impossible in row 1: labels 0 and 1 are both shown with probability 0.6, .* 0.5 and 0.8": [
        ([[0, 1], [1, 0]], [HALF[0], [[0.5, 0.6], [0.6, 0.8]]]),
    ],
    r"with probability 0.6, but each of them with probability 0.8 and 0.5\.": [
        ([[0, 1], [1, 0]], [HALF[0], [[0.8, 0.6], [0.6, 0.5]]]),
    ],
    r"with probability 0.25, but each of them with probability 0.9 and 0.8\.": [
        ([[0, 1], [1, 0]], [HALF[0], [[0.9, 0.25], [0.25, 0.8]]]),
    ],
}


@pytest.mark.parametrize(
    "message, actions, propensities",
    [(message, *bad) for message, bads in BAD.items() for bad in bads],
)
def test_invalid_records_are_refused(message, actions, propensities):
    """The error names the attribute."""
    record = Exploration(actions, propensities)
    with pytest.raises(ValueError, match=message):
        check_exploration(record, 2, 3)
    with pytest.raises(ValueError, match=message):
        check_exploration(SimpleNamespace(actions=actions, propensities=propensities), 2, 3)
    if "shapes" in message:
        with pytest.raises(ValueError, match=message):
            record.to_frame()


@pytest.mark.parametrize("decimals", [None, 3, 4, 6])
@pytest.mark.parametrize("scheme", ["uniform", "single-swap"])
def test_records_of_schemes_are_possible(scheme, decimals):
    """Also if their propensities were rounded, as in a log."""
    scores = np.random.RandomState(0).normal(size=(300, 7))
    for k in range(2, 7):
        for rate in (0.05, 0.5, 1.0):
            shown = explore(scores, k, scheme, rate, random_state=0)
            propensities = shown.propensities
            if decimals is not None:
                propensities = np.round(propensities, decimals)
            possible = (propensities > 0).all(axis=(1, 2))
            record = Exploration(shown.actions, propensities)[possible]
            check_exploration(record, len(record), 7)


def test_bounds_of_the_propensity_of_two_labels():
    """The events overlap completely, or as little as possible; then by a little more or less."""
    for p, q in [(0.9, 0.8), (0.5, 0.5), (1.0, 0.3), (1.0, 1.0), (0.2, 1e-9)]:
        for r, slack in [(min(p, q), 2e-6), (max(p + q - 1, 1e-12), -3e-3)]:
            check_exploration(Exploration([[0, 1]], [[[p, r], [r, q]]]), 1, 3)
            if 0 < r + slack <= 1:
                wrong = Exploration([[0, 1]], [[[p, r + slack], [r + slack, q]]])
                with pytest.raises(ValueError, match="impossible in row 0"):
                    check_exploration(wrong, 1, 3)


def test_names_in_data_frames():
    for classes in ("ab", 3, {"a": 1}):
        with pytest.raises(ValueError, match="classes must name labels"):
            Exploration([[0, 1]], HALF[:1]).to_frame(classes=classes)
    for shown in ([0, 2], [-1, 0], [0.0, 1.0], [True, False], ["a", "b"]):
        with pytest.raises(ValueError, match="must be integers from 0 to 1, .* got "):
            Exploration([shown], HALF[:1]).to_frame(classes=["a", "b"])


def test_records_without_rows_have_data_frames():
    for classes in (None, ["a", "b"]):
        assert SHOWN[:0].to_frame(classes=classes).shape == (0, 9)
        assert Exploration([], []).to_frame(classes=classes).shape == (0, 2)


def test_names_of_two_kinds_are_refused():
    frame = SHOWN.to_frame(classes=list("abcde"))
    with pytest.raises(ValueError, match=r"actions \[1\] in frame are not in `classes`"):
        Exploration.from_frame(frame.replace("a", 1).astype(object), classes=list("abcde"))
    with pytest.raises(ValueError, match="classes must name each label once, got"):
        Exploration.from_frame(frame, classes=list("abcdec"))
    with pytest.raises(ValueError, match="classes must name labels"):
        Exploration.from_frame(frame, classes=[list("abcde")])


def test_other_records_are_refused():
    with pytest.raises(ValueError, match="must be one label for each of 2 samples"):
        check_exploration(Exploration([[0, 1], [1, 0]], HALF), 2, 3, single=True)
    with pytest.raises(ValueError, match="exploration must have actions and propensities"):
        check_exploration(np.zeros((2, 2)), 2, 3)


def test_checked_records_have_the_types_of_the_compiled_loop():
    actions, propensities = check_exploration(
        Exploration(np.array([[0, 2], [1, 0]], dtype=np.uint8), HALF.astype(np.float32)), 2, 3
    )
    assert actions.dtype == np.intp and actions.flags.c_contiguous
    assert propensities.dtype == np.float64 and propensities.flags.c_contiguous


@pytest.mark.parametrize("bad", [[[1, 2]], [[1, np.inf]], [["0", "1"]], [[-0.1, 0]]])
def test_rewards_are_from_0_to_1(bad):
    with pytest.raises(ValueError, match="rewards must be numbers from 0 to 1"):
        check_rewards(bad, (1, 2))


def test_rewards_that_are_not_known():
    """They are NaN; an algorithm that needs 0 or 1 refuses all other numbers by its reason."""
    assert_array_equal(check_rewards([[0.5, np.nan]], (1, 2)), [[0.5, np.nan]])
    assert_array_equal(check_rewards([[1, np.nan]], (1, 2), refused="why"), [[1, np.nan]])
    with pytest.raises(ValueError, match="rewards must be 0 or 1: why"):
        check_rewards([[0.5, 1]], (1, 2), refused="why")


def test_types_of_rewards():
    assert check_rewards([[True, False]], (1, 2)).tolist() == [[1, 0]]
    assert check_rewards([[1, 0]], (1, 2)).dtype == np.float64
    frame = pd.DataFrame({"reward_0": [1], "reward_1": [0]}, dtype="Int8")
    assert check_rewards(frame, (1, 2)).tolist() == [[1, 0]]
    assert_array_equal(check_rewards(frame.replace(0, pd.NA), (1, 2)), [[1, np.nan]])


def test_memory_of_a_log_is_that_of_its_names():
    """A long name is in memory once, and not once for each sample."""
    names = ["x" * 20_000, *map(str, range(99))]
    shown = Exploration(np.arange(2000) % 100, np.full(2000, 0.01), names)
    tracemalloc.start()
    frame = shown.to_frame()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * len(names) * 4 * 20_000
    assert frame["action_0"].tolist() == [names[i] for i in shown.actions]
    assert_same(Exploration.from_frame(frame, names), shown)
