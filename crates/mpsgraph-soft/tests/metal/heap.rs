//! Heaps: one block of memory that many buffers share.

use mpsgraph_soft::metal::counters;
use mpsgraph_soft::mps::mps_command_buffer;
use mpsgraph_soft::objc::{Id, Strong};

use super::messages::*;
use crate::support::{Documented, new};

const SHARED: usize = 0;
const TRACKED: usize = 2;
const PAGE: usize = 16 * 1024;

fn descriptor(size: usize, storage: usize, hazards: usize) -> Strong {
    let descriptor = new("MTLHeapDescriptor");
    msg!(descriptor.id(), "setSize:", size => usize; ());
    msg!(descriptor.id(), "setStorageMode:", storage => usize; ());
    msg!(descriptor.id(), "setHazardTrackingMode:", hazards => usize; ());
    descriptor
}

fn heap_of(descriptor: &Strong) -> Strong {
    let heap = msg!(device().id(), "newHeapWithDescriptor:", descriptor.id() => Id; Id);
    assert!(!heap.is_nil());
    owned(heap)
}

fn heap(size: usize) -> Strong {
    heap_of(&descriptor(size, SHARED, TRACKED))
}

fn small_with(heap: &Strong, length: usize, options: usize) -> Option<Strong> {
    let buffer = msg!(heap.id(), "newBufferWithLength:options:", length => usize, options => usize; Id);
    (!buffer.is_nil()).then(|| owned(buffer))
}

fn small(heap: &Strong, length: usize) -> Option<Strong> {
    small_with(heap, length, SHARED)
}

fn used(heap: &Strong) -> usize {
    msg!(heap.id(), "usedSize"; usize)
}

fn available(heap: &Strong) -> usize {
    msg!(heap.id(), "maxAvailableSizeWithAlignment:", 256 => usize; usize)
}

#[test]
fn the_defaults_of_a_descriptor_are_apple_s() {
    let _test = rule(Documented("Apple's MTLHeap.h: private storage; automatic placement"));
    let descriptor = new("MTLHeapDescriptor");
    assert_eq!(msg!(descriptor.id(), "size"; usize), 0);
    assert_eq!(msg!(descriptor.id(), "storageMode"; usize), 2);
    assert_eq!(msg!(descriptor.id(), "hazardTrackingMode"; usize), 0);
    assert_eq!(msg!(descriptor.id(), "type"; isize), 0);
}

#[test]
fn buffers_of_a_heap_share_its_memory() {
    let _test = rule(Documented("Apple's documentation of MTLHeap and of newBufferWithLength:options:"));
    let before = counters::snapshot();
    let heap = heap(PAGE);
    assert_eq!((used(&heap), available(&heap)), (0, PAGE));
    let buffers: Vec<Strong> = (0..PAGE / 256).map(|_| small(&heap, 4).unwrap()).collect();
    assert!(small(&heap, 4).is_none(), "nil when the heap is full");
    assert_eq!((used(&heap), available(&heap)), (PAGE, 0));
    assert_eq!(counters::snapshot().bytes_live - before.bytes_live, PAGE as u64);
    for (at, buffer) in buffers.iter().enumerate() {
        assert_eq!(msg!(buffer.id(), "length"; usize), 4);
        assert_eq!(msg!(buffer.id(), "heap"; Id), heap.id());
        contents::<u32>(buffer)[0] = at as u32;
    }
    assert!(buffers.iter().enumerate().all(|(at, buffer)| contents::<u32>(buffer) == [at as u32]));
    let mut offsets: Vec<usize> = buffers.iter().map(|buffer| msg!(buffer.id(), "heapOffset"; usize)).collect();
    offsets.sort_unstable();
    assert!(offsets.iter().enumerate().all(|(at, &offset)| offset == 256 * at));
    drop(buffers);
    assert_eq!((used(&heap), available(&heap)), (0, PAGE), "free neighbours are one part again");
}

#[test]
fn a_buffer_keeps_its_heap() {
    let _test = plain();
    let before = counters::snapshot().bytes_live;
    let buffer = small(&heap(PAGE), 8).unwrap();
    contents::<u64>(&buffer)[0] = 7;
    assert_eq!(contents::<u64>(&buffer), [7]);
    drop(buffer);
    assert_eq!(counters::snapshot().bytes_live, before);
}

#[test]
fn work_uses_the_buffers_of_a_heap_as_others() {
    let _test = plain();
    let (heap, commands) = (heap(PAGE), mps(&queue()));
    let (input, output) = (small(&heap, 4).unwrap(), small(&heap, 4).unwrap());
    contents::<u32>(&input)[0] = 20;
    let (from, mut to) = (span(&input), span_mut(&output));
    let work = move || to.slice::<u32>()[0] = 2 * from.slice::<u32>()[0];
    mps_command_buffer::encode(commands.id(), Box::new(work), vec![input], vec![output.clone()]);
    commit(&commands);
    wait(&commands);
    assert_eq!(contents::<u32>(&output), [40]);
}

#[test]
fn options_that_differ_from_the_heap_s_are_refused() {
    let _test = rule(Documented("Apple's documentation of newBufferWithLength:options: of MTLHeap"));
    let heap = heap(PAGE);
    for (options, what) in [(0x20, "storage mode"), (0x1, "CPU cache mode"), (0x100, "hazard tracking mode")] {
        let text = violation(|| small_with(&heap, 4, options));
        assert_eq!(
            text,
            format!("-[MTLHeap newBufferWithLength:options:]: the {what} of options {options:#x} is not the heap's")
        );
    }
    assert!(small_with(&heap, 4, TRACKED << 8).is_some());
}

#[test]
fn heaps_that_nobody_can_use_are_refused() {
    let _test = rule(Documented("Apple's MTLHeap.h: what a heap's storage mode and type allow"));
    let make = |descriptor: Strong| violation(|| heap_of(&descriptor));
    assert!(make(descriptor(0, SHARED, TRACKED)).contains("size is 0"));
    assert!(make(descriptor(PAGE, 2, TRACKED)).contains("only heaps of MTLStorageModeShared"));
    let placed = descriptor(PAGE, SHARED, TRACKED);
    msg!(placed.id(), "setType:", 1 => isize; ());
    assert!(make(placed).contains("only heaps of MTLHeapTypeAutomatic"));
}

#[test]
fn a_heap_is_not_tracked_unless_asked() {
    let _test = rule(Documented("Apple's documentation of hazardTrackingMode of MTLHeapDescriptor"));
    for (asked, found) in [(0, 1), (1, 1), (2, 2)] {
        let heap = heap_of(&descriptor(PAGE, SHARED, asked));
        assert_eq!(msg!(heap.id(), "hazardTrackingMode"; usize), found);
        let buffer = small(&heap, 4).unwrap();
        assert_eq!(msg!(buffer.id(), "hazardTrackingMode"; usize), found);
    }
}
