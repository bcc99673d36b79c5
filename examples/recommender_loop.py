"""Simulate a recommender that shows three of twenty tags and learns from delayed clicks.

Each visitor is a sample; a relevant tag is clicked if it is shown. The clicks on a batch arrive two
batches later, and the record of the tags shown waits in a queue until then. Some of the lists are
random, with known propensities: so the ranker learns about tags that it would not have shown, and
its own choices do not bias it. After half of the visitors, the relevance of the tags changes.

The table shows the click rate, the fraction of shown tags that were clicked, in each quarter of the
stream; it includes the random lists. `SemiBanditRanker` learns the relevance of each shown tag by
itself; the boosted trees of Top-k BBM and Top-k Adaptive, as in their paper, learn from
importance-weighted pairs of shown tags. A policy that shows popular tags and a ranker that learns
the relevance of all tags are for comparison.

Run:  python examples/recommender_loop.py [--plot FILE]
"""

import argparse
from collections import deque

import numpy as np

from sklrank.datasets import make_multilabel_ranking_stream
from sklrank.linear_model import SemiBanditRanker
from sklrank.online_boosting import AdaOLMR, TopKAdaptive, TopKBBM

K, DELAY, BATCH = 3, 2, 50


class Recommender:
    """A policy that shows tags by the exploration of a ranker, and learns from clicks."""

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
    """A policy that shows the best tags, and learns from the relevance of all tags."""

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
    """A policy that shows the tags of highest click rate, with a random one now and then."""

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
    """Return the click rate of each visitor."""
    delayed, clicked = deque(), []
    for start in range(0, len(X), BATCH):
        rows = slice(start, start + BATCH)
        shown = policy.show(X[rows])
        clicks = np.take_along_axis(Y[rows], shown, axis=1)
        clicked.append(clicks.mean(axis=1))
        delayed.append(Y[rows] if hasattr(policy, "learn_all") else clicks)
        if len(delayed) > DELAY:
            (policy.learn_all if hasattr(policy, "learn_all") else policy.learn)(delayed.popleft())
    return np.concatenate(clicked)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000, help="number of visitors")
    parser.add_argument("--plot", metavar="FILE", help="draw the click rate")
    arguments = parser.parse_args()
    X, Y = make_multilabel_ranking_stream(
        arguments.rows, n_labels=20, cardinality=4.0, drift="abrupt", random_state=0
    )
    n_tags = Y.shape[1]
    common = {"k": K, "exploration": 0.1, "random_state": 0}
    printed = {"cost_estimate": "pairs", "propensity_clip": 0.005}
    policies = {
        "popular tags": Popular(n_tags, exploration=0.1),
        "TopKBBM, trees": Recommender(TopKBBM("trees", **printed, **common), n_tags),
        "TopKAdaptive, trees": Recommender(TopKAdaptive("trees", **printed, **common), n_tags),
        "SemiBanditRanker": Recommender(SemiBanditRanker(**common), n_tags),
        "AdaOLMR, relevance of all tags": AllKnown(AdaOLMR(random_state=0), n_tags),
    }
    print(f"{len(X)} visitors see {K} of {n_tags} tags; click rate of random tags: {Y.mean():.2f}")
    heads = "".join(f"{f'{quarter}/4':>8}" for quarter in (1, 2, 3, 4))
    print(f"{'click rate':<40}{heads}")
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
        ax.axvline(len(X) / 2, color="0.6", linestyle=":", label="relevance changes")
        ax.set(xlabel="visitors", ylabel=f"click rate (last {window} visitors)", ylim=(0, 1))
        ax.legend(fontsize="small", loc="lower right")
        figure.savefig(arguments.plot, dpi=120)
        print(f"\nThe click rate is drawn in {arguments.plot}")


if __name__ == "__main__":
    main()
