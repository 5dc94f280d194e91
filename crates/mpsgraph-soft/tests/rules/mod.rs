//! Every test says whether it is a rule and where from, and `ARCHITECTURE.md` has the counts: read off the sources, so
//! that no test has to run for it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{KINDS, plain};

/// A test as its source has it.
struct Found {
    /// File and name.
    place: String,
    /// The first statement, without line breaks.
    beginning: String,
}

/// The kind of a rule's source, or none for a test that is not a rule; an error says what is wrong.
fn kind_of(test: &Found) -> Result<Option<&'static str>, String> {
    let Found { place, beginning } = test;
    let begun = beginning.strip_prefix("let _test =").map(str::trim_start);
    let begun = begun.map(|call| call.strip_prefix("crate::support::").unwrap_or(call));
    if begun == Some("plain();") {
        return Ok(None);
    }
    let Some(source) = begun.and_then(|call| call.strip_prefix("rule(")) else {
        return Err(format!("{place} begins neither with `rule(…)` nor with `plain()`, but with `{beginning}`"));
    };
    let of_kind = |(kind, _): &&(&str, &str)| source.strip_prefix(kind).is_some_and(|rest| rest.starts_with('('));
    let Some((kind, _)) = KINDS.iter().find(of_kind) else {
        return Err(format!("{place} is a rule without a source: `{source}`"));
    };
    let text = source[kind.len() + 1..].trim().trim_start_matches('"');
    if text.starts_with(|first: char| first.is_alphanumeric()) {
        Ok(Some(kind))
    } else {
        Err(format!("{place} is a rule whose source says nothing: `{source}`"))
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

fn source_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder of the tests");
    let paths = entries.map(|entry| entry.expect("an entry of the folder").path());
    let files = paths.flat_map(|path| if path.is_dir() { source_files(&path) } else { vec![path] });
    files.filter(|path| path.extension().is_some_and(|extension| extension == "rs")).collect()
}

/// The tests of a file: what follows each `#[test]`, up to the first statement's semicolon.
fn tests_in(path: &Path) -> Vec<Found> {
    let text = fs::read_to_string(path).expect("a source file");
    let shown = path.strip_prefix(root()).expect("a file of the tests").display();
    let mut lines = text.lines().map(str::trim);
    let mut found = Vec::new();
    while lines.any(|line| line == "#[test]") {
        let head = lines.find(|line| line.starts_with("fn ")).expect("a function after #[test]");
        let name = head["fn ".len()..].split('(').next().expect("a name");
        let mut beginning = String::new();
        for line in lines.by_ref() {
            beginning.push_str(line);
            if line.starts_with("//") {
                beginning.clear();
            } else if line.ends_with([';', '}', '{']) {
                break;
            }
        }
        found.push(Found { place: format!("{shown}: {name}"), beginning });
    }
    found
}

fn kinds() -> Vec<Result<Option<&'static str>, String>> {
    source_files(&root()).iter().flat_map(|path| tests_in(path)).map(|test| kind_of(&test)).collect()
}

#[test]
fn every_test_says_whether_it_is_a_rule_and_every_rule_has_a_source() {
    let _test = plain();
    let wrong: Vec<String> = kinds().into_iter().filter_map(Result::err).collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn the_architecture_counts_the_sources_of_the_rules() {
    let _test = plain();
    let kinds: Vec<&str> = kinds().into_iter().filter_map(|kind| kind.ok().flatten()).collect();
    let counts = KINDS.map(|(kind, words)| format!("{} {words}", kinds.iter().filter(|&&found| found == kind).count()));
    let sentence = format!("{} rules: {}.", kinds.len(), counts.join(", "));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ARCHITECTURE.md");
    let text = fs::read_to_string(path).expect("ARCHITECTURE.md");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains(&sentence), "ARCHITECTURE.md, \"What the software runtime refuses\", must say: {sentence}");
}
