//! Room for one more program: the oldest ones go first. The folder is looked through when a process keeps its first
//! program, and again after it has written a part of what all may take.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant, SystemTime};

use super::fresh::own_name;
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

/// How long nothing is written after there was no room: what is in use stays so for minutes, and to find that out again
/// costs each program to be written and the folder to be looked through.
const FULL: Duration = Duration::from_secs(60);

/// What this process knows of the room in a folder.
#[derive(Default)]
pub(super) struct Room {
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    /// Bytes that may be written before the folder is looked through again.
    left: u64,
    /// When there was no room for a program that is not a large part of what all may take.
    full: Option<Instant>,
}

struct KeptProgram {
    path: PathBuf,
    bytes: u64,
    used: SystemTime,
}

impl Room {
    /// # Errors
    /// If there was no room a short time ago.
    pub fn ask(&self) -> io::Result<()> {
        match self.known.lock_anyway().full {
            Some(time) if time.elapsed() < FULL => Err(no_room()),
            Some(_) | None => Ok(()),
        }
    }

    /// Makes room for a fresh program if all shall take at most so many bytes.
    ///
    /// # Errors
    /// If there is no room, because the others are in use.
    pub fn make(&self, folder: &Path, most_bytes: u64, fresh: &Path) -> io::Result<()> {
        let needed = bytes_of(fresh)?;
        let mut known = self.known.lock_anyway();
        if let Some(rest) = known.left.checked_sub(needed) {
            known.left = rest;
            return Ok(());
        }
        let all = remove_oldest(folder, most_bytes, needed)?;
        if all > most_bytes {
            // Smaller programs may have room where a large one has none.
            known.full = (needed <= most_bytes / SHARE).then(Instant::now);
            return Err(no_room());
        }
        // Other processes may write meanwhile.
        known.left = (most_bytes - all).min(most_bytes / SHARE);
        Ok(())
    }
}

fn no_room() -> io::Error {
    io::Error::other("no room: set BURN_MPSGRAPH_CACHE_MEGABYTES to more")
}

/// Removes programs if those that are there and the `needed` bytes are more than `most_bytes`. Returns what stays, with
/// the needed ones, which is too much if the others are in use.
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
    let old = program.with_file_name(own_name(OLD, 0));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_folder_is_looked_through_once_in_a_while() {
        let folder = std::env::temp_dir().join(format!("burn-mpsgraph-room-{}", std::process::id()));
        let [used, fresh] = ["0123456789abcdef", ".new-0"].map(|name| folder.join(name));
        let most_bytes = 1 << 20;
        let write = |program: &Path, bytes: u64| {
            fs::create_dir_all(program).expect("the temporary folder can be written");
            fs::write(program.join("a file"), vec![0; bytes as usize]).expect("it is ours");
        };
        let room = Room::default();
        let make = || room.make(&folder, most_bytes, &fresh);
        write(&used, most_bytes - most_bytes / 4);
        write(&fresh, most_bytes / 2);
        make().expect_err("the other program is in use");
        room.ask().expect("a smaller program may have room");
        write(&fresh, 1);
        make().expect("it has room");
        room.known.lock_anyway().left = 0;
        write(&used, most_bytes);
        make().expect_err("the other program takes everything");
        room.ask().expect_err("that was a moment ago");
        room.known.lock_anyway().full = Instant::now().checked_sub(FULL);
        room.ask().expect("that was long ago");
        fs::remove_dir_all(folder).expect("the folder is ours");
    }
}
