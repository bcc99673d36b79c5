"""Texts that several docstrings share."""

from sklrank._docstrings import shares_text

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
