//! A fused group as instructions on tiles: what [`super::loop_builder`] makes and [`super::run`] executes.
//!
//! A tile is a part of the loop's elements, so short that what all instructions make of it stays in the first cache. A
//! value is in the arena, where a load finds it, or in an output ([`Place`]). [`shape_tiles`] chooses how long tiles
//! are: as long as the cache allows, and within rows where operands are then read in place.

use super::load::Geometry;
use super::pairs::Role;
use super::stepped::{Form, SteppedFn};
use super::tile::TileFn;

/// Where a value is while a tile is worked on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In the arena, behind so many bytes per element.
    Tile(usize),
    /// Where a load finds it.
    Load(usize),
    /// In the memory of an output, straight away.
    Output(usize),
}

/// How a load gets its elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fetch {
    /// They are consecutive: read in place.
    Direct,
    /// They are the same for every tile: gathered before the first.
    Once,
    /// All of a tile are one number, of which a block is made.
    Number,
    /// Gathered for each tile, or read in place where they happen to be consecutive.
    Each,
}

#[derive(Clone, Debug)]
pub(super) struct Load {
    pub operand: usize,
    pub size: usize,
    pub geometry: Geometry,
    pub fetch: Fetch,
    pub register: usize,
    /// Arena place for gathered elements, or number of the block.
    pub buffer: usize,
    /// What makes an f32 of the number of a block.
    pub widen: Option<TileFn>,
}

/// The loop of an instruction.
#[derive(Clone, Copy, Debug)]
pub(super) enum Run {
    /// Over whole tiles.
    Tile(TileFn),
    /// Over blocks of what the form says.
    Stepped(SteppedFn, Form),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Instruction {
    pub run: Run,
    pub dst: usize,
    pub src: [usize; 3],
    /// What it may be in a pair.
    pub role: Option<Role>,
}

impl Instruction {
    /// What it reads, does and writes, if it is a step or a pair of them.
    pub fn form(&self) -> Option<Form> {
        match (self.run, self.role) {
            (Run::Stepped(_, form), _) => Some(form),
            (Run::Tile(_), Some(Role::Step(step))) => Some(Form::of(step)),
            (Run::Tile(_), _) => None,
        }
    }
}

impl Load {
    /// Whether its elements may be copied to a tile.
    pub fn is_gathered(&self) -> bool {
        match self.fetch {
            Fetch::Direct | Fetch::Number => false,
            Fetch::Once | Fetch::Each => true,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Output {
    pub size: usize,
    pub register: usize,
    /// Whether it is made in a tile and copied past the caches.
    pub past_caches: bool,
}

/// A fused elementwise loop.
#[derive(Debug)]
pub struct FusedLoop {
    pub(super) elements: usize,
    pub(super) loads: Vec<Load>,
    pub(super) instructions: Vec<Instruction>,
    pub(super) outputs: Vec<Output>,
    pub(super) places: Vec<Place>,
    /// Longest tile.
    pub(super) tile: usize,
    /// Elements between places in the arena.
    pub(super) capacity: usize,
    /// Tiles do not cross multiples of this.
    pub(super) row: usize,
    /// Bytes of the arena: tiles, then blocks.
    pub(super) arena_bytes: usize,
    pub(super) tile_bytes: usize,
    /// Estimated time for one element in units of 0.05 ns.
    pub(super) cost: usize,
}

impl FusedLoop {
    /// Writes an output past the caches, because who reads it next will not find it there. Asked for once.
    pub fn write_past_caches(&mut self, output: usize) {
        let Output { size, register, past_caches } = &mut self.outputs[output];
        *past_caches = true;
        self.places[*register] = Place::Tile(self.tile_bytes / self.capacity);
        self.tile_bytes += self.capacity * *size;
        self.arena_bytes += self.capacity * *size;
    }
}

/// Arena bytes that stay in a first-level cache of 32 KiB beside the streams.
const ARENA_TARGET: usize = 20 * 1024;
/// Bytes of operands and outputs that stay there beside an arena until the last instruction has read them, while those
/// of the next tile are read ahead.
const BESIDE_ARENA: usize = 12 * 1024;
/// Rows at least this long get tiles of their own: the strided operands can then mostly be read in place.
const LONG_ROW: usize = 128;

/// Bytes of operands and outputs that a tile goes through; more elements than [`USUAL`] only up to here.
const STREAM_TARGET: usize = 24 * 1024;
const USUAL: usize = 1024;

/// The row that tiles stay within because operands change their course at its end, if it is long enough.
pub(super) fn long_row(loads: &[Load]) -> Option<usize> {
    let strided = || loads.iter().filter(|load| load.fetch == Fetch::Each);
    let row = strided().map(|load| load.geometry.run()).min().filter(|&row| row >= LONG_ROW)?;
    strided().all(|load| load.geometry.run().is_multiple_of(row)).then_some(row)
}

/// Tile length, and the row that tiles stay within, for so many bytes of the arena and of the outputs per element, if
/// [`long_row`] is `row`.
pub(super) fn shape_tiles(
    elements: usize,
    [arena, outputs]: [usize; 2],
    row: Option<usize>,
    loads: &mut [Load],
) -> (usize, usize) {
    // A tile of copies of a number is read beside them, too, and filled before.
    let streamed = loads.iter().filter(|load| matches!(load.fetch, Fetch::Direct | Fetch::Once)).map(|load| load.size);
    let streams = outputs + streamed.sum::<usize>();
    let longest = (STREAM_TARGET / streams.max(1)).clamp(USUAL, 8 * USUAL);
    let target = match arena {
        0 => longest,
        _ => (ARENA_TARGET / arena).min(BESIDE_ARENA / streams.max(1)).clamp(128, longest),
    };
    let target = target / 64 * 64;
    let strided = || loads.iter().filter(|load| load.fetch == Fetch::Each);
    // What is the same for every tile need not be in rows, and longer tiles take less time.
    let is_repeated = |load: &Load| load.geometry.period().is_some_and(|period| period <= target);
    let has_row_numbers = loads.iter().any(|load| load.fetch == Fetch::Number && !load.geometry.is_scalar());
    if let Some(row) = row.filter(|_| has_row_numbers || !strided().all(is_repeated)) {
        return (row.div_ceil(row.div_ceil(target)), row);
    }
    let period = strided().filter_map(|load| load.geometry.period()).filter(|&period| period <= target).max();
    let tile = period.map_or(target, |period| target / period * period);
    for load in loads.iter_mut().filter(|load| load.fetch == Fetch::Each) {
        if load.geometry.period().is_some_and(|period| tile.is_multiple_of(period)) {
            load.fetch = Fetch::Once;
        }
    }
    (tile, elements.max(1))
}
