"""How the seconds of a fit, a prediction or a metric grow with the numbers of samples and labels.

    python benchmarks/growth.py --quick
    python benchmarks/growth.py --only label --factor 8

A line shows the CPU seconds of the smallest size, and the exponent of the growth: 1 is linear. It
is the logarithm of the ratio of the seconds, of data that are larger by `--factor`, to the base of
this factor. A fixed cost makes it smaller, so that small sizes hide exponents.
"""

import argparse
import warnings

import numpy as np
from _common import least_seconds, print_header, print_table
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.tree import DecisionTreeClassifier

import sklrank.boosting as boosting
import sklrank.label_ranking as label_ranking
import sklrank.linear_model as linear_model
import sklrank.online_boosting as online_boosting
import sklrank.semi_supervised as semi_supervised
import sklrank.tree as tree
from sklrank.metrics import kendall_tau_score, ndcg_score, rank_loss

N_FEATURES = 8


def make(kind, n_samples, n_labels):
    """Return generated samples and targets of a kind, and the queries of documents."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_samples, N_FEATURES))
    noise = rng.gumbel(size=(n_samples, n_labels or 1))
    scores = X @ rng.standard_normal((N_FEATURES, n_labels or 1)) + noise
    classes = scores.argmax(axis=1)
    targets = {
        "rankings": [np.argsort(np.argsort(-scores, axis=1), axis=1) + 1.0],
        "classes": [classes],
        "few classes": [np.where(np.arange(n_samples) % 10, -1, classes)],
        "label sets": [(scores > 2.0).astype(int)],
        "documents": [np.digitize(scores[:, 0], [0.0, 2.0]), np.arange(n_samples) // 10],
        "numbers": [scores[:, 0]],
    }
    return X, *targets[kind]


def cases():
    """Return names, kinds of targets, what is timed, and the least numbers of samples and labels.

    The number of labels is 0 if there are none.
    """
    worths = label_ranking.PlackettLuceRanker(alpha=1.0)
    ridge = label_ranking.LabelwiseRanker(Ridge(), incomplete="relative")
    logistic = label_ranking.PairwiseRanker(LogisticRegression(), voting="soft")
    stump, some = DecisionTreeClassifier(max_depth=1), {"random_state": 0}
    fits = [
        ("label: Labelwise", "rankings", ridge, 2000, 8),
        ("label: Pairwise", "rankings", logistic, 1000, 5),
        ("label: PlackettLuce", "rankings", label_ranking.PlackettLuceRanker(**some), 1000, 8),
        ("label: Conformal", "rankings", label_ranking.ConformalTopLabels(worths, **some), 300, 8),
        ("label: Stacked", "rankings", label_ranking.StackedRanker(**some), 150, 4),
        ("documents: NDCGBoost", "documents", boosting.NDCGBoost(stump, 10), 5000, 0),
        ("documents: AdaRank", "documents", boosting.AdaRank(n_estimators=10), 5000, 0),
        ("documents: RankBoost", "documents", boosting.RankBoost(n_estimators=10), 5000, 0),
        ("documents: HistGB", "documents", boosting.HistGradientBoostingRanker(**some), 5000, 0),
        ("semi: MCSSB", "few classes", semi_supervised.MCSSBClassifier(stump, 5, **some), 300, 3),
        ("semi: Assemble", "few classes", semi_supervised.AssembleClassifier(stump, 10), 1000, 3),
        ("online: AdaOLMR", "label sets", online_boosting.AdaOLMR(**some), 300, 8),
        ("online: TopKBBM", "label sets", online_boosting.TopKBBM(**some), 100, 8),
        ("linear: Predtron", "classes", linear_model.PredtronClassifier(**some), 3000, 8),
        ("linear: Banditron", "classes", linear_model.BanditronClassifier(**some), 3000, 8),
        ("linear: LinUCB", "classes", linear_model.LinUCBClassifier(**some), 3000, 8),
        ("tree: Hoeffding", "classes", tree.HoeffdingTreeClassifier(**some), 10_000, 8),
        ("tree: HonestForest", "numbers", tree.HonestForestRegressor(10, **some), 1000, 0),
    ]
    timed = [
        ("label: summary", "rankings", lambda X, Y: worths.fit(X, Y).summary(), 300, 8),
        ("label: topk", "rankings", lambda X, Y: worths.fit(X, Y).predict_topk_proba(X, 3), 300, 8),
        ("metric: Kendall", "rankings", lambda X, Y: kendall_tau_score(Y, Y[::-1]), 3000, 8),
        ("metric: rank loss", "label sets", lambda X, Y: rank_loss(Y, -Y[::-1]), 3000, 8),
        ("metric: NDCG", "label sets", lambda X, Y: ndcg_score(Y, Y[::-1]), 3000, 8),
    ]
    return [(name, kind, model.fit, *numbers) for name, kind, model, *numbers in fits] + timed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--factor", type=int, default=4)
    parser.add_argument("--only", default="", help="part of the names")
    parser.add_argument("--quick", action="store_true", help="small sizes, once")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print_header("Exponents of growth.", peers=())
    rows, repetitions = [], 1 if options.quick else 2
    for name, kind, action, n_samples, n_labels in cases():
        if options.only not in name:
            continue
        n_samples = max(n_samples // 5, 60) if options.quick else n_samples

        def seconds(*numbers, kind=kind, action=action):
            return least_seconds(action, *make(kind, *numbers), repetitions=repetitions)

        first = seconds(n_samples, n_labels)
        of_samples = seconds(n_samples * options.factor, n_labels)
        of_labels = seconds(n_samples, n_labels * options.factor) if n_labels else np.nan
        exponents = np.log([of_samples / first, of_labels / first]) / np.log(options.factor)
        cells = [name, n_samples, n_labels, f"{first:.3f}", *(f"{each:.2f}" for each in exponents)]
        rows.append(cells)
    print_table("", ["", "samples", "labels", "seconds", "by samples", "by labels"], rows)


if __name__ == "__main__":
    main()
