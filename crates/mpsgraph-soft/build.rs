//! Gives the runtime a hash of its sources. Packages of executables are written as the sources lay out a graph, so the
//! version that the runtime says it has tells sources apart, as Apple's tells builds of the system apart.

use std::path::Path;

/// FNV-1a of the sources below a folder, in the order of their names.
fn hash_of(folder: &Path, hash: u64) -> u64 {
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths.iter().fold(hash, |hash, path| {
        if path.is_dir() {
            return hash_of(path, hash);
        }
        let bytes = std::fs::read(path).unwrap_or_default();
        bytes.iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
    })
}

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src");
    println!("cargo::rustc-env=MPSGRAPH_SOFT_SOURCES={:016x}", hash_of(Path::new("src"), 0xcbf2_9ce4_8422_2325));
}
