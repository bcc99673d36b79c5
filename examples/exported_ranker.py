"""Scores and explanations of an exported ranker, without sklrank.

A search engine scores documents in its own program. `HistGradientBoostingRanker.export_json`
writes the model as JSON; the function `score` below reads it with nothing but the standard library.

The values of the features in a score can be explained by Shapley values. If the package `shap` is
installed, its `TreeExplainer` computes those of the trees exactly; `export_shap` converts the model
to the format that it reads. The linear scores are a sum already.

Run:  python examples/exported_ranker.py
"""

import json
from importlib.util import find_spec

import numpy as np

from sklrank.boosting import HistGradientBoostingRanker


def score(model, x):
    """Return the score of a document: the sum of its linear terms and of a leaf of each tree."""
    terms = (linear_term(term, x[term["feature"]]) for term in model["linear"] or [])
    return sum(terms) + sum(leaf_value(tree, x) for tree in model["trees"])


def linear_term(term, value):
    """Return the part of the score that is due to a feature."""
    if is_missing(value):
        return 0.0
    return term["coef"] * (min(max(value, term["low"]), term["high"]) - term["mean"])


def is_missing(value):
    """Return whether a number or a category, such as a string, is missing."""
    return value is None or value != value


def leaf_value(tree, x):
    """Return the value of the leaf of a document."""
    node = tree[0]
    while "value" not in node:
        node = tree[next_node(node, x[node["feature"]])]
    return node["value"]


def next_node(node, value):
    """Return the index of the child for a value of the feature of a node."""
    if is_missing(value):
        return node["missing"]
    if "threshold" in node:
        is_left = node["threshold"] is None or value <= node["threshold"]
        return node["left"] if is_left else node["right"]
    if value in node["left_categories"]:
        return node["left"]
    return node["right"] if value in node["right_categories"] else node["missing"]


def main():
    random_state = np.random.RandomState(0)
    X = random_state.uniform(size=(3000, 8))
    X[random_state.uniform(size=X.shape) < 0.1] = np.nan
    quality = np.nan_to_num(X[:, 0] + (X[:, 1] > 0.6)) + random_state.normal(0, 0.3, len(X))
    y, qid = np.digitize(quality, [1.0, 1.5]), np.repeat(np.arange(150), 20)
    ranker = HistGradientBoostingRanker(random_state=0).fit(X, y, qid=qid)

    text = ranker.export_json()
    model = json.loads(text)
    scores = [score(model, x) for x in X[:100].tolist()]
    print(f"{len(text) / 1000:.0f} kB, {len(model['trees'])} trees")
    print(f"largest difference to predict: {np.abs(scores - ranker.predict(X[:100])).max():.1e}")

    if not find_spec("shap"):
        print("shap is not installed: no explanations")
        return
    import shap

    explainer = shap.TreeExplainer(ranker.export_shap())
    explained = explainer.shap_values(X[:100])
    for term in model["linear"] or []:
        explained[:, term["feature"]] += [linear_term(term, x[term["feature"]]) for x in X[:100]]
    gap = np.abs(explained.sum(axis=1) + explainer.expected_value - scores).max()
    print(f"Shapley values of the first document: {np.round(explained[0], 2)}")
    print(f"largest difference of their sum to the score: {gap:.1e}")


if __name__ == "__main__":
    main()
