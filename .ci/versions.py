"""Check that each version is the same in all files that name it.

python .ci/versions.py [VERSION]: that of the package must also be the given one
"""

import re
import sys
from pathlib import Path


def find(path, pattern):
    return re.search(pattern, Path(path).read_text(), re.MULTILINE)[1]


VERSIONS = {
    "sklrank": [
        find("pyproject.toml", r'^version = "(.*)"'),
        find("sklrank/__init__.py", r'^__version__ = "(.*)"'),
        find("CITATION.cff", r"^version: (.*)"),
    ],
    "ruff": [
        find("pyproject.toml", r'"ruff==(.*?)"'),
        find(".pre-commit-config.yaml", r"ruff-pre-commit\n +rev: v(.*)"),
    ],
    "cython-lint": [
        find("pyproject.toml", r'"cython-lint==(.*?)"'),
        find(".pre-commit-config.yaml", r"cython-lint\n +rev: v(.*)"),
    ],
}

VERSIONS["sklrank"] += sys.argv[1:]
for name, versions in VERSIONS.items():
    if len(set(versions)) > 1:
        sys.exit(f"{name} has different versions in different files: {versions}")
