"""Numeric parameters of functions and methods, which do not accept booleans.

Those of estimators are tested in test_common.py.
"""

import warnings
from functools import partial
from inspect import signature
from numbers import Integral, Real

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.naive_bayes import GaussianNB

from sklrank import datasets
from sklrank._checks.numbers import as_numbers, check_scalar, check_weights, is_integer, is_number
from sklrank._checks.samples import check_rows
from sklrank._checks.targets import check_target
from sklrank.boosting import HistGradientBoostingRanker
from sklrank.feedback import explore
from sklrank.label_ranking import PlackettLuceRanker
from sklrank.linear_model import BanditronClassifier, OnlineRidgeClassifier, PredtronClassifier
from sklrank.metrics import kendall_tau_distance, ndcg_score, rank_loss
from sklrank.model_selection import progressive_val_score, query_train_test_split
from sklrank.online_boosting import AdaOLMR, TopKBBM, recommended_learners
from sklrank.tree import HoeffdingTreeClassifier

X, y = np.random.RandomState(0).normal(size=(20, 4)), np.arange(20) % 2
SCORES = np.random.RandomState(1).normal(size=(20, 2))
CALLS = {
    "chunk_size": partial(progressive_val_score, GaussianNB(), X, y),
    "n_estimators": recommended_learners,
    "penalty": partial(kendall_tau_distance, SCORES, SCORES),
    "k": partial(ndcg_score, y, X[:, 0]),
    "k of labels": partial(TopKBBM(n_estimators=1).fit(X, np.eye(4)[y]).predict_topk, X),
    "k of actions": partial(explore, SCORES),
    "exploration": partial(explore, SCORES, 1),
    "theta": partial(datasets.sample_mallows, SCORES),
    "survival": partial(datasets.hide_labels, SCORES),
    "probability": partial(datasets.tie_labels, SCORES),
    "labels": partial(datasets.label_ranking_from_regression, X),
    "sample_weight": partial(rank_loss, y, SCORES),
}


@pytest.mark.parametrize("name", CALLS)
def test_booleans_are_refused(name):
    parameter = name.split()[0]
    with pytest.raises((TypeError, ValueError), match=parameter):
        CALLS[name](**{parameter: True})


GENERATORS = {name: getattr(datasets, name) for name in datasets.__all__ if name[:5] == "make_"}
GENERATORS["make_clicks"] = partial(datasets.make_clicks, X, y, None, X[:, 0])


@pytest.mark.parametrize("name", GENERATORS)
def test_sizes_of_generated_data_sets(name):
    generate = GENERATORS[name]
    defaults = {each.name: each.default for each in signature(generate).parameters.values()}
    numeric = [parameter for parameter, default in defaults.items() if is_number(default)]
    assert len(numeric) >= 4
    for parameter in numeric:
        with pytest.raises((TypeError, ValueError), match=f"{parameter} must be .*True"):
            generate(**{parameter: True})


@pytest.mark.parametrize(
    "call",
    [
        partial(PlackettLuceRanker(alpha=1.0).fit(X, np.argsort(SCORES) + 1).sample_rankings, X),
        partial(explore, SCORES, 1),
        partial(query_train_test_split, X, qid=y),
        partial(datasets.hide_labels, SCORES),
        partial(datasets.tie_labels, SCORES),
        partial(datasets.sample_mallows, SCORES),
        partial(datasets.sample_plackett_luce, SCORES),
        partial(datasets.label_ranking_from_regression, X, 2),
        *GENERATORS.values(),
    ],
)
def test_errors_name_random_state(call):
    for seed in (-1, 2**32, 0.5, "a", np.random.default_rng(0)):
        with pytest.raises(ValueError, match="random_state must be an integer from 0"):
            call(random_state=seed)


@pytest.mark.parametrize("number", [1, np.int8(1), np.uint64(1)])
def test_integers(number):
    assert is_integer(number) and is_number(number)
    assert check_scalar(number, "n", Integral, min_val=1) == 1


@pytest.mark.parametrize("number", [1.0, np.float32(1.0), float("nan")])
def test_numbers(number):
    assert is_number(number) and not is_integer(number)


@pytest.mark.parametrize("number", [float("nan"), np.float32("nan")])
def test_nan_is_outside_all_bounds(number):
    with pytest.raises(ValueError, match="n must be a number, got"):
        check_scalar(number, "n", Real, min_val=0)
    assert check_scalar(float("inf"), "n", Real, min_val=0) == float("inf")


@pytest.mark.parametrize("other", [True, np.True_, "1", None, 1j, [1], np.ones(1)])
def test_other_objects(other):
    assert not is_number(other) and not is_integer(other)


@pytest.mark.parametrize("y", [["a", None], [None, None], ["x", 0]])
@pytest.mark.parametrize("as_array", [True, False])
def test_labels_of_different_kinds(y, as_array):
    """They have no order. A list of strings and numbers is converted to strings by NumPy."""
    if y == ["x", 0] and not as_array:
        pytest.skip("an array of strings")
    X, y = np.eye(6), np.array(y * 3, dtype=object) if as_array else y * 3
    for make in (AdaOLMR, BanditronClassifier, PredtronClassifier, HoeffdingTreeClassifier):
        for method in ("fit", "partial_fit"):
            message = "y must hold class labels of one kind|y contains NaN or None"
            with pytest.raises(ValueError, match=message):
                getattr(make(), method)(X, y)
    with pytest.raises(ValueError, match="y_true must hold class labels of one kind"):
        rank_loss(y, np.eye(6))


def shifted(array):
    """Return a copy whose entries do not lie at multiples of their size."""
    return np.frombuffer(b"head" + array.tobytes(), array.dtype, offset=4).reshape(array.shape)


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_rows_that_are_not_aligned_are_copied(form):
    """Arrays from another process may lie anywhere. Some kernels of BLAS cannot read them there."""
    rows = shifted(X)
    assert not rows.flags.aligned
    model = OnlineRidgeClassifier().fit(X, y)
    if form == "sparse":
        whole = sparse.csr_array(X)
        rows = sparse.csr_array((shifted(whole.data), whole.indices, whole.indptr), shape=X.shape)
        assert not rows.data.flags.aligned
    else:
        assert not model._is_valid(rows)
    checked = check_rows(model, rows, reset=False)
    assert (checked.data if form == "sparse" else checked).flags.aligned
    expected = model.decision_function(X)
    np.testing.assert_array_equal(model.decision_function(rows), expected)


def test_targets_that_are_not_aligned_are_copied():
    assert check_target(shifted(y), multilabel=True).values.flags.aligned
    assert check_target(shifted(np.eye(4)[y]), multilabel=True).values.flags.aligned
    assert check_weights(shifted(np.ones(3)), 3, positive=True).flags.aligned
    assert as_numbers(shifted(X), "y").flags.aligned


def test_columns_that_are_no_numbers_are_named():
    frame = pd.DataFrame({"age": pd.array([1, None, 3]), "answer": ["a", "b", "c"]})
    with pytest.raises(ValueError, match="the column 'answer' of X must have numbers.*convert"):
        AdaOLMR().fit(frame, np.eye(3))
    with pytest.raises(ValueError, match="'answer' of X must have numbers: give it the data type"):
        HistGradientBoostingRanker().fit(frame, [0, 1, 2])


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_columns_of_times_are_named(library):
    """NumPy takes those of polars and pyarrow as numbers of whatever unit they have."""
    times = pd.date_range("2026", periods=3).to_pydatetime().tolist()
    columns = {"age": [1.0, 2, 3], "seen": times}
    module = pytest.importorskip(library)
    frame = module.table(columns) if library == "pyarrow" else module.DataFrame(columns)
    for model, y in ((AdaOLMR(), np.eye(3)), (HistGradientBoostingRanker(), [0, 1, 2])):
        with pytest.raises(ValueError, match="the column 'seen' of X must have numbers, got.*unit"):
            model.fit(frame, y)


def test_columns_of_the_same_name():
    frame = pd.DataFrame([[1.0, "x"], [2.0, "y"], [3.0, "z"]], columns=["a", "a"])
    with pytest.raises(ValueError, match="the column 'a' of X must have numbers.*convert"):
        AdaOLMR().fit(frame, np.eye(3))


@pytest.mark.parametrize("name", ["y_true", "y_score"])
def test_documents_with_text(name):
    arguments = {"y_true": [1, 0], "y_score": [0.2, 0.1]} | {name: ["x", 0]}
    with pytest.raises(ValueError, match=f"{name} must be numbers"):
        ndcg_score(**arguments)


def test_strings_that_seem_to_be_lists_of_labels_warn():
    X = np.eye(6)
    lists = ["beach night", "beach", "night", "beach sea", "sea", "sea night"]
    with pytest.warns(UserWarning, match="6 class labels, such as 'beach night', of 3 words"):
        AdaOLMR().fit(X, lists)
    names = ["New York", "New Jersey", "Texas"] * 2
    columns = pd.DataFrame(np.eye(6, dtype=int), columns=lists)
    for y, classes in [(names, None), (lists, sorted(lists)), ([*range(6)], None), (columns, None)]:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            AdaOLMR().partial_fit(X, y, classes=classes)
