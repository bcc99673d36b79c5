"""Fixtures of several test files: data, outcomes of exploration, comparison of models; markers."""

import gc
import os
import sys
from collections import defaultdict
from functools import partial
from itertools import permutations, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from scipy import sparse
from scipy.stats import norm
from sklearn import config_context
from sklearn.base import BaseEstimator
from sklearn.ensemble import ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor
from threadpoolctl import threadpool_limits

# `python -m pytest` puts the checkout on the path. The installed package is tested, unless the
# modules of the checkout are compiled in place.
if not any(Path(__file__).parents[1].glob("sklrank/_cyutility.*[od]")):  # .so or .pyd
    sys.path[:] = [path for path in sys.path if Path(path).resolve() != Path(__file__).parents[1]]

# The tests make thousands of small fits, for which several threads of BLAS or OpenMP take longer
# than one: those of OpenMP spin while they wait for a processor that other processes use.
threadpool_limits(1)

# On a busy machine, any example may take long. pytest --hypothesis-profile=thorough tries more, and
# others each time.
settings.register_profile("short", deadline=None, max_examples=8, derandomize=True)
settings.register_profile("thorough", deadline=None, max_examples=250)
settings.load_profile("short")


# The ignored ones come from the oldest scikit-learn and matplotlib under newer other packages.
WARNINGS = [
    "error",
    "ignore::DeprecationWarning:sklearn.*",
    "ignore::DeprecationWarning:matplotlib.*",
]

# Arguments of tests that the threads of pytest-run-parallel cannot share.
NOT_FOR_THREADS = {
    "model": "all threads would train one model",
    "objective": "all threads would boost one objective",
    "problem": "all threads would boost one objective",
    "recorder": "it records the calls of all threads",
    "routing": "the configuration of scikit-learn is that of one thread",
}


def pytest_collection():
    """Stop the garbage collector: it takes a quarter of the time in which the tests are found."""
    gc.disable()


def pytest_collection_finish():
    """Let the garbage collector visit only what the tests make, not the tests and modules."""
    gc.enable()
    gc.freeze()


def pytest_collection_modifyitems(items):
    """Turn warnings into errors while a test runs, and mark the tests that threads cannot share.

    Errors do not belong into the settings of pytest, where they would also concern the start of the
    plugins that happen to be installed. The plugin pytest-run-parallel recognizes by itself tests
    that catch warnings, capture output or use `monkeypatch`.
    """
    for item in items:
        # Before the marks of the test, which have precedence.
        item.add_marker(pytest.mark.filterwarnings(*WARNINGS), append=False)
        function = getattr(item, "function", None)
        reasons = [NOT_FOR_THREADS.get(name) for name in getattr(item, "fixturenames", ())]
        if getattr(function, "is_hypothesis_test", False):
            reasons.append("hypothesis keeps its examples in one place")
        if "tracemalloc" in getattr(getattr(function, "__code__", None), "co_names", ()):
            reasons.append("the memory of all threads is measured")
        for reason in filter(None, reasons):
            item.add_marker(pytest.mark.thread_unsafe(reason=reason))


def pytest_runtest_setup(item):
    """Start generators anew, so that a test that passes does so after any other tests.

    With the plugin pytest-randomly, which seeds NumPy's generator later, this one has another seed
    in each run.
    """
    np.random.seed(0)  # noqa: NPY002
    for thing in list(vars(getattr(item, "module", item)).values()):
        if isinstance(thing, np.random.RandomState):
            thing.seed(1)


@pytest.fixture
def benchmark_folder():
    """Return the folder of the benchmark data, or skip the test if there is none."""
    folder = os.environ.get("SKLRANK_DATA")
    if not folder:
        pytest.skip("SKLRANK_DATA is not set to the folder of the benchmark data")
    return Path(folder)


@pytest.fixture
def multilabel_data(benchmark_folder):
    """Return a loader of benchmark data sets: `X_train, Y_train, X_test, Y_test`."""

    def load(name):
        with np.load(benchmark_folder / "multilabel" / f"{name}.npz", allow_pickle=True) as data:
            return tuple(data[key] for key in ("X_train", "Y_train", "X_test", "Y_test"))

    return load


@pytest.fixture
def letor_data(benchmark_folder):
    """Return a loader of parts of MQ2008, numbered from 1: `X, y, qid`."""

    def load(*parts):
        arrays = []
        for part in parts:
            with np.load(benchmark_folder / "letor" / f"MQ2008_S{part}.npz") as data:
                arrays.append([data[key] for key in ("X", "y", "qid")])
        return tuple(map(np.concatenate, zip(*arrays)))

    return load


@pytest.fixture
def wide_csr():
    """Return a function that creates CSR arrays with 64-bit indices."""

    def make(X):
        matrix = sparse.csr_array(X)
        matrix.indices = matrix.indices.astype(np.int64)
        matrix.indptr = matrix.indptr.astype(np.int64)
        return matrix

    return make


@pytest.fixture
def documents():
    """Draw documents of twelve queries in random order, with ties; one query has none relevant."""
    rng = np.random.RandomState(0)
    qid = rng.randint(12, size=50)
    y = rng.randint(3, size=50) * (qid != 4)
    return y, rng.randint(4, size=50) / 4.0, qid


@pytest.fixture
def set_constant(monkeypatch):
    """Return a function that sets a constant in each module of the package that has it."""

    modules = [module for path, module in sys.modules.items() if path.startswith("sklrank.")]

    def set_everywhere(name, value):
        having = [module for module in modules if hasattr(module, name)]
        assert having
        for module in having:
            monkeypatch.setattr(module, name, value)

    return set_everywhere


@pytest.fixture
def few_trees(monkeypatch):
    """Give forests five trees by default: those of the default label rankers have 100."""
    for forest in (ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor):
        monkeypatch.setattr(forest.__init__, "__defaults__", (5,))


@pytest.fixture
def routing():
    """Enable the routing of metadata by scikit-learn."""
    with config_context(enable_metadata_routing=True):
        yield


@pytest.fixture
def law():
    """Return a function that computes the distribution of the labels that a scheme shows.

    For a scheme (a name, or a function), scores `(n_labels,)`, k and the exploration, it returns a
    dictionary of the tuples of labels that may be shown, with their probabilities.
    """

    def probabilities_of(scheme, scores, k, rho):
        probabilities = defaultdict(float)
        outcomes = partial(strength_outcomes, scheme) if callable(scheme) else OUTCOMES[scheme]
        for shown, probability in outcomes(scores, k, rho):
            probabilities[shown] += probability
        return probabilities

    return probabilities_of


def uniform_outcomes(ranking, k):
    """All orders of the labels are equally probable."""
    outcomes = list(permutations(ranking))
    return [(order[:k], 1 / len(outcomes)) for order in outcomes]


def single_swap_outcomes(ranking, k):
    """All choices of a label shown and a label not shown are equally probable, twice."""
    m = len(ranking)
    if k == m:
        return [(tuple(ranking), 1.0)]
    outcomes = []
    for swaps in product(product(range(k), range(k, m)), repeat=2):
        order = list(ranking)
        for shown, hidden in swaps:
            order[shown], order[hidden] = order[hidden], order[shown]
        outcomes.append((tuple(order[:k]), 1 / (k * (m - k)) ** 2))
    return outcomes


def greedy_mixture(explored):
    """Return the outcomes of a scheme that explores, or shows the greedy top k."""

    def outcomes(scores, k, rho):
        ranking = np.argsort(-scores, kind="stable")
        exploring = [(shown, rho * probability) for shown, probability in explored(ranking, k)]
        return [(tuple(ranking[:k]), 1 - rho), *exploring]

    return outcomes


def plackett_luce_outcomes(scores, k, rho):
    """The greedy top k, or labels drawn by the softmax of their scores and the uniform law."""
    softmax = np.exp(scores - scores.max())
    drawn = ordered_draws((softmax / softmax.sum() + 1 / len(scores)) / 2, k)
    greedy = (tuple(np.argsort(-scores, kind="stable")[:k]), 1 - rho)
    return [greedy, *((shown, rho * p) for shown, p in drawn)]


def strength_outcomes(function, scores, k, rho):
    """Labels drawn by the strengths that a function returns, and rarely by the uniform law."""
    strengths = function(scores, rho)
    return ordered_draws((1 - 1e-4) * strengths / strengths.sum() + 1e-4 / len(scores), k)


def inverse_gap_outcomes(scores, k, rho):
    """Strengths by the gap to the k-th best label; the greedy top k share the rest."""
    m, best = len(scores), np.argsort(-scores, kind="stable")[:k]
    gaps = np.maximum(scores[best[-1]] - scores, 0)
    strengths = np.array([max(1 / (1 + gap / max(rho, 1e-4)), 1e-4) / m for gap in gaps])
    strengths[best] = 0
    strengths[best] = (1 - strengths.sum()) / k
    return ordered_draws(strengths, k)


def thompson_outcomes(scores, k, rho):
    """The label of the largest score after Gaussian noise, by the sum over cells of the sampler."""
    ends, shares = np.linspace((scores - 6 * rho).max(), (scores + 6 * rho).max(), 65), np.ones(64)
    for _ in range(3):
        ends = np.interp(np.arange(65) / 64, np.append(0, np.cumsum(shares / shares.sum())), ends)
        cdf = norm.cdf((ends[:, None] - scores) / rho)
        largest = np.diff(cdf.prod(axis=1))
        shares = 1 / 64 + largest / largest.sum()
    others = np.array([np.delete(cdf, l, axis=1).prod(axis=1) for l in range(len(scores))]).T
    chances = ((others[1:] + others[:-1]) * np.diff(cdf, axis=0)).sum(axis=0)
    chances = (1 - 1e-4) * chances / chances.sum() + 1e-4 / len(scores)
    return [((label,), chance) for label, chance in enumerate(chances)]


def ordered_draws(strengths, k):
    """One label after the other, in proportion to the strengths of the remaining labels."""
    outcomes = []
    for shown in permutations(range(len(strengths)), k):
        probability, remaining = 1.0, list(range(len(strengths)))
        for label in shown:
            probability *= strengths[label] / strengths[remaining].sum()
            remaining.remove(label)
        outcomes.append((shown, probability))
    return outcomes


# For each scheme, a function of the scores, k and the exploration. It returns tuples of labels with
# the probability that they are shown, in this order. A tuple may occur several times.
OUTCOMES = {
    "uniform": greedy_mixture(uniform_outcomes),
    "single-swap": greedy_mixture(single_swap_outcomes),
    "plackett-luce": plackett_luce_outcomes,
    "inverse-gap": inverse_gap_outcomes,
    "thompson": thompson_outcomes,
}


@pytest.fixture
def fingerprint():
    """Return a function that converts a model to nested tuples, equal if the models are equal."""
    return _fingerprint


def _fingerprint(thing):
    # Pickles of equal models may differ, since they also record which objects are identical.
    if isinstance(thing, np.ndarray):
        if thing.dtype.names:
            return tuple(_fingerprint(thing[name]) for name in thing.dtype.names)
        if thing.dtype == object:
            return tuple(map(_fingerprint, thing.ravel()))
        return thing.dtype.str, thing.shape, thing.tobytes()
    if isinstance(thing, dict):
        return tuple((key, _fingerprint(value)) for key, value in sorted(thing.items()))
    if isinstance(thing, list | tuple):
        return tuple(map(_fingerprint, thing))
    if thing is np.random.mtrand._rand:
        return "the generator of NumPy, which is not part of the model"
    if isinstance(thing, np.random.RandomState):
        return _fingerprint(thing.get_state())
    if isinstance(thing, BaseEstimator):
        return type(thing).__name__, _fingerprint(vars(thing))
    if type(thing).__module__.startswith("sklrank"):
        return type(thing).__name__, _fingerprint(thing.__reduce__()[1:])
    return repr(thing)
