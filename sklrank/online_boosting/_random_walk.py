"""Tables of the random walk of the potentials, see `_costs.pyx`."""

import numpy as np

__all__ = ["walk_tails"]

# Smaller probabilities are cut off from the ends of a walk; they are far below rounding errors.
NEGLIGIBLE = 1e-30


def walk_tails(up, down, n_learners):
    """Compute the tail sums of a random walk after 0, 1, ... steps.

    Parameters
    ----------
    up, down : float
        Probabilities of a step of +1 and of -1; otherwise the step is 0.
    n_learners : int
        Number of walks, of 0, ..., n_learners - 1 steps.

    Returns
    -------
    tails : ndarray of shape (n_entries, 2)
        T0 and T1. The walk of n steps covers d = lows[n] - 2, ..., highs[n] + 3, where `lows[n]`
        and `highs[n]` are the ends of its law; its entries start at `starts[n]`.
    starts, lows, highs : ndarrays of shape (n_learners,)
    """
    law, low = np.ones(1), 0
    tails, lows, highs = [], [], []
    for _ in range(n_learners):
        values = np.arange(low, low + len(law))
        ends = np.zeros(3)
        mass = np.concatenate((np.cumsum(law[::-1])[::-1], ends))
        first = np.concatenate((np.cumsum((law * values)[::-1])[::-1], ends))
        tails.append(
            np.column_stack([np.concatenate((np.full(2, t[0]), t)) for t in (mass, first)])
        )
        lows.append(low)
        highs.append(low + len(law) - 1)
        law = np.convolve(law, [down, 1.0 - up - down, up])
        low -= 1
        kept = np.flatnonzero(law > NEGLIGIBLE)
        law, low = law[kept[0] : kept[-1] + 1], low + kept[0]
    starts = np.cumsum([0] + [len(t) for t in tails[:-1]])
    return (
        np.concatenate(tails),
        starts.astype(np.intp),
        np.array(lows, dtype=np.intp),
        np.array(highs, dtype=np.intp),
    )
