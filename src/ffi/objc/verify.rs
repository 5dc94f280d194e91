//! The check behind the first send of every call site: does the method that will answer have the declared types?
//!
//! On in debug builds, and in release builds with `BURN_MPSGRAPH_VERIFY=1`. A wrong declaration is then a readable
//! panic in place of a damaged stack. See Apple's "Type Encodings" for the letters; the runtime adds stack offsets,
//! qualifiers and, for ivars, class names, none of which matter to a call.

use std::ffi::{CStr, CString, c_void};
use std::fmt;
use std::sync::OnceLock;

use super::{CallSite, Declaration, Kind, Object, Selector};
use crate::ffi::symbols;

/// A declaration that the running system contradicts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The method as Objective-C writes it: `-[Class selector]`.
    pub method: String,
    /// What is wrong with it.
    pub reason: MismatchReason,
}

/// What the running system has in place of a declared method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MismatchReason {
    /// It has no class of that name.
    NoClass,
    /// Its class does not have the method.
    NoMethod,
    /// Its method has other types.
    OtherTypes {
        /// The declared type encoding.
        declared: String,
        /// The method's own.
        found: String,
    },
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let method = &self.method;
        match &self.reason {
            MismatchReason::NoClass => write!(f, "{method}: the system does not have the class"),
            MismatchReason::NoMethod => {
                write!(f, "{method}: the class does not have the method (is it newer than this system?)")
            }
            MismatchReason::OtherTypes { declared, found } => {
                write!(f, "{method}: declared with the type encoding {declared:?}, but the method's is {found:?}")
            }
        }
    }
}

/// Whether call sites check themselves.
pub(super) fn enabled() -> bool {
    static ENABLED: OnceLock<bool> = OnceLock::new();
    *ENABLED.get_or_init(|| {
        cfg!(debug_assertions) || std::env::var_os("BURN_MPSGRAPH_VERIFY").is_some_and(|value| value == "1")
    })
}

/// Checks what the class of `receiver` will run for the message of `site`.
pub(super) fn receiver(site: &CallSite, receiver: *mut Object, selector: Selector, returns: &str, arguments: &[&str]) {
    // SAFETY: the receiver is live (contract of send); a class object's class is its metaclass, which holds its
    // class methods as instance methods.
    let class = unsafe { symbols::object_getClass(receiver.cast()) };
    let found = method_encoding(class, selector);
    let found_in = class_name(class);
    let name = site.selector.to_string_lossy();
    // A class may also answer by forwarding, which has no method to look at: its own respondsToSelector: knows.
    if found.is_none() && !site.is_responds_to_selector() && responds(receiver, selector) {
        return;
    }
    let method = format!("{}[{found_in} {name}]", site.kind.sign());
    if let Err(mismatch) = compare(method, found.as_deref(), returns, arguments) {
        panic!("{mismatch} (declared for {})", site.owner)
    }
}

/// Checks a declaration against the class itself.
///
/// # Errors
/// If the class is missing (a protocol has none), does not have the method, or has it with other types.
pub(crate) fn declaration(declared: &Declaration) -> Result<(), Mismatch> {
    let terminated = |text: &str| CString::new(text).expect("names have no NUL");
    // SAFETY: a C string; the runtime answers nil for a class it does not know.
    let mut class = unsafe { symbols::objc_getClass(terminated(declared.owner).as_ptr()) };
    if class.is_null() {
        return Err(Mismatch { method: declared.name(), reason: MismatchReason::NoClass });
    }
    if declared.kind == Kind::Class {
        // SAFETY: a class is an object, whose class holds its class methods.
        class = unsafe { symbols::object_getClass(class) };
    }
    // SAFETY: a C string, which the runtime copies.
    let selector = Selector(unsafe { symbols::sel_registerName(terminated(declared.selector).as_ptr()) });
    let found = method_encoding(class, selector);
    compare(declared.name(), found.as_deref(), declared.returns, &declared.arguments)
}

fn method_encoding(class: *mut c_void, selector: Selector) -> Option<String> {
    // SAFETY: the class and the selector come from the runtime.
    let method = unsafe { symbols::class_getInstanceMethod(class, selector.0) };
    if method.is_null() {
        return None;
    }
    // SAFETY: the method comes from the runtime.
    let encoding = unsafe { symbols::method_getTypeEncoding(method) };
    if encoding.is_null() {
        return None;
    }
    // SAFETY: a method's encoding is a C string that the runtime keeps.
    Some(unsafe { CStr::from_ptr(encoding) }.to_string_lossy().into_owned())
}

fn class_name(class: *mut c_void) -> String {
    // SAFETY: the class comes from the runtime.
    let name = unsafe { symbols::class_getName(class) };
    // SAFETY: the name of a class is a C string that the runtime keeps.
    unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
}

/// Whether an object says that it answers to a selector, by a method or by forwarding. The receiver is live.
pub(crate) fn responds(receiver: *mut Object, selector: Selector) -> bool {
    static SITE: CallSite = CallSite::new("NSObject", Kind::Instance, "respondsToSelector:\0");
    // SAFETY: every object and class inherits respondsToSelector: from its root class.
    unsafe { super::send(&SITE, receiver, (selector,)) }
}

impl CallSite {
    fn is_responds_to_selector(&self) -> bool {
        self.selector == c"respondsToSelector:"
    }
}

fn compare(method: String, found: Option<&str>, returns: &str, arguments: &[&str]) -> Result<(), Mismatch> {
    let Some(found) = found else {
        return Err(Mismatch { method, reason: MismatchReason::NoMethod });
    };
    let declared = format!("{returns}@:{}", arguments.concat());
    if essence(found) == essence(&declared) {
        return Ok(());
    }
    Err(Mismatch { method, reason: MismatchReason::OtherTypes { declared, found: found.to_string() } })
}

/// What of an encoding decides how a call is made: no stack offsets, no qualifiers, no quoted names; `Q` read as `q`
/// (same register) and `c` as `B` (BOOL is a signed char on Intel Macs).
fn essence(encoding: &str) -> String {
    let mut out = String::with_capacity(encoding.len());
    let mut letters = encoding.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '0'..='9' | 'r' | 'n' | 'N' | 'o' | 'O' | 'R' | 'V' => {}
            '"' => while letters.next().is_some_and(|next| next != '"') {},
            'Q' => out.push('q'),
            'c' => out.push('B'),
            '{' | '(' => {
                // A struct's name is not a type: copied as it is, up to its '=' or its end.
                out.push(letter);
                while let Some(next) = letters.next_if(|next| !matches!(next, '=' | '}' | ')')) {
                    out.push(next);
                }
            }
            '[' => {
                // An array's length is part of its type.
                out.push(letter);
                while let Some(next) = letters.next_if(char::is_ascii_digit) {
                    out.push(next);
                }
            }
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ffi::objc::{ClassType, objc_class};

    objc_class!(NSProcessInfo);

    #[test]
    fn offsets_qualifiers_and_names_do_not_count() {
        assert_eq!(essence("@40@0:8r^@16Q24"), essence("@@:^@q"));
        assert_eq!(essence("{_NSRange=QQ}24@0:8@\"NSArray\"16"), "{_NSRange=qq}@:@");
        assert_eq!(essence("v32@0:8{?=[16q]}16"), "v@:{?=[16q]}");
        assert_eq!(essence("c24@0:8q16"), essence("B@:Q"));
        assert_ne!(essence("@@:f"), essence("@@:d"));
    }

    #[test]
    fn a_wrong_declaration_names_everything() {
        let method = "-[MPSGraph softMaxWithTensor:axis:name:]".to_string();
        let mismatch = compare(method, Some("@40@0:8@16q24@32"), "@", &["@", "f", "@"]).unwrap_err();
        assert_eq!(
            mismatch.to_string(),
            "-[MPSGraph softMaxWithTensor:axis:name:]: declared with the type encoding \"@@:@f@\", \
             but the method's is \"@40@0:8@16q24@32\""
        );
    }

    #[test]
    #[should_panic(expected = "+[NSProcessInfo processInfo]: declared with the type encoding \"q@:f\"")]
    fn a_call_site_with_wrong_types_panics() {
        static SITE: CallSite = CallSite::new("NSProcessInfo", Kind::Class, "processInfo\0");
        let class = NSProcessInfo::class();
        // SAFETY: a C string that lives for ever.
        let selector = Selector(unsafe { symbols::sel_registerName(SITE.selector.as_ptr()) });
        receiver(&SITE, class, selector, "q", &["f"]);
    }
}
