"""Learn a ranker from the log of another policy, and say beforehand how good it will be.

A policy that shows popular tags has run for a while. It randomised what it showed, and logged that
with its probabilities and the clicks: a data frame, a line for each visitor. From the log alone

- rankers learn, by `partial_fit_feedback`;
- each ranker's loss is estimated as it learns: a pair of tags of which one was clicked counts
  1 / Pr[both shown] pairs (Raman et al. 2020, Eq. 1). The estimate has no bias, whichever policy
  wrote the log.

The table compares the estimates with the truth, which only a simulation knows, in pairs per row.

Run:  pip install pandas && python examples/replay_logs.py
"""

import argparse

import numpy as np

from sklrank.datasets import make_multilabel_ranking_stream
from sklrank.feedback import Exploration, UniformRandomization
from sklrank.metrics import rank_loss
from sklrank.online_boosting import TopKAdaptive, TopKBBM, recommended_learners

K = 3
TAGS = np.array([f"tag {letter}" for letter in "ABCDEFGH"])


def write_log(Y, exploration):
    """What a policy that shows the same popular tags to everybody would have logged."""
    scores = np.tile(Y.mean(axis=0), (len(Y), 1))
    shown = UniformRandomization(exploration).explore(scores, K, random_state=0)
    clicks = np.take_along_axis(Y, shown.actions, axis=1)
    return shown.to_frame(rewards=clicks, classes=TAGS)


def estimated_losses(scores, shown, clicks):
    """Wrong pairs of each row, estimated from what was shown (ties count in full)."""
    of_shown = np.take_along_axis(scores, shown.actions, axis=1)
    wrong = of_shown[:, :, None] <= of_shown[:, None, :]
    pairs = clicks[:, :, None] * (1 - clicks[:, None, :])
    return (wrong * pairs / shown.propensities).sum(axis=(1, 2))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000, help="lines of the log")
    parser.add_argument("--exploration", type=float, default=0.5, help="of the policy that logged")
    arguments = parser.parse_args()
    X, Y = make_multilabel_ranking_stream(
        arguments.rows, n_labels=len(TAGS), cardinality=3.0, random_state=0
    )
    log = write_log(Y, arguments.exploration)
    print(log.head(3).round(3).to_string(index=False), "\n")

    shown = Exploration.from_frame(log, classes=TAGS)
    clicks = log[[f"reward_{i}" for i in range(K)]].to_numpy()
    last = slice(len(X) // 2, None)
    print(f"{'ranker':<20}{'estimated wrong pairs':>25}{'true':>9}{'share of pairs':>18}")
    popular = np.tile(Y.mean(axis=0), (len(Y), 1))
    report("the one that logged", popular, shown, clicks, Y, last)
    learners = recommended_learners(feedback="top-k")
    rankers = {
        "TopKBBM, trees": TopKBBM(random_state=0),
        "TopKAdaptive, trees": TopKAdaptive(random_state=0),
        "TopKBBM, recommended": TopKBBM(
            learners, n_estimators=len(learners), max_features=None, random_state=0
        ),
    }
    for name, ranker in rankers.items():
        scores = np.zeros(Y.shape)
        ranker.partial_fit_feedback(X[:1000], shown[:1000], clicks[:1000], classes=TAGS)
        for start in range(1000, len(X), 1000):
            rows = slice(start, start + 1000)
            # Score first, learn then: so the estimate is that of rows not seen.
            scores[rows] = ranker.decision_function(X[rows])
            ranker.partial_fit_feedback(X[rows], shown[rows], clicks[rows])
        report(name, scores, shown, clicks, Y, last)


def report(name, scores, shown, clicks, Y, rows):
    estimates = estimated_losses(scores, shown, clicks)[rows]
    error = estimates.std() / np.sqrt(len(estimates))
    truth = rank_loss(Y[rows], scores[rows], normalize=False, ties="full")
    share = rank_loss(Y[rows], scores[rows])
    print(f"{name:<26}{estimates.mean():>11.2f} +- {error:.2f}{truth:>9.2f}{share:>18.3f}")


if __name__ == "__main__":
    main()
