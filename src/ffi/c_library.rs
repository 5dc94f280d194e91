//! What Apple's C library tells of the process: the user's folder for temporary files, and when the process exits.

use std::ffi::{CStr, c_char, c_int};
use std::path::PathBuf;

use super::symbols;

/// `_CS_DARWIN_USER_TEMP_DIR` of Apple's `<unistd.h>`.
const DARWIN_USER_TEMP_DIR: c_int = 65537;

/// The longest path that Apple's systems take, `PATH_MAX`.
const LONGEST: usize = 1024;

/// The folder that `NSTemporaryDirectory` gives on Apple's systems, which is the user's whatever `TMPDIR` says; the one
/// of the environment where there is none, as with the software runtime.
pub(crate) fn temporary_folder() -> PathBuf {
    let mut buffer: [c_char; LONGEST] = [0; LONGEST];
    // SAFETY: as many bytes can be written as is said.
    let length = unsafe { symbols::confstr(DARWIN_USER_TEMP_DIR, buffer.as_mut_ptr(), LONGEST) };
    // The length counts the NUL; a path that is longer than the buffer is cut off.
    if !(2..=LONGEST).contains(&length) {
        return std::env::temp_dir();
    }
    let bytes = buffer.map(|byte| byte as u8);
    let text = CStr::from_bytes_until_nul(&bytes).ok().and_then(|text| text.to_str().ok());
    text.map_or_else(std::env::temp_dir, PathBuf::from)
}

/// Lets `function` be called when the process exits by itself, not when something ends it. Handlers of what was loaded
/// later have been called by then, and other threads may still run.
pub(crate) fn at_exit(function: extern "C" fn()) {
    // There is room for 32 handlers at least. Without room nothing is done, which is how it would be without this.
    let _ = symbols::atexit(function);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_folder_for_temporary_files() {
        assert!(temporary_folder().is_absolute(), "{:?}", temporary_folder());
    }
}
