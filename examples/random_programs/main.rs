//! Random programs of Burn's ops, to find wrong numbers that nobody thought of.
//!
//! A seed makes a program and what it is fed (`grow.rs`). `check.rs` has what is asked of it, `judge.rs` and
//! `bounds.rs` when a value is right, `gradients.rs` the same of gradients. A program with a difference is made shorter
//! (`shrink.rs`) and printed.

mod bounds;
mod check;
mod gradients;
mod grow;
mod judge;
mod moving;
mod options;
mod oracle;
mod program;
mod random;
mod report;
mod rounds;
mod run;
mod shrink;
mod spread;
mod value;

use std::process::ExitCode;

use burn_mpsgraph::MpsGraphDevice;
use check::Count;
use options::{HELP, Options};
use program::{Feeds, Program};
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
    for done in 0..options.programs {
        // Behind the largest seed comes 0.
        let seed = options.seed.wrapping_add(done);
        if let Some(found) = run(seed, &options, &mut count) {
            differing += 1;
            report::difference(seed, &found);
        }
        report::progress(done + 1, &options, differing);
    }
    let Count { values, not_compared } = count;
    let what = if options.gradients { "gradients" } else { "values" };
    println!(
        "{} programs, {differing} with a difference; {values} {what}, {not_compared} not compared",
        options.programs
    );
    if differing == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The first difference of a seed's program, in the shortest one that shows it.
fn run(seed: u64, options: &Options, count: &mut Count) -> Option<Found> {
    let program = grow::program(seed, options);
    let feeds = [0, 1].map(|round| grow::feeds(&program, seed, round));
    if options.show {
        report::program(seed, &program);
    }
    let mut check = |program: &Program, feeds: &[Feeds; 2]| {
        if options.gradients { gradients::check(program, feeds, count) } else { check::check(program, feeds, count) }
    };
    let difference = check(&program, &feeds)?;
    Some(shrink::shortest(Found { program, feeds, difference }, check))
}

#[cfg(test)]
fn run_some(programs: u64, largest: usize, gradients: bool) {
    let mut count = Count::default();
    let options = Options { seed: 1, programs, ops: 24, largest, gradients, show: false };
    for seed in 1..=programs {
        if let Some(found) = run(seed, &options, &mut count) {
            report::difference(seed, &found);
            panic!("the program of seed {seed} differs");
        }
    }
    // Gradients of a program with a value that is infinite or large are not compared.
    let share = if gradients { 2 } else { 10 };
    assert!(count.not_compared * share <= count.values, "{count:?}");
}

// One test, because another one's programs would count as compiled for this one's.
#[test]
fn a_few_programs() {
    run_some(200, options::SMALL, false);
    run_some(25, options::SMALL, true);
    // Some that threads share.
    run_some(15, 200_000, false);
}

#[test]
fn skipped_without_device() {
    let playable = cfg!(any(feature = "soft", not(target_vendor = "apple")));
    test_support::assert_skipped("skipped_without_device", playable, || MpsGraphDevice.name());
}
