"""Texts that several docstrings share."""

import importlib
import re

import pytest

from sklrank._estimators.texts import shares_text

SHARED = shares_text(rows="X : array\n    Samples, such as {1, 2}.\ny : array\n    Target.\n")


def test_lines_get_the_indentation_of_the_name():
    @SHARED
    def fit(X, y):
        r"""Fit, by :math:`\{x\}`.

        Parameters
        ----------
        {rows}
        loss : {"a", "b"}
        """

    assert fit.__doc__.splitlines()[4:] == [
        "        X : array",
        "            Samples, such as {1, 2}.",
        "        y : array",
        "            Target.",
        '        loss : {"a", "b"}',
        "        ",
    ]


def test_nothing_is_filled_into_missing_docstrings():
    assert SHARED(lambda X: X).__doc__ is None


ROOMS = [
    "boosting",
    "datasets",
    "feedback",
    "label_ranking",
    "linear_model",
    "metrics",
    "model_selection",
    "off_policy",
    "online_boosting",
    "pipeline",
    "semi_supervised",
    "streaming",
    "tree",
]


@pytest.mark.parametrize("room", ROOMS)
def test_all_names_are_filled(room):
    module = importlib.import_module(f"sklrank.{room}")
    for public in (getattr(module, name) for name in module.__all__):
        for item in [public, *vars(public).values()] if isinstance(public, type) else [public]:
            assert not re.search(r"^ *\{\w+\}$", getattr(item, "__doc__", "") or "", re.MULTILINE)
