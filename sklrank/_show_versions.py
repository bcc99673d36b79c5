"""Versions of the package, its dependencies and its build, for bug reports."""

from __future__ import annotations

import sklearn


def show_versions() -> None:
    """Print the versions of the package and of its dependencies, for a bug report.

    The output also names the compiler of the package, and the libraries that run threads with
    their number of threads.

    See Also
    --------
    sklearn.show_versions : The same for scikit-learn.

    Examples
    --------
    >>> import sklrank
    >>> sklrank.show_versions()
    <BLANKLINE>
    sklrank: ...
    """
    # `sklrank` imports this file first, and then finds out whether it is compiled.
    from sklrank import __version__
    from sklrank._build_info import COMPILER, CYTHON

    print(f"\nsklrank: {__version__}\n   compiler: {COMPILER}\n     Cython: {CYTHON}")
    sklearn.show_versions()
