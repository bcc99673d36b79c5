"""A script of LightGBM's ranker, and the same with `HistGradientBoostingRanker`.

Hotels are ranked for searches. The frame has numbers, missing values and two categories as strings.
Both rankers learn with early stopping on validation queries. Then this package does what the other
one leaves to the user: a search by queries, constraints by the names of features, Shapley values of
categories, and scores in a program that has neither package.

LightGBM and `shap` are optional: their lines are left out if they are not installed.

Run:  python examples/lightgbm_drop_in.py
"""

import json
import warnings
from importlib.util import find_spec

import numpy as np
import pandas as pd
import sklearn
from exported_ranker import score
from sklearn.model_selection import GridSearchCV

from sklrank.boosting import HistGradientBoostingRanker
from sklrank.metrics import ndcg_score, ndcg_scorer
from sklrank.model_selection import QueryKFold, query_permutation_importance, query_train_test_split

CITIES = ["Lima", "Oslo", "Pune", "Rome", "Turin", "Quito"]
KINDS = ["hostel", "hotel", "resort"]


def make_hotels(n_searches, random_state):
    """Return a frame of hotels, 0 (ignored) to 2 (booked), and the search of each hotel."""
    random = np.random.RandomState(random_state)
    qid = np.repeat(np.arange(n_searches), random.randint(10, 31, size=n_searches))
    n = len(qid)
    frame = pd.DataFrame(
        {
            "price": np.exp(random.normal(4.5, 0.5, size=n)),
            "stars": random.randint(1, 6, size=n).astype(float),
            "distance": random.exponential(3, size=n),
            "city": random.choice(CITIES, size=n_searches)[qid],
            "kind": random.choice(KINDS, size=n),
        }
    ).astype({"city": "category", "kind": "category"})
    quality = 0.6 * frame["stars"] - 1.5 * np.log(frame["price"] / 90) - 0.2 * frame["distance"]
    # Resorts are wanted in some of the cities.
    quality += 2.0 * ((frame["kind"] == "resort") & frame["city"].isin(["Lima", "Pune", "Quito"]))
    quality += random.gumbel(0, 0.8, size=n)
    frame.loc[random.uniform(size=n) < 0.15, "stars"] = np.nan
    return frame, np.digitize(quality, np.quantile(quality, [0.8, 0.95])), qid


def fit_lightgbm(train, val):
    """Fit LightGBM's ranker, which needs contiguous queries and their sizes."""
    from lightgbm import LGBMRanker, early_stopping

    (X, y, qid), (X_val, y_val, qid_val) = train, val
    ranker = LGBMRanker(n_estimators=500, learning_rate=0.05, verbose=-1, random_state=0)
    with warnings.catch_warnings():
        # Since version 4.7, `eval_set` has other names, which earlier versions do not know.
        warnings.simplefilter("ignore")
        return ranker.fit(
            X,
            y,
            group=np.unique(qid, return_counts=True)[1],
            eval_set=[(X_val, y_val)],
            eval_group=[np.unique(qid_val, return_counts=True)[1]],
            eval_at=[5],
            callbacks=[early_stopping(20, verbose=False)],
        )


def fit_ours(train, val):
    """Fit our ranker with the same validation queries."""
    (X, y, qid), (X_val, y_val, qid_val) = train, val
    ranker = HistGradientBoostingRanker(
        max_iter=500, early_stopping=True, n_iter_no_change=20, k=5, random_state=0
    )
    return ranker.fit(X, y, qid=qid, X_val=X_val, y_val=y_val, qid_val=qid_val)


def search(train):
    """Choose parameters by queries. Stars may only help, and the price may only hurt."""
    X, y, qid = train
    ranker = HistGradientBoostingRanker(
        early_stopping=False, monotonic_cst={"stars": 1, "price": -1}, k=5, random_state=0
    )
    grid = {"max_leaf_nodes": [4, 16], "max_iter": [30, 100]}
    with sklearn.config_context(enable_metadata_routing=True):
        return GridSearchCV(ranker, grid, scoring=ndcg_scorer, cv=QueryKFold(3)).fit(X, y, qid=qid)


def explain(ranker, X):
    """Return the mean absolute Shapley value of each feature, and how far sums are from scores."""
    import shap

    numbers = ranker.encode(X)
    explainer = shap.TreeExplainer(ranker.export_shap())
    explained = explainer.shap_values(numbers)
    if ranker.linear_ is not None:
        explained = explained + ranker.linear_.terms(numbers)
    gap = explained.sum(axis=1) + explainer.expected_value - ranker.predict(X)
    return np.abs(explained).mean(axis=0), np.abs(gap).max()


def main():
    X, y, qid = make_hotels(400, random_state=0)
    X, X_test, y, y_test, qid, qid_test = query_train_test_split(X, y, qid=qid, random_state=0)
    *parts, qid_train, qid_val = query_train_test_split(X, y, qid=qid, random_state=1)
    X_train, X_val, y_train, y_val = parts
    train, val = (X_train, y_train, qid_train), (X_val, y_val, qid_val)

    rankers = {"sklrank": fit_ours(train, val), "sklrank, searched": search((X, y, qid))}
    if find_spec("lightgbm"):
        rankers = {"LightGBM": fit_lightgbm(train, val)} | rankers
    print(f"{'ranker':20}{'NDCG@5':>8}{'trees':>7}")
    for name, ranker in rankers.items():
        value = ndcg_score(y_test, ranker.predict(X_test), qid=qid_test, k=5)
        best = getattr(ranker, "best_estimator_", ranker)
        n_trees = getattr(best, "best_iteration_", None) or best.n_iter_
        print(f"{name:20}{value:8.3f}{n_trees:7d}")
    print("chosen:", rankers["sklrank, searched"].best_params_)

    ranker = rankers["sklrank"]
    columns = {"gain": ranker.feature_importances_}
    columns["permuted"] = query_permutation_importance(
        ranker, X_test, y_test, qid=qid_test, scoring=ndcg_scorer, random_state=0
    ).importances_mean
    if find_spec("shap"):
        columns["Shapley"], gap = explain(ranker, X_test)
    print("\nImportance of features, as shares")
    print(
        pd.DataFrame(columns, index=X.columns).pipe(lambda shares: shares / shares.sum()).round(2)
    )
    if find_spec("shap"):
        print(f"largest difference of the sum of Shapley values to a score: {gap:.0e}")

    # Any program that reads JSON can compute the scores.
    model = json.loads(ranker.export_json())
    rows = X_test.astype(object).to_numpy().tolist()
    served = [score(model, row) for row in rows]
    gap = np.abs(served - ranker.predict(X_test)).max()
    print(f"\n{len(model['trees'])} trees as JSON: the scores differ by {gap:.0e} at most")


if __name__ == "__main__":
    main()
