"""Weak learners of four kinds in one booster, on yeast.

Jung & Tewari (2018) boost learners of different formats together: each one receives the costs in a
form that it understands, and all votes are distributions over the labels. Here the learners are

- a Hoeffding tree of this package, and a Gaussian naive Bayes classifier of scikit-learn, which
  learn single labels with importance weights;
- a `MultiOutputClassifier` of logistic regressions, which learns rows of the indicator matrix;
- a Hoeffding tree of river, through its interface to scikit-learn, which has no sample weights and
  therefore learns copies of the samples. It is left out if river is not installed.

The table shows for each learner its weight in the booster, its empirical edge (Eq. 10 of the
paper), and the rank loss if it is the only learner, of all samples and of the second half. All
samples are scored before they are learned, in one shuffled pass. The picture shows the mean loss so
far. An expert of the booster consists of the first learners, so the linear models come first: the
first expert is the `MultiOutputClassifier` alone. Over all samples, the mixture is better than each
of its members. In the second half, the linear models are the best ones: Hedge weights the experts
by their losses since the first sample, and follows an expert that led early for a while. The
program takes two minutes of CPU time.

Run:  python examples/mixed_weak_learners.py [--samples N] [--plot FILE]
"""

import argparse

import numpy as np
from _multilabel import load
from sklearn.linear_model import SGDClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB

from sklrank.metrics import rank_loss
from sklrank.online_boosting import AdaOLMR
from sklrank.tree import HoeffdingTreeClassifier


def weak_learners():
    """Return the weak learners by their names."""
    learners = {
        "MultiOutputClassifier of SGD": MultiOutputClassifier(
            SGDClassifier(loss="log_loss", alpha=1e-3)
        ),
        "Hoeffding tree": HoeffdingTreeClassifier(grace_period=50, delta=1e-3),
        "Gaussian naive Bayes": GaussianNB(var_smoothing=1e-2),
    }
    try:
        from river.compat import convert_river_to_sklearn
        from river.tree import HoeffdingTreeClassifier as RiverTree
    except ImportError:
        print("river is not installed: its tree is left out")
    else:
        river_tree = RiverTree(grace_period=50, delta=1e-3)
        learners["Hoeffding tree of river"] = convert_river_to_sklearn(river_tree)
    return learners


def losses_of(model, X, Y):
    """Return the rank loss of each sample, scored before it is learned."""
    return rank_loss(Y, model.progressive_fit(X, Y), average=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=2417, help="number of samples")
    parser.add_argument("--plot", metavar="FILE", help="write the picture to this file")
    arguments = parser.parse_args()

    X_train, Y_train, X_test, Y_test = load("yeast")
    X, Y = np.vstack([X_train, X_test]), np.vstack([Y_train, Y_test]).astype(int)
    order = np.random.RandomState(0).permutation(len(X))[: arguments.samples]
    X, Y = X[order], Y[order]
    half = len(X) // 2

    learners = weak_learners()
    alone = {
        name: losses_of(AdaOLMR([learner], random_state=0), X, Y)
        for name, learner in learners.items()
    }
    mixture = AdaOLMR(list(learners.values()), random_state=0)
    mixed = losses_of(mixture, X, Y)

    parts = {"all samples": slice(None), "second half": slice(half, None)}
    width = max(map(len, learners))
    print(f"{'learner':{width}}  weight    edge  " + "  ".join(parts))
    for name, weight, edge in zip(learners, mixture.estimator_weights_, mixture.empirical_edges_):
        means = "  ".join(f"{alone[name][part].mean():11.4f}" for part in parts.values())
        print(f"{name:{width}}  {weight:6.2f}  {edge:6.3f}  {means}")
    means = "  ".join(f"{mixed[part].mean():11.4f}" for part in parts.values())
    print(f"{'all together':{width}}  {'':6}  {'':6}  {means}")
    for title, part in parts.items():
        best = min(alone.values(), key=lambda losses, part=part: losses[part].mean())
        difference = (mixed - best)[part]
        error = difference.std() / np.sqrt(len(difference))
        print(
            f"{title}, difference from the best one: {difference.mean():+.4f} "
            f"(standard error {error:.4f})"
        )

    if arguments.plot:
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
        rounds = np.arange(1, len(X) + 1)
        for name, losses in alone.items():
            axes.plot(rounds[50:], (np.cumsum(losses) / rounds)[50:], label=name)
        axes.plot(
            rounds[50:], (np.cumsum(mixed) / rounds)[50:], label="all together", color="black", lw=2
        )
        axes.set(xlabel="samples", ylabel="mean rank loss so far", title="Weak learners on yeast")
        axes.legend()
        figure.savefig(arguments.plot, dpi=120)
        print(f"wrote {arguments.plot}")


if __name__ == "__main__":
    main()
