//! This crate's declarations against the methods that the running system has: Apple's on a Mac, ours elsewhere.

use burn_mpsgraph::contract::{self, Declaration};

use crate::tables::CLASSES;

/// Declarations that the running system must have. Objects of a protocol have classes without a public name: their
/// methods are checked when they are first sent.
fn expected() -> impl Iterator<Item = Declaration> {
    contract::declarations().into_iter().filter(|declared| {
        let since = (u64::from(declared.min_macos.0), u64::from(declared.min_macos.1));
        !CLASSES[declared.owner].is_protocol && since <= contract::macos_version()
    })
}

#[test]
fn every_declared_method_is_there_with_its_types() {
    let problems: Vec<String> = expected().filter_map(|declared| contract::check(&declared).err()).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn a_wrong_encoding_is_reported_with_both() {
    let right =
        expected().find(|declared| declared.selector == "numberWithInteger:").expect("numberWithInteger: is declared");
    contract::check(&right).expect("the right declaration is accepted");

    let wrong = Declaration { arguments: vec!["f"], ..right.clone() };
    let text = contract::check(&wrong).expect_err("the wrong declaration is refused");
    for part in ["+[NSNumber numberWithInteger:]", "\"@@:f\"", "q16"] {
        assert!(text.contains(part), "{part} is missing: {text}");
    }

    let invented = Declaration { selector: "numberWithQuaternion:", ..right };
    let text = contract::check(&invented).expect_err("a method that nobody has is refused");
    assert!(text.contains("+[NSNumber numberWithQuaternion:]: the class has no such method"), "{text}");
}
