"""A weight of all samples of a query, or of a sample of labels, stands for copies in means."""

import numpy as np
import pytest

from sklrank import metrics

RANDOM = np.random.RandomState(0)
QID = RANDOM.permutation(np.repeat(np.arange(12), 5))
GRADES, SCORES = RANDOM.randint(3, size=60), RANDOM.randint(9, size=60).astype(float)
GRADES[QID == 3] = 0
OF_QUERIES = RANDOM.randint(3, size=12)
OF_DOCUMENTS = OF_QUERIES[QID]
ROWS = np.concatenate([np.flatnonzero(OF_DOCUMENTS > copy) for copy in range(2)])
COPIES = QID[ROWS] + 100 * np.repeat([0, 1], [(OF_DOCUMENTS > copy).sum() for copy in range(2)])

OF_LISTS = [
    name
    for name in metrics.__all__
    if name.endswith(("_score", "_loss")) and "qid" in getattr(metrics, name).__kwdefaults__
]


class Fixed:
    """A ranker whose scores are the only feature."""

    def predict(self, X):
        return X[:, 0]


@pytest.mark.parametrize("name", OF_LISTS)
def test_weights_of_queries(name):
    metric = getattr(metrics, name)
    expected = metric(GRADES[ROWS], SCORES[ROWS], qid=COPIES, k=2)
    weighted = metric(GRADES, SCORES, qid=QID, k=2, sample_weight=OF_DOCUMENTS)
    assert weighted == pytest.approx(expected)
    assert metric(GRADES, SCORES, qid=QID, k=2) != pytest.approx(expected, rel=1e-3)
    # The weight of a query is the mean of those of its documents.
    halves = np.where(np.arange(60) % 2, 1.9, 0.1)
    means = np.bincount(QID, halves) / 5
    mean = metric(GRADES, SCORES, qid=QID, sample_weight=means[QID])
    assert metric(GRADES, SCORES, qid=QID, sample_weight=halves) == pytest.approx(mean)


@pytest.mark.parametrize("name", [name for name in OF_LISTS if name != "dcg_score"])
def test_scorers(name):
    scorer = getattr(metrics, f"{name.removesuffix('_score').removesuffix('_loss')}_scorer")
    value = getattr(metrics, name)(GRADES, SCORES, qid=QID, sample_weight=OF_DOCUMENTS)
    weights = {"qid": QID, "sample_weight": OF_DOCUMENTS}
    assert scorer(Fixed(), SCORES[:, np.newaxis], GRADES, **weights) == pytest.approx(value)


@pytest.mark.parametrize(
    "name", ["rank_loss", "kendall_tau_score", "kendall_tau_distance", "spearman_distance"]
)
def test_weights_of_samples(name):
    metric = getattr(metrics, name)
    random = np.random.RandomState(1)
    y = random.randint(2, size=(30, 4)) if name == "rank_loss" else random.uniform(size=(30, 4))
    scores, weights = random.normal(size=(30, 4)), random.randint(3, size=30)
    copies = np.repeat(np.arange(30), weights)
    expected = metric(y[copies], scores[copies])
    assert metric(y, scores, sample_weight=weights) == pytest.approx(expected)
    assert metric(y, scores) != pytest.approx(expected, rel=1e-6)
