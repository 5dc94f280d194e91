//! Decides which runtime answers messages: on Apple's systems the frameworks, which are linked here; elsewhere, and
//! with the feature `soft`, the Rust crate `mpsgraph-soft`. The cfg `soft_runtime` tells the code which one; the cfg
//! `optimized` tells a test whether the machine code is optimised; the cfg `burn_line` tells `src/burn.rs` for which
//! line of Burn the package is, whose manifests share the sources: from 0.22 on the package has Burn's version.
//! Programs that are kept on disk are told apart by the sources that lowered them.

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
    println!("cargo::rustc-env=BURN_MPSGRAPH_SOURCES={:016x}", hash_of(Path::new("src"), 0xcbf2_9ce4_8422_2325));
    println!("cargo::rustc-check-cfg=cfg(soft_runtime)");
    println!("cargo::rustc-check-cfg=cfg(optimized)");
    println!("cargo::rustc-check-cfg=cfg(burn_line, values(\"0.21\", \"0.22\"))");
    let minor = env!("CARGO_PKG_VERSION_MINOR");
    match minor.parse() {
        Ok(0u32..22) => println!("cargo::rustc-cfg=burn_line=\"0.21\""),
        Ok(22) => println!("cargo::rustc-cfg=burn_line=\"0.22\""),
        Ok(_) | Err(_) => panic!("src/burn has no file for version 0.{minor}"),
    }
    if std::env::var("OPT_LEVEL").is_ok_and(|level| level != "0" && level != "1") {
        println!("cargo::rustc-cfg=optimized");
    }
    let vendor = std::env::var("CARGO_CFG_TARGET_VENDOR").unwrap_or_default();
    if vendor != "apple" || cfg!(feature = "soft") {
        println!("cargo::rustc-cfg=soft_runtime");
        return;
    }
    let system = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    if system != "macos" {
        // The versions from which on Apple has its methods are asked for as those of macOS.
        println!(
            "cargo::error=burn-mpsgraph runs on macOS, not on {system}; with its feature `soft` it computes on the CPU"
        );
    }
    // CoreGraphics: without it MTLCreateSystemDefaultDevice gives command-line programs nothing.
    for framework in ["Foundation", "CoreGraphics", "Metal", "MetalPerformanceShaders", "MetalPerformanceShadersGraph"]
    {
        println!("cargo::rustc-link-lib=framework={framework}");
    }
    println!("cargo::rustc-link-lib=objc");
}
