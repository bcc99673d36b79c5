"""Print the size of the package: lines, constructor parameters, constants, imports across rooms.

Run in a checkout whose modules are compiled. A room is a subpackage; the modules beside the
subpackages are shared by all of them.
"""

import ast
import importlib
import inspect
import re
from collections import Counter
from pathlib import Path

from sklearn.base import BaseEstimator

PACKAGE = Path(__file__).parents[1] / "sklrank"
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
    for room in sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py")):
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


def imports_across_rooms():
    """Count the imports of private modules of another room."""
    counts = Counter()
    for path in sources():
        modules = re.findall(r"^\s*from sklrank\.([\w.]+) c?import", path.read_text(), re.MULTILINE)
        for room, *inner in (module.split(".") for module in modules):
            private = any(part.startswith("_") for part in inner)
            if private and room != room_of(path):
                counts[f"{room_of(path)} -> {room}.{'.'.join(inner)}"] += 1
    return counts


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
    show("Imports of private modules across rooms", imports_across_rooms())
    print(f"raise statements in .py files: {raises()}")
