//! Buffers that committed, unfinished work uses: they live on, and the CPU keeps away.

use mpsgraph_soft::metal::counters;
use mpsgraph_soft::mps::mps_command_buffer;
use mpsgraph_soft::objc::{Id, Strong};

use super::messages::*;
use crate::support::Documented;

/// Work that waits to be let go and then writes one more than it reads, committed with everything but the result
/// and the command buffer let go of already.
struct InFlight {
    root: Strong,
    output: Strong,
    runs: std::sync::mpsc::Receiver<()>,
    go: std::sync::mpsc::Sender<()>,
}

fn in_flight(number: u32) -> InFlight {
    let (work, runs, go) = held();
    pooled(|| {
        let (queue, input, output) = (queue(), buffer(4), buffer(4));
        contents::<u32>(&input)[0] = number;
        let wrapper = mps(&queue);
        let (from, mut to) = (span(&input), span_mut(&output));
        let work = move || {
            work();
            to.slice::<u32>()[0] = from.slice::<u32>()[0] + 1;
        };
        mps_command_buffer::encode(wrapper.id(), Box::new(work), vec![input], vec![output.clone()]);
        commit(&wrapper);
        let root = Strong::retain(msg!(wrapper.id(), "rootCommandBuffer"; Id));
        InFlight { root, output, runs, go }
    })
}

#[test]
fn a_buffer_released_while_in_flight_lives_until_completion() {
    let _test = rule(Documented(
        "Apple's MTLCommandBuffer.h (retainedReferences); ml-explore/mlx mlx/backend/metal/device.cpp",
    ));
    let before = counters::snapshot();
    let work = in_flight(41);
    work.runs.recv().unwrap();
    assert_eq!(counters::snapshot().buffers_live, before.buffers_live + 2);
    work.go.send(()).unwrap();
    wait(&work.root);
    assert_eq!(contents::<u32>(&work.output), [42]);
    let after = counters::snapshot();
    assert_eq!(after.buffers_live, before.buffers_live + 1);
    assert_eq!((after.committed - before.committed, after.completed - before.completed), (1, 1));
}

#[test]
fn reading_what_work_in_flight_writes_is_refused() {
    let _test = rule(Documented(
        "Apple's documentation of MTLStorageMode.shared: the CPU must not read before the command buffer has completed",
    ));
    let work = in_flight(1);
    work.runs.recv().unwrap();
    assert_eq!(
        violation(|| msg!(work.output.id(), "contents"; *mut std::ffi::c_void)),
        "-[MTLBuffer contents]: work that writes this buffer is committed and not finished: wait for it first"
    );
    work.go.send(()).unwrap();
    wait(&work.root);
    assert_eq!(contents::<u32>(&work.output), [2]);
}

/// When the CPU asks for the bytes.
#[derive(Clone, Copy, PartialEq)]
enum Asked {
    BeforeTheCommit,
    InFlight,
}

/// Work that only reads a large buffer, held while `meanwhile` is done with its bytes; the status it ends in and why.
fn while_it_is_read(asked: Asked, meanwhile: impl FnOnce(&mut [u8])) -> (usize, String) {
    let (input, wrapper) = (buffer(1 << 20), mps(&queue()));
    let early = (asked == Asked::BeforeTheCommit).then(|| contents::<u8>(&input));
    let (work, runs, go) = held();
    mps_command_buffer::encode(wrapper.id(), Box::new(work), vec![input.clone()], vec![]);
    commit(&wrapper);
    runs.recv().unwrap();
    meanwhile(early.unwrap_or_else(|| contents::<u8>(&input)));
    go.send(()).unwrap();
    wait(&wrapper);
    let error = msg!(wrapper.id(), "error"; Id);
    let why = if error.is_nil() { String::new() } else { text(msg!(error, "localizedDescription"; Id)) };
    let ended_in = status(&wrapper);
    // Done with: now the CPU may write, and the next reader finds nothing wrong with it.
    contents::<u8>(&input).fill(7);
    let next = mps(&queue());
    mps_command_buffer::encode(next.id(), Box::new(|| ()), vec![input], vec![]);
    commit(&next);
    wait(&next);
    assert_eq!(status(&next), COMPLETED);
    (ended_in, why)
}

#[test]
fn reading_what_work_in_flight_reads_is_fine() {
    let _test = plain();
    for asked in [Asked::BeforeTheCommit, Asked::InFlight] {
        let ended = while_it_is_read(asked, |bytes| assert_eq!(bytes[77], 0));
        assert_eq!(ended, (COMPLETED, String::new()));
    }
}

#[test]
fn writing_what_work_in_flight_reads_is_found_out() {
    let _test = rule(Documented(
        "Apple's documentation of MTLStorageMode.shared: the CPU's changes must be complete before the commit",
    ));
    for asked in [Asked::BeforeTheCommit, Asked::InFlight] {
        let (ended_in, why) = while_it_is_read(asked, |bytes| bytes[4096..8192].fill(1));
        assert_eq!(ended_in, ERROR);
        assert_eq!(why, "-[MTLBuffer contents]: the CPU wrote to a buffer that committed work was reading");
    }
}

#[test]
fn what_the_cpu_writes_before_the_commit_is_seen() {
    let _test = rule(Documented("Apple's documentation of MTLStorageMode.shared"));
    let (input, output, wrapper) = (buffer(4), buffer(4), mps(&queue()));
    let (from, mut to) = (span(&input), span_mut(&output));
    let work = move || to.slice::<u32>()[0] = from.slice::<u32>()[0];
    mps_command_buffer::encode(wrapper.id(), Box::new(work), vec![input.clone()], vec![output.clone()]);
    contents::<u32>(&input)[0] = 9;
    commit(&wrapper);
    wait(&wrapper);
    assert_eq!(contents::<u32>(&output), [9]);
}
