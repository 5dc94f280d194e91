//! Order, asynchrony, lifetimes, limits and errors of command buffers.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use mpsgraph_soft::metal::mtl_buffer::Buffer;
use mpsgraph_soft::metal::{counters, fault};
use mpsgraph_soft::mps::mps_command_buffer;
use mpsgraph_soft::objc::{Id, Strong};
use mpsgraph_soft::stats;

use super::messages::*;

const COMMITTED: usize = 2;
const SCHEDULED: usize = 3;
const COMPLETED: usize = 4;
const ERROR: usize = 5;

/// Work that reports that it runs, and then waits to be let go.
fn held() -> (
    impl FnOnce() + Send + 'static,
    mpsc::Receiver<()>,
    mpsc::Sender<()>,
) {
    let (running, runs) = mpsc::channel();
    let (go, gone) = mpsc::channel::<()>();
    let work = move || {
        running.send(()).unwrap();
        gone.recv().unwrap();
    };
    (work, runs, go)
}

#[test]
fn work_runs_in_commit_order() {
    let _alone = alone();
    let queue = queue();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let mut last = None;
    for number in 0..1000 {
        pooled(|| {
            let buffer = mps(&queue);
            for part in 0..2 {
                let seen = Arc::clone(&seen);
                encode(&buffer, move || {
                    seen.lock().unwrap().push(2 * number + part)
                });
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
    let _alone = alone();
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
    let (start, end) = (
        msg!(buffer.id(), "GPUStartTime"; f64),
        msg!(buffer.id(), "GPUEndTime"; f64),
    );
    assert!(0.0 < start && start <= end && end <= msg!(behind.id(), "GPUStartTime"; f64));
}

#[test]
fn work_is_done_even_if_nobody_waits_any_more() {
    let _alone = alone();
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
    let _alone = alone();
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

    let (never, after) = (mps(&queue), mps(&queue));
    msg!(never.id(), "enqueue"; ());
    commit(&after);
    pooled(|| drop(never));
    // Its wrapper and root are in the test's pool as well, which a second thread must not wait for.
    drop(_alone);
    wait(&after);
}

#[test]
fn the_command_buffer_keeps_what_it_uses() {
    let _alone = alone();
    let before = counters::snapshot();
    let (work, runs, go) = held();
    let committed = pooled(|| {
        let (queue, input, output) = (queue(), buffer(4), buffer(4));
        contents::<u32>(&input)[0] = 41;
        let wrapper = mps(&queue);
        let (from, mut to) = (
            input.id().state::<Buffer>().span(),
            output.id().state::<Buffer>().span_mut(),
        );
        let work = move || {
            work();
            to.slice::<u32>()[0] = from.slice::<u32>()[0] + 1;
        };
        mps_command_buffer::encode(
            wrapper.id(),
            Box::new(work),
            vec![input],
            vec![output.clone()],
        );
        commit(&wrapper);
        let root = Strong::retain(msg!(wrapper.id(), "rootCommandBuffer"; Id));
        (root, output)
    });
    runs.recv().unwrap();
    assert_eq!(counters::snapshot().buffers_live, before.buffers_live + 2);
    let (root, output) = committed;
    assert!(
        violation(|| msg!(output.id(), "contents"; *mut std::ffi::c_void))
            .contains("wait for it first")
    );
    go.send(()).unwrap();
    wait(&root);
    assert_eq!(contents::<u32>(&output), [42]);
    assert_eq!(counters::snapshot().buffers_live, before.buffers_live + 1);
    let after = counters::snapshot();
    assert_eq!(
        (
            after.committed - before.committed,
            after.completed - before.completed
        ),
        (1, 1)
    );
}

#[test]
fn everything_may_be_let_go_while_work_runs() {
    let _alone = alone();
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

#[test]
fn a_panic_ends_its_command_buffer_only() {
    let _alone = alone();
    let queue = queue();
    let (bad, good) = (mps(&queue), mps(&queue));
    let (skipped, ran) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicBool::new(false)),
    );
    let output = buffer(4);
    mps_command_buffer::encode(
        bad.id(),
        Box::new(|| panic!("kernel trouble")),
        vec![],
        vec![output.clone()],
    );
    let flag = Arc::clone(&skipped);
    encode(&bad, move || flag.store(true, Ordering::Relaxed));
    let flag = Arc::clone(&ran);
    encode(&good, move || flag.store(true, Ordering::Relaxed));
    commit(&bad);
    commit(&good);
    wait(&good);
    assert_eq!((status(&bad), status(&good)), (ERROR, COMPLETED));
    assert!(!skipped.load(Ordering::Relaxed) && ran.load(Ordering::Relaxed));
    let error = msg!(bad.id(), "error"; Id);
    assert_eq!(
        (code(error), text(error, "domain")),
        (1, "MTLCommandBufferErrorDomain".to_owned())
    );
    assert_eq!(text(error, "localizedDescription"), "kernel trouble");
    contents::<u32>(&output);
}

fn code(error: Id) -> isize {
    msg!(error, "code"; isize)
}

fn text(error: Id, property: &str) -> String {
    let text = match property {
        "domain" => msg!(error, "domain"; Id),
        _ => msg!(error, "localizedDescription"; Id),
    };
    let bytes = msg!(text, "UTF8String"; *const std::ffi::c_char);
    // SAFETY: UTF8String ends with a NUL and lives as long as the autoreleased string.
    unsafe { std::ffi::CStr::from_ptr(bytes) }
        .to_str()
        .unwrap()
        .to_owned()
}

#[test]
fn faults_come_when_ordered() {
    let _alone = alone();
    let queue = queue();
    let failed = counters::snapshot().failed;
    fault::fail_next(2, 8);
    fault::fail_next_here(3, 2);
    let ran = Arc::new(AtomicUsize::new(0));
    let buffers = [0; 4].map(|_| {
        let buffer = mps(&queue);
        let ran = Arc::clone(&ran);
        encode(&buffer, move || _ = ran.fetch_add(1, Ordering::Relaxed));
        commit(&buffer);
        buffer
    });
    wait(&buffers[3]);
    assert_eq!(
        buffers.each_ref().map(status),
        [COMPLETED, ERROR, ERROR, COMPLETED]
    );
    assert_eq!(code(msg!(buffers[1].id(), "error"; Id)), 8);
    assert!(
        text(msg!(buffers[1].id(), "error"; Id), "localizedDescription")
            .starts_with("Insufficient Memory")
    );
    assert_eq!(code(msg!(buffers[2].id(), "error"; Id)), 2);
    assert_eq!(
        (
            ran.load(Ordering::Relaxed),
            counters::snapshot().failed - failed
        ),
        (2, 2)
    );
}

#[test]
fn the_cpu_may_read_but_not_write_what_work_reads() {
    let _alone = alone();
    let queue = queue();
    for (overwrite, ends_in) in [(false, COMPLETED), (true, ERROR)] {
        let (input, wrapper) = (buffer(1 << 20), mps(&queue));
        let (work, runs, go) = held();
        mps_command_buffer::encode(wrapper.id(), Box::new(work), vec![input.clone()], vec![]);
        commit(&wrapper);
        runs.recv().unwrap();
        let bytes = contents::<u8>(&input);
        assert_eq!(bytes[77], 0);
        if overwrite {
            bytes[4096..8192].fill(1);
        }
        go.send(()).unwrap();
        wait(&wrapper);
        assert_eq!(status(&wrapper), ends_in);
        if overwrite {
            let error = text(msg!(wrapper.id(), "error"; Id), "localizedDescription");
            assert!(
                error.contains("the CPU wrote to a buffer that committed work was reading"),
                "{error}"
            );
        }
        // Done with: now the CPU may write, and the next reader finds nothing wrong with it.
        contents::<u8>(&input).fill(7);
        let next = mps(&queue);
        mps_command_buffer::encode(next.id(), Box::new(|| ()), vec![input], vec![]);
        commit(&next);
        wait(&next);
        assert_eq!(status(&next), COMPLETED);
    }
}

#[test]
fn a_full_queue_makes_the_next_command_buffer_wait() {
    let _alone = alone();
    let queue = msg!(device().id(), "newCommandQueueWithMaxCommandBufferCount:", 2 => usize; Id);
    let queue = Strong::from_owned(queue);
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
    let fourth = mps(&queue);
    fault::report_hang_after(Duration::from_millis(20));
    let text = violation(|| mps(&queue));
    fault::report_hang_after(Duration::from_secs(10));
    assert!(text.contains("waits forever"), "{text}");
    commit(&third);
    wait(&third);
    drop(fourth);
    mps(&queue);
}

#[test]
fn many_threads_share_a_queue() {
    let _alone = alone();
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
