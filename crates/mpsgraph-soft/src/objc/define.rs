//! Classes as constants.
//!
//! A class file holds `pub static CLASS: ClassDef` with a list of methods, each a selector and a Rust function whose
//! type gives the encoding. `methodN` exists for N arguments after `self` and `_cmd`; a selector whose colons do not
//! match N, or a function of another type, does not compile.

use super::{Encode, Sel, This};

/// A method body with its type forgotten; only the assembly jumps to it.
pub type Imp = unsafe extern "C-unwind" fn();

/// Version of macOS: major, minor.
pub type MacOs = (u16, u16);

/// Whether Apple has a class of this name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClassKind {
    /// A class that `objc_getClass` finds.
    Class,
    /// The name of a protocol. Apple's object that conforms to the protocol has a private class, so `objc_getClass`
    /// does not find this class, and no message can allocate an instance of it.
    ProtocolInstance,
}

/// A class: everything the runtime needs to register it.
pub struct ClassDef {
    /// Apple's name.
    pub name: &'static str,
    /// The superclass; `None` for a root class, which `NSObject` is.
    pub superclass: Option<&'static ClassDef>,
    /// Class, or stand-in for a protocol.
    pub kind: ClassKind,
    /// First macOS that has it. On an older configured system `objc_getClass` returns nil.
    pub min_macos: MacOs,
    /// Instance methods.
    pub instance: &'static [Method],
    /// Class methods, whose receiver is the class object.
    pub class: &'static [Method],
}

/// A type's encoding and the bytes it counts for in the argument frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ArgType {
    pub(crate) encoding: &'static str,
    pub(crate) frame_bytes: usize,
}

impl ArgType {
    const fn of<T: Encode>() -> Self {
        Self { encoding: T::ENCODING, frame_bytes: T::FRAME_BYTES }
    }
}

/// A selector with the function that answers it; made by [`method0`] … [`method14`].
#[derive(Clone, Copy)]
pub struct Method {
    pub(crate) selector: &'static str,
    pub(crate) imp: Imp,
    pub(crate) ret: &'static str,
    pub(crate) args: &'static [ArgType],
    pub(crate) min_macos: Option<MacOs>,
}

impl Method {
    /// The same method, present from this macOS on only.
    pub const fn since(mut self, major: u16, minor: u16) -> Self {
        self.min_macos = Some((major, minor));
        self
    }

    /// The selector.
    pub const fn selector(&self) -> &'static str {
        self.selector
    }

    /// The first macOS that has it, when that differs from the class's own.
    pub const fn min_macos(&self) -> Option<MacOs> {
        self.min_macos
    }

    /// Encoding of the result.
    pub const fn return_encoding(&self) -> &'static str {
        self.ret
    }

    /// Encodings of the arguments after `self` and `_cmd`.
    pub fn argument_encodings(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.args.iter().map(|arg| arg.encoding)
    }

    /// The whole encoding in clang's format, for example `v20@0:8B16`: the frame's size follows the result, each
    /// argument is followed by its offset.
    pub fn type_encoding(&self) -> String {
        const RECEIVER_AND_SELECTOR: usize = 16;
        let frame = RECEIVER_AND_SELECTOR + self.args.iter().map(|arg| arg.frame_bytes).sum::<usize>();
        let mut encoding = format!("{}{frame}@0:8", self.ret);
        let mut offset = RECEIVER_AND_SELECTOR;
        for arg in self.args {
            encoding.push_str(&format!("{}{offset}", arg.encoding));
            offset += arg.frame_bytes;
        }
        encoding
    }
}

const fn check_colons(selector: &str, arguments: usize) {
    let bytes = selector.as_bytes();
    let (mut at, mut colons) = (0, 0);
    while at < bytes.len() {
        if bytes[at] == b':' {
            colons += 1;
        }
        at += 1;
    }
    assert!(colons == arguments, "the selector's colons do not match the number of arguments");
}

macro_rules! method_constructors {
    ($($name:ident $count:literal ($($arg:ident)*);)*) => {$(
        #[doc = concat!("A method with ", $count, " arguments after `self` and `_cmd`.")]
        pub const fn $name<R: Encode, $($arg: Encode),*>(
            selector: &'static str,
            body: extern "C-unwind" fn(This<'_>, Sel, $($arg),*) -> R,
        ) -> Method {
            check_colons(selector, $count);
            Method {
                selector,
                // SAFETY: function pointers have one size, and this one is never called through `Imp`: callers go
                // through objc_msgSend with the function's own type, which they check against `type_encoding`.
                imp: unsafe { core::mem::transmute::<extern "C-unwind" fn(This<'_>, Sel, $($arg),*) -> R, Imp>(body) },
                ret: R::ENCODING,
                args: const { &[$(ArgType::of::<$arg>()),*] },
                min_macos: None,
            }
        }
    )*};
}

method_constructors! {
    method0 0 ();
    method1 1 (A);
    method2 2 (A B);
    method3 3 (A B C);
    method4 4 (A B C D);
    method5 5 (A B C D E);
    method6 6 (A B C D E F);
    method7 7 (A B C D E F G);
    method8 8 (A B C D E F G H);
    method9 9 (A B C D E F G H I);
    method10 10 (A B C D E F G H I J);
    method11 11 (A B C D E F G H I J K);
    method12 12 (A B C D E F G H I J K L);
    method13 13 (A B C D E F G H I J K L M);
    method14 14 (A B C D E F G H I J K L M N);
}
