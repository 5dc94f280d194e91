//! What the environment changes: each test runs others of this binary in a process with other variables.

use std::process::{Command, Output, Stdio};

use burn::tensor::{Tensor, TensorData};

use super::{B, Choice, Turn, read, vector};
use burn_mpsgraph::MpsGraphDevice;

/// Runs a test of this file with a variable set.
fn run(test: &str, variable: &str, value: &str) -> Output {
    let own = std::env::current_exe().expect("a test has a file");
    let name = format!("environment::{test}");
    let mut command = Command::new(own);
    command.args(["--exact", &name, "--nocapture"]).env(variable, value).output().expect("it starts")
}

fn text(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned()).concat()
}

#[test]
fn an_op() {
    let _turn = Turn::take();
    assert_eq!(read(vector(&[1.0]) + 1.0), [2.0]);
}

#[test]
fn forty_programs_in_rounds() {
    let mut turn = Turn::take();
    let round = || {
        for length in 1..=40 {
            assert_eq!(read(vector(&vec![1.0; length]).sum()), [length as f32]);
        }
    };
    round();
    round();
    turn.restart();
    round();
    assert_eq!(turn.used().programs_compiled, 0, "{:?}", turn.used());
}

/// As for some processes without a window.
#[test]
fn a_gpu_that_is_not_the_default_one_is_found() {
    let output = run("an_op", "MPSGRAPH_SOFT_GPU_FAMILY", "hidden");
    let text = text(&output);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

#[cfg(soft_runtime)] // which plays it
#[test]
fn the_gpu_of_a_virtual_machine_is_warned_of() {
    let output = run("an_op", "MPSGRAPH_SOFT_GPU_FAMILY", "virtual");
    let text = text(&output);
    assert!(output.status.success() && text.contains("this is the GPU of a virtual machine"), "{text}");
}

#[test]
fn more_threads_than_a_system_has_are_not_started() {
    for threads in ["100000", "18446744073709551615"] {
        let output = run("forty_programs_in_rounds", "RAYON_NUM_THREADS", threads);
        assert!(output.status.success(), "{}", text(&output));
    }
}

#[test]
fn a_variable_that_makes_no_sense_is_named() {
    let nonsense = [
        ("BURN_MPSGRAPH_CACHE_MEGABYTES", "0"),
        ("BURN_MPSGRAPH_EAGER", "true"),
        ("BURN_MPSGRAPH_LEVEL", "2"),
        ("BURN_MPSGRAPH_LOG", "yes"),
        ("BURN_MPSGRAPH_MAX_OPS", "2k"),
        ("BURN_MPSGRAPH_MAX_OPS", "0"),
        ("BURN_MPSGRAPH_MAX_PROGRAMS", "-1"),
        ("BURN_MPSGRAPH_PATTERNS", "off"),
        ("BURN_MPSGRAPH_WAIT_SECONDS", "0"),
    ];
    for (variable, value) in nonsense {
        let output = run("an_op", variable, value);
        let text = text(&output);
        assert!(!output.status.success() && text.contains(&format!("{variable}={value}")), "{text}");
    }
    let variables =
        ["BURN_MPSGRAPH_LOG", "MPSGRAPH_SOFT_MACOS", "MPSGRAPH_SOFT_GPU_FAMILY", "MPSGRAPH_SOFT_ENCODE_COMMITS"];
    for variable in variables {
        assert!(run("an_op", variable, "").status.success(), "an empty {variable} is as none");
    }
}

#[test]
fn a_cache_that_is_too_small_grows_until_what_repeats_stays() {
    let output = run("forty_programs_in_rounds", "BURN_MPSGRAPH_MAX_PROGRAMS", "3");
    assert!(output.status.success(), "{}", text(&output));
}

#[test]
fn programs_that_seldom_return() {
    let turn = Turn::take();
    let most = std::env::var("BURN_MPSGRAPH_MAX_PROGRAMS").map_or(256, |most| most.parse().expect("a number"));
    let mut choice = Choice(1);
    for _ in 0..1500 {
        let length = 1 + choice.below(20_000);
        assert_eq!(read(vector(&vec![1.0; length]).sum()), [length as f32]);
    }
    assert!(turn.used().programs_cached <= most, "{:?}", turn.used());
}

#[test]
fn a_cache_stays_small_if_few_programs_return() {
    let output = run("programs_that_seldom_return", "BURN_MPSGRAPH_MAX_PROGRAMS", "64");
    assert!(output.status.success(), "{}", text(&output));
}

#[test]
fn every_line_goes_to_a_reader_that_has_gone() {
    let own = std::env::current_exe().expect("a test has a file");
    let mut command = Command::new(own);
    command.args(["--exact", "environment::an_op"]).env("BURN_MPSGRAPH_LOG", "2");
    let mut started = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
    drop(started.stderr.take());
    assert!(started.wait().expect("it ends").success());
}

#[test]
fn programs_of_forty_thousand_ops() {
    let output = run("long_programs", "BURN_MPSGRAPH_MAX_OPS", "100000");
    assert!(output.status.success(), "{}", text(&output));
}

#[test]
fn long_programs() {
    let turn = Turn::take();
    let one = vector(&[1.0]);
    let chain = (0..40_000).fold(one.clone(), |x, _| x + one.clone());
    assert_eq!(read(chain), [40_001.0]);
    let mut kept = vec![one.clone()];
    for at in 0..10_000 {
        kept.push(kept[at].clone() + one.clone());
    }
    MpsGraphDevice.flush();
    let expected: Vec<f32> = (1..=10_001).map(|number| number as f32).collect();
    // As many fed values.
    assert_eq!(read(Tensor::cat(kept.clone(), 0)), expected);
    let steps = Tensor::<B, 2>::zeros([10_000, 2], &MpsGraphDevice);
    let assigned = kept
        .iter()
        .take(10_000)
        .enumerate()
        .fold(steps, |all, (at, value)| all.slice_assign([at..at + 1, 0..1], value.clone().reshape([1, 1])));
    let expected: Vec<f32> = (1..=10_000).flat_map(|number| [number as f32, 0.0]).collect();
    assert_eq!(read(assigned), expected);
    // By default they are cut.
    if std::env::var_os("BURN_MPSGRAPH_MAX_OPS").is_some() {
        assert_eq!(turn.used().programs_compiled, 4);
    }
}

#[test]
fn the_log_tells_hits_misses_and_what_is_new() {
    let output = run("forty_programs_in_rounds", "BURN_MPSGRAPH_LOG", "1");
    let text = text(&output);
    assert!(output.status.success(), "{text}");
    for part in ["flush (Read): 1 ops", "miss: compile 1 ops; new: ", "compiled in ", "hit: 1 ops"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// A report from a Mac is read for what MPSGraph was given.
#[test]
fn the_log_shows_programs_as_they_are_compiled() {
    let output = run("a_softmax_of_five_ops", "BURN_MPSGRAPH_LOG", "2");
    let text = text(&output);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("miss: compile 5 ops") && text.contains("Softmax"), "{text}");
}

#[test]
fn a_softmax_of_five_ops() {
    let _turn = Turn::take();
    let x = vector(&[1.0, 1.0]).reshape([1, 2]);
    let e = (x.clone() - x.max_dim(1)).exp();
    assert_eq!((e.clone() / e.sum_dim(1)).into_data(), TensorData::from([[0.5f32, 0.5]]));
}

#[test]
fn one_warning_says_that_most_flushes_compile() {
    let output = run("lengths_that_never_repeat", "BURN_MPSGRAPH_LOG", "0");
    let text = text(&output);
    assert!(output.status.success(), "{text}");
    assert_eq!(text.matches("of the last 100 flushes compiled programs").count(), 1, "{text}");
}

#[test]
fn lengths_that_never_repeat() {
    let _turn = Turn::take();
    for length in 1..=250 {
        assert_eq!(read(vector(&vec![1.0; length]).sum()), [length as f32]);
    }
}

#[cfg(soft_runtime)] // hangs are injected into the software runtime
#[test]
fn a_wait_lasts_as_long_as_the_environment_says() {
    let output = run("an_op_that_hangs", "BURN_MPSGRAPH_WAIT_SECONDS", "1");
    assert!(output.status.success(), "{}", text(&output));
}

#[cfg(soft_runtime)]
#[test]
fn an_op_that_hangs() {
    if std::env::var_os("BURN_MPSGRAPH_WAIT_SECONDS").is_none() {
        return; // it would last for minutes
    }
    let _turn = Turn::take();
    mpsgraph_soft::metal::fault::hang_next(1);
    let error = (vector(&[1.0]) + 1.0).try_into_data().expect_err("it hangs").to_string();
    assert!(error.contains("has ended no work for 1s"), "{error}");
}

#[cfg(soft_runtime)]
#[test]
fn a_process_that_is_stopped_for_longer_than_the_limit_loses_nothing() {
    let output = run("an_op_in_flight_while_the_process_is_stopped", "BURN_MPSGRAPH_WAIT_SECONDS", "2");
    assert!(output.status.success(), "{}", text(&output));
}

#[cfg(soft_runtime)]
#[test]
fn an_op_in_flight_while_the_process_is_stopped() {
    use std::thread;
    use std::time::Duration;

    if std::env::var_os("BURN_MPSGRAPH_WAIT_SECONDS").is_none() {
        return; // the process of the other tests must not be stopped
    }
    let _turn = Turn::take();
    mpsgraph_soft::metal::fault::hang_next(1);
    let x = vector(&[1.0]) + 1.0;
    let reader = thread::spawn(|| x.try_into_data());
    while MpsGraphDevice.stats().waits == 0 {
        thread::yield_now();
    }
    let own = std::process::id();
    let script = format!("kill -STOP {own}; sleep 3.5; kill -CONT {own}");
    assert!(Command::new("sh").args(["-c", &script]).status().expect("a shell").success());
    // Long enough for who would give up at once.
    thread::sleep(Duration::from_millis(200));
    mpsgraph_soft::metal::fault::end_hangs();
    let data = reader.join().expect("no panic").expect("the work has ended");
    assert_eq!(data.to_vec::<f32>().expect("f32"), [2.0]);
}
