//! Autorelease pools: one stack of references per thread, with a nil entry where each pool begins.
//!
//! The stack has no destructor, so autoreleasing still works inside other thread-local destructors; its memory is
//! freed when the outermost pool is popped. What a thread leaves in an open pool stays alive and shows up as a leak.

use std::cell::{Cell, UnsafeCell};
use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::Id;

thread_local! {
    static STACK: UnsafeCell<ManuallyDrop<Vec<Id>>> = const { UnsafeCell::new(ManuallyDrop::new(Vec::new())) };
    static THREAD: Cell<u32> = const { Cell::new(0) };
}

static THREADS: AtomicU32 = AtomicU32::new(1);
const FIRST_CAPACITY: usize = 64;

/// Runs `f` on this thread's stack; `f` must not call out, neither into this module nor to anything that may.
fn with_stack<R>(f: impl FnOnce(&mut Vec<Id>) -> R) -> R {
    STACK.with(|stack| {
        // SAFETY: the stack is this thread's own and no other borrow exists: the closures in this module only push,
        // pop and measure, and none of them runs foreign code.
        f(unsafe { &mut *stack.get() })
    })
}

/// A number for this thread, never 0. It makes a token of another thread recognisable.
fn thread() -> u32 {
    THREAD.with(|own| {
        if own.get() == 0 {
            own.set(THREADS.fetch_add(1, Relaxed));
        }
        own.get()
    })
}

/// Opens a pool; the token closes it.
pub(crate) fn push() -> *mut c_void {
    let depth = with_stack(|stack| {
        if stack.capacity() == 0 {
            stack.reserve(FIRST_CAPACITY);
        }
        stack.push(Id::NIL);
        stack.len()
    });
    let depth = u32::try_from(depth).expect("fewer than 2^32 autoreleased objects");
    std::ptr::without_provenance_mut((thread() as usize) << 32 | depth as usize)
}

/// Closes a pool and all that were opened after it, releasing what they hold, newest first.
#[track_caller]
pub(crate) fn pop(token: *mut c_void) {
    let (owner, depth) = (token.addr() >> 32, token.addr() & u32::MAX as usize);
    assert!(owner == thread() as usize, "objc_autoreleasePoolPop: the pool was opened by another thread");
    let begins_here = with_stack(|stack| depth.checked_sub(1).and_then(|at| stack.get(at)) == Some(&Id::NIL));
    assert!(begins_here, "objc_autoreleasePoolPop: the pool was popped before");
    // A release may run code that autoreleases more: that lands on top and is popped in turn.
    while let Some(id) = with_stack(|stack| (stack.len() >= depth).then(|| stack.pop()).flatten()) {
        // SAFETY: the reference was given to the pool (`add`), which has just taken it out of its stack.
        unsafe { id.release() };
    }
    with_stack(|stack| {
        if stack.is_empty() {
            *stack = Vec::new();
        }
    });
}

/// Puts a reference into the innermost pool.
///
/// # Safety
/// The caller owns the reference, which is the pool's from here on.
#[track_caller]
pub(crate) unsafe fn add(id: Id) {
    let pooled = with_stack(|stack| {
        let open = !stack.is_empty();
        if open {
            stack.push(id);
        }
        open
    });
    assert!(
        pooled,
        "-[{} autorelease]: no autorelease pool is open on this thread, the object would leak",
        id.class_name()
    );
}
