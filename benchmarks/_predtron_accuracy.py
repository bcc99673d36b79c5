"""Accuracy of the Predtrons on test samples, beside common alternatives: parts of `predtron.py`."""

import os
import sys
from pathlib import Path

import numpy as np
from _common import load_multiclass, load_multilabel, print_table
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.linear_model import LogisticRegression, Perceptron, Ridge, SGDClassifier
from sklearn.metrics import hamming_loss, zero_one_loss
from sklearn.model_selection import ShuffleSplit, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from sklrank.boosting import HistGradientBoostingRanker
from sklrank.linear_model import PredtronClassifier, PredtronLabelRanker, PredtronQueryRanker
from sklrank.metrics import ndcg_score, rank_loss
from sklrank.online_boosting import AdaOLMR

sys.path.append(str(Path(__file__).parents[1] / "examples"))
from paper_ndcg_boost import RankSVM, load_parts

RECOMMENDED = {"average": True, "max_iter": 10, "random_state": 0}
UPDATES = ("loss-augmented", "loss-driven")
RATES = (0.001, 0.01, 0.1, 1.0)
FILES = ("optdigits", "pendigits", "letter")


def settings(rates=RATES):
    """Yield the recommended setting for each learning rate, and the one as printed."""
    for update in UPDATES:
        name = "Predtron" if update == UPDATES[0] else "Predtron, loss-driven"
        # The rate of loss-driven steps only scales the weights.
        for rate in rates if update == UPDATES[0] else rates[-1:]:
            parameters = {"update": update, "learning_rate": rate}
            yield f"{name}, rate {rate:g}", {**parameters, **RECOMMENDED}
        yield f"{name}, as printed", {"update": update, "shuffle": False}
    yield "Predtron, as printed, rate 0.01", {"learning_rate": 0.01, "shuffle": False}


def load_class_sets(quick):
    sets = {
        "breast_cancer": load_breast_cancer(return_X_y=True),
        "digits": load_digits(return_X_y=True),
    }
    if os.environ.get("SKLRANK_DATA") and not quick:
        sets |= {name: load_multiclass(name) for name in FILES}
    return sets


def mean_score(model, X, y, n_splits, **scoring):
    """Return the mean score on a third of the samples over splits; features are standardized."""
    splits = ShuffleSplit(n_splits, test_size=1 / 3, random_state=0)
    return cross_val_score(
        make_pipeline(StandardScaler(), model), X, y, cv=splits, **scoring
    ).mean()


def classes(quick):
    """Print accuracies."""
    sets = load_class_sets(quick)
    seeded = {"random_state": 0}
    models = {
        "Predtron, recommended": PredtronClassifier(**RECOMMENDED),
        "Predtron, as printed": PredtronClassifier(shuffle=False),
        "Perceptron": Perceptron(**seeded),
        "passive-aggressive": SGDClassifier(penalty=None, learning_rate="pa1", eta0=1.0, **seeded),
        "SGDClassifier, average": SGDClassifier(average=True, **seeded),
        "LogisticRegression": LogisticRegression(max_iter=1000),
        "LinearSVC": LinearSVC(**seeded),
    }
    table = [
        [name, *(f"{mean_score(model, X, y, 1 if quick else 3):.3f}" for X, y in sets.values())]
        for name, model in models.items()
    ]
    print_table("3. Accuracy", ["", *sets], table)


def grades(quick):
    """Print the mean absolute error on five grades of the progress of diabetes."""
    X, y = load_diabetes(return_X_y=True)
    y = np.digitize(y, np.quantile(y, [0.2, 0.4, 0.6, 0.8]))
    models = {
        f"{name}, {loss}": PredtronClassifier(loss=loss, **parameters)
        for loss in ("absolute", "zero_one")
        for name, parameters in settings()
        if loss == "absolute" or name == "Predtron, rate 1"
    }
    models["LogisticRegression"] = LogisticRegression()
    errors = {
        name: -mean_score(model, X, y, 3 if quick else 50, scoring="neg_mean_absolute_error")
        for name, model in models.items()
    }
    rows = [[name, f"{error:.3f}"] for name, error in errors.items()]
    print_table("4. Grades: mean absolute error", ["", "diabetes"], rows)


def load_label_sets(quick):
    sets = {}
    for name in ("emotions",) if quick else ("emotions", "scene", "yeast"):
        X_train, Y_train, X_test, Y_test = load_multilabel(name)
        scaler = StandardScaler().fit(X_train)
        # The files of scene are sorted by label.
        order = np.random.RandomState(0).permutation(len(X_train))
        X_train, Y_train = scaler.transform(X_train)[order], Y_train[order]
        sets[name] = X_train, Y_train, scaler.transform(X_test), Y_test
    return sets


def label_sets(quick):
    """Print Hamming and subset losses."""
    sets = load_label_sets(quick)
    models = {
        f"{name}, {loss}": PredtronClassifier(loss=loss, **parameters)
        for loss in ("hamming", "subset_zero_one")
        for name, parameters in settings()
        if loss == "hamming" or name == "Predtron, rate 1"
    }
    models["LogisticRegression, each label"] = OneVsRestClassifier(LogisticRegression(max_iter=500))
    models["Perceptron, each label"] = OneVsRestClassifier(Perceptron(random_state=0))
    table = []
    for name, model in models.items():
        row = [name]
        for X_train, Y_train, X_test, Y_test in sets.values():
            predicted = model.fit(X_train, Y_train).predict(X_test)
            row += [f"{loss(Y_test, predicted):.3f}" for loss in (hamming_loss, zero_one_loss)]
        table.append(row)
    columns = [title for name in sets for title in (f"{name} Hamming", "subset")]
    print_table("5. Label sets", ["", *columns], table)


def label_rankings(quick):
    """Print rank losses and NDCG."""
    sets = load_label_sets(quick)
    models = {name: PredtronLabelRanker(**parameters) for name, parameters in settings()}
    models["Predtron, reciprocal, rate 0.01"] = PredtronLabelRanker(
        representation="reciprocal", learning_rate=0.01, **RECOMMENDED
    )
    models["LogisticRegression, each label"] = OneVsRestClassifier(LogisticRegression(max_iter=500))
    models["AdaOLMR, one pass"] = AdaOLMR(random_state=0)
    table = []
    for name, model in models.items():
        row = [name]
        for X_train, Y_train, X_test, Y_test in sets.values():
            scores = model.fit(X_train, Y_train).decision_function(X_test)
            rows = np.repeat(np.arange(len(Y_test)), Y_test.shape[1])
            row.append(f"{rank_loss(Y_test, scores):.4f}")
            row.append(f"{ndcg_score(Y_test.ravel(), scores.ravel(), qid=rows):.4f}")
        table.append(row)
    columns = [title for name in sets for title in (f"{name} rank loss", "NDCG")]
    print_table("6. Label rankings", ["", *columns], table)


def standardize(X, y, qid):
    """Standardize the features within each query."""
    X = X.copy()
    for query in np.unique(qid):
        X[qid == query] = StandardScaler().fit_transform(X[qid == query])
    return X, y, qid


def folds(parts):
    """Yield the training, validation and test parts of each fold, as `(X, y, qid)`."""
    for fold in range(5):
        train = [parts[(fold + i) % 5] for i in range(3)]
        yield tuple(map(np.concatenate, zip(*train))), parts[(fold + 3) % 5], parts[(fold + 4) % 5]


def ndcg(model, X, y, qid):
    """Return the mean NDCG@10 of the queries with a relevant document."""
    return ndcg_score(y, model.predict(X), qid=qid, k=10)


def select_model(train, validation, quick):
    """Return the model of the best setting on the validation part."""
    representations = ({"power": 1.1}, {"power": 0.5}, {"representation": "reciprocal"})
    grid = [
        {"learning_rate": rate, **representation, **RECOMMENDED, "max_iter": 20}
        for representation in representations[: 1 if quick else 3]
        for rate in (0.0001, 0.0003, *RATES)
    ]
    models = [PredtronQueryRanker(**parameters).fit(*train) for parameters in grid]
    return max(models, key=lambda model: ndcg(model, *validation))


def document_rankings(quick):
    """Print the NDCG@10 on the five folds."""
    _, parts = load_parts()
    by_features = {
        "unscaled": list(folds(parts)),
        "standardized by query": list(folds([standardize(*part) for part in parts])),
    }
    rated = {"representation": "reciprocal", "learning_rate": 0.001, **RECOMMENDED}
    makers = {
        f"{name}, {kind}": PredtronQueryRanker(representation=kind, **parameters)
        for kind in ("power", "reciprocal")
        for name, parameters in settings()
    }
    makers["Predtron, recommended"] = PredtronQueryRanker(**{**rated, "max_iter": 20})
    makers["RankSVM"], makers["ridge"], makers["boosted trees"] = (
        RankSVM(),
        Ridge(),
        HistGradientBoostingRanker(),
    )
    table = []
    for name, model in makers.items():
        row = [name]
        for of_folds in by_features.values():
            found = []
            for (X, y, qid), _, test in of_folds:
                model.fit(X, y) if name == "ridge" else model.fit(X, y, qid)
                found.append(ndcg(model, *test))
            row.append(f"{np.mean(found):.4f}")
        table.append(row)
    table.append(["Predtron, by validation"])
    for of_folds in by_features.values():
        found = [ndcg(select_model(*fold[:2], quick), *fold[2]) for fold in of_folds]
        table[-1].append(f"{np.mean(found):.4f}")
    columns = [f"features {name}" for name in by_features]
    print_table("7. Documents of MQ2008: NDCG@10", ["", *columns], table)
