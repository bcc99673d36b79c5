"""Sums of the trees of fitted models, which are made at the first prediction."""

from concurrent.futures import ThreadPoolExecutor
from operator import is_
from weakref import WeakKeyDictionary

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils import gen_even_slices

from sklrank.tree._sums.tree_sum import TreeSum

# With fewer samples for each thread, threads take longer to start than they save.
LEAST_SAMPLES = 5_000
# The sums are no attributes: predictions change no attribute, and copies and files of a model do
# not contain what can be made again.
KEPT = WeakKeyDictionary()


def kept_sum(model, parts, key, make):
    """Return what `make()` returned when the parts were these objects and the key was equal.

    The parts, a list, and the key are what the sum of the model depends on.
    """
    kept = KEPT.get(model, ((), None, None))
    if key != kept[1] or len(parts) != len(kept[0]) or not all(map(is_, parts, kept[0])):
        KEPT[model] = kept = parts, key, make()
    return kept[2]


class SumOfTrees:
    """The sum of the values of trees; the first arguments are those of :class:`TreeSum`.

    The function `encode` returns samples as the floats that the trees read.
    """

    def __init__(self, trees, n_features, encode=np.asarray):
        self._trees, self._encode = TreeSum(trees, n_features), encode

    def add(self, X, out, start=0, stop=None, n_jobs=None):
        """Add the values of the trees from `start` to `stop` - 1 for each sample to its outputs."""
        X, n_threads = self._encode(X), 1
        if len(X) >= 2 * LEAST_SAMPLES:
            n_threads = min(effective_n_jobs(n_jobs), len(X) // LEAST_SAMPLES)
        if n_threads == 1:
            self._trees.add(X, out, start, stop)
            return
        with ThreadPoolExecutor(n_threads) as pool:
            slices = gen_even_slices(len(X), n_threads)
            list(pool.map(lambda rows: self._trees.add(X[rows], out[rows], start, stop), slices))

    def predict(self, X, n_jobs=None):
        """Return the sums, of shape `(n_samples, n_outputs)`."""
        out = np.zeros((len(X), self._trees.n_outputs))
        self.add(X, out, n_jobs=n_jobs)
        return out
