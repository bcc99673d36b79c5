"""Helper functions for readers of text files: decompression and numbered lines."""

from __future__ import annotations

import bz2
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, NoReturn

# A dense array of more entries than this, of which fewer than one in `MIN_DENSITY` is in the files,
# is rather due to a wrong index than intended.
MAX_ENTRIES, MIN_DENSITY = 2**27, 100


class Lines:
    """Iterator over the lines of a file that are not empty.

    The attribute `number` is the number of the line read last. Lines that start with "%" are
    skipped and collected in `comments`.
    """

    def __init__(self, path: str, stream: io.TextIOBase):
        self.path = path
        self.number = 0
        self.comments: list[str] = []
        self._stream = stream

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        for line in self._stream:
            self.number += 1
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
    if encoding.lower().replace("_", "-") in ("utf-8", "utf8"):
        decoding = "utf-8-sig"  # Some programs write a byte order mark.
    else:
        decoding = encoding
    with open_binary(path) as stream:
        lines = Lines(path, io.TextIOWrapper(stream, decoding))
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
