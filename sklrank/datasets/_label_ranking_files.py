"""Loader of label-ranking benchmark files: tables with columns of positions, or of rankings.

The same data sets circulate in several formats, which have different headers. The header is one of

- a line of names: the features ``A1, A2, ...`` and the label columns ``L1, L2, ...``;
- a line of names: the features, a column ``ranking`` of strings such as ``b>c>a``, and optionally
  columns named after the labels, which contain the same rankings as numbers;
- a line of three numbers: the numbers of rows, features and labels;
- that of XARFF, the ARFF format of Weka-LR, with an attribute of type ``RANKING {a, b, c}``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils import Bunch

from sklrank._rankings import close_ranks, invert_orderings
from sklrank.datasets._arff_reader import read_header, split_values, unquote
from sklrank.datasets._text_files import Lines, columns_of_labels, open_lines

if TYPE_CHECKING:
    from sklrank._typing import Loaded

_LABEL_COLUMN = re.compile(r"L\d+")
_COUNT = re.compile(r"[0-9]{1,18}")
_MISSING = ("", "?", "nan")


@dataclass
class _Table:
    """The strings of a file, and the information in its header about the columns."""

    path: str
    names: list[str]
    rows: list[list[str]]
    line_numbers: list[int]
    separator: str | None = ","
    """Separator of the values of a row, or None if the rows are in ARFF syntax."""
    ranking_column: int | None = None
    """Index of the column that contains rankings as strings."""
    label_columns: list[int] | None = None
    label_names: list[str] | None = None
    n_rows: int | None = None
    """Number of rows that the header states."""
    declared_values: dict[int, list[str]] | None = None
    """Declared values of the nominal columns, by column index; None if the header declares none."""

    def fail(self, row: int, problem: str):
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

    The file contains a table whose values are separated by commas, semicolons or tabs. Its header
    is a line of column names (``A1,A2,...,L1,L2,...``), a line of three numbers (of rows, features
    and labels), or the header of an XARFF file of Weka-LR. The benchmark data sets were introduced
    in [1]_.

    Parameters
    ----------
    path : str or path-like
        Path of the file, which is plain or compressed with gzip or bzip2. Compression is detected
        from the content of the file.
    labels : int or sequence of str, default=None
        The label columns, as a number or as names: ``4`` selects the first four columns, and ``-4``
        selects the last four. If None, the first of these rules that applies to the header
        determines the label columns:

        - A column that is named ``ranking`` or has XARFF's type ``RANKING`` contains the rankings,
          as strings such as ``b>c>a``. In this case, columns named after the labels are not
          features, and all columns after one named ``ranking`` must be such columns.
        - The label columns are ``L1``, ``L2``, and so on.
        - The label columns are the last ones. Their number is the third of the three numbers.
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
          ``nan`` or empty) are NaN. The value of a nominal feature is represented by its index in
          `categories`.
        - ``target``: ndarray of shape (n_samples, n_labels), float64, the positions of the labels.
          Each position is 1 plus the number of labels ranked before. Labels that are not ranked are
          NaN.
        - ``feature_names``, ``target_names``: lists of str.
        - ``categories``: dict that maps the name of each nominal feature to its values. In XARFF
          files, the values are in the declared order. In other files, a feature is nominal if none
          of its values is a number, and the values are sorted.
    (data, target) : tuple if ``return_X_y`` is True
        The first two of these attributes.

    Raises
    ------
    ValueError
        If the label columns cannot be determined; if a value is neither a number nor declared; if a
        ranking cannot be read; if ``orderings=True`` and a row does not list each label once; or
        if the first line states a wrong number of rows. The message states the line of an invalid
        value or ranking.

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

    Most learners treat the indices of nominal values as ordered, although the values may have no
    order. To avoid this, encode each value as a separate feature with
    :class:`~sklearn.preprocessing.OneHotEncoder`.

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

    A nominal feature can be encoded by one feature for each of its values:

    >>> from sklearn.compose import make_column_transformer
    >>> from sklearn.preprocessing import OneHotEncoder
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "people.csv"
    ...     _ = path.write_text("age,town,ranking\\n31,Ulm,a>b\\n54,Bonn,b>a\\n")
    ...     people = load_label_ranking(path)
    >>> people.data
    array([[31.,  1.],
           [54.,  0.]])
    >>> people.categories
    {'town': ['Bonn', 'Ulm']}
    >>> nominal = [people.feature_names.index(name) for name in people.categories]
    >>> encoder = make_column_transformer((OneHotEncoder(), nominal), remainder="passthrough")
    >>> encoder.fit_transform(people.data)
    array([[ 0.,  1., 31.],
           [ 1.,  0., 54.]])
    """
    table = _read_table(os.fspath(path), encoding)
    if labels is not None or table.ranking_column is None:
        columns = _find_labels(table, labels)
        label_names = [table.names[i] for i in columns]
        feature_columns = [i for i in range(len(table.names)) if i not in set(columns)]
        if orderings:
            target, label_names = _read_orderings(table, columns, label_names)
        else:
            target = close_ranks(_read_numbers(table, columns))
    else:
        target, label_names = _read_rankings(table)
        # Columns named after labels contain the same rankings as numbers, so they are not features.
        feature_columns = [
            i
            for i, name in enumerate(table.names)
            if i != table.ranking_column and name not in label_names
        ]
        if orderings:
            target = _invert(table, target, np.arange(1.0, len(label_names) + 1))
    data, categories = _read_features(table, feature_columns)
    if return_X_y:
        return data, target
    return Bunch(
        data=data,
        target=target,
        feature_names=[table.names[i] for i in feature_columns],
        target_names=label_names,
        categories=categories,
    )


def _read_table(path: str, encoding: str) -> _Table:
    # Tabs at the ends of a line are kept: they may delimit empty values.
    with open_lines(path, encoding, blank="\r\n ") as lines:
        first = lines.peek()
        if first is None:
            raise ValueError(f"{path} is empty.")
        table = _read_xarff_head(lines) if first.startswith("@") else _read_head(lines)
        for line in lines:
            strings = _split(line, table.separator, lines)
            table.rows.append(strings)
            table.line_numbers.append(lines.number)
            if len(strings) != len(table.names):
                table.fail(-1, f"{len(strings)} values for {len(table.names)} columns.")
    if table.n_rows not in (None, len(table.rows)):
        raise ValueError(
            f"{path} states {table.n_rows} rows in its first line, but has {len(table.rows)}: get "
            "the complete file, or correct that line."
        )
    return table


def _read_head(lines: Lines) -> _Table:
    line = next(lines)
    separator = next((s for s in "\t;" if s in line), ",")
    names = _split(line, separator, lines)
    table = _Table(lines.path, names, [], [], separator)
    if len(names) == 3 and all(_COUNT.fullmatch(name) for name in names):
        table.n_rows, n_features, n_labels = map(int, names)
        row = lines.peek()
        # The numbers may be wrong, and lists of names of that length may not fit into memory.
        if row is not None:
            n_columns = len(_split(row, separator, lines))
            if n_columns != n_features + n_labels:
                lines.fail(f"{n_columns} values for {n_features + n_labels} columns.")
        table.names = [f"A{i + 1}" for i in range(n_features)]
        table.names += [f"L{i + 1}" for i in range(n_labels)]
        table.label_columns = list(range(n_features, n_features + n_labels))
        return table
    if len(set(names)) < len(names):
        raise ValueError(f"{lines.path}: the first line must name each column once, got {names}.")
    lowered = [name.lower() for name in names]
    if "ranking" in lowered:
        table.ranking_column = lowered.index("ranking")
        table.label_names = names[table.ranking_column + 1 :] or None
    else:
        table.label_columns = [i for i, name in enumerate(names) if _LABEL_COLUMN.fullmatch(name)]
    return table


def _read_xarff_head(lines: Lines) -> _Table:
    _, attributes = read_header(lines, with_rankings=True)
    names = [attribute.name for attribute in attributes]
    table = _Table(lines.path, names, [], [], separator=None, declared_values={})
    for column, attribute in enumerate(attributes):
        if attribute.kind == "ranking":
            table.ranking_column = column
            table.label_names = list(attribute.values)
        elif attribute.values is not None:
            table.declared_values[column] = list(attribute.values)
    return table


def _find_labels(table: _Table, labels: int | Sequence[str] | None) -> list[int]:
    if labels is None:
        if not table.label_columns:
            raise ValueError(
                f"labels is None, and {table.path} has neither columns L1, L2, ... nor a column "
                f"of rankings, but {table.names[:8]}: pass labels (a number, e.g. -4 for the last "
                "four columns, or names)."
            )
        columns = table.label_columns
    else:
        columns = columns_of_labels(labels, table.names)
    if len(set(columns)) < max(2, len(columns)):
        raise ValueError(f"labels must be two columns or more, each once, got {labels!r}.")
    return columns


def _read_features(table: _Table, columns: list[int]) -> tuple[np.ndarray, dict[str, list[str]]]:
    """Read the feature columns; return them as numbers, and the values of the nominal features.

    A nominal value is converted to its index in the values of its feature.
    """
    data = np.empty((len(table.rows), len(columns)))
    categories = {}
    for j, column in enumerate(columns):
        values = _nominal_values(table, column)
        if values is None:
            data[:, j] = _read_numbers(table, [column])[:, 0]
        else:
            data[:, j] = _read_codes(table, column, values)
            categories[table.names[column]] = values
    return data, categories


def _nominal_values(table: _Table, column: int) -> list[str] | None:
    """Return the values of a column if it is a nominal feature, or None if it is numeric."""
    if table.declared_values is not None and column != table.ranking_column:
        return table.declared_values.get(column)
    found = {strings[column] for strings in table.rows}.difference(_MISSING)
    # A feature with at least one number is numeric; any other strings in it are errors.
    if not found or any(map(_is_number, found)):
        return None
    if column == table.ranking_column:
        raise ValueError(
            f"{table.path}: column {table.names[column]!r} holds rankings, which as a feature "
            "would reveal the target: leave labels out, so that the rankings are the target, or "
            "remove that column from the file."
        )
    return sorted(found)


def _is_number(text: str) -> bool:
    try:
        float(text.replace(",", "."))  # numbers with decimal commas are errors, not names
    except ValueError:
        return False
    return True


def _read_codes(table: _Table, column: int, values: list[str]) -> np.ndarray:
    code = {**dict.fromkeys(_MISSING, np.nan), **{value: i for i, value in enumerate(values)}}
    codes = np.empty(len(table.rows))
    for i, strings in enumerate(table.rows):
        if strings[column] not in code:
            table.fail(
                i,
                f"column {table.names[column]!r} must be one of {values}, as declared, got "
                f"{strings[column]!r}.",
            )
        codes[i] = code[strings[column]]
    return codes


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
                    f"{strings[column]!r}: write ? for missing values.",
                )
    return values


def _read_orderings(
    table: _Table, columns: list[int], label_names: list[str]
) -> tuple[np.ndarray, list[str]]:
    """Read orderings of labels, which are consecutive numbers or names.

    Return the positions `(n_rows, n_labels)` and the names of the labels.
    """
    try:
        listed = _read_numbers(table, columns)
    except ValueError:
        listed = np.array([[strings[column] for column in columns] for strings in table.rows])
        classes = np.unique(listed)
        return _invert(table, listed, classes), classes.tolist()
    first = np.nanmin(listed, initial=np.inf)
    return _invert(table, listed, first + np.arange(len(columns))), label_names


def _invert(table: _Table, listed: np.ndarray, classes: np.ndarray) -> np.ndarray:
    for i, row in enumerate(np.sort(listed, axis=1)):
        if not np.array_equal(row, classes):
            table.fail(
                i,
                f"with orderings=True each row must list the {listed.shape[1]} labels, each "
                f"once, got {listed[i].tolist()}.",
            )
    return invert_orderings(listed, classes)


def _read_rankings(table: _Table) -> tuple[np.ndarray, list[str]]:
    """Read the column of rankings, which are strings such as ``b>c=a``.

    Return the positions `(n_rows, n_labels)` and the names of the labels.
    """
    rankings = []
    for strings in table.rows:
        string = strings[table.ranking_column]
        tiers = [] if string in _MISSING else string.split(">")
        rankings.append([[name.strip() for name in tier.split("=")] for tier in tiers])
        if not all(name for tier in rankings[-1] for name in tier):
            table.fail(
                len(rankings) - 1, f"{string!r} is not a ranking: a label between signs is missing."
            )
    named = {name for tiers in rankings for tier in tiers for name in tier}
    label_names = table.label_names or sorted(named)
    column = {name: j for j, name in enumerate(label_names)}
    target = np.full((len(rankings), len(label_names)), np.nan)
    for i, tiers in enumerate(rankings):
        for place, tier in enumerate(tiers):
            for name in tier:
                if name not in column or not np.isnan(target[i, column[name]]):
                    table.fail(
                        i,
                        f"{table.rows[i][table.ranking_column]!r} is not a ranking of the labels "
                        f"{label_names}, each once: see {name!r}.",
                    )
                target[i, column[name]] = place
    if table.declared_values is None and named < set(label_names):
        raise ValueError(
            f"{table.path}: no ranking contains {sorted(set(label_names) - named)}, but all "
            "columns after the column of rankings must be labels: put features before it."
        )
    return close_ranks(target), label_names


def _split(line: str, separator: str | None, lines: Lines) -> list[str]:
    if separator is None:
        return [unquote(string) for string in split_values(line, lines)]
    if "'" not in line and '"' not in line:
        return [string.strip() for string in line.split(separator)]
    # Quoted strings may contain separators.
    quoted = rf"""\ *(?:'[^']*'|"[^"]*")\ *(?={separator}|$)"""
    strings = re.findall(rf"(?:^|{separator})({quoted}|[^{separator}]*)", line)
    return [_without_quotes(string.strip()) for string in strings]


def _without_quotes(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text
