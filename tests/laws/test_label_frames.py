"""Labels in a dataframe: their names become the classes, and their order is checked."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline

from sklrank.label_ranking import (
    CalibratedLabelRanker,
    ConformalRanks,
    ConformalTopLabels,
    LabelwiseRanker,
    PairwiseRanker,
    PlackettLuceRanker,
    StackedRanker,
)
from sklrank.linear_model import PredtronClassifier, PredtronLabelRanker, SemiBanditRanker
from sklrank.metrics import kendall_tau_scorer, rank_loss_scorer
from sklrank.online_boosting import AdaOLMR, OnlineBMR, TopKAdaptive, TopKBBM

NAMES = ["bee", "cat", "ant", "dog"]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
SCORES = X @ RNG.normal(size=(3, 4))
RELEVANT = pd.DataFrame((SCORES > 0).astype(int), columns=NAMES)
POSITIONS = pd.DataFrame(SCORES, columns=NAMES).rank(axis=1, ascending=False)
ONLINE = [
    AdaOLMR("trees", n_estimators=3, random_state=0),
    OnlineBMR(n_estimators=3, random_state=0),
    TopKAdaptive("trees", n_estimators=3, k=2, random_state=0),
    SemiBanditRanker(k=2, random_state=0),
    TopKBBM("trees", n_estimators=3, k=2, random_state=0),
    PredtronClassifier(loss="hamming", random_state=0),
    PredtronLabelRanker(random_state=0),
]
# A ranker of labels, its target, and a scorer that matches columns by index.
CASES = [(model, RELEVANT, rank_loss_scorer) for model in ONLINE[:4]] + [
    (ONLINE[5], RELEVANT, None),
    (ONLINE[4], RELEVANT, None),
    (LabelwiseRanker(Ridge()), POSITIONS, kendall_tau_scorer),
    (PairwiseRanker(LogisticRegression()), POSITIONS, kendall_tau_scorer),
    (
        StackedRanker([("ridge", LabelwiseRanker(Ridge()))], random_state=0),
        POSITIONS,
        kendall_tau_scorer,
    ),
]
every_case = pytest.mark.parametrize(("model", "Y", "scorer"), CASES)
every_online = pytest.mark.parametrize("model", ONLINE)
rejected = pytest.raises(
    ValueError, match="column 'dog' at position 0, where the model has .*'bee'"
)


@every_case
def test_names_become_the_classes_and_change_nothing_else(model, Y, scorer):
    named = model.fit(X, Y)
    assert_array_equal(named.classes_, NAMES)
    if hasattr(named, "predict_topk"):
        assert set(named.predict_topk(X, k=2).ravel()) <= set(NAMES)
    score = named.score(X, Y)
    bare = model.fit(X, Y.to_numpy())
    assert_array_equal(bare.classes_, range(4))
    assert bare.score(X, Y) == score


@every_case
def test_scoring_rejects_another_order(model, Y, scorer):
    model.fit(X, Y)
    with rejected:
        model.score(X, Y[NAMES[::-1]])
    if scorer is not None:
        scorer(model, X, Y)
        with rejected:
            scorer(model, X, Y[NAMES[::-1]])


@every_online
def test_learning_rejects_another_order(model, fingerprint):
    model.fit(X, RELEVANT)
    before = fingerprint(model)
    with rejected:
        model.partial_fit(X, RELEVANT[NAMES[::-1]])
    assert fingerprint(model) == before
    model.partial_fit(X, RELEVANT).partial_fit(X, RELEVANT.to_numpy())


def test_the_first_difference_is_named():
    names = [f"label {i}" for i in range(8)]
    Y = pd.DataFrame((RNG.random((40, 8)) < 0.5).astype(int), columns=names)
    model = AdaOLMR("trees", n_estimators=2).fit(X, Y)
    with pytest.raises(
        ValueError, match="'label 7' at position 6, where the model has .*'label 6'"
    ):
        model.partial_fit(X, Y[[*names[:6], "label 7", "label 6"]])
    with pytest.raises(ValueError, match=r"\(missing: \['label 7'\], new: \['label 9'\]"):
        model.partial_fit(X, Y.to_numpy(), classes=[*names[:7], "label 9"])
    with pytest.raises(ValueError, match="y has 7 columns, and the model 8 labels"):
        model.score(X, Y[names[:7]])


@every_online
def test_columns_and_classes_must_agree(model):
    """Names in `classes` must be those of the columns; numbers in `classes` are indices."""
    fresh = type(model)(**model.get_params())
    with rejected:
        fresh.partial_fit(X, RELEVANT[NAMES[::-1]], classes=NAMES)
    assert_array_equal(fresh.partial_fit(X, RELEVANT, classes=range(4)).classes_, range(4))


@pytest.mark.parametrize("columns", [[0, 1, 2, 3], ["a", "b", "c", 3]])
def test_columns_without_string_names_are_numbered(columns):
    Y = RELEVANT.set_axis(columns, axis=1)
    assert_array_equal(AdaOLMR("trees", n_estimators=2).fit(X, Y).classes_, range(4))


RANKERS = [
    PlackettLuceRanker(alpha=1.0),
    LabelwiseRanker(Ridge()),
    PairwiseRanker(LogisticRegression()),
    StackedRanker([("ridge", LabelwiseRanker(Ridge()).set_output(predict="pandas"))], cv=2),
    CalibratedLabelRanker(LabelwiseRanker(Ridge()).set_output(predict="polars"), cv=2),
    ConformalRanks(PlackettLuceRanker(alpha=1.0).set_output(predict="pandas")),
    ConformalTopLabels(PlackettLuceRanker(alpha=1.0).set_output(predict="pandas")),
    PredtronLabelRanker(random_state=0),
    AdaOLMR("trees", n_estimators=2),
    SemiBanditRanker(k=2),
]


@pytest.mark.parametrize("ranker", RANKERS, ids=lambda ranker: type(ranker).__name__)
def test_predictions_are_frames_with_the_names_of_the_labels(ranker):
    """Also of clones; inner rankers may return frames, too. Predictions do not change."""
    pytest.importorskip("polars")
    y = RELEVANT if hasattr(ranker, "partial_fit") else POSITIONS
    frame = pd.DataFrame(X, index=np.arange(40) + 100)
    plain = clone(ranker).set_params(
        **{"random_state": 0} if "random_state" in vars(ranker) else {}
    )
    named = clone(clone(plain).set_output(predict="pandas"))
    polars = clone(plain).set_output(predict="polars").set_output()
    for model in (plain, named, polars):
        model.fit(frame, y)
    for name in ("predict", "predict_ranks", "decision_function", "predict_proba"):
        if hasattr(plain, name):
            expected, found = getattr(plain, name)(frame), getattr(named, name)(X=frame)
            assert isinstance(expected, np.ndarray)
            assert found.columns.tolist() == NAMES and found.index.tolist() == frame.index.tolist()
            assert_array_equal(found, expected)
            found = getattr(polars, name)(frame)
            assert found.columns == NAMES
            assert_array_equal(found.to_numpy(), expected)
    assert named.score(frame, y) == plain.score(frame, y)
    assert isinstance(named.set_output(predict="default").predict(frame), np.ndarray)
    with pytest.raises(ValueError, match="predict must be one of"):
        named.set_output(predict="list")


def test_predictions_without_a_column_for_each_label_remain_arrays():
    model = AdaOLMR("trees", n_estimators=2).set_output(predict="pandas").fit(X, X[:, 0] > 0)
    assert isinstance(model.decision_function(X), np.ndarray)
    assert isinstance(model.predict(X), np.ndarray)
    assert model.predict_ranks(X).columns.tolist() == [False, True]


def test_labels_without_names_are_columns_of_numbers():
    pytest.importorskip("polars")
    ranker = LabelwiseRanker(Ridge()).fit(X, POSITIONS.to_numpy())
    assert ranker.set_output(predict="pandas").predict(X).columns.tolist() == [0, 1, 2, 3]
    assert ranker.set_output(predict="polars").predict(X).columns == ["0", "1", "2", "3"]


@pytest.mark.skipif(sklearn.__version__ < "1.9", reason="scikit-learn does not know polars 2")
def test_columns_of_polars_by_name():
    """Of inner estimators that select them."""
    pl = pytest.importorskip("polars")
    random = np.random.RandomState(0)
    X = random.normal(size=(60, 2))
    frame = pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "name": ["x", "y"] * 30})
    Y = np.argsort(np.argsort(np.column_stack([X, -X]), axis=1), axis=1) + 1
    pipeline = make_pipeline(make_column_transformer(("passthrough", ["a", "b"])), Ridge())
    expected = LabelwiseRanker(Ridge()).fit(X, Y).decision_function(X)
    found = LabelwiseRanker(pipeline).fit(frame, Y).decision_function(frame)
    np.testing.assert_allclose(found, expected)
