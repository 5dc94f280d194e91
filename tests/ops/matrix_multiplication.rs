//! Products of matrices.

mod float;
mod gradients;
mod integer;
mod products_of_vectors;
mod softmax_products;

modules! { float gradients integer products_of_vectors softmax_products }
