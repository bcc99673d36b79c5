"""Compiled objects without a state, and with damaged states: errors instead of crashes."""

import copy
import copyreg
import importlib
import inspect
import io
import itertools
import os
import pickle
import pkgutil
import re
import warnings
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from fitted_models import fit, learn, persistent_objects, predictions
from sklearn.naive_bayes import GaussianNB
from sklrank._compiled.rows import Rows
from sklrank._compiled.state import Persistent
from sklrank.linear_model._predtron._rounds import WeightSums
from test_common import KINDS, OTHERS

import sklrank
from sklrank.feedback import SelfTunedExploration
from sklrank.linear_model import BanditronClassifier, LinUCBClassifier
from sklrank.linear_model._bandit._base import BaseBanditClassifier
from sklrank.linear_model._predtron._base import BasePredtron
from sklrank.online_boosting import AdaOLMR


def compiled_classes():
    """Return all classes of the compiled modules."""
    classes = {}
    for info in pkgutil.walk_packages(sklrank.__path__, prefix="sklrank."):
        module = importlib.import_module(info.name)
        if module.__file__.endswith((".so", ".pyd")):
            for thing in vars(module).values():
                if inspect.isclass(thing) and thing.__module__ == info.name:
                    classes[f"{info.name}.{thing.__name__}"] = thing
    return classes


CLASSES = compiled_classes()
BASE_CLASSES = {base for cls in CLASSES.values() for base in cls.__bases__}


def test_all_compiled_classes_are_found():
    assert len(CLASSES) >= 45
    assert {
        "sklrank._compiled.state.Persistent",
        "sklrank.tree._hoeffding.tree.HoeffdingTree",
    } < set(CLASSES)


# -- Calls with any arguments.

ARRAYS = [
    np.zeros((2, 3)),
    np.zeros((2, 0)),
    np.zeros((0, 0)),
    np.zeros((2, 4)),
    np.zeros(2),
    np.zeros(0),
    np.zeros((2, 3, 3)),
    np.zeros(2, dtype=np.intp),
    np.arange(3, dtype=np.intp),
    np.zeros(0, dtype=np.intp),
    np.zeros((2, 3), dtype=np.intp),
    np.zeros(2, dtype=np.int8),
]
SCALARS = [None, 0, 1, -1, 2**62, 0.5, "a", [], {}, slice(None)]
ROWS = [
    Rows(np.zeros(shape), constant)
    for shape, constant in itertools.product([(2, 3), (2, 4), (2, 0)], [0.0, 1.0])
]
POOL = [*ARRAYS, *SCALARS, *ROWS, *(cls.__new__(cls) for cls in CLASSES.values())]
ERRORS = (
    ValueError,
    TypeError,
    AttributeError,
    LookupError,
    ArithmeticError,
    MemoryError,
    RuntimeError,
)
SPECIAL = ("__enter__", "__exit__", "__getstate__", "__init__", "__reduce__", "__setstate__")


def call_everything(make_object, n_calls):
    """Read all attributes of new objects, and call their methods with arguments of the pool."""
    random_state = np.random.RandomState(0)
    attributes = [name for name in dir(make_object()) if not name.startswith("_")]
    for attribute in [*attributes, *SPECIAL]:
        for n_arguments, _ in itertools.product(range(8), range(n_calls)):
            thing = make_object()
            arguments = [POOL[i] for i in random_state.randint(len(POOL), size=n_arguments)]
            try:
                value = getattr(thing, attribute)
                if not callable(value):
                    break
                value(*arguments)
            except ERRORS:
                pass


@pytest.mark.parametrize("name", CLASSES)
def test_objects_without_a_state_do_not_crash(name):
    """Whatever method is called, and whatever its arguments are."""
    cls = CLASSES[name]
    call_everything(lambda: cls.__new__(cls), 8)
    if issubclass(cls, Persistent):
        with pytest.raises(ValueError, match=f"this {cls.__name__} has no state"):
            pickle.dumps(cls.__new__(cls))
    else:
        with pytest.raises(TypeError, match="pickle"):
            pickle.dumps(cls.__new__(cls))


def test_saving_only_reads():
    """Other threads predict meanwhile, and an array that is assigned to itself is empty briefly."""
    declarations = [
        line.strip()
        for path in (Path(__file__).parents[2] / "sklrank").rglob("*.pyx")
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.search(r"archive\.\w+\(\s*\"", line)
    ]
    assert len(declarations) > 100
    assert [line for line in declarations if re.search(r"\", \(*self\.", line)] == []


# -- Objects in models.


def decreasing_rate(t):
    """Exploration rate of round t, and slope of a support function."""
    return 1 / (t + 1)


MODELS = [
    *KINDS.values(),
    *(BanditronClassifier(exploration=name) for name in ("decay", "ag1", "ag2")),
    BanditronClassifier(exploration=decreasing_rate),
    BanditronClassifier(exploration=SelfTunedExploration(power=0.5)),
    BanditronClassifier(kernel="poly"),
    LinUCBClassifier(item_features=np.size),
    AdaOLMR(GaussianNB(), n_estimators=1),
    *OTHERS,
]
PERSISTENT = [
    cls
    for cls in CLASSES.values()
    if issubclass(cls, Persistent) and (cls not in BASE_CLASSES or cls is WeightSums)
]
each_persistent_class = pytest.mark.parametrize("cls", PERSISTENT)


@pytest.fixture(scope="module")
def first_models():
    """Return for each persistent class the first model with such an object, and its index."""
    found = {}
    for estimator in MODELS:
        if found.keys() >= set(PERSISTENT):
            break
        model, data = fit(estimator)
        for i, thing in enumerate(persistent_objects(model)):
            found.setdefault(type(thing), (model, data, i))
    return found


@pytest.mark.filterwarnings("ignore")
@each_persistent_class
def test_objects_with_a_state_do_not_crash(cls, first_models):
    """Whatever method is called, and whatever its arguments are."""
    model, _, i = first_models[cls]
    thing = persistent_objects(model)[i]
    call_everything(lambda: copy.copy(thing), 5)


# -- Damaged states.


def dumps_with_state(model, target, state):
    """Return a pickle of the model in which one compiled object has another state."""

    class Pickler(pickle.Pickler):
        def reducer_override(self, thing):
            if thing is target:
                return copyreg.__newobj__, (type(thing),), state
            return NotImplemented

    file = io.BytesIO()
    Pickler(file).dump(model)
    return file.getvalue()


def damaged_values(value, random_state):
    """Yield values of other shapes, types and contents in place of an entry of a state."""
    yield from (None, "nba", -1, 0, 2**31, 2**62, 2**70, float("nan"), float("inf"), -0.5, True, [])
    yield from (np.empty(0), np.empty((0, 0)), np.zeros((2, 2)), np.array([None]))
    if not isinstance(value, np.ndarray):
        return
    yield from (value[:-1], value[:0], np.concatenate([value, value]), value[None], value.T)
    if value.dtype.names:
        for name in value.dtype.names:
            for entry in damaged_values(value[name], random_state):
                if isinstance(entry, np.ndarray) and entry.shape == value.shape:
                    with np.errstate(invalid="ignore"):
                        changed = value.copy()
                        try:
                            changed[name] = entry
                        except (TypeError, ValueError, OverflowError):
                            continue
                    yield changed
        return
    yield from (value.astype(object), value.astype(complex), value.astype("U"))
    for dtype in (np.float32, np.int16, np.int64, np.uint64):
        with np.errstate(invalid="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield value.astype(dtype)
    for number in (-1, -2, 2**31 - 1, 2**62, np.nan, np.inf, -1e300):
        if value.size and (value.dtype.kind == "f" or np.isfinite(number)):
            for where in (random_state.randint(value.size), slice(None)):
                changed = value.copy()
                try:
                    changed.reshape(-1)[where] = number
                except (OverflowError, ValueError):
                    continue
                yield changed
    if value.size:
        yield random_state.permutation(value.ravel()).reshape(value.shape)
        if value.dtype.kind == "i":
            # Small changes, which may remain within the range.
            for change in (-1, 1):
                changed = value.copy()
                changed.reshape(-1)[random_state.randint(value.size)] += change
                yield changed


def damaged_states(state, random_state):
    """Yield damaged variants of a state."""
    for name, value in state.items():
        yield {key: entry for key, entry in state.items() if key != name}
        for damaged in damaged_values(value, random_state):
            yield state | {name: damaged}
    names = list(state)
    for first in names:
        second = names[random_state.randint(len(names))]
        yield state | {first: state[second], second: state[first]}
    yield from ([], None, {})


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("step", [13, pytest.param(3, marks=pytest.mark.slow)])
@each_persistent_class
def test_damaged_states_are_refused_or_harmless(cls, step, first_models, fingerprint, monkeypatch):
    """With any state that is not refused, the model predicts and learns."""
    # A pickle of a copy would not hold the object itself.
    for base in (BaseBanditClassifier, BasePredtron):
        monkeypatch.setattr(base, "_pickles_copies", False)
    model, data, i = first_models[cls]
    data = [part[:15] for part in data]
    thing = persistent_objects(model)[i]
    state, before = thing.__getstate__(), fingerprint(thing)
    with pytest.raises(ValueError, match=f"this {cls.__name__} has a state"):
        thing.__setstate__(state)
    assert fingerprint(thing) == before
    n_refused = n_loaded = 0
    for damaged in itertools.islice(damaged_states(state, np.random.RandomState(0)), 0, None, step):
        try:
            type(thing).__new__(type(thing)).__setstate__(damaged)
        except ValueError as error:
            assert re.match("the state of|this .* was saved by", str(error)), error
        try:
            loaded = pickle.loads(dumps_with_state(model, thing, damaged))
        except ValueError:
            n_refused += 1
            continue
        n_loaded += 1
        try:
            predictions(loaded, data[0])
            learn(loaded, data)
            predictions(loaded, data[0])
        except ERRORS:
            pass
    assert n_refused > 10 // step
    assert n_loaded > 0


# -- Copies of copies.


def layers(value):
    """Return the length of the chain of objects that lend their memory to an array."""
    n_layers = 0
    while getattr(value, "base", None) is not None:
        value, n_layers = value.base, n_layers + 1
    return n_layers


@each_persistent_class
def test_copies_of_copies_do_not_add_layers(cls, first_models):
    """Layers are memory that is never freed, and deallocation of a long chain is a recursion."""
    model, _, i = first_models[cls]
    thing = persistent_objects(model)[i]
    for _ in range(10):
        thing = copy.deepcopy(thing)
    assert max(map(layers, thing.__getstate__().values())) <= 3


def resident_memory():
    """Return the number of bytes of this process that are in memory."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads Linux's counters")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", KINDS.values(), ids=KINDS)
def test_memory_of_copies_labels_and_merges_is_flat(estimator):
    model, (X, y, *_) = fit(estimator)

    def cycle(model):
        base, model = model, copy.deepcopy(model)
        if not hasattr(model, "drop_classes"):
            return model
        label = np.array(["new"] if model.classes_.dtype.kind in "UO" else [99])
        model._change_classes(np.concatenate([model.classes_, label]))
        model.drop_classes(label)
        others = [copy.deepcopy(model).partial_fit(X[:1], y[:1]) for _ in range(2)]
        with suppress(ValueError):  # Trees cannot be merged.
            model.merge(others, base=base)
        return model

    for _ in range(50):
        model = cycle(model)
    before = resident_memory()
    for _ in range(200):
        model = cycle(model)
    assert resident_memory() - before < 2**19
