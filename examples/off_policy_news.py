"""Choose a policy from a log before it is deployed: articles of a news page.

A running policy shows one of six articles to each visitor and writes a log in SQLite: the visitor,
the time, the version of the policy, the article, its propensity, and the click, which is NULL as
long as it has not arrived. The visitors are in another table.

Four candidates are learned from the first half of the log, and evaluated on the second half, which
they have not seen:

- popular: the article with the most clicks;
- boosted: `OffPolicyClassifier` with gradient boosted trees;
- logistic: `OffPolicyClassifier` with a logistic regression and doubly robust rewards;
- bandit: `LinUCBClassifier`, which replays the log.

The best one is then deployed. The table compares the estimates with the true click rates, which are
known in this simulation, and the plot shows them with their intervals, and the confidence sequence
of the chosen policy.

Run:  pip install pandas && python examples/off_policy_news.py [--plot FILE]
"""

import argparse
import sqlite3

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from sklrank.feedback import Exploration, explore
from sklrank.linear_model import LinUCBClassifier
from sklrank.off_policy import (
    OffPolicyClassifier,
    OffPolicyDisplay,
    confidence_sequence,
    policy_value,
)

ARTICLES = np.array(["city", "economy", "film", "football", "science", "weather"])
FEATURES = ["age", "evening", "abroad", "visits"]


def click_rates(X):
    """Return the true click rate of each article: the young want films, but not at night."""
    age, evening, abroad, visits = X.T
    logits = np.column_stack(
        [
            -1.5 - 2.0 * abroad,
            -2.2 + 1.2 * age * (evening < 0.5),
            -1.8 - 1.2 * age + 1.0 * evening,
            -2.0 + 2.2 * evening * (age < 0),
            -2.5 + 0.8 * age * age,
            -1.3 - 0.6 * visits - 1.0 * evening,
        ]
    )
    return 1 / (1 + np.exp(-logits))


def draw_visitors(n, random):
    age, visits = random.normal(size=(2, n))
    evening, abroad = random.binomial(1, [0.4, 0.2], size=(n, 2)).T
    return np.column_stack([age, evening, abroad, visits])


def write_log(database, n, random):
    """Let the running policy show articles, and write what it showed."""
    X = draw_visitors(n, random)
    # It knows the mean click rates, and draws articles by them.
    scores = np.tile(click_rates(X).mean(axis=0), (n, 1))
    shown = explore(scores, k=1, scheme="inverse-gap", exploration=0.1, random_state=random)
    rates = np.take_along_axis(click_rates(X), shown.actions, axis=1)
    clicks = (random.random_sample((n, 1)) < rates).astype(float)
    clicks[-n // 50 :] = np.nan  # the last clicks have not arrived
    log = shown.to_frame(clicks, classes=ARTICLES)
    log = log.assign(visitor=np.arange(n), time=np.arange(n) * 0.7, version="popularity-3")
    log.to_sql("log", database, index=False)
    pd.DataFrame(X, columns=FEATURES).assign(visitor=np.arange(n)).to_sql("visitors", database)


def read_log(database):
    """Return the visitors, the record of the articles shown, and the clicks, in order of time."""
    query = "SELECT * FROM log JOIN visitors USING (visitor) WHERE version = ? ORDER BY time"
    log = pd.read_sql(query, database, params=["popularity-3"])
    shown = Exploration.from_frame(log, classes=ARTICLES)
    return log[FEATURES].to_numpy(), shown, log["reward_0"].to_numpy(dtype=float)


def fit_candidates(X, shown, clicks):
    boosted = HistGradientBoostingClassifier(max_iter=50, learning_rate=0.05, random_state=0)
    candidates = {
        "boosted": OffPolicyClassifier(boosted, method="snips"),
        "logistic": OffPolicyClassifier(LogisticRegression(), method="dr"),
    }
    for candidate in candidates.values():
        candidate.fit(X, clicks, exploration=shown, classes=ARTICLES)
    bandit = LinUCBClassifier(exploration=0.05, random_state=0)
    bandit.partial_fit_feedback(X, shown, clicks, classes=ARTICLES)
    rates = [clicks[shown.actions == article].mean() for article in range(len(ARTICLES))]
    return {"popular": int(np.argmax(rates)), **candidates, "bandit": bandit}


def probabilities(candidate, X):
    """Return the probability that a candidate, a model or an article, shows each article."""
    if hasattr(candidate, "propensities"):
        return candidate.propensities(X)
    return np.eye(len(ARTICLES))[np.full(len(X), candidate)]


def plot(estimates, truth, reference, sequence, chosen, file):
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained")
    OffPolicyDisplay.from_estimates(estimates, ax=left)
    left.plot(list(truth.values()), range(len(truth)), "kx", label="true click rate")
    left.axvline(reference, color="gray", linestyle="--", label="running policy")
    left.legend(loc="upper right")
    left.set(title="Four candidates on the log of the running policy", xlabel="Click rate")
    OffPolicyDisplay.from_estimates({chosen: sequence}, reference=reference, ax=right)
    right.set(title="Confidence sequence of the chosen one", ylabel="Click rate", ylim=(0, 1))
    right.set(xlim=(30, None), xlabel="Visitors in the log")
    right.legend([chosen, "holds at all times", "running policy"], loc="upper right")
    figure.savefig(file, dpi=120)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000, help="number of visitors in the log")
    parser.add_argument("--plot", metavar="FILE", help="where to save the plot")
    arguments = parser.parse_args()
    random = np.random.RandomState(0)
    database = sqlite3.connect(":memory:")
    write_log(database, arguments.rows, random)

    X, shown, clicks = read_log(database)
    database.close()
    known = ~np.isnan(clicks)
    print(f"{len(X)} visitors, {(~known).sum()} clicks not yet known, click rate of the running")
    print(f"policy {clicks[known].mean():.3f}\n")
    learned = known & (np.arange(len(X)) < len(X) // 2)
    evaluated = np.arange(len(X)) >= len(X) // 2
    candidates = fit_candidates(X[learned], shown[learned], clicks[learned])

    X, shown, clicks = X[evaluated], shown[evaluated], clicks[evaluated]
    visitors = draw_visitors(100_000, random)
    estimates, truth = {}, {}
    print("candidate   estimated click rate    weights: effective n, largest    true click rate")
    for name, candidate in candidates.items():
        policy = probabilities(candidate, X)
        found = policy_value(clicks, shown, policy, method="dr", X=X)
        deployed = probabilities(candidate, visitors)
        estimates[name] = found
        truth[name] = (deployed * click_rates(visitors)).sum(axis=1).mean()
        print(
            f"{name:<12}{found.value:.3f} ({found.low:.3f} to {found.high:.3f})"
            f"{found.effective_sample_size:>22.0f}{found.max_weight:>10.1f}{truth[name]:>19.3f}"
        )
    # The lower bound: a policy with few samples must be better by more.
    chosen = max(estimates, key=lambda name: estimates[name].low)
    print(f"\nDeployed: {chosen}. Its click rate is {truth[chosen]:.3f}.")
    if arguments.plot:
        known, policy = ~np.isnan(clicks), probabilities(candidates[chosen], X)
        weights = policy[np.arange(len(X)), shown.actions] / shown.propensities
        sequence = confidence_sequence(clicks[known], weights[known])
        plot(estimates, truth, clicks[known].mean(), sequence, chosen, arguments.plot)


if __name__ == "__main__":
    main()
