//! `NSURL`: here only where a file is.

use std::path::{Path, PathBuf};

use super::ns_string;
use crate::objc::{ClassDef, ClassKind, Id, Sel, Strong, This, method0, method1, new_object};
use crate::violation;

/// The class.
pub static CLASS: ClassDef = ClassDef {
    name: "NSURL",
    superclass: Some(&super::ns_object::CLASS),
    kind: ClassKind::Class,
    min_macos: (10, 0),
    instance: &[method0("path", path)],
    class: &[method1("fileURLWithPath:", file_url_with_path)],
};

struct File(PathBuf);

/// Where the file of a URL is; `None` if this is no URL.
pub(crate) fn file_of(url: &Strong) -> Option<&Path> {
    url.try_state::<File>().map(|file| &*file.0)
}

/// A relative path counts from the current directory, as Apple documents.
extern "C-unwind" fn file_url_with_path(this: This<'_>, cmd: Sel, path: Id) -> Id {
    if !path.is_kind_of("NSString") {
        violation!(this, cmd, "the path is {}, not an NSString", path.class_name());
    }
    let path = Strong::retain(path);
    let text = ns_string::as_str(&path);
    match std::path::absolute(text) {
        Ok(path) => new_object(&CLASS, File(path)).autorelease(),
        Err(reason) => violation!(this, cmd, "`{text}` is not a path: {reason}"),
    }
}

extern "C-unwind" fn path(this: This<'_>, _cmd: Sel) -> Id {
    ns_string::string(&this.state::<File>().0.to_string_lossy())
}
