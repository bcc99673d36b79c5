"""Learning from top-k feedback: speed, and rank loss compared with a simple baseline.

1. Speed on data of the size of mediamill's training set (30,993 samples, see online_boosting.py):
   20 passes of 10 trees, with 3 of 101 labels shown. The paper's implementation took 4752 s for
   Top-k Adaptive, and could not compute Top-k BBM.
2. `explore`: one sample per call, and 10,000 samples per call.
3. Rank loss of the test samples, with three labels shown: TopKBBM, and a logistic regression for
   each label with AdaGrad steps, updated for the labels shown only. The step size of this baseline
   is chosen by the test loss, and its features are scaled by the training set beforehand. The test
   samples of scene are sorted by label, which helps both.

    SKLRANK_DATA=folder python benchmarks/top_k_feedback.py [--quick] [--only 1 3]
"""

import time

import numpy as np
from _common import Stopwatch, load_multilabel, print_table, run_parts
from online_boosting import stand_in

from sklrank.metrics import rank_loss
from sklrank.online_boosting import TopKAdaptive, TopKBBM

K = 3
SETS = ("emotions", "scene", "yeast", "mediamill_reduced")
STEPS = (0.1, 0.3, 1.0, 3.0)


def passes(quick):
    n_samples, n_passes = (2000, 2) if quick else (30_993, 20)
    X, Y = stand_in(n_samples)
    paper = {"TopKAdaptive": 4752, "TopKBBM": None}
    rows = []
    for model in (
        TopKAdaptive("trees", 10, exploration=0.06, cost_estimate="pairs"),
        TopKBBM("trees", 10, exploration=0.02, cost_estimate="pairs"),
    ):
        name = type(model).__name__
        model.set_params(max_iter=n_passes, shuffle=False, random_state=0)
        with Stopwatch() as watch:
            model.fit(X, Y)
        gain = f"{paper[name] / watch.seconds:.0f}" if paper[name] and not quick else ""
        per_round = f"{1e6 * watch.seconds / n_samples / n_passes:.1f}"
        rows.append([name, f"{watch.seconds:.1f}", per_round, gain])
    columns = ["", "CPU seconds", "microseconds a round", "paper / this"]
    print_table(f"1. {n_passes} passes over {n_samples} samples, 10 trees, k = {K}", columns, rows)


def exploring(quick):
    X, Y = stand_in(1000 if quick else 10_000)
    rows = []
    for make in (TopKAdaptive, TopKBBM):
        model = make("trees", cost_estimate="pairs", random_state=0)
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
    columns = ["microseconds", "a call with one sample", f"a sample, {len(X)} per call"]
    print_table("2. explore, 100 trees: wall time, and CPU time", columns, rows)


class ShownLogistic:
    """One-versus-rest logistic regression with AdaGrad steps, updated for the labels shown."""

    def __init__(self, step, exploration, X_train, n_labels, random):
        self.step, self.exploration, self.random = step, exploration, random
        self.mean = X_train.mean(axis=0)
        deviation = X_train.std(axis=0)
        self.scale = np.where(deviation > 0.0, deviation, 1.0) * np.sqrt(X_train.shape[1])
        shape = (n_labels, X_train.shape[1] + 1)
        self.weights, self.squares = np.zeros(shape), np.ones(shape)

    def play(self, X, Y):
        """Return the scores of the samples, each before it is learned."""
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


def baseline(data, n_passes, exploration, seeds):
    """Return the best step size by the test loss, and its losses of each seed."""
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


def losses(quick):
    seeds, passes_of = (1, (1,)) if quick else (5, (1, 10))
    for n_passes in passes_of:
        rows = []
        for exploration in (0.1, 0.2, 0.5):
            row, baseline_row = [f"TopKBBM, {exploration:g}"], [f"baseline, {exploration:g}"]
            for name in SETS[:1] if quick else SETS:
                data = load_multilabel(name)
                X_train, Y_train, X_test, Y_test = data
                step, found = baseline(data, n_passes, exploration, seeds)
                baseline_row.append(f"{np.mean(found):.3f} ({step:g})")
                found = []
                for seed in range(seeds):
                    model = TopKBBM(
                        exploration=exploration, max_iter=n_passes, shuffle=False, random_state=seed
                    )
                    scores = model.fit(X_train, Y_train).progressive_fit(X_test, Y_test)
                    found.append(rank_loss(Y_test, scores))
                row.append(f"{np.mean(found):.3f}")
            rows += [baseline_row, row]
        columns = ["exploration", *(SETS[:1] if quick else SETS)]
        title = f"3. Rank loss; {n_passes} passes, {seeds} seeds; in brackets: the baseline's step"
        print_table(title, columns, rows)


PARTS = {1: passes, 2: exploring, 3: losses}


if __name__ == "__main__":
    run_parts(PARTS, __doc__)
