//! Products of matrices.

mod between_reshapes;
mod float;
mod gradients;
mod integer;
mod products_of_vectors;
mod softmax_products;

modules! { between_reshapes float gradients integer products_of_vectors softmax_products }
