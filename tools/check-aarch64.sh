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
# A dependency of burn-flex, against which tests compare: its assembly wants functions inlined that are not without it.
test=(cargo test --locked --config 'profile.dev.package.gemm-f16.opt-level=2'
    -Z build-std=std,panic_unwind,test --target "$target")

# Not the tests that start themselves again, as another system or alone: those processes would not be under qemu.
step "$target: the software runtime"
"${test[@]}" --package mpsgraph-soft --test main -- runtime:: --skip on_other_systems --skip a_header_that_is_used_again

step "$target: vectors of its own"
"${test[@]}" --package mpsgraph-soft --lib transposes_of_every_small_size

step "$target: every declared message"
"${test[@]}" --package burn-mpsgraph --lib ffi:: -- --include-ignored --skip every_declaration_is_sent --skip ns_exception

step "$target: a training step"
"${test[@]}" --package burn-mpsgraph --test recording training::a_hand_written_step
step "done"
