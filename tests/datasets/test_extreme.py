"""load_extreme_multilabel: rows with and without labels, and errors."""

import gzip

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from sklrank.datasets import load_extreme_multilabel

TEXT = "4 5 6\n5,0 0:0.5 4:1\n2 1:-2e-3\n 3:1.5\n0:1 2:2\n"


def write(tmp_path, text):
    path = tmp_path / "train.txt"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(
    "text",
    [TEXT, TEXT.replace("\n", "\r\n"), gzip.compress(TEXT.encode())],
    ids=["lines", "lines of Windows", "gzip"],
)
def test_rows_with_and_without_labels(tmp_path, text):
    found = load_extreme_multilabel(write(tmp_path, text))
    features = [[0.5, 0, 0, 0, 1], [0, -0.002, 0, 0, 0], [0, 0, 0, 1.5, 0], [1, 0, 2, 0, 0]]
    assert_array_equal(found.data.toarray(), features)
    labels = [[1, 0, 0, 0, 0, 1], [0, 0, 1, 0, 0, 0], [0] * 6, [0] * 6]
    assert_array_equal(found.target.toarray(), labels)
    assert (found.data.dtype, found.target.dtype) == (np.float64, np.int64)
    X, Y = load_extreme_multilabel(write(tmp_path, text), return_X_y=True)
    assert (X != found.data).nnz == (Y != found.target).nnz == 0


@pytest.mark.parametrize("empty", ["", " "])
def test_samples_without_labels_and_features(tmp_path, empty):
    """They are empty lines; those at the end are none."""
    X, Y = load_extreme_multilabel(
        write(tmp_path, f"3 2 2\n1 0:2\n{empty}\n0 1:3\n\n"), return_X_y=True
    )
    assert_array_equal(X.toarray(), [[2, 0], [0, 0], [0, 3]])
    assert_array_equal(Y.toarray(), [[0, 1], [0, 0], [1, 0]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TEXT.replace("5,0", "6,0"), "line 2: labels must be from 0 to 5, got 6,0.*The first line"),
        (TEXT.replace("5,0", "-1"), "line 2: labels must be from 0 to 5, got -1"),
        (TEXT.replace("4:1", "5:1"), "line 2: the largest feature index is 4"),
        (TEXT.replace("1:-2e-3", "x"), "line 3: .*invalid literal"),
        (TEXT.replace("1:-2e-3", "1:x"), "line 3: could not convert"),
        (TEXT.replace("5,0", "a,0"), "line 2: invalid literal"),
        (TEXT.replace("5,0", "0_5,0"), "line 2: numbers cannot have underscores"),
        (TEXT.replace("4 5 6", "0_4 5 6"), "line 1: numbers cannot have underscores"),
        (TEXT.split("\n", 1)[1], "line 1: invalid literal"),
        (TEXT.replace("4 5 6", "4 5"), "line 1: the first line must have three numbers"),
        (TEXT.replace("4 5 6", "7 5 6"), "line 1: the file has 4 samples, not 7"),
    ],
)
def test_malformed_files(tmp_path, text, message):
    with pytest.raises(ValueError, match=rf"train.txt, {message}"):
        load_extreme_multilabel(write(tmp_path, text))
