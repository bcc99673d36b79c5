"""Callbacks of scikit-learn and the lines of `verbose`: they see each step of training."""

import os
import threading
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone, is_regressor
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from test_common import ESTIMATORS, KINDS, OTHERS

from sklrank._boosters.rounds import Booster
from sklrank._rankers import DocumentRankerMixin
from sklrank.boosting import HistGradientBoostingRanker, NDCGBoost
from sklrank.feedback import Exploration
from sklrank.label_ranking import (
    CalibratedLabelRanker,
    ConformalRanks,
    ConformalTopLabels,
    LabelwiseRanker,
    PairwiseRanker,
    PlackettLuceRanker,
    StackedRanker,
)
from sklrank.label_ranking._label_ranker import LabelRanker
from sklrank.linear_model import (
    BanditronClassifier,
    LinUCBClassifier,
    PredtronLabelRanker,
    PredtronQueryRanker,
    SemiBanditRanker,
)
from sklrank.linear_model._predtron._base import KernelModel, LinearModel
from sklrank.metrics import rank_loss
from sklrank.model_selection import progressive_val_score
from sklrank.online_boosting import (
    AdaOLMR,
    TopKBBM,
)
from sklrank.tree import HonestForestClassifier, HonestForestRegressor, ProbabilisticLabelTree

HAS_CALLBACKS = find_spec("sklearn.callback") is not None
needs_callbacks = pytest.mark.skipif(not HAS_CALLBACKS, reason="scikit-learn < 1.9")

NOT_ITERATIVE = {
    "ConformalDocumentList",
    "HistogramTreeClassifier",
    "HistogramTreeRegressor",
    "HonestTreeClassifier",
    "HonestTreeRegressor",
    "LevelSplitsClassifier",
    "LevelSplitsRegressor",
    "OffPolicyClassifier",
    "PooledLabelSpreading",
    "ResidualRefiner",
}
ITERATIVE = [one for name, one in KINDS.items() if name not in NOT_ITERATIVE]
each_estimator = pytest.mark.parametrize(
    "estimator",
    ITERATIVE
    + [
        pytest.param(one, marks=pytest.mark.slow)
        for one in OTHERS
        if type(one).__name__ not in NOT_ITERATIVE
    ],
    ids=repr,
)
pytestmark = pytest.mark.usefixtures("few_trees")

N_SAMPLES, BATCH = 70, 20
IRIS, CLASSES = load_iris(return_X_y=True)
ORDER = np.random.RandomState(0).permutation(150)[:N_SAMPLES]
IRIS, CLASSES = IRIS[ORDER], CLASSES[ORDER]
POSITIONS = np.argsort(np.argsort(IRIS[:, :3] + [2.5, 4.0, 2.5], axis=1), axis=1) + 1
IRIS = scale(IRIS)


@pytest.fixture(autouse=True)
def small_batches(monkeypatch, set_constant):
    """Let the loops have several batches."""
    for name in ("BATCH", "SMALL_BATCH"):
        set_constant(name, BATCH)
    for model in (LinearModel, KernelModel):
        monkeypatch.setattr(model, "max_rows", BATCH)


def training_data(estimator):
    """Return the arguments of `fit`, all of N_SAMPLES rows."""
    if isinstance(estimator, DocumentRankerMixin):
        return IRIS, CLASSES, {"qid": np.arange(N_SAMPLES) // 10}
    if isinstance(estimator, LabelRanker):
        return IRIS, POSITIONS, {}
    if isinstance(estimator, PredtronLabelRanker):
        return IRIS, 3 - POSITIONS, {}
    if is_regressor(estimator):
        return IRIS, POSITIONS[:, 0].astype(float), {}
    return IRIS, CLASSES, {}


def with_seed(estimator):
    estimator = clone(estimator)
    return (
        estimator.set_params(random_state=0)
        if "random_state" in estimator.get_params()
        else estimator
    )


def fit(estimator, *callbacks):
    X, y, options = training_data(estimator)
    if callbacks:
        estimator.set_callbacks(*callbacks)
    return estimator.fit(X, y, **options)


def model_of(estimator):
    """Return the attributes without those of callbacks."""
    return {name: value for name, value in vars(estimator).items() if name != "_skl_callbacks"}


def predictions(estimator, X):
    method = "decision_function" if hasattr(estimator, "decision_function") else "predict"
    method = "predict_proba" if hasattr(estimator, "predict_proba") else method
    return getattr(estimator, method)(X)


def path_of(context):
    above = () if context.parent is None else path_of(context.parent)
    return (*above, (context.task_name, context.task_id))


class Recorder:
    """A callback that records events, and acts at a chosen event.

    Parameters
    ----------
    act : callable or None
        Function of an event (kind, path) that may raise, or return True to request a stop.
    """

    def __init__(self, act=None):
        self.events, self.data, self.processes = [], [], set()
        self.sizes, self.fitted, self.act = {}, {}, act

    def record(self, kind, context):
        self.processes.add((os.getpid(), threading.get_ident()))
        event = (kind, path_of(context))
        self.events.append(event)
        return self.act(event) if self.act else None

    def setup(self, estimator, context):
        self.record("setup", context)

    def teardown(self, estimator, context):
        self.record("teardown", context)

    def on_fit_task_begin(self, estimator, context, *, X=None, y=None, metadata=None):
        self.sizes[path_of(context)] = context.max_subtasks
        self.data.append((X, y, metadata))
        self.record("begin", context)

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        self.fitted[path_of(context)] = fitted_estimator
        return self.record("end", context)

    def paths(self, kind="end"):
        return [path for each, path in self.events if each == kind]


class Propagated(Recorder):
    """A callback that meta-estimators propagate to their estimators."""

    max_propagation_depth = None

    def __reduce__(self):
        return type(self), ()


def tasks(method, *levels, root=()):
    """Return the paths of tasks in the order of their ends; each level is (name, number)."""
    if not levels:
        return []
    (name, number), *deeper = levels
    root = root or ((method, 0),)
    paths = []
    for i in range(number):
        path = (*root, (name, i))
        paths += [*tasks(method, *deeper, root=path), path]
    return paths


def expected_tasks(fitted):
    """Return the paths of the tasks of `fit` in the order of their ends."""
    if isinstance(fitted, Booster):
        return tasks("fit", ("round", len(fitted.estimators_)))
    if isinstance(fitted, StackedRanker):
        n_fits = fitted.cv * len(fitted.weights_)
        last = [(("fit", 0), ("ranker", n_fits + i)) for i in range(len(fitted.estimators_))]
        return tasks("fit", ("ranker on a fold", n_fits)) + last
    if isinstance(fitted, ConformalRanks | ConformalTopLabels):
        return tasks("fit", ("ranker", 1))
    if isinstance(fitted, CalibratedLabelRanker):
        return [*tasks("fit", ("ranker on a fold", fitted.cv)), (("fit", 0), ("ranker", fitted.cv))]
    if isinstance(fitted, PlackettLuceRanker):
        return tasks("fit", ("alpha", len(getattr(fitted, "validation_scores_", [0]))))
    if isinstance(fitted, LabelRanker):
        # Pairs whose order is constant have no model.
        n_models = sum(model is not None for model in fitted.estimators_)
        name = "pair" if isinstance(fitted, PairwiseRanker) else "label"
        return tasks("fit", ("joint fit" if n_models == 1 else name, n_models))
    if isinstance(fitted, HonestForestClassifier | HonestForestRegressor):
        return tasks("fit", ("tree", fitted.n_estimators))
    if isinstance(fitted, PredtronQueryRanker):
        # Batches have a maximum number of documents, and there are ten documents in a query.
        n_rows, batch = N_SAMPLES // 10, BATCH // 10
    else:
        n_rows, batch = N_SAMPLES, BATCH
    batches = ("batch", -(-n_rows // batch))
    if hasattr(fitted, "max_iter"):
        return tasks("fit", ("pass", fitted.max_iter))
    return tasks("fit", batches)


# -- All estimators.


def test_estimators_have_callbacks_if_scikit_learn_has_them():
    for estimator in ESTIMATORS:
        assert hasattr(estimator, "set_callbacks") == HAS_CALLBACKS


@needs_callbacks
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", sorted(NOT_ITERATIVE & KINDS.keys()))
def test_estimators_without_steps_report_their_fit(name):
    recorder = Recorder()
    fit(with_seed(KINDS[name]), recorder)
    assert recorder.paths("begin") == recorder.paths("end") == [(("fit", 0),)]


@needs_callbacks
@each_estimator
def test_each_step_is_a_task(estimator, fingerprint):
    """Tasks begin and end in order, and the model is the same as without callbacks."""
    recorder = Recorder()
    fitted = fit(with_seed(estimator), recorder)
    expected = expected_tasks(fitted)
    root = (("fit", 0),)
    assert recorder.paths() == [*expected, root]
    assert len(expected) > 0
    assert recorder.events[0] == ("setup", root)
    assert recorder.events[1] == ("begin", root)
    assert recorder.events[-1] == ("teardown", root)
    # Each task has ended before the next one of its level begins, and its subtasks before it ends.
    running = []
    for kind, path in recorder.events[1:-1]:
        if kind == "begin":
            assert path[:-1] == (running[-1] if running else ())
            running.append(path)
        else:
            if path == root and isinstance(fitted, Booster):
                # Rounds that add no weak learner do not end.
                del running[1:]
            assert running.pop() == path
    assert running == []
    # Task ids of each level increase by one, and there are at most as many tasks as announced.
    for path in recorder.paths("begin"):
        subtasks = [each for each in recorder.paths() if each[:-1] == path]
        assert [each[-1][1] for each in subtasks] == list(range(len(subtasks)))
        assert len(subtasks) <= recorder.sizes[path]
    assert len(recorder.processes) == 1
    without = fit(with_seed(estimator))
    if hasattr(fitted, "partial_fit"):
        assert fingerprint(model_of(fitted)) == fingerprint(vars(without))
    X, _, _ = training_data(fitted)
    assert_array_equal(predictions(fitted, X), predictions(without, X))
    assert model_of(fitted).keys() == vars(without).keys()


@needs_callbacks
@each_estimator
def test_hooks_receive_the_arguments_of_fit(estimator):
    recorder = Recorder()
    fitted = fit(with_seed(estimator), recorder)
    X, y, options = training_data(fitted)
    for given_X, given_y, metadata in recorder.data:
        assert_array_equal(given_X, X)
        assert_array_equal(given_y, y)
        assert metadata.keys() == options.keys()


@needs_callbacks
@pytest.mark.parametrize(
    "estimator",
    [
        one
        for one in ITERATIVE
        if isinstance(one, Booster | HonestForestClassifier | HonestForestRegressor)
        and "n_estimators" in one.get_params()
    ],
    ids=repr,
)
def test_fitted_copies_after_each_round_or_tree(estimator):
    """They predict as a model with fewer rounds or trees, also when training is finished."""
    recorder = Recorder()
    fitted = fit(with_seed(estimator), recorder)
    X, y, options = training_data(estimator)
    for path, copy in recorder.fitted.items():
        n_steps = path[-1][1] + 1 if len(path) > 1 else len(fitted.estimators_)
        if n_steps % 7 == 1 or n_steps == len(fitted.estimators_):
            model = with_seed(estimator).set_params(n_estimators=n_steps)
            model.fit(X, y, **options)
            assert_array_equal(predictions(copy, X), predictions(model, X))
            assert len(copy.estimators_) == n_steps


ONLINE = [one for one in ITERATIVE if hasattr(one, "partial_fit")]
# The samples of queries are in another order; they are tested below.
IN_ORDER = [one for one in ONLINE if not isinstance(one, PredtronQueryRanker)]


@needs_callbacks
@pytest.mark.parametrize("estimator", IN_ORDER, ids=repr)
def test_fitted_copies_after_each_batch(estimator):
    """They predict as a model of `partial_fit`, also when training is finished."""
    recorder = Recorder()
    model = with_seed(estimator).set_params(shuffle=False)
    fit(clone(model), recorder)
    X, y, _ = training_data(estimator)
    classes = {} if isinstance(y[0], np.ndarray) else {"classes": np.unique(y)}
    firsts = range(0, N_SAMPLES, BATCH)
    for path, copy in recorder.fitted.items():
        if path[-1][0] == "batch" and dict(path).get("pass", 0) == 0:
            first = firsts[path[-1][1]]
            model.partial_fit(X[first : first + BATCH], y[first : first + BATCH], **classes)
            assert_allclose(predictions(copy, X), predictions(model, X), rtol=1e-9)
            if hasattr(model, "support_vectors_"):
                assert copy.support_vectors_.shape == model.support_vectors_.shape


@needs_callbacks
@pytest.mark.parametrize("estimator", ONLINE, ids=repr)
def test_fitted_copies_of_passes(estimator):
    """They predict as a model with fewer passes."""
    if not hasattr(estimator, "max_iter"):
        pytest.skip("there are no passes")
    if isinstance(estimator, SemiBanditRanker | ProbabilisticLabelTree):
        pytest.skip("the penalties or the weights of samples depend on the number of passes")
    recorder = Recorder()
    fit(with_seed(estimator).set_params(max_iter=3), recorder)
    X, y, options = training_data(estimator)
    for i in range(3):
        copy = recorder.fitted[("fit", 0), ("pass", i)]
        model = with_seed(estimator).set_params(max_iter=i + 1).fit(X, y, **options)
        assert_array_equal(predictions(copy, X), predictions(model, X))
        assert copy.n_iter_ == i + 1
        # It is a model of its own, which can continue.
        copy.set_callbacks()
        if hasattr(copy, "partial_fit"):
            copy.partial_fit(X, y, **options)


@needs_callbacks
@each_estimator
def test_errors_in_hooks_leave_a_fitted_model_unchanged(estimator, fingerprint):
    """The setup, the begin of a task, and the end of the first task and of the last one fail."""
    recorder = Recorder()
    fitted = fit(with_seed(estimator), recorder)
    before = fingerprint(model_of(fitted))
    begun, ended = (
        [event for event in recorder.events if event[0] == kind] for kind in ("begin", "end")
    )
    for failing in (recorder.events[0], begun[-1], ended[0], ended[-1]):

        def act(event, failing=failing):
            if event == failing:
                raise KeyboardInterrupt

        recorder = Recorder(act)
        with pytest.raises(KeyboardInterrupt):
            fit(fitted, recorder)
        assert recorder.events[-1][0] == "teardown"
        assert fingerprint(model_of(fitted)) == before
    unfitted = with_seed(estimator)
    with pytest.raises(KeyboardInterrupt):
        fit(unfitted, recorder)
    assert model_of(unfitted).keys() == estimator.get_params(deep=False).keys()


@needs_callbacks
@each_estimator
def test_requests_to_stop(estimator):
    """A stopped model is that of the steps so far; rankers need the fits of all labels."""
    recorder = Recorder(lambda event: event[0] == "end" and len(event[1]) == 2)
    estimator = with_seed(estimator)
    if hasattr(estimator, "max_iter") and not isinstance(estimator, LabelRanker):
        estimator.set_params(max_iter=3)
    fitted = fit(estimator, recorder)
    X, _, _ = training_data(fitted)
    n_steps = len([path for path in recorder.paths() if len(path) == 2])
    if isinstance(fitted, LabelRanker):
        assert n_steps == len(expected_tasks(fitted))
        return
    assert n_steps == 1
    [first] = [path for path in recorder.fitted if len(path) == 2]
    assert_array_equal(predictions(fitted, X), predictions(recorder.fitted[first], X))
    if hasattr(fitted, "max_iter"):
        assert fitted.n_iter_ == 1
    if isinstance(fitted, Booster):
        assert fitted.stop_reason_ == "a callback requested to stop"
    if hasattr(fitted, "estimators_") and not hasattr(fitted, "partial_fit"):
        assert len(fitted.estimators_) == 1


# -- Other training methods of online estimators.


@needs_callbacks
@pytest.mark.parametrize("method", ["partial_fit", "progressive_fit"])
@pytest.mark.parametrize("estimator", ONLINE, ids=repr)
def test_other_training_methods(estimator, method):
    """They have no passes. `progressive_fit` scores all samples: it cannot be stopped."""
    recorder = Recorder(lambda event: event[0] == "end")
    model = with_seed(estimator)
    if not hasattr(model, method):
        pytest.skip(f"there is no {method}")
    X, y, options = training_data(model)
    model.set_callbacks(recorder)
    result = getattr(model, method)(X, y, **options)
    is_query_ranker = isinstance(model, PredtronQueryRanker)
    n_batches = -(-7 // 2) if is_query_ranker else -(-N_SAMPLES // BATCH)
    all_batches = tasks(method, ("batch", n_batches))
    root = ((method, 0),)
    if method == "partial_fit":
        assert recorder.paths() == [all_batches[0], root]
    else:
        assert recorder.paths() == [*all_batches, root]
        assert_array_equal(result, getattr(with_seed(estimator), method)(X, y, **options))


@needs_callbacks
@pytest.mark.parametrize("model", [LinUCBClassifier(), TopKBBM(k=2)], ids=repr)
def test_feedback(model):
    shown = model.explore(IRIS, classes=range(3))
    rewards = (shown.actions == CLASSES.reshape(-1, *[1] * (shown.actions.ndim - 1))).astype(int)
    recorder = Recorder()
    model.set_callbacks(recorder).partial_fit_feedback(IRIS, shown, rewards)
    root = (("partial_fit_feedback", 0),)
    assert recorder.paths() == [*tasks("partial_fit_feedback", ("batch", 4)), root]
    copy = recorder.fitted[(*root, ("batch", 0))]
    assert copy.n_rounds_ == BATCH


@needs_callbacks
def test_errors_in_partial_fit_leave_whole_batches():
    """The model is that of the batches before the error, as for errors of weak learners."""

    def act(event):
        if event[0] == "end" and event[1][-1] == ("batch", 1):
            raise KeyboardInterrupt

    model = AdaOLMR("trees", n_estimators=3, random_state=0).partial_fit(IRIS, CLASSES)
    with pytest.raises(KeyboardInterrupt):
        model.set_callbacks(Recorder(act)).partial_fit(IRIS, CLASSES)
    assert model.n_rounds_ == N_SAMPLES + 2 * BATCH


@needs_callbacks
def test_invalid_data_begin_no_task():
    recorder = Recorder()
    with pytest.raises(ValueError, match="NaN"):
        AdaOLMR().set_callbacks(recorder).fit(IRIS * np.nan, CLASSES)
    assert {kind for kind, _ in recorder.events} == {"setup", "teardown"}


@needs_callbacks
@pytest.mark.parametrize("method", ["fit", "partial_fit", "partial_fit_feedback"])
@pytest.mark.parametrize("model", [LinUCBClassifier(), TopKBBM(k=2)], ids=repr)
def test_calls_of_other_threads_wait_before_their_hooks(model, method):
    """scikit-learn keeps the callbacks of a call as attributes of the estimator."""
    threads = []

    def call():
        getattr(model, method)(*arguments)

    def act(event):
        if not threads:
            threads.append(threading.Thread(target=call))
            threads[0].start()
            threads[0].join(0.1)

    model = clone(model)
    arguments = IRIS, CLASSES
    if method == "partial_fit_feedback":
        shown = clone(model).explore(IRIS, classes=range(3))
        arguments = IRIS, shown, np.zeros(shown.actions.shape, dtype=int), range(3)
    recorder = Recorder(act)
    model.set_callbacks(recorder)
    call()
    threads[0].join()
    kinds = [kind for kind, _ in recorder.events if kind in ("setup", "teardown")]
    assert kinds == ["setup", "teardown"] * 2


# -- Within scikit-learn.


@needs_callbacks
@pytest.mark.parametrize("n_jobs", [None, pytest.param(2, marks=pytest.mark.slow)])
def test_inner_estimators_are_fitted_by_joblib(n_jobs):
    """Hooks run in this thread, wherever the fits run, and callbacks are not pickled."""
    ranker = PairwiseRanker(LogisticRegression(), n_jobs=n_jobs)
    recorder = Recorder()
    fit(ranker, recorder)
    assert recorder.processes == {(os.getpid(), threading.get_ident())}
    assert recorder.paths()[:-1] == tasks("fit", ("pair", 2))
    assert recorder.fitted.popitem()[1].predict(IRIS).shape == POSITIONS.shape
    assert set(recorder.fitted.values()) == {None}


@needs_callbacks
@pytest.mark.parametrize("make", [ConformalRanks, ConformalTopLabels])
def test_the_inner_fit_is_within_its_task(make):
    recorder, before_fit = Recorder(), []

    class Inner(LabelwiseRanker):
        def fit(self, X, y):
            before_fit.extend(recorder.events)
            return super().fit(X, y)

    estimator = with_seed(make(Inner(Ridge())))
    fit(estimator, recorder)
    assert [kind for kind, path in before_fit if len(path) == 2] == ["begin"]


@needs_callbacks
def test_pipeline_and_search_propagate_callbacks():
    """The tasks of the estimator are subtasks of those of the pipeline and the search."""
    recorder = Propagated()
    pipe = make_pipeline(StandardScaler(), NDCGBoost(n_estimators=3))
    pipe.set_callbacks(recorder).fit(IRIS, CLASSES)
    step = (("fit", 0), ("fit", 1))
    assert [path for path in recorder.paths() if len(path) == 3] == [
        (*step, ("round", i)) for i in range(3)
    ]
    recorder = Propagated()
    search = GridSearchCV(AdaOLMR("trees", random_state=0), {"n_estimators": [1, 2]}, cv=2)
    search.set_callbacks(recorder).fit(IRIS, CLASSES)
    fits = {path[:-1] for path in recorder.paths() if path[-1][0] == "pass"}
    # Two folds of two candidates, and the best one on all samples.
    assert len(fits) == 5
    assert not hasattr(search.best_estimator_, "_skl_callbacks")


@needs_callbacks
@pytest.mark.parametrize("n_jobs", [None, pytest.param(2, marks=pytest.mark.slow)])
def test_scoring_monitor_in_a_search(n_jobs):
    from sklearn.callback import ScoringMonitor

    monitor = ScoringMonitor(scoring="accuracy")
    pipe = make_pipeline(StandardScaler(), BanditronClassifier(max_iter=2).set_callbacks(monitor))
    grid = {"banditronclassifier__exploration": [0.1, 0.2]}
    GridSearchCV(pipe, grid, cv=2, n_jobs=n_jobs).fit(IRIS, CLASSES)
    log = monitor.get_logs().data_as_pandas
    assert (log["task_name"] == "pass").sum() == 5 * 2
    assert log["accuracy"].between(0, 1).all()


@needs_callbacks
def test_scoring_monitor_with_weights_names_and_queries():
    """Scores are those of models of the first rounds, for the arguments of `fit`."""
    from sklearn.callback import ScoringMonitor

    monitor = ScoringMonitor(scoring=["accuracy"])
    X = pd.DataFrame(IRIS, columns=list("abcd"))
    weights = np.random.RandomState(0).uniform(size=N_SAMPLES)
    model = AdaOLMR("trees", n_estimators=5, random_state=0).set_callbacks(monitor)
    model.fit(X, CLASSES, sample_weight=weights)
    log = monitor.get_logs().data_as_pandas.query("task_name == 'batch'")
    prefix = AdaOLMR("trees", n_estimators=5, random_state=0)
    for first, found in zip(range(0, N_SAMPLES, BATCH), log["accuracy"]):
        rows = slice(first, first + BATCH)
        prefix.partial_fit(X[rows], CLASSES[rows], range(3), weights[rows])
        assert found == pytest.approx(prefix.score(X, CLASSES, sample_weight=weights))

    def ndcg(ranker, X, y, qid):
        return ranker.score(X, y, qid=qid)

    monitor = ScoringMonitor(scoring={"ndcg": ndcg})
    fitted = fit(NDCGBoost(n_estimators=4), monitor)
    log = monitor.get_logs().data_as_pandas.query("task_name == 'round'")
    X, y, options = training_data(fitted)
    scores = [
        clone(fitted).set_params(n_estimators=n).set_callbacks().fit(X, y, **options)
        for n in (1, 2, 3, 4)
    ]
    assert_allclose(log["ndcg"], [each.score(X, y, **options) for each in scores])


@needs_callbacks
def test_progress_bar(capsys):
    pytest.importorskip("rich")
    from sklearn.callback import ProgressBar

    AdaOLMR("trees", n_estimators=2, max_iter=2).set_callbacks(ProgressBar()).fit(IRIS, CLASSES)
    printed = capsys.readouterr().out
    for text in ("AdaOLMR - fit", "100%"):
        assert text in printed
    # A failed fit ends the thread of the bar.
    with pytest.raises(ValueError, match="NaN"):
        AdaOLMR().set_callbacks(ProgressBar()).fit(IRIS * np.nan, CLASSES)
    kinds = {type(thread).__name__ for thread in threading.enumerate()}
    assert "RichProgressMonitor" not in kinds


@needs_callbacks
def test_progressive_validation_reports_one_run():
    recorder = Recorder()
    progressive_val_score(AdaOLMR().set_callbacks(recorder), IRIS, CLASSES)
    assert recorder.paths()[:-1] == tasks("progressive_fit", ("batch", 4))


def test_without_callbacks_a_loop_is_not_wrapped():
    model, items = AdaOLMR(), [slice(0, 1)]
    assert model._track(items, "batch") is items


# -- The lines of `verbose`.


def test_verbose_of_early_stopping(capsys):
    """The grades of the validation set are in the opposite order, so that its loss rises."""
    ranker = HistGradientBoostingRanker(
        max_leaf_nodes=4, init=None, early_stopping=True, n_iter_no_change=2, verbose=1
    )
    X, y, options = training_data(ranker)
    ranker.fit(X, y, **options, X_val=X, y_val=y.max() - y, qid_val=options["qid"])
    [*rounds, last] = capsys.readouterr().out.splitlines()
    assert len(rounds) == len(ranker.validation_loss_curve_) - 1 > 1
    name = "[HistGradientBoostingRanker]"
    for i, line in enumerate(rounds):
        loss, step = ranker.loss_curve_[i + 1], ranker.estimator_weights_[i]
        validation_loss = ranker.validation_loss_curve_[i + 1]
        figures = f"objective {loss:.6g}, step {step:.6g}, validation loss {validation_loss:.6g}"
        assert line == f"{name} round {i + 1} of 100: {figures}"
    assert last == f"{name} {len(rounds)} rounds: {ranker.stop_reason_}"


INDICATORS = np.eye(3, dtype=int)[CLASSES]
INDICATORS[::7, 0] = 1


@pytest.mark.parametrize("target", [CLASSES, INDICATORS], ids=["classes", "indicators"])
@pytest.mark.parametrize("method", ["fit", "partial_fit", "progressive_fit"])
@pytest.mark.parametrize("booster", [AdaOLMR, TopKBBM])
def test_verbose_of_online_boosters(booster, method, target, capsys):
    """The loss is that of the samples before they are learned, over the batches so far."""

    def make(verbose):
        return booster("trees", n_estimators=3, shuffle=False, random_state=0, verbose=verbose)

    scores = make(0).progressive_fit(IRIS, target)
    losses = rank_loss(target, scores, average=False)
    getattr(make(1), method)(IRIS, target)
    lines = capsys.readouterr().out.splitlines()
    for i, n in enumerate((20, 40, 60, 70)):
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
        silent._check_X_and_start(IRIS[row], range(3) if i == 0 else None)
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
    for i, n in enumerate((20, 40, 60, 70)):
        loss = f"rank loss {np.mean(losses[:n]):.6g}, rounds {n}"
        assert lines[i] == f"[TopKBBM] batch {i + 1} of 4: {loss}"
