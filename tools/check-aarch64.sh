#!/usr/bin/env bash
# Runs what depends on the architecture as aarch64-unknown-linux-gnu under qemu, on a Debian machine that is no AArch64:
# the software runtime's message sends and NEON, every declared message of ffi, and a training step.
set -euo pipefail
cd "$(dirname "$0")/.."
source tools/cross.sh
unpack qemu qemu-user libc6-arm64-cross

target=aarch64-unknown-linux-gnu
# qemu's own libraries are not for the program that it runs (-U).
LD_LIBRARY_PATH+=:$(echo "$cross"/qemu/usr/lib/*-linux-gnu)
qemu=("$cross/qemu/usr/bin/qemu-aarch64" -L "$cross/qemu/usr/aarch64-linux-gnu" -U LD_LIBRARY_PATH)
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="${qemu[*]}"
# Both packages in each command, so that dependencies have the same features and are built once.
test=(cargo test --locked -Z build-std=std,panic_unwind,test --target "$target" --package mpsgraph-soft
    --package burn-mpsgraph)

# Not the tests that start themselves again, as another system or alone: those processes would not be under qemu.
step "$target: the software runtime"
"${test[@]}" --test main -- runtime:: --skip on_other_systems --skip a_header_that_is_used_again

step "$target: vectors of its own"
"${test[@]}" --lib transposes_of_every_small_size

step "$target: every declared message"
"${test[@]}" --lib -- ffi:: --include-ignored --skip every_declaration_is_sent --skip ns_exception

step "$target: training"
"${test[@]}" --example training a_step
step "done"
