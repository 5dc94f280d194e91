#!/usr/bin/env bash
# The C compiler and linker for Mac targets: zig's clang, which wants its own names of targets. Called by cargo and by
# build scripts, with the environment of check-apple.sh.
set -euo pipefail
arch=
arguments=()
while [ $# -gt 0 ]; do
    case $1 in
        -arch) arch=$2 && shift ;;
        --target=*) arch=${1#--target=} && arch=${arch%%-*} ;;
        -target) arch=${2%%-*} && shift ;;
        -isysroot) shift ;;
        -mmacosx-version-min=* | -mmacos-version-min=*) ;;
        *) arguments+=("$1") ;;
    esac
    shift
done
case $arch in
    arm64 | aarch64) arch=aarch64 ;;
    x86_64) ;;
    *) echo "apple-cc.sh: no architecture in the arguments" >&2 && exit 1 ;;
esac
# zig adds its sanitizer by default; its runtime library is not linked.
exec "$APPLE_ZIG" cc -target "$arch-macos.$MACOSX_DEPLOYMENT_TARGET-none" -fno-sanitize=all \
    -L "$SDKROOT/usr/lib" -F "$SDKROOT/System/Library/Frameworks" "${arguments[@]}"
