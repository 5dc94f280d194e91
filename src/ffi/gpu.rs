//! The generation of the GPU, for kernels that one of them gets wrong.

use std::sync::OnceLock;

use super::metal::Device;
use super::objc::autoreleasepool;

/// Whether this process uses the GPU of M1 to M4.
pub(crate) fn is_m1_to_m4() -> bool {
    static ANSWER: OnceLock<bool> = OnceLock::new();
    let ask = || Device::system_default().is_some_and(|device| autoreleasepool(|| device.is_m1_to_m4()));
    *ANSWER.get_or_init(ask)
}
