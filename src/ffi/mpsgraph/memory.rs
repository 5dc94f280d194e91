//! `MPSGraphMemoryOps.h`: where a graph's values come from. Left out: variables, which live in the graph's own memory.

use super::{DataType, MPSGraph, Tensor};
use crate::ffi::objc::{Declaration, graph_methods, objc_methods};

mod constants {
    use super::{DataType, MPSGraph, Tensor, objc_methods};

    objc_methods! {
        "MPSGraphMemoryOps.h";
        impl MPSGraph {
            /// A tensor of the given bytes: packed elements of `data_type`, row-major.
            instance fn constant_with_data(data: &[u8], shape: &[usize], data_type: DataType) -> Tensor
                = "constantWithData:shape:dataType:", since (11, 0);

            /// A tensor of equal elements. 64-bit integers pass through f64, so only up to 2^53.
            instance fn constant_with_scalar(value: f64, shape: &[usize], data_type: DataType) -> Tensor
                = "constantWithScalar:shape:dataType:", since (11, 0);
        }
    }
}

mod placeholders {
    use super::{DataType, graph_methods};

    graph_methods! {
        "MPSGraphMemoryOps.h";

        /// An input of the graph.
        fn placeholder(shape: &[usize], data_type: DataType) = "placeholderWithShape:dataType:name:", since (11, 0);
    }
}

pub(super) fn declarations() -> Vec<Declaration> {
    [constants::declarations(), placeholders::declarations()].concat()
}
