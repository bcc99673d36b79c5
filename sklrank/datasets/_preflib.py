"""Loader of rankings from files of PrefLib."""

from __future__ import annotations

import os
import re
import warnings

import numpy as np
from scipy import sparse as sp
from sklearn.utils import Bunch

from sklrank._typing import Loaded
from sklrank.datasets._text_files import Lines, open_lines

_TYPES = ("soc", "soi", "toc", "toi")
_TIE = r"\{\s*\d+(?:\s*,\s*\d+)*\s*\}"
_ORDER = re.compile(rf"(\d+)\s*:\s*((?:\d+|{_TIE})(?:\s*,\s*(?:\d+|{_TIE}))*)")
_PLACE = re.compile(rf"\d+|{_TIE}")


def load_preflib(
    path: str | os.PathLike, *, sparse: bool = False, encoding: str = "utf-8"
) -> Loaded:
    """Load rankings of alternatives from a PrefLib file: ``.soc``, ``.soi``, ``.toc`` or ``.toi``.

    After lines of metadata, each line has the number of voters with an order, and the order, from
    best to worst: ``12: 1,{2,3},4``. Braces contain tied alternatives. Alternatives that are not
    listed are not ranked.

    Parameters
    ----------
    path : str or path-like
        Path of the file, which is plain or compressed with gzip or bzip2.
    sparse : bool, default=False
        Whether `target` is a CSR matrix, which stores the positions of the ranked alternatives, for
        :class:`~sklrank.label_ranking.PlackettLuceRanker`.
    encoding : str, default="utf-8"
        Text encoding of the file.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        Data set with the following attributes:

        - ``data``: ndarray of ones, of shape (n_orders, 1): voters have no features.
        - ``target``: ndarray or CSR matrix of shape (n_orders, n_labels), float64. The position of
          an alternative is 1 plus the number of those before it, and NaN if it is not ranked.
        - ``sample_weight``: ndarray of shape (n_orders,), float64, the numbers of voters.
        - ``target_names``: list of str, the names of the alternatives.
        - ``metadata``: dict of str, the other metadata.

    Raises
    ------
    ValueError
        If the file is not in this format. The message states the file and the line.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklrank.datasets import load_preflib
    >>> text = '''# DATA TYPE: toi
    ... # NUMBER ALTERNATIVES: 3
    ... # ALTERNATIVE NAME 1: Amber
    ... # ALTERNATIVE NAME 2: Beryl
    ... # ALTERNATIVE NAME 3: Coral
    ... 12: 2,{1,3}
    ... 7: 3
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "votes.toi"
    ...     _ = path.write_text(text)
    ...     votes = load_preflib(path)
    >>> votes.target
    array([[ 2.,  1.,  2.],
           [nan, nan,  1.]])
    >>> votes.sample_weight, votes.target_names
    (array([12.,  7.]), ['Amber', 'Beryl', 'Coral'])
    """
    with open_lines(os.fspath(path), encoding) as lines:
        metadata, names, orders = _read(lines)
    counts, places = zip(*orders) if orders else ((), ())
    rows = np.repeat(np.arange(len(places)), [len(each) for each in places])
    columns = np.array([label for each in places for label in each], dtype=np.intp)
    values = np.array([position for each in places for position in each.values()], dtype=float)
    shape = len(places), len(names)
    if sparse:
        target = sp.csr_matrix((values, (rows, columns)), shape=shape)
    else:
        target = np.full(shape, np.nan)
        target[rows, columns] = values
    return Bunch(
        data=np.ones((len(places), 1)),
        target=target,
        sample_weight=np.array(counts, dtype=np.float64),
        target_names=names,
        metadata=metadata,
    )


def _read(lines: Lines) -> tuple[dict[str, str], list[str], list[tuple[int, dict[int, int]]]]:
    """Return the metadata, the names, and the count and the positions of each order."""
    metadata: dict[str, str] = {}
    names: list[str] = []
    orders = []
    for line in lines:
        if line.startswith("#"):
            key, _, value = line[1:].partition(":")
            metadata[key.strip()] = value.strip()
            continue
        if not orders:
            names = _names(metadata, lines)
        match = _ORDER.fullmatch(line)
        if match is None:
            lines.fail(
                f"expected the number of voters and an order, '3: 1,{{2,3}},4', got {line!r}"
            )
        positions: dict[int, int] = {}
        for place in _PLACE.findall(match[2]):
            before = len(positions)
            for label in map(int, place.strip("{}").split(",")):
                if not 1 <= label <= len(names) or label - 1 in positions:
                    lines.fail(
                        f"the order has the alternative {label}, which is not one of the "
                        f"{len(names)} alternatives, or occurs twice."
                    )
                positions[label - 1] = before + 1
        kind = metadata["DATA TYPE"]
        if kind in ("soc", "toc") and len(positions) < len(names):
            lines.fail(
                f"the order has {len(positions)} of the {len(names)} alternatives, and orders of "
                f"the type {kind} are complete: repair the line, or state the type {kind[:2]}i"
            )
        orders.append((int(match[1]), positions))
    n_voters, stated = sum(count for count, _ in orders), metadata.get("NUMBER VOTERS", "")
    if stated.isdecimal() and int(stated) != n_voters:
        warnings.warn(
            f"{lines.path} has the orders of {n_voters} voters and states {stated}: it may be a "
            "part of a file",
            stacklevel=3,
        )
    return metadata, names or _names(metadata, lines), orders


def _names(metadata: dict[str, str], lines: Lines) -> list[str]:
    """Remove the names of the alternatives from the metadata, and return them."""
    if (
        metadata.get("DATA TYPE") not in _TYPES
        or not metadata.get("NUMBER ALTERNATIVES", "").isdecimal()
    ):
        lines.fail(
            f"the lines before must state '# DATA TYPE:', one of {_TYPES}, and '# NUMBER "
            "ALTERNATIVES:'. Files of before 2022 do not: download the present ones."
        )
    numbers = range(1, int(metadata["NUMBER ALTERNATIVES"]) + 1)
    return [metadata.pop(f"ALTERNATIVE NAME {number}", str(number)) for number in numbers]
