//! Memory of a thread for what a product makes on its way: f32, from the start of a cache line on, because vectors that
//! reach over the end of one take `gemm` twice as long to read.

use crate::kernels::block::Line;
use bytemuck::cast_slice_mut;

/// Numbers of a cache line.
const NUMBERS: usize = size_of::<Line>() / size_of::<f32>();

/// Bytes that a thread keeps.
const KEPT: usize = 32 << 20;

/// Memory that is kept, so that running allocates nothing.
#[derive(Default)]
pub struct Scratch(Vec<Line>);

impl Scratch {
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// It, to be kept for the next product; without its memory if that is much, as threads live for long.
    pub fn kept(self) -> Self {
        if size_of_val(&self.0[..]) > KEPT { Self::new() } else { self }
    }

    /// So many numbers each, of whatever value, one behind the other. Each begins with a cache line.
    pub fn parts<const N: usize>(&mut self, lengths: [usize; N]) -> [&mut [f32]; N] {
        let lines = lengths.map(|length| length.div_ceil(NUMBERS));
        let all: usize = lines.iter().sum();
        if self.0.len() < all {
            self.0.resize(all, Line::ZEROS);
        }
        let mut rest = &mut self.0[..];
        let mut parts = lines.map(|_| Default::default());
        for (part, (lines, length)) in parts.iter_mut().zip(lines.into_iter().zip(lengths)) {
            let (first, others) = rest.split_at_mut(lines);
            *part = &mut cast_slice_mut(first)[..length];
            rest = others;
        }
        parts
    }
}
