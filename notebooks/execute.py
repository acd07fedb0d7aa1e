"""Run a notebook from top to bottom through Jupyter's own client.

The executed notebook and an HTML rendition of it are written to the output
folder, also when a cell fails. Cells run in an empty folder beside them, so
nothing is left over from an earlier execution.

As in papermill, -p NAME VALUE adds a cell that sets a constant after the cell
tagged "parameters", and the addition shows in the executed notebook.
"""

import argparse
import asyncio
import logging
import pathlib
import re
import shutil
import sys
import time

import nbclient
import nbclient.exceptions
import nbconvert
import nbformat

CELL_TIMEOUT = 1800  # seconds

BETWEEN_EPOCHS = 5  # seconds between two lines about the epochs of a cell

# What nbclient raises, depending on where it was, once it has stopped the
# kernel for Ctrl-C.
INTERRUPTED = (KeyboardInterrupt, asyncio.CancelledError, AssertionError)


def main():
    options = parse_options()
    source = options.notebook
    if not source.is_file():
        sys.exit(f"execute.py: there is no notebook {source}: name one, such as notebooks/quickstart.ipynb")
    notebook = nbformat.read(source, as_version=4)
    set_parameters(notebook, options.parameter)

    work = options.output / source.stem
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)

    print(f"Executing {source.name} in Jupyter", flush=True)
    failure = execute(notebook, work)

    executed = work.with_suffix(".ipynb")
    rendition = work.with_suffix(".html")
    notebook.metadata.setdefault("language_info", {})["pygments_lexer"] = "go"  # the kernel gonb names none, and HTML would colour Go as Python
    nbformat.write(notebook, executed)
    page, _ = nbconvert.HTMLExporter().from_notebook_node(notebook, {"metadata": {"name": source.stem}})
    rendition.write_text(page, encoding="utf-8")
    print(f"Notebook: {shown(executed)}")
    print(f"As HTML:  {shown(rendition)}")
    if failure:
        sys.exit(f"execute.py: {source.name} did not run to its end\n{failure}")


def parse_options():
    parser = argparse.ArgumentParser(prog="jupyter.sh execute", description="Run a notebook from top to bottom.")
    parser.add_argument("notebook", type=pathlib.Path)
    parser.add_argument("--output", type=pathlib.Path, required=True, metavar="FOLDER")
    parser.add_argument("-p", dest="parameter", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"))
    return parser.parse_args()


def set_parameters(notebook, parameters):
    if not parameters:
        return
    defaults = [i for i, cell in enumerate(notebook.cells) if "parameters" in cell.metadata.get("tags", [])]
    if len(defaults) != 1:
        sys.exit(f'execute.py: -p needs one cell tagged "parameters", the notebook has {len(defaults)}')
    for name, _ in parameters:
        if not re.search(rf"\b{re.escape(name)}\b", notebook.cells[defaults[0]].source):
            sys.exit(f'execute.py: the cell tagged "parameters" does not set {name}')
    constants = "\n".join(f"const {name} = {value}" for name, value in parameters)
    cell = nbformat.v4.new_code_cell(constants, metadata={"tags": ["injected-parameters"]})
    notebook.cells.insert(defaults[0] + 1, cell)


def execute(notebook, work):
    """Execute a notebook in place. Return what went wrong, or None."""
    total = sum(1 for cell in notebook.cells if cell.cell_type == "code")
    done = 0
    began = 0.0

    def started(cell, cell_index):
        nonlocal done, began
        done += 1
        began = time.monotonic()
        print(f"  cell {done} of {total}: {heading(notebook, cell_index)}", end="", flush=True)

    def finished(cell, cell_index, execute_reply):
        print(f"  ({time.monotonic() - began:.1f} s)", flush=True)

    client = Client(
        notebook,
        timeout=CELL_TIMEOUT,
        record_timing=False,
        coalesce_streams=True,  # how they are divided varies from run to run
        resources={"metadata": {"path": str(work)}},
        extra_arguments=["-raw_error"],
        on_cell_execute=started,
        on_cell_executed=finished,
    )
    client.log.setLevel(logging.CRITICAL)  # failures are told once, below
    with open(work / "kernel.log", "w", encoding="utf-8") as log:
        try:
            client.execute(stderr=log)
        except nbclient.exceptions.CellTimeoutError:
            return f"The cell took longer than {CELL_TIMEOUT} s."
        except INTERRUPTED:
            print()
            return "It was interrupted."
        except (nbclient.exceptions.CellControlSignal, RuntimeError) as failure:
            return failure
    return None


class Client(nbclient.NotebookClient):
    """A client that tells how far a cell has come whose display shows the epochs of training."""

    told = ""  # the epoch that was told last
    when = 0.0  # it was

    def process_message(self, msg, cell, cell_index):
        epoch = epoch_of(msg)
        if epoch and epoch != self.told and time.monotonic() - self.when >= BETWEEN_EPOCHS:
            self.told, self.when = epoch, time.monotonic()
            print(f"\n    {epoch}", end="", flush=True)
        return super().process_message(msg, cell, cell_index)


def epoch_of(message):
    """Which epoch of training a message shows, or "" if it shows none."""
    page = message["content"].get("data", {}).get("text/html", "")
    found = re.search(r"\bepoch [\d,]+ of [\d,]*\d", page)
    return found[0] if found else ""


def heading(notebook, cell_index):
    """The heading under which a cell stands."""
    lines = [line for cell in notebook.cells[:cell_index] if cell.cell_type == "markdown" for line in cell.source.split("\n")]
    headings = [line.lstrip("# ") for line in lines if line.startswith("#")]
    return headings[-1] if headings else ""


def shown(path):
    """A path as short as it can be told from here."""
    here = pathlib.Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


if __name__ == "__main__":
    main()
