"""Document rankers that are fitted to blocks: the same rankers as from all documents at once."""

import errno
import os
from functools import partial

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from sklrank.boosting import HistGradientBoostingRanker, NDCGBoost
from sklrank.boosting._hist_gradient_boosting import parts as _training_parts
from sklrank.boosting._hist_gradient_boosting import race as _tree_race
from sklrank.streaming import fit_blocks
from sklrank.tree._histogram import binning as _binning

Ranker = partial(HistGradientBoostingRanker, random_state=0)
rng = np.random.RandomState(0)
X = rng.standard_normal((900, 11))
X[:, 3] = rng.randint(6, size=900)
X[rng.random_sample(X.shape) < 0.05] = np.nan
# Query 0 has more documents than the smallest blocks and parts.
QID = rng.randint(50, size=900) * (rng.random_sample(900) < 0.7)
Y = np.digitize(np.nan_to_num(X[:, 0] * X[:, 1]) + np.nan_to_num(X[:, 3]) % 2, [0, 1])
BLOCKS = np.split(np.arange(900), [7, 250, 251, 600])


def blocks_of(*arrays):
    return [tuple(array[rows] for array in arrays) for rows in BLOCKS]


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(_training_parts, "PART_SIZE", 200)


def assert_same_rankers(fitted, expected, documents=X):
    assert len(fitted.estimators_) == len(expected.estimators_)
    for one, other in zip(fitted.estimators_, expected.estimators_):
        nodes = one.tree_.nodes(), other.tree_.nodes()
        assert all(np.array_equal(nodes[0][name], nodes[1][name]) for name in nodes[0])
    np.testing.assert_array_equal(fitted.predict(documents), expected.predict(documents))
    np.testing.assert_array_equal(fitted.validation_loss_curve_, expected.validation_loss_curve_)
    # Sums over the queries, in another order.
    np.testing.assert_allclose(fitted.loss_curve_, expected.loss_curve_, rtol=1e-12)
    for name in ("n_iter_", "stop_reason_", "max_leaf_nodes_", "n_features_in_"):
        assert getattr(fitted, name) == getattr(expected, name)


PARAMETERS = [
    {"n_jobs": 2},
    {"loss": "lambda", "max_leaf_nodes": 8},
    {"loss": "xe-ndcg", "init": "linear", "max_features": 0.5},
    {"loss": "spearman", "init": None, "max_leaf_nodes": 4},
    {"loss": "expected-ndcg", "early_stopping": True, "max_leaf_nodes": 4},
    {
        "early_stopping": True,
        "scoring": "ndcg",
        "validation_fraction": 0.5,
        "n_iter_no_change": 1,
        "max_leaf_nodes": 4,
    },
    {"categorical_features": [3], "monotonic_cst": [1] + [0] * 10, "max_leaf_nodes": 8},
]


@pytest.mark.parametrize("parameters", PARAMETERS, ids=lambda each: next(iter(each)))
def test_blocks_give_the_same_ranker(parameters):
    rankers = [
        HistGradientBoostingRanker(max_iter=6, random_state=0, **parameters) for _ in range(2)
    ]
    expected = rankers[1].fit(X, Y, qid=QID)
    assert_same_rankers(fit_blocks(rankers[0], blocks_of(X, Y, QID)), expected)


def test_documents_are_drawn_as_in_memory(monkeypatch):
    monkeypatch.setattr(_binning, "MAX_VALUES", 100)
    monkeypatch.setattr(_tree_race, "RACE_SAMPLES", 200)
    expected = HistGradientBoostingRanker(max_iter=5, random_state=3).fit(X, Y, qid=QID)
    fitted = HistGradientBoostingRanker(max_iter=5, random_state=3)
    assert_same_rankers(fit_blocks(fitted, blocks_of(X, Y, QID)), expected)


def test_kinds_of_blocks(tmp_path):
    """Memory maps, sparse matrices, lists and frames, from a function that returns an iterator."""
    documents = np.nan_to_num(X).astype(np.float32)
    np.save(tmp_path / "X.npy", documents)
    on_disk = np.load(tmp_path / "X.npy", mmap_mode="r")
    names = QID.astype(str)
    expected = Ranker(max_iter=3, max_leaf_nodes=8, init=None).fit(documents, Y, names)
    kinds = {
        "arrays": documents.__getitem__,
        "lists": lambda rows: documents[rows].tolist(),
        "sparse": lambda rows: sparse.csr_matrix(documents[rows]),
        "memory maps": lambda rows: on_disk[rows[0] : rows[-1] + 1],
    }
    for take in kinds.values():
        blocks = [(take(rows), Y[rows], names[rows]) for rows in BLOCKS]
        ranker = Ranker(max_iter=3, max_leaf_nodes=8, init=None)
        fit_blocks(ranker, lambda blocks=blocks: iter(blocks), folder=tmp_path)
        assert_same_rankers(ranker, expected, documents)
    frame = pd.DataFrame(documents, columns=[f"x{i}" for i in range(11)])
    blocks = [(frame.iloc[rows], pd.Series(Y[rows]), names[rows]) for rows in BLOCKS]
    ranker = fit_blocks(Ranker(max_iter=3, max_leaf_nodes=8, init=None), blocks)
    assert ranker.feature_names_in_.tolist() == list(frame.columns)
    assert_same_rankers(ranker, expected.fit(frame, Y, names), frame)
    assert [path.name for path in tmp_path.iterdir()] == ["X.npy"]


@pytest.mark.parametrize("loss", ["logistic", "lambda", "xe-ndcg", "spearman"])
def test_documents_have_weights(loss):
    weights = np.random.RandomState(0).randint(4, size=900) / 3
    expected = Ranker(loss, max_iter=3, max_leaf_nodes=4)
    expected.fit(X, Y, qid=QID, sample_weight=weights)
    fitted = fit_blocks(Ranker(loss, max_iter=3, max_leaf_nodes=4), blocks_of(X, Y, QID, weights))
    assert_same_rankers(fitted, expected)


@pytest.fixture(scope="module")
def fitted():
    return Ranker(max_iter=2).fit(X, Y, qid=QID)


def changed_block(block):
    """Return the blocks with another second one."""
    return [(X[:9], Y[:9], QID[:9]), block]


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ([], "blocks: .* at least one block"),
        (changed_block((X[:0], Y[:0], QID[:0])), "block 1: its arrays .* at least 1, got .0"),
        (changed_block((X[:9], Y[:8], QID[:9])), r"block 1: .* got \[9, 8, 9\]"),
        (changed_block((X[:9, 1:], Y[:9], QID[:9])), "block 1: X has 10 features"),
        (changed_block((np.full((9, 11), np.inf), Y[:9], QID[:9])), "block 1: .*infinity"),
        (changed_block((X[:9], Y[:9])), r"block 1: it must be a tuple \(X, y, qid\)"),
        (changed_block((X[:9], Y[:9], QID[:9], Y[:9])), "all must have sample_weight, or none"),
        (changed_block((X[:9], Y[:9], QID[:9].astype(np.uint64))), "same data type in all blocks"),
        (iter(changed_block((X[:9], Y[:9], QID[:9]))), "read several times"),
        (5, "^blocks: 'int' object is not iterable"),
    ],
)
def test_bad_blocks_are_named_and_change_nothing(blocks, message, fitted, fingerprint):
    before = fingerprint(fitted)
    with pytest.raises(ValueError, match=message):
        fit_blocks(fitted, blocks)
    assert fingerprint(fitted) == before


def test_blocks_must_not_change():
    sizes = iter([9, 9, 9, 8])

    def blocks():
        return [(X[:n], Y[:n], QID[:n]) for n in (next(sizes), next(sizes))]

    with pytest.raises(ValueError, match="block 1: it has more or fewer rows than before"):
        fit_blocks(Ranker(max_iter=2), blocks)


@pytest.mark.parametrize(("changed", "reading"), [(0, 3), (1, 2), (1, 3), (2, 2), (2, 3)])
def test_blocks_of_equal_size_must_not_be_shuffled(changed, reading, fitted, fingerprint):
    """Neither X, nor y or qid. X is not read before the second reading."""
    readings, before = iter([1, 2, 3]), fingerprint(fitted)
    arrays = [X[:300], Y[:300], QID[:300].astype(str)]
    blocks = [[array[rows] for array in arrays] for rows in np.split(np.arange(300), 3)]

    def read():
        order = [0, 2, 1] if next(readings) == reading else [0, 1, 2]
        for block, other in zip(blocks, order):
            yield tuple(blocks[other][i] if i == changed else block[i] for i in range(3))

    with pytest.raises(ValueError, match="block 1: it is another one than before: do not change"):
        fit_blocks(fitted, read)
    assert fingerprint(fitted) == before


def test_a_full_disk_is_an_error(monkeypatch, tmp_path, fitted, fingerprint):
    def refuse(*arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    before = fingerprint(fitted)
    monkeypatch.setattr(os, "posix_fallocate", refuse, raising=False)
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
        fit_blocks(fitted, blocks_of(X, Y, QID), folder=tmp_path)
    assert fingerprint(fitted) == before
    assert list(tmp_path.iterdir()) == []
    monkeypatch.delattr(os, "posix_fallocate")
    _training_parts.reserve(tmp_path / "codes", 2**20 + 5)
    assert (tmp_path / "codes").stat().st_size == 2**20 + 5


def test_truncated_parquet_files_are_named(tmp_path, fingerprint):
    dataset = pytest.importorskip("pyarrow.dataset")
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(11)]).assign(y=Y, qid=QID)
    paths = [tmp_path / f"{number}.parquet" for number in range(len(BLOCKS))]
    for path, rows in zip(paths, BLOCKS):
        frame.iloc[rows].to_parquet(path, index=False)

    def blocks():
        for path in paths:
            for batch in dataset.dataset(path).to_batches():
                part = batch.to_pandas()
                yield part.drop(columns=["y", "qid"]), part["y"], part["qid"]

    ranker = fit_blocks(Ranker(max_iter=2), blocks)
    expected = Ranker(max_iter=2).fit(frame.iloc[:, :11], Y, qid=QID)
    assert_same_rankers(ranker, expected, frame.iloc[:, :11])
    before = fingerprint(ranker)
    paths[2].write_bytes(paths[2].read_bytes()[:-100])
    with pytest.raises(ValueError, match=r"blocks: block 1: .*2\.parquet"):
        fit_blocks(ranker, blocks)
    assert fingerprint(ranker) == before


@pytest.mark.parametrize(
    "parameters",
    [
        {"loss": lambda y, scores, query: (scores, scores)},
        {"init": HistGradientBoostingRanker()},
        {"scoring": lambda *arguments, **options: 0.0},
        {"warm_start": True},
    ],
    ids=lambda each: next(iter(each)),
)
def test_what_needs_all_documents_is_refused(parameters):
    [name] = parameters
    with pytest.raises(ValueError, match=f"^{name}=.* needs all documents in one array: call fit"):
        fit_blocks(HistGradientBoostingRanker(**parameters), blocks_of(X, Y, QID))


def test_other_rankers_and_categories_of_frames_are_refused():
    with pytest.raises(TypeError, match="must be a HistGradientBoostingRanker, got NDCGBoost"):
        fit_blocks(NDCGBoost(), blocks_of(X, Y, QID))
    frame = pd.DataFrame({"color": pd.Categorical(["red", "blue"] * 450), "x": X[:, 0]})
    with pytest.raises(ValueError, match="'color' of X must have numbers: replace its categories"):
        fit_blocks(HistGradientBoostingRanker(), [(frame, Y, QID)])


@pytest.mark.parametrize("by_name", [True, False])
def test_codes_of_categories_in_frames(by_name):
    """The trees are those of arrays, as those of `fit`; blocks may have other codes."""
    codes = np.sort(np.random.RandomState(0).randint(5, size=len(Y))).astype(float)
    array = np.column_stack([codes, X[:, 1:4]])
    frame = pd.DataFrame(array, columns=["color", "a", "b", "c"])
    if not by_name:
        frame["color"] = frame["color"].astype("category")
    parameters = {"max_iter": 5, "max_leaf_nodes": 8, "random_state": 0}
    expected = Ranker(categorical_features=[0], **parameters).fit(array, Y, qid=QID)
    given = {"categorical_features": ["color"]} if by_name else {}
    blocks = [(frame.iloc[rows], Y[rows], QID[rows]) for rows in BLOCKS]
    ranker = fit_blocks(Ranker(**given, **parameters), blocks)
    assert_array_equal(ranker.predict(frame), expected.predict(array))
    in_memory = Ranker(**given, **parameters).fit(frame, Y, qid=QID)
    assert_array_equal(in_memory.predict(frame), expected.predict(array))


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(ValueError, match="folder must exist, got .*nowhere"):
        fit_blocks(Ranker(), blocks_of(X, Y, QID), folder=tmp_path / "nowhere")
