//! Mistakes and gaps end in a panic whose text says what was wrong.

mod mistakes;
mod not_yet;

/// The text that `run` panics with.
pub fn message(what: &str, run: impl FnOnce()) -> String {
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
    let payload = panic.err().unwrap_or_else(|| panic!("{what}: no panic"));
    match payload.downcast::<String>() {
        Ok(text) => *text,
        Err(payload) => payload.downcast_ref::<&str>().unwrap_or_else(|| panic!("{what}: no text")).to_string(),
    }
}
