//! `NSError`: a domain, a code and a text.

use super::{ns_dictionary, ns_string};
use crate::objc::{ClassDef, ClassKind, Id, Sel, Strong, This, method0, method3, new_object};
use crate::violation;

/// The class.
pub static CLASS: ClassDef = ClassDef {
    name: "NSError",
    superclass: Some(&super::ns_object::CLASS),
    kind: ClassKind::Class,
    min_macos: (10, 2),
    instance: &[
        method0("code", code),
        method0("domain", domain),
        method0("userInfo", user_info),
        method0("localizedDescription", localized_description),
        method0("description", description),
    ],
    class: &[method3("errorWithDomain:code:userInfo:", error_with_domain)],
};

/// The value of the constant `NSLocalizedDescriptionKey`.
const LOCALIZED_DESCRIPTION_KEY: &str = "NSLocalizedDescription";

struct Failure {
    domain: Strong,
    code: isize,
    user_info: Strong,
}

/// A new error with a text, autoreleased.
pub fn error(domain: &str, code: isize, text: &str) -> Id {
    let (key, text) = (ns_string::owned(LOCALIZED_DESCRIPTION_KEY), ns_string::owned(text));
    let user_info = Strong::retain(ns_dictionary::dictionary([(key.id(), text.id())]));
    new_object(&CLASS, Failure { domain: ns_string::owned(domain), code, user_info }).autorelease()
}

extern "C-unwind" fn error_with_domain(this: This<'_>, cmd: Sel, domain: Id, code: isize, user_info: Id) -> Id {
    if domain.is_nil() {
        violation!(this, cmd, "the domain is nil");
    }
    let user_info = Strong::retain(if user_info.is_nil() { ns_dictionary::dictionary([]) } else { user_info });
    new_object(&CLASS, Failure { domain: Strong::retain(domain), code, user_info }).autorelease()
}

extern "C-unwind" fn code(this: This<'_>, _cmd: Sel) -> isize {
    this.state::<Failure>().code
}

extern "C-unwind" fn domain(this: This<'_>, _cmd: Sel) -> Id {
    this.state::<Failure>().domain.id()
}

extern "C-unwind" fn user_info(this: This<'_>, _cmd: Sel) -> Id {
    this.state::<Failure>().user_info.id()
}

extern "C-unwind" fn localized_description(this: This<'_>, _cmd: Sel) -> Id {
    let Failure { domain, code, user_info } = this.state();
    match ns_dictionary::value(user_info, &ns_string::owned(LOCALIZED_DESCRIPTION_KEY)) {
        Some(text) => text.id(),
        None => {
            let domain = ns_string::as_str(domain);
            ns_string::string(&format!("The operation couldn’t be completed. ({domain} error {code}.)"))
        }
    }
}

extern "C-unwind" fn description(this: This<'_>, cmd: Sel) -> Id {
    let text = Strong::retain(localized_description(this, cmd));
    let Failure { domain, code, .. } = this.state();
    let (domain, text) = (ns_string::as_str(domain), ns_string::as_str(&text));
    ns_string::string(&format!("Error Domain={domain} Code={code} \"{text}\""))
}
