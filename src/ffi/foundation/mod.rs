//! The Foundation classes that Metal's and MPSGraph's interfaces are written in, one per file.

pub(crate) mod ns_array;
pub(crate) mod ns_data;
pub(crate) mod ns_dictionary;
pub(crate) mod ns_error;
pub(crate) mod ns_number;
pub(crate) mod ns_object;
pub(crate) mod ns_process_info;
pub(crate) mod ns_string;

use super::objc::Declaration;

pub(super) fn declarations() -> Vec<Declaration> {
    [
        ns_array::declarations(),
        ns_data::declarations(),
        ns_dictionary::declarations(),
        ns_error::declarations(),
        ns_number::declarations(),
        ns_object::declarations(),
        ns_process_info::declarations(),
        ns_string::declarations(),
    ]
    .concat()
}
