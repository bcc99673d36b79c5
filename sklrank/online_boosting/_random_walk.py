"""Tail sums of the random walk from which the potentials are computed, see `_costs.pyx`."""

import numpy as np

__all__ = ["walk_tails"]

# Smaller probabilities at the ends of a distribution are dropped, since they are negligible
# compared with rounding errors.
NEGLIGIBLE = 1e-30


def walk_tails(up, down, n_learners):
    """Compute the tail sums of a random walk after 0, 1, ..., n_learners - 1 steps.

    Parameters
    ----------
    up, down : float
        Probability of the step +1 and of the step -1. Otherwise the step is 0.
    n_learners : int
        Number of tables, one for each number of steps from 0 to n_learners - 1.

    Returns
    -------
    tails : ndarray of shape (n_entries, 2)
        Tail sums T0 and T1 (see `_costs.pyx`). The rows for n steps start at ``starts[n]`` and
        cover d = lows[n] - 2, ..., highs[n] + 3.
    starts, lows, highs : ndarrays of shape (n_learners,)
        First row of the table for n steps, and the smallest and the largest value of the walk after
        n steps, apart from values of negligible probability.
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
