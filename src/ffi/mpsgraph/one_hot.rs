//! `MPSGraphOneHotOps.h`: indices as unit vectors.

use super::DataType;
use crate::ffi::objc::graph_methods;

graph_methods! {
    "MPSGraphOneHotOps.h";

    /// A new axis of extent `depth`: `on` where its index is the element of `indices`, `off` elsewhere.
    fn one_hot(indices, depth: usize, axis: usize, data_type: DataType, on: f64, off: f64)
        = "oneHotWithIndicesTensor:depth:axis:dataType:onValue:offValue:name:", since (11, 0);

    /// [`one_hot`](Self::one_hot) with the new axis last.
    fn one_hot_last(indices, depth: usize, data_type: DataType, on: f64, off: f64)
        = "oneHotWithIndicesTensor:depth:dataType:onValue:offValue:name:", since (11, 0);
}
