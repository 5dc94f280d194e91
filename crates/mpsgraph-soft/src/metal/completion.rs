//! Calls completed handlers in the order in which their work ended, on a thread of its own, as Metal does: who runs a
//! job may hold locks that a handler wants.
//!
//! Waking the thread costs as much as short work. So when the committing thread has run the work itself, and sees that
//! it is done, handlers are called soon but not at once: the thread looks for them at intervals for a while before it
//! sleeps, and is woken when there are many, so that what they keep alive stays in the cache. Freeing the memory of one thread on another costs more than calling a handler; so what those handlers leave
//! is given back to the thread that commits, with its next commits, unless nothing is committed any more or somebody
//! waits for them.

use std::cell::Cell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use super::job::{Handlers, Job};
use crate::ignore_poison::IgnorePoison;

/// How often the thread looks: the longest delay of a handler that nobody waits for.
const LOOK: Duration = Duration::from_millis(2);
/// Jobs whose handlers may wait for the next look.
const MANY: usize = 64;
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
    ended: VecDeque<(Arc<Job>, Handlers, When)>,
    /// What is left of work whose handlers were called.
    left: VecDeque<Left>,
    thread: Thread,
    closed: bool,
}

/// What a job keeps alive up to the end of its handlers.
type Left = (Arc<Job>, Handlers);

/// What a commit takes back: twice as much as it leaves.
pub(super) type TakenBack = [Option<Left>; 2];

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

impl Completion {
    /// Lets the thread call the handlers of a job that has ended. Returns what the caller drops when it has no locks.
    #[must_use]
    pub fn call(self: &Arc<Self>, job: Arc<Job>, handlers: Handlers, when: When) -> TakenBack {
        let mut state = self.lock();
        state.ended.push_back((job, handlers, when));
        let back = match when {
            When::Soon => [state.left.pop_front(), state.left.pop_front()],
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
            (Thread::Looking, When::Soon) if state.ended.len() >= MANY => self.wake(&mut state),
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
            if let Some((job, handlers, when)) = state.ended.pop_front() {
                state.thread = Thread::Awake;
                drop(state);
                if catch_unwind(AssertUnwindSafe(|| handlers.call())).is_err() {
                    // As an exception that leaves a handler; the panic hook has said what it was.
                    std::process::abort();
                }
                if when == When::Now {
                    drop(handlers);
                    job.handled();
                    drop(job);
                    (state, looks) = (self.lock(), 0);
                } else {
                    (state, looks) = (self.lock(), 0);
                    state.left.push_back((job.clone(), handlers));
                    // With the lock held, so that who waits finds what is left.
                    job.handled();
                }
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
