//! This crate's declarations against the tables.

use std::collections::HashSet;

use burn_mpsgraph::contract::{self, Declaration, Kind};

use crate::tables::{CLASSES, CONSTANTS, FUNCTIONS, METHODS};

/// What a declaration says other than Apple's table; empty if nothing.
fn differences(declared: &Declaration) -> Vec<String> {
    let name = format!("{}[{} {}]", declared.kind.sign(), declared.owner, declared.selector);
    let Some(apple) = METHODS.get(&(declared.owner, declared.kind.sign(), declared.selector)) else {
        return vec![format!("{name}: Apple has no such method")];
    };
    let mut out = Vec::new();
    if declared.returns != apple.ret || declared.arguments != apple.args {
        out.push(format!(
            "{name}: declared as {} ({}), Apple's is {} ({})",
            declared.returns,
            declared.arguments.join(" "),
            apple.ret,
            apple.args.join(" ")
        ));
    }
    if declared.owned != apple.owned {
        out.push(format!("{name}: declared owned = {}, Apple's is {}", declared.owned, apple.owned));
    }
    let declared_version = (u16::from(declared.min_macos.0), u16::from(declared.min_macos.1));
    if declared_version != apple.min_macos {
        out.push(format!("{name}: declared since {declared_version:?}, Apple's is {:?}", apple.min_macos));
    }
    // By-hand rows name no file.
    if apple.file != "by-hand" && declared.header.replace(".h", ".rs") != apple.file {
        out.push(format!("{name}: declared in {}, Apple's is {}", declared.header, apple.file));
    }
    out
}

#[test]
fn every_declared_method_is_apples() {
    let declared = contract::declarations();
    assert!(declared.len() > 150, "only {} declarations", declared.len());
    let problems: Vec<String> = declared.iter().flat_map(differences).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn every_declared_class_is_apples() {
    for declared in contract::declarations() {
        assert!(CLASSES.contains_key(declared.owner), "Apple has no {}", declared.owner);
    }
}

#[test]
fn no_method_is_declared_twice() {
    let mut seen = HashSet::new();
    for declared in contract::declarations() {
        let name = format!("{}[{} {}]", declared.kind.sign(), declared.owner, declared.selector);
        assert!(seen.insert(name.clone()), "{name} is declared twice");
    }
}

/// What the oldest system that this crate supports does not have is sent after a look at the system's version. Without
/// it, `tests/ops/tensor_shape/slice_assign.rs` shows what is sent there instead: it passes on the software runtime as
/// macOS 14.0, which refuses newer messages.
#[test]
fn what_is_newer_than_the_minimum_is_known() {
    let mut newer: Vec<&str> = contract::declarations()
        .iter()
        .filter(|declared| declared.min_macos > (14, 0))
        .map(|declared| declared.selector)
        .collect();
    newer.sort_unstable();
    assert_eq!(
        newer,
        [
            "sliceUpdateDataTensor:updateTensor:starts:ends:strides:name:",
            "sliceUpdateDataTensor:updateTensor:starts:ends:strides:startMask:endMask:squeezeMask:name:",
        ]
    );
}

#[test]
fn every_constant_is_apples() {
    for declared in contract::constants() {
        let Some(apple) = CONSTANTS.get(declared.name) else {
            panic!("Apple has no constant {}", declared.name);
        };
        assert_eq!(
            (declared.group, declared.encoding, declared.value),
            (apple.group, apple.encoding, apple.value),
            "{}",
            declared.name
        );
    }
}

#[test]
fn every_function_is_apples() {
    // Intel Macs only, and the tables are of arm64: declared beside objc_msgSend in Apple's message.h.
    let intel_only = "objc_msgSend_stret";
    for name in contract::functions().into_iter().filter(|name| *name != intel_only) {
        assert!(FUNCTIONS.contains(&name), "Apple has no function {name}");
    }
}

#[test]
fn wrong_declarations_are_found() {
    let right = contract::declarations()
        .into_iter()
        .find(|declared| declared.selector == "softMaxWithTensor:axis:name:")
        .expect("softmax is declared");
    assert_eq!(differences(&right), Vec::<String>::new());

    let wrong = Declaration { arguments: vec!["@", "f", "@"], ..right.clone() };
    assert_eq!(
        differences(&wrong),
        ["-[MPSGraph softMaxWithTensor:axis:name:]: declared as @ (@ f @), Apple's is @ (@ q @)"]
    );
    let invented = Declaration { selector: "softMaxOfTensor:axis:name:", ..right.clone() };
    assert_eq!(differences(&invented), ["-[MPSGraph softMaxOfTensor:axis:name:]: Apple has no such method"]);
    let owned = Declaration { owned: true, ..right.clone() };
    assert_eq!(
        differences(&owned),
        ["-[MPSGraph softMaxWithTensor:axis:name:]: declared owned = true, Apple's is false"]
    );
    let class_method = Declaration { kind: Kind::Class, ..right };
    assert_eq!(differences(&class_method), ["+[MPSGraph softMaxWithTensor:axis:name:]: Apple has no such method"]);
}
