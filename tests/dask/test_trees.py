"""Trees that the workers of a cluster grow together: those of one process, bit for bit."""

import os
import signal
import warnings
from threading import Timer
from time import sleep

import numpy as np
import pandas as pd
import pytest

from sklrank.boosting import HistGradientBoostingRanker, NDCGBoost

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
dask = pytest.importorskip("sklrank.dask")
fit_ranker = dask.fit_ranker

rng = np.random.RandomState(0)
X = rng.standard_normal((900, 10))
X[:, 3] = rng.randint(6, size=900)
X[rng.random_sample(X.shape) < 0.05] = np.nan
# Query 0 is larger than a partition.
QID = rng.randint(60, size=900) * (rng.random_sample(900) < 0.6)
Y = np.digitize(np.nan_to_num(X[:, 0] * X[:, 1]) + np.nan_to_num(X[:, 3]) % 2, [0, 1])
CHUNKS = ((250, 0, 300, 350), (4, 6))
FRAME = pd.DataFrame(X, columns=[f"x{i}" for i in range(10)])

PARAMETERS = [
    {"early_stopping": True, "n_iter_no_change": 2, "max_leaf_nodes": 8},
    {"categorical_features": [3], "monotonic_cst": [1] + [0] * 9, "max_leaf_nodes": 8},
    {"loss": "xe-ndcg", "init": "linear", "max_features": 0.5, "max_leaf_nodes": 4},
]


def make_rankers(**parameters):
    parameters = {"max_iter": 4, "random_state": 0, **parameters}
    return [HistGradientBoostingRanker(**parameters) for _ in range(2)]


def assert_same_trees(fitted, expected):
    assert len(fitted.estimators_) == len(expected.estimators_)
    for one, other in zip(fitted.estimators_, expected.estimators_):
        nodes = one.tree_.nodes(), other.tree_.nodes()
        assert all(np.array_equal(nodes[0][name], nodes[1][name]) for name in nodes[0])
    np.testing.assert_allclose(fitted.loss_curve_, expected.loss_curve_, rtol=1e-12)
    np.testing.assert_array_equal(fitted.validation_loss_curve_, expected.validation_loss_curve_)


def wait_until_parts_are_freed(client):
    for _ in range(100):
        if not any(client.run(lambda dask_worker: len(dask_worker.state.actors)).values()):
            return
        sleep(0.1)
    raise AssertionError("workers keep the parts after the fit")


@pytest.mark.parametrize("parameters", PARAMETERS, ids=lambda each: next(iter(each)))
def test_arrays_give_the_same_trees(client, parameters):
    fitted, expected = make_rankers(**parameters)
    expected.fit(X, Y, qid=QID)
    documents = da.from_array(X, chunks=CHUNKS)
    assert fit_ranker(fitted, documents, da.from_array(Y, chunks=100), QID) is fitted
    assert_same_trees(fitted, expected)
    wait_until_parts_are_freed(client)
    np.testing.assert_array_equal(fitted.predict(X), expected.predict(X))


def test_data_frames_give_the_same_trees(client):
    fitted, expected = make_rankers(max_leaf_nodes=8, init=None)
    expected.fit(FRAME, Y, qid=QID)
    frame = dd.from_pandas(FRAME.assign(y=Y, qid=QID), npartitions=3)
    documents = frame[list(FRAME)]
    fit_ranker(fitted, documents, frame["y"], frame["qid"])
    assert_same_trees(fitted, expected)
    assert fitted.feature_names_in_.tolist() == list(FRAME)
    predicted = documents.map_partitions(fitted.predict).compute()
    np.testing.assert_array_equal(predicted, expected.predict(FRAME))
    assert fitted.score(FRAME, Y, qid=QID) == expected.score(FRAME, Y, qid=QID)


def test_weights_give_the_same_trees(client):
    weights = rng.uniform(0.1, 3, size=len(Y)) * (rng.random_sample(len(Y)) < 0.8)
    fitted, expected = make_rankers(max_leaf_nodes=8, early_stopping=True)
    expected.fit(X, Y, qid=QID, sample_weight=weights)
    documents = da.from_array(X, chunks=CHUNKS)
    fit_ranker(fitted, documents, Y, QID, da.from_array(weights, chunks=400))
    assert_same_trees(fitted, expected)
    with pytest.raises(ValueError, match=r"sample_weight must have the shape \(900,\)"):
        fit_ranker(fitted, documents, Y, QID, sample_weight=weights[1:])


@pytest.mark.slow
@pytest.mark.parametrize("n_rounds", [0, 3])
def test_a_lost_worker_is_an_error(mortal_client, monkeypatch, fingerprint, n_rounds):
    documents = da.from_array(X, chunks=CHUNKS)
    ranker, _ = make_rankers(max_leaf_nodes=8, init=None, max_iter=6)
    before = fingerprint(fit_ranker(ranker, documents, Y, QID))
    reason = HistGradientBoostingRanker._early_stopping_reason

    def process_of_part(dask_worker):
        return os.getpid() if dask_worker.state.actors else None

    def kill_a_worker(self):
        if len(self.estimators_) == n_rounds + 1:
            # After the loss of another worker, a new one may have no part.
            processes = filter(None, mortal_client.run(process_of_part).values())
            os.kill(next(processes), signal.SIGKILL)
        return reason(self)

    monkeypatch.setattr(HistGradientBoostingRanker, "_early_stopping_reason", kill_a_worker)
    with pytest.raises(RuntimeError, match="a worker was lost in fit: call fit again"):
        fit_ranker(ranker, documents, Y, QID)
    assert fingerprint(ranker) == before


@pytest.mark.slow
@pytest.mark.parametrize("method", ["read_targets", "read", "place"])
def test_a_worker_that_is_lost_while_documents_are_loaded(mortal_client, monkeypatch, method):
    """The error says so, no task remains, and the next call succeeds."""
    documents = da.from_array(X, chunks=CHUNKS)
    ranker, expected = make_rankers(max_leaf_nodes=8, init=None)
    run = getattr(dask._trees.Partitions, method)

    def run_without_a_worker(self, *arguments):
        os.kill(next(iter(mortal_client.run(os.getpid).values())), signal.SIGKILL)
        return run(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(dask._trees.Partitions, method, run_without_a_worker)
        # Tasks without scattered inputs are run again by other workers.
        with pytest.raises(RuntimeError, match="a worker was lost in fit: call fit again"):
            fit_ranker(ranker, documents, Y, QID)
    for _ in range(100):
        if not mortal_client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)):
            break
        sleep(0.1)
    assert mortal_client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.tasks)) == []
    assert_same_trees(fit_ranker(ranker, documents, Y, QID), expected.fit(X, Y, qid=QID))


@pytest.mark.slow
@pytest.mark.parametrize("is_placed", [False, True])
def test_a_stopped_worker_is_named(mortal_client, monkeypatch, request, is_placed):
    """The fit goes on when the worker does, after the warning."""
    documents = da.from_array(X, chunks=CHUNKS)
    ranker, expected = make_rankers(max_leaf_nodes=8, init=None)
    [(worker, process), *_] = mortal_client.run(os.getpid).items()
    owner, name = (
        (HistGradientBoostingRanker, "_early_stopping_reason")
        if is_placed
        else (dask._trees.Partitions, "read")
    )
    run, timers = getattr(owner, name), []

    def run_with_a_stopped_worker(self, *arguments):
        if not timers:
            timers.append(Timer(60, os.kill, (process, signal.SIGCONT)))
            timers[0].start()
            request.addfinalizer(timers[0].cancel)
            os.kill(process, signal.SIGSTOP)
        return run(self, *arguments)

    def warn_and_continue(message, *arguments, **options):
        # On a busy machine, the other worker may be silent, too.
        if worker in str(message):
            os.kill(process, signal.SIGCONT)
        warn(message, *arguments, **options)

    warn = warnings.warn
    monkeypatch.setattr(warnings, "warn", warn_and_continue)
    monkeypatch.setattr(owner, name, run_with_a_stopped_worker)
    monkeypatch.setattr(dask._trees, "PATIENCE", 3.0)
    with pytest.warns(RuntimeWarning, match="fit waits for workers that are silent") as found:
        fit_ranker(ranker, documents, Y, QID)
    assert any(worker in str(each.message) for each in found)
    assert_same_trees(ranker, expected.fit(X, Y, qid=QID))


def test_an_actor_refuses_repeated_calls():
    part = dask._trees.WorkerPart.__new__(dask._trees.WorkerPart)
    part._part, part._n_calls = [3, 3], 0
    assert part.call(0, "count", (3,)) == 2
    for number in (0, 2):
        with pytest.raises(RuntimeError, match=f"got call {number} instead of call 1"):
            part.call(number, "count", (3,))


def test_bad_input_is_named(client):
    ranker, _ = make_rankers()
    with pytest.raises(TypeError, match="X must be a dask array or data frame, got ndarray"):
        fit_ranker(ranker, X, Y, QID)
    documents = da.from_array(X, chunks=CHUNKS)
    bag = pytest.importorskip("dask.bag").from_sequence(X)
    for other in bag, pytest.importorskip("dask").delayed(X):
        with pytest.raises(TypeError, match="X must be a dask array or data frame, got"):
            fit_ranker(ranker, other, Y, QID)
    with pytest.raises(ValueError, match=r"rows, 900, got the shapes \(899,\) and \(900,\)"):
        fit_ranker(ranker, documents, Y[1:], QID)
    with pytest.raises(ValueError, match=r"rows, 900, got the shapes \(900,\) and \(\)"):
        fit_ranker(ranker, documents, Y, None)
    bad = X.copy()
    bad[700, 2] = np.inf
    with pytest.raises(ValueError, match="X: partition 3: .*infinity"):
        fit_ranker(ranker, da.from_array(bad, chunks=CHUNKS), Y, QID)
    assert not hasattr(ranker, "estimators_")
    with pytest.raises(TypeError, match="must be a HistGradientBoostingRanker, got NDCGBoost"):
        fit_ranker(NDCGBoost(), documents, Y, QID)
