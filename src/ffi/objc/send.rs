//! Sending a message: arguments into C values, the exact function type per signature, the result into an owner.
//!
//! A selector is registered once per call site. Where `verify` is on, the first send of each site checks the encodings,
//! too; elsewhere the declarations are trusted, which the contract tests compare with Apple's tables.
//! `objc_msgSend` has no type of its own: it is cast to the C signature of the method, never called as variadic.

use std::ffi::CStr;
use std::sync::atomic::{AtomicPtr, Ordering};

use super::encode::Truth;
use super::{Constant, Encode, Kind, Message, Object, Retained, Selector, verify};
use crate::ffi::symbols;

/// The place in the program that sends one declared message.
pub(crate) struct CallSite {
    pub(super) owner: &'static str,
    pub(super) kind: Kind,
    pub(super) selector: &'static CStr,
    owned: bool,
    registered: AtomicPtr<std::ffi::c_void>,
}

impl CallSite {
    /// `selector_nul` ends with NUL.
    pub(crate) const fn new(owner: &'static str, kind: Kind, selector_nul: &'static str) -> Self {
        let Ok(selector) = CStr::from_bytes_with_nul(selector_nul.as_bytes()) else {
            panic!("a selector ends with its only NUL")
        };
        let owned = returns_owned(selector_nul);
        Self { owner, kind, selector, owned, registered: AtomicPtr::new(std::ptr::null_mut()) }
    }

    #[inline(always)]
    fn selector<A: Arguments, R: Encode>(&self, receiver: *mut Object) -> Selector {
        let registered = self.registered.load(Ordering::Acquire);
        if registered.is_null() { self.first_use(receiver, R::ENCODING, A::ENCODINGS) } else { Selector(registered) }
    }

    #[cold]
    fn first_use(&self, receiver: *mut Object, returns: &str, arguments: &[&str]) -> Selector {
        // SAFETY: the selector is a C string that lives for ever.
        let selector = Selector(unsafe { symbols::sel_registerName(self.selector.as_ptr()) });
        if verify::enabled() {
            verify::receiver(self, receiver, selector, returns, arguments);
        }
        #[cfg(test)]
        self.remember();
        self.registered.store(selector.0.cast_mut(), Ordering::Release);
        selector
    }
}

impl std::fmt::Display for CallSite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}[{} {}]", self.kind.sign(), self.owner, self.selector.to_string_lossy())
    }
}

/// Whether a method of this name gives its caller a reference (+1): Cocoa's naming rule, which ARC relies on too.
pub(super) const fn returns_owned(selector: &str) -> bool {
    const FAMILIES: [&str; 5] = ["alloc", "new", "copy", "mutableCopy", "init"];
    let name = selector.as_bytes();
    let mut family = 0;
    while family < FAMILIES.len() {
        let prefix = FAMILIES[family].as_bytes();
        let mut same = 0;
        while same < prefix.len() && same < name.len() && prefix[same] == name[same] {
            same += 1;
        }
        // "initial…" is not of the family "init": the word has to end there.
        if same == prefix.len() && (same == name.len() || !name[same].is_ascii_lowercase()) {
            return true;
        }
        family += 1;
    }
    false
}

/// Sends the message of `site`.
///
/// # Safety
/// `receiver` is live and answers the site's selector with a method of exactly this signature, and the arguments meet
/// that method's documented demands. A receiver of an `init…` method belongs to the caller, who gives it away.
#[inline(always)]
pub(crate) unsafe fn send<R: Return, A: Arguments>(site: &'static CallSite, receiver: *mut Object, arguments: A) -> R {
    let selector = site.selector::<A, R::Raw>(receiver);
    // SAFETY: by this function's own contract.
    let raw = unsafe { arguments.call::<R::Raw>(receiver, selector) };
    // SAFETY: raw is what the method has just returned, with the ownership that its name declares.
    unsafe { R::receive(raw, site) }
}

/// The C arguments of a message, after the receiver and the selector.
pub(crate) trait Arguments {
    const ENCODINGS: &'static [&'static str];

    /// # Safety
    /// As for [`send`].
    unsafe fn call<R: Encode>(self, receiver: *mut Object, selector: Selector) -> R;
}

macro_rules! impl_arguments {
    ($($name:ident)*) => {
        impl<$($name: Encode),*> Arguments for ($($name,)*) {
            const ENCODINGS: &'static [&'static str] = &[$($name::ENCODING),*];

            #[inline(always)]
            #[allow(non_snake_case, reason = "an argument is named like its type")]
            unsafe fn call<R: Encode>(self, receiver: *mut Object, selector: Selector) -> R {
                type Function<R, $($name),*> =
                    unsafe extern "C-unwind" fn(*mut Object, Selector, $($name),*) -> R;
                let ($($name,)*) = self;
                let dispatch = symbols::message_send(size_of::<R>());
                // SAFETY: dispatch jumps to the method with all argument registers as they are, so that it has the
                // method's own type, which is this one by the contract of send.
                let function = unsafe { std::mem::transmute::<*const (), Function<R, $($name),*>>(dispatch) };
                // SAFETY: by the contract of send.
                unsafe { function(receiver, selector, $($name),*) }
            }
        }
    };
}

impl_arguments!();
impl_arguments!(A);
impl_arguments!(A B);
impl_arguments!(A B C);
impl_arguments!(A B C D);
impl_arguments!(A B C D E);
impl_arguments!(A B C D E F);
impl_arguments!(A B C D E F G);
impl_arguments!(A B C D E F G H);
impl_arguments!(A B C D E F G H I);
impl_arguments!(A B C D E F G H I J);

/// A Rust value that can be an argument of a declared method.
pub(crate) trait Argument {
    /// What the method takes.
    type Raw: Encode;
    /// What has to live until the method has returned.
    type Held;
    /// All constants of the type, if it is an Objective-C enum.
    const CONSTANTS: &'static [Constant] = &[];

    fn hold(self) -> Self::Held;
    fn raw(held: &Self::Held) -> Self::Raw;
}

macro_rules! impl_argument_as_is {
    ($($ty:ty),* $(,)?) => {$(
        impl Argument for $ty {
            type Raw = $ty;
            type Held = $ty;

            #[inline(always)]
            fn hold(self) -> $ty {
                self
            }

            #[inline(always)]
            fn raw(held: &$ty) -> $ty {
                *held
            }
        }
    )*};
}

impl_argument_as_is!(
    bool,
    i64,
    isize,
    u32,
    u64,
    usize,
    f32,
    f64,
    Selector,
    *const std::ffi::c_void,
    *const std::ffi::c_char,
    *const *mut Object,
);

impl<T: Message> Argument for &T {
    type Raw = *mut Object;
    type Held = Self;

    #[inline(always)]
    fn hold(self) -> Self {
        self
    }

    #[inline(always)]
    fn raw(held: &Self) -> *mut Object {
        held.as_object()
    }
}

/// An argument that may be nil.
impl<T: Message> Argument for Option<&T> {
    type Raw = *mut Object;
    type Held = Self;

    fn hold(self) -> Self {
        self
    }

    fn raw(held: &Self) -> *mut Object {
        held.map_or(std::ptr::null_mut(), Message::as_object)
    }
}

/// What a declared method gives back, as Rust sees it.
pub(crate) trait Return {
    type Raw: Encode;
    /// All constants of the type, if it is an Objective-C enum.
    const CONSTANTS: &'static [Constant] = &[];

    /// # Safety
    /// `raw` has just been returned by the method of `site`.
    unsafe fn receive(raw: Self::Raw, site: &'static CallSite) -> Self;
}

macro_rules! impl_return_as_is {
    ($($ty:ty),* $(,)?) => {$(
        impl Return for $ty {
            type Raw = $ty;

            #[inline(always)]
            unsafe fn receive(raw: $ty, _: &'static CallSite) -> $ty {
                raw
            }
        }
    )*};
}

impl Return for bool {
    type Raw = Truth;

    #[inline(always)]
    unsafe fn receive(raw: Truth, _: &'static CallSite) -> bool {
        raw.0 != 0
    }
}

impl_return_as_is!((), i64, isize, u64, usize, f64, *mut std::ffi::c_void, *const std::ffi::c_char);

/// An object that may be nil.
impl<T: Message> Return for Option<Retained<T>> {
    type Raw = *mut Object;

    #[inline(always)]
    unsafe fn receive(raw: *mut Object, site: &'static CallSite) -> Self {
        if site.owned {
            // SAFETY: the site's declaration says that the method returns a T, and its name that it is ours.
            unsafe { Retained::from_owned(raw) }
        } else {
            // SAFETY: the site's declaration says that the method returns a T.
            unsafe { Retained::from_autoreleased(raw) }
        }
    }
}

/// An object, or nil, that nobody looks at, so that it need not be retained. Not of methods that give a reference.
pub(crate) struct Unused;

impl Return for Unused {
    type Raw = *mut Object;

    #[inline(always)]
    unsafe fn receive(_: *mut Object, site: &'static CallSite) -> Self {
        debug_assert!(!site.owned, "{site} gives a reference, which would be lost");
        Self
    }
}

/// An object that Apple declares nonnull.
impl<T: Message> Return for Retained<T> {
    type Raw = *mut Object;

    #[inline(always)]
    unsafe fn receive(raw: *mut Object, site: &'static CallSite) -> Self {
        // SAFETY: as our caller promises.
        match unsafe { Option::<Self>::receive(raw, site) } {
            Some(object) => object,
            None => panic!("{site} returned nil"),
        }
    }
}

/// The messages that were sent so far, as `-[Owner selector]`.
#[cfg(test)]
static SENT: std::sync::Mutex<Vec<String>> = std::sync::Mutex::new(Vec::new());

#[cfg(test)]
impl CallSite {
    fn remember(&self) {
        SENT.lock().unwrap().push(self.to_string());
    }
}

/// Every message that this process has sent, as `-[Owner selector]`.
#[cfg(test)]
pub(crate) fn sent() -> Vec<String> {
    SENT.lock().unwrap().clone()
}

#[cfg(test)]
mod tests {
    use super::returns_owned;

    #[test]
    fn ownership_follows_the_name() {
        for owned in ["alloc", "new", "newCommandQueue", "init", "initWithShape:dataType:", "mutableCopy", "copy"] {
            assert!(returns_owned(owned), "{owned}");
        }
        for borrowed in ["initialize", "newer", "copyright", "commandBuffer", "arrayWithObjects:count:", "name"] {
            assert!(!returns_owned(borrowed), "{borrowed}");
        }
    }
}
