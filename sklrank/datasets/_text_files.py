"""Helper functions for readers of text files: decompression, numbered lines, svmlight format."""

from __future__ import annotations

import bz2
import gzip
import io
import zlib
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import IO, NoReturn

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file

# A dense array of more entries than this, of which fewer than one in `MIN_DENSITY` is in the files,
# is rather due to a wrong index than intended.
MAX_ENTRIES, MIN_DENSITY = 2**27, 100
# Number of characters of a line that no text has: a sample of ten million entries is shorter. A
# small compressed file may be one line of any length.
MAX_LINE = 2**27


class Lines:
    """Iterator over the lines of a file that are not empty; `number` is that of the last one.

    Lines that start with "%" are skipped and collected in `comments`.
    """

    def __init__(self, path: str, stream: io.TextIOBase):
        self.path, self._stream, self.number = path, stream, 0
        self.comments: list[str] = []

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        for line in iter(partial(self._stream.readline, MAX_LINE), ""):
            self.number += 1
            if len(line) == MAX_LINE:
                self.fail(f"it has more than {MAX_LINE} characters, more than any sample.")
            if "\0" in line:
                self.fail("a NUL byte, which no text has: the file is damaged or not a text file.")
            line = line.strip()
            if line.startswith("%"):
                self.comments.append(line[1:].strip())
            elif line:
                return line
        raise StopIteration

    def fail(self, problem: str) -> NoReturn:
        """Raise a ValueError that states the file, the line read last and the problem."""
        raise ValueError(f"{self.path}, line {self.number}: {problem}")


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
def open_lines(path: str, encoding: str) -> Iterator[Lines]:
    """Open a file, plain or compressed, and yield an iterator over its lines."""
    try:
        "".encode(encoding)
    except (LookupError, TypeError, ValueError) as error:
        raise ValueError(
            f"encoding must be the name of a text encoding, e.g. 'utf-8' or 'latin-1', got "
            f"{encoding!r}."
        ) from error
    # Some programs write a byte order mark.
    is_utf_8 = encoding.lower().replace("_", "-") in ("utf-8", "utf8")
    with open_binary(path) as stream:
        lines = Lines(path, io.TextIOWrapper(stream, "utf-8-sig" if is_utf_8 else encoding))
        try:
            yield lines
        except UnicodeError as error:
            # Text is decoded in blocks, so the number of the line is not known.
            raise ValueError(
                f"{path} is not encoded in {encoding!r} after line {lines.number} "
                f"({getattr(error, 'reason', error)}): pass its encoding, e.g. encoding='latin-1'."
            ) from error


class _ConvertedLines:
    """Lines of a file for :func:`load_svmlight_file`, which `convert` reads first."""

    def __init__(self, stream: IO[bytes], convert: Callable[[bytes], bytes]) -> None:
        self.stream, self.convert, self.number = stream, convert, 0

    def __iter__(self) -> Iterator[bytes]:
        for line in self.stream:
            self.number += 1
            yield self.convert(line.removeprefix(BOM_UTF8) if self.number == 1 else line)

    def read(self) -> NoReturn:
        """Exist, as scikit-learn takes objects with this method for open files."""
        raise NotImplementedError


def read_svmlight(
    path: str, convert: Callable[[bytes], bytes], zero_based: bool, hint: str
) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Read a file of which `convert` changes each line to svmlight format, or raises a ValueError.

    Errors state the file and the line, and end with the `hint`.
    """
    with open_binary(path) as stream:
        lines = _ConvertedLines(stream, convert)
        try:
            X, y = load_svmlight_file(lines, zero_based=zero_based)
        except (ValueError, OverflowError) as error:
            raise ValueError(f"{path}, line {lines.number}: {error}. {hint}") from error
    if np.isinf(X.data).any():
        row = np.searchsorted(X.indptr, np.isinf(X.data).argmax(), side="right") - 1
        raise ValueError(
            f"{path}: a feature of document {row} (from 0) is infinite; write nan if it is missing."
        )
    return sparse.csr_matrix(X), y


def is_mostly_empty(n_entries: int, n_stored: int) -> bool:
    """Return whether an array of so many entries is too large for those that a file stores."""
    return n_entries > max(MAX_ENTRIES, n_stored * MIN_DENSITY)
