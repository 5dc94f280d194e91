//! A loop that never reads is cut when too much is recorded, always at the same place of its body.

use super::mlp::Trainer;
use super::{B, Turn, read, vector};
use burn::tensor::Tensor;
use burn_mpsgraph::MpsGraphDevice;

#[test]
fn a_loop_that_never_reads_stops_compiling_and_growing() {
    let mut turn = Turn::take();
    let mut trainer = Trainer::adam();
    for _ in 0..300 {
        drop(trainer.step());
    }
    turn.restart();
    let live = turn.used().bytes_live;
    for _ in 0..300 {
        drop(trainer.step());
    }
    let used = turn.used();
    assert!(used.executions > 1, "the bound was reached: {used:?}");
    assert_eq!(used.programs_compiled, 0, "{used:?}");
    assert!(used.bytes_live <= 2 * live, "{live} bytes became {}", used.bytes_live);
    assert!(trainer.step_and_read().is_finite());
}

#[test]
fn a_long_chain_is_right_across_its_cuts() {
    let turn = Turn::take();
    let one = vector(&[1.0, 0.5]);
    let mut x = one.clone();
    for _ in 0..5_000 {
        x = x + one.clone();
    }
    assert_eq!(read(x), [5001.0, 2500.5]);
    MpsGraphDevice.sync().expect("the device works");
    assert!(turn.used().programs_compiled <= 4, "{:?}", turn.used());
}

#[test]
fn what_only_the_op_at_the_bound_reads_is_no_result() {
    const BYTES: usize = 8 << 20;
    let turn = Turn::take();
    let whole = || Tensor::<B, 1>::ones([BYTES / 4], &MpsGraphDevice);
    let (x, w) = (whole(), whole());
    MpsGraphDevice.sync().expect("the device works");
    MpsGraphDevice.set_held_limit(BYTES);
    let doubled = x * 2.0;
    let sum = doubled + w;
    let first = sum.clone().narrow(0, 0, 1);
    MpsGraphDevice.set_held_limit(128 << 20);
    assert_eq!(read(first), [3.0]);
    let used = turn.used();
    assert_eq!(used.flushes_at_bounds, 1, "{used:?}");
    let [before, now] = [&turn.start, &used].map(|stats| stats.bytes_live + stats.bytes_cached);
    assert!(now - before < 3 * BYTES as u64, "the sum needs a buffer, the doubled x none: {used:?}");
    drop(sum);
}
