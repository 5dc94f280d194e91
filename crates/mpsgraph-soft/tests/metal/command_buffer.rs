//! Order, asynchrony and limits of command buffers.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mpsgraph_soft::metal::fault;
use mpsgraph_soft::objc::{Id, Strong};
use mpsgraph_soft::stats;

use super::messages::*;
use crate::support::Documented;

#[test]
fn work_runs_in_commit_order() {
    let _test = rule(Documented("Apple's MTLCommandQueue.h"));
    let queue = queue();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let mut last = None;
    for number in 0..1000 {
        pooled(|| {
            let buffer = mps(&queue);
            for part in 0..2 {
                let seen = Arc::clone(&seen);
                encode(&buffer, move || seen.lock().unwrap().push(2 * number + part));
            }
            commit(&buffer);
            last = Some(buffer);
        });
        if number % 7 == 0 {
            wait(last.as_ref().unwrap());
        }
    }
    wait(&last.unwrap());
    assert_eq!(*seen.lock().unwrap(), (0..2000).collect::<Vec<_>>());
}

#[test]
fn commit_returns_before_the_work_is_done() {
    let _test = plain();
    let queue = queue();
    let (buffer, behind) = (mps(&queue), mps(&queue));
    let (work, runs, go) = held();
    encode(&buffer, work);
    assert_eq!(status(&buffer), 0);
    commit(&buffer);
    commit(&behind);
    msg!(buffer.id(), "waitUntilScheduled"; ());
    runs.recv().unwrap();
    assert_eq!((status(&buffer), status(&behind)), (SCHEDULED, COMMITTED));
    assert!(msg!(buffer.id(), "error"; Id).is_nil());
    go.send(()).unwrap();
    wait(&behind);
    assert_eq!((status(&buffer), status(&behind)), (COMPLETED, COMPLETED));
    let (start, end) = (msg!(buffer.id(), "GPUStartTime"; f64), msg!(buffer.id(), "GPUEndTime"; f64));
    assert!(0.0 < start && start <= end && end <= msg!(behind.id(), "GPUStartTime"; f64));
}

#[test]
fn work_is_done_even_if_nobody_waits_any_more() {
    let _test = plain();
    let queue = queue();
    // A queue may get used to a wait after each commit; that must not be what the work depends on.
    for round in 0..3 {
        for _ in 0..20 {
            let buffer = mps(&queue);
            commit(&buffer);
            wait(&buffer);
        }
        std::thread::sleep(Duration::from_millis(15 * round));
        let unwatched = mps(&queue);
        commit(&unwatched);
        let start = Instant::now();
        while status(&unwatched) != COMPLETED {
            assert!(start.elapsed() < Duration::from_secs(2));
            std::thread::yield_now();
        }
    }
}

#[test]
fn an_enqueued_command_buffer_keeps_its_place() {
    let _test = rule(Documented("Apple's MTLCommandBuffer.h (enqueue)"));
    let queue = queue();
    let (first, second) = (mps(&queue), mps(&queue));
    msg!(first.id(), "enqueue"; ());
    assert_eq!(status(&first), 1);
    let order = Arc::new(Mutex::new(Vec::new()));
    for (buffer, name) in [(&first, "first"), (&second, "second")] {
        let order = Arc::clone(&order);
        encode(buffer, move || order.lock().unwrap().push(name));
    }
    commit(&second);
    std::thread::sleep(Duration::from_millis(5));
    assert_eq!(status(&second), COMMITTED);
    commit(&first);
    wait(&second);
    assert_eq!(*order.lock().unwrap(), ["first", "second"]);

    // A pool of their own: the test's would keep the first one alive, and the second one waiting.
    let (never, after) = pooled(|| (mps(&queue), mps(&queue)));
    msg!(never.id(), "enqueue"; ());
    commit(&after);
    pooled(|| drop(never));
    wait(&after);
}

#[test]
fn everything_may_be_let_go_while_work_runs() {
    let _test = plain();
    let done = Arc::new(AtomicUsize::new(0));
    for _ in 0..200 {
        pooled(|| {
            let queue = queue();
            for _ in 0..3 {
                let buffer = mps(&queue);
                let done = Arc::clone(&done);
                encode(&buffer, move || _ = done.fetch_add(1, Ordering::Relaxed));
                commit(&buffer);
            }
        });
    }
    // Tests before this one may have left work to its queue as well; all of it ends.
    let classes = ["MTLCommandQueue", "MTLCommandBuffer", "MPSCommandBuffer"];
    let live = || classes.map(stats::live_count);
    let start = Instant::now();
    while live() != [0, 0, 0] && start.elapsed() < Duration::from_secs(10) {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!((done.load(Ordering::Relaxed), live()), (600, [0, 0, 0]));
}

/// A queue with room for two command buffers.
fn narrow_queue() -> Strong {
    owned(msg!(device().id(), "newCommandQueueWithMaxCommandBufferCount:", 2 => usize; Id))
}

#[test]
fn a_full_queue_makes_the_next_command_buffer_wait() {
    let _test = rule(Documented("Apple's MTLDevice.h (newCommandQueueWithMaxCommandBufferCount:)"));
    let queue = narrow_queue();
    let (first, second) = (mps(&queue), mps(&queue));
    let (work, runs, go) = held();
    encode(&first, work);
    commit(&first);
    commit(&second);
    runs.recv().unwrap();
    let opened = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&opened);
    let opener = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(20));
        flag.store(true, Ordering::SeqCst);
        go.send(()).unwrap();
    });
    let third = mps(&queue);
    assert!(opened.load(Ordering::SeqCst), "there was no place before");
    opener.join().unwrap();
    commit(&third);
    wait(&third);
}

#[test]
fn asking_a_full_queue_for_more_than_it_can_have_is_refused() {
    let _test = rule(Documented(
        "Apple's MTLDevice.h (newCommandQueueWithMaxCommandBufferCount:): with nothing committed, nothing makes room",
    ));
    let queue = narrow_queue();
    let (first, _second) = (mps(&queue), mps(&queue));
    fault::report_hang_after(Duration::from_millis(20));
    let why = "waits forever: all command buffers of the queue are taken and none of them is committed";
    assert_eq!(violation(|| mps(&queue)), format!("+[MPSCommandBuffer commandBufferFromCommandQueue:]: {why}"));
    assert_eq!(violation(|| msg!(queue.id(), "commandBuffer"; Id)), format!("-[MTLCommandQueue commandBuffer]: {why}"));
    fault::report_hang_after(Duration::from_secs(10));
    commit(&first);
    mps(&queue);
}

#[test]
fn many_threads_share_a_queue() {
    let _test = plain();
    let queue = queue();
    let total = Arc::new(AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (queue, total) = (&queue, &total);
            scope.spawn(move || {
                for round in 0..300 {
                    pooled(|| {
                        let buffer = mps(queue);
                        let own = Arc::new(AtomicBool::new(false));
                        let (flag, total) = (Arc::clone(&own), Arc::clone(total));
                        encode(&buffer, move || {
                            flag.store(true, Ordering::Relaxed);
                            total.fetch_add(1, Ordering::Relaxed);
                        });
                        commit(&buffer);
                        if (round + thread) % 3 == 0 {
                            wait(&buffer);
                            assert!(own.load(Ordering::Relaxed));
                        }
                    });
                }
            });
        }
    });
    let last = mps(&queue);
    commit(&last);
    wait(&last);
    assert_eq!(total.load(Ordering::Relaxed), 1200);
}

#[test]
fn work_without_length_is_done_when_its_commit_returns() {
    let _test = plain();
    let queue = queue();
    let (work, runs, go) = held();
    let long = mps(&queue);
    encode(&long, work);
    commit(&long);
    runs.recv().unwrap();
    let behind = mps(&queue);
    commit(&behind);
    assert!(status(&behind) < COMPLETED, "in order");
    go.send(()).unwrap();
    wait(&behind);
    let alone = mps(&queue);
    commit(&alone);
    assert_eq!(status(&alone), COMPLETED);
}
