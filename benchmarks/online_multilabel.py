"""Online multilabel ranking beside its rivals: rank loss and CPU time on six sets.

A model plays a round for each row of the training part in the order given, then for each row of
the test part: it scores the row's labels, is told which are relevant, and learns. The loss is the
mean normalised rank loss of the test rows, the time is that of all rounds.

The rivals:

- river, one binary Hoeffding tree for each label, with river's defaults;
- river, StandardScaler and one LogisticRegression for each label;
- the same two as classifier chains, on sets of few labels;
- logistic regression for each label with AdaGrad steps, in NumPy: one row moves all labels at
  once. Its columns are standardised by the whole training part beforehand, which is not timed, and
  its step is chosen by the test loss. So it gets more than any online model may have.

    SKLRANK_DATA=folder python benchmarks/online_multilabel.py [--quick]
"""

import argparse
from importlib.util import find_spec

import numpy as np
from _common import MULTILABEL, Stopwatch, load_multilabel, print_header, print_table
from sklearn.utils import gen_batches

from sklrank.metrics import rank_loss
from sklrank.online_boosting import AdaOLMR, OnlineBMR, recommended_learners

ADAGRAD_NAMES = {f"AdaGrad logistic, step {step:g}": step for step in (0.1, 0.3, 1.0, 3.0)}
RIVER_TREES = "river trees"
RIVER = {
    RIVER_TREES: ("trees", False),
    "river logistic": ("logistic", False),
    "river chain of trees": ("trees", True),
    "river chain of logistic": ("logistic", True),
}
# Rows are made ready for a model, which is not timed, in blocks of this length.
BLOCK = 500
# A set with more columns times labels is large: river plays a prefix of it.
LARGE = 100_000
QUICK_ROWS = 100


# -- Models: `prepare` makes rows ready and is not timed, `play` returns the scores of its rounds.


class Booster:
    """One of this package."""

    def __init__(self, estimator, n_labels):
        self.estimator = estimator
        self.classes = np.arange(n_labels)

    def prepare(self, X, Y):
        return X, Y

    def play(self, X, Y):
        first = not hasattr(self.estimator, "classes_")
        return self.estimator.progressive_fit(X, Y, classes=self.classes if first else None)


class AdaGradLogistic:
    """One-versus-rest logistic regression; each weight has its own falling step.

    Rows are scaled to a length of about one and the sums of squares start at one: together
    these made it better than the plain form on the four sets tried (emotions to mediamill_reduced).
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
    """What the runs of a model gave: a line of losses for each seed, and a time."""

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
    """Scores of all rows, each from before it was learnt, and the CPU seconds of a round."""
    watch, scores = Stopwatch(), []
    for rows in gen_batches(len(X), BLOCK):
        prepared = model.prepare(X[rows], Y[rows])
        with watch:
            scores.append(model.play(*prepared))
    return np.concatenate(scores), watch.seconds / len(X)


def run(make_model, data, seeds=(None,)):
    """Play all rounds, once for each seed."""
    X_train, Y_train, X_test, Y_test = data
    X, Y = np.vstack([X_train, X_test]), np.vstack([Y_train, Y_test])
    losses, seconds = [], []
    for seed in seeds:
        scores, time = play_rounds(make_model(seed), X, Y)
        losses.append(rank_loss(Y_test, scores[len(X_train) :], average=False))
        seconds.append(time)
    return Result(np.array(losses), float(np.mean(seconds)))


def run_river(base, chained, data, args):
    """A river model; on a large set its time only, from some rows (and trees: some labels)."""
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
    # A tree is over 1 kB for each column and class: with all labels they would fill the memory.
    n_played = min(n_labels, args.river_labels) if base == "trees" else n_labels
    model = River(base, chained, n_played)
    _, seconds = play_rounds(model, X_train[rows], Y_train[rows])
    note = f"first {len(X_train[rows])} rows"
    if n_played < n_labels:
        note += f", {n_played} of {n_labels} labels scaled up"
    return Result(None, seconds * n_labels / n_played, note)


def run_tree_by_tree(chained, data, n_timed):
    """River's trees, one of them held at a time, with compiled leaves.

    A tree of a chain has the distributions given by those before it as further columns, the same
    when it answers and when it learns: so all rows may pass one before the next. (river's chain
    asks each tree twice a round, here it is asked once.)

    Some trees, spread evenly over the labels, are also played as river has them: for their time,
    and they must give the same votes to the last bit.
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
    learners = recommended_learners()
    return {
        "AdaOLMR, trees": lambda seed: AdaOLMR(random_state=seed),
        "OnlineBMR, trees": lambda seed: OnlineBMR(edge=0.01, random_state=seed),
        "AdaOLMR, recommended": lambda seed: AdaOLMR(
            learners, n_estimators=len(learners), max_features=None, random_state=seed
        ),
    }


def best_adagrad(results):
    return min(ADAGRAD_NAMES, key=lambda name: results[name].means.mean())


# -- What is printed and drawn.


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
        f"{name}: {len(X_train)} + {len(X_test)} rows, {X_train.shape[1]} columns, "
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
    title = f"{name}: rank loss with the test rows as given and shuffled (seed {seed})"
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
        ax.set(title=name, xlabel="Test rows seen")
    figure.savefig(path)


def thinned(data, n_rows):
    """Every n-th row of both parts, so that an ordered file keeps all its labels."""
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
        help="sets to run with shuffled test rows as well (default: scene, whose file is ordered "
        "by label); no name: none",
    )
    parser.add_argument("--shuffle-seed", type=int, default=0)
    parser.add_argument(
        "--river-rows", type=int, default=30, help="rows that river plays on the large sets"
    )
    parser.add_argument(
        "--river-labels",
        type=int,
        default=20,
        help="labels there whose trees are timed; of --river-whole, they are spread over all",
    )
    parser.add_argument(
        "--river-whole",
        action="store_true",
        help="river's models on all rows and labels of the large sets, trees with compiled leaves",
    )
    parser.add_argument(
        "--most-chained",
        type=int,
        default=20,
        help="no chains on sets with more labels than this: a chain has those before as columns, "
        "so its time grows as their square",
    )
    parser.add_argument("--rows", type=int, help="about as many rows a part, spread over the file")
    parser.add_argument("--labels", type=int, help="the first labels only, so many")
    parser.add_argument(
        "--river-models", nargs="+", choices=RIVER, default=list(RIVER), metavar="NAME"
    )
    parser.add_argument("--no-river", dest="river", action="store_false")
    parser.add_argument(
        "--no-river-large", dest="river_large", action="store_false", help="no river on large sets"
    )
    parser.add_argument("--plot", metavar="FILE", help="draw the mean loss so far of each model")
    parser.add_argument(
        "--quick", action="store_true", help=f"about {QUICK_ROWS} rows a part and one seed"
    )
    args = parser.parse_args()
    if args.quick:
        args.seeds, args.river_rows, args.river_labels, args.rows = 1, 5, 5, QUICK_ROWS
    data_of = {name: load_multilabel(name) for name in args.sets}
    if args.river and find_spec("river") is None:
        parser.error("river is not installed: run `pip install river`, or leave it out: --no-river")

    notes = [
        "Every row is a round (score, then learn), those of the training part too; the loss is "
        "that of the test rows,\nthe time that of all rounds. Boosters: mean and sd over "
        f"{args.seeds} seed(s). AdaGrad: best = by test loss."
    ]
    if args.river and not args.river_whole:
        notes.append(
            "river on bibtex and delicious: time only, from the first rows; the trees there with "
            "some labels, scaled to all."
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
