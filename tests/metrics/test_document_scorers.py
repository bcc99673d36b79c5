"""Scorers of document rankers: they return the metric by query."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn import clone, config_context
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import LinearSVC

from sklrank import metrics
from sklrank.metrics import _documents

NAMES = [name[: -len("_scorer")] for name in _documents.__all__ if name.endswith("_scorer")]
SCORERS = {
    name: (getattr(metrics, f"{name}_scorer"), getattr(metrics, f"{name}_score")) for name in NAMES
}
every_scorer = pytest.mark.parametrize(("scorer", "metric"), SCORERS.values(), ids=SCORERS)


@pytest.fixture(scope="module")
def documents():
    rng = np.random.RandomState(0)
    X, qid = rng.normal(size=(100, 3)), rng.randint(9, size=100)
    y = np.digitize(X[:, 0] + rng.normal(size=100), [0, 2])
    return X, y, qid, Ridge().fit(X, y)


@every_scorer
def test_score_is_the_metric_by_query(scorer, metric, documents):
    X, y, qid, model = documents
    assert scorer(model, X, y, qid=qid) == metric(y, model.predict(X), qid=qid)
    weight = np.random.RandomState(1).uniform(size=100)
    assert scorer(model, X, y, qid=qid, sample_weight=weight) == metric(
        y, model.predict(X), qid=qid, sample_weight=weight
    )


@every_scorer
def test_a_dataframe_of_one_column_holds_documents(scorer, metric, documents):
    X, y, qid, model = documents
    frame = pd.DataFrame({"grade": y})
    assert scorer(model, X, frame, qid=qid) == metric(y, model.predict(X), qid=qid)
    with pytest.raises(ValueError, match="qid did not reach the scorer"):
        scorer(model, X, frame)


@every_scorer
def test_parameters_of_the_metric(scorer, metric, documents):
    X, y, qid, model = documents
    changed = clone(scorer).set_params(k=1, convention="letor", ties="worst")
    expected = metric(y, model.predict(X), qid=qid, k=1, convention="letor", ties="worst")
    for copy in (changed, clone(changed), pickle.loads(pickle.dumps(changed))):
        assert copy(model, X, y, qid=qid) == expected
    assert scorer(model, X, y, qid=qid) != expected
    with pytest.raises(ValueError, match="k must be"):
        clone(scorer).set_params(k=0)(model, X, y, qid=qid)


@every_scorer
def test_qid_is_required(scorer, metric, documents):
    X, y, _, model = documents
    with pytest.raises(ValueError, match=r"qid did not reach the scorer.*routing=True.*qid=qid"):
        scorer(model, X, y)
    one = np.zeros(100)
    assert scorer(model, X, y, qid=one) == metric(y, model.predict(X))


@every_scorer
def test_labels_of_samples(scorer, metric):
    X, Y = make_multilabel_classification(n_samples=60, n_classes=4, random_state=0)
    model = RandomForestClassifier(5, max_depth=2, random_state=0).fit(X, Y)
    scores = np.column_stack([proba[:, 1] for proba in model.predict_proba(X)])
    assert scorer(model, X, Y) == metric(Y, scores)


@every_scorer
def test_requests(scorer, metric):
    with config_context(enable_metadata_routing=True):
        requests = scorer.get_metadata_routing().score.requests
    assert requests == {"qid": True, "sample_weight": None}


def test_classifiers_are_scored_by_expected_grades():
    """Predicted classes would be ties of most documents."""
    rng = np.random.RandomState(0)
    X, qid = rng.normal(size=(200, 3)), np.repeat(np.arange(10), 20)
    grades = np.digitize(X[:, 0] + rng.normal(size=200), [0.5, 1.5])
    several, binary = LogisticRegression().fit(X, grades), LinearSVC().fit(X, grades > 0)
    expected = several.predict_proba(X) @ [0, 1, 2]
    assert metrics.ndcg_scorer(several, X, grades, qid=qid) == pytest.approx(
        metrics.ndcg_score(grades, expected, qid=qid)
    )
    assert metrics.average_precision_scorer(binary, X, grades, qid=qid) == pytest.approx(
        metrics.average_precision_score(grades, binary.decision_function(X), qid=qid)
    )
