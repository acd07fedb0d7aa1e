"""Convert a machine of the program rbms from its HDF5 file, for helmholtz import.

    rbms.py FILE.h5 OUT.safetensors [--update N]

FILE.h5 has the type of the machine and, for each update that was kept, a group update_N with weight_matrix,
vbias and hbias. Without --update, the last update is converted. Needs only h5py and safetensors.
"""

import argparse
import sys

import h5py
import numpy as np
from safetensors.numpy import save_file

CODINGS = {"BBRBM": "01", "IIRBM": "pm1"}


def read(path, update=None):
    """Return the arrays of an update, the last one by default, their coding, and the update."""
    with h5py.File(path, "r") as file:
        updates = sorted(int(name.removeprefix("update_")) for name in file if name.startswith("update_"))
        if not updates:
            sys.exit(f"{path} has no group update_N: name a file that the program rbms wrote")
        if update is None:
            update = updates[-1]
        if update not in updates:
            sys.exit(f"{path} has no update {update}: give one of {', '.join(map(str, updates))}")
        kind = file["model_type"][()].decode() if "model_type" in file else "BBRBM"  # older files have only this type
        if kind not in CODINGS:
            sys.exit(f"{path} is a machine of type {kind}: only {' and '.join(CODINGS)} have binary units in both layers")
        group = file[f"update_{update}"]
        group = group["params"] if "params" in group else group  # older files
        arrays = {to: np.ascontiguousarray(group[name][()], dtype=np.float32)
                  for to, name in (("W", "weight_matrix"), ("b", "vbias"), ("c", "hbias"))}
    return arrays, CODINGS[kind], update


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("file")
    options.add_argument("out")
    options.add_argument("--update", type=int)
    given = options.parse_args()
    arrays, coding, update = read(given.file, given.update)
    save_file(arrays, given.out)
    print(f"{given.out}: update {update}, {' and '.join(map(str, arrays['W'].shape))} units\n"
          f"helmholtz import {given.out} --coding {coding} --sign minus --dataset NAME --out DIR")


if __name__ == "__main__":
    main()
