//! What models cost as graphs: the operations that MPSGraph is asked for in one step, and the kernels that the software
//! runtime's compiler makes of them. On a Mac operations cost time to compile, and each kernel a dispatch.
//!
//! The patterns save what is between the two columns. The table is exact, so a lowering that gets more expensive fails
//! here. When one gets cheaper, the new numbers replace the old ones.

mod models;

use mpsgraph_soft::mpsgraph::counters::{kernels_compiled, operations_compiled};

use super::Turn;
use burn_mpsgraph::{MpsGraphDevice, contract};

/// A model's name, its step, and the operations and kernels of the step: as it is, and without patterns
/// (`BURN_MPSGRAPH_PATTERNS=0`).
type Row = (&'static str, fn() -> Box<dyn FnMut()>, [u64; 2], [u64; 2]);

const TABLE: &[Row] = &[
    ("MLP, inference", models::mlp_inference, [5, 4], [7, 4]),
    ("MLP, training with SGD", models::mlp_sgd, [50, 25], [54, 26]),
    ("MLP, training with Adam", models::mlp_adam, [97, 26], [104, 26]),
    ("CNN, inference", models::cnn_inference, [32, 11], [33, 11]),
    ("CNN, training with Adam", models::cnn_adam, [278, 62], [319, 78]),
    ("residual block, inference", models::residual_inference, [17, 5], [17, 5]),
    ("residual block, training with SGD", models::residual_sgd, [135, 39], [198, 67]),
    ("LSTM, inference", models::lstm_inference, [205, 60], [361, 121]),
    ("LSTM, training with Adam", models::lstm_adam, [768, 148], [1322, 337]),
    ("GPT, inference", models::gpt_inference, [149, 60], [177, 60]),
    ("GPT, training with Adam", models::gpt_adam, [846, 201], [1010, 218]),
    ("spectrum", models::one_spectrum, [16, 3], [16, 3]),
    ("four spectra", models::four_spectra, [74, 14], [74, 14]),
    ("i64 read along an axis", models::wide_reads, [11, 1], [11, 1]),
    ("i64 added along an axis", models::wide_sums, [44, 1], [44, 1]),
    ("u64 added along an axis", models::unsigned_sums, [46, 1], [46, 1]),
    ("i8 added along an axis", models::narrow_sums, [11, 1], [11, 1]),
    ("rows of i8 summed", models::narrow_total, [5, 1], [5, 1]),
    ("i32 added along one row", models::sums_of_one_row, [20, 1], [20, 1]),
    ("order of i64", models::wide_order, [44, 2], [44, 2]),
    ("order of one row of i32", models::order_of_one_row, [22, 1], [22, 1]),
    ("one row of i64 sorted", models::sorted_row, [57, 1], [57, 1]),
    ("powers of i64", models::wide_powers, [283, 1], [283, 1]),
];

/// Operations and kernels of all programs that a step compiles once the optimizer has its state.
fn cost(mut step: Box<dyn FnMut()>) -> [u64; 2] {
    for _ in 0..3 {
        step();
    }
    MpsGraphDevice.sync().expect("the device works");
    MpsGraphDevice.clear_programs();
    let counts = || [operations_compiled(), kernels_compiled()];
    let before = counts();
    step();
    let after = counts();
    [0, 1].map(|at| after[at] - before[at])
}

#[test]
fn models_lower_to_these_operations_and_kernels() {
    let _turn = Turn::take();
    // Barriers and the forms of products depend on the system.
    if contract::macos_version() >= (15, 0) {
        println!("skipped: the table is of macOS 14");
        return;
    }
    let without_patterns = std::env::var("BURN_MPSGRAPH_PATTERNS").is_ok_and(|value| value == "0");
    let mut wrong = String::new();
    for &(name, model, as_it_is, without) in TABLE {
        let expected = if without_patterns { without } else { as_it_is };
        let found = cost(model());
        if found != expected {
            wrong += &format!("{name}: {found:?} operations and kernels where the table has {expected:?}\n");
        }
    }
    assert!(wrong.is_empty(), "put what is intended into the table of {}:\n{wrong}", file!());
}
