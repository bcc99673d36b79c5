"""Seeds and random features for the estimators inside an estimator."""

from numbers import Integral, Real

import numpy as np

from sklrank._sklearn import Interval, StrOptions

__all__ = ["MAX_FEATURES", "draw_features", "set_random_states"]

# The parameter constraint of each `max_features`.
MAX_FEATURES = [
    Interval(Integral, 1, None, closed="left"),
    Interval(Real, 0, 1, closed="right"),
    StrOptions({"sqrt", "log2"}),
    None,
]


def draw_features(max_features, n_features: int, random_state) -> np.ndarray:
    """The columns `(n_columns,)` that one model looks at, in order, drawn by `random_state`.

    `max_features` is their number, their share, "sqrt", "log2", or None for all; a number greater
    than `n_features` asks for all too, so that one setting serves every data set.
    """
    if max_features is None:
        n_columns = n_features
    elif max_features == "sqrt":
        n_columns = max(1, int(np.sqrt(n_features)))
    elif max_features == "log2":
        n_columns = max(1, int(np.log2(n_features)))
    elif isinstance(max_features, Integral):
        n_columns = min(max_features, n_features)
    else:
        n_columns = max(1, round(max_features * n_features))
    columns = random_state.choice(n_features, n_columns, replace=False)
    return np.sort(columns).astype(np.intp)


def set_random_states(estimator, random_state):
    """Give every `random_state` among the parameters of an estimator a seed of its own."""
    seeds = {
        name: random_state.randint(np.iinfo(np.int32).max)
        for name in sorted(estimator.get_params(deep=True))
        if name == "random_state" or name.endswith("__random_state")
    }
    if seeds:
        estimator.set_params(**seeds)
