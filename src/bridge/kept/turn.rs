//! One process at a time loads a kept program, or encodes it for the first time, and notes how that went, for the
//! processes after it.
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
const ENDED_LOADERS: u64 = 2;
/// How long it is not loaded after that: both may have been ended by somebody.
const UNLOADED_FOR: Duration = Duration::from_secs(24 * 3600);

/// The right to load a program, or to encode it for the first time, until it is dropped.
#[derive(Default)]
pub(super) struct Turn {
    /// Locked; none if nothing can be noted.
    file: Option<File>,
    notes: Notes,
    /// Whether it is noted that something has begun, which is taken back when this is dropped.
    has_begun: bool,
}

#[derive(Default)]
struct Notes {
    /// Loads whose first encode has ended, too.
    loads: u64,
    /// What the fastest of them took, with its first encode.
    least_nanoseconds: u64,
    /// Loads and first encodes that have begun, and whose processes have ended before they did.
    begun: u64,
    /// What the first encode took where the program was compiled; 0 if nobody knows.
    encode_nanoseconds: u64,
}

/// The file with the notes of a program. It is made if it is missing: what is not there cannot be locked.
pub(super) fn open(program: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).open(program.join(NAME))
}

impl Turn {
    /// Waits for the turns of other processes. `None` if the program is not to be loaded.
    pub fn take(folder: &Path, compile_time: Duration) -> Option<Self> {
        let Ok(mut file) = open(folder) else {
            return Some(Self::default());
        };
        let start = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if start.elapsed() < PATIENCE => sleep(Duration::from_millis(1)),
                Err(TryLockError::WouldBlock) => return None,
                // This file system has no locks.
                Err(TryLockError::Error(_)) => return Some(Self::default()),
            }
        }
        let notes = Notes::read(&mut file);
        if notes.is_slow(compile_time) {
            return None;
        }
        if notes.begun >= ENDED_LOADERS && is_recent(&file) {
            say!(
                "burn-mpsgraph: a program is compiled, because {ENDED_LOADERS} processes have ended while they loaded \
                 it; that is tried again after a day, or if you remove {}",
                folder.display()
            );
            return None;
        }
        Some(Self { file: Some(file), notes, has_begun: false })
    }

    /// Does not wait: while another process has its turn, nothing is noted.
    pub fn take_now(folder: &Path) -> Self {
        let file = open(folder).ok().filter(|file| file.try_lock().is_ok());
        let Some(mut file) = file else { return Self::default() };
        let notes = Notes::read(&mut file);
        Self { file: Some(file), notes, has_begun: false }
    }

    /// A load begins, or the first encode after it.
    pub fn begin(&mut self) {
        self.has_begun = true;
        self.notes.begun += 1;
        self.write();
    }

    /// The first encode after a load has ended, which took so long with the load.
    pub fn end_load(mut self, time: Duration) {
        let nanoseconds = time.as_nanos() as u64;
        let Notes { loads, least_nanoseconds, .. } = self.notes;
        self.notes.least_nanoseconds = if loads == 0 { nanoseconds } else { least_nanoseconds.min(nanoseconds) };
        self.notes.loads += 1;
        // What has worked is not what ended others.
        self.notes.begun = 0;
        self.has_begun = false;
        self.write();
    }

    /// Where the program was compiled the first encode has ended, which took so long.
    pub fn end_compiled(mut self, time: Duration) {
        self.notes.encode_nanoseconds = time.as_nanos() as u64;
        self.write();
    }

    /// Notes are only good for speed, so it does not matter if they cannot be written.
    fn write(&mut self) {
        let Notes { loads, least_nanoseconds, begun, encode_nanoseconds } = &self.notes;
        if let Some(file) = &mut self.file {
            // Of a fixed length, so that no older digits stay behind.
            let text = format!("{loads:020} {least_nanoseconds:020} {begun:020} {encode_nanoseconds:020}\n");
            let _ = file.seek(SeekFrom::Start(0)).and_then(|_| file.write_all(text.as_bytes()));
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if self.has_begun {
            self.notes.begun -= 1;
            self.write();
        }
    }
}

/// Whether the notes are of the last day, or nobody knows.
fn is_recent(notes: &File) -> bool {
    let written = notes.metadata().and_then(|data| data.modified()).ok();
    written.and_then(|time| time.elapsed().ok()).is_none_or(|time| time < UNLOADED_FOR)
}

impl Notes {
    /// None if they make no sense.
    fn read(file: &mut File) -> Self {
        let mut text = String::new();
        let _ = file.read_to_string(&mut text);
        let numbers: Vec<u64> = text.split_whitespace().filter_map(|number| number.parse().ok()).collect();
        match numbers[..] {
            [loads, least_nanoseconds, begun, encode_nanoseconds] => {
                Self { loads, least_nanoseconds, begun, encode_nanoseconds }
            }
            _ => Self::default(),
        }
    }

    /// Whether to load and encode has taken longer than to compile and encode. Only with their first encodes the two
    /// are the same work: nobody documents what MPSGraph does when it compiles and what it leaves to the encode, and
    /// for what is loaded it leaves more.
    fn is_slow(&self, compile_time: Duration) -> bool {
        let compiled = compile_time.as_nanos() + u128::from(self.encode_nanoseconds);
        self.encode_nanoseconds > 0 && self.loads >= TRIED && u128::from(self.least_nanoseconds) > compiled
    }
}
