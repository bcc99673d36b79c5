"""Models whose plain attributes were changed, as a file from elsewhere may have them: no crash."""

import faulthandler
import itertools
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from fitted_models import fit, predictions
from sklrank._compiled.state import Persistent
from test_common import KINDS, OTHERS
from test_compiled_state import ERRORS, damaged_values

from sklrank._online.batches import WorkingMemory
from sklrank.tree._sums.sums import KEPT

SECONDS = 10  # of the processor, until a prediction counts as one that never ends


def places(thing, found=None):
    """Return (owner, key) of all arrays and integers in the attributes of a model.

    Compiled objects check their states, and objects of other packages are not ours to check.
    """
    found = [] if found is None else found
    if isinstance(thing, Persistent | WorkingMemory):
        return found
    if type(thing).__module__.startswith("sklrank"):
        thing = vars(thing) if hasattr(thing, "__dict__") else {}
    if isinstance(thing, dict | list):
        for key, value in thing.items() if isinstance(thing, dict) else enumerate(thing):
            is_number = isinstance(value, int) and not isinstance(value, bool)
            if is_number or isinstance(value, np.ndarray):
                found.append((thing, key))
            places(value, found)
    return found


def tampered_values(value):
    """Yield values in place of an attribute."""
    yield from damaged_values(value, np.random.RandomState(0))
    if isinstance(value, np.ndarray) and value.size and value.dtype.kind in "iu":
        for first in (0, 10**8):  # A cycle, and an index far beyond all arrays.
            changed = value.copy()
            changed.reshape(-1)[:] = first
            yield changed


def predict_tampered(estimator, step, count):
    """Predict with a fitted model after every `step`-th change of an attribute."""
    model, (X, *_) = fit(estimator)
    parameters = model.get_params(deep=False)
    for owner, key in places(model):
        if owner is vars(model) and key in parameters:
            continue
        value = owner[key]
        for changed in tampered_values(value):
            if next(count) % step:
                continue
            print(type(model).__name__, key, repr(changed)[:200].replace("\n", " "), flush=True)
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            owner[key] = changed
            KEPT.clear()  # Of the sums of trees, which were made before the change.
            try:
                predictions(model, X[:12])
            except ERRORS:
                pass
            owner[key] = value
    signal.setitimer(signal.ITIMER_PROF, 0)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="sets a timer")
@pytest.mark.parametrize(
    ("room", "step"),
    [("sklrank.tree._honest", 51), pytest.param("sklrank", 2, marks=pytest.mark.slow)],
)
def test_tampered_models_neither_crash_nor_hang(room, step):
    run = subprocess.run(
        [sys.executable, "-X", "faulthandler", Path(__file__), room, str(step)],
        capture_output=True,
        text=True,
        check=False,
    )
    last = run.stdout.splitlines()[-1:]
    assert (run.returncode, last) == (0, ["end"]), run.stderr[-2000:]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    faulthandler.register(signal.SIGPROF, chain=True)  # The default action ends the process.
    with np.errstate(all="ignore"):
        calls = itertools.count()
        for one in [*KINDS.values(), *OTHERS]:
            if type(one).__module__.startswith(sys.argv[1]):
                predict_tampered(one, int(sys.argv[2]), calls)
    print("end")
