//! Room for one more program: the oldest ones go first. The folder is looked through when a process keeps its first
//! program, and again after it has written a part of what all may take.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use super::{fresh, turn};
use crate::lock::LockAnyway;

/// What names of folders begin with that are being removed.
const OLD: &str = ".old-";

/// How long what was used is safe: MPSGraph may read a package some time after it was loaded.
const SAFE: Duration = Duration::from_secs(600);

/// Bytes of a block of APFS and of most file systems.
const BLOCK: u64 = 4096;

/// A share of the bound: as much may be written before the folder is looked through again, and as much is removed at
/// least. To look takes as long as there are programs.
const SHARE: u64 = 16;

/// What this process knows of the room in a folder.
#[derive(Default)]
pub(super) struct Room {
    /// Bytes that may be written before the folder is looked through again.
    left: Mutex<u64>,
}

struct KeptProgram {
    path: PathBuf,
    bytes: u64,
    used: SystemTime,
}

impl Room {
    /// Makes room for a fresh program if all shall take at most so many bytes.
    ///
    /// # Errors
    /// If there is no room, because the others are in use.
    pub fn make(&self, folder: &Path, most_bytes: u64, fresh: &Path) -> io::Result<()> {
        let needed = bytes_of(fresh)?;
        let mut left = self.left.lock_anyway();
        if let Some(rest) = left.checked_sub(needed) {
            *left = rest;
            return Ok(());
        }
        let all = remove_oldest(folder, most_bytes, needed)?;
        // Other processes may write meanwhile.
        *left = (most_bytes - all).min(most_bytes / SHARE);
        Ok(())
    }
}

/// Removes programs if those that are there and the `needed` bytes are more than `most_bytes`. Returns what stays, with
/// the needed ones.
fn remove_oldest(folder: &Path, most_bytes: u64, needed: u64) -> io::Result<u64> {
    let mut all = needed;
    let mut programs = Vec::new();
    for entry in fs::read_dir(folder)?.flatten() {
        let path = entry.path();
        let Some(name) = entry.file_name().to_str().map(str::to_owned) else { continue };
        let is_program = name.len() == 16 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        let Some(used) = [path.join(turn::NAME), path.clone()].iter().find_map(|path| changed(path)) else { continue };
        if is_program {
            let bytes = bytes_of(&path).unwrap_or(0);
            all += bytes;
            programs.push(KeptProgram { path, bytes, used });
        } else if (name.starts_with(fresh::NAME) || name.starts_with(OLD)) && is_over(used) {
            // A process has ended while it wrote it.
            let _ = fs::remove_dir_all(path);
        }
    }
    if all <= most_bytes {
        return Ok(all);
    }
    programs.sort_by_key(|program| program.used);
    for KeptProgram { path, bytes, .. } in programs.into_iter().filter(|program| is_over(program.used)) {
        if all <= most_bytes - most_bytes / SHARE {
            break;
        }
        if remove(&path).is_ok() {
            all -= bytes;
        }
    }
    if all > most_bytes {
        return Err(io::Error::other("no room: set BURN_MPSGRAPH_CACHE_MEGABYTES to more"));
    }
    Ok(all)
}

/// Removes a program that no process is loading, or a file in its place.
///
/// # Errors
/// If a process loads it, or nobody can tell, because it cannot be locked.
pub(super) fn remove(program: &Path) -> io::Result<()> {
    if program.is_dir() {
        let file = turn::open(program)?;
        file.try_lock().map_err(io::Error::from)?;
        if move_away(program).is_ok() {
            return Ok(());
        }
        // Windows renames no folder in which a file is open.
        drop(file);
    }
    move_away(program)
}

/// Nobody sees a folder of which a part is removed.
fn move_away(program: &Path) -> io::Result<()> {
    let Some(name) = program.file_name().and_then(|name| name.to_str()) else {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    };
    let old = program.with_file_name(format!("{OLD}{}-{name}", std::process::id()));
    fs::rename(program, &old)?;
    fs::remove_dir_all(&old).or_else(|_| fs::remove_file(&old))
}

fn changed(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|data| data.modified()).ok()
}

/// Whether it was so long ago that it is safe no more; a time in the future is one of a clock that was wrong.
fn is_over(used: SystemTime) -> bool {
    used.elapsed().unwrap_or_else(|error| error.duration()) > SAFE
}

/// What a folder or a file takes on the disk, where each takes whole blocks.
fn bytes_of(path: &Path) -> io::Result<u64> {
    let data = fs::metadata(path)?;
    if !data.is_dir() {
        return Ok(data.len().next_multiple_of(BLOCK));
    }
    fs::read_dir(path)?.map(|entry| bytes_of(&entry?.path())).sum::<io::Result<u64>>().map(|files| files + BLOCK)
}
