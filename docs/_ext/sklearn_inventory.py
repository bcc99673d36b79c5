"""Write an inventory of scikit-learn's public names, so that intersphinx needs no network.

The names are those of the installed scikit-learn. Their pages have the addresses of its API
reference.
"""

import importlib
import inspect
import pkgutil
import warnings
import zlib

import sklearn

ADDRESS = "https://scikit-learn.org/stable/"
HEADER = "# Sphinx inventory version 2\n# Project: scikit-learn\n# Version: {}\n# {}\n"


def public_names():
    """Yield the public classes and functions, with their roles."""
    modules = ["sklearn"]
    for module in pkgutil.walk_packages(sklearn.__path__, "sklearn."):
        parts = module.name.split(".")
        if len(parts) <= 3 and not any(p.startswith("_") or p == "tests" for p in parts):
            modules.append(module.name)
    for name in modules:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                module = importlib.import_module(name)
            except ImportError:
                continue
        for member in getattr(module, "__all__", ()):
            thing = getattr(module, member, None)
            if inspect.isclass(thing):
                yield f"{name}.{member}", "class"
            elif callable(thing):
                yield f"{name}.{member}", "function"


def write(path):
    """Write the inventory; return the address and the path, as intersphinx expects them."""
    lines = (
        f"{name} py:{role} 1 modules/generated/{name}.html#{name} -\n"
        for name, role in public_names()
    )
    # A section of the user guide, to which inherited docstrings refer.
    guide = "metadata_routing std:label 1 metadata_routing.html Metadata routing\n"
    header = HEADER.format(
        sklearn.__version__, "The remainder of this file is compressed using zlib."
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(header.encode() + zlib.compress((guide + "".join(lines)).encode()))
    return ADDRESS, str(path)
