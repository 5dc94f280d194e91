//! Which op a caller has called.
//!
//! Many ops are composed of recorded ones of other families, and those refuse what they are given by their own names
//! and shapes, of which the caller knows nothing. So an op that is composed says first what it was called with, and
//! [`Error::raise`] adds it to the text. Ops called inside change nothing: the outermost one is the caller's.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;

use burn_backend::DType;

use super::Error;

thread_local! {
    /// Whether the thread is inside of a call. By itself, because to look at it must not copy the other.
    static IS_CALLED: Cell<bool> = const { Cell::new(false) };
    static OUTERMOST: Cell<Called> = const { Cell::new(Called::without_operands("")) };
}

/// Operands that a text shows.
const OPERANDS: usize = 4;

/// Extents of an operand that a text shows.
const EXTENTS: usize = 6;

/// An op and what it was called with: all of it copied to where no operand has to outlive it, because a scope costs
/// every call and the text is for the few that fail.
#[derive(Clone, Copy)]
struct Called {
    op: &'static str,
    operands: [Operand; OPERANDS],
    /// How many operands there are; the text shows the first ones.
    count: usize,
}

#[derive(Clone, Copy)]
struct Operand {
    dtype: DType,
    rank: usize,
    extents: [usize; EXTENTS],
}

/// While it lives, what this thread refuses is told as a refusal of one op.
#[must_use]
pub(crate) struct Call {
    is_outermost: bool,
    /// It belongs to its thread.
    thread: PhantomData<*const ()>,
}

impl Call {
    /// Begins `op`, as Burn calls it, for operands of these dtypes and shapes.
    pub(crate) fn begin<'a>(op: &'static str, operands: impl IntoIterator<Item = (DType, &'a [usize])>) -> Self {
        let is_outermost = !IS_CALLED.replace(true);
        if is_outermost {
            OUTERMOST.set(Called::of(op, operands));
        }
        Self { is_outermost, thread: PhantomData }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if self.is_outermost {
            IS_CALLED.set(false);
        }
    }
}

impl Operand {
    const NONE: Self = Self { dtype: DType::F32, rank: 0, extents: [0; EXTENTS] };
}

impl Called {
    const fn without_operands(op: &'static str) -> Self {
        Self { op, operands: [Operand::NONE; OPERANDS], count: 0 }
    }

    #[inline]
    fn of<'a>(op: &'static str, operands: impl IntoIterator<Item = (DType, &'a [usize])>) -> Self {
        let mut called = Self::without_operands(op);
        for (dtype, shape) in operands {
            if let Some(place) = called.operands.get_mut(called.count) {
                (place.dtype, place.rank) = (dtype, shape.len());
                for (extent, &own) in place.extents.iter_mut().zip(shape) {
                    *extent = own;
                }
            }
            called.count += 1;
        }
        called
    }
}

impl fmt::Display for Called {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, operand) in self.operands.iter().take(self.count).enumerate() {
            let separator = if at == 0 { "" } else { ", " };
            let shown = &operand.extents[..operand.rank.min(EXTENTS)];
            write!(f, "{separator}{:?} {shown:?}", operand.dtype)?;
            if operand.rank > EXTENTS {
                write!(f, " and {} more axes", operand.rank - EXTENTS)?;
            }
        }
        if self.count > OPERANDS { write!(f, ", …") } else { Ok(()) }
    }
}

/// The error as one of the op that the caller has called.
pub(super) fn of_caller(error: Error) -> Error {
    if !IS_CALLED.get() {
        return error;
    }
    let called = OUTERMOST.get();
    let told = |inner: &'static str, reason: String| {
        if inner == called.op { reason } else { format!("{reason}; in {inner}, for operands {called}") }
    };
    let op = called.op;
    match error {
        Error::Invalid { op: inner, reason } => Error::Invalid { op, reason: told(inner, reason) },
        Error::Unsupported { op: inner, reason } => Error::Unsupported { op, reason: told(inner, reason) },
        Error::OutOfMemory { .. } | Error::Device { .. } | Error::Hang { .. } => error,
    }
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use super::*;

    fn refused(op: &'static str) -> Error {
        of_caller(Error::Invalid { op, reason: "no".into() })
    }

    #[test]
    fn the_outermost_call_is_named() {
        let _outer = Call::begin("outer", [(DType::F32, [2, 3].as_slice()), (DType::I32, [1; 7].as_slice())]);
        let inner = Call::begin("inner", []);
        let told = "outer: no; in add, for operands F32 [2, 3], I32 [1, 1, 1, 1, 1, 1] and 1 more axes";
        assert_eq!(refused("add").to_string(), told);
        drop(inner);
        assert_eq!(refused("add").to_string(), told);
        assert_eq!(refused("outer").to_string(), "outer: no");
    }

    #[test]
    fn a_call_that_panics_has_ended() {
        let result = catch_unwind(|| {
            let _call = Call::begin("outer", []);
            panic!("refused");
        });
        assert!(result.is_err());
        assert_eq!(refused("add").to_string(), "add: no");
    }
}
