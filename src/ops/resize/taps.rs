//! Tables of [`weights`](super::weights) on the device.

use burn_backend::TensorData;

use super::weights::{AxisResize, Direction, HostTaps};
use crate::bridge::upload;
use crate::error::Error;
use crate::tables::{KEPT_BYTES, Table, Tables};
use crate::tensor::MpsGraphTensor;

/// A table on the device: element `i` of the result is the sum over the slots `s` of the element `indices[s, i]` of the
/// operand times `weights[s, i]`. The index behind the operand's last element stands for a 0.
#[derive(Clone)]
pub(super) struct Taps {
    pub slots: usize,
    pub indices: MpsGraphTensor,
    /// `None` if all weights are 1.
    pub weights: Option<MpsGraphTensor>,
    /// Whether an index stands for a 0: the result there depends on no element of the operand.
    pub reads_zero: bool,
}

impl Taps {
    /// Whether every element is one that is read.
    pub fn copies(&self) -> bool {
        self.slots == 1 && self.weights.is_none()
    }
}

impl Table for Taps {
    fn bytes(&self) -> usize {
        self.indices.bytes() + self.weights.as_ref().map_or(0, Table::bytes)
    }
}

/// The table of an axis.
pub(super) fn of(op: &'static str, resize: AxisResize, direction: Direction) -> Taps {
    static TABLES: Tables<(AxisResize, Direction), Taps> = Tables::new();
    TABLES.get((resize, direction), || {
        let HostTaps { slots, indices, weights, reads_zero } = on_host(op, resize, direction);
        let shape = [indices.len()];
        let has_weights = weights.iter().any(|&weight| weight != 1.0);
        Taps {
            slots,
            indices: upload(op, TensorData::new(indices, shape)),
            weights: has_weights.then(|| upload(op, TensorData::new(weights, shape))),
            reads_zero,
        }
    })
}

fn on_host(op: &'static str, resize: AxisResize, direction: Direction) -> HostTaps {
    HostTaps::new(resize, direction).unwrap_or_else(|error| {
        let AxisResize { from, to, .. } = resize;
        let what = format!("{op}: what makes an axis of {to} elements of one of {from} is a table on the host");
        Error::OutOfMemory { reason: format!("{what}, and {error}; resize parts of the image") }.raise()
    })
}

/// Where the nearest pixel of each new one is in an image of one axis, of an image with these extents. `None` if the
/// table is too large to keep.
pub(super) fn places(op: &'static str, axes: [AxisResize; 2]) -> Option<MpsGraphTensor> {
    static TABLES: Tables<[AxisResize; 2], MpsGraphTensor> = Tables::new();
    let [height, width] = axes;
    let count = height.to * width.to;
    (count * size_of::<i32>() <= KEPT_BYTES).then(|| {
        TABLES.get(axes, || {
            let [rows, columns] = axes.map(|axis| on_host(op, axis, Direction::Forward).indices);
            let row = |&row: &i32| columns.iter().map(move |column| row * width.from as i32 + column);
            upload(op, TensorData::new(rows.iter().flat_map(row).collect::<Vec<i32>>(), [count]))
        })
    })
}
