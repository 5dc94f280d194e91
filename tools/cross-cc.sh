#!/usr/bin/env bash
# The C compiler and linker for other targets: zig's clang, which wants its own names of targets. Called by cargo and by
# build scripts, with the environment of cross.sh.
set -euo pipefail
arch=
mac=
arguments=()
while [ $# -gt 0 ]; do
    case $1 in
        -arch) arch=$2 mac=yes && shift ;;
        --target=*) arch=${1#--target=} ;;
        -target) arch=$2 && shift ;;
        -isysroot) shift ;;
        -mmacosx-version-min=* | -mmacos-version-min=*) mac=yes ;;
        # zig links Windows' C library and the unwinder by itself.
        -m64 | -nolibc | --unwindlib=none | -lmsvcrt) [ "${CROSS_SYSTEM:-}" = windows ] || arguments+=("$1") ;;
        *) arguments+=("$1") ;;
    esac
    shift
done
case $arch in
    *apple*) mac=yes ;;
esac
arch=${arch%%-*}
[ "$arch" != arm64 ] || arch=aarch64
# zig adds its sanitizer by default; its runtime library is not linked.
options=(-fno-sanitize=all)
if [ -n "$mac" ]; then
    case $arch in
        aarch64 | x86_64) ;;
        *) echo "cross-cc.sh: no Mac has the architecture '$arch'" >&2 && exit 1 ;;
    esac
    options+=(-target "$arch-macos.$MACOSX_DEPLOYMENT_TARGET-none")
    options+=(-L "$SDKROOT/usr/lib" -F "$SDKROOT/System/Library/Frameworks")
elif [ "${CROSS_SYSTEM:-}" = windows ]; then
    options+=(-target x86_64-windows-gnu)
else
    # Linked by rustc, who names no target. The C library is the oldest that Debian 12 may meet.
    options+=(-target "${arch:-aarch64}-linux-gnu.2.36")
fi
exec "$CROSS_ZIG" cc "${options[@]}" "${arguments[@]}"
