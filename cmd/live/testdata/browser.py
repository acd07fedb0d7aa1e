"""Reads the live page in Chromium: holds its program and its machine back and checks that all its controls are off until
both have come. Then it holds a unit, trains both machines, and prints their divergences after 100 epochs as JSON.
Pictures of the page, loading and loaded, wide and narrow, go to a folder, as do pictures of the start page; no page may
scroll sideways.
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

gates = {"live.wasm.gz": threading.Event(), "model.safetensors.gz": threading.Event()}
opened = threading.Event()
opened.set()


class Slow(http.server.SimpleHTTPRequestHandler):
    """Serves the site, but a file that has a gate only once the gate is set."""

    def do_GET(self):
        gates.get(self.path.rpartition("/")[2], opened).wait()
        super().do_GET()

    def log_message(self, *_):
        pass


def state(of):
    """Return the name of each control but the buttons of units, whether it is shown, and whether it is off."""
    return of.evaluate("""root => [...root.querySelectorAll("[data-live]:is(button, select, input)")]
        .map(c => [c.dataset.live, c.offsetParent !== null, c.matches(":disabled")])""")


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Slow, directory=site))
threading.Thread(target=server.serve_forever, daemon=True).start()
address = f"http://127.0.0.1:{server.server_port}"
with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
    for name, width in {"wide": 1300, "narrow": 390}.items():
        page = browser.new_page(viewport={"width": width, "height": 1200}, reduced_motion="reduce")
        foreign = []
        for gate in gates.values():
            gate.clear()
        page.on("request", lambda request: request.url.startswith(address) or foreign.append(request.url))
        page.goto(f"{address}/docs/live.html")
        part = lambda of: page.locator(f'[data-live="{of}"]')
        for missing, gate in {"program": "live.wasm.gz", "machine": "model.safetensors.gz"}.items():
            expect(part("status")).to_contain_text(f"Loading the {missing}", timeout=PATIENCE)
            if wrong := [c for c in state(page.locator("#live")) if c[1:] != [True, True]]:
                sys.exit(f"while the {missing} loads, not shown or not off (control, shown, off): {wrong}")
            page.screenshot(path=pictures / f"live-{name}-without-{missing}.png")
            gates[gate].set()
        expect(part("status")).to_contain_text("ready after", timeout=PATIENCE)
        off = [c[0] for c in state(page.locator("#live")) if c[2]]
        if off != ["stop"]:
            sys.exit(f"these controls are off on a page that can compute: {off}")
        for words in ("RWS", "NRWS", "estimated from ten", "in nats", "epochs"):  # the legend, and the names of the axes
            expect(page.locator(".live-legend, .live-axis").filter(has_text=words).first).to_be_visible()
        page.locator(".live-unit").nth(3).click()
        expect(part("held")).to_have_text("Held: unit 3 of layer 1 on.", timeout=PATIENCE)
        part("start").dblclick()  # the second start replaces the first
        expect(part("kl")).to_contain_text("took", timeout=PATIENCE)
        expect(part("kl")).to_contain_text("Epoch 100:")
        page.screenshot(path=pictures / f"live-{name}.png", full_page=True)
        result = part("kl").inner_text(), part("status").inner_text()
        page.goto(f"{address}/index.html")  # which has the dreams alone
        expect(part("status")).to_contain_text("ready after", timeout=PATIENCE)
        part("again").click()
        page.screenshot(path=pictures / f"start-{name}.png", full_page=True)
        for at in ("index", "README", "docs/tables", "docs/gallery", "docs/commands", "notebooks/RESULTS"):
            page.goto(f"{address}/{at}.html")
            if page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"):
                sys.exit(f"{at}.html scrolls sideways where it is {width} wide")
        if foreign:
            sys.exit(f"the page asks other hosts: {foreign}")
    text, ready = result
    print(text, ready, file=sys.stderr)
    print(json.dumps({method.lower(): float(kl) for method, kl in re.findall(r"(N?RWS) ([\d.]+)", text)}))
    browser.close()
