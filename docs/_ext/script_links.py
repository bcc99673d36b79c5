"""Make names of scripts, such as `examples/clicks.py`, links by which they are downloaded."""

import re
from pathlib import Path

from docutils import nodes
from sphinx import addnodes

ROOT = Path(__file__).parents[2]
SCRIPT = re.compile(r"(examples|benchmarks)/\w+\.py")


def link_scripts(app, document):
    for literal in list(document.findall(nodes.literal)):
        name = literal.astext()
        if SCRIPT.fullmatch(name) and not isinstance(literal.parent, nodes.reference):
            if not (ROOT / name).exists():
                raise ValueError(f"{app.env.docname} names {name}, which does not exist")
            # The path starts at the folder of the documentation.
            link = addnodes.download_reference("", "", literal.deepcopy(), reftarget=f"/../{name}")
            literal.replace_self(link)


def setup(app):
    # Before Sphinx collects the files that are downloaded.
    app.connect("doctree-read", link_scripts, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
