"""load_preflib: complete and incomplete orders, ties, counts, names, and errors."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklrank.datasets import load_preflib
from sklrank.label_ranking import PlackettLuceRanker

HEAD = """\
# FILE NAME: 00099-00000001.{kind}
# TITLE: Stones: a vote
# DATA TYPE: {kind}
# NUMBER ALTERNATIVES: 4
# ALTERNATIVE NAME 1: Amber
# ALTERNATIVE NAME 2: Beryl, green
# ALTERNATIVE NAME 3: Coral
# ALTERNATIVE NAME 4: Dusk
"""
NAN = np.nan
ORDERS = {
    "soc": ("12: 1,2,4,3\n7: 4,3,2,1\n", [[1, 2, 4, 3], [4, 3, 2, 1]]),
    "soi": ("12: 1,2\n7: 3, 1,2,4\n", [[1, 2, NAN, NAN], [2, 3, 1, 4]]),
    "toc": ("12: 1,{2, 3},4\n7: {4,3,2,1}\n", [[1, 2, 2, 4], [1, 1, 1, 1]]),
    "toi": ("12: {2,4}\n\n7: 3,{1,2}\n", [[NAN, 1, NAN, 1], [2, 2, 1, NAN]]),
}


def write(tmp_path, text):
    path = tmp_path / "votes.txt"
    path.write_text(text)
    return path


@pytest.mark.parametrize("kind", ORDERS)
def test_orders(tmp_path, kind):
    orders, positions = ORDERS[kind]
    path = write(tmp_path, HEAD.format(kind=kind) + orders)
    votes = load_preflib(path)
    assert_array_equal(votes.target, positions)
    assert_array_equal(votes.sample_weight, [12, 7])
    assert votes.target_names == ["Amber", "Beryl, green", "Coral", "Dusk"]
    assert votes.metadata["TITLE"] == "Stones: a vote"
    stored = load_preflib(path, sparse=True).target
    assert stored.nnz == np.sum(~np.isnan(positions))
    assert_array_equal(stored.toarray(), np.nan_to_num(positions))
    once = PlackettLuceRanker(tol=1e-8, ties="breslow")
    once.fit(votes.data, votes.target, votes.sample_weight)
    often = PlackettLuceRanker(tol=1e-8, ties="breslow")
    often.fit(np.ones((19, 1)), np.repeat(positions, [12, 7], axis=0))
    assert_allclose(once.predict_proba([[1]]), often.predict_proba([[1]]), atol=1e-5)


@pytest.mark.parametrize(
    ("orders", "message"),
    [
        ("12: 1,5\n", "line 9: the order has the alternative 5, which is not one of the 4"),
        ("12: 0,1\n", "line 9: the order has the alternative 0"),
        ("12: 1,2\n3: 1,{2,1}\n", "line 10: the order has the alternative 1, .* occurs twice"),
        ("12: 1,{2,3\n", "line 9: expected the number of voters and an order"),
        ("12: 1,{}\n", "line 9: expected"),
        ("12: 1 2\n", "line 9: expected"),
        ("1,2,3\n", "line 9: expected"),
        ("-1: 2,3\n", "line 9: expected"),
        ("# DATA TYPE: cat\n1: 2,3\n", "line 10: the lines before must state '# DATA TYPE:'"),
        ("# NUMBER ALTERNATIVES: x\n1: 2\n", "line 10: the lines before must state"),
    ],
)
def test_malformed_orders(tmp_path, orders, message):
    with pytest.raises(ValueError, match=rf"votes.txt, {message}"):
        load_preflib(write(tmp_path, HEAD.format(kind="soi") + orders))


def test_parts_of_files(tmp_path):
    head = HEAD.format(kind="{kind}") + "# NUMBER VOTERS: 19\n"
    for kind, (orders, _) in ORDERS.items():
        load_preflib(write(tmp_path, head.format(kind=kind) + orders))
        with pytest.warns(UserWarning, match="votes.txt has the orders of 12 voters and states 19"):
            load_preflib(write(tmp_path, head.format(kind=kind) + orders.splitlines()[0]))
    for kind in ("soc", "toc"):
        with pytest.raises(
            ValueError, match=f"2 of the 4 .*type {kind} are .*the type {kind[:2]}i"
        ):
            load_preflib(write(tmp_path, head.format(kind=kind) + "12: 1,2\n"))


def test_files_of_before_2022(tmp_path):
    with pytest.raises(ValueError, match="line 1: .*download the present ones"):
        load_preflib(write(tmp_path, "2\n1,Amber\n2,Beryl\n5,5,1\n5,1,2\n"))
