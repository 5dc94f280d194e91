//! Reports of misuse: a panic that names the receiver's class and the selector.
//!
//! Apple's frameworks abort, throw or compute nonsense where this runtime panics, so a violation is a bug of the
//! sender. The panic unwinds through the message send to the caller.

use std::fmt;

use super::{Id, Sel};

/// Panics with `-[Class selector]: message`, or `+[Class selector]: …` when the receiver is a class.
#[macro_export]
macro_rules! violation {
    ($this:expr, $cmd:expr, $($message:tt)+) => {
        $crate::objc::violation::report($this, $cmd, ::core::format_args!($($message)+))
    };
}

/// What [`violation!`](crate::violation!) calls.
#[track_caller]
#[cold]
#[inline(never)]
pub fn report(this: impl Into<Id>, cmd: Sel, message: fmt::Arguments<'_>) -> ! {
    let this: Id = this.into();
    let sign = if this.is_class() { '+' } else { '-' };
    panic!("{sign}[{} {}]: {message}", this.class_name(), cmd.name())
}
