//! A task may go on as soon as it is woken, on whichever thread that is, and may record, flush, read and `sync` there.

use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};
use std::thread;
use std::time::Duration;

use burn::tensor::{Distribution, Tensor};
use mpsgraph_soft::metal::fault;

use super::hangs::{Hangs, IN_FLIGHT, PATIENCE, flushed};
use super::{B, Turn, vector};
use burn_mpsgraph::MpsGraphDevice;

type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Goes on with its task whenever it is woken.
struct AtOnce {
    task: Mutex<Option<Task>>,
    /// Whether it was woken since the task was polled.
    woken: AtomicBool,
}

impl AtOnce {
    fn spawn(task: impl Future<Output = ()> + Send + 'static) {
        Arc::new(Self { task: Mutex::new(Some(Box::pin(task))), woken: AtomicBool::default() }).wake();
    }
}

impl Wake for AtOnce {
    fn wake(self: Arc<Self>) {
        self.woken.store(true, Ordering::SeqCst);
        loop {
            // Whoever polls looks again afterwards.
            let Ok(mut task) = self.task.try_lock() else { return };
            self.woken.store(false, Ordering::SeqCst);
            let waker = Waker::from(self.clone());
            if let Some(now) = task.as_mut()
                && now.as_mut().poll(&mut Context::from_waker(&waker)).is_ready()
            {
                *task = None;
            }
            drop(task);
            if !self.woken.load(Ordering::SeqCst) {
                return;
            }
        }
    }
}

/// Does something when it is woken, once.
struct Acts(Mutex<Option<Box<dyn FnOnce() + Send>>>);

impl Wake for Acts {
    fn wake(self: Arc<Self>) {
        let act = self.0.lock().unwrap().take();
        act.into_iter().for_each(|act| act());
    }
}

/// A waker that does this, and tells when it has.
fn acts(act: impl FnOnce() + Send + 'static) -> (Waker, Receiver<()>) {
    let (done, is_done) = channel();
    let act = move || {
        act();
        done.send(()).expect("the test listens");
    };
    (Arc::new(Acts(Mutex::new(Some(Box::new(act))))).into(), is_done)
}

/// Submits as many as may be in flight beside one.
fn fill_up() {
    (1..IN_FLIGHT).for_each(|i| drop(flushed(i)));
}

/// A thread that records a value, gives it away, and submits it when there is room.
fn submits(given: Sender<Tensor<B, 1>>) -> thread::JoinHandle<()> {
    thread::spawn(move || {
        fill_up();
        let value = vector(&[1.0]) * 2.0;
        given.send(value.clone()).expect("the task listens");
        MpsGraphDevice.flush_thread();
    })
}

/// A task that reads `first`, whatever comes of it, and then what `go_on` makes of a value that was given away.
fn reads_and_goes_on(
    first: Tensor<B, 1>,
    given: Receiver<Tensor<B, 1>>,
    go_on: impl FnOnce(Tensor<B, 1>) -> Option<Tensor<B, 1>> + Send + 'static,
) -> Receiver<Option<Vec<f32>>> {
    let (done, is_done) = channel();
    AtOnce::spawn(async move {
        drop(first.into_data_async().await);
        let next = go_on(given.recv().expect("a thread gives one"));
        let read = match next {
            Some(next) => Some(next.into_data_async().await.expect("it was not lost").to_vec().expect("f32")),
            None => None,
        };
        done.send(read).expect("the test listens");
    });
    is_done
}

/// The thread that waits for room finds out that the device hangs, and wakes the task.
#[test]
fn a_task_that_a_flush_wakes_may_wait_for_that_flush() {
    for syncs in [false, true] {
        let turn = Turn::take();
        let _hangs = Hangs::begin();
        fault::hang_next(1);
        let hung = vector(&[1.0]) * 9.0;
        MpsGraphDevice.flush_thread();
        let (given, value) = channel();
        let submits = submits(given);
        while turn.used().waits == 0 {
            thread::yield_now();
        }
        // So the thread is late before the task.
        thread::sleep(Duration::from_millis(50));
        let done = reads_and_goes_on(hung, value, move |value| {
            let next = value + 1.0;
            if !syncs {
                return Some(next);
            }
            drop(MpsGraphDevice.sync());
            None
        });
        let read = done.recv_timeout(PATIENCE).expect("the task goes on");
        assert_eq!(read, (!syncs).then(|| vec![3.0]));
        submits.join().expect("no panic");
    }
}

/// A handler wakes the task and the thread that waits for room, for whose flush the task waits.
#[test]
fn threads_that_wait_are_woken_before_tasks() {
    let turn = Turn::take();
    let _hangs = Hangs::begin();
    MpsGraphDevice.set_wait_limit(PATIENCE);
    fault::hang_next(1);
    let first = vector(&[1.0]) * 9.0;
    MpsGraphDevice.flush_thread();
    let (given, value) = channel();
    let done = reads_and_goes_on(first, value, |value| Some(value + 1.0));
    let submits = submits(given);
    // The task waits, and then the thread.
    while turn.used().waits < 2 {
        thread::yield_now();
    }
    fault::end_hangs();
    assert_eq!(done.recv_timeout(PATIENCE / 2).expect("the task goes on"), Some(vec![3.0]));
    submits.join().expect("no panic");
}

/// Only the clock tells that the device hangs, also what a task waits for that it has woken itself.
#[test]
fn the_clock_goes_on_while_a_task_does() {
    let acts_on: [fn(Tensor<B, 1>); 3] = [
        |_| drop(MpsGraphDevice.sync()),
        |other| {
            let sum = other + 1.0;
            MpsGraphDevice.flush_thread();
            drop(sum);
        },
        |other| burn_mpsgraph::eagerly(|| drop(other + 1.0)),
    ];
    for act in acts_on {
        let _turn = Turn::take();
        let _hangs = Hangs::begin();
        let other = vector(&[5.0]);
        MpsGraphDevice.sync().expect("the device works");
        fault::hang_next(1);
        let (waker, acted) = acts(move || act(other));
        let mut hung = pin!((vector(&[1.0]) + 2.0).into_data_async());
        assert!(hung.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        fill_up();
        let (read, is_read) = channel();
        let reader = thread::spawn(move || {
            drop((vector(&[1.0]) * 7.0).try_into_data());
            read.send(()).expect("the test listens");
        });
        is_read.recv_timeout(PATIENCE).expect("the reader is told");
        acted.recv_timeout(PATIENCE).expect("the waker returns");
        reader.join().expect("no panic");
    }
}

/// On a Mac, nothing that is committed later ends before the handler returns that wakes the task.
#[test]
fn the_next_handler_does_not_wait_for_a_task() {
    let _turn = Turn::take();
    let _hangs = Hangs::begin();
    MpsGraphDevice.set_wait_limit(PATIENCE);
    let a = vector(&[1.0]);
    MpsGraphDevice.sync().expect("the device works");
    fault::hang_next(1);
    let mut first = pin!((a.clone() * 2.0).into_data_async());
    let (next, is_next) = channel();
    let (waker, acted) = acts(move || is_next.recv_timeout(PATIENCE / 2).expect("the next task is woken meanwhile"));
    assert!(first.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    let mut second = pin!((a * 3.0).into_data_async());
    let (waker, _second_acted) = acts(move || next.send(()).expect("the first task listens"));
    assert!(second.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    fault::end_hangs();
    acted.recv_timeout(PATIENCE).expect("the waker returns");
}

/// What would tell of room comes while the waker looks for it.
#[test]
fn a_waker_that_waits_for_room_finds_it() {
    let _turn = Turn::take();
    let _hangs = Hangs::begin();
    MpsGraphDevice.set_wait_limit(PATIENCE);
    let a = Tensor::<B, 2>::random([500, 500], Distribution::Default, &MpsGraphDevice);
    MpsGraphDevice.sync().expect("the device works");
    fault::hang_next(1);
    let mut first = pin!((a.clone() * 2.0).into_data_async());
    let recorded = Arc::new(Mutex::new(Vec::new()));
    let (waker, acted) = acts({
        let recorded = recorded.clone();
        move || recorded.lock().unwrap().drain(..).for_each(|other: Tensor<B, 2>| drop(other + 1.0))
    });
    assert!(first.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    for _ in 1..IN_FLIGHT {
        let product = a.clone().matmul(a.clone());
        MpsGraphDevice.flush_thread();
        drop(product);
    }
    // What another thread has recorded is submitted where it is used.
    recorded.lock().unwrap().extend((0..3).map(|i| a.clone() * i as f32));
    fault::end_hangs();
    acted.recv_timeout(PATIENCE / 2).expect("the waker returns");
}
