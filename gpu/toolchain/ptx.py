"""Compiles a CUDA kernel to PTX with NVRTC.

    ptx.py LIBNVRTC SOURCE            compares SOURCE's PTX with the files beside it
    ptx.py LIBNVRTC SOURCE --write    writes those files

The PTX begins with the SHA-256 of the source and of each file that it includes.
"""

import ctypes
import hashlib
import pathlib
import re
import sys

# What the name of a file of PTX ends with, and what it is for. Volta is the first whose
# threads each have their own program counter, which shuffles and barriers of a part of
# a warp rest on; Ampere is the first with tensor cores for numbers of tf32.
ARCHITECTURES = {"": "compute_70", "80": "compute_80"}

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def inclusions(source):
    """A source and the files beside it that it includes, itself first."""
    found, unread = [], [source]
    while unread:
        path = unread.pop(0)
        if path not in found and path.exists():
            found.append(path)
            unread += [path.parent / name for name in INCLUDE.findall(path.read_text())]
    return found


class NVRTC:
    def __init__(self, library):
        self.library = ctypes.CDLL(library)
        self.library.nvrtcGetErrorString.restype = ctypes.c_char_p

    def call(self, function, *arguments):
        result = getattr(self.library, function)(*arguments)
        if result:
            sys.exit(f"ptx.py: {function}: {self.library.nvrtcGetErrorString(result).decode()}")

    def text(self, kind, program):
        """The program's log ("ProgramLog") or its PTX ("PTX")."""
        size = ctypes.c_size_t()
        self.call(f"nvrtcGet{kind}Size", program, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        self.call(f"nvrtcGet{kind}", program, buffer)
        return buffer.value.decode()

    def compile(self, source, architecture):
        """The PTX of a source file; ends the program with NVRTC's errors."""
        program = ctypes.c_void_p()
        self.call("nvrtcCreateProgram", ctypes.byref(program), source.read_bytes(),
                  str(source).encode(), 0, None, None)
        options = [o.encode() for o in [f"--gpu-architecture={architecture}", f"--include-path={source.parent}"]]
        failed = self.library.nvrtcCompileProgram(
            program, len(options), (ctypes.c_char_p * len(options))(*options))
        log = self.text("ProgramLog", program).strip()
        if log:
            print(log, file=sys.stderr)
        if failed:
            sys.exit(f"ptx.py: NVRTC cannot compile {source}")
        return self.text("PTX", program)


def main():
    library, source, *write = sys.argv[1:]
    source = pathlib.Path(source)
    hashes = [f"// SHA-256 {hashlib.sha256(path.read_bytes()).hexdigest()} {path.name}\n"
              for path in inclusions(source)]
    nvrtc = NVRTC(library)
    for end, architecture in ARCHITECTURES.items():
        ptx = "".join(hashes) + nvrtc.compile(source, architecture)
        committed = source.with_name(f"{source.stem}{end}.ptx")
        if write == ["--write"]:
            committed.write_text(ptx)
        elif not committed.exists():
            sys.exit(f"ptx.py: there is no {committed}: type make ptx, and commit it")
        elif committed.read_text() != ptx:
            sys.exit(f"ptx.py: {committed} is not what NVRTC makes of {source}: type make ptx, and commit it")


main()
