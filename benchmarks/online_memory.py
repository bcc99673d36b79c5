"""Resident memory of each online estimator with default settings, during a stream of samples.

Each class trains in a process of its own, by `partial_fit` in batches, on drawn samples of ten
features and five labels, documents of queries for rankers of documents. The memory is that of the
operating system, after a tenth, half and all of the samples. A Hoeffding tree grows as long as
samples tell of further splits, unless `max_leaves` limits it.

    python benchmarks/online_memory.py [--rows 1000000] [--seconds 600] [--only AdaOLMR TopKBBM]
"""

import argparse
import inspect
import time
from multiprocessing import get_context

import numpy as np
from _common import megabytes_now, print_header
from sklearn.utils import get_tags

import sklrank
from sklrank._online.base import BaseOnline

BATCH = 10_000
N_FEATURES, N_LABELS, QUERY_SIZE = 10, 5, 10


def online_classes():
    """Return the public classes of online estimators by name."""
    rooms = filter(inspect.ismodule, (getattr(sklrank, name) for name in sklrank.__all__))
    members = {name: getattr(room, name) for room in rooms for name in getattr(room, "__all__", ())}
    return {
        name: member
        for name, member in sorted(members.items())
        if inspect.isclass(member) and issubclass(member, BaseOnline)
    }


def draw_batch(random, weights, model):
    """Return arguments of `partial_fit`; labels depend on the features by these weights."""
    X = random.normal(size=(BATCH, N_FEATURES))
    scores = X @ weights + random.normal(size=(BATCH, N_LABELS))
    if "qid" in inspect.signature(model.partial_fit).parameters:
        return X, (scores[:, 0] > 1).astype(int), np.arange(BATCH) // QUERY_SIZE
    tags = get_tags(model)
    if tags.classifier_tags is not None and not tags.classifier_tags.multi_label:
        return X, scores.argmax(axis=1)
    return X, (scores > 0).astype(int)


def train(name, n_rows, seconds):
    """Return the memory at three times, the seconds, and the samples learned in these."""
    model, random = online_classes()[name](), np.random.RandomState(0)
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    weights, found, rows = random.normal(size=(N_FEATURES, N_LABELS)), [], 0
    start = time.monotonic()
    for share in (0.1, 0.5, 1.0):
        while rows < share * n_rows and time.monotonic() - start < seconds:
            model.partial_fit(*draw_batch(random, weights, model))
            rows += BATCH
        if rows >= share * n_rows:
            found.append(f"{megabytes_now():.1f}")
    found += ["-"] * (3 - len(found))
    return [name, *found, f"{time.monotonic() - start:.0f}", f"{rows:,}"]


def main():
    classes = online_classes()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=600, help="limit for each class")
    parser.add_argument("--only", nargs="+", choices=classes, default=list(classes))
    arguments = parser.parse_args()
    print_header(peers=())
    print(f"\nResident megabytes during {arguments.rows:,} samples")
    line = "{:25} {:>10} {:>8} {:>8} {:>8} {:>10}".format
    print(line("", "at 10 %", "50 %", "100 %", "seconds", "samples"))
    for name in arguments.only:
        with get_context("spawn").Pool(1) as pool:
            found = pool.apply(train, (name, arguments.rows, arguments.seconds))
        print(line(*found), flush=True)


if __name__ == "__main__":
    main()
