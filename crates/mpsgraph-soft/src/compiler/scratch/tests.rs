//! How many blocks of scratch memory plans take, and when they are let go.

use super::*;

const MIB: usize = 1 << 20;

fn held(shelf: &Shelf) -> usize {
    shelf.content().bytes
}

#[test]
fn plans_that_run_one_after_the_other_share_one_block_of_the_largest_s_size() {
    static SHELF: Shelf = Shelf::new();
    let needs = [1, 4, 2, 3].map(|mib| SHELF.need(mib * MIB));
    assert_eq!(held(&SHELF), 0, "nothing ran yet");
    for need in needs.iter().cycle().take(12) {
        assert!(need.take().block.bytes() >= need.bytes());
    }
    assert_eq!(held(&SHELF), 4 * MIB);
}

#[test]
fn plans_that_run_at_a_time_have_a_block_each() {
    static SHELF: Shelf = Shelf::new();
    let need = SHELF.need(MIB);
    let (one, other) = (need.take(), need.take());
    drop((one, other));
    assert_eq!(held(&SHELF), 2 * MIB);
    drop(need);
    assert_eq!(held(&SHELF), 0);
}

#[test]
fn what_only_dropped_plans_needed_is_let_go() {
    static SHELF: Shelf = Shelf::new();
    let (small, large) = (SHELF.need(MIB), SHELF.need(5 * MIB));
    drop((small.take(), large.take()));
    drop(small.take());
    let in_use = large.take();
    drop(large);
    assert_eq!(held(&SHELF), 6 * MIB, "a run uses it");
    drop(in_use);
    assert_eq!(held(&SHELF), MIB);
    drop(small);
    assert_eq!(held(&SHELF), 0);
}

#[test]
fn a_plan_without_intermediate_results_needs_no_memory() {
    static SHELF: Shelf = Shelf::new();
    let need = SHELF.need(0);
    drop(need.take());
    assert_eq!(held(&SHELF), 0);
}

#[test]
fn what_no_plan_has_needed_lately_is_let_go() {
    static SHELF: Shelf = Shelf::new();
    let (small, large) = (SHELF.need(MIB), SHELF.need(KEPT + MIB));
    drop(large.take());
    for _ in 0..LATELY - 1 {
        drop(small.take());
    }
    assert_eq!(held(&SHELF), KEPT + MIB);
    for _ in 0..=LATELY {
        drop(small.take());
    }
    assert_eq!(held(&SHELF), MIB);
    assert!(large.take().block.bytes() >= KEPT + MIB);
}

#[test]
fn memory_that_no_run_uses_can_be_given_back() {
    static SHELF: Shelf = Shelf::new();
    let need = SHELF.need(MIB);
    let in_use = need.take();
    drop(need.take());
    SHELF.give_back();
    assert_eq!(held(&SHELF), MIB);
    drop(in_use);
    assert_eq!(need.take().block.bytes(), MIB);
}

#[test]
#[should_panic(expected = "no memory for")]
fn memory_that_there_is_not() {
    static SHELF: Shelf = Shelf::new();
    SHELF.need(1 << 60).take();
}
