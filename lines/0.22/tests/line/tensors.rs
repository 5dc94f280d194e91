//! The methods of Burn's tensors, in every dtype, on this backend and on burn-flex.

mod bool;
mod float;
mod int;
mod pair;
mod shape;

use burn_tensor::Device;

use super::program::{Answers, Results, near, run};

/// Runs a program on both backends and compares: integers and bools exactly, floats closely, NaN with NaN. The name is
/// the last line that a test writes that fails.
#[track_caller]
fn compare(name: &str, program: impl FnOnce(&Device, &mut Results)) {
    println!("{name}");
    let Answers { ours, flex } = run(program);
    assert_eq!(ours.len(), flex.len());
    for (ours, flex) in ours.iter().zip(flex) {
        let dtype = ours.dtype();
        // burn-flex gives positions in tensors of integers as i64, whatever the device's integers are, and some bools
        // as bytes.
        let flex = if dtype.is_float() || flex.dtype() == dtype { flex } else { flex.convert_dtype(dtype) };
        near(ours, &flex);
    }
}

/// Compares what methods give, each for a tensor of `$make(device)`.
macro_rules! methods {
    ($make:expr; $($method:ident($($argument:expr),*)),+ $(,)?) => {
        $(crate::tensors::compare(stringify!($method($($argument),*)), |device, results| {
            results.add($make(device).$method($($argument),*));
        });)+
    };
}

/// [`methods`] that give two tensors.
macro_rules! methods_of_two {
    ($make:expr; $($method:ident($($argument:expr),*)),+ $(,)?) => {
        $(crate::tensors::compare(stringify!($method($($argument),*)), |device, results| {
            let (first, second) = $make(device).$method($($argument),*);
            results.add(first);
            results.add(second);
        });)+
    };
}

/// Compares what methods give for `$left(device)` and `$right(device)`.
macro_rules! methods_of_pairs {
    ($left:expr, $right:expr; $($method:ident),+ $(,)?) => {
        $(crate::tensors::compare(stringify!($method), |device, results| {
            results.add($left(device).$method($right(device)));
        });)+
    };
}

use {methods, methods_of_pairs, methods_of_two};
