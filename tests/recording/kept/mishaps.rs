//! What may go wrong with packages inside of MPSGraph: it ends the process, makes nothing of a package, or has no
//! folder for temporary files.

use std::fs;

use mpsgraph_soft::mpsgraph::hold;

use super::{Folder, PROGRAMS, counts, text};

/// Names the mishap in the environment of a process that runs the model.
const MISHAP: &str = "RECORDING_MISHAP";
const LAST_ENCODE: [(&str, &str); 1] = [(MISHAP, "encode")];
const NO_PACKAGE: [(&str, &str); 1] = [(MISHAP, "package")];

/// Orders the mishap that the environment names.
pub(super) fn order() {
    match std::env::var(MISHAP).as_deref() {
        Ok("encode") => hold::end_in_next_first_encode(),
        Ok("package") => hold::refuse_next_package(),
        Ok(other) => panic!("there is no mishap {other}"),
        Err(_) => (),
    }
}

/// What is noted of each program: loads, the least time, what has begun, and the time of an encode.
fn notes(folder: &Folder) -> Vec<[u64; 4]> {
    let read = |program: std::path::PathBuf| {
        let text = fs::read_to_string(program.join("loads.txt")).expect("there are notes");
        let numbers: Vec<u64> = text.split_whitespace().map(|number| number.parse().expect("a number")).collect();
        numbers.try_into().expect("four numbers")
    };
    folder.programs().into_iter().map(read).collect()
}

#[test]
fn a_first_encode_that_ended_two_processes_is_not_tried_again() {
    let folder = Folder::new("deadly-encode");
    assert_eq!(folder.run(), [PROGRAMS, 0, PROGRAMS]);
    for ended in 1..=2 {
        let output = folder.start(&LAST_ENCODE).wait_with_output().expect("it ends");
        assert!(!output.status.success());
        assert_eq!(notes(&folder).iter().map(|notes| notes[2]).sum::<u64>(), ended);
    }
    let output = folder.start(&[]).wait_with_output().expect("it ends");
    assert_eq!(counts(&output), [1, PROGRAMS - 1, 0]);
    assert_eq!(text(&output).matches("2 processes have ended while they loaded it").count(), 1, "{}", text(&output));
}

#[test]
fn loads_are_noted_with_their_first_encode() {
    let folder = Folder::new("notes");
    folder.run();
    for [loads, least, begun, encode] in notes(&folder) {
        assert!(encode > 0 && (loads, least, begun) == (0, 0, 0), "compiled: {loads} {least} {begun} {encode}");
    }
    assert_eq!(folder.run(), [0, PROGRAMS, 0]);
    for [loads, least, begun, encode] in notes(&folder) {
        assert!(least > 0 && encode > 0 && (loads, begun) == (1, 0), "loaded: {loads} {least} {begun} {encode}");
    }
}

#[test]
fn a_whole_package_of_which_nothing_is_made_is_replaced() {
    let folder = Folder::new("nothing");
    assert_eq!(folder.run(), [PROGRAMS, 0, PROGRAMS]);
    let marks = || folder.programs().iter().filter(|program| program.join("mark").exists()).count() as u64;
    folder.programs().iter().for_each(|program| fs::write(program.join("mark"), "old").expect("it is ours"));
    assert_eq!(folder.run_with(&NO_PACKAGE), [1, PROGRAMS - 1, 1]);
    assert_eq!((marks(), folder.programs().len() as u64), (PROGRAMS - 1, PROGRAMS));
    assert_eq!(notes(&folder).iter().map(|notes| notes[2]).sum::<u64>(), 0);
    assert_eq!(folder.run(), [0, PROGRAMS, 0]);
}

#[cfg(unix)] // elsewhere other variables name the folder
#[test]
fn without_a_folder_for_temporary_files_programs_are_compiled() {
    let folder = Folder::new("no-temporary");
    assert_eq!(folder.run(), [PROGRAMS, 0, PROGRAMS]);
    let file = folder.0.join("file");
    fs::write(&file, "").expect("it is ours");
    let variables = [("TMPDIR", file.to_str().expect("a path in UTF-8"))];
    assert_eq!(folder.run_with(&variables), [PROGRAMS, 0, 0]);
    let nothing_kept = Folder::new("no-temporary-new");
    let output = nothing_kept.start(&variables).wait_with_output().expect("it ends");
    assert_eq!(counts(&output), [PROGRAMS, 0, 0]);
    assert_eq!(text(&output).matches("cannot be made, where MPSGraph writes").count(), 1, "{}", text(&output));
    assert_eq!(nothing_kept.programs().len(), 0, "what was begun is removed");
    assert_eq!(nothing_kept.run(), [PROGRAMS, 0, PROGRAMS]);
}

#[cfg(unix)]
#[test]
fn nothing_stays_in_the_folder_for_temporary_files() {
    let [folder, temporary] = ["scratch", "temporary"].map(Folder::new);
    fs::create_dir(&temporary.0).expect("a place for temporary files");
    let variables = [("TMPDIR", temporary.0.to_str().expect("a path in UTF-8"))];
    assert_eq!(folder.run_with(&variables), [PROGRAMS, 0, PROGRAMS]);
    assert_eq!(folder.run_with(&variables), [0, PROGRAMS, 0]);
    assert_eq!(temporary.programs().len(), 0, "{:?}", temporary.programs());
}
