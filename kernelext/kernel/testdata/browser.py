"""A run in JupyterLab, in headless Chromium: its cell ends, its display goes on
moving, a second cell samples from the half-trained model, the page is loaded
again, a third cell stops the run.

    browser.py FOLDER [CHROMIUM]

The notebook, the log of Jupyter and the screenshots go to FOLDER. The kernel
helmholtz has to be registered.
"""

import os
import pathlib
import re
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.request

import nbformat
from playwright.sync_api import expect, sync_playwright

START = """\
import (
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/kernelext"
)

%%
set, err := dataset.Open("glyphs")
if err != nil {
	panic(err)
}
machine := hm.New(set.Shape()).Dense(50, 20).Coding(hm.PlusMinusOne)
method := hm.NRWS().LearningRate(0.08).Damping(0.1).RefreshEvery(100).Epochs(500)
experiment := method.Experiment(machine, set)
kernelext.Open().Start("glyphs", experiment).Show()
fmt.Println("the cell has ended")
"""

SAMPLE = """\
import "github.com/helmholtz-go/helmholtz/plotting"

%%
model, err := kernelext.Open().Run("glyphs").Model()
if err != nil {
	panic(err)
}
sheet, err := model.Sample(context.Background(), 25)
if err != nil {
	panic(err)
}
plotting.Samples(sheet).Size(3, 3).Show()
"""

STOP = "%hm stop glyphs\n%hm runs"

PATIENCE = 40_000  # milliseconds


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    chromium = sys.argv[2] if len(sys.argv) > 2 else None
    folder.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(folder / "runs", ignore_errors=True)  # else the run of an earlier time goes on
    cells = [nbformat.v4.new_code_cell(source) for source in (START, SAMPLE, STOP)]
    metadata = {"kernelspec": {"name": "helmholtz", "display_name": "Go (Helmholtz)", "language": "go"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=metadata), folder / "session.ipynb")

    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    token = secrets.token_hex()
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}", f"--IdentityProvider.token={token}"]
    settings = folder / "settings"
    no_news = settings / "@jupyterlab" / "apputils-extension" / "notification.jupyterlab-settings"
    no_news.parent.mkdir(parents=True, exist_ok=True)
    no_news.write_text('{"fetchNews": "false", "checkForUpdates": false}')
    with open(folder / "jupyterlab.log", "w") as log:
        environment = {**os.environ, "JUPYTERLAB_SETTINGS_DIR": str(settings)}
        server = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log, env=environment)
    try:
        await_server(f"http://127.0.0.1:{port}/api?token={token}")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1000, "height": 1400})
            drive(page, f"http://127.0.0.1:{port}/doc/tree/session.ipynb?token={token}", folder)
            browser.close()
    finally:
        server.terminate()
        server.wait(30)


def await_server(url):
    for _ in range(300):
        try:
            urllib.request.urlopen(url)
            return
        except OSError:
            time.sleep(0.1)
    sys.exit("JupyterLab did not start")


def drive(page, url, folder):
    page.goto(url)
    cells = page.locator(".jp-Notebook .jp-CodeCell")
    expect(cells).to_have_count(3, timeout=PATIENCE)
    expect(page.get_by_role("button", name="Go (Helmholtz)", exact=True)).to_be_visible(timeout=PATIENCE)
    output = [cells.nth(i).locator(".jp-OutputArea") for i in range(3)]

    execute(page, cells.nth(0))
    expect(output[0]).to_contain_text("the cell has ended", timeout=PATIENCE)
    expect(cells.nth(0).locator(".jp-InputPrompt")).to_have_text("[1]:", timeout=PATIENCE)
    steps = [0]
    while len(steps) < 4:
        steps.append(later_step(output[0], steps[-1]))
    report("the display moves after its cell has ended, at steps", steps)
    expect(output[0].locator("img[alt=images]")).to_be_visible(timeout=PATIENCE)
    expect(output[0].locator("img[alt*='against epoch']")).to_be_visible(timeout=PATIENCE)
    report("it shows curves and samples")

    execute(page, cells.nth(1))
    expect(output[1].locator("img")).to_be_visible(timeout=PATIENCE)
    report("a second cell samples from the half-trained model")
    later_step(output[0], steps[-1])
    cells.nth(0).scroll_into_view_if_needed()
    page.screenshot(path=folder / "session.png")

    page.keyboard.press("Control+s")
    page.wait_for_timeout(1000)
    page.reload()
    expect(cells).to_have_count(3, timeout=PATIENCE)
    expect(page.get_by_role("button", name="Go (Helmholtz)", exact=True)).to_be_visible(timeout=PATIENCE)
    report("the page is loaded again")

    execute(page, cells.nth(2))
    expect(output[2]).to_contain_text("glyphs is stopped", timeout=PATIENCE)
    page.screenshot(path=folder / "stopped.png")
    report("a third cell stops the run")


def execute(page, cell):
    cell.locator(".cm-content").click()
    page.keyboard.press("Shift+Enter")


def later_step(output, after):
    """Wait until the display is at a later step, and return it."""
    for _ in range(PATIENCE // 100):
        found = re.search(r"step ([\d,]+) of", output.inner_text())
        if found and (step := int(found[1].replace(",", ""))) > after:
            return step
        time.sleep(0.1)
    sys.exit(f"the display stays at step {after}")


def report(*what):
    print("ok ", *what, flush=True)


main()
