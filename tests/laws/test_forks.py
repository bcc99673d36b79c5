"""Processes that are forked while other threads use a model."""

import os
import signal
import subprocess
import sys
import threading
import traceback
import warnings
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from fitted_models import fit, learn, predictions
from sklearn.base import clone
from test_common import KINDS

from sklrank._compiled import ExclusiveCalls, LockedModel, shared_call
from sklrank.linear_model import BanditronClassifier, LinUCBClassifier, SemiBanditRanker

SECONDS = 60  # until a child counts as one that waits for ever


def in_child(function, *arguments):
    """Return what a forked process writes when it calls the function, or how it ended."""
    reads, writes = os.pipe()
    child = os.fork()
    if not child:
        signal.alarm(SECONDS)
        try:
            text = function(*arguments)
        except BaseException:
            text = traceback.format_exc()
        os.write(writes, text.encode())
        os._exit(0)
    os.close(writes)
    with os.fdopen(reads) as file:
        text = file.read()
    status = os.waitpid(child, 0)[1]
    return f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else text


@shared_call
def read_until(model, end):
    end.wait()


@contextmanager
def in_thread(call):
    """Run `call(begun, end)` in another thread during the body of the `with` statement."""
    begun, end = threading.Event(), threading.Event()
    thread = threading.Thread(target=call, args=(begun, end))
    thread.start()
    begun.wait()
    yield
    end.set()
    thread.join()


def use(models):
    """Predict and learn with each model; return the errors as text."""
    errors = []
    for model, data in models:
        for call in (predictions, learn):
            try:
                call(model, data[0] if call is predictions else data)
            except RuntimeError as error:
                errors.append(f"{type(model).__name__}: {error}")
    return "\n".join(errors)


def main():
    models = [fit(one) for one in KINDS.values() if isinstance(one, LockedModel)]

    def change(begun, end):
        with ExclusiveCalls([model for model, _ in models]):
            begun.set()
            end.wait()

    def read(begun, end):
        readers = [
            threading.Thread(target=read_until, args=(model, end), daemon=True)
            for model, _ in models
        ]
        for reader in readers:
            reader.start()
        begun.set()
        for reader in readers:
            reader.join()

    with in_thread(change):
        errors = in_child(use, models).splitlines()
    assert len(errors) == 2 * len(models), errors
    assert all("another thread was changing this" in error for error in errors), errors
    with in_thread(read):
        assert in_child(use, models) == ""
    # A thread that forks in its own call goes on in the child.
    with ExclusiveCalls([model for model, _ in models]):
        assert in_child(use, models) == ""
    assert use(models) == ""
    check_random_numbers()
    print("end")


def check_random_numbers():
    """Forked processes show other labels if `random_state` is None, but not after a seed."""
    X = np.random.default_rng(0).normal(size=(50, 3))
    for one in (BanditronClassifier(exploration=1.0), LinUCBClassifier(exploration=1.0)):
        model = clone(one)
        model.explore(X, classes=range(20))
        check_draws(lambda model=model: str(model.explore(X).actions.tolist()))
    ranker = SemiBanditRanker(exploration=1.0)
    ranker.explore(X, classes=range(20))
    check_draws(lambda: str(ranker.explore(X).actions.tolist()))


def check_draws(draw):
    def seeded():
        np.random.mtrand._rand.seed(7)
        return draw()

    assert len({in_child(draw) for _ in range(3)} | {draw()}) == 4
    assert len({in_child(seeded) for _ in range(2)}) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks processes")
def test_models_in_forked_processes():
    run = subprocess.run(
        [sys.executable, Path(__file__)], capture_output=True, text=True, check=False
    )
    assert run.stdout == "end\n", run.stderr[-3000:]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
