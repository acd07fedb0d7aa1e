"""Reads the live page in Chromium: waits until it can compute, holds a unit, trains both machines, and prints
their divergences after 100 epochs as JSON. Pictures of the page, wide and narrow, go to a folder.
Usage: browser.py FOLDER-OF-THE-SITE FOLDER-OF-PICTURES"""

import functools
import http.server
import json
import pathlib
import re
import shutil
import sys
import threading

from playwright.sync_api import expect, sync_playwright

PATIENCE = 300_000  # milliseconds
site, pictures = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=site))
threading.Thread(target=server.serve_forever, daemon=True).start()
address = f"http://127.0.0.1:{server.server_port}"
with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
    for name, width in {"wide": 1300, "narrow": 420}.items():
        page = browser.new_page(viewport={"width": width, "height": 1200}, reduced_motion="reduce")
        foreign = []
        page.on("request", lambda request: request.url.startswith(address) or foreign.append(request.url))
        page.goto(f"{address}/docs/live.html")
        part = lambda of: page.locator(f'[data-live="{of}"]')
        expect(part("status")).to_contain_text("ready after", timeout=PATIENCE)
        page.locator(".live-unit").nth(3).click()
        expect(part("held")).to_have_text("Held: unit 3 of layer 1 on.", timeout=PATIENCE)
        part("start").dblclick()  # the second start replaces the first
        expect(part("kl")).to_contain_text("took", timeout=PATIENCE)
        expect(part("kl")).to_contain_text("Epoch 100:")
        page.screenshot(path=pictures / f"live-{name}.png", full_page=True)
        if foreign:
            sys.exit(f"the page asks other hosts: {foreign}")
    text = part("kl").inner_text()
    print(text, part("status").inner_text(), file=sys.stderr)
    print(json.dumps({method.lower(): float(kl) for method, kl in re.findall(r"(N?RWS) ([\d.]+)", text)}))
    browser.close()
