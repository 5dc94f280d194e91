//! What hangs, crashes or goes silently wrong on a device is refused by name.

use std::time::Duration;

use mpsgraph_soft::metal::fault;
use mpsgraph_soft::metal::mtl_buffer::{self, Buffer};
use mpsgraph_soft::mps::mps_command_buffer::{Encoder, encode as encode_on};
use mpsgraph_soft::objc::{Id, Strong};

use super::messages::*;
use crate::support::{Documented, Reported};

fn raw(queue: &Strong) -> Strong {
    Strong::retain(msg!(queue.id(), "commandBuffer"; Id))
}

#[test]
fn a_command_buffer_is_committed_once() {
    let _test = rule(Documented("Apple's MTLCommandBuffer.h (commit)"));
    let queue = queue();
    let buffer = raw(&queue);
    commit(&buffer);
    assert_eq!(violation(|| commit(&buffer)), "-[MTLCommandBuffer commit]: the command buffer is committed already");
    let wrapper = mps(&queue);
    commit(&wrapper);
    assert_eq!(violation(|| commit(&wrapper)), "-[MPSCommandBuffer commit]: the command buffer is committed already");
    assert_eq!(
        violation(|| msg!(wrapper.id(), "commitAndContinue"; ())),
        "-[MPSCommandBuffer commitAndContinue]: the command buffer is committed already"
    );
    wait(&wrapper);
}

#[test]
fn a_command_buffer_is_enqueued_once_and_before_its_commit() {
    let _test = rule(Documented("Apple's MTLCommandBuffer.h (enqueue)"));
    let queue = queue();
    let [enqueued, committed] = [raw(&queue), raw(&queue)];
    msg!(enqueued.id(), "enqueue"; ());
    commit(&committed);
    for buffer in [enqueued, committed] {
        assert_eq!(
            violation(|| msg!(buffer.id(), "enqueue"; ())),
            "-[MTLCommandBuffer enqueue]: the command buffer has its place in the queue already"
        );
    }
}

#[test]
fn encoding_on_a_committed_command_buffer_is_refused() {
    let _test =
        rule(Documented("Apple's MTLCommandBuffer.h (commit); what MPSGraph says of it is in `tests/graph/encode.rs`"));
    let wrapper = mps(&queue());
    commit(&wrapper);
    assert!(violation(|| encode(&wrapper, || ())).contains("committed already"));
    assert_eq!(
        violation(|| {
            let root = msg!(wrapper.id(), "rootCommandBuffer"; Id);
            let class = msg!(wrapper.id(), "class"; Id);
            msg!(class, "commandBufferWithCommandBuffer:", root => Id; Id)
        }),
        "+[MPSCommandBuffer commandBufferWithCommandBuffer:]: the command buffer is committed already"
    );
}

#[test]
fn waiting_for_an_uncommitted_command_buffer_is_refused() {
    let _test = rule(Documented("Apple's MPSCommandBuffer.h: waiting for what nobody commits is a deadlock"));
    let queue = queue();
    let buffer = raw(&queue);
    let why = "waits forever: the command buffer is not committed";
    assert_eq!(violation(|| wait(&buffer)), format!("-[MTLCommandBuffer waitUntilCompleted]: {why}"));
    assert_eq!(
        violation(|| msg!(buffer.id(), "waitUntilScheduled"; ())),
        format!("-[MTLCommandBuffer waitUntilScheduled]: {why}")
    );
    assert_eq!(violation(|| wait(&mps(&queue))), format!("-[MPSCommandBuffer waitUntilCompleted]: {why}"));
}

#[test]
fn waiting_behind_a_place_that_nobody_commits_is_refused() {
    let _test =
        rule(Documented("Apple's MTLCommandBuffer.h (enqueue): command buffers run in the order of their places"));
    let queue = queue();
    let [first, second] = [raw(&queue), raw(&queue)];
    msg!(first.id(), "enqueue"; ());
    commit(&second);
    fault::report_hang_after(Duration::from_millis(20));
    let why = "waits forever: a command buffer enqueued before it is not committed";
    assert_eq!(violation(|| wait(&second)), format!("-[MTLCommandBuffer waitUntilCompleted]: {why}"));
    assert_eq!(
        violation(|| msg!(second.id(), "waitUntilScheduled"; ())),
        format!("-[MTLCommandBuffer waitUntilScheduled]: {why}")
    );
    fault::report_hang_after(Duration::from_secs(10));
    commit(&first);
    wait(&second);
    assert_eq!((status(&first), status(&second)), (COMPLETED, COMPLETED));
}

#[test]
fn two_threads_encoding_on_one_command_buffer_are_refused() {
    let _test = rule(Reported("pytorch/pytorch#197805"));
    let wrapper = mps(&queue());
    let encoder = Encoder::new(&wrapper).unwrap();
    std::thread::scope(|scope| {
        let other = || {
            let texts = [violation(|| encode(&wrapper, || ())), violation(|| commit(&wrapper))];
            assert!(texts.iter().all(|text| text.contains("another thread is encoding")), "{texts:?}");
        };
        scope.spawn(other).join().unwrap();
    });
    encoder.encode_function(Box::new(|| ()), vec![], vec![]);
    encode(&wrapper, || ());
    commit(&wrapper);
    wait(&wrapper);
}

#[test]
fn a_wrapper_is_made_from_a_queue_or_a_command_buffer() {
    let _test =
        rule(Documented("Apple's MPSCommandBuffer.h: it is made from a queue or from a command buffer of Metal's own"));
    let wrapper = mps(&queue());
    let class = msg!(wrapper.id(), "class"; Id);
    for object in [Id::NIL, wrapper.id()] {
        assert_eq!(
            violation(|| msg!(class, "commandBufferFromCommandQueue:", object => Id; Id)),
            "+[MPSCommandBuffer commandBufferFromCommandQueue:]: the argument is not an MTLCommandQueue"
        );
        assert_eq!(
            violation(|| msg!(class, "commandBufferWithCommandBuffer:", object => Id; Id)),
            "+[MPSCommandBuffer commandBufferWithCommandBuffer:]: the argument is not an MTLCommandBuffer"
        );
    }
}

#[test]
fn a_queue_without_room_is_refused() {
    let _test = rule(Documented("Apple's MTLDevice.h (newCommandQueueWithMaxCommandBufferCount:)"));
    let none = || msg!(device().id(), "newCommandQueueWithMaxCommandBufferCount:", 0 => usize; Id);
    assert!(violation(none).contains("at least one"));
}

#[test]
fn buffers_used_twice_are_found() {
    let _test = plain();
    let [a, b, c] = [buffer(4), buffer(4), buffer(4)];
    let aliased = |reads: &[&Strong], writes: &[&Strong]| {
        let owned = |list: &[&Strong]| list.iter().map(|&buffer| buffer.clone()).collect::<Vec<_>>();
        mtl_buffer::aliased(&owned(reads), &owned(writes))
    };
    assert_eq!(aliased(&[&a, &a, &b], &[&c]), None);
    assert_eq!(aliased(&[&a, &b], &[&c, &b]), Some(b.id()));
    assert_eq!(aliased(&[], &[&c, &a, &c]), Some(c.id()));
}

#[test]
fn two_queues_that_race_for_a_buffer_are_refused() {
    let _test = rule(Documented("Apple's MTLCommandQueue.h: queues run independently of one another"));
    let [first, second, third] = [mps(&queue()), mps(&queue()), mps(&queue())];
    let [shared, own] = [buffer(4), buffer(4)];
    let (work, runs, go) = held();
    encode_on(first.id(), Box::new(work), vec![shared.clone()], vec![]);
    encode_on(second.id(), Box::new(|| ()), vec![own.clone()], vec![shared.clone()]);
    encode_on(third.id(), Box::new(|| ()), vec![shared.clone()], vec![]);
    commit(&first);
    runs.recv().unwrap();
    assert!(violation(|| commit(&second)).contains("another queue"));
    assert_eq!(own.state::<Buffer>().in_use().count(), (0, 0));
    commit(&third);
    wait(&third);
    go.send(()).unwrap();
    wait(&first);
    assert_eq!(shared.state::<Buffer>().in_use().count(), (0, 0));
}
