//! A [`Worker`] runs the jobs of one queue: one at a time, in the order of enqueueing, on a thread of its own.
//!
//! The thread starts with the first commit that needs it and ends when the queue is deallocated. That may happen on the
//! thread itself, so nobody joins it. Waking a thread costs about ten microseconds, more than small work takes.
//! Therefore the thread, and a caller that waits, spin a little before they sleep; a caller that waits for a job runs
//! the jobs that are due if the thread has not taken them yet; and a job that is known to be short is run by the commit
//! itself if nothing is before it, so that it is done when the commit returns. Order and effects are the same.
//!
//! Completed handlers are not called by the commit: a caller that runs a job may hold locks that a handler wants
//! ([`super::completion`]). A wait for a job ends after its handlers.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use super::completion::{Completion, When};
use super::job::{Job, Load, Status};
use super::{counters, fault};
use crate::ignore_poison::IgnorePoison;
use crate::kernels::keep_for_thread;
use crate::kernels::threads::spin_until;

/// How long a thread without work stays awake: long enough to see a commit that follows at once, short enough not to
/// disturb the threads that compute.
const IDLE_SPIN: Duration = Duration::from_micros(20);
/// How long a waiting caller spins while others run its job: about the cost of falling asleep and waking.
const WAIT_SPIN: Duration = Duration::from_micros(20);

/// Runs the jobs of one queue.
pub struct Worker {
    state: Mutex<State>,
    /// Signalled when a job is due and the thread sleeps.
    work: Condvar,
    /// Signalled when a place is free and a caller waits for one.
    space: Condvar,
    /// Whether a job is due; the spinning thread reads it.
    due: AtomicBool,
    places: usize,
    completion: Arc<Completion>,
}

#[derive(Default)]
struct State {
    /// Enqueued jobs. One that is not committed holds up those behind it.
    order: VecDeque<Arc<Job>>,
    running: bool,
    /// Jobs that were made and are neither finished nor forgotten.
    uncompleted: usize,
    waiting_for_space: usize,
    thread: Thread,
    closed: bool,
}

#[derive(Default, PartialEq, Eq)]
enum Thread {
    #[default]
    NotStarted,
    Awake,
    Asleep,
}

/// A wait that never ends.
#[derive(Clone, Copy, Debug)]
pub enum Stuck {
    /// Nothing runs, and the next job in the order is not committed.
    NotCommitted,
    /// A handler waits for a job whose handlers are called after it has returned.
    InHandler,
}

impl State {
    fn due(&self) -> bool {
        !self.running && self.order.front().is_some_and(|job| job.status() >= Status::Committed)
    }
}

thread_local! {
    static ALIVE: Alive = Alive::after_what_kernels_keep();
}

/// A variable with a destructor. It is destroyed before what kernels keep for the thread, which is made first: so while
/// it is there, that is.
struct Alive;

impl Alive {
    fn after_what_kernels_keep() -> Self {
        keep_for_thread();
        Self
    }
}

impl Drop for Alive {
    fn drop(&mut self) {}
}

/// Whether this thread may run kernels, which keep memory in variables of the thread.
fn thread_goes_on() -> bool {
    ALIVE.try_with(|_| ()).is_ok()
}

impl Worker {
    /// A worker for at most `places` uncompleted jobs.
    pub fn new(places: usize) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::default(),
            work: Condvar::new(),
            space: Condvar::new(),
            due: AtomicBool::new(false),
            places,
            completion: Arc::default(),
        })
    }

    /// Makes a job once there is a place for it.
    pub fn new_job(&self) -> Result<Arc<Job>, Stuck> {
        let mut state = self.lock();
        while state.uncompleted >= self.places {
            self.wake(&mut state);
            state.waiting_for_space += 1;
            let (guard, time) = self.space.wait_timeout(state, fault::hang_limit()).ignore_poison();
            state = guard;
            state.waiting_for_space -= 1;
            let moving = state.running || state.due();
            if time.timed_out() && state.uncompleted >= self.places && !moving {
                return Err(Stuck::NotCommitted);
            }
        }
        state.uncompleted += 1;
        Ok(Arc::default())
    }

    /// Forgets a job that was never committed.
    pub fn forget(&self, job: &Arc<Job>) {
        let mut state = self.lock();
        state.order.retain(|other| !Arc::ptr_eq(other, job));
        self.free_place(&mut state);
        self.wake(&mut state);
    }

    /// Gives the next place in the order to a job that will be committed later.
    pub fn enqueue(&self, job: &Arc<Job>) {
        let mut state = self.lock();
        job.advance(Status::Enqueued);
        state.order.push_back(Arc::clone(job));
    }

    /// Takes what a job will run; runs it at once if it is `short` and nothing is before it.
    pub fn commit(self: &Arc<Self>, job: &Arc<Job>, load: Load, short: bool) {
        counters::committed();
        let mut state = self.lock();
        let enqueued = job.status() == Status::Enqueued;
        let alone = state.order.len() == usize::from(enqueued) && !state.running;
        if short && alone && thread_goes_on() {
            state.order.clear();
            self.begin(&mut state, job);
            drop(state);
            self.run(job, load, When::Soon);
            return;
        }
        job.put(load);
        if !enqueued {
            state.order.push_back(Arc::clone(job));
        }
        job.advance(Status::Committed);
        if state.thread == Thread::NotStarted {
            self.start_thread();
            state.thread = Thread::Awake;
        }
        self.wake(&mut state);
    }

    /// Returns when the job is done; the caller runs jobs that are due.
    pub fn wait_until_completed(&self, job: &Job) -> Result<(), Stuck> {
        if job.has_ended() {
            return Ok(());
        }
        if job.has_handlers() {
            if self.completion.is_here() {
                return Err(Stuck::InHandler);
            }
            self.completion.hurry();
        }
        if !thread_goes_on() {
            self.wake(&mut self.lock());
            return self.sleep_until(job, Job::has_ended);
        }
        while job.status() < Status::Completed {
            let taken = self.take(&mut self.lock());
            match taken {
                Some(next) => self.run(&next, next.take(), When::Now),
                None => break,
            }
        }
        self.sleep_until(job, Job::has_ended)
    }

    /// Returns when the job runs or is done.
    pub fn wait_until_scheduled(&self, job: &Job) -> Result<(), Stuck> {
        // This caller will not run what is due.
        self.wake(&mut self.lock());
        self.sleep_until(job, |job| job.status() >= Status::Scheduled)
    }

    /// Ends the thread: no more jobs will come.
    pub fn close(&self) {
        self.lock().closed = true;
        self.work.notify_one();
    }

    fn sleep_until(&self, job: &Job, reached: fn(&Job) -> bool) -> Result<(), Stuck> {
        if spin_until(WAIT_SPIN, || reached(job)) {
            return Ok(());
        }
        while !job.sleep_until(reached, fault::hang_limit()) {
            let state = self.lock();
            // Handlers take as long as they like.
            if !state.running && !state.due() && job.status() < Status::Completed {
                return Err(Stuck::NotCommitted);
            }
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().ignore_poison()
    }

    /// The job at the front, if it is due; the caller must run it.
    fn take(&self, state: &mut State) -> Option<Arc<Job>> {
        if !state.due() {
            return None;
        }
        let next = state.order.pop_front()?;
        self.begin(state, &next);
        Some(next)
    }

    /// Notes that a job runs.
    fn begin(&self, state: &mut State, job: &Job) {
        state.running = true;
        self.due.store(false, Ordering::Relaxed);
        job.advance(Status::Scheduled);
    }

    /// Runs a job; its handlers are called at the given time.
    fn run(&self, job: &Job, load: Load, handlers_called: When) {
        let (status, ended) = job.run(load);
        counters::completed(status == Status::Error);
        let mut state = self.lock();
        state.running = false;
        self.free_place(&mut state);
        // With the lock held, so that jobs end, and their handlers are called, in order.
        job.advance(status);
        if let Some(ended) = ended {
            self.completion.call(ended, handlers_called);
        }
        self.wake(&mut state);
    }

    fn free_place(&self, state: &mut State) {
        state.uncompleted -= 1;
        // Not for every single place: while the queue is full, waking a thread would cost more than the jobs.
        let room = state.uncompleted <= self.places - self.places / 4 || !state.due();
        if state.waiting_for_space > 0 && room {
            self.space.notify_all();
        }
    }

    /// Makes sure that the thread takes the job that is due, if there is one.
    fn wake(&self, state: &mut State) {
        if !state.due() {
            return;
        }
        self.due.store(true, Ordering::Release);
        if state.thread == Thread::Asleep {
            state.thread = Thread::Awake;
            self.work.notify_one();
        }
    }

    fn start_thread(self: &Arc<Self>) {
        static STARTED: AtomicUsize = AtomicUsize::new(0);
        let name = format!("mtl-queue-{}", STARTED.fetch_add(1, Ordering::Relaxed));
        let worker = Arc::clone(self);
        let run = move || {
            while let Some(job) = worker.next() {
                worker.run(&job, job.take(), When::Now);
            }
        };
        std::thread::Builder::new().name(name).spawn(run).expect("a command queue needs one thread");
    }

    /// The next job for the thread; `None` when the worker is closed.
    fn next(&self) -> Option<Arc<Job>> {
        spin_until(IDLE_SPIN, || self.due.load(Ordering::Acquire));
        let mut state = self.lock();
        loop {
            if let Some(job) = self.take(&mut state) {
                return Some(job);
            }
            if state.closed {
                return None;
            }
            state.thread = Thread::Asleep;
            state = self.work.wait(state).ignore_poison();
            state.thread = Thread::Awake;
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.completion.close();
    }
}
