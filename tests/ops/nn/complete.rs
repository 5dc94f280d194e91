//! Checks against burn-nn's source that each of its modules stands in a line of this family.

use std::collections::BTreeSet;
use std::fs::{read_dir, read_to_string};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Modules that are only made as a part of others, which have lines.
const WITHOUT_LINES: [&str; 3] = ["GateController", "TransformerDecoderLayer", "TransformerEncoderLayer"];

#[test]
fn every_module_of_burn_nn_has_a_line() {
    let modules = modules();
    assert!(modules.len() > 60, "{} modules were found in burn-nn's source: {modules:?}", modules.len());
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("nn");
    let text: String = sources(&own).into_iter().filter(|path| !path.ends_with("complete.rs")).map(read).collect();
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let words: BTreeSet<&str> = code.flat_map(|line| line.split(|c: char| !c.is_alphanumeric())).collect();
    let named = |module: &String| words.contains(module.as_str()) || words.contains(format!("{module}Config").as_str());
    let without = |module: &&String| !WITHOUT_LINES.contains(&module.as_str()) && !named(module);
    let missing: Vec<&String> = modules.iter().filter(without).collect();
    assert!(missing.is_empty(), "no line in tests/ops/nn for {missing:?} of burn-nn");
}

/// What derives `Module`; burn-nn exports all of it.
fn modules() -> BTreeSet<String> {
    sources(&burn_nn().join("src")).into_iter().flat_map(|path| of_file(&read(path))).collect()
}

fn of_file(text: &str) -> Vec<String> {
    let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let derived = |text: &str| {
        let (derives, rest) = text.split_once(')')?;
        derives.split(',').any(|name| name.trim() == "Module").then_some(())?;
        let declared = rest.lines().find_map(|line| ["struct", "enum"].iter().find_map(|&kind| declared(line, kind)));
        Some(declared.unwrap_or_else(|| panic!("what is declared here? {rest:.300}")).to_string())
    };
    code.split("#[derive(").skip(1).filter_map(derived).collect()
}

/// The name in `pub struct Name…`.
fn declared<'a>(line: &'a str, kind: &str) -> Option<&'a str> {
    let name = line.strip_prefix("pub ")?.strip_prefix(kind)?.strip_prefix(' ')?;
    name.split(|c: char| !c.is_alphanumeric()).next()
}

/// The folder of the package of which this binary is built.
fn burn_nn() -> PathBuf {
    // Without the platform cargo would fetch the packages of every other system.
    let platform = said(Command::new("rustc").arg("-vV"));
    let platform = platform.lines().find_map(|line| line.strip_prefix("host: ")).expect("rustc names its host");
    let text = said(
        Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
            .args(["metadata", "--format-version", "1", "--locked", "--filter-platform", platform, "--manifest-path"])
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")),
    );
    let manifests = text.split("\"manifest_path\":\"").skip(1).filter_map(|rest| rest.split_once('"'));
    let folders = manifests.map(|(path, _)| PathBuf::from(path).parent().expect("a folder").to_path_buf());
    let named = |folder: &PathBuf| {
        let name = folder.file_name().map(|name| name.display().to_string()).unwrap_or_default();
        name == "burn-nn" || name.starts_with("burn-nn-")
    };
    folders.into_iter().find(named).expect("burn depends on burn-nn")
}

/// What a command writes.
fn said(command: &mut Command) -> String {
    let run = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(run.status.success(), "{command:?}: {}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8(run.stdout).expect("text")
}

/// The Rust files below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let of = |path: PathBuf| match path.is_dir() {
        true => sources(&path),
        false => Vec::from_iter(path.extension().is_some_and(|end| end == "rs").then_some(path)),
    };
    let entries = read_dir(folder).expect("a folder of source");
    entries.flat_map(|entry| of(entry.expect("a file").path())).collect()
}

fn read(path: PathBuf) -> String {
    read_to_string(path).expect("Rust source")
}
