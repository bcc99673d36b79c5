"""Loader of document-ranking data sets from LETOR files, svmlight's format with query ids."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sklearn.datasets import load_svmlight_files
from sklearn.utils import Bunch

if TYPE_CHECKING:
    from sklrank._typing import Loaded


def load_letor(
    path: str | os.PathLike | Sequence[str | os.PathLike],
    *,
    n_features: int | None = None,
    sparse: bool = False,
    zero_based: bool = False,
    return_X_y_qid: bool = False,
) -> Loaded:
    """Load documents with relevance grades and query ids from one or several LETOR files.

    Each line is a document with its grade, query id and features, such as
    ``2 qid:10 1:0.3 2:0.75 #docid = GX000-00``. LETOR 3.0 and 4.0, Microsoft's MSLR-WEB, Yahoo's
    challenge and Istella have this format [1]_. Omitted features are 0; comments are ignored.

    Parameters
    ----------
    path : str, path-like, or sequence of these
        The file, plain or compressed (``.gz``, ``.bz2``). Several files, such as the training,
        validation and test files of a fold, get the same number of features.

    n_features : int, default=None
        The number of features. None: the largest feature index in the files.

    sparse : bool, default=False
        Whether `data` is a CSR matrix rather than an array.

    zero_based : bool, default=False
        Whether feature indices start at 0, as scikit-learn writes them by default, rather than at
        1.

    return_X_y_qid : bool, default=False
        Whether to return ``(data, target, qid)`` instead of a Bunch.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        With the attributes

        - ``data``: {ndarray, CSR} of shape (n_samples, n_features), float64.
        - ``target``: ndarray of shape (n_samples,), float64, the relevance grades.
        - ``qid``: ndarray of shape (n_samples,), int64, the query ids.

        For a sequence of files, a list of one bunch for each file.

    (data, target, qid) : tuple if ``return_X_y_qid`` is True
        These attributes; for a sequence of files, a list of one tuple for each file.

    Raises
    ------
    ValueError
        If a line cannot be read or has no query id, or if a feature index is out of range.

    See Also
    --------
    sklearn.datasets.load_svmlight_files : The reader that this function uses.
    sklrank.metrics.ndcg_score : A metric; ``convention="letor"`` follows LETOR.

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
    parts = load_svmlight_files(files, n_features=n_features, zero_based=zero_based, query_id=True)
    loaded = []
    for name, X, y, qid in zip(files, parts[::3], parts[1::3], parts[2::3]):
        if len(qid) != len(y):
            raise ValueError(
                f"{name} has {len(y)} lines, but {len(qid)} query ids: each line must have one, "
                "as in '2 qid:10 1:0.3'."
            )
        X = X if sparse else X.toarray()
        loaded.append((X, y, qid) if return_X_y_qid else Bunch(data=X, target=y, qid=qid))
    return loaded[0] if single else loaded
