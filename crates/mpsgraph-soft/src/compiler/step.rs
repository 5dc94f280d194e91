//! The steps of a plan.

use super::rows::Rows;
use crate::ir::TensorType;
use crate::kernels::KernelOp;
use crate::kernels::elementwise::FusedLoop;
use crate::kernels::matmul::MatMul;
use crate::kernels::reduce::reach;
use crate::kernels::storage::{Access, Storage};

/// A strided copy; offsets and strides count elements.
#[derive(Debug)]
pub struct Copy {
    pub size: usize,
    pub from: Storage,
    pub offset: usize,
    pub shape: Vec<usize>,
    pub strides: Vec<isize>,
    pub to: Storage,
    pub to_offset: usize,
    pub to_strides: Vec<isize>,
}

/// Operand of a kernel: its memory, the byte at which it begins, its type, and how many elements are from one to the
/// next along each axis, if it is not packed.
#[derive(Debug)]
pub struct Operand {
    pub storage: Storage,
    pub offset: usize,
    pub ty: TensorType,
    pub strides: Option<Vec<usize>>,
}

impl Operand {
    /// Bytes from its first element to its last.
    pub fn bytes(&self) -> usize {
        let elements = self.strides.as_ref().map(|strides| reach(&self.ty.shape, strides));
        elements.map_or(self.ty.bytes(), |elements| elements * self.ty.dtype.size())
    }
}

/// One step.
#[derive(Debug)]
pub enum Step {
    /// A fused loop; the names of its operations are for the reader.
    Loop {
        run: FusedLoop,
        operands: Vec<Storage>,
        outputs: Vec<Storage>,
        names: Vec<String>,
        shape: Vec<usize>,
    },
    MatMul {
        product: MatMul,
        lhs: Storage,
        rhs: Storage,
        /// Of a rotation of the result.
        tables: Option<[Storage; 2]>,
        to: Storage,
    },
    Copy(Copy),
    /// Loops and reductions, some rows at a time.
    Rows(Rows),
    Kernel {
        op: KernelOp,
        /// The message that asked for it.
        method: &'static str,
        inputs: Vec<Operand>,
        to: Storage,
        ty: TensorType,
        /// The scratch memory of the kernel.
        scratch: Option<Storage>,
    },
}

impl Step {
    /// Memory that the step reads.
    pub fn reads(&self) -> Vec<Storage> {
        match self {
            Step::Loop { operands, .. } => operands.clone(),
            Step::MatMul { lhs, rhs, tables, .. } => {
                [*lhs, *rhs].into_iter().chain(tables.iter().flatten().copied()).collect()
            }
            Step::Copy(copy) => vec![copy.from],
            Step::Rows(rows) => rows.steps.iter().flat_map(Step::reads).collect(),
            Step::Kernel { inputs, .. } => inputs.iter().map(|input| input.storage).collect(),
        }
    }

    /// Memory that the step writes.
    pub fn writes(&self) -> Vec<Storage> {
        match self {
            Step::Loop { outputs, .. } => outputs.clone(),
            Step::MatMul { to, .. } => vec![*to],
            Step::Kernel { to, scratch, .. } => std::iter::once(*to).chain(*scratch).collect(),
            Step::Copy(copy) => vec![copy.to],
            Step::Rows(rows) => rows.steps.iter().flat_map(Step::writes).collect(),
        }
    }

    /// What it touches at the same time: rows are at any step of theirs.
    pub fn accesses(&self) -> Vec<Access> {
        match self {
            Step::Loop { .. } | Step::MatMul { .. } | Step::Copy(_) | Step::Kernel { .. } => {
                vec![Access { reads: self.reads(), writes: self.writes() }]
            }
            Step::Rows(rows) => rows.accesses(),
        }
    }

    /// The step as one line: what, of which shape, from where to where.
    pub fn describe(&self) -> String {
        let list = |of: Vec<Storage>| of.iter().map(Storage::to_string).collect::<Vec<_>>().join(", ");
        let what = match self {
            Step::Loop { names, shape, .. } => format!("loop {shape:?} {}", names.join(" ")),
            Step::MatMul { product, tables, .. } => {
                let (m, n, k, batch) = product.extents();
                let rotated = if tables.is_some() { " rotated" } else { "" };
                format!("matmul {batch} x [{m}, {n}, {k}]{rotated}")
            }
            Step::Copy(copy) => format!("copy {:?} strides {:?}", copy.shape, copy.strides),
            Step::Kernel { op, ty, .. } => format!("kernel {:?} {op:?}", ty.shape),
            Step::Rows(rows) => {
                let steps: Vec<String> = rows.steps.iter().map(Step::describe).collect();
                format!("{} rows of ({})", rows.count(), steps.join("; "))
            }
        };
        format!("{what}: {} -> {}", list(self.reads()), list(self.writes()))
    }
}
