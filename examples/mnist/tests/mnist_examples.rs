//! `examples/mnist` as a user runs it: accuracy, counters, where the digits come from, and answers to bad input.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use burn_mpsgraph::MpsGraphDevice;

/// The binary of an example, which cargo builds beside the tests.
fn example(name: &str) -> Command {
    // Without a device the tests end here.
    MpsGraphDevice.name();
    let test = std::env::current_exe().expect("a test has a path");
    let profile = test.parent().and_then(Path::parent).expect("tests are built in <profile>/deps");
    let mut command = Command::new(profile.join("examples").join(format!("{name}{}", std::env::consts::EXE_SUFFIX)));
    // Prevents a download: this address refuses connections at once.
    command.env("HTTPS_PROXY", "http://127.0.0.1:9").env("https_proxy", "http://127.0.0.1:9");
    command
}

fn run(name: &str, arguments: &[&str]) -> Output {
    example(name).args(arguments).output().expect("the example is built")
}

/// What the example wrote, if it succeeded.
#[track_caller]
fn text(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    text
}

#[track_caller]
fn accuracy(output: &Output) -> f64 {
    let text = text(output);
    let line = text.lines().find_map(|line| line.strip_prefix("test accuracy of the saved model: "));
    line.and_then(|line| line.strip_suffix(" %")).expect("an accuracy").parse().expect("a number")
}

/// A number of the line of counters.
#[track_caller]
fn counter(output: &Output, what: &str) -> u64 {
    let text = text(output);
    let line = text.lines().find_map(|line| line.strip_prefix("counters: ")).expect("counters");
    let part = line.split(", ").find_map(|part| part.split_once(' ').filter(|(_, words)| words.starts_with(what)));
    part.expect("the counter is there").0.parse().expect("a number")
}

/// One clear line and exit code 2.
#[track_caller]
fn refused(arguments: &[&str], reason: &str) {
    let output = run("mnist_mlp", arguments);
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

/// The files of a data set: names, and that many digits a split, all alike.
fn data_set(train: u32, test: u32) -> [(&'static str, Vec<u8>); 4] {
    let images = |count: u32| idx(&[0x803, count, 28, 28], &vec![7; count as usize * 784]);
    let labels = |count: u32| idx(&[0x801, count], &(0..count).map(|at| (at % 10) as u8).collect::<Vec<_>>());
    [
        ("train-images-idx3-ubyte", images(train)),
        ("train-labels-idx1-ubyte", labels(train)),
        ("t10k-images-idx3-ubyte", images(test)),
        ("t10k-labels-idx1-ubyte", labels(test)),
    ]
}

fn write(directory: &Path, files: &[(&str, Vec<u8>)]) {
    for (name, bytes) in files {
        fs::write(directory.join(name), bytes).expect("the directory can be written");
    }
}

/// Accuracy on a part of MNIST, if it is there.
fn accuracy_on_mnist(name: &str, epochs: &str) -> Option<f64> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/mnist");
    if !data.is_dir() {
        eprintln!("skipped: no MNIST files in {}", data.display());
        return None;
    }
    let (scratch, data) = (Scratch::new(name), data.to_str().expect("UTF-8"));
    let output = run(name, &["--data", data, "--epochs", epochs, "--output", scratch.text()]);
    assert!(scratch.0.join("model.mpk").is_file());
    Some(accuracy(&output))
}

#[test]
fn ten_epochs_on_mnist_reach_94_percent() {
    assert!(accuracy_on_mnist("mnist_mlp", "10").is_none_or(|accuracy| accuracy >= 94.0));
}

#[test]
fn a_convolutional_network_reaches_96_percent_in_three_epochs() {
    assert!(accuracy_on_mnist("mnist_cnn", "3").is_none_or(|accuracy| accuracy >= 96.0));
}

/// The last batch to train on and the last one to test with are smaller than the others here.
#[test]
fn after_the_first_epoch_nothing_compiles_and_a_batch_is_one_commit() {
    for name in ["mnist_mlp", "mnist_cnn"] {
        let (scratch, data) = (Scratch::new("counters"), Scratch::new("counters-data"));
        write(&data.0, &data_set(200, 100));
        let arguments = ["--data", data.text(), "--hidden", "8", "--output", scratch.text(), "--epochs"];
        let [one, three] = ["1", "3"].map(|epochs| run(name, &[&arguments[..], &[epochs]].concat()));
        let since = |what| counter(&three, what) - counter(&one, what);
        assert_eq!(since("programs compiled"), 0, "{name}");
        // Four batches to train on and two to test with.
        assert_eq!((since("commits"), since("executions")), (2 * 6, 2 * 6), "{name}");
    }
}

#[test]
fn without_data_and_network_it_trains_on_rendered_digits_and_says_so() {
    let (scratch, home) = (Scratch::new("rendered"), Scratch::new("rendered-home"));
    let mut command = example("mnist_mlp");
    command.env_remove("XDG_CACHE_HOME").env("HOME", &home.0);
    let output = command.args(["--epochs", "3", "--output", scratch.text()]).output().expect("the example is built");
    assert!(accuracy(&output) >= 95.0);
    let text = text(&output);
    assert!(text.contains("data: digits rendered by this example (no --data, and no MNIST: curl"), "{text}");
}

/// A `curl` that copies files plays the network.
#[cfg(unix)]
#[test]
fn downloaded_mnist_is_kept_where_burn_keeps_it() {
    use std::os::unix::fs::PermissionsExt;

    let (scratch, home, network) = (Scratch::new("download"), Scratch::new("download-home"), Scratch::new("network"));
    for (name, bytes) in data_set(3, 3) {
        let file = fs::File::create(network.0.join(format!("{name}.gz"))).expect("the directory can be written");
        let mut packed = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
        std::io::Write::write_all(&mut packed, &bytes).expect("the directory can be written");
    }
    let curl = network.0.join("curl");
    let script = format!("#!/bin/sh\nfor address; do :; done\ncat '{}'/\"${{address##*/}}\"\n", network.text());
    fs::write(&curl, script).expect("the directory can be written");
    fs::set_permissions(&curl, fs::Permissions::from_mode(0o755)).expect("the file is ours");

    let path = std::env::var("PATH").expect("a path");
    let arguments = ["--epochs", "1", "--hidden", "8", "--output", scratch.text()];
    for path in [format!("{}:{path}", network.text()), path] {
        let mut command = example("mnist_mlp");
        command.env_remove("XDG_CACHE_HOME").env("HOME", &home.0).env("PATH", path);
        let text = text(&command.args(arguments).output().expect("the example is built"));
        assert!(text.contains("data: MNIST from Burn's data set cache: 3 to train on, 3 to test with"), "{text}");
    }
    let caches = home.0.join(if cfg!(target_os = "macos") { "Library/Caches" } else { ".cache" });
    assert!(caches.join("burn-dataset/mnist/test/t10k-labels-idx1-ubyte").is_file());
}

#[test]
fn a_small_data_set_of_plain_files_trains() {
    let (scratch, data) = (Scratch::new("plain"), Scratch::new("plain-data"));
    write(&data.0, &data_set(3, 3));
    let arguments = ["--epochs", "1", "--hidden", "8", "--workers", "0", "--output", scratch.text()];
    accuracy(&run("mnist_mlp", &[&["--data", data.text()], &arguments[..]].concat()));
}

#[test]
fn bad_options_are_named() {
    refused(&["--epochs", "0"], "--epochs takes a whole number above 0, not 0");
    refused(&["--batch-size", "many"], "--batch-size takes a whole number above 0, not many");
    refused(&["--optimizer", "lbfgs"], "--optimizer takes adam or sgd, not lbfgs");
    refused(&["--learning-rate", "-1"], "--learning-rate takes a number above 0, not -1");
    refused(&["--hidden"], "--hidden takes a value");
    refused(&["--frobnicate"], "--frobnicate");
    let help = run("mnist_mlp", &["--help"]);
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
        write(&data.0, &data_set(3, 3));
        write(&data.0, &[(file, bytes)]);
        refused(&["--data", data.text()], reason);
    }
}

#[test]
fn skipped_without_device() {
    let playable = cfg!(any(feature = "soft", not(target_vendor = "apple")));
    test_support::assert_skipped("skipped_without_device", playable, || MpsGraphDevice.name());
}
