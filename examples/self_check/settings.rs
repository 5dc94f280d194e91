//! What settings that are off at first would bring on this machine: times of one model in processes of its own, with a
//! setting and without.

use std::process::Command;
use std::time::Instant;

use burn::tensor::{Tensor, activation};
use burn_mpsgraph::MpsGraphDevice;
use test_support::Outcome;

use crate::table::{Trap, note};
use crate::values::{B, f32s, noise};

pub const TRAPS: &[Trap] = &[
    note("ms of the first step, compiled and then loaded (BURN_MPSGRAPH_CACHE_DIR)", kept),
    note("ms of the first step and us of later ones, at level 0 and 1 (BURN_MPSGRAPH_LEVEL)", level),
];

/// The word that makes a process of this program run the model.
pub const ALONE: &str = "--settings";

/// Runs a model and prints how long its first step takes in milliseconds, its later ones in microseconds, and how many
/// programs were loaded.
pub fn alone() {
    let [x, first, second] = [1, 2, 3].map(|seed| f32s(&noise(64 * 64, seed), [64, 64]));
    MpsGraphDevice.sync().expect("the device works");
    let step = |x: Tensor<B, 2>| {
        let start = Instant::now();
        let mut y = x;
        for _ in 0..20 {
            y = activation::softmax(activation::gelu(y.matmul(first.clone())).matmul(second.clone()), 1) + 0.5;
        }
        let _ = y.into_data();
        start.elapsed().as_secs_f64() * 1e3
    };
    let first_step = step(x.clone());
    let later = (0..50).map(|_| step(x.clone())).fold(f64::INFINITY, f64::min) * 1e3;
    println!("times: {first_step:.1} {later:.0} {}", MpsGraphDevice.stats().programs_loaded);
}

/// What a process with these variables prints; `None` if it failed.
fn times(variables: &[(&str, &str)]) -> Option<[String; 3]> {
    let mut command = Command::new(std::env::current_exe().ok()?);
    let output = command.arg(ALONE).envs(variables.iter().copied()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().find_map(|line| line.strip_prefix("times: "))?;
    let times: Vec<String> = line.split(' ').map(str::to_owned).collect();
    times.try_into().ok()
}

fn kept() -> Outcome {
    let folder = std::env::temp_dir().join(format!("burn-mpsgraph-self-check-{}", std::process::id()));
    let run = || times(&[("BURN_MPSGRAPH_CACHE_DIR", folder.to_str()?)]);
    let outcome = match (run(), run()) {
        (Some([compiled, ..]), Some([loaded, _, programs])) => {
            Outcome::fact("-", format!("{compiled} compiled, {loaded} with {programs} loaded"), true)
        }
        (compiled, _) => Outcome::fact("-", format!("failed, compiled: {}", compiled.is_some()), false),
    };
    let _ = std::fs::remove_dir_all(folder);
    outcome
}

fn level() -> Outcome {
    match ["0", "1"].map(|level| times(&[("BURN_MPSGRAPH_LEVEL", level)])) {
        [Some([first, later, _]), Some([first_at_1, later_at_1, _])] => {
            Outcome::fact("-", format!("{first} ms {later} us, {first_at_1} ms {later_at_1} us"), true)
        }
        [at_0, _] => Outcome::fact("-", format!("failed, at level 0: {}", at_0.is_none()), false),
    }
}
