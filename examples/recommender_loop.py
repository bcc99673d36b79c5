"""A recommender that shows three of twenty tags, and learns from the clicks, a while later.

Every visitor is a row of features; a tag that is relevant is clicked, if it is shown. The clicks of
a round come in two rounds later: until then the record of what was shown waits in a queue. Some of
the ranker's lists are randomised, and it knows the probabilities; so it learns about tags that it
would not have shown, and is not fooled by its own choices. Halfway the visitors' taste changes.

The table shows the share of shown tags that were clicked, by quarters of the stream: "shown" is
what visitors saw, exploration included. A policy that shows popular tags, and a ranker from which
nothing is hidden, are there to compare. The recommended learners learn the relevance of the shown
tags directly; the default trees, as in the paper, from importance-weighted pairs of them.

Run:  python examples/recommender_loop.py [--plot FILE]
"""

import argparse
from collections import deque

import numpy as np

from sklrank.datasets import make_multilabel_ranking_stream
from sklrank.online_boosting import AdaOLMR, TopKAdaptive, TopKBBM, recommended_learners

K, DELAY, BATCH = 3, 2, 50


class Recommender:
    """Shows by a ranker's exploration; learns the clicks that have come in."""

    def __init__(self, ranker, n_tags):
        self.ranker = ranker
        self.tags = np.arange(n_tags)
        self.waiting = deque()

    def show(self, X):
        shown = self.ranker.explore(X, classes=self.tags)
        self.waiting.append((X, shown))
        return shown.actions

    def learn(self, clicks):
        X, shown = self.waiting.popleft()
        self.ranker.partial_fit_feedback(X, shown, clicks)


class AllKnown:
    """Shows the best labels; all labels become known, of which a recommender can only dream."""

    def __init__(self, ranker, n_tags):
        self.ranker = ranker
        self.n_tags = n_tags
        self.waiting = deque()

    def show(self, X):
        self.waiting.append(X)
        if not hasattr(self.ranker, "classes_"):
            return np.tile(np.arange(K), (len(X), 1))
        return self.ranker.predict_topk(X, K)

    def learn_all(self, Y):
        self.ranker.partial_fit(self.waiting.popleft(), Y)


class Popular:
    """Shows the tags that were clicked most, a random one in place of one of them now and then."""

    def __init__(self, n_tags, exploration):
        self.random = np.random.RandomState(0)
        self.exploration = exploration
        self.clicks, self.times_shown = np.ones(n_tags), np.ones(n_tags)
        self.waiting = deque()

    def show(self, X):
        best = np.argsort(-self.clicks / self.times_shown)
        shown = np.tile(best[:K], (len(X), 1))
        exploring = self.random.uniform(size=len(X)) < self.exploration
        shown[exploring, -1] = self.random.choice(best[K:], exploring.sum())
        self.waiting.append(shown)
        return shown

    def learn(self, clicks):
        shown = self.waiting.popleft()
        np.add.at(self.times_shown, shown, 1)
        np.add.at(self.clicks, shown, clicks)


def play(policy, X, Y):
    """The share of clicks in what each row was shown."""
    late, clicked = deque(), []
    for start in range(0, len(X), BATCH):
        rows = slice(start, start + BATCH)
        shown = policy.show(X[rows])
        clicks = np.take_along_axis(Y[rows], shown, axis=1)
        clicked.append(clicks.mean(axis=1))
        late.append(Y[rows] if hasattr(policy, "learn_all") else clicks)
        if len(late) > DELAY:
            (policy.learn_all if hasattr(policy, "learn_all") else policy.learn)(late.popleft())
    return np.concatenate(clicked)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000, help="visitors")
    parser.add_argument("--plot", metavar="FILE", help="draw the share of clicks")
    arguments = parser.parse_args()
    X, Y = make_multilabel_ranking_stream(
        arguments.rows, n_labels=20, cardinality=4.0, drift="abrupt", random_state=0
    )
    n_tags = Y.shape[1]
    common = {"k": K, "exploration": 0.1, "random_state": 0}
    learners = recommended_learners(feedback="top-k")
    linear = {"estimator": learners, "n_estimators": len(learners), "max_features": None}
    all_known = AdaOLMR(recommended_learners(), n_estimators=22, max_features=None, random_state=0)
    policies = {
        "popular tags": Popular(n_tags, exploration=0.1),
        "TopKBBM, trees": Recommender(TopKBBM(**common), n_tags),
        "TopKAdaptive, trees": Recommender(TopKAdaptive(**common), n_tags),
        "TopKBBM, recommended learners": Recommender(TopKBBM(**common, **linear), n_tags),
        "all labels known: AdaOLMR, recommended": AllKnown(all_known, n_tags),
    }
    print(f"{len(X)} visitors see {K} of {n_tags} tags; of random ones they click {Y.mean():.2f}")
    heads = "".join(f"{f'{quarter}/4':>8}" for quarter in (1, 2, 3, 4))
    print(f"{'share of clicks in what was shown':<40}{heads}")
    clicked = {name: play(policy, X, Y) for name, policy in policies.items()}
    for name, share in clicked.items():
        quarters = [part.mean() for part in np.array_split(share, 4)]
        print(f"{name:<40}" + "".join(f"{value:>8.3f}" for value in quarters))

    if arguments.plot:
        import matplotlib.pyplot as plt

        figure, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
        window = max(1, len(X) // 20)
        for name, share in clicked.items():
            ends = np.arange(window, len(X) + 1, max(1, window // 10))
            sums = np.concatenate([[0], np.cumsum(share)])
            ax.plot(ends, (sums[ends] - sums[ends - window]) / window, label=name)
        ax.axvline(len(X) / 2, color="0.6", linestyle=":", label="taste changes")
        ax.set(xlabel="visitors", ylabel=f"share of clicks (last {window})", ylim=(0, 1))
        ax.legend(fontsize="small", loc="lower right")
        figure.savefig(arguments.plot, dpi=120)
        print(f"\nThe share of clicks is drawn in {arguments.plot}")


if __name__ == "__main__":
    main()
