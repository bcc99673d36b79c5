"""Learning from top-k feedback: speed, and rank loss beside the strongest simple rival.

1. Speed on a stand-in of mediamill's training part (30,993 rows, see online_boosting.py): 20 passes
   with 10 learners that show 3 of 101 labels. The paper took 4752 s for Top-k Adaptive; Top-k BBM
   could not be computed.
2. `explore`: one row at a time, and 10,000 rows in a call.
3. Rank loss of the test rows, from what three shown labels tell: the boosters, and a logistic
   regression for each label with AdaGrad steps that is updated for the labels shown only (of its
   steps the best by the test loss; its columns are scaled by the training part beforehand). The
   order of scene's test rows, by label, flatters both.

    SKLRANK_DATA=folder python benchmarks/top_k_feedback.py [--quick] [--only 1 3]
"""

import argparse
import time

import numpy as np
from _common import Stopwatch, load_multilabel, print_header, print_table
from online_boosting import stand_in

from sklrank.metrics import rank_loss
from sklrank.online_boosting import TopKAdaptive, TopKBBM, recommended_learners

K = 3
SETS = ("emotions", "scene", "yeast", "mediamill_reduced")
STEPS = (0.1, 0.3, 1.0, 3.0)


def passes(quick):
    n_rows, n_passes = (2000, 2) if quick else (30_993, 20)
    X, Y = stand_in(n_rows)
    paper = {"TopKAdaptive": 4752, "TopKBBM": None}
    rows = []
    for model in (
        TopKAdaptive(n_estimators=10, exploration=0.06),
        TopKBBM(n_estimators=10, exploration=0.02),
    ):
        name = type(model).__name__
        model.set_params(max_iter=n_passes, random_state=0)
        with Stopwatch() as watch:
            model.fit(X, Y)
        gain = f"{paper[name] / watch.seconds:.0f}" if paper[name] and not quick else ""
        per_round = f"{1e6 * watch.seconds / n_rows / n_passes:.1f}"
        rows.append([name, f"{watch.seconds:.1f}", per_round, gain])
    columns = ["", "CPU seconds", "microseconds a round", "paper / this"]
    print_table(f"1. {n_passes} passes over {n_rows} rows, 10 learners, k = {K}", columns, rows)


def exploring(quick):
    X, Y = stand_in(1000 if quick else 10_000)
    rows = []
    for model in (TopKAdaptive(random_state=0), TopKBBM(random_state=0)):
        model.fit(X[:1000], Y[:1000])
        one = X[:1].copy()
        times = []
        for _ in range(200):
            start = time.perf_counter()
            model.explore(one)
            times.append(time.perf_counter() - start)
        with Stopwatch() as watch:
            model.explore(X)
        of_many = 1e6 * watch.seconds / len(X)
        rows.append([type(model).__name__, f"{1e6 * np.median(times):.0f}", f"{of_many:.1f}"])
    columns = ["microseconds", "a call for one row", f"a row of {len(X)} in a call"]
    print_table("2. explore, 100 trees: wall time, and CPU time", columns, rows)


class ShownLogistic:
    """One-versus-rest logistic regression with AdaGrad steps, for the labels that are shown."""

    def __init__(self, step, exploration, X_train, n_labels, random):
        self.step, self.exploration, self.random = step, exploration, random
        self.mean = X_train.mean(axis=0)
        deviation = X_train.std(axis=0)
        self.scale = np.where(deviation > 0.0, deviation, 1.0) * np.sqrt(X_train.shape[1])
        shape = (n_labels, X_train.shape[1] + 1)
        self.weights, self.squares = np.zeros(shape), np.ones(shape)

    def play(self, X, Y):
        """Scores of the rows, each from before its shown labels were learnt."""
        X = np.hstack([(X - self.mean) / self.scale, np.ones((len(X), 1))])
        scores = np.empty(Y.shape)
        for x, y, score in zip(X, Y, scores):
            np.dot(self.weights, x, out=score)
            if self.random.uniform() < self.exploration:
                shown = self.random.permutation(len(y))[:K]
            else:
                shown = np.argsort(-score, kind="stable")[:K]
            error = 1.0 / (1.0 + np.exp(-np.clip(score[shown], -500.0, 500.0))) - y[shown]
            gradient = error[:, None] * x
            self.squares[shown] += gradient**2
            self.weights[shown] -= self.step * gradient / np.sqrt(self.squares[shown])
        return scores


def rival(data, n_passes, exploration, seeds):
    """Losses of each seed with the step that is best by them, and that step."""
    X_train, Y_train, X_test, Y_test = data
    found = {}
    for step in STEPS:
        losses = []
        for seed in range(seeds):
            random = np.random.RandomState(seed)
            model = ShownLogistic(step, exploration, X_train, Y_train.shape[1], random)
            for _ in range(n_passes):
                model.play(X_train, Y_train)
            losses.append(rank_loss(Y_test, model.play(X_test, Y_test)))
        found[step] = losses
    return min(found.items(), key=lambda item: np.mean(item[1]))


def recommended(exploration, n_passes):
    learners = recommended_learners(feedback="top-k")
    return TopKBBM(
        learners,
        n_estimators=len(learners),
        max_features=None,
        exploration=exploration,
        max_iter=n_passes,
    )


def losses(quick):
    seeds, passes_of = (1, (1,)) if quick else (5, (1, 10))
    for n_passes in passes_of:
        rows = []
        for exploration in (0.1, 0.2, 0.5):
            row, rival_row = [f"recommended, {exploration:g}"], [f"rival, {exploration:g}"]
            for name in SETS[:1] if quick else SETS:
                data = load_multilabel(name)
                X_train, Y_train, X_test, Y_test = data
                step, found = rival(data, n_passes, exploration, seeds)
                rival_row.append(f"{np.mean(found):.3f} ({step:g})")
                found = []
                for seed in range(seeds):
                    model = recommended(exploration, n_passes).set_params(random_state=seed)
                    scores = model.fit(X_train, Y_train).progressive_fit(X_test, Y_test)
                    found.append(rank_loss(Y_test, scores))
                row.append(f"{np.mean(found):.3f}")
            rows += [rival_row, row]
        columns = ["exploration", *(SETS[:1] if quick else SETS)]
        title = (
            f"3. Rank loss; passes: {n_passes}, seeds: {seeds}; in brackets the rival's best step"
        )
        print_table(title, columns, rows)


PARTS = {1: passes, 2: exploring, 3: losses}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it works")
    parser.add_argument("--only", type=int, nargs="+", choices=PARTS, default=list(PARTS))
    arguments = parser.parse_args()
    print_header()
    for number in arguments.only:
        PARTS[number](arguments.quick)


if __name__ == "__main__":
    main()
