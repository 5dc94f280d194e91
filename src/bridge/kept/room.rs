//! Room for one more program: the oldest ones go first.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::{fresh, turn};

/// What names of folders begin with that are being removed.
const OLD: &str = ".old-";

/// How long what was used is safe: MPSGraph may read a package some time after it was loaded.
const SAFE: Duration = Duration::from_secs(600);

struct Program {
    path: PathBuf,
    bytes: u64,
    used: SystemTime,
}

/// Removes programs until those that stay and the fresh one take at most this many bytes.
///
/// # Errors
/// If there is no room, because the others are in use.
pub(super) fn make(folder: &Path, most_bytes: u64, fresh: &Path) -> io::Result<()> {
    let mut needed = bytes_of(fresh)?;
    let mut programs = Vec::new();
    for entry in fs::read_dir(folder)?.flatten() {
        let path = entry.path();
        let Some(name) = entry.file_name().to_str().map(str::to_owned) else { continue };
        let is_program = name.len() == 16 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        let Some(used) = [path.join(turn::NAME), path.clone()].iter().find_map(|path| changed(path)) else { continue };
        if is_program {
            let bytes = bytes_of(&path).unwrap_or(0);
            needed += bytes;
            programs.push(Program { path, bytes, used });
        } else if (name.starts_with(fresh::NAME) || name.starts_with(OLD)) && is_over(used) {
            // A process has ended while it wrote it.
            let _ = fs::remove_dir_all(path);
        }
    }
    programs.sort_by_key(|program| program.used);
    for Program { path, bytes, .. } in programs.into_iter().filter(|program| is_over(program.used)) {
        if needed <= most_bytes {
            break;
        }
        if remove(&path).is_ok() {
            needed -= bytes;
        }
    }
    if needed > most_bytes {
        return Err(io::Error::other("no room: set BURN_MPSGRAPH_CACHE_MEGABYTES to more"));
    }
    Ok(())
}

/// Removes a program that no process is loading.
pub(super) fn remove(program: &Path) -> io::Result<()> {
    if let Ok(file) = File::open(program.join(turn::NAME)) {
        file.try_lock().map_err(io::Error::from)?;
        return move_away(program);
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

fn is_over(used: SystemTime) -> bool {
    used.elapsed().is_ok_and(|time| time > SAFE)
}

fn bytes_of(path: &Path) -> io::Result<u64> {
    let data = fs::metadata(path)?;
    if !data.is_dir() {
        return Ok(data.len());
    }
    fs::read_dir(path)?.map(|entry| bytes_of(&entry?.path())).sum()
}
