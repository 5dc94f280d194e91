//! Programs kept on disk, so that a second process of the same model loads them instead of compiling.
//!
//! Each program is a folder, named by the hash of a text that says all that the compiled form depends on. In it are
//! MPSGraph's package and a file [`about`] it with that whole text, which is compared. A folder is written under
//! another name and then renamed, so none is ever seen half written; what is damaged all the same is found by check
//! sums, before MPSGraph sees it, and replaced. Nothing here is an error: what cannot be loaded is compiled.

mod about;
mod first_encode;
mod fresh;
mod room;
mod scratch;
mod turn;

use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use about::About;
pub(super) use first_encode::FirstEncode;
use fresh::{EndedWriters, Fresh};
use room::Room;
use scratch::{FREE, Scratch};
use turn::Turn;

use super::compile::Compiled;
use super::config::Config;
use super::log::say;
use super::program::Program;
use crate::dtype::stored;
use crate::ffi::{Device, Executable, GraphDevice, Optimization, ShapedType, c_library, os_version};
use crate::lowering::scalar::Layout;
use crate::tensor_type::TensorType;

/// MPSGraph's part of a program's folder.
const PACKAGE: &str = "program.mpsgraphpackage";

/// The folder of kept programs.
pub(super) struct Kept {
    folder: PathBuf,
    most_bytes: u64,
    /// What every compiled form depends on.
    system: String,
    warned: AtomicBool,
    room: Room,
    ended_writers: EndedWriters,
    /// Folders written so far, for their first names.
    written: AtomicU64,
}

/// All that a program's compiled form depends on.
pub(super) struct Key {
    text: String,
    level: Optimization,
    folder: PathBuf,
}

/// What there is of a program.
pub(super) enum Found {
    Loaded(Compiled, FirstEncode),
    /// It is to be compiled and kept.
    Nothing,
    /// It is to be compiled: loading takes longer than compiling, has ended processes, or would end this one.
    Unwanted,
}

impl Kept {
    /// `None` if programs are not to be kept.
    pub fn new(config: &Config, device: &Device) -> Option<Self> {
        let (major, minor) = os_version::reported();
        let system = format!(
            "burn-mpsgraph {} ({}) for {} with macOS {}, seen as {major}.{minor}, on {} ({}, {})",
            env!("CARGO_PKG_VERSION"),
            env!("BURN_MPSGRAPH_SOURCES"),
            std::env::consts::ARCH,
            os_version::text(),
            device.name(),
            device.has_shared_heaps(),
            device.is_m1_to_m4(),
        );
        Some(Self {
            folder: config.cache_dir.clone()?,
            most_bytes: config.cache_megabytes << 20,
            system,
            warned: AtomicBool::new(false),
            room: Room::default(),
            ended_writers: EndedWriters::default(),
            written: AtomicU64::new(0),
        })
    }

    /// The key of a program as it is going to be lowered. The order of its nodes belongs to it, and where the scalars
    /// of each are in the lanes: the layout counts those of nodes, too, that a pattern has left over, which are not in
    /// the text. Patterns and barriers are.
    pub fn key(&self, program: &Program, layout: &Layout, level: Optimization) -> Key {
        let lanes = program.lanes(layout);
        let lanes: Vec<_> = program.schedule.iter().map(|&at| &lanes[at as usize]).collect();
        let text = format!("{}\n{level:?}\n{layout:?}\n{lanes:?}\n{program}\n", self.system);
        let folder = self.folder.join(format!("{:016x}", about::check_sum(text.as_bytes())));
        Key { text, level, folder }
    }

    /// Loads a program, if it is kept, whole, and worth it.
    pub fn load(&self, key: &Key, program: &Program, layout: &Layout, device: &GraphDevice) -> Found {
        let Some(about) = About::read(&key.folder, &key.text) else {
            return Found::Nothing;
        };
        if !scratch::is_there_room_for_loaded() {
            return Found::Unwanted;
        }
        let Some(mut turn) = Turn::take(&key.folder, about.compile_time) else {
            return Found::Unwanted;
        };
        // To wait for the turns of other processes is no part of it.
        let start = Instant::now();
        let package = key.folder.join(PACKAGE);
        if !about.is_whole(&package) {
            return Found::Nothing;
        }
        let fed = program.fed_types(layout);
        let shaped = |ty: &TensorType| ShapedType::new(&ty.shape, stored(ty.dtype));
        let inputs: Vec<ShapedType> = about.feed_order.iter().map(|&at| shaped(&fed[at])).collect();
        turn.begin();
        let Some(executable) = Executable::of_package(&package, device, &inputs, key.level) else {
            // It is whole, so the next process would get nothing either. Who waits for its turn finds nothing then.
            drop(turn);
            let _ = room::remove(&key.folder);
            return Found::Nothing;
        };
        let first = FirstEncode::of_loaded(&key.folder, start.elapsed());
        let compiled = Compiled {
            fed,
            executable,
            feed_order: about.feed_order,
            layout: layout.clone(),
            target_order: about.target_order,
            results: about.results,
            scratch_bytes: program.inner_bytes(),
        };
        Found::Loaded(compiled, first)
    }

    /// Keeps a program that took so long to compile; if it is kept, its first encode belongs to that. The first failure
    /// is written to stderr.
    pub fn keep(&self, key: &Key, compiled: &Compiled, compile_time: Duration) -> Option<FirstEncode> {
        let outcome = self.try_keep(key, compiled, compile_time);
        if let Err(error) = &outcome
            && !self.warned.swap(true, Ordering::Relaxed)
        {
            say!("burn-mpsgraph: programs are not kept in {}: {error}", self.folder.display());
        }
        outcome.ok().map(|()| FirstEncode::of_compiled(&key.folder))
    }

    fn try_keep(&self, key: &Key, compiled: &Compiled, compile_time: Duration) -> io::Result<()> {
        self.room.ask()?;
        self.ended_writers.ask(&self.folder)?;
        [&self.folder, &c_library::temporary_folder()].into_iter().try_for_each(|disk| scratch::ask_for(disk, FREE))?;
        let number = self.written.fetch_add(1, Ordering::Relaxed);
        let mut fresh = Fresh::new(&self.folder, number)?;
        let scratch = Scratch::new(number)?;
        compiled.executable.write_package(&scratch.package());
        fresh.is_written();
        let package = fresh.path.join(PACKAGE);
        scratch.move_package(&package)?;
        let about = About {
            compile_time,
            feed_order: compiled.feed_order.clone(),
            target_order: compiled.target_order.clone(),
            results: compiled.results.clone(),
            files: about::files(&package)?,
        };
        about.write(&fresh.path, &key.text)?;
        // Who removes a program locks its notes first, also before anybody has loaded it.
        turn::open(&fresh.path)?;
        self.room.make(&self.folder, self.most_bytes, &fresh.path)?;
        if fs::rename(&fresh.path, &key.folder).is_ok() {
            return Ok(());
        }
        // Another process may have been faster.
        if About::read(&key.folder, &key.text).is_some_and(|about| about.is_whole(&key.folder.join(PACKAGE))) {
            return Ok(());
        }
        room::remove(&key.folder)?;
        fs::rename(&fresh.path, &key.folder)
    }
}
