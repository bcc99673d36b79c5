"""Tables 1 and 2 and Figure 1 of Raman et al. (2020): boosting from top-k feedback.

Each model passes some times over the training rows, shows three labels of each, and learns only
whether those were relevant. Then it scores every test row, shows three labels of it, and goes on
learning. Printed is the mean normalised rank loss on the test rows, with its standard deviation
over seeds: of the scores ("loss"), and of what is shown ("shown"), where the rows that explore have
a random order in place of the best one. Training explores more than the test.

The parameters of the paper's algorithms were chosen by the test loss, as in the paper. With
--paper-parameters they are those of its Table 5, for the edge the best of its four. The recommended
setting is the same on all sets: learners that learn the relevance of the labels shown, without
importance weights; the numbers behind it are exploration and passes. Scene's test file is sorted by
label, from which learners that follow recent labels gain: a last table has its test rows shuffled.

The data: `SKLRANK_DATA` names a folder with `multilabel/NAME.npz`, which holds the original MULAN
split as X_train, Y_train, X_test and Y_test. Without it, emotions, scene and yeast are fetched from
OpenML, and the other sets are left out.

Run:  python examples/paper_top_k_tables.py [--seeds 10] [--large] [--plot FILE]
      Seven minutes, without --large.
"""

import argparse
import time
from itertools import product

import numpy as np
from _multilabel import at_hand, load
from joblib import Parallel, delayed
from sklearn.base import clone

from sklrank.metrics import rank_loss
from sklrank.model_selection import ProgressiveValidationDisplay
from sklrank.online_boosting import (
    AdaOLMR,
    OnlineBMR,
    TopKAdaptive,
    TopKBBM,
    recommended_learners,
)

K = 3
# By algorithm and randomization (uniform, single-swap): losses of Tables 1 and 2.
PAPER = {
    "emotions": {"TopKBBM": (0.20, 0.19), "TopKAdaptive": (0.22, 0.23)},
    "scene": {"TopKBBM": (0.11, 0.11), "TopKAdaptive": (0.13, 0.13)},
    "yeast": {"TopKBBM": (0.23, 0.22), "TopKAdaptive": (0.23, 0.22)},
    "mediamill_reduced": {"TopKBBM": (0.11, 0.11), "TopKAdaptive": (0.11, 0.11)},
}
# Ada.OLMR and OnlineBMR, with all labels known.
FULL = {
    "emotions": (0.16, 0.17),
    "scene": (0.09, 0.07),
    "yeast": (0.19, 0.18),
    "mediamill_reduced": (0.06, 0.06),
}
# Table 5: learners, exploration, passes.
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


def recommended(make, **parameters):
    learners = recommended_learners(feedback="top-k")
    return make(learners, n_estimators=len(learners), max_features=None, **parameters)


def tuned(name):
    """The paper's algorithms; Top-k Adaptive explores more where labels are many."""
    exploration = 0.3 if name == "mediamill_reduced" else 0.2
    return {
        "TopKBBM": [TopKBBM(n_estimators=60, edge=0.2, exploration=0.2, max_iter=20)],
        "TopKAdaptive": [TopKAdaptive(n_estimators=60, exploration=exploration, max_iter=20)],
    }


def as_in_the_paper(name):
    """The models among which the best is taken."""
    models = {}
    for make in (TopKBBM, TopKAdaptive):
        learners, exploration, passes = PAPER_PARAMETERS[name][make.__name__]
        model = make(n_estimators=learners, exploration=exploration, max_iter=passes)
        edges = EDGES if make is TopKBBM else ()
        models[make.__name__] = [clone(model).set_params(edge=e) for e in edges] or [model]
    return models


def explored(scores, randomization, random):
    """Scores whose order is what a row that explores shows."""
    order = np.argsort(-scores, axis=1, kind="stable")
    if randomization == "uniform":
        order = random.permuted(order, axis=1)
    else:
        every = np.arange(len(order))
        for _ in range(2):
            goes = random.integers(K, size=len(order))
            comes = random.integers(K, order.shape[1], size=len(order))
            order[every, goes], order[every, comes] = order[every, comes], order[every, goes]
    return -np.argsort(order, axis=1)


def play(model, data, seed, shuffle_test=False):
    """Loss of each test row's scores, the mean loss of what is shown of them, and CPU seconds."""
    X_train, Y_train, X_test, Y_test = data
    if shuffle_test:
        order = np.random.RandomState(seed).permutation(len(X_test))
        X_test, Y_test = X_test[order], Y_test[order]
    model = clone(model).set_params(random_state=seed)
    start = time.process_time()
    model.fit(X_train, Y_train)
    if hasattr(model, "explore"):
        model.set_params(exploration=min(model.exploration, TEST_EXPLORATION))
    scores = model.progressive_fit(X_test, Y_test)
    seconds = time.process_time() - start
    losses = rank_loss(Y_test, scores, average=False)
    shown = losses.mean()
    if hasattr(model, "explore"):
        randomised = explored(scores, model.randomization, np.random.default_rng(seed))
        rho = model.exploration
        shown = (1 - rho) * shown + rho * rank_loss(Y_test, randomised)
    return losses, shown, seconds


def best_of(models, data, arguments, shuffle_test=False):
    """The runs of the model with the least mean loss, one for each seed."""
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
    """Print the table of one set."""
    data = load(name)
    n_rows, n_labels = len(data[0]) + len(data[2]), data[1].shape[1]
    shuffled = ", test rows shuffled" if shuffle_test else ""
    print_title(f"{name}{shuffled}: {n_rows} rows, {n_labels} labels, k = {K}")
    models_of = as_in_the_paper(name) if arguments.paper_parameters else tuned(name)
    for algorithm, models in models_of.items():
        for column, randomization in enumerate(("uniform", "single-swap")):
            models = [clone(model).set_params(randomization=randomization) for model in models]
            runs = best_of(models, data, arguments, shuffle_test)
            paper = "" if shuffle_test else f"{PAPER[name][algorithm][column]:.2f}"
            print_line(f"{algorithm}, {randomization}", runs, paper)
    for make, exploration, passes in product((TopKBBM, TopKAdaptive), (0.2, 0.5), (1, 10)):
        model = recommended(make, exploration=exploration, max_iter=passes)
        title = f"recommended {make.__name__}, {exploration:g}, {passes}"
        print_line(title, best_of([model], data, arguments, shuffle_test))
    full = {"AdaOLMR": AdaOLMR(), "OnlineBMR": OnlineBMR(edge=0.01)}
    for column, (algorithm, model) in enumerate(full.items()):
        paper = "" if shuffle_test else f"{FULL[name][column]:.2f}"
        runs = best_of([model], data, arguments, shuffle_test)
        print_line(f"all labels known: {algorithm}, 1 pass", runs, paper)


def run_large(name, k, arguments):
    """One seed of the sets that the paper does not have."""
    data = load(name)
    arguments = argparse.Namespace(**vars(arguments) | {"seeds": 1})
    print_title(f"{name}: {len(data[0]) + len(data[2])} rows, {data[1].shape[1]} labels, k = {k}")
    models = {
        "TopKBBM, 5 passes": TopKBBM(n_estimators=60, edge=0.2, exploration=0.2, max_iter=5),
        "TopKAdaptive, 5 passes": TopKAdaptive(n_estimators=60, exploration=0.3, max_iter=5),
    }
    for make, passes in product((TopKBBM, TopKAdaptive), (1, 5)):
        model = recommended(make, exploration=0.5, max_iter=passes)
        models[f"recommended {make.__name__}, 0.5, {passes}"] = model
    for title, model in models.items():
        print_line(title, best_of([model.set_params(k=k)], data, arguments))


def learning_curve(k, data, seed):
    """Loss of each row of the stream: the passes over the training rows, then the test rows."""
    X_train, Y_train, X_test, Y_test = data
    learners, exploration, passes = PAPER_PARAMETERS["yeast"]["TopKBBM"]
    model = TopKBBM(n_estimators=learners, edge=0.2, k=k, exploration=exploration)
    X, Y = np.vstack([X_train] * passes + [X_test]), np.vstack([Y_train] * passes + [Y_test])
    scores = model.set_params(random_state=seed).progressive_fit(X, Y)
    return rank_loss(Y, scores, average=False)


def draw(arguments):
    """Figure 1: Top-k BBM on yeast, several k, with bands of one standard deviation."""
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
        title="Top-k BBM on yeast: mean loss so far",
        xlabel="Rounds: the training rows ten times over, then (dotted line) the test rows",
        ylim=(0.05, 0.4),
    )
    display.figure_.savefig(arguments.plot, dpi=120, bbox_inches="tight")
    print(f"\nFigure 1 is drawn in {arguments.plot}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--sets", nargs="*", choices=PAPER, default=at_hand(PAPER))
    parser.add_argument(
        "--paper-parameters", action="store_true", help="learners, exploration, passes of Table 5"
    )
    parser.add_argument("--large", action="store_true", help="bibtex and delicious too, one seed")
    parser.add_argument("--jobs", type=int, default=1, help="processes that share the seeds")
    parser.add_argument("--plot", metavar="FILE", help="draw Figure 1")
    arguments = parser.parse_args()
    if arguments.seeds < 1:
        parser.error("--seeds must be 1 or more")
    print("loss: of the scores of the test rows, mean and deviation over seeds; shown: of what is")
    print(f"shown of them, exploring {TEST_EXPLORATION:g}; paper: its tables 1 and 2")
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
