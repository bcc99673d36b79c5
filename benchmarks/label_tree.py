"""Compare ProbabilisticLabelTree with the batch label tree of napkinXC.

1. The original splits of bibtex and delicious. The settings of ProbabilisticLabelTree were chosen
   on parts of the training samples of these sets and of medical.
2. Generated texts with 4000 labels.
3. Time and memory by the number of labels, for the same number of generated texts. Each run is a
   process of its own, so that its peak memory can be measured.

By default, the generated data are small. With --full, there are 20,000 texts in part 2, and up to
100,000 labels in part 3, which needs 7 GB of memory.

`fit` clusters the labels; `partial_fit` adds them to the tree one by one. A "pass" is one reading
of the training samples. Without napkinXC (pip install napkinxc), its rows are left out.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from time import process_time

import numpy as np
from _common import load_multilabel, print_header, print_table
from scipy import sparse

from sklrank.tree import ProbabilisticLabelTree

try:
    from napkinxc.models import PLT
except ImportError:
    PLT = None

KS = (1, 3, 5)
N_TEST = 2000
COLUMNS = ("model", "P@1", "P@3", "P@5", "us/row learned", "us/row predicted", "s")


def make_texts(n_samples, n_labels, n_features=20_000, seed=0):
    """Draw texts of 50 words, as 0/1 features, and one to five labels for each.

    A label has 30 words: half of them are its own, half of them come from the 60 words of its
    topic, to which 20 labels belong. Labels have a Zipf distribution, and those of a text are
    mostly from one topic. Half of the words are drawn from those of its labels, and half from all
    words, with a Zipf distribution.
    """
    rng = np.random.default_rng(seed)
    zipf = 1.0 / np.arange(1, n_features + 1)
    popularity = 1.0 / (np.arange(n_labels) + 10.0)
    popularity /= popularity.sum()
    n_topics = max(n_labels // 20, 1)
    topics = rng.permutation(n_labels) % n_topics
    by_topic = np.argsort(topics, kind="stable")
    sizes = np.bincount(topics, minlength=n_topics)
    starts = np.cumsum(sizes) - sizes
    of_topics = rng.integers(n_features, size=(n_topics, 60))
    shared = of_topics[topics[:, np.newaxis], rng.integers(60, size=(n_labels, 15))]
    words_of_labels = np.hstack([rng.integers(n_features, size=(n_labels, 15)), shared])

    labels = rng.choice(n_labels, size=(n_samples, 5), p=popularity)
    topic = topics[labels[:, :1]]
    related = by_topic[starts[topic] + (rng.random((n_samples, 4)) * sizes[topic]).astype(int)]
    labels[:, 1:] = np.where(rng.random((n_samples, 4)) < 0.7, related, labels[:, 1:])
    n_of = rng.integers(1, 6, size=(n_samples, 1))
    owners = np.take_along_axis(labels, (rng.random((n_samples, 50)) * n_of).astype(int), axis=1)
    words = words_of_labels[owners, rng.integers(30, size=owners.shape)]
    others = rng.choice(n_features, size=words.shape, p=zipf / zipf.sum())
    words = np.where(rng.random(words.shape) < 0.5, others, words)
    return indicator(words, n_features), indicator(labels, n_labels, np.arange(5) < n_of)


def indicator(columns, n_columns, mask=None):
    """Return a CSR matrix of ones at the given columns of each row, of those in the mask."""
    mask = np.ones(columns.shape, dtype=bool) if mask is None else mask
    rows = np.repeat(np.arange(len(columns)), mask.sum(axis=1))
    ones = np.ones(len(rows))
    matrix = sparse.csr_array((ones, (rows, columns[mask])), shape=(len(columns), n_columns))
    matrix.data[:] = 1.0
    return matrix


def split(X, Y, n_test):
    return X[:-n_test], Y[:-n_test], X[-n_test:], Y[-n_test:]


def measure(name, learn, search, X_test, Y_test, n_samples):
    """Train a model and search the 5 best labels of the test samples. Return a row of the table."""
    start = process_time()
    model = learn()
    learned = process_time()
    best = np.asarray(search(model, X_test))
    searched = process_time()
    hits = np.array([[Y_test[i, label] for label in row] for i, row in enumerate(best)])
    return [
        name,
        *(f"{100 * hits[:, :k].mean():.1f}" for k in KS),
        f"{1e6 * (learned - start) / n_samples:.0f}",
        f"{1e6 * (searched - learned) / X_test.shape[0]:.0f}",
        f"{learned - start:.2f}",
    ]


def tree_row(name, method, data, **options):
    X, Y, X_test, Y_test = data
    model = ProbabilisticLabelTree(random_state=0, **options)
    return measure(
        name,
        lambda: getattr(model, method)(X, Y),
        lambda model, X: model.predict_topk(X, 5),
        X_test,
        Y_test,
        X.shape[0],
    )


def napkin_rows(data):
    """Return a list of the row of napkinXC, which is empty if it is not installed."""
    if PLT is None:
        return []
    X, Y, X_test, Y_test = data
    X, X_test, Y = sparse.csr_matrix(X), sparse.csr_matrix(X_test), sparse.csr_array(Y)
    lists = [labels.tolist() for labels in np.split(Y.indices, Y.indptr[1:-1])]
    with tempfile.TemporaryDirectory() as folder:
        model = PLT(folder, threads=1)
        return [
            measure(
                "napkinXC (batch)",
                lambda: model.fit(X, lists) or model,
                lambda model, X: model.predict(X, top_k=5),
                X_test,
                Y_test,
                X.shape[0],
            )
        ]


def compare(title, data, sizes):
    rows = [
        tree_row(f"{text}, max_children={size}", method, data, max_children=size, **options)
        for size in sizes
        for text, method, options in (
            ("partial_fit", "partial_fit", {}),
            ("fit, 1 pass", "fit", {}),
            ("fit, 5 passes", "fit", {"max_iter": 5}),
        )
    ]
    print_table(title, COLUMNS, rows + napkin_rows(data))


def growth(name, n_samples, n_labels, method, size):
    """Print a row of the table of part 3, as JSON."""
    X, Y, X_test, Y_test = split(*make_texts(n_samples + N_TEST, n_labels, seed=2), N_TEST)
    # The model is learned twice: the first time gives the memory, the second one the times.
    model = ProbabilisticLabelTree(random_state=0, max_children=size)
    before = resident_bytes()
    getattr(model, method)(X, Y)
    growth_in_mb = (resident_bytes() - before) / 1e6
    del model
    row = tree_row(name, method, (X, Y, X_test, Y_test), max_children=size)
    print(json.dumps([*row, f"{growth_in_mb:.0f}"]))


def resident_bytes():
    """Return the memory of this process (on Linux)."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def print_growth(n_samples, numbers):
    rows = []
    for method, size in (("partial_fit", 32), ("fit", 32), ("fit", 128)):
        for n_labels in numbers:
            name = f"{method}, max_children={size}, {n_labels} labels"
            arguments = map(str, (name, n_samples, n_labels, method, size))
            command = [sys.executable, __file__, "--growth", *arguments]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            rows.append(json.loads(done.stdout))
    print_table(f"Growth, {n_samples} samples", (*COLUMNS, "MB"), rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="large generated data")
    parser.add_argument("--only", type=int, nargs="+", choices=(1, 2, 3), default=(1, 2, 3))
    parser.add_argument("--growth", nargs=5, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.growth:
        name, n_samples, n_labels, method, size = options.growth
        growth(name, int(n_samples), int(n_labels), method, int(size))
        return
    print_header(peers=("napkinxc",))
    if 1 in options.only:
        for name in ("bibtex", "delicious"):
            compare(name, load_multilabel(name), (128,))
    if 2 in options.only:
        data = split(*make_texts(22_000 if options.full else 6_000, 4000, seed=1), N_TEST)
        compare("Generated texts, 4000 labels", data, (32, 128))
    if 3 in options.only:
        numbers = (100, 1000, 10_000, 100_000) if options.full else (100, 1000, 10_000)
        print_growth(100_000 if options.full else 5_000, numbers)


if __name__ == "__main__":
    main()
