//! `mpsgraph-soft`'s classes and methods against the tables: it may have less than Apple, but nothing that Apple does
//! not have.

use mpsgraph_soft::classes::CLASSES as SOFT_CLASSES;
use mpsgraph_soft::objc::{ClassDef, ClassKind, Method};

use crate::tables::{CLASSES, find_method};

/// Versions before the first system with MPSGraph do not matter.
const FIRST: (u16, u16) = (11, 0);

fn differences(class: &ClassDef, sign: char, method: &Method) -> Vec<String> {
    let name = format!("{sign}[{} {}]", class.name, method.selector());
    let Some(apple) = find_method(class.name, sign, method.selector()) else {
        return vec![format!("{name}: Apple has no such method")];
    };
    let mut out = Vec::new();
    let args: Vec<&str> = method.argument_encodings().collect();
    if method.return_encoding() != apple.ret || args != apple.args {
        out.push(format!(
            "{name}: defined as {} ({}), Apple's is {} ({})",
            method.return_encoding(),
            args.join(" "),
            apple.ret,
            apple.args.join(" ")
        ));
    }
    let since = method.min_macos().unwrap_or(class.min_macos).max(FIRST);
    let apples = apple.min_macos.max(CLASSES[class.name].min_macos).max(FIRST);
    if since != apples {
        out.push(format!("{name}: defined since {since:?}, Apple's is {apples:?}"));
    }
    out
}

#[test]
fn every_class_is_apples() {
    for class in SOFT_CLASSES {
        let Some(apple) = CLASSES.get(class.name) else { panic!("Apple has no {}", class.name) };
        let is_protocol = class.kind == ClassKind::ProtocolInstance;
        assert_eq!(is_protocol, apple.is_protocol, "{}: class or protocol", class.name);
        if !is_protocol && class.name != "NSObject" {
            let superclass = class.superclass.map(|superclass| superclass.name);
            assert_eq!(superclass, Some(apple.superclass), "{}: superclass", class.name);
        }
        assert_eq!(class.min_macos.max(FIRST), apple.min_macos.max(FIRST), "{}: first macOS", class.name);
    }
}

#[test]
fn every_method_is_apples() {
    let mut problems = Vec::new();
    for class in SOFT_CLASSES {
        problems.extend(class.instance.iter().flat_map(|method| differences(class, '-', method)));
        problems.extend(class.class.iter().flat_map(|method| differences(class, '+', method)));
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
