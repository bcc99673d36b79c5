"""Queries in scikit-learn's tools: a pipeline, a grid search, nested cross-validation.

A splitter must not divide a query, and a fold must not be scored as if it were one query. With
scikit-learn's metadata routing on, one `qid=` is passed to the splitter, to `fit` and to `score`:
rankers, `QueryKFold` and the scorers of `sklrank.metrics` request it by default, and other steps of
a pipeline do not get it.

With routing off the search would split without queries; `QueryKFold` refuses to, and its message
says how to turn routing on.

The data: `letor/MQ2008_S1.npz` in the folder named by `SKLRANK_DATA`, else synthetic queries.

Run:  python examples/query_cross_validation.py
"""

import numpy as np
import sklearn
from _letor import has_mq2008, load_mq2008
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer

from sklrank.boosting import HistGradientBoostingRanker
from sklrank.metrics import ndcg_scorer
from sklrank.model_selection import (
    QueryKFold,
    query_permutation_importance,
    query_train_test_split,
)


def load():
    """Return `X, y, qid`."""
    if has_mq2008():
        return load_mq2008(1)
    random_state = np.random.RandomState(0)
    X = random_state.uniform(size=(3000, 8))
    quality = X[:, 0] + (X[:, 1] > 0.6) + random_state.normal(0, 0.3, len(X))
    # Documents of a query need not be contiguous.
    return X, np.digitize(quality, [1.0, 1.5]), random_state.randint(150, size=len(X))


def main():
    X, y, qid = load()
    print(f"{len(y)} documents of {len(np.unique(qid))} queries, {X.shape[1]} features")
    pipeline = make_pipeline(
        QuantileTransformer(n_quantiles=100),
        HistGradientBoostingRanker(max_iter=50, random_state=0),
    )
    grid = {
        "histgradientboostingranker__learning_rate": [0.2, 0.5],
        "histgradientboostingranker__loss": ["logistic", "expected-ndcg"],
    }
    search = GridSearchCV(pipeline, grid, cv=QueryKFold(3), scoring=ndcg_scorer)

    try:
        search.set_params(error_score="raise").fit(X, y, qid=qid)
    except ValueError as error:
        print(f"\nWith routing off:\n  ValueError: {error}")

    with sklearn.config_context(enable_metadata_routing=True):
        X_train, X_test, y_train, y_test, qid_train, qid_test = query_train_test_split(
            X, y, qid=qid, test_size=0.25, random_state=0
        )
        search.fit(X_train, y_train, qid=qid_train)
        print("\nGrid search over the pipeline: mean NDCG of three folds")
        for score, parameters in zip(
            search.cv_results_["mean_test_score"], search.cv_results_["params"]
        ):
            print(f"  {score:.4f}  {parameters}")
        score = search.score(X_test, y_test, qid=qid_test)
        print(f"NDCG of the test queries: {score:.4f}")

        nested = cross_validate(search, X, y, params={"qid": qid}, cv=QueryKFold(3))
        scores = nested["test_score"]
        print(f"\nNested cross-validation: {scores.mean():.4f} +- {scores.std():.4f}")

    importances = query_permutation_importance(
        search.best_estimator_, X_test, y_test, qid=qid_test, random_state=0, scoring=ndcg_scorer
    )
    print("\nDecrease of NDCG when a feature is permuted, with standard deviation")
    print("feature     decrease\n-------  -----------------")
    for feature in np.argsort(-importances.importances_mean)[:5]:
        mean, deviation = (
            getattr(importances, f"importances_{name}")[feature] for name in ("mean", "std")
        )
        print(f"{feature:<7}  {mean:.4f} +- {deviation:.4f}")


if __name__ == "__main__":
    main()
