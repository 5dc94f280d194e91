//! What MPSGraph leaves in the user's folder for temporary files.
//!
//! Each executable makes a folder `com.apple.MetalPerformanceShadersGraph/mpsgraph-<pid>-<date>-<number>` there when it
//! is made, and removes it only when it is released (macOS 15, by the MPSGraph of iOS 18, decompiled in
//! EthanArbuckle/iPhone17-1_18.2_22C152_Restore). The cache of executables lives as long as the process, so hundreds
//! of such folders would stay after each process, until macOS clears the place; other programs have filled disks so
//! (huggingface/swift-coreml-diffusers#3: 151 GB). So a process removes its own when it exits. Those of a process that
//! something ended stay, for nobody knows whether a process of another container has their number.

use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::ffi::{c_library, is_compiling};

/// MPSGraph's place below the folder for temporary files: its bundle's identifier.
const PLACE: &str = "com.apple.MetalPerformanceShadersGraph";

/// MPSGraph's place, and the process that has asked for its folders to be removed.
static ASKED: OnceLock<(PathBuf, u32)> = OnceLock::new();

/// MPSGraph's place for folders of executables; it makes the place itself.
pub(super) fn place() -> PathBuf {
    c_library::temporary_folder().join(PLACE)
}

/// From now on, the folders of this process are removed when it exits by itself.
pub(super) fn remove_at_exit() {
    ASKED.get_or_init(|| {
        c_library::at_exit(exit);
        (place(), std::process::id())
    });
}

/// Waits for no lock and sends nothing, for other threads may still run, wherever they are. While one of them compiles,
/// loads or encodes for the first time, the folders stay: MPSGraph ends the process where it cannot write in one.
extern "C" fn exit() {
    let _ = catch_unwind(|| match ASKED.get() {
        // A child that has exited without becoming another program is not who asked.
        Some((place, pid)) if *pid == std::process::id() && !is_compiling() => remove(place, *pid),
        Some(_) | None => (),
    });
}

/// Removes the folders of this process. Nobody is there who could be told of a failure.
fn remove(place: &Path, pid: u32) {
    let prefix = format!("mpsgraph-{pid}-");
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        let is_own = entry.file_name().to_str().is_some_and(|name| name.starts_with(&prefix));
        if is_own && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_folders_of_the_process_go() {
        let place = std::env::temp_dir().join(format!("burn-mpsgraph-leftovers-{}", std::process::id()));
        remove(&place, 12);
        assert!(!place.exists());
        let own = ["mpsgraph-12-2025_01_31-1", "mpsgraph-12-2025_01_31-2"];
        let other = ["mpsgraph-123-2025_01_31-1", "mpsgraph-1-12-1", "mpsgraph-12", "other-12-1", "mpsgraph-x"];
        for name in own.iter().chain(&other) {
            fs::create_dir_all(place.join(name).join("inside")).expect("the temporary folder can be written");
            fs::write(place.join(name).join("inside/file"), "something").expect("it is ours");
        }
        fs::write(place.join("mpsgraph-12-file"), "no folder").expect("it is ours");
        remove(&place, 12);
        let left = |name: &&&str| place.join(name).exists();
        assert_eq!(own.iter().filter(left).count(), 0);
        assert_eq!(other.iter().filter(left).count(), other.len());
        assert!(place.join("mpsgraph-12-file").exists());
        fs::remove_dir_all(&place).expect("it is ours");
    }
}
