//! Ops that move elements, one file per topic; named tests, each over every layout and dtype.

mod axes;
mod cat;
mod gradients;
mod masks;
#[cfg(test)]
mod numbers;
mod one_hot;
mod pad;
mod ranks;
mod repeat;
mod reshape;
mod slice;
mod slice_assign;
mod triangles;
mod unfold;

modules! { axes cat gradients masks one_hot pad ranks repeat reshape slice slice_assign triangles unfold }
