"""Training and scoring on batches: the same model as from all samples in one call."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB

from sklrank.feedback import Exploration
from sklrank.linear_model import BanditronClassifier, OnlineLogisticRegression
from sklrank.model_selection import progressive_val_score
from sklrank.online_boosting import AdaOLMR
from sklrank.streaming import fit_batches, iter_batches

X, Y = make_multilabel_classification(130, n_features=6, n_classes=3, random_state=0)
COLUMNS, LABELS = [f"x{i}" for i in range(6)], ["sea", "sky", "town"]
FRAME = pd.DataFrame(np.hstack([X, Y]), columns=COLUMNS + LABELS).astype(dict.fromkeys(LABELS, int))


def dask_frame(frame):
    return pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=3)


def dask_arrays(frame):
    array = pytest.importorskip("dask.array")
    return array.from_array(X, chunks=(50, 3)), array.from_array(Y, chunks=(50, 3))


def arrow(frame):
    return pytest.importorskip("pyarrow").Table.from_pandas(frame)


def parquet(frame, folder):
    dataset = pytest.importorskip("pyarrow.dataset")
    for i, part in enumerate((frame[:70], frame[:0], frame[70:])):
        part.to_parquet(folder / f"{i}.parquet", index=False)
    return dataset.dataset(sorted(map(str, folder.glob("*.parquet"))))


TABLES = {
    "pandas": lambda frame, folder: frame,
    "polars": lambda frame, folder: pytest.importorskip("polars").from_pandas(frame),
    "lazy polars": lambda frame, folder: pytest.importorskip("polars").from_pandas(frame).lazy(),
    "dask": lambda frame, folder: dask_frame(frame),
    "arrow table": lambda frame, folder: arrow(frame),
    "arrow reader": lambda frame, folder: arrow(frame).to_reader(),
    "parquet": parquet,
}
PAIRS = {
    "arrays": lambda: (X, Y),
    "csr": lambda: (sparse.csr_matrix(X), sparse.coo_matrix(Y)),
    "dask": lambda: dask_arrays(FRAME),
}


@pytest.fixture(scope="module")
def whole():
    return AdaOLMR(random_state=0).partial_fit(X, Y)


@pytest.mark.parametrize("kind", TABLES)
def test_tables_train_the_same_model_in_batches(kind, whole, tmp_path):
    if "polars" in kind and sklearn.__version__ < "1.9":
        pytest.skip("scikit-learn does not know polars 2")
    batches = iter_batches(TABLES[kind](FRAME, tmp_path), target=LABELS, batch_size=40)
    model = fit_batches(AdaOLMR(random_state=0), batches)
    assert model.classes_.tolist() == LABELS
    assert model.feature_names_in_.tolist() == COLUMNS
    scores = model.decision_function(pd.DataFrame(X, columns=COLUMNS))
    np.testing.assert_array_equal(scores, whole.decision_function(X))


@pytest.mark.parametrize("kind", PAIRS)
def test_arrays_train_the_same_model_in_batches(kind):
    data = PAIRS[kind]()
    model = fit_batches(AdaOLMR(random_state=0), iter_batches(data, batch_size=33))
    given = X if kind != "csr" else sparse.csr_matrix(X)
    expected = AdaOLMR(random_state=0).partial_fit(given, Y)
    np.testing.assert_array_equal(model.decision_function(X), expected.decision_function(X))


def test_class_labels_are_a_column(tmp_path):
    frame = FRAME[COLUMNS].assign(kind=np.where(Y[:, 0], "sea", "land"))
    for table in (frame, arrow(frame)):
        batches = iter_batches(table, target="kind", batch_size=50)
        model = fit_batches(SGDClassifier(random_state=0), batches, classes=["land", "sea"])
        assert model.t_ == 131


def test_memory_maps_are_read_in_parts(tmp_path):
    path = tmp_path / "X.npy"
    np.save(path, X)
    mapped = np.load(path, mmap_mode="r")
    sizes = [len(part) for part, _ in iter_batches((mapped, Y), batch_size=60)]
    assert sizes == [60, 60, 10]


def test_chunks_of_dask_are_computed_once():
    array = pytest.importorskip("dask.array")
    computed = []

    def chunk(start):
        computed.append(start)
        return X[start : start + 65]

    delayed = pytest.importorskip("dask").delayed(chunk)
    parts = [array.from_delayed(delayed(start), (65, 6), float) for start in (0, 65)]
    with pytest.importorskip("dask").config.set(scheduler="synchronous"):
        batches = list(iter_batches((array.concatenate(parts), Y), batch_size=20))
    assert computed == [0, 65]
    assert [len(part) for part, _ in batches] == [20, 20, 20, 5] * 2
    for i in range(2):
        np.testing.assert_array_equal(np.concatenate([each[i] for each in batches]), (X, Y)[i])


def test_rows_of_frames_are_counted():
    frame = FRAME.set_index(np.linspace(-1, 1, len(FRAME)))
    batches = list(iter_batches((frame[COLUMNS], frame["sea"]), batch_size=60))
    assert [len(part) for part, _ in batches] == [60, 60, 10]
    np.testing.assert_array_equal(np.concatenate([part for part, _ in batches]), X)
    np.testing.assert_array_equal(np.concatenate([part for _, part in batches]), Y[:, 0])


def test_unknown_lengths_are_refused():
    frame = dask_frame(FRAME)
    for pair in (frame[COLUMNS], frame["sea"]), (frame[COLUMNS].values, frame["sea"].values):
        with pytest.raises(ValueError, match="of known lengths: call compute_chunk_sizes"):
            iter_batches(pair)
    pair = [part.compute_chunk_sizes() for part in pair]
    assert [len(y) for _, y in iter_batches(tuple(pair))] == list(frame.map_partitions(len))


def test_truncated_files_end_the_training(tmp_path):
    """The model keeps the batches that it has learned."""
    dataset = pytest.importorskip("pyarrow.dataset")
    file = tmp_path / "truncated.parquet"
    FRAME.to_parquet(file, index=False)
    data = dataset.dataset(file)
    file.write_bytes(file.read_bytes()[:1000])
    batches = (
        batch for table in (FRAME[:70], data) for batch in iter_batches(table, target=LABELS)
    )
    model = AdaOLMR(random_state=0)
    with pytest.raises((OSError, ValueError), match="truncated.parquet"):
        fit_batches(model, batches)
    assert model.n_rounds_ == 70
    scores = model.decision_function(FRAME[COLUMNS])
    expected = AdaOLMR(random_state=0).partial_fit(X[:70], Y[:70])
    np.testing.assert_array_equal(scores, expected.decision_function(X))


def test_bad_batches_are_named_and_the_model_keeps_the_others():
    model = OnlineLogisticRegression()
    bad = X.copy()
    bad[0, 0] = np.nan
    batches = [(X, Y[:, 0]), (X[:0], Y[:0, 0]), (bad, Y[:, 0])]
    with pytest.raises(ValueError, match="batch 2, after 130 samples: .*NaN"):
        fit_batches(model, batches)
    np.testing.assert_array_equal(
        model.predict_proba(X),
        OnlineLogisticRegression(shuffle=False).fit(X, Y[:, 0]).predict_proba(X),
    )
    with pytest.raises(ValueError, match=r"batch 0 must be a tuple \(X, y\), or .*, got list"):
        fit_batches(model, [[X, Y]])
    with pytest.raises(TypeError, match="partial_fit"):
        fit_batches(object(), [(X, Y)])
    with pytest.raises(TypeError, match="must have partial_fit_feedback .* got OnlineLogistic"):
        fit_batches(model, [(X, Y[:, 0], np.ones(len(X)))])


@pytest.mark.parametrize("model", [OnlineLogisticRegression(), SGDClassifier(random_state=0)])
@pytest.mark.parametrize("names", [np.arange(3), np.array(["a", "b", "c"])])
def test_batches_that_come_sorted_by_class_are_said(model, names):
    """In batches of one class, or of several; not those of classes that come again, or are few."""
    y = names[np.repeat([2, 0, 1], [60, 30, 40])]
    for size in (20, 130):
        with pytest.warns(UserWarning, match="samples come sorted by class.*shuffle"):
            fit_batches(clone(model), iter_batches((X, y), batch_size=size), classes=names)
    for valid in (np.roll(y, 3), names[np.arange(130) % 3]):
        fit_batches(clone(model), iter_batches((X, valid), batch_size=20), classes=names)
    fit_batches(clone(model), iter_batches((X[40:80], y[40:80]), batch_size=20), classes=names)


def test_batches_of_feedback_are_learned():
    actions = np.arange(len(X)) % 3
    shown = Exploration(actions, np.full(len(X), 1 / 3))
    rewards = Y[np.arange(len(X)), actions]
    log = [(X[rows], shown[rows], rewards[rows]) for rows in (slice(0, 70), slice(70, 130))]
    model = fit_batches(BanditronClassifier(), log, classes=range(3))
    expected = BanditronClassifier().partial_fit_feedback(X, shown, rewards, range(3))
    np.testing.assert_array_equal(model.decision_function(X), expected.decision_function(X))


@pytest.mark.parametrize(
    "data, options, message",
    [
        ((X, Y), {"batch_size": 0}, "batch_size must be a positive integer, got 0"),
        ((X, Y[:5]), {}, "equal numbers of rows"),
        ((X, Y), {"target": "y"}, "leave target out"),
        (FRAME, {}, "name it for a table"),
    ],
)
def test_bad_data_are_refused(data, options, message):
    with pytest.raises(ValueError, match=message):
        iter_batches(data, **options)


def test_other_types_of_data_are_refused():
    with pytest.raises(TypeError, match="data must be a pair .* got dict"):
        list(iter_batches({}, target="y"))
    for pair in (X.tolist(), Y.tolist()), (X, None), (np.array(1), np.array(2)):
        with pytest.raises(TypeError, match="data must be a pair .* of arrays"):
            iter_batches(pair)


@pytest.mark.parametrize("target", ["unknown", ["unknown"]])
@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_targets_that_are_no_columns_are_refused(kind, target):
    table = FRAME if kind == "pandas" else pytest.importorskip(kind)
    if kind == "polars":
        table = table.from_dict(FRAME.to_dict("list"))
    elif kind == "pyarrow":
        table = table.Table.from_pandas(FRAME)
    with pytest.raises(ValueError, match="target must be columns of data, .* 'unknown'"):
        next(iter_batches(table, target=target))


@pytest.mark.parametrize("target", [2, [2], [1, 2]])
def test_names_of_columns_may_be_numbers(target):
    table = pd.DataFrame(np.arange(12).reshape(4, 3))
    rows, found = next(iter_batches(table, target=target))
    assert np.array_equal(found, table[target])
    assert list(rows.columns) == [name for name in range(3) if name not in np.ravel(target)]


def test_progress_is_printed(capsys, monkeypatch):
    clock = iter(np.arange(1000.0))
    monkeypatch.setattr("sklrank.streaming.perf_counter", lambda: next(clock))
    fit_batches(GaussianNB(), iter_batches((X, Y[:, 0]), batch_size=65), classes=[0, 1], verbose=1)
    assert "65 samples" in capsys.readouterr().out


@pytest.mark.parametrize("scoring", ["rank_loss", ["precision@1", "subset_accuracy"]])
def test_batches_are_scored_as_all_samples_in_one_call(scoring):
    expected = progressive_val_score(AdaOLMR(random_state=0), X, Y, scoring=scoring)
    batches = iter_batches((X, Y), batch_size=30)
    values = progressive_val_score(AdaOLMR(random_state=0), batches, scoring=scoring)
    np.testing.assert_equal(values, expected)


def test_measures_of_all_samples_are_refused_for_batches():
    batches = iter_batches((X, Y))
    with pytest.raises(ValueError, match="scoring='f1_micro' needs all samples"):
        progressive_val_score(AdaOLMR(), batches, scoring=["rank_loss", "f1_micro"])
    with pytest.raises(ValueError, match="must be None if X is an iterator"):
        progressive_val_score(AdaOLMR(), batches, Y)
    with pytest.raises(ValueError, match="no samples"):
        progressive_val_score(AdaOLMR(), iter([]))


def test_no_samples(fingerprint):
    with pytest.raises(ValueError, match="batches has no samples, from which a model could start"):
        fit_batches(AdaOLMR(), iter([]))
    with pytest.raises(ValueError, match="batches has no samples"):
        fit_batches(GaussianNB(), [(X[:0], Y[:0])], classes=[0, 1])
    model = AdaOLMR(n_estimators=1).partial_fit(X, Y)
    before = fingerprint(model)
    assert fingerprint(fit_batches(model, [])) == before
