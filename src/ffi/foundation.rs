//! The Foundation classes that Metal's and MPSGraph's interfaces are written in, one per file.

pub(crate) mod ns_array;
pub(crate) mod ns_data;
pub(crate) mod ns_dictionary;
pub(crate) mod ns_error;
pub(crate) mod ns_exception;
pub(crate) mod ns_number;
pub(crate) mod ns_object;
pub(crate) mod ns_process_info;
pub(crate) mod ns_string;
pub(crate) mod ns_url;

use super::objc::headers;

headers! {
    ns_array, ns_data, ns_dictionary, ns_error, ns_exception, ns_number, ns_object, ns_process_info, ns_string, ns_url
}
