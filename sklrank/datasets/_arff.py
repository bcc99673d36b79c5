"""Loader of multilabel data sets from ARFF files."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Sequence, Set
from xml.etree import ElementTree

import numpy as np
from scipy import sparse as sp
from sklearn.utils import Bunch

from sklrank._checks import is_integer
from sklrank._typing import Loaded
from sklrank.datasets._arff_reader import ArffFile, Attribute, read_arff
from sklrank.datasets._text_files import is_mostly_empty

RELEVANCE = {"0": 0, "0.0": 0, "false": 0, "no": 0, "1": 1, "1.0": 1, "true": 1, "yes": 1}
_MEKA_OPTION = re.compile(r"(?:^|\s)-C[\s=]*(-?\d{1,9})\b")


def load_arff_multilabel(
    path: str | os.PathLike,
    *,
    labels: int | Sequence[str] | None = None,
    xml: str | os.PathLike | None = None,
    sparse: bool | str = "auto",
    return_X_y: bool = False,
    encoding: str = "utf-8",
) -> Loaded:
    """Load a multilabel data set from an ARFF file in the format of MULAN or MEKA.

    The formats are described in [1]_ and [2]_. An ARFF file does not distinguish features from
    labels, which `labels` or `xml` specify. If both are None, the relation name must contain MEKA's
    option ``-C``, as in ``@relation 'emotions: -C 6'``.

    Parameters
    ----------
    path : str or path-like
        Path of the file, which is plain or compressed with gzip or bzip2. Compression is detected
        from the content of the file.
    labels : int or sequence of str, default=None
        The label attributes, as names, in the order of the columns of `target`, or as a number: as
        in MEKA's option ``-C``, ``6`` selects the first six attributes, and ``-6`` the last six,
        which is common in MULAN's files.
    xml : str or path-like, default=None
        Path of an XML file of MULAN with the names of the labels, perhaps in a hierarchy, each of
        whose nodes becomes a column. As in MULAN, columns are in the order of the attributes.
    sparse : {"auto"} or bool, default="auto"
        Whether to return `data` as a CSR matrix; if "auto", if the rows of the file are sparse.
    return_X_y : bool, default=False
        If True, return ``(data, target)`` instead of a Bunch.
    encoding : str, default="utf-8"
        Text encoding of the file.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        Data set with the following attributes:

        - ``data``: ndarray or CSR matrix of shape (n_samples, n_features), float64. The value of a
          nominal feature is its index, from 0, in the declaration. Missing values are NaN.
        - ``target``: ndarray of shape (n_samples, n_labels), int64. Entries are 1 for relevant
          labels, otherwise 0.
        - ``sample_weight``: ndarray of shape (n_samples,) of Weka's weights of the rows, 1 where
          there is none; None if no row has a weight.
        - ``feature_names``, ``target_names``: lists of str.
        - ``categories``: dict that maps the name of each nominal feature to its declared values.
        - ``omitted_names``: list of str, the string and date attributes, without a column.
        - ``DESCR``: str, the relation name and the comments at the start of the file.
    (data, target) : tuple if ``return_X_y`` is True
        The first two of these attributes.

    Raises
    ------
    ValueError
        If the file is not valid ARFF, in which case the message states the line, or if a label is
        not declared as ``{0, 1}``, ``{false, true}`` or ``{no, yes}`` and has other values.

    See Also
    --------
    fetch_multilabel : Downloads such data sets from OpenML.

    Notes
    -----
    Sparse rows omit zeros, the first declared value of a nominal attribute. Therefore, a label that
    is declared as ``{1, 0}`` is relevant in rows that omit it, as in Weka.

    References
    ----------
    .. [1] Tsoumakas et al., "MULAN: A Java library for multi-label learning", JMLR 12, 2011.
    .. [2] Read et al., "MEKA: A multi-label/multi-target extension to Weka", JMLR 17, 2016.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklrank.datasets import load_arff_multilabel
    >>> text = '''@relation songs
    ... @attribute tempo numeric
    ... @attribute key {minor, major}
    ... @attribute calm {0, 1}
    ... @attribute sad {0, 1}
    ... @data
    ... 90.5, minor, 1, 1
    ... ?, major, 0, 0
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "songs.arff"
    ...     _ = path.write_text(text)
    ...     songs = load_arff_multilabel(path, labels=["calm", "sad"])
    >>> songs.data
    array([[90.5,  0. ],
           [ nan,  1. ]])
    >>> songs.target
    array([[1, 1],
           [0, 0]])
    >>> songs.feature_names
    ['tempo', 'key']
    """
    if isinstance(sparse, str) and sparse != "auto":
        raise ValueError(f"sparse must be 'auto', True or False, got {sparse!r}.")
    arff = read_arff(path, encoding)
    label_columns = _find_labels(arff, labels, xml)
    chosen = set(label_columns)
    others = [i for i in range(len(arff.attributes)) if i not in chosen]
    feature_columns = [i for i in others if not arff.attributes[i].is_text]
    features = [arff.attributes[i] for i in feature_columns]

    data = arff.matrix[:, feature_columns]
    if sparse == "auto":
        sparse = sp.issparse(data)
    data = sp.csr_matrix(data) if sparse else _as_array(data, "pass sparse=True or 'auto'")
    values = _as_array(arff.matrix[:, label_columns], "check that labels or xml select the labels")
    pairs = zip(label_columns, values.T)
    target = np.column_stack([_binary(arff.attributes[i], column) for i, column in pairs])
    feature_names = [feature.name for feature in features]
    target_names = [arff.attributes[i].name for i in label_columns]
    if return_X_y:
        if arff.weights is not None:
            warnings.warn(
                f"{os.fspath(path)} has weights of rows, which return_X_y=True leaves out: pass "
                "return_X_y=False, and sample_weight of the Bunch to fit",
                stacklevel=2,
            )
        return data, target
    return Bunch(
        data=data,
        target=target,
        sample_weight=arff.weights,
        feature_names=feature_names,
        target_names=target_names,
        categories={feature.name: list(feature.values) for feature in features if feature.values},
        omitted_names=[arff.attributes[i].name for i in others if arff.attributes[i].is_text],
        DESCR="\n".join(filter(None, [arff.relation, arff.comments])),
    )


def _find_labels(arff: ArffFile, labels, xml) -> list[int]:
    """Return the column indices of the label attributes, as specified by `labels` or `xml`."""
    if labels is not None and xml is not None:
        raise ValueError("labels and xml both name the labels: pass only one of them.")
    names = [attribute.name for attribute in arff.attributes]
    option = _MEKA_OPTION.search(arff.relation)
    if xml is not None:
        source, labels = f"the file xml={os.fspath(xml)!r}", _names_in_xml(xml)
        columns = _distinct(_columns_of(labels, source, names), source, labels)
        if option is not None and len(columns) < abs(int(option[1])):
            raise ValueError(
                f"{source} names {len(columns)} labels, and the relation {arff.relation!r} has "
                f"{abs(int(option[1]))}: the others would become features. Correct one of the "
                "files, or name the labels by the parameter labels"
            )
        return sorted(columns)
    if labels is None:
        if option is None:
            raise ValueError(
                f"labels is None and the relation {arff.relation!r} has no option '-C': pass "
                "labels (a number, e.g. -6 for the last 6 attributes, or names) or xml."
            )
        return _columns_at_an_end(int(option[1]), "the relation's option -C", len(names))
    return _distinct(_columns_of_labels(labels, names), "labels", labels)


def _columns_of_labels(labels: object, names: Sequence[str]) -> list[int]:
    """Return the indices of the label columns, given as the parameter `labels` of a loader."""
    if is_integer(labels):
        return _columns_at_an_end(int(labels), "labels", len(names))
    if (
        isinstance(labels, str | Set)
        or not np.iterable(labels)
        or not all(isinstance(name, str) for name in labels)
    ):
        raise ValueError(f"labels must be an integer or a list of names, got {labels!r}.")
    return _columns_of(labels, "labels", names)


def _columns_at_an_end(n_labels: int, source: str, n_columns: int) -> list[int]:
    """Return the indices of the first `n_labels` columns, or of the last if it is negative."""
    if not 0 < abs(n_labels) < n_columns:
        raise ValueError(
            f"{source} must be a number from 1 to {n_columns - 1} (the first columns) or its "
            f"negative (the last ones) for a file of {n_columns} columns, or names; got {n_labels}."
        )
    columns = range(n_columns)
    return list(columns[:n_labels] if n_labels > 0 else columns[n_labels:])


def _columns_of(labels: Sequence[str], source: str, names: Sequence[str]) -> list[int]:
    """Return the indices of the columns named in `labels`, in the order of `labels`."""
    index = {name: i for i, name in enumerate(names)}
    unknown = [name for name in labels if name not in index]
    if unknown:
        raise ValueError(
            f"{source} names {len(unknown)} column(s) that the file does not have, such as "
            f"{unknown[0]!r}; its last column is {names[-1]!r}. Check the spelling, and whether "
            "all files belong to the same data set."
        )
    return [index[name] for name in labels]


def _distinct(columns: list[int], source: str, labels: object) -> list[int]:
    if not columns or len(set(columns)) < len(columns):
        raise ValueError(f"{source} must name at least one label, and each once, got {labels}.")
    return columns


def _names_in_xml(path: str | os.PathLike) -> list[str]:
    try:
        root = ElementTree.parse(path).getroot()
    except (ElementTree.ParseError, LookupError) as error:  # LookupError of an encoding.
        raise ValueError(f"xml={os.fspath(path)!r} is not well-formed XML: {error}.") from error
    # Any namespace is accepted: MULAN's files declare one, but files written by hand often do not.
    elements = [element for element in root.iter() if element.tag.rpartition("}")[2] == "label"]
    names = [element.get("name") for element in elements]
    if not names or None in names:
        raise ValueError(
            f"xml={os.fspath(path)!r} must hold <label name='...'> elements, as MULAN's do; got "
            f"{len(names)} label elements, {names.count(None)} of them without a name."
        )
    return names


def _as_array(matrix: np.ndarray | sp.csr_matrix, remedy: str) -> np.ndarray:
    if not sp.issparse(matrix):
        return matrix
    n_rows, n_columns = matrix.shape
    if is_mostly_empty(n_rows * n_columns, matrix.nnz):
        raise ValueError(
            f"an array of {n_rows} rows and {n_columns} columns, of which the file has "
            f"{matrix.nnz} entries, is too large: {remedy}."
        )
    return matrix.toarray()


def _binary(attribute: Attribute, values: np.ndarray) -> np.ndarray:
    is_missing = np.isnan(values)
    if attribute.values is None:
        meaning = [0, 1]
        is_binary = not attribute.is_text and np.isin(values[~is_missing], meaning).all()
        got = f"it is {attribute.kind}"
    else:
        meaning = [RELEVANCE.get(value.lower(), -1) for value in attribute.values]
        is_binary = -1 not in meaning
        got = f"its values are {{{', '.join(attribute.values[:6])}}}"
    if not is_binary:
        raise ValueError(
            f"label {attribute.name!r} is not binary: {got}. A label takes the values 0 and 1; "
            "check that labels or xml select the label attributes (labels=-6 are the last 6)."
        )
    if is_missing.any():
        raise ValueError(
            f"label {attribute.name!r} is missing in {is_missing.sum()} row(s), first in row "
            f"{is_missing.argmax()} (from 0): labels must be known; drop these rows from the file."
        )
    return np.take(meaning, values.astype(np.intp))
