"""Tables 1 and 2 and Figure 1 of Raman et al. (2020): boosting from top-k feedback.

Each model makes some passes over the training samples, shows three labels of each sample, and
learns only the relevance of these. Then it scores each test sample, shows three labels of it, and
learns it in the same way. The script prints the mean normalized rank loss of the test samples, with
its standard deviation over seeds, for the scores ("loss") and for the labels shown ("shown"), which
are random if a sample explores. The models explore more on the training samples than on the test
samples.

The parameters of the paper's algorithms, over trees, were chosen by the test loss, as in the paper.
With --paper-parameters they are those of its Table 5, with the best of its four edges. "default"
models have the recommended weak learners, the same on all data sets, which learn from the estimated
costs; exploration and passes follow their name. The test file of scene is sorted by label, which
helps learners of recent label frequencies; a last table has its test samples shuffled.

`SKLRANK_DATA` names a folder with files `multilabel/NAME.npz`, which have the original MULAN split
as X_train, Y_train, X_test and Y_test. If it is not set, emotions, scene and yeast are fetched from
OpenML, and the other data sets are skipped.

Run:  python examples/paper_top_k_tables.py [--seeds 10] [--large] [--plot FILE]
      Seven minutes, without --large.
"""

import argparse
import time
from itertools import product

import numpy as np
from _multilabel import available, load
from joblib import Parallel, delayed
from sklearn.base import clone

from sklrank.metrics import rank_loss
from sklrank.model_selection import ProgressiveValidationDisplay
from sklrank.online_boosting import AdaOLMR, OnlineBMR, TopKAdaptive, TopKBBM

K = 3
# By algorithm and randomization (uniform, single-swap): losses of Tables 1 and 2.
PAPER = {
    "emotions": {"TopKBBM": (0.20, 0.19), "TopKAdaptive": (0.22, 0.23)},
    "scene": {"TopKBBM": (0.11, 0.11), "TopKAdaptive": (0.13, 0.13)},
    "yeast": {"TopKBBM": (0.23, 0.22), "TopKAdaptive": (0.23, 0.22)},
    "mediamill_reduced": {"TopKBBM": (0.11, 0.11), "TopKAdaptive": (0.11, 0.11)},
}
# Losses of Ada.OLMR and OnlineBMR, from the relevance of all labels.
FULL = {
    "emotions": (0.16, 0.17),
    "scene": (0.09, 0.07),
    "yeast": (0.19, 0.18),
    "mediamill_reduced": (0.06, 0.06),
}
# Table 5: number of learners, exploration, number of passes.
PAPER_PARAMETERS = {
    "emotions": {"TopKBBM": (50, 0.02, 20), "TopKAdaptive": (50, 0.02, 10)},
    "scene": {"TopKBBM": (50, 0.02, 10), "TopKAdaptive": (50, 0.04, 10)},
    "yeast": {"TopKBBM": (30, 0.03, 10), "TopKAdaptive": (60, 0.04, 10)},
    "mediamill_reduced": {"TopKBBM": (20, 0.04, 20), "TopKAdaptive": (60, 0.06, 20)},
}
EDGES = (0.1, 0.2, 0.3, 0.4)
TEST_EXPLORATION = 0.02
LARGE = ("bibtex", "delicious")
LARGE_KS = (5, 10)
FIGURE_KS = (2, 3, 5, 8, 14)


def of_trees(make, n_estimators, **parameters):
    """Return an algorithm with the estimates and heuristics of the paper's experiments."""
    printed = {"cost_estimate": "pairs", "propensity_clip": 0.005}
    if make is TopKAdaptive:
        printed["learning_rate"] = "theory"
    return make("trees", n_estimators, **printed, **parameters)


def tuned(name):
    """Return the paper's algorithms; Top-k Adaptive explores more if there are many labels."""
    exploration = 0.3 if name == "mediamill_reduced" else 0.2
    return {
        "TopKBBM": [of_trees(TopKBBM, 60, edge=0.2, exploration=0.2, max_iter=20)],
        "TopKAdaptive": [of_trees(TopKAdaptive, 60, exploration=exploration, max_iter=20)],
    }


def as_in_the_paper(name):
    """Return the paper's algorithms with its parameters; the best of each list is reported."""
    models = {}
    for make in (TopKBBM, TopKAdaptive):
        learners, exploration, passes = PAPER_PARAMETERS[name][make.__name__]
        model = of_trees(make, learners, exploration=exploration, max_iter=passes)
        edges = EDGES if make is TopKBBM else ()
        models[make.__name__] = [clone(model).set_params(edge=e) for e in edges] or [model]
    return models


def explored(scores, randomization, random):
    """Return scores whose order is that of the labels shown if a sample explores."""
    order = np.argsort(-scores, axis=1, kind="stable")
    if randomization == "uniform":
        order = random.permuted(order, axis=1)
    else:
        rows = np.arange(len(order))
        for _ in range(2):
            shown = random.integers(K, size=len(order))
            hidden = random.integers(K, order.shape[1], size=len(order))
            order[rows, shown], order[rows, hidden] = order[rows, hidden], order[rows, shown]
    return -np.argsort(order, axis=1)


def play(model, data, seed, shuffle_test=False):
    """Return the loss of each test sample, the mean loss of the labels shown, and CPU seconds."""
    X_train, Y_train, X_test, Y_test = data
    if shuffle_test:
        order = np.random.RandomState(seed).permutation(len(X_test))
        X_test, Y_test = X_test[order], Y_test[order]
    model = clone(model).set_params(shuffle=False, random_state=seed)
    start = time.process_time()
    model.fit(X_train, Y_train)
    if hasattr(model, "explore"):
        model.set_params(exploration=min(model.exploration, TEST_EXPLORATION))
    scores = model.progressive_fit(X_test, Y_test)
    seconds = time.process_time() - start
    losses = rank_loss(Y_test, scores, average=False)
    shown = losses.mean()
    if hasattr(model, "explore"):
        randomized = explored(scores, model.randomization, np.random.default_rng(seed))
        rho = model.exploration
        shown = (1 - rho) * shown + rho * rank_loss(Y_test, randomized)
    return losses, shown, seconds


def best_of(models, data, arguments, shuffle_test=False):
    """Return the runs, one for each seed, of the model with the smallest mean loss."""
    runs_of = [
        Parallel(n_jobs=arguments.jobs)(
            delayed(play)(model, data, seed, shuffle_test) for seed in range(arguments.seeds)
        )
        for model in models
    ]
    return min(runs_of, key=lambda runs: np.mean([losses.mean() for losses, _, _ in runs]))


def print_title(title):
    print(f"\n{title}")
    print(f"  {'':<36}{'loss':>8}{'+-':>8}{'shown':>8}{'seconds':>9}{'paper':>7}")


def print_line(title, runs, paper=""):
    losses = np.array([losses.mean() for losses, _, _ in runs])
    shown, seconds = np.mean([run[1:] for run in runs], axis=0)
    figures = f"{losses.mean():>8.4f}{losses.std():>8.4f}{shown:>8.4f}{seconds:>9.2f}"
    print(f"  {title:<36}{figures}{paper:>7}", flush=True)


def run(name, arguments, shuffle_test=False):
    """Print the table of one data set."""
    data = load(name)
    n_samples, n_labels = len(data[0]) + len(data[2]), data[1].shape[1]
    shuffled = ", test samples shuffled" if shuffle_test else ""
    print_title(f"{name}{shuffled}: {n_samples} samples, {n_labels} labels, k = {K}")
    models_of = as_in_the_paper(name) if arguments.paper_parameters else tuned(name)
    for algorithm, models in models_of.items():
        for column, randomization in enumerate(("uniform", "single-swap")):
            models = [clone(model).set_params(randomization=randomization) for model in models]
            runs = best_of(models, data, arguments, shuffle_test)
            paper = "" if shuffle_test else f"{PAPER[name][algorithm][column]:.2f}"
            print_line(f"{algorithm}, {randomization}", runs, paper)
    for make, exploration, passes in product((TopKBBM, TopKAdaptive), (0.2, 0.5), (1, 10)):
        model = make(exploration=exploration, max_iter=passes)
        title = f"default {make.__name__}, {exploration:g}, {passes}"
        print_line(title, best_of([model], data, arguments, shuffle_test))
    full = {"AdaOLMR": AdaOLMR("trees"), "OnlineBMR": OnlineBMR("trees", edge=0.01)}
    for column, (algorithm, model) in enumerate(full.items()):
        paper = "" if shuffle_test else f"{FULL[name][column]:.2f}"
        runs = best_of([model], data, arguments, shuffle_test)
        print_line(f"all labels known, {algorithm}, 1 pass", runs, paper)


def run_large(name, k, arguments):
    """Print the table of a larger data set, which the paper does not have, for one seed."""
    data = load(name)
    arguments = argparse.Namespace(**vars(arguments) | {"seeds": 1})
    print_title(
        f"{name}: {len(data[0]) + len(data[2])} samples, {data[1].shape[1]} labels, k = {k}"
    )
    models = {
        "TopKBBM, 5 passes": of_trees(TopKBBM, 60, edge=0.2, exploration=0.2, max_iter=5),
        "TopKAdaptive, 5 passes": of_trees(TopKAdaptive, 60, exploration=0.3, max_iter=5),
    }
    for make, passes in product((TopKBBM, TopKAdaptive), (1, 5)):
        model = make(exploration=0.5, max_iter=passes)
        models[f"default {make.__name__}, 0.5, {passes}"] = model
    for title, model in models.items():
        print_line(title, best_of([model.set_params(k=k)], data, arguments))


def learning_curve(k, data, seed):
    """Return the loss of each sample: in the passes over the training samples, then in the test."""
    X_train, Y_train, X_test, Y_test = data
    learners, exploration, passes = PAPER_PARAMETERS["yeast"]["TopKBBM"]
    model = of_trees(TopKBBM, learners, edge=0.2, k=k, exploration=exploration)
    X, Y = np.vstack([X_train] * passes + [X_test]), np.vstack([Y_train] * passes + [Y_test])
    scores = model.set_params(random_state=seed).progressive_fit(X, Y)
    return rank_loss(Y, scores, average=False)


def draw(arguments):
    """Draw Figure 1: Top-k BBM on yeast, several k, with bands of one standard deviation."""
    data = load("yeast")
    losses = {
        f"k = {k}": np.array(
            Parallel(n_jobs=arguments.jobs)(
                delayed(learning_curve)(k, data, seed) for seed in range(arguments.seeds)
            )
        )
        for k in FIGURE_KS
    }
    display = ProgressiveValidationDisplay(losses=losses, scoring_name="rank loss").plot()
    n_test = len(data[2])
    display.ax_.axvline(losses["k = 3"].shape[1] - n_test, color="0.6", linestyle=":")
    display.ax_.set(
        title="Top-k BBM on yeast: mean loss up to each round",
        xlabel="Rounds: ten passes over the training samples, then (dotted line) the test samples",
        ylim=(0.05, 0.4),
    )
    display.figure_.savefig(arguments.plot, dpi=120, bbox_inches="tight")
    print(f"\nFigure 1 is drawn in {arguments.plot}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--sets", nargs="*", choices=PAPER, default=available(PAPER))
    parser.add_argument(
        "--paper-parameters", action="store_true", help="use the parameters of Table 5"
    )
    parser.add_argument("--large", action="store_true", help="also bibtex and delicious (one seed)")
    parser.add_argument("--jobs", type=int, default=1, help="number of processes")
    parser.add_argument("--plot", metavar="FILE", help="draw Figure 1")
    arguments = parser.parse_args()
    if arguments.seeds < 1:
        parser.error("--seeds must be 1 or more")
    print("loss: rank loss of the scores of the test samples, mean and deviation over seeds")
    print(f"shown: that of the labels shown, with exploration {TEST_EXPLORATION:g}")
    print("paper: Tables 1 and 2")
    for name in arguments.sets:
        run(name, arguments)
    if "scene" in arguments.sets:
        run("scene", arguments, shuffle_test=True)
    for name, k in product(LARGE, LARGE_KS) if arguments.large else ():
        run_large(name, k, arguments)
    if arguments.plot:
        draw(arguments)


if __name__ == "__main__":
    main()
