"""Versions of the package, its dependencies and its build, for bug reports."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, version

from threadpoolctl import threadpool_info

DEPENDENCIES = ["scikit-learn", "numpy", "scipy", "joblib", "threadpoolctl", "pandas", "matplotlib"]


def show_versions() -> None:
    """Print the versions of Python, of the package and of its dependencies, for a bug report.

    The output also names the compiler of the package, and the libraries that run threads with
    their number of threads.

    See Also
    --------
    sklearn.show_versions : The same for scikit-learn.

    Examples
    --------
    >>> import sklrank
    >>> sklrank.show_versions()
    System
        python: ...
    """
    # `sklrank` imports this file first, and then finds out whether it is compiled.
    from sklrank import __version__
    from sklrank._build_info import COMPILER, CYTHON

    _print_section(
        "System",
        {
            "python": sys.version.replace("\n", " "),
            "executable": sys.executable,
            "machine": platform.platform(),
            # Interpreters before 3.13 lack this function.
            "GIL": "on" if getattr(sys, "_is_gil_enabled", lambda: True)() else "off",
        },
    )
    _print_section(
        "Packages",
        {"sklrank": __version__} | {name: _installed_version(name) for name in DEPENDENCIES},
    )
    _print_section("Build of sklrank", {"compiler": COMPILER, "Cython": CYTHON})
    for library in threadpool_info():
        _print_section("Library with threads", library)


def _installed_version(name):
    # From the metadata, without an import.
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _print_section(title, entries):
    width = max(map(len, entries))
    print(title)
    for name, value in entries.items():
        print(f"    {name + ':':<{width + 1}} {value}")
    print()
