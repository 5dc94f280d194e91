//! The macros in which headers are declared: one row is a typed Rust method and a [`Declaration`](super::Declaration).
//!
//! `objc_methods!` takes any class or protocol; `graph_methods!` the operations of `MPSGraph`, whose untyped
//! arguments are tensors and whose last argument, the operation's name, is always nil.

/// Lists the files of a folder that declare methods, after their `mod` lines (rustfmt does not follow a `mod` line that
/// a macro writes). Each has a function `exercise` for tests, which sends every message that the file declares.
///
/// A file with a `mod` line that is not listed does not compile: its `declarations` would not be used.
macro_rules! headers {
    ($($header:ident),* $(,)?) => {
        /// Every method that the files of this folder declare.
        #[deny(dead_code)] // a folder that `contract` does not list
        pub(in crate::ffi) fn declarations() -> Vec<$crate::ffi::objc::Declaration> {
            [$($header::declarations()),*].concat()
        }

        #[cfg(test)]
        pub(in crate::ffi) mod exercises {
            /// Sends every message that the files of this folder declare.
            pub(in crate::ffi) fn all() {
                $(super::$header::exercise();)*
            }

            $(
                #[test]
                fn $header() {
                    super::$header::exercise();
                }
            )*
        }
    };
}
pub(crate) use headers;

/// Declares methods: `instance fn`, `class fn` (sent to the class) or `init fn` (sent to a fresh `alloc`; returns
/// `Retained<Self>`, or what the row says if it may fail). Rows that ask more of their callers than types can say,
/// pointers for example, are `unsafe_instance`, `unsafe_class` and `unsafe_init`: their callers are in the same file
/// and promise what Apple documents.
macro_rules! objc_methods {
    ($header:literal; $(impl $owner:ident { $(
        $(#[$attr:meta])*
        $kind:ident fn $name:ident ($($arg:ident : $ty:ty),* $(,)?) $(-> $ret:ty)? = $selector:literal,
            since ($major:literal, $minor:literal);
    )* })*) => {
        $(impl $owner { $(
            $crate::ffi::objc::objc_method! {
                $kind [$(#[$attr])*] $owner $name ($($arg: $ty),*) [] ($($ret)?) $selector
            }
        )* })*

        #[deny(dead_code)] // a file that its folder's `headers!` does not list
        pub(super) fn declarations() -> Vec<$crate::ffi::objc::Declaration> {
            vec![$($(
                $crate::ffi::objc::Declaration::of::<$crate::ffi::objc::objc_return_type!($kind $owner ($($ret)?))>(
                    $header,
                    stringify!($owner),
                    $crate::ffi::objc::objc_kind!($kind),
                    $selector,
                    &[$($crate::ffi::objc::Parameter::of::<$ty>()),*],
                    ($major, $minor),
                ),
            )*)*]
        }
    };
}
pub(crate) use objc_methods;

/// Declares the operations of one `MPSGraph…Ops.h`: an argument without a type is a tensor, the result is one tensor
/// unless said otherwise, and the trailing `name:` is not written.
macro_rules! graph_methods {
    ($header:literal; $(
        $(#[$attr:meta])*
        fn $name:ident ($($arg:ident $(: $ty:ty)?),* $(,)?) $(-> $ret:ty)? = $selector:literal,
            since ($major:literal, $minor:literal);
    )*) => {
        impl $crate::ffi::mpsgraph::MPSGraph { $(
            $crate::ffi::objc::objc_method! {
                instance [$(#[$attr])*] MPSGraph $name
                ($($arg: $crate::ffi::objc::objc_argument_type!($($ty)?)),*) [name]
                ($crate::ffi::objc::objc_tensor_return!($($ret)?)) $selector
            }
        )* }

        #[deny(dead_code)] // a file that its folder's `headers!` does not list
        pub(super) fn declarations() -> Vec<$crate::ffi::objc::Declaration> {
            use $crate::ffi::objc::Parameter;
            vec![$(
                $crate::ffi::objc::Declaration::of::<$crate::ffi::objc::objc_tensor_return!($($ret)?)>(
                    $header,
                    "MPSGraph",
                    $crate::ffi::objc::Kind::Instance,
                    $selector,
                    &[
                        $(Parameter::of::<$crate::ffi::objc::objc_argument_type!($($ty)?)>(),)*
                        Parameter::of::<Option<&$crate::ffi::foundation::ns_string::NSString>>(),
                    ],
                    ($major, $minor),
                ),
            )*]
        }
    };
}
pub(crate) use graph_methods;

/// The Rust method of one row. `[name]` stands for one more argument that is nil.
macro_rules! objc_method {
    (instance [$($attr:tt)*] $owner:ident $name:ident ($($arg:ident : $ty:ty),*) [$($nil:ident)*] ($($ret:ty)?)
        $selector:literal) => {
        $($attr)*
        #[allow(clippy::too_many_arguments, reason = "Apple's signatures")]
        pub(crate) fn $name(&self, $($arg: $ty),*) $(-> $ret)? {
            $crate::ffi::objc::objc_method!(@site SITE $owner Instance $selector);
            $(let $arg = $crate::ffi::objc::Argument::hold($arg);)*
            // SAFETY: `&self` is a live object of the class that declares the method; the row says its types, which the
            // contract test compares with Apple's tables, and the site's first use with the method where `verify` is
            // on; the arguments live in the bindings above until the method returns.
            unsafe {
                $crate::ffi::objc::send(
                    &SITE,
                    $crate::ffi::objc::Message::as_object(self),
                    ($(<$ty as $crate::ffi::objc::Argument>::raw(&$arg),)* $($crate::ffi::objc::objc_nil!($nil),)*),
                )
            }
        }
    };
    (class [$($attr:tt)*] $owner:ident $name:ident ($($arg:ident : $ty:ty),*) [] ($($ret:ty)?) $selector:literal) => {
        $($attr)*
        #[allow(clippy::too_many_arguments, reason = "Apple's signatures")]
        pub(crate) fn $name($($arg: $ty),*) $(-> $ret)? {
            $crate::ffi::objc::objc_method!(@site SITE $owner Class $selector);
            $(let $arg = $crate::ffi::objc::Argument::hold($arg);)*
            // SAFETY: the class object lives for ever; types and arguments as for instance methods.
            unsafe {
                $crate::ffi::objc::send(
                    &SITE,
                    <Self as $crate::ffi::objc::ClassType>::class(),
                    ($(<$ty as $crate::ffi::objc::Argument>::raw(&$arg),)*),
                )
            }
        }
    };
    (init $attr:tt $owner:ident $name:ident $arguments:tt [] () $selector:literal) => {
        $crate::ffi::objc::objc_method!(
            init $attr $owner $name $arguments [] ($crate::ffi::objc::Retained<Self>) $selector
        );
    };
    (init [$($attr:tt)*] $owner:ident $name:ident ($($arg:ident : $ty:ty),*) [] ($ret:ty) $selector:literal) => {
        $($attr)*
        pub(crate) fn $name($($arg: $ty),*) -> $ret {
            $crate::ffi::objc::objc_method!(@site SITE $owner Instance $selector);
            $(let $arg = $crate::ffi::objc::Argument::hold($arg);)*
            // SAFETY: alloc gives a reference that init takes over; types and arguments as for instance methods.
            unsafe {
                $crate::ffi::objc::send(
                    &SITE,
                    $crate::ffi::foundation::ns_object::alloc::<Self>(),
                    ($(<$ty as $crate::ffi::objc::Argument>::raw(&$arg),)*),
                )
            }
        }
    };
    (unsafe_init [$($attr:tt)*] $owner:ident $name:ident ($($arg:ident : $ty:ty),*) [] () $selector:literal) => {
        $($attr)*
        unsafe fn $name($($arg: $ty),*) -> $crate::ffi::objc::Retained<Self> {
            $crate::ffi::objc::objc_method!(@site SITE $owner Instance $selector);
            // SAFETY: alloc gives a reference that init takes over; the pointers are the caller's promise.
            unsafe {
                $crate::ffi::objc::send(&SITE, $crate::ffi::foundation::ns_object::alloc::<Self>(), ($($arg,)*))
            }
        }
    };
    (unsafe_instance [$($attr:tt)*] $owner:ident $name:ident ($($arg:ident : $ty:ty),*) [] () $selector:literal) => {
        $($attr)*
        unsafe fn $name(&self, $($arg: $ty),*) {
            $crate::ffi::objc::objc_method!(@site SITE $owner Instance $selector);
            // SAFETY: `&self` is a live object of the class that declares the method; the rest is the caller's promise.
            unsafe { $crate::ffi::objc::send(&SITE, $crate::ffi::objc::Message::as_object(self), ($($arg,)*)) }
        }
    };
    (unsafe_class [$($attr:tt)*] $owner:ident $name:ident ($($arg:ident : $ty:ty),*) [] ($ret:ty)
        $selector:literal) => {
        $($attr)*
        unsafe fn $name($($arg: $ty),*) -> $ret {
            $crate::ffi::objc::objc_method!(@site SITE $owner Class $selector);
            // SAFETY: the class object lives for ever; the pointers are the caller's promise.
            unsafe {
                $crate::ffi::objc::send(&SITE, <Self as $crate::ffi::objc::ClassType>::class(), ($($arg,)*))
            }
        }
    };
    (@site $site:ident $owner:ident $kind:ident $selector:literal) => {
        static $site: $crate::ffi::objc::CallSite = $crate::ffi::objc::CallSite::new(
            stringify!($owner),
            $crate::ffi::objc::Kind::$kind,
            concat!($selector, "\0"),
        );
    };
}
pub(crate) use objc_method;

macro_rules! objc_kind {
    (unsafe_class) => {
        $crate::ffi::objc::Kind::Class
    };
    (class) => {
        $crate::ffi::objc::Kind::Class
    };
    ($instance:ident) => {
        $crate::ffi::objc::Kind::Instance
    };
}
pub(crate) use objc_kind;

macro_rules! objc_return_type {
    (init $owner:ident ()) => { $crate::ffi::objc::Retained<$owner> };
    (unsafe_init $owner:ident ()) => { $crate::ffi::objc::Retained<$owner> };
    ($kind:ident $owner:ident ()) => { () };
    ($kind:ident $owner:ident ($ret:ty)) => { $ret };
}
pub(crate) use objc_return_type;

macro_rules! objc_tensor_return {
    () => {
        $crate::ffi::mpsgraph::Tensor
    };
    ($ret:ty) => {
        $ret
    };
}
pub(crate) use objc_tensor_return;

macro_rules! objc_argument_type {
    () => {
        &$crate::ffi::mpsgraph::MPSGraphTensor
    };
    ($ty:ty) => {
        $ty
    };
}
pub(crate) use objc_argument_type;

macro_rules! objc_nil {
    (name) => {
        std::ptr::null_mut::<$crate::ffi::objc::Object>()
    };
}
pub(crate) use objc_nil;
