"""Helper functions for readers of text files: numbered lines, and columns of labels."""

from __future__ import annotations

import bz2
import gzip
import io
import zlib
from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager
from typing import IO, NoReturn

import numpy as np

from sklrank._validation import is_integer

# A dense array of more entries than this, of which fewer than one in `MIN_DENSITY` is in the files,
# is rather due to a wrong index than intended.
MAX_ENTRIES, MIN_DENSITY = 2**27, 100


class Lines:
    """Iterator over the lines of a file that are not empty.

    The attribute `number` is the number of the line read last. Lines that start with "%" are
    skipped and collected in `comments`. The characters in `blank` are stripped from both ends of
    each line; if `blank` is None, all white space is stripped.
    """

    def __init__(self, path: str, stream: io.TextIOBase, blank: str | None = None):
        self.path = path
        self.number = 0
        self.comments: list[str] = []
        self._stream = stream
        self._blank = blank
        self._next: str | None = None

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        if self._next is not None:
            line, self._next = self._next, None
            return line
        for line in self._stream:
            self.number += 1
            if "\0" in line:
                self.fail("a NUL byte, which no text has: the file is damaged or not a text file.")
            line = line.strip(self._blank)
            if line.startswith("%"):
                self.comments.append(line[1:].strip())
            elif line:
                return line
        raise StopIteration

    def peek(self) -> str | None:
        """Return the next line without consuming it, or None at the end of the file."""
        if self._next is None:
            self._next = next(self, None)
        return self._next

    def fail(self, problem: str, number: int | None = None) -> NoReturn:
        """Raise a ValueError that states the file, the line and the problem.

        If `number` is None, the line is the current one.
        """
        raise ValueError(f"{self.path}, line {number or self.number}: {problem}")


@contextmanager
def open_binary(path: str) -> Iterator[IO[bytes]]:
    """Open a file for reading, decompressing it if its content is that of gzip or bzip2."""
    with open(path, "rb") as file:
        start = file.read(3)
    open_file = gzip.open if start[:2] == b"\x1f\x8b" else bz2.open if start == b"BZh" else open
    with open_file(path, "rb") as stream:
        try:
            yield stream
        except (EOFError, OSError, zlib.error) as error:
            if open_file is open:
                raise
            raise ValueError(f"{path} is damaged: {error}") from error


@contextmanager
def open_lines(path: str, encoding: str, *, blank: str | None = None) -> Iterator[Lines]:
    """Open a file, plain or compressed, and yield an iterator over its lines."""
    try:
        "".encode(encoding)
    except (LookupError, TypeError, ValueError) as error:
        raise ValueError(
            f"encoding must be the name of a text encoding, e.g. 'utf-8' or 'latin-1', got "
            f"{encoding!r}."
        ) from error
    if encoding.lower().replace("_", "-") in ("utf-8", "utf8"):
        decoding = "utf-8-sig"  # Some programs write a byte order mark.
    else:
        decoding = encoding
    with open_binary(path) as stream:
        lines = Lines(path, io.TextIOWrapper(stream, decoding), blank)
        try:
            yield lines
        except UnicodeError as error:
            # Text is decoded in blocks, so the number of the line is not known.
            raise ValueError(
                f"{path} is not encoded in {encoding!r} after line {lines.number} "
                f"({getattr(error, 'reason', error)}): pass its encoding, e.g. encoding='latin-1'."
            ) from error


def is_mostly_empty(n_entries: int, n_stored: int) -> bool:
    """Return whether an array of so many entries is too large for those that a file stores."""
    return n_entries > max(MAX_ENTRIES, n_stored * MIN_DENSITY)


def columns_of_labels(labels: object, names: Sequence[str]) -> list[int]:
    """Return the indices of the label columns, given as the parameter `labels` of a loader."""
    if is_integer(labels):
        return columns_at_an_end(int(labels), "labels", len(names))
    if (
        isinstance(labels, str | Set)
        or not np.iterable(labels)
        or not all(isinstance(name, str) for name in labels)
    ):
        raise ValueError(f"labels must be an integer or a list of names, got {labels!r}.")
    return columns_of(labels, "labels", names)


def columns_at_an_end(n_labels: int, source: str, n_columns: int) -> list[int]:
    """Return the indices of the first `n_labels` columns, or of the last if it is negative."""
    if not 0 < abs(n_labels) < n_columns:
        raise ValueError(
            f"{source} must be a number from 1 to {n_columns - 1} (the first columns) or its "
            f"negative (the last ones) for a file of {n_columns} columns, or names; got {n_labels}."
        )
    columns = range(n_columns)
    return list(columns[:n_labels] if n_labels > 0 else columns[n_labels:])


def columns_of(labels: Sequence[str], source: str, names: Sequence[str]) -> list[int]:
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
