//! `MPSCommandBuffer`: roots that follow one another.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mpsgraph_soft::metal::fault;
use mpsgraph_soft::objc::{Id, Strong};

use super::messages::*;

fn root(wrapper: &Strong) -> Strong {
    Strong::retain(msg!(wrapper.id(), "rootCommandBuffer"; Id))
}

fn counting(wrapper: &Strong, count: &Arc<AtomicUsize>) {
    let count = Arc::clone(count);
    encode(wrapper, move || _ = count.fetch_add(1, Ordering::Relaxed));
}

#[test]
fn it_wraps_and_passes_on() {
    let _alone = alone();
    let queue = queue();
    let inner = Strong::retain(msg!(queue.id(), "commandBuffer"; Id));
    let class = msg!(mps(&queue).id(), "class"; Id);
    let made = Strong::retain(msg!(class, "commandBufferWithCommandBuffer:", inner.id() => Id; Id));
    let other = Strong::retain(msg!(queue.id(), "commandBuffer"; Id));
    let allocated = msg!(class, "alloc"; Id);
    let initialised =
        Strong::from_owned(msg!(allocated, "initWithCommandBuffer:", other.id() => Id; Id));
    for (wrapper, inner) in [(made, inner), (initialised, other)] {
        assert_eq!(msg!(wrapper.id(), "commandBuffer"; Id), inner.id());
        assert_eq!(msg!(wrapper.id(), "rootCommandBuffer"; Id), inner.id());
        assert_eq!(msg!(wrapper.id(), "commandQueue"; Id), queue.id());
        assert_eq!(msg!(wrapper.id(), "device"; Id), device().id());
        assert!(msg!(wrapper.id(), "retainedReferences"; bool));
        commit(&wrapper);
        wait(&wrapper);
        assert_eq!((status(&wrapper), status(&inner)), (4, 4));
        assert!(msg!(wrapper.id(), "error"; Id).is_nil());
        assert!(msg!(wrapper.id(), "GPUEndTime"; f64) >= msg!(wrapper.id(), "GPUStartTime"; f64));
        msg!(wrapper.id(), "waitUntilScheduled"; ());
    }
}

#[test]
fn commit_and_continue_takes_a_new_root() {
    let _alone = alone();
    let queue = queue();
    let wrapper = mps(&queue);
    let count = Arc::new(AtomicUsize::new(0));
    counting(&wrapper, &count);
    let first = root(&wrapper);
    msg!(wrapper.id(), "commitAndContinue"; ());
    let second = root(&wrapper);
    assert_ne!(first, second);
    assert_eq!(
        msg!(wrapper.id(), "commandBuffer"; Id),
        first.id(),
        "the one it was made with"
    );
    assert!(
        violation(|| wait(&wrapper)).contains("waits forever"),
        "the new root is not committed"
    );
    wait(&first);
    assert_eq!(count.load(Ordering::Relaxed), 1);
    counting(&wrapper, &count);
    commit(&wrapper);
    wait(&wrapper);
    assert_eq!((count.load(Ordering::Relaxed), status(&second)), (2, 4));
}

#[test]
fn an_encode_may_commit() {
    let _alone = alone();
    let wrapper = mps(&queue());
    let count = Arc::new(AtomicUsize::new(0));
    let first = root(&wrapper);
    fault::commit_inside_encode(true);
    counting(&wrapper, &count);
    fault::commit_inside_encode(false);
    assert!(status(&first) >= 2 && status(&wrapper) == 0);
    counting(&wrapper, &count);
    commit(&wrapper);
    wait(&wrapper);
    assert_eq!((count.load(Ordering::Relaxed), status(&first)), (2, 4));
}
