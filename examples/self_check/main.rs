//! Runs the traps, which are what MPSGraph is known to get wrong, and every op, against references computed on
//! the CPU: `cargo run --release --example self_check`.
//!
//! The traps are in this directory and are compared with plain loops; the ops are the lines of `tests/ops`, a row
//! per dtype, compared with burn-flex or with numbers in the line. Words on the command line limit the run to checks
//! whose family or name contains one of them. The exit status is 0 if no check fails. Checks marked `note` cannot fail;
//! they only report what the machine does. The checks run in a process of their own, which is started again after a
//! check that panics, ends it or hangs, so one fault or abort costs one row. `BURN_MPSGRAPH_EAGER=1` runs every
//! operation as a program of its own.

mod activation;
mod agreement;
mod arithmetic;
mod attention;
mod cast;
mod convolution;
mod cumulative;
mod fourier_transform;
mod gather;
mod loss;
mod matrix_multiplication;
mod memory;
mod normalization;
mod operands;
mod pooling;
mod quantization;
mod random;
mod reduction;
mod resize;
mod sample_grid;
mod scatter_nd;
mod settings;
mod sort;
mod stream;
mod supervisor;
mod table;
mod tensor_shape;
mod training;
mod values;

use std::process::ExitCode;

use table::{Check, Trap};

const HELP: &str = "\
Runs every op and every known trap of MPSGraph against references computed on the CPU, and prints a table.

Usage: self_check [WORD]...    only checks whose family or name contains one of the words";

/// The traps in the order in which they run.
const TRAPS: &[(&str, &[Trap])] = &[
    ("memory", memory::TRAPS),
    ("arithmetic", arithmetic::TRAPS),
    ("cast", cast::TRAPS),
    ("reduction", reduction::TRAPS),
    ("cumulative", cumulative::TRAPS),
    ("activation", activation::TRAPS),
    ("normalization", normalization::TRAPS),
    ("tensor_shape", tensor_shape::TRAPS),
    ("gather", gather::TRAPS),
    ("scatter_nd", scatter_nd::TRAPS),
    ("sort", sort::TRAPS),
    ("matrix_multiplication", matrix_multiplication::TRAPS),
    ("operands", operands::TRAPS),
    ("attention", attention::TRAPS),
    ("resize", resize::TRAPS),
    ("sample_grid", sample_grid::TRAPS),
    ("fourier_transform", fourier_transform::TRAPS),
    ("loss", loss::TRAPS),
    ("pooling", pooling::TRAPS),
    ("convolution", convolution::TRAPS),
    ("quantization", quantization::TRAPS),
    ("random", random::TRAPS),
    ("stream", stream::TRAPS),
    ("training", training::TRAPS),
    ("settings", settings::TRAPS),
];

fn checks() -> Vec<Check> {
    let traps = TRAPS.iter().flat_map(|&(family, traps)| {
        traps.iter().map(move |trap| Check::of_trap(family, trap)).collect::<Vec<Check>>()
    });
    let lines = op_tests::FAMILIES.iter().flat_map(|&(family, cases)| {
        let rows = |case: op_tests::Case| case.dtypes.clone().into_iter().map(move |dtype| (case.clone(), dtype));
        cases().into_iter().flat_map(rows).map(move |(case, dtype)| Check::of_line(family, &case, dtype))
    });
    traps.chain(lines).collect()
}

fn main() -> ExitCode {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    if words.iter().any(|word| ["-h", "--help"].contains(&word.as_str())) {
        println!("{HELP}");
        return ExitCode::SUCCESS;
    }
    if words.first().is_some_and(|word| word == settings::ALONE) {
        settings::alone();
        return ExitCode::SUCCESS;
    }
    let checks = checks();
    if words.first().is_some_and(|word| word == supervisor::WORKER) {
        supervisor::work(&checks, &words.split_off(1));
        return ExitCode::SUCCESS;
    }
    let chosen = |check: &Check| {
        words.is_empty() || words.iter().any(|word| check.family.contains(word.as_str()) || check.name.contains(word))
    };
    let numbers: Vec<usize> = (0..checks.len()).filter(|&i| chosen(&checks[i])).collect();
    if numbers.is_empty() {
        eprintln!("no check is called {words:?}: words choose checks by a part of their names or of their families");
        return ExitCode::FAILURE;
    }
    supervisor::supervise(&checks, &numbers)
}
