"""The lines that `verbose` prints."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from sklrank.boosting import AdaRank, HistGradientBoostingRanker, NDCGBoost, RankBoost
from sklrank.feedback import Exploration
from sklrank.linear_model import PredtronClassifier
from sklrank.metrics import rank_loss
from sklrank.online_boosting import AdaOLMR, TopKBBM, _online_booster, _top_k
from sklrank.semi_supervised import MCSSBClassifier

N_SAMPLES = 150
IRIS, CLASSES = load_iris(return_X_y=True)
ORDER = np.random.RandomState(0).permutation(N_SAMPLES)
IRIS, CLASSES = IRIS[ORDER], CLASSES[ORDER]
QID = np.arange(N_SAMPLES) // 10


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    """Let the loops have several batches."""
    for module in (_online_booster, _top_k):
        monkeypatch.setattr(module, "BATCH", 40)


def test_verbose_of_boosting(capsys):
    ranker = NDCGBoost(None, 12, verbose=2, random_state=0).fit(IRIS, CLASSES, qid=QID)
    lines = capsys.readouterr().out.splitlines()
    for i in range(12):
        loss, step = ranker.loss_curve_[i + 1], ranker.estimator_weights_[i]
        assert lines[i] == f"[NDCGBoost] round {i + 1} of 12: objective {loss:.6g}, step {step:.6g}"
    assert ranker.stop_reason_ == "n_estimators rounds were fitted"
    assert lines[12:] == [f"[NDCGBoost] 12 rounds: {ranker.stop_reason_}"]


def test_verbose_of_early_stopping(capsys):
    """The grades of the validation set are in the opposite order, so that its loss rises."""
    ranker = HistGradientBoostingRanker(
        max_leaf_nodes=4, linear_start=False, early_stopping=True, n_iter_no_change=2, verbose=2
    )
    ranker.fit(IRIS, CLASSES, qid=QID, X_val=IRIS, y_val=2 - CLASSES, qid_val=QID)
    [*rounds, last] = capsys.readouterr().out.splitlines()
    assert len(rounds) == len(ranker.validation_loss_curve_) - 1 > 1
    for line, loss in zip(rounds, ranker.validation_loss_curve_[1:]):
        assert line.endswith(f", validation loss {loss:.6g}")
    assert last.endswith(f"{ranker.stop_reason_}; the first {ranker.n_iter_} predict")


@pytest.mark.parametrize("algorithm", [AdaRank, MCSSBClassifier, RankBoost])
def test_verbose_of_other_boosters(algorithm, capsys):
    options = {} if algorithm is MCSSBClassifier else {"qid": QID}
    model = algorithm(n_estimators=2, verbose=1).fit(IRIS, CLASSES, **options)
    [*rounds, last] = capsys.readouterr().out.splitlines()
    assert last == f"[{algorithm.__name__}] {len(rounds)} rounds: {model.stop_reason_}"
    for i, line in enumerate(rounds):
        start = f"[{algorithm.__name__}] round {i + 1} of 2: "
        assert line.startswith(f"{start}objective {model.loss_curve_[i + 1]:.6g}, step ")


INDICATORS = np.eye(3, dtype=int)[CLASSES]
INDICATORS[::7, 0] = 1


@pytest.mark.parametrize("target", [CLASSES, INDICATORS], ids=["classes", "indicators"])
@pytest.mark.parametrize("method", ["fit", "partial_fit", "progressive_fit"])
@pytest.mark.parametrize("booster", [AdaOLMR, TopKBBM])
def test_verbose_of_online_boosters(booster, method, target, capsys):
    """The loss is that of the samples before they are learned, over the batches so far."""

    def make(verbose):
        return booster("trees", n_estimators=3, random_state=0, verbose=verbose)

    scores = make(0).progressive_fit(IRIS, target)
    losses = rank_loss(target, scores, average=False)
    getattr(make(1), method)(IRIS, target)
    lines = capsys.readouterr().out.splitlines()
    for i, n in enumerate((40, 80, 120, 150)):
        loss = f"rank loss {losses[:n].mean():.6g}, rounds {n}"
        assert lines[i] == f"[{booster.__name__}] batch {i + 1} of 4: {loss}"
    assert len(lines) == 4


def test_verbose_of_feedback(capsys):
    """The loss is that of the labels shown."""
    model = TopKBBM("trees", n_estimators=3, k=2, random_state=0, verbose=1)
    shown = Exploration(np.tile([2, 0], (N_SAMPLES, 1)), np.ones((N_SAMPLES, 2, 2)))
    rewards = INDICATORS[:, [2, 0]]
    model.partial_fit_feedback(IRIS, shown, rewards, classes=range(3))
    lines = capsys.readouterr().out.splitlines()
    silent = TopKBBM("trees", n_estimators=3, k=2, random_state=0)
    losses = []
    for i in range(N_SAMPLES):
        row = slice(i, i + 1)
        scores = silent._check_X_and_start(IRIS[row], range(3) if i == 0 else None, indicators=True)
        scores = silent.decision_function(IRIS[row])[0]
        best, other = np.flatnonzero(rewards[i] == 1), np.flatnonzero(rewards[i] == 0)
        wrong = [
            (scores[[2, 0][a]] < scores[[2, 0][b]]) + (scores[[2, 0][a]] == scores[[2, 0][b]]) / 2
            for a in best
            for b in other
        ]
        losses.append(np.mean(wrong) if wrong else 0.0)
        silent.partial_fit_feedback(
            IRIS[row], Exploration(shown.actions[row], shown.propensities[row]), rewards[row]
        )
    for i, n in enumerate((40, 80, 120, 150)):
        loss = f"rank loss {np.mean(losses[:n]):.6g}, rounds {n}"
        assert lines[i] == f"[TopKBBM] batch {i + 1} of 4: {loss}"


def test_verbose_of_predtron(capsys):
    model = PredtronClassifier(verbose=1, max_iter=2).fit(IRIS, CLASSES)
    lines = capsys.readouterr().out.splitlines()
    first = PredtronClassifier().fit(IRIS, CLASSES)
    mistakes = (first.n_mistakes_, model.n_mistakes_ - first.n_mistakes_)
    for i in range(2):
        loss = f"mean loss {mistakes[i] / 150:.6g}, mistakes {mistakes[i]}, rounds 150"
        assert lines[i] == f"[PredtronClassifier] pass {i + 1} of 2: {loss}"
    assert len(lines) == 2
    model.partial_fit(IRIS, CLASSES)
    [line] = capsys.readouterr().out.splitlines()
    assert line.startswith("[PredtronClassifier] pass 1 of 1: mean loss ")
