"""Loader of document-ranking data sets from LETOR files: the svmlight format with query ids."""

from __future__ import annotations

import os
from array import array
from collections.abc import Sequence
from numbers import Integral
from typing import TYPE_CHECKING, NoReturn

import numpy as np
from scipy import sparse as sp
from sklearn.utils import Bunch

from sklrank._validation import check_scalar
from sklrank.datasets._text_files import is_mostly_empty, open_lines

if TYPE_CHECKING:
    from sklrank._typing import Loaded

MAX_INDEX = np.iinfo(np.int32).max


def load_letor(
    path: str | os.PathLike | Sequence[str | os.PathLike],
    *,
    n_features: int | None = None,
    sparse: bool = False,
    zero_based: bool = False,
    return_X_y_qid: bool = False,
) -> Loaded:
    """Load documents with relevance grades and query ids from one or several LETOR files.

    Each line describes a document by its grade, query id and features, for example
    ``2 qid:10 1:0.3 2:0.75 #docid = GX000-00``. LETOR 3.0 and 4.0 [1]_, Microsoft's MSLR-WEB,
    Yahoo's challenge and Istella have this format. Omitted features are 0. Comments are ignored.
    The format is that of svmlight, with a query id in each line.

    Parameters
    ----------
    path : str, path-like, or sequence of these
        Path of the file, which is plain or compressed with gzip or bzip2, or paths of several
        files, such as the training, validation and test files of a fold. All files are loaded with
        the same number of features. Compression is detected from the content of the file.
    n_features : int, default=None
        Number of features. If None, it is determined by the largest feature index in the files, and
        an array of more than 1 GiB, of which the files contain less than 1 %, is refused: it is
        probably due to a wrong index.
    sparse : bool, default=False
        Whether to return `data` as a CSR matrix instead of an array.
    zero_based : bool, default=False
        Whether feature indices in the files start at 0 instead of 1. Files written by scikit-learn
        start at 0 by default.
    return_X_y_qid : bool, default=False
        If True, return ``(data, target, qid)`` instead of a Bunch.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        Data set with the following attributes:

        - ``data``: ndarray or CSR matrix of shape (n_samples, n_features), float64. Missing values
          (``nan``) are NaN.
        - ``target``: ndarray of shape (n_samples,), float64, the relevance grades.
        - ``qid``: ndarray of shape (n_samples,), int64, the query ids.

        If `path` is a sequence, a list with one Bunch for each file is returned.
    (data, target, qid) : tuple if ``return_X_y_qid`` is True
        The attributes above. If `path` is a sequence, a list with one tuple for each file is
        returned.

    Raises
    ------
    ValueError
        If a line cannot be read or has no query id, if a grade is negative or not finite, if a
        feature is infinite, or if a feature index is out of range. The message states the file and
        the line.

    See Also
    --------
    sklearn.datasets.load_svmlight_file : Loads files in svmlight format, also without query ids.
    sklrank.metrics.ndcg_score : NDCG; ``convention="letor"`` follows LETOR.

    References
    ----------
    .. [1] T. Qin and T.-Y. Liu. "Introducing LETOR 4.0 Datasets."
       arXiv:1306.2597, 2013.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklrank.datasets import load_letor
    >>> text = '''2 qid:10 1:0.5 2:0.25 #docid = GX000-00
    ... 0 qid:10 1:0.1 2:1 #docid = GX000-01
    ... 1 qid:11 2:0.75 #docid = GX000-02
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "train.txt"
    ...     _ = path.write_text(text)
    ...     X, y, qid = load_letor(path, return_X_y_qid=True)
    >>> X
    array([[0.5 , 0.25],
           [0.1 , 1.  ],
           [0.  , 0.75]])
    >>> y, qid
    (array([2., 0., 1.]), array([10, 10, 11]))
    """
    single = isinstance(path, (str, os.PathLike))
    files = [os.fspath(each) for each in ([path] if single else path)]
    if not files:
        raise ValueError("path must name a file, got an empty sequence.")
    if n_features is not None:
        check_scalar(n_features, "n_features", Integral, min_val=1, max_val=MAX_INDEX)
    documents = [_Documents(name, first_index=0 if zero_based else 1) for name in files]
    widest = max(documents, key=lambda each: each.n_features)
    if n_features is None:
        n_features = max(1, widest.n_features)
        n_entries = n_features * sum(len(each.grades) for each in documents)
        n_stored = sum(len(each.values) for each in documents)
        if not sparse and is_mostly_empty(n_entries, n_stored):
            widest.fail_at_entry(
                widest.indices.argmax(),
                f"the largest feature index, {{}}, would make an array of {n_entries} entries, of "
                f"which the file(s) have {n_stored}. Correct the index if it is wrong; otherwise "
                f"pass sparse=True, or n_features={n_features}.",
            )
    elif n_features < widest.n_features:
        widest.fail_at_entry(
            widest.indices.argmax(), f"n_features={n_features}, but the feature index is {{}}."
        )
    loaded = []
    for each in documents:
        parts = each.values, each.indices, each.row_ends
        X = sp.csr_matrix(parts, shape=(len(each.grades), n_features))
        X, y, qid = X if sparse else X.toarray(), each.grades, each.qid
        loaded.append((X, y, qid) if return_X_y_qid else Bunch(data=X, target=y, qid=qid))
    return loaded[0] if single else loaded


class _Documents:
    """The documents of a file.

    Document ``i`` has the entries from ``row_ends[i]`` to ``row_ends[i + 1]`` of `values` and of
    `indices`, which start at 0.
    """

    def __init__(self, path: str, first_index: int):
        self.path = path
        self.first_index = first_index
        self._read()
        self._check()

    def _read(self) -> None:
        grades, values = array("d"), array("d")
        qid, indices = array("q"), array("q")
        row_ends, self.line_numbers = array("q", [0]), array("q")
        # Comments may have any encoding.
        with open_lines(self.path, "utf-8", comment="#", errors="surrogateescape") as lines:
            for line in lines:
                text = line.partition("#")[0]
                fields = text.split()
                try:
                    if len(fields) < 2 or not fields[1].startswith("qid:"):
                        raise ValueError("there is no query id after the grade")
                    if "_" in text:
                        raise ValueError("numbers cannot have underscores")
                    pairs = [field.split(":") for field in fields[2:]]
                    grades.append(float(fields[0]))
                    qid.append(int(fields[1][4:]))
                    indices.extend([int(index) for index, _ in pairs])
                    values.extend([float(value) for _, value in pairs])
                except (ValueError, OverflowError) as error:
                    lines.fail(
                        "expected a grade, a query id below 2**63 and pairs of a feature index and "
                        f"a value, as in '2 qid:10 1:0.3 5:1'; got {line[:60]!r} ({error})."
                    )
                row_ends.append(len(values))
                self.line_numbers.append(lines.number)
        self.grades, self.values = np.array(grades), np.array(values)
        self.qid = np.array(qid, dtype=np.int64)
        self.indices = np.array(indices, dtype=np.int64) - self.first_index
        self.row_ends = np.array(row_ends, dtype=np.int64)
        self.n_features = int(self.indices.max(initial=-1)) + 1

    def _check(self) -> None:
        rows = np.flatnonzero(~((self.grades >= 0) & (self.grades < np.inf)))
        if len(rows):
            self._fail(
                rows[0],
                f"the grade must be a finite number of 0 or more, got {self.grades[rows[0]]:g}: "
                "remove documents that were not judged (grade -1 in LETOR's semi-supervised sets).",
            )
        entries = np.flatnonzero(np.isinf(self.values))
        if len(entries):
            self.fail_at_entry(
                entries[0], "the value of feature {} is infinite; write nan if it is missing."
            )
        is_first = np.zeros(len(self.indices), dtype=bool)
        is_first[self.row_ends[:-1][np.diff(self.row_ends) > 0]] = True
        valid = is_first | (np.diff(self.indices, prepend=-1) > 0)
        valid &= (self.indices >= 0) & (self.indices <= MAX_INDEX - self.first_index)
        entries = np.flatnonzero(~valid)
        if len(entries):
            self.fail_at_entry(
                entries[0],
                f"feature indices must rise from left to right, from {self.first_index} (given by "
                f"zero_based={not self.first_index}) up to {MAX_INDEX}; got {{}}.",
            )

    def fail_at_entry(self, entry: int, problem: str) -> NoReturn:
        """Raise an error about an entry; "{}" in `problem` is replaced by its feature index."""
        row = np.searchsorted(self.row_ends, entry, side="right") - 1
        self._fail(row, problem.format(self.indices[entry] + self.first_index))

    def _fail(self, row: int, problem: str) -> NoReturn:
        raise ValueError(f"{self.path}, line {self.line_numbers[row]}: {problem}")
