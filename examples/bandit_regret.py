"""Growth of regret with the number of rounds: Section 7.2.2 of Valizadegan (2010) in numbers.

The thesis leaves open whether a learner from bandit feedback can have a regret of order sqrt(T).
Here samples are mixtures of topics, and the probability of each class is linear in them. In each
round, a policy shows a class and learns whether it was right. The regret is the probability of the
best class less that of the class shown, summed over rounds. A regret of order T ** b has the growth
exponent b, which is computed from the last round and from a round 16 times earlier.

Run:  python examples/bandit_regret.py [--rounds 16000] [--seeds 3]
      One minute.
"""

import argparse

import numpy as np
from sklearn.base import clone

from sklrank.linear_model import BanditronClassifier, LinUCBClassifier

POLICIES = {
    'Banditron, "ag0"': BanditronClassifier(exploration="ag0"),
    'Banditron, "decay"': BanditronClassifier(exploration="decay"),
    "LinUCB, linear": LinUCBClassifier(kernel="linear"),
    "LinUCB, default": LinUCBClassifier(),
    "LinUCB, exploration 0.05": LinUCBClassifier(exploration=0.05),
    "LinUCB, inverse-gap": LinUCBClassifier(randomization="inverse-gap"),
}


def make_topics(n_rounds, seed, n_topics=6, n_classes=5):
    """Return samples, their classes, and the probability of each class."""
    random = np.random.RandomState(seed)
    X = random.dirichlet(np.full(n_topics, 0.3), size=n_rounds)
    means = X @ random.dirichlet(np.full(n_classes, 0.5), size=n_topics)
    draws = random.uniform(size=(n_rounds, 1))
    return X, (draws > means.cumsum(axis=1)[:, :-1]).sum(axis=1), means


def regret(model, X, y, means):
    """Return the regret after each round."""
    lost, classes = np.empty(len(y)), range(means.shape[1])
    for i, row in enumerate(X):
        shown = model.explore([row], classes=classes if i == 0 else None)
        action = shown.actions[0]
        lost[i] = means[i].max() - means[i, action]
        model.partial_fit_feedback([row], shown, [float(y[i] == action)])
    return lost.cumsum()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=16_000)
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()

    marks = [arguments.rounds // 16, arguments.rounds // 4, arguments.rounds]
    print(f"Mean regret of {arguments.seeds} streams after rounds, and its growth exponent\n")
    print(f"{'':<26}" + "".join(f"{mark:>9}" for mark in marks) + "  exponent     +-")
    for title, model in POLICIES.items():
        found = []
        for seed in range(arguments.seeds):
            policy = clone(model).set_params(random_state=seed)
            found.append(regret(policy, *make_topics(arguments.rounds, seed)))
        at = np.array(found)[:, np.array(marks) - 1]
        exponents = np.log(at[:, -1] / at[:, 0]) / np.log(16)
        cells = "".join(f"{value:>9.1f}" for value in at.mean(axis=0))
        print(f"{title:<26}{cells}{exponents.mean():>10.2f}{exponents.std():>7.2f}")


if __name__ == "__main__":
    main()
