"""Scikit-learn's checks of every public estimator, in each configuration that differs."""

import inspect
from pathlib import Path

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.datasets import load_iris
from sklearn.ensemble import ExtraTreesRegressor, RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

import sklrank
from sklrank._estimators.base import DOCUMENTATION
from sklrank.boosting import (
    AdaRank,
    ConformalDocumentList,
    HistGradientBoostingRanker,
    NDCGBoost,
    RankBoost,
    RankingRefiner,
    ResidualRefiner,
)
from sklrank.label_ranking import (
    CalibratedLabelRanker,
    ConformalRanks,
    ConformalTopLabels,
    LabelwiseRanker,
    PairwiseRanker,
    PlackettLuceRanker,
    StackedRanker,
)
from sklrank.linear_model import (
    BanditronClassifier,
    LinUCBClassifier,
    OnlineLogisticRegression,
    OnlineRidgeClassifier,
    PredtronClassifier,
    PredtronLabelRanker,
    PredtronQueryRanker,
    SemiBanditRanker,
)
from sklrank.off_policy import OffPolicyClassifier
from sklrank.online_boosting import (
    AdaOLMR,
    OnlineBMR,
    TopKAdaptive,
    TopKBBM,
)
from sklrank.semi_supervised import AssembleClassifier, MCSSBClassifier, PooledLabelSpreading
from sklrank.tree import (
    HistogramTreeClassifier,
    HoeffdingTreeClassifier,
    HonestForestClassifier,
    HonestForestRegressor,
    HonestTreeClassifier,
    HonestTreeRegressor,
    LevelSplitsClassifier,
    LevelSplitsRegressor,
    ProbabilisticLabelTree,
)
from sklrank.tree._histogram import HistogramTreeRegressor

SKLEARN = tuple(map(int, sklearn.__version__.split(".")[:2]))

ESTIMATORS = [
    HoeffdingTreeClassifier(),
    HoeffdingTreeClassifier(leaf_prediction="mc", grace_period=20, tau=0.5),
    HoeffdingTreeClassifier(leaf_prediction="nb", max_depth=3),
    HoeffdingTreeClassifier(grace_period=10, delta=0.1, max_leaves=4, drift_threshold=1),
    ProbabilisticLabelTree(),
    ProbabilisticLabelTree(max_children=2, alpha=0.05, max_iter=3),
    LevelSplitsRegressor(),
    LevelSplitsRegressor(honest=True, max_features="sqrt"),
    LevelSplitsRegressor(max_depth=6, min_samples_leaf=3),
    LevelSplitsClassifier(),
    LevelSplitsClassifier(honest="estimation"),
    HonestTreeClassifier(),
    HonestForestClassifier(n_estimators=2),
    HonestForestClassifier(n_estimators=3, splits="level", honest="estimation"),
    HonestTreeRegressor(),
    HonestTreeRegressor(honest=False, max_features=0.5, max_depth=8, max_leaf_nodes=12),
    HonestForestRegressor(n_estimators=2),
    HonestForestRegressor(n_estimators=3, splits="level", n_jobs=2),
    HonestForestRegressor(n_estimators=2, honest=False, max_samples=None, max_features="sqrt"),
    HistogramTreeClassifier(),
    HistogramTreeClassifier(min_samples_leaf=2, max_features=0.5, random_state=0),
    HistogramTreeRegressor(),
    HistogramTreeRegressor(min_samples_leaf=2, max_features=0.5, random_state=0),
    OnlineLogisticRegression(),
    OnlineLogisticRegression(multi_class="ovr"),
    OnlineRidgeClassifier(),
    OnlineRidgeClassifier(kernel="rbf"),
    BanditronClassifier(),
    BanditronClassifier(mirror_map="positive", exploration="ag3"),
    BanditronClassifier(mirror_map="entropy"),
    BanditronClassifier(mirror_map="p-norm"),
    BanditronClassifier(mirror_map=np.positive, randomization=np.maximum),
    BanditronClassifier(kernel="rbf", randomization="plackett-luce"),
    LinUCBClassifier(),
    LinUCBClassifier(kernel="rbf", n_components=10),
    LinUCBClassifier(covariance="diagonal", exploration=0.1),
    SemiBanditRanker(),
    SemiBanditRanker(k=2, exploration="decay", max_iter=2),
    PredtronClassifier(),
    PredtronClassifier(average=True, max_iter=5),
    PredtronClassifier(loss="absolute", update="loss-driven"),
    PredtronClassifier(loss="hamming", average=True),
    PredtronClassifier(kernel="rbf"),
    PredtronClassifier(kernel="poly"),
    PredtronClassifier(mirror_map="p-norm"),
    PredtronClassifier(mirror_map="schatten", average=True),
    PredtronClassifier(mirror_map="entropy", learning_rate=0.1),
    # It rejects no sample: scikit-learn's checks compare predictions with scores.
    PredtronClassifier(reject_cost=1.0, average=True),
    OffPolicyClassifier(LogisticRegression()),
    OffPolicyClassifier(DecisionTreeClassifier(random_state=0), method="dr"),
    PredtronClassifier(representation="simplex"),
    PredtronClassifier(representation="ordinal"),
    PredtronLabelRanker(),
    PredtronLabelRanker(kernel="rbf", average=True),
    PredtronLabelRanker(loss="precision", k=1, representation="linear", mirror_map="group-norm"),
    PredtronQueryRanker(),
    PredtronQueryRanker(kernel="rbf"),
    PredtronQueryRanker(average=True, update="loss-driven", mirror_map="p-norm", max_iter=3),
    AdaOLMR("trees", n_estimators=3),
    AdaOLMR(),
    AdaOLMR(OnlineLogisticRegression(), n_estimators=2, max_iter=2),
    AdaOLMR(loss=np.exp, expert_loss="loss"),
    LabelwiseRanker(ExtraTreesRegressor(2, random_state=0)),
    LabelwiseRanker(Ridge(), multi_output="auto", incomplete="relative"),
    PairwiseRanker(LogisticRegression()),
    PairwiseRanker(RandomForestClassifier(2, random_state=0), voting="soft"),
    PairwiseRanker(),
    PlackettLuceRanker(alpha=1.0),
    PlackettLuceRanker(ties="breslow", tol=1e-3),
    PlackettLuceRanker(kernel="rbf", alpha=0.1, n_components=20),
    StackedRanker(
        [
            ("linear", LabelwiseRanker(Ridge())),
            ("logistic", PairwiseRanker(LogisticRegression())),
        ],
        cv=2,
    ),
    CalibratedLabelRanker(LabelwiseRanker(Ridge()), cv=2),
    ConformalTopLabels(LabelwiseRanker(Ridge()), confidence_level=0.5),
    ConformalRanks(PlackettLuceRanker(alpha=1.0), confidence_level=0.5, calibration_size=0.5),
    PooledLabelSpreading(1),
    MCSSBClassifier(n_estimators=2),
    MCSSBClassifier(similarity="rbf", learning_rate=1.0, n_estimators=2),
    MCSSBClassifier(DecisionTreeClassifier(), 2, weighting="resampling"),
    MCSSBClassifier(similarity="identity", n_estimators=2),
    AssembleClassifier(n_estimators=2),
    AssembleClassifier(n_estimators=2, step_rule="printed"),
    AssembleClassifier(DecisionTreeClassifier(), 2, weighting="resampling"),
    OnlineBMR(),
    OnlineBMR("trees", n_estimators=3),
    OnlineBMR("trees", n_estimators=3, loss="rank", edge=0.3),
    OnlineBMR(n_estimators=5, loss="logistic"),
    TopKBBM("trees", n_estimators=3),
    TopKBBM(),
    TopKBBM("trees", n_estimators=10, k=2, randomization="single-swap", max_iter=2),
    TopKAdaptive("trees", n_estimators=3),
    TopKAdaptive(),
    TopKAdaptive(
        "trees",
        n_estimators=3,
        k=2,
        exploration="decay",
        randomization="plackett-luce",
        cost_estimate="doubly-robust",
        loss="exponential",
    ),
    TopKAdaptive("trees", n_estimators=2, k=2, exploration=1.0, gradient_clip=None),
    NDCGBoost(n_estimators=5),
    HistGradientBoostingRanker(max_iter=5),
    HistGradientBoostingRanker("expected-ndcg", max_iter=5, max_leaf_nodes=4, init="linear"),
    NDCGBoost(HistogramTreeClassifier(max_leaf_nodes=2, min_samples_leaf=1), 5),
    RankBoost(HistogramTreeClassifier(min_samples_leaf=2), 5),
    NDCGBoost(KNeighborsClassifier(3), 3),
    RankBoost(),
    AdaRank(),
    AdaRank(metric="map", rule="printed"),
    AdaRank(DecisionTreeClassifier(max_depth=3), 5),
    # One held-out query is enough for this level.
    ConformalDocumentList(Ridge(), alpha=0.8),
    ResidualRefiner(0),
    RankingRefiner(0, n_estimators=5),
    RankingRefiner(0, LogisticRegression(), 5, combination="sum", weighting="resampling"),
]

# The first configuration of a class should be fitted within milliseconds: see KINDS.
# These have weak learners of scikit-learn in a loop over samples, or hundreds of trees by default.
SLOW_ESTIMATORS = [
    AdaOLMR([GaussianNB(), HoeffdingTreeClassifier()]),
    LabelwiseRanker(),
    StackedRanker(cv=2),
]


def expected_failed_checks(estimator):
    # The counts of a single leaf do not depend on the order of the samples.
    if estimator.get_params().get("leaf_prediction") in ("mc", "nb"):
        return {}
    is_tree = isinstance(estimator, HistogramTreeClassifier | HistogramTreeRegressor)
    if is_tree and estimator.min_samples_leaf == 20:
        return {}  # No leaf of this check is large enough to be split.
    if isinstance(estimator, HonestForestRegressor) and not estimator.honest:
        return {}  # No samples are drawn.
    if isinstance(estimator, HistGradientBoostingRanker) and estimator.loss == "logistic":
        return {}  # It has few rounds.
    failing = sklrank.expected_failed_checks(estimator)
    if isinstance(estimator, MCSSBClassifier) and estimator.similarity == "identity":
        # Each sample is its only neighbor, and these are the checks that count neighbors.
        return {name: why for name, why in failing.items() if "weight" not in name}
    return failing


# The first and the last configuration of each class. Checks of all but the first are slow tests.
KINDS = {type(one).__name__: one for one in reversed(ESTIMATORS)}
LAST = {type(one).__name__: one for one in ESTIMATORS}
OTHERS = [one for one in ESTIMATORS if one is not KINDS[type(one).__name__]]


def test_every_public_estimator_is_checked():
    public = {
        thing
        for subpackage in sklrank.__all__[1:]
        for thing in vars(getattr(sklrank, subpackage)).values()
        if inspect.isclass(thing) and issubclass(thing, BaseEstimator)
    }
    assert len(public) > 20
    # The checks of pipelines are in `test_pipeline.py`.
    estimators = {thing for thing in public if not issubclass(thing, Pipeline)}
    assert estimators <= {type(one) for one in ESTIMATORS}


@pytest.mark.parametrize("estimator", KINDS.values(), ids=KINDS)
def test_html_representation_links_to_the_documentation(estimator):
    """Public estimators have a page, which is generated from `__all__` of their subpackage."""
    package = next(
        (
            f"sklrank.{subpackage}"
            for subpackage in sklrank.__all__
            if type(estimator).__name__ in getattr(getattr(sklrank, subpackage), "__all__", ())
        ),
        None,
    )
    link = f"{DOCUMENTATION}generated/{package}.{type(estimator).__name__}.html" if package else ""
    assert estimator._get_doc_link() == link
    assert type(estimator).__name__ in estimator._repr_html_()
    assert not link or link in estimator._repr_html_()


def test_address_of_the_documentation():
    project = (Path(__file__).parents[2] / "pyproject.toml").read_text()
    assert f'Documentation = "{DOCUMENTATION}"' in project


@pytest.mark.parametrize("estimator", list(filter(is_classifier, KINDS.values())), ids=repr)
def test_data_frames_of_a_transformer(estimator):
    """`set_output` is for transformers: the classifier learns the feature names of its input."""
    X, y = [data[:100] for data in load_iris(return_X_y=True, as_frame=True)]
    pipe = make_pipeline(StandardScaler(), clone(estimator)).set_output(transform="pandas")
    pipe.fit(X, y)
    assert list(pipe[-1].feature_names_in_) == list(X.columns)
    assert pipe.predict(X).shape == (100,)
    with pytest.raises(ValueError, match="feature names should match"):
        pipe[-1].predict(X[X.columns[::-1]])


# Methods that need no fitted model, beside those of BaseEstimator and those that scikit-learn adds.
FITTING = {"fit", "fit_transform", "merge", "partial_fit", "progressive_fit"}
ADDED = (
    "set_callbacks",
    "set_output",
    "set_fit_request",
    "set_partial_fit_request",
    "set_predict_request",
    "set_predict_proba_request",
    "set_score_request",
)
ARGUMENTS = {"X": [[0.0, 1.0], [1.0, 0.0]], "y": [0, 1]}


def public_names(estimator):
    return [
        name
        for name in dir(type(estimator))
        if not name.startswith("_")
        and not hasattr(BaseEstimator, name)
        and name not in FITTING | {*ADDED}
    ]


@pytest.mark.parametrize("estimator", KINDS.values(), ids=KINDS)
def test_before_fit(estimator):
    """All public methods and properties of fitted models raise NotFittedError."""
    for name in public_names(estimator):
        with pytest.raises(NotFittedError):
            method = getattr(clone(estimator), name)
            arguments = [
                ARGUMENTS.get(parameter.name)
                for parameter in inspect.signature(method).parameters.values()
                if parameter.default is parameter.empty and parameter.kind != parameter.VAR_KEYWORD
            ]
            # A generator would run until its first result.
            next(iter(method(*arguments)))


@pytest.mark.parametrize("estimator", KINDS.values(), ids=KINDS)
def test_booleans_are_not_numbers(estimator):
    """Python counts booleans as integers; a number among the parameters must not be one."""
    for name, default in estimator.get_params(deep=False).items():
        may_be_boolean = isinstance(default, bool) or name in ("random_state", "verbose")
        if may_be_boolean or "boolean" in estimator._parameter_constraints[name]:
            continue
        for value in (True, np.True_):
            changed = clone(estimator).set_params(**{name: value})
            with pytest.raises(ValueError, match=name):
                changed._validate_params()


INVALID = [np.ones(3), {}, np.nan, "x", object(), None]


@pytest.mark.parametrize("estimator", LAST.values(), ids=LAST)
def test_inspection_with_invalid_parameters(estimator):
    """Consoles and debuggers inspect all attributes; parameters are not checked before `fit`."""
    for name in estimator.get_params(deep=False):
        for value in INVALID:
            invalid = clone(estimator).set_params(**{name: value})
            for attribute in dir(invalid):
                hasattr(invalid, attribute)


def run_scikit_learn_checks(estimator, failing):
    """Run all checks; those that are said to fail must not pass. Return the names of the failed."""
    results = check_estimator(estimator, expected_failed_checks=failing, on_skip=None)
    said_to_fail = [one for one in results if one["expected_to_fail"]]
    # A Hoeffding tree of so few samples does not depend on their order.
    if not isinstance(estimator, HoeffdingTreeClassifier):
        assert not [one["check_name"] for one in said_to_fail if one["status"] == "passed"]
    return {one["check_name"] for one in said_to_fail if one["status"] == "xfail"}


def test_a_user_can_check_an_online_estimator():
    """The documented helper names the checks that scikit-learn expects to fail."""
    model = AdaOLMR("trees", n_estimators=2)
    failing = sklrank.expected_failed_checks(model)
    assert run_scikit_learn_checks(model, failing) == set(failing)


def failing_checks(estimator):
    # A Hoeffding tree of so few samples does not depend on their order.
    is_tree = isinstance(estimator, HoeffdingTreeClassifier)
    return {} if is_tree else expected_failed_checks(estimator)


# A pool of label spreading fits many classifiers, and is checked with the other configurations.
CHECKED = [one for name, one in KINDS.items() if name != "PooledLabelSpreading"]


# Some checks have samples of the mean 100.
@pytest.mark.filterwarnings("ignore:.* has the position 0 although", "ignore:the mean of the rows")
@parametrize_with_checks(CHECKED, expected_failed_checks=failing_checks)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings(
    "ignore:.* gives all samples the score 0",
    "ignore:metric='map' is the same",
    "ignore:the mean of the rows",
)
@pytest.mark.usefixtures("few_trees")
@pytest.mark.parametrize(
    "estimator", [*OTHERS, *SLOW_ESTIMATORS, KINDS["PooledLabelSpreading"]], ids=repr
)
def test_scikit_learn_checks_of_other_configurations(estimator):
    run_scikit_learn_checks(estimator, expected_failed_checks(estimator))
