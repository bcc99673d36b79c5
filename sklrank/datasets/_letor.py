"""Loader of document-ranking data sets from LETOR files: the svmlight format with query ids."""

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

    Each line describes a document by its grade, query id and features, for example
    ``2 qid:10 1:0.3 2:0.75 #docid = GX000-00``. LETOR 3.0 and 4.0 [1]_, Microsoft's MSLR-WEB,
    Yahoo's challenge and Istella have this format. Omitted features are 0. Comments are ignored.

    Parameters
    ----------
    path : str, path-like, or sequence of these
        Path of the file, which is plain or compressed (``.gz``, ``.bz2``), or paths of several
        files, such as the training, validation and test files of a fold. All files are loaded with
        the same number of features.

    n_features : int, default=None
        Number of features. If None, it is determined by the largest feature index in the files.

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

        - ``data``: ndarray or CSR matrix of shape (n_samples, n_features), float64.
        - ``target``: ndarray of shape (n_samples,), float64, the relevance grades.
        - ``qid``: ndarray of shape (n_samples,), int64, the query ids.

        If `path` is a sequence, a list with one Bunch for each file is returned.

    (data, target, qid) : tuple if ``return_X_y_qid`` is True
        The attributes above. If `path` is a sequence, a list with one tuple for each file is
        returned.

    Raises
    ------
    ValueError
        If a line cannot be read or has no query id, or if a feature index is out of range.

    See Also
    --------
    sklearn.datasets.load_svmlight_files : The reader that this function uses.
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
