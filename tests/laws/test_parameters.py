"""Constructor parameters: each has an effect, and a model in use has read those it started with."""

import inspect
import re
import warnings
from copy import deepcopy

import numpy as np
import pytest
from fitted_models import make_data, predictions
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from test_common import KINDS

from sklrank._online.base import BaseOnline
from sklrank.feedback import Exploration
from sklrank.label_ranking import LabelwiseRanker, PlackettLuceRanker
from sklrank.tree import HoeffdingTreeClassifier

# Parameters that must not change a model, and why.
WITHOUT_EFFECT = {
    "n_jobs": "threads divide the work, and the model is the same",
    "verbose": "only lines are printed",
    "warm_start": "the first fit is the same; see test_hist_gradient_boosting",
}
REGRESSOR = DecisionTreeRegressor(max_depth=2, random_state=0)
TREE = DecisionTreeClassifier(max_depth=2, random_state=0)
# Values of parameters, by name. Those of a class are in the table below.
VALUES = {
    "alpha": [30.0],
    "average": [True],
    "bonus": [5.0],
    "balance": [0.1],
    "calibration_size": [0.6],
    "categorical_features": [[0]],
    "clip": [0.1],
    "combination": ["sum"],
    "confidence_level": [0.5],
    "cost_estimate": ["pairs"],
    "covariance": ["diagonal"],
    "cv": [2, 3],
    "delta": [0.9],
    "drift_threshold": [0.001],
    "early_stopping": [True],
    "edge": [0.2],
    "estimator": [TREE],
    "expert_loss": ["loss"],
    "exploration": [1.0],
    "fit_intercept": [False],
    "gain": ["linear"],
    "gamma": [0.01],
    "grace_period": [5],
    "gradient_clip": [0.01],
    "honest": [True, False],
    "incomplete": ["absolute"],
    "init": ["linear", None],
    "intercept_scaling": [10.0],
    "k": [1],
    "kernel": ["rbf"],
    "l2_regularization": [50.0],
    "labeled_share": [0.5],
    "labeled_weight": [50.0],
    "leaf_prediction": ["mc"],
    "learning_rate": [0.01],
    "loss": ["exponential"],
    "max_bins": [3],
    "max_children": [2],
    "max_depth": [1],
    "max_features": [0.5, 1],
    "max_iter": [2],
    "max_leaf_nodes": [2],
    "max_leaves": [2],
    "max_samples": [0.3],
    "method": ["dm"],
    "metric": ["map"],
    "min_samples_leaf": [9, 29],
    "mirror_map": ["p-norm"],
    "monotonic_cst": [[-1, -1, -1, -1]],
    "multi_class": ["ovr"],
    "multi_output": [True],
    "n_components": [2],
    "n_estimators": [1, 2],
    "n_iter_no_change": [1],
    "n_neighbors": [2],
    "noise": [0.4],
    "normalize": ["l2"],
    "oob_score": [True],
    "pair_correction": [False],
    "power": [0.1],
    "propensity_clip": [0.0],
    "random_state": [1, 2],
    "randomization": ["single-swap", "plackett-luce"],
    "reject_cost": [0.1],
    "representation": ["reciprocal"],
    "response_method": ["predict"],
    "reward_model": [REGRESSOR],
    "rule": ["xu-li"],
    "shuffle": [False],
    "similarity": ["identity"],
    "sketch_size": [1],
    "splits": ["level"],
    "standardize": [False],
    "step_rule": ["printed"],
    "symmetric": [True],
    "tau": [0.9],
    "threshold": [0.01],
    "ties": ["breslow"],
    "tol": [1e3],
    "train_on": ["unlabeled"],
    "update": ["loss-driven"],
    "validation_fraction": [0.5],
    "voting": ["soft"],
    "weighting": ["auto", "resampling"],
}
CASES = [
    (name, parameter)
    for name, estimator in KINDS.items()
    for parameter in inspect.signature(type(estimator).__init__).parameters
    if parameter not in {"self", *WITHOUT_EFFECT}
]
FOREST = ExtraTreesRegressor(5, bootstrap=True, random_state=0)
RESAMPLING = {"weighting": "resampling", "estimator": DecisionTreeClassifier(max_depth=1)}
STOPPING = {"early_stopping": True, "max_iter": 30, "init": None}
TWO_RANKERS = [("one", PlackettLuceRanker(alpha=1.0)), ("two", LabelwiseRanker(Ridge()))]
RBF = {"kernel": "rbf", "n_components": 9}
# Patterns of a class and a parameter; other parameters that this one needs; its values, if they are
# not those of the table above; and the kind of targets it needs.
SETTINGS = [
    (".*Refiner-base_ranker", {}, [1], ""),
    ("RankingRefiner-balance", {"combination": "sum"}, [0.01], ""),
    ("AdaRank-weighting", RESAMPLING, ["auto"], ""),
    ("(AdaRank|RankBoost|NDCGBoost|AssembleClassifier)-random_state", RESAMPLING, [1], ""),
    ("HistGradientBoostingRanker-n_iter_no_change", {**STOPPING, "tol": 0.01}, None, ""),
    ("HistGradientBoostingRanker-loss", {}, ["expected-ndcg"], ""),
    ("HistGradientBoostingRanker-(validation_.*|tol|random_state)", STOPPING, None, ""),
    ("HistGradientBoostingRanker-scoring", STOPPING, ["ndcg"], ""),
    ("(TopK.*|OnlineBMR|AdaOLMR)-estimator", {}, [HoeffdingTreeClassifier()], "indicators"),
    ("TopK.*-k", {"k": 2}, [4], "indicators"),
    ("TopK.*-randomization", {"k": 2, "exploration": 0.5}, None, "indicators"),
    ("TopK.*-exploration", {"k": 2}, None, "indicators"),
    (
        "SemiBanditRanker-(randomization|random_state)",
        {"exploration": 0.5, "k": 2},
        None,
        "indicators",
    ),
    ("SemiBanditRanker-exploration", {"k": 1}, None, ""),
    ("TopK.*-threshold", {"n_estimators": 10}, None, "indicators"),
    (".*-threshold", {}, None, "indicators"),
    ("AssembleClassifier-labeled_share", {"estimator": TREE}, None, "unlabeled"),
    ("MCSSBClassifier-train_on", {}, None, "unlabeled"),
    ("PooledLabelSpreading-.*", {"n_estimators": 3}, None, "unlabeled"),
    ("ConformalDocumentList-ranker", {"alpha": 0.3}, [REGRESSOR], ""),
    ("ConformalDocumentList-alpha", {}, [0.3], ""),
    ("ConformalDocumentList-risk", {"alpha": 0.5}, ["false-discovery"], ""),
    ("ConformalDocumentList-confidence_level", {"alpha": 0.5, "risk": "false-discovery"}, None, ""),
    ("ConformalDocumentList-.*", {"alpha": 0.3}, None, ""),
    ("(Conformal.*|CalibratedLabelRanker)-ranker", {}, [LabelwiseRanker(FOREST)], ""),
    ("CalibratedLabelRanker-(cv|random_state)", {"cv": 3}, None, ""),
    ("ConformalTopLabels-k", {}, [2], ""),
    ("StackedRanker-estimators", {}, [[("one", PlackettLuceRanker(alpha=1.0))]], ""),
    ("StackedRanker-random_state", {"estimators": TWO_RANKERS, "cv": "auto"}, None, ""),
    ("PlackettLuceRanker-(gamma|n_components|random_state)", {**RBF, "alpha": 1.0}, None, ""),
    ("PlackettLuceRanker-ties", {}, None, "tied"),
    ("PairwiseRanker-multi_output", {"estimator": TREE}, None, ""),
    ("PairwiseRanker-random_state", {"voting": "copeland-random"}, None, "tied"),
    ("LabelwiseRanker-estimator", {}, [Ridge()], ""),
    ("LabelwiseRanker-(multi_output|oob_score)", {"estimator": FOREST}, None, ""),
    ("LabelwiseRanker-random_state", {"estimator": None}, None, ""),
    ("LabelwiseRanker-incomplete", {"incomplete": "relative"}, None, "some NaN"),
    ("Predtron.*Ranker-loss", {"k": 2}, ["precision"], ""),
    ("PredtronClassifier-loss", {"learning_rate": 0.1}, ["absolute"], ""),
    ("PredtronClassifier-update", {"learning_rate": 0.1, "loss": "absolute"}, None, ""),
    ("PredtronClassifier-reject_cost", {"mirror_map": "positive"}, None, ""),
    ("PredtronClassifier-representation", {}, ["simplex"], ""),
    (
        "OffPolicyClassifier-(method|reward_model)",
        {"method": "dr", "reward_model": Ridge()},
        None,
        "log",
    ),
    ("OffPolicyClassifier-cv", {"method": "dr", "reward_model": REGRESSOR}, None, "log"),
    ("(Conformal.*)-confidence_level", {"confidence_level": 0.8}, [0.5], ""),
    ("LinUCBClassifier-kernel", {}, ["linear"], ""),
    ("LinUCBClassifier-randomization", {"exploration": 0.5}, None, ""),
    ("LinUCBClassifier-item_features", {}, [np.size], ""),
    ("BanditronClassifier-gamma", {"kernel": "rbf"}, None, ""),
    ("OnlineRidgeClassifier-(n_components|gamma|random_state)", RBF, None, ""),
    ("LevelSplits.*-max_features", {"max_depth": 2}, [1], ""),
    ("LevelSplits.*-random_state", {"max_depth": 2, "max_features": 1}, None, ""),
    ("HistogramTree.*-random_state", {"max_features": 1}, None, ""),
    ("HistogramTree.*", {"min_samples_leaf": 2}, None, ""),
    ("HoeffdingTreeClassifier-tau", {"grace_period": 9}, None, ""),
    ("HoeffdingTreeClassifier-drift_threshold", {"grace_period": 9}, None, ""),
    ("HoeffdingTreeClassifier-.*", {"grace_period": 9, "tau": 0.9}, None, ""),
    ("ProbabilisticLabelTree-random_state", {"max_children": 2}, None, "indicators"),
]


def make_targets(model, kind):
    """Return X and the other arguments of `fit`, by name."""
    X, y, *qid = make_data(model)
    arguments = {"y": y, **({"qid": qid[0]} if qid else {})}
    if kind == "some NaN":
        arguments["y"] = np.where(np.arange(y.size).reshape(y.shape) % 4, y, np.nan)
    elif kind == "unlabeled":
        arguments["y"] = np.where(np.arange(len(y)) % 3, -1, y)
    elif kind == "tied":
        arguments["y"] = np.minimum(y, 2)
    elif kind == "indicators":
        arguments["y"] = (X[:, [0, 1, 2, 3, 0]] + X[:, [1, 2, 3, 0, 2]] > 0.2).astype(int)
    elif kind == "log":
        arguments["exploration"] = Exploration(np.arange(len(y)) % 3, np.full(len(y), 1 / 3))
        arguments["y"] = X[:, 0] + (arguments["exploration"].actions == y)
    return X, arguments


def outputs(estimator, parameters, kind):
    """Return the predictions of a model that is fitted with these parameters."""
    model = clone(estimator).set_params(**parameters)
    if "random_state" in model.get_params() and "random_state" not in parameters:
        model.set_params(random_state=0)
    X, targets = make_targets(model, kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, **targets)
        X = make_data(model, seed=1)[0]
        found = predictions(model, X)
        for name in ("predict_sets", "predict_intervals", "predict_pair_proba"):
            found[name] = getattr(model, name)(X) if hasattr(model, name) else None
    found["out of bag"] = getattr(model, "oob_decision_function_", None)
    return found


# Many parameters are compared with the same model.
EXPECTED = {}


def differ(some, others):
    return some.keys() != others.keys() or any(
        not np.array_equal(np.asarray(value), np.asarray(others[name]))
        for name, value in some.items()
    )


@pytest.mark.usefixtures("few_trees")
@pytest.mark.parametrize(("name", "parameter"), CASES)
def test_each_parameter_has_an_effect(name, parameter):
    options, values, kind = next(
        (found for pattern, *found in SETTINGS if re.fullmatch(pattern, f"{name}-{parameter}")),
        ({}, None, ""),
    )
    values = VALUES.get(parameter, ()) if values is None else values
    key = name, repr(options), kind
    if key not in EXPECTED:
        EXPECTED[key] = outputs(KINDS[name], options, kind)
        assert options or not differ(EXPECTED[key], outputs(KINDS[name], options, kind))
    assert any(
        differ(EXPECTED[key], outputs(KINDS[name], {**options, parameter: value}, kind))
        for value in values
    )


ONLINE = [name for name, one in KINDS.items() if isinstance(one, BaseOnline)]
AT_ONCE = {"random_state", "n_jobs", "verbose"}


@pytest.mark.parametrize("name", ONLINE)
def test_parameters_are_read_when_a_model_starts(name):
    """Later changes do not affect what a model predicts, shows and learns."""
    kept = clone(KINDS[name])
    if "random_state" in kept.get_params():
        kept.set_params(random_state=0)
    X, targets = make_targets(kept, "indicators" if hasattr(kept, "threshold") else "")
    kept.fit(X, **targets)
    changed = deepcopy(kept)
    values = {key: VALUES[key][-1] for key in kept.get_params(deep=False) if key in VALUES}
    changed.set_params(**{key: value for key, value in values.items() if key not in AT_ONCE})
    for _ in range(2):
        assert not differ(predictions(kept, X), predictions(changed, X))
        for one in (kept, changed):
            one.partial_fit(X, **targets)
        if hasattr(kept, "explore"):
            shown, others = kept.explore(X), changed.explore(X)
            np.testing.assert_array_equal(shown.actions, others.actions)
            np.testing.assert_array_equal(shown.propensities, others.propensities)
            for one in (kept, changed):
                one.partial_fit_feedback(X, shown, shown.actions % 2)
