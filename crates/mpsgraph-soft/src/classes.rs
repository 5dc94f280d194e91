//! The one list of classes; the order does not matter.

#![forbid(unsafe_code)]

use crate::objc::ClassDef;
use crate::{foundation, metal, mps, mpsgraph};

/// Every class of this crate.
pub static CLASSES: &[&ClassDef] = &[
    &foundation::ns_array::CLASS,
    &foundation::ns_data::CLASS,
    &foundation::ns_dictionary::CLASS,
    &foundation::ns_error::CLASS,
    &foundation::ns_exception::CLASS,
    &foundation::ns_number::CLASS,
    &foundation::ns_object::CLASS,
    &foundation::ns_process_info::CLASS,
    &foundation::ns_string::CLASS,
    &foundation::ns_url::CLASS,
    &foundation::ns_value::CLASS,
    &metal::mtl_buffer::CLASS,
    &metal::mtl_command_buffer::CLASS,
    &metal::mtl_command_queue::CLASS,
    &metal::mtl_device::CLASS,
    &metal::mtl_heap::CLASS,
    &metal::mtl_heap_descriptor::CLASS,
    &mps::mps_command_buffer::CLASS,
    &mpsgraph::compilation_descriptor::CLASS,
    &mpsgraph::convolution_2d_op_descriptor::CLASS,
    &mpsgraph::device::CLASS,
    &mpsgraph::executable::CLASS,
    &mpsgraph::executable_execution_descriptor::CLASS,
    &mpsgraph::graph::CLASS,
    &mpsgraph::graph_object::CLASS,
    &mpsgraph::graph_type::CLASS,
    &mpsgraph::operation::CLASS,
    &mpsgraph::random_op_descriptor::CLASS,
    &mpsgraph::shaped_type::CLASS,
    &mpsgraph::tensor::CLASS,
    &mpsgraph::tensor_data::CLASS,
];
