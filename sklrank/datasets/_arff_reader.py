"""Reader of the ARFF file format.

A header declares the attributes. After ``@data``, each line contains one row, dense (``5.1,?,red``)
or sparse (``{0 5.1, 2 red}``, where omitted values are zero), and perhaps its weight, as in
``5.1,?,red,{2}`` or ``{0 5.1, 2 red},{2}``. A nominal value is converted to its index, from 0, in
the declaration of the attribute. So zero is the first declared value, which sparse rows omit.

``scipy.io.arff`` reads neither sparse rows nor string attributes. The reader inside scikit-learn
refuses dates and tabs, and truncates the numbers of integer attributes.
"""

from __future__ import annotations

import os
import re
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from math import isinf

import numpy as np
from scipy import sparse

from sklrank.datasets._text_files import Lines, open_lines

_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_NAME_AND_TYPE = re.compile(rf"\s*({_QUOTED}|[^\s{{'\"][^\s{{]*)\s*(.*)", re.DOTALL)
# Each run of white space can match only one part of a pattern, so that long runs take linear time.
# The lookahead "(?!\s)" keeps a run from being divided between both sides of an empty value.
_PLAIN = r"(?:[^\s,'\"]+(?:\s+[^\s,'\"]+)*)?"
_VALUE = re.compile(rf"\s*(?!\s)({_QUOTED}|{_PLAIN})\s*(?:,|$)")
_INDEX_AND_VALUE = re.compile(rf"\s*(\d{{1,18}})\s+(?!\s)({_QUOTED}|{_PLAIN})\s*(?:,|$)")
_DECLARED_VALUES = re.compile(r"\{(.*)\}", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)")
_CONTROL_CHARACTERS = {"n": "\n", "r": "\r", "t": "\t"}
_NUMERIC_TYPES = ("numeric", "real", "integer")
_TEXT_TYPES = ("string", "date")


@dataclass(frozen=True)
class Attribute:
    """A declared attribute of an ARFF file; `values` are those of a nominal one, else None."""

    name: str
    kind: str
    values: tuple[str, ...] | None = None

    @property
    def is_text(self) -> bool:
        """Return whether the values are strings or dates, which are not converted."""
        return self.kind in _TEXT_TYPES

    def converter(self) -> Callable[[str], float]:
        """Return a function that converts a value of this attribute from a string to a number."""
        if self.is_text:
            return lambda string: 0.0
        if self.values is None:
            return _finite_number
        codes = {value: float(code) for code, value in enumerate(self.values)}
        return {**codes, "?": np.nan}.__getitem__


@dataclass(frozen=True)
class ArffFile:
    """The contents of an ARFF file.

    ``matrix`` has one column for each attribute and the dtype float64. It is an ndarray if the rows
    of the file are dense, and a CSR matrix if they are sparse. The columns of strings and dates
    are 0. ``weights`` are those of the rows, 1 where a row has none; None if no row has one.
    """

    relation: str
    comments: str
    attributes: tuple[Attribute, ...]
    matrix: np.ndarray | sparse.csr_matrix
    weights: np.ndarray | None


def read_arff(path: str | os.PathLike, encoding: str) -> ArffFile:
    """Read an ARFF file, which is plain or compressed with gzip or bzip2."""
    with open_lines(os.fspath(path), encoding) as lines:
        relation, attributes = _read_header(lines)
        comments = "\n".join(lines.comments)
        matrix, weights = _read_rows(lines, attributes)
    return ArffFile(relation, comments, attributes, matrix, weights)


def _read_header(lines: Lines) -> tuple[str, tuple[Attribute, ...]]:
    """Read the header up to the line ``@data``; return the relation name and the attributes."""
    relation = ""
    attributes: dict[str, Attribute] = {}
    for line in lines:
        keyword, _, rest = line.replace("\t", " ", 1).partition(" ")
        keyword = keyword.lower()
        if keyword == "@relation":
            name = rest.strip()
            if name.startswith(("'", '"')) and re.match(_QUOTED, name) is None:
                lines.fail(f"a quotation mark is not closed: {_shorten(name)!r}.")
            relation = _unquote(name)
        elif keyword == "@attribute":
            attribute = _parse_attribute(rest, lines)
            if attribute.name in attributes:
                lines.fail(f"attribute {attribute.name!r} is declared twice.")
            attributes[attribute.name] = attribute
        elif keyword == "@data":
            if not attributes:
                lines.fail("@data comes before any @attribute.")
            return relation, tuple(attributes.values())
        else:
            lines.fail(f"expected @relation, @attribute or @data, got {_shorten(line)!r}.")
    lines.fail("the file ends without an @data line.")


def _parse_attribute(declaration: str, lines: Lines) -> Attribute:
    match = _NAME_AND_TYPE.fullmatch(declaration)
    if match is None:
        lines.fail(
            "@attribute needs a name and a type, and a quotation mark at the end of a name that "
            f"starts with one; got {_shorten(declaration)!r}."
        )
    name, kind = _unquote(match[1]), match[2].strip()
    declared = _DECLARED_VALUES.fullmatch(kind)
    if declared is not None:
        values = _split_values(declared[1], lines)
        return Attribute(name, "nominal", tuple(_unquote(value) for value in values))
    keyword = kind.split(maxsplit=1)[0].lower() if kind else ""
    if keyword not in _NUMERIC_TYPES + _TEXT_TYPES:
        lines.fail(
            f"attribute {name!r} has the type {_shorten(kind)!r}; known are numeric, real, "
            "integer, string, date and {nominal, values}."
        )
    return Attribute(name, keyword)


def _read_rows(lines: Lines, attributes):
    """Return the matrix of the rows, and their weights or None."""
    converters = [attribute.converter() for attribute in attributes]
    n_attributes = len(attributes)
    values, columns, row_ends = array("d"), array("q"), array("q", [0])
    is_sparse, weights = None, {}
    for line in lines:
        if line.endswith("}"):
            line = _without_weight(line, weights, len(row_ends) - 1, lines)
        if is_sparse not in (None, line.startswith("{")):
            lines.fail("dense and sparse rows in one file: write them all in one form.")
        is_sparse = line.startswith("{")
        if is_sparse:
            row_columns, strings = _split_sparse(line, n_attributes, lines)
            columns.extend(row_columns)
        else:
            row_columns, strings = range(n_attributes), _split_values(line, lines)
            if len(strings) != n_attributes:
                lines.fail(f"{len(strings)} values for {n_attributes} attributes.")
        pairs = list(zip(row_columns, strings))
        try:
            values.extend([converters[column](string) for column, string in pairs])
        except (ValueError, KeyError):
            # Only rows with quoted or invalid values are converted in this slower way.
            values.extend(
                [_convert_carefully(attributes[column], string, lines) for column, string in pairs]
            )
        row_ends.append(len(values))
    n_rows = len(row_ends) - 1
    of_rows = np.ones(n_rows) if weights else None
    if weights:
        of_rows[list(weights)] = list(weights.values())
    if not is_sparse:
        return np.array(values).reshape(n_rows, n_attributes), of_rows
    parts = (np.array(values), np.array(columns), np.array(row_ends))
    matrix = sparse.csr_matrix(parts, shape=(n_rows, n_attributes))
    matrix.sort_indices()
    return matrix, of_rows


def _without_weight(line: str, weights: dict[int, float], row: int, lines: Lines) -> str:
    """Return a line without the weight at its end, which is added to `weights`."""
    rest, _, weight = line[:-1].rpartition("{")
    rest = rest.rstrip()
    values = rest[:-1].rstrip()
    if not rest.endswith(",") or (line.startswith("{") and not values.endswith("}")):
        return line
    try:
        weights[row] = _finite_number(weight.strip())
    except ValueError:
        weights[row] = np.nan
    if not weights[row] >= 0.0:
        lines.fail(f"the weight {{{_shorten(weight)}}} of the row must be a number of 0 or more.")
    return values


def _split_values(line: str, lines: Lines) -> list[str]:
    """Split a line at the commas outside of quotes; return the values with their quotes."""
    if "'" not in line and '"' not in line:
        return [string.strip() for string in line.split(",")]
    strings, position = [], 0
    while position < len(line):
        match = _VALUE.match(line, position)
        if match is None:
            lines.fail(
                f"a quotation mark is not closed, or not around a whole value: {_shorten(line)!r}."
            )
        strings.append(match[1].rstrip())
        position = match.end()
    if line.endswith(","):
        strings.append("")
    return strings


def _split_sparse(line: str, n_attributes: int, lines: Lines) -> tuple[list[int], list[str]]:
    if not line.endswith("}"):
        lines.fail("a sparse row must end with '}', or with a weight, as in '{0 5.1},{2}'.")
    body = line[1:-1].strip()
    columns, strings, position = [], [], 0
    while position < len(body):
        match = _INDEX_AND_VALUE.match(body, position)
        if match is None:
            lines.fail(f"expected 'index value' pairs, got {_shorten(body[position:].lstrip())!r}.")
        columns.append(int(match[1]))
        strings.append(match[2].rstrip())
        position = match.end()
    if columns and max(columns) >= n_attributes:
        lines.fail(f"index {max(columns)} but only {n_attributes} attributes (counted from 0).")
    if len(set(columns)) < len(columns):
        lines.fail("an index is given twice.")
    return columns, strings


def _convert_carefully(attribute: Attribute, string: str, lines: Lines) -> float:
    value = _unquote(string)
    if string != "?" and value in (attribute.values or ()):  # "?" in quotes may be a value.
        return float(attribute.values.index(value))
    try:
        return attribute.converter()(value)
    except ValueError:
        lines.fail(
            f"attribute {attribute.name!r} is numeric, got {_shorten(value)!r}: numbers must be "
            "finite, or ? if they are missing."
        )
    except KeyError:
        declared = _shorten(", ".join(attribute.values))
        lines.fail(
            f"attribute {attribute.name!r} has the values {{{declared}}}, got {_shorten(value)!r}."
        )


def _finite_number(string: str) -> float:
    if string == "?":
        return np.nan
    number = float(string)
    # Python allows underscores between the digits of a number.
    if isinf(number) or "_" in string:
        raise ValueError
    return number


def _unquote(text: str) -> str:
    """Return a string without surrounding quotes and with its escape sequences replaced."""
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        text = text[1:-1]
    if "\\" not in text:
        return text
    return _ESCAPED.sub(lambda match: _CONTROL_CHARACTERS.get(match[1], match[1]), text)


def _shorten(text: str, length: int = 60) -> str:
    return text if len(text) <= length else text[: length - 3] + "..."
