//! What hangs, crashes or goes silently wrong on a device is refused by name.

use std::sync::mpsc;

use mpsgraph_soft::metal::mtl_buffer::{self, Buffer};
use mpsgraph_soft::mps::mps_command_buffer::{Encoder, encode as encode_on};
use mpsgraph_soft::objc::{Id, Strong};

use super::messages::*;

fn plain(queue: &Strong) -> Strong {
    Strong::retain(msg!(queue.id(), "commandBuffer"; Id))
}

#[test]
fn a_commit_happens_once() {
    let _alone = alone();
    let queue = queue();
    let buffer = plain(&queue);
    commit(&buffer);
    assert_eq!(
        violation(|| commit(&buffer)),
        "-[MTLCommandBuffer commit]: the command buffer is committed already"
    );
    let text = violation(|| msg!(buffer.id(), "enqueue"; ()));
    assert!(text.starts_with("-[MTLCommandBuffer enqueue]: "), "{text}");
    let wrapper = mps(&queue);
    commit(&wrapper);
    assert!(violation(|| commit(&wrapper)).contains("committed already"));
    assert!(
        violation(|| msg!(wrapper.id(), "commitAndContinue"; ())).contains("committed already")
    );
    wait(&wrapper);
}

#[test]
fn a_place_is_taken_once() {
    let _alone = alone();
    let buffer = plain(&queue());
    msg!(buffer.id(), "enqueue"; ());
    assert!(violation(|| msg!(buffer.id(), "enqueue"; ())).contains("its place"));
}

#[test]
fn nothing_is_encoded_after_the_commit() {
    let _alone = alone();
    let wrapper = mps(&queue());
    commit(&wrapper);
    assert!(violation(|| encode(&wrapper, || ())).contains("committed already"));
    assert!(
        violation(|| {
            let root = msg!(wrapper.id(), "rootCommandBuffer"; Id);
            let class = msg!(wrapper.id(), "class"; Id);
            msg!(class, "commandBufferWithCommandBuffer:", root => Id; Id)
        })
        .contains("committed already")
    );
}

#[test]
fn waiting_for_what_is_not_committed() {
    let _alone = alone();
    let queue = queue();
    let buffer = plain(&queue);
    let text = violation(|| wait(&buffer));
    assert_eq!(
        text,
        "-[MTLCommandBuffer waitUntilCompleted]: waits forever: the command buffer is not committed"
    );
    assert!(violation(|| msg!(buffer.id(), "waitUntilScheduled"; ())).contains("waits forever"));
    assert!(violation(|| wait(&mps(&queue))).contains("waits forever"));
}

#[test]
fn two_threads_encode_at_the_same_time() {
    let _alone = alone();
    let wrapper = mps(&queue());
    let encoder = Encoder::new(wrapper.id()).unwrap();
    std::thread::scope(|scope| {
        let other = || {
            let texts = [
                violation(|| encode(&wrapper, || ())),
                violation(|| commit(&wrapper)),
            ];
            assert!(
                texts
                    .iter()
                    .all(|text| text.contains("another thread is encoding")),
                "{texts:?}"
            );
        };
        scope.spawn(other).join().unwrap();
    });
    encoder.encode(Box::new(|| ()), vec![], vec![]);
    encode(&wrapper, || ());
    commit(&wrapper);
    wait(&wrapper);
}

#[test]
fn wrong_arguments() {
    let _alone = alone();
    let queue = queue();
    let wrapper = mps(&queue);
    let class = msg!(wrapper.id(), "class"; Id);
    let from = |object: Id| msg!(class, "commandBufferFromCommandQueue:", object => Id; Id);
    let with = |object: Id| msg!(class, "commandBufferWithCommandBuffer:", object => Id; Id);
    for object in [Id::NIL, wrapper.id()] {
        assert!(
            violation(|| from(object))
                .starts_with("+[MPSCommandBuffer commandBufferFromCommandQueue:]: ")
        );
        assert!(
            violation(|| with(object))
                .starts_with("+[MPSCommandBuffer commandBufferWithCommandBuffer:]: ")
        );
    }
    let none = || msg!(device().id(), "newCommandQueueWithMaxCommandBufferCount:", 0 => usize; Id);
    assert!(violation(none).contains("at least one"));
}

#[test]
fn buffers_used_twice_are_found() {
    let _alone = alone();
    let [a, b, c] = [buffer(4), buffer(4), buffer(4)];
    let aliased = |reads: &[&Strong], writes: &[&Strong]| {
        let owned = |list: &[&Strong]| {
            list.iter()
                .map(|&buffer| buffer.clone())
                .collect::<Vec<_>>()
        };
        mtl_buffer::aliased(&owned(reads), &owned(writes))
    };
    assert_eq!(aliased(&[&a, &a, &b], &[&c]), None);
    assert_eq!(aliased(&[&a, &b], &[&c, &b]), Some(b.id()));
    assert_eq!(aliased(&[], &[&c, &a, &c]), Some(c.id()));
}

#[test]
fn two_queues_race_for_a_buffer() {
    let _alone = alone();
    let [first, second, third] = [mps(&queue()), mps(&queue()), mps(&queue())];
    let [shared, own] = [buffer(4), buffer(4)];
    let (running, runs) = mpsc::channel();
    let (go, gone) = mpsc::channel::<()>();
    let work = move || {
        running.send(()).unwrap();
        gone.recv().unwrap();
    };
    encode_on(first.id(), Box::new(work), vec![shared.clone()], vec![]);
    encode_on(
        second.id(),
        Box::new(|| ()),
        vec![own.clone()],
        vec![shared.clone()],
    );
    encode_on(third.id(), Box::new(|| ()), vec![shared.clone()], vec![]);
    commit(&first);
    runs.recv().unwrap();
    assert!(violation(|| commit(&second)).contains("another queue"));
    assert_eq!(own.id().state::<Buffer>().in_use().count(), (0, 0));
    commit(&third);
    wait(&third);
    go.send(()).unwrap();
    wait(&first);
    assert_eq!(shared.id().state::<Buffer>().in_use().count(), (0, 0));
}
