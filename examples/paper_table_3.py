"""Table 3 of Jung & Tewari (2018): progressive rank loss of online boosting, beside the paper's.

Each model learns the training rows in the order of their file, then scores every test row before
it learns it. Printed is the mean rank loss of the test rows, mean and standard deviation over
seeds, and CPU seconds. OnlineBMR's figure is that of its best edge, as in the paper. The
recommended setting is the same on all sets. Scene's test file is sorted by label, and a learner
that knows how frequent each label was of late gains from it; the last table has its test rows
shuffled.

The data: `SKLRANK_DATA` names a folder with `multilabel/NAME.npz`, which holds the original MULAN
split as X_train, Y_train, X_test and Y_test. Without it, emotions, scene and yeast are fetched from
OpenML, and the other sets are left out.

Run:  python examples/paper_table_3.py [--seeds 10] [--large] [--plot FILE]
      Two to three minutes, without --large.
"""

import argparse
import time

import numpy as np
from _multilabel import at_hand, load
from joblib import Parallel, delayed

from sklrank.metrics import rank_loss
from sklrank.model_selection import ProgressiveValidationDisplay
from sklrank.online_boosting import AdaOLMR, OnlineBMR, recommended_learners

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
        "Ada.OLMR": AdaOLMR(),
        **{f"OnlineBMR, edge {edge}": OnlineBMR(edge=edge) for edge in edges},
        "recommended": AdaOLMR(recommended_learners(), n_estimators=22, max_features=None),
    }


def play(model, data, seed, shuffle_test):
    """Loss of each test row, and CPU seconds."""
    X_train, Y_train, X_test, Y_test = data
    if shuffle_test:
        order = np.random.RandomState(seed).permutation(len(X_test))
        X_test, Y_test = X_test[order], Y_test[order]
    model.set_params(random_state=seed)
    start = time.process_time()
    scores = model.fit(X_train, Y_train).progressive_fit(X_test, Y_test)
    return rank_loss(Y_test, scores, average=False), time.process_time() - start


def run(name, seeds, n_jobs, shuffle_test=False):
    """Print the table of one set; returns the losses of each model, a row a seed."""
    data = load(name)
    n_rows, n_labels = len(data[0]) + len(data[2]), data[1].shape[1]
    losses, seconds = {}, {}
    for setting, model in settings(n_labels).items():
        runs = Parallel(n_jobs=n_jobs)(
            delayed(play)(model, data, seed, shuffle_test) for seed in range(seeds)
        )
        losses[setting] = np.array([loss for loss, _ in runs])
        seconds[setting] = np.mean([second for _, second in runs])
    best = min((s for s in losses if s.startswith("OnlineBMR")), key=lambda s: losses[s].mean())
    shown = {"Ada.OLMR": "Ada.OLMR", f"best {best}": best, "recommended": "recommended"}
    paper = PAPER.get(name, {})
    shuffled = ", test rows shuffled" if shuffle_test else ""
    print(f"\n{name}{shuffled}: {n_rows} rows, {n_labels} labels")
    print(f"  {'':<28}{'loss':>8}{'+-':>8}{'seconds':>9}    paper's loss (seconds)")
    for title, setting in shown.items():
        of_seeds = losses[setting].mean(axis=1)
        line = f"  {title:<28}{of_seeds.mean():>8.4f}{of_seeds.std():>8.4f}{seconds[setting]:>9.2f}"
        if not shuffle_test and setting.split(",")[0] in paper:
            loss, time_taken = paper[setting.split(",")[0]]
            line += f"    {loss:.4f} ({time_taken:,})"
        elif not shuffle_test and paper.get("batch"):
            line += f"    {paper['batch']:.4f} (best batch booster)"
        print(line, flush=True)
    return {title: losses[setting] for title, setting in shown.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--large", action="store_true", help="bibtex and delicious too, one seed")
    parser.add_argument("--jobs", type=int, default=1, help="processes that share the seeds")
    parser.add_argument("--plot", metavar="FILE", help="draw the learning curves")
    arguments = parser.parse_args()

    curves = {name: run(name, arguments.seeds, arguments.jobs) for name in at_hand(PAPER)}
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
        figure.suptitle("Test rows, scored before they are learnt: mean rank loss so far")
        figure.savefig(arguments.plot, dpi=120)
        print(f"\nThe learning curves are drawn in {arguments.plot}")


if __name__ == "__main__":
    main()
