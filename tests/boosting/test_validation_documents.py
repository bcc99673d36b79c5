"""Validation documents of HistGradientBoostingRanker in pipelines, and a warning of their units."""

import warnings

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_array_equal
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from sklrank.boosting import HistGradientBoostingRanker
from sklrank.metrics import ndcg_score

RANDOM = np.random.RandomState(0)
QID = np.repeat(np.arange(60), 10)
# Five features of documents, and three of queries.
X = np.exp(np.hstack([RANDOM.normal(size=(600, 5)), RANDOM.normal(size=(60, 3))[QID]]))
Y = (X[:, 0] > 1).astype(int) + (X[:, 1] > 2)
TRAIN, VAL = QID < 40, QID >= 40


def make():
    return HistGradientBoostingRanker(max_iter=5, max_leaf_nodes=4, early_stopping=False)


def validation(X_val, chosen=VAL):
    return {"X_val": X_val, "y_val": Y[chosen], "qid_val": QID[chosen]}


def test_a_pipeline_transforms_validation_documents():
    scaler = StandardScaler().fit(X[TRAIN])
    expected = make().fit(
        scaler.transform(X[TRAIN]), Y[TRAIN], QID[TRAIN], **validation(scaler.transform(X[VAL]))
    )
    with sklearn.config_context(enable_metadata_routing=True):
        last = make().set_fit_request(X_val=True, y_val=True, qid_val=True)
        steps = [("scale", StandardScaler()), ("rank", last)]
        pipeline = Pipeline(steps, transform_input=["X_val"])
        pipeline.fit(X[TRAIN], Y[TRAIN], qid=QID[TRAIN], **validation(X[VAL]))
        assert_array_equal(pipeline[-1].validation_loss_curve_, expected.validation_loss_curve_)
        with pytest.warns(UserWarning, match="8 of 8 features .* transform_input"):
            pipeline.set_params(transform_input=None).fit(
                X[TRAIN], Y[TRAIN], qid=QID[TRAIN], **validation(X[VAL])
            )


@pytest.mark.parametrize("scaler", [StandardScaler(), MinMaxScaler()])
def test_warning_without_pipeline(scaler):
    A = scaler.fit_transform(X[TRAIN])
    with pytest.warns(UserWarning, match="not transformed as X"):
        make().fit(A, Y[TRAIN], QID[TRAIN], **validation(X[VAL]))
    missing = np.where(RANDOM.uniform(size=X.shape) < 0.3, np.nan, X)
    A = scaler.fit_transform(missing[TRAIN])
    A[:, 0] = np.nan
    with pytest.warns(UserWarning, match="7 of 7 features"):
        make().fit(A, Y[TRAIN], QID[TRAIN], **validation(missing[VAL]))


@pytest.mark.parametrize(
    "chosen",
    [
        QID == 41,
        QID >= 50,
        # The queries and the documents with the largest values of a feature.
        np.isin(QID, QID[np.argsort(-X[:, 5])[:150]]),
        X[:, 2] > np.quantile(X[:, 2], 0.8),
        X[:, :5].sum(axis=1) > np.quantile(X[:, :5].sum(axis=1), 0.7),
    ],
)
def test_no_warning_for_other_documents(chosen):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make().fit(X[~chosen], Y[~chosen], QID[~chosen], **validation(X[chosen], chosen))


def test_a_single_query_is_compared_with_a_single_query():
    qid = np.zeros(len(X))
    A = StandardScaler().fit_transform(X)
    with pytest.warns(UserWarning, match="not transformed as X"):
        make().fit(A, Y, qid, X_val=X[VAL], y_val=Y[VAL], qid_val=qid[VAL])


def test_codes_of_categories_have_no_units():
    codes = RANDOM.randint(3, size=(600, 4)) + np.where(VAL[:, np.newaxis], 5, 0)
    ranker = make().set_params(categorical_features=[0, 1, 2, 3])
    ranker.fit(codes[TRAIN], Y[TRAIN], QID[TRAIN], **validation(codes[VAL]))
    A = np.hstack([codes, X[:, :3]])
    ranker.fit(A[TRAIN], Y[TRAIN], QID[TRAIN], **validation(A[VAL]))
    ranker.set_params(categorical_features=None)
    with pytest.warns(UserWarning, match="4 of 7 features"):
        ranker.fit(A[TRAIN], Y[TRAIN], QID[TRAIN], **validation(A[VAL]))


@pytest.mark.parametrize(
    ("options", "grades"),
    [
        ({"scoring": "recall_at_k"}, [0, 1, 2]),
        ({"scoring": "hit_rate", "k": 50, "early_stopping": True}, [0, 1, 2]),
        ({"scoring": "average_precision"}, [1, 2, 3]),
    ],
)
@pytest.mark.filterwarnings("ignore:all documents are relevant")
def test_a_metric_that_is_the_same_for_all_rankings_is_refused(options, grades):
    """It chose a single tree."""
    rng = np.random.RandomState(0)
    X, y, qid = rng.normal(size=(200, 3)), rng.choice(grades, 200), np.repeat(np.arange(20), 10)
    with pytest.raises(ValueError, match="is the same for all rankings of the held-out queries"):
        HistGradientBoostingRanker(**options, random_state=0).fit(X, y, qid)
    with pytest.raises(ValueError, match="is the same for all rankings"):
        HistGradientBoostingRanker(scoring=options["scoring"]).fit(
            X, y, qid, X_val=X, y_val=np.arange(200) % 2 + 1, qid_val=qid
        )


def test_a_metric_is_no_scorer():
    X, y, qid = np.arange(90.0).reshape(-1, 1), np.arange(90) % 4, np.repeat(np.arange(9), 10)
    with pytest.raises(ValueError, match="ndcg_score is a metric: pass ndcg_scorer or its name"):
        HistGradientBoostingRanker(scoring=ndcg_score, random_state=0).fit(X, y, qid)
