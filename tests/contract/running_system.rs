//! This crate's declarations against the methods that the running system has: Apple's on a Mac, ours elsewhere.

use burn_mpsgraph::contract::{self, Declaration, MismatchReason};

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
    let problems: Vec<String> = expected()
        .filter_map(|declared| contract::check(&declared).err())
        .map(|mismatch| mismatch.to_string())
        .collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn a_wrong_encoding_is_reported_with_both() {
    let right =
        expected().find(|declared| declared.selector == "numberWithInteger:").expect("numberWithInteger: is declared");
    contract::check(&right).expect("the right declaration is accepted");

    let wrong = Declaration { arguments: vec!["f"], ..right.clone() };
    let mismatch = contract::check(&wrong).expect_err("the wrong declaration is refused");
    assert_eq!(mismatch.method, "+[NSNumber numberWithInteger:]");
    match mismatch.reason {
        MismatchReason::OtherTypes { declared, found } => {
            assert_eq!(declared, "@@:f");
            // The runtime's own encoding has offsets, which are the system's.
            assert!(found.starts_with('@') && found.contains('q'), "{found}");
        }
        MismatchReason::NoClass | MismatchReason::NoMethod => panic!("the method has other types"),
    }

    let invented = Declaration { selector: "numberWithQuaternion:", ..right };
    let mismatch = contract::check(&invented).expect_err("a method that the class does not have is refused");
    assert_eq!(mismatch.method, "+[NSNumber numberWithQuaternion:]");
    assert_eq!(mismatch.reason, MismatchReason::NoMethod);
}
