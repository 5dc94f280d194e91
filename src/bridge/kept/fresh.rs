//! The folder of a program that is being written, under a name of its own.
//!
//! MPSGraph does not tell that it could not write a package: it ends the process, as on a disk that others fill
//! meanwhile. Every later process would compile, write and end the same way. So a file in the folder is locked while
//! MPSGraph writes; what a process that has ended leaves behind is then known by its free lock.

use std::fs::{self, DirEntry, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::lock::LockAnyway;

/// What names of folders begin with that are being written.
pub(super) const NAME: &str = ".new-";
/// The file in a program's folder that is locked while MPSGraph writes the program.
const WRITING: &str = "writing.lock";
/// The name that this file has until it is locked.
const UNLOCKED: &str = "unlocked";
/// Processes that may end while they write; one may have been ended by somebody.
const ENDED_WRITERS: usize = 2;
/// How long nothing is written after that: a disk may have room again, and both may have been ended by somebody.
const UNWRITTEN_FOR: Duration = Duration::from_secs(2 * 3600);

/// How long it is known how many have ended. To look takes as long as there are programs, and what matters is that
/// later processes do not end the same way.
const KNOWN: Duration = Duration::from_secs(600);

/// What this process knows of those that have ended while they wrote.
#[derive(Default)]
pub(super) struct EndedWriters {
    /// When it looked, and whether there were [`ENDED_WRITERS`].
    looked: Mutex<Option<(Instant, bool)>>,
}

impl EndedWriters {
    /// # Errors
    /// If writing has ended [`ENDED_WRITERS`] processes, or the folder cannot be read or made.
    pub fn ask(&self, folder: &Path) -> io::Result<()> {
        let mut looked = self.looked.lock_anyway();
        let known = looked.filter(|(time, _)| time.elapsed() < KNOWN);
        let (time, too_many) = match known {
            Some(known) => known,
            None => {
                fs::create_dir_all(folder)?;
                let ended = fs::read_dir(folder)?.flatten().filter(has_ended).count();
                (Instant::now(), ended >= ENDED_WRITERS)
            }
        };
        *looked = Some((time, too_many));
        if too_many {
            return Err(io::Error::other(format!(
                "{ENDED_WRITERS} processes have ended while they wrote there: they were killed, or MPSGraph ended \
                 them, as it does if the disk is full; it is tried again after two hours, or by a new process if you \
                 remove the folders {NAME}*"
            )));
        }
        Ok(())
    }
}

/// A folder that is being written; removed when this is dropped, unless it was renamed.
pub(super) struct Fresh {
    pub path: PathBuf,
    /// The locked file, until MPSGraph has written the program.
    writing: Option<File>,
}

impl Fresh {
    /// The `number`-th of this process.
    ///
    /// # Errors
    /// If the folder cannot be made.
    pub fn new(folder: &Path, number: u64) -> io::Result<Self> {
        let path = folder.join(own_name(NAME, number));
        fs::create_dir_all(folder)?;
        fs::create_dir(&path)?;
        let mut fresh = Self { path, writing: None };
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

    /// MPSGraph has written, or nothing is to be written any more.
    pub fn is_written(&mut self) {
        // While it is locked: a file that nobody locks is that of a process that has ended.
        let _ = fs::remove_file(self.path.join(WRITING)).or_else(|_| fs::remove_file(self.path.join(UNLOCKED)));
        self.writing = None;
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        self.is_written();
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// The `number`-th name of this process that begins so, and that no other process has. Processes in containers may have
/// one number, so the time belongs to it.
pub(super) fn own_name(begin: &str, number: u64) -> String {
    let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
    format!("{begin}{}-{time}-{number}", std::process::id())
}

/// Whether this is the folder of a process that ended while it wrote, not long ago.
fn has_ended(entry: &DirEntry) -> bool {
    // First, because there may be tens of thousands of programs.
    if !entry.file_name().to_str().is_some_and(|name| name.starts_with(NAME)) {
        return false;
    }
    let Ok(file) = File::open(entry.path().join(WRITING)) else { return false };
    let written = file.metadata().and_then(|data| data.modified()).ok();
    let is_recent = written.and_then(|time| time.elapsed().ok()).is_none_or(|time| time < UNWRITTEN_FOR);
    is_recent && file.try_lock().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_looked_through_once_in_a_while() {
        let folder = std::env::temp_dir().join(format!("burn-mpsgraph-ended-{}", std::process::id()));
        let ended = EndedWriters::default();
        ended.ask(&folder).expect("nobody has written there");
        for number in 0..ENDED_WRITERS {
            let left = folder.join(format!("{NAME}0-{number}"));
            fs::create_dir_all(&left).expect("the temporary folder can be written");
            fs::write(left.join(WRITING), "").expect("it is ours");
        }
        ended.ask(&folder).expect("it has looked a moment ago");
        *ended.looked.lock_anyway() = Instant::now().checked_sub(KNOWN).map(|time| (time, false));
        ended.ask(&folder).expect_err("it has looked long ago");
        EndedWriters::default().ask(&folder).expect_err("it has never looked");
        fs::remove_dir_all(&folder).expect("the folder is ours");
        ended.ask(&folder).expect_err("it has looked a moment ago");
    }
}
