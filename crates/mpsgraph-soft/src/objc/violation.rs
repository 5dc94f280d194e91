//! Reports of misuse: a panic that names the receiver's class and the selector.
//!
//! Apple's frameworks abort, throw or compute nonsense where this runtime panics, so a violation is a bug of the
//! sender. The panic unwinds through the message send to the caller. Before it, the exception preprocessor gets the
//! text, as Apple's runtime gives it each exception that is raised.

use std::cell::Cell;
use std::ffi::c_void;
use std::fmt;
use std::sync::Mutex;

use super::{Id, Sel, Strong, pool};
use crate::ignore_poison::IgnorePoison;

/// `objc_exception_preprocessor`: gets an exception and gives back the one to raise in its place.
pub type Preprocessor = unsafe extern "C-unwind" fn(*mut c_void) -> *mut c_void;

/// The preprocessor, and what makes an exception of a text for it.
#[derive(Clone, Copy)]
struct Shown {
    to: Preprocessor,
    as_exception: fn(&str) -> Strong,
}

static SHOWN: Mutex<Option<Shown>> = Mutex::new(None);

/// Sets the preprocessor, and gives back the one before.
pub(crate) fn set_preprocessor(
    function: Option<Preprocessor>,
    as_exception: fn(&str) -> Strong,
) -> Option<Preprocessor> {
    let shown = function.map(|to| Shown { to, as_exception });
    let before = std::mem::replace(&mut *SHOWN.lock().ignore_poison(), shown);
    before.map(|shown| shown.to)
}

/// Shows an exception with this reason to the preprocessor. What that gives back is not raised: a panic is.
fn preprocess(reason: &str) {
    thread_local!(static INSIDE: Cell<bool> = const { Cell::new(false) });
    let shown = *SHOWN.lock().ignore_poison();
    if let Some(Shown { to, as_exception }) = shown
        && !INSIDE.replace(true)
    {
        // SAFETY: whoever set it promises that it takes any exception, which lives until it returns.
        pool(|| _ = unsafe { to(as_exception(reason).id().as_ptr()) });
        INSIDE.set(false);
    }
}

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
    let text = format!("{sign}[{} {}]: {message}", this.class_name(), cmd.name());
    preprocess(&text);
    panic!("{text}")
}
