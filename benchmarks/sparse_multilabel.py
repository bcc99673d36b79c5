"""Many labels of sparse samples: rank loss, precision, CPU time and memory of online learners.

The samples are generated: documents of 50 distinct words, whose frequencies follow Zipf's law, with
TF-IDF values. Half of the words of a document are from the topics of its labels, of which there are
about three. Part 1 compares, after one pass over the training samples, on test samples:

- AdaOLMR of this package;
- OneVsRestClassifier(LogisticRegression(solver="liblinear")), trained on all samples at once;
- Vowpal Wabbit, a logistic regression for each label, with its defaults;
- river, LogisticRegression for each label, with its defaults.

The last two learn the most frequent labels only, since they take a time for each label: their times
are multiplied by the share of labels left out, and their metrics are those of these labels, for
which the metrics of AdaOLMR are printed, too. Part 2 prints the time and memory of AdaOLMR and of
ProbabilisticLabelTree for more labels and more columns; the tree learns more samples, since its
memory grows with them. Memory is the increase of the peak, each model in a process of its own.

    python benchmarks/sparse_multilabel.py [--quick]
"""

import multiprocessing
import resource
from importlib.util import find_spec

import numpy as np
from _common import Stopwatch, print_table, run_parts
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from sklrank.metrics import rank_loss
from sklrank.online_boosting import AdaOLMR
from sklrank.tree import ProbabilisticLabelTree

WORDS = 50
N_FREQUENT = 20


def indicators(rows, n_columns):
    """Return a matrix with 1 in the columns that each row lists."""
    starts = np.cumsum([0, *map(len, rows)]).astype(np.int32)
    entries = np.ones(starts[-1]), np.concatenate(rows).astype(np.int32), starts
    return sparse.csr_array(entries, shape=(len(rows), n_columns))


def documents(n, n_columns, n_labels, seed=0):
    """Return TF-IDF values and indicators, both in CSR format."""
    random = np.random.default_rng(seed)
    columns = np.cumsum(np.arange(1, n_columns + 1) ** -0.9)
    labels = np.cumsum(np.arange(1, n_labels + 1) ** -0.8)

    def draw(weights, size):
        return np.searchsorted(weights, random.uniform(0, weights[-1], size))

    topics = draw(columns, (n_labels, 30))
    rows, relevant = [], []
    for n_relevant in 1 + random.poisson(1.8, n):
        relevant.append(np.unique(draw(labels, n_relevant)))
        words = random.choice(topics[relevant[-1]].ravel(), 30)
        words = random.permutation(np.unique([*words, *draw(columns, 60)]))
        rows.append(np.sort(words[: min(WORDS, n_columns // 2)]))
    X, Y = indicators(rows, n_columns), indicators(relevant, n_labels)
    X.data *= 1 + np.log(n / np.bincount(X.indices, minlength=n_columns)[X.indices])
    X.data /= np.repeat(np.sqrt(X.power(2).sum(axis=1)), np.diff(X.indptr))
    return X, Y.astype(int)


# -- Models: return the scores of the test samples, and the CPU seconds of training.


def boosting(X, Y, X_test):
    with Stopwatch() as watch:
        model = AdaOLMR(random_state=0).fit(X, Y)
    return model.decision_function(X_test), watch.seconds


def one_versus_rest(X, Y, X_test):
    with Stopwatch() as watch:
        model = OneVsRestClassifier(LogisticRegression(solver="liblinear")).fit(X, Y)
    return model.decision_function(X_test), watch.seconds


def each_label(learn, X, Y, X_test):
    """Train a model for each frequent label, by `learn`, which returns its scores."""
    scores, watch = np.empty((X_test.shape[0], Y.shape[1])), Stopwatch()
    for label, of_label in enumerate(Y.toarray().T):
        scores[:, label] = learn(X, of_label, X_test, watch)
    return scores, watch.seconds


def vowpal_wabbit(X, y, X_test, watch):
    from vowpalwabbit import Workspace

    train, test = (
        [" | " + " ".join(f"{j}:{value:.6g}" for j, value in row) for row in rows_of(matrix)]
        for matrix in (X, X_test)
    )
    model = Workspace("--loss_function logistic --quiet")
    with watch:
        for row, relevant in zip(train, y):
            model.learn(("1" if relevant else "-1") + row)
    scores = [model.predict(row) for row in test]
    model.finish()
    return scores


def river(X, y, X_test, watch):
    from river.linear_model import LogisticRegression as OnlineLogisticRegression

    train, test = ([dict(row) for row in rows_of(matrix)] for matrix in (X, X_test))
    model = OnlineLogisticRegression()
    with watch:
        for row, relevant in zip(train, y):
            model.learn_one(row, bool(relevant))
    return [model.predict_proba_one(row).get(True, 0.5) for row in test]


def rows_of(X):
    for first, last in zip(X.indptr, X.indptr[1:]):
        yield list(zip(X.indices[first:last].tolist(), X.data[first:last].tolist()))


# -- Parts.


def in_process(function, *arguments):
    """Call a function in a new process. Return its result and the increase of the peak in MB."""
    with multiprocessing.get_context("fork").Pool(1) as pool:
        return pool.apply(with_peak, (function, *arguments))


def with_peak(function, *arguments):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = function(*arguments)
    return result, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


def quality(Y, scores):
    Y = Y.toarray()
    hits = Y[np.arange(len(Y)), scores.argmax(axis=1)][Y.any(axis=1)]
    return f"{rank_loss(Y, scores):.4f}", f"{hits.mean():.3f}"


def compare(quick):
    n, n_columns, n_labels = (400, 1000, 30) if quick else (16_000, 20_000, 500)
    X, Y = documents(n + n // 8, n_columns, n_labels)
    X, X_test, Y, Y_test = X[:n], X[n:], Y[:n], Y[n:]
    frequent = np.argsort(-Y.sum(axis=0), kind="stable")[: 3 if quick else N_FREQUENT]
    rows = []
    for name, model in (("AdaOLMR", boosting), ("OneVsRest, liblinear", one_versus_rest)):
        (scores, seconds), memory = in_process(model, X, Y, X_test)
        rows.append([name, *quality(Y_test, scores), f"{1e3 * seconds / n:.3f}", f"{memory:.0f}"])
        few = quality(Y_test[:, frequent], scores[:, frequent])
        rows.append([f"{name}, frequent labels", *few, "", ""])
    for package, model in (("vowpalwabbit", vowpal_wabbit), ("river", river)):
        if find_spec(package) is None:
            print(f"{package} is not installed")
            continue
        (scores, seconds), memory = in_process(each_label, model, X, Y[:, frequent], X_test)
        seconds *= n_labels / len(frequent)
        few = quality(Y_test[:, frequent], scores)
        rows.append([f"{package}, frequent labels", *few, f"{1e3 * seconds / n:.3f}", ""])
    titles = ("model", "rank loss", "P@1", "ms a row", "MB")
    print_table(f"{n} samples, {n_columns} columns, {n_labels} labels", titles, rows)


def label_tree(X, Y, X_test):
    with Stopwatch() as watch:
        ProbabilisticLabelTree(max_children=32).partial_fit(X, Y)
    return None, watch.seconds


def scale(quick):
    labels = (100, 300) if quick else (100, 1000, 10_000, 100_000)
    columns = (100, 1000) if quick else (100, 1000, 10_000, 100_000, 1_000_000)
    for title, sizes in (
        ("20,000 columns", [(m, 20_000) for m in labels]),
        ("500 labels", [(500, d) for d in columns]),
    ):
        rows = []
        for n_labels, n_columns in sizes:
            most = 50 if quick else int(np.clip(10**6 / n_labels, 100, 2000))
            for name, model, n in (
                ("AdaOLMR", boosting, most),
                ("ProbabilisticLabelTree", label_tree, 50 if quick else 20_000),
            ):
                X, Y = documents(n, n_columns, n_labels)
                (_, seconds), memory = in_process(model, X, Y, X[:1])
                ms = f"{1e3 * seconds / n:.3f}"
                rows.append([name, n_labels, n_columns, n, ms, f"{memory:.0f}"])
        print_table(title, ("model", "labels", "columns", "samples", "ms a row", "MB"), rows)


if __name__ == "__main__":
    run_parts({1: compare, 2: scale}, __doc__, "Memory: increase of the peak, in MB.")
