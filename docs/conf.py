"""The documentation: the texts of the repository, and a page for each public name, of its docstring.

The texts keep their names, so that their links lead to pages.

    pip install -e ".[docs]" && sphinx-build docs build/docs
"""

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
