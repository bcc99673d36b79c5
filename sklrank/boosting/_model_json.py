"""Additive models of trees and linear scores as JSON, which other programs can read.

The schema is documented in :meth:`NDCGBoost.export_json`. A text that is read may come from anyone:
whatever is wrong with it raises ValueError.
"""

import json

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklrank.boosting._linear_scores import LinearScorer
from sklrank.tree import HistogramTreeRegressor
from sklrank.tree._bin_codes import MAX_CATEGORIES
from sklrank.tree._binning import codes_of_categories
from sklrank.tree._histogram_classifier import BinnedClassifier
from sklrank.tree._tree import Tree

__all__ = ["read_model", "write_model"]

FORMAT, VERSION = "sklrank.additive", 1
WORD = 32


def write_model(ranker):
    """Return the JSON text of a fitted document ranker."""
    check_is_fitted(ranker)
    feature_names = getattr(ranker, "feature_names_in_", None)
    content = {
        "format": FORMAT,
        "version": VERSION,
        "n_features": ranker.n_features_in_,
        "feature_names": None if feature_names is None else [str(name) for name in feature_names],
        "linear": None,
        "trees": [],
    }
    for number, (model, step) in enumerate(ranker._fitted_rounds()):
        if isinstance(model, LinearScorer):
            content["linear"] = linear_content(model, step)
        elif isinstance(model, (HistogramTreeRegressor, BinnedClassifier)):
            content["trees"].append(tree_content(model, step))
        else:
            raise ValueError(
                f"export_json needs trees or stumps, but estimators_[{number}] is {model!r}: fit "
                "the ranker with estimator=None, HistogramTreeClassifier() or StumpClassifier(), "
                "or NDCGBoost with HistogramTreeRegressor()"
            )
    return json.dumps(content, allow_nan=False)


def linear_content(model, step):
    """Return the terms of linear scores as dicts."""
    return [
        {
            "feature": int(feature),
            "coef": float(step * model.coef[feature]),
            "mean": float(model.mean[feature]),
            "low": float(model.low[feature]),
            "high": float(model.high[feature]),
            "gain": float(model.gain[feature]),
        }
        for feature in np.flatnonzero(model.coef)
    ]


def tree_content(model, step):
    """Return the nodes of a tree as dicts."""
    arrays = model.tree_.nodes()
    values, gains = arrays["value"], arrays["gain"]
    if isinstance(model, BinnedClassifier):
        # The importances of classifiers are weighted by the steps.
        values, gains = model._leaf_outputs("predict"), step * gains / (gains.sum() or 1.0)
    content = []
    for index, left in enumerate(arrays["left"].tolist()):
        node = {"count": int(arrays["count"][index])}
        content.append(node)
        if left == 0:
            node["value"] = float(step * values[index])
            continue
        feature = int(arrays["feature"][index])
        node |= {"gain": float(gains[index]), "feature": feature}
        node |= {"left": left, "right": left + 1}
        node["missing"] = left if arrays["missing_left"][index] else left + 1
        if arrays["categorical"][index]:
            categories = model.categories_[feature]
            codes = np.arange(len(categories))
            is_left = arrays["left_categories"][index][codes // WORD] >> (codes % WORD) & 1
            node["left_categories"] = categories[is_left == 1].tolist()
            node["right_categories"] = categories[is_left == 0].tolist()
            node["single_precision"] = are_single(categories)
        else:
            threshold = float(arrays["threshold"][index])
            # Infinity is not a number of JSON: all values but the missing ones are sent left.
            node["threshold"] = threshold if np.isfinite(threshold) else None
    return content


def are_single(categories):
    """Return True if trees round values of double precision to compare them with the categories."""
    neighbors = np.nextafter(categories.astype(np.float64), np.inf)
    return not np.isnan(codes_of_categories(neighbors, categories)).any()


def read_model(text):
    """Return the number of features, their names or None, and the weak learners of a JSON text."""
    try:
        content = json.loads(text, parse_constant=refuse_constant)
        if content["format"] != FORMAT or content["version"] != VERSION:
            raise ValueError(
                f"its format is {content['format']!r}, version {content['version']!r}, "
                f"not {FORMAT!r}, version {VERSION}"
            )
        n_features, names = content["n_features"], content["feature_names"]
        if type(n_features) is not int or n_features < 1:
            raise ValueError(f"n_features is {n_features!r}, not a positive integer")
        if names is not None:
            is_list = isinstance(names, list) and len(names) == n_features
            if not (is_list and all(isinstance(name, str) for name in names)):
                raise ValueError(f"feature_names is not a list of {n_features} strings")
            names = np.array(names, dtype=object)
        models = [read_tree(nodes, n_features) for nodes in content["trees"]]
        if content["linear"] is not None:
            models.insert(0, read_linear(content["linear"], n_features))
        return n_features, names, models
    except (ValueError, TypeError, KeyError, IndexError, OverflowError, RecursionError) as error:
        problem = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else error
        raise ValueError(f"the text is not a model that export_json returned: {problem}") from None


def refuse_constant(name):
    raise ValueError(f"{name} is not a number of JSON")


def number_of(value):
    """Return a finite number as float."""
    if type(value) not in (int, float) or not np.isfinite(float(value)):
        raise ValueError(f"{value!r} is not a finite number")
    return float(value)


def index_of(value, size):
    """Return an integer from 0 to `size - 1`."""
    if type(value) is not int or not 0 <= value < size:
        raise ValueError(f"{value!r} is not an integer from 0 to {size - 1}")
    return value


def read_linear(terms, n_features):
    """Return the linear scores of a list of terms."""
    arrays = {name: np.zeros(n_features) for name in ("low", "high", "mean", "coef", "gain")}
    for term in terms:
        feature = index_of(term["feature"], n_features)
        for name, array in arrays.items():
            array[feature] = number_of(term[name])
    return LinearScorer(**arrays)


def read_tree(content, n_features):
    """Return the tree of a list of nodes."""
    n_nodes = len(content)
    nodes = {
        name: np.zeros(n_nodes, dtype=np.intc)
        for name in ("feature", "threshold_code", "categorical", "missing_left", "left", "count")
    }
    nodes |= {name: np.zeros(n_nodes) for name in ("threshold", "value", "gain")}
    nodes["left_categories"] = np.zeros((n_nodes, MAX_CATEGORIES // WORD), dtype=np.uint32)
    categories = [None] * n_features
    for index, node in enumerate(content):
        nodes["count"][index] = index_of(node["count"], np.iinfo(np.intc).max)
        if "value" in node:
            nodes["value"][index] = number_of(node["value"])
            continue
        feature, left = index_of(node["feature"], n_features), index_of(node["left"], n_nodes)
        if left <= index or node["right"] != left + 1 or node["missing"] not in (left, left + 1):
            raise ValueError("the children of a node are not two successive nodes after it")
        nodes["feature"][index], nodes["left"][index] = feature, left
        nodes["missing_left"][index] = node["missing"] == left
        nodes["gain"][index] = number_of(node["gain"])
        if "threshold" in node:
            threshold = node["threshold"]
            nodes["threshold"][index] = np.inf if threshold is None else number_of(threshold)
            continue
        nodes["categorical"][index] = 1
        on_left = {number_of(value) for value in node["left_categories"]}
        on_right = {number_of(value) for value in node["right_categories"]}
        known = np.array(sorted(on_left | on_right))
        if len(known) > MAX_CATEGORIES - 1 or on_left & on_right:
            raise ValueError("a node has too many categories, or one that is in both children")
        if categories[feature] is not None and not np.array_equal(categories[feature], known):
            raise ValueError("two nodes of a tree have different categories of the same feature")
        categories[feature] = known
        for code, value in enumerate(known):
            if value in on_left:
                nodes["left_categories"][index, code // WORD] |= np.uint32(1 << code % WORD)
    model = HistogramTreeRegressor(max_leaf_nodes=max(2, np.count_nonzero(nodes["left"] == 0)))
    model.n_features_in_, model.categories_ = n_features, categories
    model.tree_ = Tree(n_features, nodes)
    return model
