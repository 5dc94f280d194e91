//! Reads as futures: the first poll submits, no poll waits for the device, and the task is woken when data is there.

use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

use burn::tensor::{Tensor, TensorData, Transaction};
use mpsgraph_soft::metal::fault;
use mpsgraph_soft::mpsgraph::hold;

use super::hangs::{Hangs, LIMIT, PATIENCE};
use super::{B, Turn, read, vector};
use burn_mpsgraph::MpsGraphDevice;

/// Counts how often a task is woken.
#[derive(Default)]
struct Woken {
    times: Mutex<usize>,
    changed: Condvar,
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        *self.times.lock().unwrap() += 1;
        self.changed.notify_all();
    }
}

impl Woken {
    fn times(&self) -> usize {
        *self.times.lock().unwrap()
    }

    /// Waits until the task was woken so many times.
    fn wait_for(&self, times: usize) {
        let waited = self.changed.wait_timeout_while(self.times.lock().unwrap(), PATIENCE, |now| *now < times);
        assert!(!waited.unwrap().1.timed_out(), "nobody wakes the task");
    }
}

fn task() -> (Arc<Woken>, Waker) {
    let woken = Arc::new(Woken::default());
    (woken.clone(), woken.into())
}

fn poll<F: Future>(future: Pin<&mut F>, waker: &Waker) -> Option<F::Output> {
    match future.poll(&mut Context::from_waker(waker)) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

/// Polls whenever the task is woken.
fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let (woken, waker) = task();
    for times in 1.. {
        if let Some(output) = poll(future.as_mut(), &waker) {
            return output;
        }
        woken.wait_for(times);
    }
    unreachable!("it is woken less often")
}

fn numbers<E: std::fmt::Debug>(data: Result<TensorData, E>) -> Vec<f32> {
    data.expect("a device").to_vec().expect("f32")
}

#[test]
fn the_first_poll_submits_and_no_poll_waits() {
    let turn = Turn::take();
    let _hangs = Hangs::begin();
    MpsGraphDevice.set_wait_limit(PATIENCE);
    fault::hang_next(1);
    let (woken, waker) = task();
    let (a, b) = (vector(&[1.0, 2.0]) + 1.0, vector(&[3.0]) * 2.0);
    let mut a = pin!(a.into_data_async());
    assert_eq!(turn.used().commits, 0, "a future does nothing by itself");
    assert!(poll(a.as_mut(), &waker).is_none());
    assert_eq!((turn.used().commits, turn.used().waits), (1, 1));
    let c = vector(&[4.0]) + 1.0;
    let mut b = pin!(b.into_data_async());
    let mut c = pin!(c.into_data_async());
    for _ in 0..3 {
        assert!(poll(b.as_mut(), &waker).is_none() && poll(c.as_mut(), &waker).is_none());
    }
    assert!(poll(a.as_mut(), &waker).is_none());
    assert_eq!((turn.used().commits, woken.times()), (2, 0));
    fault::end_hangs();
    woken.wait_for(3);
    assert_eq!(numbers(poll(a, &waker).expect("it is woken when all is there")), [2.0, 3.0]);
    assert_eq!(numbers(poll(b, &waker).expect("so is this")), [6.0]);
    assert_eq!(numbers(poll(c, &waker).expect("and this")), [5.0]);
}

/// Another thread that reads a value, held up while it compiles.
fn compiles(asked: Tensor<B, 1>) -> (hold::Hold, thread::JoinHandle<Vec<f32>>) {
    let held = hold::compilations();
    let compiling = thread::spawn(move || read(asked));
    assert!(held.wait_for_one(PATIENCE), "the other thread compiles");
    (held, compiling)
}

#[test]
fn no_poll_waits_for_what_another_thread_compiles() {
    let _turn = Turn::take();
    let asked = vector(&[1.0, 2.0]) * 3.0;
    let (held, compiling) = compiles(asked.clone());
    let (polled, at_main) = std::sync::mpsc::channel();
    let other = thread::spawn(move || {
        let (woken, waker) = task();
        let mut future = pin!(asked.into_data_async());
        assert!(poll(future.as_mut(), &waker).is_none());
        polled.send(()).expect("the test listens");
        for times in 1.. {
            woken.wait_for(times);
            if let Some(data) = poll(future.as_mut(), &waker) {
                return numbers(data);
            }
        }
        unreachable!("it is woken less often")
    });
    let outcome = at_main.recv_timeout(PATIENCE);
    drop(held);
    assert_eq!(other.join().expect("no panic"), [3.0, 6.0]);
    assert_eq!(compiling.join().expect("no panic"), [3.0, 6.0]);
    outcome.expect("the poll returned while the other thread was compiling");
}

#[test]
fn the_last_waker_counts_whichever_thread_polls() {
    let _turn = Turn::take();
    let _hangs = Hangs::begin();
    MpsGraphDevice.set_wait_limit(PATIENCE);
    fault::hang_next(1);
    let mut future = Box::pin((vector(&[1.0, 2.0]) + 1.0).into_data_async());
    let (first, waker) = task();
    assert!(poll(future.as_mut(), &waker).is_none());
    let (polled, at_main) = std::sync::mpsc::channel();
    let other = thread::spawn(move || {
        let (second, waker) = task();
        assert!(poll(future.as_mut(), &waker).is_none());
        polled.send(()).expect("the test listens");
        second.wait_for(1);
        numbers(poll(future.as_mut(), &waker).expect("it is done"))
    });
    at_main.recv().expect("it polls");
    fault::end_hangs();
    assert_eq!(other.join().expect("no panic"), [2.0, 3.0]);
    assert_eq!(first.times(), 0);
}

#[test]
fn a_dropped_future_leaves_nothing() {
    let turn = Turn::take();
    let hangs = Hangs::begin();
    MpsGraphDevice.set_wait_limit(PATIENCE);
    fault::hang_next(1);
    let (woken, waker) = task();
    let mut future = Box::pin((vector(&[1.0; 1000]) + 1.0).into_data_async());
    assert!(poll(future.as_mut(), &waker).is_none());
    drop(future);
    assert_eq!(Arc::strong_count(&woken), 2, "the waker is let go");
    let never_polled = (vector(&[1.0; 1000]) * 2.0).into_data_async();
    drop(never_polled);
    hangs.end();
    assert_eq!((woken.times(), turn.used().buffers_live), (0, turn.start.buffers_live));
}

#[test]
fn a_dropped_future_leaves_nothing_with_a_flush() {
    let _turn = Turn::take();
    let asked = vector(&[1.0, 2.0]) * 3.0;
    let (held, compiling) = compiles(asked.clone());
    let [(first, waker), (last, of_last)] = [task(), task()];
    let mut future = Box::pin(asked.into_data_async());
    for waker in [&waker, &waker, &of_last] {
        assert!(poll(future.as_mut(), waker).is_none());
    }
    assert_eq!((Arc::strong_count(&first), Arc::strong_count(&last)), (2, 3), "the last one counts");
    drop(future);
    assert_eq!(Arc::strong_count(&last), 2);
    drop(held);
    assert_eq!(compiling.join().expect("no panic"), [3.0, 6.0]);
}

#[test]
fn a_fault_is_the_future_s_error() {
    let _turn = Turn::take();
    fault::fail_next(1, 8);
    let error = block_on((vector(&[1.0]) + 1.0).into_data_async()).expect_err("the work failed");
    assert!(error.to_string().contains("command buffer"), "{error}");
    assert!(MpsGraphDevice.sync().is_err());
}

#[test]
fn a_future_over_work_that_hangs_is_woken_and_fails() {
    let _turn = Turn::take();
    let _hangs = Hangs::begin();
    fault::hang_next(1);
    let kept = vector(&[1.0]) + 1.0;
    let error = block_on(kept.into_data_async()).expect_err("it hangs").to_string();
    assert!(error.contains("device hang"), "{error}");
    assert_eq!(numbers(block_on((vector(&[1.0]) + 2.0).into_data_async())), [3.0]);
    assert!(MpsGraphDevice.sync().is_err());
}

#[test]
fn who_gives_up_wakes_those_that_began_to_wait_later() {
    let _turn = Turn::take();
    let _hangs = Hangs::begin();
    fault::hang_next(1);
    let [(first, first_waker), (second, second_waker)] = [task(), task()];
    let mut early = pin!((vector(&[1.0]) + 1.0).into_data_async());
    assert!(poll(early.as_mut(), &first_waker).is_none());
    thread::sleep(LIMIT / 2);
    let mut late = pin!((vector(&[1.0]) + 2.0).into_data_async());
    assert!(poll(late.as_mut(), &second_waker).is_none());
    first.wait_for(1);
    assert!(poll(early, &first_waker).expect("it is late").is_err());
    assert_eq!((first.times(), second.times()), (1, 1), "the second is woken before its own limit");
    assert!(poll(late, &second_waker).expect("it is lost").is_err());
    assert!(MpsGraphDevice.sync().is_err());
}

#[test]
fn transactions_are_futures_too() {
    let turn = Turn::take();
    let _hangs = Hangs::begin();
    MpsGraphDevice.set_wait_limit(PATIENCE);
    fault::hang_next(1);
    let (woken, waker) = task();
    let transaction = Transaction::default().register(vector(&[1.0]) + 1.0).register(vector(&[2.0]) * 2.0);
    let mut future = pin!(transaction.execute_async());
    assert!(poll(future.as_mut(), &waker).is_none());
    fault::end_hangs();
    woken.wait_for(1);
    let data = poll(future, &waker).expect("it is done").expect("a device");
    assert_eq!(data.iter().map(|data| data.to_vec::<f32>().expect("f32")).collect::<Vec<_>>(), [[2.0], [4.0]]);
    assert_eq!((turn.used().commits, turn.used().waits), (1, 1));
}

#[test]
fn many_tasks_on_many_threads() {
    let _turn = Turn::take();
    let done = AtomicUsize::new(0);
    thread::scope(|scope| {
        for worker in 0..4 {
            let done = &done;
            scope.spawn(move || {
                for round in 0..30 {
                    let tensors = (0..5).map(|i| vector(&[i as f32; 70]) + (worker + round) as f32);
                    let mut futures: Vec<_> =
                        tensors.map(|x: Tensor<B, 1>| Some(Box::pin(x.into_data_async()))).collect();
                    let (woken, waker) = task();
                    while futures.iter().any(Option::is_some) {
                        let times = woken.times();
                        let mut waiting = 0;
                        for (i, slot) in futures.iter_mut().enumerate() {
                            let Some(future) = slot else { continue };
                            match poll(future.as_mut(), &waker) {
                                Some(data) => {
                                    assert_eq!(numbers(data), [(i + worker + round) as f32; 70]);
                                    *slot = None;
                                    done.fetch_add(1, Ordering::Relaxed);
                                }
                                None => waiting += 1,
                            }
                        }
                        if waiting > 0 {
                            woken.wait_for(times + 1);
                        }
                    }
                }
            });
        }
    });
    assert_eq!(done.into_inner(), 4 * 30 * 5);
    assert_eq!(read(vector(&[1.0]) + 1.0), [2.0]);
}
