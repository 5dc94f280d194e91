//! The functions of `burn::tensor::module` that no other family has, alone or in a layer of `burn::nn`, and their
//! gradients.

mod attention;
mod embedding;
mod linear;
mod unfold4d;

modules! { attention embedding linear unfold4d }
