"""Check that links within a built documentation lead to existing pages and anchors.

python .ci/links.py FOLDER
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors = set(), {"", "top"}
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        for name in ("id", "name"):
            if attributes.get(name):
                self.anchors.add(attributes[name])
        for name in ("href", "src"):
            if attributes.get(name):
                self.links.add(attributes[name])


def main():
    root = Path(sys.argv[1]).resolve()
    # Files of the theme in _static are templates.
    paths = (path for path in root.rglob("*.html") if "_static" not in path.parts)
    pages = {path: Page(path) for path in paths}
    wrong = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            known = target in pages and unquote(parts.fragment) in pages[target].anchors
            if not (known or (target.exists() and not parts.fragment)):
                wrong.append(f"{path.relative_to(root)}: {link}")
    print(f"{len(pages)} pages, {sum(len(page.links) for page in pages.values())} links")
    if wrong:
        sys.exit("links without a target:\n" + "\n".join(sorted(wrong)))


if __name__ == "__main__":
    main()
