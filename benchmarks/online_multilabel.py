"""Online multilabel ranking compared with other packages: rank loss and CPU time, six data sets.

A model plays a round for each training sample, in the given order, and then for each test sample:
it scores the labels, then learns from their relevance. The loss is the mean normalized rank loss of
the test samples; the time is that of all rounds.

Compared with:

- river, one binary Hoeffding tree for each label, with river's defaults;
- river, StandardScaler and one LogisticRegression for each label;
- the same two as classifier chains, on data sets with few labels;
- logistic regression for each label with AdaGrad steps, in NumPy: a sample updates all labels at
  once. Its features are standardized by the whole training set beforehand, which is not timed, and
  its step size is chosen by the test loss: advantages that an online model cannot have.

    SKLRANK_DATA=folder python benchmarks/online_multilabel.py [--quick]
"""

import argparse
from importlib.util import find_spec

import numpy as np
from _common import MULTILABEL, Stopwatch, load_multilabel, print_header, print_table
from sklearn.utils import gen_batches

from sklrank.metrics import rank_loss
from sklrank.online_boosting import AdaOLMR, OnlineBMR

ADAGRAD_NAMES = {f"AdaGrad logistic, step {step:g}": step for step in (0.1, 0.3, 1.0, 3.0)}
RIVER_TREES = "river trees"
RIVER = {
    RIVER_TREES: ("trees", False),
    "river logistic": ("logistic", False),
    "river chain of trees": ("trees", True),
    "river chain of logistic": ("logistic", True),
}
# Samples per block; preparing a block for a model is not timed.
BLOCK = 500
# A data set with more features times labels is large: river plays its first samples only.
LARGE = 100_000
QUICK_ROWS = 100


# -- Models: `prepare` converts samples and is not timed, `play` returns the scores of the rounds.


class Booster:
    """A booster of this package."""

    def __init__(self, estimator, n_labels):
        self.estimator = estimator
        self.classes = np.arange(n_labels)

    def prepare(self, X, Y):
        return X, Y

    def play(self, X, Y):
        first = not hasattr(self.estimator, "classes_")
        return self.estimator.progressive_fit(X, Y, classes=self.classes if first else None)


class AdaGradLogistic:
    """One-versus-rest logistic regression; each weight has its own decreasing step size.

    Samples are scaled to a norm of about one, and the sums of squares start at one: both improved
    it on the four data sets tried (emotions to mediamill_reduced).
    """

    def __init__(self, step, X_train, n_labels):
        self.step = step
        self.mean = X_train.mean(axis=0)
        deviation = X_train.std(axis=0)
        self.scale = np.where(deviation > 0.0, deviation, 1.0) * np.sqrt(X_train.shape[1])
        shape = (n_labels, X_train.shape[1] + 1)
        self.weights, self.squares = np.zeros(shape), np.ones(shape)
        self.gradient, self.change = np.empty(shape), np.empty(shape)

    def prepare(self, X, Y):
        X = (X - self.mean) / self.scale
        return np.hstack([X, np.ones((len(X), 1))]), Y.astype(np.float64)

    def play(self, X, Y):
        scores = np.empty(Y.shape)
        gradient, change = self.gradient, self.change
        for x, y, score in zip(X, Y, scores):
            np.dot(self.weights, x, out=score)
            error = 1.0 / (1.0 + np.exp(-np.clip(score, -500.0, 500.0))) - y
            np.multiply(error[:, None], x, out=gradient)
            np.multiply(gradient, gradient, out=change)
            self.squares += change
            np.sqrt(self.squares, out=change)
            np.divide(gradient, change, out=change)
            change *= self.step
            self.weights -= change
        return scores


# -- Runs.


class Result:
    """Results of the runs of a model: the losses, one row per seed, and the time of a round."""

    def __init__(self, losses, seconds, note=""):
        self.losses = losses
        self.seconds = seconds
        self.note = note

    @property
    def means(self):
        return None if self.losses is None else np.mean(self.losses, axis=1)

    def loss_text(self):
        return "-" if self.losses is None else f"{self.means.mean():.4f}"

    def deviation_text(self):
        several = self.losses is not None and len(self.losses) > 1
        return f"{self.means.std(ddof=1):.4f}" if several else ""


def play_rounds(model, X, Y):
    """Return the scores of all samples, each before it is learned, and CPU seconds per round."""
    watch, scores = Stopwatch(), []
    for rows in gen_batches(len(X), BLOCK):
        prepared = model.prepare(X[rows], Y[rows])
        with watch:
            scores.append(model.play(*prepared))
    return np.concatenate(scores), watch.seconds / len(X)


def run(make_model, data, seeds=(None,)):
    """Play all rounds once for each seed."""
    X_train, Y_train, X_test, Y_test = data
    X, Y = np.vstack([X_train, X_test]), np.vstack([Y_train, Y_test])
    losses, seconds = [], []
    for seed in seeds:
        scores, time = play_rounds(make_model(seed), X, Y)
        losses.append(rank_loss(Y_test, scores[len(X_train) :], average=False))
        seconds.append(time)
    return Result(np.array(losses), float(np.mean(seconds)))


def run_river(base, chained, data, args):
    """Run a river model; on large data only its time, on some samples (trees: and some labels)."""
    from _river import River

    X_train, Y_train, X_test, _ = data
    n_labels = Y_train.shape[1]
    if not is_large(data) or args.river_rows >= len(X_train) + len(X_test):
        return run(lambda _: River(base, chained, n_labels), data)
    if args.river_whole and base == "trees":
        return run_tree_by_tree(chained, data, args.river_labels)
    if args.river_whole:
        return run(lambda _: River(base, chained, n_labels), data)
    rows = slice(args.river_rows)
    # A tree takes over 1 kB per feature and class: trees for all labels would not fit in memory.
    n_played = min(n_labels, args.river_labels) if base == "trees" else n_labels
    model = River(base, chained, n_played)
    _, seconds = play_rounds(model, X_train[rows], Y_train[rows])
    note = f"first {len(X_train[rows])} samples"
    if n_played < n_labels:
        note += f", {n_played} of {n_labels} labels scaled up"
    return Result(None, seconds * n_labels / n_played, note)


def run_tree_by_tree(chained, data, n_timed):
    """Run river's trees one after the other, with compiled leaves, to save memory.

    A tree of a chain has the predictions of the trees before it as further features, the same ones
    when it predicts and when it learns. So one tree can play all samples before the next one does.
    (In river's chain each tree predicts twice per round, here once.)

    Some trees, spread evenly over the labels, are also run with river's own leaves, for their time;
    their votes must be identical.
    """
    from _river import CompiledRiverTree, RiverTree

    X_train, Y_train, X_test, Y_test = data
    columns, Y = np.vstack([X_train, X_test]), np.vstack([Y_train, Y_test])
    n_labels = Y.shape[1]
    timed = np.linspace(0, n_labels - 1, min(n_timed, n_labels), dtype=int)
    if chained:
        columns = np.hstack([columns, np.full((len(Y), 2 * n_labels), np.nan)])
    scores, seconds = np.empty(Y.shape), []
    for label, answers in enumerate(Y.T):
        given = X_train.shape[1] + 2 * label if chained else X_train.shape[1]
        votes, _ = play_rounds(CompiledRiverTree(given), columns[:, :given], answers)
        if label in timed:
            own_votes, time = play_rounds(RiverTree(), columns[:, :given], answers)
            np.testing.assert_array_equal(votes, own_votes)
            seconds.append(time)
        if chained:
            columns[:, given : given + 2] = votes
        scores[:, label] = RiverTree.scores(votes)
    losses = rank_loss(Y_test, scores[len(X_train) :], average=False)
    note = f"tree by tree; time: {len(timed)} trees, scaled up"
    return Result(losses[np.newaxis], float(np.mean(seconds)) * n_labels, note)


def is_large(data):
    return data[0].shape[1] * data[1].shape[1] > LARGE


def all_results(data, args):
    """Name -> Result, of all models on one set."""
    X_train, n_labels = data[0], data[1].shape[1]
    results = {}
    if args.river and not (is_large(data) and not args.river_large):
        for name in args.river_models:
            base, chained = RIVER[name]
            if not chained or n_labels <= args.most_chained:
                results[name] = run_river(base, chained, data, args)
    for name, step in ADAGRAD_NAMES.items():
        results[name] = run(lambda _, step=step: AdaGradLogistic(step, X_train, n_labels), data)
    for name, make in boosters().items():
        results[name] = run(
            lambda seed, make=make: Booster(make(seed), n_labels), data, range(args.seeds)
        )
    return results


def boosters():
    return {
        "AdaOLMR, trees": lambda seed: AdaOLMR("trees", random_state=seed),
        "OnlineBMR, trees": lambda seed: OnlineBMR("trees", edge=0.01, random_state=seed),
        "AdaOLMR": lambda seed: AdaOLMR(random_state=seed),
    }


def best_adagrad(results):
    return min(ADAGRAD_NAMES, key=lambda name: results[name].means.mean())


# -- Tables and the plot.


def print_results(name, data, results):
    X_train, Y_train, X_test, _ = data
    best = best_adagrad(results)
    river = results.get(RIVER_TREES)
    rows = []
    for model, result in results.items():
        ratio = f"{river.seconds / result.seconds:.1f}" if river else "-"
        rows.append(
            [
                model + (" (best)" if model == best else ""),
                result.loss_text(),
                result.deviation_text(),
                f"{1000 * result.seconds:.3g}",
                ratio,
                result.note,
            ]
        )
    title = (
        f"{name}: {len(X_train)} + {len(X_test)} samples, {X_train.shape[1]} features, "
        f"{Y_train.shape[1]} labels"
    )
    columns = ["model", "rank loss", "sd", "CPU s / 1000 rounds", "river trees / this", "note"]
    print_table(title, columns, rows)


def print_shuffled(name, given, shuffled, seed):
    rows = []
    for model, result in given.items():
        if result.losses is None:
            continue
        change = shuffled[model].means.mean() - result.means.mean()
        other = shuffled[model].loss_text()
        rows.append([model, result.loss_text(), other, f"{change:+.4f}"])
    title = f"{name}: rank loss with the test samples as given and shuffled (seed {seed})"
    print_table(title, ["model", "given", "shuffled", "change"], rows)


def print_summary(results_of):
    names = list(dict.fromkeys(model for results in results_of.values() for model in results))
    rows = []
    for model in [name for name in names if name not in ADAGRAD_NAMES]:
        found = [results.get(model) for results in results_of.values()]
        rows.append([model, *(result.loss_text() if result else "-" for result in found)])
    best = [results[best_adagrad(results)].loss_text() for results in results_of.values()]
    rows.append(["AdaGrad logistic, best step", *best])
    print_table("Rank loss", ["model", *results_of], rows)


def draw(results_of, path):
    from matplotlib import pyplot as plt

    from sklrank.model_selection import ProgressiveValidationDisplay

    n_columns = min(3, len(results_of))
    n_lines = -(-len(results_of) // n_columns)
    size = (6 * n_columns, 4.5 * n_lines)
    figure, axes = plt.subplots(
        n_lines, n_columns, figsize=size, squeeze=False, layout="constrained"
    )
    for ax in axes.flat[len(results_of) :]:
        ax.set_visible(False)
    colors = {}
    for ax, (name, results) in zip(axes.flat, results_of.items()):
        best = best_adagrad(results)
        losses = {
            "AdaGrad logistic, best step" if model == best else model: result.losses
            for model, result in results.items()
            if result.losses is not None and (model == best or model not in ADAGRAD_NAMES)
        }
        display = ProgressiveValidationDisplay(losses=losses, scoring_name="rank_loss").plot(ax)
        for model, line, band in zip(losses, display.lines_, display.bands_):
            color = colors.setdefault(model, f"C{len(colors)}")
            for artist in (line, band):
                if artist is not None:
                    artist.set_color(color)
        ax.legend(fontsize="small")
        ax.set(title=name, xlabel="Test samples seen")
    figure.savefig(path)


def thinned(data, n_rows):
    """Return every n-th sample of both parts, so that a sorted file keeps all its labels."""
    X_train, Y_train, X_test, Y_test = data
    train = slice(None, None, max(1, len(X_train) // n_rows))
    test = slice(None, None, max(1, len(X_test) // n_rows))
    return X_train[train], Y_train[train], X_test[test], Y_test[test]


def with_first_labels(data, n_labels):
    X_train, Y_train, X_test, Y_test = data
    return X_train, Y_train[:, :n_labels], X_test, Y_test[:, :n_labels]


def with_shuffled_test(data, seed):
    X_train, Y_train, X_test, Y_test = data
    order = np.random.default_rng(seed).permutation(len(X_test))
    return X_train, Y_train, X_test[order], Y_test[order]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", choices=MULTILABEL, default=list(MULTILABEL))
    parser.add_argument("--seeds", type=int, default=3, help="runs of each booster")
    parser.add_argument(
        "--shuffle-test",
        nargs="*",
        choices=MULTILABEL,
        default=["scene"],
        metavar="SET",
        help="data sets that are also run with shuffled test samples (default: scene, whose file "
        "is sorted by label); without a name: none",
    )
    parser.add_argument("--shuffle-seed", type=int, default=0)
    parser.add_argument(
        "--river-rows", type=int, default=30, help="samples that river plays on large data"
    )
    parser.add_argument(
        "--river-labels",
        type=int,
        default=20,
        help="number of labels whose trees are timed on large data; with --river-whole, they are "
        "spread over all labels",
    )
    parser.add_argument(
        "--river-whole",
        action="store_true",
        help="run river's models on all of the large data, trees with compiled leaves",
    )
    parser.add_argument(
        "--most-chained",
        type=int,
        default=20,
        help="no chains if there are more labels than this: a chain has the labels before as "
        "features, so its time grows as their square",
    )
    parser.add_argument("--rows", type=int, help="about this number of samples per part")
    parser.add_argument("--labels", type=int, help="use only this number of labels, the first ones")
    parser.add_argument(
        "--river-models", nargs="+", choices=RIVER, default=list(RIVER), metavar="NAME"
    )
    parser.add_argument("--no-river", dest="river", action="store_false")
    parser.add_argument(
        "--no-river-large", dest="river_large", action="store_false", help="no river on large data"
    )
    parser.add_argument("--plot", metavar="FILE", help="draw the mean loss of each model by sample")
    parser.add_argument(
        "--quick", action="store_true", help=f"about {QUICK_ROWS} samples per part and one seed"
    )
    args = parser.parse_args()
    if args.quick:
        args.seeds, args.river_rows, args.river_labels, args.rows = 1, 5, 5, QUICK_ROWS
    data_of = {name: load_multilabel(name) for name in args.sets}
    if args.river and find_spec("river") is None:
        parser.error("river is not installed: run `pip install river`, or use --no-river")

    notes = [
        "Each sample is a round (score, then learn), training samples too; the loss is that of the "
        "test samples,\nthe time that of all rounds. Boosters: mean and sd over "
        f"{args.seeds} seed(s). AdaGrad: best by test loss."
    ]
    if args.river and not args.river_whole:
        notes.append(
            "river on bibtex and delicious: time only, of the first samples; the time of trees is "
            "that of some labels, scaled up."
        )
    print_header(*notes)
    results_of = {}
    for name, data in data_of.items():
        if args.rows:
            data = thinned(data, args.rows)
        if args.labels:
            data = with_first_labels(data, args.labels)
        results_of[name] = all_results(data, args)
        print_results(name, data, results_of[name])
        if name in args.shuffle_test:
            shuffled = all_results(with_shuffled_test(data, args.shuffle_seed), args)
            print_shuffled(name, results_of[name], shuffled, args.shuffle_seed)
            results_of[f"{name}, shuffled"] = shuffled
    print_summary(results_of)
    if args.plot:
        draw(results_of, args.plot)


if __name__ == "__main__":
    main()
