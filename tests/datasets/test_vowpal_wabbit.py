"""load_vowpal_wabbit: logs of --cb and --cb_adf, and errors."""

import gzip

import pytest
from numpy.testing import assert_array_equal
from sklearn.feature_extraction import DictVectorizer
from sklearn.preprocessing import minmax_scale

from sklrank.datasets import load_vowpal_wabbit
from sklrank.linear_model import LinUCBClassifier

CB = """\
1:2:0.4 | a c
3:0.5:0.2 | b d:2.5
4:-1.2:0.5 |user:2 age:3 new a |page a:-1e-1 a

2:1:0.3 'tag| c b
1 3:1.5:0.7 2 id7| d a
"""
FEATURES = [
    {"a": 1, "c": 1},
    {"b": 1, "d": 2.5},
    {"user^age": 6, "user^new": 2, "user^a": 2, "page^a": 0.9},
    {"c": 1, "b": 1},
    {"d": 1, "a": 1},
]
ADF = """\
shared | s_1 s_2:0.5
0:1.0:0.5 | a:1 b:1
| a:0.5

| b:2
3:-0.5:0.75 | a


shared |user tom
| a
| b
9:0.25:0.1 |page c:3
"""


@pytest.mark.parametrize("form", [str.splitlines, str.encode, lambda s: gzip.compress(s.encode())])
def test_cb(tmp_path, form):
    """Features are found by their names; all costs stay as they are."""
    source = form(CB.replace("\n", "\r\n"))
    if isinstance(source, bytes):
        path = tmp_path / "log.vw"
        path.write_bytes(source)
        source = path
    log = load_vowpal_wabbit(source)
    assert log.features == FEATURES
    assert_array_equal(log.exploration.actions, [0, 2, 3, 1, 2])
    assert_array_equal(log.exploration.propensities, [0.4, 0.2, 0.5, 0.3, 0.7])
    assert_array_equal(log.exploration.classes, [1, 2, 3, 4])
    assert_array_equal(log.costs, [2, 0.5, -1.2, 1, 1.5])
    X = DictVectorizer().fit_transform(log.features)
    model = LinUCBClassifier().partial_fit_feedback(
        X, log.exploration, minmax_scale(-log.costs), classes=log.exploration.classes
    )
    assert_array_equal(model.classes_, [1, 2, 3, 4])


def test_cb_adf(tmp_path):
    path = tmp_path / "log.vw"
    path.write_text(ADF)
    log = load_vowpal_wabbit(path, adf=True)
    assert log.features == [{"s_1": 1, "s_2": 0.5}, {}, {"user^tom": 1}]
    assert log.action_features == [
        [{"a": 1, "b": 1}, {"a": 0.5}],
        [{"b": 2}, {"a": 1}],
        [{"a": 1}, {"b": 1}, {"page^c": 3}],
    ]
    assert_array_equal(log.exploration.actions, [0, 1, 2])
    assert_array_equal(log.exploration.propensities, [0.5, 0.75, 0.1])
    assert_array_equal(log.costs, [1, -0.5, 0.25])


def test_no_lines():
    log = load_vowpal_wabbit([])
    assert (log.features, log.costs.shape, len(log.exploration)) == ([], (0,), 0)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("| a b", "0 actions with a cost, not one: 'action:cost"),
        ("2 | a", "0 actions with a cost"),
        ("1:2:0.4 2:1:0.6 | a", "a single cost"),
        ("1:2:0 | a", r"a probability in \(0, 1\], got '1:2:0 '"),
        ("1:2:1.5 | a", "a probability in"),
        ("1:nan:0.5 | a", "a finite number, got 'nan'"),
        ("1:x:0.5 | a", "could not convert"),
        ("1:2 | a", "expected action:cost:probability, got '1:2'"),
        ("-1:2:0.5 | a", "expected action:cost:probability, got '-1:2:0.5'"),
        ("1:2:0.5 a b", "no '|' before the features"),
        ("1:2:0.5 | a:x", "could not convert string to float: 'x'"),
        ("1:2:0.5 | a:1_0", "a finite number, got '1_0'"),
        ("0:2:0.5 | a", "numbers from 1, got 0: pass adf=True"),
        ("shared | a", "0 actions with a cost"),
    ],
)
def test_malformed_lines(tmp_path, line, message):
    path = tmp_path / "log.vw"
    path.write_text(f"1:2:0.5 | a\n\n{line}\n")
    with pytest.raises(ValueError, match=f"log.vw, line 3: .*{message}"):
        load_vowpal_wabbit(path)


@pytest.mark.parametrize(
    ("event", "n_costs"),
    [
        (["| a", "| b"], 0),
        (["0:1:0.5 | a", "0:1:0.5 | b"], 2),
        (["0:1:0.5 | a", "shared | b"], 1),
        (["shared | a"], 0),
    ],
)
def test_malformed_events(event, n_costs):
    lines = ["0:1:0.5 | a", "", *event, "", "0:1:0.5 | a"]
    with pytest.raises(ValueError, match=f"^line {len(event) + 3}: the event has {n_costs} act"):
        load_vowpal_wabbit(lines, adf=True)
