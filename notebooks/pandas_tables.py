"""Write tables and time pandas' read_csv on them, for speed.py.

    pandas_tables.py write NAME ROWS COLUMNS FILE
                                             write a table: long (numbers of 17 digits), short (of 3 digits) or mixed
                                             (numbers of 3 digits, whole numbers and words)
    pandas_tables.py read FILE               print the seconds and the processor seconds that read_csv takes
    pandas_tables.py compare FILE VALUES     compare the values in VALUES, float32 in rows, with those of read_csv
"""

import random
import sys
import time

WORDS = ["red", "green", "blue", "brown", "grey"]


def write(name, rows, columns, path):
    source = random.Random(1)
    number = {"long": lambda _: repr(source.gauss(0, 1)), "short": lambda _: f"{source.gauss(0, 1):.2f}",
              "mixed": lambda k: (f"{source.gauss(0, 1):.2f}", str(source.randrange(100)), source.choice(WORDS))[k % 3]}[name]
    with open(path, "w") as f:
        f.write(",".join("abc"[k % 3] + f"{k}x" + "yz"[k % 2] for k in range(columns)) + "\n")
        for _ in range(rows):
            f.write(",".join(map(number, range(columns))) + "\n")


def read(path):
    import pandas

    wall, processor = time.perf_counter(), time.process_time()
    pandas.read_csv(path)
    print(time.perf_counter() - wall, time.process_time() - processor)


def compare(path, values):
    import numpy
    import pandas

    table = pandas.read_csv(path)
    numbers = [name for name in table if table[name].dtype.kind in "if"]
    parts = [table[[name]].to_numpy(numpy.float32) if name in numbers else (table[[name]].to_numpy() == sorted(set(table[name]))).astype(numpy.float32) for name in table]
    wanted = numpy.concatenate(parts, 1)
    got = numpy.fromfile(values, "<f4").reshape(len(table), -1)
    if got.shape != wanted.shape:
        sys.exit(f"{path}: {got.shape} values, pandas has {wanted.shape}")
    if (different := int((got != wanted).sum())):
        row, column = numpy.argwhere(got != wanted)[0]
        sys.exit(f"{path}: {different} values differ from pandas', such as {got[row, column]!r} and {wanted[row, column]!r}")


if __name__ == "__main__":
    command, *rest = sys.argv[1:]
    {"write": lambda name, rows, columns, path: write(name, int(rows), int(columns), path), "read": read, "compare": compare}[command](*rest)
