//! Sends a message whose arguments are known only when the test runs.

use mpsgraph_soft::objc::{Encode, Id};

use crate::support::msg;

/// An argument.
#[derive(Clone, Copy, Debug)]
pub enum Argument {
    Object(Id),
    Signed(isize),
    Unsigned(usize),
    Bits(u32),
    Double(f64),
    Truth(bool),
}

/// A type that arguments have.
trait Sent: Encode {
    fn of(argument: Argument) -> Self;
}

macro_rules! sent {
    ($($type:ident $variant:ident)*) => {$(
        impl Sent for $type {
            fn of(argument: Argument) -> Self {
                match argument {
                    Argument::$variant(value) => value,
                    other => unreachable!("{other:?} was made for another encoding"),
                }
            }
        }
    )*};
}
sent! { Id Object isize Signed usize Unsigned u32 Bits f64 Double bool Truth }

/// Defines `send` for methods with these arguments.
macro_rules! senders {
    ($(($($type:ident)*))*) => {
        /// Sends a message that gives an object.
        pub fn send(receiver: Id, selector: &str, encodings: &[&str], arguments: &[Argument]) -> Id {
            let mut arguments = arguments.iter().copied();
            let mut next = || arguments.next().expect("as many arguments as encodings");
            $(
                if encodings == [$(<$type as Encode>::ENCODING),*] {
                    return msg!(receiver, selector $(, <$type as Sent>::of(next()) => $type)*; Id);
                }
            )*
            panic!("{selector}: no method here has the arguments {encodings:?} so far; add them to `senders!`")
        }
    };
}

senders! {
    (f64 u32)
    (f64 Id u32)
    (Id Id)
    (Id u32 Id)
    (Id isize Id)
    (Id isize bool Id)
    (isize Id Id)
    (Id Id u32)
    (Id Id Id)
    (Id Id Id Id)
    (isize Id Id Id)
    (Id Id usize Id)
    (Id Id usize usize Id)
    (Id usize isize isize Id)
    (Id Id Id Id Id)
    (Id isize Id Id f64 Id)
    (isize Id Id Id isize Id)
    (Id Id Id isize isize Id)
    (Id Id Id usize isize Id)
    (Id Id Id Id Id Id)
    (Id Id Id Id Id u32 u32 u32 Id)
}
