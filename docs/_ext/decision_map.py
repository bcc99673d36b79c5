"""The directive `decision-map`: a tree of questions as an inline SVG with links.

Narrow screens show the same tree as nested lists.

The argument is a JSON file. A node is an object with the key "text". An inner node has "children",
each with "if", the answer that leads to it. A leaf has "page", the name of a page of this
documentation to which its box links.
"""

import html
import json
import textwrap
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

COLUMN, BOX_WIDTH, LINE, LEAF_GAP, PADDING = 296, 196, 17, 12, 9
CHARACTERS = 24


class decision_map(nodes.General, nodes.Element):
    """A tree of questions."""


class DecisionMap(SphinxDirective):
    """Read the tree, so that the page is rebuilt if the file changes."""

    required_arguments = 1

    def run(self):
        relative, path = self.env.relfn2path(self.arguments[0])
        self.env.note_dependency(relative)
        tree = json.loads(Path(path).read_text(encoding="utf-8"))
        for page in pages(tree):
            if page not in self.env.found_docs:
                raise self.error(f"{relative} links to {page}, which is not a page.")
        return [decision_map(tree=tree)]


def pages(node):
    """Yield the pages to which the leaves link."""
    if "page" in node:
        yield node["page"]
    for child in node.get("children", ()):
        yield from pages(child)


def place(node, depth, top):
    """Set the lines and the position of a node and of the nodes below it; return the next top."""
    node["lines"] = textwrap.wrap(node["text"], CHARACTERS)
    node["height"] = len(node["lines"]) * LINE + 2 * PADDING
    node["x"] = depth * COLUMN
    children = node.get("children", [])
    if not children:
        node["y"] = top + node["height"] / 2
        return top + node["height"] + LEAF_GAP
    for child in children:
        top = place(child, depth + 1, top)
    node["y"] = (children[0]["y"] + children[-1]["y"]) / 2
    return max(top, node["y"] + node["height"] / 2 + LEAF_GAP)


def draw(node, address):
    """Yield the elements of a node and of the nodes below it."""
    right = node["x"] + BOX_WIDTH
    for child in node.get("children", []):
        middle = (right + child["x"]) / 2
        yield (
            f'<path class="edge" d="M{right} {node["y"]} C{middle} {node["y"]} '
            f'{middle} {child["y"]} {child["x"]} {child["y"]}"/>'
        )
    for child in node.get("children", []):
        # Answers stand at the end of their edges, where these are apart from each other.
        words = textwrap.wrap(child["if"], 14)
        for i, words_of_line in enumerate(words):
            y = child["y"] + 4 + (i - (len(words) - 1) / 2) * 14
            yield (
                f'<text class="answer" x="{child["x"] - 6}" y="{y}">'
                f"{html.escape(words_of_line)}</text>"
            )
    top = node["y"] - node["height"] / 2
    kind = "leaf" if "page" in node else "question"
    box = (
        f'<rect class="{kind}" x="{node["x"]}" y="{top}" width="{BOX_WIDTH}" '
        f'height="{node["height"]}" rx="6"/>'
    )
    lines = "".join(
        f'<text class="{kind}" x="{node["x"] + BOX_WIDTH / 2}" '
        f'y="{top + PADDING + 13 + i * LINE}">{html.escape(line)}</text>'
        for i, line in enumerate(node["lines"])
    )
    if "page" in node:
        yield f'<a href="{html.escape(address(node["page"]))}">{box}{lines}</a>'
    else:
        yield box + lines
    for child in node.get("children", []):
        yield from draw(child, address)


def extent(node):
    """Return the largest x and y of a node and of the nodes below it."""
    ends = [extent(child) for child in node.get("children", [])]
    ends.append((node["x"] + BOX_WIDTH, node["y"] + node["height"] / 2))
    return max(x for x, _ in ends), max(y for _, y in ends)


def nested_list(node, address):
    """Return the tree as nested lists, for narrow screens."""
    text = html.escape(node["text"])
    if "page" in node:
        return f'<a href="{html.escape(address(node["page"]))}">{text}</a>'
    items = "".join(
        f"<li><em>{html.escape(child['if'])}:</em> {nested_list(child, address)}</li>"
        for child in node["children"]
    )
    return f"{text}<ul>{items}</ul>"


def svg(tree, address):
    """Return the map as an SVG element with the colors of the theme, and as nested lists."""
    place(tree, 0, 1)
    width, height = extent(tree)
    return (
        f'<div class="decision-map"><svg xmlns="http://www.w3.org/2000/svg" role="img" '
        f'aria-label="Decision map" viewBox="-1 0 {width + 2} {height + 2}" '
        f'style="min-width: {0.8 * width:.0f}px; max-width: {width}px">'
        f"{''.join(draw(tree, address))}</svg></div>"
        f'<div class="decision-list">{nested_list(tree, address)}</div>'
    )


def visit_html(self, node):
    def address(page):
        return self.builder.get_relative_uri(self.builder.current_docname, page)

    self.body.append(svg(node["tree"], address))
    raise nodes.SkipNode


def visit_text(self, node):
    raise nodes.SkipNode


def setup(app):
    app.add_node(decision_map, html=(visit_html, None), text=(visit_text, None))
    app.add_directive("decision-map", DecisionMap)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
