"""Writes stubs (.tbd) of Apple's libraries with the symbols of functions.tsv, and no others, for the linker.

apple_stubs.py FUNCTIONS_TSV MACOS_VERSION DIRECTORY

Symbols that came after MACOS_VERSION, or nobody knows when, are left out: a program that needs one may not start there.
"""

import pathlib
import sys

# The library of each value in the table's first column. Three frameworks have no C symbols that we need, but programs
# load them for their classes; the libc crate names libiconv, and nothing here uses it. zig has a stub of libSystem.
LIBRARIES = {
    "ObjectiveC": "usr/lib/libobjc.tbd",
    "iconv": "usr/lib/libiconv.tbd",
    **{
        name: f"System/Library/Frameworks/{name}.framework/{name}.tbd"
        for name in (
            "Foundation",
            "CoreGraphics",
            "Metal",
            "MetalPerformanceShaders",
            "MetalPerformanceShadersGraph",
        )
    },
}
# The tables are of arm64. Apple's <objc/message.h> has this one beside objc_msgSend, for other architectures.
INTEL_ONLY = {"ObjectiveC": ["objc_msgSend_stret"]}


def version(text):
    return tuple(int(part) for part in text.split("."))


def install_name(name):
    if name == "ObjectiveC":
        return "/usr/lib/libobjc.A.dylib"
    if name == "iconv":
        return "/usr/lib/libiconv.2.dylib"
    return f"/System/Library/Frameworks/{name}.framework/Versions/A/{name}"


def export(targets, symbols):
    names = ", ".join(f"_{symbol}" for symbol in symbols)
    return f"  - targets: [ {targets} ]\n    symbols: [ {names} ]\n"


def main(table, macos, directory):
    symbols = {name: [] for name in LIBRARIES}
    lines = pathlib.Path(table).read_text().splitlines()
    columns = lines[0].split("\t")
    for line in lines[1:]:
        row = dict(zip(columns, line.split("\t"), strict=True))
        if row["min_macos"] != "?" and version(row["min_macos"]) <= version(macos):
            symbols[row["framework"]].append(row["name"])
    for name, path in LIBRARIES.items():
        text = (
            "--- !tapi-tbd\ntbd-version: 4\ntargets: [ x86_64-macos, arm64-macos ]\n"
            f"install-name: '{install_name(name)}'\n"
        )
        if symbols[name]:
            text += "exports:\n" + export("x86_64-macos, arm64-macos", symbols[name])
            if name in INTEL_ONLY:
                text += export("x86_64-macos", INTEL_ONLY[name])
        file = pathlib.Path(directory, path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text + "...\n")


main(*sys.argv[1:])
