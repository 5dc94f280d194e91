//! `MTLCommandBufferError`: why a command buffer failed, as the `NSError` that `-error` answers.

use crate::foundation::ns_error;
use crate::objc::Id;

/// String value of the exported constant of this name.
pub const MTL_COMMAND_BUFFER_ERROR_DOMAIN: &str = "MTLCommandBufferErrorDomain";

/// `MTLCommandBufferErrorInternal`: the error of work that panics.
pub const INTERNAL: usize = 1;

/// `MTLCommandBufferErrorAccessRevoked`: the error of all work of a queue that has had it once.
pub const ACCESS_REVOKED: usize = 4;

/// A code of `MTLCommandBufferError` and the text for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandBufferError {
    /// The code.
    pub code: usize,
    /// What happened.
    pub text: String,
}

impl CommandBufferError {
    /// The error a device reports with this code.
    pub fn of_device(code: usize) -> Self {
        Self { code, text: format!("{} ({code:08x}, injected by a test)", describe(code)) }
    }

    /// The error of work that went wrong without an injected fault.
    pub fn internal(text: String) -> Self {
        Self { code: INTERNAL, text }
    }

    /// The autoreleased `NSError`.
    pub fn ns_error(&self) -> Id {
        let code = isize::try_from(self.code).expect("an error code is small");
        ns_error::error(MTL_COMMAND_BUFFER_ERROR_DOMAIN, code, &self.text)
    }
}

fn describe(code: usize) -> &'static str {
    match code {
        INTERNAL => "Internal Error",
        2 => "Caused GPU Timeout Error",
        3 => "Caused GPU Address Fault Error",
        ACCESS_REVOKED => "Ignored: access revoked after too many errors",
        7 => "Not Permitted",
        8 => "Insufficient Memory",
        9 => "Invalid Resource",
        10 => "Memoryless Resource",
        11 => "Device Removed",
        12 => "Stack Overflow",
        _ => "Error",
    }
}
