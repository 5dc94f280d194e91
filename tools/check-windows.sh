#!/usr/bin/env bash
# Runs what depends on the system and its calling convention as x86_64-pc-windows-gnullvm under wine, on a Debian x86-64
# machine: the software runtime's message sends, every declared message of ffi, and a training step.
set -euo pipefail
cd "$(dirname "$0")/.."
source tools/cross.sh
unpack wine wine64

target=x86_64-pc-windows-gnullvm
programs=$cross/wine/usr/lib
export WINEPREFIX=$cross/wineprefix WINEDEBUG=-all
# Debian 12's package starts its server by a script that looks below /usr, and links to a library that lies there.
ln -sf wineserver64 "$programs/wine/wineserver"
ln -sf ../../../../x86_64-w64-mingw32/lib/zlib1.dll "$programs/x86_64-linux-gnu/wine/x86_64-windows/zlib1.dll"
LD_LIBRARY_PATH+=:$(echo "$programs"/*-linux-gnu)
if [ ! -e "$WINEPREFIX/complete" ]; then
    step "wine's own files"
    rm -rf "$WINEPREFIX"
    # It ends with 53 although the prefix is whole: the part for 32-bit programs is not installed, and not wanted.
    "$programs/wine/wine64" wineboot --init || [ -e "$WINEPREFIX/drive_c/windows/system32/kernel32.dll" ]
    "$CROSS_ZIG" cc -target x86_64-windows-gnu -shared -O2 tools/bcryptprimitives.c -ladvapi32 \
        -o "$WINEPREFIX/drive_c/windows/system32/bcryptprimitives.dll"
    touch "$WINEPREFIX/complete"
fi
export CARGO_TARGET_X86_64_PC_WINDOWS_GNULLVM_RUNNER=$programs/wine/wine64
export CROSS_SYSTEM=windows
# Rust's library names functions of Windows without import libraries; this program makes them.
export CARGO_TARGET_X86_64_PC_WINDOWS_GNULLVM_RUSTFLAGS=-Cdlltool=$root/tools/cross-dlltool.sh
# Both packages in each command, so that dependencies have the same features and are built once.
test=(cargo test --locked -Z build-std=std,panic_unwind,test --target "$target" --package mpsgraph-soft
    --package burn-mpsgraph)

step "$target: the software runtime"
"${test[@]}" --test main -- runtime::

step "$target: every declared message"
"${test[@]}" --lib -- ffi:: --skip ns_exception

step "$target: training"
"${test[@]}" --example training a_step
step "done"
