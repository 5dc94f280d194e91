//! The folder of a program that is being written, under a name of its own.
//!
//! MPSGraph does not tell that it could not write a package: on a full disk it ends the process
//! (pytorch/executorch#1076). Every later process would compile, write and end the same way. So a file in the folder is
//! locked while MPSGraph writes; what a process that has ended leaves behind is then known by its free lock.

use std::fs::{self, DirEntry, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What names of folders begin with that are being written.
pub(super) const NAME: &str = ".new-";
/// The file that is locked.
const WRITING: &str = "writing.lock";
/// Its name before.
const UNLOCKED: &str = "unlocked";
/// Processes that may end while they write; one may have been ended by somebody.
const ENDED: usize = 2;
/// How long nothing is written after that; then a disk may have room again.
const UNTRIED: Duration = Duration::from_secs(24 * 3600);

/// A folder that is being written; removed when this is dropped, unless it was renamed.
pub(super) struct Fresh {
    pub path: PathBuf,
    /// Locked.
    writing: Option<File>,
}

impl Fresh {
    /// The `number`-th of this process.
    ///
    /// # Errors
    /// If writing has ended [`ENDED`] processes, or the folder cannot be made.
    pub fn new(folder: &Path, number: u64) -> io::Result<Self> {
        // Processes in containers may have one number, so the time belongs to the name.
        let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
        let path = folder.join(format!("{NAME}{}-{time}-{number}", std::process::id()));
        fs::create_dir_all(folder)?;
        fs::create_dir(&path)?;
        let mut fresh = Self { path, writing: None };
        if fs::read_dir(folder)?.flatten().filter(has_ended).count() >= ENDED {
            return Err(io::Error::other(format!(
                "MPSGraph has ended {ENDED} processes that wrote there; it is tried again after a day, or if you \
                 remove the folders {NAME}*"
            )));
        }
        // Nobody sees it without its lock, but where the file system has none.
        let unlocked = fresh.path.join(UNLOCKED);
        let writing = File::create(&unlocked)?;
        let is_locked = writing.try_lock().is_ok();
        fresh.writing = Some(writing);
        if is_locked {
            fs::rename(unlocked, fresh.path.join(WRITING))?;
        }
        Ok(fresh)
    }

    /// MPSGraph has written.
    pub fn is_written(&mut self) {
        self.writing = None;
        let _ = fs::remove_file(self.path.join(WRITING)).or_else(|_| fs::remove_file(self.path.join(UNLOCKED)));
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        self.writing = None;
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Whether this is the folder of a process that ended while it wrote, not long ago.
fn has_ended(entry: &DirEntry) -> bool {
    // First, because there may be tens of thousands of programs.
    if !entry.file_name().to_str().is_some_and(|name| name.starts_with(NAME)) {
        return false;
    }
    let Ok(file) = File::open(entry.path().join(WRITING)) else { return false };
    let written = file.metadata().and_then(|data| data.modified()).ok();
    let is_recent = written.and_then(|time| time.elapsed().ok()).is_none_or(|time| time < UNTRIED);
    is_recent && file.try_lock().is_ok()
}
