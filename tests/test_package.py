"""The package as a whole: what it exports, how it is documented, how it is compiled."""

import doctest
import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest
from numpydoc.validate import validate

import sklrank

PACKAGES = sorted(
    f"sklrank.{module.name}" for module in pkgutil.iter_modules(sklrank.__path__) if module.ispkg
)
MODULES = sorted(
    module.name for module in pkgutil.walk_packages(sklrank.__path__, prefix="sklrank.")
)
SOURCES = Path(__file__).parents[1] / "sklrank"

DIRECTIVES = "# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False"

# What scikit-learn does not ask for either. The list may only get shorter.
IGNORED = {
    "ES01",  # no extended summary
    "EX01",  # no examples (of methods)
    "GL08",  # no docstring (of inherited members)
    "RT02",  # the return value has a name
    "SA01",  # no See Also
    "SA04",  # no description in See Also
}


def public_names():
    for name in PACKAGES:
        for member in importlib.import_module(name).__all__:
            yield f"{name}.{member}"


def public_members():
    """Public functions and classes with the methods that they define or inherit from sklrank."""
    for name in public_names():
        package, _, member = name.rpartition(".")
        thing = getattr(importlib.import_module(package), member)
        if not (inspect.isclass(thing) or inspect.isfunction(thing)):
            continue
        yield name
        for attribute, value in inspect.getmembers(thing) if inspect.isclass(thing) else ():
            if attribute.startswith("_") or not inspect.isfunction(value):
                continue
            if (value.__module__ or "").startswith("sklrank"):
                yield f"{name}.{attribute}"


@pytest.mark.parametrize("name", sorted(public_members()))
def test_docstrings_follow_numpydoc(name):
    problems = [error for error in validate(name)["errors"] if error[0] not in IGNORED]
    assert not problems


@pytest.mark.parametrize("package", PACKAGES)
def test_all_is_sorted_and_there(package):
    module = importlib.import_module(package)
    assert module.__all__ == sorted(module.__all__)
    assert all(hasattr(module, name) for name in module.__all__)


@pytest.mark.parametrize("path", sorted(SOURCES.rglob("*.pyx")), ids=lambda path: path.name)
def test_directives_head_every_compiled_file(path):
    """They cannot be set in one place for all; a file without them is slow and silent about it."""
    assert path.read_text().splitlines()[0] == DIRECTIVES


@pytest.mark.parametrize("path", sorted(SOURCES.rglob("*.pyx")), ids=lambda path: path.name)
def test_every_compiled_file_has_a_stub(path):
    """Type checkers cannot look into it."""
    assert path.with_suffix(".pyi").exists()


def test_every_extension_is_declared():
    text = (SOURCES.parent / "pyproject.toml").read_text()
    declared = set(re.findall(r'^name = "(sklrank\..*)"$', text, flags=re.M))
    found = {
        ".".join(path.relative_to(SOURCES.parent).with_suffix("").parts)
        for path in SOURCES.rglob("*.pyx")
    }
    assert declared == found | {"sklrank._cyutility"}


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_docstrings(name, monkeypatch):
    """Of the installed package, wherever it is."""
    monkeypatch.setenv("MPLBACKEND", "Agg")
    module = importlib.import_module(name)
    assert doctest.testmod(module, optionflags=doctest.ELLIPSIS).failed == 0
