//! Runs a [`FusedLoop`]: tile after tile, on several threads if the work pays for waking them.
//!
//! [`FusedLoop::run`] works on whole operands and outputs, [`FusedLoop::run_rows`] on parts of them for a caller that
//! takes some rows through several steps. Both check the memory and then trust it: for each tile the loads say where
//! their elements are, or gather them into this thread's arena, and each instruction goes over the whole tile before
//! the next one does. So values between instructions stay in the first cache.

use super::fused_loop::{Fetch, FusedLoop, Load, Place, Run};
use super::single_numbers::Block;
use crate::kernels::block::Line;
use crate::kernels::non_temporal;
use crate::kernels::span::{Span, SpanMut};
use crate::kernels::threads::{self, Worth};
use crate::prefetch::prefetch;
use std::cell::RefCell;
use std::ops::Range;

/// Units of 0.05 ns. Work of less than 10 µs stays on one thread: memory that only one core has in its cache has to get
/// to the other.
const COMPUTED: Worth = Worth { awake: 200_000, woken: 600_000 };
/// Least work of a piece.
const PIECE_WORK: usize = COMPUTED.woken / 2;

/// A loop of so many instructions is at each operand for a small part of its time only.
const LONG: usize = 4;
/// Operands of more elements than this are in memory, not in the cache of a core.
const FAR: usize = 1 << 18;

/// Tiles and addresses of a thread, kept so that running allocates nothing.
pub struct Arena {
    lines: Vec<Line>,
    places: Vec<*mut u8>,
    /// Of the loads, then of the outputs.
    bases: Vec<*mut u8>,
}

thread_local! {
    pub static ARENA: RefCell<Arena> =
        const { RefCell::new(Arena { lines: Vec::new(), places: Vec::new(), bases: Vec::new() }) };
}

/// The memory of an operand or an output, from its element number `first` on.
#[derive(Clone, Copy, Debug)]
pub struct Part<S> {
    pub span: S,
    pub first: usize,
}

/// Where element 0 is, of what each load reads and of each output, whose elements have the size that is given; it may
/// lie before the memory. Each is asked for once.
type Origins<'a> = (&'a dyn Fn(&Load) -> *mut u8, &'a dyn Fn(usize, usize) -> *mut u8);

impl FusedLoop {
    /// Number of elements.
    pub fn elements(&self) -> usize {
        self.elements
    }

    /// Number of instructions.
    pub fn instructions(&self) -> usize {
        self.instructions.len()
    }

    /// Reads `operands` as the loads say and writes every element of the packed `outputs`.
    ///
    /// Panics if an operand is too short, an output is not exactly as long as the loop, or one is misaligned.
    pub fn run(&self, operands: &[Span], outputs: &mut [SpanMut]) {
        for load in &self.loads {
            let span = operands[load.operand];
            assert!(load.geometry.end() * load.size <= span.len(), "operand {} is too short", load.operand);
            assert!(span.as_ptr().addr().is_multiple_of(load.size), "operand {} is misaligned", load.operand);
        }
        assert_eq!(outputs.len(), self.outputs.len(), "number of outputs");
        for (output, span) in self.outputs.iter().zip(&*outputs) {
            assert_eq!(span.len(), self.elements * output.size, "bytes of an output");
            assert!(span.as_ptr().addr().is_multiple_of(output.size), "an output is misaligned");
        }
        let operand = |load: &Load| operands[load.operand].as_ptr().cast_mut();
        let output = |at: usize, _| outputs[at].as_ptr();
        let work = self.elements.saturating_mul(self.cost);
        // SAFETY: all of the operands and outputs are there, aligned and long enough (checked above).
        let run = |range: Range<usize>| unsafe { self.run_part((&operand, &output), range) };
        if !COMPUTED.is_met(work) || threads::count() == 1 {
            return run(0..self.elements);
        }
        let piece = self.elements.div_ceil(threads::pieces(work, PIECE_WORK)).next_multiple_of(self.tile);
        threads::for_each(self.elements.div_ceil(piece), 1, &|at| {
            run(at * piece..((at + 1) * piece).min(self.elements));
        });
    }

    /// Computes the elements of `range`, which begins where [`divides_at`](Self::divides_at) allows it, of operands and
    /// outputs of which there may be only a part. What is not read in order must be there from its beginning.
    ///
    /// Panics if a part is too short or misaligned.
    pub fn run_rows(
        &self,
        operand: impl Fn(usize) -> Part<Span>,
        output: impl Fn(usize) -> Part<SpanMut>,
        range: Range<usize>,
    ) {
        assert!(range.end <= self.elements, "{range:?} of {} elements", self.elements);
        let in_order = |first: usize| (first <= range.start).then(|| range.end - first);
        let check = |elements: Option<usize>, size: usize, (start, bytes): (*mut u8, usize)| {
            let is_there = elements.is_some_and(|elements| elements * size <= bytes);
            assert!(is_there && start.addr().is_multiple_of(size), "elements {range:?} have other memory");
        };
        let operand = |load: &Load| {
            let Part { span, first } = operand(load.operand);
            let elements = if is_in_order(load) { in_order(first) } else { (first == 0).then(|| load.geometry.end()) };
            let start = span.as_ptr().cast_mut();
            check(elements, load.size, (start, span.len()));
            start.wrapping_sub(first * load.size)
        };
        let output = |at: usize, size: usize| {
            let Part { span, first } = output(at);
            check(in_order(first), size, (span.as_ptr(), span.len()));
            span.as_ptr().wrapping_sub(first * size)
        };
        // SAFETY: all elements of the range are there, and what is read out of order is whole (checked where each
        // pointer is taken, before anything runs).
        unsafe { self.run_part((&operand, &output), range.clone()) }
    }

    /// Whether a part can begin at each multiple of this many elements.
    pub fn divides_at(&self, part: usize) -> bool {
        let mut once = self.loads.iter().filter(|load| load.fetch == Fetch::Once);
        let is_whole = |period: usize| part.is_multiple_of(period);
        once.all(|load| load.geometry.is_scalar() || load.geometry.period().is_some_and(is_whole))
    }

    /// Whether an operand of so many bytes is read in the order of its elements.
    pub fn reads_in_order(&self, operand: usize, bytes: usize) -> bool {
        self.loads_of(operand).all(|load| is_in_order(load) && self.elements * load.size == bytes)
    }

    /// Whether an operand of so many bytes has one element for each of so many rows.
    pub fn reads_one_for_each_of(&self, operand: usize, rows: usize, bytes: usize) -> bool {
        self.loads_of(operand).all(|load| load.geometry.is_one_for_each_of(rows) && rows * load.size == bytes)
    }

    fn loads_of(&self, operand: usize) -> impl Iterator<Item = &Load> {
        self.loads.iter().filter(move |load| load.operand == operand)
    }

    /// Bytes of an output.
    pub fn output_bytes(&self, output: usize) -> usize {
        self.elements * self.outputs[output].size
    }

    /// Runs the elements of `range`, which begins at a multiple of the tile length, or where
    /// [`divides_at`](Self::divides_at) allows it.
    ///
    /// # Safety
    /// What the loads read for these elements must be there, and room for them in the outputs, all aligned, and written
    /// by nobody else meanwhile.
    unsafe fn run_part(&self, origins: Origins<'_>, range: Range<usize>) {
        ARENA.with_borrow_mut(|arena| {
            let lines = self.arena_bytes.div_ceil(64);
            if arena.lines.len() < lines {
                arena.lines.resize(lines, Line::ZEROS);
            }
            arena.places.clear();
            arena.places.resize(self.places.len(), std::ptr::null_mut());
            let (operand, output) = origins;
            arena.bases.clear();
            arena.bases.extend(self.loads.iter().map(|load| {
                let is_direct = load.fetch == Fetch::Direct;
                let skipped = if is_direct { load.geometry.offset() * load.size } else { 0 };
                operand(load).wrapping_add(skipped)
            }));
            arena.bases.extend(self.outputs.iter().enumerate().map(|(at, written)| output(at, written.size)));
            let tiles: *mut u8 = arena.lines.as_mut_ptr().cast();
            // SAFETY: `bases` are what the caller vouches for, in the order of loads and outputs; `lines` has
            // `arena_bytes` and is this thread's, as the arena stays borrowed.
            unsafe { self.run_tiles(&arena.bases, range, tiles, &mut arena.places) };
        });
    }

    /// Runs a part tile after tile.
    ///
    /// # Safety
    /// As for [`run_part`](Self::run_part), where `bases` point to the loads' operands and the outputs. `arena` has
    /// `arena_bytes`, aligned as a [`Block`], which nobody else uses.
    unsafe fn run_tiles(&self, bases: &[*mut u8], range: Range<usize>, arena: *mut u8, places: &mut [*mut u8]) {
        let (operands, outputs) = bases.split_at(self.loads.len());
        let at = |offset: usize| arena.wrapping_add(offset * self.capacity);
        for (place, pointer) in self.places.iter().zip(places.iter_mut()) {
            if let Place::Tile(offset) = *place {
                *pointer = at(offset);
            }
        }
        let blocks: *mut Block = arena.wrapping_add(self.tile_bytes).cast();
        // SAFETY: as for this function.
        unsafe { self.load_once(operands, arena, blocks, places) };
        let reads_ahead = self.instructions.len() >= LONG && self.elements > FAR;
        let mut start = range.start;
        while start < range.end {
            let n = self.tile.min(range.end - start).min(self.row - start % self.row);
            // SAFETY: as for this function; `n` is at most the capacity.
            unsafe { self.load_tile(operands, start..start + n, arena, blocks, places) };
            for (output, base) in self.outputs.iter().zip(outputs).filter(|(output, _)| !output.past_caches) {
                places[output.register] = base.wrapping_add(start * output.size);
            }
            let is_last = start + n >= range.end;
            for (turn, instruction) in self.instructions.iter().enumerate() {
                if reads_ahead && !is_last {
                    self.read_ahead(operands, start + n, turn);
                }
                let src = instruction.src.map(|register| places[register].cast_const());
                let dst = places[instruction.dst];
                // SAFETY: sources are loads (as for this function) or values made by earlier instructions, with `n`
                // elements each, or blocks of numbers; the destination is an output's own part or a tile that no
                // source is in (`LoopBuilder::finish`); the builder matched types and loops.
                unsafe {
                    match instruction.run {
                        Run::Tile(run) => run(dst, src, n),
                        Run::Stepped(run, ref form) => run(dst, src, form, n),
                    }
                }
            }
            for (output, base) in self.outputs.iter().zip(outputs).filter(|(output, _)| output.past_caches) {
                let to = base.wrapping_add(start * output.size);
                // SAFETY: a tile of its own holds the elements, and the output has room for them, which nobody reads
                // before the fence below.
                unsafe { non_temporal::copy(places[output.register], to, n * output.size) };
            }
            start += n;
        }
        if self.outputs.iter().any(|output| output.past_caches) {
            non_temporal::fence();
        }
    }

    /// Asks for this instruction's share of what the tile from `start` on reads in order. Only the first instructions
    /// of a tile walk over the operands, so the processor does not foresee the next tile; and they would wait if all of
    /// it were asked for at once.
    fn read_ahead(&self, operands: &[*mut u8], start: usize, instruction: usize) {
        for (load, &base) in self.loads.iter().zip(operands).filter(|(load, _)| load.fetch == Fetch::Direct) {
            let share = (self.tile * load.size).div_ceil(self.instructions.len());
            prefetch(base.wrapping_add(start * load.size + instruction * share), share);
        }
    }

    /// Fetches what is the same for all tiles, and says where it is and where the blocks of single numbers are.
    ///
    /// # Safety
    /// As for [`run_tiles`](Self::run_tiles); `blocks` is the part of the arena behind its tiles.
    unsafe fn load_once(&self, operands: &[*mut u8], arena: *mut u8, blocks: *mut Block, places: &mut [*mut u8]) {
        for (load, &base) in self.loads.iter().zip(operands) {
            match load.fetch {
                Fetch::Once => {
                    let tile = arena.wrapping_add(load.buffer * self.capacity);
                    let elements = self.tile.min(self.elements);
                    // SAFETY: the operand is there; the arena has `capacity` elements of this size at `buffer`, which
                    // no other value uses.
                    let from = unsafe { load.geometry.fetch(load.size, base, 0, elements, tile) };
                    places[load.register] = from.cast_mut();
                }
                Fetch::Number => {
                    places[load.register] = blocks.wrapping_add(load.buffer).cast();
                    if load.geometry.is_scalar() {
                        // SAFETY: the operand is there, and the arena has the block.
                        unsafe { load.fill_block(base, 0, blocks) };
                    }
                }
                Fetch::Direct | Fetch::Each => (),
            }
        }
    }

    /// Fetches what each tile has its own of, for the elements of `tile`, and says where it is.
    ///
    /// # Safety
    /// As for [`load_once`](Self::load_once), which has run; `tile` has at most `capacity` elements, all of one row.
    unsafe fn load_tile(
        &self,
        operands: &[*mut u8],
        tile: Range<usize>,
        arena: *mut u8,
        blocks: *mut Block,
        places: &mut [*mut u8],
    ) {
        for (load, &base) in self.loads.iter().zip(operands) {
            match load.fetch {
                Fetch::Once => (),
                Fetch::Number if load.geometry.is_scalar() => (),
                // SAFETY: the operand is there, and the arena has the block.
                Fetch::Number => unsafe { load.fill_block(base, tile.start, blocks) },
                Fetch::Direct => places[load.register] = base.wrapping_add(tile.start * load.size),
                Fetch::Each => {
                    let to = arena.wrapping_add(load.buffer * self.capacity);
                    // SAFETY: the operand is there; the arena has `capacity` elements of this size at `buffer`, which
                    // no other value uses.
                    let from = unsafe { load.geometry.fetch(load.size, base, tile.start, tile.len(), to) };
                    places[load.register] = from.cast_mut();
                }
            }
        }
    }
}

/// Whether element `i` of the loop reads element `i` of the operand.
fn is_in_order(load: &Load) -> bool {
    load.fetch == Fetch::Direct && load.geometry.offset() == 0
}
