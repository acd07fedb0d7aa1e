"""Write a machine of the program rbms, from its HDF5 file, for helmholtz import.

    rbms.py FILE.h5 OUT.safetensors [--update N]

FILE.h5 has a group update_N for each update that was kept, with weight_matrix, vbias and hbias, and the
type of the machine. Without --update the last one is written. Needs h5py and safetensors alone.
"""

import argparse
import sys

import h5py
import numpy as np
from safetensors.numpy import save_file

CODINGS = {"BBRBM": "01", "IIRBM": "pm1"}


def read(path, update=None):
    """The arrays of an update, the last one by default, and their coding."""
    with h5py.File(path, "r") as file:
        updates = sorted(int(name.removeprefix("update_")) for name in file if name.startswith("update_"))
        if not updates:
            sys.exit(f"{path} has no group update_N: name a file that the program rbms wrote")
        if update is None:
            update = updates[-1]
        if update not in updates:
            sys.exit(f"{path} has no update {update}: give one of {', '.join(map(str, updates))}")
        kind = file["model_type"][()].decode() if "model_type" in file else "BBRBM"  # older files are of these alone
        if kind not in CODINGS:
            sys.exit(f"{path} is a machine of type {kind}: only {' and '.join(CODINGS)} have units of two values on both sides")
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
