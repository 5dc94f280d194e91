//! The reduction of all elements of a value of which there is never more than a part in memory.
//!
//! Each block of elements has a result, and those are joined in halves, as [`fold_long`](super::fold_long) does it with
//! a segment that is longer than a block; so every bit is that of a reduction of the value in memory.

use super::fold::{BLOCK, join_blocks};
use super::in_order::{Anew, Special};
use super::{ReduceOp, divide, inner, quotient, settling};
use crate::ir::DType;
use bytemuck::{from_bytes, from_bytes_mut};

/// Truth values of a block that are looked at one by one: they mostly tell.
const FIRST: usize = 64;

/// Such a reduction of so many elements of a type.
#[derive(Clone, Copy, Debug)]
pub struct Total {
    pub op: ReduceOp,
    pub dtype: DType,
    pub count: usize,
}

impl Total {
    /// Bytes of the results of all blocks.
    pub fn parts_bytes(&self) -> usize {
        self.count.div_ceil(BLOCK) * self.dtype.size()
    }

    /// Reduces neighbouring blocks of elements, of which only the last of all may be shorter, to one of `parts` each.
    pub fn fold(&self, x: &[u8], parts: &mut [u8]) {
        let (inner, size) = (inner(self.op, self.dtype), self.dtype.size());
        assert_eq!(x.len().div_ceil(BLOCK * size) * size, parts.len(), "results of {} bytes", x.len());
        let settles = settling(self.op, self.dtype);
        for (x, part) in x.chunks(BLOCK * size).zip(parts.chunks_exact_mut(size)) {
            match settles.filter(|settles| x[..x.len().min(FIRST)].contains(settles)) {
                Some(settled) => part.fill(settled),
                None => inner.segment(x, part),
            }
        }
    }

    /// Joins the results of all blocks to `out`. If elements have to explain that, returns what takes them in.
    pub fn join(&self, parts: &mut [u8], out: &mut [u8]) -> Option<Anew> {
        join_blocks(&inner(self.op, self.dtype), self.count, parts);
        out.copy_from_slice(&parts[..out.len()]);
        if self.op == ReduceOp::Mean {
            divide(self.dtype, out, self.count);
        }
        let special = Special::of(self.op).filter(|_| self.dtype == DType::F32)?;
        let found = *from_bytes(out);
        special.is_among(&[found]).then(|| Anew::of(special, found))
    }

    /// Puts what has taken all elements in order to `out`.
    pub fn finish(&self, anew: Anew, out: &mut [u8]) {
        let folded = anew.folded();
        let result: &mut f32 = from_bytes_mut(out);
        *result = if self.op == ReduceOp::Mean { quotient(folded, self.count as f32) } else { folded };
    }
}
