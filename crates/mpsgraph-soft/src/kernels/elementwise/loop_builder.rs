//! Selects the instructions of a [`FusedLoop`].
//!
//! The builder knows what an operation means for a dtype: rounding 16-bit floats, bringing bool back to 0 or 1,
//! computing an integer's exponential in f32. It also decides which tile of the arena holds which value.

use super::fused_loop::{Fetch, FusedLoop, Instruction, Load, Output, Place, Run, long_row, shape_tiles};
use super::load::Geometry;
use super::pairs::{self, Role};
use super::recipe::{Function, Recipe};
use super::registers::Tiles;
use super::single_numbers::Block;
use super::tile::{IntType, TileFn, TileType, int_type, tile1};
use super::{float, half_floats, int, round, select, single_numbers};
use crate::ir::{BinaryOp, DType, UnaryOp};
use crate::kernels::cast;

/// Elements of a run below which copying it takes longer than a few vectors.
const SHORT: usize = 16;

/// A value of the loop under construction, and what a tile of it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Register {
    at: u32,
    ty: TileType,
}

/// Selects the instructions of a [`FusedLoop`].
#[derive(Debug)]
pub struct LoopBuilder {
    elements: usize,
    /// Bytes of an element of each value.
    sizes: Vec<usize>,
    /// Whether each value is an operand's or an output's element.
    outside: Vec<bool>,
    loads: Vec<Load>,
    instructions: Vec<Instruction>,
    outputs: Vec<Output>,
    cost: usize,
}

impl LoopBuilder {
    /// A loop over so many elements.
    pub fn new(elements: usize) -> Self {
        Self {
            elements,
            sizes: Vec::new(),
            outside: Vec::new(),
            loads: Vec::new(),
            instructions: Vec::new(),
            outputs: Vec::new(),
            cost: 0,
        }
    }

    /// Elements of operand number `operand`.
    pub fn load(&mut self, operand: usize, dtype: DType, geometry: Geometry) -> Register {
        assert_eq!(geometry.elements(), self.elements, "a load has as many elements as the loop");
        let halves = TileType::Int(IntType::U16);
        let widen = round::widen(dtype);
        let raw = self.register(if widen.is_some() { halves } else { TileType::of(dtype) });
        let fetch = if geometry.is_flat() {
            Fetch::Direct
        } else if geometry.is_scalar() {
            Fetch::Once
        } else {
            Fetch::Each
        };
        self.cost += match (fetch, geometry.step()) {
            (Fetch::Once, _) => 0,
            (Fetch::Each, 0 | 1) if geometry.run() < SHORT => 10,
            (_, 0 | 1) => dtype.size().div_ceil(4),
            _ => 10,
        };
        let register = raw.at as usize;
        self.outside[register] = true;
        self.loads.push(Load { operand, size: dtype.size(), geometry, fetch, register, buffer: 0, widen: None });
        match widen {
            Some(widen) => {
                let value = self.push(widen, TileType::F32, &[raw], 2);
                self.has_role(round::half_float(dtype).map(Role::Widen));
                value
            }
            None => raw,
        }
    }

    /// `op` of a value of `dtype`.
    pub fn unary(&mut self, op: UnaryOp, dtype: DType, x: Register) -> Register {
        let result = if op.is_test() { DType::Bool } else { dtype };
        let ty = TileType::of(result);
        self.check(dtype, [x]);
        // The complement of a bool is that of the truth value, not of the byte.
        let op = if dtype == DType::Bool && op == UnaryOp::BitNot { UnaryOp::Not } else { op };
        match TileType::of(dtype) {
            TileType::F32 => {
                let Function { run, cost, exact } = float::unary(op);
                let value = self.push(run, ty, &[x], cost);
                self.has_role(Role::of_unary(op, dtype));
                if exact { value } else { self.rounded(result, value) }
            }
            TileType::Int(of) => match int::unary(op, of) {
                Some(run) => {
                    let value = self.push(run, ty, &[x], 1);
                    // The complement of a bool is one.
                    if op == UnaryOp::Not { value } else { self.rounded(result, value) }
                }
                None => {
                    let wide = self.cast(dtype, DType::F32, x);
                    let value = self.unary(op, DType::F32, wide);
                    self.cast(DType::F32, dtype, value)
                }
            },
        }
    }

    /// `op` of two values of `dtype`.
    pub fn binary(&mut self, op: BinaryOp, dtype: DType, a: Register, b: Register) -> Register {
        self.check(dtype, [a, b]);
        // Bools are 0 or 1, so they are equal if their bytes are.
        let is_bool = dtype == DType::Bool;
        let same = [(BinaryOp::Xor, BinaryOp::NotEqual), (BinaryOp::Xnor, BinaryOp::Equal)];
        let op = same.into_iter().find(|&(of, _)| is_bool && of == op).map_or(op, |(_, same)| same);
        let is_truth = op.is_comparison() || is_bool && matches!(op, BinaryOp::And | BinaryOp::Or);
        let recipe = match TileType::of(dtype) {
            TileType::F32 => float::binary(op),
            TileType::Int(ty) => int::binary(op, ty),
        };
        match recipe {
            Recipe::Loop { run, cost } if is_truth => {
                let truth = self.push(run, TileType::of(DType::Bool), &[a, b], cost);
                self.has_role(Role::of_binary(op, dtype));
                truth
            }
            Recipe::Loop { run, cost } => {
                let value = self.push(run, TileType::of(dtype), &[a, b], cost);
                self.has_role(Role::of_binary(op, dtype));
                self.rounded(dtype, value)
            }
            Recipe::Swapped(op) => self.binary(op, dtype, b, a),
            Recipe::Complement(op) => {
                let value = self.binary(op, dtype, a, b);
                self.unary(UnaryOp::Not, dtype, value)
            }
            Recipe::InF32 => {
                let (a, b) = (self.cast(dtype, DType::F32, a), self.cast(dtype, DType::F32, b));
                let value = self.binary(op, DType::F32, a, b);
                self.cast(DType::F32, dtype, value)
            }
        }
    }

    /// `predicate ? a : b` for values of `dtype`.
    pub fn select(&mut self, dtype: DType, predicate: Register, a: Register, b: Register) -> Register {
        self.check(DType::Bool, [predicate]);
        self.check(dtype, [a, b]);
        let ty = TileType::of(dtype);
        let value = self.push(select::select(ty), ty, &[predicate, a, b], 1);
        self.has_role((ty == TileType::F32).then_some(Role::Select));
        value
    }

    /// `x` kept between two others, by `fmax`, then `fmin`.
    pub fn clamp(&mut self, dtype: DType, x: Register, min: Register, max: Register) -> Register {
        let x = self.binary(BinaryOp::Max, dtype, x, min);
        self.binary(BinaryOp::Min, dtype, x, max)
    }

    /// Conversion by value.
    pub fn cast(&mut self, from: DType, to: DType, x: Register) -> Register {
        self.check(from, [x]);
        if from == to {
            return x;
        }
        let (source, target) = (TileType::of(from), TileType::of(to));
        if to == DType::Bool {
            return self.push(cast::truth(source), target, &[x], 1);
        }
        let value = match cast::cast(source, target) {
            Some(run) => {
                let value = self.push(run, target, &[x], 2);
                self.has_role(Role::of_cast(source, target));
                value
            }
            // The same bits.
            None => Register { ty: target, ..x },
        };
        self.rounded(to, value)
    }

    /// Makes `x` output number `output`; outputs are numbered in the order of these calls.
    pub fn store(&mut self, dtype: DType, x: Register) -> usize {
        self.check(dtype, [x]);
        self.cost += dtype.size().div_ceil(4);
        let register = match round::narrow(dtype) {
            Some(narrow) => {
                let value = self.push(narrow, TileType::Int(IntType::U16), &[x], 2);
                self.has_role(round::half_float(dtype).map(Role::Narrow));
                value
            }
            None if self.outside[x.at as usize] => {
                let copy = int_type!(bits x.ty, T => tile1(|x: T| x));
                self.push(copy, x.ty, &[x], 1)
            }
            None => x,
        };
        self.outside[register.at as usize] = true;
        self.outputs.push(Output { size: dtype.size(), register: register.at as usize, past_caches: false });
        self.outputs.len() - 1
    }

    fn register(&mut self, ty: TileType) -> Register {
        self.sizes.push(ty.size());
        self.outside.push(false);
        Register { at: self.sizes.len() as u32 - 1, ty }
    }

    /// Panics unless these are values of `dtype`: a loop for `dtype` would read beyond the tile of a value with smaller
    /// elements. A register may come from another builder, so the size of this builder's value is compared as well.
    fn check<const N: usize>(&self, dtype: DType, registers: [Register; N]) {
        let ty = TileType::of(dtype);
        for register in registers {
            let is_of_type = register.ty == ty && self.sizes[register.at as usize] == ty.size();
            assert!(is_of_type, "{register:?} is no value of {dtype:?}");
        }
    }

    fn push(&mut self, run: TileFn, ty: TileType, src: &[Register], cost: usize) -> Register {
        let dst = self.register(ty);
        let at = |i: usize| src.get(i).unwrap_or(&src[0]).at as usize;
        let run = Run::Tile(run);
        self.instructions.push(Instruction { run, dst: dst.at as usize, src: [at(0), at(1), at(2)], role: None });
        self.cost += cost;
        dst
    }

    /// Says what the last instruction may be in a pair.
    fn has_role(&mut self, role: Option<Role>) {
        self.instructions.last_mut().expect("pushed").role = role;
    }

    /// A value that was computed in a tile, rounded to `dtype`.
    fn rounded(&mut self, dtype: DType, x: Register) -> Register {
        if dtype == DType::Bool {
            let ty = TileType::of(DType::Bool);
            return self.push(cast::truth(ty), ty, &[x], 1);
        }
        match round::round(dtype) {
            Some(round) => {
                let value = self.push(round, TileType::F32, &[x], 2);
                self.has_role(round::half_float(dtype).map(Role::Round));
                value
            }
            None => x,
        }
    }

    /// For each register the last instruction that reads it.
    fn last_uses(&self) -> Vec<usize> {
        let mut last_uses = vec![0; self.sizes.len()];
        for (at, instruction) in self.instructions.iter().enumerate() {
            instruction.src.iter().for_each(|&src| last_uses[src] = at);
        }
        last_uses
    }

    /// Joins instructions, chooses places for values, and then how long tiles are.
    pub fn finish(mut self) -> FusedLoop {
        let row = long_row(&self.loads);
        let blocks = self.join_instructions(row.is_some());
        let (places, bytes) = self.choose_places();
        let written = self.outputs.iter().map(|output| output.size).sum();
        let (tile, row) = shape_tiles(self.elements, [bytes, written], row, &mut self.loads);
        let capacity = tile.next_multiple_of(64);
        FusedLoop {
            elements: self.elements,
            places,
            loads: self.loads,
            instructions: self.instructions,
            outputs: self.outputs,
            tile,
            capacity,
            row,
            arena_bytes: capacity * bytes + blocks * size_of::<Block>(),
            tile_bytes: capacity * bytes,
            cost: self.cost,
        }
    }

    /// Makes one instruction of several where there is one that does the same in less time. Returns how many blocks the
    /// instructions read that are made of single numbers; if the loop `has_rows`, a number may be that of a row.
    fn join_instructions(&mut self, has_rows: bool) -> usize {
        // What an operation converts itself takes half of the time of a conversion.
        self.cost -= half_floats::join_roundings(&mut self.instructions, &self.outside);
        self.cost -= 2 * half_floats::join_selections(&mut self.instructions, &self.outside);
        pairs::join(&mut self.instructions, &self.outside);
        let blocks = single_numbers::find(&mut self.loads, &mut self.instructions, &self.outside, has_rows);
        self.cost -= half_floats::join_conversions(&mut self.instructions, &self.outside);
        blocks
    }

    /// The place of each value, and the bytes that all tiles have for an element. Loads that gather get theirs, too.
    fn choose_places(&mut self) -> (Vec<Place>, usize) {
        let mut places: Vec<Option<Place>> = vec![None; self.sizes.len()];
        for (at, output) in self.outputs.iter().enumerate() {
            places[output.register] = Some(Place::Output(at));
        }
        let mut tiles = Tiles::default();
        for (at, load) in self.loads.iter_mut().enumerate() {
            places[load.register] = Some(Place::Load(at));
            if load.is_gathered() {
                load.buffer = tiles.take(load.size);
            }
        }
        self.share_tiles(&mut places, &mut tiles);
        let (offsets, bytes) = tiles.offsets();
        self.loads.iter_mut().filter(|load| load.is_gathered()).for_each(|load| load.buffer = offsets[load.buffer]);
        let places = places.into_iter().map(|place| match place {
            Some(Place::Tile(slot)) => Place::Tile(offsets[slot]),
            Some(place) => place,
            // The first half of a pair: no instruction names it any more.
            None => Place::Tile(0),
        });
        (places.collect(), bytes)
    }

    /// Gives tiles to the values that have no place yet; a tile that no later instruction reads is given again.
    fn share_tiles(&self, places: &mut [Option<Place>], tiles: &mut Tiles) {
        let last_use = self.last_uses();
        for (at, instruction) in self.instructions.iter().enumerate() {
            let dst = instruction.dst;
            if places[dst].is_none() {
                places[dst] = Some(Place::Tile(tiles.take(self.sizes[dst])));
            }
            // An instruction may read a value twice, whose tile is free once.
            let mut src = instruction.src.to_vec();
            src.sort_unstable();
            src.dedup();
            for src in src.into_iter().filter(|&src| last_use[src] == at) {
                if let Some(Place::Tile(slot)) = places[src] {
                    tiles.free(slot);
                }
            }
        }
    }
}
