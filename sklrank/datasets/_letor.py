"""Loader of document-ranking data sets from LETOR files: the svmlight format with query ids."""

from __future__ import annotations

import os
import re
from array import array
from collections.abc import Sequence
from numbers import Integral

import numpy as np
from scipy import sparse as sp
from sklearn.utils import Bunch

from sklrank._checks import check_scalar
from sklrank._typing import Loaded
from sklrank.datasets._text_files import is_mostly_empty, read_svmlight

# A query id that is no number: it has a letter.
_NAME = re.compile(rb"(?=.*[A-Za-z\x80-\xff])[!-~\x80-\xff]+")
# Missing values of LETOR 4.0, where the logarithm of a probability of 0 would be, and of Istella.
_MISSING = b":NULL", b":1.79769313486e+308"


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
        files, such as those of a fold, which are loaded with the same number of features.
    n_features : int, default=None
        Number of features. If None, that of the largest index in the files; an array of more than 1
        GiB, of which they contain less than 1 %, is refused, as an index is probably wrong.
    sparse : bool, default=False
        Whether to return `data` as a CSR matrix instead of an array.
    zero_based : bool, default=False
        Whether feature indices start at 0, as in files of scikit-learn by default, instead of 1.
    return_X_y_qid : bool, default=False
        If True, return ``(data, target, qid)`` instead of a Bunch.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        Data set with the following attributes:

        - ``data``: ndarray or CSR matrix of shape (n_samples, n_features), float64. Missing values
          (``nan``, ``NULL`` in LETOR 4.0, ``1.79769313486e+308`` in Istella) are NaN.
        - ``target``: ndarray of shape (n_samples,), float64, the relevance grades.
        - ``qid``: ndarray of shape (n_samples,), the query ids: int64, or str if one of them is a
          name, such as ``WT04-170`` in LETOR 3.0, or too large.

        If `path` is a sequence, a list with one Bunch for each file is returned.
    (data, target, qid) : tuple if ``return_X_y_qid`` is True
        The attributes above; a list of tuples if `path` is a sequence.

    Raises
    ------
    ValueError
        If a line cannot be read, in which case the message states the file and the line.

    See Also
    --------
    sklearn.datasets.load_svmlight_file : Loads files in svmlight format, also without query ids.
    sklrank.metrics.ndcg_score : NDCG; ``convention="letor"`` follows LETOR.

    References
    ----------
    .. [1] Qin and Liu. "Introducing LETOR 4.0 Datasets." arXiv:1306.2597, 2013.

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
        check_scalar(n_features, "n_features", Integral, min_val=1)
    loaded = [_load(name, zero_based) for name in files]
    widest = max(range(len(files)), key=lambda i: loaded[i][0].shape[1])
    found = loaded[widest][0].shape[1]
    if n_features is None:
        n_features = found
        n_entries = n_features * sum(len(y) for _, y, _ in loaded)
        n_stored = sum(X.nnz for X, _, _ in loaded)
        if not sparse and is_mostly_empty(n_entries, n_stored):
            raise ValueError(
                f"{files[widest]}: the largest feature index would make an array of {n_features} "
                f"features and {n_entries} entries, of which the file(s) have {n_stored}. Correct "
                f"the index if it is wrong; otherwise pass sparse=True, or n_features={n_features}."
            )
    elif n_features < found:
        raise ValueError(f"n_features={n_features}, but {files[widest]} has {found} features.")
    for X, _, _ in loaded:
        X.resize(X.shape[0], n_features)
    results = [
        part if return_X_y_qid else Bunch(data=part[0], target=part[1], qid=part[2])
        for part in ((X if sparse else X.toarray(), y, qid) for X, y, qid in loaded)
    ]
    return results[0] if single else results


def _load(path: str, zero_based: bool) -> tuple[sp.csr_matrix, np.ndarray, np.ndarray]:
    documents = _Documents()
    hint = (
        "A line has a grade, a query id and pairs of a feature index and a value, as in "
        "'2 qid:10 1:0.3 5:1'."
    )
    X, y = read_svmlight(path, documents.convert, zero_based, hint)
    if not len(y):
        raise ValueError(f"{path} has no document: it is empty, or has comments only")
    dtype = np.int64 if isinstance(documents.qid, array) else None
    return X, y, np.array(documents.qid, dtype=dtype)


class _Documents:
    """Query ids of the lines, as scikit-learn reads no names and takes quadratic time for ids."""

    def __init__(self) -> None:
        self.qid: array | list[str] = array("q")

    def convert(self, line: bytes) -> bytes:
        """Return a line that scikit-learn reads."""
        fields = line.partition(b"#")[0].split(None, 2)
        if not fields:
            return line
        if len(fields) < 2 or not fields[1].startswith(b"qid:"):
            raise ValueError("there is no query id after the grade")
        grade, _, features = (*fields, b"")[:3]
        if b"_" in grade + features:
            raise ValueError("numbers cannot have underscores")
        if not 0 <= float(grade) < np.inf:
            raise ValueError(
                "the grade must be a finite number of 0 or more: remove documents that "
                f"were not judged (grade -1), got {float(grade):g}"
            )
        self._append(fields[1][4:])
        for missing in _MISSING:
            features = features.replace(missing, b":nan")
        return b"%b qid:0 %b\n" % (grade, features)

    def _append(self, name: bytes) -> None:
        try:
            query = int(name)
        except ValueError:
            if not _NAME.fullmatch(name):
                raise ValueError("the query id must be an integer or a name") from None
            query = name.decode()
        else:
            if b"_" in name:
                raise ValueError("numbers cannot have underscores")
        is_number = isinstance(query, int) and abs(query) < 2**63
        if isinstance(self.qid, array) and not is_number:
            self.qid = [str(each) for each in self.qid]
        self.qid.append(query if isinstance(self.qid, array) else str(query))
