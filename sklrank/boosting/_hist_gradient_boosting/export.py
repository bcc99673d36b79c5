"""Models of trees and linear scores for other programs: as JSON, and as trees for `shap`.

The schema of JSON is documented in :meth:`HistGradientBoostingRanker.export_json`. The trees of
`shap.TreeExplainer` have numerical splits only. A split on categories becomes a subtree of splits
on their codes, one leaf for each run of codes with the same child, and this leaf is replaced by a
copy of the child. The copies share the documents of the child equally, so that the expected values,
of which Shapley values are differences, do not change.
"""

from __future__ import annotations

import json
from itertools import compress, groupby

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from sklrank._estimators import shares_text
from sklrank.tree._histogram import encode_categories


@shares_text()
class ModelExports:
    """Mixin of HistGradientBoostingRanker with its models for other programs."""

    def export_json(self) -> str:
        """Return the fitted model as JSON, from which other programs can compute the scores.

        The score of a document is the sum of its linear terms and of the value of one leaf of each
        tree. The text is a JSON object with the following entries:

        - `format`: ``"sklrank.additive"``; `version`: 1.
        - `n_features`: the number of features; `feature_names`: a list of strings, or null.
        - `linear`: null, or a list of terms with the entries `feature` (an index), `coef`, `mean`,
          `low`, `high` and `gain`. The value x of the feature adds ``coef * (min(max(x, low), high)
          - mean)`` to the score, and a missing value adds 0.
        - `trees`: a list of trees. A tree is a list of nodes, of which the first one is the root. A
          leaf has the entry `value`. Any other node has the entries `feature`; `left`, `right` and
          `missing`, the index of the next node for small, large and missing values; and `gain`, the
          decrease of the loss by the split, times 2. A numerical feature has a `threshold`: values
          up to it are small, and all values if it is null. A categorical feature has
          `left_categories` and `right_categories`, which are strings if those of the data frame
          were; other values are missing. The `count` of a node is its number of training documents.

        In a pipeline, ``pipeline[-1].export_json()`` is the model of the transformed features, with
        their names if ``pipeline.set_output(transform="pandas")`` was called before `fit`.
        ``examples/exported_ranker.py`` computes scores from this text.

        Returns
        -------
        str
            The text.
        """
        check_is_fitted(self)
        names, linear = getattr(self, "feature_names_in_", None), self.linear_
        if self.init_ is not linear:
            raise ValueError(
                f"the scores of init={self.init_!r} cannot be written as JSON: fit with "
                "init='auto', 'linear' or None, or store the model by pickle or skops"
            )
        content = {
            "format": "sklrank.additive",
            "version": 1,
            "n_features": self.n_features_in_,
            "feature_names": None if names is None else [str(name) for name in names],
            "linear": None if linear is None else linear_content(linear),
            "trees": [tree_content(model, step, self) for model, step in self._fitted_rounds()],
        }
        # Categories that are no values of JSON, such as dates, are written as texts.
        return json.dumps(content, allow_nan=False, default=str)

    def export_shap(self) -> dict:
        """Return the trees in the format of `shap.TreeExplainer`, which explains scores.

        The explainer reads documents as numbers, `encode(X)`. Linear scores are sums already, of
        ``linear_.terms(encode(X))``; ``examples/lightgbm_drop_in.py`` adds both. A split on
        categories is written as several numerical splits of the same Shapley values.

        Returns
        -------
        dict
            A list of trees, `trees`, each of them a dict of arrays.

        {value_error}
            If a feature has so many categories that a tree would have a million nodes.
        """
        check_is_fitted(self)
        rounds = self._fitted_rounds()
        return {"trees": [NumericalTree(model, step).content for model, step in rounds]}

    def encode(self, X: ArrayLike) -> np.ndarray:
        """Return documents as numbers, as the trees read them.

        {rows_and_returns}
        ndarray of shape (n_samples, n_features)
            The features. Categories are their index among the sorted ones, or NaN if the trees do
            not distinguish them.
        """
        X = self._check_X(X)
        return encode_categories(X, self.estimators_[0].categories_) if self.estimators_ else X


def linear_content(model):
    """Return the terms of linear scores as dicts."""
    names = ("coef", "mean", "low", "high", "gain")
    return [
        {"feature": int(feature)} | {name: float(getattr(model, name)[feature]) for name in names}
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
            categories = model.categories_[feature].tolist()
            if ranker._encoder is not None:  # They are indices into those of the data frame.
                names = ranker._encoder.categories[feature]
                categories = [names[int(number)] for number in categories]
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
