//! Foundation: the few classes that Metal's and MPSGraph's interfaces need, one per file.
//!
//! Each file has the class and, for the other modules of this crate, plain Rust accessors to its instances.

pub(crate) mod equality;
pub mod ns_array;
pub mod ns_data;
pub mod ns_dictionary;
pub mod ns_error;
pub mod ns_exception;
pub mod ns_number;
pub mod ns_object;
pub mod ns_process_info;
pub mod ns_string;
pub mod ns_url;
pub mod ns_value;
