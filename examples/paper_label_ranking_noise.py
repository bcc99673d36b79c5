"""Figures 1 and 2 of Fotakis et al. (2022): the effect of noisy rankings on label rankers.

Two families of data, SFN (100 binary features) and LFN (1000), have 10,000 samples with rankings of
five labels. The score of each label depends on ten features, the same ones for all labels; with
--own-features each label has its own. The rankers are fitted to noisy rankings and scored on clean
rankings of held-out samples. Two numbers measure the noise: alpha is the share of rankings that it
changes, beta the mean Kendall tau between noisy and clean rankings.

Figure 1: tau of four labelwise rankers, with one model for each label, against alpha, and against
beta, for Gaussian noise on the scores. Figure 2: tau of each ranker for Gaussian noise and for
Mallows noise on the rankings; the dotted lines are beta. Fully grown trees fit the noise; shallow
trees and forests average it out. Honest forests choose the splits of a tree with half of its
samples and the values of its leaves with the other half.

Run:  python examples/paper_label_ranking_noise.py [--rows 10000] [--plot PREFIX]
      Half an hour.
"""

import argparse

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import KFold
from sklearn.tree import DecisionTreeRegressor

from sklrank.datasets import make_sparse_label_ranking
from sklrank.label_ranking import LabelwiseRanker
from sklrank.metrics import alpha_inconsistency, beta_tau_gap
from sklrank.tree import HonestForestRegressor

FAMILIES = {"SFN": 100, "LFN": 1000}
NOISES = {
    "gaussian": ("scale", (0.0005, 0.005, 0.01, 0.02, 0.04, 0.08, 0.15, 0.3)),
    "mallows": ("theta", (4.4, 3.6, 2.8, 2.2, 1.8, 1.4, 1.0, 0.6)),
}
LEARNERS = {
    "forest": RandomForestRegressor(20, max_features=0.3, random_state=0),
    "honest forest": HonestForestRegressor(20, max_features=0.3, random_state=0),
    "shallow tree": DecisionTreeRegressor(max_depth=8, random_state=0),
    "full tree": DecisionTreeRegressor(random_state=0),
}


def run(family, noise, level, arguments):
    """Return alpha, beta, and the taus `(n_folds,)` of each learner."""
    X, Y, Y_clean, _ = make_sparse_label_ranking(
        arguments.rows,
        FAMILIES[family],
        noise=noise,
        shared_features=not arguments.own_features,
        **{NOISES[noise][0]: level},
        random_state=0,
        return_clean=True,
    )
    taus = {name: [] for name in LEARNERS}
    for train, test in KFold(arguments.folds, shuffle=True, random_state=0).split(X):
        for name, learner in LEARNERS.items():
            ranker = LabelwiseRanker(clone(learner)).fit(X[train], Y[train])
            taus[name].append(ranker.score(X[test], Y_clean[test]))
    return alpha_inconsistency(Y_clean, Y), beta_tau_gap(Y_clean, Y), taus


def results(arguments):
    """Return, for each family and noise, alphas, betas `(n_levels,)` and the taus of each learner.

    The taus have the shape `(n_levels, n_folds)`.
    """
    jobs = [
        (family, noise, level)
        for family in FAMILIES
        for noise, (_, levels) in NOISES.items()
        for level in levels
    ]
    runs = Parallel(n_jobs=arguments.jobs)(delayed(run)(*job, arguments) for job in jobs)
    found = {}
    for (family, noise, _), (alpha, beta, taus) in zip(jobs, runs):
        alphas, betas, curves = found.setdefault(
            (family, noise), ([], [], {name: [] for name in LEARNERS})
        )
        alphas.append(alpha)
        betas.append(beta)
        for name in LEARNERS:
            curves[name].append(taus[name])
    return found


def print_table(found):
    for (family, noise), (alphas, betas, curves) in found.items():
        print(f"\n{family}, {noise} noise")
        lines = {"alpha": alphas, "beta": betas}
        lines |= {name: np.mean(taus, axis=1) for name, taus in curves.items()}
        for name, values in lines.items():
            print(f"  {name:<14}" + "".join(f"{value:>8.3f}" for value in values))


def draw(found, prefix):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(10, 7), sharey=True, layout="constrained")
    for row, family in zip(axes, FAMILIES):
        alphas, betas, curves = found[family, "gaussian"]
        for name, taus in curves.items():
            for ax, x in zip(row, (alphas, betas)):
                ax.plot(x, np.mean(taus, axis=1), marker="o", markersize=3, label=name)
        row[1].plot(betas, betas, color="0.6", linestyle=":", label="noisy rankings")
        row[0].set(xlabel="alpha: share of rankings changed", ylabel="Kendall tau", title=family)
        row[1].set(xlabel="beta: tau of noisy and clean rankings", title=family)
        row[1].invert_xaxis()
    axes[0, 1].legend(fontsize="small")
    figure.savefig(f"{prefix}_1.png", dpi=120)

    shape = len(LEARNERS), len(FAMILIES)
    figure, axes = plt.subplots(
        *shape, figsize=(10, 12), sharex=True, sharey=True, layout="constrained"
    )
    for row, name in zip(axes, LEARNERS):
        for ax, family in zip(row, FAMILIES):
            for noise in NOISES:
                alphas, betas, curves = found[family, noise]
                taus = np.array(curves[name])
                mean, deviation = taus.mean(axis=1), taus.std(axis=1)
                (line,) = ax.plot(alphas, mean, marker="o", markersize=3, label=noise)
                color = line.get_color()
                ax.fill_between(alphas, mean - deviation, mean + deviation, alpha=0.2, color=color)
                ax.plot(alphas, betas, linestyle=":", color=color)
            ax.set(title=f"{family}, {name}")
    for ax in axes[-1]:
        ax.set_xlabel("alpha: share of rankings changed")
    for ax in axes[:, 0]:
        ax.set_ylabel("Kendall tau")
    axes[0, 0].legend(fontsize="small")
    figure.savefig(f"{prefix}_2.png", dpi=120)
    print(f"\nSaved the figures to {prefix}_1.png and {prefix}_2.png")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument(
        "--own-features", action="store_true", help="draw the features of each label separately"
    )
    parser.add_argument("--folds", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=1, help="processes that share the data sets")
    parser.add_argument("--plot", metavar="PREFIX", help="draw the figures")
    arguments = parser.parse_args()
    found = results(arguments)
    print_table(found)
    if arguments.plot:
        draw(found, arguments.plot)


if __name__ == "__main__":
    main()
