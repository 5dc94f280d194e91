//! `NSException`: what the frameworks raise for mistakes.
//!
//! Rust cannot catch one: where it meets Rust's own unwinding the process ends, with "Rust cannot catch foreign
//! exceptions, aborting" and without the exception's text (rust-lang/rust#70212). So the text is written when the
//! exception is raised.

use std::ffi::c_void;
use std::io::Write;
use std::sync::OnceLock;

use super::ns_dictionary::NSDictionary;
use super::ns_string::NSString;
use crate::ffi::objc::{
    Message, Retained, Selector, autoreleasepool, in_autoreleasepool, objc_class, objc_methods, responds,
};
use crate::ffi::symbols::{self, ExceptionPreprocessor};

objc_class!(
    /// An exception.
    NSException
);

objc_methods! {
    "NSException.h";
    impl NSException {
        #[cfg(test)]
        class fn with_name(name: &NSString, reason: Option<&NSString>, user_info: Option<&NSDictionary>)
            -> Retained<NSException> = "exceptionWithName:reason:userInfo:", since (10, 0);

        instance fn name() -> Retained<NSString> = "name", since (10, 0);
        instance fn reason() -> Option<Retained<NSString>> = "reason", since (10, 0);
    }
}

impl NSException {
    fn text(&self) -> String {
        let reason = self.reason().map(|reason| reason.to_text());
        format!("{}: {}", self.name().to_text(), reason.unwrap_or_default())
    }
}

/// What was there before.
static NEXT: OnceLock<Option<ExceptionPreprocessor>> = OnceLock::new();

/// From now on, exceptions that are raised by what this crate sends are written to stderr.
pub(crate) fn report_exceptions() {
    NEXT.get_or_init(|| {
        // SAFETY: the function takes any object and gives it back.
        unsafe { symbols::objc_setExceptionPreprocessor(Some(report)) }
    });
}

/// # Safety
/// `exception` is a live object.
unsafe extern "C-unwind" fn report(exception: *mut c_void) -> *mut c_void {
    // What can raise is sent inside of a pool. Other exceptions are those of the program, which may well catch them.
    if in_autoreleasepool() {
        // SAFETY: the caller passes a live object, which outlives this; it is only used as what it answers to.
        let object = unsafe { &*exception.cast::<NSException>() };
        // Anything can be thrown. If stderr is gone, there is nobody to tell.
        // SAFETY: a C string, which the runtime copies.
        let reason = Selector(unsafe { symbols::sel_registerName(c"reason".as_ptr()) });
        if responds(object.as_object(), reason) {
            let text = autoreleasepool(|| object.text());
            let _ = writeln!(std::io::stderr(), "burn-mpsgraph: an Objective-C exception was raised: {text}");
        }
    }
    match NEXT.get().copied().flatten() {
        // SAFETY: the function was the preprocessor before, and gets what it would have got.
        Some(next) => unsafe { next(exception) },
        None => exception,
    }
}

#[cfg(test)]
pub(super) fn exercise() {
    autoreleasepool(|| {
        let name = crate::ffi::exercise::device().name_object();
        let text = |reason| NSException::with_name(&name, reason, None).text();
        let shown = name.to_text();
        assert_eq!(text(Some(&*name)), format!("{shown}: {shown}"));
        assert_eq!(text(None), format!("{shown}: "));
    });
}

#[cfg(all(test, soft_runtime))]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn the_reason_of_an_exception_reaches_stderr() {
        let run = Command::new(std::env::current_exe().expect("this test is a file"))
            .args(["--exact", "ffi::foundation::ns_exception::tests::raises", "--include-ignored", "--nocapture"])
            .output()
            .expect("this test starts again");
        let text = String::from_utf8_lossy(&run.stderr);
        let line = "burn-mpsgraph: an Objective-C exception was raised: NSInternalInconsistencyException: -[MTLHeap";
        assert!(!run.status.success() && text.contains(line), "{text}");
        assert_eq!(text.matches("was raised").count(), 1, "{text}");
    }

    #[test]
    #[ignore = "`the_reason_of_an_exception_reaches_stderr` runs it, in a process of its own"]
    fn raises() {
        let device = crate::ffi::exercise::device();
        let heap = device.new_heap(1 << 16).expect("there is memory");
        autoreleasepool(|| heap.max_available_size(3));
    }
}
