//! `MPSCommandBuffer`: roots that follow one another, and scratch memory that stays.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mpsgraph_soft::metal::allocation::PAGE;
use mpsgraph_soft::metal::{counters, fault};
use mpsgraph_soft::mps::mps_command_buffer::Encoder;
use mpsgraph_soft::objc::{Id, Strong};

use super::messages::*;
use crate::support::{Documented, Probed, Reported};

fn root(wrapper: &Strong) -> Strong {
    Strong::retain(msg!(wrapper.id(), "rootCommandBuffer"; Id))
}

fn counting(wrapper: &Strong, count: &Arc<AtomicUsize>) {
    let count = Arc::clone(count);
    encode(wrapper, move || _ = count.fetch_add(1, Ordering::Relaxed));
}

#[test]
fn it_wraps_and_passes_on() {
    let _test = rule(Documented("Apple's MPSCommandBuffer.h"));
    let queue = queue();
    let inner = Strong::retain(msg!(queue.id(), "commandBuffer"; Id));
    let class = msg!(mps(&queue).id(), "class"; Id);
    let made = Strong::retain(msg!(class, "commandBufferWithCommandBuffer:", inner.id() => Id; Id));
    let other = Strong::retain(msg!(queue.id(), "commandBuffer"; Id));
    let allocated = msg!(class, "alloc"; Id);
    let initialised = owned(msg!(allocated, "initWithCommandBuffer:", other.id() => Id; Id));
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
    let _test = rule(Documented("Apple's MPSCommandBuffer.h (commitAndContinue, rootCommandBuffer)"));
    let wrapper = mps(&queue());
    let count = Arc::new(AtomicUsize::new(0));
    counting(&wrapper, &count);
    let first = root(&wrapper);
    msg!(wrapper.id(), "commitAndContinue"; ());
    let second = root(&wrapper);
    assert_ne!(first, second);
    wait(&first);
    assert_eq!(count.load(Ordering::Relaxed), 1);
    counting(&wrapper, &count);
    commit(&wrapper);
    wait(&wrapper);
    assert_eq!((count.load(Ordering::Relaxed), status(&second)), (2, 4));
}

#[test]
fn command_buffer_is_the_newest_too() {
    let _test = rule(Probed(
        "DrewsChessMachine GPU_CALL_AUDIT_2026-10-09.md: on macOS 27.2, against the header, which says the first",
    ));
    let wrapper = mps(&queue());
    let newest = || msg!(wrapper.id(), "commandBuffer"; Id);
    let first = root(&wrapper);
    assert_eq!(newest(), first.id());
    msg!(wrapper.id(), "commitAndContinue"; ());
    assert_ne!(newest(), first.id());
    assert_eq!(newest(), root(&wrapper).id());
}

#[test]
fn waiting_after_commit_and_continue_is_refused() {
    let _test = rule(Documented("Apple's MPSCommandBuffer.h: it waits on the new root, which nobody has committed"));
    let wrapper = mps(&queue());
    msg!(wrapper.id(), "commitAndContinue"; ());
    assert_eq!(
        violation(|| wait(&wrapper)),
        "-[MPSCommandBuffer waitUntilCompleted]: waits forever: the command buffer is not committed"
    );
}

/// An encode that commits so many times inside: its roots, the last of them committed too, and how often work ran.
fn encode_with_commits(commits: usize) -> (Vec<Strong>, usize) {
    let wrapper = mps(&queue());
    let before = counters::snapshot().committed;
    let count = Arc::new(AtomicUsize::new(0));
    let first = root(&wrapper);
    fault::commit_inside_encode(commits);
    counting(&wrapper, &count);
    fault::commit_inside_encode(0);
    assert_eq!(counters::snapshot().committed - before, commits as u64);
    let last = root(&wrapper);
    wait(&first);
    assert_eq!(count.load(Ordering::Relaxed), 0, "the work ends in the last root");
    assert_eq!(status(&last), 0);
    commit(&wrapper);
    wait(&wrapper);
    (vec![first, last], count.load(Ordering::Relaxed))
}

#[test]
fn an_encode_may_commit_and_continue() {
    let _test = rule(Documented(
        "Apple's MPSGraph.h (encodeToCommandBuffer:): it may commit, so that the wrapped command buffer is done with",
    ));
    for commits in [1, 3] {
        let (roots, ran) = encode_with_commits(commits);
        assert_eq!(ran, 1);
        assert!(roots[0] != roots[1] && roots.iter().all(|root| status(root) == COMPLETED));
    }
}

#[test]
fn a_process_may_begin_with_commits_inside() {
    let _test = plain();
    let test = "metal::mps_command_buffer::commits_inside_of_the_environment";
    passes_with("MPSGRAPH_SOFT_ENCODE_COMMITS", "2", &["--ignored", "--exact", test], 1);
}

#[test]
#[ignore = "run by `a_process_may_begin_with_commits_inside` with the environment it needs"]
fn commits_inside_of_the_environment() {
    // Not the `plain` of the other tests of Metal, which sets the number.
    let _test = crate::support::plain();
    assert_eq!(fault::commit_inside_encode(0), 2);
}

#[test]
fn an_encode_is_lost_when_any_of_its_roots_fails() {
    let _test = rule(Reported("JuliaGPU/Metal.jl@e67a4cf0: each root of an encode is one to keep an eye on"));
    for (failing, statuses) in [(1, [ERROR, COMPLETED]), (2, [COMPLETED, ERROR])] {
        fault::fail_next_here(failing, 8);
        let (roots, ran) = encode_with_commits(1);
        assert_eq!(([0, 1].map(|at| status(&roots[at])), ran), (statuses, 0));
    }
}

#[test]
fn scratch_memory_grows_until_the_wrapper_is_released() {
    let _test = rule(Reported("pytorch/pytorch#145374; pytorch/pytorch#194459"));
    let queue = queue();
    let allocated = || msg!(device().id(), "currentAllocatedSize"; usize);
    let before = (allocated(), counters::snapshot().scratch_live);
    pooled(|| {
        let wrapper = mps(&queue);
        for round in 1..=4 {
            let encoder = Encoder::new(&wrapper).unwrap();
            encoder.hold_scratch(PAGE + 1);
            encoder.encode_function(Box::new(|| ()), vec![], vec![]);
            msg!(wrapper.id(), "commitAndContinue"; ());
            assert_eq!(allocated(), before.0 + round * 2 * PAGE);
        }
    });
    assert_eq!((allocated(), counters::snapshot().scratch_live), before, "released with the wrapper");
}
