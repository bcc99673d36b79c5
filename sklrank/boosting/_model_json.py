"""Models of trees and linear scores as JSON, which other programs can read.

The schema is documented in :meth:`HistGradientBoostingRanker.export_json`.
"""

import json

import numpy as np
from sklearn.utils.validation import check_is_fitted


def write_model(ranker):
    """Return the JSON text of a fitted ranker."""
    check_is_fitted(ranker)
    names = getattr(ranker, "feature_names_in_", None)
    linear = ranker.linear_
    if ranker.init_ is not linear:
        raise ValueError(
            f"the scores of init={ranker.init!r} cannot be written as JSON: fit with init='auto', "
            "'linear' or None, or store the model by pickle or skops"
        )
    content = {
        "format": "sklrank.additive",
        "version": 1,
        "n_features": ranker.n_features_in_,
        "feature_names": None if names is None else [str(name) for name in names],
        "linear": None if linear is None else linear_content(linear),
        "trees": [tree_content(model, step) for model, step in ranker._fitted_rounds()],
    }
    return json.dumps(content, allow_nan=False)


def linear_content(model):
    """Return the terms of linear scores as dicts."""
    return [
        {
            "feature": int(feature),
            "coef": float(model.coef[feature]),
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
    content = []
    for index, left in enumerate(arrays["left"].tolist()):
        node = {"count": int(arrays["count"][index])}
        content.append(node)
        if left == 0:
            node["value"] = float(step * arrays["value"][index])
            continue
        feature = int(arrays["feature"][index])
        node |= {"gain": float(arrays["gain"][index]), "feature": feature}
        node |= {"left": left, "right": left + 1}
        node["missing"] = left if arrays["missing_left"][index] else left + 1
        if arrays["categorical"][index]:
            categories = model.categories_[feature]
            codes = np.arange(len(categories))
            is_left = arrays["left_categories"][index][codes // 32] >> (codes % 32) & 1
            node["left_categories"] = categories[is_left == 1].tolist()
            node["right_categories"] = categories[is_left == 0].tolist()
        else:
            threshold = float(arrays["threshold"][index])
            # Infinity is not a number of JSON: all values but the missing ones are sent left.
            node["threshold"] = threshold if np.isfinite(threshold) else None
    return content
