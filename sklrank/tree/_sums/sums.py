"""Sums of the trees of fitted models, which are made at the first prediction."""

from concurrent.futures import ThreadPoolExecutor
from operator import is_
from weakref import WeakKeyDictionary

from joblib import effective_n_jobs
from sklearn.utils import gen_even_slices

# With fewer samples for each thread, threads take longer to start than they save.
LEAST_SAMPLES = 5_000
# The sums are no attributes: predictions change no attribute, and copies and files of a model do
# not contain what can be made again.
KEPT = WeakKeyDictionary()


def kept_sum(model, parts, key, make):
    """Return what `make()` returned when the parts were these objects and the key was equal.

    The parts, a list, and the key are what the sum of the model depends on.
    """
    kept = KEPT.get(model)
    if (
        kept is None
        or kept[1] != key
        or len(kept[0]) != len(parts)
        or not all(map(is_, kept[0], parts))
    ):
        KEPT[model] = kept = parts, key, make()
    return kept[2]


def add_trees(trees, X, out, n_jobs=None, **of_range):
    """Add the values of a :class:`TreeSum` to `out`, in several threads if there are many samples.

    `of_range` may be `start` and `stop`, the first tree and the one after the last.
    """
    n_threads = 1
    if len(X) >= 2 * LEAST_SAMPLES:
        n_threads = min(effective_n_jobs(n_jobs), len(X) // LEAST_SAMPLES)
    if n_threads == 1:
        trees.add(X, out, **of_range)
        return
    with ThreadPoolExecutor(n_threads) as pool:
        slices = gen_even_slices(len(X), n_threads)
        list(pool.map(lambda rows: trees.add(X[rows], out[rows], **of_range), slices))
