//! The kinds of errors that a caller can act on.
//!
//! Recording an op finds mistakes in the input and requests that this backend does not support, before any message is
//! sent; Burn's operations return no `Result`, so they panic with the text of the [`Error`]. `sync` and reads return
//! device faults. (Our own bugs are `unreachable!`, never an `Error`.)

mod call;

use std::fmt;

use burn_backend::ExecutionError;

pub(crate) use call::Call;

/// An error of this backend.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The input breaks the operation's contract.
    Invalid {
        /// The operation, as a method of Burn's tensors or backend traits is called.
        op: &'static str,
        /// Shapes, dtypes and what was expected.
        reason: String,
    },
    /// A valid request that this backend cannot carry out.
    Unsupported {
        /// As of [`Error::Invalid`]; `environment` for the value of an environment variable.
        op: &'static str,
        /// Shapes, dtypes, the limit, and what to do instead.
        reason: String,
    },
    /// There is no memory for a buffer, also after waiting for all work and releasing all free buffers; or the device
    /// found none for work that it had begun.
    OutOfMemory {
        /// Sizes, the limit, and what to do.
        reason: String,
    },
    /// The device or its driver failed: no device, a command buffer that ended in an error.
    Device {
        /// What the driver said.
        reason: String,
    },
    /// The device finished no work for longer than a wait lasts. Later work goes to another command queue; if that
    /// hangs too, it fails at once.
    Hang {
        /// What was waited for, how long, and what to do.
        reason: String,
    },
}

impl Error {
    /// Ends an infallible Burn operation with this error's text, in which the op comes first that the caller has
    /// called.
    #[track_caller]
    pub(crate) fn raise(self) -> ! {
        let error = call::of_caller(self);
        panic!("{error}")
    }
}

/// Ends an operation whose input breaks its contract.
#[track_caller]
pub(crate) fn invalid(op: &'static str, reason: impl Into<String>) -> ! {
    Error::Invalid { op, reason: reason.into() }.raise()
}

/// Ends an operation that this backend cannot carry out.
#[track_caller]
pub(crate) fn unsupported(op: &'static str, reason: impl Into<String>) -> ! {
    Error::Unsupported { op, reason: reason.into() }.raise()
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Invalid { op, reason } => write!(f, "{op}: {reason}"),
            Error::Unsupported { op, reason } => write!(f, "{op}: unsupported: {reason}"),
            Error::OutOfMemory { reason } => write!(f, "out of memory: {reason}"),
            Error::Device { reason } => write!(f, "device: {reason}"),
            Error::Hang { reason } => write!(f, "device hang: {reason}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<Error> for ExecutionError {
    fn from(error: Error) -> Self {
        ExecutionError::WithContext { reason: error.to_string() }
    }
}
