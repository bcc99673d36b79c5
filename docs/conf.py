"""The documentation: guide, gallery, results, and a page for the docstring of each public name.

    pip install -e ".[docs]" && sphinx-build docs build/docs

The build needs no network. The texts of the repository's root folder are included here, under their
names, so that links between texts work in both places.
"""

import os
import re
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
# Examples measure CPU time, and must print the same on all machines.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import sklearn_inventory  # noqa: E402
from numpydoc.docscrape_sphinx import SphinxDocString  # noqa: E402

import sklrank  # noqa: E402

project = "sklrank"
author = "The sklrank developers"
copyright = author
version = release = sklrank.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "numpydoc",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "results_page",
    "script_links",
    "growth_chart",
]
templates_path = ["_templates"]
exclude_patterns = ["_ext", "auto_examples/**/*.ipynb", "auto_examples/**/README.rst"]
default_role = "literal"

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = f"sklrank {release}"
html_logo = "_static/logo.svg"
html_favicon = "_static/logo.svg"
html_static_path = ["_static"]
html_css_files = ["sklrank.css"]
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": f"sklrank {release}"},
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "navbar_persistent": ["search-button"],
    "header_links_before_dropdown": 8,
    "secondary_sidebar_items": {
        "**": ["page-toc", "sg_download_links"],
        "index": [],
        "auto_examples/index": [],
    },
    "footer_start": ["copyright"],
    "footer_end": [],
}
WITHOUT_SIDEBAR = ("index", "choosing", "install", "auto_examples/plot_tutorial", "CHANGELOG")
html_sidebars = {page: [] for page in WITHOUT_SIDEBAR}

myst_enable_extensions = ["colon_fence", "dollarmath", "amsmath", "deflist"]
myst_heading_anchors = 3

# The page of a package lists the names in its `__all__`.
autosummary_ignore_module_all = False
# The template of a class documents its methods in full.
numpydoc_show_class_members = False
# "fit" instead of "Ranker.fit" in the list beside a page.
toc_object_entries_show_parents = "hide"
# Types stand in the docstrings.
autodoc_typehints = "none"

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

intersphinx_mapping = {
    "sklearn": sklearn_inventory.write(Path(tempfile.mkdtemp()) / "sklearn.inv"),
}

sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"plot_",
    "subsection_order": [
        f"../examples/gallery/{section}"
        for section in (
            "multilabel",
            "partial_feedback",
            "label_ranking",
            "documents",
            "semi_supervised",
            "own_loss",
            "trees",
        )
    ],
    "within_subsection_order": "FileNameSortKey",
    "doc_module": ("sklrank",),
    "backreferences_dir": "generated/backreferences",
    "reference_url": {"sklrank": None},
    "inspect_global_variables": False,
    "remove_config_comments": True,
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 1,
    "plot_gallery": "True",
    "matplotlib_animations": False,
    "reset_modules": ("matplotlib", "gallery_style.reset"),
    "thumbnail_size": (400, 280),
    "nested_sections": True,
    "write_computation_times": False,
    "show_signature": False,
    "ignore_repr_types": r"matplotlib[.]",
}

PUBLIC_NAME = re.compile(r"`((\w+)\.(\w+))`(?!<)")


# Attributes keep the text of the class docstring; numpydoc would show the property's.
_process = SphinxDocString._process_param
SphinxDocString._process_param = lambda self, param, desc, _: _process(self, param, desc, False)


def linked(text):
    """Link public names, such as `tree.HonestTreeClassifier`, to their pages."""

    def link(match):
        name, package, member = match.groups()
        known = package in sklrank.__all__ and member in getattr(sklrank, package).__all__
        return f"{{py:obj}}`{member} <sklrank.{name}>`" if known else match[0]

    return PUBLIC_NAME.sub(link, text)


def link_included(app, path, docname, content):
    """Link the names in included texts; their links to texts of this folder are relative to it."""
    content[0] = linked(content[0]).replace("](docs/", "](")


def link_source(app, docname, content):
    """Link the names in the texts of this folder, but not those in tables of results."""
    if os.fspath(app.env.doc2path(docname)).endswith(".md"):
        content[0] = linked(content[0])


def setup(app):
    app.connect("include-read", link_included)
    app.connect("source-read", link_source, priority=400)
