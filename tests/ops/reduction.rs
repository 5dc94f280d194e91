//! Reductions, to one element and along each axis.

mod axes;
mod bools;
mod floats;
mod integers;
mod mistakes;
mod nan;
mod scale;
mod turned;

modules! { axes bools floats integers }
