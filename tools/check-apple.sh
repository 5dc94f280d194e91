#!/usr/bin/env bash
# Checks the workspace for Macs on a Debian machine without one: builds the library, its examples and its tests without
# warnings, links against stubs of Apple's libraries, and looks into the binaries; the compiler checks the library for
# Burn 0.22. What it cannot show is that they run. Of the benches it builds the one with code for Apple's systems; the
# tests of single ops, which take long, have none, and self_check has the same lines.
#
#   tools/check-apple.sh [TARGET...]     all of it for each target; if none is named, all of it for aarch64-apple-darwin,
#                                        and only the compiler's check of the library for x86_64-apple-darwin
#
# The architectures differ in message sends, which know nothing of Burn, and those of x86-64 are run on Linux.
set -euo pipefail
cd "$(dirname "$0")/.."
source tools/cross.sh

export MACOSX_DEPLOYMENT_TARGET=14.0
export SDKROOT=$cross/sdk # else rustc and cc ask xcrun, which is not here
export CARGO_BUILD_WARNINGS=deny
# Dependencies with the features that any package of the workspace wants, so that they are built once for all packages.
same_features=(-Z feature-unification --config 'resolver.feature-unification="workspace"')

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

# cargo for COMMAND TARGET ARGUMENT...: without warnings, with the standard library built too.
cargo_for() {
    local command=$1 target=$2
    shift 2
    cargo "$command" --locked -Z build-std=std,panic_unwind,test -Z warnings --target "$target" \
        --message-format json-render-diagnostics "$@"
}

no_software_runtime() {
    local line
    step "$1: the library's dependencies, for both lines of Burn"
    for line in . lines/0.22; do
        if (cd $line && cargo tree --locked --package burn-mpsgraph --target "$1" --edges normal,build --prefix none) |
            grep mpsgraph-soft; then
            echo "the library depends on mpsgraph-soft" >&2
            exit 1
        fi
    done
}

everything() {
    no_software_runtime "$1"
    step "$1: library, examples, tests"
    {
        cargo_for build "$1" "${same_features[@]}" --package burn-mpsgraph --package mnist --package recording-tests \
            --all-targets
        cargo_for build "$1" "${same_features[@]}" --package op-tests --examples
        cargo_for build "$1" "${same_features[@]}" --package benches --bench limits
    } | executables >"$cross/linked"
    xargs python3 tools/check_macho.py --stubs "$SDKROOT" <"$cross/linked"

    step "$1: with the feature soft"
    cargo_for build "$1" "${same_features[@]}" --package burn-mpsgraph --package recording-tests --features soft \
        --lib --example basic --test contract --test recording | executables >"$cross/linked"
    xargs python3 tools/check_macho.py --soft <"$cross/linked"

    # Not its tests: what they compare with, burn-flex, takes longer than all the rest. And last, because the standard
    # library, which lies below the other workspace's root, is compiled again for each workspace, with all that needs it.
    step "$1: library for Burn 0.22"
    (cd lines/0.22 && cargo_for check "$1" --lib >/dev/null)
}

library() {
    no_software_runtime "$1"
    step "$1: library"
    cargo_for check "$1" --package burn-mpsgraph --lib >/dev/null
}

if [ $# -gt 0 ]; then
    for target in "$@"; do everything "$target"; done
else
    everything aarch64-apple-darwin
    library x86_64-apple-darwin
fi
step "done"
