"""The kernel in JupyterLab, as who uses it in Chromium sees it.

    browser.py JUPYTER CHROMIUM NOTEBOOKS FOLDER PART...

JUPYTER is a Python that has JupyterLab, in which the kernel helmholtz is registered,
NOTEBOOKS the folder of the notebooks, which the part "begin" opens as make lab does. The parts are functions of this file. Notebooks,
the log of Jupyter and a screenshot of all that is looked at go to FOLDER.
"""

import json
import os
import pathlib
import re
import secrets
import shutil
import socket
import subprocess
import sys
import time
import traceback
import urllib.request

from playwright.sync_api import expect, sync_playwright

PATIENCE = 180_000  # milliseconds
WIDE, NARROW = (1400, 1000), (600, 1000)

IMPORTS = """\
import (
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/kernelext"
	"github.com/helmholtz-go/helmholtz/plotting"
)

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func interruptible() context.Context {
	ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt)
	return ctx
}

func machine() hm.Machine {
	return hm.New(must(dataset.Open("glyphs")).Shape()).Dense(50, 20).Coding(hm.PlusMinusOne)
}

func nrws() hm.Method { return hm.NRWS().LearningRate(0.08).Damping(0.1).RefreshEvery(100) }
"""

START = """\
%%
experiment := nrws().Epochs(500).Experiment(machine(), must(dataset.Open("glyphs")))
kernelext.Open().Start("glyphs", experiment).Show()
fmt.Println("the cell has ended")
"""

SAMPLE = """\
%%
model := must(kernelext.Open().Run("glyphs").Model())
plotting.Samples(must(model.Means(context.Background(), 25))).Size(3, 3).Show()
"""

TRAIN = """\
%%
run := must(nrws().Epochs(500).Train(interruptible(), machine(), must(dataset.Open("glyphs")), "runs/waited", plotting.Live()))
fmt.Println(run.Epochs())
"""

class Lab:
    """JupyterLab, and a page on it."""

    def __init__(self, address, token, folder, page):
        self.address, self.token, self.folder, self.page = address, token, folder, page
        self.notebook = ""
        self.explained = 0  # replies to Shift-Tab
        page.on("websocket", lambda socket: socket.on("framereceived", self.count))

    def count(self, frame):
        self.explained += ("inspect_reply" if isinstance(frame, str) else b"inspect_reply") in frame

    def open(self, name, *cells):
        """Shows a new notebook of these cells."""
        content = {"cells": [code(source) for source in cells], "nbformat": 4, "nbformat_minor": 5, "metadata": KERNEL}
        (self.folder / f"{name}.ipynb").write_text(json.dumps(content))
        self.load(name)

    def load(self, name):
        """Shows a notebook, once its kernel can be used."""
        self.notebook = name
        self.page.goto(f"{self.address}/doc/tree/{name}.ipynb?token={self.token}")
        self.await_kernel()

    def await_kernel(self):
        expect(self.page.locator(".jp-Notebook .jp-CodeCell").first).to_be_visible(timeout=PATIENCE)
        # Cells that are run before the kernel is there are not run.
        expect(self.page.locator(".jp-StatusBar-Widget")).to_contain_text(re.compile(r"Go \(Helmholtz\) \| (Idle|Busy)"), timeout=PATIENCE)

    def reload(self):
        """Saves the notebook, and loads the page again once the server has written the file."""
        with self.page.expect_response(lambda reply: reply.request.method == "PUT" and self.notebook in reply.url, timeout=PATIENCE):
            self.page.keyboard.press("Control+s")
        self.page.reload()
        self.await_kernel()

    def cell(self, i):
        return self.page.locator(".jp-Notebook .jp-CodeCell").nth(i)

    def output(self, i):
        return self.cell(i).locator(".jp-OutputArea").first

    def execute(self, i):
        self.cell(i).locator(".cm-content").click()
        self.page.keyboard.press("Shift+Enter")

    def run(self, i):
        """Runs a cell to its end."""
        self.execute(i)
        self.ended(i)

    def ended(self, i):
        expect(self.cell(i).locator(".jp-InputPrompt")).to_have_text(re.compile(r"\[\d+\]:"), timeout=PATIENCE)

    def menu(self, *labels):
        for label in labels:
            item = ".lm-MenuBar-item" if label == labels[0] else ".lm-Menu-item"
            self.page.locator(item).filter(has_text=re.compile(f"^{re.escape(label)}")).first.click()

    def look(self, name):
        """Takes a screenshot."""
        self.page.screenshot(path=self.folder / f"{name}.png")

    def theme(self, name):
        """Has pages that are loaded from now on in light or in dark."""
        setting(self.folder, "apputils-extension", "themes", {"theme": f"JupyterLab {name}"})

    def explain(self, failure):
        """Says in a few lines what is on the page, what Jupyter said last, and where and why this failed."""
        shown = "\n".join(self.page.locator(".jp-Notebook, .jp-Dialog").all_inner_texts())
        said = (self.folder / "jupyterlab.log").read_text().splitlines()
        lines = [frame.lineno for frame in traceback.extract_tb(failure.__traceback__) if frame.filename == __file__]
        why = str(failure).split("Call log")[0].split("Aria snapshot")[0].strip()
        return "\n".join(["The page shows:", shown[-800:], "Jupyter said:", *said[-6:], f"Lines {lines}: {why}"])

    def shut_down(self):
        """Ends the kernels, whose runs stop with a checkpoint."""
        with self.request("GET", "sessions") as answer:
            for session in json.load(answer):
                self.request("DELETE", f"sessions/{session['id']}").close()

    def request(self, method, path):
        headers = {"Authorization": f"token {self.token}"}
        return urllib.request.urlopen(urllib.request.Request(f"{self.address}/api/{path}", method=method, headers=headers))


KERNEL = {"kernelspec": {"name": "helmholtz", "display_name": "Go (Helmholtz)", "language": "go"}}


def code(source):
    return {"cell_type": "code", "id": secrets.token_hex(4), "source": source, "metadata": {}, "outputs": [], "execution_count": None}


def setting(folder, extension, name, values):
    file = folder / "settings" / "@jupyterlab" / extension / f"{name}.jupyterlab-settings"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(values))


def session(lab):
    """A run whose cell ends goes on, is sampled from, outlives the page, and is stopped."""
    lab.open("session", IMPORTS, START, SAMPLE, "%hm stop glyphs\n%hm runs")
    lab.run(0)
    lab.run(1)
    display = lab.output(1)
    expect(display).to_contain_text("the cell has ended", timeout=PATIENCE)
    steps = [0]
    while len(steps) < 4:
        steps.append(later_step(display, steps[-1]))
    expect(display.locator("img[alt=images]")).to_be_visible(timeout=PATIENCE)
    expect(display.locator("img[alt*='against epoch']")).to_be_visible(timeout=PATIENCE)
    report("the display moves after its cell has ended, at steps", steps, "and shows curves and samples")

    lab.run(2)
    expect(lab.output(2).locator("img")).to_be_visible(timeout=PATIENCE)
    later_step(display, steps[-1])
    lab.cell(1).scroll_into_view_if_needed()
    lab.look("session")
    report("a second cell samples from the half-trained model")

    lab.reload()
    expect(lab.output(1)).to_contain_text("as of", timeout=PATIENCE)
    lab.look("session-reloaded")
    report("the display says as of when it is once the page is loaded again")

    lab.run(3)
    expect(lab.output(3)).to_contain_text("glyphs is stopped", timeout=PATIENCE)
    lab.look("session-stopped")
    report("a third cell stops the run")


def later_step(output, after):
    """Waits until the display is at a later step, and returns it."""
    end = time.monotonic() + PATIENCE / 1000
    while time.monotonic() < end:
        found = re.search(r"step ([\d,]+) of", output.inner_text())
        if found and (step := int(found[1].replace(",", ""))) > after:
            return step
        output.page.wait_for_timeout(100)
    sys.exit(f"the display stays at step {after}")


def begin(lab):
    """JupyterLab opens on the guide, beside which notebooks and pages alone are listed, and the
    guide leads to the quickstart."""
    lab.page.goto(f"{lab.address}/?token={lab.token}")
    guide = lab.page.locator(".jp-MarkdownViewer")
    expect(guide).to_contain_text("Getting started", timeout=PATIENCE)
    items = lab.page.locator(".jp-DirListing-item .jp-DirListing-itemText")
    expect(items.filter(has_text="quickstart.ipynb")).to_be_visible()
    names = items.all_inner_texts()
    strange = [name for name in names if not name.endswith((".ipynb", ".md")) and name not in ("course", "own", "runs")]
    if strange:
        sys.exit(f"beside notebooks and pages there are listed: {strange}")
    lab.look("begin")
    guide.get_by_role("link", name="quickstart.ipynb").click()
    lab.await_kernel()
    lab.look("begin-quickstart")
    report("JupyterLab opens on the guide, which leads to the quickstart")


def guides(lab):
    """%hm docs lists the guides, and shows the site that make site has built."""
    lab.open("guides", "%hm docs")
    lab.run(0)
    expect(lab.output(0)).to_contain_text("%hm docs train", timeout=PATIENCE)
    site = lab.output(0).frame_locator("iframe")
    expect(site.locator("h1").first).to_contain_text("Helmholtz", timeout=PATIENCE)
    lab.look("guides")
    report("%hm docs shows the site")


FAILS = """\
%%
panic("as it should")
"""

SWEEP = """\
%%
base := nrws().Epochs(1).Experiment(machine(), must(dataset.Open("glyphs")))
rates := &runs.Sweep{Base: base.TOML(), Seeds: 4, Axes: []runs.Axis{{Keys: []string{"method.learning_rate"}, Values: [][]any{{0.1}, {0.2}}}}}
_ = must(rates.Train(context.Background(), "runs/rates", runs.Shard{}, nil))
"""


def failing(lab):
    """Run All stops at a panic: the cells after it are not run."""
    lab.open("failing", IMPORTS, FAILS, 'fmt.Println("behind")', '%hm help')
    lab.menu("Run", "Run All Cells")
    expect(lab.output(1)).to_contain_text("as it should", timeout=PATIENCE)
    prompts = lab.page.locator(".jp-Notebook .jp-CodeCell .jp-InputPrompt")
    expect(prompts.filter(has_text=re.compile(r"\[\*\]"))).to_have_count(0, timeout=PATIENCE)
    for i in 2, 3:
        expect(lab.cell(i).locator(".jp-InputPrompt")).to_have_text(re.compile(r"\[ *\]:"))
        expect(lab.cell(i).locator(".jp-OutputArea-output")).to_have_count(0)
    lab.look("failing")
    report("Run All stops at a panic")


def sweep(lab):
    """%hm sweep counts all runs of a sweep as finished."""
    lab.open("sweep", IMPORTS, 'import "github.com/helmholtz-go/helmholtz/runs"\n' + SWEEP, "%hm sweep runs/rates")
    lab.run(0)
    lab.run(1)
    lab.run(2)
    expect(lab.output(2)).to_contain_text("8 of 8 runs are finished", timeout=PATIENCE)
    lab.look("sweep")
    report("the table of a sweep counts all of its runs")


def editing(lab):
    """Tab completes Go and lines of the session, Shift-Tab shows doc comments."""
    lab.open("editing", IMPORTS, "%%\nmethod := hm.", "%hm st", '%%\nset, err := dataset.Open("glyphs")', "%%\nset := dataset.Open(((")
    lab.run(0)
    menu = lab.page.locator(".jp-Completer:visible .jp-Completer-match")
    began = time.monotonic()
    lab.cell(1).locator(".cm-content").click()
    lab.page.keyboard.press("Control+End")
    until(menu.first, lambda: lab.page.keyboard.press("Tab"))
    for name in "NRWS", "BiHM", "New":
        expect(menu.filter(has_text=re.compile(f"^{name}\\b")).first).to_be_attached()
    report(f"the first completion came after {time.monotonic() - began:.1f} s")
    lab.look("completion")
    lab.page.keyboard.press("Escape")
    lab.cell(2).locator(".cm-content").click()
    lab.page.keyboard.press("Control+End")
    until(menu.first, lambda: lab.page.keyboard.press("Tab"))
    lab.page.keyboard.press("Enter")
    expect(lab.cell(2).locator(".cm-content")).to_have_text("%hm stop")
    report("Tab completes a selector and a line of the session")

    lab.cell(3).locator(".cm-content").click()
    lab.page.keyboard.press("Control+End")
    for _ in 'en("glyphs")':
        lab.page.keyboard.press("ArrowLeft")
    tooltip = lab.page.locator(".jp-Tooltip")
    until(tooltip, lambda: lab.page.keyboard.press("Shift+Tab"))
    expect(tooltip).to_contain_text("func dataset.Open(name string)")
    expect(tooltip).to_contain_text("Open opens the named set")
    lab.look("hover")
    report("Shift-Tab shows what is documented")

    lab.page.keyboard.press("Escape")
    lab.cell(4).locator(".cm-content").click()
    lab.page.keyboard.press("Control+End")
    for _ in "pen(((":
        lab.page.keyboard.press("ArrowLeft")
    before = lab.explained
    lab.page.keyboard.press("Shift+Tab")
    while lab.explained == before:
        lab.page.wait_for_timeout(50)
    expect(tooltip).to_have_count(0)
    lab.look("hover-broken")
    report("Shift-Tab shows nothing in a cell that does not parse")


def until(shown, ask):
    """Asks until something is shown: what takes longer than the front end waits is dropped."""
    for _ in range(10):
        ask()
        try:
            return expect(shown).to_be_visible(timeout=PATIENCE / 10)
        except AssertionError:
            pass
    sys.exit(f"not shown: {shown}")


def interrupt(lab):
    """Interrupted training says that it stopped, and goes on where it did."""
    lab.open("interrupt", IMPORTS, TRAIN)
    lab.run(0)
    for _ in range(2):
        lab.execute(1)
        reached = later_step(lab.output(1), 0)
        lab.menu("Kernel", "Interrupt Kernel")
        lab.ended(1)
        output = lab.output(1)
        expect(output).to_contain_text("checkpoint", timeout=PATIENCE)
        for noise in ("context canceled", "exit status", "panic"):
            expect(output).not_to_contain_text(noise)
        lab.look("interrupt")
    report("an interrupt reads as one, the second time at step", reached)


def restart(lab):
    """A display that a restart leaves behind says as of when it is, and how to see more."""
    lab.open("restart", IMPORTS, START, "%hm show glyphs", "%hm resume glyphs")
    lab.run(0)
    lab.run(1)
    reached = later_step(lab.output(1), 0)
    lab.menu("Kernel", "Restart Kernel")
    lab.page.locator(".jp-Dialog button.jp-mod-accept").click()
    # JupyterLab takes nothing more from a kernel that it restarts.
    expect(lab.output(1)).to_contain_text(re.compile("as of .*%hm show glyphs", re.DOTALL))
    lab.look("restart-left")
    lab.await_kernel()
    lab.run(2)
    expect(lab.output(2)).to_contain_text(re.compile("glyphs (interrupted|stopped)"), timeout=PATIENCE)
    lab.run(3)
    later_step(lab.output(2), reached)
    lab.look("restart-found")
    report("the new kernel finds the run and goes on from step", reached)


def everything(lab):
    """Run All of the quickstart, in light and in dark, wide and narrow."""
    text = (lab.notebooks / "quickstart.ipynb").read_text()
    short = text.replace("const epochs = 25", "const epochs = 2").replace("100_000", "10_000")
    if short == text:
        sys.exit("quickstart.ipynb does not say const epochs = 25")
    (lab.folder / "quickstart.ipynb").write_text(short)
    lab.load("quickstart")
    cells = lab.page.locator(".jp-Notebook .jp-CodeCell")
    lab.menu("Edit", "Clear Outputs of All Cells")
    lab.menu("Run", "Run All Cells")
    prompts = cells.locator(".jp-InputPrompt")
    expect(prompts.filter(has_text=re.compile(r"\[\*\]"))).not_to_have_count(0, timeout=PATIENCE)
    expect(prompts.filter(has_text=re.compile(r"\[\*\]"))).to_have_count(0, timeout=4 * PATIENCE)
    for theme in "Light", "Dark":
        lab.theme(theme)
        lab.reload()
        described(json.loads((lab.folder / "quickstart.ipynb").read_text()))
        for width, size in (("wide", WIDE), ("narrow", NARROW)):
            lab.page.set_viewport_size({"width": size[0], "height": size[1]})
            seen = walk(lab, f"quickstart-{theme.lower()}-{width}")
            if seen["errors"] or seen["faint"] or seen["cut"]:
                sys.exit(f"{theme}, {width}: {seen}")
    report("the quickstart can be read in light and in dark, wide and narrow")


def described(notebook):
    """Holds that images have alternative texts, in the metadata of outputs: JupyterLab, unlike
    nbconvert, shows none of them."""
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", [])]
    images = [output["metadata"].get("image/png", {}) for output in outputs if "image/png" in output.get("data", {})]
    if len(images) < 8 or not all(image.get("alt") and image.get("width") for image in images):
        sys.exit(f"the metadata of images: {images}")


def walk(lab, name):
    """Looks at a notebook screen by screen, and returns what it shows."""
    seen = {"errors": [], "faint": [], "cut": []}
    cells = lab.page.locator(".jp-Notebook .jp-Cell")
    for i in range(cells.count()):
        cell = cells.nth(i)
        cell.scroll_into_view_if_needed()
        for key, values in cell.evaluate(LEGIBLE).items():
            seen[key] += values
        if i % 4 == 3:
            lab.look(f"{name}-{i:02d}")
    return seen


# LEGIBLE lists of a cell errors, text of less contrast than 4.5 : 1, and images that are wider
# than the place that they have.
LEGIBLE = """cell => {
    const channels = colour => colour.match(/[\\d.]+/g).map(Number);
    const luminance = colour => {
        const [r, g, b] = channels(colour).map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = element => {
        for (; element; element = element.parentElement) {
            const colour = getComputedStyle(element).backgroundColor;
            if ((channels(colour)[3] ?? 1) > 0.5) return colour;
        }
        return 'rgb(255, 255, 255)';
    };
    const seen = {errors: [], faint: [], cut: []};
    for (const output of cell.querySelectorAll('.jp-OutputArea-output')) {
        const place = output.getBoundingClientRect();
        for (const image of output.querySelectorAll('img')) {
            if (image.getBoundingClientRect().right > place.right + 1) seen.cut.push(image.alt);
        }
        if (output.dataset.mimeType === 'application/vnd.jupyter.error') seen.errors.push(output.innerText);
        for (const element of output.querySelectorAll('*')) {
            const text = [...element.childNodes].filter(n => n.nodeType === 3).map(n => n.data.trim()).join('');
            if (!text || !element.getClientRects().length) continue;
            const [dark, light] = [getComputedStyle(element).color, behind(element)].map(luminance).sort((a, b) => a - b);
            if ((light + 0.05) / (dark + 0.05) < 4.5) seen.faint.push(text.slice(0, 60));
        }
    }
    return seen;
}"""


def main():
    jupyter, chromium, notebooks, folder, *parts = sys.argv[1:]
    folder = pathlib.Path(folder).resolve()
    shutil.rmtree(folder, ignore_errors=True)  # else the runs of an earlier time go on
    folder.mkdir(parents=True)
    setting(folder, "apputils-extension", "notification", {"fetchNews": "false", "checkForUpdates": False})
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    token = secrets.token_hex()
    lab = [str(pathlib.Path(notebooks) / "jupyter.sh"), "lab"] if "begin" in parts else [jupyter, "-m", "jupyterlab"]
    command = [*lab, "--no-browser", "--allow-root", f"--port={port}", f"--IdentityProvider.token={token}"]
    environment = {**os.environ, "JUPYTERLAB_SETTINGS_DIR": str(folder / "settings"), "JUPYTERLAB_WORKSPACES_DIR": str(folder / "workspaces")}
    with open(folder / "jupyterlab.log", "w") as log:
        server = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log, env=environment)
    address = f"http://127.0.0.1:{port}"
    try:
        await_server(f"{address}/api?token={token}")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            for part in parts:
                began = time.monotonic()
                page = browser.new_page(viewport={"width": 1000, "height": 1400})
                lab = Lab(address, token, folder, page)
                lab.notebooks = pathlib.Path(notebooks)
                try:
                    globals()[part](lab)
                except BaseException as failure:
                    lab.look(f"{part}-failed")
                    traceback.print_exc()
                    sys.exit(lab.explain(failure))
                page.close()
                lab.shut_down()
                shutil.rmtree(folder / "runs", ignore_errors=True)
                report(f"{part}: {time.monotonic() - began:.0f} s")
            browser.close()
    finally:
        server.terminate()
        server.wait(30)


def await_server(url):
    for _ in range(PATIENCE // 100):
        try:
            urllib.request.urlopen(url)
            return
        except OSError:
            time.sleep(0.1)
    sys.exit("JupyterLab did not start")


def report(*what):
    print("ok ", *what, flush=True)


if __name__ == "__main__":
    main()
