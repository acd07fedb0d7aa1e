"""Writes the C source of the trampolines, one for each function of cuda.h.

    gcc -E -P cuda.h | python3 trampolines.py > trampolines.c

driver.c opens the driver and defines cuInit.
"""

import re
import sys

PROTOTYPE = re.compile(r"\bCUresult\s+(cu\w+)\s*\(([^()]*)\)\s*;")
BY_HAND = {"cuInit"}


def arguments(parameters):
    """The names of a prototype's parameters, as a call lists them."""
    if parameters == "void":
        return ""
    return ", ".join(re.search(r"(\w+)$", p.strip()).group(1) for p in parameters.split(","))


def main():
    prototypes = dict(PROTOTYPE.findall(sys.stdin.read()))
    if not BY_HAND < prototypes.keys():
        sys.exit("trampolines.py: there is no cuInit in the header")
    print('#include "driver.h"')
    for name, parameters in sorted(prototypes.items()):
        if name not in BY_HAND:
            parameters = " ".join(parameters.split())
            print(f"TRAMPOLINE({name}, ({parameters}), ({arguments(parameters)}))")


main()
