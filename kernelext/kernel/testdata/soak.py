"""Cells one after another, with a second client that comes and goes: no message
is lost, and the memory of the kernel stays flat. A run trains in the background
meanwhile, unless the soak is to be bare.

    soak.py FOLDER CELLS [bare]
"""

import pathlib
import queue
import statistics
import sys
import threading
import time
import uuid

import psutil
from jupyter_client import BlockingKernelClient
from jupyter_client.manager import KernelManager

TIMEOUT = 120  # seconds
GO_CELL = 20  # every so many cells is one of Go, the others are of the shell

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
experiment := hm.RWS().Epochs(100_000).Samples(2).Experiment(hm.New(set.Shape()).Dense(10, 5), set)
kernelext.Open().Start("soak", experiment).Show()
"""


def main():
    folder, cells, bare = pathlib.Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:] == ["bare"]
    file = str(folder / f"kernel-{uuid.uuid4()}.json")
    manager = KernelManager(kernel_name="helmholtz", connection_file=file)
    log = open(folder / "kernel.log", "w")
    manager.start_kernel(cwd=str(folder), stdout=log, stderr=log)
    client = connect(file)
    process = psutil.Process(manager.provisioner.pid)
    if not bare:
        client.execute_interactive(START, output_hook=lambda _: None, timeout=TIMEOUT)

    done = threading.Event()
    lost = []
    second = SecondClient(file, done, lost)
    second.start()
    times, memory, messages = [], [], 0
    for i in range(cells):
        began = time.monotonic()
        code = '%%%%\nfmt.Println("cell", %d)' % i if i % GO_CELL == 0 else f"!echo cell {i}"
        messages += run(client, f"cell {i}", code, lost)
        times.append(time.monotonic() - began)
        if i % (cells // 10) == 0:
            memory.append(process.memory_info().rss >> 20)
    done.set()
    second.join()
    memory.append(process.memory_info().rss >> 20)
    _, runs = talk(client, "%hm runs")
    manager.shutdown_kernel()

    print(f"{cells} cells in {sum(times):.0f} s, median {1000 * statistics.median(times):.1f} ms")
    print(f"{messages} messages of the first client; {second.messages} of the second, which came {second.visits} times; {len(lost)} cells with lost or wrong ones")
    print(f"memory of the kernel (MB): {memory}")
    for cell in lost:
        print("lost or wrong:", *cell)
    print(runs)
    # The collector of garbage lets the memory go up and down by as much again.
    grown = statistics.mean(memory[-4:]) > 1.5 * statistics.mean(memory[1:5])
    trains = bare or "running" in runs
    sys.exit(bool(lost) or not second.messages or not trains or grown)


class SecondClient(threading.Thread):
    """A client that connects, runs some cells and goes, until the soak is done."""

    def __init__(self, file, done, lost):
        super().__init__()
        self.file, self.done, self.lost = file, done, lost
        self.messages = self.visits = 0

    def run(self):
        try:
            while not self.done.is_set():
                self.visit()
        except Exception as failure:  # would end the thread, and nothing else
            self.lost.append(("the second client", failure))

    def visit(self):
        client = connect(self.file)
        self.visits += 1
        for i in range(30):
            if self.done.is_set():
                break
            self.messages += run(client, f"second {i}", f"!echo second {i}", self.lost)
        client.stop_channels()


def connect(file):
    """A client that hears what the kernel publishes.

    Jupyter's wait_for_ready goes on to wait until nothing is heard for 0.2 s,
    which does not come to pass beside a client that runs cell after cell.
    """
    client = BlockingKernelClient()
    client.load_connection_file(file)
    client.start_channels()
    while True:
        client.kernel_info()
        client.get_shell_msg(timeout=TIMEOUT)
        try:
            client.get_iopub_msg(timeout=0.2)
            return client
        except queue.Empty:
            continue


def run(client, text, code, lost):
    """Run a cell that prints text; return the number of its messages."""
    kinds, printed = talk(client, code)
    if printed != text + "\n" or kinds[:2] != ["status", "execute_input"] or kinds[-1] != "status":
        lost.append((text, kinds, printed))
    return len(kinds) + 1


def talk(client, code):
    kinds, printed = [], []

    def hook(message):
        if message["msg_type"] not in ("update_display_data", "display_data"):
            kinds.append(message["msg_type"])
        if message["msg_type"] == "stream":
            printed.append(message["content"]["text"])

    reply = client.execute_interactive(code, output_hook=hook, timeout=TIMEOUT)
    if reply["content"]["status"] != "ok":
        kinds.append("error")
    return kinds, "".join(printed)


main()
