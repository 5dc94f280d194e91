"""Looks into Mach-O executables that were linked for Macs.

check_macho.py --stubs DIRECTORY FILE...    they load Apple's frameworks, take from them only symbols of the stubs, and
                                            have nothing of mpsgraph-soft
check_macho.py --soft FILE...               they load none of the frameworks and have mpsgraph-soft

A file that does not use burn-mpsgraph (a test that starts an example) needs nothing but libSystem.
"""

import pathlib
import re
import struct
import sys

FRAMEWORKS = {
    "Foundation",
    "CoreGraphics",
    "Metal",
    "MetalPerformanceShaders",
    "MetalPerformanceShadersGraph",
}
SYSTEM = "/usr/lib/libSystem.B.dylib"

MH_MAGIC_64 = 0xFEEDFACF
MH_EXECUTE = 2
CPUS = {0x0100000C: "arm64", 0x01000007: "x86_64"}
LC_SYMTAB = 0x2
# LC_LOAD_DYLIB, and the weak and re-exporting kinds: all count in a symbol's library number.
LC_DYLIBS = (0xC, 0x80000018, 0x8000001F)
N_STAB, N_TYPE, N_EXT = 0xE0, 0x0E, 0x01


def c_string(data, start):
    return data[start : data.index(b"\0", start)].decode()


def read(path):
    """The architecture, the libraries that are loaded, and (symbol, library) of what is undefined."""
    data = pathlib.Path(path).read_bytes()
    magic, cpu, _, filetype, commands = struct.unpack_from("<5I", data)
    assert magic == MH_MAGIC_64 and filetype == MH_EXECUTE, f"{path}: not a 64-bit Mach-O executable"
    libraries, undefined, table = [], [], None
    at = 32
    for _ in range(commands):
        command, size = struct.unpack_from("<2I", data, at)
        if command in LC_DYLIBS:
            libraries.append(c_string(data, at + struct.unpack_from("<I", data, at + 8)[0]))
        elif command == LC_SYMTAB:
            table = struct.unpack_from("<3I", data, at + 8)
        at += size
    assert table, f"{path}: has no symbol table"
    offset, count, strings = table
    for index in range(count):
        name, kind, _, description, _ = struct.unpack_from("<IBBHQ", data, offset + 16 * index)
        if not kind & N_STAB and kind & N_TYPE == 0 and kind & N_EXT:
            number = description >> 8
            library = libraries[number - 1] if 1 <= number <= len(libraries) else f"number {number}"
            undefined.append((c_string(data, strings + name), library))
    return CPUS[cpu], libraries, undefined, data


def stub_symbols(directory):
    """Library to its symbols."""
    out = {}
    for path in pathlib.Path(directory).rglob("*.tbd"):
        text = path.read_text()
        name = re.search(r"install-name: '(.*)'", text)[1]
        out[name] = {s for names in re.findall(r"symbols: \[ (.*) \]", text) for s in names.split(", ")}
    return out


def framework(library):
    return library.rsplit("/", 1)[1] if ".framework/" in library else None


def check(path, stubs, used):
    """Prints what is wrong with a file, and whether nothing is; adds to `used` what it takes of Apple's libraries."""
    architecture, libraries, undefined, data = read(path)
    frameworks = {framework(library) for library in libraries} & FRAMEWORKS
    # As in symbols: a test may hold documents that name the crate and its files.
    soft = b"mpsgraph_soft" in data
    problems = []
    if b"burn_mpsgraph" not in data:
        wanted = "does not use the library"
        foreign = [pair for pair in undefined if pair[1] != SYSTEM]
    elif stubs is None:
        wanted = "uses the software runtime"
        if frameworks:
            problems.append(f"loads {sorted(frameworks)}")
        if not soft:
            problems.append("has no mpsgraph-soft")
        foreign = [pair for pair in undefined if pair[1] != SYSTEM]
    else:
        wanted = "uses Apple's runtime"
        if frameworks != FRAMEWORKS:
            problems.append(f"does not load {sorted(FRAMEWORKS - frameworks)}")
        if soft:
            problems.append("has mpsgraph-soft")
        foreign = [
            (symbol, library)
            for symbol, library in undefined
            if library != SYSTEM and symbol not in stubs.get(library, ())
        ]
    problems += [f"needs {symbol} of {library}" for symbol, library in foreign]
    used |= {symbol for symbol, library in undefined if library != SYSTEM}
    print(f"{architecture} {pathlib.Path(path).name}: {wanted}; {len(libraries)} libraries")
    for problem in problems:
        print(f"{path}: {problem}", file=sys.stderr)
    return not problems


def main(arguments):
    if arguments[0] == "--soft":
        stubs, files = None, arguments[1:]
    else:
        stubs, files = stub_symbols(arguments[1]), arguments[2:]
    assert files, "no files"
    used = set()
    # All are looked at before the verdict.
    right = all([check(path, stubs, used) for path in files])
    print(f"from other libraries than {SYSTEM}: {' '.join(sorted(used)) or 'nothing'}")
    if not right:
        sys.exit("check_macho.py: not what a Mac needs")


main(sys.argv[1:])
