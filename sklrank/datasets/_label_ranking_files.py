"""Loader of label-ranking benchmark files: tables with columns of positions, or of rankings."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

import numpy as np
from sklearn.utils import Bunch

from sklrank._rankings import close_ranks, invert_orderings
from sklrank.datasets._text_files import columns_of_labels, open_lines

if TYPE_CHECKING:
    from sklrank._typing import Loaded

_LABEL_COLUMN = re.compile(r"L\d+")
_MISSING = ("", "?", "nan")


@dataclass
class _Table:
    """The strings of a file."""

    path: str
    names: list[str]
    rows: list[list[str]]
    line_numbers: list[int]

    def fail(self, row: int, problem: str) -> NoReturn:
        raise ValueError(f"{self.path}, line {self.line_numbers[row]}: {problem}")


def load_label_ranking(
    path: str | os.PathLike,
    *,
    labels: int | Sequence[str] | None = None,
    orderings: bool = False,
    return_X_y: bool = False,
    encoding: str = "utf-8",
) -> Loaded:
    """Load a label-ranking data set from a text file in one of the benchmark formats.

    The file contains a table whose values are separated by commas, semicolons or tabs. Its first
    line has the names of the columns, such as ``A1,A2,...,L1,L2,...`` or ``A1,A2,...,ranking``. The
    benchmark data sets were introduced in [1]_.

    Parameters
    ----------
    path : str or path-like
        Path of the file, which is plain or compressed with gzip or bzip2. Compression is detected
        from the content of the file.
    labels : int or sequence of str, default=None
        The label columns, as a number or as names: ``4`` selects the first four columns, and ``-4``
        selects the last four. If None, a column that is named ``ranking`` contains the rankings, as
        strings such as ``b>c>a``. In this case, columns named after the labels are not features,
        and all columns after ``ranking`` must be such columns. If no column has this name, the
        label columns are ``L1``, ``L2``, and so on.
    orderings : bool, default=False
        Whether the label columns contain orderings, which list the labels best first, instead of
        positions. If True, the orderings are converted to positions. Five well-known data sets
        require True; see the notes.
    return_X_y : bool, default=False
        If True, return ``(data, target)`` instead of a Bunch.
    encoding : str, default="utf-8"
        Text encoding of the file.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        Data set with the following attributes:

        - ``data``: ndarray of shape (n_samples, n_features), float64. Missing values (``?``,
          ``nan`` or empty) are NaN.
        - ``target``: ndarray of shape (n_samples, n_labels), float64, the positions of the labels.
          Each position is 1 plus the number of labels ranked before. Labels that are not ranked are
          NaN.
        - ``feature_names``, ``target_names``: lists of str.
    (data, target) : tuple if ``return_X_y`` is True
        The first two of these attributes.

    Raises
    ------
    ValueError
        If the label columns cannot be determined; if a value is not a number; if a ranking cannot
        be read; or if ``orderings=True`` and a row lists a label twice. The message states the line
        of an invalid value or ranking.

    See Also
    --------
    sklrank.label_ranking.positions_from_orderings : Converts arrays of orderings to positions.

    Notes
    -----
    The data sets cold, diau, dtt, heat and spo circulate with orderings in their label columns: the
    second number is the index of the second best label. The files do not state this, and it cannot
    be detected, as orderings and positions are both permutations. If the orderings are read as
    positions, rankers predict them poorly. Some files also contain strings such as ``b>c>a``. These
    strings were generated from the label columns and have the same error. Pass ``orderings=True``
    for all of these files.

    In the string ``b>c=a``, the labels c and a are tied. Labels that a string omits are not ranked.

    References
    ----------
    .. [1] W. Cheng, J. Huhn, E. Hüllermeier, "Decision tree and instance-based learning for label
       ranking", ICML 2009.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklrank.datasets import load_label_ranking
    >>> text = '''A1,A2,L1,L2,L3
    ... 0.5,-1.0,3,1,2
    ... 0.1,2.5,1,2,3
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "cold.csv"
    ...     _ = path.write_text(text)
    ...     as_positions = load_label_ranking(path)
    ...     as_orderings = load_label_ranking(path, orderings=True)
    >>> as_positions.target
    array([[3., 1., 2.],
           [1., 2., 3.]])

    If the row 3, 1, 2 is an ordering, L3 is the best label, followed by L1 and L2:

    >>> as_orderings.target
    array([[2., 3., 1.],
           [1., 2., 3.]])
    >>> as_orderings.target_names
    ['L1', 'L2', 'L3']
    """
    table = _read_table(os.fspath(path), encoding)
    lowered = [name.lower() for name in table.names]
    if labels is None and "ranking" in lowered:
        target, label_names = _read_rankings(table, lowered.index("ranking"))
        # Columns named after labels contain the same rankings as numbers, so they are not features.
        features = [
            i
            for i, name in enumerate(table.names)
            if lowered[i] != "ranking" and name not in label_names
        ]
        first = 1.0
    else:
        columns = _find_labels(table, labels)
        label_names = [table.names[i] for i in columns]
        features = [i for i in range(len(table.names)) if i not in set(columns)]
        target = _read_numbers(table, columns)
        first = np.nanmin(target, initial=np.inf)
    if orderings:
        classes = first + np.arange(len(label_names))
        target = invert_orderings(target, classes, f"{table.path}: with orderings=True, the file")
    else:
        target = close_ranks(target)
    data = _read_numbers(table, features)
    if return_X_y:
        return data, target
    return Bunch(
        data=data,
        target=target,
        feature_names=[table.names[i] for i in features],
        target_names=label_names,
    )


def _read_table(path: str, encoding: str) -> _Table:
    # Tabs at the ends of a line are kept: they may delimit empty values.
    with open_lines(path, encoding, blank="\r\n ") as lines:
        first = lines.peek() or ""
        separator = next((s for s in "\t;" if s in first), ",")
        rows, line_numbers = [], []
        try:
            for row in csv.reader(lines, delimiter=separator, skipinitialspace=True):
                rows.append([value.strip() for value in row])
                line_numbers.append(lines.number)
        except csv.Error as error:
            lines.fail(f"{error}.")
    if not rows:
        raise ValueError(f"{path} is empty.")
    table = _Table(path, rows[0], rows[1:], line_numbers[1:])
    if len(set(table.names)) < len(table.names):
        raise ValueError(f"{path}: the first line must name each column once, got {table.names}.")
    for i, row in enumerate(table.rows):
        if len(row) != len(table.names):
            table.fail(i, f"{len(row)} values for {len(table.names)} columns.")
    return table


def _find_labels(table: _Table, labels: int | Sequence[str] | None) -> list[int]:
    if labels is None:
        columns = [i for i, name in enumerate(table.names) if _LABEL_COLUMN.fullmatch(name)]
        if not columns:
            raise ValueError(
                f"labels is None, and {table.path} has neither columns L1, L2, ... nor a column "
                f"'ranking', but {table.names[:8]}: pass labels (a number, e.g. -4 for the last "
                "four columns, or names)."
            )
    else:
        columns = columns_of_labels(labels, table.names)
    if len(set(columns)) < max(2, len(columns)):
        raise ValueError(f"labels must be two columns or more, each once, got {labels!r}.")
    return columns


def _read_numbers(table: _Table, columns: list[int]) -> np.ndarray:
    values = np.empty((len(table.rows), len(columns)))
    for i, strings in enumerate(table.rows):
        for j, column in enumerate(columns):
            try:
                values[i, j] = np.nan if strings[column] in _MISSING else float(strings[column])
                # Python allows underscores between the digits of a number.
                if np.isinf(values[i, j]) or "_" in strings[column]:
                    raise ValueError
            except ValueError:
                table.fail(
                    i,
                    f"column {table.names[column]!r} must be a finite number, got "
                    f"{strings[column]!r}: write ? for missing values, and numbers for names.",
                )
    return values


def _read_rankings(table: _Table, column: int) -> tuple[np.ndarray, list[str]]:
    """Read a column of rankings, which are strings such as ``b>c=a``.

    Return the positions `(n_rows, n_labels)` and the names of the labels.
    """
    rankings = []
    for i, strings in enumerate(table.rows):
        tiers = [] if strings[column] in _MISSING else strings[column].split(">")
        rankings.append([[name.strip() for name in tier.split("=")] for tier in tiers])
        if not all(name for tier in rankings[-1] for name in tier):
            table.fail(
                i, f"{strings[column]!r} is not a ranking: a label between signs is missing."
            )
    named = {name for tiers in rankings for tier in tiers for name in tier}
    label_names = table.names[column + 1 :] or sorted(named)
    index = {name: j for j, name in enumerate(label_names)}
    target = np.full((len(rankings), len(label_names)), np.nan)
    for i, tiers in enumerate(rankings):
        for place, tier in enumerate(tiers):
            for name in tier:
                if name not in index or not np.isnan(target[i, index[name]]):
                    table.fail(
                        i,
                        f"{table.rows[i][column]!r} is not a ranking of the labels {label_names}, "
                        f"each once: see {name!r}.",
                    )
                target[i, index[name]] = place
    if named < set(label_names):
        raise ValueError(
            f"{table.path}: no ranking contains {sorted(set(label_names) - named)}, but all "
            "columns after the column of rankings must be labels: put features before it."
        )
    return close_ranks(target), label_names
