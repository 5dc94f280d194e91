//! Programs kept on disk: each test runs `a_model` of this binary in processes that share a folder.

#[cfg(soft_runtime)] // mishaps are ordered from the software runtime
mod mishaps;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use burn::tensor::{Int, Tensor};

use super::{B, Turn, read, vector};
use burn_mpsgraph::MpsGraphDevice;

/// A folder that goes with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("burn-mpsgraph-{name}-{}", std::process::id())))
    }

    /// The folders of the programs.
    fn programs(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.0).expect("programs were kept");
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
        paths.sort();
        paths
    }

    /// The longest program: none of a single op is the same.
    fn longest(&self) -> PathBuf {
        let text = |program: &PathBuf| fs::read_to_string(program.join("about.txt")).expect("its text");
        self.programs().into_iter().max_by_key(|program| text(program).lines().count()).expect("programs")
    }

    /// A process that runs the model with the folder.
    fn start(&self, variables: &[(&str, &str)]) -> Child {
        let mut command = Command::new(std::env::current_exe().expect("a test has a file"));
        command.args(["--exact", "kept::a_model", "--nocapture"]).env("BURN_MPSGRAPH_CACHE_DIR", &self.0);
        command.envs(variables.iter().copied()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("it starts")
    }

    /// Runs the model; how many programs it compiled, loaded and kept.
    fn run(&self) -> [u64; 3] {
        self.run_with(&[])
    }

    fn run_with(&self, variables: &[(&str, &str)]) -> [u64; 3] {
        counts(&self.start(variables).wait_with_output().expect("it ends"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0).or_else(|_| fs::remove_file(&self.0));
    }
}

fn text(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned()).concat()
}

#[track_caller]
fn counts(output: &Output) -> [u64; 3] {
    let text = text(output);
    assert!(output.status.success(), "{text}");
    let line = text.lines().find_map(|line| line.split_once("counted: ")).expect("the counts").1;
    let counts: Vec<u64> = line.split(' ').map(|count| count.parse().expect("a count")).collect();
    counts.try_into().expect("three counts")
}

/// As if a file had been written so long ago.
fn hours_ago(hours: u64, file: &Path) {
    let file = fs::File::options().write(true).open(file).expect("it is ours");
    let time = std::time::SystemTime::now() - std::time::Duration::from_secs(3600 * hours);
    file.set_modified(time).expect("the file system has times");
}

/// The programs of the model.
const PROGRAMS: u64 = 3;

/// Three programs whose feeds and outputs have equal types, so that their order matters.
#[test]
fn a_model() {
    let turn = Turn::take();
    #[cfg(soft_runtime)]
    mishaps::order();
    let [a, b, c] = [[1.0, 2.0], [10.0, 20.0], [0.5, 4.0]].map(|values| vector(&values));
    let (difference, quotient) = (a.clone() - b.clone(), (b.clone() - 3.0) / c.clone());
    MpsGraphDevice.flush();
    assert_eq!(read(difference), [-9.0, -18.0]);
    assert_eq!(read(quotient), [14.0, 4.25]);
    let numbers = Tensor::<B, 1, Int>::from_data([5i64, -7], &MpsGraphDevice);
    assert_eq!((numbers * 3).into_data().to_vec::<i32>().expect("i32 data"), [15, -21]);
    let rows = Tensor::cat(vec![c, b, a], 0).reshape([3, 2]);
    assert_eq!(read(rows.clone().matmul(rows.transpose()).slice([0..1, 0..3])), [16.25, 85.0, 8.5]);
    let used = turn.used();
    println!("counted: {} {} {}", used.programs_compiled, used.programs_loaded, used.programs_kept);
}

/// Two programs that are one but for which of their numbers the part that is left of them reads.
#[test]
fn numbers_of_parts_that_are_left_over() {
    let turn = Turn::take();
    let row = |number: f32| vector(&[number; 4]).reshape([1, 4]);
    let second_row = |first: bool| {
        let (x, z) = if first { (row(1.0) * 2.0, row(1.0).exp()) } else { (row(1.0).exp(), row(1.0) * 2.0) };
        let whole = Tensor::<B, 2>::zeros([3, 4], &MpsGraphDevice);
        let [x, y, z] = [(0, x), (1, row(1.0) * 3.0), (2, z)];
        let whole = [x, y, z].into_iter().fold(whole, |whole, (at, part)| whole.slice_assign([at..at + 1, 0..4], part));
        read(whole.slice([1..2, 0..4]) + 1.0)
    };
    for first in [true, false] {
        assert_eq!(second_row(first), [4.0; 4]);
    }
    drop(turn);
}

#[test]
fn programs_with_parts_left_over_are_kept_apart() {
    let folder = Folder::new("left-over");
    for _ in 0..2 {
        let mut command = Command::new(std::env::current_exe().expect("a test has a file"));
        command.args(["--exact", "kept::numbers_of_parts_that_are_left_over"]);
        let output = command.env("BURN_MPSGRAPH_CACHE_DIR", &folder.0).output().expect("it ends");
        assert!(output.status.success(), "{}", text(&output));
    }
}

#[test]
fn without_a_folder_nothing_is_kept() {
    let turn = Turn::take();
    assert_eq!(read(vector(&[1.0]) + 1.0), [2.0]);
    let used = turn.used();
    assert_eq!((used.programs_compiled, used.programs_loaded, used.programs_kept), (1, 0, 0));
}

#[test]
fn a_second_process_loads_what_the_first_has_compiled() {
    let folder = Folder::new("second");
    assert_eq!(folder.run(), [PROGRAMS, 0, PROGRAMS]);
    assert_eq!(folder.programs().len() as u64, PROGRAMS);
    assert_eq!(folder.run(), [0, PROGRAMS, 0]);
    assert_eq!(folder.run(), [0, PROGRAMS, 0]);
    // What is compiled differently is another program.
    assert!(folder.run_with(&[("BURN_MPSGRAPH_EAGER", "1")])[0] > 0);
}

#[test]
fn programs_of_both_levels_are_kept() {
    let folder = Folder::new("levels");
    assert_eq!(folder.run(), [PROGRAMS, 0, PROGRAMS]);
    // One program has integers, and so is at level 0 in any case.
    assert_eq!(folder.run_with(&[("BURN_MPSGRAPH_LEVEL", "1")]), [PROGRAMS - 1, 1, PROGRAMS - 1]);
    assert_eq!(folder.run_with(&[("BURN_MPSGRAPH_LEVEL", "1")]), [0, PROGRAMS, 0]);
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// Checks that a program is compiled and kept again after something happened to its folder, or to its files whose names
/// end so.
#[track_caller]
fn replaced(name: &str, file: &str, harm: impl Fn(&Path)) {
    let folder = Folder::new(name);
    assert_eq!(folder.run(), [PROGRAMS, 0, PROGRAMS]);
    let program = folder.programs().remove(1);
    let harmed = match file {
        "" => vec![program],
        _ => files(&program).into_iter().filter(|path| path.to_string_lossy().ends_with(file)).collect(),
    };
    assert!(!harmed.is_empty());
    harmed.iter().for_each(|path| harm(path));
    assert_eq!(folder.run(), [1, PROGRAMS - 1, 1]);
    assert_eq!(folder.run(), [0, PROGRAMS, 0]);
    assert_eq!(folder.programs().len() as u64, PROGRAMS);
}

fn in_package(folder: &Path) -> Vec<PathBuf> {
    files(&folder.join("program.mpsgraphpackage"))
}

#[test]
fn a_damaged_package_is_replaced() {
    replaced("damaged", "", |program| {
        let path = in_package(program).remove(0);
        let mut bytes = fs::read(&path).expect("a file of the package");
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0x10;
        fs::write(path, bytes).expect("it is ours");
    });
}

#[test]
fn a_package_that_is_half_written_is_replaced() {
    replaced("half", "", |program| {
        let path = in_package(program).remove(0);
        let bytes = fs::read(&path).expect("a file of the package");
        fs::write(path, &bytes[..bytes.len() / 2]).expect("it is ours");
    });
    replaced("no-package", "", |program| {
        fs::remove_dir_all(program.join("program.mpsgraphpackage")).expect("it is ours");
    });
}

#[test]
fn a_program_whose_description_is_damaged_is_replaced() {
    replaced("cut-description", "about.txt", |path| {
        let bytes = fs::read(path).expect("it was written");
        fs::write(path, &bytes[..bytes.len() / 2]).expect("it is ours");
    });
    replaced("other-order", "about.txt", |path| {
        let text = fs::read_to_string(path).expect("it was written");
        let line = text.lines().find(|line| line.starts_with("feeds")).expect("the order of the feeds");
        fs::write(path, text.replace(line, "feeds 0")).expect("it is ours");
    });
    replaced("no-description", "about.txt", |path| fs::remove_file(path).expect("it is ours"));
}

#[test]
fn what_is_not_ours_is_replaced() {
    replaced("foreign-file", "", |program| {
        fs::remove_dir_all(program).expect("it is ours");
        fs::write(program, "something else").expect("it is ours");
    });
    replaced("foreign-folder", "", |program| {
        fs::remove_dir_all(program).expect("it is ours");
        fs::create_dir_all(program.join("program.mpsgraphpackage")).expect("it is ours");
    });
}

#[test]
fn two_programs_of_one_hash_are_not_mistaken() {
    let folder = Folder::new("exchanged");
    assert_eq!(folder.run(), [PROGRAMS, 0, PROGRAMS]);
    let programs = folder.programs();
    let aside = folder.0.join("aside");
    for (from, to) in [(&programs[0], &aside), (&programs[1], &programs[0]), (&aside, &programs[1])] {
        fs::rename(from, to).expect("it is ours");
    }
    assert_eq!(folder.run(), [2, PROGRAMS - 2, 2]);
    assert_eq!(folder.run(), [0, PROGRAMS, 0]);
}

#[cfg(soft_runtime)] // the software runtime plays the systems
#[test]
fn systems_keep_their_own_programs() {
    let folder = Folder::new("systems");
    let on = |system, family| folder.run_with(&[("MPSGRAPH_SOFT_MACOS", system), ("MPSGRAPH_SOFT_GPU_FAMILY", family)]);
    assert_eq!(on("14.0", "9"), [PROGRAMS, 0, PROGRAMS]);
    assert_eq!(on("15.0", "9"), [PROGRAMS, 0, PROGRAMS]);
    assert_eq!(on("26.0", "9"), [PROGRAMS, 0, PROGRAMS]);
    // As programs see it that were linked with an older SDK.
    assert_eq!(on("16.0", "9"), [PROGRAMS, 0, PROGRAMS]);
    assert_eq!(on("15.0", "10"), [PROGRAMS, 0, PROGRAMS]);
    for (system, family) in [("14.0", "9"), ("15.0", "9"), ("26.0", "9"), ("16.0", "9"), ("15.0", "10")] {
        assert_eq!(on(system, family), [0, PROGRAMS, 0], "{system} {family}");
    }
}

#[test]
fn two_processes_at_once_agree() {
    let folder = Folder::new("at-once");
    let processes: Vec<Child> = (0..2).map(|_| folder.start(&[])).collect();
    for process in processes {
        let [compiled, loaded, _] = counts(&process.wait_with_output().expect("it ends"));
        assert_eq!(compiled + loaded, PROGRAMS);
    }
    assert_eq!(folder.run(), [0, PROGRAMS, 0]);
    assert_eq!(folder.programs().len() as u64, PROGRAMS, "{:?}", folder.programs());
}

#[test]
fn a_load_that_ended_two_processes_is_not_tried_again() {
    let folder = Folder::new("deadly");
    assert_eq!(folder.run(), [PROGRAMS, 0, PROGRAMS]);
    let notes = |begun| fs::write(folder.programs()[0].join("loads.txt"), format!("5 1 {begun} 1\n"));
    notes(1).expect("it is ours");
    assert_eq!(folder.run(), [0, PROGRAMS, 0]);
    notes(2).expect("it is ours");
    let output = folder.start(&[]).wait_with_output().expect("it ends");
    assert_eq!(counts(&output), [1, PROGRAMS - 1, 0]);
    assert_eq!(text(&output).matches("2 processes have ended while they loaded it").count(), 1, "{}", text(&output));
    hours_ago(25, &folder.programs()[0].join("loads.txt"));
    assert_eq!(folder.run(), [0, PROGRAMS, 0]);
}

#[test]
fn a_program_that_somebody_loads_for_the_first_time_is_not_removed() {
    let folder = Folder::new("first-load");
    assert_eq!(folder.run(), [PROGRAMS, 0, PROGRAMS]);
    let loaded = folder.longest();
    fs::write(loaded.join("ballast"), vec![0; 1 << 20]).expect("it is ours");
    let lock = fs::File::options().write(true).open(loaded.join("loads.txt")).expect("there is always a lock");
    hours_ago(1, &loaded.join("loads.txt"));
    lock.try_lock().expect("nobody loads it");
    folder.run_with(&[("BURN_MPSGRAPH_CACHE_MEGABYTES", "1"), ("BURN_MPSGRAPH_EAGER", "1")]);
    assert!(loaded.exists());
}

#[test]
fn writing_that_ended_two_processes_is_not_tried_again() {
    let folder = Folder::new("deadly-writes");
    let ended = |number| {
        let left = folder.0.join(format!(".new-0-{number}"));
        fs::create_dir_all(&left).expect("a place for temporary files");
        fs::write(left.join("writing.lock"), "").expect("it is ours");
    };
    ended(0);
    assert_eq!(folder.run(), [PROGRAMS, 0, PROGRAMS]);
    fs::remove_dir_all(&folder.0).expect("it is ours");
    ended(0);
    ended(1);
    let output = folder.start(&[]).wait_with_output().expect("it ends");
    assert_eq!(counts(&output), [PROGRAMS, 0, 0]);
    assert_eq!(text(&output).matches("2 processes have ended while they wrote").count(), 1, "{}", text(&output));
    assert_eq!(folder.programs().len(), 2, "{:?}", folder.programs());
    hours_ago(3, &folder.0.join(".new-0-0/writing.lock"));
    assert_eq!(folder.run(), [PROGRAMS, 0, PROGRAMS]);
}

#[test]
fn what_loads_slower_than_it_compiles_is_compiled() {
    let folder = Folder::new("slow");
    assert_eq!(folder.run(), [PROGRAMS, 0, PROGRAMS]);
    let notes = |loads| fs::write(folder.programs()[0].join("loads.txt"), format!("{loads} {} 0 1\n", u64::MAX));
    notes(2).expect("it is ours");
    assert_eq!(folder.run(), [0, PROGRAMS, 0]);
    notes(3).expect("it is ours");
    assert_eq!(folder.run(), [1, PROGRAMS - 1, 0]);
}

#[test]
fn a_folder_that_cannot_be_written_is_one_warning() {
    let folder = Folder::new("no-folder");
    fs::write(&folder.0, "a file").expect("a place for temporary files");
    let output = folder.start(&[]).wait_with_output().expect("it ends");
    assert_eq!(counts(&output), [PROGRAMS, 0, 0]);
    assert_eq!(text(&output).matches("programs are not kept in ").count(), 1, "{}", text(&output));
}

#[cfg(unix)] // elsewhere nobody removes the folder in which a process works
#[test]
fn a_relative_folder_in_a_folder_that_is_gone_is_called_so() {
    let folder = Folder::new("gone");
    fs::create_dir_all(folder.0.join("gone")).expect("a place for temporary files");
    let mut command = Command::new("sh");
    command.args(["-c", "rmdir \"$PWD\" && exec \"$0\" --exact kept::a_model --nocapture"]);
    command.arg(std::env::current_exe().expect("a test has a file")).current_dir(folder.0.join("gone"));
    let output = command.env("BURN_MPSGRAPH_CACHE_DIR", "programs").output().expect("it starts");
    assert!(!output.status.success());
    let expected = "BURN_MPSGRAPH_CACHE_DIR=programs counts from where the process is, which cannot be told";
    assert!(text(&output).contains(expected), "{}", text(&output));
}

#[test]
fn a_folder_that_is_full_stays_as_it_is() {
    let folder = Folder::new("full");
    assert_eq!(folder.run(), [PROGRAMS, 0, PROGRAMS]);
    fs::write(folder.programs()[0].join("ballast"), vec![0; 1 << 20]).expect("it is ours");
    let output = folder.start(&[("BURN_MPSGRAPH_CACHE_MEGABYTES", "1"), ("BURN_MPSGRAPH_EAGER", "1")]);
    let output = output.wait_with_output().expect("it ends");
    assert_eq!(counts(&output)[2], 0);
    assert!(text(&output).contains("no room"), "{}", text(&output));
}

#[test]
fn the_oldest_programs_make_room() {
    let folder = Folder::new("oldest");
    assert_eq!(folder.run(), [PROGRAMS, 0, PROGRAMS]);
    let oldest = folder.longest();
    fs::write(oldest.join("ballast"), vec![0; 1 << 20]).expect("it is ours");
    hours_ago(1, &oldest.join("loads.txt"));
    let counts = folder.run_with(&[("BURN_MPSGRAPH_CACHE_MEGABYTES", "1"), ("BURN_MPSGRAPH_EAGER", "1")]);
    assert!(counts[2] > 0, "{counts:?}");
    assert!(!oldest.exists());
    assert_eq!(folder.run(), [1, PROGRAMS - 1, 1]);
}
