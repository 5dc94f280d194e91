//! The Fourier transforms of Burn's signal crate, which are in no trait of Burn's: clients of a server and captures
//! name them as custom operations, each with an axis, whether there is a length, and the length.

use burn_ir::{CustomOpIr, ScalarIr};
use burn_router::CustomOpRegistry;

use super::public::MpsGraph;
use crate::ops::fourier_transform;

const RFFT: &str = "signal::rfft";
const IRFFT: &str = "signal::irfft";

/// What a server, or who replays a capture, computes of custom operations.
pub(super) fn custom_ops() -> CustomOpRegistry<MpsGraph> {
    let mut registry = CustomOpRegistry::new();
    registry.register(RFFT, |handles, op, _| {
        let ([signal], [re, im]) = op.as_fixed();
        let (dim, n) = described(op);
        let spectrum = fourier_transform::rfft(handles.get_float_tensor::<MpsGraph>(signal), dim, n);
        handles.register_float_tensor::<MpsGraph>(&re.id, spectrum.0);
        handles.register_float_tensor::<MpsGraph>(&im.id, spectrum.1);
    });
    registry.register(IRFFT, |handles, op, _| {
        let ([re, im], [signal]) = op.as_fixed();
        let (dim, n) = described(op);
        let [re, im] = [re, im].map(|part| handles.get_float_tensor::<MpsGraph>(part));
        handles.register_float_tensor::<MpsGraph>(&signal.id, fourier_transform::irfft(re, im, dim, n));
    });
    registry
}

/// Whether a custom operation is among these.
pub(super) fn is_known(op: &CustomOpIr) -> bool {
    let tensors = (op.inputs.len(), op.outputs.len());
    matches!((op.id.as_str(), tensors), (RFFT, (1, 2)) | (IRFFT, (2, 1))) && axis_and_length(op).is_some()
}

fn axis_and_length(op: &CustomOpIr) -> Option<(usize, Option<usize>)> {
    match op.scalars[..] {
        [ScalarIr::UInt(dim), ScalarIr::Bool(has_length), ScalarIr::UInt(length)] => {
            Some((dim as usize, has_length.then_some(length as usize)))
        }
        _ => None,
    }
}

/// The axis and the length of a transform that a client has sent.
fn described(op: &CustomOpIr) -> (usize, Option<usize>) {
    axis_and_length(op).unwrap_or_else(|| panic!("{}: {:?} are no axis and length", op.id, op.scalars))
}
