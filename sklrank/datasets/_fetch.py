"""Multilabel benchmark data sets from OpenML."""

from __future__ import annotations

import os

import numpy as np
from scipy import sparse as sp
from sklearn.datasets import fetch_openml
from sklearn.utils import Bunch

from sklrank._typing import Loaded
from sklrank.datasets._arff import RELEVANCE

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


def fetch_multilabel(
    name: str,
    *,
    data_home: str | os.PathLike | None = None,
    cache: bool = True,
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
    URLError
        If OpenML cannot be reached and the data set is not in the cache.

    See Also
    --------
    load_arff_multilabel : Reads local files.

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
    raw = fetch_openml(
        data_id=_OPENML_IDS[name],
        data_home=data_home,
        cache=cache,
        as_frame=False,
        # This is the only parser that converts nominal features without pandas.
        parser="liac-arff",
    )
    found = raw.details["name"]
    if found.lower() != name:
        raise ValueError(
            f"OpenML's data set {_OPENML_IDS[name]} should be {name!r} but is {found!r}: please "
            "report this, and fetch the set by its name with sklearn.datasets.fetch_openml."
        )
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
