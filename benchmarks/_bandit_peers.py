"""Contextual bandits of other libraries, each in a function that plays a stream of samples.

A function of `PEERS` or `POLICIES` takes dense samples `X` of mean squared length one, indices `y`
of the classes, their number, a seed, and a setting. It shows a class for each sample, passes to the
library whether that was right, and returns the share of wrong rounds. Beside it are the
settings to try. Functions import their library themselves, because it may not be installed.
"""

from itertools import product

import numpy as np

__all__ = ["PEERS", "POLICIES", "play_river"]


def play_river(X, y, n_classes, seed, alpha, beta):
    """LinUCB of river: a Bayesian regression per class; `beta` is the precision of the rewards."""
    from river.bandit import LinUCBDisjoint

    policy, wrong = LinUCBDisjoint(alpha=alpha, beta=beta, seed=seed), 0
    arms = list(range(n_classes))
    for x, label in zip(X.tolist(), y.tolist()):
        context = dict(enumerate(x))
        shown = policy.pull(arms, context=context)
        policy.update(shown, context, float(shown == label))
        wrong += shown != label
    return wrong / len(y)


def play_mabwiser(X, y, n_classes, seed, policy, size, length):
    """A policy of mabwiser by name, with its exploration `size`.

    Its penalty stays at one, because other values start from a wrong inverse; scaling the samples
    to this `length` is equivalent to a smaller penalty.
    """
    from mabwiser.mab import MAB, LearningPolicy

    name = "epsilon" if policy == "LinGreedy" else "alpha"
    model = MAB(list(range(n_classes)), getattr(LearningPolicy, policy)(**{name: size}), seed=seed)
    model.fit([0], [0], np.zeros((1, X.shape[1])))
    wrong = 0
    for x, label in zip(length * X, y.tolist()):
        shown = model.predict(x[np.newaxis])
        model.partial_fit([shown], [float(shown == label)], x[np.newaxis])
        wrong += shown != label
    return wrong / len(y)


def play_contextualbandits(X, y, n_classes, seed, alpha, penalty):
    """LinUCB of contextualbandits, which has an intercept."""
    from contextualbandits.online import LinUCB

    model = LinUCB(n_classes, alpha=alpha, lambda_=penalty, random_state=seed + 1)
    wrong = 0
    for i, label in enumerate(y.tolist()):
        x = X[i : i + 1]
        shown = np.atleast_1d(model.predict(x)).astype(int)
        model.partial_fit(x, shown, (shown == label).astype(float))
        wrong += shown[0] != label
    return wrong / len(y)


def play_vowpal_wabbit(X, y, n_classes, seed, options, cost):
    """Vowpal Wabbit with these command-line options.

    The costs of a right and of a wrong class are a setting too, because a class that was never
    shown has an expected cost of 0.
    """
    from vowpalwabbit import Workspace

    command = f"--cb_explore {n_classes} --quiet --random_seed {seed + 1} {options}"
    model, wrong = Workspace(command), 0
    draws = np.random.RandomState(seed).random_sample(len(y))
    for x, label, draw in zip(X, y.tolist(), draws):
        features = " | " + " ".join(f"{j}:{x[j]:.6g}" for j in np.flatnonzero(x))
        probabilities = np.array(model.predict(features))
        sums = np.cumsum(probabilities)
        shown = min(int(np.searchsorted(sums, draw * sums[-1], side="right")), n_classes - 1)
        paid = cost[int(shown != label)]
        model.learn(f"{shown + 1}:{paid}:{probabilities[shown]:.6f}{features}")
        wrong += shown != label
    model.finish()
    return wrong / len(y)


EXPLORERS = (
    "--epsilon 0.05 --power_t 0",
    "--first 500 --power_t 0",
    "--cover 4 --nounif",
    "--cover 16 --nounif --power_t 0",
    "--bag 10 --greedify --epsilon 0.02",
    "--squarecb --gamma_scale 100",
    "--squarecb --gamma_scale 1000",
    "--regcbopt --mellowness 0.01",
    "--softmax --lambda 100",
)
LINUCB = [{"alpha": a, "beta": b} for a, b in product((0.1, 0.5, 2.0), (3.0, 10.0, 30.0))]
MABWISER = [
    {"policy": policy, "size": size, "length": length}
    for policy, sizes in (("LinUCB", (0.1, 0.3)), ("LinTS", (0.1, 0.3)), ("LinGreedy", (0.05,)))
    for size, length in product(sizes, (2.0, 4.0))
]
CONTEXTUALBANDITS = [
    {"alpha": a, "penalty": p} for a, p in product((0.1, 0.3, 1.0), (0.03, 0.1, 0.3))
]
VOWPAL_WABBIT = [
    {"options": options, "cost": cost} for options, cost in product(EXPLORERS, ((-1, 0), (0, 1)))
]
PRODUCTS = [
    {"options": f"{options} -q ::", "cost": (-1, 0)} for options in (EXPLORERS[0], EXPLORERS[2])
]
PEERS = {
    "river LinUCB, its defaults": (play_river, [{"alpha": 1.0, "beta": 1.0}]),
    "river LinUCB": (play_river, LINUCB),
    "mabwiser": (play_mabwiser, MABWISER),
    "contextualbandits LinUCB": (play_contextualbandits, CONTEXTUALBANDITS),
    "Vowpal Wabbit": (play_vowpal_wabbit, VOWPAL_WABBIT),
    "Vowpal Wabbit, products of features": (play_vowpal_wabbit, PRODUCTS),
}
# The options, learning rates and costs of the explorers that are compared with policies.
POLICIES = {
    f"Vowpal Wabbit, {name}": (
        play_vowpal_wabbit,
        [
            {"options": f"{option} --learning_rate {rate}", "cost": cost}
            for option, rate, cost in product(options, (0.1, 0.5, 2.0, 8.0), ((-1, 0), (0, 1)))
        ],
    )
    for name, options in {
        "squarecb": ("--squarecb --gamma_scale 100", "--squarecb --gamma_scale 1000"),
        "cover": ("--cover 4 --nounif", "--cover 16 --nounif"),
        "bag": ("--bag 5 --greedify", "--bag 10 --greedify"),
        "epsilon-greedy": ("--epsilon 0.02", "--epsilon 0.1"),
    }.items()
}
