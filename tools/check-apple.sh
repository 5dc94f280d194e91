#!/usr/bin/env bash
# Checks the workspace for Macs on a Debian machine without one: type-checks every target for both Mac architectures,
# links binaries against stubs of Apple's libraries, and looks into the binaries. What it cannot show is that they run.
#
# Everything it needs and makes is below target/apple: a Rust with the source of its library, because Debian has no
# compiled library for Macs, and zig, which links Mach-O. `apt-get update` has to be recent.
#
#   tools/check-apple.sh [aarch64-apple-darwin] [x86_64-apple-darwin]     both if none is named
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
cache=$root/target/apple
[ $# -gt 0 ] || set -- aarch64-apple-darwin x86_64-apple-darwin

step() { printf '\n-- %s (%ds)\n' "$1" "$SECONDS"; }

# --- tools ---------------------------------------------------------------------------------------------------------

rust_packages="rustc-web cargo-web rust-web-src"
zig=0.15.2

if [ ! -e "$cache/rust/complete" ]; then
    step "Rust from Debian"
    rm -rf "$cache/rust" "$cache/debs"
    mkdir -p "$cache/rust" "$cache/debs/partial"
    # Unpacked instead of installed: needs no rights and does not touch the system's own Rust.
    # shellcheck disable=SC2086
    apt-get install --yes --quiet --quiet --no-install-recommends --download-only -o Debug::NoLocking=1 \
        -o APT::Sandbox::User=root -o Dir::Cache::archives="$cache/debs" $rust_packages
    for deb in "$cache"/debs/*.deb; do
        dpkg-deb --extract "$deb" "$cache/rust"
    done
    rm -rf "$cache/debs"
    touch "$cache/rust/complete"
fi
if [ ! -e "$cache/python/complete-$zig" ]; then
    step "zig from PyPI"
    rm -rf "$cache/python"
    python3 -m pip install --quiet --target "$cache/python" "ziglang==$zig"
    touch "$cache/python/complete-$zig"
fi

# --- environment ---------------------------------------------------------------------------------------------------

export PATH=$cache/rust/usr/bin:$PATH
LD_LIBRARY_PATH=$(echo "$cache"/rust/usr/lib/*-linux-gnu)
export LD_LIBRARY_PATH
export RUSTC_BOOTSTRAP=1 # lets a stable compiler take -Z
export CARGO_TARGET_DIR=$cache/build
export CARGO_TERM_COLOR=never
export CARGO_BUILD_WARNINGS=deny
export CARGO_PROFILE_DEV_DEBUG=0 # smaller and faster; nothing here is run
export CARGO_PROFILE_DEV_STRIP=none # takes another tool, and the symbols are looked at
export MACOSX_DEPLOYMENT_TARGET=14.0
export SDKROOT=$cache/sdk # else rustc and cc ask xcrun, which is not here
export APPLE_ZIG=$cache/python/ziglang/zig
export ZIG_GLOBAL_CACHE_DIR=$cache/zig ZIG_LOCAL_CACHE_DIR=$cache/zig
for target in aarch64_apple_darwin x86_64_apple_darwin; do
    export "CARGO_TARGET_${target^^}_LINKER=$root/tools/apple-cc.sh" "CC_$target=$root/tools/apple-cc.sh"
    export "AR_$target=$root/tools/apple-ar.sh"
done

step "stubs from tests/contract/apple/functions.tsv"
rm -rf "$SDKROOT"
python3 tools/apple_stubs.py tests/contract/apple/functions.tsv "$MACOSX_DEPLOYMENT_TARGET" "$SDKROOT"

# --- checks --------------------------------------------------------------------------------------------------------

# What cargo says it linked, from its JSON messages.
executables() {
    python3 -c '
import json, sys
for line in sys.stdin:
    path = json.loads(line).get("executable")
    if path: print(path)'
}

for target in "$@"; do
    on=(--locked -Z build-std=std,panic_unwind,test -Z warnings --target "$target")

    step "$target: the library's dependencies"
    if cargo tree --locked --target "$target" --edges normal,build --prefix none | grep mpsgraph-soft; then
        echo "the library depends on mpsgraph-soft" >&2
        exit 1
    fi

    step "$target: types, all targets"
    cargo check "${on[@]}" --workspace --all-targets

    step "$target: types, feature soft"
    cargo check "${on[@]}" --all-targets --features soft

    step "$target: linking"
    {
        cargo build "${on[@]}" --example basic --message-format json-render-diagnostics
        cargo test "${on[@]}" --no-run --lib --message-format json-render-diagnostics
    } | executables >"$cache/linked"
    xargs python3 tools/check_macho.py --stubs "$SDKROOT" <"$cache/linked"

    step "$target: linking, feature soft"
    cargo build "${on[@]}" --example basic --features soft --message-format json-render-diagnostics |
        executables >"$cache/linked"
    xargs python3 tools/check_macho.py --soft <"$cache/linked"
done
step "done"
