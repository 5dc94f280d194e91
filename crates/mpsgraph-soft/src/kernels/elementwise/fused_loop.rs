//! A fused group as instructions on tiles: what [`super::loop_builder`] makes and [`super::run`] executes.

use super::load::Geometry;
use super::pairs::Half;
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
    /// Arena place for gathered elements.
    pub buffer: usize,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Instruction {
    pub run: TileFn,
    pub dst: usize,
    pub src: [usize; 3],
    /// What it may be in a pair.
    pub half: Option<Half>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Output {
    pub size: usize,
    pub register: usize,
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
    pub(super) arena_bytes: usize,
    /// Estimated time for one element in units of 0.05 ns.
    pub(super) cost: usize,
}

/// Arena bytes that stay in a first-level cache of 32 KiB beside the streams.
const ARENA_TARGET: usize = 20 * 1024;
/// Rows at least this long get tiles of their own: the strided operands can then mostly be read in place.
const LONG_ROW: usize = 128;

/// Bytes of operands and outputs that a tile goes through; more elements than [`USUAL`] only up to here.
const STREAM_TARGET: usize = 24 * 1024;
const USUAL: usize = 1024;

/// Tile length, and the row that tiles stay within, for so many bytes of the arena and of the outputs per element.
pub(super) fn shape_tiles(elements: usize, [arena, outputs]: [usize; 2], loads: &mut [Load]) -> (usize, usize) {
    let direct = loads.iter().filter(|load| load.fetch == Fetch::Direct).map(|load| load.size);
    let streams = outputs + direct.sum::<usize>();
    let longest = (STREAM_TARGET / streams.max(1)).clamp(USUAL, 8 * USUAL);
    let target = (ARENA_TARGET / arena.max(1)).clamp(128, longest) / 64 * 64;
    let strided = || loads.iter().filter(|load| load.fetch == Fetch::Each);
    if let Some(row) = strided().map(|load| load.geometry.run()).min() {
        let fits = |load: &Load| load.geometry.run().is_multiple_of(row);
        if row >= LONG_ROW && strided().all(fits) {
            return (row.div_ceil(row.div_ceil(target)), row);
        }
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
