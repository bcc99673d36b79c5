"""Whether `fit` depends on the order of the rows: sorted by class, as some resamplers return them.

    python benchmarks/row_order.py [--quick]

Balanced accuracy on test samples of four generated sets and, for real data, of iris, wine, digits
and breast cancer: rows sorted by class, and the same rows shuffled. The first columns are means
over seeds and sets; the last one is the mean difference with its standard error over them.
"""

import argparse

import numpy as np
from _common import print_header, print_table
from sklearn.base import clone
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_blobs,
    make_classification,
)
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

import sklrank.linear_model as linear_model
import sklrank.online_boosting as online_boosting
import sklrank.tree as tree

MODELS = [
    linear_model.OnlineRidgeClassifier(),
    linear_model.LinUCBClassifier(),
    linear_model.SemiBanditRanker(),
    linear_model.OnlineLogisticRegression(),
    linear_model.PredtronClassifier(),
    linear_model.BanditronClassifier(),
    online_boosting.AdaOLMR(),
    online_boosting.OnlineBMR(),
    online_boosting.TopKAdaptive(),
    tree.HoeffdingTreeClassifier(),
    tree.ProbabilisticLabelTree(),
    SGDClassifier(),
]


def generated(seed):
    """Yield samples of four kinds: linear, with two clusters a class, of unequal classes, blobs."""
    options = {"n_samples": 1500, "n_features": 10, "n_classes": 3, "random_state": seed}
    yield make_classification(n_informative=5, n_clusters_per_class=1, **options)
    yield make_classification(n_informative=8, n_clusters_per_class=2, **options)
    yield make_classification(n_informative=5, weights=[0.6, 0.3, 0.1], **options)
    yield make_blobs(1500, centers=5, n_features=10, cluster_std=5.0, random_state=seed)


def real(seed):
    for load in (load_iris, load_wine, load_digits, load_breast_cancer):
        yield load(return_X_y=True)


def accuracies(model, sets, n_seeds):
    """Return the balanced accuracies `(n, 2)` after rows sorted by class, and shuffled."""
    found = []
    for seed in range(n_seeds):
        for X, y in sets(seed):
            X, X_test, y, y_test = train_test_split(X, y, test_size=0.4, random_state=seed)
            scaler = StandardScaler().fit(X)
            X, X_test = scaler.transform(X), scaler.transform(X_test)
            orders = np.argsort(y, kind="stable"), np.random.RandomState(seed).permutation(len(y))
            fits = (
                clone(model).set_params(random_state=seed).fit(X[rows], y[rows]) for rows in orders
            )
            found.append([balanced_accuracy_score(y_test, fit.predict(X_test)) for fit in fits])
    return np.array(found)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="one seed instead of five")
    n_seeds = 1 if parser.parse_args().quick else 5
    print_header()
    for name, sets in (("Generated", generated), ("Real", real)):
        rows = []
        for model in MODELS:
            values = accuracies(model, sets, n_seeds)
            change = values[:, 0] - values[:, 1]
            error = change.std(ddof=1) / len(change) ** 0.5
            means = (f"{mean:.3f}" for mean in values.mean(axis=0))
            rows.append([type(model).__name__, *means, f"{change.mean():+.3f} +- {error:.3f}"])
        title = f"{name} data, balanced accuracy, {n_seeds} seeds of 4 sets"
        print_table(title, ["model", "sorted by class", "shuffled", "difference"], rows)
