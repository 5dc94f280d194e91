# Sourced by the checks for other targets than this machine's: fetches what they need and points cargo at it.
#
# Everything is below target/cross: a Rust with the source of its library (Debian's, because it has no compiled library
# for Macs), and zig from PyPI, which links for all of the targets. Packages are unpacked, not installed: that needs
# no rights and leaves the system's own Rust alone. Works on Debian 12 and later.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cross=$root/target/cross
zig=0.15.2

step() { printf '\n-- %s (%ds)\n' "$1" "$SECONDS"; }

# unpack DIRECTORY PACKAGE...: the packages, and what they need and the system does not have, once.
unpack() {
    local into=$cross/$1
    shift
    [ ! -e "$into/complete" ] || return 0
    step "from Debian: $*"
    rm -rf "$into" "$cross/debs"
    mkdir -p "$into" "$cross/debs/partial" "$cross/lists/partial"
    local apt=(-o Debug::NoLocking=1 -o APT::Sandbox::User=root -o "Dir::State::Lists=$cross/lists"
        -o "Dir::Cache::archives=$cross/debs" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=)
    # Lists of its own: a new machine has none, and old ones name packages that are gone.
    apt-get update -q -q "${apt[@]}"
    apt-get install --yes -q -q --no-install-recommends --download-only "${apt[@]}" "$@"
    local deb
    for deb in "$cross"/debs/*.deb; do
        dpkg-deb --extract "$deb" "$into"
    done
    rm -rf "$cross/debs" "$cross/lists"
    touch "$into/complete"
}

unpack rust rustc-web cargo-web rust-web-src
if [ ! -e "$cross/python/complete-$zig" ]; then
    step "zig $zig from PyPI"
    rm -rf "$cross/python"
    python3 -m pip install --quiet --disable-pip-version-check --target "$cross/python" "ziglang==$zig"
    touch "$cross/python/complete-$zig"
fi

export PATH=$cross/rust/usr/bin:$PATH
LD_LIBRARY_PATH=$(echo "$cross"/rust/usr/lib/*-linux-gnu)
export LD_LIBRARY_PATH
export RUSTC_BOOTSTRAP=1 # lets a stable compiler take -Z
export CARGO_TARGET_DIR=$cross/build
export CARGO_TERM_COLOR=never
export CARGO_INCREMENTAL=0
export CARGO_PROFILE_DEV_DEBUG=0 # smaller and faster
export CARGO_PROFILE_DEV_STRIP=none # takes another tool, and the symbols are looked at
export CROSS_ZIG=$cross/python/ziglang/zig
export ZIG_GLOBAL_CACHE_DIR=$cross/zig ZIG_LOCAL_CACHE_DIR=$cross/zig
for target in aarch64_apple_darwin x86_64_apple_darwin aarch64_unknown_linux_gnu x86_64_pc_windows_gnullvm; do
    export "CARGO_TARGET_${target^^}_LINKER=$root/tools/cross-cc.sh" "CC_$target=$root/tools/cross-cc.sh"
    export "AR_$target=$root/tools/cross-ar.sh"
done
unset target
