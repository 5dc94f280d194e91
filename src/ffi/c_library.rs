//! What the C library tells: the user's folder for temporary files, when the process exits, and what is free on a disk.

use std::path::{Path, PathBuf};

/// The folder that `NSTemporaryDirectory` gives on Apple's systems, which is the user's whatever `TMPDIR` says; the one
/// of the environment where there is none, as with the software runtime.
pub(crate) fn temporary_folder() -> PathBuf {
    users_folder().unwrap_or_else(std::env::temp_dir)
}

#[cfg(not(soft_runtime))]
fn users_folder() -> Option<PathBuf> {
    let mut buffer = [0_u8; libc::PATH_MAX as usize];
    // SAFETY: as many bytes can be written as is said.
    let length = unsafe { libc::confstr(libc::_CS_DARWIN_USER_TEMP_DIR, buffer.as_mut_ptr().cast(), buffer.len()) };
    // The length counts the NUL; of a path that is longer than the buffer, the end is missing.
    let bytes = buffer.get(..length.checked_sub(1)?)?;
    std::str::from_utf8(bytes).ok().filter(|text| !text.is_empty()).map(PathBuf::from)
}

/// The software runtime keeps nothing in a folder of the user's.
#[cfg(soft_runtime)]
fn users_folder() -> Option<PathBuf> {
    None
}

/// Lets `function` be called when the process exits by itself, not when something ends it. Handlers of what was loaded
/// later have been called by then, and other threads may still run.
#[cfg(not(soft_runtime))]
pub(crate) fn at_exit(function: extern "C" fn()) {
    // There is room for 32 handlers at least. Without room nothing is done, which is how it would be without this.
    // SAFETY: the function needs nothing that may be gone by then.
    let _ = unsafe { libc::atexit(function) };
}

/// With the software runtime nothing is to be done at exit.
#[cfg(soft_runtime)]
pub(crate) fn at_exit(_: extern "C" fn()) {}

/// Bytes that this user may write more on the disk of a folder. `None` where nobody can tell: there is no such folder,
/// or it is no Unix.
#[cfg(unix)]
pub(crate) fn free_bytes(folder: &Path) -> Option<u64> {
    use std::ffi::CString;
    use std::mem::MaybeUninit;
    use std::os::unix::ffi::OsStrExt;

    let path = CString::new(folder.as_os_str().as_bytes()).ok()?;
    let mut told = MaybeUninit::<libc::statvfs>::uninit();
    // SAFETY: the path ends with NUL, and a `statvfs` can be written.
    if unsafe { libc::statvfs(path.as_ptr(), told.as_mut_ptr()) } != 0 {
        return None;
    }
    // SAFETY: the function has filled it, as it returned 0.
    let told = unsafe { told.assume_init() };
    #[allow(clippy::unnecessary_cast, reason = "numbers of blocks have 32 bits on Apple's systems")]
    let [blocks, bytes] = [told.f_bavail as u64, told.f_frsize as u64];
    Some(blocks.saturating_mul(bytes))
}

#[cfg(not(unix))]
pub(crate) fn free_bytes(_: &Path) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_folder_for_temporary_files() {
        assert!(temporary_folder().is_absolute(), "{:?}", temporary_folder());
    }

    #[cfg(unix)]
    #[test]
    fn a_disk_tells_what_is_free() {
        let free = free_bytes(&temporary_folder()).expect("there is such a folder");
        assert!((1 << 20..1 << 60).contains(&free), "{free}");
        assert_eq!(free_bytes(Path::new("/a folder that is missing")), None);
        assert_eq!(free_bytes(Path::new("/proc/self")).filter(|&free| free > 0), None, "nothing can be written there");
    }
}
