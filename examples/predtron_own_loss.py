"""User-defined parts of Predtron: losses and a representation; and the reject option.

1. Costs of classes, as a function and as a table: five grades of the progress of diabetes, where
   predicting a grade too low costs three times as much as one too high. The table shows the mean
   cost on test samples.
2. Two ranking losses and a representation. In the first loss only the first three positions count.
   The second one is that of a reader who stops after each document with probability one half. The
   representation decreases as a logarithm. The table shows the share of the greatest possible gain,
   on generated test queries.
3. The reject option: a sample may be rejected at a cost. The table shows the share of samples that
   are not rejected, the accuracy on them, and the mean cost. A threshold of the margin is chosen by
   cross-validation. Beside it are Predtron with REJECT as a prediction, as in its paper, and
   logistic regression, which rejects a sample if a mistake is more likely than the cost.

Samples are split into halves at random, and features are standardized. The default learning rate is
1. It matters if the loss has more than two values, so the tables show several rates.

Run:  python examples/predtron_own_loss.py [--plot FILE]
"""

import argparse

import numpy as np
from sklearn.datasets import load_diabetes, load_digits
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import cross_val_predict, train_test_split
from sklearn.preprocessing import StandardScaler

from sklrank.linear_model import PredtronClassifier, PredtronQueryRanker
from sklrank.metrics import reject_loss

RECOMMENDED = {"average": True, "max_iter": 10, "random_state": 0}
N_SPLITS = 20
RATES = (0.01, 0.1, 1.0)
N_DOCUMENTS = 20
REJECT_COSTS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5)


def cost_of_grade(truth, predicted):
    """Return the cost of a prediction: a class loss is a function of both classes."""
    return 3.0 * (truth - predicted) if predicted < truth else float(predicted - truth)


class FirstThree:
    """Ranking loss with the discounts 3, 2, 1, 0, 0, ..."""

    def gains(self, relevance):
        return relevance

    def discounts(self, n_positions):
        return np.maximum(4.0 - np.arange(1, n_positions + 1), 0.0)


class Reader:
    """Ranking loss with discounts that halve at each position."""

    def gains(self, relevance):
        return np.exp2(relevance) - 1

    def discounts(self, n_positions):
        return 0.5 ** np.arange(n_positions)


def decreasing_logarithm(positions):
    """Return the values at the positions: a representation is a decreasing function."""
    return -np.log(positions)


def halves(X, y, seed=0):
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=seed)
    scaler = StandardScaler().fit(X_train)
    return scaler.transform(X_train), scaler.transform(X_test), y_train, y_test


def print_rows(title, columns, rows):
    print(f"\n{title}\n{'':<36}" + "".join(f"{column:>16}" for column in columns))
    for name, *values in rows:
        print(f"{name:<36}" + "".join(f"{value:>16}" for value in values))


def class_costs():
    X, y = load_diabetes(return_X_y=True)
    y = np.digitize(y, np.quantile(y, [0.2, 0.4, 0.6, 0.8]))
    table = np.array([[cost_of_grade(i, j) for j in range(5)] for i in range(5)])
    models = {
        f"loss={name}, rate {rate:g}": PredtronClassifier(
            loss=loss, learning_rate=rate, **RECOMMENDED
        )
        for name, loss in {
            '"zero_one"': "zero_one",
            '"absolute"': "absolute",
            "the function": cost_of_grade,
            "the table": table,
        }.items()
        for rate in (RATES if name != '"zero_one"' else RATES[-1:])
    }
    models["the function, loss-driven"] = PredtronClassifier(
        loss=cost_of_grade, update="loss-driven", **RECOMMENDED
    )
    found = {name: [] for name in (*models, "LogisticRegression", "LogisticRegression, least cost")}
    for seed in range(N_SPLITS):
        X_train, X_test, y_train, y_test = halves(X, y, seed)
        for name, model in models.items():
            predictions = model.fit(X_train, y_train).predict(X_test)
            found[name].append(table[y_test, predictions].mean())
        logistic = LogisticRegression().fit(X_train, y_train)
        predictions = logistic.predict(X_test)
        found["LogisticRegression"].append(table[y_test, predictions].mean())
        predictions = np.argmin(logistic.predict_proba(X_test) @ table, axis=1)
        found["LogisticRegression, least cost"].append(table[y_test, predictions].mean())
    rows = [[name, f"{np.mean(costs):.3f}"] for name, costs in found.items()]
    print_rows("1. User-defined costs", ["mean cost"], rows)


def make_queries(n_queries, seed):
    random = np.random.RandomState(seed)
    X = random.normal(size=(n_queries * N_DOCUMENTS, 20))
    weights = np.random.RandomState(0).normal(size=20)
    quality = X @ weights / np.sqrt(20) + random.normal(size=len(X))
    qid = np.repeat(np.arange(n_queries), N_DOCUMENTS)
    return X, np.digitize(quality, [0.8, 1.6, 2.2]).astype(float), qid


def share_of_best(loss, relevance, scores):
    """Return the mean share of the greatest possible gain, over queries where it is positive."""
    gains = loss.gains(relevance.reshape(-1, N_DOCUMENTS))
    order = np.argsort(-scores.reshape(-1, N_DOCUMENTS), axis=1)
    discounts = loss.discounts(N_DOCUMENTS)
    best = -np.sort(-gains, axis=1) @ discounts
    totals = np.take_along_axis(gains, order, axis=1) @ discounts
    return (totals[best > 0] / best[best > 0]).mean()


def ranking_losses():
    train, (X_test, y_test, _) = make_queries(200, 1), make_queries(500, 2)
    losses = {"FirstThree": FirstThree(), "Reader": Reader(), "ndcg": "ndcg"}
    scores = {
        f"{name}, {title}": PredtronQueryRanker(
            loss=loss, representation=representation, learning_rate=0.1, **RECOMMENDED
        )
        .fit(*train)
        .predict(X_test)
        for name, loss in losses.items()
        for title, representation in {"power": "power", "logarithm": decreasing_logarithm}.items()
    }
    scores["ridge"] = Ridge().fit(*train[:2]).predict(X_test)
    measures = (losses["FirstThree"], losses["Reader"])
    rows = [
        [name, *(f"{share_of_best(measure, y_test, values):.3f}" for measure in measures)]
        for name, values in scores.items()
    ]
    print_rows("2. A ranking loss and a representation", ["FirstThree", "Reader"], rows)


def outcomes(y, predictions, cost):
    """Return the coverage, the accuracy on samples that are not rejected, and the mean cost."""
    return (
        np.mean(predictions != -1),
        np.mean((predictions == y)[predictions != -1]),
        reject_loss(y, predictions, reject_cost=cost),
    )


def margins_and_classes(scores, classes):
    two_best = np.sort(scores, axis=1)[:, -2:]
    return two_best[:, 1] - two_best[:, 0], classes[scores.argmax(axis=1)]


def reject_by_margin(model, X, y, X_test, cost):
    """Predict -1 below the margin for which cross-validated predictions have the least cost."""
    scores = cross_val_predict(model, X, y, method="decision_function")
    margins, predicted = margins_and_classes(scores, np.unique(y))
    thresholds = np.append(np.unique(margins), np.inf)
    totals = [
        cost * (margins < threshold).sum() + (predicted != y)[margins >= threshold].sum()
        for threshold in thresholds
    ]
    scores = model.fit(X, y).decision_function(X_test)
    margins, predicted = margins_and_classes(scores, model.classes_)
    return np.where(margins < thresholds[np.argmin(totals)], -1, predicted)


def rejections():
    """Return an array `(n_costs, 3)` of outcomes for each model."""
    X_train, X_test, y_train, y_test = halves(*load_digits(return_X_y=True))
    found = {"Predtron": [], "Predtron, rbf": [], "REJECT, entropy": [], "LogisticRegression": []}
    logistic = LogisticRegression(max_iter=1000).fit(X_train, y_train)
    confidence = logistic.predict_proba(X_test).max(axis=1)
    for cost in REJECT_COSTS:
        for name, kernel in (("Predtron", None), ("Predtron, rbf", "rbf")):
            model = PredtronClassifier(kernel=kernel, **RECOMMENDED)
            predictions = reject_by_margin(model, X_train, y_train, X_test, cost)
            found[name].append(outcomes(y_test, predictions, cost))
        printed = PredtronClassifier(reject_cost=cost, mirror_map="entropy", **RECOMMENDED)
        predictions = printed.fit(X_train, y_train).predict(X_test)
        found["REJECT, entropy"].append(outcomes(y_test, predictions, cost))
        predictions = np.where(1 - confidence < cost, logistic.predict(X_test), -1)
        found["LogisticRegression"].append(outcomes(y_test, predictions, cost))
    rows = [
        [f"{name}, reject_cost={cost:g}", *(f"{value:.3f}" for value in of_cost)]
        for name, values in found.items()
        for cost, of_cost in zip(REJECT_COSTS, values)
    ]
    columns = ["coverage", "accuracy", "mean cost"]
    print_rows("3. The reject option: digits", columns, rows)
    return {name: np.array(values) for name, values in found.items()}


def draw(found, path):
    import matplotlib.pyplot as plt

    figure, (trade, costs) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    for name, values in found.items():
        coverage, accuracy, cost = values.T
        line = {"marker": "o", "markersize": 4, "label": name}
        trade.plot(100 * coverage, 100 * accuracy, **line)
        costs.plot(REJECT_COSTS, cost, **line)
    trade.set(xlabel="coverage, %", ylabel="accuracy on these samples, %", title="Digits")
    costs.set(xlabel="cost of a rejection", ylabel="mean cost", title="A mistake costs 1")
    costs.set_ylim(bottom=0)
    for ax in (trade, costs):
        ax.grid(alpha=0.25)
    trade.legend(frameon=False)
    figure.savefig(path, dpi=120)
    plt.close(figure)
    print(f"\nThe curves are drawn in {path}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plot", metavar="FILE", help="draw accuracy against coverage")
    arguments = parser.parse_args()
    class_costs()
    ranking_losses()
    found = rejections()
    if arguments.plot:
        draw(found, arguments.plot)


if __name__ == "__main__":
    main()
