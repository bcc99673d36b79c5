"""OnlinePipeline: its methods equal those of the last step on transformed samples."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import FunctionTransformer, MultiLabelBinarizer, StandardScaler
from test_common import run_scikit_learn_checks

from sklrank import expected_failed_checks
from sklrank.linear_model import SemiBanditRanker
from sklrank.online_boosting import AdaOLMR
from sklrank.pipeline import OnlinePipeline

WORDS = ["sea", "sand", "city", "night", "lights", "snow"]


@pytest.fixture
def tagged():
    """Return texts, and the indicator matrix of their tags with the tags' names."""
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(WORDS, 4)) for _ in range(60)]
    tags = [sorted(set(text.split()) & {"sea", "city", "snow"}) for text in texts]
    binarizer = MultiLabelBinarizer(classes=["sea", "city", "snow"])
    return texts, binarizer.fit_transform(tags), binarizer.classes_


PIPELINE = OnlinePipeline([("scale", StandardScaler()), ("rank", AdaOLMR(random_state=0))])


def test_scikit_learn_checks():
    run_scikit_learn_checks(PIPELINE, expected_failed_checks(PIPELINE))


def test_transformers_may_collect(tagged):
    """What has no values yet is refused by the estimators, not by a pipeline around them."""

    class Lazy:
        def collect(self):
            return np.arange(60.0)[:, np.newaxis]

    pipeline = OnlinePipeline([("collect", FunctionTransformer(Lazy.collect)), ("rank", AdaOLMR())])
    assert pipeline.fit(Lazy(), tagged[1]).progressive_fit(Lazy(), tagged[1]).shape == (60, 3)
    with pytest.raises(ValueError, match=r"pass X.collect\(\)"):
        AdaOLMR().fit(Lazy(), tagged[1])


def text_pipeline(ranker=None):
    return OnlinePipeline(
        [
            ("vectorize", HashingVectorizer(n_features=64)),
            ("rank", AdaOLMR(random_state=0) if ranker is None else ranker),
        ]
    )


def test_text_in_tags_out(tagged):
    texts, Y, names = tagged
    vectors = HashingVectorizer(n_features=64).transform(texts)
    model = AdaOLMR(random_state=0)
    pipeline = text_pipeline()
    expected = model.progressive_fit(vectors[:40], Y[:40], classes=names)
    np.testing.assert_array_equal(
        pipeline.progressive_fit(texts[:40], Y[:40], classes=names), expected
    )
    model.partial_fit(vectors[40:], Y[40:])
    assert pipeline.partial_fit(texts[40:], Y[40:]) is pipeline
    assert list(pipeline.classes_) == ["sea", "city", "snow"]
    for method, arguments in [
        ("decision_function", ()),
        ("predict", ()),
        ("predict_ranks", ()),
        ("predict_topk", (2,)),
    ]:
        np.testing.assert_array_equal(
            getattr(pipeline, method)(texts, *arguments),
            getattr(model, method)(vectors, *arguments),
        )


def test_feedback(tagged):
    texts, Y, names = tagged
    vectors = HashingVectorizer(n_features=64).transform(texts)
    pipeline = text_pipeline(SemiBanditRanker(k=2, random_state=0))
    model = SemiBanditRanker(k=2, random_state=0)
    shown = pipeline.explore(texts, classes=names)
    expected = model.explore(vectors, classes=names)
    np.testing.assert_array_equal(shown.actions, expected.actions)
    np.testing.assert_array_equal(pipeline.propensities(texts), model.propensities(vectors))
    rewards = np.take_along_axis(Y, shown.actions, axis=1)
    assert pipeline.partial_fit_feedback(texts, shown, rewards) is pipeline
    model.partial_fit_feedback(vectors, expected, rewards)
    np.testing.assert_array_equal(
        pipeline.decision_function(texts), model.decision_function(vectors)
    )


def test_transformers_are_updated_before_they_transform():
    rng = np.random.default_rng(0)
    X, y = 5 + 3 * rng.standard_normal((40, 3)), rng.integers(2, size=40)
    pipeline = OnlinePipeline(
        [("none", "passthrough"), ("scale", StandardScaler()), ("classify", GaussianNB())]
    )
    scaler, model = StandardScaler(), GaussianNB()
    for rows in (slice(25), slice(25, 40)):
        pipeline.partial_fit(X[rows], y[rows], classes=[0, 1])
        model.partial_fit(scaler.partial_fit(X[rows]).transform(X[rows]), y[rows], classes=[0, 1])
    np.testing.assert_array_equal(pipeline.named_steps["scale"].mean_, scaler.mean_)
    np.testing.assert_array_equal(
        pipeline.predict_proba(X), model.predict_proba(scaler.transform(X))
    )
    mean = scaler.mean_.copy()
    pipeline.predict(X + 1)
    np.testing.assert_array_equal(pipeline.named_steps["scale"].mean_, mean)


def test_transformers_without_partial_fit_must_be_fitted(tagged):
    texts, Y, _ = tagged
    pipeline = OnlinePipeline([("vectorize", TfidfVectorizer()), ("rank", AdaOLMR(random_state=0))])
    with pytest.raises(NotFittedError, match="'vectorize'.*has no partial_fit.*HashingVectorizer"):
        pipeline.partial_fit(texts, Y)
    assert not hasattr(pipeline.named_steps["rank"], "classes_")
    pipeline.fit(texts[:30], Y[:30])
    vocabulary = dict(pipeline.named_steps["vectorize"].vocabulary_)
    pipeline.partial_fit([*texts[30:], "unseen words"], np.vstack([Y[30:], [[1, 0, 0]]]))
    assert pipeline.named_steps["vectorize"].vocabulary_ == vocabulary
    assert pipeline.named_steps["rank"].n_rounds_ == 61


def test_transformers_without_state():
    X, y = np.arange(12.0).reshape(6, 2), [0, 1, 0, 1, 0, 1]
    pipeline = OnlinePipeline([("root", FunctionTransformer(np.sqrt)), ("classify", GaussianNB())])
    pipeline.partial_fit(X, y, classes=[0, 1])
    expected = GaussianNB().partial_fit(np.sqrt(X), y, classes=[0, 1])
    np.testing.assert_array_equal(pipeline.predict_proba(X), expected.predict_proba(np.sqrt(X)))


@pytest.mark.parametrize(
    "name",
    [
        "explore",
        "partial_fit",
        "partial_fit_feedback",
        "predict_ranks",
        "predict_topk",
        "progressive_fit",
        "propensities",
    ],
)
def test_methods_that_the_last_step_lacks_are_hidden(name):
    pipeline = OnlinePipeline([("scale", StandardScaler()), ("regress", LinearRegression())])
    with pytest.raises(AttributeError, match=name):
        getattr(pipeline, name)


def test_clone_and_pickle(tagged):
    texts, Y, names = tagged
    pipeline = text_pipeline().partial_fit(texts[:30], Y[:30], classes=names)
    assert not hasattr(clone(pipeline).named_steps["rank"], "classes_")
    restored = pickle.loads(pickle.dumps(pipeline))
    for model in (pipeline, restored):
        model.partial_fit(texts[30:], Y[30:])
    np.testing.assert_array_equal(
        restored.decision_function(texts), pipeline.decision_function(texts)
    )


@pytest.mark.parametrize("method", ["partial_fit", "progressive_fit"])
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_refused_calls_leave_the_transformers_as_they_were(method):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(30, 3)), rng.integers(2, size=(30, 4))
    pipeline = clone(PIPELINE).partial_fit(X, Y)
    before = pipeline.decision_function(X)
    bad = X.copy()
    bad[0, 0] = np.nan
    for samples, target in [(bad, Y), (X + 100, Y[:29]), (X + 100, 3 * Y)]:
        with pytest.raises(ValueError):
            getattr(pipeline, method)(samples, target)
        np.testing.assert_array_equal(pipeline.decision_function(X), before)


def test_labels_that_are_not_available_and_those_that_go(tagged):
    texts, Y, names = tagged
    ranker = SemiBanditRanker(k=1, random_state=0)
    pipeline = text_pipeline(ranker).partial_fit(texts, Y, classes=names)
    vectors, available = HashingVectorizer(n_features=64).transform(texts), [True, False, True]
    for method, arguments in {"predict_topk": [2], "predict_ranks": [], "propensities": []}.items():
        given = getattr(pipeline, method)(texts, *arguments, available=available)
        expected = getattr(ranker, method)(vectors, *arguments, available=available)
        np.testing.assert_array_equal(given, expected)
    assert "city" not in pipeline.predict_topk(texts, 2, available=available)
    assert pipeline.drop_classes(["city"]) is pipeline
    assert list(pipeline.classes_) == ["sea", "snow"] == list(ranker.classes_)
