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
from joblib import Memory, Parallel, delayed
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


class River:
    """A river model that answers with a distribution over {False, True} for each label."""

    def __init__(self, model, n_labels):
        self.model = model
        self.labels = [f"y{i}" for i in range(n_labels)]

    def prepare(self, X, Y):
        names = [f"x{i}" for i in range(X.shape[1])]
        rows = [dict(zip(names, row)) for row in X.tolist()]
        # `Y` may have more columns than `labels`: those are left out.
        return rows, [dict(zip(self.labels, row)) for row in Y.astype(bool).tolist()]

    def play(self, rows, answers):
        scores = np.empty((len(rows), len(self.labels)))
        for x, y, score in zip(rows, answers, scores):
            votes = self.model.predict_proba_one(x)
            score[:] = [self.score(votes.get(label)) for label in self.labels]
            self.model.learn_one(x, y)
        return scores

    @staticmethod
    def score(vote):
        # Before its first lesson a model has no votes, and before its first relevant row a tree
        # none for True.
        return vote.get(True, 0.0) if vote else 0.5


def river_model(base, chained, n_labels):
    from river import linear_model, multioutput, preprocessing, tree

    if base == "trees":
        binary = tree.HoeffdingTreeClassifier()
    else:
        binary = linear_model.LogisticRegression()
    if chained:
        model = multioutput.ClassifierChain(binary, order=[f"y{i}" for i in range(n_labels)])
    else:
        model = multioutput.PerOutputClassifier(binary)
    return model if base == "trees" else preprocessing.StandardScaler() | model


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
    X_train, Y_train, X_test, _ = data
    n_labels = Y_train.shape[1]
    if args.river_whole and base == "trees":
        return run_chain_of_trees(data, args) if chained else run_trees_by_label(data, args)
    if args.river_whole or not is_large(data) or args.river_rows >= len(X_train) + len(X_test):
        return run(lambda _: River(river_model(base, chained, n_labels), n_labels), data)
    rows = slice(args.river_rows)
    # A tree is over 1 kB for each column and class: with all labels they would fill the memory.
    n_played = min(n_labels, args.river_labels) if base == "trees" else n_labels
    model = River(river_model(base, chained, n_played), n_played)
    _, seconds = play_rounds(model, X_train[rows], Y_train[rows])
    note = f"first {len(X_train[rows])} rows"
    if n_played < n_labels:
        note += f", {n_played} of {n_labels} labels scaled up"
    return Result(None, seconds * n_labels / n_played, note)


def play_tree(X, answers):
    """Scores of one of river's trees, and the CPU seconds of a round."""
    return play_rounds(River(river_model("trees", False, 1), 1), X, answers[:, np.newaxis])


def run_trees_by_label(data, args):
    """River's trees, which are independent of each other: few are held at a time."""
    X_train, Y_train, X_test, Y_test = data
    X, Y = np.vstack([X_train, X_test]), np.vstack([Y_train, Y_test])
    play = Memory(args.keep, verbose=0).cache(play_tree)
    scores, seconds = zip(*Parallel(args.jobs)(delayed(play)(X, answers) for answers in Y.T))
    losses = rank_loss(Y_test, np.hstack(scores)[len(X_train) :], average=False)
    return Result(losses[np.newaxis], sum(seconds), "label by label")


def play_link(X, Y, rows):
    """Votes of one of the trees of river's chain, that of the last label, and its CPU seconds.

    `rows` are those of `X` and the votes of the trees before it, for the labels before.
    """
    from river import tree

    link, votes, watch = tree.HoeffdingTreeClassifier(), [], Stopwatch()
    with watch:
        for x, answer in zip(rows, Y[:, -1].astype(bool).tolist()):
            votes.append(link.predict_proba_one(x))
            link.learn_one(x, answer)
    return votes, watch.seconds


def run_chain_of_trees(data, args):
    """River's chain of trees, one of them held at a time.

    A tree of the chain has the distributions given by those before it as further features, the
    same when it answers and when it learns: so the whole stream may pass one before the next.
    """
    X_train, Y_train, X_test, Y_test = data
    X, Y = np.vstack([X_train, X_test]), np.vstack([Y_train, Y_test])
    rows, _ = River(None, 0).prepare(X, Y)
    # What is kept is known by the rows and by the labels up to its own.
    play = Memory(args.keep, verbose=0).cache(play_link, ignore=["rows"])
    scores, seconds = np.empty(Y.shape), 0.0
    for label in range(Y.shape[1]):
        votes, of_link = play(X, Y[:, : label + 1], rows)
        scores[:, label] = [River.score(vote) for vote in votes]
        seconds += of_link
        for x, vote in zip(rows, votes):
            x.update({f"y{label}_{value}": share for value, share in vote.items()})
    losses = rank_loss(Y_test, scores[len(X_train) :], average=False)
    return Result(losses[np.newaxis], seconds / len(X), "tree by tree")


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
        "--river-labels", type=int, default=20, help="labels that its trees play there"
    )
    parser.add_argument(
        "--river-whole",
        action="store_true",
        help="river's models on all rows and labels of the large sets: the trees take two hours "
        "for bibtex and four for delicious, unless --rows or --labels leave few of them",
    )
    parser.add_argument(
        "--jobs", type=int, default=1, help="processes that share those trees out (not a chain's)"
    )
    parser.add_argument(
        "--keep",
        metavar="FOLDER",
        help="where the outcome of each of those trees, and of a chain's, is kept: what was cut "
        "short goes on there",
    )
    parser.add_argument(
        "--most-chained",
        type=int,
        default=20,
        help="labels of a chain: it has those before as columns, so its time grows as their square",
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
