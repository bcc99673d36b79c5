"""Bytes and seconds of a boosted tree that several workers grow, and a check by LightGBM's figures.

A worker adds its rows to histograms. A split needs the histogram of the smaller child; the other
one is the difference from the parent. So a balanced tree of L leaves reads each row once for the
root and half a time for each of the other levels: (1 + log2 L) / 2 times. The histograms of all
workers are added for each split, in one of two ways:

- "one process" receives all of them. So do the rankers of `sklrank.dask`.
- "all workers" receive a part of the columns each, choose the best split of them, and tell the
  others (LightGBM): a worker receives less than one histogram, in log2 W steps.
"""

from math import ceil, log2

# LightGBM's documentation, Experiments, "Parallel Experiment": seconds a tree, by machines, for
# 1.7 billion rows and 67 columns, 255 leaves and 255 bins (the default), 54 Gbit/s.
LIGHTGBM = {1: 627.8, 2: 311.0, 4: 156.0, 8: 80.0, 16: 42.0}
CRITEO = {"rows": 1_700_000_000, "columns": 67, "leaves": 255, "bins": 255}
# The two figures that are fitted: of one machine (16 threads), and of sixteen.
SECONDS_A_VALUE = LIGHTGBM[1] / (1.7e9 * 67 * (1 + log2(255)) / 2)
SECONDS_A_STEP = (LIGHTGBM[16] - LIGHTGBM[1] / 16) / (255 * log2(16))


def bytes_a_tree(columns, leaves, bins, entry=16):
    """Return the bytes of the histograms of a tree, which a worker sends."""
    return leaves * columns * bins * entry


def seconds_a_tree(
    rows,
    columns,
    workers,
    *,
    leaves=31,
    bins=256,
    seconds_a_value=SECONDS_A_VALUE,
    seconds_a_step=SECONDS_A_STEP,
    bytes_a_second=54e9 / 8,
    sums="all workers",
):
    """Return the seconds of computation, of traffic and of waiting for one tree.

    Parameters
    ----------
    rows, columns, workers, leaves, bins : int
        Sizes of the data, the cluster and the tree.
    seconds_a_value : float
        For adding one value to a histogram, on one worker.
    seconds_a_step : float
        For one step of the sum for a split, whatever its bytes: latency, and waiting for the
        slowest worker.
    bytes_a_second : float
        Of the network adapter of one machine.
    sums : {"all workers", "one process"}
        Which way the histograms are added.
    """
    compute = rows * columns * (1 + log2(leaves)) / 2 * seconds_a_value / workers
    if workers == 1:
        return compute, 0.0, 0.0
    sent = bytes_a_tree(columns, leaves, bins)
    if sums == "one process":
        return compute, workers * sent / bytes_a_second, leaves * seconds_a_step
    traffic = sent * (workers - 1) / workers / bytes_a_second
    return compute, traffic, leaves * ceil(log2(workers)) * seconds_a_step


def check():
    """Return rows of workers, LightGBM's seconds, and the seconds of the model.

    Raise AssertionError if a figure that was not fitted differs by more than two per cent.
    """
    rows = []
    for workers, printed in LIGHTGBM.items():
        seconds = sum(seconds_a_tree(workers=workers, **CRITEO))
        assert abs(seconds / printed - 1) < 0.02, (workers, seconds, printed)
        rows.append((workers, printed, seconds))
    return rows
