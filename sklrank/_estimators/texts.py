"""Texts that several docstrings share."""

from __future__ import annotations

import re
from collections.abc import Callable
from inspect import isroutine
from textwrap import indent
from typing import TypeVar

Documented = TypeVar("Documented", bound=Callable)

# Texts that all decorators fill in.
COMMON = {
    "samples": """
Parameters
----------
X : {array-like, sparse matrix} of shape (n_samples, n_features)
    Samples.
""",
    "samples_and_returns": "{samples}\n\nReturns\n-------",
    "dense_samples": """
Parameters
----------
X : array-like of shape (n_samples, n_features)
    Samples.
""",
    "dense_samples_and_returns": "{dense_samples}\n\nReturns\n-------",
    "rows": """
Parameters
----------
X : {array-like, sparse matrix} of shape (n_samples, n_features)
    Documents.
""",
    "rows_and_returns": "{rows}\n\nReturns\n-------",
    "n_features_in": """
n_features_in_ : int
    Number of features.
feature_names_in_ : ndarray of shape (n_features,)
    Names of the features. Defined only if `X` has feature names that are all strings.
""",
    "returns_self": """
Returns
-------
self : object
    The fitted estimator.
""",
    "ax": """
ax : matplotlib Axes, default=None
    Axes to plot on. If None, those of a new figure.
""",
    "display": """
Returns
-------
display : object
    The display, with a plot.
""",
    "value_error": """
Raises
------
ValueError
""",
    "returns_or_raises": """
Returns
-------
self : object
    The estimator.

{value_error}
""",
}


def shares_text(**texts: str) -> Callable[[Documented], Documented]:
    """Return a decorator that fills shared texts into docstrings of a function, or of a class.

    Those of a class are its own and those of the methods that it defines. A line that is only a
    name in braces, such as ``{qid}``, is replaced by the text of this name, which gets the
    indentation of the line. The lines of a text that continue a paragraph of the docstring have no
    indentation; descriptions of parameters have four spaces. A text that always begins a section,
    such as that of the first parameters, has its heading. One may end with the heading of the next
    section or what it begins with, such as ``{samples_and_returns}`` and ``{value_error}``. Texts
    may contain names of other texts. Names that the decorator does not have are left to others.
    """

    texts = COMMON | texts

    def filled(text: str) -> str:
        return re.sub(r"^( *)\{(\w+)\}$", text_of, text, flags=re.MULTILINE)

    def text_of(line: re.Match) -> str:
        return indent(filled(texts[line[2]].strip("\n")), line[1]) if line[2] in texts else line[0]

    def fill(documented: Documented) -> Documented:
        members = vars(documented).values() if isinstance(documented, type) else ()
        for each in (documented, *filter(isroutine, members)):
            while each is not None:  # The functions that decorators wrap have docstrings, too.
                if each.__doc__ is not None:  # with python -OO it is
                    each.__doc__ = filled(each.__doc__)
                each = getattr(each, "__wrapped__", None)
        return documented

    return fill


of_labels = shares_text(
    available="""
available : array-like, default=None
    Labels that may be shown or predicted: a boolean mask of shape (n_samples, n_labels), or of
    shape (n_labels,) for all samples, or a list of names in `classes_`. None stands for all.
""",
    available_and_returns="{available}\n\nReturns\n-------",
)
