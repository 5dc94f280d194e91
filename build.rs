//! Links Apple's frameworks, on Apple's systems only. Elsewhere `mpsgraph-soft` answers, which is Rust.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let vendor = std::env::var("CARGO_CFG_TARGET_VENDOR").unwrap_or_default();
    if vendor != "apple" {
        return;
    }
    // CoreGraphics: without it MTLCreateSystemDefaultDevice gives command-line programs nothing.
    for framework in [
        "Foundation",
        "CoreGraphics",
        "Metal",
        "MetalPerformanceShaders",
        "MetalPerformanceShadersGraph",
    ] {
        println!("cargo::rustc-link-lib=framework={framework}");
    }
    println!("cargo::rustc-link-lib=objc");
}
