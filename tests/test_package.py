"""The package as a whole: exports, documentation, annotations and compiler directives."""

import doctest
import importlib
import inspect
import pkgutil
import platform
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import numpy as np
import pytest
import sklearn
from numpydoc.validate import validate

import sklrank
from sklrank import _typing
from sklrank._estimators.sklearn import StrOptions
from sklrank.linear_model._predtron import _ranking_losses

PACKAGES = sorted(
    f"sklrank.{module.name}"
    for module in pkgutil.iter_modules(sklrank.__path__)
    if module.ispkg and not module.name.startswith("_")
)
MODULES = sorted(
    module.name for module in pkgutil.walk_packages(sklrank.__path__, prefix="sklrank.")
)
SOURCES = Path(__file__).parents[1] / "sklrank"

DIRECTIVES = "# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False"

# Errors that scikit-learn ignores, too. This list may only get shorter.
IGNORED = {
    "ES01",  # no extended summary
    "EX01",  # no examples (of methods)
    "GL08",  # no docstring (of inherited members)
    "RT02",  # the return value has a name
    "SA01",  # no See Also
    "SA04",  # no description in See Also
}

# Special methods that users call.
CALLED = {"__call__", "__getitem__", "__init__", "__len__"}


def public_names():
    for name in sklrank.__all__:
        if name not in {"__version__", *(package.rpartition(".")[2] for package in PACKAGES)}:
            yield f"sklrank.{name}"
    for name in PACKAGES:
        for member in importlib.import_module(name).__all__:
            yield f"{name}.{member}"


def public_members():
    """Yield public functions and classes, with the methods that are defined in sklrank."""
    for name in public_names():
        package, _, member = name.rpartition(".")
        thing = getattr(importlib.import_module(package), member)
        if not (inspect.isclass(thing) or inspect.isfunction(thing)):
            continue
        yield name
        for attribute, value in inspect.getmembers(thing) if inspect.isclass(thing) else ():
            # Some decorators are compiled, and return no function in the sense of `inspect`.
            if attribute.startswith("_") or not inspect.isfunction(inspect.unwrap(value)):
                continue
            if (value.__module__ or "").startswith("sklrank"):
                yield f"{name}.{attribute}"


def typed_members():
    """Yield names and functions that users call: functions, methods, and property getters."""
    for name in public_names():
        package, _, member = name.rpartition(".")
        thing = getattr(importlib.import_module(package), member)
        if inspect.isfunction(thing):
            yield name, thing
            continue
        # Scorers are instances.
        owner = thing if inspect.isclass(thing) else type(thing)
        for attribute, value in inspect.getmembers(owner):
            function = value.fget if isinstance(value, property) else value
            is_public = not attribute.startswith("_") or attribute in CALLED
            if is_public and (getattr(function, "__module__", "") or "").startswith("sklrank"):
                yield f"{name}.{attribute}", function


TYPED_MEMBERS = dict(typed_members())


def named_options():
    """Yield annotations of parameters that accept strings, and the accepted strings."""
    for name, function in TYPED_MEMBERS.items():
        if not name.endswith(".__init__"):
            continue
        package, member, _ = name.rsplit(".", 2)
        owner = getattr(importlib.import_module(package), member)
        hints = inspect.get_annotations(function)
        for parameter, rules in getattr(owner, "_parameter_constraints", {}).items():
            options = [rule.options for rule in rules if isinstance(rule, StrOptions)]
            if options:
                hint = hints.get(parameter, "None")
                yield f"{member}: {parameter}", hint, *options


@pytest.mark.parametrize("package", ["sklrank.show_versions", *PACKAGES])
def test_docstrings_follow_numpydoc(package):
    problems = {
        name: [error for error in validate(name)["errors"] if error[0] not in IGNORED]
        for name in public_members()
        if name == package or name.startswith(f"{package}.")
    }
    assert problems
    assert not {name: errors for name, errors in problems.items() if errors}


def test_annotations_are_complete():
    """A type checker does not check calls of functions without annotations."""
    for name, function in TYPED_MEMBERS.items():
        signature = inspect.signature(function)
        annotations = {each.name: each.annotation for each in signature.parameters.values()}
        annotations["return"] = signature.return_annotation
        missing = {each for each, hint in annotations.items() if hint is inspect.Parameter.empty}
        assert not missing - {"self", "cls"}, name


def test_annotations_name_the_options():
    """Annotations list the strings that `fit` accepts, unless they allow all strings."""
    for name, hint, options in named_options():
        hint = eval(
            hint, {**vars(_ranking_losses), **vars(_typing), "np": np, "Callable": Callable}
        )
        parts = (hint,) if get_origin(hint) is Literal else get_args(hint) or (hint,)
        strings = {each for part in parts if get_origin(part) is Literal for each in get_args(part)}
        assert strings == options or {str, Any} & set(parts), name


@pytest.mark.parametrize("package", PACKAGES)
def test_all_is_sorted_and_complete(package):
    module = importlib.import_module(package)
    assert module.__all__ == sorted(module.__all__)
    assert all(hasattr(module, name) for name in module.__all__)


def test_compiled_files_start_with_the_directives():
    """The directives cannot be set for all files at once; without them a file is slow."""
    first = {path.name: path.read_text().splitlines()[0] for path in SOURCES.rglob("*.pyx")}
    assert len(first) > 20
    assert {name for name, line in first.items() if line != DIRECTIVES} == set()


def test_classes_with_abstract_methods_are_abstract():
    """Python ignores the decorator in classes without the metaclass ABCMeta."""
    classes = [
        thing
        for name in MODULES
        for thing in vars(importlib.import_module(name)).values()
        if inspect.isclass(thing)
        and thing.__module__ == name
        and any(getattr(each, "__isabstractmethod__", False) for each in vars(thing).values())
    ]
    assert len(classes) > 10
    assert [each for each in classes if not inspect.isabstract(each)] == []


@pytest.mark.parametrize("package", ["sklrank", *PACKAGES])
def test_examples_of_docstrings(package, monkeypatch):
    """The doctests run on the installed package."""
    monkeypatch.setenv("MPLBACKEND", "Agg")
    modules = [
        name
        for name in MODULES
        if name.startswith(f"{package}.")
        and (package != "sklrank" or not any(name.startswith(f"{one}.") for one in PACKAGES))
    ]
    for name in {package, *modules}:
        module = importlib.import_module(name)
        assert doctest.testmod(module, optionflags=doctest.ELLIPSIS).failed == 0, name


def test_show_versions_names_python_and_the_packages(capsys):
    sklrank.show_versions()
    printed = capsys.readouterr().out
    facts = [platform.python_version(), sklrank.__version__, sklearn.__version__, np.__version__]
    for fact in [*facts, "user_api:"]:
        assert fact in printed


@pytest.mark.parametrize(
    "missing, named", [("sklrank._compiled.state", "is not compiled"), ("joblib", "joblib")]
)
def test_import_names_what_is_missing(missing, named):
    """A module that is not compiled has a cure of its own; a dependency is named by Python."""
    code = f"import sys; sys.modules[{missing!r}] = None; import sklrank"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert found.returncode == 1
    assert named in found.stderr
    assert ("is not compiled" in found.stderr) == missing.startswith("sklrank")
