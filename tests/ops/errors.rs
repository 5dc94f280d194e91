//! Mistakes end in a panic whose text says what was wrong.

mod mistakes;
