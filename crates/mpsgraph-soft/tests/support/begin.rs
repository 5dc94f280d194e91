//! The beginning of a test: whether it is a rule and whence, being alone, an autorelease pool.
//!
//! Counters, faults, compilation and the counts of live objects belong to the whole process, so tests run one after the
//! other.

use std::cell::Cell;
use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, PoisonError};

use mpsgraph_soft::metal::fault;
use mpsgraph_soft::symbols;

/// Where a rule is from, the most certain kind first. Of several sources, the most certain one counts.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// Somebody ran it on a real system and published what came out.
    Probed(&'static str),
    /// Apple says so, in a header, in the documentation, or in source code.
    Documented(&'static str),
    /// An issue, or others' source code that works around it or relies on it.
    Reported(&'static str),
    /// We infer it; the text says from what.
    Assumed(&'static str),
}

/// The kinds of [`Source`], as the tests write them and as `ARCHITECTURE.md` counts them.
pub const KINDS: [(&str, &str); 4] =
    [("Probed", "probed"), ("Documented", "documented by Apple"), ("Reported", "reported"), ("Assumed", "assumed")];

static SERIAL: Mutex<()> = Mutex::new(());

/// What the test on this thread began with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Begun {
    Nothing,
    Plain,
    Rule,
}

thread_local!(static BEGUN: Cell<Begun> = const { Cell::new(Begun::Nothing) });

/// The surroundings of a test: alone, in an autorelease pool, without faults left over.
#[must_use = "the test is alone, and has an autorelease pool, as long as this lives"]
pub struct Test {
    pool: *mut c_void,
    _serial: MutexGuard<'static, ()>,
}

/// Begins a test that says what Apple's classes do or refuse.
#[track_caller]
pub fn rule(source: Source) -> Test {
    let (Source::Probed(text) | Source::Documented(text) | Source::Reported(text) | Source::Assumed(text)) = source;
    assert!(!text.trim().is_empty(), "a rule has a source: name it, or say from what it is assumed");
    begin(Begun::Rule)
}

/// Begins a test that claims nothing about Apple's classes: it is about this implementation, or about plain arithmetic.
#[track_caller]
pub fn plain() -> Test {
    begin(Begun::Plain)
}

fn begin(begun: Begun) -> Test {
    let serial = SERIAL.lock().unwrap_or_else(PoisonError::into_inner);
    fault::clear();
    BEGUN.set(begun);
    // SAFETY: no precondition; popped in `drop` on the same thread (raw pointers keep this from being sent).
    let pool = unsafe { symbols::objc_autoreleasePoolPush() };
    Test { pool, _serial: serial }
}

impl Drop for Test {
    fn drop(&mut self) {
        // SAFETY: the token of the push in `begin`.
        unsafe { symbols::objc_autoreleasePoolPop(self.pool) }
        BEGUN.set(Begun::Nothing);
    }
}

/// Whether this thread is the test harness's own. It names them; the threads that tests start have no name, and those
/// of Metal one of their own.
fn is_the_harness() -> bool {
    std::thread::current().name().is_some_and(|name| !name.starts_with("mtl-"))
}

/// Panics unless the test has begun.
#[track_caller]
pub fn inside() {
    let begun = BEGUN.get() != Begun::Nothing || !is_the_harness();
    assert!(begun, "a test begins with `let _test = rule(…)` or `let _test = plain()`, before it sends messages");
}

/// Panics unless the test has begun as a rule.
#[track_caller]
pub fn inside_a_rule() {
    let is_rule = BEGUN.get() == Begun::Rule || !is_the_harness();
    assert!(is_rule, "what is refused is a rule: begin the test with `rule` and its source");
}
