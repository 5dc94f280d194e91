//! The runtime by itself, with classes of its own and none of this crate's.

use std::path::{Path, PathBuf};

use super::msg_send::answer;
use super::registry::{find, register};
use super::{ClassDef, ClassKind, Id, Sel, Strong, This, method0, new_object, pool};

static ROOT: ClassDef = ClassDef {
    name: "AloneRoot",
    superclass: None,
    kind: ClassKind::Class,
    min_macos: (11, 0),
    instance: &[method0("number", number)],
    class: &[method0("one", one)],
};

static HEIR: ClassDef = ClassDef {
    name: "AloneHeir",
    superclass: Some(&ROOT),
    kind: ClassKind::Class,
    min_macos: (11, 0),
    instance: &[],
    class: &[],
};

static OTHER_TYPE: ClassDef = ClassDef {
    name: "AloneOtherType",
    superclass: Some(&ROOT),
    kind: ClassKind::Class,
    min_macos: (11, 0),
    instance: &[method0("number", float)],
    class: &[],
};

extern "C-unwind" fn number(this: This<'_>, _cmd: Sel) -> i64 {
    *this.state::<i64>()
}

extern "C-unwind" fn one(_this: This<'_>, _cmd: Sel) -> Id {
    new_object(&HEIR, 1_i64).autorelease()
}

extern "C-unwind" fn float(_this: This<'_>, _cmd: Sel) -> f64 {
    0.5
}

#[test]
fn a_class_is_registered_with_its_superclass_when_its_first_object_is_made() {
    let object = new_object(&HEIR, 7_i64);
    assert!(find("AloneHeir").is_some() && find("AloneRoot").is_some());
    assert!(object.id().is_kind_of("AloneRoot"));
    let cmd = Sel::named("number");
    // SAFETY: the type of `number`.
    let inherited: extern "C-unwind" fn(Id, Sel) -> i64 = unsafe { std::mem::transmute(answer(object.id(), cmd)) };
    assert_eq!(inherited(object.id(), cmd), 7);
}

#[test]
fn class_methods_are_inherited_too() {
    let (class, cmd) = (register(&HEIR), Sel::named("one"));
    // SAFETY: the type of `one`.
    let one: extern "C-unwind" fn(Id, Sel) -> Id = unsafe { std::mem::transmute(answer(class, cmd)) };
    let made = pool(|| Strong::retain(one(class, cmd)));
    assert_eq!((made.state::<i64>(), made.id().retain_count()), (&1, 1));
}

#[test]
#[should_panic(expected = "AloneOtherType: number is d16@0:8, but overrides q16@0:8")]
fn an_override_of_another_type_is_refused() {
    register(&OTHER_TYPE);
}

#[test]
fn the_runtime_imports_no_class() {
    for file in sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/objc")) {
        let text = std::fs::read_to_string(&file).expect("a source file");
        for module in ["classes", "foundation", "metal", "mps", "mpsgraph", "symbols"] {
            let import = format!("use crate::{module}");
            assert!(!text.contains(&import), "{}: {import}", file.display());
        }
    }
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the folder of the runtime").map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}
