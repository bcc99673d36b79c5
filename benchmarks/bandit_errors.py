"""Played error of LinUCBClassifier, beside other libraries with their best settings.

The played error is the share of rounds in which the class shown was wrong, in one pass over a data
set and, for digits, also in ten passes. It is averaged over several random orders of the samples,
which are the same for all models. The table of each data set has

- `LinUCBClassifier` with its default parameters, with the linear kernel and with diagonal
  covariances, for samples in their original units, and Banditron for comparison;
- other libraries, for samples divided by a common factor beforehand, each with the best of its
  settings for this data set;
- `LinUCBClassifier` with the best of nine settings for this data set, like the other libraries.

Missing values, which only mice_protein has, are replaced by the means of their features.

The settings are chosen by the first order, which also counts in the average. If the trials of a
library take more CPU seconds than `--seconds`, it chooses among the settings tried by then; if a
single trial would take half of that, or the library is not installed, it is left out.

digits is part of scikit-learn, SynNonSep is generated; `SKLRANK_DATA` names the folder of the
others. `--sets` accepts more data sets: wine, breast cancer, balance, car and nursery. They were
observed when the defaults were chosen on the first ones.

With `--policies`, the table of each data set has the exploration policies of `LinUCBClassifier`
with their default amounts, its linear kernel, Banditron, and four explorers of Vowpal Wabbit, whose
samples are standardized in hindsight and whose learning rate, costs and options are the best ones
for the first order. Each is compared with the default by a paired t-test over the orders. The least
propensity is that of a class shown in the first order.

    python benchmarks/bandit_errors.py [--quick] [--sets digits SynNonSep] [--seconds 100]
    python benchmarks/bandit_errors.py --policies --sets vowel car --rows 2000 --seeds 10
"""

import argparse
import os
import sys
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
from _bandit_peers import PEERS, POLICIES
from _common import Stopwatch, load_multiclass, print_header, print_table
from scipy import sparse, stats
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

from sklrank.linear_model import BanditronClassifier, LinUCBClassifier

sys.path.append(str(Path(__file__).parents[1] / "examples"))
from _keyword_documents import make_keyword_documents

LOADERS = {"digits": load_digits, "wine": load_wine, "breast cancer": load_breast_cancer}
MAIN_FILES = ("optdigits", "pendigits", "letter", "shuttle", "satimage", "vowel", "mice_protein")
MORE_FILES = ("balance", "car", "nursery")
FILES = MAIN_FILES + MORE_FILES
SETS = ("digits", "digits, ten passes", *MAIN_FILES, "SynNonSep")
MORE = ("wine", "breast cancer", *MORE_FILES)
# Parameters and settings of the variants of LinUCBClassifier.
VARIANTS = {
    "LinUCB": (
        {},
        [{"bonus": b, "alpha": a} for b, a in product((0.3, 0.6, 1.2), (0.05, 0.15, 0.4))],
    ),
    "LinUCB, linear": (
        {"kernel": "linear"},
        [
            {"bonus": b, "alpha": a, "clip": clip}
            for b, (a, clip) in product((0.6, 0.9, 1.5), ((0.1, 5.0), (0.4, 5.0), (0.1, None)))
        ],
    ),
    "LinUCB, diagonal": (
        {"covariance": "diagonal"},
        [{"bonus": b, "alpha": a} for b, a in product((1.5, 3.0, 6.0), (0.1, 0.4, 1.0))],
    ),
}
# Policies, with the parameters of LinUCBClassifier.
LINUCB_POLICIES = {
    "upper confidence bounds": {},
    "the same, linear kernel": {"kernel": "linear"},
    "inverse-gap": {"randomization": "inverse-gap"},
    "thompson": {"randomization": "thompson"},
    "epsilon-greedy, 0.05": {"exploration": 0.05},
    "plackett-luce, 0.05": {"exploration": 0.05, "randomization": "plackett-luce"},
}
N_PROBED = 200


def play_sklrank(X, y, n_classes, seed, make, **parameters):
    model = make(random_state=seed, **parameters)
    return model.partial_fit(X, y, classes=range(n_classes)).error_rate_


def least_propensity(X, y, n_classes, make, **parameters):
    """Return the least probability with which a class was shown, in one pass round by round."""
    model, least = make(random_state=0, **parameters), 1.0
    for i, label in enumerate(y):
        row = X[i : i + 1]
        shown = model.explore(row, classes=range(n_classes) if i == 0 else None)
        model.partial_fit_feedback(row, shown, (shown.actions == label).astype(float))
        least = min(least, shown.propensities[0])
    return least


def sklrank_models(tuned):
    """Return titles, functions and settings, as in `PEERS`, with or without the best of nine."""
    banditron = partial(play_sklrank, make=BanditronClassifier)
    linucb = partial(play_sklrank, make=LinUCBClassifier)
    contenders = {"Banditron": (banditron, [{"exploration": "ag3"}])}
    for title, (parameters, grid) in VARIANTS.items():
        contenders[title] = linucb, [parameters]
        if tuned:
            contenders[f"{title}, best of nine"] = (
                linucb,
                [parameters | setting for setting in grid],
            )
    return contenders


def load(name):
    name = name.removesuffix(", ten passes")
    if name in LOADERS:
        return LOADERS[name](return_X_y=True)
    if name == "SynNonSep":
        return make_keyword_documents(label_noise=0.05, random_state=0)
    X, y = load_multiclass(name)
    return np.where(np.isnan(X), np.nanmean(X, axis=0), X), y


def scaled(X):
    """Return dense samples of mean squared length one."""
    X = X.toarray() if sparse.issparse(X) else X
    return X / np.sqrt(np.mean(np.sum(X**2, axis=1)))


class Contest:
    """Random orders of a data set, on which models are compared."""

    def __init__(self, X, y, n_passes, n_seeds, seconds):
        self.X, self.y, self.n_classes, self.seconds = X, y, len(np.unique(y)), seconds
        self.orders = [
            np.tile(np.random.RandomState(seed).permutation(len(y)), n_passes)
            for seed in range(n_seeds)
        ]

    def play(self, contender, setting, seed, n_samples=None):
        """Return the error for one order and its CPU seconds."""
        order = self.orders[seed][:n_samples]
        with Stopwatch() as watch:
            error = contender(self.X[order], self.y[order], self.n_classes, seed, **setting)
        return error, watch.seconds

    def runs(self, contender, settings):
        """Return the errors and CPU seconds for all orders, the setting, and the number tried."""
        trials, spent = [], 0.0
        for setting in settings:
            trials.append(self.play(contender, setting, 0))
            spent += trials[-1][1]
            if spent > self.seconds:
                break
        best = int(np.argmin([error for error, _ in trials]))
        others = range(1, len(self.orders))
        runs = [trials[best], *(self.play(contender, settings[best], seed) for seed in others)]
        errors, times = np.transpose(runs)
        return errors, times, settings[best], len(trials)

    def row(self, title, contender, settings):
        """Return a row of the table; None if the library is not installed."""
        n_samples = len(self.orders[0])
        try:
            _, probe = self.play(contender, settings[0], 0, N_PROBED)
        except ImportError:
            return None
        if probe * n_samples / N_PROBED > self.seconds / 2 and not isinstance(contender, partial):
            return [title, "too slow", "", f"{N_PROBED / probe:,.0f}", "", ""]
        errors, times, setting, n_tried = self.runs(contender, settings)
        tried = f"{n_tried} of {len(settings)}" if len(settings) > 1 else ""
        chosen = " ".join(map(str, setting.values())) if tried else ""
        rate = n_samples * len(times) / sum(times)
        figures = [f"{np.mean(errors):.4f}", f"{np.std(errors):.4f}", f"{rate:,.0f}"]
        return [title, *figures, tried, chosen]


def load_rows(name, n_rows):
    """Return at most so many samples, and their classes 0, 1, ..."""
    X, y = load(name)
    if n_rows is not None and n_rows < len(y):
        # Some files are sorted by class.
        few = np.random.RandomState(0).permutation(len(y))[:n_rows]
        X, y = X[few], y[few]
    return X, np.unique(y, return_inverse=True)[1]


def compare_policies(name, arguments):
    X, y = load_rows(name, arguments.rows)
    dense = X.toarray() if sparse.issparse(X) else X
    deviations = dense.std(axis=0)
    standardized = (dense - dense.mean(axis=0)) / np.where(deviations > 0, deviations, 1.0)
    linucb = partial(play_sklrank, make=LinUCBClassifier)
    own = {title: (linucb, [parameters]) for title, parameters in LINUCB_POLICIES.items()}
    own["Banditron"] = partial(play_sklrank, make=BanditronClassifier), [{"exploration": "ag3"}]
    rows, first = [], None
    peers = POLICIES if arguments.peers else {}
    for samples, contenders in ((X, own), (scaled(standardized), peers)):
        contest = Contest(samples, y, 1, arguments.seeds, arguments.seconds)
        for title, contender in contenders.items():
            try:
                errors, times, setting, _ = contest.runs(*contender)
            except ImportError:
                continue
            first = errors if first is None else first
            more, n = errors - first, len(errors)
            test = ["", ""]
            if more.any() and n > 1:
                p = stats.ttest_rel(errors, first).pvalue
                test = [f"{more.mean():+.4f} +- {more.std(ddof=1) / n**0.5:.4f}", f"{p:.0e}"]
            chosen = " ".join(map(str, setting.values())) if len(contender[1]) > 1 else ""
            rate, least = f"{len(y) * n / sum(times):,.0f}", ""
            if contenders is own:
                order, make = contest.orders[0], contender[0].keywords["make"]
                shown = least_propensity(
                    samples[order], y[order], contest.n_classes, make, **setting
                )
                least = f"{shown:.1e}"
            rows.append([title, f"{errors.mean():.4f}", *test, least, rate, chosen])
    columns = ["", "played error", "more than the first", "p"]
    columns += ["least propensity", "rounds a second", "best setting"]
    print_table(f"{name}: {len(y)} rounds, {arguments.seeds} orders", columns, rows)


def compare(name, arguments):
    n_passes, n_seeds = 10 if "ten" in name else 1, arguments.seeds
    if arguments.quick:
        n_passes, n_seeds = min(n_passes, 2), 1
    X, y = load_rows(name, arguments.rows)
    rows = []
    peers = PEERS if arguments.peers else {}
    for samples, contenders in ((X, sklrank_models(arguments.tuned)), (scaled(X), peers)):
        contest = Contest(samples, y, n_passes, n_seeds, arguments.seconds)
        rows += [contest.row(title, *contender) for title, contender in contenders.items()]
    columns = ["", "played error", "+-", "rounds a second", "settings tried", "best setting"]
    n_rounds = n_passes * len(y)
    print_table(f"{name}: {n_rounds} rounds, {n_seeds} orders", columns, list(filter(None, rows)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small data, to check that it runs")
    files = FILES if os.environ.get("SKLRANK_DATA") else ()
    available = [name for name in (*SETS, *MORE) if name not in FILES or name in files]
    default = [name for name in SETS if name in available]
    parser.add_argument("--sets", nargs="+", choices=available, default=default)
    parser.add_argument("--seeds", type=int, default=5, help="random orders of the samples")
    parser.add_argument("--seconds", type=float, default=100.0, help="for the trials of a library")
    parser.add_argument("--no-peers", dest="peers", action="store_false", help="sklrank only")
    parser.add_argument(
        "--defaults", dest="tuned", action="store_false", help="no best of nine settings"
    )
    parser.add_argument("--policies", action="store_true", help="exploration policies, paired")
    parser.add_argument("--rows", type=int, help="largest number of samples of a data set")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.rows, arguments.seeds = 300, min(arguments.seeds, 2)
    print_header(peers=("river", "mabwiser", "contextualbandits", "vowpalwabbit"))
    for name in arguments.sets:
        (compare_policies if arguments.policies else compare)(name, arguments)


if __name__ == "__main__":
    main()
