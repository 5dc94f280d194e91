//! The macro in which Objective-C enums are declared.

/// Declares an Objective-C enum that messages take: `enum DataType: u32 = "MPSDataType" { F32 = "…Float32" 0x…, … }`.
macro_rules! objc_enum {
    ($(#[$attr:meta])* enum $name:ident : $raw:ident = $group:literal {
        $($(#[$variant_attr:meta])* $variant:ident = $constant:literal $value:literal,)*
    }) => {
        $(#[$attr])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub(crate) enum $name {
            $($(#[$variant_attr])* $variant,)*
        }

        impl $name {
            /// Apple's number for it. It leaves this file only as an argument of a declared method, so the contract
            /// test finds every enum through the methods.
            const fn code(self) -> $raw {
                match self {
                    $(Self::$variant => $value,)*
                }
            }

            /// The constant with Apple's number `code`, if it is one of those declared here.
            const fn from_code(code: $raw) -> Option<Self> {
                match code {
                    $($value => Some(Self::$variant),)*
                    _ => None,
                }
            }

            const ALL: &[$crate::ffi::objc::Constant] = &[$($crate::ffi::objc::Constant {
                group: $group,
                name: $constant,
                value: Self::$variant.code() as i128,
                encoding: <$raw as $crate::ffi::objc::Encode>::ENCODING,
            },)*];
        }

        impl $crate::ffi::objc::Argument for $name {
            type Raw = $raw;
            type Held = Self;
            const CONSTANTS: &'static [$crate::ffi::objc::Constant] = Self::ALL;

            fn hold(self) -> Self {
                self
            }

            fn raw(held: &Self) -> $raw {
                held.code()
            }
        }

        impl $crate::ffi::objc::Return for $name {
            type Raw = $raw;
            const CONSTANTS: &'static [$crate::ffi::objc::Constant] = Self::ALL;

            unsafe fn receive(raw: $raw, site: &'static $crate::ffi::objc::CallSite) -> Self {
                match Self::from_code(raw) {
                    Some(value) => value,
                    None => panic!("{site} returned {raw:#x}, which is not a {} that this crate knows", $group),
                }
            }
        }
    };
}
pub(crate) use objc_enum;
