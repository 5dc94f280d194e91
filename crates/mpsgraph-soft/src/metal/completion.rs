//! Calls completed handlers in the order in which their work ended, on a thread of its own, as Metal does: who runs a
//! job may hold locks that a handler wants.
//!
//! Waking the thread costs as much as short work. So when the committing thread has run the work itself, and sees that
//! it is done, handlers are called soon but not at once: the thread looks for them at intervals for a while before it
//! sleeps. Freeing the memory of one thread on another costs more than calling a handler; so what those handlers leave
//! is given back to the thread that commits, with its next commits, unless nothing is committed any more or somebody
//! waits for them.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use super::job::Ended;
use crate::ignore_poison::IgnorePoison;

/// How often the thread looks: the longest delay of a handler that nobody waits for.
const LOOK: Duration = Duration::from_millis(2);
/// After this many looks without a handler, the thread sleeps until it is woken.
const IDLE_LOOKS: u32 = 4;

/// The thread that calls the handlers of one queue.
#[derive(Default)]
pub(super) struct Completion {
    state: Mutex<State>,
    work: Condvar,
}

#[derive(Default)]
struct State {
    ended: Vec<(Ended, When)>,
    /// What is left of work whose handlers were called, and lists that are empty.
    left: Vec<Vec<(Ended, When)>>,
    thread: Thread,
    closed: bool,
}

/// What a commit takes back: twice as much as it leaves.
pub(super) type TakenBack = [Option<(Ended, When)>; 2];

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
    /// The completion whose thread this is.
    static OWN: Cell<*const Completion> = const { Cell::new(std::ptr::null()) };
}

impl State {
    /// The newest of what is left.
    fn take_back(&mut self) -> Option<(Ended, When)> {
        self.left.iter_mut().rev().find_map(Vec::pop)
    }

    /// A list to put more into, with memory if there is one.
    fn empty_list(&mut self) -> Vec<(Ended, When)> {
        let empty = self.left.iter().position(Vec::is_empty);
        empty.map_or_else(Vec::new, |at| self.left.swap_remove(at))
    }
}

impl Completion {
    /// Lets the thread call the handlers of a job that has ended. Returns what the caller drops when it has no locks.
    #[must_use]
    pub fn call(self: &Arc<Self>, ended: Ended, when: When) -> TakenBack {
        let mut state = self.lock();
        state.ended.push((ended, when));
        let back = match when {
            When::Soon => [state.take_back(), state.take_back()],
            When::Now => [None, None],
        };
        match (&state.thread, when) {
            (Thread::NotStarted, _) => {
                state.thread = Thread::Awake;
                let own = Arc::clone(self);
                let thread = std::thread::Builder::new().name("mtl-completion".into()).spawn(move || own.run());
                thread.expect("handlers need a thread");
            }
            (Thread::Asleep, _) | (Thread::Looking, When::Now) => self.wake(&mut state),
            (Thread::Looking, When::Soon) | (Thread::Awake, _) => (),
        }
        back
    }

    /// Drops what is left of work whose handlers were called.
    pub fn clean(&self) {
        let left = std::mem::take(&mut self.lock().left);
        drop(left);
    }

    /// Somebody waits for handlers.
    pub fn hurry(&self) {
        let mut state = self.lock();
        if !state.ended.is_empty() && matches!(state.thread, Thread::Looking) {
            self.wake(&mut state);
        }
    }

    /// Whether the calling thread is the one that calls the handlers.
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

    fn run(&self) {
        OWN.set(self);
        let (mut state, mut looks) = (self.lock(), 0);
        loop {
            if !state.ended.is_empty() {
                state.thread = Thread::Awake;
                let empty = state.empty_list();
                let mut ended = std::mem::replace(&mut state.ended, empty);
                drop(state);
                ended.retain_mut(call);
                (state, looks) = (self.lock(), 0);
                // With the lock held, so that who waits finds what is left.
                ended.iter().for_each(|(ended, _)| ended.job().handled());
                state.left.push(ended);
            } else if state.closed || looks == IDLE_LOOKS && !state.left.is_empty() {
                let left = std::mem::take(&mut state.left);
                let closed = state.closed;
                drop(state);
                drop(left);
                if closed {
                    return;
                }
                state = self.lock();
            } else if looks < IDLE_LOOKS {
                state.thread = Thread::Looking;
                state = self.work.wait_timeout(state, LOOK).ignore_poison().0;
                looks += 1;
            } else {
                state.thread = Thread::Asleep;
                state = self.work.wait(state).ignore_poison();
                looks = 0;
            }
        }
    }
}

/// Calls the handlers of a job that has ended; whether something is left of it for later.
fn call((ended, when): &mut (Ended, When)) -> bool {
    if catch_unwind(AssertUnwindSafe(|| ended.call())).is_err() {
        // As an exception that leaves a handler; the panic hook has said what it was.
        std::process::abort();
    }
    let later = *when == When::Soon && !ended.job().is_waited_for();
    if later {
        ended.job().returned();
    } else {
        let job = Arc::clone(ended.job());
        drop(std::mem::take(ended));
        job.handled();
    }
    later
}
