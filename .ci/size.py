"""Print the size of the package: lines, constructor parameters, constants, imports across rooms.

Run where the package is installed. It fails if a room imports what another one does not offer.
"""

import ast
import importlib
import inspect
import re
import sys
from collections import Counter
from pathlib import Path

from sklearn.base import BaseEstimator

PACKAGE = Path(__file__).parents[1] / "sklrank"
ROOT_MODULES = {"_rankers", "_typing"}
SUFFIXES = {".py", ".pyx", ".pxd"}
# One or several names in capitals at the start of a line that are assigned numbers.
CONSTANT = re.compile(r"(?:cdef [\w ]+ )?(_?[A-Z][A-Z0-9_]*(?:, _?[A-Z][A-Z0-9_]*)*) = \(?-?\.?\d")


def sources():
    return sorted(path for path in PACKAGE.rglob("*") if path.suffix in SUFFIXES)


def room_of(path):
    parts = path.relative_to(PACKAGE).parts
    return parts[0] if len(parts) > 1 else "(shared)"


def lines_by_room():
    return Counter(
        {
            room: sum(
                len(path.read_text().splitlines()) for path in sources() if room_of(path) == room
            )
            for room in {room_of(path) for path in sources()}
        }
    )


def parameters_by_class():
    counts = {}
    for room in sorted(path.parent.name for path in PACKAGE.glob("[!_]*/__init__.py")):
        module = importlib.import_module(f"sklrank.{room}")
        for name in module.__all__:
            member = getattr(module, name)
            if inspect.isclass(member) and issubclass(member, BaseEstimator):
                counts[f"{room}.{name}"] = len(inspect.signature(member).parameters)
    return Counter(counts)


def constants_by_file():
    counts = Counter()
    for path in sources():
        for line in path.read_text().splitlines():
            if match := CONSTANT.match(line):
                counts[str(path.relative_to(PACKAGE))] += match[1].count(",") + 1
    return counts


def hidden_modules(path):
    """Yield the private modules that a file imports past the `__init__` of another room.

    A room is a folder of the package. Its `__init__`, or that of a room inside of it, names what
    others may take. The two private modules beside the rooms serve all of them.
    """
    for module in re.findall(r"^ *from sklrank\.([\w.]+) import", path.read_text(), re.MULTILINE):
        parts = module.split(".")
        private = any(part.startswith("_") for part in parts)
        offers = PACKAGE.joinpath(*parts, "__init__.py").exists() or module in ROOT_MODULES
        if private and not offers and parts[0] != room_of(path):
            yield module


def imports_past_init():
    """Count the imports of Python names. (A `cimport` names a `.pxd` file, which is meant to.)"""
    return Counter(
        f"{room_of(path)} -> {name}" for path in sources() for name in hidden_modules(path)
    )


def raises():
    return sum(
        isinstance(node, ast.Raise)
        for path in sources()
        if path.suffix == ".py"
        for node in ast.walk(ast.parse(path.read_text()))
    )


def show(title, counts):
    print(f"{title}: {counts.total()}")
    for name, count in counts.most_common():
        print(f"  {count:6d}  {name}")


if __name__ == "__main__":
    show("Lines", lines_by_room())
    show("Constructor parameters", parameters_by_class())
    show("Module constants", constants_by_file())
    past_init = imports_past_init()
    show("Imports past the __init__ of a room", past_init)
    print(f"raise statements in .py files: {raises()}")
    sys.exit(bool(past_init))
