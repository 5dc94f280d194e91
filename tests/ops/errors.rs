//! Mistakes and missing methods end in a panic whose text says what was wrong.

mod mistakes;
mod not_yet;
