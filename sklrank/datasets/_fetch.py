"""Multilabel benchmark sets from OpenML, and the train-test splits they were published with."""

from __future__ import annotations

import os
import socket
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPException
from numbers import Real
from typing import TYPE_CHECKING
from urllib.error import URLError

import numpy as np
from scipy import sparse as sp
from sklearn.datasets import fetch_openml
from sklearn.utils import Bunch, check_scalar

from sklrank.datasets._arff import RELEVANCE

if TYPE_CHECKING:
    from sklrank._typing import Loaded

_OPENML_IDS = {
    "birds": 41464,
    "emotions": 41465,
    "enron": 41466,
    "genbase": 41467,
    "image": 41468,
    "langlog": 41469,
    "reuters": 41470,
    "scene": 41471,
    "slashdot": 41472,
    "yeast": 41473,
}
# scikit-learn retries silently save for this warning; see `_impatient`.
_RETRY_WARNING = "A network error occur"


@dataclass(frozen=True)
class _Split:
    """A published split, and by what its training rows are recognised.

    Both facts are blind to the order of rows, labels and features, which may differ from
    publisher to publisher; another choice of rows would agree with both only by miracle.
    """

    n_train: int
    n_test: int
    label_counts: tuple[int, ...]
    """How many training rows have each label, in increasing order."""
    mean_magnitude: float
    """Mean of ``|X|`` over the training rows and all features."""

    def recognises(self, data: np.ndarray, target: np.ndarray) -> bool:
        """Tell whether these are the training rows."""
        counts = tuple(np.sort(target.sum(axis=0)).tolist())
        return counts == self.label_counts and bool(
            np.isclose(np.abs(data).mean(), self.mean_magnitude, rtol=1e-6)
        )


_SPLITS = {
    "emotions": _Split(391, 202, (89, 95, 107, 119, 131, 168), 4.7894692),
    "scene": _Split(1211, 1196, (165, 196, 197, 224, 227, 277), 0.306934381),
    "yeast": _Split(
        1500,
        917,
        (21, 98, 161, 198, 261, 289, 378, 441, 476, 532, 598, 645, 1116, 1128),
        0.0759617493,
    ),
}


def fetch_multilabel(
    name: str,
    *,
    split: str | None = None,
    data_home: str | os.PathLike | None = None,
    cache: bool = True,
    timeout: float = 10.0,
    return_X_y: bool = False,
) -> Loaded:
    """Fetch a multilabel benchmark data set from OpenML, once, then from the local cache.

    The sets are those of a benchmark of multilabel methods [1]_, with labels as 0 and 1 and
    features as numbers.

    Parameters
    ----------
    name : {"birds", "emotions", "enron", "genbase", "image", "langlog", "reuters", "scene", \
"slashdot", "yeast"}
        The data set.

    split : {"original"} or None, default=None
        "original" also returns MULAN's train-test split, for the sets where it is known:
        emotions (391 training rows, 202 test rows), scene (1211, 1196) and yeast (1500, 917).
        OpenML's files do not tell the two parts apart; they are looked for at both ends of the
        file and recognised by facts about the training rows, never assumed.

    data_home : str or path-like, default=None
        Where the downloads are kept, as for :func:`~sklearn.datasets.fetch_openml`;
        ``~/scikit_learn_data`` by default.

    cache : bool, default=True
        Whether to keep and use downloads.

    timeout : float, default=10.0
        Seconds to wait for the server's answer, above 0, before giving up. A server that
        accepts the connection and then stays silent may cost twice that.

    return_X_y : bool, default=False
        Whether to return arrays instead of a Bunch.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        With the attributes

        - ``data``: ndarray or CSR matrix of shape (n_samples, n_features), float64; nominal
          features hold the position of their value in ``categories``, missing values are NaN.
        - ``target``: ndarray of shape (n_samples, n_labels), int64, 1 for a relevant label.
        - ``feature_names``, ``target_names``: lists of str.
        - ``categories``: dict, the values of each nominal feature.
        - ``DESCR``, ``url``: str, OpenML's description and the set's page.
        - ``train_indices``, ``test_indices``: int arrays, the rows of the two parts. Only if
          ``split="original"``.

    (data, target) : tuple if ``return_X_y`` is True and ``split`` is None
        The first two of these attributes.

    (X_train, X_test, Y_train, Y_test) : tuple if ``return_X_y`` is True and ``split="original"``
        The rows of the two parts, in the order of
        :func:`~sklearn.model_selection.train_test_split`.

    Raises
    ------
    ValueError
        If the name is unknown, the split is asked for where none is known, or the rows that
        OpenML delivers do not hold the split.
    ConnectionError
        If OpenML cannot be reached and the set is not in the cache.

    See Also
    --------
    load_arff_multilabel : Reads files that you have already.

    Notes
    -----
    :func:`~sklearn.datasets.fetch_openml` has no timeout, so the process-wide default of
    :mod:`socket` is set during the call and then put back: do not fetch in one thread while
    another relies on that default.

    References
    ----------
    .. [1] P. Probst, Q. Au, G. Casalicchio, C. Stachl, B. Bischl, "Multilabel classification
       with R package mlr", The R Journal 9(1), 2017: the collection on OpenML.
    .. [2] G. Tsoumakas, E. Spyromitros-Xioufis, J. Vilcek, I. Vlahavas, "MULAN: A Java library
       for multi-label learning", JMLR 12, 2011: the splits.

    Examples
    --------
    >>> from sklrank.datasets import fetch_multilabel
    >>> scene = fetch_multilabel("scene", split="original")  # doctest: +SKIP
    >>> scene.data[scene.train_indices].shape  # doctest: +SKIP
    (1211, 294)
    """
    if name not in _OPENML_IDS:
        raise ValueError(
            f"name must be one of {sorted(_OPENML_IDS)}, got {name!r}. For other sets see "
            "load_arff_multilabel or sklearn.datasets.fetch_openml."
        )
    if split not in (None, "original"):
        raise ValueError(f"split must be None or 'original', got {split!r}.")
    if split is not None and name not in _SPLITS:
        raise ValueError(
            f"split='original' is known for {sorted(_SPLITS)}, not for name={name!r}: pass "
            "split=None and split the rows yourself."
        )
    check_scalar(timeout, "timeout", Real, min_val=0, include_boundaries="neither")

    raw = _download(name, data_home, cache, timeout)
    bunch = Bunch(
        data=raw.data.tocsr() if sp.issparse(raw.data) else np.asarray(raw.data, dtype=float),
        target=_as_indicator(raw.target, name),
        feature_names=list(raw.feature_names),
        target_names=list(raw.target_names),
        categories=raw.categories,
        DESCR=raw.DESCR,
        url=raw.url,
    )
    if split is None:
        return (bunch.data, bunch.target) if return_X_y else bunch
    train, test = _find_split(bunch.data, bunch.target, name)
    if return_X_y:
        return bunch.data[train], bunch.data[test], bunch.target[train], bunch.target[test]
    bunch.update(train_indices=train, test_indices=test)
    return bunch


def _download(name: str, data_home: str | os.PathLike | None, cache: bool, timeout: float) -> Bunch:
    data_id = _OPENML_IDS[name]
    try:
        with _impatient(timeout):
            raw = fetch_openml(
                data_id=data_id,
                data_home=data_home,
                cache=cache,
                as_frame=False,
                # The one parser that needs no pandas and turns nominal features into numbers.
                parser="liac-arff",
                n_retries=1,
            )
    except (URLError, TimeoutError, ConnectionError, HTTPException, UserWarning) as error:
        cause = error.__context__ if isinstance(error, UserWarning) else error
        where = "scikit-learn's data folder" if data_home is None else os.fspath(data_home)
        raise ConnectionError(
            f"The data set {name!r} (OpenML {data_id}) could not be downloaded: there is no "
            f"network, or openml.org does not answer within {timeout:g} s ({cause}). Try again "
            f"where there is one: the download is then kept in the cache (data_home: {where}), "
            "which can be copied here. Or read an ARFF file of the set with "
            "load_arff_multilabel."
        ) from cause
    found = raw.details["name"]
    if found.lower() != name:
        raise ValueError(
            f"OpenML's data set {data_id} should be {name!r} but is {found!r}: please report "
            "this, and fetch the set by its name with sklearn.datasets.fetch_openml."
        )
    return raw


@contextmanager
def _impatient(timeout: float) -> Iterator[None]:
    """Let no connection take longer than the timeout, and let no warning out.

    fetch_openml retries more often than its n_retries says (its first request takes the
    default), each time after a warning: that warning, made an error, ends the attempts.
    """
    previous = socket.getdefaulttimeout()
    socket.setdefaulttimeout(timeout)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.filterwarnings("error", message=_RETRY_WARNING, category=UserWarning)
            yield
    finally:
        socket.setdefaulttimeout(previous)


def _as_indicator(target: np.ndarray, name: str) -> np.ndarray:
    """Turn OpenML's label values, 'TRUE' and 'FALSE' as a rule, into 1 and 0."""
    values, codes = np.unique(np.asarray(target).astype(str), return_inverse=True)
    meaning = [RELEVANCE.get(value.lower(), -1) for value in values.tolist()]
    if np.ndim(target) != 2 or -1 in meaning:
        raise ValueError(
            f"The target of OpenML's data set {name!r} should be columns of TRUE and FALSE, got "
            f"{np.ndim(target)} dimension(s) and the values {values[:5].tolist()}: fetch it with "
            "sklearn.datasets.fetch_openml and convert it yourself."
        )
    return np.array(meaning, dtype=np.int64)[codes.reshape(np.shape(target))]


def _find_split(data: np.ndarray, target: np.ndarray, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of the training part and of the test part."""
    split = _SPLITS[name]
    rows = np.arange(len(target))
    if len(rows) == split.n_train + split.n_test:
        for train, test in (
            (rows[: split.n_train], rows[split.n_train :]),
            (rows[split.n_test :], rows[: split.n_test]),
        ):
            if split.recognises(data[train], target[train]):
                return train, test
    raise ValueError(
        f"split='original': the {len(rows)} rows that OpenML delivers for {name!r} hold MULAN's "
        f"{split.n_train} training rows neither at their head nor at their tail, so which they "
        "are is not known. Pass split=None, or read MULAN's own train and test files with "
        "load_arff_multilabel."
    )
