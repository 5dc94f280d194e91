//! What a layout refuses, and which memory a name stands for.

use super::Storage::{Constant, Input, Output, Scratch};
use super::*;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Two pieces that overlap, and one behind them.
fn layout(reads: &[Storage], writes: &[Storage]) -> Result<Layout, String> {
    let pieces = [(0, 64), (32, 64), (128, 64)].map(|(offset, bytes)| Piece { offset, bytes });
    let access = Access { reads: reads.to_vec(), writes: writes.to_vec() };
    catch_unwind(|| Layout::new(&[b"constant".to_vec()], pieces.to_vec(), [access]))
        .map_err(|panic| *panic.downcast::<String>().expect("a formatted message"))
}

#[test]
fn a_step_has_what_it_writes_for_itself() {
    for (reads, writes) in [
        (vec![Scratch(0), Scratch(0), Scratch(1)], vec![Scratch(2), Output(0)]),
        (vec![Input(0), Constant(0)], vec![Scratch(0), Scratch(2), Output(0), Output(1)]),
    ] {
        assert!(layout(&reads, &writes).is_ok(), "{reads:?} -> {writes:?}");
    }
    for (reads, writes, reason) in [
        (vec![Scratch(0)], vec![Scratch(0)], "a step writes t0, which overlaps its t0"),
        (vec![Scratch(1)], vec![Scratch(0)], "a step writes t0, which overlaps its t1"),
        (vec![], vec![Scratch(1), Scratch(0)], "a step writes t0, which overlaps its t1"),
        (vec![Output(1)], vec![Output(1)], "a step writes out1, which overlaps its out1"),
        (vec![], vec![Constant(0)], "const0 is read only"),
        (vec![], vec![Input(3)], "in3 is read only"),
    ] {
        assert_eq!(layout(&reads, &writes).err().as_deref(), Some(reason));
    }
}

#[test]
fn names_stand_for_their_pieces() {
    let layout = layout(&[Constant(0)], &[Scratch(2)]).expect("apart");
    let mut scratch = Block::new(192);
    let memory = Memory::new(&layout, &[], &mut [], &mut scratch);
    assert_eq!(memory.read(Constant(0)).slice::<u8>(), b"constant");
    memory.write(Scratch(2)).slice::<u8>().fill(7);
    assert_eq!(memory.read(Scratch(1)).slice::<u8>(), [0; 64]);
    assert_eq!(memory.read(Scratch(2)).slice::<u8>(), [7; 64]);
    let refused = catch_unwind(AssertUnwindSafe(|| memory.write(Constant(0))));
    assert!(refused.is_err(), "a constant was handed out to be written");
}
