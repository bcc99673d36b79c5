"""ProgressiveValidationDisplay: running means of the losses of progressive_val_score."""

import sys

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.ensemble import BaggingClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import MultinomialNB
from sklearn.utils import shuffle

from sklrank.metrics import hinge_rank_loss, rank_loss
from sklrank.model_selection import ProgressiveValidationDisplay, progressive_val_score


@pytest.fixture(autouse=True)
def no_figure_left_open():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def iris():
    X, y = shuffle(*load_iris(return_X_y=True), random_state=0)
    return X[:40], y[:40]


@pytest.fixture
def losses():
    rng = np.random.default_rng(0)
    return {"several": rng.random((4, 30)), "single": rng.random(20)}


def test_draws_mean_and_band(losses):
    display = ProgressiveValidationDisplay(losses=losses, scoring_name="rank_loss").plot()
    running = np.array([[run[: t + 1].mean() for t in range(30)] for run in losses["several"]])
    assert_allclose(display.mean_so_far("several"), running)
    several, single = display.lines_
    assert_array_equal(several.get_xdata(), np.arange(1, 31))
    assert_allclose(several.get_ydata(), running.mean(axis=0))
    assert_allclose(single.get_ydata(), np.cumsum(losses["single"]) / np.arange(1, 21))
    band, none = display.bands_
    assert none is None
    low, high = (
        running.mean(axis=0) - running.std(axis=0),
        running.mean(axis=0) + running.std(axis=0),
    )
    corners = band.get_paths()[0].vertices
    for t in range(30):
        heights = corners[corners[:, 0] == t + 1, 1]
        assert_allclose([heights.min(), heights.max()], [low[t], high[t]])


def test_axes(losses):
    figure, ax = plt.subplots()
    display = ProgressiveValidationDisplay(losses=losses, scoring_name="hinge_rank_loss")
    drawn = display.plot(ax)
    assert drawn is display
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert ax.get_xlabel() == "Number of samples"
    assert ax.get_ylabel() == "Mean hinge rank loss so far"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["several", "single"]
    assert display.plot().ax_ is not ax


def test_from_estimators(iris):
    X, y = iris
    models = {"sgd": SGDClassifier(), "bayes": MultinomialNB()}
    display = ProgressiveValidationDisplay.from_estimators(
        models, X, y, scoring="hinge_rank_loss", n_seeds=3, random_state=0, chunk_size=5
    )
    assert list(display.losses) == ["sgd", "bayes"]
    assert display.scoring_name == "hinge_rank_loss"
    options = {"scoring": "hinge_rank_loss", "chunk_size": 5}
    for run in display.losses["bayes"]:
        assert_allclose(run, progressive_val_score(MultinomialNB(), X, y, **options))
    seeds = np.random.RandomState(0).randint(np.iinfo(np.int32).max, size=3)
    for run, seed in zip(display.losses["sgd"], seeds.tolist(), strict=True):
        model = SGDClassifier(random_state=seed)
        assert_allclose(run, progressive_val_score(model, X, y, **options))
    assert not hasattr(models["sgd"], "coef_")
    assert models["sgd"].random_state is None
    assert_allclose(display.lines_[0].get_ydata()[-1], np.mean(display.losses["sgd"]), rtol=1e-12)


def test_n_jobs_does_not_matter(iris):
    X, y = iris
    options = {"n_seeds": 2, "random_state": 1, "chunk_size": 10}
    one, two = (
        ProgressiveValidationDisplay.from_estimators([SGDClassifier()], X, y, n_jobs=n, **options)
        for n in (None, 2)
    )
    assert_array_equal(one.losses["SGDClassifier"], two.losses["SGDClassifier"])


def test_names_from_classes(iris):
    display = ProgressiveValidationDisplay.from_estimators(
        [MultinomialNB(), SGDClassifier(), MultinomialNB(alpha=2)], *iris, chunk_size=20
    )
    assert list(display.losses) == ["MultinomialNB 1", "SGDClassifier", "MultinomialNB 2"]


def test_seeds_reach_nested_estimators(iris):
    X, y = iris
    model = MultiOutputClassifier(SGDClassifier())
    display = ProgressiveValidationDisplay.from_estimators(
        [model],
        X,
        np.eye(3)[y],
        n_seeds=2,
        random_state=0,
        chunk_size=10,
        classes=[[0, 1]] * 3,
    )
    seed = np.random.RandomState(0).randint(np.iinfo(np.int32).max, size=2).tolist()[1]
    model = MultiOutputClassifier(SGDClassifier(random_state=seed))
    expected = progressive_val_score(model, X, np.eye(3)[y], chunk_size=10, classes=[[0, 1]] * 3)
    assert_allclose(display.losses["MultiOutputClassifier"][1], expected)


def test_from_predictions():
    rng = np.random.default_rng(0)
    Y, S = rng.random((20, 3)) < 0.5, rng.normal(size=(2, 20, 3))
    display = ProgressiveValidationDisplay.from_predictions(
        Y, {"one": S[0], "two": list(S)}, scoring="hinge_rank_loss"
    )
    expected = [hinge_rank_loss(Y, run, average=False) for run in S]
    assert_allclose(display.losses["one"], expected[:1])
    assert_allclose(display.losses["two"], expected)
    assert [band is None for band in display.bands_] == [True, False]


def test_from_predictions_of_class_labels():
    y = ["c", "a"]
    S = np.array([[0.0, 2.0, 1.0], [3.0, 1.0, 2.0]])
    display = ProgressiveValidationDisplay.from_predictions(y, {"m": S}, labels=["a", "b", "c"])
    assert_allclose(display.losses["m"], [[0.5, 0.0]])
    display = ProgressiveValidationDisplay.from_predictions(
        y, {"m": S}, labels=["a", "b", "c"], scoring="accuracy"
    )
    assert_allclose(display.losses["m"], [[0.0, 1.0]])
    display = ProgressiveValidationDisplay.from_predictions(["n", "p"], {"m": [0.5, 0.5]})
    assert_allclose(display.losses["m"], [[1.0, 0.0]])

    def first_column(y_true, y_score):
        return y_score[:, 0]

    display = ProgressiveValidationDisplay.from_predictions(y, {"m": S}, scoring=first_column)
    assert_allclose(display.losses["m"], S[:, 0][None])
    assert display.ax_.get_ylabel() == "Mean first column so far"


def test_errors(iris, losses):
    display = ProgressiveValidationDisplay
    for bad in ({}, [[0.1, 0.2]]):
        with pytest.raises(ValueError, match="losses must be a dict"):
            display(losses=bad)
    for bad in ([], np.zeros((2, 2, 2))):
        with pytest.raises(ValueError, match=r"losses\['m'\] must be of shape"):
            display(losses={"m": bad})
    for bad in (0, 1.5, "2", True):
        with pytest.raises(ValueError, match=f"n_seeds must be a positive integer.*, got {bad!r}"):
            display.from_estimators([MultinomialNB()], *iris, n_seeds=bad)
    with pytest.raises(TypeError, match="estimators must be a dict or a list"):
        display.from_estimators(MultinomialNB(), *iris)
    with pytest.raises(TypeError, match="estimator must have partial_fit"):
        display.from_estimators([BaggingClassifier()], *iris)
    with pytest.raises(ValueError, match="y_scores must be a dict"):
        display.from_predictions([[1, 0]], [[0.1, 0.2]])
    with pytest.raises(ValueError, match="labels must name"):
        display.from_predictions([0, 1], {"m": np.eye(3)[:2]}, scoring="accuracy")


def test_without_matplotlib(losses, monkeypatch):
    display = ProgressiveValidationDisplay(losses=losses)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match="needs matplotlib: run `pip install matplotlib`"):
        display.plot()


def test_agrees_with_the_plain_mean(iris):
    """The last point of a curve is the mean that papers report."""
    Y = np.eye(3)[iris[1]]
    scores = np.random.default_rng(0).random((40, 3))
    display = ProgressiveValidationDisplay.from_predictions(Y, {"m": scores})
    assert display.lines_[0].get_ydata()[-1] == pytest.approx(rank_loss(Y, scores))
