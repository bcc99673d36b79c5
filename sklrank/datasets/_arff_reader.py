"""The ARFF file format: from text to numbers.

An ARFF file is a header that declares the attributes one by one and, after ``@data``, one row a
line: dense (``5.1,?,red``) or sparse (``{0 5.1, 2 red}``, what is left out being zero). A nominal
value becomes its position in the attribute's declaration, so zero is the first one declared:
that is also what a sparse row means by leaving it out.

``scipy.io.arff`` reads neither sparse rows nor string attributes and does not say which line it
stumbled over, so the rows are read here, for both forms.
"""

from __future__ import annotations

import gzip
import io
import os
import re
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NoReturn

import numpy as np
from scipy import sparse

_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_NAME_AND_TYPE = re.compile(rf"\s*({_QUOTED}|[^\s{{]+)\s*(.*)", re.DOTALL)
# White space belongs to one part only of a pattern: a long run of it must not be tried in all ways.
_PLAIN = r"(?:[^\s,'\"]+(?:\s+[^\s,'\"]+)*)?"
_VALUE = re.compile(rf"\s*({_QUOTED}|{_PLAIN})\s*(?:,|$)")
_INDEX_AND_VALUE = re.compile(rf"\s*(\d+)\s+({_QUOTED}|{_PLAIN})\s*(?:,|$)")
_ESCAPED = re.compile(r"\\(.)")
_CONTROL_CHARACTERS = {"n": "\n", "r": "\r", "t": "\t"}
_NUMERIC_TYPES = ("numeric", "real", "integer")
_TEXT_TYPES = ("string", "date")


@dataclass(frozen=True)
class Attribute:
    """A declared attribute: ``values`` are those of a nominal one, else None."""

    name: str
    kind: str
    values: tuple[str, ...] | None = None

    @property
    def is_text(self) -> bool:
        """Whether the values have no number (strings, dates)."""
        return self.kind in _TEXT_TYPES

    def converter(self) -> Callable[[str], float]:
        """Return the function that makes a number of a value's text."""
        if self.is_text:
            return _text_to_zero
        if self.values is None:
            return float
        return {value: float(code) for code, value in enumerate(self.values)}.__getitem__


@dataclass(frozen=True)
class ArffFile:
    """What an ARFF file says.

    ``matrix`` has a column for each attribute, float64: an ndarray when the rows are dense, CSR
    when they are sparse. Text has no number and stands as 0.
    """

    relation: str
    comments: str
    attributes: tuple[Attribute, ...]
    matrix: np.ndarray | sparse.csr_matrix


class _Lines:
    """The lines that carry something, and where we are among them."""

    def __init__(self, path: str, stream: io.TextIOBase):
        self.path = path
        self.number = 0
        self.comments: list[str] = []
        self._stream = stream

    def __iter__(self) -> Iterator[str]:
        for line in self._stream:
            self.number += 1
            line = line.strip()
            if line.startswith("%"):
                self.comments.append(line[1:].strip())
            elif line:
                yield line

    def fail(self, problem: str) -> NoReturn:
        raise ValueError(f"{self.path}, line {self.number}: {problem}")


def read_arff(path: str | os.PathLike, encoding: str) -> ArffFile:
    """Read a plain or gzip-compressed ARFF file.

    Raises
    ------
    ValueError
        Naming the file and the line, if the text is not ARFF.
    """
    path = os.fspath(path)
    with open_text(path, encoding) as stream:
        lines = _Lines(path, stream)
        try:
            relation, attributes = _read_header(lines)
            comments = "\n".join(lines.comments)
            matrix = _read_rows(lines, attributes)
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{path} is not encoded in {encoding!r} ({error.reason} after line "
                f"{lines.number}): pass its encoding, e.g. encoding='latin-1'."
            ) from error
    return ArffFile(relation, comments, attributes, matrix)


def open_text(path: str, encoding: str) -> io.TextIOBase:
    with open(path, "rb") as file:
        is_compressed = file.read(2) == b"\x1f\x8b"
    if encoding.lower().replace("_", "-") in ("utf-8", "utf8"):
        encoding = "utf-8-sig"  # some programs write a byte order mark
    return (gzip.open if is_compressed else open)(path, "rt", encoding=encoding)


def _read_header(lines: _Lines) -> tuple[str, tuple[Attribute, ...]]:
    relation = ""
    attributes: dict[str, Attribute] = {}
    for line in lines:
        keyword, _, rest = line.replace("\t", " ", 1).partition(" ")
        keyword = keyword.lower()
        if keyword == "@relation":
            relation = _unquote(rest.strip())
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


def _parse_attribute(declaration: str, lines: _Lines) -> Attribute:
    match = _NAME_AND_TYPE.fullmatch(declaration)
    if match is None:
        lines.fail("@attribute needs a name and a type.")
    name, kind = _unquote(match[1]), match[2].strip()
    if kind.startswith("{") and kind.endswith("}"):
        values = _split(kind[1:-1], lines)
        return Attribute(name, "nominal", tuple(_unquote(value) for value in values))
    keyword = kind.split(maxsplit=1)[0].lower() if kind else ""
    if keyword not in _NUMERIC_TYPES + _TEXT_TYPES:
        lines.fail(
            f"attribute {name!r} has the type {_shorten(kind)!r}; known are numeric, real, "
            "integer, string, date and {nominal, values}."
        )
    return Attribute(name, keyword)


def _read_rows(lines: _Lines, attributes: tuple[Attribute, ...]) -> np.ndarray | sparse.csr_matrix:
    converters = [attribute.converter() for attribute in attributes]
    n_attributes = len(attributes)
    values = array("d")
    columns, row_ends = array("q"), array("q", [0])
    is_sparse = None

    for line in lines:
        row_is_sparse = line.startswith("{")
        if is_sparse is None:
            is_sparse = row_is_sparse
        elif is_sparse != row_is_sparse:
            lines.fail("dense and sparse rows in one file: write them all in one form.")

        if is_sparse:
            row_columns, texts = _split_sparse(line, n_attributes, lines)
            columns.extend(row_columns)
            row_converters = [converters[column] for column in row_columns]
        else:
            row_columns, texts = range(n_attributes), _split(line, lines)
            if len(texts) != n_attributes:
                lines.fail(f"{len(texts)} values for {n_attributes} attributes.")
            row_converters = converters
        try:
            values.extend(
                [
                    np.nan if text == "?" else convert(text)
                    for convert, text in zip(row_converters, texts)
                ]
            )
        except (ValueError, KeyError):
            # Only values in quotes, or wrong ones, come here: the usual row pays for neither.
            values.extend(
                _convert_carefully(attributes[column], text, lines)
                for column, text in zip(row_columns, texts)
            )
        row_ends.append(len(values))

    data = np.array(values, dtype=np.float64)
    n_rows = len(row_ends) - 1
    if not is_sparse:
        return data.reshape(n_rows, n_attributes)
    parts = (data, np.array(columns, dtype=np.int64), np.array(row_ends, dtype=np.int64))
    matrix = sparse.csr_matrix(parts, shape=(n_rows, n_attributes))
    matrix.sort_indices()
    return matrix


def _split(line: str, lines: _Lines) -> list[str]:
    """Cut a line at its commas; values keep their quotes."""
    if "'" not in line and '"' not in line:
        return [text.strip() for text in line.split(",")]
    texts, position = [], 0
    while position < len(line):
        match = _VALUE.match(line, position)
        if match is None:
            lines.fail(
                f"a quotation mark is not closed, or not around a whole value: {_shorten(line)!r}."
            )
        texts.append(match[1].rstrip())
        position = match.end()
    if line.endswith(","):
        texts.append("")
    return texts


def _split_sparse(line: str, n_attributes: int, lines: _Lines) -> tuple[list[int], list[str]]:
    if not line.endswith("}"):
        lines.fail("a sparse row must end with '}' (row weights are not supported).")
    body = line[1:-1].strip()
    columns, texts, position = [], [], 0
    while position < len(body):
        match = _INDEX_AND_VALUE.match(body, position)
        if match is None:
            lines.fail(f"expected 'index value' pairs, got {_shorten(body[position:].lstrip())!r}.")
        columns.append(int(match[1]))
        texts.append(match[2].rstrip())
        position = match.end()
    if columns and max(columns) >= n_attributes:
        lines.fail(f"index {max(columns)} but only {n_attributes} attributes (counted from 0).")
    if len(set(columns)) < len(columns):
        lines.fail("an index is given twice.")
    return columns, texts


def _convert_carefully(attribute: Attribute, text: str, lines: _Lines) -> float:
    if text == "?":
        return np.nan
    value = _unquote(text)
    try:
        return attribute.converter()(value)
    except ValueError:
        lines.fail(f"attribute {attribute.name!r} is numeric, got {_shorten(value)!r}.")
    except KeyError:
        declared = _shorten(", ".join(attribute.values))
        lines.fail(
            f"attribute {attribute.name!r} has the values {{{declared}}}, got {_shorten(value)!r}."
        )


def _text_to_zero(text: str) -> float:
    return 0.0


def _unquote(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        text = text[1:-1]
    if "\\" not in text:
        return text
    return _ESCAPED.sub(lambda match: _CONTROL_CHARACTERS.get(match[1], match[1]), text)


def _shorten(text: str, length: int = 60) -> str:
    return text if len(text) <= length else text[: length - 3] + "..."
