"""Values that mean something else than a number are read rightly, or named with the remedy."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from scipy.stats import rankdata
from sklearn.base import is_classifier, is_regressor
from sklearn.exceptions import DataConversionWarning
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.preprocessing import StandardScaler
from test_common import KINDS

from sklrank.boosting import (
    AdaRank,
    HistGradientBoostingRanker,
    NDCGBoost,
    RankBoost,
    RankingRefiner,
    ResidualRefiner,
)
from sklrank.datasets import load_letor
from sklrank.feedback import Exploration
from sklrank.label_ranking import (
    CalibratedLabelRanker,
    ConformalTopLabels,
    LabelwiseRanker,
    PairwiseRanker,
    PlackettLuceRanker,
    StackedRanker,
    positions_from_long,
    positions_from_orderings,
)
from sklrank.linear_model import (
    BanditronClassifier,
    LinUCBClassifier,
    OnlineLogisticRegression,
    PredtronClassifier,
    PredtronLabelRanker,
    PredtronQueryRanker,
)
from sklrank.metrics import (
    average_precision_scorer,
    kendall_tau_score,
    kendall_tau_scorer,
    ndcg_score,
    ndcg_scorer,
    pair_brier_score,
    rank_loss,
    rank_loss_scorer,
    reject_loss,
    spearman_distance,
)
from sklrank.model_selection import (
    PairReliabilityDisplay,
    ProgressiveValidationDisplay,
    QueryKFold,
    RankingDisplay,
    progressive_reward_score,
    progressive_val_score,
)
from sklrank.off_policy import list_policy_value, policy_value
from sklrank.online_boosting import OnlineBMR
from sklrank.pipeline import OnlinePipeline
from sklrank.semi_supervised import AssembleClassifier, MCSSBClassifier, PooledLabelSpreading
from sklrank.semi_supervised._base import PartlyLabeledMixin
from sklrank.streaming import fit_blocks
from sklrank.tree import (
    HistogramTreeClassifier,
    HoeffdingTreeClassifier,
    HonestForestClassifier,
    HonestTreeClassifier,
    ProbabilisticLabelTree,
)

RANDOM = np.random.RandomState(0)
N = 40
X = RANDOM.normal(size=(N, 3))
RANKINGS = np.array([RANDOM.permutation(4) + 1.0 for _ in range(N)])
HIDDEN = (np.arange(N) % 3 > 0)[:, np.newaxis] & (RANKINGS > 2)
PARTIAL = np.where(HIDDEN, np.nan, RANKINGS)
LABEL_RANKERS = [
    PlackettLuceRanker(alpha=1.0),
    LabelwiseRanker(Ridge()),
    PairwiseRanker(HistogramTreeClassifier()),
    CalibratedLabelRanker(PlackettLuceRanker(alpha=1.0)),
    ConformalTopLabels(PlackettLuceRanker(alpha=1.0), confidence_level=0.5),
    StackedRanker([("a", PlackettLuceRanker(alpha=1.0)), ("b", PlackettLuceRanker(alpha=2.0))]),
]
CODES = [0.0, -1.0, 5.0, 9.0, 99.0]


@pytest.mark.parametrize("ranker", LABEL_RANKERS, ids=lambda ranker: type(ranker).__name__)
def test_rankers_say_that_a_position_may_be_a_code(ranker):
    """Four labels, whose positions are 1 to 4; the third and the fourth are often not ranked."""
    with pytest.warns(UserWarning, match=r"position 0 .*code of labels"):
        ranker.fit(X, np.nan_to_num(PARTIAL))


@pytest.mark.parametrize("code", CODES)
def test_metrics_say_that_a_position_may_be_a_code(code):
    coded = np.where(np.isnan(PARTIAL), code, PARTIAL)
    for metric in (kendall_tau_score, spearman_distance):
        for pair in ((coded, RANKINGS), (RANKINGS, coded)):
            with pytest.warns(UserWarning, match=f"position {code:g} .*missing_values={code:g}"):
                metric(*pair)
    with pytest.warns(UserWarning, match=f"position {code:g} "):
        pair_brier_score(coded, np.full((N, 4, 4), 0.5))
    rows, columns = np.indices(coded.shape).reshape(2, -1)
    with pytest.warns(UserWarning, match="ranks has the position"):
        positions_from_long(rows, columns, coded.ravel())


@pytest.mark.parametrize("ranker", LABEL_RANKERS[:3], ids=lambda ranker: type(ranker).__name__)
def test_relevant_labels_are_no_positions(ranker):
    """As positions, 0 and 1 rank the labels that are not relevant first."""
    relevant = (RANKINGS <= 2).astype(int)
    with pytest.warns(UserWarning, match="positions 0 and 1 only.*positions_from_scores"):
        ranker.fit(X, relevant)
    compared = np.where(RANKINGS <= 2, RANKINGS - 1, np.nan)  # pairs that count from 0
    PlackettLuceRanker(alpha=1.0).fit(X, compared)


def test_other_numbers_whose_order_counts_are_no_codes():
    ties = np.array([[0, 0, 2, 3], [0, 1, 1, 3]])  # counted from 0
    for valid in (PARTIAL, PARTIAL - 1, RANKINGS - 1, ties, 10 * RANKINGS, -RANKINGS, RANKINGS / 3):
        kendall_tau_score(valid, valid)
    first = np.array([RANDOM.permutation(6) + 1.0 for _ in range(N)])[:, :4]  # of six labels
    kendall_tau_score(first, first)


def test_positions_that_cross_val_predict_makes_of_missing_ones_are_codes():
    with pytest.warns(UserWarning, match="position 0 "):
        cross_val_predict(
            PlackettLuceRanker(alpha=1.0), X, PARTIAL, cv=KFold(2), method="decision_function"
        )


def test_costs_are_read_in_the_declared_order():
    polars = pytest.importorskip("polars")
    order, codes = ["low", "mid", "high"], np.digitize(X[:, 0], [-0.5, 0.5])
    names = np.array(order)[codes]
    for loss in ("absolute", [[0, 1, 4], [1, 0, 2], [9, 3, 0]]):
        model = PredtronClassifier(loss=loss, shuffle=False)
        expected = np.array(order)[model.fit(X, codes).predict(X)]
        enum = polars.Series(names.tolist(), dtype=polars.Enum(order))
        for y in (pd.Series(pd.Categorical(names, order, ordered=True)), enum):
            assert_array_equal(model.fit(X, y).predict(X), expected)
            assert_array_equal(model.classes_, order)
        with pytest.warns(UserWarning, match="order of the classes.*alphabet"):
            model.fit(X, names)
    model = PredtronClassifier(loss="absolute").partial_fit(X, enum).partial_fit(X, enum, order)
    assert_array_equal(model.partial_fit(X, enum, [*order, "best"]).classes_, [*order, "best"])


def test_costs_by_name_have_the_order_of_the_classes():
    order, table = ["low", "mid", "high"], [[0, 1, 4], [1, 0, 2], [9, 3, 0]]
    y = pd.Series(pd.Categorical(np.array(order)[np.arange(N) % 3], order, ordered=True))
    costs = pd.DataFrame(table, order, order)
    named, given = (PredtronClassifier(loss=loss).fit(X, y) for loss in (costs, table))
    assert_array_equal(named.coef_, given.coef_)
    with pytest.warns(DataConversionWarning):
        column = PredtronClassifier(loss=costs).fit(X, y.to_frame())
    assert_array_equal(column.coef_, given.coef_)
    for other in (costs[order[::-1]], costs[::-1], costs.loc[order[::-1], order[::-1]]):
        with pytest.raises(ValueError, match="loss has the classes .*are in the order"):
            PredtronClassifier(loss=other).fit(X, y)


def test_costs_without_effect_are_said():
    codes = (X[:, 0] > 0).astype(int)
    for loss in ([1, 10], [[0, 1], [10, 0]]):
        with pytest.warns(UserWarning, match="no effect.*update='loss-driven'"):
            PredtronClassifier(loss=loss).fit(X, codes)
        PredtronClassifier(loss=loss, update="loss-driven").fit(X, codes)
    PredtronClassifier(loss=[[0, 5], [5, 0]]).fit(X, codes)


def test_unknown_categories_are_said():
    qid, town = np.repeat(np.arange(4), 10), np.array(["Lima", "Oslo", "Rome"])[np.arange(N) % 3]
    names = pd.DataFrame({"a": X[:, 0], "town": pd.Categorical(town)})
    codes = names.assign(town=names["town"].cat.codes.astype("category"))
    options = {"max_iter": 2, "early_stopping": False, "init": None}
    for fitted, other in ((names, codes), (codes, names)):
        ranker = HistGradientBoostingRanker(**options).fit(fitted, town == "Oslo", qid=qid)
        with pytest.raises(ValueError, match="'town' of X has the category .*names or codes"):
            ranker.predict(other[:1])
    ranker = HistGradientBoostingRanker(**options).fit(names, town == "Oslo", qid=qid)
    ranker.predict(names[:5].assign(town="Bonn"))
    with pytest.warns(UserWarning, match="40 of 40 values are unknown"):
        ranker.predict(names.assign(town="Bonn"))
    rows = np.c_[X[:, 0], np.arange(N) % 3]
    ranker = HistGradientBoostingRanker(categorical_features=[1], **options)
    ranker.fit(rows, rows[:, 1] == 1, qid=qid).predict(rows)
    with pytest.warns(UserWarning, match="feature 1 of X has the category 7.0"):
        ranker.predict(np.add(rows, [0, 7]))


def test_categories_for_which_there_are_no_bins_are_said():
    rows, qid = np.c_[np.arange(400) % 300, np.arange(400)].astype(float), np.arange(400) // 40
    options = {"max_iter": 1, "early_stopping": False, "init": None}
    with pytest.warns(UserWarning, match="has 300 categories, more than max_bins=255: .*of 11%"):
        HistGradientBoostingRanker(categorical_features=[0], **options).fit(
            rows, rows[:, 0] > 9, qid=qid
        )


@pytest.mark.parametrize("big", [2.0**53, np.float32(2**24)])
def test_ids_that_floats_cannot_hold_are_refused(big):
    ids = (big + np.arange(N)).astype(type(big))
    match = "holds whole numbers up to 2.*Read ids as"
    with pytest.raises(ValueError, match=f"qid has.*{match}"):
        ndcg_score(np.ones(N), np.ones(N), qid=ids)
    with pytest.raises(ValueError, match=f"qid has.*{match}"):
        next(QueryKFold(2).split(X, qid=ids))
    with pytest.raises(ValueError, match=f"orderings has.*{match}"):
        positions_from_orderings(ids.reshape(-1, 4))
    with pytest.raises(ValueError, match=f"respondents has.*{match}"):
        positions_from_long(ids, np.arange(N), np.ones(N))
    with pytest.raises(ValueError, match=f"y_true has.*{match}"):
        rank_loss(ids, np.eye(N))
    for model in (
        OnlineLogisticRegression(),
        PredtronClassifier(),
        HoeffdingTreeClassifier(),
        HistogramTreeClassifier(),
        HonestTreeClassifier(),
        ProbabilisticLabelTree(),
        AssembleClassifier(),
    ):
        with pytest.raises(ValueError, match=f"y has.*{match}"):
            model.fit(X, ids)
        with pytest.raises(ValueError, match="contains NaN or None, first for the sample 1"):
            ProbabilisticLabelTree().fit(X, ["a", None] * (N // 2))


def test_large_grades_with_exponential_gains_are_said():
    grades, qid = np.tile(np.arange(10.0), 4) * 4, np.repeat(np.arange(4), 10)
    for ranker in (
        HistGradientBoostingRanker("lambda", max_iter=2),
        NDCGBoost(n_estimators=2),
        AdaRank(n_estimators=2),
        PredtronQueryRanker(),
    ):
        with pytest.warns(UserWarning, match=r"relevance 36 has the exponential gain 2\*\*36"):
            ranker.fit(X, grades, qid=qid)
    with pytest.warns(UserWarning, match="gain='linear'.*loss='spearman'"):
        ndcg_score(grades, grades)
    RankBoost(n_estimators=2).fit(X, grades, qid=qid).score(X, grades, qid=qid)
    ndcg_score(grades, grades, gain="linear")


def test_labels_that_are_not_compared_are_said():
    ones, nan = np.ones((4, 1)), np.nan
    apart = [[1, 2, nan], [2, 1, nan], [1, 2, nan], [nan, nan, 1]]
    for alpha, Y, labels in (
        (0.0, [[1, 2, 3]] * 4, "[0, 1]"),
        (1.0, apart, "[2]"),
        (1.0, [[1, 1, 1]] * 4, "[1, 2]"),  # rankings of ties only
    ):
        with pytest.warns(UserWarning, match=f"not finite: the labels {re.escape(labels)} are"):
            ranker = PlackettLuceRanker(alpha=alpha).fit(ones, Y)
        with pytest.warns(UserWarning, match="do not rely on their scores"):
            ranker.predict(ones)


@pytest.mark.parametrize(
    "model",
    [
        MCSSBClassifier(n_estimators=2, random_state=0),
        AssembleClassifier(n_estimators=2, random_state=0),
        pytest.param(PooledLabelSpreading(2, random_state=0), marks=pytest.mark.slow),
    ],
)
def test_missing_labels_are_unlabeled(model):
    codes, hidden = (X[:, 0] > 0).astype(int), np.arange(N) % 4 > 0
    expected = model.fit(X, np.where(hidden, -1, codes)).predict(X)
    numbers = pd.Series(codes).mask(hidden)
    for y in (numbers.to_numpy(), numbers.astype("Int64")):
        assert_array_equal(model.fit(X, y).predict(X), expected)
    names = np.array(["a", "b"], dtype=object)
    model.fit(X, np.where(hidden, None, names[codes]).tolist())
    assert_array_equal(model.predict(X), names[expected])


MISSING = {
    "None": [None, *X[1:, 0].tolist()],
    "NA": pd.Series(X[:, 0], dtype="Float64").mask(X[:, 0] == X[0, 0]),
    "NaT": pd.Series(np.arange(N) % 2, dtype="datetime64[s]").mask(np.arange(N) < 1),
}


SUPERVISED = {name: one for name, one in KINDS.items() if is_classifier(one) or is_regressor(one)}


@pytest.mark.parametrize("kind", MISSING)
@pytest.mark.parametrize("name", SUPERVISED)
def test_missing_targets_are_named(name, kind):
    """Otherwise they would be a class, or NaN in each leaf."""
    model, y = SUPERVISED[name], MISSING[kind]
    if not isinstance(model, PartlyLabeledMixin):
        with pytest.raises(ValueError, match="NaN or None, first for the sample 0: leave such"):
            model.fit(X, y)
    if is_classifier(model):
        with pytest.raises(ValueError, match=r"numbers of the type object.*y.astype\(int\)"):
            model.fit(X, (np.arange(N) % 2).astype(object))


def test_actions_that_are_not_known_or_names_are_said():
    log, names = np.arange(N) % 2, np.array(["a", "b"])
    for actions in (np.where(log, 1, np.nan), names[log], pd.Series(names[log])):
        shown = Exploration(actions, np.full(N, 0.5))
        with pytest.raises(ValueError, match="actions of exploration must be integers"):
            policy_value(np.ones(N), shown, log, method="ips")


def test_messages_name_a_remedy_that_exists(tmp_path):
    qid = np.repeat(np.arange(4), 10)
    for ranker in (NDCGBoost(), RankBoost()):
        with pytest.raises(TypeError, match="use HistGradientBoostingRanker, which has"):
            ranker.fit(X, qid, qid=qid, eval_set=[(X, qid)])
    log = Exploration(np.array([0, 1] * 200, dtype=object), np.full(400, 0.5))
    assert policy_value(np.ones(400), log, np.zeros(400, int), method="ips").value == 1.0
    classifier = HistogramTreeClassifier().fit(X, qid % 2)
    with pytest.raises(ValueError, match=r"pass its probabilities, policy.predict_proba\(X\)"):
        policy_value(np.ones(400), log, classifier, method="ips")
    with pytest.raises(ValueError, match=r"use set_output\(predict='pandas'\)"):
        LABEL_RANKERS[0].set_output(transform="pandas")
    path = tmp_path / "empty.txt"
    path.write_text("# no document\n")
    with pytest.raises(ValueError, match="empty.txt has no document"):
        load_letor(path)


def test_rows_that_pandas_would_match_otherwise_are_said():
    """The rows of X are sorted, those of the other arguments are not; their index tells."""
    qid = pd.Series(np.repeat(np.arange(4), 10))
    grades, frame = pd.Series(np.arange(N) % 3), pd.DataFrame(X, columns=list("abc"))
    moved, positions = frame.sort_values("a"), pd.DataFrame(RANKINGS)
    match = "y have the same row labels in another order.*y.loc"
    for ranker in (NDCGBoost(n_estimators=2), AdaRank(n_estimators=2), PredtronQueryRanker()):
        with pytest.warns(UserWarning, match=match):
            ranker.fit(moved, grades, qid=qid[moved.index])
        with pytest.warns(UserWarning, match="X and qid have the same row labels"):
            ranker.fit(moved, grades[moved.index], qid=qid)
        ranker.fit(moved, grades[moved.index], qid=qid[moved.index])
        ranker.fit(moved, grades.set_axis(np.arange(N) + N), qid=qid.to_numpy())
    for model, y in ((LABEL_RANKERS[0], positions), (HoeffdingTreeClassifier(), grades)):
        with pytest.warns(UserWarning, match=match):
            model.fit(moved, y)
    with pytest.warns(UserWarning, match=match):
        model.partial_fit(moved, grades)
    with pytest.warns(UserWarning, match="y_true and y_score have the same row labels"):
        ndcg_score(grades, moved["a"], qid=qid)
    with pytest.warns(UserWarning, match="y_true and y_pred have the same row labels"):
        kendall_tau_score(positions, positions[::-1])
    with pytest.warns(UserWarning, match="y_true and y_score have the same row labels"):
        rank_loss(pd.DataFrame(np.eye(4)), pd.DataFrame(np.eye(4))[::-1])


@pytest.mark.filterwarnings("ignore:the effective sample size is 40")
def test_scored_rows_that_pandas_would_match_otherwise_are_said():
    """By `score`, scorers, displays, metrics with weights, and readers of tables and blocks."""
    qid = np.repeat(np.arange(4), 10)
    frame, grades = pd.DataFrame(X), pd.Series(np.arange(N) % 3)
    positions, relevant = pd.DataFrame(RANKINGS), pd.DataFrame((RANKINGS == 1).astype(int))
    ones, evaluated = pd.Series(np.ones(N)), pd.DataFrame(np.full((N, 2), 0.5))
    log = Exploration(np.arange(N) % 2, np.full(N, 0.5))
    lists = Exploration(log.actions[:, None], np.full((N, 1, 1), 0.5))
    models = {
        "rankings": (PlackettLuceRanker(alpha=1.0), positions),
        "relevance": (PredtronLabelRanker(), relevant),
        "sets": (OnlineBMR("trees", n_estimators=2), relevant),
        "classes": (PredtronClassifier(), grades),
        "few classes": (AssembleClassifier(n_estimators=2), grades.where(grades < 2, -1)),
    }
    for model, y in models.values():
        model.fit(X, y.to_numpy())
        model.score(frame, y, sample_weight=ones)
        with pytest.warns(UserWarning, match="X and y have the same row labels"):
            model.score(frame, y[::-1])
    for ranker in (NDCGBoost(n_estimators=2), HistGradientBoostingRanker(max_iter=2)):
        ranker.fit(X, grades.to_numpy(), qid)
        with pytest.warns(UserWarning, match="X and y have the same row labels"):
            ranker.score(frame, grades[::-1], qid)
        with pytest.warns(UserWarning, match="X and qid have the same row labels"):
            ndcg_scorer(ranker, frame, grades, qid=pd.Series(qid)[::-1])
    for scorer, kind in ((kendall_tau_scorer, "rankings"), (rank_loss_scorer, "relevance")):
        model, y = models[kind]
        with pytest.warns(UserWarning, match="X and y have the same row labels"):
            scorer(model, frame, y[::-1])
    for call in (
        lambda: rank_loss(relevant, RANKINGS, sample_weight=ones[::-1]),
        lambda: kendall_tau_score(positions, RANKINGS, sample_weight=ones[::-1]),
        lambda: ndcg_score(grades, X[:, 0], qid=qid, sample_weight=ones[::-1]),
        lambda: reject_loss(grades, grades[::-1], reject_cost=0.1),
        lambda: positions_from_long(np.arange(N), grades, ones[::-1]),
        lambda: fit_blocks(HistGradientBoostingRanker(), [(frame, grades[::-1], qid)]),
        lambda: policy_value(ones, log, evaluated[::-1], method="snips"),
        lambda: policy_value(ones, log, evaluated, X=frame[::-1], method="snips"),
        lambda: list_policy_value(pd.DataFrame(np.ones((N, 1))), lists, evaluated[::-1]),
    ):
        with pytest.warns(UserWarning, match="have the same row labels in another order"):
            call()


def test_columns_of_a_scored_target_are_the_labels_of_the_model():
    names = ["ant", "bee", "cat", "dog"]
    positions = pd.DataFrame(RANKINGS, columns=names)
    relevant = (positions == 1).astype(int)
    ranker = PlackettLuceRanker(alpha=1.0).fit(X, positions)
    model = PredtronLabelRanker().fit(X, relevant)
    assert ndcg_scorer(model, X, relevant) == ndcg_scorer(model, X, relevant.to_numpy())
    scores = pd.DataFrame(model.decision_function(X), columns=names)
    plot = ProgressiveValidationDisplay.from_predictions
    for call in (
        lambda: ndcg_scorer(model, X, relevant[names[::-1]]),
        lambda: average_precision_scorer(model, X, relevant[names[::-1]]),
        lambda: RankingDisplay.from_estimator(ranker, X, positions[names[::-1]]),
        lambda: PairReliabilityDisplay.from_estimator(ranker, X, positions[names[::-1]]),
    ):
        with pytest.raises(ValueError, match="y has the column 'dog' at position 0"):
            call()
    with pytest.raises(ValueError, match=r"y_scores\['a'\] has the columns .* another order"):
        plot(relevant, {"a": scores[names[::-1]]})


def test_columns_of_two_frames_have_one_order():
    names = ["ant", "bee", "cat", "dog"]
    frame = pd.DataFrame(RANKINGS, columns=names)
    relevant, other = (frame == 1).astype(int), frame[names[::-1]]
    match = "has the columns .'dog'.* the same ones in another order"
    for metric, y_true in ((kendall_tau_score, frame), (ndcg_score, frame), (rank_loss, relevant)):
        with pytest.raises(ValueError, match=match):
            metric(y_true, other)
        metric(y_true, other.set_axis(list("wxyz"), axis=1))
        assert metric(y_true, frame) == metric(y_true.to_numpy(), frame.to_numpy())
    log = Exploration(np.arange(N) % 4, np.full(N, 0.25), classes=names)
    policy = pd.DataFrame(np.tile([0.1, 0.2, 0.3, 0.4], (N, 1)), columns=names)
    with pytest.raises(ValueError, match=f"policy {match}"):
        policy_value(np.ones(N), log, policy[names[::-1]], method="ips")
    with pytest.raises(ValueError, match=f"reward_model {match}"):
        policy_value(np.ones(N), log, policy, method="dm", reward_model=policy[names[::-1]])
    model = OnlineLogisticRegression().fit(X, np.array(names)[np.arange(N) % 4])
    with pytest.raises(ValueError, match=f"available {match}"):
        model.predict(X, available=policy[names[::-1]] > 0)


def test_masks_of_other_labels_are_refused():
    names, mask = np.array(["ant", "bee", "cat"]), np.array([True, False, False])
    for classes, others in ((names, ["bee", "cat", "dog"]), (np.array([3, 4, 5]), [7, 8, 9])):
        model = OnlineLogisticRegression().fit(X, classes[np.arange(N) % 3])
        for index in (classes, None):
            found = model.predict(X, available=pd.Series(mask, index=index))
            assert set(found) == {classes[0]}
        moved = pd.DataFrame(np.tile(mask, (N, 1)), columns=classes[::-1])
        for available in (pd.Series(mask, index=classes[::-1]), moved):
            if available.ndim == 1 or classes is not names:
                assert set(model.predict(X, available=available)) == {classes[2]}
        assert len(set(model.predict(X, available=pd.Series(classes[:2], index=[8, 9])))) == 2
        for available in (pd.Series(mask, index=others), moved.set_axis(others, axis=1)):
            with pytest.raises(ValueError, match="got one of .* or pass .to_numpy"):
                model.predict(X, available=available)


def test_frames_without_values_are_named():
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    lazy, grades = pl.DataFrame(X).lazy(), np.arange(N) % 2
    of_grades = pl.DataFrame({"y": grades}).lazy()
    for name, call in {
        "X": lambda: NDCGBoost().fit(lazy, grades),
        "y": lambda: HistGradientBoostingRanker().fit(X, of_grades),
        "qid": lambda: NDCGBoost().fit(X, grades, qid=of_grades),
        "y_true": lambda: ndcg_score(of_grades, X[:, 0], qid=np.arange(N) // 10),
        "sample_weight": lambda: OnlineLogisticRegression().fit(X, grades, of_grades),
    }.items():
        with pytest.raises(ValueError, match=rf"^{name} has no values yet: pass {name}.collect"):
            call()
    with pytest.raises(ValueError, match="X has no values yet"):
        HoeffdingTreeClassifier().fit(X, grades).predict(lazy)
    words = pa.table({"a": X[:, 0], "b": pa.array(["u", "v"] * (N // 2)).dictionary_encode()})
    with pytest.raises(ValueError, match="the column 'b' of X must have numbers: encode"):
        HoeffdingTreeClassifier().fit(words, grades)


def test_integers_that_floats_make_equal_are_refused():
    """Times in nanoseconds that floats tell apart are scores."""
    times, qid = 2**60 + np.arange(N), np.arange(N) // 10
    grades = np.arange(N) % 3
    assert ndcg_score(grades, times + 512 * np.arange(N), qid=qid) == ndcg_score(
        grades, np.arange(N), qid=qid
    )
    columns = np.column_stack([times, times + 1])
    for call in (
        lambda: ndcg_score(grades, times, qid=qid),
        lambda: rank_loss(np.eye(2)[grades % 2], columns),
        lambda: kendall_tau_score(columns, columns),
        lambda: NDCGBoost().fit(X, times, qid=qid),
    ):
        with pytest.raises(ValueError, match="integers beyond .* are equal as float64"):
            call()


def test_scorers_of_relevance_take_sparse_targets():
    relevant = (RANKINGS == 1).astype(int)
    model = PredtronLabelRanker().fit(X, relevant)
    for scorer in (ndcg_scorer, average_precision_scorer, rank_loss_scorer):
        assert scorer(model, X, sparse.csr_array(relevant)) == scorer(model, X, relevant)


@pytest.mark.parametrize("weights", [{0: 1, 1: 2}, "balanced", "1"])
def test_weights_of_classes_are_no_weights_of_samples(weights):
    for model in (OnlineLogisticRegression(), HonestTreeClassifier()):
        with pytest.raises(ValueError, match="sample_weight must be numbers"):
            model.fit(X, np.arange(N) % 2, sample_weight=weights)


def test_dates_are_no_numbers():
    qid, classes = np.repeat(np.arange(4), 10), np.arange(N) % 2
    dates = np.datetime64("2020-01-01") + np.arange(3 * N).reshape(N, 3)
    for model, data in (
        (NDCGBoost(), (classes, qid)),
        (PlackettLuceRanker(alpha=1.0), (RANKINGS,)),
        (LabelwiseRanker(Ridge()), (RANKINGS,)),
        (OnlineLogisticRegression(), (classes,)),
        (HonestTreeClassifier(), (classes,)),
    ):
        for values in (dates, dates - dates[0, 0]):
            with pytest.raises(ValueError, match="X must have numbers, got .*64"):
                model.fit(values, *data)
            with pytest.raises(ValueError, match="X must have numbers, got .*64"):
                model.fit(X, *data).predict(values)


@pytest.mark.parametrize(
    "model",
    [
        HonestTreeClassifier(random_state=0),
        HonestForestClassifier(n_estimators=2, random_state=0),
        PredtronClassifier(random_state=0),
        BanditronClassifier(random_state=0),
        AssembleClassifier(n_estimators=2, random_state=0),
    ],
)
def test_small_differences_of_large_numbers_are_said(model):
    """As in a column of times in seconds, of which single precision makes one number."""
    labels = np.where(np.arange(N) % 4 == 0, -1, X[:, 0] > 0)
    constant = np.c_[X, np.full(N, 1.7e9)]
    with warnings.catch_warnings():
        # Some models also warn of values that are larger than others.
        warnings.filterwarnings("ignore", "feature . of X is .* times as large as the usual")
        with pytest.warns(UserWarning, match="the feature 1 of X has values of the size 1.7e.09"):
            model.fit(np.add(X, [0, 1.7e9, 0]), labels)
        model.fit(np.add(X, [0, 1000, 0]), labels)
        model.fit(pd.DataFrame(constant), labels)


def test_marks_of_unlabeled_samples_that_are_classes_are_said():
    codes, hidden = (X[:, 0] > 0).astype(int), np.arange(N) % 4 > 0
    model = AssembleClassifier(n_estimators=2, random_state=0)
    names = np.array(["a", "b"], dtype=object)[codes]
    for mark in ("-1", "", "NaN", "Unlabeled"):
        with pytest.warns(UserWarning, match=f"most are of the class '{mark}'"):
            model.fit(X, np.where(hidden, mark, names))
    for mark in (-999, 99, 255):
        with pytest.warns(UserWarning, match=f"most are of the class '{mark}'"):
            model.fit(X, np.where(hidden, mark, codes))
    for classes in (codes, names, np.where(hidden, 2, codes), np.where(hidden, "c", names)):
        model.fit(X, classes)


@pytest.mark.parametrize(
    "refiner", [RankingRefiner(n_estimators=2, random_state=0), ResidualRefiner()]
)
def test_a_refiner_without_a_ranking_says_so(refiner):
    grades = np.arange(N) % 3
    with pytest.warns(UserWarning, match="no ranking to refine"):
        alone = refiner.fit(X, grades).predict(X)
    given = refiner.fit(X, grades, base_scores=np.zeros(N))
    given = (
        given.predict(X, np.zeros(N)) if isinstance(refiner, ResidualRefiner) else given.predict(X)
    )
    assert_array_equal(alone, given)


def test_feedback_in_other_rows_than_the_samples_is_said():
    frame, shown = pd.DataFrame(X), Exploration(np.arange(N) % 2, np.full(N, 0.5))
    rewards, classes = pd.Series(np.arange(N) % 2), pd.Series(np.arange(N) % 2)
    steps = [("scale", StandardScaler()), ("model", LinUCBClassifier())]
    fitted = OnlinePipeline(steps).fit(X, rewards)
    for call in (
        lambda y: LinUCBClassifier().partial_fit_feedback(frame, shown, y, classes=[0, 1]),
        lambda y: OnlinePipeline([("model", LinUCBClassifier())]).partial_fit(frame, y),
        lambda y: OnlinePipeline(steps).fit(frame, y),
        lambda y: OnlinePipeline(steps).progressive_fit(frame, y),
        lambda y: fitted.score(frame, y),
        lambda y: fitted.partial_fit_feedback(frame, shown, y),
        lambda y: progressive_val_score(LinUCBClassifier(), frame, y, scoring="accuracy"),
        lambda y: progressive_reward_score(LinUCBClassifier(), frame, y),
    ):
        call(rewards)
        with pytest.warns(UserWarning, match="have the same row labels in another order"):
            call(classes[::-1])


@pytest.mark.filterwarnings("ignore:the maximum likelihood")
def test_orderings_are_told_from_positions():
    orderings = np.argsort(RANDOM.normal(size=(N, 4)), axis=1) + 1.0
    filled = np.where(np.arange(4) < 1 + np.arange(N)[:, None] % 3, orderings, np.nan)
    for ranker in (PlackettLuceRanker(alpha=1.0), PairwiseRanker(HistogramTreeClassifier())):
        with pytest.warns(UserWarning, match="pass sklrank.label_ranking.positions_from_orderings"):
            ranker.fit(X, filled)
        ranker.fit(X, rankdata(filled, axis=1, nan_policy="omit"))


def test_features_that_vary_by_less_than_trees_see_are_said():
    y = np.arange(N) % 3
    for model in (MCSSBClassifier(n_estimators=2), HonestTreeClassifier(), LabelwiseRanker()):
        target = RANKINGS if isinstance(model, LabelwiseRanker) else y
        with pytest.warns(UserWarning, match="the feature 0 of X has values .* Standardize it"):
            model.fit(1e-9 * X, target)
    with pytest.warns(UserWarning, match="feature 0 of X is .* times as large as the usual"):
        ProbabilisticLabelTree(random_state=0).fit(X * [1e6, 1, 1], y)
