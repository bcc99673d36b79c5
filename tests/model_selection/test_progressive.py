"""progressive_val_score: comparison with a plain loop that predicts, then learns."""

from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_iris, make_multilabel_classification
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression, SGDClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import shuffle

from sklrank.linear_model import OnlineLogisticRegression, OnlineRidgeClassifier
from sklrank.metrics import hinge_rank_loss, logistic_rank_loss, rank_loss
from sklrank.model_selection import progressive_val_score
from sklrank.online_boosting import AdaOLMR
from sklrank.tree import HoeffdingTreeClassifier

LOSSES = {
    "rank_loss": rank_loss,
    "hinge_rank_loss": hinge_rank_loss,
    "logistic_rank_loss": logistic_rank_loss,
}


class LabelCounter(BaseEstimator):
    """A classifier with the interface of a booster that scores labels by their frequency."""

    def progressive_fit(self, X, y, classes=None, sample_weight=None):
        self.calls_ = getattr(self, "calls_", 0) + 1
        if np.ndim(y) == 1:
            self.classes_ = np.unique(y if classes is None else classes)
            y = y[:, None] == self.classes_
        weight = np.ones(len(y)) if sample_weight is None else sample_weight
        start = getattr(self, "counts_", np.zeros(y.shape[1]))
        counts = start + np.cumsum(y * weight[:, None], axis=0)
        self.counts_ = counts[-1]
        return np.vstack([start, counts[:-1]])

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        self.progressive_fit(X, y, classes, sample_weight)
        return self

    def decision_function(self, X):
        if not hasattr(self, "counts_"):
            raise NotFittedError("no counts")
        return np.tile(self.counts_, (len(X), 1))


class Majority(BaseEstimator):
    """A classifier that predicts the most frequent class, without scores and `classes`."""

    def partial_fit(self, X, y):
        self.seen_ = np.append(getattr(self, "seen_", []), y)
        return self

    def predict(self, X):
        if not hasattr(self, "seen_"):
            raise NotFittedError("nothing seen")
        values, counts = np.unique(self.seen_, return_counts=True)
        return np.full(len(X), values[counts.argmax()])


def plain_loop(model, X, y, chunk_size, score, loss, **options):
    """Score each chunk, then learn it; the scores of the first chunk are zero."""
    losses, classes = [], np.unique(y)
    for start in range(0, len(X), chunk_size):
        rows = slice(start, start + chunk_size)
        scores = np.zeros((len(y[rows]), len(classes))) if start == 0 else score(model, X[rows])
        losses.append(loss(y[rows], scores, labels=classes, average=False))
        weights = {name: value[rows] for name, value in options.items()}
        model.partial_fit(X[rows], y[rows], classes=classes, **weights)
    return np.concatenate(losses)


@pytest.fixture(scope="module")
def iris():
    X, y = shuffle(*load_iris(return_X_y=True), random_state=0)
    return X[:60], np.array(["ant", "bee", "cow"])[y[:60]]


@pytest.fixture(scope="module")
def multilabel():
    return make_multilabel_classification(n_samples=50, n_classes=4, random_state=0)


@pytest.mark.parametrize(
    ("scoring", "chunk_size"),
    [*((name, 7) for name in LOSSES), *(("rank_loss", size) for size in (1, 60, 100))],
)
@pytest.mark.parametrize(
    ("model", "method"),
    [
        (SGDClassifier(random_state=0), "decision_function"),
        (MultinomialNB(), "predict_proba"),
    ],
)
def test_agrees_with_the_plain_loop(model, method, scoring, chunk_size, iris):
    X, y = iris

    def score(model, X):
        return getattr(model, method)(X)

    expected = plain_loop(clone(model), X, y, chunk_size, score, LOSSES[scoring])
    model = clone(model)
    losses = progressive_val_score(model, X, y, scoring=scoring, chunk_size=chunk_size)
    assert losses.shape == (60,)
    assert losses.dtype == np.float64
    assert_allclose(losses, expected)
    # The model is updated in place: it has learned all samples.
    whole = clone(model)
    for start in range(0, 60, chunk_size):
        rows = slice(start, start + chunk_size)
        whole.partial_fit(X[rows], y[rows], classes=np.unique(y))
    assert_array_equal(model.predict(X), whole.predict(X))


def test_two_classes_have_two_columns(iris):
    X, y = iris
    X, y = X[y != "cow"], y[y != "cow"]
    accuracy = progressive_val_score(SGDClassifier(random_state=0), X, y, scoring="accuracy")
    loss = progressive_val_score(SGDClassifier(random_state=0), X, y)
    assert_array_equal(loss[1:], 1 - accuracy[1:])
    assert loss[0] == 0.5
    shapes = []
    progressive_val_score(
        SGDClassifier(), X, y, scoring=lambda y, s: shapes.append(s.shape) or np.zeros(len(y))
    )
    assert shapes == [(len(y), 2)]


@pytest.mark.parametrize("chunk_size", [1, 9])
def test_accuracy_is_that_of_predict(chunk_size, iris):
    X, y = iris
    values = progressive_val_score(
        MultinomialNB(),
        X,
        y,
        scoring="accuracy",
        chunk_size=chunk_size,
        classes=["ant", "bee", "cow"],
    )
    model = MultinomialNB()
    expected = []
    for start in range(0, 60, chunk_size):
        rows = slice(start, start + chunk_size)
        predicted = model.predict(X[rows]) if start else "ant"
        expected.append(predicted == y[rows])
        model.partial_fit(X[rows], y[rows], classes=["ant", "bee", "cow"])
    assert_array_equal(values, np.concatenate(expected).astype(float))


def test_fitted_model_continues(iris):
    X, y = (rows[:20] for rows in iris)
    model = SGDClassifier(random_state=0)
    progressive_val_score(model, X[:12], y[:12])
    rest = progressive_val_score(model, X[12:], y[12:])
    whole = progressive_val_score(SGDClassifier(random_state=0), X, y)
    assert_allclose(rest, whole[12:])


def test_fitted_model_with_fewer_classes_in_y(iris):
    X, y = iris
    model = MultinomialNB().fit(X, y)
    few = y != "bee"
    losses = progressive_val_score(model, X[few][:1], y[few][:1])
    expected = rank_loss(
        y[few][:1], MultinomialNB().fit(X, y).predict_proba(X[few][:1]), labels=model.classes_
    )
    assert_allclose(losses, expected)


@pytest.mark.parametrize("scoring", LOSSES)
def test_progressive_fit_is_called_once(scoring, iris, multilabel):
    for X, y in (iris, multilabel):
        model = LabelCounter()
        losses = progressive_val_score(model, X, y, scoring=scoring)
        assert model.calls_ == 1
        scores = LabelCounter().progressive_fit(X, y)
        assert_allclose(losses, LOSSES[scoring](y, scores, average=False))
        # Sample by sample or in one call, the protocol is the same.
        halves = LabelCounter()
        parts = [progressive_val_score(halves, X[:30], y[:30], scoring=scoring)]
        if y.ndim == 2:
            parts.append(progressive_val_score(halves, X[30:], y[30:], scoring=scoring))
            assert_allclose(np.concatenate(parts), losses)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("scoring", [*LOSSES, "accuracy"])
@pytest.mark.parametrize(
    "model",
    [HoeffdingTreeClassifier(grace_period=10), OnlineRidgeClassifier(), OnlineLogisticRegression()],
)
def test_progressive_fit_of_classifiers(model, scoring, n_classes, iris):
    """One call or sample by sample, with probabilities or, if available, with margins."""
    X, y = (rows[:25] for rows in iris)
    kept = (n_classes == 3) | (y != "cow")
    X, y = X[kept], y[kept]
    values = progressive_val_score(clone(model), X, y, scoring=scoring)

    class RowByRow(type(model)):
        progressive_fit = property()

    loop = RowByRow(**model.get_params())
    assert not hasattr(loop, "progressive_fit")
    assert_array_equal(values, progressive_val_score(loop, X, y, scoring=scoring))
    if hasattr(model, "decision_function"):
        return
    probabilities = clone(model).progressive_fit(X, y)
    assert probabilities.shape == (len(X), n_classes)
    if scoring == "accuracy":
        expected = np.unique(y)[probabilities.argmax(axis=1)] == y
    else:
        labels = np.unique(y)
        expected = LOSSES[scoring](y, probabilities, labels=labels, average=False)
    assert_array_equal(values, expected)


def test_chunks_of_a_model_with_progressive_fit(multilabel):
    """All samples of a chunk are scored before any of them is learned."""
    X, Y = multilabel
    model = LabelCounter()
    losses = progressive_val_score(model, X, Y, chunk_size=20)
    assert model.calls_ == 3
    before = [Y[: i // 20 * 20].sum(axis=0) for i in range(len(Y))]
    assert_allclose(losses, rank_loss(Y, before, average=False))


def test_predictions_are_one_hot_scores(iris):
    X, y = iris
    losses = progressive_val_score(Majority(), X, y, chunk_size=5)
    model, expected = Majority().partial_fit(X[:5], y[:5]), [np.full(5, 0.5)]
    for start in range(5, 60, 5):
        hit = model.predict(X[start : start + 5]) == y[start : start + 5]
        # An error: below the predicted class, tied with the third one.
        expected.append(np.where(hit, 0, 0.75))
        model.partial_fit(X[start : start + 5], y[start : start + 5])
    assert_allclose(losses, np.concatenate(expected))


def test_multilabel_models_of_scikit_learn(multilabel):
    X, Y = multilabel
    losses = progressive_val_score(
        MultiOutputClassifier(MultinomialNB()), X, Y, classes=[[0, 1]] * 4, chunk_size=10
    )
    model = MultiOutputClassifier(MultinomialNB()).partial_fit(X[:10], Y[:10], classes=[[0, 1]] * 4)
    second = np.column_stack([proba[:, 1] for proba in model.predict_proba(X[10:20])])
    assert_allclose(losses[10:20], rank_loss(Y[10:20], second, average=False))
    perceptrons = MultiOutputClassifier(SGDClassifier(random_state=0))
    losses = progressive_val_score(perceptrons, X, Y, classes=[[0, 1]] * 4, chunk_size=10)
    assert_array_equal(losses[:10], rank_loss(Y[:10], np.zeros((10, 4)), average=False))
    network = MLPClassifier(hidden_layer_sizes=5, random_state=0)
    losses = progressive_val_score(network, X, Y, classes=np.arange(4), chunk_size=10)
    assert losses.shape == (50,)


def test_containers(iris, multilabel):
    X, y = (rows[:20] for rows in iris)
    expected = progressive_val_score(MultinomialNB(), X, y)
    frame = pd.DataFrame(X, columns=list("abcd"), index=np.arange(20) + 7)
    assert_allclose(progressive_val_score(MultinomialNB(), frame, pd.Series(y)), expected)
    assert_allclose(progressive_val_score(MultinomialNB(), sparse.coo_array(X), y), expected)
    assert_allclose(progressive_val_score(MultinomialNB(), X.tolist(), y.tolist()), expected)
    X, Y = multilabel
    counts = progressive_val_score(LabelCounter(), X, Y)
    frame = pd.DataFrame(Y)
    types = ["Int64", "boolean", {0: bool}, "Sparse[int64]"]
    repeated = frame.set_axis(["a"] * frame.shape[1], axis=1)
    for same in (frame, frame.add_prefix("label "), repeated, *map(frame.astype, types)):
        assert_allclose(progressive_val_score(LabelCounter(), X, same), counts)


@pytest.mark.parametrize("chunk_size", [1, 5])
def test_names_of_labels_are_learned(chunk_size, multilabel):
    X, Y = multilabel
    frame = pd.DataFrame(Y).add_prefix("label ")
    model = AdaOLMR("trees", n_estimators=2, random_state=0)
    losses = progressive_val_score(model, X, frame, chunk_size=chunk_size)
    assert_array_equal(model.classes_, frame.columns)
    bare = AdaOLMR("trees", n_estimators=2, random_state=0)
    assert_array_equal(losses, progressive_val_score(bare, X, Y, chunk_size=chunk_size))


@pytest.mark.parametrize("is_sparse", [False, True])
def test_columns_are_named_in_any_order(is_sparse, multilabel):
    """The losses are those of a target in the order of the model, with its new labels last."""
    X, Y = multilabel
    names = np.array([f"label {j}" for j in range(Y.shape[1])])
    model = AdaOLMR(random_state=0).partial_fit(X[:20], Y[:20, 1:], classes=names[1:])
    order = [*range(1, Y.shape[1]), 0]
    expected = progressive_val_score(deepcopy(model), X[20:], Y[20:, order], classes=names[order])
    given = sparse.csr_array(Y[20:]) if is_sparse else Y[20:]
    losses = progressive_val_score(deepcopy(model), X[20:], given, classes=names)
    assert_array_equal(losses, expected)
    with pytest.raises(ValueError, match="classes has labels that the fitted model lacks"):
        progressive_val_score(deepcopy(model), X[20:], given, classes=names, chunk_size=10)
    model.partial_fit(X[:1], Y[:1], classes=names)
    chunked = [
        progressive_val_score(deepcopy(model), X[20:], Y[20:, j], classes=names[j], chunk_size=10)
        for j in (order, order[::-1])
    ]
    assert_array_equal(*chunked)


def test_a_column_of_class_labels_is_one_dimensional(iris):
    """It gives scikit-learn's warning."""
    X, y = (rows[:20] for rows in iris)
    expected = progressive_val_score(MultinomialNB(), X, y)
    with pytest.warns(DataConversionWarning, match="column-vector y was passed"):
        losses = progressive_val_score(MultinomialNB(), X, y[:, None])
    assert_array_equal(losses, expected)


def test_sample_weight_reaches_the_learner(iris, multilabel):
    X, y = iris
    weight = np.random.default_rng(0).random(60)
    losses = progressive_val_score(MultinomialNB(), X, y, sample_weight=weight, chunk_size=6)
    score = MultinomialNB.predict_proba
    expected = plain_loop(MultinomialNB(), X, y, 6, score, rank_loss, sample_weight=weight)
    assert_allclose(losses, expected)
    X, Y = multilabel
    losses = progressive_val_score(LabelCounter(), X, Y, sample_weight=weight[:50])
    scores = LabelCounter().progressive_fit(X, Y, sample_weight=weight[:50])
    assert_allclose(losses, rank_loss(Y, scores, average=False))


def test_callable_scoring(iris):
    X, y = iris

    def score_of_the_class(y_true, y_score):
        return y_score[np.arange(len(y_true)), np.searchsorted(["ant", "bee", "cow"], y_true)]

    values = progressive_val_score(MultinomialNB(), X, y, scoring=score_of_the_class)
    assert values[0] == 0
    model = MultinomialNB().fit(X[:-1], y[:-1])
    assert values[-1] == pytest.approx(model.predict_proba(X[-1:])[0, list("abc").index(y[-1][0])])


def test_verbose(iris, multilabel, capsys):
    X, y = iris
    losses = progressive_val_score(MultinomialNB(), X, y, verbose=1)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 11
    assert lines[0].startswith("[progressive_val_score] 6 of 60 samples, ")
    assert lines[-1] == f"[progressive_val_score] 60 samples, mean rank_loss {losses.mean():.6g}"
    progressive_val_score(LabelCounter(), *multilabel, verbose=1)
    assert len(capsys.readouterr().out.splitlines()) == 1
    progressive_val_score(MultinomialNB(), X, y)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"scoring": "auc"}, ValueError, r"scoring must be callable or one of \['accuracy', 'hin"),
        ({"scoring": ["rank_loss", "auc"]}, ValueError, "scoring must be callable or one of"),
        ({"chunk_size": 0}, ValueError, "chunk_size must be a positive number of samples, got 0"),
        ({"chunk_size": 2.5}, ValueError, "chunk_size must be a positive .* got 2.5"),
        ({"sample_weight": [1.0]}, ValueError, r"sample_weight must have .*\(60,\), got \(1,"),
        ({"estimator": LogisticRegression()}, TypeError, "estimator must have partial_fit"),
        ({"estimator": LinearRegression()}, TypeError, r"got LinearRegression\(\)"),
        (
            {"estimator": make_pipeline(StandardScaler(), SGDClassifier())},
            TypeError,
            "A Pipeline has neither: .* the final estimator",
        ),
        (
            {"estimator": Majority(), "sample_weight": np.ones(60)},
            TypeError,
            "sample_weight is not a parameter of .*Majority.*partial_fit",
        ),
        ({"estimator": Majority(), "classes": ["ant"]}, TypeError, "classes is not a parameter"),
        ({"y": np.zeros((60, 2, 2))}, ValueError, r"y must be class .* got shape \(60, 2, 2\)"),
        ({"y": np.zeros(3)}, ValueError, r"\[60, 3\]"),
        ({"y": np.full((60, 2), 2)}, ValueError, "y_true must hold 0 or 1 if it is 2-d, got 2"),
        *(
            ({"y": tags, "chunk_size": size}, ValueError, "MultiLabelBinarizer")
            for size in (1, 7)
            for tags in (
                [["a", "b"], ["c"], []] * 20,
                [["a", "b"], ["c", "a"]] * 30,
                [{"a"}, {"b"}] * 30,
                [(1, 2), (3,)] * 30,
                pd.Series([["a", "b"], ["c", "a"]] * 30),
            )
        ),
        ({"X": np.empty((0, 4)), "y": []}, ValueError, "X has no samples"),
        ({"classes": ["ant", "bee"]}, ValueError, "y has the class 'cow'.*'ant', 'bee'.*`classes`"),
        (
            {"y": np.zeros((60, 2)), "scoring": "accuracy"},
            ValueError,
            r"scoring='accuracy' needs class labels as a 1-d y, got y of shape \(60, 2\)",
        ),
    ],
)
def test_errors_come_before_learning(options, error, message, iris):
    X, y = iris
    arguments = {"estimator": MultinomialNB(), "X": X, "y": y, **options}
    before = set(vars(arguments["estimator"]))
    with pytest.raises(error, match=message):
        progressive_val_score(**arguments)
    assert set(vars(arguments["estimator"])) == before


@pytest.mark.parametrize("model", [SGDClassifier(random_state=0), OnlineLogisticRegression()])
def test_classes_that_a_fitted_model_lacks_are_found_before_learning(model, iris):
    """SGDClassifier would learn their samples as negatives of all its classes."""
    X, y = iris
    known = y != "cow"
    model = clone(model).partial_fit(X[known], y[known], classes=["ant", "bee"])
    before = model.coef_.copy()
    with pytest.raises(ValueError, match="y has the class 'cow', which has no column"):
        progressive_val_score(model, X, y, chunk_size=10)
    assert_array_equal(model.coef_, before)


def test_scoring_that_averages(iris):
    with pytest.raises(ValueError, match="scoring must return one value per sample"):
        progressive_val_score(MultinomialNB(), *iris, scoring=lambda y_true, y_score: 0.5)


def test_model_that_is_never_fitted(iris):
    """The model may be unfitted for the first chunk only."""

    class Forgetful(Majority):
        def partial_fit(self, X, y):
            return self

    with pytest.raises(NotFittedError):
        progressive_val_score(Forgetful(), *iris)


def test_scores_that_are_not_finite():
    """GaussianNB has no finite scores for classes it has not learned; the error has a remedy."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), np.arange(30) % 3
    with (
        np.errstate(all="ignore"),
        pytest.raises(ValueError, match="GaussianNB gave scores .* samples 1 to 1.*chunk_size"),
    ):
        progressive_val_score(GaussianNB(), X, y)
    assert progressive_val_score(GaussianNB(), X, y, chunk_size=15).shape == (30,)


def test_classes_of_every_kind():
    X, y = shuffle(*load_iris(return_X_y=True), random_state=0, n_samples=50)
    expected = progressive_val_score(OnlineLogisticRegression(), X, y)
    dates = np.array(["2020", "2021", "2022"], dtype="M8[D]")
    for labels, classes in (
        (dates[y], None),
        (dates[y], dates),
        (y, [[0], [1], [2]]),
        (y, pd.DataFrame([0, 1, 2])),
    ):
        model = OnlineLogisticRegression()
        assert_array_equal(progressive_val_score(model, X, labels, classes=classes), expected)
    model = OnlineLogisticRegression()
    for classes, message in (({0, 1, 2}, "classes must name"), ([0, 1, 2, 2], "each class once")):
        with pytest.raises(ValueError, match=message):
            progressive_val_score(model, X, y, classes=classes)
        assert not hasattr(model, "classes_")
