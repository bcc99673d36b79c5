"""Figures 2.1 to 2.3 of Valizadegan (2010): boosting of small trees with few labeled samples.

A fifth of the samples is used for training. A few per cent of these are labeled, at least one of
each class. The script prints the mean errors on the other samples over repetitions, in per cent.
The baselines are a single tree and AdaBoost on the labeled samples, ASSEMBLE, self-training, label
spreading, and AdaBoost on the labels that label spreading predicts for all training samples. (Label
spreading has no trees: to predict a sample it searches its neighbors.) MCSSB is run as printed (a
Gaussian of 15 % of the range of distances, drawn samples, the step of Eq. 2.19), with the same
similarity for all pairs ("uniform", MCSSB-Uniform) or none between different samples ("identity",
MCSSB-Absolute), and with the defaults of `MCSSBClassifier`. "identity" is fitted to labeled
samples, too, since no unlabeled sample has a weight in its first round. `PooledLabelSpreading` is
the recommended classifier. Trees have depth 2, except those of the defaults.

Figure 2.1: the share of labeled samples. Figure 2.2: the weight C of the labeled term. Figure 2.3:
the depth of the trees. Figures 2.2 and 2.3 are for 2 % of labeled samples.

The digits are part of scikit-learn; SKLRANK_DATA names the folder of the other data sets.

Run:  python examples/semi_supervised_boosting.py [--sets digits letter] [--plot FILE]
      Takes minutes; use --repetitions 1 --figures 1 for a first look.
"""

import argparse
import os
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.ensemble import AdaBoostClassifier
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from sklrank.semi_supervised import AssembleClassifier, MCSSBClassifier, PooledLabelSpreading

BUNDLED = {
    "digits": load_digits,
    "iris": load_iris,
    "wine": load_wine,
    "breast_cancer": load_breast_cancer,
}
OF_MANY_UNITS = ("wine", "breast_cancer")
SETS = ("digits", "pendigits", "optdigits", "letter")
SHARES = (0.02, 0.04, 0.06, 0.08, 0.1)
EXPONENTS = (0, 2, 4, 6, 8, 10)
DEPTHS = (1, 2, 3, 4, 6, 8, None)
# A class of two samples, as in nursery, is too small for training and testing.
MIN_SAMPLES = 25

RECOMMENDED = "pooled label spreading"
DEFAULT = "MCSSB, default"
PRINTED = "MCSSB as printed"
SPREAD_THEN_BOOST = "label spreading, AdaBoost"


class SpreadThenBoost:
    """AdaBoost on the labels that label spreading predicts for all training samples."""

    def __init__(self, tree, seed):
        self.boosting = AdaBoostClassifier(tree, random_state=seed)

    def fit(self, X, y):
        self.boosting.fit(X, LabelSpreading(kernel="knn").fit(X, y).transduction_)
        return self

    def score(self, X, y):
        return self.boosting.score(X, y)


class LabeledOnly:
    """A classifier that is fitted to the labeled samples only."""

    def __init__(self, classifier):
        self.classifier = classifier

    def fit(self, X, y):
        self.classifier.fit(X[y >= 0], y[y >= 0])
        return self

    def score(self, X, y):
        return self.classifier.score(X, y)


def make_model(name, seed, depth="default", labeled_weight=None):
    by_default = depth == "default"
    tree = DecisionTreeClassifier(max_depth=2 if by_default else depth, random_state=seed)
    extra_tree = None if by_default else ExtraTreeClassifier(max_depth=depth, max_features=0.5)

    def printed(similarity="rbf", train_on="unlabeled"):
        return MCSSBClassifier(
            tree,
            n_estimators=50,
            similarity=similarity,
            weighting="resampling",
            train_on=train_on,
            learning_rate=1.0,
            labeled_weight=labeled_weight or 1e4,
            random_state=seed,
        )

    makers = {
        "tree": lambda: LabeledOnly(tree),
        "AdaBoost": lambda: LabeledOnly(AdaBoostClassifier(tree, random_state=seed)),
        "ASSEMBLE": lambda: AssembleClassifier(tree, random_state=seed),
        "self-training": lambda: SelfTrainingClassifier(tree, criterion="k_best", max_iter=100),
        "label spreading": lambda: LabelSpreading(kernel="knn"),
        SPREAD_THEN_BOOST: lambda: SpreadThenBoost(tree, seed),
        "MCSSB, uniform": lambda: printed(lambda X: np.ones((len(X), len(X)))),
        "MCSSB, identity": lambda: printed("identity", "all"),
        PRINTED: printed,
        DEFAULT: lambda: MCSSBClassifier(
            extra_tree, labeled_weight=labeled_weight or 1.0, random_state=seed
        ),
        RECOMMENDED: lambda: PooledLabelSpreading(random_state=seed),
    }
    return makers[name]()


METHODS = (
    "tree",
    "AdaBoost",
    "ASSEMBLE",
    "self-training",
    "label spreading",
    SPREAD_THEN_BOOST,
    "MCSSB, uniform",
    "MCSSB, identity",
    PRINTED,
    DEFAULT,
    RECOMMENDED,
)


def load(name):
    if name in BUNDLED:
        X, y = BUNDLED[name](return_X_y=True)
        if name in OF_MANY_UNITS:
            X = StandardScaler().fit_transform(X)
    else:
        with np.load(Path(os.environ["SKLRANK_DATA"]) / "multiclass" / f"{name}.npz") as arrays:
            parts = ("",) if "X" in arrays else ("_train", "_test")
            X, y = (np.concatenate([arrays[key + part] for part in parts]) for key in "Xy")
    kept = np.bincount(y)[y] >= MIN_SAMPLES
    return X[kept].astype(np.float64), y[kept].astype(int)


def make_split(name, share, seed):
    """Return training samples, their labels or -1, test samples, and their classes."""
    X, y = load(name)
    random = np.random.RandomState(seed)
    X, X_test, y, y_test = train_test_split(X, y, train_size=0.2, stratify=y, random_state=random)
    order = random.permutation(len(y))
    _, first_of_class = np.unique(y[order], return_index=True)
    order = np.concatenate([order[first_of_class], np.delete(order, first_of_class)])
    labeled = order[: max(len(first_of_class), round(share * len(y)))]
    partial = np.full(len(y), -1)
    partial[labeled] = y[labeled]
    return X, partial, X_test, y_test


def error(name, method, share, seed, parameters):
    X, partial, X_test, y_test = make_split(name, share, seed)
    model = make_model(method, seed, **parameters)
    # Label spreading divides by zero where no label reaches a sample.
    with np.errstate(invalid="ignore"):
        return 100 - 100 * model.fit(X, partial).score(X_test, y_test)


def measure(arguments, methods, points):
    """Return the errors by data set, of shape (n_methods, n_points, n_repetitions).

    A point is a share of labeled samples, and parameters of the models.
    """
    found = Parallel(n_jobs=arguments.jobs)(
        delayed(error)(name, method, share, seed, parameters)
        for name in arguments.sets
        for method in methods
        for share, parameters in points
        for seed in range(arguments.repetitions)
    )
    shape = len(arguments.sets), len(methods), len(points), arguments.repetitions
    return dict(zip(arguments.sets, np.reshape(found, shape)))


def print_figure(title, methods, points, errors):
    print(f"\n{title}")
    for name, of_set in errors.items():
        print(f"\n  {name:<28}" + "".join(f"{point:>9}" for point in points))
        for method, of_method in zip(methods, of_set):
            print(f"    {method:<26}" + "".join(f"{mean:9.1f}" for mean in of_method.mean(axis=1)))


def print_cells(methods, errors):
    """Compare the recommended classifier with its strongest rivals, in each cell of Figure 2.1."""
    if RECOMMENDED not in methods:
        return
    ours = methods.index(RECOMMENDED)
    for rival in (DEFAULT, SPREAD_THEN_BOOST, "label spreading", "ASSEMBLE", PRINTED):
        if rival not in methods:
            continue
        margins = np.array(
            [
                (of_set[methods.index(rival)] - of_set[ours]).mean(axis=1)
                for of_set in errors.values()
            ]
        )
        print(
            f"\n{RECOMMENDED}, against {rival}: better in {np.sum(margins > 0)} of "
            f"{margins.size} cells, by {margins.mean():.1f} points on average, "
            f"{margins.min():.1f} at least"
        )


def draw(figures, path):
    import matplotlib.pyplot as plt

    sets = list(figures[0][3])
    grid, axes = plt.subplots(
        len(figures),
        len(sets),
        figsize=(3.4 * len(sets) + 2.2, 3.1 * len(figures)),
        sharey="col",
        squeeze=False,
        layout="constrained",
    )
    strong = {RECOMMENDED: "C3", DEFAULT: "C2", PRINTED: "C1", SPREAD_THEN_BOOST: "C0"}
    others = [method for method in METHODS if method not in strong]
    shades = dict(zip(others, plt.cm.Greys(np.linspace(0.35, 0.85, len(others)))))
    markers = dict(zip(others, "ovs^Dx+"))
    for row, (label, methods, points, errors) in zip(axes, figures):
        for ax, name in zip(row, sets):
            for method, of_method in zip(methods, errors[name]):
                mean, spread = of_method.mean(axis=1), of_method.std(axis=1)
                at = np.arange(len(points))
                line = {"color": strong.get(method, shades.get(method)), "label": method}
                if method in strong:
                    ax.fill_between(
                        at, mean - spread, mean + spread, color=line["color"], alpha=0.15
                    )
                    ax.plot(at, mean, linewidth=2, marker="o", markersize=4, zorder=3, **line)
                else:
                    ax.plot(at, mean, linewidth=1, marker=markers[method], markersize=3.5, **line)
            ax.set_xticks(np.arange(len(points)), points)
            ax.set(xlabel=label, title=name)
            ax.grid(alpha=0.25)
        row[0].set_ylabel("error on test samples, %")
        row[-1].legend(fontsize="small", loc="center left", bbox_to_anchor=(1.02, 0.5))
    grid.savefig(path, dpi=120)
    print(f"\nFigures saved to {path}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    available = SETS if os.environ.get("SKLRANK_DATA") else SETS[:1]
    parser.add_argument("--sets", nargs="+", default=available, help="iris, wine, nursery, ... too")
    parser.add_argument("--figures", nargs="+", type=int, default=[1, 2, 3], choices=[1, 2, 3])
    parser.add_argument("--shares", nargs="+", type=float, default=SHARES, help="of figure 1")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS, metavar="METHOD")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1, help="number of parallel jobs")
    parser.add_argument("--plot", metavar="FILE", help="draw the figures")
    arguments = parser.parse_args()

    plans = {
        1: (
            "labeled samples, %",
            arguments.methods,
            [f"{100 * share:g}" for share in arguments.shares],
            [(share, {}) for share in arguments.shares],
        ),
        2: (
            "weight C of the labeled term",
            (PRINTED, DEFAULT),
            [f"1e{exponent}" for exponent in EXPONENTS],
            [(0.02, {"labeled_weight": 10.0**exponent}) for exponent in EXPONENTS],
        ),
        3: (
            "depth of the trees",
            ("tree", "ASSEMBLE", SPREAD_THEN_BOOST, PRINTED, DEFAULT),
            [str(depth or "full") for depth in DEPTHS],
            [(0.02, {"depth": depth}) for depth in DEPTHS],
        ),
    }
    figures = []
    for number in arguments.figures:
        label, methods, ticks, points = plans[number]
        errors = measure(arguments, methods, points)
        print_figure(f"Figure 2.{number}: error in %, by {label}", methods, ticks, errors)
        if number == 1:
            print_cells(methods, errors)
        figures.append((label, methods, ticks, errors))
    if arguments.plot:
        draw(figures, arguments.plot)


if __name__ == "__main__":
    main()
