//! Calls completed handlers in the order in which their work ended, on a thread of its own, as Metal does: who runs a
//! job may hold locks that a handler wants.
//!
//! Waking the thread costs more than short work, and so does what two cores say to each other about each piece of
//! memory that one of them has used and the other releases. So when the committing thread has run the work itself, and
//! sees that it is done, it calls the handlers too, when it closes its last autorelease pool: then it is between two
//! calls of whoever uses Metal. If it does not come to that soon, the thread does, which looks for such work at
//! intervals for a while before it sleeps.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use super::job::Ended;
use crate::ignore_poison::IgnorePoison;
use crate::kernels::threads::spin_until;
use crate::objc::autorelease;

/// How often the thread looks: the longest delay of a handler that nobody waits for.
const LOOK: Duration = Duration::from_millis(2);
/// After this many looks between which nobody has called a handler, the thread sleeps until it is woken.
const IDLE_LOOKS: u32 = 4;
/// How long the thread lets another one go on that calls handlers or is about to, before it looks again.
const TURN: Duration = Duration::from_micros(50);
/// How long a committing thread waits awake for its turn: longer than handlers take that are known to be short.
const COMMITTER_SPIN: Duration = Duration::from_micros(5);

/// The thread that calls the handlers of one queue.
#[derive(Default)]
pub(super) struct Completion {
    state: Mutex<State>,
    work: Condvar,
    /// Whether a thread calls handlers that it has taken out, so that nobody overtakes it. Set with the lock held.
    calling: AtomicBool,
}

#[derive(Default)]
struct State {
    ended: VecDeque<Ended>,
    /// How often handlers were taken out of the list.
    taken: u64,
    /// A committing thread waits for its turn to call them.
    committer_waits: bool,
    thread: Thread,
    closed: bool,
}

#[derive(Default)]
enum Thread {
    #[default]
    NotStarted,
    Awake,
    /// Looks again within [`LOOK`].
    Looking,
    Asleep,
}

/// When handlers have to be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    Now,
    Soon,
}

thread_local! {
    /// The completion whose handlers this thread calls.
    static OWN: Cell<*const Completion> = const { Cell::new(std::ptr::null()) };
    /// That of the work which this thread has run last in a commit.
    static LATELY: RefCell<Option<Arc<Completion>>> = const { RefCell::new(None) };
}

impl Completion {
    /// Lets the handlers of a job be called that has ended.
    pub fn call(self: &Arc<Self>, ended: Ended, when: When) {
        let mut state = self.lock();
        state.ended.push_back(ended);
        match (&state.thread, when) {
            (Thread::NotStarted, _) => {
                let own = Arc::clone(self);
                let thread = std::thread::Builder::new().name("mtl-completion".into()).spawn(move || own.run());
                thread.expect("handlers need a thread");
                state.thread = Thread::Awake;
            }
            (Thread::Asleep, _) | (Thread::Looking, When::Now) => self.wake(&mut state),
            (Thread::Looking, When::Soon) | (Thread::Awake, _) => (),
        }
        drop(state);
        if when == When::Soon {
            self.call_when_closed();
        }
    }

    /// Lets this thread call the handlers when it closes its last pool.
    fn call_when_closed(self: &Arc<Self>) {
        let noted = LATELY.try_with(|lately| {
            let mut lately = lately.borrow_mut();
            if !lately.as_ref().is_some_and(|lately| Arc::ptr_eq(lately, self)) {
                *lately = Some(Arc::clone(self));
            }
        });
        // Not while the thread ends.
        if noted.is_ok() {
            autorelease::when_closed(call_here);
        }
    }

    /// Somebody waits for handlers.
    pub fn hurry(&self) {
        let mut state = self.lock();
        if !state.ended.is_empty() && matches!(state.thread, Thread::Looking) {
            self.wake(&mut state);
        }
    }

    /// Whether the calling thread is in a handler.
    pub fn is_here(&self) -> bool {
        OWN.get() == std::ptr::from_ref(self)
    }

    /// Ends the thread when it has called all handlers: no more will come.
    pub fn close(&self) {
        self.lock().closed = true;
        self.work.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().ignore_poison()
    }

    fn wake(&self, state: &mut State) {
        state.thread = Thread::Awake;
        self.work.notify_one();
    }

    /// Calls the handlers of jobs that were taken out of the list, and releases what is left of each.
    fn call_all(&self, ended: impl Iterator<Item = Ended>) {
        let before = OWN.replace(self);
        for ended in ended {
            if catch_unwind(AssertUnwindSafe(|| ended.call())).is_err() {
                // As an exception that leaves a handler; the panic hook has said what it was.
                std::process::abort();
            }
            let job = Arc::clone(ended.job());
            drop(ended);
            job.handled();
        }
        OWN.set(before);
        self.calling.store(false, Ordering::Release);
    }

    fn run(&self) {
        let (mut state, mut looks, mut seen) = (self.lock(), 0, None);
        loop {
            // What was not there at the last look is left to the thread that has just committed it.
            let is_new = matches!(state.thread, Thread::Looking) && seen != Some(state.taken);
            if self.calling.load(Ordering::Acquire) || state.committer_waits || !state.ended.is_empty() && is_new {
                seen = (!state.ended.is_empty()).then_some(state.taken);
                state = self.work.wait_timeout(state, TURN).ignore_poison().0;
            } else if !state.ended.is_empty() {
                state.thread = Thread::Awake;
                let ended = self.take(&mut state);
                drop(state);
                self.call_all(ended);
                (state, looks) = (self.lock(), 0);
            } else if state.closed {
                return;
            } else if looks < IDLE_LOOKS {
                state.thread = Thread::Looking;
                let taken = state.taken;
                state = self.work.wait_timeout(state, LOOK).ignore_poison().0;
                looks = if state.taken == taken { looks + 1 } else { 0 };
            } else {
                state.thread = Thread::Asleep;
                state = self.work.wait(state).ignore_poison();
                looks = 0;
            }
        }
    }

    /// Takes out all jobs; the caller calls their handlers.
    fn take(&self, state: &mut State) -> impl Iterator<Item = Ended> + use<> {
        self.calling.store(true, Ordering::Relaxed);
        state.taken += 1;
        let first = state.ended.pop_front();
        // Usually there are none; then the list keeps its memory.
        let others = if state.ended.is_empty() { VecDeque::new() } else { std::mem::take(&mut state.ended) };
        first.into_iter().chain(others)
    }
}

/// Calls the handlers of work that this thread has run, unless another thread does.
fn call_here() {
    let lately = LATELY.try_with(|lately| lately.borrow_mut().take()).ok().flatten();
    let Some(completion) = lately.filter(|completion| !completion.is_here()) else { return };
    let mut state = completion.lock();
    if completion.calling.load(Ordering::Acquire) && !state.ended.is_empty() {
        // Else the other thread would call these too, and be at it when the next ones come, and so on for seconds: what
        // the cores say to each other about each piece of memory takes longer than the work.
        state.committer_waits = true;
        drop(state);
        spin_until(COMMITTER_SPIN, || !completion.calling.load(Ordering::Acquire));
        state = completion.lock();
        state.committer_waits = false;
    }
    if !completion.calling.load(Ordering::Acquire) && !state.ended.is_empty() {
        let ended = completion.take(&mut state);
        drop(state);
        completion.call_all(ended);
    } else {
        drop(state);
    }
    // For the next time, without counting the reference again.
    let _ = LATELY.try_with(|lately| *lately.borrow_mut() = Some(completion));
}
