//! What training costs, by the counters that the programs print.

use std::path::PathBuf;
use std::process::Command;

/// What a program wrote after `epochs` passes over 200 digits to train on and 100 to test with.
fn run(program: &str, data: &str, epochs: &str, options: &[&str]) -> String {
    let output = std::env::temp_dir().join(format!("burn-mpsgraph-0.22-{}", std::process::id()));
    let arguments = ["--data", data, "--hidden", "8", "--epochs", epochs, "--output"];
    let mut command = Command::new(program);
    let done = command.args(options).args(arguments).arg(&output).output().expect("cargo builds the program");
    let _ = std::fs::remove_dir_all(&output);
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(done.status.success(), "{text}\n{}", String::from_utf8_lossy(&done.stderr));
    text
}

/// A number of the line of counters.
fn counter(text: &str, what: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix("counters: ")).expect("counters");
    let part = line.split(", ").find_map(|part| part.split_once(' ').filter(|(_, words)| words.starts_with(what)));
    part.expect("the counter is there").0.parse().expect("a number")
}

/// IDX files of digits that are all alike.
fn digits() -> PathBuf {
    let directory = std::env::temp_dir().join(format!("burn-mpsgraph-0.22-digits-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("the temporary directory can be written");
    let write = |name: &str, header: &[u32], data: Vec<u8>| {
        let mut bytes: Vec<u8> = header.iter().flat_map(|word| word.to_be_bytes()).collect();
        bytes.extend(data);
        std::fs::write(directory.join(name), bytes).expect("the directory can be written");
    };
    for (split, count) in [("train", 200), ("t10k", 100)] {
        write(&format!("{split}-images-idx3-ubyte"), &[0x803, count, 28, 28], vec![7; count as usize * 784]);
        write(&format!("{split}-labels-idx1-ubyte"), &[0x801, count], (0..count).map(|at| (at % 10) as u8).collect());
    }
    directory
}

/// A step is one commit, and so is what the accuracy metric computes of its output on a thread of its own.
#[test]
fn after_the_first_epoch_nothing_compiles_and_a_batch_is_one_commit_and_one_of_the_metric() {
    let data = digits();
    let data = data.to_str().expect("UTF-8");
    for program in [env!("CARGO_BIN_EXE_mnist_mlp"), env!("CARGO_BIN_EXE_mnist_cnn")] {
        for (options, commits_of_a_step) in [(&[][..], 2), (&["--loss-only"][..], 1)] {
            let [one, three] = ["1", "3"].map(|epochs| run(program, data, epochs, options));
            let since = |what| counter(&three, what) - counter(&one, what);
            assert_eq!(since("programs compiled"), 0, "{program}: {one}\n{three}");
            // Two more epochs of four batches to train on and two to test with.
            let commits = 2 * 6 * commits_of_a_step;
            assert_eq!((since("commits"), since("executions")), (commits, commits), "{program}: {one}\n{three}");
        }
    }
    let _ = std::fs::remove_dir_all(data);
}
