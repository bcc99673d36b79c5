"""Random seeds and random features for the estimators inside an ensemble."""

from numbers import Integral, Real

import numpy as np

from sklrank._sklearn import Interval, StrOptions

__all__ = ["MAX_FEATURES", "MAX_FEATURES_OR_AUTO", "draw_features", "set_random_states"]

# Constraints of the parameters called `max_features`.
_NUMBERS = [
    Interval(Integral, 1, None, closed="left"),
    Interval(Real, 0, 1, closed="right"),
    None,
]
MAX_FEATURES = [*_NUMBERS, StrOptions({"sqrt", "log2"})]
MAX_FEATURES_OR_AUTO = [*_NUMBERS, StrOptions({"auto", "sqrt", "log2"})]


def draw_features(max_features, n_features: int, random_state) -> np.ndarray:
    """Draw the features of one model without replacement, and return their sorted indices.

    `max_features` is an int, a fraction of the features, "sqrt", "log2", or None for all features.
    An int larger than `n_features` selects all features, so the same value can be used for every
    data set.
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
    drawn = random_state.choice(n_features, n_drawn, replace=False)
    return np.sort(drawn).astype(np.intp)


def set_random_states(estimator, random_state):
    """Set all `random_state` parameters of an estimator, including nested ones, to random seeds."""
    seeds = {
        name: random_state.randint(np.iinfo(np.int32).max)
        for name in sorted(estimator.get_params(deep=True))
        if name == "random_state" or name.endswith("__random_state")
    }
    if seeds:
        estimator.set_params(**seeds)
