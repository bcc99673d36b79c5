"""Table 3 of Jung & Tewari (2018): progressive rank loss of online boosting, beside the paper's.

Each model learns the training samples in the order of their file, then scores each test sample
before it learns it. The script prints the mean rank loss of the test samples, as mean and standard
deviation over seeds, and CPU seconds. For OnlineBMR it prints the best of several edges, as the
paper does. "Ada.OLMR, default" has the recommended weak learners, the same on all data sets. The
test file of scene is sorted by label, which helps learners of recent label frequencies; the last
table has its test samples shuffled.

`SKLRANK_DATA` names a folder with files `multilabel/NAME.npz`, which have the original MULAN split
as X_train, Y_train, X_test and Y_test. If it is not set, emotions, scene and yeast are fetched from
OpenML, and the other data sets are skipped.

Run:  python examples/paper_table_3.py [--seeds 10] [--large] [--plot FILE]
      Two to three minutes, without --large.
"""

import argparse
import time

import numpy as np
from _multilabel import available, load
from joblib import Parallel, delayed

from sklrank.metrics import rank_loss
from sklrank.model_selection import ProgressiveValidationDisplay
from sklrank.online_boosting import AdaOLMR, OnlineBMR

# Loss and seconds of Ada.OLMR and of the best OnlineBMR, loss of the best batch booster.
PAPER = {
    "emotions": {"Ada.OLMR": (0.1600, 253), "OnlineBMR": (0.1654, 611), "batch": 0.1699},
    "scene": {"Ada.OLMR": (0.0881, 341), "OnlineBMR": (0.0743, 1488), "batch": 0.0720},
    "yeast": {"Ada.OLMR": (0.1874, 2675), "OnlineBMR": (0.1836, 9170), "batch": 0.1820},
    "mediamill_reduced": {"Ada.OLMR": (0.0632, 4148), "OnlineBMR": (0.0630, 288204), "batch": None},
}
LARGE = ("bibtex", "delicious")
EDGES = (0.2, 0.1, 0.01, 0.001)
EDGES_FOR_MANY_LABELS = (0.05, 0.01, 0.005, 0.001)


def settings(n_labels):
    edges = EDGES if n_labels < 50 else EDGES_FOR_MANY_LABELS
    return {
        "Ada.OLMR": AdaOLMR("trees"),
        **{f"OnlineBMR, edge {edge}": OnlineBMR("trees", edge=edge) for edge in edges},
        "Ada.OLMR, default": AdaOLMR(),
    }


def play(model, data, seed, shuffle_test):
    """Return the loss of each test sample, and CPU seconds."""
    X_train, Y_train, X_test, Y_test = data
    if shuffle_test:
        order = np.random.RandomState(seed).permutation(len(X_test))
        X_test, Y_test = X_test[order], Y_test[order]
    model.set_params(shuffle=False, random_state=seed)
    start = time.process_time()
    scores = model.fit(X_train, Y_train).progressive_fit(X_test, Y_test)
    return rank_loss(Y_test, scores, average=False), time.process_time() - start


def run(name, seeds, n_jobs, shuffle_test=False):
    """Print the table of one data set; return the losses of each model, one row per seed."""
    data = load(name)
    n_samples, n_labels = len(data[0]) + len(data[2]), data[1].shape[1]
    losses, seconds = {}, {}
    for setting, model in settings(n_labels).items():
        runs = Parallel(n_jobs=n_jobs)(
            delayed(play)(model, data, seed, shuffle_test) for seed in range(seeds)
        )
        losses[setting] = np.array([loss for loss, _ in runs])
        seconds[setting] = np.mean([second for _, second in runs])
    best = min((s for s in losses if s.startswith("OnlineBMR")), key=lambda s: losses[s].mean())
    shown = {"Ada.OLMR, trees": "Ada.OLMR", f"best {best}": best}
    shown["Ada.OLMR, default"] = "Ada.OLMR, default"
    paper = PAPER.get(name, {})
    shuffled = ", test samples shuffled" if shuffle_test else ""
    print(f"\n{name}{shuffled}: {n_samples} samples, {n_labels} labels")
    print(f"  {'':<28}{'loss':>8}{'+-':>8}{'seconds':>9}    paper's loss (seconds)")
    for title, setting in shown.items():
        of_seeds = losses[setting].mean(axis=1)
        line = f"  {title:<28}{of_seeds.mean():>8.4f}{of_seeds.std():>8.4f}{seconds[setting]:>9.2f}"
        algorithm = None if setting == "Ada.OLMR, default" else setting.split(",")[0]
        if not shuffle_test and algorithm in paper:
            loss, time_taken = paper[algorithm]
            line += f"    {loss:.4f} ({time_taken:,})"
        elif not shuffle_test and paper.get("batch"):
            line += f"    {paper['batch']:.4f} (best batch booster)"
        print(line, flush=True)
    return {title: losses[setting] for title, setting in shown.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--large", action="store_true", help="also bibtex and delicious (one seed)")
    parser.add_argument("--jobs", type=int, default=1, help="number of processes")
    parser.add_argument("--plot", metavar="FILE", help="draw the learning curves")
    arguments = parser.parse_args()

    curves = {name: run(name, arguments.seeds, arguments.jobs) for name in available(PAPER)}
    run("scene", arguments.seeds, arguments.jobs, shuffle_test=True)
    for name in LARGE if arguments.large else ():
        run(name, 1, arguments.jobs)

    if arguments.plot:
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(2, 2, figsize=(10, 7), layout="constrained")
        for ax, (name, losses) in zip(axes.flat, curves.items()):
            ProgressiveValidationDisplay(losses=losses, scoring_name="rank loss").plot(ax=ax)
            ax.set_title(name.replace("_", " "))
            last = [losses[model].mean() for model in losses]
            ax.set_ylim(0.5 * min(last), 1.6 * max(last))
        for ax in axes.flat[len(curves) :]:
            ax.remove()
        figure.suptitle("Mean rank loss of the test samples, each scored before it is learned")
        figure.savefig(arguments.plot, dpi=120)
        print(f"\nThe learning curves are drawn in {arguments.plot}")


if __name__ == "__main__":
    main()
