"""Check that the Python examples of a text print the output below them.

    python .ci/examples.py [--write] TEXT ...

Each fenced block of Python is one program. It runs in a process and an empty folder of its own. The
next fenced block of text, if it comes before the next program, is what the program prints. With
--write, differing output is replaced in the text instead of being reported.
"""

import argparse
import difflib
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def examples(text):
    """Yield each program with the span of its expected output, or None if it has none."""
    blocks = list(BLOCK.finditer(text))
    for block, following in zip(blocks, [*blocks[1:], None]):
        if block[1] == "python":
            has_output = following is not None and following[1] == "text"
            yield block[2], following.span(2) if has_output else None


def run(program):
    """Return what a program prints."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-W", "error::FutureWarning", "-c", program],
            cwd=folder,
            env={**os.environ, "MPLBACKEND": "Agg"},
            capture_output=True,
            text=True,
        )
    if done.returncode:
        raise RuntimeError(f"{program}\n{done.stderr}")
    # Blank lines at the end are not visible in a text.
    return f"{done.stdout.rstrip()}\n" if done.stdout.strip() else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("texts", nargs="+", type=Path, metavar="TEXT")
    parser.add_argument("--write", action="store_true", help="write the output into the texts")
    arguments = parser.parse_args()
    wrong = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for path in arguments.texts:
            text = path.read_text(encoding="utf-8")
            found = list(examples(text))
            printed = list(pool.map(run, [program for program, _ in found]))
            # From the end, so that earlier spans stay valid.
            for (_, span), output in reversed(list(zip(found, printed))):
                expected = "" if span is None else text[slice(*span)]
                if output == expected:
                    continue
                if arguments.write and span is not None:
                    text = text[: span[0]] + output + text[span[1] :]
                    continue
                wrong += 1
                lines = (each.splitlines() for each in (expected, output))
                print(*difflib.unified_diff(*lines, str(path), "printed", lineterm=""), sep="\n")
            if arguments.write:
                path.write_text(text, encoding="utf-8")
            print(f"{path}: {len(found)} examples")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
