//! What is printed.

use std::io::Write;

use burn::tensor::TensorData;

use crate::options::Options;
use crate::program::Program;
use crate::shrink::Found;

/// Elements of a fed tensor that are printed at most.
const SHOWN: usize = 256;

/// A program with its seed, at once, because it may end the process.
pub fn program(seed: u64, program: &Program) {
    println!("seed {seed}");
    for (id, step) in program.steps.iter().enumerate() {
        println!("  %{id} = {step}");
    }
    let _ = std::io::stdout().flush();
}

/// A program that differs, with what it is fed.
pub fn difference(seed: u64, found: &Found) {
    let Found { program: of, feeds, difference } = found;
    println!("\nDIFFERENCE ({}) in %{}: {}", difference.claim, difference.at, difference.text);
    program(seed, of);
    for (round, feeds) in feeds.iter().enumerate() {
        for (id, data) in feeds.iter().enumerate().filter_map(|(id, data)| Some((id, data.as_ref()?))) {
            println!("  fed {round}: %{id} = {}", numbers(data));
        }
    }
}

fn numbers(data: &TensorData) -> String {
    let count: usize = data.shape.iter().product();
    if count > SHOWN {
        return format!("{count} numbers");
    }
    if data.dtype.is_float() {
        format!("{:?}", data.iter::<f32>().collect::<Vec<_>>())
    } else {
        format!("{:?}", crate::oracle::integers(data))
    }
}

/// A line now and then.
pub fn progress(done: u64, options: &Options, differing: u64) {
    if done.is_multiple_of(500) && done < options.programs {
        println!("{done} programs, up to seed {}; {differing} with a difference", options.seed + done - 1);
    }
}
