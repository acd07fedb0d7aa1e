"""How long completions and doc comments take in a notebook of fifteen cells.

    completions.py KERNEL [NUMBER]

It prints quantiles over a number of requests of each kind, in milliseconds, and how many had
no answer.
"""

import statistics
import subprocess
import sys
import time

from jupyter_client.manager import start_new_kernel

IMPORTS = """\
import (
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/kernelext"
	"github.com/helmholtz-go/helmholtz/plotting"
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
"""

# What is written before the cursor, and one of the words that may follow.
WRITTEN = {
    "%%\nx := hm.NR": "NRWS",
    "%%\nplotting.": "Curves",
    "%%\nset := must(dataset.Op": "Open",
    "%%\nmachine := hm.New(dataset.Shape{Height: 2, Width: 3}).": "Dense",
    "%%\nmethod := hm.NRWS().Lear": "LearningRate",
    '%%\nkernelext.Open().Run("a").': "Model",
    "func last(m hm.Machine) hm.Machine {\n\treturn wider": "wider13",
}


def main():
    name, number = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 100
    manager, client = start_new_kernel(kernel_name=name, stderr=subprocess.DEVNULL)
    try:
        cells = [IMPORTS] + [f"func wider{i}(m hm.Machine) hm.Machine {{ return m.Dense({i + 2}) }}" for i in range(14)]
        for cell in cells:
            reply = client.execute_interactive(cell, timeout=300)
            assert reply["content"]["status"] == "ok", reply["content"]
        began = time.monotonic()
        written, wanted = next(iter(WRITTEN.items()))
        while wanted not in matches(client, written):
            pass
        print(f"the first completion: after {1000 * (time.monotonic() - began):.0f} ms", flush=True)
        asked = list(WRITTEN.items())
        tell("completions, six in each cell", number, lambda i: completed(client, *asked[i // 6 % len(asked)]))
        tell("completions, each in another cell", number, lambda i: completed(client, *asked[i % len(asked)]))
        tell("doc comments", number, lambda i: documented(client, ("NRWS", "Damping")[i % 2]))
    finally:
        client.stop_channels()
        manager.shutdown_kernel()


def tell(what, number, ask):
    times, unanswered = [], 0
    for i in range(number):
        began = time.monotonic()
        if not ask(i):
            unanswered += 1
        times.append(1000 * (time.monotonic() - began))
    deciles = statistics.quantiles(times, n=10)
    print(f"{number} {what}: median {statistics.median(times):.0f} ms, nine in ten within {deciles[-1]:.0f} ms, all within {max(times):.0f} ms, {unanswered} unanswered", flush=True)


def completed(client, written, wanted):
    return any(wanted in match for match in matches(client, written))


def matches(client, written):
    return client.complete(written, len(written), reply=True, timeout=60)["content"].get("matches", [])


def documented(client, word):
    code = "%%\nmethod := hm.NRWS().Damping(0.1)\n"
    content = client.inspect(code, code.index(word) + 2, reply=True, timeout=60)["content"]
    return content["found"] and "func" in content["data"].get("text/markdown", content["data"].get("text/plain", ""))


main()
