"""Learn rankers from the log of another policy, and estimate how good they are.

A policy has shown popular tags, with randomized lists. It logged the tags shown, their propensities
and the clicks in a data frame with one row per visitor. From this log

- rankers learn by `partial_fit_feedback`;
- the loss of each ranker is estimated while it learns: a pair of shown tags of which one was
  clicked has the weight 1 / Pr[both shown] (Raman et al. 2020, Eq. 1). The estimate is unbiased for
  any policy that wrote the log.

The table compares the estimates with the true losses, which are known in this simulation, as number
of wrong pairs per visitor.

Run:  pip install pandas && python examples/replay_logs.py
"""

import argparse

import numpy as np

from sklrank.datasets import make_multilabel_ranking_stream
from sklrank.feedback import Exploration, explore
from sklrank.linear_model import SemiBanditRanker
from sklrank.metrics import rank_loss
from sklrank.online_boosting import TopKAdaptive, TopKBBM

K = 3
TAGS = np.array([f"tag {letter}" for letter in "ABCDEFGH"])


def write_log(Y, exploration):
    """Return the log of a policy that ranks the tags by popularity."""
    scores = np.tile(Y.mean(axis=0), (len(Y), 1))
    shown = explore(scores, K, exploration=exploration, random_state=0)
    clicks = np.take_along_axis(Y, shown.actions, axis=1)
    return shown.to_frame(rewards=clicks, classes=TAGS)


def estimated_losses(scores, shown, clicks):
    """Estimate the wrong pairs of each sample from the tags shown; a tie is a wrong pair."""
    shown_scores = np.take_along_axis(scores, shown.actions, axis=1)
    wrong = shown_scores[:, :, None] <= shown_scores[:, None, :]
    pairs = clicks[:, :, None] * (1 - clicks[:, None, :])
    return (wrong * pairs / shown.propensities).sum(axis=(1, 2))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000, help="number of visitors in the log")
    parser.add_argument("--exploration", type=float, default=0.5, help="of the logging policy")
    arguments = parser.parse_args()
    X, Y = make_multilabel_ranking_stream(
        arguments.rows, n_labels=len(TAGS), cardinality=3.0, random_state=0
    )
    log = write_log(Y, arguments.exploration)
    print(log.head(3).round(3).to_string(index=False), "\n")

    shown = Exploration.from_frame(log, classes=TAGS)
    clicks = log[[f"reward_{i}" for i in range(K)]].to_numpy()
    last = slice(len(X) // 2, None)
    print(f"{'ranker':<20}{'estimated wrong pairs':>25}{'true':>9}{'rank loss':>18}")
    popular = np.tile(Y.mean(axis=0), (len(Y), 1))
    report("logging policy", popular, shown, clicks, Y, last)
    rankers = {
        "TopKBBM, trees": TopKBBM("trees", cost_estimate="pairs", random_state=0),
        "TopKAdaptive, trees": TopKAdaptive("trees", cost_estimate="pairs", random_state=0),
        "SemiBanditRanker": SemiBanditRanker(random_state=0),
    }
    for name, ranker in rankers.items():
        scores = np.zeros(Y.shape)
        ranker.partial_fit_feedback(X[:1000], shown[:1000], clicks[:1000], classes=TAGS)
        for start in range(1000, len(X), 1000):
            rows = slice(start, start + 1000)
            # Score before learning, so that the estimate is for unseen samples.
            scores[rows] = ranker.decision_function(X[rows])
            ranker.partial_fit_feedback(X[rows], shown[rows], clicks[rows])
        report(name, scores, shown, clicks, Y, last)


def report(name, scores, shown, clicks, Y, rows):
    estimates = estimated_losses(scores, shown, clicks)[rows]
    error = estimates.std() / np.sqrt(len(estimates))
    truth = rank_loss(Y[rows], scores[rows], normalize=False, ties="full")
    loss = rank_loss(Y[rows], scores[rows])
    print(f"{name:<26}{estimates.mean():>11.2f} +- {error:.2f}{truth:>9.2f}{loss:>18.3f}")


if __name__ == "__main__":
    main()
