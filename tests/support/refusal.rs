//! What a refused mistake says.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// The text that `run` panics with.
#[track_caller]
pub fn panic_message<R>(what: &str, run: impl FnOnce() -> R) -> String {
    let payload = catch_unwind(AssertUnwindSafe(run)).err().unwrap_or_else(|| panic!("{what}: no panic"));
    match payload.downcast::<String>() {
        Ok(text) => *text,
        Err(payload) => payload.downcast_ref::<&str>().unwrap_or_else(|| panic!("{what}: no text")).to_string(),
    }
}

/// Fails unless `mistake` panics with a message that has all of `parts`.
#[track_caller]
pub fn assert_refused<R>(parts: &[&str], mistake: impl FnOnce() -> R) {
    let message = panic_message(&format!("{parts:?}"), mistake);
    for part in parts {
        assert!(message.contains(part), "{part:?} is missing in: {message}");
    }
    let is_by_burn = message.contains("Tensor Operation Error");
    assert!(is_by_burn || !message.contains("Shape {"), "a shape is not written as a list in: {message}");
}
