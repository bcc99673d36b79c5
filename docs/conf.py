"""The documentation: the repository's texts, and a page for each public name, of its docstring.

The texts keep their names, so that their links lead to pages.

    pip install -e ".[docs]" && sphinx-build docs build/docs
"""

import re

from numpydoc.docscrape_sphinx import SphinxDocString

import sklrank

project = "sklrank"
author = "The sklrank developers"
copyright = author
version = release = sklrank.__version__

extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc", "myst_parser"]
templates_path = ["_templates"]
html_theme = "pydata_sphinx_theme"
html_theme_options = {"show_toc_level": 2, "navigation_with_keys": False}
html_show_sourcelink = False

# A package's page lists what its `__all__` names.
autosummary_ignore_module_all = False
# The template of a class has its methods, whole.
numpydoc_show_class_members = False
default_role = "literal"
# Docstrings tell the types.
autodoc_typehints = "none"

PUBLIC_NAME = re.compile(r"`((\w+)\.(\w+))`")


# What a class says of an attribute stays, where numpydoc would quote the property instead.
_process = SphinxDocString._process_param
SphinxDocString._process_param = lambda self, param, desc, _: _process(self, param, desc, False)


def link_names(app, path, docname, content):
    """Make links of the names of README.md, as in `tree.StumpClassifier`."""

    def link(match):
        name, package, member = match.groups()
        known = package in sklrank.__all__ and member in getattr(sklrank, package).__all__
        return f"{{py:obj}}`{name} <sklrank.{name}>`" if known else match[0]

    content[0] = PUBLIC_NAME.sub(link, content[0])


def setup(app):
    app.connect("include-read", link_names)
