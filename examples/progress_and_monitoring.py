"""Watch models while they learn: a progress bar, scores after each step, and early stopping.

The callbacks of scikit-learn (1.9 or later) follow the training of the iterative estimators of this
package. `ProgressBar` shows the steps. `ScoringMonitor` computes scores of the training data after
each step: after each batch of samples for an online booster, after each round for trees. The
class `HeldOut` below is a callback of our own: it scores held-out data, and it requests to stop
when these scores no longer improve.

The data are generated. A sample of the first set has three relevant labels of twelve. A document of
the second set is relevant to its query if a function of five of its twenty features is large.

Run:  pip install rich && python examples/progress_and_monitoring.py [--plot FILE]
"""

import argparse

import numpy as np
from sklearn.callback import ProgressBar, ScoringMonitor
from sklearn.datasets import make_friedman1
from sklearn.model_selection import train_test_split

from sklrank.boosting import HistGradientBoostingRanker
from sklrank.metrics import ndcg_scorer, rank_loss, rank_loss_scorer
from sklrank.model_selection import query_train_test_split
from sklrank.online_boosting import AdaOLMR


class HeldOut:
    """Score held-out data after each task, and stop if the best score is too long ago.

    Parameters
    ----------
    task_name : str
        Name of the tasks, such as "batch" or "round".
    score : callable
        Function of a fitted estimator. Higher is better.
    patience : int, default=None
        Number of tasks without a new best score after which training stops. If None, it does not
        stop early.
    """

    def __init__(self, task_name, score, patience=None):
        self.task_name, self.score, self.patience = task_name, score, patience
        self.scores = []

    def setup(self, estimator, context):
        self.scores.clear()

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        if context.task_name != self.task_name:
            return False
        self.scores.append(self.score(fitted_estimator))
        n_since_best = len(self.scores) - 1 - int(np.argmax(self.scores))
        return self.patience is not None and n_since_best >= self.patience

    def teardown(self, estimator, context):
        pass


def scores_of(monitor, task_name, column):
    """Return the scores that a ScoringMonitor has logged for tasks of this name."""
    return np.array(
        [row[column] for row in monitor.get_logs().data if row["task_name"] == task_name]
    )


def watch_ada_olmr(n_samples):
    """Return the number of samples learned, and the rank losses of training and held-out data."""
    random_state = np.random.RandomState(0)
    X = random_state.normal(size=(n_samples, 20))
    scores = X @ random_state.normal(size=(20, 12)) + np.abs(X) @ random_state.normal(size=(20, 12))
    scores += random_state.normal(scale=2, size=scores.shape)
    Y = (scores >= np.sort(scores, axis=1)[:, [-3]]).astype(int)
    X, X_test, Y, Y_test = train_test_split(X, Y, test_size=0.2, random_state=0)
    monitor = ScoringMonitor(scoring={"rank loss": rank_loss_scorer})
    held_out = HeldOut("batch", lambda model: -rank_loss(Y_test, model.decision_function(X_test)))
    model = AdaOLMR(random_state=0).set_callbacks(ProgressBar(), monitor, held_out)
    model.fit(X, Y)
    training = -scores_of(monitor, "batch", "rank loss")
    n_learned = np.minimum(1000 * np.arange(1, len(training) + 1), len(X))
    return n_learned, training, -np.array(held_out.scores)


def watch_trees(n_rounds, patience):
    """Return the NDCG of training and held-out data after each round."""
    X, quality = make_friedman1(3000, n_features=20, noise=3.0, random_state=0)
    grades = np.digitize(quality, [15.0, 20.0])
    X, X_test, y, y_test, qid, qid_test = query_train_test_split(
        X, grades, qid=np.arange(3000) // 20, test_size=0.6, random_state=0
    )
    monitor = ScoringMonitor(scoring={"NDCG": ndcg_scorer})
    held_out = HeldOut(
        "round", lambda model: model.score(X_test, y_test, qid=qid_test), patience=patience
    )
    model = HistGradientBoostingRanker(learning_rate=0.3, max_iter=n_rounds, random_state=0)
    model.set_callbacks(ProgressBar(), monitor, held_out).fit(X, y, qid=qid)
    print(f"Boosted trees: {len(model.estimators_)} of {n_rounds} rounds, {model.stop_reason_}")
    return scores_of(monitor, "round", "NDCG"), np.array(held_out.scores)


def plot(path, online, boosting):
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    n_learned, training, held_out = online
    left.plot(n_learned, training, marker="o", markersize=4, label="training data, ScoringMonitor")
    left.plot(n_learned, held_out, marker="s", markersize=4, label="held-out data")
    left.set(
        title="AdaOLMR, after each batch",
        xlabel="samples learned",
        ylabel="mean rank loss",
    )
    training, held_out = boosting
    rounds = np.arange(1, len(training) + 1)
    right.plot(rounds, training, label="training data, ScoringMonitor")
    right.plot(rounds, held_out, label="held-out data")
    best = int(held_out.argmax())
    right.plot(best + 1, held_out[best], "o", color="C1")
    right.annotate(
        f"best: round {best + 1}",
        (best + 1, held_out[best]),
        xytext=(0, 8),
        textcoords="offset points",
        ha="center",
        color="C1",
    )
    right.set(title="Boosted trees, after each round", xlabel="rounds", ylabel="mean NDCG")
    for axes in (left, right):
        axes.grid(alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False)
    figure.savefig(path, dpi=120)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plot", metavar="FILE", help="draw the scores after each step")
    parser.add_argument("--rows", type=int, default=20_000, help="samples of AdaOLMR")
    parser.add_argument("--rounds", type=int, default=300, help="maximum rounds of boosted trees")
    arguments = parser.parse_args()

    online = watch_ada_olmr(arguments.rows)
    n_learned, training, held_out = online
    for i in range(0, len(n_learned), 4):
        print(
            f"AdaOLMR after {n_learned[i]:>6} samples: rank loss {training[i]:.4f} in training, "
            f"{held_out[i]:.4f} held out"
        )
    boosting = watch_trees(arguments.rounds, patience=40)
    print(
        f"NDCG after the best round: {boosting[1].max():.4f} held out, "
        f"{boosting[0][boosting[1].argmax()]:.4f} in training"
    )
    if arguments.plot:
        plot(arguments.plot, online, boosting)
        print(f"The scores are drawn in {arguments.plot}")


if __name__ == "__main__":
    main()
