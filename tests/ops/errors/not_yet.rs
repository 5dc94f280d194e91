//! Methods that are not implemented: each panics with its name, and ARCHITECTURE.md lists exactly these.
//!
//! Both are taken from the source, so that implementing one changes its lines there and the table.

use std::collections::BTreeSet;

use burn::tensor::Tensor;
use burn_mpsgraph::{MpsGraph, MpsGraphDevice};
use test_support::panic_message;

use crate::source::{architecture, methods};

#[test]
fn the_text_names_the_method_and_the_table() {
    let text = panic_message("sort", || Tensor::<MpsGraph, 1>::from_data([1.0], &MpsGraphDevice).sort(0));
    assert_eq!(text, "burn-mpsgraph: float_sort is not implemented yet; see the table in ARCHITECTURE.md");
}

#[test]
fn each_names_itself() {
    for method in methods() {
        let Some(said) = method.not_yet else { continue };
        let (name, file) = (method.name.as_str(), method.file);
        assert!(said == name, "{name} in src/backend/{file}.rs says that it is {said}");
    }
}

/// Missing in parts: what Burn composes of missing methods.
const PARTLY: [&str; 1] = ["unfold4d"];

/// The table says "and the `int_` forms" and "each with its `_backward`": a name may stand for its family.
#[test]
fn the_table_in_architecture_md_lists_exactly_these() {
    let text = architecture();
    let section = text.split("## Not there yet").nth(1).expect("a section of that name");
    let rows = section.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    let listed: BTreeSet<&str> = rows.flat_map(|row| row.split('`').skip(1).step_by(2)).collect();
    let methods = methods();
    let missing: BTreeSet<&str> = methods.iter().filter_map(|method| method.not_yet.as_deref()).collect();

    let known = |name: &str| listed.contains(name);
    let in_table = |name: &str| {
        let suffixed = listed.iter().any(|&part| part.starts_with('_') && name.strip_suffix(part).is_some_and(known));
        known(name) || known(&name.replacen("int_", "float_", 1)) || suffixed
    };
    let not_listed: Vec<&str> = missing.iter().copied().filter(|name| !in_table(name)).collect();
    let names = listed.iter().copied().filter(|name| !name.starts_with('_') && !name.ends_with('_'));
    let implemented: Vec<&str> = names.filter(|name| !missing.contains(name) && !PARTLY.contains(name)).collect();
    assert!(
        not_listed.is_empty() && implemented.is_empty(),
        "the table \"Not there yet\" in ARCHITECTURE.md\n  lacks {not_listed:?}\n  has {implemented:?}, which do not \
         panic by `not_yet` in src/backend"
    );
}
