//! Command buffers that end in error: what they say, and what they leave behind.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use mpsgraph_soft::metal::{counters, fault};
use mpsgraph_soft::mps::mps_command_buffer;
use mpsgraph_soft::objc::{Id, Strong};

use super::messages::*;
use crate::support::{Documented, Reported};

/// Code, domain and description of the error that a command buffer ended in.
fn error(buffer: &Strong) -> (isize, String, String) {
    let error = msg!(buffer.id(), "error"; Id);
    (msg!(error, "code"; isize), text(msg!(error, "domain"; Id)), text(msg!(error, "localizedDescription"; Id)))
}

#[test]
fn a_failed_command_buffer_has_apples_code_and_domain() {
    let _test = rule(Documented(
        "Apple's MTLCommandBuffer.h (MTLCommandBufferError); the text of code 8 as in ml-explore/mlx#479",
    ));
    for (code, reason) in [
        (1, "Internal Error"),
        (2, "Caused GPU Timeout Error"),
        (3, "Caused GPU Address Fault Error"),
        (4, "Ignored"),
        (7, "Not Permitted"),
        (8, "Insufficient Memory (00000008"),
        (9, "Invalid Resource"),
        (10, "Memoryless Resource"),
        (11, "Device Removed"),
        (12, "Stack Overflow"),
    ] {
        let buffer = mps(&queue());
        fault::fail_next_here(1, code);
        commit(&buffer);
        wait(&buffer);
        assert_eq!(status(&buffer), ERROR);
        let (given, domain, description) = error(&buffer);
        assert_eq!((given as usize, domain.as_str()), (code, "MTLCommandBufferErrorDomain"));
        assert!(description.starts_with(reason), "{description}");
    }
}

#[test]
fn a_queue_whose_work_was_ignored_takes_no_more() {
    let _test = rule(Reported("jundot/omlx#3706: after an ignored submission all later ones are ignored, too"));
    let [refused, other] = [queue(), queue()];
    let ends = |queue: &Strong| {
        let buffer = mps(queue);
        commit(&buffer);
        wait(&buffer);
        status(&buffer)
    };
    fault::fail_next_here(1, 4);
    assert_eq!([ends(&refused), ends(&refused), ends(&other)], [ERROR, ERROR, COMPLETED]);
}

#[test]
fn results_of_failed_work_are_stale_and_nothing_raises() {
    let _test =
        rule(Reported("ml-explore/mlx#479; gfx-rs/wgpu#9545: nothing raises, and reads after an error give old bytes"));
    let (queue, output) = (queue(), buffer(4));
    let adds = |buffer: &Strong| {
        let mut to = span_mut(&output);
        let work = move || to.slice::<u32>()[0] += 1;
        mps_command_buffer::encode(buffer.id(), Box::new(work), vec![], vec![output.clone()]);
        commit(buffer);
        wait(buffer);
        (status(buffer), contents::<u32>(&output)[0])
    };
    assert_eq!(adds(&mps(&queue)), (COMPLETED, 1));
    fault::fail_next_here(1, 8);
    assert_eq!(adds(&mps(&queue)), (ERROR, 1));
    assert_eq!(adds(&mps(&queue)), (COMPLETED, 2));
}

#[test]
fn a_panic_ends_its_command_buffer_only() {
    let _test = plain();
    let queue = queue();
    let (bad, good) = (mps(&queue), mps(&queue));
    let (skipped, ran) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let output = buffer(4);
    mps_command_buffer::encode(bad.id(), Box::new(|| panic!("kernel trouble")), vec![], vec![output.clone()]);
    let flag = Arc::clone(&skipped);
    encode(&bad, move || flag.store(true, Ordering::Relaxed));
    let flag = Arc::clone(&ran);
    encode(&good, move || flag.store(true, Ordering::Relaxed));
    commit(&bad);
    commit(&good);
    wait(&good);
    assert_eq!((status(&bad), status(&good)), (ERROR, COMPLETED));
    assert!(!skipped.load(Ordering::Relaxed) && ran.load(Ordering::Relaxed));
    let (code, _, description) = error(&bad);
    assert_eq!((code, description.as_str()), (1, "kernel trouble"));
    contents::<u32>(&output);
}

#[test]
fn faults_come_when_ordered() {
    let _test = plain();
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
    assert_eq!(buffers.each_ref().map(status), [COMPLETED, ERROR, ERROR, COMPLETED]);
    assert_eq!((error(&buffers[1]).0, error(&buffers[2]).0), (8, 2));
    assert_eq!((ran.load(Ordering::Relaxed), counters::snapshot().failed - failed), (2, 2));
}

#[test]
fn what_hangs_holds_up_its_queue_only_and_computes_late() {
    let _test = plain();
    let (queue, other) = (queue(), queue());
    fault::hang_next(1);
    let ran = Arc::new(AtomicUsize::new(0));
    let [hung, behind, elsewhere] = [&queue, &queue, &other].map(|queue| {
        let buffer = mps(queue);
        let ran = Arc::clone(&ran);
        encode(&buffer, move || _ = ran.fetch_add(1, Ordering::Relaxed));
        commit(&buffer);
        buffer
    });
    wait(&elsewhere);
    assert_eq!(ran.load(Ordering::Relaxed), 1);
    assert!(status(&hung) < COMPLETED && status(&behind) < COMPLETED);
    fault::end_hangs();
    wait(&behind);
    assert_eq!((status(&hung), status(&behind), ran.load(Ordering::Relaxed)), (COMPLETED, COMPLETED, 3));
}

#[test]
fn a_hang_that_is_ended_before_it_begins_does_nothing() {
    let _test = plain();
    fault::hang_next(1);
    fault::end_hangs();
    let buffer = mps(&queue());
    commit(&buffer);
    wait(&buffer);
    assert_eq!(status(&buffer), COMPLETED);
}
