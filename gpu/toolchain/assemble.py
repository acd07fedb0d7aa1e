"""Assembles PTX for some architectures, and prints what each function spills.

    assemble.py PTXAS PTX ARCHITECTURE...

A spill is a value that registers have no room for. The functions named multiply…
fetch ahead what they sum next; if that is spilled, they wait for each number in
turn, and are many times as slow. So their spills are an error.
"""

import re
import subprocess
import sys

# Addresses and counters that are spilled do no harm, bytes stored and loaded.
MOST_SPILLED = 128

# As ptxas -v reports of the kernel and of a function, whose name is mangled.
FUNCTION = re.compile(
    r"Function properties for (?:_Z\d+)?([a-z_]+)\w*\n"
    r" +\d+ bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")


def main():
    ptxas, ptx, *architectures = sys.argv[1:]
    bad = []
    for architecture in architectures:
        run = subprocess.run([ptxas, "-v", f"-arch={architecture}", ptx, "-o", "/dev/null"],
                             stderr=subprocess.PIPE, text=True)
        if run.returncode:
            sys.exit(f"assemble.py: {architecture}: {run.stderr}")
        functions = FUNCTION.findall(run.stderr)
        if not any(name.startswith("multiply") for name, _, _ in functions):
            sys.exit(f"assemble.py: ptxas reports no function multiply…:\n{run.stderr}")
        for name, stores, loads in functions:
            spilled = int(stores) + int(loads)
            if spilled > MOST_SPILLED:
                print(f"{architecture}: {name} spills {stores} bytes, and loads {loads}")
            if spilled > MOST_SPILLED and name.startswith("multiply"):
                bad.append(f"{name} for {architecture}")
    if bad:
        sys.exit(f"assemble.py: spills what is fetched ahead: {', '.join(bad)}")


main()
