"""Multilabel benchmark data sets from OpenML."""

from __future__ import annotations

import os
import socket
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException
from numbers import Real
from typing import TYPE_CHECKING
from urllib.error import URLError

import numpy as np
from scipy import sparse as sp
from sklearn.datasets import fetch_openml
from sklearn.utils import Bunch

from sklrank._validation import check_scalar
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
# A week, in seconds. The clocks of operating systems overflow after about 24 days.
MAX_TIMEOUT = 604_800
# The warning that scikit-learn gives before it retries; see `_limit_time`.
_RETRY_WARNING = "A network error occur"


def fetch_multilabel(
    name: str,
    *,
    data_home: str | os.PathLike | None = None,
    cache: bool = True,
    timeout: float = 10.0,
    return_X_y: bool = False,
) -> Loaded:
    """Fetch a multilabel benchmark data set from OpenML, or from the local cache.

    The data sets are those of a benchmark of multilabel methods [1]_. Their labels are converted to
    0 and 1, and their nominal features to numbers.

    Parameters
    ----------
    name : {"birds", "emotions", "enron", "genbase", "image", "langlog", "reuters", "scene", \
"slashdot", "yeast"}
        Name of the data set.
    data_home : str or path-like, default=None
        Folder in which downloads are stored, as in :func:`~sklearn.datasets.fetch_openml`. If None,
        the folder is ``~/scikit_learn_data``.
    cache : bool, default=True
        Whether to store downloads in this folder and to use those stored earlier.
    timeout : float, default=10.0
        Maximum time in seconds, above 0 and up to a week, to wait for an answer of the server. The
        waiting time may double if the server accepts the connection but does not answer.
    return_X_y : bool, default=False
        If True, return arrays instead of a Bunch.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        Data set with the following attributes:

        - ``data``: ndarray or CSR matrix of shape (n_samples, n_features), float64. The value of a
          nominal feature is represented by its index in ``categories``. Missing values are NaN.
        - ``target``: ndarray of shape (n_samples, n_labels), int64. Entries are 1 for relevant
          labels, otherwise 0.
        - ``feature_names``, ``target_names``: lists of str.
        - ``categories``: dict that maps the name of each nominal feature to its values.
        - ``DESCR``, ``url``: str, OpenML's description of the data set and the address of its page.
    (data, target) : tuple if ``return_X_y`` is True
        The first two of these attributes.

    Raises
    ------
    ValueError
        If `name` is unknown, or if OpenML's data set has another name or other labels.
    ConnectionError
        If OpenML cannot be reached and the data set is not in the cache.

    See Also
    --------
    load_arff_multilabel : Reads local files.

    Notes
    -----
    :func:`~sklearn.datasets.fetch_openml` has no timeout. Therefore, the process-wide default
    timeout of :mod:`socket` is set during the call and restored afterwards. Do not call this
    function in one thread while another thread relies on that default.

    References
    ----------
    .. [1] P. Probst, Q. Au, G. Casalicchio, C. Stachl, B. Bischl, "Multilabel classification
       with R package mlr", The R Journal 9(1), 2017.

    Examples
    --------
    >>> from sklrank.datasets import fetch_multilabel
    >>> fetch_multilabel("scene").data.shape  # doctest: +SKIP
    (2407, 294)
    """
    if name not in _OPENML_IDS:
        raise ValueError(
            f"name must be one of {sorted(_OPENML_IDS)}, got {name!r}. For other sets see "
            "load_arff_multilabel or sklearn.datasets.fetch_openml."
        )
    check_scalar(
        timeout, "timeout", Real, min_val=0, max_val=MAX_TIMEOUT, include_boundaries="right"
    )

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
    return (bunch.data, bunch.target) if return_X_y else bunch


def _download(name: str, data_home: str | os.PathLike | None, cache: bool, timeout: float) -> Bunch:
    data_id = _OPENML_IDS[name]
    try:
        with _limit_time(timeout):
            raw = fetch_openml(
                data_id=data_id,
                data_home=data_home,
                cache=cache,
                as_frame=False,
                # This is the only parser that converts nominal features without pandas.
                parser="liac-arff",
                n_retries=1,
            )
    except (URLError, TimeoutError, ConnectionError, HTTPException, UserWarning) as error:
        cause = error.__context__ if isinstance(error, UserWarning) else error
        where = "scikit-learn's data folder" if data_home is None else os.fspath(data_home)
        raise ConnectionError(
            f"The data set {name!r} (OpenML {data_id}) could not be downloaded: there is no "
            f"network, or openml.org does not answer within {timeout:g} s ({cause}). Try again "
            f"with a network: the download is then kept in the cache (data_home: {where}), "
            "which can be copied to other machines. Or read an ARFF file of the data set with "
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
def _limit_time(timeout: float) -> Iterator[None]:
    """Set the timeout of connections, and turn retries into errors.

    fetch_openml retries more often than `n_retries`, since its first request uses the default
    number of retries. It issues a warning before each retry. Here, that warning is raised as an
    error, which ends the attempts. Other warnings are ignored.
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
    """Convert OpenML's label values, usually 'TRUE' and 'FALSE', to 1 and 0."""
    values, codes = np.unique(np.asarray(target).astype(str), return_inverse=True)
    meaning = [RELEVANCE.get(value.lower(), -1) for value in values.tolist()]
    if np.ndim(target) != 2 or -1 in meaning:
        raise ValueError(
            f"The target of OpenML's data set {name!r} should be columns of TRUE and FALSE, got "
            f"{np.ndim(target)} dimension(s) and the values {values[:5].tolist()}: fetch it with "
            "sklearn.datasets.fetch_openml and convert it yourself."
        )
    return np.array(meaning, dtype=np.int64)[codes.reshape(np.shape(target))]
