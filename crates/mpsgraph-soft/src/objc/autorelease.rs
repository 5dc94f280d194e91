//! Autorelease pools: one stack of references per thread, with a nil entry where each pool begins.
//!
//! The stack has no destructor, so a destructor of another thread-local variable can still autorelease. Its first
//! places are in the variable itself; the memory of the others is freed when the outermost pool is popped. Objects that
//! a thread leaves in an open pool stay alive, as leaks. A pool owns the references in it and nothing else relies on
//! them, so pools can be popped in any order.

use std::cell::{Cell, UnsafeCell};
use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::Id;

/// Places of a stack that take no memory of their own.
const FEW: usize = 64;

struct Stack {
    few: [Id; FEW],
    /// How many of those are taken; all, if there are more.
    count: usize,
    more: ManuallyDrop<Vec<Id>>,
}

impl Stack {
    const EMPTY: Self = Self { few: [Id::NIL; FEW], count: 0, more: ManuallyDrop::new(Vec::new()) };

    fn len(&self) -> usize {
        self.count + self.more.len()
    }

    fn get(&self, at: usize) -> Option<Id> {
        if at < FEW { self.few[..self.count].get(at).copied() } else { self.more.get(at - FEW).copied() }
    }

    fn push(&mut self, id: Id) {
        if self.count < FEW {
            self.few[self.count] = id;
            self.count += 1;
        } else {
            self.more.push(id);
        }
    }

    fn pop(&mut self) -> Option<Id> {
        if let Some(last) = self.more.pop() {
            return Some(last);
        }
        self.count = self.count.checked_sub(1)?;
        if self.count == 0 {
            *self.more = Vec::new();
        }
        Some(self.few[self.count])
    }
}

thread_local! {
    static STACK: UnsafeCell<Stack> = const { UnsafeCell::new(Stack::EMPTY) };
    static THREAD: Cell<u32> = const { Cell::new(0) };
    /// What is called when the last pool is closed.
    static AFTER: Cell<Option<fn()>> = const { Cell::new(None) };
}

static THREADS: AtomicU32 = AtomicU32::new(1);

/// Runs `f` on this thread's stack; `f` must not call this module, nor code that may call it.
fn with_stack<R>(f: impl FnOnce(&mut Stack) -> R) -> R {
    STACK.with(|stack| {
        // SAFETY: the stack belongs to this thread, and no other borrow exists: the closures in this module only push,
        // pop and measure, and none of them runs code of others.
        f(unsafe { &mut *stack.get() })
    })
}

/// A number for this thread, never 0. By it a token of another thread is recognised.
fn thread() -> u32 {
    THREAD.with(|own| {
        if own.get() == 0 {
            own.set(THREADS.fetch_add(1, Relaxed));
        }
        own.get()
    })
}

/// Runs `f` in an autorelease pool of its own.
pub fn pool<R>(f: impl FnOnce() -> R) -> R {
    let _pool = Pool(push());
    f()
}

/// Runs `f` in the pool that is open on this thread, or in one of its own.
pub(crate) fn in_some_pool<R>(f: impl FnOnce() -> R) -> R {
    if with_stack(|stack| stack.len() > 0) { f() } else { pool(f) }
}

/// An open pool, which is closed when this is dropped.
struct Pool(*mut c_void);

impl Drop for Pool {
    fn drop(&mut self) {
        pop(self.0);
    }
}

/// Opens a pool; the token closes it.
pub(crate) fn push() -> *mut c_void {
    let depth = with_stack(|stack| {
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
    let begins_here = with_stack(|stack| depth.checked_sub(1).and_then(|at| stack.get(at)) == Some(Id::NIL));
    assert!(begins_here, "objc_autoreleasePoolPop: the pool was popped before");
    // A release may run code that autoreleases more: that lands on top and is popped in turn.
    while let Some(id) = with_stack(|stack| (stack.len() >= depth).then(|| stack.pop()).flatten()) {
        // SAFETY: the reference was given to the pool (`add`), which has just taken it out of its stack.
        unsafe { id.release() };
    }
    if depth == 1
        && !std::thread::panicking()
        && let Some(after) = AFTER.take()
    {
        after();
    }
}

/// Lets `after` be called when this thread closes its last pool, unless it panics; once, whoever else asks for it.
pub(crate) fn when_closed(after: fn()) {
    AFTER.set(Some(after));
}

/// Takes a reference to this object out of the innermost pool, if it is what was put in last; the caller owns it then.
pub(crate) fn take_back(id: Id) -> bool {
    with_stack(|stack| {
        let is_last = !id.is_nil() && stack.len().checked_sub(1).and_then(|last| stack.get(last)) == Some(id);
        if is_last {
            stack.pop();
        }
        is_last
    })
}

/// Puts a reference into the innermost pool.
///
/// # Safety
/// The caller owns the reference, which is the pool's from here on.
#[track_caller]
pub(crate) unsafe fn add(id: Id) {
    let pooled = with_stack(|stack| {
        let open = stack.len() > 0;
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
