//! Functions of `burn::tensor::module`, alone or as layers of `burn::nn`, and their gradients.

mod attention;
mod embedding;
mod linear;
mod unfold4d;

modules! { attention embedding linear unfold4d }
