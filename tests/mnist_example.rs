//! `examples/mnist_mlp` as a user runs it: its accuracy, and its answers to bad input.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use burn_mpsgraph::MpsGraphDevice;

/// The example's binary, which cargo builds beside the tests.
fn example() -> Command {
    // Without a device the tests end here.
    MpsGraphDevice.name();
    let test = std::env::current_exe().expect("a test has a path");
    let profile = test.parent().and_then(Path::parent).expect("tests are built in <profile>/deps");
    let name = format!("mnist_mlp{}", std::env::consts::EXE_SUFFIX);
    let mut command = Command::new(profile.join("examples").join(name));
    // Prevents a download: this address refuses connections at once.
    command.env("HTTPS_PROXY", "http://127.0.0.1:9").env("https_proxy", "http://127.0.0.1:9");
    command
}

fn run(arguments: &[&str]) -> Output {
    example().args(arguments).output().expect("the example is built")
}

#[track_caller]
fn accuracy(output: &Output) -> f64 {
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    let line = text.lines().find_map(|line| line.strip_prefix("test accuracy of the saved model: "));
    line.and_then(|line| line.strip_suffix(" %")).expect("an accuracy").parse().expect("a number")
}

/// One clear line and exit code 2.
#[track_caller]
fn refused(arguments: &[&str], reason: &str) {
    let output = run(arguments);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
    assert_eq!(text.lines().count(), 1, "{arguments:?}: {text}");
    assert!(text.contains(reason), "{arguments:?}: {text}");
}

/// A directory of its own for one test, removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("burn-mpsgraph-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("the temporary directory can be written");
        Self(path)
    }

    fn text(&self) -> &str {
        self.0.to_str().expect("UTF-8")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn idx(header: &[u32], data: &[u8]) -> Vec<u8> {
    let mut bytes: Vec<u8> = header.iter().flat_map(|word| word.to_be_bytes()).collect();
    bytes.extend_from_slice(data);
    bytes
}

/// Writes a data set of three digits a split, with one file replaced.
fn data_set(directory: &Path, replaced: &str, bytes: &[u8]) {
    for split in ["train", "t10k"] {
        let images = idx(&[0x803, 3, 28, 28], &[7; 3 * 784]);
        let labels = idx(&[0x801, 3], &[1, 2, 3]);
        for (name, good) in [("images-idx3-ubyte", images), ("labels-idx1-ubyte", labels)] {
            let name = format!("{split}-{name}");
            let bytes = if name == replaced { bytes } else { &good };
            fs::write(directory.join(name), bytes).expect("the directory can be written");
        }
    }
}

#[test]
fn ten_epochs_on_mnist_reach_94_percent() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/mnist");
    if !data.is_dir() {
        eprintln!("skipped: no MNIST files in {}", data.display());
        return;
    }
    let scratch = Scratch::new("mnist");
    let output = run(&["--data", data.to_str().expect("UTF-8"), "--output", scratch.text()]);
    assert!(accuracy(&output) >= 94.0);
    assert!(scratch.0.join("model.mpk").is_file());
}

#[test]
fn without_data_and_network_it_trains_on_rendered_digits_and_says_so() {
    let (scratch, cache) = (Scratch::new("rendered"), Scratch::new("cache"));
    let mut command = example();
    command.env("XDG_CACHE_HOME", &cache.0).env("HOME", &cache.0);
    let output = command.args(["--epochs", "3", "--output", scratch.text()]).output().expect("the example is built");
    assert!(accuracy(&output) >= 95.0);
    assert!(String::from_utf8_lossy(&output.stdout).contains("digits rendered by this example"));
}

#[test]
fn a_small_data_set_of_plain_files_trains() {
    let (scratch, data) = (Scratch::new("plain"), Scratch::new("plain-data"));
    data_set(&data.0, "", &[]);
    let output =
        run(&["--data", data.text(), "--epochs", "1", "--hidden", "8", "--workers", "0", "--output", scratch.text()]);
    accuracy(&output);
}

#[test]
fn bad_options_are_named() {
    refused(&["--epochs", "0"], "--epochs takes a whole number above 0, not 0");
    refused(&["--batch-size", "many"], "--batch-size takes a whole number above 0, not many");
    refused(&["--optimizer", "lbfgs"], "--optimizer takes adam or sgd, not lbfgs");
    refused(&["--learning-rate", "-1"], "--learning-rate takes a number above 0, not -1");
    refused(&["--hidden"], "--hidden takes a value");
    refused(&["--frobnicate"], "--frobnicate");
    let help = run(&["--help"]);
    assert!(help.status.success() && String::from_utf8_lossy(&help.stdout).contains("--learning-rate"));
}

#[test]
fn bad_files_are_named() {
    let data = Scratch::new("bad-data");
    refused(&["--data", "no/such/directory"], "no/such/directory is not a directory");
    refused(&["--data", data.text()], "has neither train-images-idx3-ubyte nor train-images-idx3-ubyte.gz");
    let images = "train-images-idx3-ubyte";
    let labels = "t10k-labels-idx1-ubyte";
    let cases: [(&str, Vec<u8>, &str); 7] = [
        (images, idx(&[0x801, 3, 28, 28], &[0; 3 * 784]), "magic number 0x00000801 where 0x00000803"),
        (images, idx(&[0x803, 3, 28, 27], &[0; 3 * 756]), "images of 28x27 pixels"),
        (images, idx(&[0x803, 3, 28, 28], &[0; 2 * 784]), "is cut short"),
        (images, idx(&[0x803, 2, 28, 28], &[0; 2 * 784]), "holds 2 images but"),
        (images, vec![0, 0, 8], "3 bytes are too few for the header"),
        (labels, idx(&[0x801, 3], &[1, 2, 10]), "label 10 at position 2 is not a digit"),
        (labels, idx(&[0x801, 0], &[]), "announces no items"),
    ];
    for (file, bytes, reason) in cases {
        data_set(&data.0, file, &bytes);
        refused(&["--data", data.text()], reason);
    }
}

#[test]
fn skipped_without_device() {
    test_support::assert_skipped("skipped_without_device", cfg!(soft_runtime), || burn_mpsgraph::MpsGraphDevice.name());
}
