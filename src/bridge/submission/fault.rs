//! What is said of work that the device has ended with a fault, and what can be done about it.
//!
//! Metal's codes are few and their numbers tell little, so the causes are read from Apple's texts, which carry the
//! driver's own code and are not translated. The sources are other projects' reports.

use crate::error::Error;
use crate::ffi::NsError;

/// A fault of the device.
pub(super) struct Fault {
    pub error: Error,
    /// Whether the system takes no more work of the command queue.
    pub refuses_queue: bool,
}

/// Why a command buffer failed, where somebody can do something about it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cause {
    /// The system ends work that keeps the GPU from others: after about 5 s (exo-explore/exo#1620), or when they wait
    /// for it (jundot/omlx#1387, as an internal error in ml-explore/mlx#1231). A single product has been too long
    /// beside an active display (tracel-ai/cubecl#1523), and nothing with the display off (ml-explore/mlx#3267, with
    /// what the variable does).
    TooLong,
    /// `kIOGPUCommandBufferCallbackErrorSubmissionsIgnored`, for the rest of the queue's life.
    Ignored,
    /// Not enough of the memory that the GPU may use (ml-explore/mlx#479; antirez/ds4#909, where the limit helped).
    NoMemory,
    /// Other work on the GPU was at fault (ggml-org/whisper.cpp#2470).
    Victim,
    Unknown,
}

impl Cause {
    fn of(description: &str) -> Self {
        let says = |parts: &[&str]| parts.iter().any(|part| description.contains(part));
        // Texts of what was ignored name the faults before, too.
        if says(&["Ignored"]) {
            Cause::Ignored
        } else if says(&["Timeout", "Interactivity", "(0000000e:", "Caused GPU Hang"]) {
            Cause::TooLong
        } else if says(&["Insufficient Memory", "OutOfMemory"]) {
            Cause::NoMemory
        } else if says(&["Discarded", "InnocentVictim"]) {
            Cause::Victim
        } else {
            Cause::Unknown
        }
    }

    fn advice(self) -> &'static str {
        match self {
            Cause::TooLong => {
                "; compute less at a time, set BURN_MPSGRAPH_MAX_OPS lower, let the display sleep meanwhile, or start \
                 the process with AGX_RELAX_CDM_CTXSTORE_TIMEOUT=1, which has helped on some systems"
            }
            Cause::Ignored => {
                "; after earlier faults the system takes no more work of this command queue, so later work goes to \
                 another; if that is ignored, too, start the process anew"
            }
            Cause::NoMemory => {
                "; use smaller batches, or raise the memory that the GPU may have (sysctl iogpu.wired_limit_mb)"
            }
            Cause::Victim => "; other work on the GPU was at fault: run this again",
            Cause::Unknown => "",
        }
    }
}

impl Fault {
    /// Of something that failed for this reason, if one was given.
    pub fn new(what: &str, error: Option<&NsError>) -> Self {
        let cause = error.map_or(Cause::Unknown, |error| Cause::of(&error.description));
        let reason = match error {
            Some(error) => format!("{what}: {error}{}", cause.advice()),
            None => format!("{what} and gave no reason"),
        };
        let error = match cause {
            Cause::NoMemory => Error::OutOfMemory { reason },
            Cause::TooLong | Cause::Ignored | Cause::Victim | Cause::Unknown => Error::Device { reason },
        };
        Self { error, refuses_queue: cause == Cause::Ignored }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts as people have seen them.
    #[test]
    fn faults_that_somebody_can_do_something_about_come_with_advice() {
        for (description, advice) in [
            ("Caused GPU Timeout Error (00000002:kIOGPUCommandBufferCallbackErrorTimeout)", "MAX_OPS"),
            ("Impacting Interactivity (0000000e:kIOGPUCommandBufferCallbackErrorImpactingInteractivity)", "display"),
            ("Internal Error (0000000e:Internal Error)", "AGX_RELAX_CDM_CTXSTORE_TIMEOUT=1"),
            ("Caused GPU Hang Error (00000003:kIOGPUCommandBufferCallbackErrorHang)", "compute less at a time"),
            (
                "Ignored (for causing prior/excessive GPU errors) \
                 (00000004:kIOGPUCommandBufferCallbackErrorSubmissionsIgnored)",
                "later work goes to another",
            ),
            ("Insufficient Memory (00000008:kIOGPUCommandBufferCallbackErrorOutOfMemory)", "smaller batches"),
            (
                "Discarded (victim of GPU error/recovery) (00000005:kIOGPUCommandBufferCallbackErrorInnocentVictim)",
                "run this again",
            ),
            ("Caused GPU Address Fault Error (0000000b:kIOGPUCommandBufferCallbackErrorPageFault)", ""),
        ] {
            let error =
                NsError { domain: "MTLCommandBufferErrorDomain".into(), code: 1, description: description.into() };
            let Fault { error, refuses_queue } = Fault::new("a command buffer failed", Some(&error));
            assert!(error.to_string().contains(description) && error.to_string().contains(advice), "{error}");
            assert_eq!(error.to_string().ends_with("1)"), advice.is_empty(), "{error}");
            assert_eq!(refuses_queue, description.starts_with("Ignored"));
            assert_eq!(matches!(error, Error::OutOfMemory { .. }), description.starts_with("Insufficient"));
        }
    }
}
