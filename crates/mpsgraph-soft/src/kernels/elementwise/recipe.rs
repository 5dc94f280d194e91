//! How tiles compute an operation: [`super::float`] and [`super::int`] give recipes, and the loop's builder follows
//! them.

use super::tile::TileFn;
use crate::ir::BinaryOp;

/// A function of one f32.
pub struct Function {
    pub run: TileFn,
    /// Estimated time for one element in units of 0.05 ns.
    pub cost: usize,
    /// Whether a 16-bit float holds the result if it holds the argument.
    pub exact: bool,
}

/// A function of two arguments.
pub enum Recipe {
    /// By a loop of its own; the cost as for [`Function`].
    Loop { run: TileFn, cost: usize },
    /// As another function of the exchanged arguments.
    Swapped(BinaryOp),
    /// As the logical complement of another function.
    Complement(BinaryOp),
    /// In f32, as a function that only makes sense for floats.
    InF32,
}

impl From<TileFn> for Recipe {
    /// A loop that takes no longer than moving its elements.
    fn from(run: TileFn) -> Self {
        Recipe::Loop { run, cost: 1 }
    }
}
