//! One process at a time loads a kept program, and notes how that went, for the processes after it.
//!
//! The note tells what no process can know alone: that loading takes longer than compiling, and that it ended a
//! process, as MPSGraph does with what it cannot read. A folder that cannot be written is loaded from without notes.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::bridge::log::say;

/// The file that is locked, with the notes.
pub(super) const NAME: &str = "loads.txt";
/// How long the turn of another process is waited for.
const PATIENCE: Duration = Duration::from_secs(10);
/// Loads after which it is certain enough what is faster.
const TRIED: u64 = 3;
/// Processes that may end while they load; one may have been ended by somebody.
const ENDED: u64 = 2;
/// How long it is not loaded after that: both may have been ended by somebody.
const UNTRIED: Duration = Duration::from_secs(24 * 3600);

/// The right to load a program, until it is dropped.
pub(super) struct Turn {
    /// Locked; none if the folder cannot be written.
    file: Option<File>,
    notes: Notes,
}

#[derive(Default)]
struct Notes {
    loads: u64,
    least_nanoseconds: u64,
    /// Loads that have begun and not ended.
    begun: u64,
}

/// The file with the notes of a program. It is made if it is missing: what is not there cannot be locked.
pub(super) fn open(program: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).open(program.join(NAME))
}

impl Turn {
    /// `None` if the program is not to be loaded.
    pub fn take(folder: &Path, compile_time: Duration) -> Option<Self> {
        let Ok(mut file) = open(folder) else {
            return Some(Self { file: None, notes: Notes::default() });
        };
        let start = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if start.elapsed() < PATIENCE => sleep(Duration::from_millis(1)),
                Err(TryLockError::WouldBlock) => return None,
                // This file system has no locks.
                Err(TryLockError::Error(_)) => return Some(Self { file: None, notes: Notes::default() }),
            }
        }
        let notes = Notes::read(&mut file);
        let is_slow = notes.loads >= TRIED && u128::from(notes.least_nanoseconds) > compile_time.as_nanos();
        if is_slow {
            return None;
        }
        if notes.begun >= ENDED && is_recent(&file) {
            say!(
                "burn-mpsgraph: a program is compiled, because {ENDED} processes have ended while they loaded it; that \
                 is tried again after a day, or if you remove {}",
                folder.display()
            );
            return None;
        }
        Some(Self { file: Some(file), notes })
    }

    /// The load begins.
    pub fn begin(&mut self) {
        self.notes.begun += 1;
        self.write();
    }

    /// It has ended, after this time.
    pub fn end(mut self, time: Duration) {
        let nanoseconds = time.as_nanos() as u64;
        let least = self.notes.least_nanoseconds;
        self.notes = Notes {
            least_nanoseconds: if self.notes.loads == 0 { nanoseconds } else { least.min(nanoseconds) },
            loads: self.notes.loads + 1,
            begun: 0,
        };
        self.write();
    }

    /// Notes are only good for speed, so it does not matter if they cannot be written.
    fn write(&mut self) {
        let Notes { loads, least_nanoseconds, begun } = &self.notes;
        if let Some(file) = &mut self.file {
            // Of a fixed length, so that no older digits stay behind.
            let text = format!("{loads:020} {least_nanoseconds:020} {begun:020}\n");
            let _ = file.seek(SeekFrom::Start(0)).and_then(|_| file.write_all(text.as_bytes()));
        }
    }
}

/// Whether the notes are of the last day, or nobody knows.
fn is_recent(notes: &File) -> bool {
    let written = notes.metadata().and_then(|data| data.modified()).ok();
    written.and_then(|time| time.elapsed().ok()).is_none_or(|time| time < UNTRIED)
}

impl Notes {
    /// None if they make no sense.
    fn read(file: &mut File) -> Self {
        let mut text = String::new();
        let _ = file.read_to_string(&mut text);
        let numbers: Vec<u64> = text.split_whitespace().filter_map(|number| number.parse().ok()).collect();
        match numbers[..] {
            [loads, least_nanoseconds, begun] => Self { loads, least_nanoseconds, begun },
            _ => Self::default(),
        }
    }
}
