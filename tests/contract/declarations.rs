//! This crate's declarations against the tables.

use std::collections::HashSet;

use burn_mpsgraph::contract::{self, Declaration, Kind};

use crate::tables::{CLASSES, CONSTANTS, FUNCTIONS, METHODS};

/// The differences between a declaration and Apple's table, one line each, beginning with the declaration's name.
fn differences(declared: &Declaration) -> Vec<String> {
    let name = declared.name();
    let Some(apple) = METHODS.get(&(declared.owner, declared.kind.sign(), declared.selector)) else {
        let others = owners_of(declared.selector);
        let but = if others.is_empty() { String::new() } else { format!(", but {}", others.join(", ")) };
        return vec![format!("{name}: Apple has no such method{but}")];
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
    // Rows that were written by hand do not name a file: the declaration names the header of the class.
    let header = match apple.file {
        "by-hand" => format!("{}.h", declared.owner),
        file => file.replace(".rs", ".h"),
    };
    if declared.header != header {
        out.push(format!("{name}: declared in {}, Apple's is {header}", declared.header));
    }
    out
}

/// The methods of this selector that Apple's tables have, in any class.
fn owners_of(selector: &str) -> Vec<String> {
    let same = METHODS.keys().filter(|(_, _, known)| *known == selector);
    let mut names: Vec<String> = same.map(|(owner, sign, selector)| format!("{sign}[{owner} {selector}]")).collect();
    names.sort_unstable();
    names
}

#[test]
fn every_declared_method_is_apples() {
    let declared = contract::declarations();
    assert!(declared.len() > 100, "only {} declarations", declared.len());
    let problems: Vec<String> = declared.iter().flat_map(differences).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn every_declared_class_is_apples() {
    let unknown: Vec<&str> = contract::declarations()
        .iter()
        .map(|declared| declared.owner)
        .filter(|owner| !CLASSES.contains_key(owner))
        .collect();
    assert!(unknown.is_empty(), "Apple has no {unknown:?}");
}

#[test]
fn no_method_is_declared_twice() {
    let mut seen = HashSet::new();
    for declared in contract::declarations() {
        let name = declared.name();
        assert!(seen.insert(name.clone()), "{name} is declared twice");
    }
}

/// Messages that the oldest supported system lacks are sent only after a check of the system's version. What is sent
/// there instead is tested by `tests/ops/tensor_shape/slice_assign.rs`, which the gate runs on the software runtime as
/// macOS 14.0, too, where newer messages are refused.
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
    let declared = contract::constants();
    assert!(declared.len() > 20, "only {} constants", declared.len());
    for declared in declared {
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
    let declared = contract::functions();
    assert!(declared.len() > 10, "only {} functions", declared.len());
    for name in declared.into_iter().filter(|name| *name != intel_only) {
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
    let class_method = Declaration { kind: Kind::Class, ..right.clone() };
    assert_eq!(
        differences(&class_method),
        ["+[MPSGraph softMaxWithTensor:axis:name:]: Apple has no such method, but \
             -[MPSGraph softMaxWithTensor:axis:name:]"]
    );
    let elsewhere = Declaration { owner: "MPSGraphTensor", ..right.clone() };
    assert_eq!(
        differences(&elsewhere),
        ["-[MPSGraphTensor softMaxWithTensor:axis:name:]: Apple has no such method, but \
          -[MPSGraph softMaxWithTensor:axis:name:]"]
    );
    let older = Declaration { min_macos: (10, 15), ..right.clone() };
    assert_eq!(
        differences(&older),
        ["-[MPSGraph softMaxWithTensor:axis:name:]: declared since (10, 15), Apple's is (11, 0)"]
    );
    let misplaced = Declaration { header: "MPSGraphArithmeticOps.h", ..right };
    assert_eq!(
        differences(&misplaced),
        ["-[MPSGraph softMaxWithTensor:axis:name:]: declared in MPSGraphArithmeticOps.h, Apple's is \
          MPSGraphActivationOps.h"]
    );
}

/// Each property of each row, wrong by itself, is found and reported under the row's name.
#[test]
fn a_mistake_in_any_row_is_found() {
    for right in contract::declarations() {
        let (major, minor) = right.min_macos;
        let other_kind = match right.kind {
            Kind::Instance => Kind::Class,
            Kind::Class => Kind::Instance,
        };
        let other_owner = match (right.owner, right.selector) {
            ("MPSGraph", _) => "MPSGraphTensor",
            // Every class has it, and a protocol has not.
            (_, "new") => "MTLBuffer",
            _ => "MPSGraph",
        };
        let wrong = [
            Declaration { min_macos: (major, minor + 1), ..right.clone() },
            Declaration { min_macos: (major - 1, minor), ..right.clone() },
            Declaration { header: "MPSGraphRNNOps.h", ..right.clone() },
            Declaration { owned: !right.owned, ..right.clone() },
            Declaration { kind: other_kind, ..right.clone() },
            Declaration { owner: other_owner, ..right.clone() },
            Declaration { returns: "f", ..right.clone() },
            Declaration { arguments: [&right.arguments[..], &["f"]].concat(), ..right.clone() },
        ];
        for wrong in wrong {
            let found = differences(&wrong);
            assert_eq!(found.len(), 1, "{}: {wrong:?} is reported as {found:?}", right.name());
            assert!(found[0].starts_with(&wrong.name()), "{found:?}");
        }
    }
}
