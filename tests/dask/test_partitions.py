"""Online models on dask collections: merged copies, beside the same copies without dask."""

import os
import signal
from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import SGDClassifier

from sklrank.feedback import Exploration
from sklrank.linear_model import LinUCBClassifier, OnlineRidgeClassifier
from sklrank.online_boosting import AdaOLMR
from sklrank.streaming import fit_batches
from sklrank.tree import HoeffdingTreeClassifier

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
fit_partitions = pytest.importorskip("sklrank.dask").fit_partitions

X, Y = make_multilabel_classification(350, n_features=6, n_classes=4, random_state=0)
KIND = Y[:, 0] + 2 * Y[:, 1]
COLUMNS, LABELS = [f"x{i}" for i in range(6)], ["sea", "sky", "town", "wood"]
FRAME = pd.DataFrame(np.hstack([X, Y]), columns=COLUMNS + LABELS).astype(dict.fromkeys(LABELS, int))
SIZE = 50  # of a partition, of which there are seven


def slow_fit_partitions(estimator, parts, n_models, merge_every, **params):
    """Train copies one after the other, in this process."""
    runs = [list(run) for run in np.array_split(np.arange(len(parts)), n_models)]
    model = estimator
    while any(runs):
        copies = [deepcopy(model) for _ in runs]
        for copy, run in zip(copies, runs):
            for _ in range(merge_every or len(run)):
                if run:
                    copy.partial_fit(*parts[run.pop(0)], **params)
        model = copies[0].merge(copies[1:], base=model if hasattr(model, "classes_") else None)
    return model


def parts_of(X, Y):
    return [(X[i : i + SIZE], Y[i : i + SIZE]) for i in range(0, len(X), SIZE)]


def arrays(X, Y):
    array = pytest.importorskip("dask.array")
    chunks = 2 * SIZE if Y.ndim == 1 else (2 * SIZE, 3)
    return array.from_array(X, chunks=(SIZE, 4)), array.from_array(Y, chunks=chunks)


def frame():
    return pytest.importorskip("dask.dataframe").from_map(
        lambda i: FRAME[i : i + SIZE], range(0, len(FRAME), SIZE)
    )


def frame_pair():
    whole = frame()
    return whole[COLUMNS], whole[LABELS]


SOURCES = {
    "arrays": lambda: (arrays(X, Y), None),
    "data frame": lambda: (frame(), LABELS),
    "pair of data frames": lambda: (frame_pair(), None),
    "bag": lambda: (pytest.importorskip("dask.bag").from_sequence(parts_of(X, Y)), None),
    "delayed batches": lambda: ([dask.delayed(part) for part in parts_of(X, Y)], None),
    "delayed tables": lambda: (frame().to_delayed(), LABELS),
}


@pytest.fixture
def no_cluster():
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.mark.parametrize(
    ("kind", "merge_every"), [("arrays", 2), *((kind, None) for kind in SOURCES)]
)
def test_copies_learn_runs_of_partitions(no_cluster, kind, merge_every):
    data, target = SOURCES[kind]()
    options = {"target": target, "n_models": 3, "merge_every": merge_every}
    model = fit_partitions(AdaOLMR(n_estimators=2, random_state=0), data, **options)
    expected = slow_fit_partitions(
        AdaOLMR(n_estimators=2, random_state=0), parts_of(X, Y), 3, merge_every
    )
    named = kind in ("data frame", "pair of data frames", "delayed tables")
    scores = model.decision_function(FRAME[COLUMNS] if named else X)
    assert model.n_rounds_ == len(X)
    assert model.classes_.tolist() == (LABELS if named else [0, 1, 2, 3])
    assert_array_equal(scores, expected.decision_function(X))


def feedback_of(X, kinds, seed):
    """Return a log of random actions and their rewards, with the propensities of the actions."""
    actions = np.random.RandomState(seed).randint(4, size=len(X))
    return X, Exploration(actions, np.full(len(X), 0.25)), (actions == kinds).astype(float)


EXACT = {
    "ridge": OnlineRidgeClassifier(alpha=1.0, standardize=False),
    "LinUCB": LinUCBClassifier(clip=None),
}


@pytest.mark.parametrize("merge_every", [None, 1])
@pytest.mark.parametrize("name", EXACT)
def test_merged_copies_equal_one_pass(client, name, merge_every):
    """The samples have the norm one, so that LinUCB does not scale them."""
    rows = X / np.linalg.norm(X, axis=1, keepdims=True)
    if name == "LinUCB":
        parts = [feedback_of(*part, i) for i, part in enumerate(parts_of(rows, KIND))]
        data = [dask.delayed([part]) for part in parts[2:]]
        first = fit_batches(deepcopy(EXACT[name]), parts[:2], classes=range(4))
    else:
        parts, data = parts_of(rows, KIND), arrays(rows[100:], KIND[100:])
        first = deepcopy(EXACT[name]).partial_fit(rows[:100], KIND[:100], classes=range(4))
    one_pass = fit_batches(deepcopy(first), parts[2:])
    merged = fit_partitions(first, data, merge_every=merge_every)
    assert merged is first
    assert_allclose(merged.decision_function(rows), one_pass.decision_function(rows), atol=1e-10)


def test_the_number_of_copies_determines_the_model(client):
    """It is not changed by the workers that learn, nor by the death of one of them."""
    data = arrays(X, Y)
    expected = slow_fit_partitions(AdaOLMR(n_estimators=2, random_state=0), parts_of(X, Y), 2, 2)
    for placed in (data, tuple(client.persist(data))):
        model = fit_partitions(AdaOLMR(n_estimators=2, random_state=0), placed, merge_every=2)
        assert_array_equal(model.decision_function(X), expected.decision_function(X))


def test_partitions_are_learned_where_they_are(client):
    workers = sorted(client.scheduler_info()["workers"])
    rows = np.random.RandomState(0).normal(size=(20_000, 10))
    placed = [
        client.submit(lambda: (rows, rows[:, 0] > 0), workers=workers[i % 2], pure=False)
        for i in range(4)
    ]

    def places():
        return [list(where) for where in client.who_has(distributed.wait(placed).done).values()]

    before = places()
    # Of several copies, an idle worker may take one, with its partition.
    fit_partitions(OnlineRidgeClassifier(), list(map(dask.delayed, placed)), n_models=1)
    assert places() == before
    assert sorted(before) == [[workers[0]], [workers[0]], [workers[1]], [workers[1]]]


@dask.delayed
def killing(X, y, path):
    """Return a batch. The process dies as long as the file has a line, of which one is removed."""
    lines = path.read_text().splitlines()
    if lines:
        path.write_text("\n".join(lines[1:]))
        os.kill(os.getpid(), signal.SIGKILL)
    return X, y


@pytest.mark.slow
@pytest.mark.parametrize("place", [0, 3, 6])
def test_lost_workers_do_not_change_the_model(mortal_client, tmp_path, place):
    path = tmp_path / "deaths"
    path.write_text("one death")
    data = [dask.delayed(part) for part in parts_of(X, Y)]
    data[place] = killing(*parts_of(X, Y)[place], path)
    model = fit_partitions(AdaOLMR(n_estimators=2, random_state=0), data, n_models=2, merge_every=2)
    assert not path.read_text()
    expected = slow_fit_partitions(AdaOLMR(n_estimators=2, random_state=0), parts_of(X, Y), 2, 2)
    assert_array_equal(model.decision_function(X), expected.decision_function(X))


@pytest.mark.slow
def test_partitions_that_kill_all_workers_are_an_error(mortal_client, tmp_path):
    path = tmp_path / "deaths"
    path.write_text("death\n" * 9)
    data = [dask.delayed(part) for part in parts_of(X, Y)]
    data[4] = killing(*parts_of(X, Y)[4], path)
    model = AdaOLMR(n_estimators=2, random_state=0).partial_fit(X[:20], Y[:20])
    before = model.decision_function(X)
    mortal_client.run_on_scheduler(
        lambda dask_scheduler: setattr(dask_scheduler, "allowed_failures", 0)
    )
    try:
        with pytest.raises(distributed.KilledWorker):
            fit_partitions(model, data)
    finally:
        mortal_client.run_on_scheduler(
            lambda dask_scheduler: setattr(dask_scheduler, "allowed_failures", 3)
        )
    assert model.n_rounds_ == 20
    assert_array_equal(model.decision_function(X), before)


def test_partitions_without_rows_are_skipped(no_cluster):
    parts = parts_of(X, Y)
    empty = X[:0], Y[:0]
    data = [dask.delayed(part) for part in (empty, *parts[:2], empty, empty, empty)]
    model = fit_partitions(AdaOLMR(n_estimators=2, random_state=0), data, n_models=2)
    expected = AdaOLMR(n_estimators=2, random_state=0).partial_fit(X[:100], Y[:100])
    assert_array_equal(model.decision_function(X), expected.decision_function(X))
    untrained = fit_partitions(AdaOLMR(n_estimators=2, random_state=0), data[-2:])
    assert not hasattr(untrained, "classes_")


@pytest.mark.parametrize("place", [0, 5])
def test_invalid_partitions_are_named_and_the_model_does_not_change(no_cluster, place):
    parts = parts_of(X, Y)
    parts[place] = np.where(parts[place][0] > 3, np.nan, parts[place][0]), parts[place][1]
    model = AdaOLMR(n_estimators=2, random_state=0).partial_fit(X[:20], Y[:20])
    before = model.decision_function(X)
    with pytest.raises(ValueError, match=f"partition {place}: batch 0, after 0 samples: .*NaN"):
        fit_partitions(model, [dask.delayed(part) for part in parts], n_models=2)
    assert model.n_rounds_ == 20
    assert_array_equal(model.decision_function(X), before)


def test_truncated_files_are_refused(no_cluster, tmp_path):
    """The model does not change if the file is one of the last ones."""
    frames = pytest.importorskip("dask.dataframe")
    for i in range(3):
        FRAME[100 * i : 100 * i + 100].to_parquet(tmp_path / f"{i}.parquet")
    data = frames.read_parquet(sorted(tmp_path.glob("*.parquet")))
    file = tmp_path / "2.parquet"
    file.write_bytes(file.read_bytes()[:3000])
    model = AdaOLMR(n_estimators=2, random_state=0)
    with pytest.raises((OSError, ValueError)):
        fit_partitions(model, data, target=LABELS, n_models=1)
    assert not hasattr(model, "classes_")


def test_models_that_cannot_be_merged_are_refused_after_the_first_partitions(no_cluster):
    learned = []

    @dask.delayed
    def recorded(number, X, y):
        learned.append(number)
        return X, y

    data = [recorded(i, *part) for i, part in enumerate(parts_of(X, KIND))]
    with pytest.raises(ValueError, match="HoeffdingTreeClassifier cannot be merged"):
        fit_partitions(HoeffdingTreeClassifier(), data, classes=range(4), n_models=3)
    assert sorted(learned) == [0, 3, 5]
    tree = fit_partitions(HoeffdingTreeClassifier(), data, classes=range(4), n_models=1)
    expected = HoeffdingTreeClassifier().partial_fit(X, KIND, classes=range(4))
    assert_array_equal(tree.predict_proba(X), expected.predict_proba(X))


@pytest.mark.parametrize(
    "model, data, options, error, message",
    [
        (SGDClassifier(), [dask.delayed(1)], {}, TypeError, "must have merge"),
        (AdaOLMR(), [dask.delayed(1)], {"n_models": 0}, ValueError, "n_models must be a positive"),
        (AdaOLMR(), [dask.delayed(1)], {"merge_every": 1.5}, ValueError, "merge_every must be"),
        (AdaOLMR(), (X, Y), {}, TypeError, "got tuple: other data are learned by .*fit_batches"),
        (AdaOLMR(), [], {}, TypeError, "got list"),
        (AdaOLMR(), [(X, Y)], {}, TypeError, "got list"),
    ],
)
def test_bad_arguments_are_refused(model, data, options, error, message):
    with pytest.raises(error, match=message):
        fit_partitions(model, data, **options)


def test_partitions_must_fit_together(no_cluster):
    array = pytest.importorskip("dask.array")
    whole, labels = array.from_array(X, chunks=(SIZE, 6)), array.from_array(Y[:90], chunks=(45, 4))
    with pytest.raises(ValueError, match="equal partitions: X has 7, and y 2"):
        fit_partitions(AdaOLMR(), (whole, labels))
    with pytest.raises(ValueError, match="partition 0: data must be .* equal numbers of rows"):
        fit_partitions(
            AdaOLMR(), (whole[:90], array.from_array(Y[:80], chunks=(45, 4))), n_models=1
        )
    with pytest.raises(ValueError, match="partition 0: target must be .* name it for a table"):
        fit_partitions(AdaOLMR(), frame(), n_models=1)


def test_progress_is_printed(no_cluster, capsys, monkeypatch):
    clock = iter(np.arange(1000.0))
    monkeypatch.setattr("sklrank.dask._partitions.perf_counter", lambda: next(clock))
    fit_partitions(AdaOLMR(n_estimators=2, random_state=0), arrays(X, Y), n_models=2, verbose=1)
    assert "[fit_partitions] 6 of 7 partitions: seconds" in capsys.readouterr().out
