"""Try the kernel Go (Helmholtz) in the clients of requirements.txt, and write what they did into docs/jupyter.md.

    check.py FOLDER

Each client runs the quickstart with one epoch, a cell that does not compile, and a notebook whose run is refused when the
notebook is executed again with other epochs. The two consoles are typed into. An unexpected verdict ends the program
with an error. The notebooks and their outputs are kept in FOLDER.
"""

import importlib.metadata
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request

import nbformat
import pexpect
import pyte

ROOT = pathlib.Path(__file__).resolve().parent.parent
PATIENCE = 600  # seconds, for a notebook
COMPILE_ERROR = "Line 2: undefined: undefinedName"
REFUSED = "cannot be started: runs/first belongs to another experiment"
IMPORTS = """import (
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/kernelext"
	"github.com/helmholtz-go/helmholtz/notebooks/cell"
)"""
START = """%%
set := cell.Must(dataset.Open("3by3"))
kernelext.Open().Start("first", hm.RWS().Epochs(epochs).Experiment(hm.New(set.Shape()).Dense(6), set)).Show()"""


def main():
    work = pathlib.Path(sys.argv[1]).resolve()
    shutil.rmtree(work, ignore_errors=True)
    write_notebooks(work)
    rows = ["| client | quickstart, one epoch | a cell that does not compile | a run refused the second time | parameters |", "|---|---|---|---|---|"]
    for client, verdicts in (
        ("papermill", papermill),
        ("nbclient", lambda folder: batch(folder, "jupyter-execute", "--inplace")),
        ("nbconvert", lambda folder: batch(folder, "jupyter-nbconvert", "--to=notebook", "--execute", "--inplace")),
        ("nbmake", lambda folder: batch(folder, "pytest", "-q", "--nbmake")),
        ("nbval", lambda folder: batch(folder, "pytest", "-q", "--nbval-lax", f"--nbval-cell-timeout={PATIENCE}")),
        ("voila", voila),
        ("jupyter-console", lambda folder: console(folder, "jupyter-console", "--kernel=helmholtz")),
        ("euporie", lambda folder: console(folder, "euporie-console", "--kernel-name=helmholtz")),
    ):
        began = time.monotonic()
        folder = work / client
        shutil.copytree(work / "notebooks", folder)
        cells = verdicts(folder)
        rows.append(f"| {client} {importlib.metadata.version(client)} | {' | '.join(cells)} |")
        print(f"{rows[-1]}  ({time.monotonic() - began:.0f} s)", flush=True)
    write_table(rows)


def write_notebooks(work):
    folder = work / "notebooks"
    folder.mkdir(parents=True)
    quickstart = nbformat.read(ROOT / "notebooks" / "quickstart.ipynb", as_version=4)
    for cell in quickstart.cells:
        cell.source = re.sub(r"const epochs = \d+", "const epochs = 1", cell.source)
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    nbformat.write(quickstart, folder / "quickstart.ipynb")
    write(folder / "failing.ipynb", ["%%\nundefinedName()", '%%\nfmt.Println("behind")'])
    for name, epochs in (("run", 2), ("again", 3)):
        write(folder / f"{name}.ipynb", [IMPORTS, f"const epochs = {epochs}", START, "%hm wait first", '%%\nfmt.Println("waited for", epochs, "epochs")'])


def write(path, sources):
    cells = [nbformat.v4.new_code_cell(source, metadata={"tags": ["parameters"]} if source.startswith("const") else {}) for source in sources]
    kernel = {"kernelspec": {"name": "helmholtz", "display_name": "Go (Helmholtz)", "language": "go"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), path)


def run(folder, program, *arguments):
    """Return the exit status of a client, and what it prints without its colours."""
    command = [str(pathlib.Path(sys.prefix) / "bin" / program), *arguments]
    done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE, check=False)
    text = re.sub(r"\x1b\[[\d;]*m", "", done.stdout.decode(errors="replace"))
    (folder / "output.txt").open("a").write(f"$ {command}\n{text}\nexit status {done.returncode}\n")
    return done.returncode, text


def expect(is_so, what, text):
    if not is_so:
        sys.exit(f"check.py: {what}:\n{text[-4000:]}")


def fails(what, status, text, reason):
    expect(status != 0 and reason in text and "/gonb_" not in text, f"{what} does not fail with {reason!r} (exit status {status})", text)
    return f"fails and says `{reason}`" if reason == COMPILE_ERROR else "fails and says why"


def batch(folder, *command):
    status, text = run(folder, *command, "quickstart.ipynb")
    expect(status == 0, f"{command[0]} quickstart.ipynb ends with {status}", text)
    compiles = fails(command, *run(folder, *command, "failing.ipynb"), COMPILE_ERROR)
    status, text = run(folder, *command, "run.ipynb")
    expect(status == 0, f"{command[0]} run.ipynb ends with {status}", text)
    return ["runs", compiles, fails(command, *run(folder, *command, "again.ipynb"), REFUSED), "none"]


def papermill(folder):
    command = ["papermill", "--no-progress-bar"]
    status, text = run(folder, *command, "-p", "epochs", "1", str(ROOT / "notebooks" / "quickstart.ipynb"), "out.ipynb")
    expect(status == 0, f"papermill quickstart.ipynb ends with {status}", text)
    compiles = fails(command, *run(folder, *command, "failing.ipynb", "out.ipynb"), COMPILE_ERROR)
    status, text = run(folder, *command, "-p", "epochs", "4", "run.ipynb", "out.ipynb")
    expect(status == 0 and "waited for 4 epochs" in (folder / "out.ipynb").read_text(), f"papermill -p epochs 4 ends with {status}", text)
    refused = fails(command, *run(folder, *command, "-p", "epochs", "5", "run.ipynb", "out.ipynb"), REFUSED)
    fails(command, *run(folder, *command, "-p", "flag", "1", "run.ipynb", "out.ipynb"), "the parameter flag would break cells")
    status, text = run(folder, *command, "--help-notebook", "run.ipynb")
    expect("epochs: Unknown type (default 2)" in text, "papermill --help-notebook", text)
    return ["runs", compiles, refused, "`-p`, `--help-notebook`"]


def voila(folder):
    shown = {}
    for name in ("quickstart", "failing", "run", "again"):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        command = [str(pathlib.Path(sys.prefix) / "bin" / "voila"), f"--port={port}", "--no-browser", "--show_tracebacks=True", f"{name}.ipynb"]
        with open(folder / f"{name}.log", "w") as log, subprocess.Popen(command, cwd=folder, stdout=log, stderr=log) as server:
            try:
                shown[name] = page(f"http://127.0.0.1:{port}/")
            finally:
                server.terminate()
        (folder / f"{name}.html").write_text(shown[name])
    expect("epochs of NRWS" in shown["quickstart"], "voila does not show the quickstart", shown["quickstart"])
    expect(COMPILE_ERROR in shown["failing"] and "behind" not in re.sub(r"Println.*", "", shown["failing"]), "voila does not end at the failing cell", shown["failing"])
    expect("waited for 2 epochs" in shown["run"] and REFUSED in shown["again"] and "waited for" not in shown["again"], "voila does not show the refusal", shown["again"])
    return ["shows the page", f"the page ends and says `{COMPILE_ERROR}`", "the page ends and says why", "none"]


def page(address):
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return urllib.request.urlopen(address, timeout=PATIENCE).read().decode()
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)


class Terminal:
    """A program in a terminal of 40 lines."""

    def __init__(self, folder, program, *arguments):
        path = str(pathlib.Path(sys.prefix) / "bin" / program)
        self.program = pexpect.spawn(path, list(arguments), cwd=folder, encoding="utf-8", dimensions=(40, 120), env={**os.environ, "TERM": "xterm-256color"})
        self.screen = pyte.Screen(120, 40)
        self.stream = pyte.Stream(self.screen)

    def wait(self, pattern, seconds=60):
        """Wait until the screen shows a pattern. Answer the question where the cursor is, as terminals do."""
        end = time.monotonic() + seconds
        while not re.search(pattern, self.text()):
            expect(time.monotonic() < end, f"the screen of {self.program.command} does not show {pattern!r}", self.text())
            try:
                written = self.program.read_nonblocking(1 << 16, timeout=0.2)
            except pexpect.TIMEOUT:
                continue
            self.stream.feed(written)
            for _ in range(written.count("\x1b[6n")):
                self.program.send(f"\x1b[{self.screen.cursor.y + 1};{self.screen.cursor.x + 1}R")

    def text(self):
        return "\n".join(line.rstrip() for line in self.screen.display)


def console(folder, *command):
    terminal = Terminal(folder, *command)
    terminal.wait(r"In \[1\]")
    closes_brackets = command[0].startswith("euporie")
    prompt = 1
    for lines, answer in (
        (["func twice(x int) int {", "return 2 * x", "\x1b[B\x1b[F" if closes_brackets else "}"], None),
        (["%%", "fmt.Println(twice(21))"], r"^\s*42$"),
        (["%hm runs"], "no runs yet"),
        (["%%", "undefinedName()"], COMPILE_ERROR),
    ):
        for line in lines:
            terminal.program.send(line)
            terminal.wait(re.escape(line) if line[0] not in "\x1b}" else ".")
            time.sleep(0.5)  # a console takes what comes faster for a paste, whose lines it does not run
            terminal.program.send("\r")
        prompt += 1
        terminal.wait(rf"In \[{prompt}\]")
        if answer:
            terminal.wait(f"(?m){answer}")
    (folder / "screen.txt").write_text(terminal.text())
    terminal.program.close(force=True)
    return ["functions and `%%` cells can be typed", f"says `{COMPILE_ERROR}`", "", ""]


def write_table(rows):
    guide = ROOT / "docs" / "jupyter.md"
    text = guide.read_text(encoding="utf-8")
    begin, end = "<!-- Written by make clients. -->\n", "\n<!-- Until here. -->"
    before, rest = text.split(begin)
    guide.write_text(before + begin + "\n".join(rows) + end + rest.split(end)[1], encoding="utf-8")


if __name__ == "__main__":
    main()
