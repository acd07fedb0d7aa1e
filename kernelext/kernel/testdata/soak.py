"""Cells one after another beside a background run, with a second client that
comes and goes: no message is lost, and the memory of the kernel stays flat.

    soak.py FOLDER CELLS
"""

import pathlib
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
	"github.com/helmholtz-go/helmholtz/hm/dataset"
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
    folder, cells = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    file = str(folder / f"kernel-{uuid.uuid4()}.json")
    manager = KernelManager(kernel_name="helmholtz", connection_file=file)
    log = open(folder / "kernel.log", "w")
    manager.start_kernel(cwd=str(folder), stdout=log, stderr=log)
    client = connect(file)
    process = psutil.Process(manager.provisioner.pid)
    client.execute_interactive(START, output_hook=lambda _: None, timeout=TIMEOUT)

    done = threading.Event()
    lost = []
    counted = [0]

    def second_client():
        while not done.is_set():
            other = connect(file)
            for i in range(30):
                if done.is_set():
                    break
                counted[0] += run(other, f"second {i}", "!echo second %d" % i, lost)
            other.stop_channels()

    second = threading.Thread(target=second_client)
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
    print(f"{messages} messages of the first client, {counted[0]} of the second, {len(lost)} lost or wrong")
    print(f"memory of the kernel (MB): {memory}")
    print(runs)
    # The collector of garbage lets the memory go up and down by as much again.
    grown = statistics.mean(memory[-4:]) > 1.5 * statistics.mean(memory[1:5])
    sys.exit(bool(lost) or "running" not in runs or grown)


def connect(file):
    client = BlockingKernelClient()
    client.load_connection_file(file)
    client.start_channels()
    client.wait_for_ready(timeout=TIMEOUT)
    return client


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
