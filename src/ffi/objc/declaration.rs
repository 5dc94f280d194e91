//! What this crate declares of Apple's headers, as data: the contract test holds it against Apple's own tables.

use super::{Argument, Encode, Kind, Return};

/// A method as this crate declares it.
#[derive(Clone, Debug)]
pub struct Declaration {
    /// Apple's header, as in `MPSGraphArithmeticOps.h`.
    pub header: &'static str,
    /// The class or protocol.
    pub owner: &'static str,
    /// Instance or class method.
    pub kind: Kind,
    /// Apple's selector.
    pub selector: &'static str,
    /// Encoding of the result.
    pub returns: &'static str,
    /// Encodings of the arguments after receiver and selector.
    pub arguments: Vec<&'static str>,
    /// Whether an object result belongs to the caller (+1). False if the result is not an object.
    pub owned: bool,
    /// The first macOS with the method, major and minor.
    pub min_macos: (u8, u8),
    /// All constants of the enums among the arguments and the result.
    pub constants: Vec<Constant>,
}

impl Declaration {
    /// A method whose result is an `R`.
    pub(crate) fn of<R: Return>(
        header: &'static str,
        owner: &'static str,
        kind: Kind,
        selector: &'static str,
        parameters: &[Parameter],
        min_macos: (u8, u8),
    ) -> Self {
        let returns = R::Raw::ENCODING;
        let constants = parameters.iter().map(|parameter| parameter.constants).chain([R::CONSTANTS]);
        Self {
            header,
            owner,
            kind,
            selector,
            returns,
            arguments: parameters.iter().map(|parameter| parameter.encoding).collect(),
            owned: returns == "@" && super::send::returns_owned(selector),
            min_macos,
            constants: constants.flatten().copied().collect(),
        }
    }

    /// As Objective-C writes it: `-[Owner selector]`.
    pub fn name(&self) -> String {
        format!("{}[{} {}]", self.kind.sign(), self.owner, self.selector)
    }
}

/// An argument of a [`Declaration`].
pub(crate) struct Parameter {
    encoding: &'static str,
    constants: &'static [Constant],
}

impl Parameter {
    pub(crate) const fn of<A: Argument>() -> Self {
        Self { encoding: A::Raw::ENCODING, constants: A::CONSTANTS }
    }
}

/// A constant of an Objective-C enum as this crate declares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constant {
    /// The C enum.
    pub group: &'static str,
    /// The C constant.
    pub name: &'static str,
    /// Its bits, widened to 64 as the underlying type is signed or unsigned.
    pub value: i128,
    /// Encoding of the underlying type.
    pub encoding: &'static str,
}
