//! Decides which runtime answers messages: on Apple's systems the frameworks, which are linked here; elsewhere, and
//! with the feature `soft`, the Rust crate `mpsgraph-soft`. The cfg `soft_runtime` tells the code which one; the cfg
//! `optimized` tells a test whether the machine code is optimised; the cfg `burn_line` tells `src/burn.rs` for which
//! line of Burn the package is, whose manifests share the sources: from 0.22 on the package has Burn's version.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(soft_runtime)");
    println!("cargo::rustc-check-cfg=cfg(optimized)");
    println!("cargo::rustc-check-cfg=cfg(burn_line, values(\"0.22\"))");
    if env!("CARGO_PKG_VERSION").starts_with("0.22.") {
        println!("cargo::rustc-cfg=burn_line=\"0.22\"");
    }
    if std::env::var("OPT_LEVEL").is_ok_and(|level| level != "0" && level != "1") {
        println!("cargo::rustc-cfg=optimized");
    }
    let vendor = std::env::var("CARGO_CFG_TARGET_VENDOR").unwrap_or_default();
    if vendor != "apple" || cfg!(feature = "soft") {
        println!("cargo::rustc-cfg=soft_runtime");
        return;
    }
    // CoreGraphics: without it MTLCreateSystemDefaultDevice gives command-line programs nothing.
    for framework in ["Foundation", "CoreGraphics", "Metal", "MetalPerformanceShaders", "MetalPerformanceShadersGraph"]
    {
        println!("cargo::rustc-link-lib=framework={framework}");
    }
    println!("cargo::rustc-link-lib=objc");
}
