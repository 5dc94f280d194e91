//! What `BURN_MPSGRAPH_LOG` shows, and the warning of programs that are compiled all the time.
//!
//! Stderr may be a pipe that nobody empties, so lines are written without the locks of the cache and of the log itself:
//! who writes nothing must not wait for who does.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::cache::Cache;
use super::division::Grain;
use super::flush::FlushReason;
use super::program::Program;
use crate::lock::LockAnyway;
use crate::tensor_type::extents;

/// Writes a line to stderr. If nobody reads it, nothing is lost but the line, where `eprintln!` would panic.
macro_rules! say {
    ($($argument:tt)+) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), $($argument)+);
    }};
}
pub(super) use say;

/// The flushes that are looked at for the warning.
const FLUSHES: u32 = 100;

/// What is written to stderr.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LogLevel {
    /// Warnings, also those of other files.
    Warning,
    /// Also a line per flush and per compilation.
    Flushes,
    /// Also the text of each program that is compiled.
    Programs,
}

pub(super) struct Log {
    level: LogLevel,
    /// Flushes so far.
    flushes: AtomicU32,
    watch: Mutex<Watch>,
}

/// What the warning depends on, of the flushes since the last look.
#[derive(Default)]
struct Watch {
    /// Flushes that compiled.
    compiles: u32,
    /// The last of them, as it was counted.
    last: Option<u32>,
    /// What made the last program a new one.
    difference: String,
    warned: bool,
}

impl Log {
    pub fn new(level: LogLevel) -> Self {
        Self { level, flushes: AtomicU32::new(0), watch: Mutex::default() }
    }

    pub fn flush(&self, reason: FlushReason, ops: usize) {
        if self.level >= LogLevel::Flushes {
            say!("burn-mpsgraph: flush ({reason:?}): {ops} ops recorded");
        }
        // Two threads may count one flush; an exact count would cost each flush more.
        let before = self.flushes.load(Ordering::Relaxed);
        self.flushes.store(before.wrapping_add(1), Ordering::Relaxed);
        if before % FLUSHES == FLUSHES - 1 {
            let warning = self.watch.lock_anyway().look();
            if let Some(warning) = warning {
                say!("{warning}");
            }
        }
    }

    /// A segment of so many ops is submitted as so many parts.
    pub fn divided(&self, ops: usize, into: Grain, parts: usize) {
        if self.level >= LogLevel::Flushes {
            let reason = "many recent flushes were new programs";
            say!("burn-mpsgraph: miss: {ops} ops divided into {parts} parts ({into:?}), because {reason}");
        }
    }

    /// A program is going to be compiled, as patterns have rewritten it. That text is written first: a compilation may
    /// end the process.
    pub fn compiling(&self, program: &Program, rewritten: &Program, cache: &Mutex<Cache>) {
        let may_warn = self.watch.lock_anyway().note_compile(self.flushes.load(Ordering::Relaxed));
        if self.level < LogLevel::Flushes && !may_warn {
            return;
        }
        let difference = difference(program, &cache.lock_anyway());
        if self.level >= LogLevel::Flushes {
            say!("burn-mpsgraph: miss: compile {} ops; new: {difference}", program.nodes.len());
        }
        if self.level >= LogLevel::Programs {
            say!("{rewritten}");
        }
        self.watch.lock_anyway().difference = difference;
    }

    /// It is compiled.
    pub fn compiled(&self, time: Duration) {
        if self.level >= LogLevel::Flushes {
            say!("burn-mpsgraph: compiled in {:.1} ms", time.as_secs_f64() * 1e3);
        }
    }

    /// A kept program is loaded.
    pub fn loaded(&self, program: &Program, time: Duration) {
        if self.level >= LogLevel::Flushes {
            let (ops, milliseconds) = (program.nodes.len(), time.as_secs_f64() * 1e3);
            say!("burn-mpsgraph: miss: loaded {ops} ops in {milliseconds:.1} ms");
        }
    }

    /// A program was found.
    pub fn hit(&self, program_ops: usize) {
        if self.level >= LogLevel::Flushes {
            say!("burn-mpsgraph: hit: {program_ops} ops");
        }
    }
}

impl Watch {
    /// A program is compiled by that flush. Whether a warning may follow, which says what was new.
    fn note_compile(&mut self, flush: u32) -> bool {
        self.compiles += u32::from(self.last != Some(flush));
        self.last = Some(flush);
        self.compiles == FLUSHES / 2 + 1
    }

    /// The warning, if there is reason for it and it was not given before.
    fn look(&mut self) -> Option<String> {
        let compiles = std::mem::take(&mut self.compiles);
        if compiles <= FLUSHES / 2 || std::mem::replace(&mut self.warned, true) {
            return None;
        }
        Some(format!(
            "burn-mpsgraph: {compiles} of the last {FLUSHES} flushes compiled programs, because they differ each time; \
             the last by {}. Use fixed shapes (pad batches and sequences to a few lengths), or read less often. \
             BURN_MPSGRAPH_LOG=1 shows each compilation.",
            self.difference
        ))
    }
}

/// The first difference from the most similar program in the cache.
fn difference(program: &Program, cache: &Cache) -> String {
    if cache.programs().any(|known| known.is_same(program)) {
        return "numbers differ that were equal when the same program was compiled".into();
    }
    let shared = |known: &Program| program.nodes.iter().zip(&known.nodes).take_while(|(a, b)| a == b).count();
    let Some((shared, known)) = cache.programs().map(|known| (shared(known), known)).max_by_key(|(shared, _)| *shared)
    else {
        return "the first program".into();
    };
    match (program.nodes.get(shared), known.nodes.get(shared)) {
        (Some(own), Some(known)) if own.op == known.op => format!(
            "{} ({:?}) of {:?} where a known program has {:?}",
            own.op.name(),
            own.op,
            extents(&own.output.shape),
            extents(&known.output.shape)
        ),
        (Some(own), Some(known)) => {
            format!("{:?} to {:?} where a known program has {:?}", own.op, extents(&own.output.shape), known.op)
        }
        (Some(own), None) => format!("{:?} behind the end of a known program", own.op),
        (None, Some(known)) => format!("the end where a known program goes on with {:?}", known.op),
        (None, None) => "other values are kept, or other tensors are fed, than by a known program".into(),
    }
}
