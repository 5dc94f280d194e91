//! Runs a [`FusedLoop`]: tile after tile, on several threads if the work pays for waking them.

use super::fused_loop::{Fetch, FusedLoop, Place};
use crate::kernels::span::{Span, SpanMut};
use crate::kernels::threads;
use std::cell::RefCell;
use std::ops::Range;

/// Work below this many units of 0.05 ns, 30 µs, stays on one thread: waking another and waiting for it costs 5 to
/// 10 µs, and memory that only one core has in its cache has to get to the other.
const PARALLEL_WORK: usize = 600_000;

#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line(#[allow(dead_code, reason = "only its address is used")] [u8; 64]);

/// Tiles and addresses of a thread, kept so that running allocates nothing.
struct Arena {
    lines: Vec<Line>,
    places: Vec<*mut u8>,
}

thread_local! {
    static ARENA: RefCell<Arena> = const { RefCell::new(Arena { lines: Vec::new(), places: Vec::new() }) };
}

/// The memory of one run.
#[derive(Clone, Copy)]
struct Memory<'a> {
    operands: &'a [Span],
    outputs: &'a [SpanMut],
}

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
    pub fn run(&self, operands: &[Span], outputs: &[SpanMut]) {
        for load in &self.loads {
            let span = operands[load.operand];
            assert!(load.geometry.end() * load.size <= span.len(), "operand {} is too short", load.operand);
            assert!(span.as_ptr().addr().is_multiple_of(load.size), "operand {} is misaligned", load.operand);
        }
        assert_eq!(outputs.len(), self.outputs.len(), "number of outputs");
        for (output, span) in self.outputs.iter().zip(outputs) {
            assert_eq!(span.len(), self.elements * output.size, "bytes of an output");
            assert!(span.as_ptr().addr().is_multiple_of(output.size), "an output is misaligned");
        }
        let memory = Memory { operands, outputs };
        let work = self.elements.saturating_mul(self.cost);
        let threads = if work < PARALLEL_WORK { 1 } else { threads::count() };
        if threads == 1 {
            return self.run_range(memory, 0..self.elements);
        }
        let pieces = (2 * work / PARALLEL_WORK).clamp(2, 4 * threads);
        let piece = self.elements.div_ceil(pieces).next_multiple_of(self.tile);
        threads::for_each(self.elements.div_ceil(piece), 1, &|at| {
            self.run_range(memory, at * piece..((at + 1) * piece).min(self.elements));
        });
    }

    /// Runs the elements of `range`, whose start is a multiple of the tile length.
    fn run_range(&self, memory: Memory<'_>, range: Range<usize>) {
        ARENA.with_borrow_mut(|arena| {
            let lines = self.arena_bytes.div_ceil(64);
            if arena.lines.len() < lines {
                arena.lines.resize(lines, Line([0; 64]));
            }
            arena.places.clear();
            arena.places.resize(self.places.len(), std::ptr::null_mut());
            let base: *mut u8 = arena.lines.as_mut_ptr().cast();
            self.run_tiles(memory, range, base, &mut arena.places);
        });
    }

    fn run_tiles(&self, memory: Memory<'_>, range: Range<usize>, arena: *mut u8, places: &mut [*mut u8]) {
        let at = |offset: usize| arena.wrapping_add(offset * self.capacity);
        for (place, pointer) in self.places.iter().zip(places.iter_mut()) {
            if let Place::Tile(offset) = *place {
                *pointer = at(offset);
            }
        }
        for load in self.loads.iter().filter(|load| load.fetch == Fetch::Once) {
            let base = memory.operands[load.operand].as_ptr();
            // SAFETY: `run` checked the operand's length and alignment; the arena has `capacity` elements of this
            // size at `buffer`, which no other value uses.
            let from =
                unsafe { load.geometry.fetch(load.size, base, 0, self.tile.min(self.elements), at(load.buffer)) };
            places[load.register] = from.cast_mut();
        }
        let mut start = range.start;
        while start < range.end {
            let n = self.tile.min(range.end - start).min(self.row - start % self.row);
            for load in &self.loads {
                let base = memory.operands[load.operand].as_ptr();
                let from = match load.fetch {
                    Fetch::Once => continue,
                    Fetch::Direct => base.wrapping_add((load.geometry.offset() + start) * load.size),
                    // SAFETY: as for `Fetch::Once`; `n` is at most the capacity.
                    Fetch::Each => unsafe { load.geometry.fetch(load.size, base, start, n, at(load.buffer)) },
                };
                places[load.register] = from.cast_mut();
            }
            for (output, span) in self.outputs.iter().zip(memory.outputs) {
                places[output.register] = span.as_ptr().wrapping_add(start * output.size);
            }
            for instruction in &self.instructions {
                let src = instruction.src.map(|register| places[register].cast_const());
                // SAFETY: sources are loads (checked by `run`) or values made by earlier instructions, with `n`
                // elements each; the destination is an output's own part or a tile that no source is in
                // (`LoopBuilder::finish`); the builder matched types and loops.
                unsafe { (instruction.run)(places[instruction.dst], src, n) };
            }
            start += n;
        }
    }
}
