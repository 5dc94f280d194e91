//! Runs every op family, and what is known to go wrong in MPSGraph, on this machine, against plain loops on the CPU:
//! `cargo run --release --example self_check`.
//!
//! Words on the command line limit the run to checks whose family or name contains one of them. The exit status is 0 if
//! nothing judged is wrong. Checks marked `note` only report what the machine does. The checks run in a process of
//! their own, which is started again behind a check that ends it or hangs, so one abort of the system costs one row.
//! `BURN_MPSGRAPH_EAGER=1` runs every operation as a program of its own.

mod activation;
mod agreement;
mod arithmetic;
mod attention;
mod cast;
mod gather;
mod matrix_multiplication;
mod memory;
mod normalization;
mod operands;
mod random;
mod reduction;
mod scatter_nd;
mod stream;
mod supervisor;
mod table;
mod tensor_shape;
mod training;
mod values;

use std::process::ExitCode;

use table::Check;

/// The families in the order in which they run.
const FAMILIES: &[(&str, &[Check])] = &[
    ("memory", memory::CHECKS),
    ("arithmetic", arithmetic::CHECKS),
    ("cast", cast::CHECKS),
    ("reduction", reduction::CHECKS),
    ("activation", activation::CHECKS),
    ("normalization", normalization::CHECKS),
    ("tensor_shape", tensor_shape::CHECKS),
    ("gather", gather::CHECKS),
    ("scatter_nd", scatter_nd::CHECKS),
    ("matrix_multiplication", matrix_multiplication::CHECKS),
    ("operands", operands::CHECKS),
    ("attention", attention::CHECKS),
    ("random", random::CHECKS),
    ("stream", stream::CHECKS),
    ("training", training::CHECKS),
];

fn main() -> ExitCode {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let checks: Vec<(&str, &Check)> =
        FAMILIES.iter().flat_map(|&(family, checks)| checks.iter().map(move |check| (family, check))).collect();
    if words.first().is_some_and(|word| word == supervisor::WORKER) {
        supervisor::work(&checks, &words.split_off(1));
        return ExitCode::SUCCESS;
    }
    let chosen = |(family, check): &(&str, &Check)| {
        words.is_empty()
            || words.iter().any(|word| family.contains(word.as_str()) || check.name.contains(word.as_str()))
    };
    let numbers: Vec<usize> = (0..checks.len()).filter(|&i| chosen(&checks[i])).collect();
    if numbers.is_empty() {
        eprintln!("no check is called {words:?}");
        return ExitCode::FAILURE;
    }
    supervisor::supervise(&checks, &numbers)
}
