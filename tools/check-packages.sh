#!/usr/bin/env bash
# Packs the crates as `cargo publish` would, unpacks them elsewhere and compiles them there, for both lines of Burn: a package
# holds every file that its library needs, and its manifest names nothing that is only here. None is published, so Cargo is
# told where mpsgraph-soft is.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
unpacked=$(mktemp -d)
trap 'rm -rf "$unpacked"' EXIT
export CARGO_TERM_COLOR=never

step() { printf '\n-- %s (%ds)\n' "$1" "$SECONDS"; }

# pack LINE DIRECTORY PACKAGE: the package's file, unpacked below LINE.
pack() {
    step "$3 from $2"
    local at=$unpacked/$1
    (cd "$2" && cargo package --quiet --allow-dirty --no-verify --package "$3" --target-dir "$at/packed" \
        --config "patch.crates-io.mpsgraph-soft.path='$root/crates/mpsgraph-soft'")
    mkdir -p "$at/$3"
    tar --extract --file "$at/packed/package/$3"-*.crate --directory "$at/$3" --strip-components 1
    for file in LICENSE-APACHE LICENSE-MIT README.md; do
        test -s "$at/$3/$file" || { echo "$3 from $2 has no $file" >&2; exit 1; }
    done
    # Of the manifest as others see it; theirs have paths of their own.
    if grep -nE '^(repository|homepage|documentation|path) *= *"(http|/|\.\.)' "$at/$3/Cargo.toml"; then
        echo "$3 from $2 names what others do not have" >&2
        exit 1
    fi
}

pack soft . mpsgraph-soft
pack 0.21 . burn-mpsgraph
pack 0.22 lines/0.22 burn-mpsgraph

for line in 0.21 0.22; do
    step "the library for Burn $line, outside the repository"
    # The directory of the lints, and their features (--examples, of which there are none): dependencies are checked already.
    (cd "$unpacked/$line/burn-mpsgraph" && cargo check --release --lib --examples --target-dir "$root/target" \
        --config "patch.crates-io.mpsgraph-soft.path='$unpacked/soft/mpsgraph-soft'")
done
step "done"
