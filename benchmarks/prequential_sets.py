"""Label sets learned online, beside published results of 17 methods: prequential measures.

Each sample is predicted before it is learned, in the order of the files, training part first. The
measures of the label sets are compared with those of MLHAT and 16 other online methods, from the
repository of "Multi-Label Hoeffding Adaptive Tree" (Esteban et al. 2024). Ranks are among these and
our method. Our sets are chosen in two ways: by the default, ``threshold="auto"``, for all measures;
and by the threshold that optimizes the measure.

The features and constants of the calibration and the rules were chosen on emotions, scene, genbase,
foodtruck, cal500 and delicious; of the sets compared, medical, birds, yeast, bibtex and mediamill
were kept back. "Previous row" predicts the labels of the sample before, and shows on which data the
order of the file alone determines the ranks. Our copy of mediamill is a part of the data, so that
its ranks are not comparable, and it is left out of the mean.

The second table compares the probabilities of test samples with those of logistic regressions that
were trained on all training samples: log loss, and expected calibration error (ECE) in ten bins.

    SKLRANK_DATA=folder python benchmarks/prequential_sets.py [--peers mlhat_prequential.csv]
"""

import argparse
import csv
import os
import warnings
from pathlib import Path

import numpy as np
from _common import Stopwatch, load_multilabel, print_header, print_table
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score, hamming_loss
from sklearn.multiclass import OneVsRestClassifier

from sklrank.online_boosting import AdaOLMR

SETS = ("bibtex", "medical", "scene", "birds", "yeast", "emotions", "mediamill_reduced")
# Name of the measure in the table of the peers: the function, and the threshold that optimizes it.
MEASURES = {
    "micro_f1": (lambda Y, sets: f1_score(Y, sets, average="micro"), "auto"),
    "macro_f1": (lambda Y, sets: f1_score(Y, sets, average="macro"), "f1_macro"),
    "example_f1": (lambda Y, sets: f1_score(Y, sets, average="samples"), "auto"),
    "hamming": (hamming_loss, "hamming"),
    "subset_acc": (accuracy_score, "subset"),
}


def load_peers(path):
    """Return a dict of dicts: (measure, data set) -> method -> value."""
    with open(path, newline="") as file:
        rows = [dict(row) for row in csv.DictReader(file)]
    return {
        (row.pop("metric"), row.pop("dataset")): {name: float(value) for name, value in row.items()}
        for row in rows
    }


def best_and_rank(peers, measure, value):
    """Return the best peer, and the rank of a value among the peers (1: better than all)."""
    sign = -1.0 if measure == "hamming" else 1.0
    name = max(peers, key=lambda name: sign * peers[name])
    return name, 1 + sum(sign * other > sign * value for other in peers.values())


def run(name, thresholds, n_rows):
    """Return Y, the sets by each threshold, and the CPU seconds of one pass."""
    X_train, Y_train, X_test, Y_test = load_multilabel(name)
    X, Y = np.vstack([X_train, X_test])[:n_rows], np.vstack([Y_train, Y_test])[:n_rows]
    sets, watch = {}, Stopwatch()
    for threshold in thresholds:
        with watch:
            model = AdaOLMR(threshold=threshold, random_state=0)
            sets[threshold] = model.progressive_fit(X, Y, method="predict")
    return Y, sets, watch.seconds / len(thresholds)


def calibration_error(chances, Y, n_bins=10):
    """Return the mean difference between probabilities and rates of relevance, over bins."""
    bins = np.minimum((chances * n_bins).astype(int), n_bins - 1).ravel()
    differences = np.bincount(bins, weights=(chances - Y).ravel(), minlength=n_bins)
    return np.abs(differences).sum() / Y.size


def compare_probabilities(names, n_rows):
    """Print the log losses and calibration errors of test samples after one pass of training."""
    rows = []
    for name in names:
        X_train, Y_train, X_test, Y_test = load_multilabel(name)
        models = {
            "AdaOLMR, one pass": AdaOLMR(random_state=0),
            "OneVsRest(LogisticRegression)": OneVsRestClassifier(LogisticRegression(max_iter=1000)),
        }
        for title, model in models.items():
            model.fit(X_train[:n_rows], Y_train[:n_rows])
            chances = np.clip(model.predict_proba(X_test), 1e-6, 1.0 - 1e-6)
            loss = -np.mean(np.log(np.where(Y_test, chances, 1.0 - chances)))
            rows.append(
                [f"{name}: {title}", f"{loss:.4f}", f"{calibration_error(chances, Y_test):.4f}"]
            )
    print_table("Probabilities of test samples", ["data and model", "log loss", "ECE"], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", type=Path, help="table of the published results")
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--quick", action="store_true", help="200 samples of each data set")
    args = parser.parse_args()
    folder = Path(os.environ.get("SKLRANK_DATA", "."))
    peers = load_peers(args.peers or folder.parent / "peers" / "mlhat_prequential.csv")
    warnings.simplefilter("ignore", UndefinedMetricWarning)
    print_header("AdaOLMR with its default learners, one pass in the order of the file.", peers=())
    thresholds = dict.fromkeys(["auto", *(threshold for _, threshold in MEASURES.values())])
    ranks = {"auto": [], "optimized": [], "previous row": []}
    firsts = dict.fromkeys(MEASURES, 0)
    for name in args.sets:
        published = name.removesuffix("_reduced")
        Y, sets, seconds = run(name, list(thresholds), 200 if args.quick else None)
        previous = np.vstack([np.zeros_like(Y[:1]), Y[:-1]])
        rows = []
        for measure, (function, threshold) in MEASURES.items():
            of_peers, cells = peers[measure, published], [measure]
            chosen = {"auto": sets["auto"], "optimized": sets[threshold], "previous row": previous}
            for kind, predicted in chosen.items():
                value = function(Y, predicted)
                best, rank = best_and_rank(of_peers, measure, value)
                cells.append(f"{value:.3f} ({rank})")
                if not name.endswith("_reduced"):
                    ranks[kind].append(rank)
                    firsts[measure] += kind == "optimized" and rank == 1
            cells += [threshold, f"{of_peers['MLHAT']:.3f}", f"{of_peers[best]:.3f} {best}"]
            rows.append(cells)
        times = peers["time_s", published]
        title = f"{name}: {len(Y)} samples, {Y.shape[1]} labels; {seconds:.1f} s, MLHAT "
        title += f"{times['MLHAT']:.0f} s, the fastest {min(times.values()):.1f} s"
        columns = ["measure", "auto (rank)", "optimized (rank)", "previous row", "threshold"]
        print_table(title, [*columns, "MLHAT", "best peer"], rows)
    if ranks["auto"]:
        print("\nMean ranks among 18, without mediamill:")
        for kind, of_kind in ranks.items():
            print(f"  {kind}: {np.mean(of_kind):.2f}")
        print("First, optimized: " + ", ".join(f"{key} {n}" for key, n in firsts.items()))
    warnings.simplefilter("ignore", UserWarning)  # Some labels never occur in training.
    compare_probabilities(("medical", "birds", "yeast"), 200 if args.quick else None)


if __name__ == "__main__":
    main()
