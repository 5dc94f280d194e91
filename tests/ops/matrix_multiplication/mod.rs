//! Products of matrices.

mod by_hand;
mod float;
mod gradients;
mod integer;
mod products_of_vectors;
