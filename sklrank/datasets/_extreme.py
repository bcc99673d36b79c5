"""Loader of multilabel data sets of the extreme classification repository."""

from __future__ import annotations

import os
from array import array

import numpy as np
from scipy import sparse
from sklearn.utils import Bunch

from sklrank._typing import Loaded
from sklrank.datasets._text_files import read_svmlight

_HINT = (
    "The first line has the numbers of samples, features and labels. The others have labels, and "
    "pairs of a feature index and a value, all counted from 0, as in '3,17 0:0.5 4:1'."
)


def load_extreme_multilabel(path: str | os.PathLike, *, return_X_y: bool = False) -> Loaded:
    """Load a multilabel data set in the text format of the extreme classification repository.

    The first line has the numbers of samples, features and labels. Each other line has the labels
    of a sample, separated by commas, and its features, ``3,17 0:0.5 4:1``; the line of a sample
    without a label begins with a space. Indices start at 0.

    Parameters
    ----------
    path : str or path-like
        Path of the file, which is plain or compressed with gzip or bzip2.
    return_X_y : bool, default=False
        If True, return ``(data, target)`` instead of a Bunch.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        Data set with the attributes ``data``, a CSR matrix of shape (n_samples, n_features),
        float64, and ``target``, a CSR matrix of shape (n_samples, n_labels), int64, whose entries
        are 1 for relevant labels.
    (data, target) : tuple if ``return_X_y`` is True
        The attributes above.

    Raises
    ------
    ValueError
        If a line cannot be read, or contradicts the first one. The message states the file and the
        line.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklrank.datasets import load_extreme_multilabel
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "train.txt"
    ...     _ = path.write_text("2 3 4\\n0,3 0:0.5 2:1\\n 1:0.2\\n")
    ...     X, Y = load_extreme_multilabel(path, return_X_y=True)
    >>> X.toarray(), Y.toarray()
    (array([[0.5, 0. , 1. ],
           [0. , 0.2, 0. ]]), array([[1, 0, 0, 1],
           [0, 0, 0, 0]]))
    """
    path = os.fspath(path)
    samples = _Samples()
    X, _ = read_svmlight(path, samples.convert, True, _HINT)
    if samples.shape is None or X.shape[0] != samples.shape[0]:
        n_samples = 0 if samples.shape is None else samples.shape[0]
        raise ValueError(
            f"{path}, line 1: the file has {X.shape[0]} samples, not {n_samples}. {_HINT}"
        )
    n_samples, n_features, n_labels = samples.shape
    X.resize(n_samples, n_features)
    labels = np.array(samples.labels, dtype=np.intp)
    parts = np.ones(len(labels), dtype=np.int64), labels, np.array(samples.ends)
    Y = sparse.csr_matrix(parts, shape=(n_samples, n_labels))
    return (X, Y) if return_X_y else Bunch(data=X, target=Y)


class _Samples:
    """The labels of the lines, and the shape in the first line."""

    def __init__(self) -> None:
        self.shape: tuple[int, ...] | None = None
        self.labels = array("q")
        self.ends = [0]

    def convert(self, line: bytes) -> bytes:
        """Return a line that scikit-learn reads."""
        if b"_" in line:
            raise ValueError("numbers cannot have underscores")
        if self.shape is None:
            self.shape = tuple(map(int, line.split()))
            if len(self.shape) != 3 or min(self.shape) < 0:
                raise ValueError("the first line must have three numbers")
            return b""
        features = line.split()
        if not features and len(self.ends) > self.shape[0]:
            return b""  # A blank line at the end: others are samples without labels and features.
        has_labels = not (line[:1].isspace() or b":" in features[0])
        first = features.pop(0) if has_labels else b""
        labels = sorted({int(label) for label in first.split(b",") if first})
        _, n_features, n_labels = self.shape
        if labels and not 0 <= labels[0] <= labels[-1] < n_labels:
            raise ValueError(f"labels must be from 0 to {n_labels - 1}, got {first.decode()}")
        if features and not int(features[-1].partition(b":")[0]) < n_features:
            raise ValueError(f"the largest feature index is {n_features - 1}, of the first line")
        self.labels.extend(labels)
        self.ends.append(len(self.labels))
        return b"0 " + b" ".join(features) + b"\n"
