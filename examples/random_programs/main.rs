//! Random programs of Burn's ops, to find wrong numbers that nobody thought of.
//!
//! A seed makes a program and what it is fed (`grow.rs`). `check.rs` has what is asked of it, `judge.rs` and `bounds.rs`
//! when a value is right. A program with a difference is made shorter (`shrink.rs`) and printed.

mod bounds;
mod check;
mod grow;
mod judge;
mod options;
mod oracle;
mod program;
mod random;
mod report;
mod run;
mod shrink;
mod value;

use std::process::ExitCode;

use burn_mpsgraph::MpsGraphDevice;
use check::Count;
use options::{HELP, Options};
use shrink::Found;

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(Some(options)) => options,
        Ok(None) => {
            print!("{HELP}");
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    // Where there is no device, this ends the process and says why.
    println!("{}", MpsGraphDevice.name());
    // What a program panics with is in its report.
    std::panic::set_hook(Box::new(|_| ()));
    let mut count = Count::default();
    let mut differing = 0;
    for seed in options.seed..options.seed + options.programs {
        if let Some(found) = run(seed, &options, &mut count) {
            differing += 1;
            report::difference(seed, &shrink::shortest(found));
        }
        report::progress(seed + 1 - options.seed, &options, differing);
    }
    let Count { ops, not_compared } = count;
    println!("{} programs, {differing} with a difference; {ops} values, {not_compared} not compared", options.programs);
    if differing == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The first difference of a seed's program.
fn run(seed: u64, options: &Options, count: &mut Count) -> Option<Found> {
    let program = grow::program(seed, options.ops);
    let feeds = [0, 1].map(|round| grow::feeds(&program, seed, round));
    if options.show {
        report::program(seed, &program);
    }
    let difference = check::check(&program, &feeds, count)?;
    Some(Found { program, feeds, difference })
}

#[test]
fn a_few_programs() {
    let mut count = Count::default();
    for seed in 1..=300 {
        let options = Options { seed, programs: 1, ops: 24, gradients: false, show: false };
        if let Some(found) = run(seed, &options, &mut count) {
            report::difference(seed, &shrink::shortest(found));
            panic!("random_programs --seed {seed} --programs 1 differs");
        }
    }
    assert!(count.not_compared * 10 < count.ops, "{count:?}");
}
