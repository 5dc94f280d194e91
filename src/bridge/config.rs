//! What the environment asks for.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use super::log::LogLevel;
use crate::error::Error;

/// Ops that a recording holds at most, which also bounds how long one program compiles.
const MAX_OPS: usize = 2048;
/// The programs that are kept at first.
const MAX_PROGRAMS: usize = 256;

/// MiB that kept programs take at most.
const CACHE_MEGABYTES: usize = 1024;

/// Seconds without progress that a wait lasts at most. A program of seconds is long, and macOS stops those that are
/// much longer.
const WAIT_SECONDS: usize = 120;

/// What the environment asks for; read once.
pub(super) struct Config {
    /// `BURN_MPSGRAPH_CACHE_DIR`: where compiled programs are kept for other processes; by default nowhere.
    pub cache_dir: Option<PathBuf>,
    /// `BURN_MPSGRAPH_CACHE_MEGABYTES`: MiB that they take at most.
    pub cache_megabytes: u64,
    /// `BURN_MPSGRAPH_EAGER=1`: a program per op.
    pub eager: bool,
    /// `BURN_MPSGRAPH_LEVEL=1`: programs of f32 alone are compiled at MPSGraph's optimization level 1.
    pub level_1: bool,
    /// `BURN_MPSGRAPH_LOG=1`: a line on stderr per flush and compilation; `=2`: the text of each program that is
    /// compiled, too.
    pub log: LogLevel,
    /// `BURN_MPSGRAPH_PATTERNS=0`: compile what was recorded as it is.
    pub patterns: bool,
    /// `BURN_MPSGRAPH_MAX_OPS`: ops that a recording holds at most, and those of ended threads together.
    pub max_ops: usize,
    /// `BURN_MPSGRAPH_MAX_PROGRAMS`: programs that the cache keeps before it grows.
    pub max_programs: usize,
    /// `BURN_MPSGRAPH_WAIT_SECONDS`: how long somebody waits while the device finishes no work.
    pub wait_seconds: u64,
}

impl Config {
    /// # Errors
    /// If a variable has a value that makes no sense.
    pub fn from_env() -> Result<Self, Error> {
        Ok(Self {
            cache_dir: folder("BURN_MPSGRAPH_CACHE_DIR")?,
            cache_megabytes: number("BURN_MPSGRAPH_CACHE_MEGABYTES", 1..=1 << 30)?.unwrap_or(CACHE_MEGABYTES) as u64,
            eager: number("BURN_MPSGRAPH_EAGER", 0..=1)?.unwrap_or(0) == 1,
            level_1: number("BURN_MPSGRAPH_LEVEL", 0..=1)?.unwrap_or(0) == 1,
            log: match number("BURN_MPSGRAPH_LOG", 0..=2)? {
                None | Some(0) => LogLevel::Warning,
                Some(1) => LogLevel::Flushes,
                Some(_) => LogLevel::Programs,
            },
            patterns: number("BURN_MPSGRAPH_PATTERNS", 0..=1)?.unwrap_or(1) == 1,
            max_ops: number("BURN_MPSGRAPH_MAX_OPS", 1..=usize::MAX)?.unwrap_or(MAX_OPS),
            max_programs: number("BURN_MPSGRAPH_MAX_PROGRAMS", 1..=1 << 20)?.unwrap_or(MAX_PROGRAMS),
            wait_seconds: number("BURN_MPSGRAPH_WAIT_SECONDS", 1..=1 << 30)?.unwrap_or(WAIT_SECONDS) as u64,
        })
    }
}

/// The number in a variable, if it is set and not empty.
fn number(name: &str, range: RangeInclusive<usize>) -> Result<Option<usize>, Error> {
    let Some(text) = std::env::var_os(name).filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    let number = text.to_str().and_then(|text| text.parse::<usize>().ok()).filter(|number| range.contains(number));
    number.map(Some).ok_or_else(|| Error::Unsupported {
        op: "environment",
        reason: format!(
            "{name}={} where a whole number from {} to {} is expected",
            text.to_string_lossy(),
            range.start(),
            range.end()
        ),
    })
}

/// The folder in a variable, if it is set and not empty. A relative one counts from where the process is now.
fn folder(name: &'static str) -> Result<Option<PathBuf>, Error> {
    let Some(text) = std::env::var_os(name).filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    let unsupported = |reason| Error::Unsupported { op: "environment", reason };
    let Some(path) = text.to_str() else {
        return Err(unsupported(format!("{name}={} where a path in UTF-8 is expected", text.to_string_lossy())));
    };
    let counted = std::path::absolute(path).map_err(|error| {
        unsupported(format!("{name}={path} counts from where the process is, which cannot be told: {error}"))
    });
    counted.map(Some)
}
