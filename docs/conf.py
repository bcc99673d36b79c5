"""The documentation: the repository's texts, and a page for the docstring of each public name.

The pages have the names of the texts, so that links between texts work in both places.

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

# The page of a package lists the names in its `__all__`.
autosummary_ignore_module_all = False
# The template of a class documents its methods in full.
numpydoc_show_class_members = False
default_role = "literal"
# Types stand in the docstrings.
autodoc_typehints = "none"

PUBLIC_NAME = re.compile(r"`((\w+)\.(\w+))`")


# Attributes keep the text of the class docstring; numpydoc would show the property's.
_process = SphinxDocString._process_param
SphinxDocString._process_param = lambda self, param, desc, _: _process(self, param, desc, False)


def link_names(app, path, docname, content):
    """Link public names, such as `tree.StumpClassifier`, to their pages."""

    def link(match):
        name, package, member = match.groups()
        known = package in sklrank.__all__ and member in getattr(sklrank, package).__all__
        return f"{{py:obj}}`{name} <sklrank.{name}>`" if known else match[0]

    # README.md links to the texts of this folder.
    content[0] = PUBLIC_NAME.sub(link, content[0]).replace("](docs/", "](")


def setup(app):
    app.connect("include-read", link_names)
