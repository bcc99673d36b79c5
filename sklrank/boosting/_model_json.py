"""Models of trees and linear scores for other programs: as JSON, and as trees for `shap`.

The schema of JSON is documented in :meth:`HistGradientBoostingRanker.export_json`. The trees of
`shap.TreeExplainer` have numerical splits only. A split on categories becomes a subtree of splits
on their codes, one leaf for each run of codes with the same child, and this leaf is replaced by a
copy of the child. The copies share the documents of the child equally, so that the expected values,
of which Shapley values are differences, do not change.
"""

import json
from itertools import compress, groupby

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
        "trees": [tree_content(model, step, ranker) for model, step in ranker._fitted_rounds()],
    }
    # Categories that are no values of JSON, such as dates, are written as texts.
    return json.dumps(content, allow_nan=False, default=str)


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


def tree_content(model, step, ranker):
    """Return the nodes of a tree of a ranker as dicts."""
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
            categories = ranker._categories_of(feature, model.categories_[feature])
            is_left = mask_of_left(arrays["left_categories"][index], len(categories))
            node["right_categories"] = list(compress(categories, ~is_left))
            node["left_categories"] = list(compress(categories, is_left))
        else:
            threshold = float(arrays["threshold"][index])
            # Infinity is not a number of JSON: all values but the missing ones are sent left.
            node["threshold"] = threshold if np.isfinite(threshold) else None
    return content


def mask_of_left(words, n_categories):
    """Return which categories belong to the left child, given the words of their bits."""
    codes = np.arange(n_categories)
    return (words[codes // 32] >> (codes % 32) & 1).astype(bool)


# Largest number of nodes of a converted tree, which takes about 100 MB.
MAX_NODES = 1_000_000


class NumericalTree:
    """A tree in the format of `shap.TreeExplainer`, `content`, a dict of arrays."""

    def __init__(self, model, step):
        self._nodes, self._categories = model.tree_.nodes(), model.categories_
        self._rows = []
        self._add(0, float(self._nodes["count"][0]))
        names = ["children_left", "children_right", "children_default", "features"]
        names += ["thresholds", "values", "node_sample_weight"]
        self.content = dict(zip(names, np.array(self._rows).T))
        for name in names[:4]:
            self.content[name] = self.content[name].astype(np.int32)
        self.content["values"] = step * self.content["values"][:, np.newaxis]

    def _add(self, node, weight):
        """Add the subtree of a node with this weight of documents; return its index."""
        nodes, left = self._nodes, self._nodes["left"][node]
        if left == 0:
            return self._append([-1, -1, -1, -1, 0.0, nodes["value"][node], weight])
        feature, missing = nodes["feature"][node], left + 1 - nodes["missing_left"][node]
        if nodes["categorical"][node]:
            words, n_categories = nodes["left_categories"][node], len(self._categories[feature])
            children = np.where(mask_of_left(words, n_categories), left, left + 1)
            codes = range(n_categories)
            runs = [(child, [*run][-1]) for child, run in groupby(codes, key=children.__getitem__)]
            branches = [(child, last + 0.5) for child, last in runs]
        else:
            branches = [(left, nodes["threshold"][node]), (left + 1, np.inf)]
        if missing not in dict(branches):
            branches.append((missing, np.inf))
        chosen = [child for child, _ in branches]
        shares = nodes["count"] * weight / nodes["count"][node]
        weighted = [(*each, shares[each[0]] / chosen.count(each[0])) for each in branches]
        return self._split(feature, weighted, missing)

    def _split(self, feature, branches, missing):
        """Add a subtree whose leaves are the branches: children, upper bounds and weights."""
        if len(branches) == 1:
            return self._add(branches[0][0], branches[0][2])
        low, high = branches[: len(branches) // 2], branches[len(branches) // 2 :]
        weight = sum(branch[2] for branch in branches)
        index = self._append([-1, -1, -1, feature, low[-1][1], 0.0, weight])
        left, right = (self._split(feature, half, missing) for half in (low, high))
        default = left if missing in [branch[0] for branch in low] else right
        self._rows[index][:3] = left, right, default
        return index

    def _append(self, row):
        if len(self._rows) == MAX_NODES:
            raise ValueError(
                f"a tree without categories has more than {MAX_NODES} nodes: replace the categories"
                " of X by numbers before the ranker is fitted, as TargetEncoder does"
            )
        self._rows.append(row)
        return len(self._rows) - 1
