//! What this crate claims about Apple's interfaces, as data: for the test that holds it against Apple's tables.

pub use super::objc::{Constant, Declaration, Kind, Mismatch, MismatchReason};
use super::{foundation, metal, mps, mpsgraph, objc, os_version, symbols};

/// Every method that is sent anywhere.
pub fn declarations() -> Vec<Declaration> {
    [foundation::declarations(), metal::declarations(), mps::declarations(), mpsgraph::declarations()].concat()
}

/// Every constant of the enums that those methods take or return.
pub fn constants() -> Vec<Constant> {
    let mut constants: Vec<Constant> = Vec::new();
    for constant in declarations().into_iter().flat_map(|declared| declared.constants) {
        if !constants.contains(&constant) {
            constants.push(constant);
        }
    }
    constants
}

/// Every C function that is called.
pub fn functions() -> Vec<&'static str> {
    symbols::names()
}

/// Compares a declaration with the method that the running system has.
///
/// # Errors
/// If the class is missing (protocols have none), does not have the method, or has it with other types.
pub fn check(declaration: &Declaration) -> Result<(), Mismatch> {
    objc::verify_declaration(declaration)
}

/// The macOS version that the running system reports to this program: macOS 26 says 16 to one that was linked with an
/// older SDK.
pub fn reported_macos_version() -> (u64, u64) {
    os_version::reported()
}

/// The macOS version of the running system, major and minor.
pub fn macos_version() -> (u64, u64) {
    os_version::current()
}
