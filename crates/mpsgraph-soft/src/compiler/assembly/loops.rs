//! Makes one loop of the operations of a group: one pass over memory, in which values that only the group needs stay in
//! registers.

use super::Assembler;
use crate::compiler::fusion;
use crate::compiler::step::Step;
use crate::compiler::views::{LoopOp, View, packed_strides};
use crate::ir::{DType, ElementwiseOp, ValueId};
use crate::kernels::elementwise::load::Geometry;
use crate::kernels::elementwise::{LoopBuilder, Register};
use crate::kernels::storage::Storage;
use crate::kernels::transpose::TILE;
use crate::prefetch::LINE;
use std::collections::HashMap;

/// If neighbours of an operand are in different cache lines and it has so many elements, a copy by tiles reorders it
/// first, provided that it has a tile: so many neighbours along an axis, and elements side by side along another.
const REORDERED: usize = 1 << 11;

/// What a loop reads.
#[derive(Default)]
struct Operands {
    /// The memory of each, in the order of their numbers.
    storages: Vec<Storage>,
    /// The other way round.
    numbers: HashMap<Storage, usize>,
    /// What is in a register already: a view of one of them, as elements of a type.
    loaded: HashMap<(View, DType), Register>,
}

impl Operands {
    /// The number of the operand in this memory.
    fn number(&mut self, storage: Storage) -> usize {
        *self.numbers.entry(storage).or_insert_with(|| {
            self.storages.push(storage);
            self.storages.len() - 1
        })
    }
}

impl Assembler<'_> {
    /// One loop for operations that belong together.
    pub(super) fn fused(&mut self, members: &[(ValueId, LoopOp)]) {
        if let &[(only, LoopOp::Reorder)] = members {
            return self.reread(only);
        }
        let nodes = &self.job.nodes;
        let shape = self.ty(members.last().expect("a group has members").0).shape.clone();
        let mut builder = LoopBuilder::new(shape.iter().product());
        let mut registers: HashMap<ValueId, Register> = HashMap::new();
        let (mut operands, mut outputs, mut names) = (Operands::default(), Vec::new(), Vec::new());
        for &(id, op) in members {
            let node = nodes.node(id);
            let mut sources = Vec::with_capacity(3);
            for (view, &input) in fusion::operands(nodes, self.views, id).into_iter().zip(&node.inputs) {
                let dtype = nodes.ty(input).dtype;
                let inside = registers.get(&view.root).copied();
                sources.push(inside.unwrap_or_else(|| self.load(&mut builder, &mut operands, view, dtype)));
            }
            let (value, name) = match op {
                LoopOp::Reorder => (sources[0], "Reshape".to_owned()),
                LoopOp::Compute(op) => {
                    let from = nodes.ty(node.inputs[0]).dtype;
                    (compute(&mut builder, op, from, node.output.dtype, &sources), op.name())
                }
            };
            registers.insert(id, value);
            names.push(name);
            if self.stored.contains(&id) {
                builder.store(node.output.dtype, value);
                outputs.push(self.made(id));
            }
        }
        let operands = operands.storages;
        self.out.steps.push(Step::Loop { run: builder.finish(), operands, outputs, names, shape });
    }

    /// The register of an operand from outside of the group.
    fn load(&mut self, builder: &mut LoopBuilder, operands: &mut Operands, view: View, dtype: DType) -> Register {
        let loaded = (view, dtype);
        if let Some(&register) = operands.loaded.get(&loaded) {
            return register;
        }
        let view = &loaded.0;
        let mut geometry = Geometry::new(view.offset, &view.shape, &view.strides);
        let mut storage = self.root(view.root);
        let is_far = geometry.step().unsigned_abs() * dtype.size() >= LINE;
        let has_tiles = geometry.run() >= TILE && geometry.has_run_of(TILE);
        let once = view.once();
        if is_far && has_tiles && once.elements() >= REORDERED {
            storage = self.packed_copy(&once, dtype.size());
            geometry = Geometry::new(0, &view.shape, &view.repeating(packed_strides(&once.shape)));
        }
        let register = builder.load(operands.number(storage), dtype, geometry);
        operands.loaded.insert(loaded, register);
        register
    }
}

/// `op` as instructions; the first operand is of the dtype `from`, the value of the dtype `to`.
fn compute(builder: &mut LoopBuilder, op: ElementwiseOp, from: DType, to: DType, x: &[Register]) -> Register {
    match op {
        ElementwiseOp::Unary(op) => builder.unary(op, from, x[0]),
        ElementwiseOp::Binary(op) => builder.binary(op, from, x[0], x[1]),
        ElementwiseOp::Select => builder.select(to, x[0], x[1], x[2]),
        ElementwiseOp::Clamp => builder.clamp(from, x[0], x[1], x[2]),
        ElementwiseOp::Cast => builder.cast(from, to, x[0]),
    }
}
