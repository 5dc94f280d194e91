//! The cfg `soft_runtime`, by which the library's build script tells which runtime answers, for the tests too.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(soft_runtime)");
    let vendor = std::env::var("CARGO_CFG_TARGET_VENDOR").unwrap_or_default();
    if vendor != "apple" || cfg!(feature = "soft") {
        println!("cargo::rustc-cfg=soft_runtime");
    }
}
