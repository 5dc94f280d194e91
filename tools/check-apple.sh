#!/usr/bin/env bash
# Checks the workspace for Macs on a Debian machine without one: builds every target, and the library for Burn 0.22, for
# both Mac architectures without warnings, links against stubs of Apple's libraries, and looks into the binaries. What it
# cannot show is that they run.
#
#   tools/check-apple.sh [aarch64-apple-darwin] [x86_64-apple-darwin]     both if none is named
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- aarch64-apple-darwin x86_64-apple-darwin
source tools/cross.sh

export MACOSX_DEPLOYMENT_TARGET=14.0
export SDKROOT=$cross/sdk # else rustc and cc ask xcrun, which is not here
export CARGO_BUILD_WARNINGS=deny

step "stubs from tests/contract/apple/functions.tsv"
rm -rf "$SDKROOT"
python3 tools/apple_stubs.py tests/contract/apple/functions.tsv "$MACOSX_DEPLOYMENT_TARGET" "$SDKROOT"

# Files that cargo linked, from its JSON messages. mpsgraph-soft's own tests use nothing of Apple's.
executables() {
    python3 -c '
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message.get("executable") and "mpsgraph-soft" not in message["package_id"]:
        print(message["executable"])'
}

for target in "$@"; do
    build=(cargo build --locked -Z build-std=std,panic_unwind,test -Z warnings --target "$target"
        --message-format json-render-diagnostics)

    step "$target: the library's dependencies, for both lines of Burn"
    for line in . lines/0.22; do
        if (cd $line && cargo tree --locked --package burn-mpsgraph --target "$target" --edges normal,build --prefix none) |
            grep mpsgraph-soft; then
            echo "the library depends on mpsgraph-soft" >&2
            exit 1
        fi
    done

    step "$target: library, examples, tests, benches"
    "${build[@]}" --workspace --all-targets | executables >"$cross/linked"
    xargs python3 tools/check_macho.py --stubs "$SDKROOT" <"$cross/linked"

    # Not its tests: what they compare with, burn-flex, takes longer than all the rest.
    step "$target: library for Burn 0.22"
    (cd lines/0.22 && "${build[@]}" --lib >/dev/null)

    step "$target: with the feature soft"
    "${build[@]}" --package burn-mpsgraph --features soft --lib --example basic --test contract --test recording | executables >"$cross/linked"
    xargs python3 tools/check_macho.py --soft <"$cross/linked"
done
step "done"
