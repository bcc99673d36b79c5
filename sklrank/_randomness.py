"""Seeds for the estimators inside an estimator."""

import numpy as np

__all__ = ["set_random_states"]


def set_random_states(estimator, random_state):
    """Give every `random_state` among the parameters of an estimator a seed of its own."""
    seeds = {
        name: random_state.randint(np.iinfo(np.int32).max)
        for name in sorted(estimator.get_params(deep=True))
        if name == "random_state" or name.endswith("__random_state")
    }
    if seeds:
        estimator.set_params(**seeds)
