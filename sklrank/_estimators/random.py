"""Random seeds, random subsets of the features, and random Fourier features."""

import os
import pickle
from numbers import Integral, Real

import numpy as np

from sklrank._checks import check_random_state
from sklrank._estimators.sklearn import Interval, StrOptions

# Constraints of the parameters called `max_features`.
_NUMBERS = [Interval(Integral, 1, None, closed="left"), Interval(Real, 0, 1, closed="right"), None]
MAX_FEATURES = [*_NUMBERS, StrOptions({"sqrt", "log2"})]
MAX_FEATURES_OR_AUTO = [*_NUMBERS, StrOptions({"auto", "sqrt", "log2"})]


def draw_seed(random_state, size=None):
    """Draw an integer seed from a parameter `random_state`, or an array of seeds of this size."""
    return check_random_state(random_state).randint(np.iinfo(np.int32).max, size=size)


def check_random_source(random_state):
    """Return a RandomState of an argument, which may be entropy of a SeedSequence, or None."""
    if random_state is None:
        return None
    if isinstance(random_state, Integral | np.random.RandomState):
        return check_random_state(random_state)
    try:
        # PCG64 takes the numbers as the entropy of a SeedSequence.
        return np.random.RandomState(np.random.PCG64(random_state))
    except (TypeError, ValueError) as error:
        raise ValueError(
            "random_state must be an integer from 0 to 2**32 - 1, a sequence of such integers, a "
            f"SeedSequence, a RandomState instance or None; got {random_state!r}"
        ) from error


def _at_fork():
    global _state_at_fork
    _state_at_fork = _state()


def _state():
    # Without the lock of the generator, which a thread of the parent may have held.
    return pickle.dumps(np.random.mtrand._rand._bit_generator.state)


# State of NumPy's global generator in a process that was forked, as it is in all its siblings.
_state_at_fork = None
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_at_fork)


def apart_from_siblings(generator):
    """Return the generator. Seed NumPy's global one if it is as it was when the process began."""
    global _state_at_fork
    if _state_at_fork is not None and generator is np.random.mtrand._rand:
        if _state() == _state_at_fork:
            generator.seed()
        _state_at_fork = None
    return generator


def draw_features(max_features, n_features: int, random_state) -> np.ndarray:
    """Draw the features of one model without replacement, and return their sorted indices.

    `max_features` is an int (all, if it is larger), a fraction, "sqrt", "log2", or None for all.
    """
    if max_features is None:
        n_drawn = n_features
    elif max_features == "sqrt":
        n_drawn = max(1, int(np.sqrt(n_features)))
    elif max_features == "log2":
        n_drawn = max(1, int(np.log2(n_features)))
    elif isinstance(max_features, Integral):
        n_drawn = min(max_features, n_features)
    else:
        n_drawn = max(1, round(max_features * n_features))
    return np.sort(random_state.choice(n_features, n_drawn, replace=False)).astype(np.intp)


def draw_frequencies(n_features: int, n_components: int, gamma: float, random_state):
    """Draw the frequencies `(n_features, n_components)` and phases of random Fourier features.

    The inner products of the features ``sqrt(2 / n_components) * cos(z @ frequencies + phases)``
    approximate the kernel ``exp(-gamma * |z - z'|**2 / n_features)``. Either size may be 0.
    """
    frequencies = random_state.standard_normal((n_features, n_components))
    frequencies *= np.sqrt(2 * gamma / max(n_features, 1))
    return frequencies, random_state.uniform(0, 2 * np.pi, n_components)


def set_random_states(estimator, random_state):
    """Set all `random_state` parameters of an estimator, including nested ones, to random seeds."""
    seeds = {name: draw_seed(random_state) for name in seed_parameters(estimator)}
    if seeds:
        estimator.set_params(**seeds)


def seed_parameters(estimator) -> list[str]:
    """Return the sorted names of all `random_state` parameters, including nested ones."""
    return [
        name
        for name in sorted(estimator.get_params(deep=True))
        if name == "random_state" or name.endswith("__random_state")
    ]
