//! Where MPSGraph writes: the user's folder for temporary files.
//!
//! It ends the process if it cannot write a package beside the place that it is asked for, or cannot move it there, so
//! it is asked for one in a folder of ours below the temporary folder, and what it wrote is moved from here, where a
//! failure is an error. And it reads a path that it has not got if it loads a package and can make no folder there
//! (macOS 15, by the MPSGraph of iOS 18, decompiled in EthanArbuckle/iPhone17-1_18.2_22C152_Restore).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::fresh::own_name;
use crate::bridge::leftovers;
use crate::ffi::c_library;

/// Bytes that are free where MPSGraph is let write. How much it writes nobody knows before, and on a full disk it ends
/// the process (pytorch/executorch#1076).
pub(super) const FREE: u64 = 256 << 20;

/// # Errors
/// If fewer bytes are free on the disk of this folder.
pub(super) fn ask_for(folder: &Path, bytes: u64) -> io::Result<()> {
    match c_library::free_bytes(folder) {
        Some(free) if free < bytes => Err(io::Error::new(
            io::ErrorKind::StorageFull,
            format!(
                "{} MiB are free on the disk of {}; MPSGraph, which ends the process if it cannot write, may write \
                 there from {} on",
                free >> 20,
                folder.display(),
                bytes >> 20,
            ),
        )),
        Some(_) | None => Ok(()),
    }
}

/// A folder of ours, which is removed when this is dropped.
pub(super) struct Scratch {
    path: PathBuf,
}

impl Scratch {
    /// The `number`-th of this process.
    ///
    /// # Errors
    /// If the folder cannot be made.
    pub fn new(number: u64) -> io::Result<Self> {
        let path = c_library::temporary_folder().join(own_name("burn-mpsgraph-package-", number));
        fs::create_dir(&path).map_err(|error| {
            io::Error::new(error.kind(), format!("{} cannot be made, where MPSGraph writes: {error}", path.display()))
        })?;
        Ok(Self { path })
    }

    /// Where the package is to be written.
    pub fn package(&self) -> PathBuf {
        self.path.join(super::PACKAGE)
    }

    /// Moves the package, if there is one.
    ///
    /// # Errors
    /// If that fails; then a part of it may be there.
    pub fn move_package(self, to: &Path) -> io::Result<()> {
        let package = self.package();
        if !package.is_dir() {
            return Ok(());
        }
        match fs::rename(&package, to) {
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => copy(&package, to),
            outcome => outcome,
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Copies a folder with all that is in it.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy(&from, &to)?;
        } else {
            fs::copy(&from, &to)?;
        }
    }
    Ok(())
}

/// Whether MPSGraph can make the folder that a loaded executable needs. Whether folders can be made there at all, this
/// process looks once.
pub(super) fn is_there_room_for_loaded() -> bool {
    static IS_THERE: OnceLock<bool> = OnceLock::new();
    *IS_THERE.get_or_init(|| can_make_folders_in(&leftovers::place()))
        && ask_for(&c_library::temporary_folder(), FREE).is_ok()
}

/// Whether a folder can be made in this place, which is made if it is missing.
fn can_make_folders_in(place: &Path) -> bool {
    let Some(there) = place.ancestors().find(|folder| folder.exists()) else { return false };
    let probe = there.join(own_name("burn-mpsgraph-probe-", 0));
    fs::create_dir(&probe).and_then(|()| fs::remove_dir(&probe)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_moved_and_the_folder_goes_on_every_path() {
        let to = std::env::temp_dir().join(own_name("burn-mpsgraph-moved-", 0));
        for writes in [false, true] {
            let scratch = Scratch::new(0).expect("the temporary folder can be written");
            let path = scratch.path.clone();
            if writes {
                fs::create_dir_all(scratch.package().join("inside")).expect("it is ours");
                fs::write(scratch.package().join("inside/file"), "something").expect("it is ours");
            }
            scratch.move_package(&to).expect("there is nothing, or it can be moved");
            assert_eq!((to.exists(), path.exists()), (writes, false));
        }
        let copied = std::env::temp_dir().join(own_name("burn-mpsgraph-copied-", 0));
        copy(&to, &copied).expect("it can be copied");
        assert_eq!(fs::read_to_string(copied.join("inside/file")).expect("it is there"), "something");
        copy(&to, &copied).expect_err("something is there");
        let scratch = Scratch::new(0).expect("the temporary folder can be written");
        let path = scratch.path.clone();
        fs::create_dir_all(scratch.package().join("inside")).expect("it is ours");
        scratch.move_package(&to).expect_err("something is there");
        assert!(!path.exists());
        [to, copied].iter().for_each(|path| fs::remove_dir_all(path).expect("it is ours"));
    }

    #[cfg(unix)]
    #[test]
    fn a_disk_that_is_almost_full_is_refused() {
        let folder = c_library::temporary_folder();
        ask_for(&folder, 1).expect("the temporary folder can be written");
        let error = ask_for(&folder, u64::MAX).expect_err("no disk is as large");
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert!(error.to_string().contains(&folder.display().to_string()), "{error}");
        ask_for(&folder.join("a folder that is missing"), u64::MAX).expect("nobody can tell");
    }

    #[test]
    fn a_place_that_is_missing_can_be_made_but_not_in_a_file() {
        let folder = std::env::temp_dir().join(own_name("burn-mpsgraph-place-", 0));
        fs::create_dir(&folder).expect("the temporary folder can be written");
        assert!(can_make_folders_in(&folder) && can_make_folders_in(&folder.join("a/b")));
        assert_eq!(fs::read_dir(&folder).expect("it is ours").count(), 0, "nothing stays");
        fs::write(folder.join("file"), "").expect("it is ours");
        assert!(!can_make_folders_in(&folder.join("file")) && !can_make_folders_in(&folder.join("file/a")));
        fs::remove_dir_all(folder).expect("it is ours");
    }
}
