"""make_clicks draws the clicks that its docstring describes."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from sklrank.datasets import make_clicks

Y = np.array([1, 0, 2, 0, 1])
SCORES = np.array([2.0, 5.0, 4.0, 1.0, 0.5])
OPTIONS = {"decay": 0.7, "noise": 0.2, "trust": 0.8, "continuation": 0.6}


def make(n_sessions=3, k=3, **options):
    return make_clicks(
        np.arange(5.0)[:, np.newaxis],
        Y,
        None,
        SCORES,
        n_sessions=n_sessions,
        k=k,
        **{**OPTIONS, **options},
    )


def probability(model, clicks):
    """Return the probability of the clicks on the documents 1, 2 and 0, by enumeration."""
    relevance = [0.0, 1.0, 1 / 3]
    total = 0.0
    for relevant in product([0, 1], repeat=3):
        prior = np.prod([r if bit else 1 - r for r, bit in zip(relevance, relevant)])
        total += prior * given_relevance(model, clicks, relevant)
    return total


def given_relevance(model, clicks, relevant):
    value, examined = 1.0, 1.0
    if model == "cascade":
        # Sum over the number of positions that are examined.
        total = 0.0
        for end in range(3):
            if any(clicks[end + 1 :]):
                continue
            value = 1.0
            for i in range(end + 1):
                click = 1.0 if relevant[i] else OPTIONS["noise"]
                value *= click if clicks[i] else 1 - click
                goes_on = 0.0 if relevant[i] else OPTIONS["continuation"]
                if i < 2:
                    value *= goes_on if i < end else 1 - goes_on
            total += value
        return total
    for i, (click, bit) in enumerate(zip(clicks, relevant)):
        mistake = OPTIONS["noise"]
        if model == "trust":
            mistake += (OPTIONS["trust"] - mistake) / (i + 1)
        examined = (i + 1) ** -OPTIONS["decay"]
        p = examined * (1.0 if bit else mistake)
        value *= p if click else 1 - p
    return value


@pytest.mark.parametrize("model", ["position", "trust", "cascade"])
def test_probabilities_of_clicks(model):
    n_sessions = 40_000
    clicks = make(n_sessions, model=model, random_state=0).y.reshape(n_sessions, 3)
    found = np.bincount(clicks @ [4, 2, 1], minlength=8) / n_sessions
    expected = np.array([probability(model, bits) for bits in product([0, 1], repeat=3)])
    assert_allclose(expected.sum(), 1.0)
    assert (np.abs(found - expected) <= 4 * np.sqrt(expected / n_sessions) + 1e-12).all()


def test_documents_and_positions():
    log = make(2, random_state=0)
    assert_array_equal(log.rows, [1, 2, 0] * 2)
    assert_array_equal(log.position, [1, 2, 3] * 2)
    assert_array_equal(log.qid, [0, 0, 0, 1, 1, 1])
    assert_array_equal(log.X[:, 0], log.rows)
    assert set(log.y) <= {0, 1}
    assert len(make(2, k=None, random_state=0).y) == 10
    for first, second in zip(log.values(), make(2, random_state=0).values()):
        assert_array_equal(first, second)


def test_several_queries_of_different_sizes():
    qid = ["b", "a", "b", "b", "a"]
    log = make_clicks(np.eye(5), Y, qid, [1, 1, 1, 2, 0], n_sessions=2, k=2, random_state=0)
    # The query "a" comes first; documents of equal scores keep their order.
    assert_array_equal(log.rows, [1, 4, 1, 4, 3, 0, 3, 0])
    assert_array_equal(log.qid, [0, 0, 1, 1, 2, 2, 3, 3])


def test_extreme_parameters():
    log = make(50, k=5, decay=0, noise=0, random_state=0)
    assert_array_equal(log.y[log.rows == 2], 1)  # of the highest grade
    assert_array_equal(log.y[np.isin(log.rows, [1, 3])], 0)
    everything = make(50, noise=1, decay=0, random_state=0)
    assert everything.y.all()
    nothing = make_clicks(np.eye(5), np.zeros(5), None, SCORES, noise=0, random_state=0)
    assert not nothing.y.any()


def test_large_grades_and_other_containers():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": range(5)})
    log = make_clicks(frame, 400 * Y, None, SCORES, decay=0, noise=0, random_state=0)
    assert list(log.X["a"]) == log.rows.tolist()
    assert_array_equal(log.y, log.rows == 2)
    log = make_clicks(sparse.csr_array(np.eye(5)), Y, None, SCORES, random_state=0)
    assert_array_equal(log.X.toarray(), np.eye(5)[log.rows])
    assert_array_equal(make_clicks(np.eye(5).tolist(), Y, None, SCORES).X, np.eye(5)[log.rows])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "x"}, "model must be one of"),
        ({"n_sessions": 0}, "n_sessions == 0"),
        ({"k": 0}, "k == 0"),
        ({"decay": -1.0}, "decay == -1"),
        ({"noise": 1.1}, "noise == 1.1"),
        ({"trust": -0.1}, "trust == -0.1"),
        ({"continuation": 2.0}, "continuation == 2"),
    ],
)
def test_invalid_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        make(**options)


def test_invalid_arrays():
    with pytest.raises(ValueError, match="scores must be of shape"):
        make_clicks(np.eye(5), Y, None, SCORES[:4])
    with pytest.raises(ValueError, match="scores must be finite"):
        make_clicks(np.eye(5), Y, None, SCORES * np.nan)
    with pytest.raises(ValueError, match="y must be relevance"):
        make_clicks(np.eye(5), -Y, None, SCORES)
