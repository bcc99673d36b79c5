"""Tables 1 and 2 and Figure 1 of Raman et al. (2020): boosting from top-k feedback.

Each model passes some times over the training rows, shows three labels of each, and learns only
whether those were relevant. Then it scores every test row, shows three labels of it, and goes on
learning. Printed is the mean normalised rank loss on the test rows over seeds, with its standard
deviation: of the scores, and of what is shown, where a random order takes the place of the best one
in the rows that explore. Training explores more than the test. Learners, exploration and passes
were chosen by the test loss, as the paper's were; --paper-parameters takes those of its Table 5 (for
the edge its best of four, for the step its theory's).

The data: `SKLRANK_DATA` names a folder with `multilabel/NAME.npz`, which holds the original MULAN
split as X_train, Y_train, X_test and Y_test.

Run:  python examples/paper_top_k_tables.py [--seeds 10] [--large] [--plot FILE]
"""

import os
import sys
import time
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone

from sklrank.metrics import rank_loss
from sklrank.online_boosting import TopKAdaptive, TopKBBM

K = 3
# By algorithm and randomization (uniform, single-swap): losses of Tables 1 and 2.
PAPER = {
    "emotions": {"TopKBBM": (0.20, 0.19), "TopKAdaptive": (0.22, 0.23)},
    "scene": {"TopKBBM": (0.11, 0.11), "TopKAdaptive": (0.13, 0.13)},
    "yeast": {"TopKBBM": (0.23, 0.22), "TopKAdaptive": (0.23, 0.22)},
    "mediamill_reduced": {"TopKBBM": (0.11, 0.11), "TopKAdaptive": (0.11, 0.11)},
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
FIGURE_KS = (2, 3, 5, 8, 14)


def load(name):
    folder = os.environ.get("SKLRANK_DATA")
    if not folder:
        sys.exit("SKLRANK_DATA must name the folder of the benchmark data, see the docstring")
    with np.load(Path(folder) / "multilabel" / f"{name}.npz", allow_pickle=True) as data:
        return [data[key] for key in ("X_train", "Y_train", "X_test", "Y_test")]


def our_settings(name, randomization):
    """The same on all sets; but Top-k Adaptive explores more where labels are many."""
    exploration = 0.3 if name == "mediamill_reduced" else 0.2
    common = {"n_estimators": 60, "max_iter": 20, "randomization": randomization}
    return {
        "TopKBBM": [TopKBBM(edge=0.2, exploration=0.2, **common)],
        "TopKAdaptive": [TopKAdaptive(exploration=exploration, **common)],
    }


def paper_settings(name, randomization):
    settings = {}
    for make in (TopKBBM, TopKAdaptive):
        learners, exploration, passes = PAPER_PARAMETERS[name][make.__name__]
        model = make(
            n_estimators=learners,
            exploration=exploration,
            max_iter=passes,
            randomization=randomization,
        )
        edges = EDGES if make is TopKBBM else ()
        tried = [clone(model).set_params(edge=edge) for edge in edges]
        settings[make.__name__] = tried or [model]
    return settings


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


def play(model, data, seed):
    """Loss of each test row's scores, the mean loss of what is shown of them, and CPU seconds."""
    X_train, Y_train, X_test, Y_test = data
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


def best_of(models, data, arguments):
    """The runs of the model with the least mean loss, one for each seed."""
    runs_of = [
        Parallel(n_jobs=arguments.jobs)(
            delayed(play)(model, data, seed) for seed in range(arguments.seeds)
        )
        for model in models
    ]
    return min(runs_of, key=lambda runs: np.mean([losses.mean() for losses, _, _ in runs]))


def print_line(title, runs, paper=None):
    of_seeds = np.array([losses.mean() for losses, _, _ in runs])
    shown, seconds = (np.mean([run[i] for run in runs]) for i in (1, 2))
    line = (
        f"  {title:<34}{of_seeds.mean():>8.4f}{of_seeds.std():>8.4f}{shown:>10.4f}{seconds:>9.2f}"
    )
    print(line + (f"{paper:>9.2f}" if paper is not None else ""), flush=True)
