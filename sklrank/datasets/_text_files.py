"""Helper functions for readers of text files: numbered lines, and columns of labels."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NoReturn


class Lines:
    """Iterator over the lines of a file that are not empty.

    The attribute `number` is the number of the line read last. Comments are skipped and collected
    in `comments`. The characters in `blank` are stripped from both ends of each line; if `blank` is
    None, all white space is stripped.
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

    def fail(self, problem: str) -> NoReturn:
        """Raise a ValueError whose message states the file, the current line and the problem."""
        raise ValueError(f"{self.path}, line {self.number}: {problem}")


@contextmanager
def open_lines(path: str, encoding: str, blank: str | None = None) -> Iterator[Lines]:
    """Open a file, plain or compressed with gzip, and yield an iterator over its lines."""
    with open(path, "rb") as file:
        is_compressed = file.read(2) == b"\x1f\x8b"
    name = encoding
    if encoding.lower().replace("_", "-") in ("utf-8", "utf8"):
        name = "utf-8-sig"  # Some programs write a byte order mark.
    with (gzip.open if is_compressed else open)(path, "rt", encoding=name) as stream:
        lines = Lines(path, stream, blank)
        try:
            yield lines
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{path} is not encoded in {encoding!r} ({error.reason} after line "
                f"{lines.number}): pass its encoding, e.g. encoding='latin-1'."
            ) from error


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
