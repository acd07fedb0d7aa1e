"""How much longer cells and the start of a kernel take than those of another.

    overhead.py KERNEL KERNEL [CELLS]

Both kernels run at once and take turns, so that other load of the machine
meets both. It prints medians, of starts in seconds, of cells in milliseconds.
"""

import statistics
import subprocess
import sys
import time

from jupyter_client.manager import start_new_kernel

STARTS = 10
KINDS = {"an empty cell": "", "a cell of the shell": "!echo 1", "a cell of Go": "%%\nfmt.Println(1)"}


def main():
    names, cells = sys.argv[1:3], int(sys.argv[3]) if len(sys.argv) > 3 else 200
    starts = {name: [] for name in names}
    for i in range(STARTS):
        kernels = {}
        for name in turn(names, i):
            began = time.monotonic()
            kernels[name] = start_new_kernel(kernel_name=name, stderr=subprocess.DEVNULL)
            starts[name].append(time.monotonic() - began)
        if i < STARTS - 1:
            shut_down(kernels)
    print("start:", {name: f"{statistics.median(times):.2f} s" for name, times in starts.items()})

    for kind, code in KINDS.items():
        times = {name: [] for name in names}
        for i in range(cells):
            for name in turn(names, i):
                began = time.monotonic()
                kernels[name][1].execute_interactive(code, output_hook=lambda _: None, timeout=60)
                times[name].append(1000 * (time.monotonic() - began))
        more = statistics.median(b - a for a, b in zip(*(times[name] for name in names)))
        medians = {name: f"{statistics.median(t):.2f} ms" for name, t in times.items()}
        print(f"{kind}: {medians}, {names[1]} takes {more:.2f} ms more", flush=True)
    shut_down(kernels)


def turn(names, i):
    return names if i % 2 == 0 else names[::-1]


def shut_down(kernels):
    for manager, client in kernels.values():
        client.stop_channels()
        manager.shutdown_kernel()


main()
