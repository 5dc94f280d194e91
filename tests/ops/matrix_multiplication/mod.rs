//! Products of matrices.

mod float;
mod gradients;
mod integer;
mod products_of_vectors;
