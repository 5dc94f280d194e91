//! Every operation on every class of dtype against scalar references in f64 and i128.
