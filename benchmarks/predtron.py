"""Speed and accuracy of the Predtrons, beside common alternatives.

1. Rounds per CPU second of a fit of one pass, on 64 features with ten classes or two, and on sparse
   samples with ten classes, 30 of whose 100,000 features are nonzero; for these also the peak
   memory of the fit. Beside it scikit-learn's Perceptron and SGDClassifier ("pa1" is
   passive-aggressive), which learn each class against the rest; the multiclass perceptron as a loop
   in NumPy; and river's perceptrons, on few samples.
2. Microseconds per query and pass for queries of 100 documents and 46 features, by the number of
   grades, and the share of the assignment problem, which the loss-driven step does not solve.
   Beside it `scipy.optimize.linear_sum_assignment` alone on the matrices of such queries.
3. Accuracy on classes. 4. Grades: mean absolute error. 5. Label sets: Hamming and subset loss.
6. Label rankings: rank loss and NDCG. 7. Documents of MQ2008: NDCG@10.

In 3 to 6 features are standardized; in 7 a second column has them standardized within each query.
"As printed" is one pass and the last weights, with the learning rate 1 unless another one is named.
The other models are averaged over ten passes, "recommended" in 7 over twenty. The
recommended setting for documents is the best one on the validation parts of the five folds, which
are parts of the other folds' tests; "by validation" selects one in each fold separately.

If `SKLRANK_DATA` does not name the folder of the data, 3 and 4 use data sets of scikit-learn only,
and 5 to 7 are skipped.

    python benchmarks/predtron.py [--quick] [--only 1 3]
"""

import argparse
import os
import tracemalloc

import numpy as np
from _common import least_seconds, print_header, print_table
from _predtron_accuracy import classes, document_rankings, grades, label_rankings, label_sets
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from sklearn.linear_model import Perceptron, SGDClassifier

from sklrank.linear_model import PredtronClassifier, PredtronQueryRanker

N_QUERIES, N_DOCUMENTS = 200, 100


def dense_rows(n_rows, n_classes, n_features=64):
    """Draw Gaussian clusters, one for each class."""
    random = np.random.RandomState(0)
    y = random.randint(n_classes, size=n_rows)
    centers = random.normal(0, 0.5, (n_classes, n_features))
    return centers[y] + random.normal(size=(n_rows, n_features)), y


def sparse_rows(n_rows, n_classes=10, n_features=100_000, n_entries=30):
    """Draw bags of words; a tenth of the words are from a hundred words of the class."""
    random = np.random.RandomState(0)
    y = random.randint(n_classes, size=n_rows)
    columns = random.randint(n_features, size=(n_rows, n_entries))
    class_words = random.randint(100, size=columns.shape) * n_classes + y[:, np.newaxis]
    columns = np.where(random.rand(*columns.shape) < 0.1, class_words, columns).astype(np.intc)
    starts = np.arange(0, n_rows * n_entries + 1, n_entries, dtype=np.intc)
    X = sparse.csr_array((np.ones(columns.size), columns.ravel(), starts), (n_rows, n_features))
    X.sum_duplicates()
    return X, y


def fit_loop(X, y):
    """Fit the multiclass perceptron by a plain loop in NumPy."""
    weights = np.zeros((y.max() + 1, X.shape[1]))
    if sparse.issparse(X):
        for i, label in enumerate(y.tolist()):
            entries = slice(X.indptr[i], X.indptr[i + 1])
            columns, values = X.indices[entries], X.data[entries]
            best = int((weights[:, columns] @ values).argmax())
            if best != label:
                weights[best, columns] -= values
                weights[label, columns] += values
        return
    for x, label in zip(X, y.tolist()):
        best = int((weights @ x).argmax())
        if best != label:
            weights[best] -= x
            weights[label] += x


def fit_river(X, y):
    """Fit river's perceptrons, sample by sample; return False if river is not installed."""
    try:
        from river.linear_model import Perceptron as RiverPerceptron
        from river.multiclass import OneVsRestClassifier
    except ImportError:
        return False
    model = RiverPerceptron() if y.max() == 1 else OneVsRestClassifier(RiverPerceptron())
    for i, label in enumerate(y.tolist()):
        row = X[[i]]
        kept = row.indices if sparse.issparse(X) else range(X.shape[1])
        x = dict(zip(kept, row.data if sparse.issparse(X) else row[0].tolist()))
        model.predict_one(x)
        model.learn_one(x, label)
    return True


def peak_megabytes(action, *arguments):
    tracemalloc.start()
    action(*arguments)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / 1e6


def rounds(quick):
    once = {"max_iter": 1, "shuffle": False, "tol": None}
    fits = {
        "PredtronClassifier": PredtronClassifier(shuffle=False).fit,
        "PredtronClassifier, average": PredtronClassifier(average=True, shuffle=False).fit,
        "Perceptron": Perceptron(**once).fit,
        "SGDClassifier, pa1": SGDClassifier(
            penalty=None, learning_rate="pa1", eta0=1.0, **once
        ).fit,
        "SGDClassifier, average": SGDClassifier(average=True, **once).fit,
        "NumPy loop": fit_loop,
        "river Perceptron": fit_river,
    }
    n_rows = 10_000 if quick else 200_000
    n_used = {"NumPy loop": n_rows // 10, "river Perceptron": 200 if quick else 2000}
    data = {
        "10 classes": dense_rows(n_rows, 10),
        "2 classes": dense_rows(n_rows, 2),
        "sparse": sparse_rows(n_rows),
    }
    rates = {
        (name, kind): n / least_seconds(fit, X[:n], y[:n])
        for name, fit in fits.items()
        if fit is not fit_river or fit(data["2 classes"][0][:1], data["2 classes"][1][:1])
        for kind, (X, y) in data.items()
        for n in [n_used.get(name, n_rows)]
    }
    table = []
    for name, fit in fits.items():
        if (name, "sparse") not in rates:
            continue
        row = [name]
        for kind in data:
            rate = rates[name, kind]
            row += [f"{rate:,.0f}", f"{rates['PredtronClassifier', kind] / rate:.1f}"]
        X, y = data["sparse"]
        n = n_used.get(name, n_rows)
        row.append(f"{peak_megabytes(fit, X[:n], y[:n]):.0f}")
        table.append(row)
    columns = ["rounds per second; ratio of ours to theirs"]
    columns += [title for kind in data for title in (kind, "")]
    print_table(f"1. {n_rows} samples, one pass", [*columns, "peak MB, sparse"], table)


def queries(n_grades):
    """Draw documents: half of grade 0, a quarter of grade 1, ...; or all of different grades."""
    random = np.random.RandomState(0)
    X = random.normal(size=(N_QUERIES * N_DOCUMENTS, 46))
    quality = X @ random.normal(size=46) / np.sqrt(46) + random.normal(size=len(X))
    if n_grades == N_DOCUMENTS:
        ranks = quality.reshape(N_QUERIES, N_DOCUMENTS).argsort(axis=1).argsort(axis=1)
        y = ranks.ravel() / 10
    else:
        y = np.digitize(quality, np.quantile(quality, 1 - 0.5 ** np.arange(1, n_grades)))
    return X, y, np.repeat(np.arange(N_QUERIES), N_DOCUMENTS)


def query_time(data, **parameters):
    """Return the microseconds per query of a fit of one pass, and of each further pass."""
    n_further = 3
    one = least_seconds(PredtronQueryRanker(**parameters).fit, *data)
    more = least_seconds(PredtronQueryRanker(max_iter=1 + n_further, **parameters).fit, *data)
    return 1e6 * one / N_QUERIES, 1e6 * (more - one) / (n_further * N_QUERIES)


def solver_time(X, y, qid):
    """Return the microseconds per query of SciPy's solver, with the fitted model's scores."""
    scores = PredtronQueryRanker(shuffle=False).fit(X, y, qid).predict(X)
    positions = np.arange(1.0, N_DOCUMENTS + 1)
    discounts, position_values = 1 / np.log2(1 + positions), -(positions**1.1)
    position_values /= np.linalg.norm(position_values)
    costs = []
    for i in range(N_QUERIES):
        rows = slice(i * N_DOCUMENTS, (i + 1) * N_DOCUMENTS)
        gains = np.exp2(y[rows]) - 1
        best = -np.sort(-gains) @ discounts
        costs.append(np.outer(gains / best, discounts) - np.outer(scores[rows], position_values))
    return 1e6 * least_seconds(lambda: [linear_sum_assignment(cost) for cost in costs]) / N_QUERIES


def assignments(quick):
    table = []
    for n_grades in (2, 3, 5, N_DOCUMENTS):
        data = queries(n_grades)
        fit, further = query_time(data)
        _, without = query_time(data, update="loss-driven")
        solver = solver_time(*data)
        share = f"{100 * (further - without) / further:.0f} %"
        times = (fit, further, without, further - without, solver)
        table.append([n_grades, *(f"{time:.0f}" for time in times), share])
    columns = ["grades", "fit, one pass", "further pass", "loss-driven", "assignment", "SciPy's"]
    title = f"2. Microseconds per query of {N_DOCUMENTS} documents"
    print_table(title, [*columns, "share of assignment"], table)


PARTS = {
    1: rounds,
    2: assignments,
    3: classes,
    4: grades,
    5: label_sets,
    6: label_rankings,
    7: document_rankings,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small and fast, to test the script")
    parser.add_argument("--only", type=int, nargs="+", choices=PARTS, default=list(PARTS))
    arguments = parser.parse_args()
    print_header()
    for part in arguments.only:
        if part >= 5 and "SKLRANK_DATA" not in os.environ:
            print(f"\n{part}. is skipped: SKLRANK_DATA names no folder")
            continue
        PARTS[part](arguments.quick)


if __name__ == "__main__":
    main()
