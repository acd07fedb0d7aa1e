"""Check that every internal link of a site leads to an existing file and anchor, and that no page fetches anything
from another host. Usage: links.py FOLDER"""

import html.parser
import pathlib
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    """Collect the anchors of a page, its links, and the addresses that a browser fetches to show it."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.fetched = {"", "top"}, [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.anchors.update(filter(None, (attributes.get("id"), attributes.get("name"))))
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"])
        elif tag == "link" and attributes.get("rel") in ("stylesheet", "icon", "preload", "shortcut icon"):
            self.fetched.append(attributes["href"])
        elif attributes.get("src"):
            self.fetched.append(attributes["src"])


folder = pathlib.Path(sys.argv[1]).resolve()
pages = {path: Page(path.read_text()) for path in folder.rglob("*.html") if "_static" not in path.parts}
faults = []
for path, page in pages.items():
    for address in page.links + page.fetched:
        url = urllib.parse.urlsplit(address)
        if url.scheme or url.netloc:
            if address in page.fetched and url.scheme != "data":
                faults.append(f"{path.relative_to(folder)} fetches {address}")
            continue
        target = (path.parent / urllib.parse.unquote(url.path)).resolve() if url.path else path
        if not target.exists():
            faults.append(f"{path.relative_to(folder)} links to {address}, which does not exist")
        elif target in pages and urllib.parse.unquote(url.fragment) not in pages[target].anchors:
            faults.append(f"{path.relative_to(folder)} links to {address}, an anchor that does not exist")
if len(pages) < 50:
    faults.append(f"{folder} has only {len(pages)} pages")
print("\n".join(faults) or f"{len(pages)} pages: all links work, and no page fetches anything from another host")
sys.exit(bool(faults))
