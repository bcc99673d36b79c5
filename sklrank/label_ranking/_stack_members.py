"""The rankers of a stack: the default ones, and how they are scored."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, SplineTransformer, StandardScaler

from sklrank.label_ranking._inner_ranker import last_ranker
from sklrank.label_ranking._labelwise import LabelwiseRanker
from sklrank.label_ranking._leaf_size_forest import LeafSizeForest
from sklrank.label_ranking._pairwise import PairwiseRanker
from sklrank.label_ranking._plackett_luce import PlackettLuceRanker
from sklrank.label_ranking._radial_features import RadialFeatures
from sklrank.label_ranking._relevance_features import RelevanceFeatures
from sklrank.label_ranking._tied_tails import TiedTailRanker

__all__ = [
    "chooses_alpha",
    "default_rankers",
    "has_oob_scores",
    "stacked_scores",
    "with_alpha_of",
]

# Limits of the time to fit: with more features, random trees consider this number of them for each
# split, and there are no splines, which have six times as many weights as there are features, and
# no model with a weak penalty, which takes many steps.
_MANY_SPLIT_FEATURES, _MANY_FEATURES = 200, 300


def default_rankers(random_state=None, *, n_features=1, complete=True):
    """Return the default rankers, as a list of (name, label ranker).

    If the rankings are incomplete, there is no joint model of trees, so that it is left out.
    """

    def random_trees(**options):
        max_features = min(1.0, _MANY_SPLIT_FEATURES / n_features)
        return ExtraTreesRegressor(max_features=max_features, random_state=random_state, **options)

    def trees(forest):
        return LabelwiseRanker(forest, incomplete="relative", oob_score=True)

    def additive(transformer, ranker):
        return make_pipeline(StandardScaler(), transformer, ranker)

    def ridge(features):
        # The features are computed once for all labels.
        regressor = RidgeCV(np.logspace(-3, 1, 5))
        return make_pipeline(
            features, LabelwiseRanker(regressor, multi_output="auto", incomplete="relative")
        )

    def kernel(scale):
        return ridge(RadialFeatures(scale, random_state=random_state))

    def pairs(*transformers):
        logistic = LogisticRegression(max_iter=1000)
        return make_pipeline(*transformers, PairwiseRanker(logistic, voting="soft"))

    plackett_luce = PlackettLuceRanker(random_state=random_state)
    squares = FunctionTransformer(with_squares)
    splines = SplineTransformer(5, knots="quantile", extrapolation="linear", include_bias=False)
    joint_trees = LabelwiseRanker(random_trees(), multi_output=True)
    return [
        *([("joint_trees", joint_trees)] if complete else []),
        ("constant", LabelwiseRanker(DummyRegressor(), incomplete="relative")),
        ("forest", trees(LeafSizeForest(random_state=random_state))),
        ("random_trees", trees(random_trees(bootstrap=True))),
        ("wide", kernel(0.3)),
        ("narrow", kernel(3.0)),
        ("relevance", ridge(RelevanceFeatures(random_state=random_state))),
        ("pairwise", pairs(StandardScaler())),
        ("linear", plackett_luce),
        ("quadratic", additive(squares, plackett_luce)),
        *(
            [
                ("tied_tails", additive(squares, TiedTailRanker())),
                ("splines", additive(splines, plackett_luce)),
                ("pairwise_splines", pairs(StandardScaler(), splines, StandardScaler())),
            ]
            if n_features <= _MANY_FEATURES
            else []
        ),
        ("radial", PlackettLuceRanker(kernel="rbf", random_state=random_state)),
    ]


def with_squares(X):
    """Return the features and their squares."""
    return np.hstack([X, X**2])


def stacked_scores(ranker, X):
    """Return the scores of a ranker that are stacked.

    They are the negative expected positions for a Plackett-Luce model, whose scores are not
    bounded, and otherwise the result of `decision_function`.
    """
    ranker, X = last_ranker(ranker, X)
    if isinstance(ranker, PlackettLuceRanker):
        return -ranker.expected_positions(X)
    return ranker.decision_function(X)


def has_oob_scores(ranker):
    return isinstance(ranker, LabelwiseRanker) and ranker.oob_score


def last_step(ranker):
    return ranker[-1] if isinstance(ranker, Pipeline) else ranker


def chooses_alpha(ranker):
    ranker = last_step(ranker)
    return isinstance(ranker, PlackettLuceRanker) and ranker.alpha == "auto"


def with_alpha_of(model, ranker):
    """Return a clone of a ranker; the penalty is that of the model, if it has chosen one."""
    ranker = clone(ranker)
    if model is not None:
        last_step(ranker).set_params(alpha=last_step(model).alpha_)
    return ranker
