"""Formulas as MathML, which browsers display without scripts of other servers."""

import re

from docutils.nodes import SkipNode
from latex2mathml.converter import convert


def mathml(latex, display):
    """Return the MathML of a formula."""
    # Names of fonts and commands that the converter does not know.
    latex = re.sub(r"\\bigl|\\bigr|\\Bigl|\\Bigr", "", latex.strip())
    if display == "block" and re.search(r"\\\\", latex) and r"\begin" not in latex:
        latex = rf"\begin{{aligned}}{latex}\end{{aligned}}"
    return convert(latex, display=display)


def visit_inline(self, node):
    self.body.append(mathml(node.astext(), "inline"))
    raise SkipNode


def visit_block(self, node):
    self.body.append(f'<div class="formula">{mathml(node.astext(), "block")}</div>')
    raise SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
